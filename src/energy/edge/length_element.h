/* SPDX-License-Identifier: MIT
 *
 * length_element.h: every slot of an energy that wants one combination of an element's vertices to have a given length,
 * or one between two limits:
 *
 *     z = sum_a c_a x_a,   sum_a c_a = 0        psi = k/2 (|z| - L)^2
 *     grad_a = c_a f,  f = k (1 - L/|z|) z      H_ab = c_a c_b K,  K = k [u u^T + (1 - L/|z|) (1 - u u^T)],  u = z/|z|
 *
 * with L the number nearest to |z| between a least and a greatest one, which are the same unless limits are wanted.
 *
 * The bending vectors of surfaces are such: zero where the rest shape is flat (then psi is quadratic and K = k 1), and
 * of the length of a curvature where it is not. psi is the squared distance of z to the sphere of radius L, so that PD
 * projects by normalising, PD (28). K has the eigenvalues k and, twice, k (1 - L/|z|): negative ones are set to zero.
 * Between the limits there is neither force nor stiffness: strain limiting, applied to bending (PD 5.4). z is then a
 * limited edge (edge.h), of whose functions this takes what does not depend on the number of vertices.
 *
 * data: k, the least and the greatest L, then a coefficient for each vertex; places that an element does not use have
 * coefficient zero. A template, which an energy's file includes once, below its VERTEX_COUNT; it writes `prepare` and
 * its table takes the rest from ROW_OPS.
 */
#ifndef SINEW_SRC_ENERGY_EDGE_LENGTH_ELEMENT_H
#define SINEW_SRC_ENERGY_EDGE_LENGTH_ELEMENT_H

#include "energy/edge/edge.h"

enum {
    ROW_LEAST = EDGE_LENGTH,
    ROW_GREATEST = EDGE_GREATEST,
    ROW_FIRST, /* coefficients begin here */
    ROW_DATA_COUNT = ROW_FIRST + VERTEX_COUNT,
    ROW_VISIT_OWN = ROW_FIRST,
    ROW_VISIT_OTHERS,
    ROW_VISIT_COUNT = ROW_VISIT_OTHERS + VERTEX_COUNT - 1,
    ROW_TANGENT = 6, /* K as 00 11 22 01 02 12, then the coefficients */
    ROW_TANGENT_COUNT = ROW_TANGENT + VERTEX_COUNT
};

#define ROW_BOUND ((sinew_real)1e-6) /* lengths below this part of L count as so long in K */

/* Rest lengths below this part of sum |c_a| |x_a - x_0| are round-off of a flat rest shape. */
#define ROW_FLAT 1e-5

/* The length of z at rest, 0 where that is flat. x[VERTEX_COUNT][3] */
static inline double row_rest_length(const double *c, const sinew_real *x)
{
    double z[3] = {0, 0, 0}, size = 0;
    for (int a = 1; a < VERTEX_COUNT; a++) {
        double square = 0;
        for (int i = 0; i < 3; i++) {
            const double d = (double)x[3 * a + i] - (double)x[i];
            z[i] += c[a] * d;
            square += d * d;
        }
        size += fabs(c[a]) * sqrt(square);
    }
    const double length = sqrt(z[0] * z[0] + z[1] * z[1] + z[2] * z[2]);
    return length > ROW_FLAT * size ? length : 0;
}

/* z = sum_a c_a x_a, from differences, which have the digits */
KERNEL_INLINE void row_gather(const sinew_real *x, const int32_t *vertex, const sinew_real *c, lane z[3])
{
    lane first[3];
    lane_gather_point(x, vertex, first);
    for (int i = 0; i < 3; i++)
        z[i] = lane_set(0);
    for (int a = 1; a < VERTEX_COUNT; a++) {
        const lane weight = lane_load(c + a * LANES);
        lane xa[3];
        lane_gather_point(x, vertex + a * LANES, xa);
        for (int i = 0; i < 3; i++)
            z[i] += weight * (xa[i] - first[i]);
    }
}

/* g_a += c_a f */
KERNEL_INLINE void row_scatter(sinew_real *g, const int32_t *vertex, const sinew_real *c, const lane f[3])
{
    for (int a = 0; a < VERTEX_COUNT; a++) {
        const lane weight = lane_load(c + a * LANES);
        const lane fa[3] = {weight * f[0], weight * f[1], weight * f[2]};
        lane_scatter_point(g, vertex + a * LANES, fa);
    }
}

