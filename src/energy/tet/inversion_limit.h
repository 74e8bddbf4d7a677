/* SPDX-License-Identifier: MIT
 *
 * inversion_limit.h: the step along a direction at which a tetrahedron becomes flat.
 *
 *     det(F + t D) = c0 + c1 t + c2 t^2 + c3 t^3,   c0 = det F, c1 = cof F : D, c2 = F : cof D, c3 = det D
 *
 * with D the gradient of the direction, as F is of the positions. The zeros of the slope bracket the first positive
 * root: between them the cubic is monotone, and bisection cannot fail. Computed in double in both precisions.
 */
#ifndef SINEW_SRC_ENERGY_TET_INVERSION_LIMIT_H
#define SINEW_SRC_ENERGY_TET_INVERSION_LIMIT_H

#include <math.h>

#include "energy/tet/tet.h"

/* Coefficients c of the cubic c0 + c1 t + c2 t^2 + c3 t^3 = det(F + t D). */
static inline void determinant_along(const double F[9], const double D[9], double c[4])
{
    double cofF[9], cofD[9];
    for (int i = 0; i < 9; i++) {
        const int r1 = 3 * ((i / 3 + 1) % 3), r2 = 3 * ((i / 3 + 2) % 3), c1 = (i + 1) % 3, c2 = (i + 2) % 3;
        cofF[i] = F[r1 + c1] * F[r2 + c2] - F[r1 + c2] * F[r2 + c1];
        cofD[i] = D[r1 + c1] * D[r2 + c2] - D[r1 + c2] * D[r2 + c1];
    }
    c[0] = F[0] * cofF[0] + F[1] * cofF[1] + F[2] * cofF[2];
    c[3] = D[0] * cofD[0] + D[1] * cofD[1] + D[2] * cofD[2];
    c[1] = c[2] = 0;
    for (int i = 0; i < 9; i++) {
        c[1] += cofF[i] * D[i];
        c[2] += F[i] * cofD[i];
    }
}

static inline double cubic_at(const double c[4], double t)
{
    return c[0] + t * (c[1] + t * (c[2] + t * c[3]));
}

/* Finds the positive zeros of the cubic's derivative, ascending; returns their number. */
static inline int cubic_turns(const double c[4], double turns[2])
{
    const double a = 3 * c[3], b = 2 * c[2], under = b * b - 4 * a * c[1];
    int count = 0;
    if (!(under >= 0))
        return 0;
    /* Computes one root of the quadratic without cancellation, and the other root from the product of both. */
    const double q = -0.5 * (b + copysign(sqrt(under), b));
    const double both[2] = {q / a, c[1] / q};
    for (int i = 0; i < 2; i++)
        if (both[i] > 0 && isfinite(both[i]))
            turns[count++] = both[i];
    if (count == 2 && turns[0] > turns[1]) {
        const double first = turns[1];
        turns[1] = turns[0];
        turns[0] = first;
    }
    return count;
}

/* The root of the cubic between low, where it is positive, and high, where it is not positive, rounded down. */
static inline double cubic_bisect(const double c[4], double low, double high)
{
    for (int i = 0; i < 200; i++) {
        const double middle = 0.5 * (low + high);
        if (middle <= low || middle >= high)
            break;
        if (cubic_at(c, middle) > 0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The first root of the cubic in (0, max], or max if there is none. c[0] > 0; max may be infinite. */
static inline double cubic_root(const double c[4], double max)
{
    double turns[2], low = 0;
    const int count = cubic_turns(c, turns);
    for (int i = 0; i < count && turns[i] < max; i++) {
        if (cubic_at(c, turns[i]) <= 0)
            return cubic_bisect(c, low, turns[i]);
        low = turns[i];
    }
    /* Beyond `low`, 0 or the last turning point, the cubic is monotone. */
    const double slope = c[3] != 0 ? c[3] : c[2] != 0 ? c[2] : c[1];
    double high = isfinite(max) ? max : 2 * low + 1;
    while (!isfinite(max) && slope < 0 && high < 1e150 && cubic_at(c, high) > 0)
        high *= 2;
    return cubic_at(c, high) <= 0 ? cubic_bisect(c, low, high) : max;
}

/* The first t <= max at which det F of a tet is zero along x + t p, or max. Skips elements with det F <= 0 at x. */
KERNEL_INLINE double tet_step_limit(const sinew_kernel *kernel, int data_count, double max)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, data_count);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 4);
        wide lower[6], F[9], D[9];
        tet_deformation(kernel->x, vertex, data, lower, F);
        tet_deformation(kernel->p, vertex, data, lower, D);
        for (int i = 0; i < SIMD_WIDTH; i++) {
            double f[9], d[9], c[4];
            for (int k = 0; k < 9; k++) {
                f[k] = (double)wide_get(F[k], i);
                d[k] = (double)wide_get(D[k], i);
            }
            determinant_along(f, d, c);
            const bool far = c[0] > max * (fabs(c[1]) + max * (fabs(c[2]) + max * fabs(c[3])));
            if (data[TET_WEIGHT * SIMD_WIDTH + i] > 0 && c[0] > 0 && !far)
                max = cubic_root(c, max);
        }
    }
    return max;
}

#endif
