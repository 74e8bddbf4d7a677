/* SPDX-License-Identifier: MIT
 *
 * isotropic_material.h: what isotropic materials do in the same way, made of their own DATA_COUNT, stress and
 * curvature: a template, which an energy's file includes once, below these three. See tet_material.h.
 */
#ifndef SINEW_SRC_ENERGY_TET_ISOTROPIC_MATERIAL_H
#define SINEW_SRC_ENERGY_TET_ISOTROPIC_MATERIAL_H

#include "energy/tet/tet_material.h"

/* The operations of a material that needs no rotation. */
#define ISOTROPIC_MATERIAL_OPS                                                                                         \
    .value = material_value, .gradient = material_gradient, .linearise = material_linearise,                           \
    .stiffness = material_stiffness, .local_prox = material_prox

static inline void material_linearise(const sinew_kernel *kernel)
{
    isotropic_linearise(kernel, DATA_COUNT, curvature);
}

static inline void material_stiffness(const sinew_reduced_kernel *kernel)
{
    tet_fit_stiffness(kernel, DATA_COUNT, stress);
}

static inline void material_prox(const sinew_reduced_kernel *kernel)
{
    isotropic_prox(kernel, DATA_COUNT, stress, curvature);
}

/* A visit with the second derivatives as they are, made definite. */
KERNEL_INLINE void material_exact(const visit *v, bool exact, visit_sum *sum)
{
    (void)exact;
    lane F[9], b[3];
    tet_visit_deformation(v, F, b);
    tet_visit_gradient(v, F, b, stress, sum);
    tet_visit_projected(v, F, b, curvature, sum);
}

#endif
