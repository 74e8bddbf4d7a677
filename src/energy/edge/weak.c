/* SPDX-License-Identifier: MIT
 *
 * weak.c: a weak constraint that holds two weighted points together.
 *
 *     C = sum_a w_a x_a      psi = 1/2 C^T K C      K = kn n n^T + kt (1 - n n^T)
 *     grad_a = w_a K C       H_ab = w_a w_b K
 *
 * PBNG (18), (19). The eight signed weights are the four of the first point (sum 1) and minus the four of the second,
 * so C is the vector between the points and a translation of both costs nothing. Quadratic in the positions, its
 * Hessian constant and positive semi-definite. K does not turn with the body: for contacts and sutures that last a step
 * or whose kn = kt. For PD it is a distance to the origin when kn = kt, else bounded by one with k = max(kn, kt).
 */
#include "energy/constrain.h"
#include "energy/curvature.h"
#include "energy/reduced_rows.h"
#include "energy/vertex_kernel.h"

/* data: scale 1, eight weights, K as 00 11 22 01 02 12, k = max(kn, kt). tangent: weights, K. */
enum {
    DATA_WEIGHTS = 1,
    DATA_K = 9,
    DATA_K_MOST = 15,
    DATA_COUNT = 16,
    TANGENT_K = 8,
    TANGENT_COUNT = 14
};

/* data of a visit: scale, the node's weight, the seven other weights, K */
enum {
    VISIT_OWN = 1,
    VISIT_OTHERS = 2,
    VISIT_K = 9,
    VISIT_DATA_COUNT = 15
};

static const sinew_parameter parameters[] = {
    {.name = "normal_stiffness",
     .unit = "N/m",
     .minimum = 0,
     .maximum = INFINITY,
     .preset = 1000,
     .open_maximum = true,
     .meaning = "kn, force per distance along the normal"},
    {.name = "tangent_stiffness",
     .unit = "N/m",
     .minimum = 0,
     .maximum = INFINITY,
     .preset = 1000,
     .open_maximum = true,
     .meaning = "kt, force per distance across the normal"},
};

static const char *weak_prepare(const sinew_element *element, sinew_real *data)
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    const double kn = (double)element->parameters[0], kt = (double)element->parameters[1];
    data[0] = 1;
    for (int a = 0; a < 8; a++)
        data[DATA_WEIGHTS + a] = element->weights[a];
    for (int i = 0; i < 6; i++) {
        const double nn = (double)element->normal[row[i]] * (double)element->normal[column[i]];
        data[DATA_K + i] = (sinew_real)((kn - kt) * nn + (row[i] == column[i] ? kt : 0));
    }
    data[DATA_K_MOST] = (sinew_real)fmax(kn, kt);
    return NULL;
}

/* C = sum_a w_a x_a */
KERNEL_INLINE void separation(const sinew_real *x, const int32_t *vertex, const sinew_real *weights, lane C[3])
{
    for (int i = 0; i < 3; i++)
        C[i] = lane_set(0);
    for (int a = 0; a < 8; a++) {
        const lane w = lane_load(weights + a * LANES);
        lane xa[3];
        lane_gather_point(x, vertex + a * LANES, xa);
        for (int i = 0; i < 3; i++)
            C[i] += w * xa[i];
    }
}

/* f = K C, K from six numbers */
KERNEL_INLINE void pull(const sinew_real *stiffness, const lane C[3], lane f[3])
{
    lane K[6];
    load_lanes(stiffness, 6, K);
    f[0] = K[0] * C[0] + K[3] * C[1] + K[4] * C[2];
    f[1] = K[3] * C[0] + K[1] * C[1] + K[5] * C[2];
    f[2] = K[4] * C[0] + K[5] * C[1] + K[2] * C[2];
}

/* g_a += w_a f */
KERNEL_INLINE void spread(sinew_real *g, const int32_t *vertex, const sinew_real *weights, const lane f[3])
{
    for (int a = 0; a < 8; a++) {
        const lane w = lane_load(weights + a * LANES);
        const lane fa[3] = {w * f[0], w * f[1], w * f[2]};
        lane_scatter_point(g, vertex + a * LANES, fa);
    }
}

