/* SPDX-License-Identifier: MIT
 *
 * group.h: what every energy's loop over groups needs: specialisation by inlining, and sums in double.
 *
 * A loop over groups is written once as a KERNEL_INLINE function that takes the material as a function pointer. Called
 * with a known function both are inlined, so the loop is compiled once per material and no call is left in it.
 */
#ifndef SINEW_GROUP_H
#define SINEW_GROUP_H

#include "energy/energy.h"
#include "math/lanes.h"

#define KERNEL_INLINE static inline __attribute__((always_inline))

/* A lane of doubles: values are summed in double in both precisions, because a line search compares sums that differ
 * by less than a float can tell. */
#if LANES == 1
typedef double lane_wide;
#else
typedef double lane_wide __attribute__((vector_size(LANES * sizeof(double))));
#endif

/* sum += weight * psi, and nothing for elements that only fill up a group, whatever their psi. */
KERNEL_INLINE lane_wide value_add(lane_wide sum, lane weight, lane psi)
{
    lane energy = lane_select(lane_eq(weight, lane_set(0)), lane_set(0), weight * psi);
#if LANES == 1
    return sum + (double)energy;
#else
    return sum + __builtin_convertvector(energy, lane_wide);
#endif
}

KERNEL_INLINE double value_total(lane_wide sum)
{
#if LANES == 1
    return sum;
#else
    double total = 0;
    for (int i = 0; i < LANES; i++)
        total += sum[i];
    return total;
#endif
}

/* The groups of a kernel, one after the other. */
KERNEL_INLINE const int32_t *group_vertex(const sinew_kernel *kernel, int32_t group, int vertex_count)
{
    return kernel->vertex + (size_t)group * (size_t)(vertex_count * LANES);
}

KERNEL_INLINE const sinew_real *group_data(const sinew_kernel *kernel, int32_t group, int data_count)
{
    return kernel->data + (size_t)group * (size_t)(data_count * LANES);
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
