/* SPDX-License-Identifier: MIT
 *
 * membrane_stvk.c: linear elasticity of a sheet in Green's strain.
 *
 *     E = (F^T F - 1)/2      psi = h (mu |E|^2 + lambda/2 (tr E)^2) per rest area    P = h F (2 mu E + lambda tr(E) 1)
 *
 * energy/plane_stress.h defines lambda. psi is a polynomial, defined for every F. Under compression beyond
 * sigma = 0.577 it softens and collapses. Use it for small strains and large rotations, for instance as the membrane of
 * a shell.
 */
#include "energy/triangle/membrane.h"
#include "energy/plane_stress.h"

enum {
    DATA_COUNT = TRIANGLE_MATERIAL + 1
}; /* the only material constant in data: lambda / mu of the plane Lame constants */

static const sinew_parameter parameters[] = {LAME_YOUNG_PARAMETER, LAME_POISSON_PARAMETER, PLANE_THICKNESS_PARAMETER,
                                             PLANE_CHOICE_PARAMETER};

static const char *membrane_stvk_prepare(const sinew_element *element, sinew_real *data)
{
    data[TRIANGLE_MATERIAL] = (sinew_real)plane_ratio(element->parameters);
    return sinew_triangle_prepare(element, plane_mu(element->parameters), NULL, data);
}

KERNEL_INLINE wide stress(const wide F[6], const sinew_real *material, wide P[6])
{
    const wide ratio = wide_load(material), half = wide_set((sinew_real)0.5);
    wide C[3]; /* 2 E (E: Green strain), stored as 00 11 01 */
    metric32(F, C);
    C[0] -= 1;
    C[1] -= 1;
    const wide trace = half * (C[0] + C[1]);
    const wide S[4] = {C[0] + ratio * trace, C[2], C[2], C[1] + ratio * trace};
    multiply32(F, S, P);
    return half * half * (C[0] * C[0] + C[1] * C[1] + 2 * C[2] * C[2]) + half * ratio * trace * trace;
}

/* Second derivatives from psi_i = dpsi/dsigma_i = c sigma_i + sigma_i^3 with c = lambda/mu tr E - 1, per unit of mu
 * h. */
KERNEL_INLINE void curvature(const wide sigma[2], const sinew_real *material, membrane_eigen *eigen)
{
    const wide ratio = wide_load(material), half = wide_set((sinew_real)0.5);
    const wide square[2] = {sigma[0] * sigma[0], sigma[1] * sigma[1]}, product = sigma[0] * sigma[1];
    const wide c = half * ratio * (square[0] + square[1] - 2) - 1, squares = c + square[0] + square[1];
    for (int i = 0; i < 2; i++) {
        eigen->A[i] = c + (3 + ratio) * square[i];
        eigen->out[i] = c + square[i];
    }
    eigen->A[2] = ratio * product;
    eigen->even = squares + product;
    eigen->odd = squares - product;
}

/* Adds an approximate Hessian block of one vertex. The second derivatives grow with the stretch; this block grows only
 * perpendicular to it, so it is no upper bound. */
KERNEL_INLINE void add_cheap_block(const incidence *v, const wide F[6], const wide b[2], incidence_sum *sum)
{
    const wide ratio = wide_load(v->data + TRIANGLE_MATERIAL * SIMD_WIDTH);
    triangle_incidence_bound(v, F, b, wide_set(2), wide_max(ratio, wide_set(0)), sum);
}

#include "energy/triangle/membrane_material.h"

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_membrane_stvk) = {
    .info = {.name = "membrane_stvk",
             .summary = "h (mu |E|^2 + lambda/2 (tr E)^2) per area, E = (F^T F - 1)/2",
             TRIANGLE_INFO,
             .capabilities = TRIANGLE_CAPABILITIES},
    MEMBRANE_OPS,
    .prepare = membrane_stvk_prepare,
    .vertex_bounds = 0,
};
