/* SPDX-License-Identifier: MIT
 *
 * isotropic_material.h: common operations of isotropic materials. This header is a template: the file of an energy
 * includes it once, after defining DATA_COUNT, stress and curvature. See tet_material.h.
 */
#ifndef SINEW_SRC_ENERGY_TET_ISOTROPIC_MATERIAL_H
#define SINEW_SRC_ENERGY_TET_ISOTROPIC_MATERIAL_H

#include "energy/tet/tet_material.h"

/* The operations of an isotropic material whose stress needs no polar decomposition. */
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

/* Adds the gradient of one vertex and its exact Hessian block, projected to positive semi-definite. */
KERNEL_INLINE void material_add_exact(const incidence *v, bool exact, incidence_sum *sum)
{
    (void)exact;
    wide F[9], b[3];
    tet_incidence_deformation(v, F, b);
    tet_incidence_gradient(v, F, b, stress, sum);
    tet_incidence_projected(v, F, b, curvature, sum);
}

#endif
