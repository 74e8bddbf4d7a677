/* SPDX-License-Identifier: MIT
 *
 * test_step_filter.c: pairs that detection does not list cannot come near, and listed pairs do not intersect, for any
 * requested positions.
 *
 * Random bodies (detect_cases.h) fall, spin, shrink and crumple, alone or against others and colliders. Their vertices
 * request their predicted displacements, fractions of them, none, or random ones. After each motion, and within it, a
 * loop over all pairs of features measures distances by an independent algorithm.
 */
#include <math.h>
#include <stdio.h>

#include "collide/filter/trust_region.h"
#include "detect_cases.h"

enum {
    MOTIONS = 5,
    MOMENTS = 3 /* within a motion, including its end */
};

#ifdef SINEW_SINGLE
#define ROUND_OFF 1e-5
#else
#define ROUND_OFF 1e-12
#endif

typedef struct guard_case {
    detect_case *c;
    double margin; /* m: inflation radius of a feature; half of the thickness is 2/3 of it */
    sinew_detector *detector;
    sinew_candidates pairs;
    sinew_step_filter filter;
} guard_case;

/* ---- Making ----------------------------------------------------------------------------------- */

static double displacement_at(const guard_case *g, int32_t v)
{
    const sinew_real *displacement = g->filter.predicted + 4 * v;
    return hypot(hypot((double)displacement[0], (double)displacement[1]), (double)displacement[2]);
}

/* Predicted displacements of the case, one for all vertices of a collider, and radii smaller than most displacements.
 */
static void set_ways(random_cases *r, guard_case *g)
{
    detect_case *c = g->c;
    const double max = c->size * random_magnitude(r, 1e-3, 0.3);
    for (int32_t v = 0; v < c->mesh.vertex_count; v++) {
        const sinew_collision_object *object = &c->mesh.objects[c->mesh.object[v]];
        const int32_t own = object->kinematic ? object->first_vertex : v;
        memcpy(g->filter.predicted + 4 * v, c->known_predicted + 4 * own, 3 * sizeof *c->predicted);
        const double ball = random_between(r, 0, max);
        g->filter.predicted[4 * v + 3] = (sinew_real)(object->kinematic ? fmax(max, displacement_at(g, v)) : ball);
        c->inflation_radius[v] = (sinew_real)g->margin;
    }
    c->predicted = g->filter.predicted;
}

static void begin_case(guard_case *g)
{
    sinew_error error;
    const sinew_detect_input input = {g->c->x, g->c->inflation_radius, g->filter.predicted, g->filter.island};
    assert_int_equal(sinew_detect(g->detector, &input, 0, &g->pairs, &error), SINEW_OK);
    assert_true(sinew_step_filter_build(&g->filter, &g->c->mesh, g->c->x, &g->pairs));
    for (int32_t v = 0; v < g->c->mesh.vertex_count; v++)
        g->filter.fixed[v] = g->c->mesh.objects[g->c->mesh.object[v]].kinematic;
}

static guard_case make_case(random_cases *r)
{
    guard_case g = {.c = detect_case_make(r)};
    g.margin = g.c->size * random_magnitude(r, 1e-4, 1e-1);
    for (int32_t o = 0; o < g.c->mesh.object_count; o++)
        g.c->mesh.objects[o].half_thickness = g.margin / 1.5;
    g.detector = case_detector(g.c, 1);
    assert_true(sinew_step_filter_begin(&g.filter, &g.c->mesh));
    for (int32_t o = 0; g.c->island && o < g.c->mesh.object_count; o++)
        g.filter.island[o] = g.c->island[o];
    set_ways(r, &g);
    begin_case(&g);
    return g;
}

static void release_case(guard_case *g)
{
    sinew_step_filter_release(&g->filter, &g->c->mesh.allocator);
    sinew_candidates_release(&g->pairs, &g->c->mesh.allocator);
    sinew_detector_destroy(g->detector);
    detect_case_release(g->c);
}

/* ---- Motions ---------------------------------------------------------------------------------- */

/* Requests a fraction of the predicted displacements of an object, with noise; some vertices stay, or move elsewhere.
 */
static void ask_object(random_cases *r, guard_case *g, const sinew_collision_object *object)
{
    const double fraction = random_between(r, -0.2, 1.3), waver = random_index(r, 2) ? random_between(r, 0, 0.3) : 0;
    const double standing = random_index(r, 2) ? 0.1 : 0, wild = random_index(r, 2) ? 0.1 : 0;
    for (int32_t v = object->first_vertex; v < object->first_vertex + object->vertex_count; v++) {
        const double chance = object->kinematic ? 1 : random_between(r, 0, 1);
        const double own = chance < standing ? 0 : fraction;
        for (int k = 0; k < 3; k++) {
            const size_t at = 4 * (size_t)v + (size_t)k;
            const double off = object->kinematic   ? 0
                               : chance > 1 - wild ? g->c->size * random_between(r, -1, 1)
                                                   : waver * displacement_at(g, v) * random_between(r, -1, 1);
            g->filter.x_requested[at] =
                (sinew_real)((double)g->filter.x_pass_start[at] + own * (double)g->filter.predicted[at] + off);
        }
    }
}

