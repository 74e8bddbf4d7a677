/* SPDX-License-Identifier: MIT
 *
 * membrane_material.h: what isotropic materials of triangles do in the same way, made of their own DATA_COUNT, stress,
 * curvature and cheap: a template, which an energy's file includes once, below these. See triangle_material.h.
 */
#ifndef SINEW_SRC_ENERGY_TRIANGLE_MEMBRANE_MATERIAL_H
#define SINEW_SRC_ENERGY_TRIANGLE_MEMBRANE_MATERIAL_H

#include "energy/triangle/triangle_material.h"

#define MEMBRANE_OPS                                                                                                   \
    TRIANGLE_OPS, TRIANGLE_CONSTRAINT_OPS, .keeps_size = true, .linearise = material_linearise,                        \
                                           .stiffness = material_stiffness, .local_prox = material_prox,               \
                                           .vertex = material_vertex

static inline void material_linearise(const sinew_kernel *kernel)
{
    membrane_linearise(kernel, DATA_COUNT, curvature);
}

static inline void material_stiffness(const sinew_reduced_kernel *kernel)
{
    triangle_fit_stiffness(kernel, DATA_COUNT, false, stress);
}

static inline void material_prox(const sinew_reduced_kernel *kernel)
{
    membrane_prox(kernel, DATA_COUNT, stress, curvature);
}

/* The gradient, and the block of the second derivatives made definite, or the file's cheap one. */
KERNEL_INLINE void material_add(const visit *v, bool exact, visit_sum *sum)
{
    lane F[6], b[2], P[6];
    triangle_visit_deformation(v, F, b);
    stress(F, v->data + TRIANGLE_MATERIAL * LANES, P);
    triangle_visit_gradient(v, P, b, sum);
    if (exact)
        membrane_visit_projected(v, F, b, curvature, sum);
    else
        cheap(v, F, b, sum);
}

static inline void material_vertex(const sinew_vertex_kernel *kernel)
{
    visit_vertex(kernel, 2, DATA_COUNT, material_add);
}

#endif
