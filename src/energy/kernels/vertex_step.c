/* SPDX-License-Identifier: MIT
 *
 * vertex_step.c: the step of each node from its gradient and block, PBNG (30), W nodes at a time:
 *
 *     dx = -relaxation (A + m/h^2 1)^-1 (g + m/h^2 (x - q_tilde))        quasistatic: -A^-1 (g - f_ext)
 *
 * The sums hold g and A of the energies (energy.h). A is positive semi-definite. Where it is singular to round-off (a
 * node held in some directions only, quasistatic) the direction without stiffness is left alone.
 */
#include "energy/vertex_kernel.h"

/* Pivots below this part of the trace count as zero. */
#define PIVOT_FLOOR (16 * LANE_EPSILON)

/* 1 / pivot, or 0 */
KERNEL_INLINE lane invert_pivot(lane pivot, lane floor)
{
    const lane_mask good = lane_lt(floor, pivot);
    return lane_select(good, 1 / lane_select(good, pivot, lane_set(1)), lane_set(0));
}

/* A d = -g by L D L^T */
KERNEL_INLINE void solve_block(const lane A[6], const lane g[3], lane d[3])
{
    const lane floor = PIVOT_FLOOR * (A[0] + A[1] + A[2]);
    const lane i0 = invert_pivot(A[0], floor), l10 = A[3] * i0, l20 = A[4] * i0;
    const lane i1 = invert_pivot(A[1] - l10 * A[3], floor), c21 = A[5] - l20 * A[3], l21 = c21 * i1;
    const lane i2 = invert_pivot(A[2] - l20 * A[4] - l21 * c21, floor);
    const lane y0 = -g[0], y1 = -g[1] - l10 * y0, y2 = -g[2] - l20 * y0 - l21 * y1;
    d[2] = y2 * i2;
    d[1] = y1 * i1 - l21 * d[2];
    d[0] = y0 * i0 - l10 * d[1] - l20 * d[2];
}

/* The term of the inertia, or of the external force, in a node's gradient. */
KERNEL_INLINE void outer_gradient(const sinew_visit_move *move, int32_t group, lane stiffness, lane g[3])
{
    const int32_t *node = move->node + (size_t)group * LANES;
    lane x[3], target[3];
    lane_gather_point(move->x, node, x);
    lane_gather_point(move->target, node, target);
    for (int i = 0; i < 3; i++)
        g[i] = move->inertia > 0 ? stiffness * (x[i] - target[i]) : -target[i];
}

static void step(const sinew_visit_move *move)
{
    const lane zero = lane_set(0);
    for (int32_t group = 0; group < move->group_count; group++) {
        const sinew_real *sum = move->sum + (size_t)group * (SINEW_VISIT_SUM * LANES);
        const lane mass = lane_load(move->mass + (size_t)group * LANES), stiffness = mass * move->inertia;
        const lane_mask filler = lane_eq(mass, zero);
        lane g[3], own[3], A[6], d[3];
        outer_gradient(move, group, stiffness, g);
        load_lanes(sum, 3, own);
        load_lanes(sum + 3 * LANES, 6, A);
        for (int i = 0; i < 3; i++) {
            g[i] += own[i];
            A[i] += stiffness;
        }
        solve_block(A, g, d);
        for (int i = 0; i < 3; i++)
            lane_store(move->step + ((size_t)group * 3 + (size_t)i) * LANES,
                       lane_select(filler, zero, move->relaxation * d[i]));
    }
}

static bool shorten(const sinew_visit_move *move, bool last)
{
    const lane half = lane_set((sinew_real)0.5), one = lane_set(1);
    const lane factor = last ? lane_set(0) : half;
    bool any = false;
    for (int32_t group = 0; group < move->group_count; group++) {
        sinew_real *to = move->step + (size_t)group * (3 * LANES);
        const sinew_real *change = move->change + (size_t)group * (2 * LANES);
        const lane stiffness = lane_load(move->mass + (size_t)group * LANES) * move->inertia;
        lane g[3], d[3];
        outer_gradient(move, group, stiffness, g);
        load_lanes(to, 3, d);
        const lane linear = dot3(g, d), square = half * stiffness * dot3(d, d);
        const lane noise = lane_load(change + LANES) + 4 * LANE_EPSILON * (lane_abs(linear) + square);
        /* Not "greater": what is not a number is no decrease. */
        const lane_mask worse = ~lane_le(lane_load(change) + linear + square, noise);
        if (!lane_any(worse))
            continue;
        any = true;
        for (int i = 0; i < 3; i++)
            lane_store(to + i * LANES, d[i] * lane_select(worse, factor, one));
    }
    return any;
}

/* Fillers repeat a node of their group with a step of zero, so that adding is right and writing would not be. */
static void move_nodes(const sinew_visit_move *move)
{
    for (int32_t group = 0; group < move->group_count; group++) {
        lane d[3];
        load_lanes(move->step + (size_t)group * (3 * LANES), 3, d);
        lane_scatter_point(move->x, move->node + (size_t)group * LANES, d);
    }
}

extern const sinew_visit_kernels SINEW_LANE_SYMBOL(sinew_visit_kernels);
const sinew_visit_kernels SINEW_LANE_SYMBOL(sinew_visit_kernels) = {
    .step = step, .shorten = shorten, .move = move_nodes};
