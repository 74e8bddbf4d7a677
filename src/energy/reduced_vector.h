/* SPDX-License-Identifier: MIT
 *
 * reduced_vector.h: the local step of ADMM for energies with one reduced 3-vector.
 */
#ifndef SINEW_SRC_ENERGY_REDUCED_VECTOR_H
#define SINEW_SRC_ENERGY_REDUCED_VECTOR_H

#include "energy/kernel_loop.h"

/* The factor w^2 of ADMM's proximal map for the elements of a group; zero for padding lanes (weight 0). */
KERNEL_INLINE wide reduced_weight(const sinew_reduced_kernel *kernel, int32_t group, wide weight)
{
    const wide zero = wide_set(0);
    return wide_select(wide_eq(weight, zero), zero, wide_load(kernel->weights + group * SIMD_WIDTH));
}

/* y = D x + u, the argument of ADMM's proximal map: D x are the reduced coordinates, u the scaled dual variable. */
KERNEL_INLINE void reduced_shifted(const sinew_reduced_kernel *kernel, int32_t group, const wide Dx[3], wide y[3])
{
    load_wide_array(kernel->u + (size_t)group * (3 * SIMD_WIDTH), 3, y);
    for (int i = 0; i < 3; i++)
        y[i] += Dx[i];
}

/* Ends ADMM's local step: stores the dual variable u = y - z; f = w^2 (z - u - D x) is the contribution to the
 * global step, D x the reduced coordinates. */
KERNEL_INLINE void reduced_finish(const sinew_reduced_kernel *kernel, int32_t group, wide w2, const wide Dx[3],
                                  const wide y[3], const wide z[3], wide f[3])
{
    wide u[3];
    for (int i = 0; i < 3; i++) {
        u[i] = y[i] - z[i];
        f[i] = w2 * (z[i] - u[i] - Dx[i]);
    }
    store_wide_array(kernel->u + (size_t)group * (3 * SIMD_WIDTH), 3, u);
}

#endif
