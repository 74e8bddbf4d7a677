/* SPDX-License-Identifier: MIT
 *
 * cells.c: makes the cells of an epoch from its pairs, and cuts motions at them. See cells.h.
 */
#include "contact/cells.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define ROOM_PART   0.9        /* of the way to a plane that is gone at once */
#define SHARE_LEAST 0.05       /* of the free distance that either side of a pair gets */
#define FLOOR_PART  1e-2       /* of the offset that is left as distance */
#define HALVINGS    5          /* of a body's approach to others before it ends */
#define ALL_PART    (1 + 1e-6) /* of an approach: rounding leaves none of it */
#define OPEN_PART   1.5        /* of the offset that a body's motion leaves to others */

enum {
    TANGENT_ROUNDS = 4 /* in which approaches end, before motions do */
};

/* ---- Small helpers --------------------------------------------------------------------------- */

static double along(const sinew_real n[3], const sinew_real *x)
{
    return (double)n[0] * (double)x[0] + (double)n[1] * (double)x[1] + (double)n[2] * (double)x[2];
}

static double along_carry(const sinew_real n[3], const double c[3])
{
    return (double)n[0] * c[0] + (double)n[1] * c[1] + (double)n[2] * c[2];
}

static double length(const double c[3])
{
    return sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
}

/* Vertices of the first feature are v[0] .. v[count - 1]. */
static int first_count(const sinew_touch_pair *p)
{
    return p->kind == SINEW_PAIR_EDGES ? 2 : 1;
}

static int pair_count(const sinew_touch_pair *p)
{
    return p->kind == SINEW_PAIR_PLANE ? 1 : 4;
}

static int32_t second_object(const sinew_features *f, const sinew_touch_pair *p)
{
    return p->kind == SINEW_PAIR_PLANE ? p->second : f->object[p->v[3]];
}

static double offset_of(const sinew_features *f, const sinew_touch_pair *p)
{
    return f->objects[f->object[p->v[0]]].half + f->objects[second_object(f, p)].half;
}

static double floor_of(const sinew_features *f, const sinew_touch_pair *p, const sinew_real *x)
{
    double largest = 0;
    for (int a = 0; a < pair_count(p); a++)
        for (size_t c = 0; c < 3; c++)
            largest = fmax(largest, fabs((double)x[4 * (size_t)p->v[a] + c]));
    const double epsilon = sizeof(sinew_real) == 4 ? FLT_EPSILON : DBL_EPSILON;
    return fmax(FLOOR_PART * offset_of(f, p), 64 * epsilon * largest);
}

/* ---- Motion of bodies ------------------------------------------------------------------------ */

bool sinew_cells_begin(sinew_cells *cells, const sinew_features *f, const sinew_cells_motion *motion)
{
    const sinew_allocator *m = &f->allocator;
    const size_t n = (size_t)f->vertex_count;
    cells->vertex_count = f->vertex_count;
    if (!sinew_make_room(m, &cells->first, &cells->first_room, n + 2, sizeof *cells->first) ||
        !sinew_make_room(m, &cells->safe, &cells->safe_room, 4 * n, sizeof *cells->safe) ||
        !sinew_make_room(m, &cells->centre, &cells->centre_room, 4 * n, sizeof *cells->centre) ||
        !sinew_make_room(m, &cells->cut, &cells->cut_room, n, sizeof *cells->cut) ||
        !sinew_make_room(m, &cells->carry, &cells->carry_room, (size_t)f->object_count, sizeof *cells->carry) ||
        !sinew_make_room(m, &cells->radius, &cells->radius_room, (size_t)f->object_count, sizeof *cells->radius))
        return false;
    for (int32_t o = 0; o < f->object_count; o++) {
        const sinew_touch_object *object = &f->objects[o];
        double sum[3] = {0, 0, 0};
        const bool moves = motion->carried && !object->kinematic && object->vertex_count > 0;
        for (int32_t v = object->first_vertex; moves && v < object->first_vertex + object->vertex_count; v++)
            for (size_t c = 0; c < 3; c++)
                sum[c] += (double)motion->wanted[4 * (size_t)v + c] - (double)motion->x[4 * (size_t)v + c];
        for (size_t c = 0; c < 3; c++)
            cells->carry[o][c] = moves ? sum[c] / object->vertex_count : 0;
    }
    return true;
}

/* Whether the motions of both bodies leave a pair of theirs open. */
static bool stays_open(const sinew_cells *cells, const sinew_features *f, const sinew_touch_pair *p,
                       const sinew_real *x)
{
    const int32_t a = f->object[p->v[0]], b = second_object(f, p);
    const double coming = fmax(0, -along_carry(p->n, cells->carry[a])) + fmax(0, along_carry(p->n, cells->carry[b]));
    const double keep = fmax(OPEN_PART * offset_of(f, p), 2 * floor_of(f, p, x));
    return a == b || coming == 0 || (double)p->distance - coming >= keep;
}