static double row_value(const sinew_kernel *kernel)
{
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, ROW_DATA_COUNT);
        lane z[3];
        row_gather(kernel->x, group_vertex(&kernel->groups, group, VERTEX_COUNT), data + ROW_FIRST * LANES, z);
        const lane l = lane_sqrt(dot3(z, z)), off = l - edge_target(data, true, l);
        value_add(&sum, lane_load(data), (sinew_real)0.5 * off * off);
    }
    return value_total(&sum);
}

static double row_gradient(const sinew_kernel *kernel)
{
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, ROW_DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, VERTEX_COUNT);
        const lane k = lane_load(data);
        lane z[3];
        row_gather(kernel->x, vertex, data + ROW_FIRST * LANES, z);
        const lane l = lane_sqrt(dot3(z, z)), L = edge_target(data, true, l), off = l - L;
        const lane pull = k * (1 - L / lane_max(l, lane_set(LANE_ROOT_TINY)));
        for (int i = 0; i < 3; i++)
            z[i] *= pull;
        row_scatter(kernel->g, vertex, data + ROW_FIRST * LANES, z);
        value_add(&sum, k, (sinew_real)0.5 * off * off);
    }
    return value_total(&sum);
}

/* The part of K / k that acts across z. */
KERNEL_INLINE lane row_across(lane l, lane L)
{
    return 1 - L / lane_max(lane_max(l, ROW_BOUND * L), lane_set(LANE_ROOT_TINY));
}

static void row_linearise(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, ROW_DATA_COUNT);
        sinew_real *tangent = group_tangent(kernel, group, ROW_TANGENT_COUNT);
        const lane zero = lane_set(0);
        lane z[3], K[6] = {zero, zero, zero, zero, zero, zero};
        row_gather(kernel->x, group_vertex(&kernel->groups, group, VERTEX_COUNT), data + ROW_FIRST * LANES, z);
        const lane l = lane_sqrt(dot3(z, z)), inverse = 1 / lane_max(l, lane_set(LANE_ROOT_TINY));
        const lane k = lane_select(edge_is_free(data, l), zero, lane_load(data));
        lane across = row_across(l, edge_target(data, true, l));
        if (kernel->project)
            across = lane_max(across, zero);
        for (int i = 0; i < 3; i++)
            z[i] *= inverse;
        block_add(K, k * across, k * (1 - across), z);
        store_lanes(tangent, 6, K);
        for (int a = 0; a < VERTEX_COUNT; a++)
            lane_store(tangent + (ROW_TANGENT + a) * LANES, lane_load(data + (ROW_FIRST + a) * LANES));
    }
}

static void row_product(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *tangent = group_tangent(kernel, group, ROW_TANGENT_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, VERTEX_COUNT);
        lane z[3], K[6];
        load_lanes(tangent, 6, K);
        row_gather(kernel->p, vertex, tangent + ROW_TANGENT * LANES, z);
        const lane f[3] = {K[0] * z[0] + K[3] * z[1] + K[4] * z[2], K[3] * z[0] + K[1] * z[1] + K[5] * z[2],
                           K[4] * z[0] + K[5] * z[1] + K[2] * z[2]};
        row_scatter(kernel->g, vertex, tangent + ROW_TANGENT * LANES, f);
    }
}

static void row_hessian(const sinew_kernel *kernel)
{
    static const int entry[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *tangent = group_tangent(kernel, group, ROW_TANGENT_COUNT);
        sinew_real *blocks = group_blocks(kernel, group, VERTEX_COUNT * (VERTEX_COUNT + 1) / 2);
        lane K[6];
        load_lanes(tangent, 6, K);
        for (int a = 0; a < VERTEX_COUNT; a++)
            for (int b = 0; b <= a; b++) {
                const lane c =
                    lane_load(tangent + (ROW_TANGENT + a) * LANES) * lane_load(tangent + (ROW_TANGENT + b) * LANES);
                for (int i = 0; i < 9; i++)
                    lane_store(blocks + (block_index(a, b) * 9 + i) * LANES, c * K[entry[i]]);
            }
    }
}

/* ---- Reduced coordinates ------------------------------------------------------------------------- */

static void row_reduce(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int a = 0; a < VERTEX_COUNT; a++)
            lane_store(kernel->rows + ((size_t)group * (size_t)VERTEX_COUNT + (size_t)a) * LANES,
                       lane_load(group_data(&kernel->groups, group, ROW_DATA_COUNT) + (ROW_FIRST + a) * LANES));
}

