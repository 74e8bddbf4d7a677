/* SPDX-License-Identifier: MIT
 *
 * contact_wide.c: contacts over up to eight particles (contact_kernel.h): a vertex of a rigid body is a sum over four
 * particles. Contacts of four particles or fewer are elements of contact.c, so that their cost and bits do not depend
 * on rigid bodies elsewhere.
 */
#include "energy/edge/contact_kernel.h"

enum {
    VERTICES = SINEW_CONTACT_VERTICES_WIDE,
    DATA_COUNT = SINEW_CONTACT_DATA_COUNT_OF(VERTICES),
    TANGENT_COUNT = CONTACT_TANGENT_COUNT(VERTICES),
    INCIDENCE_DATA_COUNT = CONTACT_INCIDENCE_DATA_COUNT(VERTICES)
};

static const char *wide_contact_prepare(const sinew_element *element, sinew_real *data)
{
    (void)element;
    return contact_prepare(data, VERTICES);
}

static double wide_contact_value(const sinew_kernel *kernel)
{
    return contact_value(kernel, VERTICES);
}

static double wide_contact_gradient(const sinew_kernel *kernel)
{
    return contact_gradient(kernel, VERTICES);
}

static void wide_contact_linearise(const sinew_kernel *kernel)
{
    contact_linearise(kernel, VERTICES);
}

static void wide_contact_product(const sinew_kernel *kernel)
{
    contact_product(kernel, VERTICES);
}

static void wide_contact_hessian(const sinew_kernel *kernel)
{
    contact_hessian(kernel, VERTICES);
}

static void wide_contact_reduce(const sinew_reduced_kernel *kernel)
{
    contact_reduce(kernel, VERTICES);
}

static void wide_contact_stiffness(const sinew_reduced_kernel *kernel)
{
    contact_stiffness(kernel, VERTICES);
}

static void wide_contact_local_project(const sinew_reduced_kernel *kernel)
{
    contact_local_project(kernel, VERTICES);
}

static void wide_contact_local_prox(const sinew_reduced_kernel *kernel)
{
    contact_local_prox(kernel, VERTICES);
}

static void wide_contact_constrain(const sinew_constrain_kernel *kernel)
{
    contact_constrain(kernel, VERTICES);
}

static void wide_contact_incidence(const sinew_real *data, const int32_t *particles, int node, sinew_real *out,
                                   int32_t *others)
{
    contact_incidence(data, particles, node, VERTICES, out, others);
}

KERNEL_INLINE void wide_contact_add(const incidence *v, bool exact, incidence_sum *sum)
{
    (void)exact;
    contact_add(v, VERTICES, sum);
}

KERNEL_INLINE wide wide_contact_difference(const incidence *v, const wide step[3], wide *noise)
{
    return contact_difference(v, VERTICES, step, noise);
}

static void wide_contact_vertex(const sinew_vertex_kernel *kernel)
{
    incidence_vertex(kernel, VERTICES - 1, INCIDENCE_DATA_COUNT, wide_contact_add);
}

static void wide_contact_vertex_change(const sinew_vertex_kernel *kernel)
{
    incidence_change(kernel, VERTICES - 1, INCIDENCE_DATA_COUNT, wide_contact_difference);
}

extern const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_contact_wide);
const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_contact_wide) = {
    .info = {.name = "contact",
             .summary = "unilateral contact with Coulomb friction, of rigid bodies",
             .stencil = SINEW_STENCIL_PAIR,
             .vertex_count = VERTICES,
             .capabilities = SINEW_CAN_CONSTRAINT | SINEW_CAN_PROJECT | SINEW_CAN_PROX | SINEW_CAN_VERTEX |
                             SINEW_CAN_REDUCE},
    .data_count = DATA_COUNT,
    .tangent_count = TANGENT_COUNT,
    .target_slot = -1,
    .rigid_cost = SINEW_COSTS_TRANSLATION | SINEW_COSTS_ROTATION,
    .contact = true,
    .prepare = wide_contact_prepare,
    .value = wide_contact_value,
    .gradient = wide_contact_gradient,
    .linearise = wide_contact_linearise,
    .product = wide_contact_product,
    .hessian = wide_contact_hessian,
    .reduced_count = 1,
    .reduce = wide_contact_reduce,
    .stiffness = wide_contact_stiffness,
    .local_project = wide_contact_local_project,
    .local_prox = wide_contact_local_prox,
    .constraint_count = 4,
    .constrain = wide_contact_constrain,
    .other_count = VERTICES - 1,
    .incidence_data_count = INCIDENCE_DATA_COUNT,
    .incidence = wide_contact_incidence,
    .vertex = wide_contact_vertex,
    .vertex_change = wide_contact_vertex_change,
};
