/* SPDX-License-Identifier: MIT
 *
 * distance_bounds.h: a feature and eight others at once, in floats: which are surely near, and which may be.
 *
 * With points of both features and z from one to the other, their distance lies between the gap along z, which is
 *     min over corners of the first of z . x - max over corners of the second,  over |z|
 * and |z|, whatever the points are. So floats find good points, and both bounds, widened by their round-off (feature_bvh.h),
 * decide: what is left over, and what is not a number, is measured in double. What ways add to the reach (candidates.h) is
 * known from above only, so it widens what may be near, not what surely is.
 */
#ifndef SINEW_SRC_COLLIDE_DISTANCE_BOUNDS_H
#define SINEW_SRC_COLLIDE_DISTANCE_BOUNDS_H

#include "collide/feature_bvh.h"
#include "bvh/box8.h"

typedef struct glance {
    uint32_t near; /* bits: surely near */
    uint32_t far;  /* surely not */
} glance;

static inline box8 glance_dot(const box8 a[3], const box8 b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline box8 glance_root(box8 a)
{
#if defined(__AVX2__)
    return (box8)_mm256_sqrt_ps((__m256)a);
#else
    for (int i = 0; i < 8; i++)
        a[i] = sqrtf(a[i]);
    return a;
#endif
}

/* a where the mask is set, else b. */
static inline box8 glance_pick(box8_mask m, box8 a, box8 b)
{
    return (box8)(((box8_mask)a & m) | ((box8_mask)b & ~m));
}

/* Between 0 and 1. */
static inline box8 glance_part(box8 over, box8 under)
{
    const box8 t = over / box8_max(under, box8_set(1e-36f));
    return box8_min(box8_max(t, box8_set(0)), box8_set(1));
}

static inline glance glance_judge(box8 zz, box8 gap, box8 most, box8 sure)
{
    glance g;
    sure = box8_max(sure, box8_set(0));
    g.near = box8_le(zz, sure * sure) & ~box8_le(sure, box8_set(0));
    g.far = box8_le(most * most, zz);
    if (g.far)
        g.far &= box8_le(most * glance_root(zz), gap);
    return g;
}

static inline void glance_load(const float rows[3][SINEW_BOXES_WIDE], box8 out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = box8_load(rows[k]);
}

static inline void glance_set(const float rows[3][SINEW_BOXES_WIDE], int slot, box8 out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = box8_set(rows[k][slot]);
}

/* The edge in place `slot` of a node and the edges of another; `more` is added to the reach. */
static inline glance glance_edges(const sinew_box_shape *own, int slot, const sinew_box_shape *leaf, box8 more)
{
    box8 u[3], v[3], r[3], q[3], z[3];
    glance_set(own->corner, slot, r);
    glance_set(own->side[0], slot, u);
    glance_load(leaf->corner, q);
    glance_load(leaf->side[0], v);
    for (int k = 0; k < 3; k++)
        r[k] -= q[k];
    const box8 uu = glance_dot(u, u), vv = glance_dot(v, v), uv = glance_dot(u, v);
    const box8 ur = glance_dot(u, r), vr = glance_dot(v, r);
    box8 s = glance_part(uv * vr - ur * vv, uu * vv - uv * uv);
    const box8 t = glance_part(uv * s + vr, vv);
    s = glance_part(uv * t - ur, uu);
    for (int k = 0; k < 3; k++)
        z[k] = r[k] + s * u[k] - t * v[k];
    const box8 none = box8_set(0);
    const box8 gap = glance_dot(z, r) + box8_min(glance_dot(z, u), none) - box8_max(glance_dot(z, v), none);
    return glance_judge(glance_dot(z, z), gap, box8_set(own->most[slot]) + box8_load(leaf->most) + more,
                        box8_set(own->sure[slot]) + box8_load(leaf->sure));
}

/* Takes the parts s of the first side and t of the second where they leave less. */
static inline void glance_try(const box8 r[3], box8 e[2][3], box8 s, box8 t, box8 z[3], box8 *zz)
{
    box8 other[3];
    for (int k = 0; k < 3; k++)
        other[k] = r[k] - s * e[0][k] - t * e[1][k];
    const box8 less = glance_dot(other, other);
    const box8_mask better = (box8_mask)(less < *zz);
    for (int k = 0; k < 3; k++)
        z[k] = glance_pick(better, other[k], z[k]);
    *zz = glance_pick(better, less, *zz);
}

/* The vertex in place `slot` of a node and the triangles of another; `more` is added to the reach. */
static inline glance glance_faces(const sinew_box_shape *own, int slot, const sinew_box_shape *leaf, box8 more)
{
    box8 r[3], a[3], e[2][3], z[3];
    const box8 none = box8_set(0), one = box8_set(1);
    glance_set(own->corner, slot, r);
    glance_load(leaf->corner, a);
    glance_load(leaf->side[0], e[0]);
    glance_load(leaf->side[1], e[1]);
    for (int k = 0; k < 3; k++)
        z[k] = r[k] -= a[k];
    const box8 e00 = glance_dot(e[0], e[0]), e01 = glance_dot(e[0], e[1]), e11 = glance_dot(e[1], e[1]);
    const box8 r0 = glance_dot(e[0], r), r1 = glance_dot(e[1], r);
    const box8 s = glance_part(e11 * r0 - e01 * r1, e00 * e11 - e01 * e01);
    const box8 t = box8_min(glance_part(e00 * r1 - e01 * r0, e00 * e11 - e01 * e01), one - s);
    const box8 across = glance_part((r1 - r0) + (e00 - e01), (e00 - e01) + (e11 - e01));
    box8 zz = glance_dot(z, z);
    glance_try(r, e, s, t, z, &zz);
    glance_try(r, e, glance_part(r0, e00), none, z, &zz);
    glance_try(r, e, none, glance_part(r1, e11), z, &zz);
    glance_try(r, e, one - across, across, z, &zz);
    const box8 gap = glance_dot(z, r) - box8_max(box8_max(glance_dot(z, e[0]), glance_dot(z, e[1])), none);
    return glance_judge(zz, gap, box8_set(own->most[slot]) + box8_load(leaf->most) + more,
                        box8_set(own->sure[slot]) + box8_load(leaf->sure));
}

/* One bit a place. */
static inline uint32_t glance_bits(box8_mask m)
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

/* Places whose number is higher. */
static inline uint32_t glance_higher(const int32_t ids[SINEW_BOXES_WIDE], int32_t own)
{
    box8_mask them;
    memcpy(&them, ids, sizeof them);
    return glance_bits((box8_mask)(them > (own - (box8_mask){0})));
}

/* Places whose feature, of `width` vertices, has one of the `count` of the feature in place `slot`. */
static inline uint32_t glance_sharing(const sinew_box_shape *own, int slot, int count, const sinew_box_shape *leaf,
                                      int width)
{
    box8_mask shared = {0}, them;
    for (int j = 0; j < width; j++) {
        memcpy(&them, leaf->vertices[j], sizeof them);
        for (int i = 0; i < count; i++)
            shared |= (box8_mask)(them == (own->vertices[i][slot] - (box8_mask){0}));
    }
    return glance_bits(shared);
}

#endif
