/* SPDX-License-Identifier: MIT
 *
 * length_element.h: all operations of an energy with a target length, or two limits of the length, of one linear
 * combination of an element's vertices:
 *
 *     z = sum_a c_a x_a,   sum_a c_a = 0        psi = k/2 (|z| - L)^2
 *     grad_a = c_a f,  f = k (1 - L/|z|) z      H_ab = c_a c_b K,  K = k [u u^T + (1 - L/|z|) (1 - u u^T)],  u = z/|z|
 *
 * with L the value nearest to |z| between a minimum and a maximum, which are equal without limits.
 *
 * Bending vectors of surfaces are such combinations. If the rest shape is flat, L is zero, psi is quadratic and K = k
 * 1; else L is the length of z at rest. psi is k/2 times the squared distance of z to the sphere of radius L, so PD
 * projects by normalising, PD (28). K has the eigenvalues k and, twice, k (1 - L/|z|); the projection sets negative
 * eigenvalues to zero. Between the limits there is neither force nor stiffness: strain limiting, applied to bending (PD
 * 5.4). z behaves like a limited edge, so this header uses the functions of edge.h that do not depend on the number of
 * vertices.
 *
 * data: k, minimum and maximum of L, then a coefficient for each vertex; unused vertices have coefficient zero. This
 * header is a template: the file of an energy includes it once, after defining VERTEX_COUNT. The file defines
 * `prepare`; LENGTH_OPS has the other operations.
 */
#ifndef SINEW_SRC_ENERGY_EDGE_LENGTH_ELEMENT_H
#define SINEW_SRC_ENERGY_EDGE_LENGTH_ELEMENT_H

#include "energy/edge/edge.h"
#include "math/vec3.h"

enum {
    LENGTH_MIN = EDGE_LENGTH,
    LENGTH_GREATEST = EDGE_GREATEST,
    LENGTH_FIRST, /* index in data of the coefficient c_0 of the first vertex */
    LENGTH_DATA_COUNT = LENGTH_FIRST + VERTEX_COUNT,
    LENGTH_INCIDENCE_OWN = LENGTH_FIRST,
    LENGTH_INCIDENCE_OTHERS,
    LENGTH_INCIDENCE_COUNT = LENGTH_INCIDENCE_OTHERS + VERTEX_COUNT - 1,
    /* index in the tangent of the coefficients c_a, after the symmetric matrix K as 00 11 22 01 02 12 */
    LENGTH_TANGENT = 6,
    LENGTH_TANGENT_COUNT = LENGTH_TANGENT + VERTEX_COUNT
};

#define LENGTH_RELATIVE_MIN ((sinew_real)1e-6) /* lower bound of |z| in the Hessian, as a fraction of L */

/* Rest lengths below this fraction of sum |c_a| |x_a - x_0| are round-off of a flat rest shape. */
#define LENGTH_FLAT 1e-5

/* The length of z = sum_a c_a x_a at the rest positions x[VERTEX_COUNT][3]; 0 if the rest shape is flat. */
static inline double length_rest_length(const double *c, const sinew_real *x)
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
    const double length = vec3_norm(z);
    return length > LENGTH_FLAT * size ? length : 0;
}

/* z = sum_a c_a x_a, computed from differences of vertex positions, to avoid cancellation */
KERNEL_INLINE void length_gather(const sinew_real *x, const int32_t *vertex, const sinew_real *c, wide z[3])
{
    wide first[3];
    wide_gather_point(x, vertex, first);
    for (int i = 0; i < 3; i++)
        z[i] = wide_set(0);
    for (int a = 1; a < VERTEX_COUNT; a++) {
        const wide weight = wide_load(c + a * SIMD_WIDTH);
        wide xa[3];
        wide_gather_point(x, vertex + a * SIMD_WIDTH, xa);
        for (int i = 0; i < 3; i++)
            z[i] += weight * (xa[i] - first[i]);
    }
}

