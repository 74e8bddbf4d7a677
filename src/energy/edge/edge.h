/* SPDX-License-Identifier: MIT
 *
 * edge.h: energies of the length of an edge: k/2 times the squared deviation from a target length.
 *
 *     psi = k/2 (l - p)^2,  l = |x1 - x0|,  d = x1 - x0,  n = d / l
 *     grad_1 = k (1 - p/l) d = -grad_0
 *     H_11 = k [n n^T + (1 - p/l) (1 - n n^T)] = -H_10 = H_00
 *
 * p is one length (springs) or, if `limited`, the length nearest to l between a minimum and a maximum, with neither
 * force nor stiffness between them. Data: k, the length or the minimum, and the maximum.
 *
 * The eigenvalues of H_11 are k (along n) and k (1 - p/l) (across, twice): H_11 of a compressed edge is indefinite, and
 * the projection sets the second eigenvalue to zero. At l = 0 the direction is undefined: the gradient is then zero,
 * and H uses a lower bound of l, EDGE_LENGTH_BOUND times p.
 *
 * `limited` and data_count are compile-time constants after inlining (kernel_loop.h), so limits cost springs nothing.
 */
#ifndef SINEW_SRC_ENERGY_EDGE_EDGE_H
#define SINEW_SRC_ENERGY_EDGE_EDGE_H

#include "energy/constrain.h"
#include "energy/curvature.h"
#include "energy/reduced_vector.h"
#include "energy/vertex_kernel.h"

/* EDGE_DATA: index of the rest length in data. Energies with other numbers before the rest length define EDGE_DATA
 * before they include this file. */
#ifndef EDGE_DATA
#define EDGE_DATA 1
#endif

enum {
    EDGE_LENGTH = EDGE_DATA, /* index in data of the rest length, or of the smallest length if the length has limits */
    EDGE_GREATEST = EDGE_DATA + 1,
    EDGE_TANGENT_COUNT = 6
}; /* the tangent of an edge is H_11, the 3x3 Hessian block of its second vertex, entries 00 11 22 01 02 12 */

#define EDGE_LENGTH_BOUND ((sinew_real)1e-6)
#define EDGE_ACROSS_FLOOR ((sinew_real)0.1)

/* Solver capabilities of the energies of one length: spring, edge_strain and fibre_strain. */
#define EDGE_CAPABILITIES                                                                                              \
    (SINEW_CAN_CONSTRAINT | SINEW_CAN_PROJECT | SINEW_CAN_PROX | SINEW_CAN_VERTEX | SINEW_CAN_REDUCE |                 \
     SINEW_CAN_JACOBIAN)

/* Computes the rest length of an edge, in m. Returns NULL, or a reason to refuse the edge. */
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

/* Target length p of an edge of length l: the rest length or, if `limited`, l clamped to its limits. */
KERNEL_INLINE wide edge_target(const sinew_real *data, bool limited, wide l)
{
    const wide min = wide_load(data + EDGE_LENGTH * SIMD_WIDTH);
    return limited ? wide_min(wide_max(l, min), wide_load(data + EDGE_GREATEST * SIMD_WIDTH)) : min;
}

/* Mask of edges whose length l lies strictly between their limits. A minimum length of zero is no limit. */
KERNEL_INLINE wide_mask edge_is_free(const sinew_real *data, wide l)
{
    const wide min = wide_load(data + EDGE_LENGTH * SIMD_WIDTH);
    return (wide_lt(min, l) | wide_le(min, wide_set(0))) & wide_lt(l, wide_load(data + EDGE_GREATEST * SIMD_WIDTH));
}

static const int edge_other_vertex[1] = {1}; /* index of the second vertex of an edge among the edge's two vertices */

/* d = x1 - x0, the edge vectors of a SIMD group */
KERNEL_INLINE void edge_gather(const sinew_real *x, const int32_t *vertex, wide d[3])
{
    wide_gather_edges(x, vertex, edge_other_vertex, 1, (wide(*)[3])d);
}

