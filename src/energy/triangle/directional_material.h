/* SPDX-License-Identifier: MIT
 *
 * directional_material.h: common operations of materials with warp and weft. This header is a template: the file of an
 * energy includes it once, after defining DATA_COUNT, stress, curvature and add_cheap_block(). See triangle_material.h.
 */
#ifndef SINEW_SRC_ENERGY_TRIANGLE_DIRECTIONAL_MATERIAL_H
#define SINEW_SRC_ENERGY_TRIANGLE_DIRECTIONAL_MATERIAL_H

#include "energy/triangle/triangle_material.h"

#define DIRECTIONAL_OPS                                                                                                \
    TRIANGLE_OPS, .projects_terms = true, .linearise = triangle_material_linearise,                                    \
                  .stiffness = triangle_material_stiffness, .local_prox = triangle_material_prox,                      \
                  .vertex = triangle_material_vertex, .vertex_bounds = 0

static void triangle_material_linearise(const sinew_kernel *kernel)
{
    directional_linearise(kernel, DATA_COUNT, curvature);
}

static void triangle_material_stiffness(const sinew_reduced_kernel *kernel)
{
    triangle_fit_stiffness(kernel, DATA_COUNT, true, stress);
}

static void triangle_material_prox(const sinew_reduced_kernel *kernel)
{
    directional_prox(kernel, DATA_COUNT, stress, curvature);
}

KERNEL_INLINE void triangle_material_add(const incidence *v, bool exact, incidence_sum *sum)
{
    wide F[6], b[2], P[6];
    triangle_incidence_deformation(v, F, b);
    stress(F, v->data + TRIANGLE_MATERIAL * SIMD_WIDTH, P);
    triangle_incidence_gradient(v, P, b, sum);
    if (exact)
        directional_add_projected(v, F, b, curvature, sum);
    else
        add_cheap_block(v, F, b, sum);
}

static void triangle_material_vertex(const sinew_vertex_kernel *kernel)
{
    incidence_vertex(kernel, 2, DATA_COUNT, triangle_material_add);
}

#endif
