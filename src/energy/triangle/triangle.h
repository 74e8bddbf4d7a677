/* SPDX-License-Identifier: MIT
 *
 * triangle.h: common code of energies on triangles: F from positions, forces from the stress P, and the tangent.
 *
 *     Ds = [x1-x0  x2-x0]     F = Ds B (3x2),  B = (Q^T Dm)^-1 (2x2) of the rest shape
 *     E  = w psi(F)           [f1 f2] = w P B^T,  f0 = -(f1 + f2),  P = dpsi/dF (3x2)
 *
 * The two columns of Q are unit vectors in the plane of the rest triangle: any two for isotropic energies, the
 * directions of warp and weft for the others, so that the columns of F are their images. The order of the vertices does
 * not matter. A triangle cannot be inverted: in space a reflection of its plane is a rotation.
 *
 * psi is written per unit of one modulus: the weight w = modulus x rest area carries the unit, N/m x m^2 with the
 * thickness in the modulus. Data: w, B row by row (4), then the material's own numbers. Row a of B is the rest gradient
 * of vertex a+1, in the order of the vertices. An incidence (vertex_kernel.h) reorders the vertices and keeps Q.
 *
 * The tangent is w d2psi over the two edges x1-x0 and x2-x0, a symmetric 6x6 matrix: blocks K11 and K22 as 00 11 22 01
 * 02 12 and K21 row by row, 21 numbers. Blocks of vertex 0 follow from translation invariance.
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
}; /* indices in the data of a triangle: weight w, inverse rest shape B, constants of the material */
enum {
    TRIANGLE_NEAR = 0,
    TRIANGLE_FAR = 6,
    TRIANGLE_MIXED = 12,
    TRIANGLE_TANGENT_COUNT = 21
}; /* indices of the Hessian blocks K11, K22, K21 in the tangent of a triangle */

/* A material of triangles: returns psi and sets P = dpsi/dF, per unit of the modulus. `material` is the triangle's data
 * from TRIANGLE_MATERIAL on. */
typedef wide triangle_stress(const wide F[6], const sinew_real *material, wide P[6]);

#define sinew_triangle_prepare SINEW_SIMD_SYMBOL(sinew_triangle_prepare)
#define sinew_triangle_product SINEW_SIMD_SYMBOL(sinew_triangle_product)
#define sinew_triangle_hessian SINEW_SIMD_SYMBOL(sinew_triangle_hessian)

/* Fills the first data of a triangle: modulus x rest area, B. Returns NULL or a reason to refuse the triangle. `along`
 * is NULL or a direction in space, whose projection to the plane of the triangle becomes the first column of Q. */
const char *sinew_triangle_prepare(const sinew_element *element, double modulus, const double *along, sinew_real *data);
void sinew_triangle_product(const sinew_kernel *kernel);
void sinew_triangle_hessian(const sinew_kernel *kernel);

/* ---- Operations on 3x2 matrices ------------------------------------------------------------------ */

/* C = A M for row-major matrices, A 3x2 and M 2x2. */
KERNEL_INLINE void multiply32(const wide A[6], const wide M[4], wide C[6])
{
    for (int i = 0; i < 3; i++) {
        C[2 * i] = A[2 * i] * M[0] + A[2 * i + 1] * M[2];
        C[2 * i + 1] = A[2 * i] * M[1] + A[2 * i + 1] * M[3];
    }
}

/* C = A M^T for row-major matrices, A 3x2 and M 2x2. */
KERNEL_INLINE void multiply32_t(const wide A[6], const wide M[4], wide C[6])
{
    for (int i = 0; i < 3; i++) {
        C[2 * i] = A[2 * i] * M[0] + A[2 * i + 1] * M[1];
        C[2 * i + 1] = A[2 * i] * M[2] + A[2 * i + 1] * M[3];
    }
}

/* C = F^T F of a 3x2 matrix F, stored as 00 11 01. */
KERNEL_INLINE void metric32(const wide F[6], wide C[3])
{
    C[0] = F[0] * F[0] + F[2] * F[2] + F[4] * F[4];
    C[1] = F[1] * F[1] + F[3] * F[3] + F[5] * F[5];
    C[2] = F[0] * F[1] + F[2] * F[3] + F[4] * F[5];
}

/* The squared Frobenius norm |F|^2 of a 3x2 matrix. */
KERNEL_INLINE wide norm32(const wide F[6])
{
    return (F[0] * F[0] + F[2] * F[2] + F[4] * F[4]) + (F[1] * F[1] + F[3] * F[3] + F[5] * F[5]);
}

