/* SPDX-License-Identifier: MIT
 *
 * tet.h: what all energies on tetrahedra share: from positions to F, from the stress P to forces, the tangent.
 *
 *     Ds = [x1-x0  x2-x0  x3-x0]     F = Ds L,  L = (Q^T Dm)^-1 of the rest shape        thesis (3.12)
 *     E  = w psi(F)                  [f1 f2 f3] = w P L^T,  f0 = -(f1 + f2 + f3),  P = dpsi/dF
 *
 * The rotation Q turns each rest shape so that Dm, and with it its inverse, is lower triangular: x3-x0 along the third
 * axis, x2-x0 in the plane of the last two. An isotropic energy does not see it, psi(F Q) = psi(F), and the element is
 * left with six numbers in place of nine: a third less to read from memory and to multiply. F at rest is Q, not 1. The
 * linear energy, which is not isotropic for large F, keeps Q and turns back.
 *
 * psi is written per unit of one modulus (mu, or the stiffness): the weight w = modulus x rest volume carries the unit,
 * and a material is left with one pure number. Data: w, L (6), then the material's own numbers.
 *
 * The tangent. In the frames U, V of F = U diag(sigma) V^T the 9x9 matrix dP/dF of an isotropic energy falls apart into
 * one 3x3 block A for the diagonal and, per pair i < j, a 2x2 block [s t; t s] for the entries ij and ji. So 30 lanes
 * hold it: U, W = L V, and w (A, s, t). The full symmetric matrix would take 45 and need L beside; the product
 *
 *     H p:   M = U^T (Ds(p) W),  N = (A, s, t) M,  f = (U N) W^T
 *
 * is 108 multiply-adds and some 20 more against 135, and a Newton step streams the tangent through memory in each
 * product, so 30 against 51 numbers count for more. The linear energy has the same form with U = 1, V = Q^T.
 *
 * A tetrahedron numbered inside out is the same tetrahedron: F and |volume| do not depend on the order of vertices.
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
/* The same of a material that needs the rotation R nearest to F, and is given it. */
typedef lane tet_rotated_stress(const lane F[9], const lane R[9], const sinew_real *material, lane P[9]);

#define sinew_tet_prepare SINEW_LANE_SYMBOL(sinew_tet_prepare)
#define sinew_tet_product SINEW_LANE_SYMBOL(sinew_tet_product)
#define sinew_tet_hessian SINEW_LANE_SYMBOL(sinew_tet_hessian)

/* data = modulus x rest volume, L. NULL or why not. `frame` is NULL or gets Q, row-major. */
const char *sinew_tet_prepare(const sinew_element *element, double modulus, sinew_real *data, double *frame);
void sinew_tet_product(const sinew_kernel *kernel);
void sinew_tet_hessian(const sinew_kernel *kernel);

/* ---- Fans of tets (batch_layout.h) ----------------------------------------------------------------- */

/* Where the points but the first of a fan are among the rows of its groups' vertices, and to which of them the edges of
 * each tet go. */
static const int tet_fan_row[SINEW_FAN + 2] = {1, 2, 3, 7, 11};
static const int tet_fan_edge[SINEW_FAN][3] = {{0, 1, 2}, {0, 1, 3}, {0, 3, 4}};

/* Ds of the tets of one fan. */
KERNEL_INLINE void tet_gather_fan(const sinew_real *x, const int32_t *vertex, int fan, lane Ds[][9])
{
    lane edge[SINEW_FAN + 2][3];
    lane_gather_edges(x, vertex, tet_fan_row, fan + 2, edge);
#pragma GCC unroll 3
    for (int k = 0; k < fan; k++)
        for (int i = 0; i < 9; i++)
            Ds[k][i] = edge[tet_fan_edge[k][i % 3]][i / 3];
}

/* g += the nodal vectors of the tets of one fan: the columns of f[k], and at their common vertex minus all of them. The
 * sums are tet_fan_edge written out: what comes first to a point is not added to a zero. */
KERNEL_INLINE void tet_scatter_fan(sinew_real *g, const int32_t *vertex, int fan, const lane f[][9])
{
    lane sum[SINEW_FAN + 2][3];
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
    lane_scatter_balanced(g, vertex, tet_fan_row, fan + 2, (const lane(*)[3])sum);
}

/* F of one group, whose L is left in lower. */
KERNEL_INLINE void tet_deformation(const sinew_real *x, const int32_t *vertex, const sinew_real *data, lane lower[6],
                                   lane F[9])
{
    lane Ds[1][9];
    tet_gather_fan(x, vertex, 1, Ds);
    load_lanes(data + TET_LOWER * LANES, 6, lower);
    multiply3_lower(Ds[0], lower, F);
}

/* g += the forces of P. */
KERNEL_INLINE void tet_scatter(sinew_real *g, const int32_t *vertex, const lane P[9], const lane lower[6])
{
    lane f[1][9];
    multiply3_lower_t(P, lower, f[0]);
    tet_scatter_fan(g, vertex, 1, (const lane(*)[9])f);
}

/* ---- Tiles ------------------------------------------------------------------------------------ */

/* Gather, material and scatter each run over a few groups before the next one starts. In one loop they would be a
 * single chain of dependent instructions, longer than what a processor looks ahead; apart, the groups of a loop
 * overlap. */
enum {
    TET_TILE = SINEW_POLAR_TILE
};

/* Groups that a kernel takes at once: fans of one size. */
typedef struct tet_tile {
    int32_t first, count;
    int fan;
} tet_tile;

