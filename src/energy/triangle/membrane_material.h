/* SPDX-License-Identifier: MIT
 *
 * membrane_material.h: common operations of isotropic materials of triangles. This header is a template: the file of an
 * energy includes it once, after defining DATA_COUNT, stress, curvature and add_cheap_block(). See triangle_material.h.
 */
#ifndef SINEW_SRC_ENERGY_TRIANGLE_MEMBRANE_MATERIAL_H
#define SINEW_SRC_ENERGY_TRIANGLE_MEMBRANE_MATERIAL_H

#include "energy/triangle/triangle_material.h"

#define MEMBRANE_OPS                                                                                                   \
    TRIANGLE_OPS, TRIANGLE_CONSTRAINT_OPS, .keeps_size = true, .linearise = triangle_material_linearise,               \
                                           .stiffness = triangle_material_stiffness,                                   \
                                           .local_prox = triangle_material_prox, .vertex = triangle_material_vertex

static inline void triangle_material_linearise(const sinew_kernel *kernel)
{
    membrane_linearise(kernel, DATA_COUNT, curvature);
}

static inline void triangle_material_stiffness(const sinew_reduced_kernel *kernel)
{
    triangle_fit_stiffness(kernel, DATA_COUNT, false, stress);
}

static inline void triangle_material_prox(const sinew_reduced_kernel *kernel)
{
    membrane_prox(kernel, DATA_COUNT, stress, curvature);
}

/* Adds the gradient of one vertex and a Hessian block: the second derivatives projected to semi-definite, or the
 * approximate block add_cheap_block() of the including file. */
KERNEL_INLINE void triangle_material_add(const incidence *v, bool exact, incidence_sum *sum)
{
    wide F[6], b[2], P[6];
    triangle_incidence_deformation(v, F, b);
    stress(F, v->data + TRIANGLE_MATERIAL * SIMD_WIDTH, P);
    triangle_incidence_gradient(v, P, b, sum);
    if (exact)
        membrane_incidence_projected(v, F, b, curvature, sum);
    else
        add_cheap_block(v, F, b, sum);
}

static inline void triangle_material_vertex(const sinew_vertex_kernel *kernel)
{
    incidence_vertex(kernel, 2, DATA_COUNT, triangle_material_add);
}

#endif