/* c loses `part` of what it has along `sign` n. */
static void slow_down(double c[3], const sinew_real n[3], double sign, double part)
{
    const double coming = fmax(0, sign * along_carry(n, c));
    for (int i = 0; i < 3; i++)
        c[i] -= part * sign * coming * (double)n[i];
}

/* Motions that would close a pair lose half of their approach, again and again, then all of it, and where many pairs
 * are in each other's way they stop. What a body does along a surface that it lies on it keeps. */
static void shorten_carries(sinew_cells *cells, const sinew_features *f, const sinew_cells_motion *motion,
                            const sinew_touch_pairs *pairs)
{
    for (int round = 0; motion->carried && round <= HALVINGS + TANGENT_ROUNDS; round++) {
        const double part = round < HALVINGS ? 0.5 : ALL_PART;
        bool all = true;
        for (int64_t k = 0; k < pairs->count; k++) {
            const sinew_touch_pair *p = &pairs->list[k];
            double *first = cells->carry[f->object[p->v[0]]], *second = cells->carry[second_object(f, p)];
            if (stays_open(cells, f, p, motion->x))
                continue;
            all = false;
            slow_down(first, p->n, -1, part);
            slow_down(second, p->n, 1, part);
            for (int i = 0; round == HALVINGS + TANGENT_ROUNDS && i < 3; i++)
                first[i] = second[i] = 0;
        }
        if (all)
            return;
    }
}

/* Pairs were looked for as far as the motion and the radius lead together: what the one loses the other gains. */
static void set_balls(sinew_cells *cells, const sinew_features *f, const sinew_cells_motion *motion,
                      const sinew_touch_pairs *pairs)
{
    for (int32_t o = 0; o < f->object_count; o++)
        cells->radius[o] = motion->delta[o] + length(cells->carry[o]);
    shorten_carries(cells, f, motion, pairs);
    for (int32_t o = 0; o < f->object_count; o++)
        cells->radius[o] = fmax(cells->radius[o] - length(cells->carry[o]), 0);
}

/* ---- Planes ---------------------------------------------------------------------------------- */

/* The largest approach of a feature's vertices from a to b - 1 along `sign` n, less what their body's motion is, >= 0.
 */
static double approach_of(const sinew_cells_motion *motion, const sinew_touch_pair *p, int a, int b, double sign,
                          double carried)
{
    double most = 0;
    for (; a < b; a++) {
        const size_t at = 4 * (size_t)p->v[a];
        most = fmax(most, sign * (along(p->n, motion->wanted + at) - along(p->n, motion->x + at)) - carried);
    }
    return most;
}

/* Heights along n of both planes of a pair: the first feature stays above *high, the second below *low. */
static void place_planes(const sinew_cells *cells, const sinew_features *f, const sinew_cells_motion *motion,
                         const sinew_touch_pair *p, double *low, double *high)
{
    const int32_t a = f->object[p->v[0]], b = second_object(f, p);
    const int n1 = first_count(p);
    const double floor = fmin(floor_of(f, p, motion->x), (double)p->distance);
    const double down = -along_carry(p->n, cells->carry[a]), up = along_carry(p->n, cells->carry[b]);
    /* Within one body both sides go along with the planes. */
    const double first = a == b ? 0 : fmax(0, down), second = a == b ? 0 : fmax(0, up);
    const double come_1 = approach_of(motion, p, 0, n1, -1, a == b ? down : first);
    const double come_2 = approach_of(motion, p, n1, pair_count(p), 1, a == b ? up : second);
    const double free = fmax(0, (double)p->distance - floor - first - second), sum = come_1 + come_2;
    const double part = sum > 0 ? fmin(fmax(come_2 / sum, SHARE_LEAST), 1 - SHARE_LEAST) : 0.5;
    /* The second closest point, on the surface of its core. */
    double base = 0;
    for (int k = 0; k < 4; k++)
        base += (double)p->w[k] > 0 ? (double)p->w[k] * along(p->n, motion->x + 4 * (size_t)p->v[k]) : 0;
    base -= (double)p->distance + f->objects[a].core;
    const double shift = a == b ? -down : 0;
    *low = base + second + part * free + shift;
    *high = *low + floor;
}

/* A plane for vertex a of the pair, oriented so that n.x >= c is free. Where the vertex is beyond already (flat
 * features at the floor) it may stay where it is. */
static void put_plane(sinew_cells *cells, const sinew_features *f, const sinew_touch_pair *p, int a, double low,
                      double high)
{
    const bool first = a < first_count(p);
    const int32_t v = p->v[a], o = f->object[v];
    sinew_cell_plane *plane = &cells->planes[cells->first[v + 1]++];
    const double core = f->objects[o].core;
    const double own = along(p->n, cells->safe + 4 * (size_t)v);
    for (int c = 0; c < 3; c++)
        plane->n[c] = first ? p->n[c] : -p->n[c];
    plane->c = (sinew_real)(first ? fmin(high + core, own) : -fmax(low - core, own));
}

