/* SPDX-License-Identifier: MIT
 *
 * corotated.c: squared distance to the rotations, and a penalty on the change of volume.
 *
 *     psi = mu |F - R|^2 + lambda/2 (J - 1)^2        P = 2 mu (F - R) + lambda (J - 1) cof F
 *
 * PBNG (7), the "fixed" corotated energy of Stomakhin et al. 2012. psi is defined for every F; P jumps where
 * sigma1 + sigma2 = 0 (isotropic.h). Poisson's ratio is not negative: with lambda < 0 the energy of a growing element
 * has no lower bound.
 */
#include "energy/tet/tet_constraint.h"
#include "energy/lame.h"
#include "energy/tet/tet_reduced.h"
#include "energy/tet/tet_vertex_kernel.h"

enum {
    DATA_COUNT = TET_MATERIAL + 1
}; /* the only material constant in data: lambda / mu of the Lame constants */

static const sinew_parameter parameters[] = {LAME_YOUNG_PARAMETER, LAME_POISSON_POSITIVE_PARAMETER};

static const char *tet_corotated_prepare(const sinew_element *element, sinew_real *data)
{
    data[TET_MATERIAL] = (sinew_real)lame_ratio(element->parameters);
    return sinew_tet_prepare(element, lame_mu(element->parameters), data, NULL);
}

KERNEL_INLINE wide corotated_rotated_stress(const wide F[9], const wide R[9], const sinew_real *material, wide P[9])
{
    const wide ratio = wide_load(material), half = wide_set((sinew_real)0.5);
    wide C[9];
    const wide growth = cofactor3(F, C) - 1;
    wide distance[9];
    for (int i = 0; i < 9; i++) {
        distance[i] = F[i] - R[i];
        P[i] = 2 * distance[i] + ratio * growth * C[i];
    }
    return norm3(distance) + half * ratio * growth * growth;
}

KERNEL_INLINE wide stress(const wide F[9], const sinew_real *material, wide P[9])
{
    wide R[9];
    sinew_polar3(F, R);
    return corotated_rotated_stress(F, R, material, P);
}

KERNEL_INLINE void curvature(const wide sigma[3], const sinew_real *material, isotropic_eigen *eigen)
{
    const wide ratio = wide_load(material);
    const wide growth = sigma[0] * sigma[1] * sigma[2] - 1;
    wide term[3];
    isotropic_volume_form(sigma, wide_set(2), ratio * growth, ratio, eigen);
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

/* Adds the gradient and the approximate block of one vertex. The gradient depends on the rotation R only through R b,
 * where b is the vertex's rest gradient; the block does not depend on R. */
KERNEL_INLINE void corotated_add_cheap(const incidence *v, const wide F[9], const wide R[9], const wide b[3],
                                       incidence_sum *sum)
{
    const wide ratio = wide_load(v->data + TET_MATERIAL * SIMD_WIDTH), weight = wide_load(v->data);
    wide C[9], c[3], fb[3], rb[3];
    const wide pressure = weight * ratio * (cofactor3(F, C) - 1);
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
        incidence_run(kernel, 3, DATA_COUNT, true, material_add_exact);
    else
        tet_rotated_vertex(kernel, DATA_COUNT, corotated_add_cheap);
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_corotated) = {
    .info = {.name = "corotated",
             .summary = "mu |F - R|^2 + lambda/2 (J - 1)^2 per volume",
             TET_MATERIAL_INFO,
             .capabilities = TET_MATERIAL_CAPABILITIES},
    TET_MATERIAL_OPS,
    .prepare = tet_corotated_prepare,
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
    INCIDENCE_ANY_OPS,
    .vertex_bounds = SINEW_BOUND_CHEAP,
};
