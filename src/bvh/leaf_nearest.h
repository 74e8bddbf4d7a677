/* SPDX-License-Identifier: MIT
 *
 * leaf_nearest.h: the place of a triangle, an edge or a point nearest to p, for lanes of cells.
 *
 * A triangle abc has the nearest of three edges, each by clamping, and its plane's foot point
 *     v = ap.(ac x n) / n.n,  w = ap.(n x ab) / n.n,  n = ab x ac
 * counts where it lies inside and is nearer. It is computed twice, the second time from what the first has left over:
 * the round-off of a thin triangle's v and w would move it along the triangle by up to its width. Triangles so thin
 * that even this is round-off are never worse than their edges. Brute force in the tests uses the same functions with
 * lanes of width 1, and every width gives the same bits: the files that include this one are compiled without fusing.
 */
#ifndef SINEW_SRC_BVH_LEAF_NEAREST_H
#define SINEW_SRC_BVH_LEAF_NEAREST_H

#include "math/lanes.h"

typedef struct leaf_spot {
    lane d2;   /* squared distance */
    lane v, w; /* weights of the second and third corner */
} leaf_spot;

static inline lane leaf_dot(const lane a[3], const lane b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void leaf_subtract(const lane a[3], const lane b[3], lane out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[k] - b[k];
}

/* Takes the place of the segment that begins `from` before p, where the product of both is given, if it is nearer.
 * Returns where on the segment it is. */
static inline lane leaf_segment(const lane from[3], const lane edge[3], lane product, lane length2, lane *d2)
{
    lane offset[3];
    /* Not a number for an edge of no length: the larger of that and 0 is 0. */
    const lane t = lane_min(lane_max(product / length2, lane_set(0)), lane_set(1));
    for (int k = 0; k < 3; k++)
        offset[k] = from[k] - t * edge[k];
    *d2 = leaf_dot(offset, offset);
    return t;
}

static inline leaf_spot leaf_point(const lane p[3], const lane a[3])
{
    lane ap[3];
    leaf_subtract(p, a, ap);
    return (leaf_spot){leaf_dot(ap, ap), lane_set(0), lane_set(0)};
}

static inline leaf_spot leaf_edge(const lane p[3], const lane a[3], const lane b[3])
{
    lane ap[3], ab[3];
    leaf_spot spot = {.w = lane_set(0)};
    leaf_subtract(p, a, ap);
    leaf_subtract(b, a, ab);
    spot.v = leaf_segment(ap, ab, leaf_dot(ap, ab), leaf_dot(ab, ab), &spot.d2);
    return spot;
}

static inline void leaf_take(leaf_spot *best, lane_mask better, lane d2, lane v, lane w)
{
    best->d2 = lane_select(better, d2, best->d2);
    best->v = lane_select(better, v, best->v);
    best->w = lane_select(better, w, best->w);
}

static inline void leaf_cross(const lane a[3], const lane b[3], lane out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/* The foot point of the plane: its weights and squared distance, and whether it lies inside. */
static inline lane_mask leaf_face(const lane ap[3], const lane ab[3], const lane ac[3], lane *v, lane *w, lane *d2)
{
    lane n[3], to_v[3], to_w[3], offset[3];
    leaf_cross(ab, ac, n);
    leaf_cross(ac, n, to_v);
    leaf_cross(n, ab, to_w);
    const lane inverse = 1 / leaf_dot(n, n);
    *v = leaf_dot(to_v, ap) * inverse;
    *w = leaf_dot(to_w, ap) * inverse;
    for (int k = 0; k < 3; k++)
        offset[k] = ap[k] - *v * ab[k] - *w * ac[k];
    *v += leaf_dot(to_v, offset) * inverse;
    *w += leaf_dot(to_w, offset) * inverse;
    for (int k = 0; k < 3; k++)
        offset[k] = ap[k] - *v * ab[k] - *w * ac[k];
    *d2 = leaf_dot(offset, offset);
    return lane_lt(lane_set(0), *v) & lane_lt(lane_set(0), *w) & lane_lt(*v + *w, lane_set(1));
}

static inline leaf_spot leaf_triangle(const lane p[3], const lane a[3], const lane b[3], const lane c[3])
{
    const lane zero = lane_set(0), one = lane_set(1);
    lane ap[3], bp[3], ab[3], ac[3], bc[3], v, w, d2;
    leaf_subtract(p, a, ap);
    leaf_subtract(p, b, bp);
    leaf_subtract(b, a, ab);
    leaf_subtract(c, a, ac);
    leaf_subtract(c, b, bc);
    const lane ab_ap = leaf_dot(ab, ap), ac_ap = leaf_dot(ac, ap);
    const lane ab_ab = leaf_dot(ab, ab), ac_ac = leaf_dot(ac, ac);
    leaf_spot best = {.w = zero};
    best.v = leaf_segment(ap, ab, ab_ap, ab_ab, &best.d2);
    lane t = leaf_segment(ap, ac, ac_ap, ac_ac, &d2);
    leaf_take(&best, lane_lt(d2, best.d2), d2, zero, t);
    t = leaf_segment(bp, bc, leaf_dot(bc, bp), leaf_dot(bc, bc), &d2);
    leaf_take(&best, lane_lt(d2, best.d2), d2, one - t, t);
    const lane_mask inside = leaf_face(ap, ab, ac, &v, &w, &d2);
    leaf_take(&best, inside & lane_lt(d2, best.d2), d2, v, w);
    return best;
}

/* The place on a cell of `width` corners; x holds them one after the other. */
static inline leaf_spot leaf_nearest(int width, const lane p[3], const lane x[9])
{
    if (width == 3)
        return leaf_triangle(p, x, x + 3, x + 6);
    return width == 2 ? leaf_edge(p, x, x + 3) : leaf_point(p, x);
}

#endif
