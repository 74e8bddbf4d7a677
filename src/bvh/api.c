/* SPDX-License-Identifier: MIT
 *
 * api.c: the public queries of a BVH: nearest points, rays and winding numbers. The SIMD kernels find the cell; this
 * file computes the point on it.
 */
#include <math.h>

#undef SINEW_SIMD_WIDTH
#undef SINEW_SIMD_SUFFIX
#define SINEW_SIMD_WIDTH  1
#define SINEW_SIMD_SUFFIX ask
#include "bvh/leaf_nearest.h"
#include "bvh/tree.h"

#define AT_ONCE 64

/* ---- Nearest points on the cells of a tree ------------------------------------------------------- */

/* Returns the point on a cell that is nearest to the query point. weights[1] and weights[2] are exactly 0 where their
 * corners do not contribute. weights[0] is the rest to 1: on the edge opposite to corner 0 it is 0 or round-off. */
static sinew_tree_point tree_point_of(const sinew_tree *tree, const sinew_nearest_query *q, int exponent)
{
    sinew_tree_point slot = {.cell = q->cell,
                             .distance = (sinew_real)sinew_tree_scaled(sqrt((double)q->d2), -exponent)};
    sinew_real x[9] = {0};
    for (int i = 0; i < 3 * tree->width; i++)
        x[i] = (sinew_real)((double)sinew_tree_corner(tree, q->cell, i / 3)[i % 3] * tree->scale);
    const leaf_spot spot = leaf_nearest(tree->width, q->p, x);
    const sinew_real rest = 1 - spot.v - spot.w;
    slot.weights[0] = rest > 0 ? rest : 0;
    slot.weights[1] = spot.v;
    slot.weights[2] = spot.w;
    for (int i = 0; i < 3; i++)
        slot.on |= slot.weights[i] > 0 ? 1u << i : 0;
    for (int i = 0; i < tree->width; i++)
        for (int k = 0; k < 3; k++)
            slot.point[k] += slot.weights[i] * sinew_tree_corner(tree, q->cell, i)[k];
    return slot;
}

typedef struct nearest_call {
    const sinew_tree *tree;
    const sinew_real *points, *limits;
    sinew_tree_point *slots;
} nearest_call;

static void run_nearest(void *context, int32_t member, int64_t first, int64_t last)
{
    (void)member;
    const nearest_call *call = context;
    for (int64_t i = first; i < last; i++) {
        sinew_nearest_query q;
        int exponent;
        const double limit = call->limits ? (double)call->limits[i] : INFINITY;
        q.cell = INT32_MAX;
        if (sinew_nearest_query_set(call->tree, call->points + 3 * i, limit, &q, &exponent))
            call->tree->kernel->nearest(call->tree, &q);
        call->slots[i] = q.cell == INT32_MAX ? (sinew_tree_point){.cell = -1, .distance = INFINITY}
                                             : tree_point_of(call->tree, &q, exponent);
    }
}

void sinew_tree_nearest(const sinew_tree *tree, int64_t count, const sinew_real *points, const sinew_real *limits,
                        sinew_tree_point *slots)
{
    if (!SINEW_ASSERT(tree && ((points && slots) || count == 0)))
        return;
    nearest_call call = {tree, points, limits, slots};
    if (count <= AT_ONCE)
        run_nearest(&call, 0, 0, count);
    else
        sinew_run_range(tree->thread_count, count, AT_ONCE, run_nearest, &call);
}

/* ---- First hits of rays with the cells of a tree ------------------------------------------------- */

bool sinew_tree_ray(const sinew_tree *tree, const sinew_ray *ray, sinew_ray_hit *hit)
{
    if (!SINEW_ASSERT(tree && ray && hit && tree->width == 3))
        return false;
    sinew_ray_query q;
    int exponent;
    *hit = (sinew_ray_hit){.cell = -1};
    if (!sinew_ray_query_set(tree, ray, &q, &exponent))
        return false;
    tree->kernel->ray(tree, &q);
    if (q.cell == INT32_MAX)
        return false;
    *hit = (sinew_ray_hit){q.cell, (sinew_real)sinew_tree_scaled((double)q.to, -exponent), q.u, q.v};
    return true;
}

bool sinew_tree_ray_any(const sinew_tree *tree, const sinew_ray *ray)
{
    if (!SINEW_ASSERT(tree && ray && tree->width == 3))
        return false;
    sinew_ray_query q;
    int exponent;
    return sinew_ray_query_set(tree, ray, &q, &exponent) && tree->kernel->ray_any(tree, &q);
}

/* ---- Winding numbers of a triangle tree ---------------------------------------------------------- */

typedef struct winding_call {
    const sinew_tree *tree;
    const sinew_real *points;
    sinew_real *windings;
} winding_call;

static void run_windings(void *context, int32_t member, int64_t first, int64_t last)
{
    (void)member;
    const winding_call *call = context;
    const sinew_tree *tree = call->tree;
    for (int64_t i = first; i < last; i++) {
        double q[3];
        for (int k = 0; k < 3; k++)
            q[k] = (double)call->points[3 * i + k] * tree->scale - tree->origin[k];
        const double size = fabs(q[0]) + fabs(q[1]) + fabs(q[2]);
        /* Points so far away that the squared distance overflows get the winding number 0. */
        call->windings[i] = size < 0x1p60 ? (sinew_real)tree->kernel->winding(tree, q) : 0;
    }
}

void sinew_tree_winding(const sinew_tree *tree, int64_t count, const sinew_real *points, sinew_real *windings)
{
    if (!SINEW_ASSERT(tree && tree->shape.moments && ((points && windings) || count == 0)))
        return;
    winding_call call = {tree, points, windings};
    if (count <= AT_ONCE)
        run_windings(&call, 0, 0, count);
    else
        sinew_run_range(tree->thread_count, count, AT_ONCE, run_windings, &call);
}
