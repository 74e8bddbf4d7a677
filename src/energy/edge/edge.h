/* SPDX-License-Identifier: MIT
 *
 * edge.h: energies that depend on the length of an edge alone, k/2 times the square of its distance from where it wants
 * to be.
 *
 *     psi = k/2 (l - p)^2,  l = |x1 - x0|,  d = x1 - x0,  n = d / l
 *     grad_1 = k (1 - p/l) d = -grad_0
 *     H_11 = k [n n^T + (1 - p/l) (1 - n n^T)] = -H_10 = H_00
 *
 * p is one length (springs), or, `limited`, the length nearest to l between a least and a greatest one: then there is
 * neither force nor stiffness between the two. Data: k, the length or the least one, and the greatest.
 *
 * Eigenvalues of H_11 are k (along n) and k (1 - p/l) (across, twice): a compressed edge is indefinite, and the
 * projection sets the second to zero. At l = 0 the direction is undefined: the gradient there is zero, and in H l
 * counts as no less than EDGE_LENGTH_BOUND of p.
 *
 * `limited` and data_count are known where these functions are inlined (kernel_loop.h), so that a spring pays for no limits.
 */
#ifndef SINEW_SRC_ENERGY_EDGE_EDGE_H
#define SINEW_SRC_ENERGY_EDGE_EDGE_H

#include "energy/constrain.h"
#include "energy/curvature.h"
#include "energy/reduced_rows.h"
#include "energy/vertex_kernel.h"

/* Place of the length among the data. An energy whose data begin with other numbers defines it before. */
#ifndef EDGE_DATA
#define EDGE_DATA 1
#endif

enum {
    EDGE_LENGTH = EDGE_DATA, /* the one length, or the least */
    EDGE_GREATEST = EDGE_DATA + 1,
    EDGE_TANGENT_COUNT = 6
}; /* tangent: H_11 as 00 11 22 01 02 12 */

#define EDGE_LENGTH_BOUND ((sinew_real)1e-6)
#define EDGE_ACROSS_FLOOR ((sinew_real)0.1)

/* Capabilities of such an energy. */
#define EDGE_CAPABILITIES                                                                                              \
    (SINEW_CAN_CONSTRAINT | SINEW_CAN_PROJECT | SINEW_CAN_PROX | SINEW_CAN_VERTEX | SINEW_CAN_REDUCE |                 \
     SINEW_CAN_JACOBIAN)

/* Length of an edge at rest, or a reason to refuse it. */
static inline const char *edge_rest_length(const sinew_element *element, double *length)
{
    *length = 0;
    for (int i = 0; i < 3; i++) {
        const double d = (double)element->rest[3 + i] - (double)element->rest[i];
        *length += d * d;
    }
    *length = sqrt(*length);
    return isfinite(*length) ? NULL : "its rest length is not finite";
}

/* p of an edge of length l. */
KERNEL_INLINE lane edge_target(const sinew_real *data, bool limited, lane l)
{
    const lane least = lane_load(data + EDGE_LENGTH * LANES);
    return limited ? lane_min(lane_max(l, least), lane_load(data + EDGE_GREATEST * LANES)) : least;
}

/* Where a limited edge is strictly between its limits. A least length of zero is none: no length is below it. */
KERNEL_INLINE lane_mask edge_is_free(const sinew_real *data, lane l)
{
    const lane least = lane_load(data + EDGE_LENGTH * LANES);
    return (lane_lt(least, l) | lane_le(least, lane_set(0))) & lane_lt(l, lane_load(data + EDGE_GREATEST * LANES));
}

static const int edge_other_row[1] = {1}; /* where the edge ends, among a group's rows of vertices */

/* d = x1 - x0 */
KERNEL_INLINE void edge_gather(const sinew_real *x, const int32_t *vertex, lane d[3])
{
    lane_gather_edges(x, vertex, edge_other_row, 1, (lane(*)[3])d);
}