/* The cross product of the columns of F: normal to the triangle; its length is the ratio of area to rest area. */
KERNEL_INLINE void normal32(const wide F[6], wide n[3])
{
    n[0] = F[2] * F[5] - F[4] * F[3];
    n[1] = F[4] * F[1] - F[0] * F[5];
    n[2] = F[0] * F[3] - F[2] * F[1];
}

/* Returns J = |a x b| for the columns a, b of F, and writes G = dJ/dF: b x n and n x a, n being the unit normal. G
 * is zero if J is zero. */
KERNEL_INLINE wide growth32(const wide F[6], wide G[6])
{
    wide n[3];
    normal32(F, n);
    const wide J = wide_sqrt(dot3(n, n)), inverse = 1 / wide_max(J, wide_set(WIDE_ROOT_TINY));
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

/* F = diag(s), a triangle stretched by s along the axes of Q. */
KERNEL_INLINE void stretch32(const wide s[2], wide F[6])
{
    for (int i = 0; i < 6; i++)
        F[i] = wide_set(0);
    F[0] = s[0];
    F[3] = s[1];
}

/* ---- Deformation gradients from positions, gradients from stresses ------------------------------- */

/* indices of the second vertices of the two edges among a triangle's vertices */
static const int triangle_other_vertices[2] = {1, 2};

/* Ds = [x1-x0  x2-x0], the edge vectors of a group's triangles. */
KERNEL_INLINE void triangle_edges(const sinew_real *x, const int32_t *vertex, wide Ds[6])
{
    wide edge[2][3];
    wide_gather_edges(x, vertex, triangle_other_vertices, 2, edge);
    for (int i = 0; i < 6; i++)
        Ds[i] = edge[i % 2][i / 2];
}

/* Computes the deformation gradients F of one group of triangles; `inverse` receives B. */
KERNEL_INLINE void triangle_deformation(const sinew_real *x, const int32_t *vertex, const sinew_real *data,
                                        wide inverse[4], wide F[6])
{
    wide Ds[6];
    triangle_edges(x, vertex, Ds);
    load_wide_array(data + TRIANGLE_INVERSE * SIMD_WIDTH, 4, inverse);
    multiply32(Ds, inverse, F);
}

/* g += columns of f at vertices 1 and 2 of each triangle, minus their sum at vertex 0. */
KERNEL_INLINE void triangle_balance(sinew_real *g, const int32_t *vertex, const wide f[6])
{
    const wide at[2][3] = {{f[0], f[2], f[4]}, {f[1], f[3], f[5]}};
    wide_scatter_balanced(g, vertex, triangle_other_vertices, 2, at);
}

/* Adds the gradient scale P B^T of a triangle's stress P to g of its three vertices; B is the inverse rest shape. */
KERNEL_INLINE void triangle_scatter(sinew_real *g, const int32_t *vertex, wide scale, const wide P[6],
                                    const wide inverse[4])
{
    wide f[6];
    multiply32_t(P, inverse, f);
    for (int i = 0; i < 6; i++)
        f[i] *= scale;
    triangle_balance(g, vertex, f);
}

/* Returns the energy of all triangles of a kernel call; with `scatter`, also adds its gradient. */
KERNEL_INLINE double triangle_evaluate(const sinew_kernel *kernel, int data_count, bool scatter,
                                       triangle_stress *stress)
{
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 3);
        const wide weight = wide_load(data);
        wide inverse[4], F[6], P[6];
        triangle_deformation(kernel->x, vertex, data, inverse, F);
        value_add(&sum, weight, stress(F, data + TRIANGLE_MATERIAL * SIMD_WIDTH, P));
        if (scatter)
            triangle_scatter(kernel->g, vertex, weight, P, inverse);
    }
    return value_total(&sum);
}

/* Writes the three Hessian blocks K11, K21, K22 of a triangle's tangent, multiplied by the weight. */
KERNEL_INLINE void triangle_store_tangent(sinew_real *to, wide weight, const wide near[9], const wide mixed[9],
                                          const wide far[9])
{
    static const int entry[6] = {0, 4, 8, 1, 2, 5};
    for (int i = 0; i < 6; i++) {
        wide_store(to + (TRIANGLE_NEAR + i) * SIMD_WIDTH, weight * near[entry[i]]);
        wide_store(to + (TRIANGLE_FAR + i) * SIMD_WIDTH, weight * far[entry[i]]);
    }
    for (int i = 0; i < 9; i++)
        wide_store(to + (TRIANGLE_MIXED + i) * SIMD_WIDTH, weight * mixed[i]);
}

