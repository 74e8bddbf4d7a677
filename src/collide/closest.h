/* SPDX-License-Identifier: MIT
 *
 * closest.h: the closest points of two points, a point and a segment, a point and a triangle, two segments.
 *
 * All arithmetic is in double, also if sinew_real is float. Both problems with two unknowns are convex. If the
 * unconstrained solution violates some bounds, the solution lies on one of the violated borders. Each border is a
 * point-segment problem, and the nearest result is the solution. Unknowns come from cross products: for two
 * directions at a small angle theta their error grows as 1 / theta; with dot products it would grow as 1 / theta^2.
 *
 * For triangles and pairs of edges flatter than SINEW_FLAT every border is tried, and an interior solution is measured
 * between its two points. So distances are accurate to the round-off of the lengths in these cases too, and no result
 * comes from a zero divisor.
 */
#ifndef SINEW_SRC_COLLIDE_CLOSEST_H
#define SINEW_SRC_COLLIDE_CLOSEST_H

#include <math.h>
#include <stdbool.h>

#include "math/vec3.h"

/* Squared sines of the angle between two sides of a triangle, or two segments: above STEEP an interior solution is
 * taken from cross products alone; up to FLAT every border is tried. A triangle whose two sides at the first corner
 * have squared lengths of a ratio up to FLAT counts as flat: its areas lose all digits at any angle between these
 * sides. */
#define SINEW_STEEP 1e-1
#define SINEW_FLAT  1e-6

typedef struct sinew_closest {
    /* Interpolation weights of the vertices at the closest points; weights of the second feature are negative. */
    double w[4];
    double z[3]; /* vector from the closest point of the second feature to that of the first, in m */
    double d2;   /* squared distance |z|^2 of the closest points, in m^2 */
} sinew_closest;

/* Stores the vector z between the closest points, and its squared length d2, in the result of a closest-point
 * computation. */
static inline void closest_put(sinew_closest *c, const double z[3], double d2)
{
    for (int k = 0; k < 3; k++)
        c->z[k] = z[k];
    c->d2 = d2;
}

/* Closest points of the point p and the segment a b, given p - a, p - b and b - a. Returns the parameter t of the
 * closest point, 0 at a and 1 at b, and sets z and d2 = |z|^2. */
static inline double closest_on_segment(const double from_a[3], const double from_b[3], const double along[3],
                                        double z[3], double *d2)
{
    const double length2 = vec3_dot(along, along), at = vec3_dot(from_a, along);
    double t = 0;
    for (int k = 0; k < 3; k++)
        z[k] = from_a[k];
    if (at >= length2 && length2 > 0) {
        t = 1;
        for (int k = 0; k < 3; k++)
            z[k] = from_b[k];
    } else if (at > 0) {
        t = at / length2;
        for (int k = 0; k < 3; k++)
            z[k] = from_a[k] - t * along[k];
    }
    *d2 = vec3_dot(z, z);
    return t;
}

/* ---- Closest points of a point and a triangle --------------------------------------------------- */

/* Replaces `best` by the closest point on the triangle's side from corner i to i + 1 if this point is nearer. r[k]: the
 * query point less corner k. */
static inline void closest_try_side(double x[3][3], double r[3][3], int i, sinew_closest *best)
{
    const int j = (i + 1) % 3;
    double along[3], z[3], d2;
    vec3_sub(x[j], x[i], along);
    const double t = closest_on_segment(r[i], r[j], along, z, &d2);
    if (!(d2 < best->d2))
        return;
    closest_put(best, z, d2);
    best->w[1 + i] = t - 1;
    best->w[1 + j] = 0 - t;
    best->w[1 + (i + 2) % 3] = 0;
}

/* Tries the interior solution of a flat triangle, measured between its two points. Errors of the areas displace z
 * along the longest side, so z is made perpendicular to it. */
static inline void closest_try_inside(double x[3][3], double r[3][3], const double area[3], double sum,
                                      sinew_closest *best)
{
    double z[3], e[3], w[3], longest = 0, t;
    int from = 0;
    for (int i = 0; i < 3; i++) {
        vec3_sub(x[(i + 1) % 3], x[i], e);
        from = vec3_dot(e, e) > longest ? i : from;
        longest = fmax(longest, vec3_dot(e, e));
        w[i] = area[i] / sum;
    }
    const int to = (from + 1) % 3;
    vec3_sub(x[to], x[from], e);
    for (int k = 0; k < 3; k++)
        z[k] = w[0] * r[0][k] + w[1] * r[1][k] + w[2] * r[2][k];
    t = vec3_dot(z, e) / longest;
    t = t > w[from] ? w[from] : t < -w[to] ? -w[to] : t;
    w[from] -= t;
    w[to] += t;
    for (int k = 0; k < 3; k++)
        z[k] -= t * e[k];
    const double d2 = vec3_dot(z, z);
    if (!(d2 < best->d2))
        return;
    closest_put(best, z, d2);
    for (int i = 0; i < 3; i++)
        best->w[1 + i] = 0 - w[i];
}