static void row_stiffness(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        lane_store(kernel->weights + group * LANES, lane_load(group_data(&kernel->groups, group, ROW_DATA_COUNT)));
}

/* g += k D^T p, p the vector of length L along z */
static void row_local_project(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, ROW_DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, VERTEX_COUNT);
        lane z[3];
        row_gather(kernel->x, vertex, data + ROW_FIRST * LANES, z);
        const lane l = lane_max(lane_sqrt(dot3(z, z)), lane_set(LANE_ROOT_TINY));
        const lane pull = lane_load(data) * edge_target(data, true, l) / l;
        for (int i = 0; i < 3; i++)
            z[i] *= pull;
        row_scatter(kernel->g, vertex, data + ROW_FIRST * LANES, z);
    }
}

static void row_local_prox(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, ROW_DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, VERTEX_COUNT);
        lane Dx[3], f[3];
        row_gather(kernel->x, vertex, data + ROW_FIRST * LANES, Dx);
        edge_prox_at(kernel, group, data, true, Dx, f);
        row_scatter(kernel->g, vertex, data + ROW_FIRST * LANES, f);
    }
}

/* ---- Constraint ---------------------------------------------------------------------------------- */

/* r times the gradient of |z| in c, r that length or what stands for it near zero; returns it. */
KERNEL_INLINE lane row_length_of(const sinew_real *data, constrained *c, lane *r)
{
    const sinew_real *row = data + ROW_FIRST * LANES;
    lane z[3] = {lane_set(0), lane_set(0), lane_set(0)};
    for (int a = 1; a < VERTEX_COUNT; a++)
        for (int i = 0; i < 3; i++)
            z[i] += lane_load(row + a * LANES) * (c->x[4 * a + i] - c->x[i]);
    for (int a = 0; a < VERTEX_COUNT; a++)
        for (int i = 0; i < 3; i++)
            c->gradient[3 * a + i] = lane_load(row + a * LANES) * z[i];
    const lane l = lane_sqrt(dot3(z, z));
    *r = lane_max(l, lane_set(LANE_ROOT_TINY));
    return l;
}

/* sum_a w_a |grad_a |z||^2 */
KERNEL_INLINE lane row_inverse_mass(const sinew_real *data, const constrained *c)
{
    lane sum = lane_set(0);
    for (int a = 0; a < VERTEX_COUNT; a++) {
        const lane coefficient = lane_load(data + (ROW_FIRST + a) * LANES);
        sum += c->x[4 * a + 3] * (coefficient * coefficient);
    }
    return sum;
}

/* C = |z| - L, alpha = 1/k */
static void row_constrain(const sinew_constrain_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, ROW_DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, VERTEX_COUNT);
        sinew_real *lambda = group_lambda(kernel, group, 1);
        constrained c;
        lane r;
        constrain_gather(kernel->xw, vertex, VERTEX_COUNT, &c);
        const lane l = row_length_of(data, &c, &r);
        const lane L = edge_constraint_target(kernel, data, true, l, row_inverse_mass(data, &c), lane_load(lambda));
        const lane C = edge_constraint(kernel->form == SINEW_FORM_ENERGY, 3 * VERTEX_COUNT, l - L, &c);
        constrain_apply(kernel, group, vertex, VERTEX_COUNT, C, r, lane_load(data), false, lambda, &c);
    }
}

static void row_jacobian(const sinew_jacobian_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, ROW_DATA_COUNT);
        constrained c;
        lane r;
        constrain_gather(kernel->x, group_vertex(&kernel->groups, group, VERTEX_COUNT), VERTEX_COUNT, &c);
        const lane l = row_length_of(data, &c, &r);
        edge_jacobian_at(kernel, group, VERTEX_COUNT, data, true, l, r, &c);
    }
}

static void row_curvature(const sinew_jacobian_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, ROW_DATA_COUNT);
        lane z[3], c[VERTEX_COUNT];
        row_gather(kernel->x, group_vertex(&kernel->groups, group, VERTEX_COUNT), data + ROW_FIRST * LANES, z);
        load_lanes(data + ROW_FIRST * LANES, VERTEX_COUNT, c);
        edge_curvature_at(kernel, group, VERTEX_COUNT, data, true, lane_sqrt(dot3(z, z)), z, c);
    }
}

/* ---- One vertex ---------------------------------------------------------------------------------- */

/* data of a visit: k, the limits, the node's coefficient, those of the others. Places that repeat the node count as it.
 */
