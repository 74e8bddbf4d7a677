/* SPDX-License-Identifier: MIT
 *
 * query.c: prepares queries in the BVH's scale, with the round-off margins that make boxes conservative (tree.h).
 */
#include <float.h>
#include <math.h>

#include "bvh/tree.h"

#define TINY     0x1p-60 /* smallest padding of boxes in scaled lengths: squares of smaller values may underflow */
#define FARTHEST 60      /* exponent of the largest distance of a query point: its square is a finite float */
#define STEEPEST 0x1p100f
#define FLATTEST 0x1p-100

/* A float that is not above x: one float lower than the rounded value if rounding went up. */
float sinew_float_below(double x)
{
    const float f = (float)x;
    return (double)f > x ? nextafterf(f, -INFINITY) : f;
}

float sinew_float_above(double x)
{
    const float f = (float)x;
    return (double)f < x ? nextafterf(f, INFINITY) : f;
}

/* Fast bounds for values that are padded in any case: one or two floats lower or higher than x. */
static inline float padded_below(double x)
{
    return (float)(x - (double)FLT_EPSILON * fabs(x));
}

static inline float padded_above(double x)
{
    return (float)(x + (double)FLT_EPSILON * fabs(x));
}

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double largest_magnitude(const sinew_real x[3])
{
    return larger(larger(fabs((double)x[0]), fabs((double)x[1])), fabs((double)x[2]));
}

static inline bool all_finite(const sinew_real x[3])
{
    return (x[0] - x[0]) + (x[1] - x[1]) + (x[2] - x[2]) == 0;
}

/* The exponent e of a finite x, with |x| in [2^(e-1), 2^e); -1022 for zero and subnormal numbers. */
static inline int exponent_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (int)(bits >> 52 & 0x7ff) - 1022;
}

/* ---- Queries for nearest points ------------------------------------------------------------------ */

/* Computes the query point relative to the tree's origin, scaled by 2^exponent, and returns the exponent: that of the
 * tree, or a smaller one for points so far away that squares of floats would overflow. Such points are moved nearer in
 * the same direction: at their distance, the tree's extent is below round-off. */
static int relative_point(const sinew_tree *tree, const sinew_real point[3], double x[3])
{
    int exponent = tree->exponent;
    const int size = exponent_of(largest_magnitude(point)) + exponent;
    if (size > 3 * FARTHEST) { /* the tree's origin is negligible at this distance of the query point */
        exponent -= size - FARTHEST;
        for (int k = 0; k < 3; k++)
            x[k] = sinew_tree_scaled((double)point[k], exponent);
        return exponent;
    }
    for (int k = 0; k < 3; k++)
        x[k] = (double)point[k] * tree->scale - tree->origin[k];
    const int above = exponent_of(larger(larger(fabs(x[0]), fabs(x[1])), fabs(x[2]))) - FARTHEST;
    for (int k = 0; k < 3 && above > 0; k++)
        x[k] = sinew_tree_scaled(x[k], -above);
    return above > 0 ? exponent - above : exponent;
}

bool sinew_nearest_query_set(const sinew_tree *tree, const sinew_real point[3], double limit,
                             sinew_nearest_query *query, int *exponent)
{
    if (!all_finite(point) || !(limit >= 0))
        return false;
    double x[3];
    *exponent = relative_point(tree, point, x);
    const double error = 16 * SINEW_TREE_EPSILON * tree->largest + TINY;
    for (int k = 0; k < 3; k++) {
        query->p[k] = *exponent == tree->exponent ? (sinew_real)((double)point[k] * tree->scale)
                                                  : (sinew_real)(x[k] + tree->origin[k]);
        x[k] = (double)query->p[k] - tree->origin[k];
        const double pad = error + DBL_EPSILON * fabs(x[k]);
        query->low[k] = padded_below(x[k] - pad);
        query->high[k] = padded_above(x[k] + pad);
    }
    const sinew_real scaled = (sinew_real)sinew_tree_scaled(limit, *exponent);
    query->d2 = scaled * scaled;
    query->cell = INT32_MAX;
    return true;
}

