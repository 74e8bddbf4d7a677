/* SPDX-License-Identifier: MIT
 *
 * test_detect.c: features of surfaces, pairs of near ones against a loop over all, closest points against referees, the
 * same list for any number of threads and after any history, and memory that runs out.
 */
#include "detect_cases.h"

#include "collide/broad_phase_search.h"
#include "failing_allocator.h"

/* ---- Features --------------------------------------------------------------------------------- */

/* Triangles are cells in their order, each with its sides; owners of a vertex and of an edge: one. */
static void check_cells(const detect_case *c)
{
    const sinew_features *f = &c->features;
    int32_t cell = 0, owners = 0, used = 0;
    for (int32_t o = 0; o < c->object_count; o++) {
        for (int32_t i = 0; i < c->cells[o].triangle_count; i++) {
            const int32_t *t = c->triangles[o] + 3 * i;
            if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0])
                continue;
            for (int k = 0; k < 3; k++)
                assert_int_equal(f->cells[cell][k], t[k] + c->objects[o].first_vertex);
            assert_true(f->flags[cell++] & SINEW_IS_FACE);
        }
        while (cell < f->cell_count && f->object[f->cells[cell][0]] == o)
            assert_false(f->flags[cell++] & SINEW_IS_FACE);
    }
    assert_int_equal(cell, f->cell_count);
    for (int32_t v = 0; v < f->vertex_count; v++) {
        int own = 0, any = 0;
        for (int32_t i = 0; i < f->cell_count; i++) {
            any |= has_vertex(f->cells[i], v);
            for (int k = 0; k < 3; k++)
                own += f->cells[i][k] == v && f->flags[i] & SINEW_OWNS_VERTEX << k;
        }
        assert_int_equal(own, any);
        assert_true(any || !c->lone[f->object[v]]);
        owners += own;
        used += any;
    }
    assert_int_equal(owners, used);
}

static void check_edges(const detect_case *c)
{
    const sinew_features *f = &c->features;
    for (int32_t e = 0; e < f->edge_count; e++) {
        int own = 0, wing = 0;
        const int32_t *ends = f->edges[e];
        assert_true(ends[0] < ends[1]);
        assert_true(e == 0 || ends[-2] < ends[0] || (ends[-2] == ends[0] && ends[-1] < ends[1]));
        for (int32_t i = 0; i < f->cell_count; i++)
            for (int k = 0; k < 3; k++) {
                if (f->sides[i][k] != e)
                    continue;
                const int32_t a = f->cells[i][k], b = f->cells[i][(k + 1) % 3];
                assert_true((a == ends[0] && b == ends[1]) || (a == ends[1] && b == ends[0]));
                own += (f->flags[i] & SINEW_OWNS_EDGE << k) != 0;
                if (f->flags[i] & SINEW_IS_FACE && wing < 2)
                    assert_int_equal(f->wings[e][wing++], f->cells[i][(k + 2) % 3]);
            }
        assert_int_equal(own, 1);
        for (; wing < 2; wing++)
            assert_int_equal(f->wings[e][wing], -1);
    }
    for (int32_t i = 0; i < f->cell_count; i++)
        for (int k = 0; k < 3; k++) {
            const bool side = f->cells[i][k] != f->cells[i][(k + 1) % 3] && (k < 2 || f->flags[i] & SINEW_IS_FACE);
            assert_int_equal(f->sides[i][k] >= 0, side);
        }
}

static void check_neighbours(const detect_case *c)
{
    const sinew_features *f = &c->features;
    assert_int_equal(f->first_neighbour[0], 0);
    assert_int_equal(f->first_neighbour[f->vertex_count], 2 * f->edge_count);
    for (int32_t v = 0; v < f->vertex_count; v++) {
        int32_t at = f->first_neighbour[v];
        for (int32_t u = 0; u < f->vertex_count; u++)
            for (int32_t e = 0; e < f->edge_count; e++)
                if ((f->edges[e][0] == u && f->edges[e][1] == v) || (f->edges[e][0] == v && f->edges[e][1] == u))
                    assert_int_equal(f->neighbours[at++], u);
        assert_int_equal(at, f->first_neighbour[v + 1]);
    }
}

static void test_features(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("features", 60, 1000);
    for (int32_t n = 0; n < r.count; n++) {
        detect_case *c = detect_case_make(&r);
        check_cells(c);
        check_edges(c);
        check_neighbours(c);
        detect_case_release(c);
    }
}

