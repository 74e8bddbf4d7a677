/* SPDX-License-Identifier: MIT
 *
 * vertex_kernel_points.h: incidences of elements whose vertices cannot be permuted: the node is inserted among the
 * others at its index in the element, which is the last number of the incidence's data.
 */
#ifndef SINEW_SRC_ENERGY_VERTEX_KERNEL_POINTS_H
#define SINEW_SRC_ENERGY_VERTEX_KERNEL_POINTS_H

#include "energy/vertex_kernel.h"
#include "math/small/decompose.h"

#define INCIDENCE_POINTS_MAX 8

/* Writes the incidence of vertex `node` of an element with n vertices: `count` numbers of the element's data, then the
 * index of the node; the other vertices in order. */
static inline void incidence_write(const sinew_real *data, int count, const int32_t *particles, int n, int node,
                                   sinew_real *out, int32_t *others)
{
    memcpy(out, data, (size_t)count * sizeof *out);
    out[count] = (sinew_real)node;
    for (int a = 0, k = 0; a < n; a++)
        if (a != node)
            others[k++] = particles[a];
}

/* x[3n] = the element's points in order, with the node displaced by `step` unless NULL. is[a] = 1 if the node is point
 * a, else 0. The node's index is data[count]. */
KERNEL_INLINE void incidence_points_of(const incidence *v, int n, int count, const wide *step, wide *x, wide *is)
{
    const wide node = wide_load(v->data + count * SIMD_WIDTH), one = wide_set(1), zero = wide_set(0);
    wide other[INCIDENCE_POINTS_MAX][3];
    for (int a = 0; a < n - 1; a++)
        wide_gather_point(v->q, v->others + a * SIMD_WIDTH, other[a]);
    for (int a = 0; a < n; a++) {
        const wide number = wide_set((sinew_real)a);
        const wide_mask here = wide_eq(node, number), before = wide_lt(node, number);
        is[a] = wide_select(here, one, zero);
        for (int i = 0; i < 3; i++) {
            const wide own = step ? v->x[i] + step[i] : v->x[i];
            const wide early = other[a < n - 1 ? a : a - 1][i], late = other[a > 0 ? a - 1 : 0][i];
            x[3 * a + i] = wide_select(here, own, wide_select(before, late, early));
        }
    }
}

/* A += weight times the symmetric, row-major 3x3 block B with its negative eigenvalues set to zero; A is stored as 00
 * 11 22 01 02 12. */
static inline void incidence_add_definite(const wide B[9], wide weight, wide A[6])
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    const wide zero = wide_set(0);
    wide S[6], w[3], Q[9];
    for (int i = 0; i < 6; i++)
        S[i] = B[3 * row[i] + column[i]];
    sinew_eigen3(S, w, Q);
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 3; k++)
            S[i] += wide_max(-w[k], zero) * Q[3 * row[i] + k] * Q[3 * column[i] + k];
        A[i] += wide_select(wide_eq(weight, zero), zero, weight * S[i]);
    }
}

#endif
