/* SPDX-License-Identifier: MIT
 *
 * step_filter.c: finds the fraction of its requested displacement that each vertex may take. See step_filter.h.
 */
#include "collide/filter/step_filter.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/reduce.h"
#include "base/stop.h"
#include "collide/filter/trust_region.h"
#include "collide/narrow_phase.h"

/* Parameters of the step filter. All values are chosen, not measured; the filter's guarantee holds for any values
 * (test_step_filter, test_no_crossing). */
#define APPROACH_FRACTION 0.9  /* fraction of a pair's separation above the floor that one truncation may use */
#define FLOOR_FRACTION    1e-2 /* smallest separation of a pair as a fraction of its contact offset */
#define SEPARATION_PASSES 10   /* maximum number of passes that move requested positions apart */
/* Fraction of the floor that separation passes add to a pair's separation, so that they terminate. */
#define SEPARATION_EXTRA 0.1
#define PATIENT_PASSES   8   /* number of passes that reduce the step fraction tau; later passes set tau to 0 */
#define PASSES_MAX       200 /* maximum number of passes that reduce tau; afterwards all vertices stop */
/* The list of watched pairs is built for distances that are larger than the present ones by these fractions, of each
 * and of the largest, and is used at most so many times. The three values change the cost and not the result. */
#define REACH_GROWTH  0.25
#define REACH_LARGEST 0.02
#define REACH_USES    32

/* ---- Memory of the step filter ------------------------------------------------------------------ */

bool sinew_step_filter_begin(sinew_step_filter *g, const sinew_collision_mesh *f)
{
    const sinew_allocator *m = &f->allocator;
    const size_t n = (size_t)f->vertex_count;
    g->vertex_count = f->vertex_count;
    if (!sinew_reserve(m, &g->work, &g->work_capacity, 2 * n, sizeof *g->work) ||
        !sinew_reserve(m, &g->stamp, &g->stamp_capacity, n, sizeof *g->stamp) ||
        !sinew_reserve(m, &g->fixed, &g->fixed_capacity, n, sizeof *g->fixed) ||
        !sinew_reserve(m, &g->truncated, &g->truncated_capacity, n, sizeof *g->truncated) ||
        !sinew_reserve(m, &g->x_pass_start, &g->x_pass_start_capacity, 4 * n, sizeof *g->x_pass_start) ||
        !sinew_reserve(m, &g->x_accepted, &g->x_accepted_capacity, 4 * n, sizeof *g->x_accepted) ||
        !sinew_reserve(m, &g->x_requested, &g->x_requested_capacity, 4 * n, sizeof *g->x_requested) ||
        !sinew_reserve(m, &g->x_end, &g->x_end_capacity, 4 * n, sizeof *g->x_end) ||
        !sinew_reserve(m, &g->reach, &g->reach_capacity, 2 * n, sizeof *g->reach) ||
        !sinew_reserve(m, &g->predicted, &g->predicted_capacity, 4 * n, sizeof *g->predicted) ||
        !sinew_reserve(m, &g->trust_regions, &g->trust_region_capacity, (size_t)f->object_count,
                       sizeof *g->trust_regions) ||
        !sinew_reserve(m, &g->island, &g->island_capacity, (size_t)f->object_count, sizeof *g->island))
        return false;
    for (int32_t o = 0; o < f->object_count; o++)
        g->island[o] = o;
    return true;
}

/* ---- Pairs of the step filter ------------------------------------------------------------------- */

static double height_along(const sinew_real n[3], const sinew_real *x)
{
    return (double)n[0] * (double)x[0] + (double)n[1] * (double)x[1] + (double)n[2] * (double)x[2];
}

static double pair_floor(const sinew_collision_mesh *f, const sinew_candidate *p, const sinew_real *x)
{
    const int32_t second = p->kind == SINEW_CANDIDATE_VERTEX_PLANE ? p->second : f->object[p->v[3]];
    const double offset = f->objects[f->object[p->v[0]]].half_thickness + f->objects[second].half_thickness;
    const double epsilon = sizeof(sinew_real) == 4 ? FLT_EPSILON : DBL_EPSILON;
    double largest = 0;
    for (int a = 0; a < 4; a++)
        for (size_t c = 0; c < 3; c++)
            largest = fmax(largest, fabs((double)x[4 * (size_t)p->v[a] + c]));
    return fmax(FLOOR_FRACTION * offset, 64 * epsilon * largest);
}

