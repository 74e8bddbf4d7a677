/* SPDX-License-Identifier: MIT
 *
 * energy_spring.c: a spring along an edge.
 *
 *     psi = k/2 (l - L)^2,  l = |x1 - x0|,  d = x1 - x0,  n = d / l
 *     grad_1 = k (1 - L/l) d = -grad_0
 *     H_11 = k [n n^T + (1 - L/l) (1 - n n^T)] = -H_10 = H_00
 *
 * Eigenvalues of H_11 are k (along n) and k (1 - L/l) (across, twice): a compressed spring is indefinite, and the
 * projection sets the second to zero. At l = 0 the direction is undefined: the gradient there is zero, and in H l
 * counts as no less than LENGTH_BOUND of L.
 */
#include "energy/constrain.h"
#include "energy/reduced_rows.h"
#include "energy/visit.h"

enum {
    DATA_LENGTH = 1,
    DATA_COUNT = 2,
    TANGENT_COUNT = 6
}; /* tangent: H_11 as 00 11 22 01 02 12 */

#define LENGTH_BOUND ((sinew_real)1e-6)
#define ACROSS_FLOOR ((sinew_real)0.1)

static const sinew_parameter parameters[] = {
    {.name = "stiffness",
     .unit = "N/m",
     .minimum = 0,
     .maximum = INFINITY,
     .preset = 1000,
     .open_minimum = true,
     .open_maximum = true,
     .meaning = "k, force per change of length; raising it stiffens"},
    {.name = "rest_scale",
     .unit = "",
     .minimum = 0,
     .maximum = INFINITY,
     .preset = 1,
     .open_maximum = true,
     .meaning = "rest length as a multiple of the edge's length at rest; below 1 the spring pulls"},
};

static const char *spring_prepare(const sinew_element *element, sinew_real *data)
{
    double length = 0;
    for (int i = 0; i < 3; i++) {
        const double d = (double)element->rest[3 + i] - (double)element->rest[i];
        length += d * d;
    }
    if (!isfinite(length))
        return "its rest length is not finite";
    data[0] = element->parameters[0];
    data[DATA_LENGTH] = (sinew_real)(sqrt(length) * (double)element->parameters[1]);
    return NULL;
}

static const int other_row[1] = {1}; /* where the edge ends, among a group's rows of vertices */

/* d = x1 - x0 */
KERNEL_INLINE void gather_edge(const sinew_real *x, const int32_t *vertex, lane d[3])
{
    lane_gather_edges(x, vertex, other_row, 1, (lane(*)[3])d);
}

/* The same; returns its length. */
KERNEL_INLINE lane spring_edge(const sinew_real *x, const int32_t *vertex, lane d[3])
{
    gather_edge(x, vertex, d);
    return lane_sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

KERNEL_INLINE void scatter_opposite(sinew_real *g, const int32_t *vertex, const lane f[3])
{
    lane_scatter_balanced(g, vertex, other_row, 1, (const lane(*)[3])f);
}

static double spring_value(const sinew_kernel *kernel)
{
    const lane half = lane_set((sinew_real)0.5);
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        lane d[3];
        const lane stretch =
            spring_edge(kernel->x, group_vertex(&kernel->groups, group, 2), d) - lane_load(data + LANES);
        value_add(&sum, lane_load(data), half * stretch * stretch);
    }
    return value_total(&sum);
}

static double spring_gradient(const sinew_kernel *kernel)
{
    const lane half = lane_set((sinew_real)0.5);
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 2);
        const lane k = lane_load(data);
        lane d[3];
        const lane l = spring_edge(kernel->x, vertex, d), stretch = l - lane_load(data + LANES);
        const lane pull = k * stretch / lane_max(l, lane_set(LANE_ROOT_TINY));
        for (int i = 0; i < 3; i++)
            d[i] *= pull;
        scatter_opposite(kernel->g, vertex, d);
        value_add(&sum, k, half * stretch * stretch);
    }
    return value_total(&sum);
}

