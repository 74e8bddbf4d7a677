/* SPDX-License-Identifier: MIT
 *
 * contact.c: contacts over up to four particles, one for each vertex of the two features (contact_kernel.h).
 */
#include "energy/edge/contact_kernel.h"

enum {
    VERTICES = SINEW_CONTACT_VERTICES,
    DATA_COUNT = SINEW_CONTACT_DATA_COUNT_OF(VERTICES),
    TANGENT_COUNT = CONTACT_TANGENT_COUNT(VERTICES),
    INCIDENCE_DATA_COUNT = CONTACT_INCIDENCE_DATA_COUNT(VERTICES)
};

static const char *narrow_prepare(const sinew_element *element, sinew_real *data)
{
    (void)element;
    return contact_prepare(data, VERTICES);
}

static double narrow_value(const sinew_kernel *kernel)
{
    return contact_value(kernel, VERTICES);
}

static double narrow_gradient(const sinew_kernel *kernel)
{
    return contact_gradient(kernel, VERTICES);
}

static void narrow_linearise(const sinew_kernel *kernel)
{
    contact_linearise(kernel, VERTICES);
}

static void narrow_product(const sinew_kernel *kernel)
{
    contact_product(kernel, VERTICES);
}

static void narrow_hessian(const sinew_kernel *kernel)
{
    contact_hessian(kernel, VERTICES);
}

static void narrow_reduce(const sinew_reduced_kernel *kernel)
{
    contact_reduce(kernel, VERTICES);
}

static void narrow_stiffness(const sinew_reduced_kernel *kernel)
{
    contact_stiffness(kernel, VERTICES);
}

static void narrow_local_project(const sinew_reduced_kernel *kernel)
{
    contact_local_project(kernel, VERTICES);
}

static void narrow_local_prox(const sinew_reduced_kernel *kernel)
{
    contact_local_prox(kernel, VERTICES);
}

static void narrow_constrain(const sinew_constrain_kernel *kernel)
{
    contact_constrain(kernel, VERTICES);
}

static void narrow_incidence(const sinew_real *data, const int32_t *particles, int node, sinew_real *out,
                             int32_t *others)
{
    contact_incidence(data, particles, node, VERTICES, out, others);
}

KERNEL_INLINE void narrow_add(const incidence *v, bool exact, incidence_sum *sum)
{
    (void)exact;
    contact_add(v, VERTICES, sum);
}

KERNEL_INLINE wide narrow_difference(const incidence *v, const wide step[3], wide *noise)
{
    return contact_difference(v, VERTICES, step, noise);
}

static void narrow_vertex(const sinew_vertex_kernel *kernel)
{
    incidence_vertex(kernel, VERTICES - 1, INCIDENCE_DATA_COUNT, narrow_add);
}

static void narrow_vertex_change(const sinew_vertex_kernel *kernel)
{
    incidence_change(kernel, VERTICES - 1, INCIDENCE_DATA_COUNT, narrow_difference);
}

extern const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_contact);
const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_contact) = {
    .info = {.name = "contact",
             .summary = "unilateral contact with Coulomb friction",
             .stencil = SINEW_STENCIL_PAIR,
             .vertex_count = VERTICES,
             .capabilities = SINEW_CAN_CONSTRAINT | SINEW_CAN_PROJECT | SINEW_CAN_PROX | SINEW_CAN_VERTEX |
                             SINEW_CAN_REDUCE},
    .data_count = DATA_COUNT,
    .tangent_count = TANGENT_COUNT,
    .target_slot = -1,
    .rigid_cost = SINEW_COSTS_TRANSLATION | SINEW_COSTS_ROTATION,
    .contact = true,
    .prepare = narrow_prepare,
    .value = narrow_value,
    .gradient = narrow_gradient,
    .linearise = narrow_linearise,
    .product = narrow_product,
    .hessian = narrow_hessian,
    .reduced_count = 1,
    .reduce = narrow_reduce,
    .stiffness = narrow_stiffness,
    .local_project = narrow_local_project,
    .local_prox = narrow_local_prox,
    .constraint_count = 4,
    .constrain = narrow_constrain,
    .other_count = VERTICES - 1,
    .incidence_data_count = INCIDENCE_DATA_COUNT,
    .incidence = narrow_incidence,
    .vertex = narrow_vertex,
    .vertex_change = narrow_vertex_change,
};
