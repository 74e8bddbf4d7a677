/* SPDX-License-Identifier: MIT
 *
 * neo_hookean_isochoric.c: Neo-Hookean rubber with separate terms for change of shape and change of volume.
 *
 *     psi = mu/2 (J^(-2/3) |F|^2 - 3) + kappa/2 (J - 1)^2
 *     P   = a F + b cof F,  a = mu J^(-2/3),  b = kappa (J - 1) - a |F|^2 / (3 J)
 *
 * CalculiX and Abaqus call it NEO HOOKE, with C10 = mu/2 and D1 = 2/kappa. It is linear elasticity at rest with
 * kappa = lambda + 2/3 mu. psi is infinite for J <= 0, where J^(-2/3) has no physical meaning: value and gradient
 * return +inf, the element adds nothing to g and its tangent is zero. Unlike neo_hookean_log, a collapse to a point
 * costs finite energy: for equal stretches the first term is zero, and the second kappa/2.
 */
#include "energy/tet/tet_constraint.h"
#include "energy/lame.h"
#include "energy/tet/neo_hookean_law.h"
#include "energy/tet/tet_reduced.h"
#include "energy/tet/inversion_limit.h"
#include "energy/tet/tet_vertex_kernel.h"

enum {
    DATA_COUNT = TET_MATERIAL + 1
}; /* the only material constant in data: kappa / mu, bulk over shear modulus */

static const sinew_parameter parameters[] = {LAME_YOUNG_PARAMETER, LAME_POISSON_PARAMETER};

static const char *isochoric_prepare(const sinew_element *element, sinew_real *data)
{
    data[TET_MATERIAL] = (sinew_real)(lame_ratio(element->parameters) + 2.0 / 3);
    return sinew_tet_prepare(element, lame_mu(element->parameters), data, NULL);
}

/* Factors a and b of the stress P = a F + b cof F per unit of mu, for J = det F > 0; `norm` is |F|^2. */
KERNEL_INLINE void isochoric_factors(wide norm, wide J, wide bulk, wide *a, wide *b)
{
    const wide root = wide_cbrt(J);
    *a = 1 / (root * root);
    *b = bulk * (J - 1) - *a * norm / (3 * J);
}

static __attribute__((noinline)) wide stress(const wide F[9], const sinew_real *material, wide P[9])
{
    const wide bulk = wide_load(material), half = wide_set((sinew_real)0.5), zero = wide_set(0);
    wide C[9], a, b;
    const wide J = cofactor3(F, C), norm = norm3(F);
    const wide_mask defined = wide_lt(zero, J);
    const wide safe = wide_select(defined, J, wide_set(1));
    isochoric_factors(norm, safe, bulk, &a, &b);
    for (int i = 0; i < 9; i++)
        P[i] = wide_select(defined, a * F[i] + b * C[i], zero);
    const wide psi = half * (a * norm - 3 + bulk * (safe - 1) * (safe - 1));
    return wide_select(defined, psi, wide_set((sinew_real)INFINITY));
}

/* Second derivatives from da/dsigma = -2a/(3J) cof and db/dsigma = (kappa + 5 a |F|^2 / (9 J^2)) cof - 2a/(3J)
 * sigma, with J = det F and the stress P = a F + b cof F. */
KERNEL_INLINE void curvature(const wide sigma[3], const sinew_real *material, isotropic_eigen *eigen)
{
    static const int first[3] = {0, 0, 1}, second[3] = {1, 2, 2};
    const wide bulk = wide_load(material), zero = wide_set(0), J = sigma[0] * sigma[1] * sigma[2];
    const wide norm = sigma[0] * sigma[0] + sigma[1] * sigma[1] + sigma[2] * sigma[2];
    const wide_mask defined = wide_lt(zero, J);
    const wide safe = wide_select(defined, J, wide_set(1));
    wide a, b;
    isochoric_factors(norm, safe, bulk, &a, &b);
    const wide slope = 2 * a / (3 * safe), bent = bulk + 5 * a * norm / (9 * safe * safe);
    isotropic_volume_form(sigma, a, b, bent, eigen);
    for (int i = 0; i < 3; i++)
        eigen->A[i] = wide_select(defined, eigen->A[i] - 2 * slope * safe, zero);
    /* pairs (i, j) of singular values: sigma_i cof_j + sigma_j cof_i = (sigma_i^2 + sigma_j^2) sigma_k */
    for (int pair = 0; pair < 3; pair++) {
        const wide i = sigma[first[pair]], j = sigma[second[pair]], k = sigma[2 - pair];
        eigen->A[3 + pair] = wide_select(defined, eigen->A[3 + pair] - slope * (i * i + j * j) * k, zero);
        eigen->even[pair] = wide_select(defined, eigen->even[pair], zero);
        eigen->odd[pair] = wide_select(defined, eigen->odd[pair], zero);
    }
}

