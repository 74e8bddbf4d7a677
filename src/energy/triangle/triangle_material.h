/* SPDX-License-Identifier: MIT
 *
 * triangle_material.h: what every energy on triangles does in the same way, made of its own DATA_COUNT and stress: a
 * template, which an energy's file includes once, below these two. membrane_material.h does so for isotropic materials,
 * triangle_distance.h for distances to a set of shapes.
 *
 * A table starts with TRIANGLE_INFO, which takes the file's `parameters`, and TRIANGLE_OPS; TRIANGLE_CONSTRAINT_OPS are
 * those of one constraint an element.
 */
#ifndef SINEW_SRC_ENERGY_TRIANGLE_TRIANGLE_MATERIAL_H
#define SINEW_SRC_ENERGY_TRIANGLE_TRIANGLE_MATERIAL_H

#define TRIANGLE_INFO                                                                                                  \
    .stencil = SINEW_STENCIL_TRIANGLE, .vertex_count = 3, .parameters = parameters,                                    \
    .parameter_count = sizeof parameters / sizeof parameters[0]

/* Capabilities that every energy on triangles has. */
#define TRIANGLE_CAPABILITIES                                                                                          \
    (SINEW_CAN_CONSTRAINT | SINEW_CAN_PROX | SINEW_CAN_VERTEX | SINEW_CAN_REDUCE | SINEW_CAN_JACOBIAN)

#define TRIANGLE_OPS                                                                                                   \
    .data_count = DATA_COUNT, .tangent_count = TRIANGLE_TANGENT_COUNT, .target_slot = -1, .value = material_value,     \
    .gradient = material_gradient, .product = sinew_triangle_product, .hessian = sinew_triangle_hessian,               \
    .row_count = 2, .reduce = material_reduce, .sheet = true, .other_count = 2, .visit_data_count = DATA_COUNT,        \
    .visit = material_visit, .vertex_change = material_change

#define TRIANGLE_CONSTRAINT_OPS                                                                                        \
    .constraint_count = 1, .constrain = material_constrain, .jacobian = material_jacobian, .rooted = true

static inline double material_value(const sinew_kernel *kernel)
{
    return triangle_evaluate(kernel, DATA_COUNT, false, stress);
}

static inline double material_gradient(const sinew_kernel *kernel)
{
    return triangle_evaluate(kernel, DATA_COUNT, true, stress);
}

static inline void material_reduce(const sinew_reduced_kernel *kernel)
{
    triangle_reduce(kernel, DATA_COUNT);
}

/* ---- One constraint an element ------------------------------------------------------------------ */

KERNEL_INLINE lane material_constraint(const sinew_real *data, bool whole, constrained *c, lane *r, lane *weight)
{
    return triangle_constraint(data, whole, stress, c, r, weight);
}

static inline void material_constrain(const sinew_constrain_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        single_constrain(kernel, group, DATA_COUNT, 3, material_constraint);
}

static inline void material_jacobian(const sinew_jacobian_kernel *kernel)
{
    single_jacobian(kernel, DATA_COUNT, 3, material_constraint);
}

/* ---- Visits ------------------------------------------------------------------------------------- */

static inline void material_visit(const sinew_real *data, const int32_t *particles, int node, sinew_real *out,
                                  int32_t *others)
{
    triangle_visit(data, DATA_COUNT, particles, node, out, others);
}

KERNEL_INLINE lane material_difference(const visit *v, const lane d[3], lane *noise)
{
    return triangle_visit_difference(v, d, stress, noise);
}

static inline void material_change(const sinew_vertex_kernel *kernel)
{
    visit_change(kernel, 2, DATA_COUNT, material_difference);
}

#endif
