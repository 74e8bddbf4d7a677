/* SPDX-License-Identifier: MIT
 *
 * test_guard.c: what detection does not list cannot come near, and what it lists does not meet, whatever is asked for.
 *
 * Bodies that nobody chose (detect_cases.h) fall, spin, shrink and crumple, alone or against others and colliders.
 * Their vertices ask for their ways, for parts of them, for nothing, or for anything. After each motion, and within it,
 * a loop over all pairs of features measures distances by a referee of its own.
 */
#include <math.h>
#include <stdio.h>

#include "collide/filter/trust_region.h"
#include "detect_cases.h"

enum {
    MOTIONS = 5,
    MOMENTS = 3 /* within a motion, its end included */
};

#ifdef SINEW_SINGLE
#define ROUND_OFF 1e-5
#else
#define ROUND_OFF 1e-12
#endif

typedef struct guard_case {
    detect_case *c;
    double margin; /* m: what is left of a feature's reach without its ball */
    sinew_detector *detector;
    sinew_touch_pairs pairs;
    sinew_guard guard;
} guard_case;

/* ---- Making ----------------------------------------------------------------------------------- */

static double way_at(const guard_case *g, int32_t v)
{
    const sinew_real *way = g->guard.ways + 4 * v;
    return hypot(hypot((double)way[0], (double)way[1]), (double)way[2]);
}

/* Ways as the case has them, one for all vertices of a collider, and balls that are smaller than most ways. */
static void set_ways(random_cases *r, guard_case *g)
{
    detect_case *c = g->c;
    const double most = c->size * random_magnitude(r, 1e-3, 0.3);
    for (int32_t v = 0; v < c->features.vertex_count; v++) {
        const sinew_touch_object *object = &c->features.objects[c->features.object[v]];
        const int32_t own = object->kinematic ? object->first_vertex : v;
        memcpy(g->guard.ways + 4 * v, c->known_ways + 4 * own, 3 * sizeof *c->ways);
        const double ball = random_between(r, 0, most);
        g->guard.ways[4 * v + 3] = (sinew_real)(object->kinematic ? fmax(most, way_at(g, v)) : ball);
        c->reach[v] = (sinew_real)(g->margin + (double)g->guard.ways[4 * v + 3]);
    }
    c->ways = g->guard.ways;
}

static void begin_case(guard_case *g)
{
    sinew_error error;
    const sinew_detect_places places = {g->c->x, g->c->reach, g->guard.ways};
    assert_int_equal(sinew_detect(g->detector, &places, 0, &g->pairs, &error), SINEW_OK);
    assert_true(sinew_guard_build(&g->guard, &g->c->features, g->c->x, &g->pairs));
    for (int32_t v = 0; v < g->c->features.vertex_count; v++)
        g->guard.fixed[v] = g->c->features.objects[g->c->features.object[v]].kinematic;
}

static guard_case make_case(random_cases *r)
{
    guard_case g = {.c = detect_case_make(r)};
    g.margin = g.c->size * random_magnitude(r, 1e-4, 1e-1);
    for (int32_t o = 0; o < g.c->features.object_count; o++)
        g.c->features.objects[o].half = g.margin / 1.5;
    g.detector = case_detector(g.c, 1);
    assert_true(sinew_guard_begin(&g.guard, &g.c->features));
    set_ways(r, &g);
    begin_case(&g);
    return g;
}

static void release_case(guard_case *g)
{
    sinew_guard_release(&g->guard, &g->c->features.allocator);
    sinew_touch_pairs_release(&g->pairs, &g->c->features.allocator);
    sinew_detector_destroy(g->detector);
    detect_case_release(g->c);
}

/* ---- Motions ---------------------------------------------------------------------------------- */