/* Separation of a filtered pair in m, from the heights of its vertices along n. `base`: height of a plane; for other
 * pairs the sum of both radii. */
static double pair_separation(const sinew_filter_pair *p, const double height[4])
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

static void filter_take_pair(const sinew_step_filter *g, sinew_filter_pair *to, const sinew_collision_mesh *f,
                             const sinew_candidate *p, const sinew_real *x)
{
    double height[4];
    memcpy(to->n, p->n, sizeof to->n);
    memcpy(to->v, p->v, sizeof to->v);
    for (int a = 0; a < 4; a++)
        height[a] = height_along(p->n, x + 4 * (size_t)p->v[a]);
    if (p->kind == SINEW_CANDIDATE_VERTEX_PLANE) {
        to->first = 4;
        to->base = (sinew_real)(height[0] - (double)p->distance);
    } else {
        to->first = p->kind == SINEW_CANDIDATE_EDGE_EDGE ? 2 : 1;
        to->base = (sinew_real)(f->objects[f->object[p->v[0]]].radius + f->objects[f->object[p->v[3]]].radius);
    }
    const double separation = pair_separation(to, height);
    to->separation = (sinew_real)separation;
    to->joint =
        p->kind != SINEW_CANDIDATE_VERTEX_PLANE && g->island[f->object[p->v[0]]] == g->island[f->object[p->v[3]]];
    to->approach = (sinew_real)(to->joint ? narrow_approach(g->predicted, p->v, to->first) : 0);
    to->min = p->distance > 0 && separation > 0 ? (sinew_real)fmin(pair_floor(f, p, x), separation) : -HUGE_VALF;
}

bool sinew_step_filter_build(sinew_step_filter *g, const sinew_collision_mesh *f, const sinew_real *x,
                             const sinew_candidates *pairs)
{
    for (int32_t v = 0; v < f->vertex_count; v++) {
        const size_t at = 4 * (size_t)v;
        for (size_t c = 0; c < 3; c++)
            g->x_accepted[at + c] = g->x_requested[at + c] = g->x_pass_start[at + c] = x[at + c];
        g->x_accepted[at + 3] = 1;
    }
    sinew_trust_region_begin(g, f);
    g->pair_count = pairs->count;
    g->watched_uses = 0;
    if (!sinew_reserve_spare(&f->allocator, &g->pairs, &g->pair_capacity, (size_t)pairs->count, sizeof *g->pairs) ||
        !sinew_reserve_spare(&f->allocator, &g->near_pairs, &g->near_pair_capacity, (size_t)pairs->count,
                             sizeof *g->near_pairs) ||
        !sinew_reserve_spare(&f->allocator, &g->watched_pairs, &g->watched_capacity, (size_t)pairs->count,
                             sizeof *g->watched_pairs) ||
        !sinew_reserve_spare(&f->allocator, &g->seen, &g->seen_capacity, (size_t)pairs->count, sizeof *g->seen))
        return false;
    for (int64_t k = 0; k < pairs->count && !sinew_stop_came_in(k); k++)
        filter_take_pair(g, &g->pairs[k], f, &pairs->list[k], x);
    return !sinew_stop_came();
}

void sinew_step_filter_release(sinew_step_filter *g, const sinew_allocator *allocator)
{
    void *arrays[] = {g->pairs,       g->near_pairs, g->watched_pairs, g->reach,     g->x_end,        g->seen,
                      g->stamp,       g->work,       g->fixed,         g->truncated, g->x_pass_start, g->x_accepted,
                      g->x_requested, g->predicted,  g->trust_regions, g->island};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        sinew_release(allocator, arrays[k]);
    *g = (sinew_step_filter){0};
}

/* ---- Limits of the step fraction tau ------------------------------------------------------------ */

typedef struct limit_pass {
    sinew_step_filter *filter;
    const sinew_collision_mesh *mesh;
} limit_pass;

