/* SPDX-License-Identifier: MIT
 *
 * neo_hookean_log.c: the classical Neo-Hookean energy.
 *
 *     psi = mu/2 (|F|^2 - 3) - mu log J + lambda/2 (log J)^2        P = mu F + (lambda log J - mu) / J cof F
 *
 * Thesis (3.14). Infinite for J <= 0: value and gradient return +inf there, and the element adds nothing to g and has
 * a zero tangent, so that the rest of the result stays finite. Poisson's ratio is not negative: with lambda < 0 the
 * energy would fall without bound as J goes to 0.
 */
#include "energy/tet/tet_constraint.h"
#include "energy/lame.h"
#include "energy/tet/tet_reduced.h"
#include "energy/tet/inversion_limit.h"
#include "energy/tet/tet_vertex_kernel.h"

enum {
    DATA_COUNT = TET_MATERIAL + 1
}; /* lambda / mu */

static const sinew_parameter parameters[] = {LAME_YOUNG_PARAMETER, LAME_POISSON_POSITIVE_PARAMETER};

static const char *log_prepare(const sinew_element *element, sinew_real *data)
{
    data[TET_MATERIAL] = (sinew_real)lame_ratio(element->parameters);
    return sinew_tet_prepare(element, lame_mu(element->parameters), data, NULL);
}

KERNEL_INLINE lane stress(const lane F[9], const sinew_real *material, lane P[9])
{
    const lane ratio = lane_load(material), half = lane_set((sinew_real)0.5), zero = lane_set(0);
    lane C[9];
    const lane J = cofactor3(F, C);
    const lane_mask defined = lane_lt(zero, J);
    const lane safe = lane_select(defined, J, lane_set(1));
    const lane log_J = lane_log(safe);
    const lane pressure = (ratio * log_J - 1) / safe;
    for (int i = 0; i < 9; i++)
        P[i] = lane_select(defined, F[i] + pressure * C[i], zero);
    const lane psi = half * (norm3(F) - 3) + log_J * (half * ratio * log_J - 1);
    return lane_select(defined, psi, lane_set((sinew_real)INFINITY));
}

/* psi_i = sigma_i + c / sigma_i with c = lambda/mu log J - 1 */
KERNEL_INLINE void curvature(const lane sigma[3], const sinew_real *material, isotropic_eigen *eigen)
{
    const lane ratio = lane_load(material), zero = lane_set(0), one = lane_set(1);
    const lane J = sigma[0] * sigma[1] * sigma[2];
    const lane_mask defined = lane_lt(zero, J);
    const lane c = ratio * lane_log(lane_select(defined, J, one)) - 1;
    static const int first[3] = {0, 0, 1}, second[3] = {1, 2, 2};
    lane inverse[3];
    for (int i = 0; i < 3; i++) {
        inverse[i] = 1 / lane_select(defined, sigma[i], one);
        eigen->A[i] = lane_select(defined, 1 + (ratio - c) * inverse[i] * inverse[i], zero);
    }
    for (int pair = 0; pair < 3; pair++) {
        const lane product = inverse[first[pair]] * inverse[second[pair]];
        eigen->A[3 + pair] = lane_select(defined, ratio * product, zero);
        eigen->even[pair] = lane_select(defined, 1 - c * product, zero);
        eigen->odd[pair] = lane_select(defined, 1 + c * product, zero);
    }
}

#include "energy/tet/isotropic_material.h"

/* The same where psi is defined; elsewhere the energy of neo_hookean with the same rest and moduli, as a constraint
 * needs something to lead it back: sweeps begin at q_tilde, which may be inverted. */
KERNEL_INLINE lane stress_anywhere(const lane F[9], const sinew_real *material, lane P[9])
{
    const lane huge = lane_set(LANE_HUGE), psi = stress(F, material, P);
    const lane_mask defined = lane_le(psi, huge);
    if (__builtin_expect(!lane_any(~defined), 1))
        return psi;
    const lane ratio = lane_load(material) + 1, half = lane_set((sinew_real)0.5);
    lane C[9];
    const lane growth = cofactor3(F, C) - 1;
    for (int i = 0; i < 9; i++)
        P[i] = lane_select(defined, P[i], F[i] + (ratio * growth - 1) * C[i]);
    return lane_select(defined, psi, half * (norm3(F) - 3) + growth * (half * ratio * growth - 1));
}

static void log_constrain(const sinew_constrain_kernel *kernel)
{
    tet_constrain(kernel, DATA_COUNT, 1, stress_anywhere, no_offset);
}

static void log_jacobian(const sinew_jacobian_kernel *kernel)
{
    tet_jacobian(kernel, DATA_COUNT, 1, stress_anywhere, no_offset);
}

static double log_step_limit(const sinew_kernel *kernel, double most)
{
    return tet_step_limit(kernel, DATA_COUNT, most);
}

static void log_visit(const sinew_real *data, const int32_t *particles, int node, sinew_real *out, int32_t *others)
{
    volume_visit(data, particles, node, false, out, others);
}

/* phi'' = (1 + r - r log J) / J^2 of phi = -log J + r/2 (log J)^2, r = lambda/mu, grows without bound towards J = 0: no
 * bound. It is not negative up to J = e and a little beyond, from where it counts as zero, or cheap as r. */
KERNEL_INLINE void log_add(const visit *v, bool exact, visit_sum *sum)
{
    const lane ratio = lane_load(v->data + VOLUME_MATERIAL * LANES), zero = lane_set(0), one = lane_set(1);
    volume_state s;
    volume_look(v, false, &s);
    const lane_mask defined = lane_lt(zero, s.J);
    const lane safe = lane_select(defined, s.J, one), log_J = lane_log(safe);
    const lane curved = (1 + ratio - ratio * log_J) / (safe * safe), scale = lane_select(defined, one, zero);
    volume_add(v, &s, scale, scale * (ratio * log_J - 1) / safe, scale * (sinew_real)(exact ? 1 : 2),
               scale * lane_max(curved, exact ? zero : ratio), sum);
}

KERNEL_INLINE lane log_difference(const visit *v, const lane d[3], lane *noise)
{
    const lane ratio = lane_load(v->data + VOLUME_MATERIAL * LANES), half = lane_set((sinew_real)0.5);
    const lane zero = lane_set(0), one = lane_set(1);
    volume_state s;
    lane norm, J;
    volume_look(v, false, &s);
    volume_moved(&s, d, &norm, &J);
    const lane_mask before = lane_lt(zero, s.J), after = lane_lt(zero, s.J + J);
    const lane old = lane_log(lane_select(before, s.J, one)), new = lane_log(lane_select(after, s.J + J, one));
    *noise = 4 * LANE_EPSILON * (1 + lane_abs(norm) + (1 + ratio) * (old * old + new *new));
    const lane change = half * norm + (new - old) * (half * ratio * (new + old) - 1);
    return lane_select(after, lane_select(before, change, lane_set(-LANE_HUGE)), lane_set((sinew_real)INFINITY));
}

static void log_vertex(const sinew_vertex_kernel *kernel)
{
    visit_vertex(kernel, 3, VOLUME_DATA_COUNT, log_add);
}

static void log_vertex_change(const sinew_vertex_kernel *kernel)
{
    visit_change(kernel, 3, VOLUME_DATA_COUNT, log_difference);
}

const sinew_energy_ops SINEW_LANE_SYMBOL(sinew_energy_neo_hookean_log) = {
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
    .visit_data_count = VOLUME_DATA_COUNT,
    .visit = log_visit,
    .vertex_change = log_vertex_change,
    .vertex_bounds = 0,
};