/* Closest points of the point p and the triangle with corners x[0], x[1], x[2]. */
static inline void closest_triangle(const double p[3], double x[3][3], sinew_closest *best)
{
    double r[3][3], e[2][3], n[3], area[3], c[3];
    for (int i = 0; i < 3; i++)
        vec3_sub(p, x[i], r[i]);
    vec3_sub(x[1], x[0], e[0]);
    vec3_sub(x[2], x[0], e[1]);
    vec3_cross(e[0], e[1], n);
    for (int i = 0; i < 3; i++) {
        vec3_cross(r[(i + 1) % 3], r[(i + 2) % 3], c);
        area[i] = vec3_dot(c, n);
    }
    const double nn = vec3_dot(n, n), sum = area[0] + area[1] + area[2];
    const double aa = vec3_dot(e[0], e[0]), bb = vec3_dot(e[1], e[1]), size = aa * bb;
    const bool flat = !(nn > SINEW_FLAT * size && sum > 0 && aa > SINEW_FLAT * bb && bb > SINEW_FLAT * aa);
    const bool inside = area[0] >= 0 && area[1] >= 0 && area[2] >= 0 && sum > 0;
    best->w[0] = 1;
    best->d2 = INFINITY;
    if (inside && !flat && nn > SINEW_STEEP * size) {
        const double height = vec3_dot(n, r[0]);
        for (int k = 0; k < 3; k++) {
            best->z[k] = height / nn * n[k];
            best->w[1 + k] = 0 - area[k] / sum;
        }
        best->d2 = height / nn * height;
        return;
    }
    for (int i = 0; i < 3; i++)
        if (flat || area[(i + 2) % 3] < 0)
            closest_try_side(x, r, i, best);
    if (inside)
        closest_try_inside(x, r, area, sum, best);
}

/* ---- Closest points of two segments ------------------------------------------------------------- */

/* Replaces `best` by end `end` (0, 1) of the first segment and its closest point on the second if this distance is
 * smaller. `turned`: the segments are swapped. */
static inline void closest_try_end(double p[2][3], double q[2][3], int end, bool turned, sinew_closest *best)
{
    double from_a[3], from_b[3], along[3], z[3], d2;
    vec3_sub(p[end], q[0], from_a);
    vec3_sub(p[end], q[1], from_b);
    vec3_sub(q[1], q[0], along);
    const double t = closest_on_segment(from_a, from_b, along, z, &d2);
    if (!(d2 < best->d2))
        return;
    double *own = best->w + (turned ? 2 : 0), *other = best->w + (turned ? 0 : 2);
    const double sign = turned ? -1 : 1;
    best->d2 = d2;
    for (int k = 0; k < 3; k++)
        best->z[k] = sign * z[k];
    own[end] = sign;
    own[1 - end] = 0;
    other[0] = turned ? 1 - t : t - 1;
    other[1] = turned ? t : 0 - t;
}

/* Closest points of the segments from p[0] to p[1] and from q[0] to q[1]. */
static inline void closest_segments(double p[2][3], double q[2][3], sinew_closest *best)
{
    double u[3], v[3], r[3], n[3], c[3], z[3];
    vec3_sub(p[1], p[0], u);
    vec3_sub(q[1], q[0], v);
    vec3_sub(p[0], q[0], r);
    vec3_cross(u, v, n);
    const double nn = vec3_dot(n, n);
    vec3_cross(v, r, c);
    const double s = vec3_dot(c, n) / nn;
    vec3_cross(u, r, c);
    double t = vec3_dot(c, n) / nn;
    const double vv = vec3_dot(v, v), size = vec3_dot(u, u) * vv;
    const bool flat = !(nn > SINEW_FLAT * size), steep = nn > SINEW_STEEP * size;
    const bool inside = s >= 0 && s <= 1 && t >= 0 && t <= 1;
    best->d2 = INFINITY;
    const double fraction[2] = {s, t};
    for (int i = 0; i < 4 && (flat || !inside); i++)
        if (flat || (i % 2 ? fraction[i / 2] > 1 : fraction[i / 2] < 0))
            closest_try_end(i < 2 ? p : q, i < 2 ? q : p, i % 2, i >= 2, best);
    if (!inside)
        return;
    const double height = vec3_dot(n, r) / nn;
    if (!steep) {
        for (int k = 0; k < 3; k++)
            z[k] = r[k] + s * u[k];
        t = vec3_dot(z, v) / vv;
        t = t < 0 ? 0 : t > 1 ? 1 : t;
    }
    for (int k = 0; k < 3; k++)
        z[k] = steep ? height * n[k] : z[k] - t * v[k];
    const double d2 = steep ? height * height * nn : vec3_dot(z, z);
    if (d2 < best->d2) {
        closest_put(best, z, d2);
        best->w[0] = 1 - s;
        best->w[1] = s;
        best->w[2] = t - 1;
        best->w[3] = 0 - t;
    }
}

#endif