/* Squared distance in m^2 of a vertex from its position at the start of the detection pass. */
static double squared_displacement(const sinew_real *x, const sinew_real *x_start)
{
    double square = 0;
    for (size_t c = 0; c < 3; c++) {
        const double d = (double)x[c] - (double)x_start[c];
        square += d * d;
    }
    return square;
}

/* Initial step fraction tau of each vertex, from its trust region alone. */
static void filter_start_range(const void *context, int32_t member, int32_t first, int32_t last)
{
    const limit_pass *p = context;
    (void)member;
    for (int32_t v = first; v < last; v++)
        p->filter->x_accepted[4 * (size_t)v + 3] = (sinew_real)sinew_trust_region_tau(p->filter, p->mesh, v, 1);
}

/* Writes bounds of two distances of each vertex to work [vertex_count][2]: from its predicted path, and from its
 * position at the start of the detection pass. */
static void filter_deviation_range(const void *context, int32_t member, int32_t first, int32_t last)
{
    const limit_pass *p = context;
    sinew_step_filter *g = p->filter;
    (void)member;
    for (int32_t v = first; v < last; v++) {
        const size_t at = 4 * (size_t)v;
        g->work[2 * (size_t)v] = (sinew_real)sinew_trust_region_deviation(g, p->mesh, v);
        const double now = squared_displacement(g->x_accepted + at, g->x_pass_start + at),
                     there = squared_displacement(g->x_requested + at, g->x_pass_start + at);
        g->work[2 * (size_t)v + 1] = (sinew_real)sqrt(now > there ? now : there);
    }
}

/* True if a filtered pair cannot come too near for any tau: the separation shrinks by at most the displacements of both
 * features. Within one island only differences of predicted displacements count, which p->approach bounds. `bounds`:
 * two distances of each vertex, as in `work`. */
static bool pair_stays_separated(const sinew_filter_pair *p, const sinew_real *bounds)
{
    const size_t whole = p->joint ? 0 : 1;
    double predicted[2] = {0, 0};
    for (int a = 0; a < 4; a++) {
        const double far = (double)bounds[2 * (size_t)p->v[a] + whole];
        double *max = &predicted[a >= p->first];
        *max = far > *max ? far : *max;
    }
    return (double)p->separation - (double)p->approach - predicted[0] - predicted[1] > (double)p->min;
}

/* True if the list of watched pairs has every pair that may come too near: no vertex goes beyond its reach. */
static bool filter_watches_enough(const sinew_step_filter *g)
{
    if (g->watched_uses == 0 || g->watched_uses >= REACH_USES)
        return false;
    for (size_t k = 0; k < 2 * (size_t)g->vertex_count; k++)
        if (!(g->work[k] <= g->reach[k]))
            return false;
    return true;
}

/* Lists the pairs that may come too near while each vertex stays within its reach. Solvers change displacements by
 * little from one iteration to the next, so most iterations test these pairs alone. */
static void filter_watch_pairs(sinew_step_filter *g)
{
    const size_t count = 2 * (size_t)g->vertex_count;
    double max = 0;
    for (size_t k = 0; k < count; k++)
        max = fmax(max, (double)g->work[k]);
    for (size_t k = 0; k < count; k++)
        g->reach[k] = (sinew_real)((1 + REACH_GROWTH) * (double)g->work[k] + REACH_LARGEST * max);
    g->watched_uses = 0;
    g->watched_count = 0;
    for (int64_t k = 0; k < g->pair_count && !sinew_stop_came_in(k); k++)
        if (!pair_stays_separated(&g->pairs[k], g->reach))
            g->watched_pairs[g->watched_count++] = (int32_t)k;
}

static void filter_list_near_pairs(sinew_step_filter *g, const sinew_collision_mesh *f, int32_t threads)
{
    const limit_pass pass = {g, f};
    g->near_count = 0;
    if (g->pair_count == 0)
        return;
    sinew_over_particles(threads, g->vertex_count, filter_deviation_range, &pass);
    if (!filter_watches_enough(g))
        filter_watch_pairs(g);
    g->watched_uses = sinew_stop_came() ? 0 : g->watched_uses + 1;
    for (int64_t k = 0; k < g->watched_count && !sinew_stop_came_in(k); k++)
        if (!pair_stays_separated(&g->pairs[g->watched_pairs[k]], g->work))
            g->near_pairs[g->near_count++] = g->watched_pairs[k];
}

