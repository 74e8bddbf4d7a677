/* SPDX-License-Identifier: MIT
 *
 * query.c: questions in the tree's scale, with the room for round-off that makes boxes conservative (tree.h).
 */
#include <float.h>
#include <math.h>

#include "tree/tree.h"

#define TINY     0x1p-60 /* of all that is padded: squares of what is below it may vanish */
#define FARTHEST 60      /* exponent of the farthest point: its square is a finite float */
#define STEEPEST 0x1p100f
#define FLATTEST 0x1p-100

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

static double largest_of(const sinew_real x[3])
{
    return fmax(fmax(fabs((double)x[0]), fabs((double)x[1])), fabs((double)x[2]));
}

static bool all_finite(const sinew_real x[3])
{
    return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
}

/* The exponent e of 2^e in [x, 2 x). */
static int exponent_of(double x)
{
    int e = 0;
    frexp(x, &e);
    return e;
}

/* ---- Nearest ------------------------------------------------------------------------------------ */

/* The point relative to the tree's origin, scaled by 2^exponent: the tree's, or less for points so far away that
 * squares of floats would overflow. Those come nearer, in the same direction: seen from there, the tree's extent is
 * below round-off. */
static int relative_point(const sinew_tree *tree, const sinew_real point[3], double x[3])
{
    int exponent = tree->exponent;
    const int size = exponent_of(largest_of(point)) + exponent;
    if (size > 3 * FARTHEST) { /* nor does the origin count */
        exponent -= size - FARTHEST;
        for (int k = 0; k < 3; k++)
            x[k] = ldexp((double)point[k], exponent);
        return exponent;
    }
    for (int k = 0; k < 3; k++)
        x[k] = (double)point[k] * tree->scale - tree->origin[k];
    const int above = exponent_of(fmax(fmax(fabs(x[0]), fabs(x[1])), fabs(x[2]))) - FARTHEST;
    for (int k = 0; k < 3 && above > 0; k++)
        x[k] = ldexp(x[k], -above);
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
        query->low[k] = sinew_float_below(x[k] - pad);
        query->high[k] = sinew_float_above(x[k] + pad);
    }
    const sinew_real scaled = (sinew_real)ldexp(limit, *exponent);
    query->d2 = scaled * scaled;
    query->cell = INT32_MAX;
    return true;
}

/* ---- Rays --------------------------------------------------------------------------------------- */

/* The direction in a scale of its own, and how the shear follows from it. Returns its exponent. */
static int set_direction(const sinew_real direction[3], sinew_ray_query *q)
{
    const int exponent = -exponent_of(largest_of(direction));
    q->kz = 0;
    for (int k = 0; k < 3; k++) {
        q->d[k] = (sinew_real)ldexp((double)direction[k], exponent);
        if (fabs((double)q->d[k]) > fabs((double)q->d[q->kz]))
            q->kz = k;
    }
    q->kx = (q->kz + 1) % 3;
    q->ky = (q->kz + 2) % 3;
    q->sx = q->d[q->kx] / q->d[q->kz];
    q->sy = q->d[q->ky] / q->d[q->kz];
    q->sz = 1 / q->d[q->kz];
    for (int k = 0; k < 3; k++)
        q->inverse[k] = fabs((double)q->d[k]) > FLATTEST ? 1 / q->d[k] : 0;
    return exponent;
}

/* No corner is farther from the ray's origin along any axis. */
static double reach_of(const sinew_tree *tree, const sinew_ray_query *q)
{
    double reach = 0;
    for (int k = 0; k < 3; k++)
        reach = fmax(reach, fabs((double)q->o[k] - tree->origin[k]) + tree->half[k]);
    return reach;
}

static void set_slabs(const sinew_tree *tree, double error, sinew_ray_query *q)
{
    for (int k = 0; k < 3; k++) {
        const double x = ((double)q->o[k] - tree->origin[k]) + q->shift * (double)q->d[k];
        const double pad = error + 4 * DBL_EPSILON * (fabs(x) + fabs(q->shift));
        const float low = sinew_float_below(x - pad), high = sinew_float_above(x + pad);
        const bool forward = q->d[k] >= 0;
        const float inverse = (float)fmin(1 / fabs((double)q->d[k]), (double)STEEPEST);
        const float sign = forward ? 1.0f : -1.0f;
        q->near_row[k] = forward ? 2 * k : 2 * k + 1;
        q->near_origin[k] = forward ? high : low;
        q->far_origin[k] = forward ? low : high;
        q->near_inverse[k] = sign * inverse * (1 - 8 * FLT_EPSILON);
        q->far_inverse[k] = sign * inverse * (1 + 8 * FLT_EPSILON);
    }
}

bool sinew_ray_query_set(const sinew_tree *tree, const sinew_ray *ray, sinew_ray_query *q, int *exponent)
{
    const double size = largest_of(ray->direction);
    if (!all_finite(ray->origin) || !all_finite(ray->direction) || size == 0 || !(ray->from <= ray->to) ||
        exponent_of(largest_of(ray->origin)) + tree->exponent > SINEW_TREE_FAR)
        return false;
    *exponent = tree->exponent - set_direction(ray->direction, q);
    for (int k = 0; k < 3; k++)
        q->o[k] = (sinew_real)ldexp((double)ray->origin[k], tree->exponent);
    q->from = (sinew_real)ldexp((double)ray->from, *exponent);
    q->to = (sinew_real)ldexp((double)ray->to, *exponent);
    const double reach = reach_of(tree, q);
    q->shift = q->from < 0 ? fmax((double)q->from, -4 * reach) : 0;
    q->pad = (sinew_real)(4 * SINEW_TREE_EPSILON * reach);
    set_slabs(tree, 8 * SINEW_TREE_EPSILON * reach + TINY, q);
    q->begin = sinew_float_below(fmax((double)q->from - q->shift, 0));
    q->end = sinew_float_above(((double)q->to - q->shift) * (1 + 4 * DBL_EPSILON));
    q->cell = INT32_MAX;
    return true;
}
