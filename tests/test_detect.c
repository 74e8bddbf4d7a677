/* SPDX-License-Identifier: MIT
 *
 * test_detect.c: pairs of near features against a loop over all, closest points against referees, the same list for any
 * number of threads and after any history, and memory that runs out.
 */
#include "detect_cases.h"

#include "contact/search.h"
#include "failing_allocator.h"

/* The least of squared distances tells weights of nearly parallel edges to the root of round-off only. */
#ifdef SINEW_SINGLE
static const double round_off = 2e-6, flat_weights = 1e-5;
#else
static const double round_off = 1e-13, flat_weights = 1e-7;
#endif

/* ---- Features --------------------------------------------------------------------------------- */

static bool has_vertex(const int32_t *cell, int32_t v)
{
    return cell[0] == v || cell[1] == v || cell[2] == v;
}

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
    const double limit = reach_of(c, v, firsts) + reach_of(c, v + firsts, 4 - firsts);
    if (fabs(distance - limit) > round_off * c->size)
        assert_int_equal(found != NULL, distance < limit);
    if (!found)
        return;
    (*listed)++;
    assert_int_equal(found->first, wanted->first);
    assert_true(fabs((double)found->distance - distance) <= round_off * c->size);
    assert_true(referee_agrees(found, c->x, c->size, round_off));
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
    assert_true(fabs(sum[0] - 1) < round_off && fabs(sum[1] + 1) < round_off && fabs(length - 1) < round_off);
}