/* Corners of a filtered pair at the start and at the end of the motion. */
typedef struct pair_motion {
    /* [corner of the pair][coordinate] positions at the start (now) and at the end (there) of the motion, in m */
    sinew_real now[4][4], there[4][4];
} pair_motion;

/* Computes x_end of vertex v. It differs from sinew_step_filter_position() by round-off only, far below the floor of a
 * pair. */
static void filter_set_end(sinew_step_filter *g, int32_t v)
{
    const sinew_real *from = g->x_accepted + 4 * (size_t)v, *to = g->x_requested + 4 * (size_t)v;
    sinew_real *x = g->x_end + 4 * (size_t)v;
    const double tau = (double)from[3];
    for (int c = 0; c < 3; c++)
        x[c] = (sinew_real)((double)from[c] + tau * ((double)to[c] - (double)from[c]));
    x[3] = 0;
}

static void filter_set_ends(sinew_step_filter *g)
{
    for (int32_t v = 0; v < g->vertex_count; v++)
        filter_set_end(g, v);
}

static pair_motion pair_motion_of(const sinew_step_filter *g, const sinew_filter_pair *p)
{
    pair_motion m;
    for (int a = 0; a < 4; a++) {
        memcpy(m.now[a], g->x_accepted + 4 * (size_t)p->v[a], sizeof m.now[a]);
        m.now[a][3] = 0;
        memcpy(m.there[a], g->x_end + 4 * (size_t)p->v[a], sizeof m.there[a]);
    }
    return m;
}

/* True if a filtered pair is separated along its direction n at the end of the motion. This test is cheap, and most
 * pairs pass it. */
static bool pair_ends_separated(const sinew_step_filter *g, const sinew_filter_pair *p)
{
    double height[4];
    for (int a = 0; a < 4; a++)
        height[a] = height_along(p->n, g->x_end + 4 * (size_t)p->v[a]);
    return pair_separation(p, height) >= (double)p->min;
}

static double pair_separation_along(const sinew_filter_pair *p, const sinew_real n[3], sinew_real x[4][4])
{
    const double height[4] = {height_along(n, x[0]), height_along(n, x[1]), height_along(n, x[2]),
                              height_along(n, x[3])};
    return pair_separation(p, height);
}

/* Computes the unit direction n between the closest points of a pair's features at positions x. */
static void pair_direction_at(const sinew_filter_pair *p, sinew_real x[4][4], sinew_real n[3])
{
    sinew_candidate pair = {.v = {0, 1, 2, 3},
                            .kind = p->first == 2 ? SINEW_CANDIDATE_EDGE_EDGE : SINEW_CANDIDATE_VERTEX_FACE};
    sinew_candidate_closest(&pair, x[0]);
    memcpy(n, pair.n, sizeof pair.n);
}

static bool pair_is_separated(const sinew_filter_pair *p, double now, double there)
{
    return there >= (double)p->min || (now > 0 && there >= now);
}

/* Tries the direction of the closest points at the end of the motion, then at the start. Returns true if the pair is
 * separated along the new n. The direction at the start replaces n whenever it does not reduce the separation at the
 * start. */
static bool pair_turn_direction(sinew_filter_pair *p, pair_motion *m)
{
    const double had = pair_separation_along(p, p->n, m->now);
    sinew_real n[3];
    pair_direction_at(p, m->there, n);
    if (pair_separation_along(p, n, m->now) >= (double)p->min &&
        pair_separation_along(p, n, m->there) >= (double)p->min) {
        memcpy(p->n, n, sizeof n);
        return true;
    }
    pair_direction_at(p, m->now, n);
    if (pair_separation_along(p, n, m->now) < had)
        return false;
    memcpy(p->n, n, sizeof n);
    return pair_is_separated(p, pair_separation_along(p, n, m->now), pair_separation_along(p, n, m->there));
}

/* Computes the factor 0 .. 1 on the step fraction tau of a pair's vertices; with `stop`, 0 or 1. The separation is
 * concave along a common motion, so linear interpolation between both ends gives an admissible factor if all four
 * vertices use it. */
