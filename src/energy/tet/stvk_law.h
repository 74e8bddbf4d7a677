/* SPDX-License-Identifier: MIT
 *
 * stvk_law.h: the material of st_venant_kirchhoff and green_strain, which are the same energy:
 *
 *     E = (F^T F - 1)/2      psi = mu |E|^2 + lambda/2 (tr E)^2      P = F (2 mu E + lambda tr(E) 1)
 *
 * This header has parameters, prepare, stress, curvature and incidences. It is a template, which the file of an energy
 * includes once. The two energies differ as constraints.
 */
#ifndef SINEW_SRC_ENERGY_TET_STVK_LAW_H
#define SINEW_SRC_ENERGY_TET_STVK_LAW_H

#include "energy/tet/tet_constraint.h"
#include "energy/lame.h"
#include "energy/tet/tet_reduced.h"
#include "energy/tet/tet_vertex_kernel.h"

enum {
    DATA_COUNT = TET_MATERIAL + 1
}; /* the only material constant in data: lambda / mu of the Lame constants */

static const sinew_parameter parameters[] = {LAME_YOUNG_PARAMETER, LAME_POISSON_PARAMETER};

static const char *stvk_prepare(const sinew_element *element, sinew_real *data)
{
    data[TET_MATERIAL] = (sinew_real)lame_ratio(element->parameters);
    return sinew_tet_prepare(element, lame_mu(element->parameters), data, NULL);
}

KERNEL_INLINE wide stress(const wide F[9], const sinew_real *material, wide P[9])
{
    const wide ratio = wide_load(material), half = wide_set((sinew_real)0.5);
    wide S[9]; /* twice the Green strain E, then overwritten by the second Piola-Kirchhoff stress per unit of mu */
    multiply3_tn(F, F, S);
    for (int i = 0; i < 3; i++)
        S[4 * i] -= 1;
    const wide quarter = half * half, trace = half * (S[0] + S[4] + S[8]);
    const wide psi = quarter * norm3(S) + half * ratio * trace * trace;
    for (int i = 0; i < 3; i++)
        S[4 * i] += ratio * trace;
    multiply3(F, S, P);
    return psi;
}

/* Second derivatives from psi_i = dpsi/dsigma_i = c sigma_i + sigma_i^3 with c = lambda/mu tr E - 1, per unit of mu. */
KERNEL_INLINE void curvature(const wide sigma[3], const sinew_real *material, isotropic_eigen *eigen)
{
    const wide ratio = wide_load(material), half = wide_set((sinew_real)0.5);
    const wide square[3] = {sigma[0] * sigma[0], sigma[1] * sigma[1], sigma[2] * sigma[2]};
    const wide c = half * ratio * (square[0] + square[1] + square[2] - 3) - 1;
    for (int i = 0; i < 3; i++)
        eigen->A[i] = c + (3 + ratio) * square[i];
    static const int first[3] = {0, 0, 1}, second[3] = {1, 2, 2};
    for (int pair = 0; pair < 3; pair++) {
        const int i = first[pair], j = second[pair];
        const wide product = sigma[i] * sigma[j], squares = c + square[i] + square[j];
        eigen->A[3 + pair] = ratio * product;
        eigen->even[pair] = squares + product;
        eigen->odd[pair] = squares - product;
    }
}

#include "energy/tet/isotropic_material.h"

/* Adds gradient and block of one vertex. The second derivatives grow with the stretch; the approximate block grows only
 * perpendicular to it, so it is no upper bound. */
KERNEL_INLINE void stvk_add(const incidence *v, bool exact, incidence_sum *sum)
{
    wide F[9], b[3];
    tet_incidence_deformation(v, F, b);
    tet_incidence_gradient(v, F, b, stress, sum);
    if (exact)
        tet_incidence_projected(v, F, b, curvature, sum);
    else
        tet_incidence_bound(v, F, b, wide_set(2), wide_max(wide_load(v->data + TET_MATERIAL * SIMD_WIDTH), wide_set(0)),
                            sum);
}

static void stvk_vertex(const sinew_vertex_kernel *kernel)
{
    incidence_vertex(kernel, 3, DATA_COUNT, stvk_add);
}

/* The fields of a St. Venant-Kirchhoff energy's table except name, summary and constraints. */
#define STVK_INFO TET_MATERIAL_INFO, .capabilities = TET_MATERIAL_CAPABILITIES
#define STVK_OPS                                                                                                       \
    TET_MATERIAL_OPS, .prepare = stvk_prepare, .vertex = stvk_vertex, ISOTROPIC_MATERIAL_OPS, INCIDENCE_ANY_OPS,       \
                      .vertex_bounds = 0

#endif
