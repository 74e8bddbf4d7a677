/* SPDX-License-Identifier: MIT
 *
 * position.c: a spring of zero rest length between a vertex and a target.
 *
 *     psi = k/2 |x - target|^2        grad = k (x - target)        H = k 1
 *
 * Bouaziz et al. 2014, section 5.1. Targets are in data from target_slot on, and may move between steps. The attachment
 * is soft: a load f displaces the vertex by |f|/k; pins are exact.
 */
#include "energy/constrain.h"
#include "energy/curvature.h"
#include "energy/reduced_vector.h"
#include "energy/vertex_kernel.h"

enum {
    DATA_TARGET = 1,
    DATA_COUNT = 4,
    TANGENT_COUNT = 1
}; /* the tangent of a position element is its stiffness k */

static const sinew_parameter parameters[] = {
    {.name = "stiffness",
     .unit = "N/m",
     .minimum = 0,
     .maximum = INFINITY,
     .preset = 1000,
     .open_minimum = true,
     .open_maximum = true,
     .meaning = "k, force per distance to the target; raising it holds tighter"},
};

static const char *position_prepare(const sinew_element *element, sinew_real *data)
{
    data[0] = element->parameters[0];
    for (int i = 0; i < 3; i++)
        data[DATA_TARGET + i] = element->target[i];
    return NULL;
}

/* d = x - target, the offset of each attached vertex; returns |d|^2 / 2 */
KERNEL_INLINE wide position_offset(const sinew_kernel *kernel, int32_t group, wide d[3])
{
    const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
    wide_gather_point(kernel->x, group_vertex(&kernel->groups, group, 1), d);
    for (int i = 0; i < 3; i++)
        d[i] -= wide_load(data + (DATA_TARGET + i) * SIMD_WIDTH);
    return wide_set((sinew_real)0.5) * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

static double position_value(const sinew_kernel *kernel)
{
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        wide d[3];
        const wide psi = position_offset(kernel, group, d);
        value_add(&sum, wide_load(group_data(&kernel->groups, group, DATA_COUNT)), psi);
    }
    return value_total(&sum);
}

static double position_gradient(const sinew_kernel *kernel)
{
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const wide k = wide_load(group_data(&kernel->groups, group, DATA_COUNT));
        wide d[3];
        const wide psi = position_offset(kernel, group, d);
        for (int i = 0; i < 3; i++)
            d[i] *= k;
        wide_scatter_point(kernel->g, group_vertex(&kernel->groups, group, 1), d);
        value_add(&sum, k, psi);
    }
    return value_total(&sum);
}

static void position_linearise(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        wide_store(group_tangent(kernel, group, TANGENT_COUNT),
                   wide_load(group_data(&kernel->groups, group, DATA_COUNT)));
}

static void position_product(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const int32_t *vertex = group_vertex(&kernel->groups, group, 1);
        const wide k = wide_load(group_tangent(kernel, group, TANGENT_COUNT));
        wide f[3];
        wide_gather_point(kernel->p, vertex, f);
        for (int i = 0; i < 3; i++)
            f[i] *= k;
        wide_scatter_point(kernel->g, vertex, f);
    }
}

static void position_hessian(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const wide k = wide_load(group_tangent(kernel, group, TANGENT_COUNT));
        for (int i = 0; i < 9; i++)
            wide_store(group_blocks(kernel, group, 1) + i * SIMD_WIDTH, i % 4 == 0 ? k : wide_set(0));
    }
}

static void position_reduce(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        wide_store(kernel->D + group * SIMD_WIDTH, wide_set(1));
}

static void position_stiffness(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        wide_store(kernel->weights + group * SIMD_WIDTH, wide_load(group_data(&kernel->groups, group, DATA_COUNT)));
}

KERNEL_INLINE void load_target(const sinew_real *data, wide t[3])
{
    load_wide_array(data + DATA_TARGET * SIMD_WIDTH, 3, t);
}

/* PD's projection of a vertex is its target: g += k target */
static void position_local_project(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        wide t[3];
        load_target(data, t);
        for (int i = 0; i < 3; i++)
            t[i] *= wide_load(data);
        wide_scatter_point(kernel->g, group_vertex(&kernel->groups, group, 1), t);
    }
}

/* ADMM's proximal map: z = (k target + w2 y) / (k + w2), y = x + u */
static void position_local_prox(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 1);
        const wide k = wide_load(data), w2 = reduced_weight(kernel, group, k);
        const wide divisor = wide_max(k + w2, wide_set(WIDE_TINY));
        wide x[3], y[3], z[3], t[3], f[3];
        wide_gather_point(kernel->x, vertex, x);
        reduced_shifted(kernel, group, x, y);
        load_target(data, t);
        for (int i = 0; i < 3; i++)
            z[i] = (k * t[i] + w2 * y[i]) / divisor;
        reduced_finish(kernel, group, w2, x, y, z, f);
        wide_scatter_point(kernel->g, vertex, f);
    }
}

