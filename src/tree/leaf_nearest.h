/* SPDX-License-Identifier: MIT
 *
 * leaf_nearest.h: the place of a triangle, an edge or a point nearest to p, for lanes of cells.
 *
 * A triangle abc has the nearest of three edges, each by clamping, and its plane's foot point
 *     v = (ac.ac ab.ap - ab.ac ac.ap) / det,  w = (ab.ab ac.ap - ab.ac ab.ap) / det,  det = |ab|^2 |ac|^2 - (ab.ac)^2
 * counts where it lies inside and is nearer. So slivers, whose v and w are round-off, are never worse than their edges.
 * Brute force in the tests uses the same functions with lanes of width 1, and every width gives the same bits: the
 * files that include this one are compiled without fusing.
 */
#ifndef SINEW_LEAF_NEAREST_H
#define SINEW_LEAF_NEAREST_H

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

static inline leaf_spot leaf_triangle(const lane p[3], const lane a[3], const lane b[3], const lane c[3])
{
    const lane zero = lane_set(0), one = lane_set(1);
    lane ap[3], bp[3], ab[3], ac[3], bc[3], offset[3], d2;
    leaf_subtract(p, a, ap);
    leaf_subtract(p, b, bp);
    leaf_subtract(b, a, ab);
    leaf_subtract(c, a, ac);
    leaf_subtract(c, b, bc);
    const lane ab_ap = leaf_dot(ab, ap), ac_ap = leaf_dot(ac, ap);
    const lane ab_ab = leaf_dot(ab, ab), ac_ac = leaf_dot(ac, ac), ab_ac = leaf_dot(ab, ac);
    leaf_spot best = {.w = zero};
    best.v = leaf_segment(ap, ab, ab_ap, ab_ab, &best.d2);
    lane t = leaf_segment(ap, ac, ac_ap, ac_ac, &d2);
    leaf_take(&best, lane_lt(d2, best.d2), d2, zero, t);
    t = leaf_segment(bp, bc, leaf_dot(bc, bp), leaf_dot(bc, bc), &d2);
    leaf_take(&best, lane_lt(d2, best.d2), d2, one - t, t);
    /* Inside the face. */
    const lane det = ab_ab * ac_ac - ab_ac * ab_ac;
    const lane vb = ac_ac * ab_ap - ab_ac * ac_ap, vc = ab_ab * ac_ap - ab_ac * ab_ap;
    const lane v = vb / det, w = vc / det;
    for (int k = 0; k < 3; k++)
        offset[k] = ap[k] - v * ab[k] - w * ac[k];
    d2 = leaf_dot(offset, offset);
    const lane_mask inside = lane_lt(zero, vb) & lane_lt(zero, vc) & lane_lt(vb + vc, det);
    leaf_take(&best, inside & lane_lt(d2, best.d2), d2, v, w);
    return best;
}

/* Of a cell of `width` corners; x holds them one after the other. */
static inline leaf_spot leaf_nearest(int width, const lane p[3], const lane x[9])
{
    if (width == 3)
        return leaf_triangle(p, x, x + 3, x + 6);
    return width == 2 ? leaf_edge(p, x, x + 3) : leaf_point(p, x);
}

#endif
