/* SPDX-License-Identifier: MIT
 *
 * neo_hookean_isochoric.c: Neo-Hookean rubber whose change of shape and change of volume are apart.
 *
 *     psi = mu/2 (J^(-2/3) |F|^2 - 3) + kappa/2 (J - 1)^2
 *     P   = a F + b cof F,  a = mu J^(-2/3),  b = kappa (J - 1) - a |F|^2 / (3 J)
 *
 * CalculiX and Abaqus call it NEO HOOKE, with C10 = mu/2 and D1 = 2/kappa. It is linear elasticity at rest with
 * kappa = lambda + 2/3 mu. Infinite for J <= 0, where J^(-2/3) has no meaning as a material: value and gradient return
 * +inf there, the element adds nothing to g and has a zero tangent. Unlike neo_hookean_log it does not resist a
 * collapse to a point without limit: with all stretches alike the first term stays zero, and the second is kappa/2.
 */
#include "energy/tet/tet_constraint.h"
#include "energy/lame.h"
#include "energy/tet/neo_hookean_law.h"
#include "energy/tet/tet_reduced.h"
#include "energy/tet/inversion_limit.h"
#include "energy/tet/tet_vertex_kernel.h"

enum {
    DATA_COUNT = TET_MATERIAL + 1
}; /* kappa / mu */

static const sinew_parameter parameters[] = {LAME_YOUNG_PARAMETER, LAME_POISSON_PARAMETER};

static const char *isochoric_prepare(const sinew_element *element, sinew_real *data)
{
    data[TET_MATERIAL] = (sinew_real)(lame_ratio(element->parameters) + 2.0 / 3);
    return sinew_tet_prepare(element, lame_mu(element->parameters), data, NULL);
}

/* a and b per unit of mu, J > 0. */
KERNEL_INLINE void isochoric_factors(lane norm, lane J, lane bulk, lane *a, lane *b)
{
    const lane root = lane_cbrt(J);
    *a = 1 / (root * root);
    *b = bulk * (J - 1) - *a * norm / (3 * J);
}

static __attribute__((noinline)) lane stress(const lane F[9], const sinew_real *material, lane P[9])
{
    const lane bulk = lane_load(material), half = lane_set((sinew_real)0.5), zero = lane_set(0);
    lane C[9], a, b;
    const lane J = cofactor3(F, C), norm = norm3(F);
    const lane_mask defined = lane_lt(zero, J);
    const lane safe = lane_select(defined, J, lane_set(1));
    isochoric_factors(norm, safe, bulk, &a, &b);
    for (int i = 0; i < 9; i++)
        P[i] = lane_select(defined, a * F[i] + b * C[i], zero);
    const lane psi = half * (a * norm - 3 + bulk * (safe - 1) * (safe - 1));
    return lane_select(defined, psi, lane_set((sinew_real)INFINITY));
}

/* da/dsigma = -2a/(3J) cof, db/dsigma = (kappa + 5 a |F|^2 / (9 J^2)) cof - 2a/(3J) sigma */
KERNEL_INLINE void curvature(const lane sigma[3], const sinew_real *material, isotropic_eigen *eigen)
{
    static const int first[3] = {0, 0, 1}, second[3] = {1, 2, 2};
    const lane bulk = lane_load(material), zero = lane_set(0), J = sigma[0] * sigma[1] * sigma[2];
    const lane norm = sigma[0] * sigma[0] + sigma[1] * sigma[1] + sigma[2] * sigma[2];
    const lane_mask defined = lane_lt(zero, J);
    const lane safe = lane_select(defined, J, lane_set(1));
    lane a, b;
    isochoric_factors(norm, safe, bulk, &a, &b);
    const lane slope = 2 * a / (3 * safe), bent = bulk + 5 * a * norm / (9 * safe * safe);
    isotropic_volume_form(sigma, a, b, bent, eigen);
    for (int i = 0; i < 3; i++)
        eigen->A[i] = lane_select(defined, eigen->A[i] - 2 * slope * safe, zero);
    for (int pair = 0; pair < 3; pair++) { /* sigma_i cof_j + sigma_j cof_i = (sigma_i^2 + sigma_j^2) sigma_k */
        const lane i = sigma[first[pair]], j = sigma[second[pair]], k = sigma[2 - pair];
        eigen->A[3 + pair] = lane_select(defined, eigen->A[3 + pair] - slope * (i * i + j * j) * k, zero);
        eigen->even[pair] = lane_select(defined, eigen->even[pair], zero);
        eigen->odd[pair] = lane_select(defined, eigen->odd[pair], zero);
    }
}