static double pair_factor(const sinew_step_filter *g, sinew_filter_pair *p, bool stop)
{
    if (pair_ends_separated(g, p))
        return 1;
    pair_motion m = pair_motion_of(g, p);
    if (pair_is_separated(p, pair_separation_along(p, p->n, m.now), pair_separation_along(p, p->n, m.there)))
        return 1;
    if (p->first < 4 && pair_turn_direction(p, &m))
        return 1;
    const double separation = pair_separation_along(p, p->n, m.now), end = pair_separation_along(p, p->n, m.there);
    const double free_separation = APPROACH_FRACTION * (separation - (double)p->min);
    return stop || !(free_separation > 0) ? 0 : fmin(free_separation / (separation - end), 1);
}

/* Computes the heights along n that both features of a pair must reach at the end of the motion. Each feature takes
 * half of the missing separation; if one feature is prescribed (pins, colliders), the other takes all of it. */
static void pair_wanted_heights(const sinew_step_filter *g, const sinew_filter_pair *p, const pair_motion *m,
                                double *high, double *low)
{
    double first = HUGE_VAL, second = -HUGE_VAL;
    bool prescribed[2] = {false, p->first == 4};
    for (int a = 0; a < 4; a++) {
        const double h = height_along(p->n, m->there[a]);
        if (a < p->first)
            first = fmin(first, h);
        else
            second = fmax(second, h);
        prescribed[a >= p->first] = prescribed[a >= p->first] || g->fixed[p->v[a]];
    }
    const double apart = (double)p->min * (1 + SEPARATION_EXTRA) + (p->first == 4 ? 0 : (double)p->base);
    second = p->first == 4 ? (double)p->base : second;
    const double missing = apart - (first - second);
    const double share = prescribed[0] == prescribed[1] ? 0.5 : prescribed[0] ? 0 : 1;
    *high = first + share * missing;
    *low = second - (1 - share) * missing;
}

/* Moves the requested position of a vertex by `move` m along n. */
static void filter_move_requested(sinew_step_filter *g, int32_t v, double move, const sinew_real n[3])
{
    for (size_t c = 0; c < 3; c++)
        g->x_requested[4 * (size_t)v + c] += (sinew_real)(move * (double)n[c]);
    filter_set_end(g, v);
    g->truncated[v] = 1;
    g->stamp[v] = g->moves;
}

/* Translates the requested positions of a rigid body. */
static void filter_move_body(sinew_step_filter *g, const sinew_collision_object *o, double move, const sinew_real n[3])
{
    g->moves++;
    for (int32_t v = o->first_vertex; v < o->first_vertex + o->vertex_count; v++)
        filter_move_requested(g, v, move, n);
}

/* Moves the vertices of one feature of a pair to the height `wanted` along n: up, or down if `sign` is -1. A rigid body
 * moves as a whole, by the largest of these distances. */
static void pair_move_feature(sinew_step_filter *g, const sinew_collision_mesh *f, const sinew_filter_pair *p,
                              const pair_motion *m, double wanted, int sign)
{
    const int first = sign > 0 ? 0 : p->first, last = sign > 0 ? (p->first == 4 ? 1 : p->first) : 4;
    double max = 0;
    for (int a = first; a < last; a++) {
        const double move = fmax(0, sign * (wanted - height_along(p->n, m->there[a])));
        const bool rigid = f->objects[f->object[p->v[a]]].rigid, again = a > 0 && p->v[a] == p->v[a - 1];
        max = rigid ? fmax(max, move) : 0;
        if (move == 0 || again || rigid || g->fixed[p->v[a]])
            continue;
        g->moves++;
        filter_move_requested(g, p->v[a], sign * move, p->n);
    }
    if (max > 0 && !g->fixed[p->v[first]])
        filter_move_body(g, &f->objects[f->object[p->v[first]]], sign * max, p->n);
}

/* Moves the requested positions of a pair apart along n; the pair may still slide and move together. Returns true if
 * the pair was already separated. */