/* Computes the edge vectors d = x1 - x0 of a SIMD group and returns their lengths. */
KERNEL_INLINE wide edge_span(const sinew_real *x, const int32_t *vertex, wide d[3])
{
    edge_gather(x, vertex, d);
    return wide_sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

KERNEL_INLINE void edge_scatter(sinew_real *g, const int32_t *vertex, const wide f[3])
{
    wide_scatter_balanced(g, vertex, edge_other_vertex, 1, (const wide(*)[3])f);
}

/* ---- Energy, gradient and Hessian of edges ------------------------------------------------------- */

/* Returns the edge energy of all groups; with `scatter`, also adds its gradient to the vertices. */
KERNEL_INLINE double edge_evaluate(const sinew_kernel *kernel, int data_count, bool limited, bool scatter)
{
    const wide half = wide_set((sinew_real)0.5);
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 2);
        const wide k = wide_load(data);
        wide d[3];
        const wide l = edge_span(kernel->x, vertex, d), stretch = l - edge_target(data, limited, l);
        if (scatter) {
            const wide force_density = k * stretch / wide_max(l, wide_set(WIDE_ROOT_TINY));
            for (int i = 0; i < 3; i++)
                d[i] *= force_density;
            edge_scatter(kernel->g, vertex, d);
        }
        value_add(&sum, k, half * stretch * stretch);
    }
    return value_total(&sum);
}

/* H_11, the Hessian block of the second vertex of an edge d of length l, exact or projected. */
KERNEL_INLINE void edge_block(const sinew_real *data, bool limited, bool project, wide l, const wide d[3],
                              wide H[EDGE_TANGENT_COUNT])
{
    const wide zero = wide_set(0), one = wide_set(1), p = edge_target(data, limited, l),
               divisor = wide_max(l, wide_set(WIDE_ROOT_TINY)), n[3] = {d[0] / divisor, d[1] / divisor, d[2] / divisor};
    wide k = wide_load(data), across = 1 - p / wide_max(divisor, EDGE_LENGTH_BOUND * p);
    if (limited) /* between the limits an edge has no stiffness; at a limit it has the stiffness beyond the limit */
        k = wide_select(edge_is_free(data, l), zero, k);
    if (project)
        across = wide_max(across, zero);
    const wide along = k * (one - across);
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
        wide d[3], H[EDGE_TANGENT_COUNT];
        const wide l = edge_span(kernel->x, group_vertex(&kernel->groups, group, 2), d);
        edge_block(group_data(&kernel->groups, group, data_count), limited, kernel->project, l, d, H);
        store_wide_array(group_tangent(kernel, group, EDGE_TANGENT_COUNT), EDGE_TANGENT_COUNT, H);
    }
}

/* f = H d with a symmetric 3x3 matrix H stored as 00 11 22 01 02 12. */
KERNEL_INLINE void edge_apply(const wide H[EDGE_TANGENT_COUNT], const wide d[3], wide f[3])
{
    f[0] = H[0] * d[0] + H[3] * d[1] + H[4] * d[2];
    f[1] = H[3] * d[0] + H[1] * d[1] + H[5] * d[2];
    f[2] = H[4] * d[0] + H[5] * d[1] + H[2] * d[2];
}

static inline void edge_product(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const int32_t *vertex = group_vertex(&kernel->groups, group, 2);
        wide H[EDGE_TANGENT_COUNT], d[3], f[3];
        load_wide_array(group_tangent(kernel, group, EDGE_TANGENT_COUNT), EDGE_TANGENT_COUNT, H);
        edge_gather(kernel->p, vertex, d);
        edge_apply(H, d, f);
        edge_scatter(kernel->g, vertex, f);
    }
}

/* Index of each of the nine entries of a symmetric 3x3 block among its six stored numbers. */
static const int edge_entry[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};

static inline void edge_hessian(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        sinew_real *blocks = group_blocks(kernel, group, 3);
        wide H[EDGE_TANGENT_COUNT];
        load_wide_array(group_tangent(kernel, group, EDGE_TANGENT_COUNT), EDGE_TANGENT_COUNT, H);
        for (int i = 0; i < 9; i++) {
            wide_store(blocks + i * SIMD_WIDTH, H[edge_entry[i]]);
            wide_store(blocks + (9 + i) * SIMD_WIDTH, -H[edge_entry[i]]);
            wide_store(blocks + (18 + i) * SIMD_WIDTH, H[edge_entry[i]]);
        }
    }
}