static void row_visit(const sinew_real *data, const int32_t *particles, int node, sinew_real *out, int32_t *others)
{
    double own = 0;
    for (int a = 0, k = 0; a < VERTEX_COUNT; a++) {
        const bool same = particles[a] == particles[node];
        own += same ? (double)data[ROW_FIRST + a] : 0;
        if (a == node)
            continue;
        others[k] = particles[a];
        out[ROW_VISIT_OTHERS + k++] = same ? 0 : data[ROW_FIRST + a];
    }
    out[0] = data[0];
    out[ROW_LEAST] = data[ROW_LEAST];
    out[ROW_GREATEST] = data[ROW_GREATEST];
    out[ROW_VISIT_OWN] = (sinew_real)own;
}

/* z, from differences to the node; returns the node's coefficient */
KERNEL_INLINE lane row_visit_gather(const visit *v, lane z[3])
{
    for (int i = 0; i < 3; i++)
        z[i] = lane_set(0);
    for (int a = 0; a < VERTEX_COUNT - 1; a++) {
        const lane c = lane_load(v->data + (ROW_VISIT_OTHERS + a) * LANES);
        lane xa[3];
        lane_gather_point(v->q, v->others + a * LANES, xa);
        for (int i = 0; i < 3; i++)
            z[i] += c * (xa[i] - v->x[i]);
    }
    return lane_load(v->data + ROW_VISIT_OWN * LANES);
}

/* The cheap block k c^2 1 is a bound: psi is the least of the k/2 |z - p|^2 over all p of a length that is wanted. The
 * exact one has EDGE_ACROSS_FLOOR of that between limits. */
KERNEL_INLINE void row_add(const visit *v, bool exact, visit_sum *sum)
{
    const lane k = lane_load(v->data);
    lane z[3];
    const lane c = row_visit_gather(v, z), l = lane_max(lane_sqrt(dot3(z, z)), lane_set(LANE_ROOT_TINY));
    const lane L = edge_target(v->data, true, l), pull = k * c * (1 - L / l);
    for (int i = 0; i < 3; i++) {
        sum->g[i] += pull * z[i];
        z[i] /= l;
    }
    const lane_mask free = edge_is_free(v->data, l);
    const lane across = exact ? lane_max(row_across(l, L), lane_set(0)) : lane_set(1);
    const lane along = exact ? lane_select(free, lane_set(0), 1 - across) : lane_set(0);
    const lane all = exact ? lane_select(free, lane_set(EDGE_ACROSS_FLOOR), across) : across;
    block_add(sum->A, k * c * c * all, k * c * c * along, z);
}

KERNEL_INLINE lane row_difference(const visit *v, const lane step[3], lane *noise)
{
    lane z[3];
    const lane c = row_visit_gather(v, z), squares = c * (c * dot3(step, step) + 2 * dot3(step, z));
    const lane before = lane_sqrt(dot3(z, z)), after = lane_sqrt(lane_max(before * before + squares, lane_set(0)));
    return edge_change(v->data, true, before, after, squares, noise);
}

static void row_vertex(const sinew_vertex_kernel *kernel)
{
    visit_vertex(kernel, VERTEX_COUNT - 1, ROW_VISIT_COUNT, row_add);
}

static void row_vertex_change(const sinew_vertex_kernel *kernel)
{
    visit_change(kernel, VERTEX_COUNT - 1, ROW_VISIT_COUNT, row_difference);
}

#define ROW_CAPABILITIES                                                                                               \
    (SINEW_CAN_CONSTRAINT | SINEW_CAN_PROJECT | SINEW_CAN_PROX | SINEW_CAN_VERTEX | SINEW_CAN_REDUCE |                 \
     SINEW_CAN_JACOBIAN)

#define ROW_OPS                                                                                                        \
    .data_count = ROW_DATA_COUNT, .tangent_count = ROW_TANGENT_COUNT, .target_slot = -1, .value = row_value,           \
    .gradient = row_gradient, .linearise = row_linearise, .product = row_product, .hessian = row_hessian,              \
    .row_count = 1, .reduce = row_reduce, .stiffness = row_stiffness, .local_project = row_local_project,              \
    .local_prox = row_local_prox, .constraint_count = 1, .constrain = row_constrain, .jacobian = row_jacobian,         \
    .curvature = row_curvature, .other_count = VERTEX_COUNT - 1, .visit_data_count = ROW_VISIT_COUNT,                  \
    .visit = row_visit, .vertex = row_vertex, .vertex_change = row_vertex_change, .vertex_bounds = SINEW_BOUND_CHEAP

#endif