static void spring_linearise(const sinew_kernel *kernel)
{
    const lane zero = lane_set(0), one = lane_set(1);
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const lane k = lane_load(data), L = lane_load(data + LANES);
        lane n[3];
        const lane l = spring_edge(kernel->x, group_vertex(&kernel->groups, group, 2), n);
        const lane divisor = lane_max(l, lane_set(LANE_ROOT_TINY));
        for (int i = 0; i < 3; i++)
            n[i] /= divisor;
        lane across = 1 - L / lane_max(divisor, LENGTH_BOUND * L);
        if (kernel->project)
            across = lane_max(across, zero);
        const lane along = k * (one - across);
        const lane H[TANGENT_COUNT] = {k * across + along * n[0] * n[0],
                                       k * across + along * n[1] * n[1],
                                       k * across + along * n[2] * n[2],
                                       along * n[0] * n[1],
                                       along * n[0] * n[2],
                                       along * n[1] * n[2]};
        store_lanes(group_tangent(kernel, group, TANGENT_COUNT), TANGENT_COUNT, H);
    }
}

static void spring_product(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const int32_t *vertex = group_vertex(&kernel->groups, group, 2);
        lane H[TANGENT_COUNT], d[3];
        load_lanes(group_tangent(kernel, group, TANGENT_COUNT), TANGENT_COUNT, H);
        gather_edge(kernel->p, vertex, d);
        const lane f[3] = {H[0] * d[0] + H[3] * d[1] + H[4] * d[2], H[3] * d[0] + H[1] * d[1] + H[5] * d[2],
                           H[4] * d[0] + H[5] * d[1] + H[2] * d[2]};
        scatter_opposite(kernel->g, vertex, f);
    }
}

static void spring_hessian(const sinew_kernel *kernel)
{
    static const int entry[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        sinew_real *blocks = group_blocks(kernel, group, 3);
        lane H[TANGENT_COUNT];
        load_lanes(group_tangent(kernel, group, TANGENT_COUNT), TANGENT_COUNT, H);
        for (int i = 0; i < 9; i++) {
            lane_store(blocks + i * LANES, H[entry[i]]);
            lane_store(blocks + (9 + i) * LANES, -H[entry[i]]);
            lane_store(blocks + (18 + i) * LANES, H[entry[i]]);
        }
    }
}

static void spring_reduce(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        lane_store(kernel->rows + (2 * (size_t)group) * LANES, lane_set(-1));
        lane_store(kernel->rows + (2 * (size_t)group + 1) * LANES, lane_set(1));
    }
}

static void spring_stiffness(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        lane_store(kernel->weights + group * LANES, lane_load(group_data(&kernel->groups, group, DATA_COUNT)));
}

/* g += k D^T p, p the vector of length L along the edge */
static void spring_local_project(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 2);
        lane d[3];
        const lane l = spring_edge(kernel->x, vertex, d);
        const lane pull = lane_load(data) * lane_load(data + LANES) / lane_max(l, lane_set(LANE_ROOT_TINY));
        for (int i = 0; i < 3; i++)
            d[i] *= pull;
        scatter_opposite(kernel->g, vertex, d);
    }
}

/* z = (k L + w2 |y|) / (k + w2) along y; along x where y has no direction */
static void spring_local_prox(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 2);
        const lane k = lane_load(data), w2 = row_weight(kernel, group, k);
        lane d[3], y[3], f[3];
        spring_edge(kernel->x, vertex, d);
        row_shifted(kernel, group, d, y);
        const lane l = lane_sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]), L = lane_load(data + LANES);
        const lane divisor = lane_max(k + w2, lane_set(LANE_TINY));
        const lane scale = (k * L / lane_max(l, lane_set(LANE_ROOT_TINY)) + w2) / divisor;
        const lane_mask nowhere = lane_le(l, lane_set(LANE_ROOT_TINY));
        const lane z[3] = {lane_select(nowhere, k * L / divisor, scale * y[0]), scale * y[1], scale * y[2]};
        row_finish(kernel, group, w2, d, y, z, f);
        scatter_opposite(kernel->g, vertex, f);
    }
}

/* The common case with one square root and one division, neither of which waits for the other:
 *
 *     dlambda / l = (-k C - c lambda) / (W l) = (l (k L - c lambda) - k l^2) / (W l^2),   W = (w0 + w1) k + c
 *
 * c the factor of the compliance. */
