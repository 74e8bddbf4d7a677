/* SPDX-License-Identifier: MIT
 *
 * narrow_phase.h: the exact distance test of candidate pairs, with the same bits as the listed distances.
 */
#ifndef SINEW_SRC_COLLIDE_NARROW_PHASE_H
#define SINEW_SRC_COLLIDE_NARROW_PHASE_H

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

/* Bound of the approach of two features by predicted displacements, in m; the first `first` vertices belong to the
 * first feature. Vertices of one object share lambda (trust_region.h), so only differences of displacements count;
 * for two objects, the sum of the longest ones counts. */
static inline double narrow_approach(const sinew_collision_mesh *f, const sinew_real *predicted, const int32_t v[4],
                                     int first)
{
    double max = 0, length[2] = {0, 0};
    if (f->object[v[0]] == f->object[v[3]]) {
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
    for (int a = 0; a < 4; a++) {
        const sinew_real *displacement = predicted + 4 * (size_t)v[a];
        const double square = (double)displacement[0] * (double)displacement[0] +
                              (double)displacement[1] * (double)displacement[1] +
                              (double)displacement[2] * (double)displacement[2];
        length[a >= first] = narrow_larger(length[a >= first], square);
    }
    return sqrt(length[0]) + sqrt(length[1]);
}

/* Compares the distance of two features with their inflation radius after rounding to sinew_real, because the list
 * stores the rounded distance. */
static inline bool narrow_within(double d2, double radii, double inflation_radius)
{
    return (double)(sinew_real)(sqrt(d2) - radii) <= inflation_radius;
}

static inline bool narrow_is_lone(const sinew_collision_mesh *f, int32_t v)
{
    return f->first_neighbour[v] == f->first_neighbour[v + 1];
}

/* Distance test of a lone vertex against a lone edge, or against a lone vertex of higher number. */
static inline bool narrow_lone(const sinew_search *s, int32_t v, int32_t primitive, double inflation_radius)
{
    const sinew_collision_mesh *f = s->mesh;
    const int32_t *c = f->primitives[primitive];
    const bool edge = f->flags[primitive] & SINEW_IS_LONE_EDGE;
    if (!narrow_is_lone(f, v) || (!edge && (c[0] != c[1] || c[0] < v)))
        return false;
    sinew_candidate pair = {.v = {v, c[0], c[1], c[2]}, .kind = SINEW_CANDIDATE_VERTEX_FACE};
    sinew_candidate_closest_with_radii(&pair, s->x, narrow_radii(f, v, c[0]));
    return (double)pair.distance <= inflation_radius;
}

static inline bool narrow_face(const sinew_search *s, int32_t v, int32_t primitive)
{
    const sinew_collision_mesh *f = s->mesh;
    const int32_t *c = f->primitives[primitive];
    double p[3], x[3][3], second = 0;
    sinew_closest best;
    narrow_point(s->x, v, p);
    for (int i = 0; i < 3; i++) {
        narrow_point(s->x, c[i], x[i]);
        second = narrow_larger(second, (double)s->inflation_radius[c[i]]);
    }
    const int32_t all[4] = {v, c[0], c[1], c[2]};
    const double inflation_radius =
        (double)s->inflation_radius[v] + second + (s->predicted ? narrow_approach(f, s->predicted, all, 1) : 0);
    if (!(f->flags[primitive] & SINEW_IS_FACE))
        return narrow_lone(s, v, primitive, inflation_radius);
    closest_triangle(p, x, &best);
    return narrow_within(best.d2, narrow_radii(f, v, c[0]), inflation_radius);
}

static inline bool narrow_edges(const sinew_search *s, int32_t e, int32_t other)
{
    const sinew_collision_mesh *f = s->mesh;
    const int32_t *a = f->edges[e], *b = f->edges[other];
    const int32_t all[4] = {a[0], a[1], b[0], b[1]};
    double p[2][3], q[2][3];
    sinew_closest best;
    for (int i = 0; i < 2; i++) {
        narrow_point(s->x, a[i], p[i]);
        narrow_point(s->x, b[i], q[i]);
    }
    closest_segments(p, q, &best);
    return narrow_within(best.d2, narrow_radii(f, a[0], b[0]),
                         narrow_larger((double)s->inflation_radius[a[0]], (double)s->inflation_radius[a[1]]) +
                             narrow_larger((double)s->inflation_radius[b[0]], (double)s->inflation_radius[b[1]]) +
                             (s->predicted ? narrow_approach(f, s->predicted, all, 2) : 0));
}

#endif