/* ---- Triangles in reduced coordinates, for PD and ADMM ------------------------------------------- */

/* Writes the reduction matrix D of z = D x: column r of F is F e_r = sum_a D[r][a] x_a with D[r][a] = B[a-1][r], B
 * the inverse rest shape, and D[r][0] = -sum of the others. */
KERNEL_INLINE void triangle_reduce(const sinew_reduced_kernel *kernel, int data_count)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        sinew_real *rows = kernel->D + (size_t)group * 6 * SIMD_WIDTH;
        wide inverse[4];
        load_wide_array(group_data(&kernel->groups, group, data_count) + TRIANGLE_INVERSE * SIMD_WIDTH, 4, inverse);
        for (int r = 0; r < 2; r++) {
            wide_store(rows + (3 * r) * SIMD_WIDTH, -(inverse[r] + inverse[2 + r]));
            wide_store(rows + (3 * r + 1) * SIMD_WIDTH, inverse[r]);
            wide_store(rows + (3 * r + 2) * SIMD_WIDTH, inverse[2 + r]);
        }
    }
}

/* Stiffness of energies that are w/2 times a squared distance: the weight w of each triangle. */
KERNEL_INLINE void triangle_weight_stiffness(const sinew_reduced_kernel *kernel, int data_count)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        wide_store(kernel->weights + group * SIMD_WIDTH, wide_load(group_data(&kernel->groups, group, data_count)));
}

/* Y = F + u, u being ADMM's scaled dual variable of the group, row-major like F. */
KERNEL_INLINE void triangle_shifted(const sinew_reduced_kernel *kernel, int32_t group, const wide F[6], wide Y[6])
{
    load_wide_array(kernel->u + (size_t)group * (6 * SIMD_WIDTH), 6, Y);
    for (int i = 0; i < 6; i++)
        Y[i] += F[i];
}

/* Ends ADMM's local step: dual variable u = Y - Z, with the argument Y and the result Z of the proximal map, and g
 * += w2 D^T (Z - u - F) with the reduction matrix D; padding lanes add nothing. */
KERNEL_INLINE void triangle_prox_finish(const sinew_reduced_kernel *kernel, int32_t group, const sinew_real *data,
                                        const wide F[6], const wide Y[6], const wide Z[6], const wide inverse[4])
{
    const wide zero = wide_set(0), w2 = wide_load(kernel->weights + group * SIMD_WIDTH);
    /* The local problem of a padding lane has no weight and may diverge, and infinity times zero is not zero. */
    const wide_mask filler = wide_eq(wide_load(data), zero);
    wide u[6], P[6];
    for (int i = 0; i < 6; i++) {
        u[i] = wide_select(filler, zero, Y[i] - Z[i]);
        P[i] = wide_select(filler, zero, w2 * (Z[i] - u[i] - F[i]));
    }
    store_wide_array(kernel->u + (size_t)group * (6 * SIMD_WIDTH), 6, u);
    triangle_scatter(kernel->g, group_vertex(&kernel->groups, group, 3), wide_set(1), P, inverse);
}

/* ---- Triangles as constraints, for PBD, XPBD and KKT systems ------------------------------------- */

/* Deformation gradients F of a group of triangles at the points in c. */
KERNEL_INLINE void triangle_constrained(const constrained *c, const wide inverse[4], wide F[6])
{
    wide Ds[6];
    for (int i = 0; i < 6; i++)
        Ds[i] = c->x[4 * (i % 2 + 1) + i / 2] - c->x[i / 2];
    multiply32(Ds, inverse, F);
}

/* Converts the derivative P of a triangle's constraint by the deformation gradient F to the gradient by its
 * vertices, in c->gradient. */
KERNEL_INLINE void triangle_constrained_gradient(const wide P[6], const wide inverse[4], constrained *c)
{
    wide f[6];
    multiply32_t(P, inverse, f);
    for (int i = 0; i < 3; i++) {
        c->gradient[i] = -(f[2 * i] + f[2 * i + 1]);
        c->gradient[3 + i] = f[2 * i];
        c->gradient[6 + i] = f[2 * i + 1];
    }
}

/* The constraint C = sqrt(2 psi) of a triangle or, with `as_energy`, C = psi, per unit of the modulus. If psi is
 * undefined, C and its gradient are zero. */