static bool pair_separate(sinew_step_filter *g, const sinew_collision_mesh *f, sinew_filter_pair *p)
{
    if (pair_ends_separated(g, p))
        return true;
    pair_motion m = pair_motion_of(g, p);
    double high, low;
    if (pair_is_separated(p, pair_separation_along(p, p->n, m.now), pair_separation_along(p, p->n, m.there)) ||
        (p->first < 4 && pair_turn_direction(p, &m)))
        return true;
    pair_wanted_heights(g, p, &m, &high, &low);
    pair_move_feature(g, f, p, &m, high, 1);
    if (p->first < 4)
        pair_move_feature(g, f, p, &m, low, -1);
    return false;
}

/* Number of the latest correction of x_requested at any of the pair's vertices. */
static int32_t pair_last_stamp(const sinew_step_filter *g, const sinew_filter_pair *p)
{
    int32_t last = 0;
    for (int a = 0; a < 4; a++)
        last = g->stamp[p->v[a]] > last ? g->stamp[p->v[a]] : last;
    return last;
}

/* Separates the requested positions of near pairs in list order; skips pairs whose vertices have not moved since the
 * last test. Returns true if all pairs were separated. */
static bool filter_separate_pairs(sinew_step_filter *g, const sinew_collision_mesh *f)
{
    bool all = true;
    for (int64_t k = 0; k < g->near_count && !sinew_stop_came_in(k); k++) {
        sinew_filter_pair *p = &g->pairs[g->near_pairs[k]];
        if (g->seen[k] == 0 || pair_last_stamp(g, p) > abs(g->seen[k])) {
            const int32_t now = g->moves;
            g->seen[k] = pair_separate(g, f, p) ? now : -now;
        }
        all = all && g->seen[k] > 0;
    }
    return all;
}

/* Separates requested positions in at most SEPARATION_PASSES passes; returns true if any position moved. */
static bool filter_separate(sinew_step_filter *g, const sinew_collision_mesh *f)
{
    memset(g->seen, 0, (size_t)g->near_count * sizeof *g->seen);
    memset(g->stamp, 0, (size_t)g->vertex_count * sizeof *g->stamp);
    g->moves = 1;
    filter_set_ends(g);
    int passes = 0;
    while (passes < SEPARATION_PASSES && !sinew_stop_came() && !filter_separate_pairs(g, f))
        passes++;
    return passes > 0;
}

/* Reduces the step fraction tau of the vertices of pairs that are too near. All factors refer to tau before the
 * pass, so the order of pairs does not matter. Skips pairs whose vertices kept their tau in the previous pass.
 * Returns true if any tau was reduced. */
static bool filter_truncate_pass(sinew_step_filter *g, int pass)
{
    bool any = false;
    for (int32_t v = 0; v < g->vertex_count; v++)
        g->work[2 * (size_t)v] = 1;
    filter_set_ends(g);
    for (int64_t k = 0; k < g->near_count && !sinew_stop_came_in(k); k++) {
        sinew_filter_pair *p = &g->pairs[g->near_pairs[k]];
        if (pair_last_stamp(g, p) < pass)
            continue;
        const sinew_real factor = (sinew_real)pair_factor(g, p, pass >= PATIENT_PASSES);
        for (int a = 0; factor < 1 && a < 4; a++) {
            sinew_real *min = &g->work[2 * (size_t)p->v[a]];
            *min = factor < *min ? factor : *min;
        }
    }
    for (int32_t v = 0; v < g->vertex_count; v++) {
        sinew_real *tau = &g->x_accepted[4 * (size_t)v + 3];
        if (!(g->work[2 * (size_t)v] < 1 && *tau > 0))
            continue;
        any = true;
        *tau *= g->work[2 * (size_t)v];
        g->stamp[v] = pass + 1;
    }
    return any;
}

/* Gives all vertices of a collider or of a rigid body the smallest step fraction tau among its vertices. */
static void filter_join_objects(sinew_step_filter *g, const sinew_collision_mesh *f, int pass)
{
    for (int32_t o = 0; o < f->object_count; o++) {
        const sinew_collision_object *object = &f->objects[o];
        const bool whole = object->kinematic || object->rigid;
        sinew_real min = 1;
        for (int32_t v = 0; whole && v < object->vertex_count; v++) {
            const sinew_real tau = g->x_accepted[4 * (size_t)(object->first_vertex + v) + 3];
            min = tau < min ? tau : min;
        }
        for (int32_t v = object->first_vertex; whole && v < object->first_vertex + object->vertex_count; v++) {
            g->stamp[v] = g->x_accepted[4 * (size_t)v + 3] > min ? pass : g->stamp[v];
            g->x_accepted[4 * (size_t)v + 3] = min;
        }
        if (object->rigid)
            g->trust_regions[o].fraction = (double)min;
    }
}