static void check_all(const detect_case *c, const sinew_touch_pairs *pairs)
{
    const sinew_features *f = &c->features;
    int64_t listed = 0;
    for (int64_t i = 0; i < pairs->count; i++) {
        assert_true(i == 0 || compare_pairs(pairs->list + i - 1, pairs->list + i) < 0);
        check_weights(pairs->list + i);
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

static sinew_detector *make_detector(const detect_case *c, int32_t threads)
{
    sinew_detector *detector;
    sinew_error error;
    assert_int_equal(sinew_detector_create(&detector, &c->features, threads, &error), SINEW_OK);
    return detector;
}

static void detect(sinew_detector *detector, const detect_case *c, int64_t limit, sinew_touch_pairs *pairs)
{
    sinew_error error;
    assert_int_equal(sinew_detect(detector, c->x, c->reach, limit, pairs, &error), SINEW_OK);
}

static void test_brute_force(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("pairs", 60, 1000);
    for (int32_t n = 0; n < r.count; n++) {
        detect_case *c = detect_case_make(&r);
        sinew_detector *detector = make_detector(c, 1);
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
    sinew_detector *detector = make_detector(c, threads);
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
        sinew_detector *old = make_detector(c, 1);
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
        if (!(fabs((double)pair.distance - distance) <= 10 * round_off * size) ||
            !referee_agrees(&pair, x[0], size, flat_weights))
            fail_msg("case %d: %.17g, referee %.17g, size %g", (int)n, (double)pair.distance, distance, size);
    }
}

/* ---- Crossings -------------------------------------------------------------------------------- */

typedef int64_t exact[3];

static void exact_cross(const exact a, const exact b, exact out)
{
    for (int k = 0; k < 3; k++)
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static int64_t exact_dot(const exact a, const exact b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void exact_minus(const exact a, const exact b, exact out)
{
    for (int k = 0; k < 3; k++)
        out[k] = a[k] - b[k];
}

/* The point where p q meets the plane of t, times a common denominator, lies inside of all three sides. */
static bool exact_passes(const exact p, const exact q, exact t[3])
{
    exact e[2], n, from_p, from_q, at;
    exact_minus(t[1], t[0], e[0]);
    exact_minus(t[2], t[0], e[1]);
    exact_cross(e[0], e[1], n);
    exact_minus(p, t[0], from_p);
    exact_minus(q, t[0], from_q);
    int64_t over = exact_dot(n, from_p), under = exact_dot(n, from_q);
    if ((over > 0) == (under > 0) || over == 0 || under == 0)
        return false;
    over = llabs(over);
    under = llabs(under);
    for (int k = 0; k < 3; k++)
        at[k] = p[k] * under + q[k] * over; /* over the sum of both */
    for (int i = 0; i < 3; i++) {
        exact side, out, inward;
        exact_minus(t[(i + 1) % 3], t[i], side);
        for (int k = 0; k < 3; k++)
            out[k] = at[k] - (over + under) * t[i][k];
        exact_cross(n, side, inward);
        if (exact_dot(inward, out) <= 0)
            return false;
    }
    return true;
}

/* Positions on a lattice: volumes are integers, and many are zero. */
static bool exact_crossing(const detect_case *c, const int32_t *a, const int32_t *b, double step)
{
    exact p[3], q[3];
    for (int i = 0; i < 9; i++) {
        p[i / 3][i % 3] = (int64_t)((double)c->x[4 * a[i / 3] + i % 3] / step);
        q[i / 3][i % 3] = (int64_t)((double)c->x[4 * b[i / 3] + i % 3] / step);
    }
    for (int i = 0; i < 3; i++)
        if (exact_passes(p[i], p[(i + 1) % 3], q) || exact_passes(q[i], q[(i + 1) % 3], p))
            return true;
    return false;
}

/* The least distance of any two features of the cells. */
static double cell_distance(const detect_case *c, const int32_t *a, const int32_t *b)
{
    real least = (real)HUGE_VALL;
    for (int i = 0; i < 3; i++) {
        least =
            referee_lower(least, referee_distance((const int32_t[]){a[i], b[0], b[1], b[2]}, SINEW_PAIR_FACE, c->x));
        least =
            referee_lower(least, referee_distance((const int32_t[]){b[i], a[0], a[1], a[2]}, SINEW_PAIR_FACE, c->x));
        for (int j = 0; j < 3; j++) {
            const int32_t v[4] = {a[i], a[(i + 1) % 3], b[j], b[(j + 1) % 3]};
            least = referee_lower(least, referee_distance(v, SINEW_PAIR_EDGES, c->x));
        }
    }
    return (double)least;
}

static bool expected_crossing(const detect_case *c, int32_t i, int32_t j, double step, bool *doubtful)
{
    const sinew_features *f = &c->features;
    const int32_t *a = f->cells[i], *b = f->cells[j];
    const int32_t object = f->object[a[0]], other = f->object[b[0]];
    *doubtful = false;
    if (!sinew_may_touch(f, object, other) || (f->objects[object].kinematic && f->objects[other].kinematic))
        return false;
    for (int k = 0; k < 3; k++)
        if (has_vertex(b, a[k]))
            return false;
    if (exact_crossing(c, a, b, step))
        return true;
    const double cores = f->objects[object].core + f->objects[other].core;
    const double over = cores > 0 ? cell_distance(c, a, b) - cores : 1;
    *doubtful = fabs(over) <= round_off * c->size;
    return over < 0;
}

static void check_crossings(const detect_case *c, double step)
{
    const sinew_features *f = &c->features;
    const int64_t capacity = (int64_t)f->cell_count * f->cell_count / 2 + 1;
    int32_t(*cells)[2] = calloc((size_t)capacity, sizeof *cells), some[3][2] = {{-7, -7}, {-7, -7}, {-7, -7}};
    assert_non_null(cells);
    sinew_detector *detector = make_detector(c, 2);
    const int64_t count = sinew_detect_crossings(detector, c->x, cells, capacity);
    int64_t at = 0;
    for (int32_t i = 0; i < f->cell_count; i++)
        for (int32_t j = i + 1; j < f->cell_count; j++) {
            bool doubtful;
            const bool wanted = expected_crossing(c, i, j, step, &doubtful);
            const bool found = at < count && cells[at][0] == i && cells[at][1] == j;
            assert_true(doubtful || found == wanted);
            at += found;
        }
    assert_int_equal(at, count);
    assert_int_equal(sinew_detect_crossings(detector, c->x, some, 2), count);
    for (int i = 0; i < 3; i++)
        assert_int_equal(some[i][1], i < count && i < 2 ? cells[i][1] : -7);
    assert_int_equal(sinew_detect_crossings(detector, c->x, NULL, 0), count);
    sinew_detector_destroy(detector);
    free(cells);
}

static void test_crossings(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("crossings", 60, 1000);
    for (int32_t n = 0; n < r.count; n++) {
        detect_case *c = detect_case_make(&r);
        const double step = ldexp(1, random_index(&r, 41) - 20);
        const int across = 2 + random_index(&r, 16);
        for (int32_t v = 0; v < c->features.vertex_count; v++)
            for (int k = 0; k < 3; k++)
                c->x[4 * v + k] = (sinew_real)(step * (random_index(&r, across) - across / 2));
        for (int32_t o = 0; o < c->object_count; o++)
            c->features.objects[o].core = c->objects[o].core * step * across / 2;
        c->size = step * across;
        check_crossings(c, step);
        detect_case_release(c);
    }
}

/* ---- Memory ----------------------------------------------------------------------------------- */

/* Features, a detector and two lists from memory that fails at one request. True: all of it was done. */
static bool run_once(const detect_case *c, const sinew_allocator *hooks, sinew_error *error)
{
    sinew_features f = {0};
    sinew_detector *detector = NULL;
    sinew_touch_pairs pairs = {0};
    sinew_status status = sinew_features_create(&f, hooks, c->objects, c->cells, c->lone, c->object_count, error);
    if (status == SINEW_OK) {
        memset(f.touches, 1, (size_t)(f.object_count * f.object_count));
        status = sinew_detector_create(&detector, &f, 2, error);
    }
    if (status == SINEW_OK)
        status = sinew_detect(detector, c->x, c->reach, 0, &pairs, error);
    if (status == SINEW_OK && sinew_detect_crossings(detector, c->x, NULL, 0) < 0)
        status = error->status = SINEW_ERROR_MEMORY;
    /* What failed once does not spoil what comes after. */
    if (detector && status != SINEW_OK) {
        sinew_touch_pairs again = {0}, fresh = {0};
        sinew_detector *other = NULL;
        assert_int_equal(sinew_detect(detector, c->x, c->reach, 0, &again, NULL), SINEW_OK);
        assert_int_equal(sinew_detector_create(&other, &f, 1, NULL), SINEW_OK);
        assert_int_equal(sinew_detect(other, c->x, c->reach, 0, &fresh, NULL), SINEW_OK);
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
        sinew_detector *detector = make_detector(c, 1);
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
        cmocka_unit_test(test_features),   cmocka_unit_test(test_brute_force), cmocka_unit_test(test_same_list),
        cmocka_unit_test(test_hard_pairs), cmocka_unit_test(test_crossings),   cmocka_unit_test(test_memory),
        cmocka_unit_test(test_warm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
