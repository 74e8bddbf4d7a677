/* SPDX-License-Identifier: MIT
 *
 * energy_linear.c: linear elasticity.
 *
 *     e = (F + F^T)/2 - 1      psi = mu |e|^2 + lambda/2 (tr e)^2      P = 2 mu e + lambda tr(e) 1
 *
 * PBNG (38), (39). Quadratic in the positions, its Hessian constant and positive semi-definite. Not invariant under
 * rotation: a turned element swells. For small displacements, and as the reference that others are compared with.
 */
#include "energy/constrain_tet.h"
#include "energy/lame.h"
#include "energy/reduced.h"

enum {
    DATA_COUNT = TET_MATERIAL + 1
}; /* lambda / mu */

static const sinew_parameter parameters[] = {LAME_YOUNG_PARAMETER, LAME_POISSON_PARAMETER};

static const char *prepare(const sinew_element *element, sinew_real *data)
{
    data[TET_MATERIAL] = (sinew_real)lame_ratio(element->parameters);
    return sinew_tet_prepare(element, lame_mu(element->parameters), data);
}

KERNEL_INLINE lane stress(const lane F[9], const sinew_real *material, lane P[9])
{
    const lane ratio = lane_load(material), half = lane_set((sinew_real)0.5);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            P[3 * i + j] = F[3 * i + j] + F[3 * j + i]; /* 2 e */
    for (int i = 0; i < 3; i++)
        P[4 * i] -= 2;
    const lane trace = half * (P[0] + P[4] + P[8]);
    const lane psi = half * half * norm3(P) + half * ratio * trace * trace;
    for (int i = 0; i < 3; i++)
        P[4 * i] += ratio * trace;
    return psi;
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
    const lane zero = lane_set(0), one = lane_set(1);
    const lane identity[9] = {one, zero, zero, zero, one, zero, zero, zero, one};
    for (int32_t group = 0; group < kernel->group_count; group++) {
        const sinew_real *data = group_data(kernel, group, DATA_COUNT);
        const lane ratio = lane_load(data + TET_MATERIAL * LANES);
        tet_tangent tangent;
        lane rest[9];
        load_lanes(data + TET_REST * LANES, 9, rest);
        for (int i = 0; i < 3; i++) {
            tangent.A[i] = 2 + ratio;
            tangent.A[3 + i] = ratio;
            tangent.s[i] = one;
            tangent.t[i] = one;
        }
        tet_store_tangent(group_tangent(kernel, group, TET_TANGENT_COUNT), lane_load(data), identity, rest, &tangent);
    }
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

/* With E = e(Z) and D = e(Y): (2 w + w2) E + lambda w tr(E) 1 = w2 D; the skew part of Y stays. */
static void local_prox(const sinew_kernel *kernel)
{
    const lane half = lane_set((sinew_real)0.5), zero = lane_set(0), one = lane_set(1);
    for (int32_t group = 0; group < kernel->group_count; group++) {
        const sinew_real *data = group_data(kernel, group, DATA_COUNT);
        const lane ratio = lane_load(data + TET_MATERIAL * LANES), w = lane_load(data);
        const lane w2 = lane_load(kernel->weights + group * LANES);
        const lane r = w2 / lane_select(lane_eq(w, zero), one, w), share = r / (2 + r);
        lane rest[9], F[9], Y[9], Z[9];
        tet_deformation(kernel->x, group_vertex(kernel, group, 4), data, rest, F);
        load_lanes(group_dual(kernel, group, 9), 9, Y);
        for (int i = 0; i < 9; i++)
            Y[i] += F[i];
        const lane trace = r * (Y[0] + Y[4] + Y[8] - 3) / (2 + r + 3 * ratio);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                const lane even = half * (Y[3 * i + j] + Y[3 * j + i]), odd = half * (Y[3 * i + j] - Y[3 * j + i]);
                Z[3 * i + j] = i == j ? 1 + share * (even - 1) - ratio * trace / (2 + r) : share * even + odd;
            }
        tet_prox_finish(kernel, group, data, F, Y, Z, rest);
    }
}

static void constrain(const sinew_kernel *kernel)
{
    tet_constrain(kernel, DATA_COUNT, 1, stress, no_offset);
}

const sinew_energy_ops SINEW_LANE_SYMBOL(sinew_energy_linear) = {
    .info = {.name = "linear",
             .summary = "mu |e|^2 + lambda/2 (tr e)^2 per volume, e = (F + F^T)/2 - 1",
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