static void filter_stop_all(sinew_step_filter *g, const sinew_collision_mesh *f)
{
    for (int32_t v = 0; v < g->vertex_count; v++)
        g->x_accepted[4 * (size_t)v + 3] = 0;
    for (int32_t o = 0; o < f->object_count; o++)
        g->trust_regions[o].fraction = 0;
}

/* True if no vertex and no object is truncated: all take their full step. */
static bool filter_is_full_step(const sinew_step_filter *g, const sinew_collision_mesh *f)
{
    for (int32_t o = 0; o < f->object_count; o++)
        if (g->trust_regions[o].fraction < 1)
            return false;
    for (int32_t v = 0; v < g->vertex_count; v++)
        if (g->x_accepted[4 * (size_t)v + 3] < 1)
            return false;
    return true;
}

/* Sets the step fraction tau of all vertices from the trust regions alone, and lists the pairs that might come too
 * near. */
static void filter_start(sinew_step_filter *g, const sinew_collision_mesh *f, int32_t threads)
{
    const limit_pass pass = {g, f};
    sinew_trust_region_choose(g, f);
    sinew_over_particles(threads, g->vertex_count, filter_start_range, &pass);
    filter_join_objects(g, f, 0);
    g->partial = !filter_is_full_step(g, f);
    filter_list_near_pairs(g, f, threads);
}

/* Restores the shared tau of each collider and rigid body, and the shared sigma of each object, after a pass that
 * reduced tau. The first reduction may bring pairs near that the full step keeps apart, so the near pairs are listed
 * again. */
static void filter_join(sinew_step_filter *g, const sinew_collision_mesh *f, int pass, int32_t threads)
{
    filter_join_objects(g, f, pass);
    sinew_trust_region_restrict(g, f, pass);
    if (g->partial)
        return;
    g->partial = true;
    filter_list_near_pairs(g, f, threads);
    for (int32_t v = 0; v < g->vertex_count; v++)
        g->stamp[v] = pass;
}

int32_t sinew_step_filter_limit(sinew_step_filter *g, const sinew_collision_mesh *f, int32_t threads)
{
    int32_t count = 0;
    filter_start(g, f, threads);
    memset(g->truncated, 0, (size_t)g->vertex_count);
    /* Separated positions may lie outside their trust regions or too near other features, so tau is computed again. */
    if (g->near_count > 0 && filter_separate(g, f))
        filter_start(g, f, threads);
    memset(g->stamp, 0, (size_t)g->vertex_count * sizeof *g->stamp);
    for (int k = 0; g->near_count > 0 && !sinew_stop_came() && filter_truncate_pass(g, k); k++) {
        if (k == PASSES_MAX) {
            filter_stop_all(g, f);
            break;
        }
        filter_join(g, f, k + 1, threads);
    }
    for (int32_t v = 0; v < g->vertex_count; v++)
        count += g->truncated[v] = g->truncated[v] || g->x_accepted[4 * (size_t)v + 3] < 1;
    return count;
}

void sinew_step_filter_commit(sinew_step_filter *g, const sinew_collision_mesh *f)
{
    for (int32_t o = 0; o < f->object_count; o++) {
        sinew_trust_region *region = &g->trust_regions[o];
        region->progress += region->fraction * (region->target - region->progress);
        region->target = region->progress;
    }
}

void sinew_step_filter_position(const sinew_step_filter *g, int32_t v, sinew_real x[3])
{
    const sinew_real *accepted = g->x_accepted + 4 * (size_t)v, *requested = g->x_requested + 4 * (size_t)v;
    for (size_t c = 0; c < 3; c++)
        x[c] = accepted[3] == 1 ? requested[c]
                                : (sinew_real)((double)accepted[c] +
                                               (double)accepted[3] * ((double)requested[c] - (double)accepted[c]));
}