/* ---- Pairs against a loop over all ------------------------------------------------------------- */

static int compare_pairs(const sinew_touch_pair *a, const sinew_touch_pair *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    for (int i = 0; i < 4; i++)
        if (a->v[i] != b->v[i])
            return a->v[i] < b->v[i] ? -1 : 1;
    return (a->second > b->second) - (a->second < b->second);
}

static const sinew_touch_pair *find_pair(const sinew_touch_pairs *pairs, const sinew_touch_pair *wanted)
{
    int64_t low = 0, high = pairs->count;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (compare_pairs(pairs->list + middle, wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < pairs->count && compare_pairs(pairs->list + low, wanted) == 0 ? pairs->list + low : NULL;
}

static double reach_of(const detect_case *c, const int32_t *v, int count)
{
    double most = 0;
    for (int i = 0; i < count; i++)
        most = fmax(most, (double)c->reach[v[i]]);
    return most;
}

/* m: how much nearer two features of vertices v may come by their ways: of one object by how these differ, of two by
 * their lengths. */
static double approach_of(const detect_case *c, const int32_t v[4], int firsts)
{
    const bool same = c->features.object[v[0]] == c->features.object[v[3]];
    double most = 0, longest[2] = {0, 0};
    for (int a = 0; c->ways && a < 4; a++) {
        for (int b = firsts; b < 4 && a < firsts; b++) {
            double d[3];
            for (int k = 0; k < 3; k++)
                d[k] = (double)c->ways[4 * v[a] + k] - (double)c->ways[4 * v[b] + k];
            most = fmax(most, hypot(hypot(d[0], d[1]), d[2]));
        }
        const sinew_real *way = c->ways + 4 * v[a];
        longest[a >= firsts] = fmax(longest[a >= firsts], hypot(hypot((double)way[0], (double)way[1]), (double)way[2]));
    }
    return same ? most : longest[0] + longest[1];
}

static bool is_still(const sinew_features *f, int32_t v)
{
    return f->objects[f->object[v]].kinematic;
}

/* Is the pair in the list if and only if it is near, and what it should be? Counts it if it is. */
static void check_pair(const detect_case *c, const sinew_touch_pairs *pairs, const sinew_touch_pair *wanted,
                       int64_t *listed)
{
    const sinew_features *f = &c->features;
    const int32_t *v = wanted->v;
    const int firsts = wanted->kind == SINEW_PAIR_EDGES ? 2 : 1, object = f->object[v[0]], other = f->object[v[3]];
    const sinew_touch_pair *found = find_pair(pairs, wanted);
    bool shared = false;
    for (int i = 0; i < firsts; i++)
        for (int j = firsts; j < 4; j++)
            shared = shared || v[i] == v[j];
    if (shared || !sinew_may_touch(f, object, other) || (is_still(f, v[0]) && is_still(f, v[3]))) {
        assert_null(found);
        return;
    }
    const double cores = f->objects[object].core + f->objects[other].core;
    const double distance = (double)referee_distance(v, wanted->kind, c->x) - cores;
    const double limit = reach_of(c, v, firsts) + reach_of(c, v + firsts, 4 - firsts) + approach_of(c, v, firsts);
    if (fabs(distance - limit) > CASE_ROUND_OFF * c->size)
        assert_int_equal(found != NULL, distance < limit);
    if (!found)
        return;
    (*listed)++;
    assert_int_equal(found->first, wanted->first);
    assert_true(fabs((double)found->distance - distance) <= CASE_ROUND_OFF * c->size);
    assert_true(referee_agrees(found, c->x, c->size, CASE_ROUND_OFF));
}

static void check_weights(const sinew_touch_pair *pair)
{
    const int firsts = pair->kind == SINEW_PAIR_EDGES ? 2 : 1;
    double sum[2] = {0, 0}, length = 0;
    for (int a = 0; a < 4; a++) {
        const double w = (double)pair->w[a];
        assert_true(a < firsts ? w >= 0 : w <= 0);
        assert_int_equal(pair->place >> a & 1, w == 0);
        sum[a >= firsts] += w;
    }
    for (int k = 0; k < 3; k++)
        length += (double)pair->n[k] * (double)pair->n[k];
    assert_true(fabs(sum[0] - 1) < CASE_ROUND_OFF && fabs(sum[1] + 1) < CASE_ROUND_OFF);
    assert_true(fabs(length - 1) < CASE_ROUND_OFF);
}

/* A list's pair has the numbers that it has alone. */
static void check_alone(const detect_case *c, const sinew_touch_pair *pair)
{
    const sinew_touch_object *objects = c->features.objects;
    const int32_t *object = c->features.object;
    sinew_touch_pair alone = {.kind = pair->kind};
    memcpy(alone.v, pair->v, sizeof alone.v);
    sinew_pair_closest(&alone, c->x);
    for (int a = 0; a < 4; a++)
        assert_true(alone.w[a] == pair->w[a] && (a == 3 || alone.n[a] == pair->n[a]));
    assert_int_equal(alone.place, pair->place);
    if (objects[object[pair->v[0]]].core + objects[object[pair->v[3]]].core == 0)
        assert_true(alone.distance == pair->distance);
}

static void check_all(const detect_case *c, const sinew_touch_pairs *pairs)
{
    const sinew_features *f = &c->features;
    int64_t listed = 0;
    for (int64_t i = 0; i < pairs->count; i++) {
        assert_true(i == 0 || compare_pairs(pairs->list + i - 1, pairs->list + i) < 0);
        check_weights(pairs->list + i);
        check_alone(c, pairs->list + i);
    }
    for (int32_t v = 0; v < f->vertex_count; v++)
        for (int32_t i = 0; i < f->cell_count; i++) {
            const int32_t *t = f->cells[i];
            const bool face = t[1] != t[2], lone = f->first_neighbour[v] == f->first_neighbour[v + 1];
            bool cell = false; /* vertices of no cell do not touch */
            for (int32_t j = 0; j < f->cell_count; j++)
                cell = cell || has_vertex(f->cells[j], v);
            if (cell && (face || (lone && (t[0] != t[1] || t[0] > v))))
                check_pair(
                    c, pairs,
                    &(sinew_touch_pair){.kind = SINEW_PAIR_FACE, .v = {v, t[0], t[1], t[2]}, .first = v, .second = i},
                    &listed);
        }
    for (int32_t i = 0; i < f->edge_count; i++)
        for (int32_t j = i + 1; j < f->edge_count; j++) {
            const int32_t *a = f->edges[i], *b = f->edges[j];
            check_pair(
                c, pairs,
                &(sinew_touch_pair){.kind = SINEW_PAIR_EDGES, .v = {a[0], a[1], b[0], b[1]}, .first = i, .second = j},
                &listed);
        }
    assert_int_equal(listed, pairs->count);
}

static void detect(sinew_detector *detector, const detect_case *c, int64_t limit, sinew_touch_pairs *pairs)
{
    sinew_error error;
    const sinew_detect_places places = {c->x, c->reach, c->ways};
    assert_int_equal(sinew_detect(detector, &places, limit, pairs, &error), SINEW_OK);
}

static void test_brute_force(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("pairs", 60, 1000);
    for (int32_t n = 0; n < r.count; n++) {
        detect_case *c = detect_case_make(&r);
        sinew_detector *detector = case_detector(c, 1);
        sinew_touch_pairs pairs = {0};
        detect(detector, c, 0, &pairs);
        assert_int_equal(pairs.dropped, 0);
        check_all(c, &pairs);
        sinew_touch_pairs_release(&pairs, &c->features.allocator);
        sinew_detector_destroy(detector);
        detect_case_release(c);
    }
}

/* ---- The same list ---------------------------------------------------------------------------- */

static void assert_same(const sinew_touch_pairs *a, const sinew_touch_pairs *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->dropped, b->dropped);
    assert_true(a->count == 0 || memcmp(a->list, b->list, (size_t)a->count * sizeof *a->list) == 0);
}

/* A new detector's list with so many threads, in the lane variant that is named (NULL: the best). */
static void check_same(const detect_case *c, int32_t threads, const char *lanes, const sinew_touch_pairs *wanted)
{
    sinew_touch_pairs pairs = {0};
    if (lanes)
        setenv("SINEW_LANES", lanes, 1);
    sinew_detector *detector = case_detector(c, threads);
    if (lanes)
        unsetenv("SINEW_LANES");
    detect(detector, c, 0, &pairs);
    assert_same(&pairs, wanted);
    if (wanted->count > 1) {
        const int64_t limit = wanted->count / 2;
        detect(detector, c, limit, &pairs);
        const sinew_touch_pairs part = {.list = wanted->list, .count = limit, .dropped = wanted->count - limit};
        assert_same(&pairs, &part);
    }
    sinew_touch_pairs_release(&pairs, &c->features.allocator);
    sinew_detector_destroy(detector);
}

/* Moves everything a little, or to places that have nothing to do with those before; colliders stay at times. */
static void move_on(random_cases *r, detect_case *c)
{
    const double far = random_index(r, 3) ? 0.05 : 2;
    const int32_t last = random_index(r, 2) ? c->features.moved_count : c->features.vertex_count;
    for (int32_t v = 0; v < last; v++) {
        for (int k = 0; k < 3; k++)
            c->x[4 * v + k] += (sinew_real)(far * c->size * random_between(r, -1, 1));
        c->reach[v] *= (sinew_real)random_between(r, 0.5, 1.9);
    }
    if (c->ways && random_index(r, 3) == 0)
        case_ways(r, c);
    c->ways = random_index(r, 5) ? c->known_ways : NULL;
}

static void test_same_list(void **state)
{
    (void)state;
    const char *wanted_lanes = getenv("SINEW_LANES");
    random_cases r = random_cases_begin("same lists", 60, 1000);
    int32_t kernel_count;
    const sinew_search_kernel *const *kernels = sinew_search_kernels(&kernel_count);
    for (int32_t n = 0; n < r.count; n++) {
        detect_case *c = detect_case_make(&r);
        sinew_detector *old = case_detector(c, 1);
        sinew_touch_pairs pairs = {0};
        for (int i = 0; i < 4; i++) {
            int32_t crossing[1][2];
            detect(old, c, 0, &pairs);
            for (int32_t threads = 1; threads <= 3; threads++)
                check_same(c, threads, NULL, &pairs);
            for (int32_t k = 0; k < kernel_count && !wanted_lanes; k++)
                check_same(c, 1, kernels[k]->name, &pairs);
            assert_true(sinew_detect_crossings(old, c->x, crossing, 1) >= 0);
            move_on(&r, c);
        }
        sinew_touch_pairs_release(&pairs, &c->features.allocator);
        sinew_detector_destroy(old);
        detect_case_release(c);
    }
}

/* ---- Many features ----------------------------------------------------------------------------- */

enum {
    SIDE = 24
};

/* Two wavy sheets through each other, and a rope over them. */
static void place_sheets(detect_case *c, double time)
{
    for (int32_t v = 0; v < c->features.vertex_count; v++) {
        const int32_t own = v % (SIDE * SIDE), sheet = v / (SIDE * SIDE);
        const double i = own / SIDE, j = own % SIDE;
        const double wave = 2 * sin(0.3 * i + time) * cos(0.4 * j + sheet);
        const double at[3] = {sheet < 2 ? i : 0.05 * own, wave + 0.4 * sheet, sheet < 2 ? j : 0.05 * own};
        for (int k = 0; k < 3; k++)
            c->x[4 * v + k] = (sinew_real)at[k];
        c->reach[v] = (sinew_real)(0.2 + 0.1 * sin(v));
    }
}

static detect_case *make_sheets(void)
{
    static int32_t triangles[6 * (SIDE - 1) * (SIDE - 1)], edges[2 * (SIDE * SIDE - 1)];
    detect_case *c = calloc(1, sizeof *c);
    assert_non_null(c);
    int32_t *t = triangles;
    for (int32_t i = 0; i + 1 < SIDE; i++)
        for (int32_t j = 0; j + 1 < SIDE; j++, t += 6) {
            const int32_t a = SIDE * i + j, quad[6] = {a, a + SIDE, a + SIDE + 1, a, a + SIDE + 1, a + 1};
            memcpy(t, quad, sizeof quad);
        }
    for (int32_t i = 0; i < 2 * (SIDE * SIDE - 1); i++)
        edges[i] = (i + 1) / 2;
    c->object_count = 3;
    for (int32_t o = 0; o < 3; o++) {
        c->objects[o] = (sinew_touch_object){.first_vertex = o * SIDE * SIDE, .vertex_count = SIDE * SIDE};
        if (o < 2)
            c->cells[o] = (sinew_object_cells){.triangles = triangles, .triangle_count = 2 * (SIDE - 1) * (SIDE - 1)};
        else
            c->cells[o] = (sinew_object_cells){.edges = edges, .edge_count = SIDE * SIDE - 1};
    }
    assert_int_equal(sinew_features_create(&c->features, NULL, c->objects, c->cells, c->lone, 3, NULL), SINEW_OK);
    memset(c->features.touches, 1, 9);
    c->x = calloc(4 * 3 * SIDE * SIDE, sizeof *c->x);
    c->reach = calloc(3 * SIDE * SIDE, sizeof *c->reach);
    assert_true(c->x && c->reach);
    return c;
}

/* How many edges are near higher ones, by all pairs of them; every one is in the list. */
static int64_t count_edge_pairs(const detect_case *c, const sinew_touch_pairs *pairs)
{
    const sinew_features *f = &c->features;
    int64_t count = 0;
    for (int32_t i = 0; i < f->edge_count; i++)
        for (int32_t j = i + 1; j < f->edge_count; j++) {
            const int32_t *a = f->edges[i], *b = f->edges[j];
            sinew_touch_pair pair = {.kind = SINEW_PAIR_EDGES, .v = {a[0], a[1], b[0], b[1]}, .second = j};
            if (a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1] ||
                fabs((double)c->x[4 * a[0]] - (double)c->x[4 * b[0]]) > 5)
                continue;
            sinew_pair_closest(&pair, c->x);
            if ((double)pair.distance > reach_of(c, a, 2) + reach_of(c, b, 2))
                continue;
            assert_non_null(find_pair(pairs, &pair));
            count++;
        }
    return count;
}

