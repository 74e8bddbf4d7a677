/* SPDX-License-Identifier: MIT
 *
 * corotated.c: distance to the rotations, and a penalty on the change of volume.
 *
 *     psi = mu |F - R|^2 + lambda/2 (J - 1)^2        P = 2 mu (F - R) + lambda (J - 1) cof F
 *
 * PBNG (7), the "fixed" corotated energy of Stomakhin et al. 2012. Defined for every F; P jumps where
 * sigma1 + sigma2 = 0 (isotropic.h). Poisson's ratio is not negative: with lambda < 0 the energy of a growing element
 * would fall without bound.
 */
#include "energy/tet/tet_constraint.h"
#include "energy/lame.h"
#include "energy/tet/tet_reduced.h"
#include "energy/tet/tet_vertex_kernel.h"

enum {
    DATA_COUNT = TET_MATERIAL + 1
}; /* lambda / mu */

static const sinew_parameter parameters[] = {LAME_YOUNG_PARAMETER, LAME_POISSON_POSITIVE_PARAMETER};

static const char *corotated_prepare(const sinew_element *element, sinew_real *data)
{
    data[TET_MATERIAL] = (sinew_real)lame_ratio(element->parameters);
    return sinew_tet_prepare(element, lame_mu(element->parameters), data, NULL);
}

KERNEL_INLINE lane corotated_rotated_stress(const lane F[9], const lane R[9], const sinew_real *material, lane P[9])
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
    return corotated_rotated_stress(F, R, material, P);
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

#include "energy/tet/isotropic_material.h"

static double corotated_value(const sinew_kernel *kernel)
{
    return tet_rotated_value(kernel, DATA_COUNT, stress, corotated_rotated_stress);
}

static double corotated_gradient(const sinew_kernel *kernel)
{
    return tet_rotated_gradient(kernel, DATA_COUNT, stress, corotated_rotated_stress);
}

static void corotated_constrain(const sinew_constrain_kernel *kernel)
{
    tet_rotated_constrain(kernel, DATA_COUNT, 1, stress, corotated_rotated_stress, no_offset);
}

/* The gradient and the cheap block, of R only R b. */
KERNEL_INLINE void corotated_add_cheap(const visit *v, const lane F[9], const lane R[9], const lane b[3],
                                       visit_sum *sum)
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

static void corotated_vertex(const sinew_vertex_kernel *kernel)
{
    if (kernel->exact)
        visit_run(kernel, 3, DATA_COUNT, true, material_exact);
    else
        tet_rotated_vertex(kernel, DATA_COUNT, corotated_add_cheap);
}

const sinew_energy_ops SINEW_LANE_SYMBOL(sinew_energy_corotated) = {
    .info = {.name = "corotated",
             .summary = "mu |F - R|^2 + lambda/2 (J - 1)^2 per volume",
             TET_MATERIAL_INFO,
             .capabilities = TET_MATERIAL_CAPABILITIES},
    TET_MATERIAL_OPS,
    .prepare = corotated_prepare,
    .vertex = corotated_vertex,
    .value = corotated_value,
    .gradient = corotated_gradient,
    .linearise = material_linearise,
    .stiffness = material_stiffness,
    .local_prox = material_prox,
    .constraint_count = 1,
    .constrain = corotated_constrain,
    .jacobian = material_jacobian,
    .rooted = true,
    VISIT_GENERAL_OPS,
    .vertex_bounds = SINEW_BOUND_CHEAP,
};
