/* SPDX-License-Identifier: MIT
 *
 * tet.h: what all energies on tetrahedra share: from positions to F, from the stress P to forces, the tangent.
 *
 *     Ds = [x1-x0  x2-x0  x3-x0]     F = Ds Bm,  Bm = Dm^-1 of the rest shape          thesis (3.12)
 *     E  = w psi(F)                  [f1 f2 f3] = w P Bm^T,  f0 = -(f1 + f2 + f3),  P = dpsi/dF
 *
 * psi is written per unit of one modulus (mu, or the stiffness): the weight w = modulus x rest volume carries the unit,
 * and a material is left with one pure number. Data: w, Bm (9), then the material's own numbers.
 *
 * The tangent. In the frames U, V of F = U diag(sigma) V^T the 9x9 matrix dP/dF of an isotropic energy falls apart into
 * one 3x3 block A for the diagonal and, per pair i < j, a 2x2 block [s t; t s] for the entries ij and ji. So 30 lanes
 * hold it: U, W = Bm V, and w (A, s, t). The full symmetric matrix would take 45 and need Bm beside; the product
 *
 *     H p:   M = U^T (Ds(p) W),  N = (A, s, t) M,  f = (U N) W^T
 *
 * is 108 multiply-adds and some 20 more against 135, and a Newton step streams the tangent through memory in each
 * product, so 30 against 54 numbers count for more. The linear energy has the same form with U = V = 1.
 *
 * A tetrahedron numbered inside out is the same tetrahedron: F and |volume| do not depend on the order of vertices.
 */
#ifndef SINEW_TET_H
#define SINEW_TET_H

#include "energy/matrix3.h"

enum {
    TET_WEIGHT = 0,
    TET_REST = 1,
    TET_MATERIAL = 10
}; /* data */
enum {
    TET_U = 0,
    TET_W = 9,
    TET_A = 18,
    TET_S = 24,
    TET_T = 27,
    TET_TANGENT_COUNT = 30
}; /* tangent */

/* The second derivatives in the frames of the singular value decomposition. Pairs in the order 01 02 12. */
typedef struct tet_tangent {
    lane A[6]; /* A00 A11 A22 A01 A02 A12 */
    lane s[3];
    lane t[3];
} tet_tangent;

/* A material: psi and P = dpsi/dF per unit of the modulus. `material` is data from TET_MATERIAL on. */
typedef lane tet_stress(const lane F[9], const sinew_real *material, lane P[9]);

#define sinew_tet_prepare SINEW_LANE_SYMBOL(sinew_tet_prepare)
#define sinew_tet_product SINEW_LANE_SYMBOL(sinew_tet_product)
#define sinew_tet_hessian SINEW_LANE_SYMBOL(sinew_tet_hessian)

/* data = modulus x rest volume, Bm. NULL or why not. */
const char *sinew_tet_prepare(const sinew_element *element, double modulus, sinew_real *data);
void sinew_tet_product(const sinew_kernel *kernel);
void sinew_tet_hessian(const sinew_kernel *kernel);

/* D = [x1-x0  x2-x0  x3-x0] of one group. */
KERNEL_INLINE void tet_edges(const sinew_real *x, const int32_t *vertex, lane D[9])
{
    lane x0[3], xa[3];
    lane_gather_point(x, vertex, x0);
    for (int a = 0; a < 3; a++) {
        lane_gather_point(x, vertex + (a + 1) * LANES, xa);
        for (int i = 0; i < 3; i++)
            D[3 * i + a] = xa[i] - x0[i];
    }
}

/* F of one group, whose Bm is left in rest. */
KERNEL_INLINE void tet_deformation(const sinew_real *x, const int32_t *vertex, const sinew_real *data, lane rest[9],
                                   lane F[9])
{
    lane Ds[9];
    tet_edges(x, vertex, Ds);
    load_lanes(data + TET_REST * LANES, 9, rest);
    multiply3(Ds, rest, F);
}

