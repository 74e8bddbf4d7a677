/* SPDX-License-Identifier: MIT
 *
 * directional_material.h: what materials with warp and weft do in the same way, made of the file's DATA_COUNT, stress,
 * curvature and cheap: a template, which an energy's file includes once, below these. See triangle_material.h.
 */
#ifndef SINEW_SRC_ENERGY_TRIANGLE_DIRECTIONAL_MATERIAL_H
#define SINEW_SRC_ENERGY_TRIANGLE_DIRECTIONAL_MATERIAL_H

#include "energy/triangle/triangle_material.h"

#define DIRECTIONAL_OPS                                                                                                \
    TRIANGLE_OPS, .projects_terms = true, .linearise = material_linearise, .stiffness = material_stiffness,            \
                  .local_prox = material_prox, .vertex = material_vertex, .vertex_bounds = 0

static void material_linearise(const sinew_kernel *kernel)
{
    directional_linearise(kernel, DATA_COUNT, curvature);
}

static void material_stiffness(const sinew_reduced_kernel *kernel)
{
    triangle_fit_stiffness(kernel, DATA_COUNT, true, stress);
}

static void material_prox(const sinew_reduced_kernel *kernel)
{
    directional_prox(kernel, DATA_COUNT, stress, curvature);
}

KERNEL_INLINE void material_add(const visit *v, bool exact, visit_sum *sum)
{
    lane F[6], b[2], P[6];
    triangle_visit_deformation(v, F, b);
    stress(F, v->data + TRIANGLE_MATERIAL * LANES, P);
    triangle_visit_gradient(v, P, b, sum);
    if (exact)
        directional_visit(v, F, b, curvature, sum);
    else
        cheap(v, F, b, sum);
}

static void material_vertex(const sinew_vertex_kernel *kernel)
{
    visit_vertex(kernel, 2, DATA_COUNT, material_add);
}

#endif
