/* SPDX-License-Identifier: MIT
 *
 * narrow_phase.h: the test of candidate pairs (candidates.h) in double, with the same bits as the listed distances.
 */
#ifndef SINEW_SRC_COLLIDE_NARROW_PHASE_H
#define SINEW_SRC_COLLIDE_NARROW_PHASE_H

#include <float.h>

#include "collide/closest.h"
#include "collide/candidates.h"
#include "collide/broad_phase_search.h"

/* Like sinew_candidate_closest(), but subtracts the sum of both solid radii from the distance. */
void sinew_candidate_closest_with_radii(sinew_candidate *pair, const sinew_real *x, double radii);

static inline double narrow_larger(double a, double b)
{
    return a > b ? a : b;
}

static inline void narrow_point(const sinew_real *x, int32_t v, double p[3])
{
    for (int k = 0; k < 3; k++)
        p[k] = (double)x[4 * (size_t)v + (size_t)k];
}

/* Sum of the solid radii of the objects of two vertices, in m. */
static inline double narrow_radii(const sinew_collision_mesh *f, int32_t v, int32_t w)
{
    return f->objects[f->object[v]].radius + f->objects[f->object[w]].radius;
}

/* Bound of the approach of two features of one island by predicted displacements, in m: the largest difference of
 * displacements. The first `first` vertices belong to the first feature. */
static inline double narrow_approach(const sinew_real *predicted, const int32_t v[4], int first)
{
    double max = 0;
    for (int a = 0; a < first; a++)
        for (int b = first; b < 4; b++) {
            double square = 0;
            for (size_t k = 0; k < 3; k++) {
                const double d = (double)predicted[4 * (size_t)v[a] + k] - (double)predicted[4 * (size_t)v[b] + k];
                square += d * d;
            }
            max = narrow_larger(max, square);
        }
    return sqrt(max);
}

/* Island of an object: objects of one island share lambda (candidates.h). Without a list of islands, the object. */
static inline int32_t narrow_island_of(const sinew_search *s, int32_t object)
{
    return s->input.island ? s->input.island[object] : object;
}

/* Positions, displacements and radii of a pair's vertices, which bound the motion that the step filter allows
 * (candidates.h). */
typedef struct narrow_motion {
    double x[4][3]; /* positions of the vertices relative to the first, in m: exact far from the origin, too */
    double d[4][3]; /* predicted displacements, in m */
    double r[4];    /* radii of the trust regions, in m */
    double radii;   /* sum of both solid radii, in m */
    int first;      /* number of vertices of the first feature */
    bool joint;     /* true: both features share lambda */
} narrow_motion;

static inline narrow_motion narrow_motion_of(const sinew_search *s, const int32_t v[4], int first)
{
    const sinew_collision_mesh *f = s->mesh;
    const int32_t one = f->object[v[0]], other = f->object[v[3]];
    narrow_motion m = {.first = first,
                       .radii = f->objects[one].radius + f->objects[other].radius,
                       .joint = narrow_island_of(s, one) == narrow_island_of(s, other)};
    for (int a = 0; a < 4; a++) {
        const sinew_real *x = s->input.x + 4 * (size_t)v[a], *predicted = s->input.predicted + 4 * (size_t)v[a];
        for (size_t k = 0; k < 3; k++) {
            m.x[a][k] = (double)x[k] - (double)s->input.x[4 * (size_t)v[0] + k];
            m.d[a][k] = (double)predicted[k];
        }
        m.r[a] = (double)predicted[3];
    }
    return m;
}

/* Left sides of (2) and (3) of candidates.h along the unit vector u, in m. */
static inline void narrow_separations(const narrow_motion *m, const double u[3], double separation[2])
{
    /* per end of the displacement: lowest point of the first feature, highest of the second; without and with balls */
    double low[2][2] = {{INFINITY, INFINITY}, {INFINITY, INFINITY}};
    double high[2][2] = {{-INFINITY, -INFINITY}, {-INFINITY, -INFINITY}};
    for (int a = 0; a < 4; a++) {
        const double at = vec3_dot(u, m->x[a]), way = vec3_dot(u, m->d[a]);
        for (int end = 0; end < 2; end++)
            for (int ball = 0; ball < 2; ball++) {
                const double h = end ? at + way : at, r = ball ? m->r[a] : 0;
                if (a < m->first)
                    low[end][ball] = h - r < low[end][ball] ? h - r : low[end][ball];
                else
                    high[end][ball] = narrow_larger(h + r, high[end][ball]);
            }
    }
    for (int ball = 0; ball < 2; ball++) {
        double min = INFINITY;
        for (int end = 0; end < 4; end++)
            if (!m->joint || end % 2 == end / 2)
                min = low[end % 2][ball] - high[end / 2][ball] < min ? low[end % 2][ball] - high[end / 2][ball] : min;
        separation[ball] = min - m->radii;
    }
}

/* Separations along the direction z between the closest points, then along the axes. */
static inline void narrow_all_separations(const narrow_motion *m, const double z[3], double d2, double separation[4][2])
{
    const double distance = sqrt(d2), n[3] = {z[0] / distance, z[1] / distance, z[2] / distance};
    narrow_separations(m, n, separation[0]);
    for (int k = 0; k < 3; k++) {
        double axis[3] = {0, 0, 0};
        axis[k] = z[k] < 0 ? -1 : 1;
        narrow_separations(m, axis, separation[1 + k]);
    }
}