static double weak_value(const sinew_kernel *kernel)
{
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        lane C[3], f[3];
        separation(kernel->x, group_vertex(&kernel->groups, group, 8), data + DATA_WEIGHTS * LANES, C);
        pull(data + DATA_K * LANES, C, f);
        value_add(&sum, lane_load(data), lane_set((sinew_real)0.5) * (C[0] * f[0] + C[1] * f[1] + C[2] * f[2]));
    }
    return value_total(&sum);
}

static double weak_gradient(const sinew_kernel *kernel)
{
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 8);
        const lane scale = lane_load(data);
        lane C[3], f[3];
        separation(kernel->x, vertex, data + DATA_WEIGHTS * LANES, C);
        pull(data + DATA_K * LANES, C, f);
        value_add(&sum, scale, lane_set((sinew_real)0.5) * (C[0] * f[0] + C[1] * f[1] + C[2] * f[2]));
        for (int i = 0; i < 3; i++)
            f[i] *= scale;
        spread(kernel->g, vertex, data + DATA_WEIGHTS * LANES, f);
    }
    return value_total(&sum);
}

static void weak_linearise(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        sinew_real *tangent = group_tangent(kernel, group, TANGENT_COUNT);
        for (int a = 0; a < 8; a++)
            lane_store(tangent + a * LANES, lane_load(data + (DATA_WEIGHTS + a) * LANES));
        for (int i = 0; i < 6; i++)
            lane_store(tangent + (TANGENT_K + i) * LANES, lane_load(data) * lane_load(data + (DATA_K + i) * LANES));
    }
}

static void weak_product(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *tangent = group_tangent(kernel, group, TANGENT_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 8);
        lane C[3], f[3];
        separation(kernel->p, vertex, tangent, C);
        pull(tangent + TANGENT_K * LANES, C, f);
        spread(kernel->g, vertex, tangent, f);
    }
}

static void weak_hessian(const sinew_kernel *kernel)
{
    static const int entry[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *tangent = group_tangent(kernel, group, TANGENT_COUNT);
        sinew_real *blocks = group_blocks(kernel, group, 36);
        lane w[8], K[6];
        load_lanes(tangent, 8, w);
        load_lanes(tangent + TANGENT_K * LANES, 6, K);
        for (int a = 0; a < 8; a++)
            for (int b = 0; b <= a; b++)
                for (int i = 0; i < 9; i++)
                    lane_store(blocks + (block_index(a, b) * 9 + i) * LANES, w[a] * w[b] * K[entry[i]]);
    }
}

static void weak_reduce(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int a = 0; a < 8; a++)
            lane_store(kernel->rows + (8 * (size_t)group + (size_t)a) * LANES,
                       lane_load(group_data(&kernel->groups, group, DATA_COUNT) + (DATA_WEIGHTS + a) * LANES));
}

/* k = max(kn, kt): psi where both are equal, a bound from above where not (energy.h) */
static void weak_stiffness(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        lane_store(kernel->weights + group * LANES, lane_load(data) * lane_load(data + DATA_K_MOST * LANES));
    }
}

/* g += D^T (k C - K C) */
static void weak_local_project(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 8);
        const lane scale = lane_load(data), k = lane_load(data + DATA_K_MOST * LANES);
        lane C[3], f[3];
        separation(kernel->x, vertex, data + DATA_WEIGHTS * LANES, C);
        pull(data + DATA_K * LANES, C, f);
        for (int i = 0; i < 3; i++)
            f[i] = scale * (k * C[i] - f[i]);
        spread(kernel->g, vertex, data + DATA_WEIGHTS * LANES, f);
    }
}