/* ---- Queries along rays -------------------------------------------------------------------------- */

/* Scales the ray's direction and computes the shear of leaf_ray.h from it. */
static void set_direction(const sinew_real direction[3], int exponent, sinew_ray_query *q)
{
    q->kz = 0;
    for (int k = 0; k < 3; k++) {
        q->d[k] = (sinew_real)sinew_tree_scaled((double)direction[k], exponent);
        q->inverse[k] = fabs((double)q->d[k]) > FLATTEST ? 1 / q->d[k] : 0;
        if (fabs((double)q->d[k]) > fabs((double)q->d[q->kz]))
            q->kz = k;
    }
    q->kx = q->kz == 2 ? 0 : q->kz + 1;
    q->ky = q->kz == 0 ? 2 : q->kz - 1;
    q->sz = q->inverse[q->kz];
    q->sx = q->d[q->kx] * q->sz;
    q->sy = q->d[q->ky] * q->sz;
}

/* Upper bound of the distance of all cell corners from the ray's origin along any axis. */
static double query_radius_of(const sinew_tree *tree, const sinew_ray_query *q)
{
    double radius = 0;
    for (int k = 0; k < 3; k++)
        radius = larger(radius, fabs((double)q->o[k] - tree->origin[k]) + tree->half[k]);
    return radius;
}

static void set_slabs(const sinew_tree *tree, double error, sinew_ray_query *q)
{
    for (int k = 0; k < 3; k++) {
        const double x = ((double)q->o[k] - tree->origin[k]) + q->shift * (double)q->d[k];
        const double pad = error + 4 * DBL_EPSILON * (fabs(x) + fabs(q->shift));
        const float low = padded_below(x - pad), high = padded_above(x + pad);
        const bool forward = q->d[k] >= 0;
        const float inverse = q->inverse[k] == 0 ? STEEPEST : (float)fabs((double)q->inverse[k]);
        const float sign = forward ? 1.0f : -1.0f;
        q->near_row[k] = forward ? 2 * k : 2 * k + 1;
        q->near_origin[k] = forward ? high : low;
        q->far_origin[k] = forward ? low : high;
        q->near_inverse[k] = sign * inverse * (1 - 8 * FLT_EPSILON);
        q->far_inverse[k] = sign * inverse * (1 + 8 * FLT_EPSILON);
    }
}

/* Prepares a ray query. A direction shorter than 2^-1000 or longer than 2^1000 cannot be scaled; it counts as no
 * direction. */
bool sinew_ray_query_set(const sinew_tree *tree, const sinew_ray *ray, sinew_ray_query *q, int *exponent)
{
    const int length = exponent_of(largest_magnitude(ray->direction));
    if (!all_finite(ray->origin) || !all_finite(ray->direction) || length < -1000 || length > 1000 ||
        !(ray->from <= ray->to) || exponent_of(largest_magnitude(ray->origin)) + tree->exponent > SINEW_TREE_FAR)
        return false;
    *exponent = tree->exponent + length;
    set_direction(ray->direction, -length, q);
    for (int k = 0; k < 3; k++)
        q->o[k] = (sinew_real)((double)ray->origin[k] * tree->scale);
    q->from = (sinew_real)sinew_tree_scaled((double)ray->from, *exponent);
    q->to = (sinew_real)sinew_tree_scaled((double)ray->to, *exponent);
    const double radius = query_radius_of(tree, q);
    q->shift = q->from < 0 ? larger((double)q->from, -4 * radius) : 0;
    q->pad = (sinew_real)(4 * SINEW_TREE_EPSILON * radius);
    set_slabs(tree, 8 * SINEW_TREE_EPSILON * radius + TINY, q);
    q->begin = padded_below(larger((double)q->from - q->shift, 0));
    q->end = padded_above((double)q->to - q->shift);
    q->cell = INT32_MAX;
    return true;
}