/* The tile that begins with group `first`. */
KERNEL_INLINE tet_tile tet_tile_at(const sinew_groups *groups, int32_t first)
{
    const int32_t threes = groups->threes, twos = threes + groups->twos;
    const int fan = first < threes ? 3 : first < twos ? 2 : 1;
    const int32_t left = (first < threes ? threes : first < twos ? twos : groups->count) - first;
    const int32_t most = TET_TILE / fan * fan;
    return (tet_tile){first, left < most ? left : most, fan};
}

/* Asks for `size` bytes. Maybe past the end of what there is, so it is an address and no pointer. */
KERNEL_INLINE void tet_prefetch(uintptr_t address, uintptr_t size)
{
    for (uintptr_t line = 0; line < size; line += 64)
        __builtin_prefetch((const void *)(address + line));
}

/* Asks for the numbers of a group that comes two tiles later, maybe of the next chunk: the stages of a tile touch them
 * in an order that the processor does not foresee. Of the later groups of a fan only the last vertex is read. */
KERNEL_INLINE void tet_prefetch_group(const sinew_groups *groups, int32_t group, int data_count, bool later)
{
    const uintptr_t data = (uintptr_t)data_count * sizeof(lane), row = LANES * sizeof(int32_t);
    tet_prefetch((uintptr_t)group_data(groups, group, data_count) + 2 * TET_TILE * data, data);
    tet_prefetch((uintptr_t)group_vertex(groups, group, 4) + (2 * TET_TILE * 4 + (later ? 3 : 0)) * row,
                 later ? row : 4 * row);
}

KERNEL_INLINE void tet_gather_fans(const sinew_groups *groups, const sinew_real *x, const tet_tile *tile, int fan,
                                   int data_count, lane F[TET_TILE][9])
{
    for (int32_t k = 0; k < tile->count; k += fan) {
        lane Ds[SINEW_FAN][9];
        tet_gather_fan(x, group_vertex(groups, tile->first + k, 4), fan, Ds);
#pragma GCC unroll 3
        for (int i = 0; i < fan; i++) {
            const int32_t group = tile->first + k + i;
            lane lower[6];
            tet_prefetch_group(groups, group, data_count, i > 0);
            load_lanes(group_data(groups, group, data_count) + TET_LOWER * LANES, 6, lower);
            multiply3_lower(Ds[i], lower, F[k + i]);
        }
    }
}

KERNEL_INLINE void tet_gather_tile(const sinew_groups *groups, const sinew_real *x, const tet_tile *tile,
                                   int data_count, lane F[TET_TILE][9])
{
    if (tile->fan == 3)
        tet_gather_fans(groups, x, tile, 3, data_count, F);
    else if (tile->fan == 2)
        tet_gather_fans(groups, x, tile, 2, data_count, F);
    else
        tet_gather_fans(groups, x, tile, 1, data_count, F);
}

KERNEL_INLINE void tet_scatter_fans(const sinew_groups *groups, sinew_real *g, const tet_tile *tile, int fan,
                                    int data_count, bool weighted, const lane P[TET_TILE][9])
{
    for (int32_t k = 0; k < tile->count; k += fan) {
        lane f[SINEW_FAN][9];
#pragma GCC unroll 3
        for (int i = 0; i < fan; i++) {
            const sinew_real *data = group_data(groups, tile->first + k + i, data_count);
            const lane weight = lane_load(data + TET_WEIGHT * LANES);
            lane lower[6]; /* w L: six products in place of the nine of w P, and later in the chain */
            load_lanes(data + TET_LOWER * LANES, 6, lower);
            for (int j = 0; weighted && j < 6; j++)
                lower[j] *= weight;
            multiply3_lower_t(P[k + i], lower, f[i]);
        }
        tet_scatter_fan(g, group_vertex(groups, tile->first + k, 4), fan, (const lane(*)[9])f);
    }
}

/* g += the forces of w P, or of P. */
KERNEL_INLINE void tet_scatter_tile(const sinew_groups *groups, sinew_real *g, const tet_tile *tile, int data_count,
                                    bool weighted, const lane P[TET_TILE][9])
{
    if (tile->fan == 3)
        tet_scatter_fans(groups, g, tile, 3, data_count, weighted, P);
    else if (tile->fan == 2)
        tet_scatter_fans(groups, g, tile, 2, data_count, weighted, P);
    else
        tet_scatter_fans(groups, g, tile, 1, data_count, weighted, P);
}

/* Value, and where it is wanted gradient. rotated: NULL, or goes before stress. */
KERNEL_INLINE double tet_evaluate(const sinew_kernel *kernel, int data_count, bool scatter, tet_stress *stress,
                                  tet_rotated_stress *rotated)
{
    value_sum sum = {0};
    lane FP[TET_TILE][9], R[TET_TILE][9]; /* F, then P */
    tet_tile tile;
    for (int32_t first = 0; first < kernel->groups.count; first += tile.count) {
        tile = tet_tile_at(&kernel->groups, first);
        tet_gather_tile(&kernel->groups, kernel->x, &tile, data_count, FP);
        if (rotated)
            sinew_polar3_tile(tile.count, (const lane(*)[9])FP, R);
        for (int32_t k = 0; k < tile.count; k++) {
            const sinew_real *data = group_data(&kernel->groups, first + k, data_count),
                             *material = data + TET_MATERIAL * LANES;
            const lane weight = lane_load(data);
            lane P[9];
            value_add(&sum, weight, rotated ? rotated(FP[k], R[k], material, P) : stress(FP[k], material, P));
            memcpy(FP[k], P, sizeof P);
        }
        if (scatter)
            tet_scatter_tile(&kernel->groups, kernel->g, &tile, data_count, true, (const lane(*)[9])FP);
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

/* Writes the tangent of one group, W = L V. */
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
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        lane lower[6], F[9], C[9];
        tet_deformation(kernel->x, group_vertex(&kernel->groups, group, 4), data, lower, F);
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