/* Adds the element's gradient c_a f to g of each vertex a. */
KERNEL_INLINE void length_scatter(sinew_real *g, const int32_t *vertex, const sinew_real *c, const wide f[3])
{
    for (int a = 0; a < VERTEX_COUNT; a++) {
        const wide weight = wide_load(c + a * SIMD_WIDTH);
        const wide fa[3] = {weight * f[0], weight * f[1], weight * f[2]};
        wide_scatter_point(g, vertex + a * SIMD_WIDTH, fa);
    }
}

static double length_value(const sinew_kernel *kernel)
{
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, LENGTH_DATA_COUNT);
        wide z[3];
        length_gather(kernel->x, group_vertex(&kernel->groups, group, VERTEX_COUNT), data + LENGTH_FIRST * SIMD_WIDTH,
                      z);
        const wide l = wide_sqrt(dot3(z, z)), off = l - edge_target(data, true, l);
        value_add(&sum, wide_load(data), (sinew_real)0.5 * off * off);
    }
    return value_total(&sum);
}

static double length_gradient(const sinew_kernel *kernel)
{
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, LENGTH_DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, VERTEX_COUNT);
        const wide k = wide_load(data);
        wide z[3];
        length_gather(kernel->x, vertex, data + LENGTH_FIRST * SIMD_WIDTH, z);
        const wide l = wide_sqrt(dot3(z, z)), L = edge_target(data, true, l), off = l - L;
        const wide force_density = k * (1 - L / wide_max(l, wide_set(WIDE_ROOT_TINY)));
        for (int i = 0; i < 3; i++)
            z[i] *= force_density;
        length_scatter(kernel->g, vertex, data + LENGTH_FIRST * SIMD_WIDTH, z);
        value_add(&sum, k, (sinew_real)0.5 * off * off);
    }
    return value_total(&sum);
}

/* Eigenvalue of the Hessian over k for directions perpendicular to z; l = |z|, L the target length. */
KERNEL_INLINE wide length_across(wide l, wide L)
{
    return 1 - L / wide_max(wide_max(l, LENGTH_RELATIVE_MIN * L), wide_set(WIDE_ROOT_TINY));
}

static void length_linearise(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, LENGTH_DATA_COUNT);
        sinew_real *tangent = group_tangent(kernel, group, LENGTH_TANGENT_COUNT);
        const wide zero = wide_set(0);
        wide z[3], K[6] = {zero, zero, zero, zero, zero, zero};
        length_gather(kernel->x, group_vertex(&kernel->groups, group, VERTEX_COUNT), data + LENGTH_FIRST * SIMD_WIDTH,
                      z);
        const wide l = wide_sqrt(dot3(z, z)), inverse = 1 / wide_max(l, wide_set(WIDE_ROOT_TINY));
        const wide k = wide_select(edge_is_free(data, l), zero, wide_load(data));
        wide across = length_across(l, edge_target(data, true, l));
        if (kernel->project)
            across = wide_max(across, zero);
        for (int i = 0; i < 3; i++)
            z[i] *= inverse;
        block_add(K, k * across, k * (1 - across), z);
        store_wide_array(tangent, 6, K);
        for (int a = 0; a < VERTEX_COUNT; a++)
            wide_store(tangent + (LENGTH_TANGENT + a) * SIMD_WIDTH, wide_load(data + (LENGTH_FIRST + a) * SIMD_WIDTH));
    }
}

static void length_product(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *tangent = group_tangent(kernel, group, LENGTH_TANGENT_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, VERTEX_COUNT);
        wide z[3], K[6];
        load_wide_array(tangent, 6, K);
        length_gather(kernel->p, vertex, tangent + LENGTH_TANGENT * SIMD_WIDTH, z);
        const wide f[3] = {K[0] * z[0] + K[3] * z[1] + K[4] * z[2], K[3] * z[0] + K[1] * z[1] + K[5] * z[2],
                           K[4] * z[0] + K[5] * z[1] + K[2] * z[2]};
        length_scatter(kernel->g, vertex, tangent + LENGTH_TANGENT * SIMD_WIDTH, f);
    }
}

