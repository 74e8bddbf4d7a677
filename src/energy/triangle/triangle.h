/* SPDX-License-Identifier: MIT
 *
 * triangle.h: what all energies on triangles share: from positions to F, from the stress P to forces, the tangent.
 *
 *     Ds = [x1-x0  x2-x0]     F = Ds B (3x2),  B = (Q^T Dm)^-1 (2x2) of the rest shape
 *     E  = w psi(F)           [f1 f2] = w P B^T,  f0 = -(f1 + f2),  P = dpsi/dF (3x2)
 *
 * The two columns of Q are unit vectors of the rest triangle's plane: any two for isotropic energies, the directions of
 * warp and weft for the others, so that the columns of F are what these become. The order of the vertices does not
 * matter, and a triangle has no inside out: in space a reflection of its plane is a rotation.
 *
 * psi is written per unit of one modulus: the weight w = modulus x rest area carries the unit, N/m x m^2 with the
 * thickness in the modulus. Data: w, B row by row (4), then the material's own numbers. Row a of B is the rest gradient
 * of vertex a+1, and the order of rows is the order of the vertices: a visit (vertex_kernel.h) puts others first and keeps Q.
 *
 * The tangent is w d2psi over the two edges x1-x0 and x2-x0, a symmetric 6x6 matrix: blocks K11 and K22 as 00 11 22 01
 * 02 12 and K21 row by row, 21 lanes. Blocks of vertex 0 follow from the fact that a translation costs nothing.
 */
#ifndef SINEW_SRC_ENERGY_TRIANGLE_TRIANGLE_H
#define SINEW_SRC_ENERGY_TRIANGLE_TRIANGLE_H

#include "energy/constrain.h"
#include "energy/matrix3.h"
#include "energy/vertex_kernel.h"
#include "math/small/decompose.h"

enum {
    TRIANGLE_WEIGHT = 0,
    TRIANGLE_INVERSE = 1,
    TRIANGLE_MATERIAL = 5
}; /* data */
enum {
    TRIANGLE_NEAR = 0,
    TRIANGLE_FAR = 6,
    TRIANGLE_MIXED = 12,
    TRIANGLE_TANGENT_COUNT = 21
}; /* tangent: K11, K22, K21 */

/* A material: psi and P = dpsi/dF per unit of the modulus. `material` is data from TRIANGLE_MATERIAL on. */
typedef lane triangle_stress(const lane F[6], const sinew_real *material, lane P[6]);

#define sinew_triangle_prepare SINEW_LANE_SYMBOL(sinew_triangle_prepare)
#define sinew_triangle_product SINEW_LANE_SYMBOL(sinew_triangle_product)
#define sinew_triangle_hessian SINEW_LANE_SYMBOL(sinew_triangle_hessian)

/* data = modulus x rest area, B. NULL or why not. `along` is NULL or a direction in space: what it is in the plane of
 * the triangle becomes the first column of Q. */
const char *sinew_triangle_prepare(const sinew_element *element, double modulus, const double *along, sinew_real *data);
void sinew_triangle_product(const sinew_kernel *kernel);
void sinew_triangle_hessian(const sinew_kernel *kernel);

/* ---- Small matrices --------------------------------------------------------------------------- */

/* C = A M, A 3x2 and M 2x2, row-major. */
KERNEL_INLINE void multiply32(const lane A[6], const lane M[4], lane C[6])
{
    for (int i = 0; i < 3; i++) {
        C[2 * i] = A[2 * i] * M[0] + A[2 * i + 1] * M[2];
        C[2 * i + 1] = A[2 * i] * M[1] + A[2 * i + 1] * M[3];
    }
}

/* C = A M^T */
KERNEL_INLINE void multiply32_t(const lane A[6], const lane M[4], lane C[6])
{
    for (int i = 0; i < 3; i++) {
        C[2 * i] = A[2 * i] * M[0] + A[2 * i + 1] * M[1];
        C[2 * i + 1] = A[2 * i] * M[2] + A[2 * i + 1] * M[3];
    }
}

/* F^T F as 00 11 01. */
KERNEL_INLINE void metric32(const lane F[6], lane C[3])
{
    C[0] = F[0] * F[0] + F[2] * F[2] + F[4] * F[4];
    C[1] = F[1] * F[1] + F[3] * F[3] + F[5] * F[5];
    C[2] = F[0] * F[1] + F[2] * F[3] + F[4] * F[5];
}