static void test_many_features(void **state)
{
    (void)state;
    detect_case *c = make_sheets();
    sinew_detector *old = case_detector(c, 2);
    sinew_touch_pairs pairs = {0};
    for (int step = 0; step < 5; step++) {
        place_sheets(c, 0.1 * step);
        detect(old, c, 0, &pairs);
        for (int32_t threads = 1; threads <= 3; threads++)
            check_same(c, threads, NULL, &pairs);
    }
    int64_t edges = 0;
    for (int64_t i = 0; i < pairs.count; i++) {
        edges += pairs.list[i].kind == SINEW_PAIR_EDGES;
        check_alone(c, pairs.list + i);
    }
    assert_int_equal(edges, count_edge_pairs(c, &pairs));
    assert_true(edges > 1000);
    sinew_touch_pairs_release(&pairs, &c->features.allocator);
    sinew_detector_destroy(old);
    detect_case_release(c);
}

/* ---- Closest points of hard pairs --------------------------------------------------------------- */

/* Corners that are nearly or quite in line, doubled, or one on the other. */
static void draw_hard(random_cases *r, sinew_real x[4][4])
{
    const double scale = random_magnitude(r, 1e-6, 1e6), noise = random_index(r, 2) ? 0 : random_magnitude(r, 1e-17, 1);
    const int how = random_index(r, 6);
    for (int a = 0; a < 4; a++)
        for (int k = 0; k < 3; k++) {
            double at = random_between(r, -1, 1);
            if (how == 1)
                at = random_index(r, 3) - 1;
            if (how == 2 && a >= 2)
                at = (double)x[a - 2][k] / scale + (k == 2 ? 0.3 : 0); /* parallel */
            if (how == 3 && a >= 1)
                at = (double)x[0][k] / scale;
            if (how == 4 && a >= 2)
                at = (double)(x[0][k] + x[a - 1][k]) / scale / 2; /* on a line with the others */
            if (how == 5 && a == 3)
                at = (double)x[2][k] / scale;
            x[a][k] = (sinew_real)(scale * (at + noise * random_between(r, -1, 1)));
        }
    for (int a = 0; a < 4; a++)
        x[a][3] = 0;
}

