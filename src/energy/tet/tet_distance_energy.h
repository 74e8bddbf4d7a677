/* SPDX-License-Identifier: MIT
 *
 * tet_distance_energy.h: the operations of an energy that is the squared distance of F to a set (tet_distance.h). This
 * header is a template: the file of an energy includes it once, after defining DATA_COUNT and stress. Isotropic
 * energies include isotropic_material.h before, for linearise and the exact block, and also use TET_SET_ISOTROPIC_OPS.
 */
#ifndef SINEW_SRC_ENERGY_TET_TET_DISTANCE_ENERGY_H
#define SINEW_SRC_ENERGY_TET_TET_DISTANCE_ENERGY_H

#include "energy/tet/tet_material.h"

static void distance_stiffness(const sinew_reduced_kernel *kernel)
{
    tet_weight_stiffness(kernel, DATA_COUNT);
}

static void distance_local_project(const sinew_reduced_kernel *kernel)
{
    tet_set_project(kernel, DATA_COUNT, stress);
}

static void distance_local_prox(const sinew_reduced_kernel *kernel)
{
    tet_set_prox(kernel, DATA_COUNT, stress);
}

KERNEL_INLINE void distance_add_cheap(const incidence *v, bool exact, incidence_sum *sum)
{
    (void)exact;
    tet_set_add(v, stress, sum);
}

#ifdef SINEW_SRC_ENERGY_TET_ISOTROPIC_MATERIAL_H
static void distance_vertex(const sinew_vertex_kernel *kernel)
{
    if (kernel->exact)
        incidence_run(kernel, 3, DATA_COUNT, true, material_add_exact);
    else
        incidence_run(kernel, 3, DATA_COUNT, false, distance_add_cheap);
}

#define TET_SET_ISOTROPIC_OPS                                                                                          \
    .linearise = material_linearise, .vertex = distance_vertex, INCIDENCE_ANY_OPS, .vertex_bounds = SINEW_BOUND_CHEAP
#endif

#define TET_SET_CAPABILITIES (TET_MATERIAL_CAPABILITIES | SINEW_CAN_PROJECT)

#define TET_SET_OPS                                                                                                    \
    .value = material_value, .gradient = material_gradient, .stiffness = distance_stiffness,                           \
    .local_project = distance_local_project, .local_prox = distance_local_prox, .constraint_count = 1,                 \
    .constrain = material_constrain, .jacobian = material_jacobian, .rooted = true

#endif
