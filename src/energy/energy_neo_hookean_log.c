/* SPDX-License-Identifier: MIT
 *
 * energy_neo_hookean_log.c: the classical Neo-Hookean energy.
 *
 *     psi = mu/2 (|F|^2 - 3) - mu log J + lambda/2 (log J)^2        P = mu F + (lambda log J - mu) / J cof F
 *
 * Thesis (3.14). Infinite for J <= 0: value and gradient return +inf there, and the element adds nothing to g and has
 * a zero tangent, so that the rest of the result stays finite. Poisson's ratio is not negative: with lambda < 0 the
 * energy would fall without bound as J goes to 0.
 */
#include "energy/constrain_tet.h"
#include "energy/lame.h"
#include "energy/reduced.h"

enum {
    DATA_COUNT = TET_MATERIAL + 1
}; /* lambda / mu */

static const sinew_parameter parameters[] = {LAME_YOUNG_PARAMETER, LAME_POISSON_POSITIVE_PARAMETER};

static const char *prepare(const sinew_element *element, sinew_real *data)
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

static double value(const sinew_kernel *kernel)
{
    return tet_value(kernel, DATA_COUNT, stress);
}

static double gradient(const sinew_kernel *kernel)
{
    return tet_gradient(kernel, DATA_COUNT, stress);
}

static void linearise(const sinew_kernel *kernel)
{
    isotropic_linearise(kernel, DATA_COUNT, curvature);
}

static void determinants(const sinew_kernel *kernel, double *smallest, double *largest, int32_t *inverted)
{
    tet_determinants(kernel, DATA_COUNT, smallest, largest, inverted);
}

static void reduce(const sinew_kernel *kernel)
{
    tet_reduce(kernel, DATA_COUNT);
}

static void stiffness(const sinew_kernel *kernel)
{
    tet_fit_stiffness(kernel, DATA_COUNT, stress);
}

static void local_prox(const sinew_kernel *kernel)
{
    isotropic_prox(kernel, DATA_COUNT, stress, curvature);
}

static void constrain(const sinew_kernel *kernel)
{
    tet_constrain(kernel, DATA_COUNT, 1, stress, no_offset);
}

const sinew_energy_ops SINEW_LANE_SYMBOL(sinew_energy_neo_hookean_log) = {
    .info = {.name = "neo_hookean_log",
             .summary = "mu/2 (|F|^2 - 3) - mu log J + lambda/2 (log J)^2 per volume; infinite for J <= 0",
             .stencil = SINEW_STENCIL_TET,
             .vertex_count = 4,
             .parameters = parameters,
             .parameter_count = sizeof parameters / sizeof parameters[0],
             .capabilities = SINEW_CAN_CONSTRAINT | SINEW_CAN_PROX},
    .data_count = DATA_COUNT,
    .tangent_count = TET_TANGENT_COUNT,
    .target_slot = -1,
    .prepare = prepare,
    .value = value,
    .gradient = gradient,
    .linearise = linearise,
    .product = sinew_tet_product,
    .hessian = sinew_tet_hessian,
    .determinants = determinants,
    .row_count = 3,
    .reduce = reduce,
    .stiffness = stiffness,
    .local_prox = local_prox,
    .constraint_count = 1,
    .constrain = constrain,
};
