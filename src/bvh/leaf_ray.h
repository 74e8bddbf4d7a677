/* SPDX-License-Identifier: MIT
 *
 * leaf_ray.h: where a ray meets triangles, for lanes of them.
 *
 * S. Woop, C. Benthin, I. Wald: "Watertight ray/triangle intersection", Journal of Computer Graphics Techniques 2
 * (2013): corners are moved to the ray's origin and sheared so that it runs along z; the signs of the three edge
 * functions at 0 decide. The corners of two triangles that share an edge give the same numbers in both, and a rounded
 * difference of rounded products has the right sign or is 0; where it is 0 it is computed without rounding. So signs
 * are exact, and no ray goes between two triangles.
 *
 * A triangle that the ray grazes has a time of pure round-off, somewhere between its corners. It is kept within the
 * triangle's box, so that a box that begins after a hit cannot hold an earlier one.
 */
#ifndef SINEW_SRC_BVH_LEAF_RAY_H
#define SINEW_SRC_BVH_LEAF_RAY_H

#include "math/lanes.h"
#include "bvh/tree.h"

typedef struct leaf_hit {
    lane_mask hit;
    lane t, u, v;
} leaf_hit;

/* The exact sign of a d - b c, where both products round to the same number. */
static inline sinew_real leaf_residual(sinew_real a, sinew_real d, sinew_real b, sinew_real c)
{
#ifdef SINEW_SINGLE
    return (sinew_real)((double)a * (double)d - (double)b * (double)c);
#else
    return fma(a, d, -(a * d)) - fma(b, c, -(b * c));
#endif
}

/* a d - b c with the right sign. */
static inline lane leaf_determinant(lane a, lane d, lane b, lane c)
{
    lane r = a * d - b * c;
    const lane_mask zero = lane_eq(r, lane_set(0));
    if (__builtin_expect(lane_any(zero), 0))
        for (int i = 0; i < LANES; i++)
            if (lane_get(r, i) == 0)
                r = lane_put(r, i, leaf_residual(lane_get(a, i), lane_get(d, i), lane_get(b, i), lane_get(c, i)));
    return r;
}

/* A triangle that is a line or a point has no normal. */
static inline lane_mask leaf_has_area(const lane a[3], const lane b[3], const lane c[3])
{
    const lane zero = lane_set(0);
    lane ab[3], ac[3];
    for (int k = 0; k < 3; k++) {
        ab[k] = b[k] - a[k];
        ac[k] = c[k] - a[k];
    }
    lane_mask has = lane_lt(zero, zero);
    for (int k = 0; k < 3; k++) {
        const int l = (k + 1) % 3, m = (k + 2) % 3;
        const lane n = leaf_determinant(ab[l], ac[m], ab[m], ac[l]);
        has |= lane_lt(zero, n) | lane_lt(n, zero);
    }
    return has;
}

/* Keeps t within the times at which the ray is in the triangle's box, which is grown by the round-off of shearing: a
 * triangle that is hit is that near. */
static inline lane leaf_clamp(const sinew_ray_query *q, const lane a[3], const lane b[3], const lane c[3], lane t)
{
    lane begin = lane_set(-(sinew_real)INFINITY), end = lane_set((sinew_real)INFINITY);
    for (int k = 0; k < 3; k++) {
        if (q->inverse[k] == 0)
            continue;
        const lane low = lane_min(lane_min(a[k], b[k]), c[k]), high = lane_max(lane_max(a[k], b[k]), c[k]);
        const lane in = q->inverse[k] > 0 ? low : high, out = q->inverse[k] > 0 ? high : low;
        const lane origin = lane_set(q->o[k]), inverse = lane_set(q->inverse[k]);
        const lane pad = lane_set(q->inverse[k] > 0 ? q->pad : -q->pad);
        begin = lane_max(begin, (in - origin - pad) * inverse);
        end = lane_min(end, (out - origin + pad) * inverse);
    }
    return lane_max(lane_min(t, end), begin);
}

typedef struct leaf_sheared {
    lane x, y, z;
} leaf_sheared;

static inline leaf_sheared leaf_shear(const sinew_ray_query *q, const lane corner[3])
{
    leaf_sheared s;
    s.z = corner[q->kz] - lane_set(q->o[q->kz]);
    s.x = (corner[q->kx] - lane_set(q->o[q->kx])) - lane_set(q->sx) * s.z;
    s.y = (corner[q->ky] - lane_set(q->o[q->ky])) - lane_set(q->sy) * s.z;
    return s;
}

/* Hits with from <= t <= to. x holds the three corners. */
static inline leaf_hit leaf_ray(const sinew_ray_query *q, const lane x[9])
{
    const lane zero = lane_set(0);
    const leaf_sheared a = leaf_shear(q, x), b = leaf_shear(q, x + 3), c = leaf_shear(q, x + 6);
    leaf_hit h = {.t = zero, .u = zero, .v = zero};
    const lane U = leaf_determinant(c.x, b.y, c.y, b.x);
    const lane V = leaf_determinant(a.x, c.y, a.y, c.x);
    const lane W = leaf_determinant(b.x, a.y, b.y, a.x);
    const lane_mask negative = lane_lt(U, zero) | lane_lt(V, zero) | lane_lt(W, zero);
    const lane_mask positive = lane_lt(zero, U) | lane_lt(zero, V) | lane_lt(zero, W);
    h.hit = negative ^ positive;
    if (!lane_any(h.hit))
        return h;
    const lane det = U + V + W;
    const lane raw = (U * a.z + V * b.z + W * c.z) / det * lane_set(q->sz);
    h.t = leaf_clamp(q, x, x + 3, x + 6, raw);
    h.u = V / det;
    h.v = W / det;
    h.hit &= lane_eq(raw, raw) & lane_le(lane_set(q->from), h.t) & lane_le(h.t, lane_set(q->to));
    if (lane_any(h.hit))
        h.hit &= leaf_has_area(x, x + 3, x + 6);
    return h;
}

#endif
