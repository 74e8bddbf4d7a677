/* SPDX-License-Identifier: MIT
 *
 * position.c: a spring of no length that holds a vertex at a target.
 *
 *     psi = k/2 |x - target|^2        grad = k (x - target)        H = k 1
 *
 * Bouaziz et al. 2014, section 5.1. Targets lie in the data, from target_slot on, and may move between steps. Soft: a
 * load f leaves the vertex |f|/k away. Where a vertex must be on its target, pin it.
 */
#include "energy/constrain.h"
#include "energy/curvature.h"
#include "energy/reduced_rows.h"
#include "energy/vertex_kernel.h"

enum {
    DATA_TARGET = 1,
    DATA_COUNT = 4,
    TANGENT_COUNT = 1
}; /* tangent: k */

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

/* d = x - target; returns |d|^2 / 2 */
KERNEL_INLINE lane position_offset(const sinew_kernel *kernel, int32_t group, lane d[3])
{
    const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
    lane_gather_point(kernel->x, group_vertex(&kernel->groups, group, 1), d);
    for (int i = 0; i < 3; i++)
        d[i] -= lane_load(data + (DATA_TARGET + i) * LANES);
    return lane_set((sinew_real)0.5) * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

static double position_value(const sinew_kernel *kernel)
{
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        lane d[3];
        const lane psi = position_offset(kernel, group, d);
        value_add(&sum, lane_load(group_data(&kernel->groups, group, DATA_COUNT)), psi);
    }
    return value_total(&sum);
}

static double position_gradient(const sinew_kernel *kernel)
{
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const lane k = lane_load(group_data(&kernel->groups, group, DATA_COUNT));
        lane d[3];
        const lane psi = position_offset(kernel, group, d);
        for (int i = 0; i < 3; i++)
            d[i] *= k;
        lane_scatter_point(kernel->g, group_vertex(&kernel->groups, group, 1), d);
        value_add(&sum, k, psi);
    }
    return value_total(&sum);
}

static void position_linearise(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        lane_store(group_tangent(kernel, group, TANGENT_COUNT),
                   lane_load(group_data(&kernel->groups, group, DATA_COUNT)));
}

static void position_product(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const int32_t *vertex = group_vertex(&kernel->groups, group, 1);
        const lane k = lane_load(group_tangent(kernel, group, TANGENT_COUNT));
        lane f[3];
        lane_gather_point(kernel->p, vertex, f);
        for (int i = 0; i < 3; i++)
            f[i] *= k;
        lane_scatter_point(kernel->g, vertex, f);
    }
}

static void position_hessian(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const lane k = lane_load(group_tangent(kernel, group, TANGENT_COUNT));
        for (int i = 0; i < 9; i++)
            lane_store(group_blocks(kernel, group, 1) + i * LANES, i % 4 == 0 ? k : lane_set(0));
    }
}

static void position_reduce(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        lane_store(kernel->rows + group * LANES, lane_set(1));
}

static void position_stiffness(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        lane_store(kernel->weights + group * LANES, lane_load(group_data(&kernel->groups, group, DATA_COUNT)));
}

KERNEL_INLINE void load_target(const sinew_real *data, lane t[3])
{
    load_lanes(data + DATA_TARGET * LANES, 3, t);
}

/* g += k target */
static void position_local_project(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        lane t[3];
        load_target(data, t);
        for (int i = 0; i < 3; i++)
            t[i] *= lane_load(data);
        lane_scatter_point(kernel->g, group_vertex(&kernel->groups, group, 1), t);
    }
}

/* z = (k target + w2 y) / (k + w2) */
static void position_local_prox(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 1);
        const lane k = lane_load(data), w2 = row_weight(kernel, group, k);
        const lane divisor = lane_max(k + w2, lane_set(LANE_TINY));
        lane x[3], y[3], z[3], t[3], f[3];
        lane_gather_point(kernel->x, vertex, x);
        row_shifted(kernel, group, x, y);
        load_target(data, t);
        for (int i = 0; i < 3; i++)
            z[i] = (k * t[i] + w2 * y[i]) / divisor;
        row_finish(kernel, group, w2, x, y, z, f);
        lane_scatter_point(kernel->g, vertex, f);
    }
}

/* C = |x - target|, alpha = 1/k */
KERNEL_INLINE lane distance_of(const sinew_real *data, bool whole, constrained *c, lane *r, lane *weight)
{
    *weight = lane_load(data);
    lane t[3], squared = lane_set(0);
    load_target(data, t);
    for (int i = 0; i < 3; i++) {
        c->gradient[i] = c->x[i] - t[i];
        squared += c->gradient[i] * c->gradient[i];
    }
    const lane distance = lane_sqrt(squared);
    *r = whole ? lane_set(1) : lane_max(distance, lane_set(LANE_ROOT_TINY));
    return whole ? lane_set((sinew_real)0.5) * squared : distance;
}

static void position_constrain(const sinew_constrain_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        single_constrain(kernel, group, DATA_COUNT, 1, distance_of);
}

static void position_jacobian(const sinew_jacobian_kernel *kernel)
{
    single_jacobian(kernel, DATA_COUNT, 1, distance_of);
}

static void position_curvature(const sinew_jacobian_kernel *kernel)
{
    const lane one = lane_set(1);
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        lane d[3], t[3];
        lane_gather_point(kernel->x, group_vertex(&kernel->groups, group, 1), d);
        load_target(data, t);
        for (int i = 0; i < 3; i++)
            d[i] -= t[i];
        curvature_of_length(kernel, group, 1, curvature_factor(kernel, group, 0, 1, lane_load(data)), lane_set(0), d,
                            &one);
    }
}

static void position_visit(const sinew_real *data, const int32_t *particles, int node, sinew_real *out, int32_t *others)
{
    (void)particles;
    (void)node;
    (void)others;
    memcpy(out, data, DATA_COUNT * sizeof *out);
}

KERNEL_INLINE void position_add(const visit *v, bool exact, visit_sum *sum)
{
    (void)exact;
    const lane k = lane_load(v->data);
    lane t[3];
    load_target(v->data, t);
    for (int i = 0; i < 3; i++)
        sum->g[i] += k * (v->x[i] - t[i]);
    block_add(sum->A, k, lane_set(0), t);
}

KERNEL_INLINE lane position_difference(const visit *v, const lane step[3], lane *noise)
{
    lane t[3];
    load_target(v->data, t);
    for (int i = 0; i < 3; i++)
        t[i] = v->x[i] - t[i];
    const lane linear = dot3(t, step), square = lane_set((sinew_real)0.5) * dot3(step, step);
    *noise = 4 * LANE_EPSILON * (lane_abs(linear) + square);
    return linear + square;
}

static void position_vertex(const sinew_vertex_kernel *kernel)
{
    visit_vertex(kernel, 0, DATA_COUNT, position_add);
}

static void position_vertex_change(const sinew_vertex_kernel *kernel)
{
    visit_change(kernel, 0, DATA_COUNT, position_difference);
}

const sinew_energy_ops SINEW_LANE_SYMBOL(sinew_energy_position) = {
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
    .row_count = 1,
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
    .visit_data_count = DATA_COUNT,
    .visit = position_visit,
    .vertex = position_vertex,
    .vertex_change = position_vertex_change,
    .vertex_bounds = SINEW_BOUND_CHEAP | SINEW_BOUND_EXACT,
};
