/* SPDX-License-Identifier: MIT
 *
 * energy_corotated.c: distance to the rotations, and a penalty on the change of volume.
 *
 *     psi = mu |F - R|^2 + lambda/2 (J - 1)^2        P = 2 mu (F - R) + lambda (J - 1) cof F
 *
 * PBNG (7), the "fixed" corotated energy of Stomakhin et al. 2012. Defined for every F; P jumps where
 * sigma1 + sigma2 = 0 (isotropic.h). Poisson's ratio is not negative: with lambda < 0 the energy of a growing element
 * would fall without bound.
 */
#include "energy/constrain_tet.h"
#include "energy/lame.h"
#include "energy/reduced.h"
#include "energy/visit_tet.h"

enum {
    DATA_COUNT = TET_MATERIAL + 1
}; /* lambda / mu */

static const sinew_parameter parameters[] = {LAME_YOUNG_PARAMETER, LAME_POISSON_POSITIVE_PARAMETER};

static const char *prepare(const sinew_element *element, sinew_real *data)
{
    data[TET_MATERIAL] = (sinew_real)lame_ratio(element->parameters);
    return sinew_tet_prepare(element, lame_mu(element->parameters), data, NULL);
}

KERNEL_INLINE lane rotated_stress(const lane F[9], const lane R[9], const sinew_real *material, lane P[9])
{
    const lane ratio = lane_load(material), half = lane_set((sinew_real)0.5);
    lane C[9];
    const lane growth = cofactor3(F, C) - 1;
    lane distance[9];
    for (int i = 0; i < 9; i++) {
        distance[i] = F[i] - R[i];
        P[i] = 2 * distance[i] + ratio * growth * C[i];
    }
    return norm3(distance) + half * ratio * growth * growth;
}

KERNEL_INLINE lane stress(const lane F[9], const sinew_real *material, lane P[9])
{
    lane R[9];
    sinew_polar3(F, R);
    return rotated_stress(F, R, material, P);
}

KERNEL_INLINE void curvature(const lane sigma[3], const sinew_real *material, isotropic_eigen *eigen)
{
    const lane ratio = lane_load(material);
    const lane growth = sigma[0] * sigma[1] * sigma[2] - 1;
    lane term[3];
    isotropic_volume_form(sigma, lane_set(2), ratio * growth, ratio, eigen);
    isotropic_rotation_term(sigma, term);
    for (int pair = 0; pair < 3; pair++)
        eigen->odd[pair] -= 2 * term[pair];
}

static double value(const sinew_kernel *kernel)
{
    return tet_rotated_value(kernel, DATA_COUNT, stress, rotated_stress);
}

static double gradient(const sinew_kernel *kernel)
{
    return tet_rotated_gradient(kernel, DATA_COUNT, stress, rotated_stress);
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
    tet_rotated_constrain(kernel, DATA_COUNT, 1, stress, rotated_stress, no_offset);
}

static void visit_element(const sinew_real *data, const int32_t *particles, int node, sinew_real *out, int32_t *others)
{
    double q[3][3];
    tet_visit(data, DATA_COUNT, particles, node, out, others, q);
}

/* The gradient and the cheap block, of R only R b. */
KERNEL_INLINE void add_cheap(const visit *v, const lane F[9], const lane R[9], const lane b[3], visit_sum *sum)
{
    const lane ratio = lane_load(v->data + TET_MATERIAL * LANES), weight = lane_load(v->data);
    lane C[9], c[3], fb[3], rb[3];
    const lane pressure = weight * ratio * (cofactor3(F, C) - 1);
    apply3(C, b, c);
    apply3(F, b, fb);
    apply3(R, b, rb);
    for (int i = 0; i < 3; i++)
        sum->g[i] += 2 * weight * (fb[i] - rb[i]) + pressure * c[i];
    block_add(sum->A, 2 * weight * dot3(b, b), weight * ratio, c);
}

KERNEL_INLINE void add_exact(const visit *v, bool exact, visit_sum *sum)
{
    (void)exact;
    lane F[9], b[3];
    tet_visit_deformation(v, F, b);
    tet_visit_gradient(v, F, b, stress, sum);
    tet_visit_projected(v, F, b, curvature, sum);
}

KERNEL_INLINE lane difference(const visit *v, const lane d[3], lane *noise)
{
    return tet_visit_difference(v, d, stress, noise);
}

static void vertex(const sinew_kernel *kernel)
{
    if (kernel->exact)
        visit_run(kernel, 3, DATA_COUNT, true, add_exact);
    else
        tet_rotated_vertex(kernel, DATA_COUNT, add_cheap);
}

static void vertex_change(const sinew_kernel *kernel)
{
    visit_change(kernel, 3, DATA_COUNT, difference);
}

const sinew_energy_ops SINEW_LANE_SYMBOL(sinew_energy_corotated) = {
    .info = {.name = "corotated",
             .summary = "mu |F - R|^2 + lambda/2 (J - 1)^2 per volume",
             .stencil = SINEW_STENCIL_TET,
             .vertex_count = 4,
             .parameters = parameters,
             .parameter_count = sizeof parameters / sizeof parameters[0],
             .capabilities = SINEW_CAN_CONSTRAINT | SINEW_CAN_PROX | SINEW_CAN_VERTEX},
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
    .other_count = 3,
    .visit_data_count = DATA_COUNT,
    .visit = visit_element,
    .vertex = vertex,
    .vertex_change = vertex_change,
    .vertex_bounds = SINEW_BOUND_CHEAP,
};
