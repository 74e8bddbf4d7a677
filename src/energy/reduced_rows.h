/* SPDX-License-Identifier: MIT
 *
 * reduced_rows.h: what energies with one reduced coordinate (a 3-vector) share in the local step of ADMM.
 */
#ifndef SINEW_SRC_ENERGY_REDUCED_ROWS_H
#define SINEW_SRC_ENERGY_REDUCED_ROWS_H

#include "energy/kernel_loop.h"

/* w^2 of the group, zero where an element only fills up. */
KERNEL_INLINE lane row_weight(const sinew_reduced_kernel *kernel, int32_t group, lane weight)
{
    const lane zero = lane_set(0);
    return lane_select(lane_eq(weight, zero), zero, lane_load(kernel->weights + group * LANES));
}

/* y = D x + u */
KERNEL_INLINE void row_shifted(const sinew_reduced_kernel *kernel, int32_t group, const lane Dx[3], lane y[3])
{
    load_lanes(kernel->u + (size_t)group * (3 * LANES), 3, y);
    for (int i = 0; i < 3; i++)
        y[i] += Dx[i];
}

/* u = y - z, f = w^2 (z - u - D x) */
KERNEL_INLINE void row_finish(const sinew_reduced_kernel *kernel, int32_t group, lane w2, const lane Dx[3],
                              const lane y[3], const lane z[3], lane f[3])
{
    lane u[3];
    for (int i = 0; i < 3; i++) {
        u[i] = y[i] - z[i];
        f[i] = w2 * (z[i] - u[i] - Dx[i]);
    }
    store_lanes(kernel->u + (size_t)group * (3 * LANES), 3, u);
}

#endif