static inline void edge_reduce(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        wide_store(kernel->D + (2 * (size_t)group) * SIMD_WIDTH, wide_set(-1));
        wide_store(kernel->D + (2 * (size_t)group + 1) * SIMD_WIDTH, wide_set(1));
    }
}

KERNEL_INLINE void edge_stiffness(const sinew_reduced_kernel *kernel, int data_count)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        wide_store(kernel->weights + group * SIMD_WIDTH, wide_load(group_data(&kernel->groups, group, data_count)));
}

/* PD's projection: g += k D^T (p n), where D x is the edge vector, p the target length and n the edge's direction. */
KERNEL_INLINE void edge_project(const sinew_reduced_kernel *kernel, int data_count, bool limited)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 2);
        wide d[3];
        const wide l = edge_span(kernel->x, vertex, d);
        const wide force_density =
            wide_load(data) * edge_target(data, limited, l) / wide_max(l, wide_set(WIDE_ROOT_TINY));
        for (int i = 0; i < 3; i++)
            d[i] *= force_density;
        edge_scatter(kernel->g, vertex, d);
    }
}

/* The proximal point of an edge is z = (k p + w2 |y|) / (k + w2) along y, where p is the target length for |y|: z is
 * on the same side of the limits as y. If y is zero, z points along the x axis. y = d + u with d = D x and the scaled
 * dual variable u; f receives the contribution to g. */
KERNEL_INLINE void edge_prox_at(const sinew_reduced_kernel *kernel, int32_t group, const sinew_real *data, bool limited,
                                const wide d[3], wide f[3])
{
    const wide k = wide_load(data), w2 = reduced_weight(kernel, group, k);
    wide y[3];
    reduced_shifted(kernel, group, d, y);
    const wide l = wide_sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]), L = edge_target(data, limited, l);
    const wide divisor = wide_max(k + w2, wide_set(WIDE_TINY));
    const wide scale = (k * L / wide_max(l, wide_set(WIDE_ROOT_TINY)) + w2) / divisor;
    const wide_mask nowhere = wide_le(l, wide_set(WIDE_ROOT_TINY));
    const wide z[3] = {wide_select(nowhere, k * L / divisor, scale * y[0]), scale * y[1], scale * y[2]};
    reduced_finish(kernel, group, w2, d, y, z, f);
}

KERNEL_INLINE void edge_prox(const sinew_reduced_kernel *kernel, int data_count, bool limited)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const int32_t *vertex = group_vertex(&kernel->groups, group, 2);
        wide d[3], f[3];
        edge_gather(kernel->x, vertex, d);
        edge_prox_at(kernel, group, group_data(&kernel->groups, group, data_count), limited, d, f);
        edge_scatter(kernel->g, vertex, f);
    }
}

/* ---- Edges as constraints, for PBD, XPBD and KKT systems ----------------------------------------- */

/* Target length of an edge constraint. With limits it depends on the multiplier: without its impulse the edge would
 * have length l - w lambda, w the sum of inverse masses. This length is the target if it lies between the limits, else
 * the violated limit is. The impulse of a limit is thus removed when the edge leaves the limit. Without compliance the
 * target does not depend on lambda. */
KERNEL_INLINE wide edge_constraint_target(const sinew_constrain_kernel *kernel, const sinew_real *data, bool limited,
                                          wide l, wide w, wide lambda)
{
    const wide memory = wide_set(kernel->compliance > 0 ? 1 : 0);
    return edge_target(data, limited, limited ? l - memory * w * lambda : l);
}

/* Points and steps of one group of edge constraints in the common case, with one square root and one division that do
 * not depend on each other:
 *
 *     dlambda / l = (-k C - c lambda) / (W l) = (l (k L - c lambda) - k l^2) / (W l^2),   W = (w0 + w1) k + c
 *
 * c is the factor of the compliance 1/k, and L the target length. */
