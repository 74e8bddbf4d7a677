/* SPDX-License-Identifier: MIT
 *
 * reach_test.h: whether two features are within each other's reach, to the last bit as the list of pairs has it.
 */
#ifndef SINEW_SRC_COLLIDE_REACH_TEST_H
#define SINEW_SRC_COLLIDE_REACH_TEST_H

#include "collide/closest.h"
#include "collide/candidates.h"
#include "collide/broad_phase_search.h"

/* As sinew_pair_closest(), with the distance less the cores. */
void sinew_pair_closest_less(sinew_touch_pair *pair, const sinew_real *x, double cores);

static inline double near_larger(double a, double b)
{
    return a > b ? a : b;
}

static inline void near_point(const sinew_real *x, int32_t v, double p[3])
{
    for (int k = 0; k < 3; k++)
        p[k] = (double)x[4 * (size_t)v + (size_t)k];
}

/* Solid radii of the objects of two vertices. */
static inline double near_cores(const sinew_features *f, int32_t v, int32_t w)
{
    return f->objects[f->object[v]].core + f->objects[f->object[w]].core;
}

/* m: how much nearer two features may come by the ways of their vertices, `first` of the four being those of the first.
 * Vertices of one object go the same part of their ways, so that only differences count. */
static inline double near_approach(const sinew_features *f, const sinew_real *ways, const int32_t v[4], int first)
{
    double most = 0, length[2] = {0, 0};
    if (f->object[v[0]] == f->object[v[3]]) {
        for (int a = 0; a < first; a++)
            for (int b = first; b < 4; b++) {
                double square = 0;
                for (size_t k = 0; k < 3; k++) {
                    const double d = (double)ways[4 * (size_t)v[a] + k] - (double)ways[4 * (size_t)v[b] + k];
                    square += d * d;
                }
                most = near_larger(most, square);
            }
        return sqrt(most);
    }
    for (int a = 0; a < 4; a++) {
        const sinew_real *way = ways + 4 * (size_t)v[a];
        const double square =
            (double)way[0] * (double)way[0] + (double)way[1] * (double)way[1] + (double)way[2] * (double)way[2];
        length[a >= first] = near_larger(length[a >= first], square);
    }
    return sqrt(length[0]) + sqrt(length[1]);
}

/* The distance as pairs have it, which decides. */
static inline bool near_enough(double d2, double cores, double reach)
{
    return (double)(sinew_real)(sqrt(d2) - cores) <= reach;
}

static inline bool near_is_lone(const sinew_features *f, int32_t v)
{
    return f->first_neighbour[v] == f->first_neighbour[v + 1];
}

/* A lone vertex and a lone edge or a higher lone vertex. */
static inline bool near_lone(const sinew_search *s, int32_t v, int32_t cell, double reach)
{
    const sinew_features *f = s->features;
    const int32_t *c = f->cells[cell];
    const bool edge = f->flags[cell] & SINEW_IS_LONE_EDGE;
    if (!near_is_lone(f, v) || (!edge && (c[0] != c[1] || c[0] < v)))
        return false;
    sinew_touch_pair pair = {.v = {v, c[0], c[1], c[2]}, .kind = SINEW_PAIR_FACE};
    sinew_pair_closest_less(&pair, s->x, near_cores(f, v, c[0]));
    return (double)pair.distance <= reach;
}

static inline bool near_face(const sinew_search *s, int32_t v, int32_t cell)
{
    const sinew_features *f = s->features;
    const int32_t *c = f->cells[cell];
    double p[3], x[3][3], second = 0;
    sinew_closest best;
    near_point(s->x, v, p);
    for (int i = 0; i < 3; i++) {
        near_point(s->x, c[i], x[i]);
        second = near_larger(second, (double)s->reach[c[i]]);
    }
    const int32_t all[4] = {v, c[0], c[1], c[2]};
    const double reach = (double)s->reach[v] + second + (s->ways ? near_approach(f, s->ways, all, 1) : 0);
    if (!(f->flags[cell] & SINEW_IS_FACE))
        return near_lone(s, v, cell, reach);
    closest_triangle(p, x, &best);
    return near_enough(best.d2, near_cores(f, v, c[0]), reach);
}

static inline bool near_edges(const sinew_search *s, int32_t e, int32_t other)
{
    const sinew_features *f = s->features;
    const int32_t *a = f->edges[e], *b = f->edges[other];
    const int32_t all[4] = {a[0], a[1], b[0], b[1]};
    double p[2][3], q[2][3];
    sinew_closest best;
    for (int i = 0; i < 2; i++) {
        near_point(s->x, a[i], p[i]);
        near_point(s->x, b[i], q[i]);
    }
    closest_segments(p, q, &best);
    return near_enough(best.d2, near_cores(f, a[0], b[0]),
                       near_larger((double)s->reach[a[0]], (double)s->reach[a[1]]) +
                           near_larger((double)s->reach[b[0]], (double)s->reach[b[1]]) +
                           (s->ways ? near_approach(f, s->ways, all, 2) : 0));
}

#endif
