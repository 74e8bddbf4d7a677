/* SPDX-License-Identifier: MIT
 *
 * distance_bounds.h: conservative distance bounds in floats, between one feature and eight others.
 *
 * Let z be the vector between one point of each feature. For any two such points, the distance of the features is at
 * least the separation along z, which is
 *
 *     (min over corners of the first of z . x  -  max over corners of the second) / |z|
 *
 * Good points are found in floats, and the bound, less its round-off (feature_bvh.h), excludes most pairs. Pairs that
 * are not excluded, and pairs with numbers that are not finite, are tested in double.
 */
#ifndef SINEW_SRC_COLLIDE_DISTANCE_BOUNDS_H
#define SINEW_SRC_COLLIDE_DISTANCE_BOUNDS_H

#include "collide/feature_bvh.h"
#include "bvh/box8.h"

static inline box8 bounds_dot(const box8 a[3], const box8 b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline box8 bounds_root(box8 a)
{
#if defined(__AVX2__)
    return (box8)_mm256_sqrt_ps((__m256)a);
#else
    for (int i = 0; i < 8; i++)
        a[i] = sqrtf(a[i]);
    return a;
#endif
}

/* Per slot of the SIMD vector: a where the mask is set, else b. */
static inline box8 bounds_select(box8_mask m, box8 a, box8 b)
{
    return (box8)(((box8_mask)a & m) | ((box8_mask)b & ~m));
}

/* Per slot of the SIMD vector: over / under, clamped to 0 .. 1. */
static inline box8 bounds_fraction(box8 over, box8 under)
{
    const box8 t = over / box8_max(under, box8_set(1e-36f));
    return box8_min(box8_max(t, box8_set(0)), box8_set(1));
}

/* Bit k: the distance in slot k is certainly at least `max`. */
static inline uint32_t bounds_beyond(box8 zz, box8 separation, box8 max)
{
    const uint32_t far = box8_le(max * max, zz);
    return far ? far & box8_le(max * bounds_root(zz), separation) : 0;
}

static inline void bounds_load(const float rows[3][SINEW_BOXES_WIDE], box8 out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = box8_load(rows[k]);
}

static inline void bounds_set(const float rows[3][SINEW_BOXES_WIDE], int slot, box8 out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = box8_set(rows[k][slot]);
}

/* Bits of the edges of a node that are certainly beyond the box radii, plus `approach`, of the edge in slot `slot` of
 * another node. */
static inline uint32_t bounds_edges(const sinew_box_shape *own, int slot, const sinew_box_shape *leaf, box8 approach)
{
    box8 u[3], v[3], r[3], q[3], z[3];
    bounds_set(own->corner, slot, r);
    bounds_set(own->side[0], slot, u);
    bounds_load(leaf->corner, q);
    bounds_load(leaf->side[0], v);
    for (int k = 0; k < 3; k++)
        r[k] -= q[k];
    const box8 uu = bounds_dot(u, u), vv = bounds_dot(v, v), uv = bounds_dot(u, v);
    const box8 ur = bounds_dot(u, r), vr = bounds_dot(v, r);
    box8 s = bounds_fraction(uv * vr - ur * vv, uu * vv - uv * uv);
    const box8 t = bounds_fraction(uv * s + vr, vv);
    s = bounds_fraction(uv * t - ur, uu);
    for (int k = 0; k < 3; k++)
        z[k] = r[k] + s * u[k] - t * v[k];
    const box8 none = box8_set(0);
    const box8 separation = bounds_dot(z, r) + box8_min(bounds_dot(z, u), none) - box8_max(bounds_dot(z, v), none);
    return bounds_beyond(bounds_dot(z, z), separation, box8_set(own->max[slot]) + box8_load(leaf->max) + approach);
}

/* Per slot: replaces z by the vector to the point with parameters (s, t) of the triangle if this vector is shorter. */
static inline void bounds_try(const box8 r[3], box8 e[2][3], box8 s, box8 t, box8 z[3], box8 *zz)
{
    box8 other[3];
    for (int k = 0; k < 3; k++)
        other[k] = r[k] - s * e[0][k] - t * e[1][k];
    const box8 less = bounds_dot(other, other);
    const box8_mask better = (box8_mask)(less < *zz);
    for (int k = 0; k < 3; k++)
        z[k] = bounds_select(better, other[k], z[k]);
    *zz = bounds_select(better, less, *zz);
}

/* Bits of the triangles of a node that are certainly beyond the box radii, plus `approach`, of the vertex in slot
 * `slot` of another node. */
static inline uint32_t bounds_faces(const sinew_box_shape *own, int slot, const sinew_box_shape *leaf, box8 approach)
{
    box8 r[3], a[3], e[2][3], z[3];
    const box8 none = box8_set(0), one = box8_set(1);
    bounds_set(own->corner, slot, r);
    bounds_load(leaf->corner, a);
    bounds_load(leaf->side[0], e[0]);
    bounds_load(leaf->side[1], e[1]);
    for (int k = 0; k < 3; k++)
        z[k] = r[k] -= a[k];
    const box8 e00 = bounds_dot(e[0], e[0]), e01 = bounds_dot(e[0], e[1]), e11 = bounds_dot(e[1], e[1]);
    const box8 r0 = bounds_dot(e[0], r), r1 = bounds_dot(e[1], r);
    const box8 s = bounds_fraction(e11 * r0 - e01 * r1, e00 * e11 - e01 * e01);
    const box8 t = box8_min(bounds_fraction(e00 * r1 - e01 * r0, e00 * e11 - e01 * e01), one - s);
    const box8 across = bounds_fraction((r1 - r0) + (e00 - e01), (e00 - e01) + (e11 - e01));
    box8 zz = bounds_dot(z, z);
    bounds_try(r, e, s, t, z, &zz);
    bounds_try(r, e, bounds_fraction(r0, e00), none, z, &zz);
    bounds_try(r, e, none, bounds_fraction(r1, e11), z, &zz);
    bounds_try(r, e, one - across, across, z, &zz);
    const box8 separation = bounds_dot(z, r) - box8_max(box8_max(bounds_dot(z, e[0]), bounds_dot(z, e[1])), none);
    return bounds_beyond(zz, separation, box8_set(own->max[slot]) + box8_load(leaf->max) + approach);
}

/* Converts a SIMD mask to an integer with bit k for slot k. */
static inline uint32_t bounds_bits(box8_mask m)
{
#if defined(__AVX2__)
    return (uint32_t)_mm256_movemask_ps((__m256)m);
#else
    uint32_t bits = 0;
    for (int i = 0; i < 8; i++)
        bits |= (uint32_t)(m[i] & 1) << i;
    return bits;
#endif
}

/* Bit k is set if the feature number ids[k] > own: each pair of features is then found once. */
static inline uint32_t bounds_higher(const int32_t ids[SINEW_BOXES_WIDE], int32_t own)
{
    box8_mask them;
    memcpy(&them, ids, sizeof them);
    return bounds_bits((box8_mask)(them > (own - (box8_mask){0})));
}

/* Bits of the slots whose feature, of `width` vertices, shares one of the `count` vertices of the feature in slot
 * `slot`. */
static inline uint32_t bounds_sharing(const sinew_box_shape *own, int slot, int count, const sinew_box_shape *leaf,
                                      int width)
{
    box8_mask shared = {0}, them;
    for (int j = 0; j < width; j++) {
        memcpy(&them, leaf->vertices[j], sizeof them);
        for (int i = 0; i < count; i++)
            shared |= (box8_mask)(them == (own->vertices[i][slot] - (box8_mask){0}));
    }
    return bounds_bits(shared);
}

#endif
