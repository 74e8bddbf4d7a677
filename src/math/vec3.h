/* SPDX-License-Identifier: MIT
 *
 * vec3.h: vectors double[3] of one point or one element. SIMD vectors are in simd.h.
 *
 * Sums run from x to z, so that every caller gets the same bits. Outputs do not alias inputs.
 */
#ifndef SINEW_SRC_MATH_VEC3_H
#define SINEW_SRC_MATH_VEC3_H

#include <math.h>

#include "sinew/types.h"

/* out = a - b, the difference of two vectors */
static inline void vec3_sub(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[i] - b[i];
}

/* out = to - from in double, the edge between two stored points of either precision */
static inline void vec3_edge(const sinew_real *from, const sinew_real *to, double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = (double)to[i] - (double)from[i];
}

static inline double vec3_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* out = a x b, the cross product */
static inline void vec3_cross(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* sum += factor (a x b), a scaled cross product */
static inline void vec3_add_cross(const double a[3], const double b[3], double factor, double sum[3])
{
    for (int i = 0; i < 3; i++)
        sum[i] += factor * (a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3]);
}

/* sum += a - (n . a) n, the part of a across the unit vector n */
static inline void vec3_add_across(const double n[3], const double a[3], double sum[3])
{
    const double along = vec3_dot(n, a);
    for (int i = 0; i < 3; i++)
        sum[i] += a[i] - along * n[i];
}

/* a . (b x c), the determinant of the rows a, b, c: six times the signed volume of the tet of three edges */
static inline double vec3_triple(const double a[3], const double b[3], const double c[3])
{
    double n[3];
    vec3_cross(b, c, n);
    return vec3_dot(a, n);
}

static inline double vec3_norm(const double a[3])
{
    return sqrt(vec3_dot(a, a));
}

static inline double vec3_distance(const double a[3], const double b[3])
{
    double d[3];
    vec3_sub(a, b, d);
    return vec3_norm(d);
}

#endif