typedef struct plain_group {
    lane a[4], b[4], step;
} plain_group;

KERNEL_INLINE void plain_gather(const sinew_constrain_kernel *kernel, int32_t group, plain_group *p)
{
    const int32_t *vertex = group_vertex(&kernel->groups, group, 2);
    lane_gather_four(kernel->xw, vertex, p->a);
    lane_gather_four(kernel->xw, vertex + LANES, p->b);
}

KERNEL_INLINE void plain_step(const sinew_constrain_kernel *kernel, int32_t group, plain_group *p)
{
    const lane zero = lane_set(0), c = lane_set(kernel->compliance);
    const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
    const lane k = lane_load(data), L = lane_load(data + LANES);
    sinew_real *multiplier = group_lambda(kernel, group, 1);
    const lane lambda = lane_load(multiplier);
    const lane d[3] = {p->b[0] - p->a[0], p->b[1] - p->a[1], p->b[2] - p->a[2]};
    const lane squared = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], l = lane_sqrt(squared);
    const lane bottom = ((p->a[3] + p->b[3]) * k + c) * squared;
    const lane top = l * (k * L - c * lambda) - k * squared;
    p->step = top * lane_select(lane_lt(zero, bottom), kernel->stiffness / bottom, zero);
    lane_store(multiplier, lambda + p->step * l);
}

KERNEL_INLINE void plain_move(const sinew_constrain_kernel *kernel, int32_t group, const plain_group *p)
{
    const int32_t *vertex = group_vertex(&kernel->groups, group, 2);
    const lane back = p->step * p->a[3], forth = p->step * p->b[3];
    lane a[4] = {p->a[0], p->a[1], p->a[2], p->a[3]}, b[4] = {p->b[0], p->b[1], p->b[2], p->b[3]};
    for (int i = 0; i < 3; i++) {
        const lane d = b[i] - a[i];
        a[i] -= back * d;
        b[i] += forth * d;
    }
    lane_store_four(kernel->xw, vertex, a);
    lane_store_four(kernel->xw, vertex + LANES, b);
}

/* Groups that share no particle. Root and division take long: the one before is moved while they are under way. */
KERNEL_INLINE void spring_constrain_plain(const sinew_constrain_kernel *kernel, int32_t first, int32_t count)
{
    plain_group now, next;
    plain_gather(kernel, first, &now);
    plain_step(kernel, first, &now);
    for (int32_t group = first + 1; group < first + count; group++) {
        plain_gather(kernel, group, &next);
        plain_move(kernel, group - 1, &now);
        plain_step(kernel, group, &next);
        now = next;
    }
    plain_move(kernel, first + count - 1, &now);
}

/* C = |x1 - x0| - L, alpha = 1/k */
KERNEL_INLINE lane stretch_of(const sinew_real *data, bool whole, constrained *c, lane *r, lane *weight)
{
    *weight = lane_load(data);
    lane d[3], squared = lane_set(0);
    for (int i = 0; i < 3; i++) {
        d[i] = c->x[4 + i] - c->x[i];
        squared += d[i] * d[i];
    }
    const lane l = lane_sqrt(squared), stretch = l - lane_load(data + LANES);
    for (int i = 0; i < 3; i++) {
        c->gradient[3 + i] = whole ? stretch * d[i] : d[i];
        c->gradient[i] = -c->gradient[3 + i];
    }
    *r = lane_max(l, lane_set(LANE_ROOT_TINY));
    return whole ? (sinew_real)0.5 * stretch * stretch : stretch;
}

/* A call of its own: inlined, it would take the registers of the common case. */
static __attribute__((noinline)) void spring_constrain_any(const sinew_constrain_kernel *kernel, int32_t group)
{
    single_constrain(kernel, group, DATA_COUNT, 2, stretch_of);
}

static void spring_constrain(const sinew_constrain_kernel *kernel)
{
    const bool plain = !kernel->dx && !kernel->x_old && kernel->form != SINEW_FORM_ENERGY;
    const int32_t together = kernel->apart ? kernel->groups.count : 1;
    for (int32_t group = 0; group < kernel->groups.count; group += plain ? together : 1)
        if (plain)
            spring_constrain_plain(kernel, group, together);
        else
            spring_constrain_any(kernel, group);
}