/* The same; returns its length. */
KERNEL_INLINE lane edge_span(const sinew_real *x, const int32_t *vertex, lane d[3])
{
    edge_gather(x, vertex, d);
    return lane_sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

KERNEL_INLINE void edge_scatter(sinew_real *g, const int32_t *vertex, const lane f[3])
{
    lane_scatter_balanced(g, vertex, edge_other_row, 1, (const lane(*)[3])f);
}

/* ---- Evaluating ------------------------------------------------------------------------------ */

/* Value, and where it is wanted gradient. */
KERNEL_INLINE double edge_evaluate(const sinew_kernel *kernel, int data_count, bool limited, bool scatter)
{
    const lane half = lane_set((sinew_real)0.5);
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 2);
        const lane k = lane_load(data);
        lane d[3];
        const lane l = edge_span(kernel->x, vertex, d), stretch = l - edge_target(data, limited, l);
        if (scatter) {
            const lane pull = k * stretch / lane_max(l, lane_set(LANE_ROOT_TINY));
            for (int i = 0; i < 3; i++)
                d[i] *= pull;
            edge_scatter(kernel->g, vertex, d);
        }
        value_add(&sum, k, half * stretch * stretch);
    }
    return value_total(&sum);
}

/* H_11 of an edge d of length l: second derivatives, exact or projected. */
KERNEL_INLINE void edge_block(const sinew_real *data, bool limited, bool project, lane l, const lane d[3],
                              lane H[EDGE_TANGENT_COUNT])
{
    const lane zero = lane_set(0), one = lane_set(1), p = edge_target(data, limited, l),
               divisor = lane_max(l, lane_set(LANE_ROOT_TINY)), n[3] = {d[0] / divisor, d[1] / divisor, d[2] / divisor};
    lane k = lane_load(data), across = 1 - p / lane_max(divisor, EDGE_LENGTH_BOUND * p);
    if (limited) /* between the limits an edge has no stiffness; at them it has that of beyond */
        k = lane_select(edge_is_free(data, l), zero, k);
    if (project)
        across = lane_max(across, zero);
    const lane along = k * (one - across);
    H[0] = k * across + along * n[0] * n[0];
    H[1] = k * across + along * n[1] * n[1];
    H[2] = k * across + along * n[2] * n[2];
    H[3] = along * n[0] * n[1];
    H[4] = along * n[0] * n[2];
    H[5] = along * n[1] * n[2];
}

KERNEL_INLINE void edge_linearise(const sinew_kernel *kernel, int data_count, bool limited)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        lane d[3], H[EDGE_TANGENT_COUNT];
        const lane l = edge_span(kernel->x, group_vertex(&kernel->groups, group, 2), d);
        edge_block(group_data(&kernel->groups, group, data_count), limited, kernel->project, l, d, H);
        store_lanes(group_tangent(kernel, group, EDGE_TANGENT_COUNT), EDGE_TANGENT_COUNT, H);
    }
}

/* f = H d of a symmetric block. */
KERNEL_INLINE void edge_apply(const lane H[EDGE_TANGENT_COUNT], const lane d[3], lane f[3])
{
    f[0] = H[0] * d[0] + H[3] * d[1] + H[4] * d[2];
    f[1] = H[3] * d[0] + H[1] * d[1] + H[5] * d[2];
    f[2] = H[4] * d[0] + H[5] * d[1] + H[2] * d[2];
}

static inline void edge_product(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const int32_t *vertex = group_vertex(&kernel->groups, group, 2);
        lane H[EDGE_TANGENT_COUNT], d[3], f[3];
        load_lanes(group_tangent(kernel, group, EDGE_TANGENT_COUNT), EDGE_TANGENT_COUNT, H);
        edge_gather(kernel->p, vertex, d);
        edge_apply(H, d, f);
        edge_scatter(kernel->g, vertex, f);
    }
}

/* Where the nine entries of a symmetric block are among its six numbers. */
static const int edge_entry[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};

