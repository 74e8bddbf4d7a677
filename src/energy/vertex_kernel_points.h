/* SPDX-License-Identifier: MIT
 *
 * vertex_kernel_points.h: visits of elements whose vertices cannot change places: the node is put among the others where it
 * belongs. Its number within the element is the last number of the visit's data.
 */
#ifndef SINEW_SRC_ENERGY_VERTEX_KERNEL_POINTS_H
#define SINEW_SRC_ENERGY_VERTEX_KERNEL_POINTS_H

#include "energy/vertex_kernel.h"
#include "math/small/decompose.h"

#define VISIT_POINTS_MOST 8

/* The visit of vertex `node` of n: `count` numbers of the element's data, then the node; the others in order. */
static inline void visit_write(const sinew_real *data, int count, const int32_t *particles, int n, int node,
                               sinew_real *out, int32_t *others)
{
    memcpy(out, data, (size_t)count * sizeof *out);
    out[count] = (sinew_real)node;
    for (int a = 0, k = 0; a < n; a++)
        if (a != node)
            others[k++] = particles[a];
}

/* x[3n]: the points in order, the node moved by `step` (NULL: not). is[n]: 1 where the node is that point, else 0.
 * The node's number is data[count]. */
KERNEL_INLINE void visit_place(const visit *v, int n, int count, const lane *step, lane *x, lane *is)
{
    const lane node = lane_load(v->data + count * LANES), one = lane_set(1), zero = lane_set(0);
    lane other[VISIT_POINTS_MOST][3];
    for (int a = 0; a < n - 1; a++)
        lane_gather_point(v->q, v->others + a * LANES, other[a]);
    for (int a = 0; a < n; a++) {
        const lane number = lane_set((sinew_real)a);
        const lane_mask here = lane_eq(node, number), before = lane_lt(node, number);
        is[a] = lane_select(here, one, zero);
        for (int i = 0; i < 3; i++) {
            const lane own = step ? v->x[i] + step[i] : v->x[i];
            const lane early = other[a < n - 1 ? a : a - 1][i], late = other[a > 0 ? a - 1 : 0][i];
            x[3 * a + i] = lane_select(here, own, lane_select(before, late, early));
        }
    }
}

/* The block B, row-major and symmetric, with its negative eigenvalues set to zero, times the weight and added to A. */
static inline void visit_add_definite(const lane B[9], lane weight, lane A[6])
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    const lane zero = lane_set(0);
    lane S[6], w[3], Q[9];
    for (int i = 0; i < 6; i++)
        S[i] = B[3 * row[i] + column[i]];
    sinew_eigen3(S, w, Q);
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 3; k++)
            S[i] += lane_max(-w[k], zero) * Q[3 * row[i] + k] * Q[3 * column[i] + k];
        A[i] += lane_select(lane_eq(weight, zero), zero, weight * S[i]);
    }
}

#endif
