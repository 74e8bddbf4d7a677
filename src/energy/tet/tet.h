/* SPDX-License-Identifier: MIT
 *
 * tet.h: common code of energies on tetrahedra: F from positions, forces from the stress P, and the tangent.
 *
 *     Ds = [x1-x0  x2-x0  x3-x0]     F = Ds L,  L = (Q^T Dm)^-1 of the rest shape        thesis (3.12)
 *     E  = w psi(F)                  [f1 f2 f3] = w P L^T,  f0 = -(f1 + f2 + f3),  P = dpsi/dF
 *
 * The rotation Q turns each rest shape so that Dm and its inverse are lower triangular: x3-x0 lies along the third
 * axis, x2-x0 in the plane of the last two. Isotropic energies are invariant, psi(F Q) = psi(F), and an element stores
 * six numbers of L instead of nine. F at rest is Q, not 1. The linear energy, which is not isotropic for large F,
 * stores Q and rotates back.
 *
 * psi is written per unit of one modulus (mu, or the stiffness): the weight w = modulus x rest volume carries the unit,
 * and the numbers of a material have no unit. Data: w, L (6), then the material's own numbers.
 *
 * The tangent. In the frames U, V of F = U diag(sigma) V^T the 9x9 matrix dP/dF of an isotropic energy splits into one
 * 3x3 block A for the diagonal and, per pair i < j, a 2x2 block [s t; t s] for the entries ij and ji. So 30 numbers are
 * stored: U, W = L V, and w (A, s, t). The full symmetric matrix would take 45 and need L in addition; the product
 *
 *     H p:   M = U^T (Ds(p) W),  N = (A, s, t) M,  f = (U N) W^T
 *
 * takes 108 multiply-adds and some 20 more, against 135. A Newton step streams the tangent through memory in each
 * product, so 30 against 51 numbers matter more. The linear energy has the same form with U = 1, V = Q^T.
 *
 * The orientation of a tetrahedron does not matter: F and |volume| do not depend on the order of vertices.
 */
#ifndef SINEW_SRC_ENERGY_TET_TET_H
#define SINEW_SRC_ENERGY_TET_TET_H

#include "energy/matrix3.h"
#include "energy/batch_layout.h"
#include "math/small/decompose.h"

enum {
    TET_WEIGHT = 0,
    TET_LOWER = 1,
    TET_MATERIAL = 7
}; /* indices in the data of a tet: weight w, inverse rest shape L, constants of the material */
/* Indices of the frames U and W and of the second derivatives A, s and t in the tangent of a tet (see the file
 * head). */
enum {
    TET_U = 0,
    TET_W = 9,
    TET_A = 18,
    TET_S = 24,
    TET_T = 27,
    TET_TANGENT_COUNT = 30
};

/* The second derivatives of psi in the frames U, V of the singular value decomposition F = U diag(sigma) V^T. s and
 * t are in the order of pairs 01 02 12. */
typedef struct tet_tangent {
    wide A[6]; /* symmetric 3x3 matrix d2psi/dsigma_i dsigma_j, stored as A00 A11 A22 A01 A02 A12 */
    wide s[3];
    wide t[3];
} tet_tangent;

/* A material: returns psi and sets P = dpsi/dF, per unit of the modulus. `material` is the tet's data from TET_MATERIAL
 * on. */
typedef wide tet_stress(const wide F[9], const sinew_real *material, wide P[9]);
/* A material that takes the rotation R nearest to the deformation gradient F as input: returns psi and sets P =
 * dpsi/dF. */
typedef wide tet_rotated_stress(const wide F[9], const wide R[9], const sinew_real *material, wide P[9]);

#define sinew_tet_prepare SINEW_SIMD_SYMBOL(sinew_tet_prepare)
#define sinew_tet_product SINEW_SIMD_SYMBOL(sinew_tet_product)
#define sinew_tet_hessian SINEW_SIMD_SYMBOL(sinew_tet_hessian)

/* Fills the first data of a tet: modulus x filled rest volume, then L, the lower triangular inverse of the rest
 * shape. Returns NULL or a reason to refuse the tet. `frame` is NULL or receives Q, row-major: the rotation that
 * makes the rest shape lower triangular. With element->rest_known only the weight is computed, from element->size. */
