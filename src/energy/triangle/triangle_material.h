/* SPDX-License-Identifier: MIT
 *
 * triangle_material.h: common operations of energies on triangles. This header is a template: the file of an energy
 * includes it once, after defining DATA_COUNT and stress. membrane_material.h includes it for isotropic materials,
 * directional_material.h for materials with warp and weft, triangle_distance.h for distances to a set of shapes.
 *
 * A table starts with TRIANGLE_INFO, which uses the file's `parameters`, and TRIANGLE_OPS. TRIANGLE_CONSTRAINT_OPS are
 * the operations of one constraint per element.
 */
#ifndef SINEW_SRC_ENERGY_TRIANGLE_TRIANGLE_MATERIAL_H
#define SINEW_SRC_ENERGY_TRIANGLE_TRIANGLE_MATERIAL_H

#define TRIANGLE_INFO                                                                                                  \
    .stencil = SINEW_STENCIL_TRIANGLE, .vertex_count = 3, .parameters = parameters,                                    \
    .parameter_count = sizeof parameters / sizeof parameters[0]

/* Capabilities of most energies on triangles; pressure.c and enclosed_volume.c list their own. */
#define TRIANGLE_CAPABILITIES                                                                                          \
    (SINEW_CAN_CONSTRAINT | SINEW_CAN_PROX | SINEW_CAN_VERTEX | SINEW_CAN_REDUCE | SINEW_CAN_JACOBIAN)

#define TRIANGLE_OPS                                                                                                   \
    .data_count = DATA_COUNT, .tangent_count = TRIANGLE_TANGENT_COUNT, .target_slot = -1,                              \
    .value = triangle_material_value, .gradient = triangle_material_gradient, .product = sinew_triangle_product,       \
    .hessian = sinew_triangle_hessian, .reduced_count = 2, .reduce = triangle_material_reduce, .is_surface = true,     \
    .other_count = 2, .incidence_data_count = DATA_COUNT, .incidence = triangle_material_incidence,                    \
    .vertex_change = triangle_material_change

#define TRIANGLE_CONSTRAINT_OPS                                                                                        \
    .constraint_count = 1, .constrain = triangle_material_constrain, .jacobian = triangle_material_jacobian,           \
    .rooted = true

static inline double triangle_material_value(const sinew_kernel *kernel)
{
    return triangle_evaluate(kernel, DATA_COUNT, false, stress);
}

static inline double triangle_material_gradient(const sinew_kernel *kernel)
{
    return triangle_evaluate(kernel, DATA_COUNT, true, stress);
}

static inline void triangle_material_reduce(const sinew_reduced_kernel *kernel)
{
    triangle_reduce(kernel, DATA_COUNT);
}

/* ---- One constraint per triangle ----------------------------------------------------------------- */

KERNEL_INLINE wide triangle_material_constraint(const sinew_real *data, bool as_energy, constrained *c, wide *r,
                                                wide *weight)
{
    return triangle_constraint(data, as_energy, stress, c, r, weight);
}

static inline void triangle_material_constrain(const sinew_constrain_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        single_constrain(kernel, group, DATA_COUNT, 3, triangle_material_constraint);
}

static inline void triangle_material_jacobian(const sinew_jacobian_kernel *kernel)
{
    single_jacobian(kernel, DATA_COUNT, 3, triangle_material_constraint);
}

/* ---- Vertex-triangle incidences, for vertex kernels ---------------------------------------------- */

static inline void triangle_material_incidence(const sinew_real *data, const int32_t *particles, int node,
                                               sinew_real *out, int32_t *others)
{
    triangle_incidence(data, DATA_COUNT, particles, node, out, others);
}

KERNEL_INLINE wide triangle_material_difference(const incidence *v, const wide d[3], wide *noise)
{
    return triangle_incidence_difference(v, d, stress, noise);
}

static inline void triangle_material_change(const sinew_vertex_kernel *kernel)
{
    incidence_change(kernel, 2, DATA_COUNT, triangle_material_difference);
}

#endif
