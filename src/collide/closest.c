/* SPDX-License-Identifier: MIT
 *
 * closest.c: the closest points of a pair of features, as weights of its vertices, direction and distance.
 *
 *     z = sum w x,  distance = |z|,  n = z / |z|,  sum of positive weights = 1 = - sum of negative ones
 */
#include "collide/closest.h"

#include "collide/narrow_phase.h"
#include "math/vec3.h"

/* Normalises z, with squared length d2, and returns its length, 0 for z = 0. Scales z first if squares would
 * underflow. */
static double normalise_vector(double z[3], double d2)
{
    double scale = 1;
    if (!(d2 > 1e-280)) {
        scale = fmax(fmax(fabs(z[0]), fabs(z[1])), fabs(z[2]));
        if (!(scale > 0))
            return 0;
        for (int k = 0; k < 3; k++)
            z[k] /= scale;
        d2 = vec3_dot(z, z);
    }
    const double length = sqrt(d2);
    for (int k = 0; k < 3; k++)
        z[k] /= length;
    return scale * length;
}

/* Sets the unit vector n perpendicular to the directions u and v; to the longer one if they are parallel; to any unit
 * vector if both are zero. */
static void set_perpendicular(const double u[3], const double v[3], double n[3])
{
    const double uu = vec3_dot(u, u), vv = vec3_dot(v, v);
    vec3_cross(u, v, n);
    const double nn = vec3_dot(n, n);
    if (nn > 1e-24 * uu * vv && normalise_vector(n, nn) > 0)
        return;
    const double *e = uu > vv ? u : v;
    int min = 0;
    for (int k = 1; k < 3; k++)
        min = fabs(e[k]) < fabs(e[min]) ? k : min;
    double axis[3] = {0, 0, 0};
    axis[min] = 1;
    vec3_cross(e, axis, n);
    if (!(normalise_vector(n, vec3_dot(n, n)) > 0))
        for (int k = 0; k < 3; k++)
            n[k] = axis[k];
}

/* Closest points of the points x[0] and x[1] (`point`), or of x[0] and the segment x[1] x[2]. Such pairs are stored
 * as a point and a triangle with repeated vertices. */
static void closest_lone(double x[4][3], bool point, sinew_closest *c)
{
    double from_a[3], from_b[3], along[3];
    vec3_sub(x[0], x[1], from_a);
    vec3_sub(x[0], x[2], from_b);
    vec3_sub(x[2], x[1], along);
    const double t = closest_on_segment(from_a, from_b, along, c->z, &c->d2);
    c->w[0] = 1;
    c->w[1] = point ? -1 : t - 1;
    c->w[2] = point ? 0 : 0 - t;
    c->w[3] = 0;
}

static void closest_of_kind(const sinew_candidate *pair, double x[4][3], sinew_closest *c)
{
    if (pair->kind == SINEW_CANDIDATE_EDGE_EDGE)
        closest_segments(x, x + 2, c);
    else if (pair->v[2] == pair->v[3])
        closest_lone(x, pair->v[1] == pair->v[2], c);
    else
        closest_triangle(x[0], x + 1, c);
}

void sinew_candidate_closest(sinew_candidate *pair, const sinew_real *x)
{
    sinew_candidate_closest_with_radii(pair, x, 0);
}

void sinew_candidate_closest_with_radii(sinew_candidate *pair, const sinew_real *x, double radii)
{
    double p[4][3], edges[2][3];
    sinew_closest c = {{0}, {0}, INFINITY};
    for (int a = 0; a < 4; a++)
        for (int k = 0; k < 3; k++)
            p[a][k] = (double)x[4 * (size_t)pair->v[a] + (size_t)k];
    closest_of_kind(pair, p, &c);
    const double distance = normalise_vector(c.z, c.d2);
    if (!(distance > 0)) {
        const bool two = pair->kind == SINEW_CANDIDATE_EDGE_EDGE;
        vec3_sub(p[two ? 1 : 2], p[two ? 0 : 1], edges[0]);
        vec3_sub(p[3], p[two ? 2 : 1], edges[1]);
        set_perpendicular(edges[0], edges[1], c.z);
    }
    pair->distance = (sinew_real)(distance - radii);
    pair->zero_weights = 0;
    for (int k = 0; k < 3; k++)
        pair->n[k] = (sinew_real)c.z[k];
    for (int a = 0; a < 4; a++) {
        pair->w[a] = (sinew_real)c.w[a];
        pair->zero_weights |= (uint8_t)((pair->w[a] == 0) << a);
    }
}