/* g += the four nodal vectors [f1 f2 f3] = P B^T, f0 = -(f1 + f2 + f3). */
KERNEL_INLINE void tet_scatter(sinew_real *g, const int32_t *vertex, const lane P[9], const lane B[9])
{
    lane f[9], f0[3];
    multiply3_nt(P, B, f);
    for (int i = 0; i < 3; i++)
        f0[i] = -(f[3 * i] + f[3 * i + 1] + f[3 * i + 2]);
    lane_scatter_point(g, vertex, f0);
    for (int a = 0; a < 3; a++) {
        const lane fa[3] = {f[a], f[3 + a], f[6 + a]};
        lane_scatter_point(g, vertex + (a + 1) * LANES, fa);
    }
}

KERNEL_INLINE double tet_value(const sinew_kernel *kernel, int data_count, tet_stress *stress)
{
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->group_count; group++) {
        const sinew_real *data = group_data(kernel, group, data_count);
        lane rest[9], F[9], P[9];
        tet_deformation(kernel->x, group_vertex(kernel, group, 4), data, rest, F);
        value_add(&sum, lane_load(data), stress(F, data + TET_MATERIAL * LANES, P));
    }
    return value_total(&sum);
}

/* Gather, material and scatter each run over a few groups before the next one starts. In one loop they would be a
 * single chain of dependent instructions, longer than what a processor looks ahead; apart, the groups of a loop overlap
 * (Neo-Hookean, n = 32 block, AVX2: 9 in place of 11 ns per tetrahedron in double precision). */
enum {
    TET_TILE = 8
};

KERNEL_INLINE double tet_gradient(const sinew_kernel *kernel, int data_count, tet_stress *stress)
{
    value_sum sum = {0};
    lane tile[TET_TILE][9]; /* F, then w P */
    for (int32_t first = 0; first < kernel->group_count; first += TET_TILE) {
        const int32_t rest_count = kernel->group_count - first, count = rest_count < TET_TILE ? rest_count : TET_TILE;
        for (int32_t k = 0; k < count; k++) {
            lane rest[9];
            tet_deformation(kernel->x, group_vertex(kernel, first + k, 4), group_data(kernel, first + k, data_count),
                            rest, tile[k]);
        }
        for (int32_t k = 0; k < count; k++) {
            const sinew_real *data = group_data(kernel, first + k, data_count);
            const lane weight = lane_load(data);
            lane P[9];
            value_add(&sum, weight, stress(tile[k], data + TET_MATERIAL * LANES, P));
            for (int i = 0; i < 9; i++)
                tile[k][i] = weight * P[i];
        }
        for (int32_t k = 0; k < count; k++) {
            lane rest[9];
            load_lanes(group_data(kernel, first + k, data_count) + TET_REST * LANES, 9, rest);
            tet_scatter(kernel->g, group_vertex(kernel, first + k, 4), tile[k], rest);
        }
    }
    return value_total(&sum);
}

/* Writes the tangent of one group, W = Bm V. */
KERNEL_INLINE void tet_store_tangent(sinew_real *to, lane weight, const lane U[9], const lane W[9],
                                     const tet_tangent *tangent)
{
    store_lanes(to + TET_U * LANES, 9, U);
    store_lanes(to + TET_W * LANES, 9, W);
    for (int i = 0; i < 6; i++)
        lane_store(to + (TET_A + i) * LANES, weight * tangent->A[i]);
    for (int i = 0; i < 3; i++) {
        lane_store(to + (TET_S + i) * LANES, weight * tangent->s[i]);
        lane_store(to + (TET_T + i) * LANES, weight * tangent->t[i]);
    }
}

KERNEL_INLINE void tet_determinants(const sinew_kernel *kernel, int data_count, double *smallest, double *largest,
                                    int32_t *inverted)
{
    *smallest = INFINITY;
    *largest = -INFINITY;
    *inverted = 0;
    for (int32_t group = 0; group < kernel->group_count; group++) {
        const sinew_real *data = group_data(kernel, group, data_count);
        lane rest[9], F[9], C[9];
        tet_deformation(kernel->x, group_vertex(kernel, group, 4), data, rest, F);
        const lane J = cofactor3(F, C);
        for (int i = 0; i < LANES; i++) {
            const double det = (double)lane_get(J, i);
            if (!(data[TET_WEIGHT * LANES + i] > 0))
                continue;
            *smallest = det < *smallest ? det : *smallest;
            *largest = det > *largest ? det : *largest;
            *inverted += det <= 0;
        }
    }
}

#endif