static inline void edge_hessian(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        sinew_real *blocks = group_blocks(kernel, group, 3);
        lane H[EDGE_TANGENT_COUNT];
        load_lanes(group_tangent(kernel, group, EDGE_TANGENT_COUNT), EDGE_TANGENT_COUNT, H);
        for (int i = 0; i < 9; i++) {
            lane_store(blocks + i * LANES, H[edge_entry[i]]);
            lane_store(blocks + (9 + i) * LANES, -H[edge_entry[i]]);
            lane_store(blocks + (18 + i) * LANES, H[edge_entry[i]]);
        }
    }
}

static inline void edge_reduce(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        lane_store(kernel->rows + (2 * (size_t)group) * LANES, lane_set(-1));
        lane_store(kernel->rows + (2 * (size_t)group + 1) * LANES, lane_set(1));
    }
}

KERNEL_INLINE void edge_stiffness(const sinew_reduced_kernel *kernel, int data_count)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        lane_store(kernel->weights + group * LANES, lane_load(group_data(&kernel->groups, group, data_count)));
}

/* g += k D^T p n */
KERNEL_INLINE void edge_project(const sinew_reduced_kernel *kernel, int data_count, bool limited)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 2);
        lane d[3];
        const lane l = edge_span(kernel->x, vertex, d);
        const lane pull = lane_load(data) * edge_target(data, limited, l) / lane_max(l, lane_set(LANE_ROOT_TINY));
        for (int i = 0; i < 3; i++)
            d[i] *= pull;
        edge_scatter(kernel->g, vertex, d);
    }
}

/* z = (k p + w2 |y|) / (k + w2) along y, p that of |y|: z is on the same side of the limits as y. Along x where y has
 * no direction. d = D x; leaves in f what goes to g. */
KERNEL_INLINE void edge_prox_at(const sinew_reduced_kernel *kernel, int32_t group, const sinew_real *data, bool limited,
                                const lane d[3], lane f[3])
{
    const lane k = lane_load(data), w2 = row_weight(kernel, group, k);
    lane y[3];
    row_shifted(kernel, group, d, y);
    const lane l = lane_sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]), L = edge_target(data, limited, l);
    const lane divisor = lane_max(k + w2, lane_set(LANE_TINY));
    const lane scale = (k * L / lane_max(l, lane_set(LANE_ROOT_TINY)) + w2) / divisor;
    const lane_mask nowhere = lane_le(l, lane_set(LANE_ROOT_TINY));
    const lane z[3] = {lane_select(nowhere, k * L / divisor, scale * y[0]), scale * y[1], scale * y[2]};
    row_finish(kernel, group, w2, d, y, z, f);
}

KERNEL_INLINE void edge_prox(const sinew_reduced_kernel *kernel, int data_count, bool limited)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const int32_t *vertex = group_vertex(&kernel->groups, group, 2);
        lane d[3], f[3];
        edge_gather(kernel->x, vertex, d);
        edge_prox_at(kernel, group, group_data(&kernel->groups, group, data_count), limited, d, f);
        edge_scatter(kernel->g, vertex, f);
    }
}

/* ---- Constraints ----------------------------------------------------------------------------- */

/* The length that a constraint pulls towards. With limits it follows from the multiplier: after an update that made the
 * multiplier zero the length would be l - w lambda, w the sum of inverse masses; where that is between the limits the
 * update is to be this one, else the multiplier pulls towards the limit that is passed. So what a limit pushed with is
 * given back when the edge leaves it. A hard constraint has no memory: it goes to the nearer limit. */
KERNEL_INLINE lane edge_constraint_target(const sinew_constrain_kernel *kernel, const sinew_real *data, bool limited,
                                          lane l, lane w, lane lambda)
{
    const lane memory = lane_set(kernel->compliance > 0 ? 1 : 0);
    return edge_target(data, limited, limited ? l - memory * w * lambda : l);
}

/* The common case with one square root and one division, neither of which waits for the other:
 *
 *     dlambda / l = (-k C - c lambda) / (W l) = (l (k L - c lambda) - k l^2) / (W l^2),   W = (w0 + w1) k + c
 *
 * c the factor of the compliance. */
typedef struct edge_group {
    lane a[4], b[4], step;
} edge_group;