/* The distance to the target as a constraint: C = |x - target|, alpha = 1/k */
KERNEL_INLINE wide target_distance(const sinew_real *data, bool as_energy, constrained *c, wide *r, wide *weight)
{
    *weight = wide_load(data);
    wide t[3], squared = wide_set(0);
    load_target(data, t);
    for (int i = 0; i < 3; i++) {
        c->gradient[i] = c->x[i] - t[i];
        squared += c->gradient[i] * c->gradient[i];
    }
    const wide distance = wide_sqrt(squared);
    *r = as_energy ? wide_set(1) : wide_max(distance, wide_set(WIDE_ROOT_TINY));
    return as_energy ? wide_set((sinew_real)0.5) * squared : distance;
}

static void position_constrain(const sinew_constrain_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        single_constrain(kernel, group, DATA_COUNT, 1, target_distance);
}

static void position_jacobian(const sinew_jacobian_kernel *kernel)
{
    single_jacobian(kernel, DATA_COUNT, 1, target_distance);
}

static void position_curvature(const sinew_jacobian_kernel *kernel)
{
    const wide one = wide_set(1);
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        wide d[3], t[3];
        wide_gather_point(kernel->x, group_vertex(&kernel->groups, group, 1), d);
        load_target(data, t);
        for (int i = 0; i < 3; i++)
            d[i] -= t[i];
        curvature_of_length(kernel, group, 1, curvature_factor(kernel, group, 0, 1, wide_load(data)), wide_set(0), d,
                            &one);
    }
}

static void position_incidence(const sinew_real *data, const int32_t *particles, int node, sinew_real *out,
                               int32_t *others)
{
    (void)particles;
    (void)node;
    (void)others;
    memcpy(out, data, DATA_COUNT * sizeof *out);
}

KERNEL_INLINE void position_add(const incidence *v, bool exact, incidence_sum *sum)
{
    (void)exact;
    const wide k = wide_load(v->data);
    wide t[3];
    load_target(v->data, t);
    for (int i = 0; i < 3; i++)
        sum->g[i] += k * (v->x[i] - t[i]);
    block_add(sum->A, k, wide_set(0), t);
}

KERNEL_INLINE wide position_difference(const incidence *v, const wide step[3], wide *noise)
{
    wide t[3];
    load_target(v->data, t);
    for (int i = 0; i < 3; i++)
        t[i] = v->x[i] - t[i];
    const wide linear = dot3(t, step), square = wide_set((sinew_real)0.5) * dot3(step, step);
    *noise = 4 * WIDE_EPSILON * (wide_abs(linear) + square);
    return linear + square;
}

static void position_vertex(const sinew_vertex_kernel *kernel)
{
    incidence_vertex(kernel, 0, DATA_COUNT, position_add);
}

static void position_vertex_change(const sinew_vertex_kernel *kernel)
{
    incidence_change(kernel, 0, DATA_COUNT, position_difference);
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_position) = {
    .info = {.name = "position",
             .summary = "k/2 |x - target|^2",
             .stencil = SINEW_STENCIL_VERTEX,
             .vertex_count = 1,
             .parameters = parameters,
             .parameter_count = sizeof parameters / sizeof parameters[0],
             .capabilities = SINEW_CAN_CONSTRAINT | SINEW_CAN_PROJECT | SINEW_CAN_PROX | SINEW_CAN_VERTEX |
                             SINEW_CAN_REDUCE | SINEW_CAN_JACOBIAN},
    .data_count = DATA_COUNT,
    .tangent_count = TANGENT_COUNT,
    .target_slot = DATA_TARGET,
    .rigid_cost = SINEW_COSTS_TRANSLATION | SINEW_COSTS_ROTATION,
    .prepare = position_prepare,
    .value = position_value,
    .gradient = position_gradient,
    .linearise = position_linearise,
    .product = position_product,
    .hessian = position_hessian,
    .reduced_count = 1,
    .reduce = position_reduce,
    .stiffness = position_stiffness,
    .local_project = position_local_project,
    .local_prox = position_local_prox,
    .constraint_count = 1,
    .constrain = position_constrain,
    .jacobian = position_jacobian,
    .rooted = true,
    .curvature = position_curvature,
    .other_count = 0,
    .incidence_data_count = DATA_COUNT,
    .incidence = position_incidence,
    .vertex = position_vertex,
    .vertex_change = position_vertex_change,
    .vertex_bounds = SINEW_BOUND_CHEAP | SINEW_BOUND_EXACT,
};