static void test_hard_pairs(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("closest points", 20000, 1000000);
    for (int32_t n = 0; n < r.count; n++) {
        sinew_real x[4][4];
        double size = 0;
        sinew_touch_pair pair = {.v = {0, 1, 2, 3}, .kind = (uint8_t)(n % 2)};
        draw_hard(&r, x);
        for (int i = 0; i < 16; i++)
            size = fmax(size, fabs((double)x[i / 4][i % 4]));
        sinew_pair_closest(&pair, x[0]);
        check_weights(&pair);
        const double distance = (double)referee_distance(pair.v, pair.kind, x[0]);
        if (!(fabs((double)pair.distance - distance) <= 10 * CASE_ROUND_OFF * size) ||
            !referee_agrees(&pair, x[0], size, CASE_FLAT_WEIGHTS))
            fail_msg("case %d: %.17g, referee %.17g, size %g", (int)n, (double)pair.distance, distance, size);
    }
}

/* ---- Memory ----------------------------------------------------------------------------------- */

/* Features, a detector and two lists from memory that fails at one request. True: all of it was done. */
static bool run_once(const detect_case *c, const sinew_allocator *hooks, sinew_error *error)
{
    sinew_features f = {0};
    sinew_detector *detector = NULL;
    sinew_touch_pairs pairs = {0};
    const sinew_detect_places places = {c->x, c->reach, c->ways};
    sinew_status status = sinew_features_create(&f, hooks, c->objects, c->cells, c->lone, c->object_count, error);
    if (status == SINEW_OK) {
        memset(f.touches, 1, (size_t)(f.object_count * f.object_count));
        status = sinew_detector_create(&detector, &f, 2, error);
    }
    if (status == SINEW_OK)
        status = sinew_detect(detector, &places, 0, &pairs, error);
    if (status == SINEW_OK && sinew_detect_crossings(detector, c->x, NULL, 0) < 0)
        status = error->status = SINEW_ERROR_MEMORY;
    /* What failed once does not spoil what comes after. */
    if (detector && status != SINEW_OK) {
        sinew_touch_pairs again = {0}, fresh = {0};
        sinew_detector *other = NULL;
        assert_int_equal(sinew_detect(detector, &places, 0, &again, NULL), SINEW_OK);
        assert_int_equal(sinew_detector_create(&other, &f, 1, NULL), SINEW_OK);
        assert_int_equal(sinew_detect(other, &places, 0, &fresh, NULL), SINEW_OK);
        assert_same(&again, &fresh);
        sinew_detector_destroy(other);
        sinew_touch_pairs_release(&again, hooks);
        sinew_touch_pairs_release(&fresh, hooks);
    }
    sinew_touch_pairs_release(&pairs, hooks);
    sinew_detector_destroy(detector);
    sinew_features_destroy(&f);
    return status == SINEW_OK;
}