typedef struct edge_group {
    wide a[4], b[4], step;
} edge_group;

KERNEL_INLINE void edge_plain_gather(const sinew_constrain_kernel *kernel, int32_t group, edge_group *p)
{
    const int32_t *vertex = group_vertex(&kernel->groups, group, 2);
    wide_gather_four(kernel->xw, vertex, p->a);
    wide_gather_four(kernel->xw, vertex + SIMD_WIDTH, p->b);
}

KERNEL_INLINE void edge_plain_step(const sinew_constrain_kernel *kernel, int32_t group, int data_count, bool limited,
                                   edge_group *p)
{
    const wide zero = wide_set(0), c = wide_set(kernel->compliance);
    const sinew_real *data = group_data(&kernel->groups, group, data_count);
    const wide k = wide_load(data);
    sinew_real *multiplier = group_lambda(kernel, group, 1);
    const wide lambda = wide_load(multiplier);
    const wide d[3] = {p->b[0] - p->a[0], p->b[1] - p->a[1], p->b[2] - p->a[2]};
    const wide squared = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], l = wide_sqrt(squared);
    const wide L = edge_constraint_target(kernel, data, limited, l, p->a[3] + p->b[3], lambda);
    const wide bottom = ((p->a[3] + p->b[3]) * k + c) * squared;
    const wide top = l * (k * L - c * lambda) - k * squared;
    p->step = top * wide_select(wide_lt(zero, bottom), kernel->stiffness / bottom, zero);
    wide_store(multiplier, lambda + p->step * l);
}

KERNEL_INLINE void edge_plain_move(const sinew_constrain_kernel *kernel, int32_t group, const edge_group *p)
{
    const int32_t *vertex = group_vertex(&kernel->groups, group, 2);
    const wide back = p->step * p->a[3], forth = p->step * p->b[3];
    wide a[4] = {p->a[0], p->a[1], p->a[2], p->a[3]}, b[4] = {p->b[0], p->b[1], p->b[2], p->b[3]};
    for (int i = 0; i < 3; i++) {
        const wide d = b[i] - a[i];
        a[i] -= back * d;
        b[i] += forth * d;
    }
    wide_store_four(kernel->xw, vertex, a);
    wide_store_four(kernel->xw, vertex + SIMD_WIDTH, b);
}

/* Projects consecutive groups of edge constraints that share no particle. While root and division of a group are
 * computed (long latency), the previous group is moved. */
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

/* Writes r times the gradient of the length to c, r the length or its lower bound near zero; returns the length. */
KERNEL_INLINE wide edge_length_of(constrained *c, wide *r)
{
    wide squared = wide_set(0);
    for (int i = 0; i < 3; i++) {
        const wide d = c->x[4 + i] - c->x[i];
        squared += d * d;
        c->gradient[3 + i] = d;
        c->gradient[i] = -d;
    }
    const wide l = wide_sqrt(squared);
    *r = wide_max(l, wide_set(WIDE_ROOT_TINY));
    return l;
}

/* Edge constraint C = stretch = l - p; with `as_energy` C = stretch^2 / 2, whose gradient is stretch times that of
 * l. */
KERNEL_INLINE wide edge_constraint(bool as_energy, int count, wide stretch, constrained *c)
{
    if (!as_energy)
        return stretch;
    for (int i = 0; i < count; i++)
        c->gradient[i] *= stretch;
    return (sinew_real)0.5 * stretch * stretch;
}

/* Projects one group of edge constraints, also with damping, averaging weights, separate displacements dx or the form
 * SINEW_FORM_ENERGY. */
