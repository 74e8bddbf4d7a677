/* SPDX-License-Identifier: MIT
 *
 * leaf_nearest.h: the nearest point to p on a triangle, an edge or a point, for a SIMD vector of cells.
 *
 * The nearest point of a triangle abc is the nearest point of its three edges, or the foot point on its plane
 *
 *     v = ap.(ac x n) / n.n,  w = ap.(n x ab) / n.n,  n = ab x ac
 *
 * if it lies inside and is nearer. The foot point is computed twice, the second time from the remainder of the first:
 * the round-off of v and w would move it along a thin triangle by up to the width of the triangle. If v and
 * w are mere round-off (degenerate triangle), the edges decide. Brute force in the tests uses the same functions with
 * width 1, and every width gives the same bits: files that include this one are compiled without fused operations.
 */
#ifndef SINEW_SRC_BVH_LEAF_NEAREST_H
#define SINEW_SRC_BVH_LEAF_NEAREST_H

#include "math/simd.h"

typedef struct leaf_spot {
    wide d2;   /* squared distance of the cell's nearest point from p, scaled */
    wide v, w; /* barycentric weights of the cell's second and third corner at the nearest point */
} leaf_spot;

static inline wide leaf_dot(const wide a[3], const wide b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void leaf_subtract(const wide a[3], const wide b[3], wide out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[k] - b[k];
}

/* Finds the point of a segment that is nearest to p. `from`: p less the start of the segment; `product`: from . edge.
 * Sets the squared distance d2 and returns the parameter of the point on the segment. */
static inline wide leaf_segment(const wide from[3], const wide edge[3], wide product, wide length2, wide *d2)
{
    wide offset[3];
    /* An edge of length zero gives the parameter NaN; wide_max() of NaN and 0 is 0. */
    const wide t = wide_min(wide_max(product / length2, wide_set(0)), wide_set(1));
    for (int k = 0; k < 3; k++)
        offset[k] = from[k] - t * edge[k];
    *d2 = leaf_dot(offset, offset);
    return t;
}

static inline leaf_spot leaf_point(const wide p[3], const wide a[3])
{
    wide ap[3];
    leaf_subtract(p, a, ap);
    return (leaf_spot){leaf_dot(ap, ap), wide_set(0), wide_set(0)};
}

static inline leaf_spot leaf_edge(const wide p[3], const wide a[3], const wide b[3])
{
    wide ap[3], ab[3];
    leaf_spot spot = {.w = wide_set(0)};
    leaf_subtract(p, a, ap);
    leaf_subtract(b, a, ab);
    spot.v = leaf_segment(ap, ab, leaf_dot(ap, ab), leaf_dot(ab, ab), &spot.d2);
    return spot;
}

static inline void leaf_take(leaf_spot *best, wide_mask better, wide d2, wide v, wide w)
{
    best->d2 = wide_select(better, d2, best->d2);
    best->v = wide_select(better, v, best->v);
    best->w = wide_select(better, w, best->w);
}

static inline void leaf_cross(const wide a[3], const wide b[3], wide out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/* Computes weights and squared distance of the foot point of p on the triangle's plane. Returns the mask of foot points
 * inside the triangle. */
static inline wide_mask leaf_face(const wide ap[3], const wide ab[3], const wide ac[3], wide *v, wide *w, wide *d2)
{
    wide n[3], to_v[3], to_w[3], offset[3];
    leaf_cross(ab, ac, n);
    leaf_cross(ac, n, to_v);
    leaf_cross(n, ab, to_w);
    const wide inverse = 1 / leaf_dot(n, n);
    *v = leaf_dot(to_v, ap) * inverse;
    *w = leaf_dot(to_w, ap) * inverse;
    for (int k = 0; k < 3; k++)
        offset[k] = ap[k] - *v * ab[k] - *w * ac[k];
    *v += leaf_dot(to_v, offset) * inverse;
    *w += leaf_dot(to_w, offset) * inverse;
    for (int k = 0; k < 3; k++)
        offset[k] = ap[k] - *v * ab[k] - *w * ac[k];
    *d2 = leaf_dot(offset, offset);
    return wide_lt(wide_set(0), *v) & wide_lt(wide_set(0), *w) & wide_lt(*v + *w, wide_set(1));
}

static inline leaf_spot leaf_triangle(const wide p[3], const wide a[3], const wide b[3], const wide c[3])
{
    const wide zero = wide_set(0), one = wide_set(1);
    wide ap[3], bp[3], ab[3], ac[3], bc[3], v, w, d2;
    leaf_subtract(p, a, ap);
    leaf_subtract(p, b, bp);
    leaf_subtract(b, a, ab);
    leaf_subtract(c, a, ac);
    leaf_subtract(c, b, bc);
    const wide ab_ap = leaf_dot(ab, ap), ac_ap = leaf_dot(ac, ap);
    const wide ab_ab = leaf_dot(ab, ab), ac_ac = leaf_dot(ac, ac);
    leaf_spot best = {.w = zero};
    best.v = leaf_segment(ap, ab, ab_ap, ab_ab, &best.d2);
    wide t = leaf_segment(ap, ac, ac_ap, ac_ac, &d2);
    leaf_take(&best, wide_lt(d2, best.d2), d2, zero, t);
    t = leaf_segment(bp, bc, leaf_dot(bc, bp), leaf_dot(bc, bc), &d2);
    leaf_take(&best, wide_lt(d2, best.d2), d2, one - t, t);
    const wide_mask inside = leaf_face(ap, ab, ac, &v, &w, &d2);
    leaf_take(&best, inside & wide_lt(d2, best.d2), d2, v, w);
    return best;
}

/* The nearest point on a cell of `width` corners; x holds the corners one after another. */
static inline leaf_spot leaf_nearest(int width, const wide p[3], const wide x[9])
{
    if (width == 3)
        return leaf_triangle(p, x, x + 3, x + 6);
    return width == 2 ? leaf_edge(p, x, x + 3) : leaf_point(p, x);
}

#endif
