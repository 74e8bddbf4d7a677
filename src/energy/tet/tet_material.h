/* SPDX-License-Identifier: MIT
 *
 * tet_material.h: common operations of materials of tets. This header is a template: the file of an energy includes it
 * once, after tet_constraint.h, tet_reduced.h and tet_vertex_kernel.h and after defining DATA_COUNT and stress.
 * isotropic_material.h is the template for materials with a curvature.
 *
 * The table of a material starts with TET_MATERIAL_INFO, which uses the file's `parameters`, and TET_MATERIAL_OPS,
 * followed by its own prepare, value, gradient, linearise and vertex. Incidences of the general layout
 * (tet_vertex_kernel.h) use INCIDENCE_ANY_OPS; energies in the volume form have their own incidences. All other
 * operations are optional.
 */
#ifndef SINEW_SRC_ENERGY_TET_TET_MATERIAL_H
#define SINEW_SRC_ENERGY_TET_TET_MATERIAL_H

#define TET_MATERIAL_INFO                                                                                              \
    .stencil = SINEW_STENCIL_TET, .vertex_count = 4, .parameters = parameters,                                         \
    .parameter_count = sizeof parameters / sizeof parameters[0]

/* Capabilities of most materials of tets; reinforced.c lacks SINEW_CAN_PROX and lists its own. */
#define TET_MATERIAL_CAPABILITIES                                                                                      \
    (SINEW_CAN_CONSTRAINT | SINEW_CAN_PROX | SINEW_CAN_VERTEX | SINEW_CAN_REDUCE | SINEW_CAN_JACOBIAN)

#define TET_MATERIAL_OPS                                                                                               \
    .data_count = DATA_COUNT, .tangent_count = TET_TANGENT_COUNT, .target_slot = -1, .keeps_size = true,               \
    .product = sinew_tet_product, .hessian = sinew_tet_hessian, .determinants = material_determinants,                 \
    .reduced_count = 3, .reduce = material_reduce, .other_count = 3

#define INCIDENCE_ANY_OPS                                                                                              \
    .incidence_data_count = DATA_COUNT, .incidence = material_incidence, .vertex_change = material_change

static inline double material_value(const sinew_kernel *kernel)
{
    return tet_value(kernel, DATA_COUNT, stress);
}

static inline double material_gradient(const sinew_kernel *kernel)
{
    return tet_gradient(kernel, DATA_COUNT, stress);
}

/* Projects the one constraint of each tet. */
static inline void material_constrain(const sinew_constrain_kernel *kernel)
{
    tet_constrain(kernel, DATA_COUNT, 1, stress, no_offset);
}

static inline void material_jacobian(const sinew_jacobian_kernel *kernel)
{
    tet_jacobian(kernel, DATA_COUNT, 1, stress, no_offset);
}

static inline void material_determinants(const sinew_kernel *kernel, double *smallest, double *largest,
                                         int32_t *inverted)
{
    tet_determinants(kernel, DATA_COUNT, smallest, largest, inverted);
}

static inline void material_reduce(const sinew_reduced_kernel *kernel)
{
    tet_reduce(kernel, DATA_COUNT);
}

/* ---- Vertex-tet incidences, for vertex kernels --------------------------------------------------- */

static inline void material_incidence(const sinew_real *data, const int32_t *particles, int node, sinew_real *out,
                                      int32_t *others)
{
    double q[3][3];
    tet_incidence(data, DATA_COUNT, particles, node, out, others, q);
}

KERNEL_INLINE wide material_difference(const incidence *v, const wide d[3], wide *noise)
{
    return tet_incidence_difference(v, d, stress, noise);
}

static inline void material_change(const sinew_vertex_kernel *kernel)
{
    incidence_change(kernel, 3, DATA_COUNT, material_difference);
}

#endif