KERNEL_INLINE wide triangle_constraint(const sinew_real *data, bool as_energy, triangle_stress *stress, constrained *c,
                                       wide *r, wide *weight)
{
    const wide zero = wide_set(0);
    wide inverse[4], F[6], P[6];
    load_wide_array(data + TRIANGLE_INVERSE * SIMD_WIDTH, 4, inverse);
    triangle_constrained(c, inverse, F);
    wide psi = stress(F, data + TRIANGLE_MATERIAL * SIMD_WIDTH, P);
    const wide_mask defined = wide_le(psi, wide_set(WIDE_HUGE));
    psi = wide_select(defined, psi, zero);
    for (int i = 0; i < 6; i++)
        P[i] = wide_select(defined, P[i], zero);
    const wide root = wide_sqrt(wide_max(2 * psi, zero));
    triangle_constrained_gradient(P, inverse, c);
    *weight = wide_load(data);
    *r = as_energy ? wide_set(1) : wide_max(root, wide_set(WIDE_EPSILON * WIDE_EPSILON));
    return as_energy ? psi : root;
}

/* ---- Vertex-triangle incidences, for vertex kernels ---------------------------------------------- */

/* Data of the incidence of a triangle and its vertex `node`: the rows of the inverse rest shape B are the rest
 * gradients of the other two vertices, in the same axes Q of the triangle's plane. */
static inline void triangle_incidence(const sinew_real *data, int data_count, const int32_t *particles, int node,
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

/* Deformation gradient F of an incidence's triangle and rest gradient b of its node: a displacement d of the node
 * changes F by d b^T. */
KERNEL_INLINE void triangle_incidence_deformation(const incidence *v, wide F[6], wide b[2])
{
    wide D[6], inverse[4], xa[3];
    for (int a = 0; a < 2; a++) {
        wide_gather_point(v->q, v->others + a * SIMD_WIDTH, xa);
        for (int i = 0; i < 3; i++)
            D[2 * i + a] = xa[i] - v->x[i];
    }
    load_wide_array(v->data + TRIANGLE_INVERSE * SIMD_WIDTH, 4, inverse);
    multiply32(D, inverse, F);
    b[0] = -(inverse[0] + inverse[2]);
    b[1] = -(inverse[1] + inverse[3]);
}

/* out = M b, a row-major 3x2 matrix times a vector */
KERNEL_INLINE void apply32(const wide M[6], const wide b[2], wide out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = M[2 * i] * b[0] + M[2 * i + 1] * b[1];
}

/* Adds the gradient w P b of psi by the incidence's node to sum: weight w, stress P, rest gradient b of the node. */
KERNEL_INLINE void triangle_incidence_gradient(const incidence *v, const wide P[6], const wide b[2], incidence_sum *sum)
{
    const wide weight = wide_load(v->data);
    wide f[3];
    apply32(P, b, f);
    for (int i = 0; i < 3; i++)
        sum->g[i] += weight * f[i];
}

/* Adds w (shear |b|^2 1 + bulk c c^T) to sum: the approximate Hessian block of PBNG 8.1, with the weight w, the
 * node's rest gradient b and c = dJ/dx at the node. */
KERNEL_INLINE void triangle_incidence_bound(const incidence *v, const wide F[6], const wide b[2], wide shear, wide bulk,
                                            incidence_sum *sum)
{
    const wide weight = wide_load(v->data);
    wide G[6], c[3];
    growth32(F, G);
    apply32(G, b, c);
    block_add(sum->A, weight * shear * (b[0] * b[0] + b[1] * b[1]), weight * bulk, c);
}

/* Adds the 3x3 Hessian block w K of the incidence's node to sum, w the element's weight. */
KERNEL_INLINE void triangle_incidence_block(const incidence *v, const wide K[9], incidence_sum *sum)
{
    static const int entry[6] = {0, 4, 8, 1, 2, 5};
    const wide weight = wide_load(v->data);
    for (int i = 0; i < 6; i++)
        sum->A[i] += weight * K[entry[i]];
}

KERNEL_INLINE wide triangle_incidence_difference(const incidence *v, const wide d[3], triangle_stress *stress,
                                                 wide *noise)
{
    const sinew_real *material = v->data + TRIANGLE_MATERIAL * SIMD_WIDTH;
    wide F[6], b[2], P[6];
    triangle_incidence_deformation(v, F, b);
    const wide before = stress(F, material, P);
    for (int i = 0; i < 6; i++)
        F[i] += d[i / 2] * b[i % 2];
    const wide after = stress(F, material, P);
    *noise = 16 * WIDE_EPSILON * (1 + wide_abs(before) + norm32(F));
    return after - before;
}

#endif