#include "energy/tet/isotropic_material.h"

/* The same where psi is defined; elsewhere neo_hookean with the same rest and moduli, as a constraint needs something
 * to lead it back: sweeps begin at q_tilde, which may be inverted. */
static __attribute__((noinline)) lane stress_anywhere(const lane F[9], const sinew_real *material, lane P[9])
{
    const lane psi = stress(F, material, P);
    const lane_mask defined = lane_le(psi, lane_set(LANE_HUGE));
    if (__builtin_expect(!lane_any(~defined), 1))
        return psi;
    lane other[9]; /* its l/mu is lambda/mu + 1 */
    const lane beyond = neo_hookean_stress(F, lane_load(material) + (sinew_real)(1.0 / 3), other);
    for (int i = 0; i < 9; i++)
        P[i] = lane_select(defined, P[i], other[i]);
    return lane_select(defined, psi, beyond);
}

static void isochoric_constrain(const sinew_constrain_kernel *kernel)
{
    tet_constrain(kernel, DATA_COUNT, 1, stress_anywhere, no_offset);
}

static void isochoric_jacobian(const sinew_jacobian_kernel *kernel)
{
    tet_jacobian(kernel, DATA_COUNT, 1, stress_anywhere, no_offset);
}

static double isochoric_step_limit(const sinew_kernel *kernel, double most)
{
    return tet_step_limit(kernel, DATA_COUNT, most);
}

/* The cheap block of neo_hookean, which has the same moduli at rest: no bound. */
KERNEL_INLINE void isochoric_add_cheap(const visit *v, bool exact, visit_sum *sum)
{
    (void)exact;
    lane F[9], b[3];
    tet_visit_deformation(v, F, b);
    tet_visit_gradient(v, F, b, stress, sum);
    tet_visit_bound(v, F, b, lane_set(2), lane_load(v->data + TET_MATERIAL * LANES) + (sinew_real)(1.0 / 3), sum);
}

static void isochoric_vertex(const sinew_vertex_kernel *kernel)
{
    if (kernel->exact)
        visit_run(kernel, 3, DATA_COUNT, true, material_exact);
    else
        visit_run(kernel, 3, DATA_COUNT, false, isochoric_add_cheap);
}

/* From where psi is not defined every defined place is lower. */
KERNEL_INLINE lane isochoric_difference(const visit *v, const lane d[3], lane *noise)
{
    const lane huge = lane_set(LANE_HUGE), change = tet_visit_difference(v, d, stress, noise);
    const lane_mask number = lane_le(change, huge) | lane_lt(huge, change);
    *noise = lane_select(lane_le(lane_abs(change), huge), *noise, lane_set(0));
    return lane_select(number, lane_max(change, -huge), lane_set((sinew_real)INFINITY));
}

static void isochoric_change(const sinew_vertex_kernel *kernel)
{
    visit_change(kernel, 3, DATA_COUNT, isochoric_difference);
}

const sinew_energy_ops SINEW_LANE_SYMBOL(sinew_energy_neo_hookean_isochoric) = {
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
    .visit_data_count = DATA_COUNT,
    .visit = material_visit,
    .vertex_change = isochoric_change,
    .vertex_bounds = 0,
};
