/* SPDX-License-Identifier: MIT
 *
 * membrane_corotated.c: the squared distance of a sheet to isometries, and a penalty on the change of area.
 *
 *     psi = h (mu |F - R|^2 + lambda/2 (J - 1)^2) per rest area        P = h (2 mu (F - R) + lambda (J - 1) dJ/dF)
 *
 * PBNG (36): R is the matrix with orthonormal columns nearest to F, and J = sigma0 sigma1 the change of area.
 * energy/plane_stress.h defines lambda. psi is defined for every F; P jumps where sigma1 = 0 (membrane.h). Poisson's
 * ratio is not negative: with lambda < 0 the energy of a growing element has no lower bound.
 */
#include "energy/triangle/membrane.h"
#include "energy/plane_stress.h"

enum {
    DATA_COUNT = TRIANGLE_MATERIAL + 1
}; /* the only material constant in data: lambda / mu of the plane Lame constants */

static const sinew_parameter parameters[] = {LAME_YOUNG_PARAMETER, LAME_POISSON_POSITIVE_PARAMETER,
                                             PLANE_THICKNESS_PARAMETER, PLANE_CHOICE_PARAMETER};

static const char *membrane_corotated_prepare(const sinew_element *element, sinew_real *data)
{
    data[TRIANGLE_MATERIAL] = (sinew_real)plane_ratio(element->parameters);
    return sinew_triangle_prepare(element, plane_mu(element->parameters), NULL, data);
}

KERNEL_INLINE wide stress(const wide F[6], const sinew_real *material, wide P[6])
{
    const wide ratio = wide_load(material), half = wide_set((sinew_real)0.5);
    wide R[6], G[6];
    sinew_polar32(F, R);
    const wide growth = growth32(F, G) - 1;
    for (int i = 0; i < 6; i++)
        R[i] = F[i] - R[i];
    for (int i = 0; i < 6; i++)
        P[i] = 2 * R[i] + ratio * growth * G[i];
    return norm32(R) + half * ratio * growth * growth;
}

/* Second derivatives from psi_i = dpsi/dsigma_i = 2 (sigma_i - 1) + lambda/mu (J - 1) sigma_j, per unit of mu h. */
KERNEL_INLINE void curvature(const wide sigma[2], const sinew_real *material, membrane_eigen *eigen)
{
    const wide ratio = wide_load(material), J = sigma[0] * sigma[1], pressure = ratio * (J - 1);
    for (int i = 0; i < 2; i++) {
        eigen->A[i] = 2 + ratio * sigma[1 - i] * sigma[1 - i];
        eigen->out[i] = 2 + (pressure * sigma[1 - i] - 2) * membrane_inverse(sigma[i]);
    }
    eigen->A[2] = ratio * (2 * J - 1);
    eigen->even = 2 - pressure;
    eigen->odd = 2 + pressure - 4 * membrane_inverse(sigma[0] + sigma[1]);
}

/* Adds the approximate Hessian block of PBNG 8.1 for one vertex. As one vertex moves, J is the distance to a line and
 * (J - 1)^2 also has curvature out of the plane, so the block is no upper bound. */
KERNEL_INLINE void add_cheap_block(const incidence *v, const wide F[6], const wide b[2], incidence_sum *sum)
{
    triangle_incidence_bound(v, F, b, wide_set(2), wide_load(v->data + TRIANGLE_MATERIAL * SIMD_WIDTH), sum);
}

#include "energy/triangle/membrane_material.h"

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_membrane_corotated) = {
    .info = {.name = "membrane_corotated",
             .summary = "h (mu |F - R|^2 + lambda/2 (J - 1)^2) per area",
             TRIANGLE_INFO,
             .capabilities = TRIANGLE_CAPABILITIES},
    MEMBRANE_OPS,
    .prepare = membrane_corotated_prepare,
    .vertex_bounds = 0,
};