/* |F|^2 */
KERNEL_INLINE lane norm32(const lane F[6])
{
    return (F[0] * F[0] + F[2] * F[2] + F[4] * F[4]) + (F[1] * F[1] + F[3] * F[3] + F[5] * F[5]);
}

/* The cross product of the columns: normal to the triangle, its length is how many times the rest area it has. */
KERNEL_INLINE void normal32(const lane F[6], lane n[3])
{
    n[0] = F[2] * F[5] - F[4] * F[3];
    n[1] = F[4] * F[1] - F[0] * F[5];
    n[2] = F[0] * F[3] - F[2] * F[1];
}

/* J, the length of that, and G = dJ/dF: b x n and n x a for the columns a, b of F and the unit normal n. G is zero
 * where J is. */
KERNEL_INLINE lane growth32(const lane F[6], lane G[6])
{
    lane n[3];
    normal32(F, n);
    const lane J = lane_sqrt(dot3(n, n)), inverse = 1 / lane_max(J, lane_set(LANE_ROOT_TINY));
    for (int i = 0; i < 3; i++)
        n[i] *= inverse;
    G[0] = F[3] * n[2] - F[5] * n[1];
    G[2] = F[5] * n[0] - F[1] * n[2];
    G[4] = F[1] * n[1] - F[3] * n[0];
    G[1] = n[1] * F[4] - n[2] * F[2];
    G[3] = n[2] * F[0] - n[0] * F[4];
    G[5] = n[0] * F[2] - n[1] * F[0];
    return J;
}

/* F = diag(s), an element stretched along the axes of Q. */
KERNEL_INLINE void stretch32(const lane s[2], lane F[6])
{
    for (int i = 0; i < 6; i++)
        F[i] = lane_set(0);
    F[0] = s[0];
    F[3] = s[1];
}

/* ---- Positions and forces --------------------------------------------------------------------- */

static const int triangle_row[2] = {1, 2}; /* where the edges end, among a group's rows of vertices */

/* [x1-x0  x2-x0] */
KERNEL_INLINE void triangle_edges(const sinew_real *x, const int32_t *vertex, lane Ds[6])
{
    lane edge[2][3];
    lane_gather_edges(x, vertex, triangle_row, 2, edge);
    for (int i = 0; i < 6; i++)
        Ds[i] = edge[i % 2][i / 2];
}

/* F of one group, whose B is left in `inverse`. */
KERNEL_INLINE void triangle_deformation(const sinew_real *x, const int32_t *vertex, const sinew_real *data,
                                        lane inverse[4], lane F[6])
{
    lane Ds[6];
    triangle_edges(x, vertex, Ds);
    load_lanes(data + TRIANGLE_INVERSE * LANES, 4, inverse);
    multiply32(Ds, inverse, F);
}

/* g += the columns of f at vertices 1 and 2, and minus both at vertex 0. */
KERNEL_INLINE void triangle_balance(sinew_real *g, const int32_t *vertex, const lane f[6])
{
    const lane at[2][3] = {{f[0], f[2], f[4]}, {f[1], f[3], f[5]}};
    lane_scatter_balanced(g, vertex, triangle_row, 2, at);
}

/* g += the forces of scale P. */
KERNEL_INLINE void triangle_scatter(sinew_real *g, const int32_t *vertex, lane scale, const lane P[6],
                                    const lane inverse[4])
{
    lane f[6];
    multiply32_t(P, inverse, f);
    for (int i = 0; i < 6; i++)
        f[i] *= scale;
    triangle_balance(g, vertex, f);
}

/* Value, and where it is wanted gradient. */
KERNEL_INLINE double triangle_evaluate(const sinew_kernel *kernel, int data_count, bool scatter,
                                       triangle_stress *stress)
{
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 3);
        const lane weight = lane_load(data);
        lane inverse[4], F[6], P[6];
        triangle_deformation(kernel->x, vertex, data, inverse, F);
        value_add(&sum, weight, stress(F, data + TRIANGLE_MATERIAL * LANES, P));
        if (scatter)
            triangle_scatter(kernel->g, vertex, weight, P, inverse);
    }
    return value_total(&sum);
}