static void length_hessian(const sinew_kernel *kernel)
{
    static const int entry[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *tangent = group_tangent(kernel, group, LENGTH_TANGENT_COUNT);
        sinew_real *blocks = group_blocks(kernel, group, VERTEX_COUNT * (VERTEX_COUNT + 1) / 2);
        wide K[6];
        load_wide_array(tangent, 6, K);
        for (int a = 0; a < VERTEX_COUNT; a++)
            for (int b = 0; b <= a; b++) {
                const wide c = wide_load(tangent + (LENGTH_TANGENT + a) * SIMD_WIDTH) *
                               wide_load(tangent + (LENGTH_TANGENT + b) * SIMD_WIDTH);
                for (int i = 0; i < 9; i++)
                    wide_store(blocks + (block_index(a, b) * 9 + i) * SIMD_WIDTH, c * K[entry[i]]);
            }
    }
}

/* ---- Reduced coordinates, for PD and ADMM -------------------------------------------------------- */

static void length_reduce(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int a = 0; a < VERTEX_COUNT; a++)
            wide_store(
                kernel->D + ((size_t)group * (size_t)VERTEX_COUNT + (size_t)a) * SIMD_WIDTH,
                wide_load(group_data(&kernel->groups, group, LENGTH_DATA_COUNT) + (LENGTH_FIRST + a) * SIMD_WIDTH));
}

static void length_stiffness(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        wide_store(kernel->weights + group * SIMD_WIDTH,
                   wide_load(group_data(&kernel->groups, group, LENGTH_DATA_COUNT)));
}

/* PD's projection: g += k D^T p, where D x is the vector z and p the vector of the target length L along z. */
static void length_local_project(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, LENGTH_DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, VERTEX_COUNT);
        wide z[3];
        length_gather(kernel->x, vertex, data + LENGTH_FIRST * SIMD_WIDTH, z);
        const wide l = wide_max(wide_sqrt(dot3(z, z)), wide_set(WIDE_ROOT_TINY));
        const wide force_density = wide_load(data) * edge_target(data, true, l) / l;
        for (int i = 0; i < 3; i++)
            z[i] *= force_density;
        length_scatter(kernel->g, vertex, data + LENGTH_FIRST * SIMD_WIDTH, z);
    }
}

static void length_local_prox(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, LENGTH_DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, VERTEX_COUNT);
        wide Dx[3], f[3];
        length_gather(kernel->x, vertex, data + LENGTH_FIRST * SIMD_WIDTH, Dx);
        edge_prox_at(kernel, group, data, true, Dx, f);
        length_scatter(kernel->g, vertex, data + LENGTH_FIRST * SIMD_WIDTH, f);
    }
}

/* ---- The length |z| as a constraint -------------------------------------------------------------- */

/* Writes r times the gradient of |z| to c, where r is |z| or its lower bound near zero; returns |z|. */
KERNEL_INLINE wide length_of_z(const sinew_real *data, constrained *c, wide *r)
{
    const sinew_real *row = data + LENGTH_FIRST * SIMD_WIDTH;
    wide z[3] = {wide_set(0), wide_set(0), wide_set(0)};
    for (int a = 1; a < VERTEX_COUNT; a++)
        for (int i = 0; i < 3; i++)
            z[i] += wide_load(row + a * SIMD_WIDTH) * (c->x[4 * a + i] - c->x[i]);
    for (int a = 0; a < VERTEX_COUNT; a++)
        for (int i = 0; i < 3; i++)
            c->gradient[3 * a + i] = wide_load(row + a * SIMD_WIDTH) * z[i];
    const wide l = wide_sqrt(dot3(z, z));
    *r = wide_max(l, wide_set(WIDE_ROOT_TINY));
    return l;
}