KERNEL_INLINE void edge_plain_gather(const sinew_constrain_kernel *kernel, int32_t group, edge_group *p)
{
    const int32_t *vertex = group_vertex(&kernel->groups, group, 2);
    lane_gather_four(kernel->xw, vertex, p->a);
    lane_gather_four(kernel->xw, vertex + LANES, p->b);
}

KERNEL_INLINE void edge_plain_step(const sinew_constrain_kernel *kernel, int32_t group, int data_count, bool limited,
                                   edge_group *p)
{
    const lane zero = lane_set(0), c = lane_set(kernel->compliance);
    const sinew_real *data = group_data(&kernel->groups, group, data_count);
    const lane k = lane_load(data);
    sinew_real *multiplier = group_lambda(kernel, group, 1);
    const lane lambda = lane_load(multiplier);
    const lane d[3] = {p->b[0] - p->a[0], p->b[1] - p->a[1], p->b[2] - p->a[2]};
    const lane squared = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], l = lane_sqrt(squared);
    const lane L = edge_constraint_target(kernel, data, limited, l, p->a[3] + p->b[3], lambda);
    const lane bottom = ((p->a[3] + p->b[3]) * k + c) * squared;
    const lane top = l * (k * L - c * lambda) - k * squared;
    p->step = top * lane_select(lane_lt(zero, bottom), kernel->stiffness / bottom, zero);
    lane_store(multiplier, lambda + p->step * l);
}

KERNEL_INLINE void edge_plain_move(const sinew_constrain_kernel *kernel, int32_t group, const edge_group *p)
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
KERNEL_INLINE void edge_constrain_plain(const sinew_constrain_kernel *kernel, int data_count, bool limited,
                                        int32_t first, int32_t count)
{
    edge_group now, next;
    edge_plain_gather(kernel, first, &now);
    edge_plain_step(kernel, first, data_count, limited, &now);
    for (int32_t group = first + 1; group < first + count; group++) {
        edge_plain_gather(kernel, group, &next);
        edge_plain_move(kernel, group - 1, &now);
        edge_plain_step(kernel, group, data_count, limited, &next);
        now = next;
    }
    edge_plain_move(kernel, first + count - 1, &now);
}

/* r times the gradient of the length in c, r the length or what stands for it near zero; returns the length. */
KERNEL_INLINE lane edge_length_of(constrained *c, lane *r)
{
    lane squared = lane_set(0);
    for (int i = 0; i < 3; i++) {
        const lane d = c->x[4 + i] - c->x[i];
        squared += d * d;
        c->gradient[3 + i] = d;
        c->gradient[i] = -d;
    }
    const lane l = lane_sqrt(squared);
    *r = lane_max(l, lane_set(LANE_ROOT_TINY));
    return l;
}

/* C = l - p, or with `whole` C = (l - p)^2 / 2, whose gradient, of so many numbers, has another factor. */
KERNEL_INLINE lane edge_constraint(bool whole, int count, lane stretch, constrained *c)
{
    if (!whole)
        return stretch;
    for (int i = 0; i < count; i++)
        c->gradient[i] *= stretch;
    return (sinew_real)0.5 * stretch * stretch;
}

/* One group with everything that a sweep may ask for. */
KERNEL_INLINE void edge_constrain_any(const sinew_constrain_kernel *kernel, int data_count, bool limited, int32_t group)
{
    const sinew_real *data = group_data(&kernel->groups, group, data_count);
    const int32_t *vertex = group_vertex(&kernel->groups, group, 2);
    sinew_real *lambda = group_lambda(kernel, group, 1);
    constrained c;
    lane r;
    constrain_gather(kernel->xw, vertex, 2, &c);
    const lane l = edge_length_of(&c, &r);
    const lane p = edge_constraint_target(kernel, data, limited, l, c.x[3] + c.x[7], lane_load(lambda));
    const lane C = edge_constraint(kernel->form == SINEW_FORM_ENERGY, 6, l - p, &c);
    constrain_apply(kernel, group, vertex, 2, C, r, lane_load(data), false, lambda, &c);
}

