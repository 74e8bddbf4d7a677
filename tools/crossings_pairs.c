/* SPDX-License-Identifier: MIT
 *
 * crossings_pairs.c: intersection of two primitives of a frame, and distances of their vertices, edges and triangles.
 *
 * Triangles and edges of ropes connect points to components; a body of several loose shells has several. A vertex and a
 * triangle, or two edges, are measured unless they share a vertex. Within one component the required thickness is at
 * most 0.9 of the distance in the first frame, because neighbours in a fine mesh are closer than the thickness.
 */
#include "crossings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double *at(const mesh *m, int v)
{
    return m->x + 3 * (size_t)v;
}

/* ---- Components and owners of features ---------------------------------------------------------- */

static int root_of(int *component, int v)
{
    while (component[v] != v) {
        component[v] = component[component[v]];
        v = component[v];
    }
    return v;
}

static void find_components(topology *t, const mesh *m)
{
    for (int v = 0; v < m->point_count; v++)
        t->component[v] = v;
    for (int p = 0; p < m->primitive_count; p++)
        for (int i = 1; i < 3 && m->primitives[p].v[i] >= 0; i++) {
            const int a = root_of(t->component, m->primitives[p].v[0]),
                      b = root_of(t->component, m->primitives[p].v[i]);
            t->component[a > b ? a : b] = a < b ? a : b;
        }
    for (int v = 0; v < m->point_count; v++)
        t->component[v] = root_of(t->component, v);
}

typedef struct side {
    int low, high, primitive, corner;
} side;

static int compare_sides(const void *left, const void *right)
{
    const side *a = left, *b = right;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    if (a->high != b->high)
        return a->high < b->high ? -1 : 1;
    return (a->primitive > b->primitive) - (a->primitive < b->primitive);
}

static int list_sides(const mesh *m, side *sides)
{
    int count = 0;
    for (int p = 0; p < m->primitive_count; p++)
        for (int i = 0; i < (m->primitives[p].v[2] < 0 ? 1 : 3); i++) {
            const int a = m->primitives[p].v[i], b = m->primitives[p].v[(i + 1) % 3];
            sides[count++] = (side){a < b ? a : b, a < b ? b : a, p, i};
        }
    return count;
}

/* The first primitive with a vertex or an edge owns it. A component with an edge that does not have exactly two
 * triangles is open. */
static void find_owners(topology *t, const mesh *m)
{
    side *sides = NULL;
    int capacity = 0;
    sides = reserve(sides, &capacity, 3 * m->primitive_count + 1, sizeof *sides);
    const int count = list_sides(m, sides);
    qsort(sides, (size_t)count, sizeof *sides, compare_sides);
    for (int i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && sides[end].low == sides[i].low && sides[end].high == sides[i].high;)
            end++;
        t->own[sides[i].primitive] |= (unsigned char)(8 << sides[i].corner);
        if (end - i != 2)
            t->open[t->component[sides[i].low]] = true;
    }
    free(sides);
    for (int p = 0; p < m->primitive_count; p++)
        for (int i = 0; i < 3 && m->primitives[p].v[i] >= 0; i++)
            if (!t->used[m->primitives[p].v[i]]) {
                t->used[m->primitives[p].v[i]] = true;
                t->own[p] |= (unsigned char)(1 << i);
            }
}

void topology_make(topology *t, const mesh *m)
{
    const size_t points = (size_t)m->point_count + 1, primitives = (size_t)m->primitive_count + 1;
    *t = (topology){malloc(points * sizeof *t->component), calloc(primitives, 1), calloc(points, sizeof *t->used),
                    calloc(points, sizeof *t->open)};
    if (!t->component || !t->own || !t->used || !t->open)
        give_up("out of memory");
    find_components(t, m);
    find_owners(t, m);
}

void topology_free(topology *t)
{
    free(t->component);
    free(t->own);
    free(t->used);
    free(t->open);
    *t = (topology){0};
}

bool same_cells(const mesh *a, const mesh *b)
{
    return a->point_count == b->point_count && a->primitive_count == b->primitive_count &&
           a->body_points == b->body_points &&
           memcmp(a->primitives, b->primitives, (size_t)a->primitive_count * sizeof *a->primitives) == 0;
}

/* ---- Distances --------------------------------------------------------------------------------- */

relation relation_of(const frame *f, int a, int b)
{
    const primitive *p = &f->m->primitives[a], *q = &f->m->primitives[b];
    if (p->collider >= 0 || q->collider >= 0)
        return AGAINST;
    return f->t->component[p->v[0]] == f->t->component[q->v[0]] ? WITHIN : BETWEEN;
}

double search_radius_of(const frame *f, relation r)
{
    return fmax(f->v->nearest[r].distance, f->ask->thickness);
}

static double measure(const mesh *m, const feature_pair *pair)
{
    const double *p[4];
    for (int i = 0; i < 4; i++)
        p[i] = at(m, pair->v[i]);
    return pair->edges ? segment_segment(p[0], p[1], p[2], p[3]) : point_triangle(p[0], p[1], p[2], p[3]);
}

/* Pairs at equal distance have a fixed order, so that the report does not depend on the order of the search. */
static bool comes_before(const feature_pair *a, const feature_pair *b)
{
    if (a->distance != b->distance)
        return a->distance < b->distance;
    if (a->edges != b->edges)
        return b->edges;
    for (int i = 0; i < 4; i++)
        if (a->v[i] != b->v[i])
            return a->v[i] < b->v[i];
    return false;
}