/* Returns sum_a w_a |grad_a |z||^2 of the constraint |z|, with the inverse masses w_a. */
KERNEL_INLINE wide length_inverse_mass(const sinew_real *data, const constrained *c)
{
    wide sum = wide_set(0);
    for (int a = 0; a < VERTEX_COUNT; a++) {
        const wide coefficient = wide_load(data + (LENGTH_FIRST + a) * SIMD_WIDTH);
        sum += c->x[4 * a + 3] * (coefficient * coefficient);
    }
    return sum;
}

/* Projects the constraint C = |z| - L, the deviation from the target length L, with the compliance alpha = 1/k. */
static void length_constrain(const sinew_constrain_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, LENGTH_DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, VERTEX_COUNT);
        sinew_real *lambda = group_lambda(kernel, group, 1);
        constrained c;
        wide r;
        constrain_gather(kernel->xw, vertex, VERTEX_COUNT, &c);
        const wide l = length_of_z(data, &c, &r);
        const wide L = edge_constraint_target(kernel, data, true, l, length_inverse_mass(data, &c), wide_load(lambda));
        const wide C = edge_constraint(kernel->form == SINEW_FORM_ENERGY, 3 * VERTEX_COUNT, l - L, &c);
        constrain_apply(kernel, group, vertex, VERTEX_COUNT, C, r, wide_load(data), false, lambda, &c);
    }
}

static void length_jacobian(const sinew_jacobian_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, LENGTH_DATA_COUNT);
        constrained c;
        wide r;
        constrain_gather(kernel->x, group_vertex(&kernel->groups, group, VERTEX_COUNT), VERTEX_COUNT, &c);
        const wide l = length_of_z(data, &c, &r);
        edge_jacobian_at(kernel, group, VERTEX_COUNT, data, true, l, r, &c);
    }
}

static void length_curvature(const sinew_jacobian_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, LENGTH_DATA_COUNT);
        wide z[3], c[VERTEX_COUNT];
        length_gather(kernel->x, group_vertex(&kernel->groups, group, VERTEX_COUNT), data + LENGTH_FIRST * SIMD_WIDTH,
                      z);
        load_wide_array(data + LENGTH_FIRST * SIMD_WIDTH, VERTEX_COUNT, c);
        edge_curvature_at(kernel, group, VERTEX_COUNT, data, true, wide_sqrt(dot3(z, z)), z, c);
    }
}

/* ---- Vertex kernel: gradient and Hessian block of one vertex ------------------------------------- */

/* Data of a vertex-element incidence: k, the limits of L, the coefficient of the node, then the coefficients of the
 * other vertices. Entries that repeat the node are added to the node's coefficient. */
static void length_incidence(const sinew_real *data, const int32_t *particles, int node, sinew_real *out,
                             int32_t *others)
{
    double own = 0;
    for (int a = 0, k = 0; a < VERTEX_COUNT; a++) {
        const bool same = particles[a] == particles[node];
        own += same ? (double)data[LENGTH_FIRST + a] : 0;
        if (a == node)
            continue;
        others[k] = particles[a];
        out[LENGTH_INCIDENCE_OTHERS + k++] = same ? 0 : data[LENGTH_FIRST + a];
    }
    out[0] = data[0];
    out[LENGTH_MIN] = data[LENGTH_MIN];
    out[LENGTH_GREATEST] = data[LENGTH_GREATEST];
    out[LENGTH_INCIDENCE_OWN] = (sinew_real)own;
}