/* (K + w2 1) z = w2 y, by the cofactors of the symmetric 3x3 matrix */
static void weak_local_prox(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 8);
        const lane w2 = row_weight(kernel, group, lane_load(data));
        const lane one = lane_set(1), shift = lane_select(lane_eq(w2, lane_set(0)), one, w2);
        lane K[6], C[3], y[3], f[3];
        load_lanes(data + DATA_K * LANES, 6, K);
        separation(kernel->x, vertex, data + DATA_WEIGHTS * LANES, C);
        row_shifted(kernel, group, C, y);
        for (int i = 0; i < 6; i++)
            K[i] = K[i] / shift + (sinew_real)(i < 3 ? 1 : 0);
        const lane c0 = K[1] * K[2] - K[5] * K[5], c3 = K[4] * K[5] - K[3] * K[2], c4 = K[3] * K[5] - K[1] * K[4];
        const lane c1 = K[0] * K[2] - K[4] * K[4], c5 = K[3] * K[4] - K[0] * K[5], c2 = K[0] * K[1] - K[3] * K[3];
        const lane det = K[0] * c0 + K[3] * c3 + K[4] * c4;
        const lane z[3] = {(c0 * y[0] + c3 * y[1] + c4 * y[2]) / det, (c3 * y[0] + c1 * y[1] + c5 * y[2]) / det,
                           (c4 * y[0] + c5 * y[1] + c2 * y[2]) / det};
        row_finish(kernel, group, w2, C, y, z, f);
        spread(kernel->g, vertex, data + DATA_WEIGHTS * LANES, f);
    }
}

/* C = sqrt(c^T K c / k), a length, alpha = 1/k */
KERNEL_INLINE lane length_of(const sinew_real *data, bool whole, constrained *c, lane *r, lane *weight)
{
    const lane tiny = lane_set(LANE_TINY), zero = lane_set(0), k = lane_load(data + DATA_K_MOST * LANES);
    lane apart[3] = {zero, zero, zero}, f[3], w[8];
    load_lanes(data + DATA_WEIGHTS * LANES, 8, w);
    for (int a = 0; a < 8; a++)
        for (int i = 0; i < 3; i++)
            apart[i] += w[a] * c->x[4 * a + i];
    pull(data + DATA_K * LANES, apart, f);
    for (int i = 0; i < 3; i++)
        f[i] /= lane_max(k, tiny);
    const lane twice = lane_max(apart[0] * f[0] + apart[1] * f[1] + apart[2] * f[2], zero), root = lane_sqrt(twice);
    for (int a = 0; a < 8; a++)
        for (int i = 0; i < 3; i++)
            c->gradient[3 * a + i] = w[a] * f[i];
    *weight = lane_load(data) * k;
    *r = whole ? lane_set(1) : lane_max(root, lane_set(LANE_ROOT_TINY));
    return whole ? twice / 2 : root;
}

static void weak_constrain(const sinew_constrain_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        single_constrain(kernel, group, DATA_COUNT, 8, length_of);
}

static void weak_jacobian(const sinew_jacobian_kernel *kernel)
{
    single_jacobian(kernel, DATA_COUNT, 8, length_of);
}

/* K = (A - f f^T / C^2) / C with A = K / k and f = A z, by z = sum w_a x_a; A alone where C is psi. */
static void weak_curvature(const sinew_jacobian_kernel *kernel)
{
    const lane zero = lane_set(0), tiny = lane_set(LANE_ROOT_TINY);
    const bool whole = kernel->form == SINEW_FORM_ENERGY;
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const lane k = lane_load(data + DATA_K_MOST * LANES), divisor = lane_max(k, lane_set(LANE_TINY));
        const lane lambda = curvature_factor(kernel, group, 0, 1, lane_load(data) * k);
        lane w[8], A[6], z[3], f[3];
        load_lanes(data + DATA_WEIGHTS * LANES, 8, w);
        load_lanes(data + DATA_K * LANES, 6, A);
        separation(kernel->x, group_vertex(&kernel->groups, group, 8), data + DATA_WEIGHTS * LANES, z);
        pull(data + DATA_K * LANES, z, f);
        const lane C = lane_sqrt(lane_max(dot3(z, f) / divisor, zero));
        const lane inverse = lane_select(lane_lt(tiny, C), 1 / lane_max(C, tiny), zero);
        for (int i = 0; i < 3; i++)
            f[i] *= inverse / divisor;
        for (int i = 0; i < 6; i++)
            A[i] *= (whole ? lambda : lambda * inverse) / divisor;
        block_add(A, zero, whole ? zero : -lambda * inverse, f);
        curvature_write(kernel, group, 8, w, A);
    }
}