/* The motion that an object asks for: a part of its ways, on which vertices waver, or stand, or are somewhere else. */
static void ask_object(random_cases *r, guard_case *g, const sinew_touch_object *object)
{
    const double part = random_between(r, -0.2, 1.3), waver = random_index(r, 2) ? random_between(r, 0, 0.3) : 0;
    const double standing = random_index(r, 2) ? 0.1 : 0, wild = random_index(r, 2) ? 0.1 : 0;
    for (int32_t v = object->first_vertex; v < object->first_vertex + object->vertex_count; v++) {
        const double chance = object->kinematic ? 1 : random_between(r, 0, 1);
        const double own = chance < standing ? 0 : part;
        for (int k = 0; k < 3; k++) {
            const size_t at = 4 * (size_t)v + (size_t)k;
            const double off = object->kinematic   ? 0
                               : chance > 1 - wild ? g->c->size * random_between(r, -1, 1)
                                                   : waver * way_at(g, v) * random_between(r, -1, 1);
            g->guard.asked[at] = (sinew_real)((double)g->guard.begun[at] + own * (double)g->guard.ways[at] + off);
        }
    }
}

/* Moves as worlds do; x [MOMENTS][vertex_count][4]: where vertices are on their straight ways. */
static void move(guard_case *g, sinew_real *x)
{
    const sinew_features *f = &g->c->features;
    const size_t size = 4 * (size_t)f->vertex_count;
    sinew_guard_limit(&g->guard, f, 1);
    for (int32_t v = 0; v < f->vertex_count; v++) {
        sinew_real there[3];
        sinew_guard_place(&g->guard, v, there);
        for (int m = 0; m < MOMENTS; m++)
            for (int k = 0; k < 3; k++) {
                const double from = (double)g->guard.safe[4 * v + k], t = (m + 1.0) / MOMENTS;
                x[(size_t)m * size + 4 * (size_t)v + (size_t)k] =
                    m + 1 == MOMENTS ? there[k] : (sinew_real)(from + t * ((double)there[k] - from));
            }
        memcpy(g->guard.safe + 4 * v, there, sizeof there);
    }
    sinew_guard_settle(&g->guard, f);
}

/* ---- Referees --------------------------------------------------------------------------------- */

/* (1) of trust_region.h. */
static void check_balls(const guard_case *g)
{
    const sinew_features *f = &g->c->features;
    for (int32_t v = 0; v < f->vertex_count; v++) {
        const double lambda = g->guard.courses[f->object[v]].at;
        double off = 0;
        assert_true(lambda >= 0 && lambda <= 1);
        for (int k = 0; k < 3; k++)
            off += pow((double)g->guard.safe[4 * v + k] - (double)g->guard.begun[4 * v + k] -
                           lambda * (double)g->guard.ways[4 * v + k],
                       2);
        assert_true(sqrt(off) <= (double)g->guard.ways[4 * v + 3] + ROUND_OFF * g->c->size);
    }
}