/* The three blocks of a tangent, times the weight. */
KERNEL_INLINE void triangle_store_tangent(sinew_real *to, lane weight, const lane near[9], const lane mixed[9],
                                          const lane far[9])
{
    static const int entry[6] = {0, 4, 8, 1, 2, 5};
    for (int i = 0; i < 6; i++) {
        lane_store(to + (TRIANGLE_NEAR + i) * LANES, weight * near[entry[i]]);
        lane_store(to + (TRIANGLE_FAR + i) * LANES, weight * far[entry[i]]);
    }
    for (int i = 0; i < 9; i++)
        lane_store(to + (TRIANGLE_MIXED + i) * LANES, weight * mixed[i]);
}

/* ---- Reduced coordinates ------------------------------------------------------------------------ */

/* rows[r][a]: F e_r = sum_a d[r][a] x_a with d[r][a] = B[a-1][r], d[r][0] = -sum */
KERNEL_INLINE void triangle_reduce(const sinew_reduced_kernel *kernel, int data_count)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        sinew_real *rows = kernel->rows + (size_t)group * 6 * LANES;
        lane inverse[4];
        load_lanes(group_data(&kernel->groups, group, data_count) + TRIANGLE_INVERSE * LANES, 4, inverse);
        for (int r = 0; r < 2; r++) {
            lane_store(rows + (3 * r) * LANES, -(inverse[r] + inverse[2 + r]));
            lane_store(rows + (3 * r + 1) * LANES, inverse[r]);
            lane_store(rows + (3 * r + 2) * LANES, inverse[2 + r]);
        }
    }
}

/* weights = w: psi is w/2 times a squared distance */
KERNEL_INLINE void triangle_weight_stiffness(const sinew_reduced_kernel *kernel, int data_count)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        lane_store(kernel->weights + group * LANES, lane_load(group_data(&kernel->groups, group, data_count)));
}

/* Y = F + u, the dual variable of the group, which lies row by row as F does. */
KERNEL_INLINE void triangle_shifted(const sinew_reduced_kernel *kernel, int32_t group, const lane F[6], lane Y[6])
{
    load_lanes(kernel->u + (size_t)group * (6 * LANES), 6, Y);
    for (int i = 0; i < 6; i++)
        Y[i] += F[i];
}

/* u = Y - Z, g += w2 D^T (Z - u - F); nothing for elements that only fill up a group. */
KERNEL_INLINE void triangle_prox_finish(const sinew_reduced_kernel *kernel, int32_t group, const sinew_real *data,
                                        const lane F[6], const lane Y[6], const lane Z[6], const lane inverse[4])
{
    const lane zero = lane_set(0), w2 = lane_load(kernel->weights + group * LANES);
    /* A filler's local problem has no weight and may run off to infinity, which times zero is not zero. */
    const lane_mask filler = lane_eq(lane_load(data), zero);
    lane u[6], P[6];
    for (int i = 0; i < 6; i++) {
        u[i] = lane_select(filler, zero, Y[i] - Z[i]);
        P[i] = lane_select(filler, zero, w2 * (Z[i] - u[i] - F[i]));
    }
    store_lanes(kernel->u + (size_t)group * (6 * LANES), 6, u);
    triangle_scatter(kernel->g, group_vertex(&kernel->groups, group, 3), lane_set(1), P, inverse);
}

/* ---- Constraints -------------------------------------------------------------------------------- */

/* F of the group's points in c. */
KERNEL_INLINE void triangle_constrained(const constrained *c, const lane inverse[4], lane F[6])
{
    lane Ds[6];
    for (int i = 0; i < 6; i++)
        Ds[i] = c->x[4 * (i % 2 + 1) + i / 2] - c->x[i / 2];
    multiply32(Ds, inverse, F);
}

/* The gradient over the vertices from that by F. */
KERNEL_INLINE void triangle_constrained_gradient(const lane P[6], const lane inverse[4], constrained *c)
{
    lane f[6];
    multiply32_t(P, inverse, f);
    for (int i = 0; i < 3; i++) {
        c->gradient[i] = -(f[2 * i] + f[2 * i + 1]);
        c->gradient[3 + i] = f[2 * i];
        c->gradient[6 + i] = f[2 * i + 1];
    }
}

