/* SPDX-License-Identifier: MIT
 *
 * vertex_kernel.h: loops over incidences for nonlinear Gauss-Seidel over nodes (PBNG, section 7): W nodes at a time,
 * each with one of its elements (energy.h).
 *
 * A loop is KERNEL_INLINE and takes the energy's evaluation of one incidence as a function (kernel_loop.h). The
 * position and the sums of the node stay in registers over its elements; only the other vertices are gathered.
 */
#ifndef SINEW_SRC_ENERGY_VERTEX_KERNEL_H
#define SINEW_SRC_ENERGY_VERTEX_KERNEL_H

#include "energy/kernel_loop.h"

typedef struct incidence_sum {
    wide g[3];
    wide A[6]; /* symmetric 3x3 Hessian block of the node, stored as 00 11 22 01 02 12 */
} incidence_sum;

/* W vertex-element incidences, one per lane: positions x of the nodes, other vertices and data of the elements. */
typedef struct incidence {
    wide x[3];
    const sinew_real *q; /* [particle][4] positions of all particles, in m */
    /* [other_count][W] SINEW_POINT times the particle index of each other vertex of the element */
    const int32_t *others;
    const sinew_real *data; /* [incidence_data_count][W] data of the incidence, weight first */
} incidence;

typedef void incidence_add(const incidence *v, bool exact, incidence_sum *sum);
/* Change of psi per unit of weight if the node moves by d; noise: approximate round-off of the change. */
typedef wide incidence_difference(const incidence *v, const wide d[3], wide *noise);

/* A += diagonal 1 + s a a^T for a symmetric 3x3 matrix A stored as 00 11 22 01 02 12 */
KERNEL_INLINE void block_add(wide A[6], wide diagonal, wide s, const wide a[3])
{
    const wide b[3] = {s * a[0], s * a[1], s * a[2]};
    for (int i = 0; i < 3; i++)
        A[i] += diagonal + b[i] * a[i];
    A[3] += b[0] * a[1];
    A[4] += b[0] * a[2];
    A[5] += b[1] * a[2];
}

KERNEL_INLINE wide dot3(const wide a[3], const wide b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Loads the positions of a group's nodes, and the gradients and blocks summed so far. */
KERNEL_INLINE void incidence_open(const sinew_vertex_kernel *kernel, int32_t group, incidence *v, incidence_sum *sum)
{
    const sinew_real *from = kernel->sum + (size_t)group * (SINEW_VERTEX_SUM * SIMD_WIDTH);
    v->q = kernel->x;
    wide_gather_point(kernel->x, kernel->node + (size_t)group * SIMD_WIDTH, v->x);
    load_wide_array(from, 3, sum->g);
    load_wide_array(from + 3 * SIMD_WIDTH, 6, sum->A);
}

KERNEL_INLINE void incidence_close(const sinew_vertex_kernel *kernel, int32_t group, const incidence_sum *sum)
{
    sinew_real *to = kernel->sum + (size_t)group * (SINEW_VERTEX_SUM * SIMD_WIDTH);
    store_wide_array(to, 3, sum->g);
    store_wide_array(to + 3 * SIMD_WIDTH, 6, sum->A);
}

KERNEL_INLINE void incidence_at(const sinew_vertex_kernel *kernel, int32_t k, int other_count, int data_count,
                                incidence *v)
{
    v->others = kernel->others + (size_t)k * (size_t)(other_count * SIMD_WIDTH);
    v->data = kernel->data + (size_t)k * (size_t)(data_count * SIMD_WIDTH);
}

KERNEL_INLINE void incidence_run(const sinew_vertex_kernel *kernel, int other_count, int data_count, bool exact,
                                 incidence_add *add)
{
    for (int32_t group = 0; group < kernel->group_count; group++) {
        incidence v;
        incidence_sum sum;
        incidence_open(kernel, group, &v, &sum);
        for (int32_t k = kernel->first_incidence[group]; k < kernel->first_incidence[group + 1]; k++) {
            incidence_at(kernel, k, other_count, data_count, &v);
            add(&v, exact, &sum);
        }
        incidence_close(kernel, group, &sum);
    }
}

/* Separate loops for exact and approximate Hessian blocks avoid a branch per incidence. */
KERNEL_INLINE void incidence_vertex(const sinew_vertex_kernel *kernel, int other_count, int data_count,
                                    incidence_add *add)
{
    if (kernel->exact)
        incidence_run(kernel, other_count, data_count, true, add);
    else
        incidence_run(kernel, other_count, data_count, false, add);
}

KERNEL_INLINE void incidence_change(const sinew_vertex_kernel *kernel, int other_count, int data_count,
                                    incidence_difference *difference)
{
    const wide zero = wide_set(0);
    for (int32_t group = 0; group < kernel->group_count; group++) {
        sinew_real *to = kernel->change + (size_t)group * (2 * SIMD_WIDTH);
        wide d[3], total = wide_load(to), noise = wide_load(to + SIMD_WIDTH);
        incidence v = {.q = kernel->x};
        wide_gather_point(kernel->x, kernel->node + (size_t)group * SIMD_WIDTH, v.x);
        load_wide_array(kernel->step + (size_t)group * (3 * SIMD_WIDTH), 3, d);
        for (int32_t k = kernel->first_incidence[group]; k < kernel->first_incidence[group + 1]; k++) {
            incidence_at(kernel, k, other_count, data_count, &v);
            const wide weight = wide_load(v.data);
            const wide_mask filler = wide_eq(weight, zero);
            wide own = zero;
            const wide psi = difference(&v, d, &own);
            /* psi of a padding lane may be infinite, and infinity times zero is not zero. */
            total += wide_select(filler, zero, weight * psi);
            noise += wide_select(filler, zero, weight * own);
        }
        wide_store(to, total);
        wide_store(to + SIMD_WIDTH, noise);
    }
}

#endif
