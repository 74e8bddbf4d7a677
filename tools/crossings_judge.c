/* SPDX-License-Identifier: MIT
 *
 * crossings_judge.c: the result of one frame: pairs of primitives, primitives in shapes, and components that are on the
 * other side of a closed surface than in the first frame.
 *
 * The last test detects components that passed through each other between two frames. Limits: the test does not detect
 * an open component that passes completely through another open component between two frames.
 */
#include "crossings.h"

#include <float.h>
#include <math.h>

static void judge_shapes(frame *f)
{
    result *v = f->v;
    for (int p = 0; p < f->m->primitive_count; p++) {
        const primitive *at = &f->m->primitives[p];
        for (int s = 0; s < f->ask->shape_count && at->collider < 0; s++) {
            const shape *with = &f->ask->shapes[s];
            const double distance = shape_distance(with, f->m, at);
            double size = 0;
            for (int c = 0; c < 6; c++)
                size = fmax(size, fabs(with->numbers[c]));
            /* Touching is not penetration: depths within the round-off of the distance do not count. */
            if (distance < -16 * DBL_EPSILON * size)
                v->entered++;
            v->depth = fmax(v->depth, -distance);
            v->shape_nearest = fmin(v->shape_nearest, distance);
            if (f->ask->thickness - distance > v->violation && f->ask->thickness > 0) {
                v->violation = f->ask->thickness - distance;
                v->worst = (feature_pair){.distance = distance, .v = {p, s, 0, 0}, .collider = -1};
                v->worst_is_shape = true;
            }
        }
    }
}

typedef struct bounds {
    double low[3], high[3];
} bounds;

static bounds bounds_of(const mesh *m, const topology *t, int component)
{
    bounds b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int v = 0; v < m->point_count; v++)
        for (int c = 0; c < 3 && t->component[v] == component; c++) {
            b.low[c] = fmin(b.low[c], m->x[3 * (size_t)v + (size_t)c]);
            b.high[c] = fmax(b.high[c], m->x[3 * (size_t)v + (size_t)c]);
        }
    return b;
}

/* Winding number of a closed component about a point; zero outside the component's bounding box. */
static long turns(const mesh *m, const topology *t, int component, const bounds *b, const double *x)
{
    for (int c = 0; c < 3; c++)
        if (x[c] < b->low[c] || x[c] > b->high[c])
            return 0;
    double sum = 0;
    for (int p = 0; p < m->primitive_count; p++) {
        const int *v = m->primitives[p].v;
        if (t->component[v[0]] == component)
            sum += winding(x, m->x + 3 * (size_t)v[0], m->x + 3 * (size_t)v[1], m->x + 3 * (size_t)v[2]);
    }
    return lround(sum);
}

static void judge_passages(frame *f)
{
    const mesh *m = f->m, *rest = f->rest;
    const topology *t = f->t;
    /* The index of a component is that of its first point. */
    for (int component = 0; component < m->point_count; component++) {
        if (t->component[component] != component || !t->used[component] || t->open[component])
            continue;
        const bounds now = bounds_of(m, t, component), before = bounds_of(rest, t, component);
        for (int v = 0; v < m->body_points; v++)
            if (t->component[v] == v && t->used[v] && v != component)
                f->v->passed += turns(m, t, component, &now, m->x + 3 * (size_t)v) !=
                                turns(rest, t, component, &before, rest->x + 3 * (size_t)v);
    }
}

void judge(frame *f)
{
    *f->v = (result){.first = {-1, -1}, .shape_nearest = INFINITY};
    for (int r = 0; r < RELATION_COUNT; r++)
        f->v->nearest[r] = (feature_pair){.distance = INFINITY, .collider = -1};
    if (f->ask->brute) {
        for (int a = 0; a < f->m->primitive_count; a++)
            for (int b = a + 1; b < f->m->primitive_count; b++)
                judge_pair(f, a, b, true);
    } else {
        tree_pairs(f);
    }
    judge_shapes(f);
    if (f->rest)
        judge_passages(f);
    judge_links(f, f->links);
}