/* A group whose constraint is anything but the common case. A call of its own: inlined, it would take the registers of
 * that. */
typedef void edge_constrain_group(const sinew_constrain_kernel *kernel, int32_t group);

KERNEL_INLINE void edge_constrain(const sinew_constrain_kernel *kernel, int data_count, bool limited,
                                  edge_constrain_group *any)
{
    const bool plain = !kernel->dx && !kernel->x_old && kernel->form != SINEW_FORM_ENERGY;
    const int32_t together = kernel->apart ? kernel->groups.count : 1;
    for (int32_t group = 0; group < kernel->groups.count; group += plain ? together : 1)
        if (plain)
            edge_constrain_plain(kernel, data_count, limited, group, together);
        else
            any(kernel, group);
}

/* The nearer limit p of a hard edge, of which the greatest is the only one where the least is zero. Returns the sign
 * with which sign (l - p) >= 0 is wanted: 0 where both limits are one length, and l = p. */
KERNEL_INLINE lane edge_side(const sinew_real *data, lane l, lane *p)
{
    const lane zero = lane_set(0), one = lane_set(1), least = lane_load(data + EDGE_LENGTH * LANES);
    const lane greatest = lane_load(data + EDGE_GREATEST * LANES);
    const lane middle = lane_select(lane_lt(zero, least), (sinew_real)0.5 * least + (sinew_real)0.5 * greatest, zero);
    const lane_mask upper = lane_le(middle, l);
    *p = lane_select(upper, greatest, least);
    return lane_select(lane_lt(least, greatest), lane_select(upper, -one, one), zero);
}

/* The same as a row C >= 0 of its nearer limit. */
KERNEL_INLINE void edge_jacobian_one_sided(const sinew_jacobian_kernel *kernel, int32_t group, int n,
                                           const sinew_real *data, lane l, lane r, constrained *c)
{
    lane p;
    const lane side = edge_side(data, l, &p), sign = lane_select(lane_lt(side, lane_set(0)), -lane_set(1), lane_set(1));
    for (int i = 0; i < 3 * n; i++)
        c->gradient[i] *= sign;
    jacobian_write(kernel, group, 0, 1, n, sign * (l - p), r, lane_load(data), false, c);
    lane_store(kernel->one_sided + (size_t)group * LANES, side);
}

/* C, its gradient and the compliance 1/k as numbers, of n vertices, r times the gradient of l in c. Between the limits
 * C is zero and so is its gradient, unless the caller asks which side it is on. */
KERNEL_INLINE void edge_jacobian_at(const sinew_jacobian_kernel *kernel, int32_t group, int n, const sinew_real *data,
                                    bool limited, lane l, lane r, constrained *c)
{
    if (limited && kernel->one_sided) {
        edge_jacobian_one_sided(kernel, group, n, data, l, r, c);
        return;
    }
    const lane C = edge_constraint(kernel->form == SINEW_FORM_ENERGY, 3 * n, l - edge_target(data, limited, l), c);
    for (int i = 0; limited && i < 3 * n; i++)
        c->gradient[i] = lane_select(edge_is_free(data, l), lane_set(0), c->gradient[i]);
    jacobian_write(kernel, group, 0, 1, n, C, r, lane_load(data), false, c);
}

KERNEL_INLINE void edge_jacobian(const sinew_jacobian_kernel *kernel, int data_count, bool limited)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        constrained c;
        lane r;
        constrain_gather(kernel->x, group_vertex(&kernel->groups, group, 2), 2, &c);
        const lane l = edge_length_of(&c, &r);
        edge_jacobian_at(kernel, group, 2, group_data(&kernel->groups, group, data_count), limited, l, r, &c);
    }
}

