/* SPDX-License-Identifier: MIT
 *
 * kernel_loop.h: what every energy's loop over groups needs: specialisation by inlining, and sums in double.
 *
 * A loop over groups is written once as a KERNEL_INLINE function that takes the material as a function pointer. Called
 * with a known function both are inlined, so the loop is compiled once per material and no call is left in it.
 */
#ifndef SINEW_SRC_ENERGY_KERNEL_LOOP_H
#define SINEW_SRC_ENERGY_KERNEL_LOOP_H

#include "energy/energy.h"
#include "math/points.h"

/* Sanitized builds are for checking, not for speed: they keep the calls, which their compiler cannot all resolve. */
#ifdef SINEW_KERNEL_CALLS
#define KERNEL_INLINE static inline
#else
#define KERNEL_INLINE static inline __attribute__((always_inline))
#endif

/* Values are summed in double in both precisions, because a line search compares sums that differ by less than a float
 * can tell. A lane of floats is summed four by four. */
#ifndef SINEW_SINGLE
typedef lane sum_part;
#elif LANES % 4 == 0
typedef lane_wide sum_part;
#else
typedef double sum_part;
#endif
enum {
    SUM_PARTS = LANES * sizeof(double) / sizeof(sum_part)
};

typedef struct value_sum {
    sum_part part[SUM_PARTS];
} value_sum;

/* sum += weight * psi, and nothing for elements that only fill up a group, whatever their psi. */
KERNEL_INLINE void value_add(value_sum *sum, lane weight, lane psi)
{
    const lane energy = lane_select(lane_eq(weight, lane_set(0)), lane_set(0), weight * psi);
#ifndef SINEW_SINGLE
    sum->part[0] += energy;
#elif LANES % 4 == 0
    lane_four part[SUM_PARTS];
    memcpy(part, &energy, sizeof part);
    for (int i = 0; i < SUM_PARTS; i++)
        sum->part[i] += lane_widen(part[i]);
#else
    for (int i = 0; i < SUM_PARTS; i++)
        sum->part[i] += (double)lane_get(energy, i);
#endif
}

KERNEL_INLINE double value_total(const value_sum *sum)
{
    double elements[LANES], total = 0;
    memcpy(elements, sum->part, sizeof elements);
    for (int i = 0; i < LANES; i++)
        total += elements[i];
    return total;
}

/* The groups of a run, one after the other. */
KERNEL_INLINE const int32_t *group_vertex(const sinew_groups *groups, int32_t group, int vertex_count)
{
    return groups->vertex + (size_t)group * (size_t)(vertex_count * LANES);
}

KERNEL_INLINE const sinew_real *group_data(const sinew_groups *groups, int32_t group, int data_count)
{
    return groups->data + (size_t)group * (size_t)(data_count * LANES);
}

KERNEL_INLINE sinew_real *group_tangent(const sinew_kernel *kernel, int32_t group, int tangent_count)
{
    return kernel->tangent + (size_t)group * (size_t)(tangent_count * LANES);
}

KERNEL_INLINE sinew_real *group_blocks(const sinew_kernel *kernel, int32_t group, int block_count)
{
    return kernel->blocks + (size_t)group * (size_t)(block_count * 9 * LANES);
}

/* Number of the block of vertices a and b, b <= a. */
KERNEL_INLINE int block_index(int a, int b)
{
    return a * (a + 1) / 2 + b;
}

KERNEL_INLINE void load_lanes(const sinew_real *from, int count, lane *to)
{
    for (int i = 0; i < count; i++)
        to[i] = lane_load(from + i * LANES);
}

KERNEL_INLINE void store_lanes(sinew_real *to, int count, const lane *from)
{
    for (int i = 0; i < count; i++)
        lane_store(to + i * LANES, from[i]);
}

#endif
