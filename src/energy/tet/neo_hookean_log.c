/* SPDX-License-Identifier: MIT
 *
 * neo_hookean_log.c: the classical Neo-Hookean energy.
 *
 *     psi = mu/2 (|F|^2 - 3) - mu log J + lambda/2 (log J)^2        P = mu F + (lambda log J - mu) / J cof F
 *
 * Thesis (3.14). psi is infinite for J <= 0: value and gradient return +inf, the element adds nothing to g and its
 * tangent is zero, so that the rest of the result stays finite. Poisson's ratio is not negative: with lambda < 0 the
 * energy would be unbounded from below as J goes to 0.
 */
#include "energy/tet/tet_constraint.h"
#include "energy/lame.h"
#include "energy/tet/tet_reduced.h"
#include "energy/tet/inversion_limit.h"
#include "energy/tet/tet_vertex_kernel.h"

enum {
    DATA_COUNT = TET_MATERIAL + 1
}; /* the only material constant in data: lambda / mu of the Lame constants */

static const sinew_parameter parameters[] = {LAME_YOUNG_PARAMETER, LAME_POISSON_POSITIVE_PARAMETER};

static const char *log_prepare(const sinew_element *element, sinew_real *data)
{
    data[TET_MATERIAL] = (sinew_real)lame_ratio(element->parameters);
    return sinew_tet_prepare(element, lame_mu(element->parameters), data, NULL);
}

KERNEL_INLINE wide stress(const wide F[9], const sinew_real *material, wide P[9])
{
    const wide ratio = wide_load(material), half = wide_set((sinew_real)0.5), zero = wide_set(0);
    wide C[9];
    const wide J = cofactor3(F, C);
    const wide_mask defined = wide_lt(zero, J);
    const wide safe = wide_select(defined, J, wide_set(1));
    const wide log_J = wide_log(safe);
    const wide pressure = (ratio * log_J - 1) / safe;
    for (int i = 0; i < 9; i++)
        P[i] = wide_select(defined, F[i] + pressure * C[i], zero);
    const wide psi = half * (norm3(F) - 3) + log_J * (half * ratio * log_J - 1);
    return wide_select(defined, psi, wide_set((sinew_real)INFINITY));
}

/* Second derivatives from psi_i = dpsi/dsigma_i = sigma_i + c / sigma_i with c = lambda/mu log J - 1, per unit of
 * mu. */
KERNEL_INLINE void curvature(const wide sigma[3], const sinew_real *material, isotropic_eigen *eigen)
{
    const wide ratio = wide_load(material), zero = wide_set(0), one = wide_set(1);
    const wide J = sigma[0] * sigma[1] * sigma[2];
    const wide_mask defined = wide_lt(zero, J);
    const wide c = ratio * wide_log(wide_select(defined, J, one)) - 1;
    static const int first[3] = {0, 0, 1}, second[3] = {1, 2, 2};
    wide inverse[3];
    for (int i = 0; i < 3; i++) {
        inverse[i] = 1 / wide_select(defined, sigma[i], one);
        eigen->A[i] = wide_select(defined, 1 + (ratio - c) * inverse[i] * inverse[i], zero);
    }
    for (int pair = 0; pair < 3; pair++) {
        const wide product = inverse[first[pair]] * inverse[second[pair]];
        eigen->A[3 + pair] = wide_select(defined, ratio * product, zero);
        eigen->even[pair] = wide_select(defined, 1 - c * product, zero);
        eigen->odd[pair] = wide_select(defined, 1 + c * product, zero);
    }
}

#include "energy/tet/isotropic_material.h"

/* Stress of this energy where psi is defined, else the energy neo_hookean with the same rest shape and moduli: sweeps
 * start at q_tilde, which may be inverted, and need a gradient there. */
KERNEL_INLINE wide stress_anywhere(const wide F[9], const sinew_real *material, wide P[9])
{
    const wide huge = wide_set(WIDE_HUGE), psi = stress(F, material, P);
    const wide_mask defined = wide_le(psi, huge);
    if (__builtin_expect(!wide_any(~defined), 1))
        return psi;
    const wide ratio = wide_load(material) + 1, half = wide_set((sinew_real)0.5);
    wide C[9];
    const wide growth = cofactor3(F, C) - 1;
    for (int i = 0; i < 9; i++)
        P[i] = wide_select(defined, P[i], F[i] + (ratio * growth - 1) * C[i]);
    return wide_select(defined, psi, half * (norm3(F) - 3) + growth * (half * ratio * growth - 1));
}

