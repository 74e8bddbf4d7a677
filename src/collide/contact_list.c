/* SPDX-License-Identifier: MIT
 *
 * contact_list.c: from pairs to contacts, one per feature, and from one list of contacts to the next. See contact_list.h.
 */
#include "collide/contact_list.h"

#include <math.h>
#include <string.h>

#include "collide/reach_test.h"
#include "mesh/sort_pairs.h"

#define WEDGE        1e-3 /* cosine by which a direction may miss its feature's own wedge */
#define OUT_PART     0.2  /* of its depth that what is inside is led out in a step: else it would be shot out */
#define FOLLOW_MOST  0.3  /* of its way to its closest points that a contact with something round goes at once */
#define FOLLOW_LEAST 0.02
#define FOLLOW_LESS  0.6 /* times as much after it went too far ... */
#define FOLLOW_MORE  1.6 /* ... or not far enough */
#define REST_PART    0.9 /* of their distance at rest that features of one body keep at most */

static void read_point(const sinew_real *x, int32_t v, double p[3])
{
    for (size_t c = 0; c < 3; c++)
        p[c] = (double)x[4 * (size_t)v + c];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* ---- One per feature ------------------------------------------------------------------------- */

/* The feature on the other side of a pair. Features that have one of its vertices make no pair with it, so that they
 * cannot have the contact: a crushed edge would leave its two ends without any. */
typedef struct opposite {
    const int32_t *v; /* [count] */
    int count;
} opposite;

static bool has_vertex(const opposite *o, int32_t v)
{
    for (int k = 0; k < o->count; k++)
        if (o->v[k] == v)
            return true;
    return false;
}

/* Whether no neighbour of vertex v is nearer to what lies in direction m (unit) of it. */
static bool owns_corner(const sinew_features *f, const sinew_real *x, int32_t v, const double m[3], opposite other)
{
    double p[3], q[3];
    read_point(x, v, p);
    for (int32_t k = f->first_neighbour[v]; k < f->first_neighbour[v + 1]; k++) {
        if (has_vertex(&other, f->neighbours[k]))
            continue;
        read_point(x, f->neighbours[k], q);
        const double d[3] = {q[0] - p[0], q[1] - p[1], q[2] - p[2]};
        if (dot(m, d) > WEDGE * sqrt(dot(d, d)))
            return false;
    }
    return true;
}

/* The same of an edge and the faces at it. */
static bool owns_side(const sinew_features *f, const sinew_real *x, int32_t edge, const double m[3], opposite other)
{
    double a[3], b[3];
    read_point(x, f->edges[edge][0], a);
    read_point(x, f->edges[edge][1], b);
    const double e[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, ee = dot(e, e);
    for (int k = 0; k < 2; k++) {
        double q[3];
        if (f->wings[edge][k] < 0 || has_vertex(&other, f->wings[edge][k]))
            continue;
        read_point(x, f->wings[edge][k], q);
        double t[3] = {q[0] - a[0], q[1] - a[1], q[2] - a[2]};
        const double part = ee > 0 ? dot(t, e) / ee : 0;
        for (int c = 0; c < 3; c++)
            t[c] -= part * e[c];
        if (dot(m, t) > WEDGE * sqrt(dot(t, t)))
            return false;
    }
    return true;
}

static int32_t edge_between(const sinew_features *f, int32_t cell, int32_t a, int32_t b)
{
    for (int s = 0; s < 3; s++) {
        const int32_t e = f->sides[cell][s];
        if (e >= 0 && ((f->edges[e][0] == a && f->edges[e][1] == b) || (f->edges[e][0] == b && f->edges[e][1] == a)))
            return e;
    }
    return -1;
}

/* The key of a vertex and a face; 0: a neighbour of the face has it. m: from the face to the vertex. */
static bool face_key(const sinew_features *f, const sinew_real *x, const sinew_touch_pair *p, const double m[3],
                     uint64_t *key)
{
    const opposite vertex = {p->v, 1};
    int32_t corners[3];
    int count = 0;
    for (int a = 1; a < 4; a++) {
        bool again = false;
        for (int b = 0; b < count; b++)
            again = again || corners[b] == p->v[a];
        if ((double)p->w[a] != 0 && !again)
            corners[count++] = p->v[a];
    }
    if (count == 1) {
        *key = sinew_touch_key(SINEW_TOUCH_CORNER, p->v[0], corners[0]);
        return owns_corner(f, x, corners[0], m, vertex);
    }
    const int32_t edge = count == 2 ? edge_between(f, p->second, corners[0], corners[1]) : -1;
    *key = edge >= 0 ? sinew_touch_key(SINEW_TOUCH_SIDE, p->v[0], edge)
                     : sinew_touch_key(SINEW_TOUCH_FACE, p->v[0], p->second);
    return edge < 0 || owns_side(f, x, edge, m, vertex);
}

static bool is_lone(const sinew_features *f, int32_t edge)
{
    return f->wings[edge][0] < 0;
}

/* The key of two edges. Closest points at ends belong to the vertices, which faces find; ropes have none, and their
 * ends count here. */
static bool edges_key(const sinew_features *f, const sinew_real *x, const sinew_touch_pair *p, const double m[3],
                      uint64_t *key)
{
    const double back[3] = {-m[0], -m[1], -m[2]};
    const opposite first = {p->v, 2}, second = {p->v + 2, 2};
    const bool end_1 = (double)p->w[0] == 0 || (double)p->w[1] == 0;
    const bool end_2 = (double)p->w[2] == 0 || (double)p->w[3] == 0;
    const int32_t v1 = (double)p->w[0] == 0 ? p->v[1] : p->v[0], v2 = (double)p->w[2] == 0 ? p->v[3] : p->v[2];
    *key = sinew_touch_key(SINEW_TOUCH_EDGES, p->first, p->second);
    if (!end_1 && !end_2)
        return owns_side(f, x, p->first, back, second) && owns_side(f, x, p->second, m, first);
    if (end_1 && end_2) {
        *key = v1 < v2 ? sinew_touch_key(SINEW_TOUCH_CORNER, v1, v2) : sinew_touch_key(SINEW_TOUCH_CORNER, v2, v1);
        return (is_lone(f, p->first) || is_lone(f, p->second)) && owns_corner(f, x, v1, back, second) &&
               owns_corner(f, x, v2, m, first);
    }
    *key = end_1 ? sinew_touch_key(SINEW_TOUCH_SIDE, v1, p->second) : sinew_touch_key(SINEW_TOUCH_SIDE, v2, p->first);
    if (!is_lone(f, end_1 ? p->second : p->first))
        return false;
    return end_1 ? owns_corner(f, x, v1, back, second) : owns_corner(f, x, v2, m, first);
}

static bool pair_key(const sinew_features *f, const sinew_real *x, const sinew_touch_pair *p, uint64_t *key)
{
    const double m[3] = {(double)p->n[0], (double)p->n[1], (double)p->n[2]};
    if (p->inside) {
        *key = sinew_touch_key(SINEW_TOUCH_FACE, p->v[0], p->second);
        return true;
    }
    if (p->kind == SINEW_PAIR_PLANE) {
        *key = sinew_touch_key(SINEW_TOUCH_PLANE, p->v[0], p->second);
        return true;
    }
    return p->kind == SINEW_PAIR_EDGES ? edges_key(f, x, p, m, key) : face_key(f, x, p, m, key);
}

/* ---- From pairs ------------------------------------------------------------------------------ */

/* Features of one body are never asked to be farther apart than they are at rest. */
static double offset_of(const sinew_features *f, const sinew_touch_pair *p, int32_t a, int32_t b)
{
    const double offset = f->objects[a].half + f->objects[b].half;
    if (a != b)
        return offset;
    sinew_touch_pair rest = *p;
    sinew_pair_closest(&rest, f->rest);
    return fmin(offset, REST_PART * (double)rest.distance);
}

/* m: how much nearer the closest points come. */
static double approach_of(const sinew_touch_pair *p, const sinew_touch_rule *rule)
{
    double sum = 0;
    for (size_t a = 0; a < 4; a++)
        for (size_t c = 0; c < 3; c++) {
            const size_t at = 4 * (size_t)p->v[a] + c;
            sum -= (double)p->w[a] * (double)p->n[c] * ((double)rule->wanted[at] - (double)rule->x[at]);
        }
    return sum;
}

static bool make_touch(const sinew_features *f, const sinew_touch_pair *p, const sinew_touch_rule *rule, sinew_touch *t)
{
    const int32_t a = f->object[p->v[0]], b = p->kind == SINEW_PAIR_PLANE ? p->second : f->object[p->v[3]];
    const double most = f->objects[a].half + f->objects[b].half, coming = fmax(0, approach_of(p, rule));
    if ((double)p->distance - coming > (1 + rule->margin) * most)
        return false;
    *t = (sinew_touch){.first = a, .second = b, .pair = p->kind, .distance = (double)p->distance};
    t->offset = offset_of(f, p, a, b);
    if ((double)p->distance - coming > t->offset + rule->margin * most || !pair_key(f, rule->x, p, &t->key))
        return false;
    memcpy(t->v, p->v, sizeof t->v);
    memcpy(t->w, p->w, sizeof t->w);
    for (int c = 0; c < 3; c++)
        t->n[c] = (double)p->n[c];
    t->core = f->objects[a].core + f->objects[b].core;
    if (p->inside) {
        const double whole = t->offset;
        t->offset = fmin(whole, (1 - OUT_PART) * t->distance + whole);
        t->sunk = whole - t->offset;
    }
    t->mu = sqrt(f->objects[a].friction * f->objects[b].friction);
    return true;
}

/* Contacts in the order of keys; of those found more than once, as sides and corners are for each face that has them,
 * the first, with the largest offset: faces may have been nearer at rest than others. */
static void sort_touches(sinew_touches *touches, int32_t found)
{
    sinew_pair *order = touches->work;
    for (int32_t k = 0; k < found; k++)
        order[k] = (sinew_pair){touches->found[k].key, (uint64_t)k};
    sinew_sort_pairs(order, (size_t)found, order + found);
    touches->count = 0;
    for (int32_t k = 0; k < found; k++)
        if (k == 0 || order[k].major != order[k - 1].major) {
            touches->list[touches->count++] = touches->found[order[k].minor];
        } else {
            sinew_touch *last = &touches->list[touches->count - 1];
            last->offset = fmax(last->offset, touches->found[order[k].minor].offset);
        }
}

bool sinew_touches_find(sinew_touches *touches, const sinew_features *f, const sinew_touch_pairs *pairs,
                        const sinew_touch_rule *rule)
{
    const sinew_allocator *m = &f->allocator;
    int32_t found = 0;
    touches->count = 0;
    if (!sinew_make_spare_room(m, &touches->found, &touches->found_room, (size_t)pairs->count + 1,
                               sizeof *touches->found))
        return false;
    for (int64_t k = 0; k < pairs->count; k++)
        found += make_touch(f, &pairs->list[k], rule, &touches->found[found]);
    if (!sinew_make_spare_room(m, &touches->list, &touches->room, (size_t)found, sizeof *touches->list) ||
        !sinew_make_spare_room(m, &touches->work, &touches->work_room, 2 * (size_t)found, sizeof *touches->work))
        return false;
    sort_touches(touches, found);
    return true;
}

/* ---- How near -------------------------------------------------------------------------------- */

/* m: how far two sides of a pair may have come nearer: the longest way of a vertex of each. */
static double longest_ways(const sinew_touch_pair *p, const sinew_real *begun, const sinew_real *moved)
{
    double most = 0, second = 0;
    for (size_t a = 0; a < 4; a++) {
        double square = 0;
        for (size_t c = 0; c < 3; c++)
            square += pow((double)moved[4 * (size_t)p->v[a] + c] - (double)begun[4 * (size_t)p->v[a] + c], 2);
        if (square > most) {
            second = most;
            most = square;
        } else {
            second = fmax(second, square);
        }
    }
    return sqrt(most) + sqrt(second);
}

sinew_nearness sinew_touches_nearness(const sinew_features *f, const sinew_touch_pairs *pairs, const sinew_real *begun,
                                      const sinew_real *moved)
{
    sinew_nearness found = {0, 0};
    for (int64_t k = 0; k < pairs->count; k++) {
        sinew_touch_pair p = pairs->list[k];
        if (p.kind == SINEW_PAIR_PLANE || p.inside)
            continue;
        const int32_t a = f->object[p.v[0]], b = f->object[p.v[3]];
        const double most = f->objects[a].half + f->objects[b].half;
        if ((double)p.distance - (moved ? longest_ways(&p, begun, moved) : 0) > most)
            continue;
        if (moved)
            sinew_pair_closest_less(&p, moved, f->objects[a].core + f->objects[b].core);
        if ((double)p.distance > most)
            continue;
        const double violation = offset_of(f, &p, a, b) - (double)p.distance;
        found.violation = fmax(found.violation, violation);
        found.part = fmax(found.part, most > 0 ? violation / most : 0);
    }
    return found;
}

/* ---- Round things ---------------------------------------------------------------------------- */

/* n and the distance of the points that the weights name. */
static void take_direction(sinew_touch *t, const sinew_real *x)
{
    double z[3] = {0, 0, 0};
    for (size_t a = 0; a < 4; a++)
        for (size_t c = 0; c < 3; c++)
            z[c] += (double)t->w[a] * (double)x[4 * a + c];
    const double length = sqrt(dot(z, z));
    for (int c = 0; length > 0 && c < 3; c++)
        t->n[c] = z[c] / length;
    t->distance = length - t->core;
}

/* The share is right where what n misses neither turns round nor stays: less of it after the one, more after the other.
 */
static void choose_share(sinew_touch *t, const sinew_real n[3])
{
    double miss[3];
    for (int c = 0; c < 3; c++)
        miss[c] = (double)n[c] - t->n[c];
    if (t->follow > 0)
        t->follow *= dot(miss, t->missed) < 0 ? FOLLOW_LESS : FOLLOW_MORE;
    t->follow = t->follow > 0 ? fmax(FOLLOW_LEAST, fmin(t->follow, FOLLOW_MOST)) : FOLLOW_MOST;
    memcpy(t->missed, miss, sizeof miss);
}

double sinew_touch_follow(sinew_touch *t, const sinew_real *x, bool go)
{
    sinew_touch_pair p = {.kind = t->pair};
    sinew_touch now = *t;
    /* Vertices that are named twice tell lone edges from faces. */
    for (int a = 0; a < 4; a++)
        for (p.v[a] = 0; t->v[p.v[a]] != t->v[a];)
            p.v[a]++;
    take_direction(&now, x);
    sinew_pair_closest_less(&p, x, t->core);
    if (go) {
        take_direction(t, x);
        choose_share(t, p.n);
        for (int a = 0; a < 4; a++)
            t->w[a] = (sinew_real)((double)t->w[a] + t->follow * ((double)p.w[a] - (double)t->w[a]));
        take_direction(t, x);
    }
    return fmax(0, fmin(now.distance, t->offset) - (double)p.distance);
}

/* ---- From list to list ----------------------------------------------------------------------- */

/* The friction of the one in the tangent plane of the other, as long as it was. */
static void turn_tangent(const double from[3], const double n[3], double to[3])
{
    const double normal = dot(from, n), size = sqrt(dot(from, from));
    for (int c = 0; c < 3; c++)
        to[c] = from[c] - normal * n[c];
    const double now = sqrt(dot(to, to));
    for (int c = 0; c < 3; c++)
        to[c] *= now > 0 ? size / now : 0;
}

static void inherit_one(sinew_touch *to, const sinew_touch *from)
{
    to->lambda = from->lambda;
    to->bears = from->bears;
    to->old = from->old;
    turn_tangent(from->tangent, to->n, to->tangent);
}

/* Vertex and object of a contact of a vertex; false: two edges. */
static bool party_of(const sinew_touch *t, uint64_t *party)
{
    *party = sinew_pack(t->v[0], t->second);
    return t->key >> 60 != SINEW_TOUCH_EDGES && t->key >> 60 != SINEW_TOUCH_SKIN;
}

/* A contact that is no more, in [count] by party, for this one; its place, -1: there is none left. */
static int32_t find_orphan(const sinew_pair *orphans, int32_t count, const uint8_t *taken, uint64_t party)
{
    int32_t low = 0, high = count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (orphans[middle].major < party)
            low = middle + 1;
        else
            high = middle;
    }
    while (low < count && orphans[low].major == party && taken[low])
        low++;
    return low < count && orphans[low].major == party ? low : -1;
}

/* By keys; returns how many of the old ones are no more, in to->work. */
static int32_t inherit_by_key(sinew_touches *to, const sinew_touches *from)
{
    int32_t count = 0;
    for (int32_t i = 0, k = 0; k < from->count; k++) {
        while (i < to->count && to->list[i].key < from->list[k].key)
            i++;
        if (i < to->count && to->list[i].key == from->list[k].key)
            inherit_one(&to->list[i], &from->list[k]);
        else if (from->list[k].lambda > 0 && party_of(&from->list[k], &to->work[count].major))
            to->work[count++].minor = (uint64_t)k;
    }
    return count;
}

bool sinew_touches_inherit(sinew_touches *to, const sinew_touches *from, const sinew_features *f)
{
    const size_t most = 2 * (size_t)from->count;
    if (!sinew_make_spare_room(&f->allocator, &to->work, &to->work_room, most, sizeof *to->work) ||
        !sinew_make_spare_room(&f->allocator, &to->taken, &to->taken_room, (size_t)from->count, sizeof *to->taken))
        return false;
    const int32_t count = inherit_by_key(to, from);
    sinew_sort_pairs(to->work, (size_t)count, to->work + count);
    memset(to->taken, 0, (size_t)count);
    for (int32_t i = 0; i < to->count && count > 0; i++) {
        uint64_t party;
        if (to->list[i].lambda > 0 || !party_of(&to->list[i], &party))
            continue;
        const int32_t o = find_orphan(to->work, count, to->taken, party);
        if (o < 0)
            continue;
        inherit_one(&to->list[i], &from->list[to->work[o].minor]);
        to->taken[o] = 1;
    }
    return true;
}

void sinew_touches_release(sinew_touches *touches, const sinew_allocator *allocator)
{
    void *arrays[] = {touches->list, touches->found, touches->work, touches->taken};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        sinew_release(allocator, arrays[k]);
    *touches = (sinew_touches){0};
}