/* Moves vertices as a step does; x [MOMENTS][vertex_count][4]: positions along the straight motion. */
static void move(guard_case *g, sinew_real *x)
{
    const sinew_collision_mesh *f = &g->c->mesh;
    const size_t size = 4 * (size_t)f->vertex_count;
    sinew_step_filter_limit(&g->filter, f, 1);
    for (int32_t v = 0; v < f->vertex_count; v++) {
        sinew_real there[3];
        sinew_step_filter_position(&g->filter, v, there);
        for (int m = 0; m < MOMENTS; m++)
            for (int k = 0; k < 3; k++) {
                const double from = (double)g->filter.x_accepted[4 * v + k], t = (m + 1.0) / MOMENTS;
                x[(size_t)m * size + 4 * (size_t)v + (size_t)k] =
                    m + 1 == MOMENTS ? there[k] : (sinew_real)(from + t * ((double)there[k] - from));
            }
        memcpy(g->filter.x_accepted + 4 * v, there, sizeof there);
    }
    sinew_step_filter_commit(&g->filter, f);
}

/* ---- Reference checks ----------------------------------------------------------------------------- */

/* Checks (1) of trust_region.h. */
static void check_balls(const guard_case *g)
{
    const sinew_collision_mesh *f = &g->c->mesh;
    for (int32_t v = 0; v < f->vertex_count; v++) {
        const double lambda = g->filter.trust_regions[f->object[v]].progress;
        double off = 0;
        assert_true(lambda >= 0 && lambda <= 1);
        assert_true(lambda == g->filter.trust_regions[g->filter.island[f->object[v]]].progress);
        for (int k = 0; k < 3; k++)
            off += pow((double)g->filter.x_accepted[4 * v + k] - (double)g->filter.x_pass_start[4 * v + k] -
                           lambda * (double)g->filter.predicted[4 * v + k],
                       2);
        assert_true(sqrt(off) <= (double)g->filter.predicted[4 * v + 3] + ROUND_OFF * g->c->size);
    }
}

