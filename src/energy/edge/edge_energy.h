/* SPDX-License-Identifier: MIT
 *
 * edge_energy.h: the operations of an energy of an edge's length (edge.h). This header is a template: the file of an
 * energy includes it once, after defining DATA_COUNT, EDGE_LIMITED and parameters. The energy's table consists of
 * EDGE_ENERGY_INFO, EDGE_ENERGY_OPS, name, summary and prepare.
 */
#ifndef SINEW_SRC_ENERGY_EDGE_EDGE_ENERGY_H
#define SINEW_SRC_ENERGY_EDGE_EDGE_ENERGY_H

static double edge_energy_value(const sinew_kernel *kernel)
{
    return edge_evaluate(kernel, DATA_COUNT, EDGE_LIMITED, false);
}

static double edge_energy_gradient(const sinew_kernel *kernel)
{
    return edge_evaluate(kernel, DATA_COUNT, EDGE_LIMITED, true);
}

static void edge_energy_linearise(const sinew_kernel *kernel)
{
    edge_linearise(kernel, DATA_COUNT, EDGE_LIMITED);
}

static void edge_energy_stiffness(const sinew_reduced_kernel *kernel)
{
    edge_stiffness(kernel, DATA_COUNT);
}

static void edge_energy_local_project(const sinew_reduced_kernel *kernel)
{
    edge_project(kernel, DATA_COUNT, EDGE_LIMITED);
}

static void edge_energy_local_prox(const sinew_reduced_kernel *kernel)
{
    edge_prox(kernel, DATA_COUNT, EDGE_LIMITED);
}

static __attribute__((noinline)) void edge_energy_constrain_any(const sinew_constrain_kernel *kernel, int32_t group)
{
    edge_constrain_any(kernel, DATA_COUNT, EDGE_LIMITED, group);
}

static void edge_energy_constrain(const sinew_constrain_kernel *kernel)
{
    edge_constrain(kernel, DATA_COUNT, EDGE_LIMITED, edge_energy_constrain_any);
}

static void edge_energy_jacobian(const sinew_jacobian_kernel *kernel)
{
    edge_jacobian(kernel, DATA_COUNT, EDGE_LIMITED);
}

static void edge_constraint_curvature(const sinew_jacobian_kernel *kernel)
{
    edge_curvature(kernel, DATA_COUNT, EDGE_LIMITED);
}

static void edge_energy_incidence(const sinew_real *data, const int32_t *particles, int node, sinew_real *out,
                                  int32_t *others)
{
    edge_incidence(data, DATA_COUNT, particles, node, out, others);
}

KERNEL_INLINE void edge_energy_add(const incidence *v, bool exact, incidence_sum *sum)
{
    edge_add(v, EDGE_LIMITED, exact, sum);
}

KERNEL_INLINE wide edge_energy_difference(const incidence *v, const wide step[3], wide *noise)
{
    return edge_difference(v, EDGE_LIMITED, step, noise);
}

static void edge_energy_vertex(const sinew_vertex_kernel *kernel)
{
    incidence_vertex(kernel, 1, DATA_COUNT, edge_energy_add);
}

static void edge_energy_vertex_change(const sinew_vertex_kernel *kernel)
{
    incidence_change(kernel, 1, DATA_COUNT, edge_energy_difference);
}

#define EDGE_ENERGY_INFO                                                                                               \
    .stencil = SINEW_STENCIL_EDGE, .vertex_count = 2, .parameters = parameters,                                        \
    .parameter_count = sizeof parameters / sizeof parameters[0], .capabilities = EDGE_CAPABILITIES

#define EDGE_ENERGY_OPS                                                                                                \
    .data_count = DATA_COUNT, .tangent_count = EDGE_TANGENT_COUNT, .target_slot = -1, .value = edge_energy_value,      \
    .gradient = edge_energy_gradient, .linearise = edge_energy_linearise, .product = edge_product,                     \
    .hessian = edge_hessian, .reduced_count = 1, .reduce = edge_reduce, .stiffness = edge_energy_stiffness,            \
    .local_project = edge_energy_local_project, .local_prox = edge_energy_local_prox, .constraint_count = 1,           \
    .constrain = edge_energy_constrain, .jacobian = edge_energy_jacobian, .curvature = edge_constraint_curvature,      \
    .other_count = 1, .incidence_data_count = DATA_COUNT, .incidence = edge_energy_incidence,                          \
    .vertex = edge_energy_vertex, .vertex_change = edge_energy_vertex_change, .vertex_bounds = SINEW_BOUND_CHEAP

#endif