/* z = sum_a c_a x_a, computed from differences to the incidence's node; returns the coefficient of the node. */
KERNEL_INLINE wide length_incidence_gather(const incidence *v, wide z[3])
{
    for (int i = 0; i < 3; i++)
        z[i] = wide_set(0);
    for (int a = 0; a < VERTEX_COUNT - 1; a++) {
        const wide c = wide_load(v->data + (LENGTH_INCIDENCE_OTHERS + a) * SIMD_WIDTH);
        wide xa[3];
        wide_gather_point(v->q, v->others + a * SIMD_WIDTH, xa);
        for (int i = 0; i < 3; i++)
            z[i] += c * (xa[i] - v->x[i]);
    }
    return wide_load(v->data + LENGTH_INCIDENCE_OWN * SIMD_WIDTH);
}

/* The approximate Hessian block k c^2 1 of a vertex with coefficient c is an upper bound: psi is the minimum of k/2
 * |z - p|^2 over all vectors p of an allowed length. Between limits the exact block is EDGE_ACROSS_FLOOR times this
 * bound. */
KERNEL_INLINE void length_add(const incidence *v, bool exact, incidence_sum *sum)
{
    const wide k = wide_load(v->data);
    wide z[3];
    const wide c = length_incidence_gather(v, z), l = wide_max(wide_sqrt(dot3(z, z)), wide_set(WIDE_ROOT_TINY));
    const wide L = edge_target(v->data, true, l), force_density = k * c * (1 - L / l);
    for (int i = 0; i < 3; i++) {
        sum->g[i] += force_density * z[i];
        z[i] /= l;
    }
    const wide_mask free = edge_is_free(v->data, l);
    const wide across = exact ? wide_max(length_across(l, L), wide_set(0)) : wide_set(1);
    const wide along = exact ? wide_select(free, wide_set(0), 1 - across) : wide_set(0);
    const wide all = exact ? wide_select(free, wide_set(EDGE_ACROSS_FLOOR), across) : across;
    block_add(sum->A, k * c * c * all, k * c * c * along, z);
}

KERNEL_INLINE wide length_difference(const incidence *v, const wide step[3], wide *noise)
{
    wide z[3];
    const wide c = length_incidence_gather(v, z), squares = c * (c * dot3(step, step) + 2 * dot3(step, z));
    const wide before = wide_sqrt(dot3(z, z)), after = wide_sqrt(wide_max(before * before + squares, wide_set(0)));
    return edge_change(v->data, true, before, after, squares, noise);
}

static void length_vertex(const sinew_vertex_kernel *kernel)
{
    incidence_vertex(kernel, VERTEX_COUNT - 1, LENGTH_INCIDENCE_COUNT, length_add);
}

static void length_vertex_change(const sinew_vertex_kernel *kernel)
{
    incidence_change(kernel, VERTEX_COUNT - 1, LENGTH_INCIDENCE_COUNT, length_difference);
}

#define LENGTH_CAPABILITIES                                                                                            \
    (SINEW_CAN_CONSTRAINT | SINEW_CAN_PROJECT | SINEW_CAN_PROX | SINEW_CAN_VERTEX | SINEW_CAN_REDUCE |                 \
     SINEW_CAN_JACOBIAN)

#define LENGTH_OPS                                                                                                     \
    .data_count = LENGTH_DATA_COUNT, .tangent_count = LENGTH_TANGENT_COUNT, .target_slot = -1, .value = length_value,  \
    .gradient = length_gradient, .linearise = length_linearise, .product = length_product, .hessian = length_hessian,  \
    .reduced_count = 1, .reduce = length_reduce, .stiffness = length_stiffness, .local_project = length_local_project, \
    .local_prox = length_local_prox, .constraint_count = 1, .constrain = length_constrain,                             \
    .jacobian = length_jacobian, .curvature = length_curvature, .other_count = VERTEX_COUNT - 1,                       \
    .incidence_data_count = LENGTH_INCIDENCE_COUNT, .incidence = length_incidence, .vertex = length_vertex,            \
    .vertex_change = length_vertex_change, .vertex_bounds = SINEW_BOUND_CHEAP

#endif