const char *sinew_tet_prepare(const sinew_element *element, double modulus, sinew_real *data, double *frame);
void sinew_tet_product(const sinew_kernel *kernel);
void sinew_tet_hessian(const sinew_kernel *kernel);

/* ---- Fans: chains of up to three tets that share faces (batch_layout.h) -------------------------- */

/* Index of each point of a fan, except the first, among the vertices of the fan's groups; and, per tet, the three
 * edges' end points among those points. */
static const int tet_fan_vertex[SINEW_FAN + 2] = {1, 2, 3, 7, 11};
static const int tet_fan_edge[SINEW_FAN][3] = {{0, 1, 2}, {0, 1, 3}, {0, 3, 4}};

/* Gathers the edge matrices Ds = [x1-x0  x2-x0  x3-x0] of the tets of one fan. */
KERNEL_INLINE void tet_gather_fan(const sinew_real *x, const int32_t *vertex, int fan, wide Ds[][9])
{
    wide edge[SINEW_FAN + 2][3];
    wide_gather_edges(x, vertex, tet_fan_vertex, fan + 2, edge);
#pragma GCC unroll 3
    for (int k = 0; k < fan; k++)
        for (int i = 0; i < 9; i++)
            Ds[k][i] = edge[tet_fan_edge[k][i % 3]][i / 3];
}

/* g += the gradients at the vertices of the tets of one fan: the columns of f[k], and minus their sum at the common
 * vertex. The sums follow tet_fan_edge, written out without additions to zero. */
KERNEL_INLINE void tet_scatter_fan(sinew_real *g, const int32_t *vertex, int fan, const wide f[][9])
{
    wide sum[SINEW_FAN + 2][3];
    for (int i = 0; i < 9; i++)
        sum[i % 3][i / 3] = f[0][i];
    for (int i = 0; fan >= 2 && i < 3; i++) {
        sum[0][i] += f[1][3 * i];
        sum[1][i] += f[1][3 * i + 1];
        sum[3][i] = f[1][3 * i + 2];
    }
    for (int i = 0; fan >= 3 && i < 3; i++) {
        sum[0][i] += f[2][3 * i];
        sum[3][i] += f[2][3 * i + 1];
        sum[4][i] = f[2][3 * i + 2];
    }
    wide_scatter_balanced(g, vertex, tet_fan_vertex, fan + 2, (const wide(*)[3])sum);
}

/* Computes the deformation gradients F = Ds L of one group of tets; `lower` receives L, the lower triangular inverse
 * of the rest shape. */
KERNEL_INLINE void tet_deformation(const sinew_real *x, const int32_t *vertex, const sinew_real *data, wide lower[6],
                                   wide F[9])
{
    wide Ds[1][9];
    tet_gather_fan(x, vertex, 1, Ds);
    load_wide_array(data + TET_LOWER * SIMD_WIDTH, 6, lower);
    multiply3_lower(Ds[0], lower, F);
}

/* Adds the gradient P L^T of a tet's stress P to g of its four vertices; `lower` is the inverse rest shape L. */
KERNEL_INLINE void tet_scatter(sinew_real *g, const int32_t *vertex, const wide P[9], const wide lower[6])
{
    wide f[1][9];
    multiply3_lower_t(P, lower, f[0]);
    tet_scatter_fan(g, vertex, 1, (const wide(*)[9])f);
}

/* ---- Tiles: several groups per stage of a kernel ------------------------------------------------- */

/* Gather, material and scatter each run over a few groups before the next stage starts. In one loop they would be a
 * chain of dependent instructions longer than a processor's reorder window; separate loops overlap groups. */
enum {
    TET_TILE = SINEW_POLAR_TILE
};

/* A tile: consecutive groups of tets that a kernel processes together, in fans (chains of tets that share faces) of one
 * size. */
typedef struct tet_tile {
    int32_t first, count;
    int fan;
} tet_tile;

/* The tile of groups of one fan size that begins with group `first`. */
KERNEL_INLINE tet_tile tet_tile_at(const sinew_groups *groups, int32_t first)
{
    const int32_t threes = groups->threes, twos = threes + groups->twos;
    const int fan = first < threes ? 3 : first < twos ? 2 : 1;
    const int32_t left = (first < threes ? threes : first < twos ? twos : groups->count) - first;
    const int32_t max = TET_TILE / fan * fan;
    return (tet_tile){first, left < max ? left : max, fan};
}