#include "energy/tet/isotropic_material.h"

/* Stress of this energy where psi is defined, else the energy neo_hookean with the same rest shape and moduli: sweeps
 * start at q_tilde, which may be inverted, and need a gradient there. */
static __attribute__((noinline)) wide stress_anywhere(const wide F[9], const sinew_real *material, wide P[9])
{
    const wide psi = stress(F, material, P);
    const wide_mask defined = wide_le(psi, wide_set(WIDE_HUGE));
    if (__builtin_expect(!wide_any(~defined), 1))
        return psi;
    wide other[9]; /* stress of the energy neo_hookean with l/mu = lambda/mu + 1 = kappa/mu + 1/3 */
    const wide beyond = neo_hookean_stress(F, wide_load(material) + (sinew_real)(1.0 / 3), other);
    for (int i = 0; i < 9; i++)
        P[i] = wide_select(defined, P[i], other[i]);
    return wide_select(defined, psi, beyond);
}

static void isochoric_constrain(const sinew_constrain_kernel *kernel)
{
    tet_constrain(kernel, DATA_COUNT, 1, stress_anywhere, no_offset);
}

static void isochoric_jacobian(const sinew_jacobian_kernel *kernel)
{
    tet_jacobian(kernel, DATA_COUNT, 1, stress_anywhere, no_offset);
}

static double isochoric_step_limit(const sinew_kernel *kernel, double max)
{
    return tet_step_limit(kernel, DATA_COUNT, max);
}

/* Adds the gradient of one vertex and the approximate block of neo_hookean, which has the same moduli at rest. The
 * block is no upper bound. */
KERNEL_INLINE void isochoric_add_cheap(const incidence *v, bool exact, incidence_sum *sum)
{
    (void)exact;
    wide F[9], b[3];
    tet_incidence_deformation(v, F, b);
    tet_incidence_gradient(v, F, b, stress, sum);
    tet_incidence_bound(v, F, b, wide_set(2), wide_load(v->data + TET_MATERIAL * SIMD_WIDTH) + (sinew_real)(1.0 / 3),
                        sum);
}

static void isochoric_vertex(const sinew_vertex_kernel *kernel)
{
    if (kernel->exact)
        incidence_run(kernel, 3, DATA_COUNT, true, material_add_exact);
    else
        incidence_run(kernel, 3, DATA_COUNT, false, isochoric_add_cheap);
}

/* Change of psi by a step of one vertex. An undefined psi counts as infinite, so every step to a defined point is a
 * decrease. */
KERNEL_INLINE wide isochoric_difference(const incidence *v, const wide d[3], wide *noise)
{
    const wide huge = wide_set(WIDE_HUGE), change = tet_incidence_difference(v, d, stress, noise);
    const wide_mask number = wide_le(change, huge) | wide_lt(huge, change);
    *noise = wide_select(wide_le(wide_abs(change), huge), *noise, wide_set(0));
    return wide_select(number, wide_max(change, -huge), wide_set((sinew_real)INFINITY));
}

static void isochoric_change(const sinew_vertex_kernel *kernel)
{
    incidence_change(kernel, 3, DATA_COUNT, isochoric_difference);
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_neo_hookean_isochoric) = {
    .info = {.name = "neo_hookean_isochoric",
             .summary = "mu/2 (J^(-2/3) |F|^2 - 3) + kappa/2 (J - 1)^2 per volume; infinite for J <= 0",
             TET_MATERIAL_INFO,
             .capabilities = TET_MATERIAL_CAPABILITIES},
    TET_MATERIAL_OPS,
    .prepare = isochoric_prepare,
    .vertex = isochoric_vertex,
    .barrier = true,
    .step_limit = isochoric_step_limit,
    ISOTROPIC_MATERIAL_OPS,
    .constraint_count = 1,
    .constrain = isochoric_constrain,
    .jacobian = isochoric_jacobian,
    .rooted = true,
    .incidence_data_count = DATA_COUNT,
    .incidence = material_incidence,
    .vertex_change = isochoric_change,
    .vertex_bounds = 0,
};
