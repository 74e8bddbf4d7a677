/* SPDX-License-Identifier: MIT
 *
 * vertex_step.c: the step of each node from its gradient and block, PBNG (30), W nodes at a time:
 *
 *     dx = -relaxation (A + m/h^2 1)^-1 (g + m/h^2 (x - q_tilde))        quasistatic: m = 0, g - f_ext
 *
 * `sum` holds g and A of the energies (energy.h). A is positive semi-definite. If A is singular to round-off
 * (quasistatic, stiffness in some directions only), the node does not move along directions without stiffness.
 */
#include "energy/vertex_kernel.h"

/* Pivots of a node's 3x3 block below this fraction of its trace count as zero. */
#define PIVOT_FLOOR (16 * WIDE_EPSILON)

/* 1 / pivot of a 3x3 factorisation; 0 for a pivot at or below the floor. */
KERNEL_INLINE wide invert_pivot(wide pivot, wide floor)
{
    const wide_mask good = wide_lt(floor, pivot);
    return wide_select(good, 1 / wide_select(good, pivot, wide_set(1)), wide_set(0));
}

/* Solves A d = -g for the symmetric 3x3 block A of a node by L D L^T. */
KERNEL_INLINE void solve_block(const wide A[6], const wide g[3], wide d[3])
{
    const wide floor = PIVOT_FLOOR * (A[0] + A[1] + A[2]);
    const wide i0 = invert_pivot(A[0], floor), l10 = A[3] * i0, l20 = A[4] * i0;
    const wide i1 = invert_pivot(A[1] - l10 * A[3], floor), c21 = A[5] - l20 * A[3], l21 = c21 * i1;
    const wide i2 = invert_pivot(A[2] - l20 * A[4] - l21 * c21, floor);
    const wide y0 = -g[0], y1 = -g[1] - l10 * y0, y2 = -g[2] - l20 * y0 - l21 * y1;
    d[2] = y2 * i2;
    d[1] = y1 * i1 - l21 * d[2];
    d[0] = y0 * i0 - l10 * d[1] - l20 * d[2];
}

/* g = gradient of the inertia term by a node's position or, if quasistatic, of the external force's potential. */
KERNEL_INLINE void outer_gradient(const sinew_vertex_move *move, int32_t group, wide stiffness, wide g[3])
{
    const int32_t *node = move->node + (size_t)group * SIMD_WIDTH;
    wide x[3], target[3];
    wide_gather_point(move->x, node, x);
    wide_gather_point(move->target, node, target);
    for (int i = 0; i < 3; i++)
        g[i] = move->inertia > 0 ? stiffness * (x[i] - target[i]) : -target[i];
}

static void newton_steps(const sinew_vertex_move *move)
{
    const wide zero = wide_set(0);
    for (int32_t group = 0; group < move->group_count; group++) {
        const sinew_real *sum = move->sum + (size_t)group * (SINEW_VERTEX_SUM * SIMD_WIDTH);
        const wide mass = wide_load(move->mass + (size_t)group * SIMD_WIDTH), stiffness = mass * move->inertia;
        const wide_mask filler = wide_eq(mass, zero);
        wide g[3], own[3], A[6], d[3];
        outer_gradient(move, group, stiffness, g);
        load_wide_array(sum, 3, own);
        load_wide_array(sum + 3 * SIMD_WIDTH, 6, A);
        for (int i = 0; i < 3; i++) {
            g[i] += own[i];
            A[i] += stiffness;
        }
        solve_block(A, g, d);
        for (int i = 0; i < 3; i++)
            wide_store(move->step + ((size_t)group * 3 + (size_t)i) * SIMD_WIDTH,
                       wide_select(filler, zero, move->relaxation * d[i]));
    }
}

static bool shorten_steps(const sinew_vertex_move *move, bool last)
{
    const wide half = wide_set((sinew_real)0.5), one = wide_set(1);
    const wide factor = last ? wide_set(0) : half;
    bool any = false;
    for (int32_t group = 0; group < move->group_count; group++) {
        sinew_real *to = move->step + (size_t)group * (3 * SIMD_WIDTH);
        const sinew_real *change = move->change + (size_t)group * (2 * SIMD_WIDTH);
        const wide stiffness = wide_load(move->mass + (size_t)group * SIMD_WIDTH) * move->inertia;
        wide g[3], d[3];
        outer_gradient(move, group, stiffness, g);
        load_wide_array(to, 3, d);
        const wide linear = dot3(g, d), square = half * stiffness * dot3(d, d);
        const wide noise = wide_load(change + SIMD_WIDTH) + 4 * WIDE_EPSILON * (wide_abs(linear) + square);
        /* Steps are shortened unless the objective's change is less than or equal to round-off, so that NaN counts as
         * an increase. */
        const wide_mask worse = ~wide_le(wide_load(change) + linear + square, noise);
        if (!wide_any(worse))
            continue;
        any = true;
        for (int i = 0; i < 3; i++)
            wide_store(to + i * SIMD_WIDTH, d[i] * wide_select(worse, factor, one));
    }
    return any;
}

/* Adds the nodes' steps to x instead of overwriting x, because padding lanes repeat a node of their group with a step
 * of zero. */
static void move_nodes(const sinew_vertex_move *move)
{
    for (int32_t group = 0; group < move->group_count; group++) {
        wide d[3];
        load_wide_array(move->step + (size_t)group * (3 * SIMD_WIDTH), 3, d);
        wide_scatter_point(move->x, move->node + (size_t)group * SIMD_WIDTH, d);
    }
}

extern const sinew_vertex_step_kernels SINEW_SIMD_SYMBOL(sinew_vertex_step_kernels);
const sinew_vertex_step_kernels SINEW_SIMD_SYMBOL(sinew_vertex_step_kernels) = {
    .step = newton_steps, .shorten = shorten_steps, .move = move_nodes};
