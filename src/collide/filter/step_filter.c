/* SPDX-License-Identifier: MIT
 *
 * step_filter.c: how far each vertex may go. See step_filter.h.
 */
#include "collide/filter/step_filter.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/reduce.h"
#include "collide/filter/trust_region.h"
#include "collide/reach_test.h"

#define ROOM_PART  0.9  /* of the way to the least gap that is gone at once */
#define FLOOR_PART 1e-2 /* of the offset that is left as distance */
#define PARTINGS   10   /* passes that move apart what vertices ask for */
#define CLEAR      0.1  /* of the least gap that is added, so that parting ends */
#define PATIENT    8    /* passes that shorten ways, before they stop vertices */
#define PASSES     200  /* before everything stays where it is */

/* ---- Begin ----------------------------------------------------------------------------------- */

bool sinew_guard_begin(sinew_guard *g, const sinew_features *f)
{
    const sinew_allocator *m = &f->allocator;
    const size_t n = (size_t)f->vertex_count;
    g->vertex_count = f->vertex_count;
    if (!sinew_make_room(m, &g->far, &g->far_room, 2 * n, sizeof *g->far) ||
        !sinew_make_room(m, &g->stamp, &g->stamp_room, n, sizeof *g->stamp) ||
        !sinew_make_room(m, &g->fixed, &g->fixed_room, n, sizeof *g->fixed) ||
        !sinew_make_room(m, &g->held, &g->held_room, n, sizeof *g->held) ||
        !sinew_make_room(m, &g->begun, &g->begun_room, 4 * n, sizeof *g->begun) ||
        !sinew_make_room(m, &g->safe, &g->safe_room, 4 * n, sizeof *g->safe) ||
        !sinew_make_room(m, &g->asked, &g->asked_room, 4 * n, sizeof *g->asked) ||
        !sinew_make_room(m, &g->ways, &g->ways_room, 4 * n, sizeof *g->ways) ||
        !sinew_make_room(m, &g->courses, &g->courses_room, (size_t)f->object_count, sizeof *g->courses))
        return false;
    return true;
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

static double along(const sinew_real n[3], const sinew_real *x)
{
    return (double)n[0] * (double)x[0] + (double)n[1] * (double)x[1] + (double)n[2] * (double)x[2];
}

static double floor_of(const sinew_features *f, const sinew_touch_pair *p, const sinew_real *x)
{
    const int32_t second = p->kind == SINEW_PAIR_PLANE ? p->second : f->object[p->v[3]];
    const double offset = f->objects[f->object[p->v[0]]].half + f->objects[second].half;
    const double epsilon = sizeof(sinew_real) == 4 ? FLT_EPSILON : DBL_EPSILON;
    double largest = 0;
    for (int a = 0; a < 4; a++)
        for (size_t c = 0; c < 3; c++)
            largest = fmax(largest, fabs((double)x[4 * (size_t)p->v[a] + c]));
    return fmax(FLOOR_PART * offset, 64 * epsilon * largest);
}

/* A plane's surface is `base`; other pairs have vertices on both sides, cores around which are `base` together. */
static double gap_of(const sinew_guard_pair *p, const double height[4])
{
    double low = height[0];
    for (int a = 1; a < p->first; a++)
        low = height[a] < low ? height[a] : low;
    if (p->first == 4)
        return height[0] - (double)p->base;
    double high = height[p->first];
    for (int a = p->first + 1; a < 4; a++)
        high = height[a] > high ? height[a] : high;
    return low - high - (double)p->base;
}

static void take_pair(const sinew_guard *g, sinew_guard_pair *to, const sinew_features *f, const sinew_touch_pair *p,
                      const sinew_real *x)
{
    double height[4];
    memcpy(to->n, p->n, sizeof to->n);
    memcpy(to->v, p->v, sizeof to->v);
    for (int a = 0; a < 4; a++)
        height[a] = along(p->n, x + 4 * (size_t)p->v[a]);
    if (p->kind == SINEW_PAIR_PLANE) {
        to->first = 4;
        to->base = (sinew_real)(height[0] - (double)p->distance);
    } else {
        to->first = p->kind == SINEW_PAIR_EDGES ? 2 : 1;
        to->base = (sinew_real)(f->objects[f->object[p->v[0]]].core + f->objects[f->object[p->v[3]]].core);
    }
    const double gap = gap_of(to, height);
    to->gap = (sinew_real)gap;
    to->same = p->kind != SINEW_PAIR_PLANE && f->object[p->v[0]] == f->object[p->v[3]];
    to->approach = (sinew_real)(to->same ? near_approach(f, g->ways, p->v, to->first) : 0);
    to->least = p->distance > 0 && gap > 0 ? (sinew_real)fmin(floor_of(f, p, x), gap) : -HUGE_VALF;
}

bool sinew_guard_build(sinew_guard *g, const sinew_features *f, const sinew_real *x, const sinew_touch_pairs *pairs)
{
    for (int32_t v = 0; v < f->vertex_count; v++) {
        const size_t at = 4 * (size_t)v;
        for (size_t c = 0; c < 3; c++)
            g->safe[at + c] = g->asked[at + c] = g->begun[at + c] = x[at + c];
        g->safe[at + 3] = 1;
    }
    sinew_course_begin(g, f);
    g->pair_count = pairs->count;
    if (!sinew_make_spare_room(&f->allocator, &g->pairs, &g->pair_room, (size_t)pairs->count, sizeof *g->pairs) ||
        !sinew_make_spare_room(&f->allocator, &g->near, &g->near_room, (size_t)pairs->count, sizeof *g->near) ||
        !sinew_make_spare_room(&f->allocator, &g->seen, &g->seen_room, (size_t)pairs->count, sizeof *g->seen))
        return false;
    for (int64_t k = 0; k < pairs->count; k++)
        take_pair(g, &g->pairs[k], f, &pairs->list[k], x);
    return true;
}

void sinew_guard_release(sinew_guard *g, const sinew_allocator *allocator)
{
    void *arrays[] = {g->pairs, g->near,  g->seen, g->stamp, g->far,  g->fixed,
                      g->held,  g->begun, g->safe, g->asked, g->ways, g->courses};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        sinew_release(allocator, arrays[k]);
    *g = (sinew_guard){0};
}

/* ---- Limits ---------------------------------------------------------------------------------- */

typedef struct limit_pass {
    sinew_guard *guard;
    const sinew_features *features;
} limit_pass;

/* m2: of the way from where the epoch began. */
static double square_from(const sinew_real *x, const sinew_real *begun)
{
    double square = 0;
    for (size_t c = 0; c < 3; c++) {
        const double d = (double)x[c] - (double)begun[c];
        square += d * d;
    }
    return square;
}

/* tau of a vertex by its ball alone. */
static void start_range(const void *context, int32_t member, int32_t first, int32_t last)
{
    const limit_pass *p = context;
    (void)member;
    for (int32_t v = first; v < last; v++)
        p->guard->safe[4 * (size_t)v + 3] = (sinew_real)sinew_course_tau(p->guard, p->features, v, 1);
}

/* How far a vertex may come from where it is expected, and from where the epoch began. */
static void way_range(const void *context, int32_t member, int32_t first, int32_t last)
{
    const limit_pass *p = context;
    sinew_guard *g = p->guard;
    (void)member;
    for (int32_t v = first; v < last; v++) {
        const size_t at = 4 * (size_t)v;
        g->far[2 * (size_t)v] = (sinew_real)sinew_course_way(g, p->features, v);
        const double now = square_from(g->safe + at, g->begun + at), there = square_from(g->asked + at, g->begun + at);
        g->far[2 * (size_t)v + 1] = (sinew_real)sqrt(now > there ? now : there);
    }
}

/* Whether a pair cannot come too near, however its vertices go: gaps shrink by no more than their ways. The ways on
 * which a body is expected bring two of its own features nearer by no more than they differ. */
static bool stays_apart(const sinew_guard *g, const sinew_guard_pair *p)
{
    const size_t whole = p->same ? 0 : 1;
    double ways[2] = {0, 0};
    for (int a = 0; a < 4; a++) {
        const double far = (double)g->far[2 * (size_t)p->v[a] + whole];
        double *most = &ways[a >= p->first];
        *most = far > *most ? far : *most;
    }
    return (double)p->gap - (double)p->approach - ways[0] - ways[1] > (double)p->least;
}

static void list_near(sinew_guard *g, const sinew_features *f, int32_t threads)
{
    const limit_pass pass = {g, f};
    g->near_count = 0;
    if (g->pair_count == 0)
        return;
    sinew_over_particles(threads, g->vertex_count, way_range, &pass);
    for (int64_t k = 0; k < g->pair_count; k++)
        if (!stays_apart(g, &g->pairs[k]))
            g->near[g->near_count++] = (int32_t)k;
}

/* The corners of a pair where they are and where they would come. */
typedef struct pair_motion {
    sinew_real now[4][4], there[4][4]; /* as detection has points: four numbers each */
} pair_motion;

/* Where vertex v comes with its tau, in the numbers that sinew_guard_place gives. */
static void place_of(const sinew_guard *g, int32_t v, sinew_real x[4])
{
    const sinew_real *from = g->safe + 4 * (size_t)v, *to = g->asked + 4 * (size_t)v;
    const double tau = (double)from[3];
    for (int c = 0; c < 4; c++)
        x[c] = (sinew_real)((double)from[c] + tau * ((double)to[c] - (double)from[c]));
    x[3] = 0;
}

static pair_motion motion_of(const sinew_guard *g, const sinew_guard_pair *p)
{
    pair_motion m;
    for (int a = 0; a < 4; a++) {
        memcpy(m.now[a], g->safe + 4 * (size_t)p->v[a], sizeof m.now[a]);
        m.now[a][3] = 0;
        place_of(g, p->v[a], m.there[a]);
    }
    return m;
}

/* Whether a pair has its least gap along its n where it comes: most have, and nothing else need be known of them. */
static bool comes_apart(const sinew_guard *g, const sinew_guard_pair *p)
{
    double height[4];
    for (int a = 0; a < 4; a++) {
        sinew_real x[4];
        place_of(g, p->v[a], x);
        height[a] = along(p->n, x);
    }
    return gap_of(p, height) >= (double)p->least;
}

static double gap_along(const sinew_guard_pair *p, const sinew_real n[3], sinew_real x[4][4])
{
    const double height[4] = {along(n, x[0]), along(n, x[1]), along(n, x[2]), along(n, x[3])};
    return gap_of(p, height);
}

/* The direction between the closest points of a pair's features at x. */
static void direction_at(const sinew_guard_pair *p, sinew_real x[4][4], sinew_real n[3])
{
    sinew_touch_pair pair = {.v = {0, 1, 2, 3}, .kind = p->first == 2 ? SINEW_PAIR_EDGES : SINEW_PAIR_FACE};
    sinew_pair_closest(&pair, x[0]);
    memcpy(n, pair.n, sizeof pair.n);
}

static bool is_apart(const sinew_guard_pair *p, double now, double there)
{
    return there >= (double)p->least || (now > 0 && there >= now);
}

/* Where a pair's own direction no longer holds it apart, another may: that between the closest points where it is, or
 * where it would come, if the features are apart along it at both ends. Takes it over. */
static bool turn_direction(sinew_guard_pair *p, pair_motion *m)
{
    const double had = gap_along(p, p->n, m->now);
    sinew_real n[3];
    direction_at(p, m->there, n);
    if (gap_along(p, n, m->now) >= (double)p->least && gap_along(p, n, m->there) >= (double)p->least) {
        memcpy(p->n, n, sizeof n);
        return true;
    }
    direction_at(p, m->now, n);
    if (gap_along(p, n, m->now) < had)
        return false;
    memcpy(p->n, n, sizeof n);
    return is_apart(p, gap_along(p, n, m->now), gap_along(p, n, m->there));
}

/* What the ways of a pair's vertices are to be multiplied with. The gap is concave along a common motion, so the part
 * that a straight line from the gap now to the gap there allows is enough, if all four follow. */
static double pair_factor(const sinew_guard *g, sinew_guard_pair *p, bool stop)
{
    if (comes_apart(g, p))
        return 1;
    pair_motion m = motion_of(g, p);
    if (is_apart(p, gap_along(p, p->n, m.now), gap_along(p, p->n, m.there)))
        return 1;
    if (p->first < 4 && turn_direction(p, &m))
        return 1;
    const double gap = gap_along(p, p->n, m.now), end = gap_along(p, p->n, m.there);
    const double room = ROOM_PART * (gap - (double)p->least);
    return stop || !(room > 0) ? 0 : fmin(room / (gap - end), 1);
}

/* Heights along n that both sides of a pair are to keep where they come: what is missing is shared, but for vertices
 * that go their own way (pins, colliders). */
static void wanted_heights(const sinew_guard *g, const sinew_guard_pair *p, const pair_motion *m, double *high,
                           double *low)
{
    double first = HUGE_VAL, second = -HUGE_VAL;
    bool held[2] = {false, p->first == 4};
    for (int a = 0; a < 4; a++) {
        const double h = along(p->n, m->there[a]);
        if (a < p->first)
            first = fmin(first, h);
        else
            second = fmax(second, h);
        held[a >= p->first] = held[a >= p->first] || g->fixed[p->v[a]];
    }
    const double apart = (double)p->least * (1 + CLEAR) + (p->first == 4 ? 0 : (double)p->base);
    second = p->first == 4 ? (double)p->base : second;
    const double missing = apart - (first - second);
    const double part = held[0] == held[1] ? 0.5 : held[0] ? 0 : 1;
    *high = first + part * missing;
    *low = second - (1 - part) * missing;
}

/* Moves what the vertices of a pair ask for so far apart as it needs, along n alone: it may slide, and move together.
 * Returns whether it did not need any. */
static bool part_pair(sinew_guard *g, sinew_guard_pair *p)
{
    if (comes_apart(g, p))
        return true;
    pair_motion m = motion_of(g, p);
    double high, low;
    if (is_apart(p, gap_along(p, p->n, m.now), gap_along(p, p->n, m.there)) || (p->first < 4 && turn_direction(p, &m)))
        return true;
    wanted_heights(g, p, &m, &high, &low);
    for (int a = 0; a < 4; a++) {
        const bool first = a < p->first;
        const double h = along(p->n, m.there[a]), move = first ? fmax(0, high - h) : fmin(0, low - h);
        sinew_real *asked = g->asked + 4 * (size_t)p->v[a];
        const bool again = a > 0 && p->v[a] == p->v[a - 1];
        if (move == 0 || again || g->fixed[p->v[a]] || (p->first == 4 && a > 0))
            continue;
        for (int c = 0; c < 3; c++)
            asked[c] += (sinew_real)(move * (double)p->n[c]);
        g->held[p->v[a]] = 1;
        g->stamp[p->v[a]] = ++g->moves;
    }
    return false;
}

/* The last of the stamps of a pair's vertices. */
static int32_t last_stamp(const sinew_guard *g, const sinew_guard_pair *p)
{
    int32_t last = 0;
    for (int a = 0; a < 4; a++)
        last = g->stamp[p->v[a]] > last ? g->stamp[p->v[a]] : last;
    return last;
}

/* Pair after pair, in their order. One of which nothing has moved since it was looked at is as it was. */
static bool part_pairs(sinew_guard *g)
{
    bool all = true;
    for (int64_t k = 0; k < g->near_count; k++) {
        sinew_guard_pair *p = &g->pairs[g->near[k]];
        if (g->seen[k] == 0 || last_stamp(g, p) > abs(g->seen[k])) {
            const int32_t now = g->moves;
            g->seen[k] = part_pair(g, p) ? now : -now;
        }
        all = all && g->seen[k] > 0;
    }
    return all;
}

/* Moves apart what is asked, at most PARTINGS times; whether anything had to move. */
static bool part(sinew_guard *g)
{
    memset(g->seen, 0, (size_t)g->near_count * sizeof *g->seen);
    memset(g->stamp, 0, (size_t)g->vertex_count * sizeof *g->stamp);
    g->moves = 1;
    int passes = 0;
    while (passes < PARTINGS && !part_pairs(g))
        passes++;
    return passes > 0;
}

/* All factors are those of the ways before this pass: the order of pairs does not matter. Pairs of which the last pass
 * shortened no way need none now either. Returns whether any way became shorter. */
static bool shorten_ways(sinew_guard *g, int pass)
{
    bool any = false;
    for (int32_t v = 0; v < g->vertex_count; v++)
        g->far[2 * (size_t)v] = 1;
    for (int64_t k = 0; k < g->near_count; k++) {
        sinew_guard_pair *p = &g->pairs[g->near[k]];
        if (last_stamp(g, p) < pass)
            continue;
        const sinew_real factor = (sinew_real)pair_factor(g, p, pass >= PATIENT);
        for (int a = 0; factor < 1 && a < 4; a++) {
            sinew_real *least = &g->far[2 * (size_t)p->v[a]];
            *least = factor < *least ? factor : *least;
        }
    }
    for (int32_t v = 0; v < g->vertex_count; v++) {
        sinew_real *tau = &g->safe[4 * (size_t)v + 3];
        if (!(g->far[2 * (size_t)v] < 1 && *tau > 0))
            continue;
        any = true;
        *tau *= g->far[2 * (size_t)v];
        g->stamp[v] = pass + 1;
    }
    return any;
}

/* Vertices of a collider all go as far as the one that may go least. */
static void join_colliders(sinew_guard *g, const sinew_features *f, int pass)
{
    for (int32_t o = 0; o < f->object_count; o++) {
        const sinew_touch_object *object = &f->objects[o];
        sinew_real least = 1;
        for (int32_t v = 0; object->kinematic && v < object->vertex_count; v++) {
            const sinew_real tau = g->safe[4 * (size_t)(object->first_vertex + v) + 3];
            least = tau < least ? tau : least;
        }
        for (int32_t v = object->first_vertex; object->kinematic && v < object->first_vertex + object->vertex_count;
             v++) {
            g->stamp[v] = g->safe[4 * (size_t)v + 3] > least ? pass : g->stamp[v];
            g->safe[4 * (size_t)v + 3] = least;
        }
    }
}

static void stay(sinew_guard *g, const sinew_features *f)
{
    for (int32_t v = 0; v < g->vertex_count; v++)
        g->safe[4 * (size_t)v + 3] = 0;
    for (int32_t o = 0; o < f->object_count; o++)
        g->courses[o].part = 0;
}

/* Whether all vertices and objects go all of their way. */
static bool goes_all(const sinew_guard *g, const sinew_features *f)
{
    for (int32_t o = 0; o < f->object_count; o++)
        if (g->courses[o].part < 1)
            return false;
    for (int32_t v = 0; v < g->vertex_count; v++)
        if (g->safe[4 * (size_t)v + 3] < 1)
            return false;
    return true;
}

/* tau by balls alone, and the pairs that might come too near. */
static void start(sinew_guard *g, const sinew_features *f, int32_t threads)
{
    const limit_pass pass = {g, f};
    sinew_course_choose(g, f);
    sinew_over_particles(threads, g->vertex_count, start_range, &pass);
    join_colliders(g, f, 0);
    g->wide = !goes_all(g, f);
    list_near(g, f, threads);
}

/* After a pass that shortened ways: those of colliders and bodies go together. The first one may bring pairs near that
 * would not be if all went their whole way. */
static void join(sinew_guard *g, const sinew_features *f, int pass, int32_t threads)
{
    join_colliders(g, f, pass);
    sinew_course_join(g, f, pass);
    if (g->wide)
        return;
    g->wide = true;
    list_near(g, f, threads);
    for (int32_t v = 0; v < g->vertex_count; v++)
        g->stamp[v] = pass;
}

int32_t sinew_guard_limit(sinew_guard *g, const sinew_features *f, int32_t threads)
{
    int32_t count = 0;
    start(g, f, threads);
    memset(g->held, 0, (size_t)g->vertex_count);
    /* What was moved apart may have left its ball, and come near others. */
    if (g->near_count > 0 && part(g))
        start(g, f, threads);
    memset(g->stamp, 0, (size_t)g->vertex_count * sizeof *g->stamp);
    for (int k = 0; g->near_count > 0 && shorten_ways(g, k); k++) {
        if (k == PASSES) {
            stay(g, f);
            break;
        }
        join(g, f, k + 1, threads);
    }
    for (int32_t v = 0; v < g->vertex_count; v++)
        count += g->held[v] = g->held[v] || g->safe[4 * (size_t)v + 3] < 1;
    return count;
}

void sinew_guard_settle(sinew_guard *g, const sinew_features *f)
{
    for (int32_t o = 0; o < f->object_count; o++) {
        sinew_course *course = &g->courses[o];
        course->at += course->part * (course->to - course->at);
        course->to = course->at;
    }
}

void sinew_guard_place(const sinew_guard *g, int32_t v, sinew_real x[3])
{
    const sinew_real *safe = g->safe + 4 * (size_t)v, *asked = g->asked + 4 * (size_t)v;
    for (size_t c = 0; c < 3; c++)
        x[c] = safe[3] == 1 ? asked[c]
                            : (sinew_real)((double)safe[c] + (double)safe[3] * ((double)asked[c] - (double)safe[c]));
}
