/* SPDX-License-Identifier: MIT
 *
 * dense_element.h: the required operations of an energy whose element has n vertices and a dense Hessian: the tangent
 * stores its lower triangle of 3n rows. Used for bending, shells, rods and joints, n up to DENSE_VERTICES.
 *
 * Such an energy writes two functions of the points of W elements, per unit of weight (data[0]):
 *
 *     dense_first    psi and, unless g is NULL, its gradient g[3n]
 *     dense_second   H[DENSE_COUNT(n)], the lower triangle of the Hessian row by row: dense_at(i, j) with j <= i
 *
 * and passes them to the loops below, which gather, project, scale and scatter. tangent_count is DENSE_COUNT(n).
 */
#ifndef SINEW_SRC_ENERGY_DENSE_ELEMENT_H
#define SINEW_SRC_ENERGY_DENSE_ELEMENT_H

#include "energy/kernel_loop.h"
#include "math/small/decompose.h"

#define DENSE_VERTICES 8
#define DENSE_COUNT(n) (3 * (n) * (3 * (n) + 1) / 2)

_Static_assert(3 * DENSE_VERTICES <= SINEW_CLAMP_MAX, "every such matrix can be projected");

/* Functions of one element per SIMD lane: x[3a + c] is coordinate c of vertex a; data + i * SIMD_WIDTH is number i
 * of the elements' data. */
typedef wide dense_first(const wide *x, const sinew_real *data, wide *g);
typedef void dense_second(const wide *x, const sinew_real *data, wide *H);

/* Index of entry (i, j), j <= i, of a lower triangle that is stored row by row. */
KERNEL_INLINE int dense_at(int i, int j)
{
    return i * (i + 1) / 2 + j;
}

/* weight * a; exactly zero for padding lanes (weight 0), also if a is infinite. */
KERNEL_INLINE wide dense_weight_of(wide weight, wide a)
{
    return wide_select(wide_eq(weight, wide_set(0)), wide_set(0), weight * a);
}

KERNEL_INLINE void dense_gather(const sinew_real *x, const int32_t *vertex, int n, wide *points)
{
    for (int a = 0; a < n; a++)
        wide_gather_point(x, vertex + a * SIMD_WIDTH, points + 3 * a);
}

KERNEL_INLINE void dense_scatter(sinew_real *g, const int32_t *vertex, int n, const wide *f)
{
    for (int a = 0; a < n; a++)
        wide_scatter_point(g, vertex + a * SIMD_WIDTH, f + 3 * a);
}

KERNEL_INLINE double dense_value(const sinew_kernel *kernel, int n, int data_count, dense_first *first)
{
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        wide x[3 * DENSE_VERTICES];
        dense_gather(kernel->x, group_vertex(&kernel->groups, group, n), n, x);
        value_add(&sum, wide_load(data), first(x, data, NULL));
    }
    return value_total(&sum);
}

KERNEL_INLINE double dense_gradient(const sinew_kernel *kernel, int n, int data_count, dense_first *first)
{
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        const int32_t *vertex = group_vertex(&kernel->groups, group, n);
        const wide weight = wide_load(data);
        wide x[3 * DENSE_VERTICES], g[3 * DENSE_VERTICES];
        dense_gather(kernel->x, vertex, n, x);
        value_add(&sum, weight, first(x, data, g));
        for (int i = 0; i < 3 * n; i++)
            g[i] = dense_weight_of(weight, g[i]);
        dense_scatter(kernel->g, vertex, n, g);
    }
    return value_total(&sum);
}

/* tangent = dense Hessian of each element; if projected, the positive semi-definite matrix nearest to it. */
KERNEL_INLINE void dense_linearise(const sinew_kernel *kernel, int n, int data_count, dense_second *second)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        const wide weight = wide_load(data);
        wide x[3 * DENSE_VERTICES], H[DENSE_COUNT(DENSE_VERTICES)];
        dense_gather(kernel->x, group_vertex(&kernel->groups, group, n), n, x);
        second(x, data, H);
        if (kernel->project)
            sinew_eigen_clamp(H, 3 * n);
        for (int i = 0; i < DENSE_COUNT(n); i++)
            H[i] = dense_weight_of(weight, H[i]);
        store_wide_array(group_tangent(kernel, group, DENSE_COUNT(n)), DENSE_COUNT(n), H);
    }
}

KERNEL_INLINE void element_dense_product(const sinew_kernel *kernel, int n)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *H = group_tangent(kernel, group, DENSE_COUNT(n));
        const int32_t *vertex = group_vertex(&kernel->groups, group, n);
        wide p[3 * DENSE_VERTICES], f[3 * DENSE_VERTICES];
        dense_gather(kernel->p, vertex, n, p);
        for (int i = 0; i < 3 * n; i++) {
            f[i] = wide_load(H + dense_at(i, i) * SIMD_WIDTH) * p[i];
            for (int j = 0; j < i; j++) {
                const wide h = wide_load(H + dense_at(i, j) * SIMD_WIDTH);
                f[i] += h * p[j];
                f[j] += h * p[i];
            }
        }
        dense_scatter(kernel->g, vertex, n, f);
    }
}

/* Writes the lower triangle H of the elements' Hessians of one group as 3x3 blocks (a, b), b <= a. */
KERNEL_INLINE void dense_blocks(const wide *H, int n, sinew_real *blocks)
{
    for (int a = 0; a < n; a++)
        for (int b = 0; b <= a; b++)
            for (int k = 0; k < 9; k++) {
                const int i = 3 * a + k / 3, j = 3 * b + k % 3;
                wide_store(blocks + (block_index(a, b) * 9 + k) * SIMD_WIDTH,
                           H[i >= j ? dense_at(i, j) : dense_at(j, i)]);
            }
}

KERNEL_INLINE void dense_hessian(const sinew_kernel *kernel, int n)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        wide H[DENSE_COUNT(DENSE_VERTICES)];
        load_wide_array(group_tangent(kernel, group, DENSE_COUNT(n)), DENSE_COUNT(n), H);
        dense_blocks(H, n, group_blocks(kernel, group, n * (n + 1) / 2));
    }
}

#endif