/* Prefetches `size` bytes into the cache. The address may be beyond the end of the array, so it is an integer, not a
 * pointer. */
KERNEL_INLINE void tet_prefetch(uintptr_t address, uintptr_t size)
{
    for (uintptr_t line = 0; line < size; line += 64)
        __builtin_prefetch((const void *)(address + line));
}

/* Prefetches the data of a group two tiles ahead, possibly of the next chunk: the stages of a tile read data in an
 * order that hardware prefetching does not detect. Only the last vertex of the later groups of a fan is read. */
KERNEL_INLINE void tet_prefetch_group(const sinew_groups *groups, int32_t group, int data_count, bool later)
{
    const uintptr_t data = (uintptr_t)data_count * sizeof(wide), row = SIMD_WIDTH * sizeof(int32_t);
    tet_prefetch((uintptr_t)group_data(groups, group, data_count) + 2 * TET_TILE * data, data);
    tet_prefetch((uintptr_t)group_vertex(groups, group, 4) + (2 * TET_TILE * 4 + (later ? 3 : 0)) * row,
                 later ? row : 4 * row);
}

KERNEL_INLINE void tet_gather_fans(const sinew_groups *groups, const sinew_real *x, const tet_tile *tile, int fan,
                                   int data_count, wide F[TET_TILE][9])
{
    for (int32_t k = 0; k < tile->count; k += fan) {
        wide Ds[SINEW_FAN][9];
        tet_gather_fan(x, group_vertex(groups, tile->first + k, 4), fan, Ds);
#pragma GCC unroll 3
        for (int i = 0; i < fan; i++) {
            const int32_t group = tile->first + k + i;
            wide lower[6];
            tet_prefetch_group(groups, group, data_count, i > 0);
            load_wide_array(group_data(groups, group, data_count) + TET_LOWER * SIMD_WIDTH, 6, lower);
            multiply3_lower(Ds[i], lower, F[k + i]);
        }
    }
}

KERNEL_INLINE void tet_gather_tile(const sinew_groups *groups, const sinew_real *x, const tet_tile *tile,
                                   int data_count, wide F[TET_TILE][9])
{
    if (tile->fan == 3)
        tet_gather_fans(groups, x, tile, 3, data_count, F);
    else if (tile->fan == 2)
        tet_gather_fans(groups, x, tile, 2, data_count, F);
    else
        tet_gather_fans(groups, x, tile, 1, data_count, F);
}

KERNEL_INLINE void tet_scatter_fans(const sinew_groups *groups, sinew_real *g, const tet_tile *tile, int fan,
                                    int data_count, bool weighted, const wide P[TET_TILE][9])
{
    for (int32_t k = 0; k < tile->count; k += fan) {
        wide f[SINEW_FAN][9];
#pragma GCC unroll 3
        for (int i = 0; i < fan; i++) {
            const sinew_real *data = group_data(groups, tile->first + k + i, data_count);
            const wide weight = wide_load(data + TET_WEIGHT * SIMD_WIDTH);
            /* weight times the inverse rest shape L: scaling L takes six products instead of nine for the stress P,
             * and does not wait for P */
            wide lower[6];
            load_wide_array(data + TET_LOWER * SIMD_WIDTH, 6, lower);
            for (int j = 0; weighted && j < 6; j++)
                lower[j] *= weight;
            multiply3_lower_t(P[k + i], lower, f[i]);
        }
        tet_scatter_fan(g, group_vertex(groups, tile->first + k, 4), fan, (const wide(*)[9])f);
    }
}

/* g += the gradients of the tets of a tile from their stresses w P, or P if not `weighted`. */
KERNEL_INLINE void tet_scatter_tile(const sinew_groups *groups, sinew_real *g, const tet_tile *tile, int data_count,
                                    bool weighted, const wide P[TET_TILE][9])
{
    if (tile->fan == 3)
        tet_scatter_fans(groups, g, tile, 3, data_count, weighted, P);
    else if (tile->fan == 2)
        tet_scatter_fans(groups, g, tile, 2, data_count, weighted, P);
    else
        tet_scatter_fans(groups, g, tile, 1, data_count, weighted, P);
}

