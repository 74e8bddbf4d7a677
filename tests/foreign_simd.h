/* SPDX-License-Identifier: MIT
 *
 * foreign_simd.h: loops over SIMD lanes for energies outside the library (foreign_energies.h, plank_energy.h).
 */
#ifndef SINEW_FOREIGN_LANES_H
#define SINEW_FOREIGN_LANES_H

#include <math.h>
#include <string.h>

#include "energy/registry.h"

/* The index of number i of n per element, in lane `lane` of group `group`. */
static inline size_t foreign_at(int W, int32_t group, int n, int i, int lane)
{
    return ((size_t)group * (size_t)n + (size_t)i) * (size_t)W + (size_t)lane;
}

/* The points of an element in x, p or g. */
static inline void foreign_points(const sinew_groups *groups, const sinew_real *x, int W, int n, int32_t group,
                                  int lane, double points[][3])
{
    for (int a = 0; a < n; a++)
        for (int c = 0; c < 3; c++)
            points[a][c] = (double)x[groups->vertex[foreign_at(W, group, n, a, lane)] + c];
}

static inline void foreign_add(const sinew_groups *groups, sinew_real *g, int W, int n, int32_t group, int lane,
                               double f[][3])
{
    for (int a = 0; a < n; a++)
        for (int c = 0; c < 3; c++)
            g[groups->vertex[foreign_at(W, group, n, a, lane)] + c] += (sinew_real)f[a][c];
}

/* Writes the block of vertices a and b (b <= a), s times the unit matrix plus u v^T. */
static inline void foreign_block(sinew_real *blocks, int W, int count, int32_t group, int lane, int block, double s,
                                 const double u[3], const double v[3])
{
    for (int i = 0; i < 9; i++)
        blocks[foreign_at(W, group, 9 * count, 9 * block + i, lane)] =
            (sinew_real)((i % 4 == 0 ? s : 0) + u[i / 3] * v[i % 3]);
}

/* Define `name` and `name_one`, which call name_any with the width of the process and with one. */
#define FOREIGN_SUM(name)                                                                                              \
    static double name(const sinew_kernel *kernel)                                                                     \
    {                                                                                                                  \
        return name##_any(kernel, sinew_simd_width());                                                                 \
    }                                                                                                                  \
    static double name##_one(const sinew_kernel *kernel)                                                               \
    {                                                                                                                  \
        return name##_any(kernel, 1);                                                                                  \
    }

#define FOREIGN_WORK(name, kernel_type)                                                                                \
    static void name(const kernel_type *kernel)                                                                        \
    {                                                                                                                  \
        name##_any(kernel, sinew_simd_width());                                                                        \
    }                                                                                                                  \
    static void name##_one(const kernel_type *kernel)                                                                  \
    {                                                                                                                  \
        name##_any(kernel, 1);                                                                                         \
    }

/* The operations that every energy needs. */
#define FOREIGN_REQUIRED(name, width)                                                                                  \
    .target_slot = -1, .prepare = name##_prepare, .value = name##_value##width, .gradient = name##_gradient##width,    \
    .linearise = name##_linearise##width, .product = name##_product##width, .hessian = name##_hessian##width

#endif
