/* SPDX-License-Identifier: MIT
 *
 * vertex_kernel.h: loops over visits: W nodes at a time, each with one of its elements (energy.h), for nonlinear Gauss-Seidel
 * over nodes (PBNG, section 7).
 *
 * A loop is KERNEL_INLINE and takes what the energy does at one visit as a function (kernel_loop.h). The node's position and
 * its sums stay in registers while its elements go by; only the other vertices are fetched from here and there.
 */
#ifndef SINEW_SRC_ENERGY_VERTEX_KERNEL_H
#define SINEW_SRC_ENERGY_VERTEX_KERNEL_H

#include "energy/kernel_loop.h"

typedef struct visit_sum {
    lane g[3];
    lane A[6]; /* 00 11 22 01 02 12 */
} visit_sum;

/* One visit: where the nodes are, the other vertices and the numbers of the elements. */
typedef struct visit {
    lane x[3];
    const sinew_real *q;    /* [particle][4] */
    const int32_t *others;  /* [other_count][W] */
    const sinew_real *data; /* [visit_data_count][W] */
} visit;

typedef void visit_add(const visit *v, bool exact, visit_sum *sum);
/* psi per unit of weight after the step d, less psi before; noise: about its round-off. */
typedef lane visit_difference(const visit *v, const lane d[3], lane *noise);

/* diagonal 1 + s a a^T */
KERNEL_INLINE void block_add(lane A[6], lane diagonal, lane s, const lane a[3])
{
    const lane b[3] = {s * a[0], s * a[1], s * a[2]};
    for (int i = 0; i < 3; i++)
        A[i] += diagonal + b[i] * a[i];
    A[3] += b[0] * a[1];
    A[4] += b[0] * a[2];
    A[5] += b[1] * a[2];
}

KERNEL_INLINE lane dot3(const lane a[3], const lane b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The nodes of a group and their sums so far. */
KERNEL_INLINE void visit_open(const sinew_vertex_kernel *kernel, int32_t group, visit *v, visit_sum *sum)
{
    const sinew_real *from = kernel->sum + (size_t)group * (SINEW_VISIT_SUM * LANES);
    v->q = kernel->x;
    lane_gather_point(kernel->x, kernel->node + (size_t)group * LANES, v->x);
    load_lanes(from, 3, sum->g);
    load_lanes(from + 3 * LANES, 6, sum->A);
}

KERNEL_INLINE void visit_close(const sinew_vertex_kernel *kernel, int32_t group, const visit_sum *sum)
{
    sinew_real *to = kernel->sum + (size_t)group * (SINEW_VISIT_SUM * LANES);
    store_lanes(to, 3, sum->g);
    store_lanes(to + 3 * LANES, 6, sum->A);
}

KERNEL_INLINE void visit_at(const sinew_vertex_kernel *kernel, int32_t k, int other_count, int data_count, visit *v)
{
    v->others = kernel->others + (size_t)k * (size_t)(other_count * LANES);
    v->data = kernel->data + (size_t)k * (size_t)(data_count * LANES);
}

KERNEL_INLINE void visit_run(const sinew_vertex_kernel *kernel, int other_count, int data_count, bool exact,
                             visit_add *add)
{
    for (int32_t group = 0; group < kernel->group_count; group++) {
        visit v;
        visit_sum sum;
        visit_open(kernel, group, &v, &sum);
        for (int32_t k = kernel->first_visit[group]; k < kernel->first_visit[group + 1]; k++) {
            visit_at(kernel, k, other_count, data_count, &v);
            add(&v, exact, &sum);
        }
        visit_close(kernel, group, &sum);
    }
}

/* The two kinds of block are two loops, so that neither looks for the other's. */
KERNEL_INLINE void visit_vertex(const sinew_vertex_kernel *kernel, int other_count, int data_count, visit_add *add)
{
    if (kernel->exact)
        visit_run(kernel, other_count, data_count, true, add);
    else
        visit_run(kernel, other_count, data_count, false, add);
}

KERNEL_INLINE void visit_change(const sinew_vertex_kernel *kernel, int other_count, int data_count,
                                visit_difference *difference)
{
    const lane zero = lane_set(0);
    for (int32_t group = 0; group < kernel->group_count; group++) {
        sinew_real *to = kernel->change + (size_t)group * (2 * LANES);
        lane d[3], total = lane_load(to), noise = lane_load(to + LANES);
        visit v = {.q = kernel->x};
        lane_gather_point(kernel->x, kernel->node + (size_t)group * LANES, v.x);
        load_lanes(kernel->step + (size_t)group * (3 * LANES), 3, d);
        for (int32_t k = kernel->first_visit[group]; k < kernel->first_visit[group + 1]; k++) {
            visit_at(kernel, k, other_count, data_count, &v);
            const lane weight = lane_load(v.data);
            const lane_mask filler = lane_eq(weight, zero);
            lane own = zero;
            const lane psi = difference(&v, d, &own);
            /* A filler's psi may be infinite, which times zero is not zero. */
            total += lane_select(filler, zero, weight * psi);
            noise += lane_select(filler, zero, weight * own);
        }
        lane_store(to, total);
        lane_store(to + LANES, noise);
    }
}

#endif