static const sinew_touch_pair *listed_pair(const guard_case *g, const sinew_touch_pair *wanted)
{
    int64_t low = 0, high = g->pairs.count;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        const sinew_touch_pair *p = &g->pairs.list[middle];
        int before = p->kind != wanted->kind ? (p->kind < wanted->kind ? 1 : -1) : 0;
        for (int a = 0; a < 4 && before == 0; a++)
            before = p->v[a] != wanted->v[a] ? (p->v[a] < wanted->v[a] ? 1 : -1) : 0;
        if (before == 0 && p->second == wanted->second)
            return p;
        if (before > 0 || (before == 0 && p->second < wanted->second))
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Whether the boxes of both features are apart by more than `far` along an axis: then the distance is larger. */
static bool is_far(const int32_t v[4], int firsts, const sinew_real *x, double far)
{
    for (int k = 0; k < 3; k++) {
        double low[2] = {HUGE_VAL, HUGE_VAL}, high[2] = {-HUGE_VAL, -HUGE_VAL};
        for (int a = 0; a < 4; a++) {
            low[a >= firsts] = fmin(low[a >= firsts], (double)x[4 * v[a] + k]);
            high[a >= firsts] = fmax(high[a >= firsts], (double)x[4 * v[a] + k]);
        }
        if (fmax(low[0] - high[1], low[1] - high[0]) > far)
            return true;
    }
    return false;
}

/* A pair that is not listed keeps the margins of both; one that began apart does not meet. */
static void check_pair(const guard_case *g, const sinew_touch_pair *pair, const sinew_real *x)
{
    const sinew_features *f = &g->c->features;
    const int32_t *v = pair->v, a = f->object[v[0]], b = f->object[v[3]];
    const int firsts = pair->kind == SINEW_PAIR_EDGES ? 2 : 1;
    for (int i = 0; i < firsts; i++)
        for (int j = firsts; j < 4; j++)
            if (v[i] == v[j])
                return;
    if (!sinew_may_touch(f, a, b) || (f->objects[a].kinematic && f->objects[b].kinematic))
        return;
    const double cores = f->objects[a].core + f->objects[b].core, slack = ROUND_OFF * g->c->size;
    if (is_far(v, firsts, x, 2 * g->margin + cores))
        return;
    const sinew_touch_pair *listed = listed_pair(g, pair);
    const double distance = (double)referee_distance(v, pair->kind, x) - cores;
    if (!listed && !(distance >= 2 * g->margin - slack))
        fail_msg("a pair that is not listed came as near as %g, margins are %g", distance, 2 * g->margin);
    if (listed && (double)listed->distance > slack)
        assert_true(distance > -slack);
}

static void check_all(const guard_case *g, const sinew_real *x)
{
    const sinew_features *f = &g->c->features;
    for (int32_t i = 0; i < f->cell_count; i++) {
        const int32_t *t = f->cells[i];
        for (int32_t v = 0; v < f->vertex_count && t[1] != t[2]; v++)
            if (f->first_neighbour[v] < f->first_neighbour[v + 1])
                check_pair(g, &(sinew_touch_pair){.v = {v, t[0], t[1], t[2]}, .first = v, .second = i}, x);
    }
    for (int32_t i = 0; i < f->edge_count; i++)
        for (int32_t j = i + 1; j < f->edge_count; j++) {
            const int32_t *a = f->edges[i], *b = f->edges[j];
            const sinew_touch_pair pair = {
                .kind = SINEW_PAIR_EDGES, .v = {a[0], a[1], b[0], b[1]}, .first = i, .second = j};
            check_pair(g, &pair, x);
        }
}

/* ---- Tests ------------------------------------------------------------------------------------ */

static void test_nothing_is_missed(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("motions", 30, 1000);
    for (int32_t n = 0; n < r.count; n++) {
        guard_case g = make_case(&r);
        const sinew_features *f = &g.c->features;
        sinew_real *x = calloc(MOMENTS * 4 * (size_t)f->vertex_count + 4, sizeof *x);
        assert_non_null(x);
        for (int i = 0; i < MOTIONS; i++) {
            for (int32_t o = 0; o < f->object_count; o++)
                ask_object(&r, &g, &f->objects[o]);
            move(&g, x);
            check_balls(&g);
            for (int m = 0; m < MOMENTS; m++)
                check_all(&g, x + (size_t)m * 4 * (size_t)f->vertex_count);
        }
        free(x);
        release_case(&g);
    }
}

/* How many pairs the first body has with itself; the least distance of one. */
static int64_t own_pairs(const guard_case *g, double *least)
{
    int64_t count = 0;
    *least = HUGE_VAL;
    for (int64_t i = 0; i < g->pairs.count; i++)
        if (g->c->features.object[g->pairs.list[i].v[0]] == 0) {
            count++;
            *least = fmin(*least, (double)g->pairs.list[i].distance);
        }
    return count;
}

/* The first body touches none but itself, and is to fall as far as the case is large; its balls are small. */
static void let_fall(guard_case *g)
{
    const sinew_features *f = &g->c->features;
    for (int32_t o = 0; o < f->object_count; o++)
        f->touches[o] = f->touches[o * f->object_count] = o == 0;
    for (int32_t v = 0; v < f->objects[0].vertex_count; v++) {
        const sinew_real way[4] = {0, (sinew_real)-g->c->size, 0, (sinew_real)g->margin};
        memcpy(g->guard.ways + 4 * v, way, sizeof way);
        g->c->reach[v] = (sinew_real)(2 * g->margin);
    }
    begin_case(g);
    for (int32_t v = 0; v < f->objects[0].vertex_count; v++)
        g->guard.asked[4 * v + 1] += g->guard.ways[4 * v + 1];
}

/* A body that falls has the pairs of one that rests, and gets what it asks for, though its balls are small. */
static void test_falls_free(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("free falls", 40, 1000);
    for (int32_t n = 0; n < r.count; n++) {
        guard_case g = make_case(&r);
        const sinew_features *f = &g.c->features;
        double least;
        let_fall(&g);
        const int64_t falling = own_pairs(&g, &least);
        sinew_guard_limit(&g.guard, f, 1);
        /* Pairs at the floor are held by the last bit of their places. */
        for (int32_t v = 0; v < f->objects[0].vertex_count && least > 0.1 * g.margin; v++)
            assert_true(g.guard.safe[4 * v + 3] == 1 && !g.guard.held[v]);
        const sinew_detect_places still = {g.c->x, g.c->reach, NULL};
        sinew_error error;
        assert_int_equal(sinew_detect(g.detector, &still, 0, &g.pairs, &error), SINEW_OK);
        assert_int_equal(own_pairs(&g, &least), falling);
        release_case(&g);
    }
}

/* A row of two ropes' worth of vertices goes far, but for one vertex that stands: no other leaves it behind by more
 * than both balls, and none stays where it was. */
static void test_one_stands(void **state)
{
    (void)state;
    const double d = 1, ball = 0.1;
    guard_case g = {.c = calloc(1, sizeof *g.c), .margin = 1e-3};
    assert_non_null(g.c);
    for (int i = 0; i < 4; i++)
        add_edge(g.c, 0, i, i + 1);
    g.c->object_count = 1;
    g.c->cells[0].edges = g.c->edges[0];
    g.c->objects[0] = (sinew_touch_object){.collider = -1, .vertex_count = 5, .half = 1e-3};
    assert_int_equal(
        sinew_features_create(&g.c->features, NULL, g.c->objects, g.c->cells, g.c->lone, g.c->object_count, NULL),
        SINEW_OK);
    g.c->features.touches[0] = 1;
    g.c->x = calloc(20, sizeof *g.c->x);
    g.c->reach = calloc(5, sizeof *g.c->reach);
    g.c->size = 4;
    g.detector = case_detector(g.c, 1);
    assert_true(g.c->x && g.c->reach && sinew_guard_begin(&g.guard, &g.c->features));
    for (int v = 0; v < 5; v++) {
        const sinew_real way[4] = {0, (sinew_real)d, 0, (sinew_real)ball};
        g.c->x[4 * v] = (sinew_real)v;
        g.c->reach[v] = (sinew_real)(ball + g.margin);
        memcpy(g.guard.ways + 4 * v, way, sizeof way);
    }
    begin_case(&g);
    sinew_real x[MOMENTS * 20];
    for (int v = 1; v < 5; v++)
        g.guard.asked[4 * v + 1] = (sinew_real)d;
    move(&g, x);
    check_balls(&g);
    assert_true(g.guard.safe[1] == 0);
    for (int v = 1; v < 5; v++) {
        const double came = (double)g.guard.safe[4 * v + 1];
        assert_true(fabs(came - 2 * ball) < 1e-4);
    }
    release_case(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_missed),
        cmocka_unit_test(test_falls_free),
        cmocka_unit_test(test_one_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
