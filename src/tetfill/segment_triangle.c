/* SPDX-License-Identifier: MIT
 *
 * segment_triangle.c: tests segments and triangles for intersection.
 *
 * The side on which a segment passes an edge is the sign of a volume. Reversing the edge only changes the sign of its
 * terms, and the indices of its ends decide if the volume is zero: two triangles that share an edge agree on the side,
 * so a segment through the edge does not slip between them.
 */
#include <math.h>

#include "math/vec3.h"
#include "tetfill/sample.h"

static const sinew_real *triangle_corner(const fill_surface *s, int32_t t, int i)
{
    return s->positions + 3 * (size_t)s->triangles[3 * (size_t)t + (size_t)i];
}

static void subtract(const sinew_real *a, const double b[3], double c[3])
{
    for (int i = 0; i < 3; i++)
        c[i] = (double)a[i] - b[i];
}

/* Six times the signed volume of the tet of triangle t and point p: positive in front of the triangle. */
double sinew_fill_height(const fill_surface *s, int32_t t, const double p[3])
{
    const sinew_real *a = triangle_corner(s, t, 0), *b = triangle_corner(s, t, 1), *c = triangle_corner(s, t, 2);
    double u[3], v[3], w[3];
    for (int i = 0; i < 3; i++) {
        u[i] = (double)b[i] - (double)a[i];
        v[i] = (double)c[i] - (double)a[i];
        w[i] = p[i] - (double)a[i];
    }
    return vec3_triple(w, u, v);
}

int sinew_fill_pass(const fill_surface *s, int32_t t, const double p[3], const double q[3], double *at)
{
    const double from = sinew_fill_height(s, t, p), to = sinew_fill_height(s, t, q);
    const bool up = to >= 0;
    if ((from >= 0) == up)
        return 0;
    const int32_t *vertices = s->triangles + 3 * (size_t)t;
    double e[3][3], along[3];
    for (int i = 0; i < 3; i++) {
        subtract(triangle_corner(s, t, i), p, e[i]);
        along[i] = q[i] - p[i];
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3;
        const double turn = vec3_triple(along, e[i], e[j]);
        const bool left = turn > 0 || (turn == 0 && vertices[i] < vertices[j]);
        if (left != up)
            return 0;
    }
    if (at)
        *at = from / (from - to);
    return up ? 1 : -1;
}

void sinew_fill_put_crossing(fill_crossings *found, double at, int sign, int32_t t)
{
    int32_t i = found->count < FILL_CROSSINGS ? found->count : FILL_CROSSINGS;
    if (found->count == 0 || at >= found->last_at) {
        found->last = t;
        found->last_at = at;
    }
    found->count++;
    found->sum += sign;
    /* A full list drops its last crossing, or the new crossing if the last one is no later. */
    if (i == FILL_CROSSINGS && at >= found->at[--i])
        return;
    for (; i > 0 && found->at[i - 1] > at; i--) {
        found->at[i] = found->at[i - 1];
        found->sign[i] = found->sign[i - 1];
    }
    found->at[i] = at;
    found->sign[i] = (int8_t)sign;
}

void sinew_fill_cross(const fill_surface *surface, const int32_t *triangles, int64_t count, const double p[3],
                      const double q[3], fill_crossings *found)
{
    *found = (fill_crossings){.last = -1};
    for (int64_t i = 0; i < count; i++) {
        double at;
        const int sign = sinew_fill_pass(surface, triangles[i], p, q, &at);
        if (sign)
            sinew_fill_put_crossing(found, at, sign, triangles[i]);
    }
}

bool sinew_fill_stays_inside(const fill_crossings *found, double winding)
{
    bool inside = true;
    for (int32_t i = 0; i < found->count && i < FILL_CROSSINGS; i++) {
        winding -= found->sign[i];
        inside = inside && fabs(winding) > FILL_INSIDE;
    }
    return inside;
}