KERNEL_INLINE void edge_constrain_any(const sinew_constrain_kernel *kernel, int data_count, bool limited, int32_t group)
{
    const sinew_real *data = group_data(&kernel->groups, group, data_count);
    const int32_t *vertex = group_vertex(&kernel->groups, group, 2);
    sinew_real *lambda = group_lambda(kernel, group, 1);
    constrained c;
    wide r;
    constrain_gather(kernel->xw, vertex, 2, &c);
    const wide l = edge_length_of(&c, &r);
    const wide p = edge_constraint_target(kernel, data, limited, l, c.x[3] + c.x[7], wide_load(lambda));
    const wide C = edge_constraint(kernel->form == SINEW_FORM_ENERGY, 6, l - p, &c);
    constrain_apply(kernel, group, vertex, 2, C, r, wide_load(data), false, lambda, &c);
}

/* Projects a group of edge constraints with options beyond the common case. A separate function, because inlining it
 * would take registers from the common case. */
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

/* *p = the nearer limit of the length of a hard edge; a lower limit of zero is no limit. Returns s such that the
 * constraint is s (l - p) >= 0; 0 if both limits are equal, so that the constraint is l = p. */
KERNEL_INLINE wide edge_side(const sinew_real *data, wide l, wide *p)
{
    const wide zero = wide_set(0), one = wide_set(1), min = wide_load(data + EDGE_LENGTH * SIMD_WIDTH);
    const wide greatest = wide_load(data + EDGE_GREATEST * SIMD_WIDTH);
    const wide middle = wide_select(wide_lt(zero, min), (sinew_real)0.5 * min + (sinew_real)0.5 * greatest, zero);
    const wide_mask upper = wide_le(middle, l);
    *p = wide_select(upper, greatest, min);
    return wide_select(wide_lt(min, greatest), wide_select(upper, -one, one), zero);
}

/* Writes the edge constraint as an inequality C >= 0 of the nearer length limit. */
KERNEL_INLINE void edge_jacobian_one_sided(const sinew_jacobian_kernel *kernel, int32_t group, int n,
                                           const sinew_real *data, wide l, wide r, constrained *c)
{
    wide p;
    const wide side = edge_side(data, l, &p), sign = wide_select(wide_lt(side, wide_set(0)), -wide_set(1), wide_set(1));
    for (int i = 0; i < 3 * n; i++)
        c->gradient[i] *= sign;
    jacobian_write(kernel, group, 0, 1, n, sign * (l - p), r, wide_load(data), false, c);
    wide_store(kernel->one_sided + (size_t)group * SIMD_WIDTH, side);
}

/* Writes the edge constraint C, its gradient and the compliance 1/k for n vertices; c holds r times the gradient of l.
 * Between the limits C and its gradient are zero, unless the caller passes an array one_sided. */
KERNEL_INLINE void edge_jacobian_at(const sinew_jacobian_kernel *kernel, int32_t group, int n, const sinew_real *data,
                                    bool limited, wide l, wide r, constrained *c)
{
    if (limited && kernel->one_sided) {
        edge_jacobian_one_sided(kernel, group, n, data, l, r, c);
        return;
    }
    const wide C = edge_constraint(kernel->form == SINEW_FORM_ENERGY, 3 * n, l - edge_target(data, limited, l), c);
    for (int i = 0; limited && i < 3 * n; i++)
        c->gradient[i] = wide_select(edge_is_free(data, l), wide_set(0), c->gradient[i]);
    jacobian_write(kernel, group, 0, 1, n, C, r, wide_load(data), false, c);
}

KERNEL_INLINE void edge_jacobian(const sinew_jacobian_kernel *kernel, int data_count, bool limited)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        constrained c;
        wide r;
        constrain_gather(kernel->x, group_vertex(&kernel->groups, group, 2), 2, &c);
        const wide l = edge_length_of(&c, &r);
        edge_jacobian_at(kernel, group, 2, group_data(&kernel->groups, group, data_count), limited, l, r, &c);
    }
}

/* Writes the second derivatives of the edge constraint C = l - p, where l is the length of z = sum_a c_a x_a over n
 * vertices. */
KERNEL_INLINE void edge_curvature_at(const sinew_jacobian_kernel *kernel, int32_t group, int n, const sinew_real *data,
                                     bool limited, wide l, const wide z[3], const wide *c)
{
    wide lambda = curvature_factor(kernel, group, 0, 1, wide_load(data)), p = edge_target(data, limited, l);
    if (limited && kernel->one_sided)
        lambda = wide_select(wide_lt(edge_side(data, l, &p), wide_set(0)), -lambda, lambda);
    else if (limited)
        lambda = wide_select(edge_is_free(data, l), wide_set(0), lambda);
    curvature_of_length(kernel, group, n, lambda, p, z, c);
}

