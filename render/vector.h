/* SPDX-License-Identifier: MIT
 *
 * vector.h: points and colours of three floats. Light is computed in single precision, positions in double.
 */
#ifndef SINEW_RENDER_VECTOR_H
#define SINEW_RENDER_VECTOR_H

#include <math.h>

typedef struct vec3 {
    float x, y, z;
} vec3;

static inline vec3 vec(float x, float y, float z)
{
    return (vec3){x, y, z};
}

static inline vec3 vec_from(const float *p)
{
    return (vec3){p[0], p[1], p[2]};
}

static inline vec3 vec_from_double(const double *p)
{
    return (vec3){(float)p[0], (float)p[1], (float)p[2]};
}

static inline vec3 vec_add(vec3 a, vec3 b)
{
    return (vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline vec3 vec_sub(vec3 a, vec3 b)
{
    return (vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline vec3 vec_scale(vec3 a, float s)
{
    return (vec3){a.x * s, a.y * s, a.z * s};
}

static inline vec3 vec_along(vec3 a, float s, vec3 b)
{
    return (vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

/* Componentwise product of two vectors: the light that a surface of colour b reflects under light a. */
static inline vec3 vec_times(vec3 a, vec3 b)
{
    return (vec3){a.x * b.x, a.y * b.y, a.z * b.z};
}

static inline vec3 vec_mix(vec3 a, vec3 b, float t)
{
    return vec_along(vec_scale(a, 1 - t), t, b);
}

static inline float vec_dot(vec3 a, vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline vec3 vec_cross(vec3 a, vec3 b)
{
    return (vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline float vec_length(vec3 a)
{
    return sqrtf(vec_dot(a, a));
}

/* Scales a vector to length one; a zero vector stays zero. */
static inline vec3 vec_unit(vec3 a)
{
    const float length = vec_length(a);
    return length > 0 ? vec_scale(a, 1 / length) : a;
}

static inline float vec_luminance(vec3 c)
{
    return 0.2126f * c.x + 0.7152f * c.y + 0.0722f * c.z;
}

static inline float clamp_unit(float x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

/* Computes two unit vectors that are perpendicular to the unit vector n and to each other. */
static inline void vec_frame(vec3 n, vec3 *a, vec3 *b)
{
    const vec3 side = fabsf(n.x) > 0.6f ? vec(0, 1, 0) : vec(1, 0, 0);
    *a = vec_unit(vec_cross(side, n));
    *b = vec_cross(n, *a);
}

#endif
