/* SPDX-License-Identifier: MIT
 *
 * kernel_loop.h: loops of energies over groups: specialisation by inlining, and sums in double.
 *
 * A loop over groups is written once as a KERNEL_INLINE function that takes the material as a function pointer. If the
 * function is known, loop and function are inlined: the loop is compiled once per material, without calls.
 */
#ifndef SINEW_SRC_ENERGY_KERNEL_LOOP_H
#define SINEW_SRC_ENERGY_KERNEL_LOOP_H

#include "energy/energy.h"
#include "math/points.h"

/* Builds with sanitizers do not force kernels to be inlined, because the compiler cannot inline all calls there; their
 * speed does not matter. */
#ifdef SINEW_KERNEL_CALLS
#define KERNEL_INLINE static inline
#else
#define KERNEL_INLINE static inline __attribute__((always_inline))
#endif

/* Values of psi are summed in double in both precisions, because a line search compares sums that differ by less than
 * the precision of a float. If the SIMD width is a multiple of 4, a vector of floats is summed four at a time. */
#ifndef SINEW_SINGLE
typedef wide partial_sum;
#elif SIMD_WIDTH % 4 == 0
typedef wide_double partial_sum;
#else
typedef double partial_sum;
#endif
enum {
    PARTIAL_SUMS = SIMD_WIDTH * sizeof(double) / sizeof(partial_sum)
};

typedef struct value_sum {
    partial_sum partial[PARTIAL_SUMS];
} value_sum;

/* sum += weight * psi; padding lanes (weight 0) add zero, also if psi is infinite. */
KERNEL_INLINE void value_add(value_sum *sum, wide weight, wide psi)
{
    const wide energy = wide_select(wide_eq(weight, wide_set(0)), wide_set(0), weight * psi);
#ifndef SINEW_SINGLE
    sum->partial[0] += energy;
#elif SIMD_WIDTH % 4 == 0
    wide_float4 partial[PARTIAL_SUMS];
    memcpy(partial, &energy, sizeof partial);
    for (int i = 0; i < PARTIAL_SUMS; i++)
        sum->partial[i] += wide_to_double(partial[i]);
#else
    for (int i = 0; i < PARTIAL_SUMS; i++)
        sum->partial[i] += (double)wide_get(energy, i);
#endif
}

KERNEL_INLINE double value_total(const value_sum *sum)
{
    double elements[SIMD_WIDTH], total = 0;
    memcpy(elements, sum->partial, sizeof elements);
    for (int i = 0; i < SIMD_WIDTH; i++)
        total += elements[i];
    return total;
}

/* The functions group_vertex() .. group_blocks() return the part of a kernel's array that belongs to one SIMD group. */
KERNEL_INLINE const int32_t *group_vertex(const sinew_groups *groups, int32_t group, int vertex_count)
{
    return groups->vertex + (size_t)group * (size_t)(vertex_count * SIMD_WIDTH);
}

KERNEL_INLINE const sinew_real *group_data(const sinew_groups *groups, int32_t group, int data_count)
{
    return groups->data + (size_t)group * (size_t)(data_count * SIMD_WIDTH);
}

KERNEL_INLINE sinew_real *group_tangent(const sinew_kernel *kernel, int32_t group, int tangent_count)
{
    return kernel->tangent + (size_t)group * (size_t)(tangent_count * SIMD_WIDTH);
}

KERNEL_INLINE sinew_real *group_blocks(const sinew_kernel *kernel, int32_t group, int block_count)
{
    return kernel->blocks + (size_t)group * (size_t)(block_count * 9 * SIMD_WIDTH);
}

/* Index of the 3x3 Hessian block of vertices a and b, b <= a, of one element. */
KERNEL_INLINE int block_index(int a, int b)
{
    return a * (a + 1) / 2 + b;
}

KERNEL_INLINE void load_wide_array(const sinew_real *from, int count, wide *to)
{
    for (int i = 0; i < count; i++)
        to[i] = wide_load(from + i * SIMD_WIDTH);
}

KERNEL_INLINE void store_wide_array(sinew_real *to, int count, const wide *from)
{
    for (int i = 0; i < count; i++)
        wide_store(to + i * SIMD_WIDTH, from[i]);
}

#endif
