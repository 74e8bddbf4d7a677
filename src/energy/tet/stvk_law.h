/* SPDX-License-Identifier: MIT
 *
 * stvk_law.h: the material of st_venant_kirchhoff and green_strain, which are the same energy:
 *
 *     E = (F^T F - 1)/2      psi = mu |E|^2 + lambda/2 (tr E)^2      P = F (2 mu E + lambda tr(E) 1)
 *
 * Parameters, prepare, stress, curvature and visits: a template, which an energy's file includes once. They differ in
 * what they are as constraints.
 */
#ifndef SINEW_SRC_ENERGY_TET_STVK_LAW_H
#define SINEW_SRC_ENERGY_TET_STVK_LAW_H

#include "energy/tet/tet_constraint.h"
#include "energy/lame.h"
#include "energy/tet/tet_reduced.h"
#include "energy/tet/tet_vertex_kernel.h"

enum {
    DATA_COUNT = TET_MATERIAL + 1
}; /* lambda / mu */

static const sinew_parameter parameters[] = {LAME_YOUNG_PARAMETER, LAME_POISSON_PARAMETER};

static const char *stvk_prepare(const sinew_element *element, sinew_real *data)
{
    data[TET_MATERIAL] = (sinew_real)lame_ratio(element->parameters);
    return sinew_tet_prepare(element, lame_mu(element->parameters), data, NULL);
}

KERNEL_INLINE lane stress(const lane F[9], const sinew_real *material, lane P[9])
{
    const lane ratio = lane_load(material), half = lane_set((sinew_real)0.5);
    lane S[9]; /* 2 E, then the second Piola-Kirchhoff stress */
    multiply3_tn(F, F, S);
    for (int i = 0; i < 3; i++)
        S[4 * i] -= 1;
    const lane quarter = half * half, trace = half * (S[0] + S[4] + S[8]);
    const lane psi = quarter * norm3(S) + half * ratio * trace * trace;
    for (int i = 0; i < 3; i++)
        S[4 * i] += ratio * trace;
    multiply3(F, S, P);
    return psi;
}

/* psi_i = c sigma_i + sigma_i^3 with c = lambda/mu tr E - 1 */
KERNEL_INLINE void curvature(const lane sigma[3], const sinew_real *material, isotropic_eigen *eigen)
{
    const lane ratio = lane_load(material), half = lane_set((sinew_real)0.5);
    const lane square[3] = {sigma[0] * sigma[0], sigma[1] * sigma[1], sigma[2] * sigma[2]};
    const lane c = half * ratio * (square[0] + square[1] + square[2] - 3) - 1;
    for (int i = 0; i < 3; i++)
        eigen->A[i] = c + (3 + ratio) * square[i];
    static const int first[3] = {0, 0, 1}, second[3] = {1, 2, 2};
    for (int pair = 0; pair < 3; pair++) {
        const int i = first[pair], j = second[pair];
        const lane product = sigma[i] * sigma[j], squares = c + square[i] + square[j];
        eigen->A[3 + pair] = ratio * product;
        eigen->even[pair] = squares + product;
        eigen->odd[pair] = squares - product;
    }
}

#include "energy/tet/isotropic_material.h"

/* The second derivatives grow with the stretch, the cheap block only across it: no bound. */
KERNEL_INLINE void stvk_add(const visit *v, bool exact, visit_sum *sum)
{
    lane F[9], b[3];
    tet_visit_deformation(v, F, b);
    tet_visit_gradient(v, F, b, stress, sum);
    if (exact)
        tet_visit_projected(v, F, b, curvature, sum);
    else
        tet_visit_bound(v, F, b, lane_set(2), lane_max(lane_load(v->data + TET_MATERIAL * LANES), lane_set(0)), sum);
}

static void stvk_vertex(const sinew_vertex_kernel *kernel)
{
    visit_vertex(kernel, 3, DATA_COUNT, stvk_add);
}

/* All slots but name, summary and constraints. */
#define STVK_INFO TET_MATERIAL_INFO, .capabilities = TET_MATERIAL_CAPABILITIES
#define STVK_OPS                                                                                                       \
    TET_MATERIAL_OPS, .prepare = stvk_prepare, .vertex = stvk_vertex, ISOTROPIC_MATERIAL_OPS, VISIT_GENERAL_OPS,       \
                      .vertex_bounds = 0

#endif