/* Its second derivatives, z of length l the span of n vertices with the coefficients c. */
KERNEL_INLINE void edge_curvature_at(const sinew_jacobian_kernel *kernel, int32_t group, int n, const sinew_real *data,
                                     bool limited, lane l, const lane z[3], const lane *c)
{
    lane lambda = curvature_factor(kernel, group, 0, 1, lane_load(data)), p = edge_target(data, limited, l);
    if (limited && kernel->one_sided)
        lambda = lane_select(lane_lt(edge_side(data, l, &p), lane_set(0)), -lambda, lambda);
    else if (limited)
        lambda = lane_select(edge_is_free(data, l), lane_set(0), lambda);
    curvature_of_length(kernel, group, n, lambda, p, z, c);
}

KERNEL_INLINE void edge_curvature(const sinew_jacobian_kernel *kernel, int data_count, bool limited)
{
    const lane ends[2] = {lane_set(-1), lane_set(1)};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        lane d[3];
        const lane l = edge_span(kernel->x, group_vertex(&kernel->groups, group, 2), d);
        edge_curvature_at(kernel, group, 2, group_data(&kernel->groups, group, data_count), limited, l, d, ends);
    }
}

/* ---- Visits ---------------------------------------------------------------------------------- */

KERNEL_INLINE void edge_visit(const sinew_real *data, int data_count, const int32_t *particles, int node,
                              sinew_real *out, int32_t *others)
{
    memcpy(out, data, (size_t)data_count * sizeof *out);
    others[0] = particles[1 - node];
}

/* d = x1 - x0, x0 the visiting node; returns its length */
KERNEL_INLINE lane edge_visit_span(const visit *v, lane d[3])
{
    lane_gather_point(v->q, v->others, d);
    for (int i = 0; i < 3; i++)
        d[i] -= v->x[i];
    return lane_sqrt(dot3(d, d));
}

/* The cheap block is k 1: psi is the least of the k/2 |d - p|^2 over all p of a length that is wanted, so it is a
 * bound, and definite also under compression. The exact one has no less than EDGE_ACROSS_FLOOR of k across the edge,
 * and between limits that much in all directions. */
KERNEL_INLINE void edge_add(const visit *v, bool limited, bool exact, visit_sum *sum)
{
    const lane k = lane_load(v->data);
    lane d[3];
    const lane l = lane_max(edge_visit_span(v, d), lane_set(LANE_ROOT_TINY)), p = edge_target(v->data, limited, l);
    const lane pull = k * (l - p) / l;
    for (int i = 0; i < 3; i++)
        sum->g[i] -= pull * d[i];
    if (!exact) {
        block_add(sum->A, k, lane_set(0), d);
        return;
    }
    const lane across = lane_max(1 - p / l, lane_set(EDGE_ACROSS_FLOOR));
    lane along = k * (1 - across) / (l * l);
    if (limited)
        along = lane_select(edge_is_free(v->data, l), lane_set(0), along);
    block_add(sum->A, k * across, along, d);
}

/* psi per unit of weight at the length `after` less that at `before`, whose squares differ by `squares`:
 * l' - l = (l'^2 - l^2) / (l' + l), nothing cancels for a small step. */
KERNEL_INLINE lane edge_change(const sinew_real *data, bool limited, lane before, lane after, lane squares, lane *noise)
{
    const lane half = lane_set((sinew_real)0.5), p = edge_target(data, limited, before);
    const lane sum = before + after, longer = squares / lane_max(sum, lane_set(LANE_ROOT_TINY));
    if (!limited) {
        *noise = 8 * LANE_EPSILON * lane_abs(longer) * (sum + p);
        return half * longer * (sum - 2 * p);
    }
    const lane moved = edge_target(data, limited, after);
    *noise = 8 * LANE_EPSILON * lane_abs(longer) * (sum + p + moved);
    return half * (longer - (moved - p)) * (sum - (p + moved));
}

KERNEL_INLINE lane edge_difference(const visit *v, bool limited, const lane step[3], lane *noise)
{
    lane d[3];
    const lane before = edge_visit_span(v, d), squares = dot3(step, step) - 2 * dot3(step, d);
    const lane after = lane_sqrt(lane_max(before * before + squares, lane_set(0)));
    return edge_change(v->data, limited, before, after, squares, noise);
}

#endif