/* C = sqrt(2 psi), or psi itself: one constraint an element. Where psi is not defined there is none to go by. */
KERNEL_INLINE lane triangle_constraint(const sinew_real *data, bool whole, triangle_stress *stress, constrained *c,
                                       lane *r, lane *weight)
{
    const lane zero = lane_set(0);
    lane inverse[4], F[6], P[6];
    load_lanes(data + TRIANGLE_INVERSE * LANES, 4, inverse);
    triangle_constrained(c, inverse, F);
    lane psi = stress(F, data + TRIANGLE_MATERIAL * LANES, P);
    const lane_mask defined = lane_le(psi, lane_set(LANE_HUGE));
    psi = lane_select(defined, psi, zero);
    for (int i = 0; i < 6; i++)
        P[i] = lane_select(defined, P[i], zero);
    const lane root = lane_sqrt(lane_max(2 * psi, zero));
    triangle_constrained_gradient(P, inverse, c);
    *weight = lane_load(data);
    *r = whole ? lane_set(1) : lane_max(root, lane_set(LANE_EPSILON * LANE_EPSILON));
    return whole ? psi : root;
}

/* ---- Visits ------------------------------------------------------------------------------------- */

/* The element as vertex `node` sees it: the rows of B are the rest gradients of the other two, in the same Q. */
static inline void triangle_visit(const sinew_real *data, int data_count, const int32_t *particles, int node,
                                  sinew_real *out, int32_t *others)
{
    const sinew_real *B = data + TRIANGLE_INVERSE;
    const sinew_real rows[3][2] = {{-(B[0] + B[2]), -(B[1] + B[3])}, {B[0], B[1]}, {B[2], B[3]}};
    memcpy(out, data, (size_t)data_count * sizeof *out);
    for (int k = 0; k < 2; k++) {
        const int other = (node + 1 + k) % 3;
        others[k] = particles[other];
        memcpy(out + TRIANGLE_INVERSE + 2 * k, rows[other], sizeof rows[other]);
    }
}

/* F and the rest gradient b of the visiting vertex: moving it by d changes F by d b^T. */
KERNEL_INLINE void triangle_visit_deformation(const visit *v, lane F[6], lane b[2])
{
    lane D[6], inverse[4], xa[3];
    for (int a = 0; a < 2; a++) {
        lane_gather_point(v->q, v->others + a * LANES, xa);
        for (int i = 0; i < 3; i++)
            D[2 * i + a] = xa[i] - v->x[i];
    }
    load_lanes(v->data + TRIANGLE_INVERSE * LANES, 4, inverse);
    multiply32(D, inverse, F);
    b[0] = -(inverse[0] + inverse[2]);
    b[1] = -(inverse[1] + inverse[3]);
}

/* out = M b */
KERNEL_INLINE void apply32(const lane M[6], const lane b[2], lane out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = M[2 * i] * b[0] + M[2 * i + 1] * b[1];
}

/* sum += the gradient w P b */
KERNEL_INLINE void triangle_visit_gradient(const visit *v, const lane P[6], const lane b[2], visit_sum *sum)
{
    const lane weight = lane_load(v->data);
    lane f[3];
    apply32(P, b, f);
    for (int i = 0; i < 3; i++)
        sum->g[i] += weight * f[i];
}

/* sum += w (shear |b|^2 1 + bulk c c^T), c = dJ/dx of the visiting vertex: the cheap block of PBNG 8.1, where J^2/4 L L
 * is the square of dJ/dF. */
KERNEL_INLINE void triangle_visit_bound(const visit *v, const lane F[6], const lane b[2], lane shear, lane bulk,
                                        visit_sum *sum)
{
    const lane weight = lane_load(v->data);
    lane G[6], c[3];
    growth32(F, G);
    apply32(G, b, c);
    block_add(sum->A, weight * shear * (b[0] * b[0] + b[1] * b[1]), weight * bulk, c);
}

/* sum += the block K, times w. */
KERNEL_INLINE void triangle_visit_block(const visit *v, const lane K[9], visit_sum *sum)
{
    static const int entry[6] = {0, 4, 8, 1, 2, 5};
    const lane weight = lane_load(v->data);
    for (int i = 0; i < 6; i++)
        sum->A[i] += weight * K[entry[i]];
}

KERNEL_INLINE lane triangle_visit_difference(const visit *v, const lane d[3], triangle_stress *stress, lane *noise)
{
    const sinew_real *material = v->data + TRIANGLE_MATERIAL * LANES;
    lane F[6], b[2], P[6];
    triangle_visit_deformation(v, F, b);
    const lane before = stress(F, material, P);
    for (int i = 0; i < 6; i++)
        F[i] += d[i / 2] * b[i % 2];
    const lane after = stress(F, material, P);
    *noise = 16 * LANE_EPSILON * (1 + lane_abs(before) + norm32(F));
    return after - before;
}

#endif