static bool has_plane(const sinew_touch_pair *p)
{
    return p->distance > 0;
}

/* A face may name a vertex more than once (lone edges and vertices). */
static bool is_repeated(const sinew_touch_pair *p, int a)
{
    for (int b = 0; b < a; b++)
        if (p->v[b] == p->v[a])
            return true;
    return false;
}

/* How many planes each vertex has, as places of its first one, moved up by one: filling moves them into place. */
static bool count_planes(sinew_cells *cells, const sinew_features *f, const sinew_touch_pairs *pairs)
{
    const size_t n = (size_t)f->vertex_count;
    memset(cells->first, 0, (n + 2) * sizeof *cells->first);
    for (int64_t k = 0; k < pairs->count; k++)
        for (int a = 0; has_plane(&pairs->list[k]) && a < pair_count(&pairs->list[k]); a++)
            if (!is_repeated(&pairs->list[k], a))
                cells->first[pairs->list[k].v[a] + 2]++;
    for (size_t v = 2; v < n + 2; v++)
        cells->first[v] += cells->first[v - 1];
    return sinew_make_spare_room(&f->allocator, &cells->planes, &cells->plane_room, (size_t)cells->first[n + 1],
                                 sizeof *cells->planes);
}

bool sinew_cells_build(sinew_cells *cells, const sinew_features *f, const sinew_cells_motion *motion,
                       const sinew_touch_pairs *pairs)
{
    set_balls(cells, f, motion, pairs);
    for (int32_t v = 0; v < f->vertex_count; v++) {
        const size_t at = 4 * (size_t)v;
        const int32_t o = f->object[v];
        for (size_t c = 0; c < 3; c++)
            cells->safe[at + c] = cells->centre[at + c] = (sinew_real)((double)motion->x[at + c] + cells->carry[o][c]);
        cells->safe[at + 3] = 0;
        cells->centre[at + 3] = (sinew_real)cells->radius[o];
        cells->cut[v] = 0;
    }
    if (!count_planes(cells, f, pairs))
        return false;
    for (int64_t k = 0; k < pairs->count; k++) {
        const sinew_touch_pair *p = &pairs->list[k];
        double low, high;
        if (!has_plane(p))
            continue;
        place_planes(cells, f, motion, p, &low, &high);
        for (int a = 0; a < pair_count(p); a++)
            if (!is_repeated(p, a))
                put_plane(cells, f, p, a, low, high);
    }
    return true;
}

void sinew_cells_release(sinew_cells *cells, const sinew_allocator *allocator)
{
    void *arrays[] = {cells->first, cells->planes, cells->safe, cells->centre, cells->cut, cells->carry, cells->radius};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        sinew_release(allocator, arrays[k]);
    *cells = (sinew_cells){0};
}

/* ---- Cuts ------------------------------------------------------------------------------------ */

/* The part of d that stays within the ball, from `from`, which is within. */
static double ball_limit(const sinew_real *ball, const sinew_real *from, const double d[3])
{
    double a = 0, b = 0, c = -(double)ball[3] * (double)ball[3];
    for (int k = 0; k < 3; k++) {
        const double e = (double)from[k] - (double)ball[k];
        a += d[k] * d[k];
        b += d[k] * e;
        c += e * e;
    }
    if (a + 2 * b + c <= 0)
        return 1;
    const double root = sqrt(fmax(b * b - a * c, 0));
    return a > 0 ? fmax(0, fmin(1, (root - b) / a)) : 1;
}

double sinew_cells_limit(const sinew_cells *cells, int32_t v, const sinew_real *to)
{
    const sinew_real *from = cells->safe + 4 * (size_t)v;
    const double d[3] = {(double)to[0] - (double)from[0], (double)to[1] - (double)from[1],
                         (double)to[2] - (double)from[2]};
    if (d[0] == 0 && d[1] == 0 && d[2] == 0)
        return 1;
    double part = ball_limit(cells->centre + 4 * (size_t)v, from, d);
    for (int32_t k = cells->first[v]; k < cells->first[v + 1]; k++) {
        const sinew_cell_plane *p = &cells->planes[k];
        const double coming = -((double)p->n[0] * d[0] + (double)p->n[1] * d[1] + (double)p->n[2] * d[2]);
        const double room = along(p->n, from) - (double)p->c;
        if (coming > 0 && coming > ROOM_PART * room)
            part = fmin(part, room > 0 ? ROOM_PART * room / coming : 0);
    }
    return part;
}

bool sinew_cells_cut(sinew_cells *cells, int32_t v, const sinew_real *to)
{
    sinew_real *safe = cells->safe + 4 * (size_t)v;
    const double part = sinew_cells_limit(cells, v, to);
    cells->cut[v] = part < 1;
    for (size_t c = 0; c < 3; c++)
        safe[c] = part < 1 ? (sinew_real)((double)safe[c] + part * ((double)to[c] - (double)safe[c])) : to[c];
    return part < 1;
}