static void log_constrain(const sinew_constrain_kernel *kernel)
{
    tet_constrain(kernel, DATA_COUNT, 1, stress_anywhere, no_offset);
}

static void log_jacobian(const sinew_jacobian_kernel *kernel)
{
    tet_jacobian(kernel, DATA_COUNT, 1, stress_anywhere, no_offset);
}

static double log_step_limit(const sinew_kernel *kernel, double max)
{
    return tet_step_limit(kernel, DATA_COUNT, max);
}

static void log_incidence(const sinew_real *data, const int32_t *particles, int node, sinew_real *out, int32_t *others)
{
    volume_incidence(data, particles, node, false, out, others);
}

/* Adds gradient and block of one vertex. The volume term phi = -log J + r/2 (log J)^2, r = lambda/mu, has phi'' = (1 +
 * r - r log J) / J^2. It is unbounded toward J = 0, so the block is no upper bound. For log J > 1 + 1/r, phi'' is
 * negative and counts as zero; in the approximate block it is at least r. */
KERNEL_INLINE void log_add(const incidence *v, bool exact, incidence_sum *sum)
{
    const wide ratio = wide_load(v->data + VOLUME_MATERIAL * SIMD_WIDTH), zero = wide_set(0), one = wide_set(1);
    volume_state s;
    volume_geometry(v, false, &s);
    const wide_mask defined = wide_lt(zero, s.J);
    const wide safe = wide_select(defined, s.J, one), log_J = wide_log(safe);
    const wide curved = (1 + ratio - ratio * log_J) / (safe * safe), scale = wide_select(defined, one, zero);
    volume_add(v, &s, scale, scale * (ratio * log_J - 1) / safe, scale * (sinew_real)(exact ? 1 : 2),
               scale * wide_max(curved, exact ? zero : ratio), sum);
}

KERNEL_INLINE wide log_difference(const incidence *v, const wide d[3], wide *noise)
{
    const wide ratio = wide_load(v->data + VOLUME_MATERIAL * SIMD_WIDTH), half = wide_set((sinew_real)0.5);
    const wide zero = wide_set(0), one = wide_set(1);
    volume_state s;
    wide norm, J;
    volume_geometry(v, false, &s);
    volume_changes(&s, d, &norm, &J);
    const wide_mask before = wide_lt(zero, s.J), after = wide_lt(zero, s.J + J);
    const wide old = wide_log(wide_select(before, s.J, one)), new = wide_log(wide_select(after, s.J + J, one));
    *noise = 4 * WIDE_EPSILON * (1 + wide_abs(norm) + (1 + ratio) * (old * old + new *new));
    const wide change = half * norm + (new - old) * (half * ratio * (new + old) - 1);
    return wide_select(after, wide_select(before, change, wide_set(-WIDE_HUGE)), wide_set((sinew_real)INFINITY));
}

static void log_vertex(const sinew_vertex_kernel *kernel)
{
    incidence_vertex(kernel, 3, VOLUME_DATA_COUNT, log_add);
}

static void log_vertex_change(const sinew_vertex_kernel *kernel)
{
    incidence_change(kernel, 3, VOLUME_DATA_COUNT, log_difference);
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_neo_hookean_log) = {
    .info = {.name = "neo_hookean_log",
             .summary = "mu/2 (|F|^2 - 3) - mu log J + lambda/2 (log J)^2 per volume; infinite for J <= 0",
             TET_MATERIAL_INFO,
             .capabilities = TET_MATERIAL_CAPABILITIES},
    TET_MATERIAL_OPS,
    .prepare = log_prepare,
    .vertex = log_vertex,
    .barrier = true,
    .step_limit = log_step_limit,
    ISOTROPIC_MATERIAL_OPS,
    .constraint_count = 1,
    .constrain = log_constrain,
    .jacobian = log_jacobian,
    .rooted = true,
    .incidence_data_count = VOLUME_DATA_COUNT,
    .incidence = log_incidence,
    .vertex_change = log_vertex_change,
    .vertex_bounds = 0,
};