/* Returns the energy of all tets of a kernel call; with `scatter`, also adds its gradient. rotated: NULL, or the
 * material function used instead of `stress`. */
KERNEL_INLINE double tet_evaluate(const sinew_kernel *kernel, int data_count, bool scatter, tet_stress *stress,
                                  tet_rotated_stress *rotated)
{
    value_sum sum = {0};
    wide FP[TET_TILE][9], R[TET_TILE][9]; /* FP: deformation gradients F, overwritten by stresses P */
    tet_tile tile;
    for (int32_t first = 0; first < kernel->groups.count; first += tile.count) {
        tile = tet_tile_at(&kernel->groups, first);
        tet_gather_tile(&kernel->groups, kernel->x, &tile, data_count, FP);
        if (rotated)
            sinew_polar3_tile(tile.count, (const wide(*)[9])FP, R);
        for (int32_t k = 0; k < tile.count; k++) {
            const sinew_real *data = group_data(&kernel->groups, first + k, data_count),
                             *material = data + TET_MATERIAL * SIMD_WIDTH;
            const wide weight = wide_load(data);
            wide P[9];
            value_add(&sum, weight, rotated ? rotated(FP[k], R[k], material, P) : stress(FP[k], material, P));
            memcpy(FP[k], P, sizeof P);
        }
        if (scatter)
            tet_scatter_tile(&kernel->groups, kernel->g, &tile, data_count, true, (const wide(*)[9])FP);
    }
    return value_total(&sum);
}

KERNEL_INLINE double tet_value(const sinew_kernel *kernel, int data_count, tet_stress *stress)
{
    return tet_evaluate(kernel, data_count, false, stress, NULL);
}

KERNEL_INLINE double tet_rotated_value(const sinew_kernel *kernel, int data_count, tet_stress *stress,
                                       tet_rotated_stress *rotated)
{
    return tet_evaluate(kernel, data_count, false, stress, rotated);
}

KERNEL_INLINE double tet_gradient(const sinew_kernel *kernel, int data_count, tet_stress *stress)
{
    return tet_evaluate(kernel, data_count, true, stress, NULL);
}

KERNEL_INLINE double tet_rotated_gradient(const sinew_kernel *kernel, int data_count, tet_stress *stress,
                                          tet_rotated_stress *rotated)
{
    return tet_evaluate(kernel, data_count, true, stress, rotated);
}

/* Writes the tangent of one group of tets: the frames U and W = L V (inverse rest shape L, singular vectors U and
 * V), and the weighted second derivatives A, s, t. */
KERNEL_INLINE void tet_store_tangent(sinew_real *to, wide weight, const wide U[9], const wide W[9],
                                     const tet_tangent *tangent)
{
    store_wide_array(to + TET_U * SIMD_WIDTH, 9, U);
    store_wide_array(to + TET_W * SIMD_WIDTH, 9, W);
    for (int i = 0; i < 6; i++)
        wide_store(to + (TET_A + i) * SIMD_WIDTH, weight * tangent->A[i]);
    for (int i = 0; i < 3; i++) {
        wide_store(to + (TET_S + i) * SIMD_WIDTH, weight * tangent->s[i]);
        wide_store(to + (TET_T + i) * SIMD_WIDTH, weight * tangent->t[i]);
    }
}

KERNEL_INLINE void tet_determinants(const sinew_kernel *kernel, int data_count, double *smallest, double *largest,
                                    int32_t *inverted)
{
    *smallest = INFINITY;
    *largest = -INFINITY;
    *inverted = 0;
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        wide lower[6], F[9], C[9];
        tet_deformation(kernel->x, group_vertex(&kernel->groups, group, 4), data, lower, F);
        const wide J = cofactor3(F, C);
        for (int i = 0; i < SIMD_WIDTH; i++) {
            const double det = (double)wide_get(J, i);
            if (!(data[TET_WEIGHT * SIMD_WIDTH + i] > 0))
                continue;
            *smallest = det < *smallest ? det : *smallest;
            *largest = det > *largest ? det : *largest;
            *inverted += det <= 0;
        }
    }
}

#endif
