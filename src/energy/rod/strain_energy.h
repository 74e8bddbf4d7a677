/* SPDX-License-Identifier: MIT
 *
 * strain_energy.h: constraints and vertex kernels of an energy that is a sum of squared strains of any number of
 * points.
 *
 * This header is a template: the file of an energy includes it once, after defining the macros of dense_energy.h and
 *
 *     TERMS                        count of strains, each of which is a constraint
 *     strain_of                    value and gradient of one strain (several_constraint)
 *     INCIDENCE_NODE               index of the node's number in the data of an incidence; data before it are copied
 *     strain_add, strain_change    derivatives by the node, and the change by a step of the node
 *
 * The table of the energy contains the operations as STRAIN_OPS.
 */
#ifndef SINEW_SRC_ENERGY_ROD_STRAIN_ENERGY_H
#define SINEW_SRC_ENERGY_ROD_STRAIN_ENERGY_H

#include "energy/constrain.h"
#include "energy/dense_energy.h"
#include "energy/vertex_kernel_points.h"

enum {
    INCIDENCE_DATA_COUNT = INCIDENCE_NODE + 1
};

static void strain_constrain(const sinew_constrain_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        several_constrain(kernel, group, DATA_COUNT, POINTS, TERMS, strain_of);
}

static void strain_jacobian(const sinew_jacobian_kernel *kernel)
{
    several_jacobian(kernel, DATA_COUNT, POINTS, TERMS, strain_of);
}

static void strain_incidence(const sinew_real *data, const int32_t *particles, int node, sinew_real *out,
                             int32_t *others)
{
    incidence_write(data, INCIDENCE_NODE, particles, POINTS, node, out, others);
}

static void strain_vertex(const sinew_vertex_kernel *kernel)
{
    incidence_vertex(kernel, POINTS - 1, INCIDENCE_DATA_COUNT, strain_add);
}

static void strain_vertex_change(const sinew_vertex_kernel *kernel)
{
    incidence_change(kernel, POINTS - 1, INCIDENCE_DATA_COUNT, strain_change);
}

#define STRAIN_OPS                                                                                                     \
    DENSE_OPS, .constraint_count = TERMS, .constrain = strain_constrain, .jacobian = strain_jacobian,                  \
               .other_count = POINTS - 1, .incidence_data_count = INCIDENCE_DATA_COUNT, .incidence = strain_incidence, \
               .vertex = strain_vertex, .vertex_change = strain_vertex_change

#endif