static inline bool narrow_any_beyond(double separation[4][2], double reach, double gap)
{
    bool any = false;
    for (int i = 0; i < 4; i++)
        any = any || (separation[i][0] > reach && separation[i][1] > gap);
    return any;
}

/* Sum of the inflation radii of both features, in m. */
static inline double narrow_reach(const sinew_search *s, const int32_t v[4], int first)
{
    double max[2] = {0, 0};
    for (int a = 0; a < 4; a++)
        max[a >= first] = narrow_larger(max[a >= first], (double)s->input.inflation_radius[v[a]]);
    return max[0] + max[1];
}

/* Distance of the features of a pair at rest, in m; 0 for features of two objects, and for the lips of a tear, which
 * coincide up to the round-off of the distance. */
static inline double narrow_rest_distance(const sinew_collision_mesh *f, const int32_t v[4], sinew_candidate_kind kind)
{
    if (f->object[v[0]] != f->object[v[3]])
        return 0;
    sinew_candidate rest = {.v = {v[0], v[1], v[2], v[3]}, .kind = (uint8_t)kind};
    sinew_candidate_closest(&rest, f->rest);
    double largest = 0;
    for (int a = 0; a < 4; a++)
        for (size_t k = 0; k < 3; k++)
            largest = narrow_larger(largest, fabs((double)f->rest[4 * (size_t)v[a] + k]));
    return (double)rest.distance > 64 * DBL_EPSILON * largest ? (double)rest.distance : 0;
}

/* True if the pair is listed; z: vector between its closest points, d2 = |z|^2. The distance is rounded to sinew_real,
 * because the list stores the rounded one. */
static inline bool narrow_is_listed(const sinew_search *s, const int32_t v[4], int first, const double z[3], double d2)
{
    const sinew_collision_mesh *f = s->mesh;
    const sinew_collision_object *one = &f->objects[f->object[v[0]]], *other = &f->objects[f->object[v[3]]];
    const sinew_candidate_kind kind = first == 2 ? SINEW_CANDIDATE_EDGE_EDGE : SINEW_CANDIDATE_VERTEX_FACE;
    const double reach = narrow_reach(s, v, first), gap = one->half_thickness + other->half_thickness;
    if (!s->input.predicted) {
        const double distance = (double)(sinew_real)(sqrt(d2) - one->radius - other->radius);
        return distance <= reach && distance <= sinew_rest_reach(narrow_rest_distance(f, v, kind), reach);
    }
    if (!(d2 > 0))
        return true;
    double separation[4][2];
    const narrow_motion motion = narrow_motion_of(s, v, first);
    narrow_all_separations(&motion, z, d2, separation);
    if (narrow_any_beyond(separation, reach, gap))
        return false;
    const double rest = narrow_rest_distance(f, v, kind);
    return !(rest > 0 && narrow_any_beyond(separation, sinew_rest_reach(rest, reach), sinew_rest_gap(rest, gap)));
}

static inline bool narrow_is_lone(const sinew_collision_mesh *f, int32_t v)
{
    return f->first_neighbour[v] == f->first_neighbour[v + 1];
}

/* Test of a lone vertex against a lone edge, or against a lone vertex of higher number. */
static inline bool narrow_lone(const sinew_search *s, int32_t v, int32_t primitive)
{
    const sinew_collision_mesh *f = s->mesh;
    const int32_t *c = f->primitives[primitive], all[4] = {v, c[0], c[1], c[2]};
    const bool edge = f->flags[primitive] & SINEW_IS_LONE_EDGE;
    if (!narrow_is_lone(f, v) || (!edge && (c[0] != c[1] || c[0] < v)))
        return false;
    double p[3], q[2][3], from[2][3], along[3], z[3], d2;
    narrow_point(s->input.x, v, p);
    for (int i = 0; i < 2; i++) {
        narrow_point(s->input.x, c[i], q[i]);
        vec3_sub(p, q[i], from[i]);
    }
    vec3_sub(q[1], q[0], along);
    closest_on_segment(from[0], from[1], along, z, &d2);
    return narrow_is_listed(s, all, 1, z, d2);
}

static inline bool narrow_face(const sinew_search *s, int32_t v, int32_t primitive)
{
    const sinew_collision_mesh *f = s->mesh;
    const int32_t *c = f->primitives[primitive], all[4] = {v, c[0], c[1], c[2]};
    double p[3], x[3][3];
    sinew_closest best;
    if (!(f->flags[primitive] & SINEW_IS_FACE))
        return narrow_lone(s, v, primitive);
    narrow_point(s->input.x, v, p);
    for (int i = 0; i < 3; i++)
        narrow_point(s->input.x, c[i], x[i]);
    closest_triangle(p, x, &best);
    return narrow_is_listed(s, all, 1, best.z, best.d2);
}

static inline bool narrow_edges(const sinew_search *s, int32_t e, int32_t other)
{
    const sinew_collision_mesh *f = s->mesh;
    const int32_t *a = f->edges[e], *b = f->edges[other];
    const int32_t all[4] = {a[0], a[1], b[0], b[1]};
    double p[2][3], q[2][3];
    sinew_closest best;
    for (int i = 0; i < 2; i++) {
        narrow_point(s->input.x, a[i], p[i]);
        narrow_point(s->input.x, b[i], q[i]);
    }
    closest_segments(p, q, &best);
    return narrow_is_listed(s, all, 2, best.z, best.d2);
}

#endif