static void spring_jacobian(const sinew_jacobian_kernel *kernel)
{
    single_jacobian(kernel, DATA_COUNT, 2, stretch_of);
}

static void spring_visit(const sinew_real *data, const int32_t *particles, int node, sinew_real *out, int32_t *others)
{
    memcpy(out, data, DATA_COUNT * sizeof *out);
    others[0] = particles[1 - node];
}

/* d = x1 - x0, x0 the visiting node; returns its length */
KERNEL_INLINE lane visit_edge(const visit *v, lane d[3])
{
    lane_gather_point(v->q, v->others, d);
    for (int i = 0; i < 3; i++)
        d[i] -= v->x[i];
    return lane_sqrt(dot3(d, d));
}

/* The cheap block is k 1: psi is the least of the k/2 |d - p|^2 over all p of length L, so it is a bound, and definite
 * also under compression. The exact one has no less than ACROSS_FLOOR of k across the edge. */
KERNEL_INLINE void spring_add(const visit *v, bool exact, visit_sum *sum)
{
    const lane k = lane_load(v->data), L = lane_load(v->data + LANES);
    lane d[3];
    const lane l = lane_max(visit_edge(v, d), lane_set(LANE_ROOT_TINY)), pull = k * (l - L) / l;
    for (int i = 0; i < 3; i++)
        sum->g[i] -= pull * d[i];
    if (!exact) {
        block_add(sum->A, k, lane_set(0), d);
        return;
    }
    const lane across = lane_max(1 - L / l, lane_set(ACROSS_FLOOR));
    block_add(sum->A, k * across, k * (1 - across) / (l * l), d);
}

/* l' - l = (l'^2 - l^2) / (l' + l): nothing cancels for a small step. */
KERNEL_INLINE lane spring_difference(const visit *v, const lane step[3], lane *noise)
{
    const lane L = lane_load(v->data + LANES), half = lane_set((sinew_real)0.5);
    lane d[3];
    const lane before = visit_edge(v, d), squares = dot3(step, step) - 2 * dot3(step, d);
    const lane after = lane_sqrt(lane_max(before * before + squares, lane_set(0)));
    const lane sum = before + after, longer = squares / lane_max(sum, lane_set(LANE_ROOT_TINY));
    *noise = 8 * LANE_EPSILON * lane_abs(longer) * (sum + L);
    return half * longer * (sum - 2 * L);
}

static void spring_vertex(const sinew_vertex_kernel *kernel)
{
    visit_vertex(kernel, 1, DATA_COUNT, spring_add);
}

static void spring_vertex_change(const sinew_vertex_kernel *kernel)
{
    visit_change(kernel, 1, DATA_COUNT, spring_difference);
}

const sinew_energy_ops SINEW_LANE_SYMBOL(sinew_energy_spring) = {
    .info = {.name = "spring",
             .summary = "k/2 (|x1 - x0| - L)^2",
             .stencil = SINEW_STENCIL_EDGE,
             .vertex_count = 2,
             .parameters = parameters,
             .parameter_count = sizeof parameters / sizeof parameters[0],
             .capabilities = SINEW_CAN_CONSTRAINT | SINEW_CAN_PROJECT | SINEW_CAN_PROX | SINEW_CAN_VERTEX |
                             SINEW_CAN_REDUCE | SINEW_CAN_JACOBIAN},
    .data_count = DATA_COUNT,
    .tangent_count = TANGENT_COUNT,
    .target_slot = -1,
    .prepare = spring_prepare,
    .value = spring_value,
    .gradient = spring_gradient,
    .linearise = spring_linearise,
    .product = spring_product,
    .hessian = spring_hessian,
    .row_count = 1,
    .reduce = spring_reduce,
    .stiffness = spring_stiffness,
    .local_project = spring_local_project,
    .local_prox = spring_local_prox,
    .constraint_count = 1,
    .constrain = spring_constrain,
    .jacobian = spring_jacobian,
    .other_count = 1,
    .visit_data_count = DATA_COUNT,
    .visit = spring_visit,
    .vertex = spring_vertex,
    .vertex_change = spring_vertex_change,
    .vertex_bounds = SINEW_BOUND_CHEAP,
};