static const sinew_candidate *listed_pair(const guard_case *g, const sinew_candidate *wanted)
{
    int64_t low = 0, high = g->pairs.count;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        const sinew_candidate *p = &g->pairs.list[middle];
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

/* Whether the boxes of both features are farther apart than `far` along an axis, a lower bound of the distance. */
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

/* Distance that an unlisted pair keeps, m. */
static double kept_gap(const sinew_collision_mesh *f, const sinew_candidate *pair)
{
    const int32_t a = f->object[pair->v[0]], b = f->object[pair->v[3]];
    const double gap = f->objects[a].half_thickness + f->objects[b].half_thickness;
    return a == b ? sinew_rest_gap((double)referee_distance(pair->v, pair->kind, f->rest), gap) : gap;
}

/* An unlisted pair keeps its gap; a pair that started separated does not intersect. */
static void check_pair(const guard_case *g, const sinew_candidate *pair, const sinew_real *x)
{
    const sinew_collision_mesh *f = &g->c->mesh;
    const int32_t *v = pair->v, a = f->object[v[0]], b = f->object[v[3]];
    const int firsts = pair->kind == SINEW_CANDIDATE_EDGE_EDGE ? 2 : 1;
    for (int i = 0; i < firsts; i++)
        for (int j = firsts; j < 4; j++)
            if (v[i] == v[j])
                return;
    if (!sinew_may_collide(f, a, b) || (f->objects[a].kinematic && f->objects[b].kinematic))
        return;
    const double radii = f->objects[a].radius + f->objects[b].radius, slack = ROUND_OFF * g->c->size;
    if (is_far(v, firsts, x, 2 * g->margin + radii))
        return;
    const sinew_candidate *listed = listed_pair(g, pair);
    const double distance = (double)referee_distance(v, pair->kind, x) - radii;
    const double gap = kept_gap(f, pair);
    if (!listed && !(distance >= gap - slack))
        fail_msg("a pair that is not listed came as near as %g, its gap is %g", distance, gap);
    if (listed && (double)listed->distance > slack)
        assert_true(distance > -slack);
}

static void check_all(const guard_case *g, const sinew_real *x)
{
    const sinew_collision_mesh *f = &g->c->mesh;
    for (int32_t i = 0; i < f->primitive_count; i++) {
        const int32_t *t = f->primitives[i];
        for (int32_t v = 0; v < f->vertex_count && t[1] != t[2]; v++)
            if (f->first_neighbour[v] < f->first_neighbour[v + 1])
                check_pair(g, &(sinew_candidate){.v = {v, t[0], t[1], t[2]}, .first = v, .second = i}, x);
    }
    for (int32_t i = 0; i < f->edge_count; i++)
        for (int32_t j = i + 1; j < f->edge_count; j++) {
            const int32_t *a = f->edges[i], *b = f->edges[j];
            const sinew_candidate pair = {
                .kind = SINEW_CANDIDATE_EDGE_EDGE, .v = {a[0], a[1], b[0], b[1]}, .first = i, .second = j};
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
        const sinew_collision_mesh *f = &g.c->mesh;
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

/* The number of pairs within the first body, and their smallest distance. */
static int64_t own_pairs(const guard_case *g, double *min)
{
    int64_t count = 0;
    *min = HUGE_VAL;
    for (int64_t i = 0; i < g->pairs.count; i++)
        if (g->c->mesh.object[g->pairs.list[i].v[0]] == 0) {
            count++;
            *min = fmin(*min, (double)g->pairs.list[i].distance);
        }
    return count;
}

/* The first body collides with itself only, and falls by the size of the case, with small radii. */
static void let_fall(guard_case *g)
{
    const sinew_collision_mesh *f = &g->c->mesh;
    for (int32_t o = 0; o < f->object_count; o++) {
        f->may_collide[o] = f->may_collide[o * f->object_count] = o == 0;
        g->filter.island[o] = o;
    }
    for (int32_t v = 0; v < f->objects[0].vertex_count; v++) {
        const sinew_real displacement[4] = {0, (sinew_real)-g->c->size, 0, (sinew_real)g->margin};
        memcpy(g->filter.predicted + 4 * v, displacement, sizeof displacement);
    }
    begin_case(g);
    for (int32_t v = 0; v < f->objects[0].vertex_count; v++)
        g->filter.x_requested[4 * v + 1] += g->filter.predicted[4 * v + 1];
}

/* A falling body has the pairs of a resting one, and takes its full step in spite of small radii. */
static void test_falls_free(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("free falls", 40, 1000);
    for (int32_t n = 0; n < r.count; n++) {
        guard_case g = make_case(&r);
        const sinew_collision_mesh *f = &g.c->mesh;
        double min;
        let_fall(&g);
        const int64_t falling = own_pairs(&g, &min);
        sinew_step_filter_limit(&g.filter, f, 1);
        /* Pairs near the margin depend on the last bit of their positions. */
        for (int32_t v = 0; v < f->objects[0].vertex_count && min > 0.1 * g.margin; v++)
            assert_true(g.filter.x_accepted[4 * v + 3] == 1 && !g.filter.truncated[v]);
        for (int32_t v = 0; v < f->objects[0].vertex_count; v++)
            g.filter.predicted[4 * v + 1] = 0;
        const sinew_detect_input still = {g.c->x, g.c->inflation_radius, g.filter.predicted, NULL};
        sinew_error error;
        assert_int_equal(sinew_detect(g.detector, &still, 0, &g.pairs, &error), SINEW_OK);
        assert_int_equal(own_pairs(&g, &min), falling);
        release_case(&g);
    }
}

/* All vertices of a rope move far except one that is fixed: no other gets ahead of it by more than two radii, and all
 * others move. */
static void test_one_stands(void **state)
{
    (void)state;
    const double d = 1, ball = 0.1;
    guard_case g = {.c = calloc(1, sizeof *g.c), .margin = 1e-3};
    assert_non_null(g.c);
    for (int i = 0; i < 4; i++)
        add_edge(g.c, 0, i, i + 1);
    g.c->object_count = 1;
    g.c->primitives[0].edges = g.c->edges[0];
    g.c->objects[0] = (sinew_collision_object){.collider = -1, .vertex_count = 5, .half_thickness = 1e-3};
    assert_int_equal(sinew_collision_mesh_create(&g.c->mesh, NULL, g.c->objects, g.c->primitives, g.c->lone,
                                                 g.c->object_count, NULL),
                     SINEW_OK);
    g.c->mesh.may_collide[0] = 1;
    g.c->x = calloc(20, sizeof *g.c->x);
    g.c->inflation_radius = calloc(5, sizeof *g.c->inflation_radius);
    g.c->size = 4;
    g.detector = case_detector(g.c, 1);
    assert_true(g.c->x && g.c->inflation_radius && sinew_step_filter_begin(&g.filter, &g.c->mesh));
    for (int v = 0; v < 5; v++) {
        const sinew_real displacement[4] = {0, (sinew_real)d, 0, (sinew_real)ball};
        g.c->x[4 * v] = (sinew_real)v;
        g.c->inflation_radius[v] = (sinew_real)g.margin;
        memcpy(g.filter.predicted + 4 * v, displacement, sizeof displacement);
    }
    begin_case(&g);
    sinew_real x[MOMENTS * 20];
    for (int v = 1; v < 5; v++)
        g.filter.x_requested[4 * v + 1] = (sinew_real)d;
    move(&g, x);
    check_balls(&g);
    assert_true(g.filter.x_accepted[1] == 0);
    for (int v = 1; v < 5; v++) {
        const double came = (double)g.filter.x_accepted[4 * v + 1];
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