static void test_memory(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("memory", 10, 100);
    for (int32_t n = 0; n < r.count; n++) {
        detect_case *c = detect_case_make(&r);
        failing_allocator memory = {0};
        const sinew_allocator hooks = hooks_of(&memory);
        sinew_error error = {0};
        bool done = false;
        for (int64_t i = 0; i < c->features.vertex_count; i++) /* more than there is room for at first */
            c->reach[i] = (sinew_real)(3 * c->size);
        for (memory.fail_at = 1; !done; memory.fail_at++) {
            memory.calls = 0;
            done = run_once(c, &hooks, &error);
            assert_true(done || error.status == SINEW_ERROR_MEMORY);
            assert_int_equal(memory.live, 0);
        }
        detect_case_release(c);
    }
}

/* A second detection at the same places asks for no memory. */
static void test_warm(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("warm", 20, 200);
    for (int32_t n = 0; n < r.count; n++) {
        detect_case *c = detect_case_make(&r);
        failing_allocator memory = {0};
        const sinew_allocator hooks = hooks_of(&memory), own = c->features.allocator;
        sinew_touch_pairs pairs = {0};
        c->features.allocator = hooks;
        sinew_detector *detector = case_detector(c, 1);
        c->features.allocator = own;
        for (int i = 0; i < 3; i++) {
            memory.calls = 0;
            detect(detector, c, 0, &pairs);
            sinew_detect_crossings(detector, c->x, NULL, 0);
            assert_true(i < 2 || memory.calls == 0);
        }
        sinew_touch_pairs_release(&pairs, &hooks);
        sinew_detector_destroy(detector);
        assert_int_equal(memory.live, 0);
        detect_case_release(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_features),      cmocka_unit_test(test_brute_force), cmocka_unit_test(test_same_list),
        cmocka_unit_test(test_many_features), cmocka_unit_test(test_hard_pairs),  cmocka_unit_test(test_memory),
        cmocka_unit_test(test_warm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