KERNEL_INLINE void edge_curvature(const sinew_jacobian_kernel *kernel, int data_count, bool limited)
{
    const wide ends[2] = {wide_set(-1), wide_set(1)};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        wide d[3];
        const wide l = edge_span(kernel->x, group_vertex(&kernel->groups, group, 2), d);
        edge_curvature_at(kernel, group, 2, group_data(&kernel->groups, group, data_count), limited, l, d, ends);
    }
}

/* ---- Vertex-edge incidences, for vertex kernels -------------------------------------------------- */

KERNEL_INLINE void edge_incidence(const sinew_real *data, int data_count, const int32_t *particles, int node,
                                  sinew_real *out, int32_t *others)
{
    memcpy(out, data, (size_t)data_count * sizeof *out);
    others[0] = particles[1 - node];
}

/* Edge vectors d = x1 - x0, x0 being the node of this vertex-edge incidence; returns their lengths. */
KERNEL_INLINE wide edge_incidence_span(const incidence *v, wide d[3])
{
    wide_gather_point(v->q, v->others, d);
    for (int i = 0; i < 3; i++)
        d[i] -= v->x[i];
    return wide_sqrt(dot3(d, d));
}

/* Adds gradient and block of one edge by the node, in each SIMD lane. The approximate block is k 1. psi is the minimum
 * of k/2 |d - p|^2 over all vectors p of an allowed length, so this block is an upper bound, and definite also under
 * compression. The exact block has at least the stiffness EDGE_ACROSS_FLOOR k across the edge and, between limits, in
 * all directions. */
KERNEL_INLINE void edge_add(const incidence *v, bool limited, bool exact, incidence_sum *sum)
{
    const wide k = wide_load(v->data);
    wide d[3];
    const wide l = wide_max(edge_incidence_span(v, d), wide_set(WIDE_ROOT_TINY)), p = edge_target(v->data, limited, l);
    const wide force_density = k * (l - p) / l;
    for (int i = 0; i < 3; i++)
        sum->g[i] -= force_density * d[i];
    if (!exact) {
        block_add(sum->A, k, wide_set(0), d);
        return;
    }
    const wide across = wide_max(1 - p / l, wide_set(EDGE_ACROSS_FLOOR));
    wide along = k * (1 - across) / (l * l);
    if (limited)
        along = wide_select(edge_is_free(v->data, l), wide_set(0), along);
    block_add(sum->A, k * across, along, d);
}

/* Change of psi per unit of weight when the length changes from `before` to `after`; `squares` is the difference of
 * their squares. l' - l = (l'^2 - l^2) / (l' + l) avoids cancellation for a small step. */
KERNEL_INLINE wide edge_change(const sinew_real *data, bool limited, wide before, wide after, wide squares, wide *noise)
{
    const wide half = wide_set((sinew_real)0.5), p = edge_target(data, limited, before);
    const wide sum = before + after, longer = squares / wide_max(sum, wide_set(WIDE_ROOT_TINY));
    if (!limited) {
        *noise = 8 * WIDE_EPSILON * wide_abs(longer) * (sum + p);
        return half * longer * (sum - 2 * p);
    }
    const wide moved = edge_target(data, limited, after);
    *noise = 8 * WIDE_EPSILON * wide_abs(longer) * (sum + p + moved);
    return half * (longer - (moved - p)) * (sum - (p + moved));
}

KERNEL_INLINE wide edge_difference(const incidence *v, bool limited, const wide step[3], wide *noise)
{
    wide d[3];
    const wide before = edge_incidence_span(v, d), squares = dot3(step, step) - 2 * dot3(step, d);
    const wide after = wide_sqrt(wide_max(before * before + squares, wide_set(0)));
    return edge_change(v->data, limited, before, after, squares, noise);
}

#endif