static void consider(frame *f, relation r, feature_pair pair)
{
    for (int i = 1; i < 4; i++)
        if (pair.v[i] == pair.v[0] || (pair.edges && i > 1 && pair.v[i] == pair.v[1]))
            return;
    pair.distance = measure(f->m, &pair);
    if (comes_before(&pair, &f->v->nearest[r]))
        f->v->nearest[r] = pair;
    if (pair.distance >= f->ask->thickness)
        return;
    double wanted = f->ask->thickness;
    if (r == WITHIN && f->rest)
        wanted = fmin(wanted, 0.9 * measure(f->rest, &pair));
    const double violation = wanted - pair.distance;
    if (violation > f->v->violation || (violation == f->v->violation && comes_before(&pair, &f->v->worst))) {
        f->v->violation = violation;
        f->v->worst = pair;
        f->v->worst_is_shape = false;
    }
}

static void vertices_to_triangle(frame *f, relation r, const primitive *a, unsigned own, const primitive *b)
{
    for (int i = 0; i < 3 && a->v[i] >= 0; i++)
        if (own >> i & 1)
            consider(f, r,
                     (feature_pair){.v = {a->v[i], b->v[0], b->v[1], b->v[2]},
                                    .collider = a->collider > b->collider ? a->collider : b->collider});
}

static void order(int *low, int *high)
{
    if (*low > *high) {
        const int swap = *low;
        *low = *high;
        *high = swap;
    }
}

static void edges_to_edges(frame *f, relation r, const primitive *a, unsigned own_a, const primitive *b, unsigned own_b)
{
    for (int i = 0; i < (a->v[2] < 0 ? 1 : 3); i++)
        for (int j = 0; own_a >> (3 + i) & 1 && j < (b->v[2] < 0 ? 1 : 3); j++) {
            if (!(own_b >> (3 + j) & 1))
                continue;
            int e[2] = {a->v[i], a->v[(i + 1) % 3]}, g[2] = {b->v[j], b->v[(j + 1) % 3]};
            order(&e[0], &e[1]);
            order(&g[0], &g[1]);
            const bool first = e[0] < g[0] || (e[0] == g[0] && e[1] < g[1]);
            const int *low = first ? e : g, *high = first ? g : e;
            consider(f, r,
                     (feature_pair){.edges = true,
                                    .v = {low[0], low[1], high[0], high[1]},
                                    .collider = a->collider > b->collider ? a->collider : b->collider});
        }
}

static void judge_distances(frame *f, relation r, int a, int b)
{
    const primitive *p = &f->m->primitives[a], *q = &f->m->primitives[b];
    const unsigned own_a = f->ask->brute ? 63 : f->t->own[a], own_b = f->ask->brute ? 63 : f->t->own[b];
    if (q->v[2] >= 0)
        vertices_to_triangle(f, r, p, own_a, q);
    if (p->v[2] >= 0)
        vertices_to_triangle(f, r, q, own_b, p);
    edges_to_edges(f, r, p, own_a, q, own_b);
}

/* ---- Crossings --------------------------------------------------------------------------------- */

static bool primitives_cross(const mesh *m, const primitive *p, const primitive *q)
{
    const double *a[3] = {at(m, p->v[0]), at(m, p->v[1]), p->v[2] < 0 ? NULL : at(m, p->v[2])};
    const double *b[3] = {at(m, q->v[0]), at(m, q->v[1]), q->v[2] < 0 ? NULL : at(m, q->v[2])};
    if (a[2] && b[2])
        return triangles_cross(a, b);
    if (a[2])
        return edge_pierces(b, a);
    return b[2] && edge_pierces(a, b);
}

/* Index in `p` of the only common vertex; -1: none, -2: several. */
static int common_corner(const primitive *p, const primitive *q)
{
    int corner = -1;
    for (int i = 0; i < 3 && p->v[i] >= 0; i++)
        for (int j = 0; j < 3; j++)
            if (p->v[i] == q->v[j])
                corner = corner == -1 ? i : -2;
    return corner;
}

/* True if the edge of p opposite to the common vertex intersects the triangle q. */
static bool opposite_edge_pierces(const mesh *m, const primitive *p, const primitive *q)
{
    const int corner = common_corner(p, q);
    const double *e[2] = {at(m, p->v[(corner + 1) % 3]), at(m, p->v[(corner + 2) % 3])};
    const double *t[3] = {at(m, q->v[0]), at(m, q->v[1]), at(m, q->v[2])};
    return edge_pierces(e, t);
}

static void add_crossing(frame *f, int a, int b, long *count)
{
    const int low = a < b ? a : b, high = a < b ? b : a;
    int *first = f->v->first;
    if (first[0] < 0 || low < first[0] || (low == first[0] && high < first[1])) {
        first[0] = low;
        first[1] = high;
    }
    ++*count;
    if (f->ask->list)
        print_crossing(f->m, low, high);
}

void judge_pair(frame *f, int a, int b, bool overlap)
{
    const primitive *p = &f->m->primitives[a], *q = &f->m->primitives[b];
    if (p->collider >= 0 && q->collider >= 0)
        return;
    const relation r = relation_of(f, a, b);
    const int common = overlap ? common_corner(p, q) : -2;
    if (common == -1 && primitives_cross(f->m, p, q))
        add_crossing(f, a, b, &f->v->crossings[r]);
    else if (common >= 0 && p->v[2] >= 0 && q->v[2] >= 0 &&
             (opposite_edge_pierces(f->m, p, q) || opposite_edge_pierces(f->m, q, p)))
        add_crossing(f, a, b, &f->v->fans);
    judge_distances(f, r, a, b);
}
