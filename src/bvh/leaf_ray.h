/* SPDX-License-Identifier: MIT
 *
 * leaf_ray.h: intersection of a ray with triangles, for a SIMD vector of them.
 *
 * S. Woop, C. Benthin, I. Wald: "Watertight ray/triangle intersection", Journal of Computer Graphics Techniques 2
 * (2013): corners are moved to the ray's origin and sheared so that the ray runs along z; the signs of the three edge
 * functions at 0 decide. Two triangles that share an edge compute the same numbers for its corners. A rounded
 * difference of rounded products has the right sign or is 0; if it is 0, it is recomputed without rounding. Signs are
 * therefore exact, and no ray passes between two triangles that share an edge.
 *
 * If the ray grazes a triangle, t is round-off between the values at the corners. t is clamped to the triangle's box,
 * so that a box that begins after a hit cannot contain an earlier hit.
 */
#ifndef SINEW_SRC_BVH_LEAF_RAY_H
#define SINEW_SRC_BVH_LEAF_RAY_H

#include "math/simd.h"
#include "bvh/tree.h"

typedef struct leaf_hit {
    wide_mask hit;
    wide t, u, v;
} leaf_hit;

/* A number with the exact sign of a d - b c, for products that round to the same number. */
static inline sinew_real leaf_residual(sinew_real a, sinew_real d, sinew_real b, sinew_real c)
{
#ifdef SINEW_SINGLE
    return (sinew_real)((double)a * (double)d - (double)b * (double)c);
#else
    return fma(a, d, -(a * d)) - fma(b, c, -(b * c));
#endif
}

/* Determinant a d - b c with the exact sign. */
static inline wide leaf_determinant(wide a, wide d, wide b, wide c)
{
    wide r = a * d - b * c;
    const wide_mask zero = wide_eq(r, wide_set(0));
    if (__builtin_expect(wide_any(zero), 0))
        for (int i = 0; i < SIMD_WIDTH; i++)
            if (wide_get(r, i) == 0)
                r = wide_put(r, i, leaf_residual(wide_get(a, i), wide_get(d, i), wide_get(b, i), wide_get(c, i)));
    return r;
}

/* Mask of triangles that have an area: a triangle that degenerates to a line or a point has no normal. */
static inline wide_mask leaf_has_area(const wide a[3], const wide b[3], const wide c[3])
{
    const wide zero = wide_set(0);
    wide ab[3], ac[3];
    for (int k = 0; k < 3; k++) {
        ab[k] = b[k] - a[k];
        ac[k] = c[k] - a[k];
    }
    wide_mask has = wide_lt(zero, zero);
    for (int k = 0; k < 3; k++) {
        const int l = (k + 1) % 3, m = (k + 2) % 3;
        const wide n = leaf_determinant(ab[l], ac[m], ab[m], ac[l]);
        has |= wide_lt(zero, n) | wide_lt(n, zero);
    }
    return has;
}

/* Clamps the ray parameter t of a hit to the parameters inside the triangle's box. The box is padded by the round-off
 * of shearing, because a hit may lie that far outside the triangle. */
static inline wide leaf_clamp(const sinew_ray_query *q, const wide a[3], const wide b[3], const wide c[3], wide t)
{
    wide begin = wide_set(-(sinew_real)INFINITY), end = wide_set((sinew_real)INFINITY);
    for (int k = 0; k < 3; k++) {
        if (q->inverse[k] == 0)
            continue;
        const wide low = wide_min(wide_min(a[k], b[k]), c[k]), high = wide_max(wide_max(a[k], b[k]), c[k]);
        const wide in = q->inverse[k] > 0 ? low : high, out = q->inverse[k] > 0 ? high : low;
        const wide origin = wide_set(q->o[k]), inverse = wide_set(q->inverse[k]);
        const wide pad = wide_set(q->inverse[k] > 0 ? q->pad : -q->pad);
        begin = wide_max(begin, (in - origin - pad) * inverse);
        end = wide_min(end, (out - origin + pad) * inverse);
    }
    return wide_max(wide_min(t, end), begin);
}

typedef struct leaf_sheared {
    wide x, y, z;
} leaf_sheared;

static inline leaf_sheared leaf_shear(const sinew_ray_query *q, const wide corner[3])
{
    leaf_sheared s;
    s.z = corner[q->kz] - wide_set(q->o[q->kz]);
    s.x = (corner[q->kx] - wide_set(q->o[q->kx])) - wide_set(q->sx) * s.z;
    s.y = (corner[q->ky] - wide_set(q->o[q->ky])) - wide_set(q->sy) * s.z;
    return s;
}

/* Hits of the ray with one triangle per lane at parameters from <= t <= to. x holds the three corners of each
 * triangle. */
static inline leaf_hit leaf_ray(const sinew_ray_query *q, const wide x[9])
{
    const wide zero = wide_set(0);
    const leaf_sheared a = leaf_shear(q, x), b = leaf_shear(q, x + 3), c = leaf_shear(q, x + 6);
    leaf_hit h = {.t = zero, .u = zero, .v = zero};
    const wide U = leaf_determinant(c.x, b.y, c.y, b.x);
    const wide V = leaf_determinant(a.x, c.y, a.y, c.x);
    const wide W = leaf_determinant(b.x, a.y, b.y, a.x);
    const wide_mask negative = wide_lt(U, zero) | wide_lt(V, zero) | wide_lt(W, zero);
    const wide_mask positive = wide_lt(zero, U) | wide_lt(zero, V) | wide_lt(zero, W);
    h.hit = negative ^ positive;
    if (!wide_any(h.hit))
        return h;
    const wide det = U + V + W;
    const wide raw = (U * a.z + V * b.z + W * c.z) / det * wide_set(q->sz);
    h.t = leaf_clamp(q, x, x + 3, x + 6, raw);
    h.u = V / det;
    h.v = W / det;
    h.hit &= wide_eq(raw, raw) & wide_le(wide_set(q->from), h.t) & wide_le(h.t, wide_set(q->to));
    if (wide_any(h.hit))
        h.hit &= leaf_has_area(x, x + 3, x + 6);
    return h;
}

#endif