/* A pair may name a vertex more than once: its weight is the sum, and its other places have none. */
static void weak_visit(const sinew_real *data, const int32_t *particles, int node, sinew_real *out, int32_t *others)
{
    double own = 0;
    for (int a = 0, k = 0; a < 8; a++) {
        const bool same = particles[a] == particles[node];
        own += same ? (double)data[DATA_WEIGHTS + a] : 0;
        if (a == node)
            continue;
        others[k] = particles[a];
        out[VISIT_OTHERS + k++] = same ? 0 : data[DATA_WEIGHTS + a];
    }
    out[0] = data[0];
    out[VISIT_OWN] = (sinew_real)own;
    memcpy(out + VISIT_K, data + DATA_K, 6 * sizeof *out);
}

/* f = w K C, w the node's own weight; returns w */
KERNEL_INLINE lane visit_pull(const visit *v, lane f[3])
{
    const lane own = lane_load(v->data + VISIT_OWN * LANES);
    lane C[3] = {own * v->x[0], own * v->x[1], own * v->x[2]};
    for (int a = 0; a < 7; a++) {
        const lane w = lane_load(v->data + (VISIT_OTHERS + a) * LANES);
        lane xa[3];
        lane_gather_point(v->q, v->others + a * LANES, xa);
        for (int i = 0; i < 3; i++)
            C[i] += w * xa[i];
    }
    pull(v->data + VISIT_K * LANES, C, f);
    for (int i = 0; i < 3; i++)
        f[i] *= own;
    return own;
}

/* PBNG (34) */
KERNEL_INLINE void weak_add(const visit *v, bool exact, visit_sum *sum)
{
    (void)exact;
    const lane scale = lane_load(v->data);
    lane f[3], K[6];
    const lane own = visit_pull(v, f), factor = scale * own * own;
    load_lanes(v->data + VISIT_K * LANES, 6, K);
    for (int i = 0; i < 3; i++)
        sum->g[i] += scale * f[i];
    for (int i = 0; i < 6; i++)
        sum->A[i] += factor * K[i];
}

KERNEL_INLINE lane weak_difference(const visit *v, const lane step[3], lane *noise)
{
    lane f[3], along[3];
    const lane own = visit_pull(v, f), linear = dot3(f, step);
    pull(v->data + VISIT_K * LANES, step, along);
    const lane square = lane_set((sinew_real)0.5) * own * own * dot3(along, step);
    *noise = 4 * LANE_EPSILON * (lane_abs(linear) + square);
    return linear + square;
}

static void weak_vertex(const sinew_vertex_kernel *kernel)
{
    visit_vertex(kernel, 7, VISIT_DATA_COUNT, weak_add);
}

static void weak_vertex_change(const sinew_vertex_kernel *kernel)
{
    visit_change(kernel, 7, VISIT_DATA_COUNT, weak_difference);
}

const sinew_energy_ops SINEW_LANE_SYMBOL(sinew_energy_weak) = {
    .info = {.name = "weak",
             .summary = "1/2 C^T K C, C the vector between two weighted points",
             .stencil = SINEW_STENCIL_PAIR,
             .vertex_count = 8,
             .parameters = parameters,
             .parameter_count = sizeof parameters / sizeof parameters[0],
             .capabilities = SINEW_CAN_CONSTRAINT | SINEW_CAN_PROJECT | SINEW_CAN_PROX | SINEW_CAN_VERTEX |
                             SINEW_CAN_REDUCE | SINEW_CAN_JACOBIAN},
    .data_count = DATA_COUNT,
    .tangent_count = TANGENT_COUNT,
    .target_slot = -1,
    .rigid_cost = SINEW_COSTS_ROTATION,
    .prepare = weak_prepare,
    .value = weak_value,
    .gradient = weak_gradient,
    .linearise = weak_linearise,
    .product = weak_product,
    .hessian = weak_hessian,
    .row_count = 1,
    .reduce = weak_reduce,
    .stiffness = weak_stiffness,
    .local_project = weak_local_project,
    .local_prox = weak_local_prox,
    .constraint_count = 1,
    .constrain = weak_constrain,
    .jacobian = weak_jacobian,
    .rooted = true,
    .curvature = weak_curvature,
    .other_count = 7,
    .visit_data_count = VISIT_DATA_COUNT,
    .visit = weak_visit,
    .vertex = weak_vertex,
    .vertex_change = weak_vertex_change,
    .vertex_bounds = SINEW_BOUND_CHEAP | SINEW_BOUND_EXACT,
};
