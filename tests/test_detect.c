/* SPDX-License-Identifier: MIT
 *
 * test_detect.c: collision detection: the collision mesh, candidate pairs against a loop over all pairs, closest points
 * against independent algorithms, the same candidate list for any number of threads and any history, and failing
 * allocations.
 */
#include "detect_cases.h"

#include "collide/broad_phase_search.h"
#include "failing_allocator.h"
#include "math/variant.h"

/* ---- Features --------------------------------------------------------------------------------- */

/* Primitives are the triangles in their order, each with its sides; each vertex and each edge has one owner. */
static void check_cells(const detect_case *c)
{
    const sinew_collision_mesh *f = &c->mesh;
    int32_t primitive = 0, owners = 0, used = 0;
    for (int32_t o = 0; o < c->object_count; o++) {
        for (int32_t i = 0; i < c->primitives[o].triangle_count; i++) {
            const int32_t *t = c->triangles[o] + 3 * i;
            if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0])
                continue;
            for (int k = 0; k < 3; k++)
                assert_int_equal(f->primitives[primitive][k], t[k] + c->objects[o].first_vertex);
            assert_true(f->flags[primitive++] & SINEW_IS_FACE);
        }
        while (primitive < f->primitive_count && f->object[f->primitives[primitive][0]] == o)
            assert_false(f->flags[primitive++] & SINEW_IS_FACE);
    }
    assert_int_equal(primitive, f->primitive_count);
    for (int32_t v = 0; v < f->vertex_count; v++) {
        int own = 0, any = 0;
        for (int32_t i = 0; i < f->primitive_count; i++) {
            any |= has_vertex(f->primitives[i], v);
            for (int k = 0; k < 3; k++)
                own += f->primitives[i][k] == v && f->flags[i] & SINEW_OWNS_VERTEX << k;
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
    const sinew_collision_mesh *f = &c->mesh;
    for (int32_t e = 0; e < f->edge_count; e++) {
        int own = 0, wing = 0;
        const int32_t *ends = f->edges[e];
        assert_true(ends[0] < ends[1]);
        assert_true(e == 0 || ends[-2] < ends[0] || (ends[-2] == ends[0] && ends[-1] < ends[1]));
        for (int32_t i = 0; i < f->primitive_count; i++)
            for (int k = 0; k < 3; k++) {
                if (f->sides[i][k] != e)
                    continue;
                const int32_t a = f->primitives[i][k], b = f->primitives[i][(k + 1) % 3];
                assert_true((a == ends[0] && b == ends[1]) || (a == ends[1] && b == ends[0]));
                own += (f->flags[i] & SINEW_OWNS_EDGE << k) != 0;
                if (f->flags[i] & SINEW_IS_FACE && wing < 2)
                    assert_int_equal(f->opposite_vertices[e][wing++], f->primitives[i][(k + 2) % 3]);
            }
        assert_int_equal(own, 1);
        for (; wing < 2; wing++)
            assert_int_equal(f->opposite_vertices[e][wing], -1);
    }
    for (int32_t i = 0; i < f->primitive_count; i++)
        for (int k = 0; k < 3; k++) {
            const bool side =
                f->primitives[i][k] != f->primitives[i][(k + 1) % 3] && (k < 2 || f->flags[i] & SINEW_IS_FACE);
            assert_int_equal(f->sides[i][k] >= 0, side);
        }
}

static void check_neighbours(const detect_case *c)
{
    const sinew_collision_mesh *f = &c->mesh;
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
    random_cases r = random_cases_begin("mesh", 60, 1000);
    for (int32_t n = 0; n < r.count; n++) {
        detect_case *c = detect_case_make(&r);
        check_cells(c);
        check_edges(c);
        check_neighbours(c);
        detect_case_release(c);
    }
}

/* ---- Pairs against a loop over all ------------------------------------------------------------- */

static int compare_pairs(const sinew_candidate *a, const sinew_candidate *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    for (int i = 0; i < 4; i++)
        if (a->v[i] != b->v[i])
            return a->v[i] < b->v[i] ? -1 : 1;
    return (a->second > b->second) - (a->second < b->second);
}

static const sinew_candidate *find_pair(const sinew_candidates *pairs, const sinew_candidate *wanted)
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
    double max = 0;
    for (int i = 0; i < count; i++)
        max = fmax(max, (double)c->inflation_radius[v[i]]);
    return max;
}

/* What detection promises of a pair that is not listed (candidates.h). */
typedef struct promise {
    double reach, gap; /* m: distance at x and x + d, and wherever the vertices may go */
    double radii;      /* m */
    int firsts;        /* vertices of the first feature */
    bool joint;        /* true: both features share lambda */
    bool is_doubtful;  /* true: whether the features coincide at rest is a matter of round-off */
} promise;

static promise promise_of(const detect_case *c, const sinew_candidate *pair)
{
    const sinew_collision_mesh *f = &c->mesh;
    const int32_t *v = pair->v, one = f->object[v[0]], other = f->object[v[3]];
    const int firsts = pair->kind == SINEW_CANDIDATE_EDGE_EDGE ? 2 : 1;
    promise p = {.reach = reach_of(c, v, firsts) + reach_of(c, v + firsts, 4 - firsts),
                 .gap = f->objects[one].half_thickness + f->objects[other].half_thickness,
                 .radii = f->objects[one].radius + f->objects[other].radius,
                 .firsts = firsts,
                 .joint = c->island ? c->island[one] == c->island[other] : one == other};
    const double rest = one == other ? (double)referee_distance(v, pair->kind, f->rest) : 0;
    p.is_doubtful = rest > 0 && rest < 1e3 * CASE_ROUND_OFF * c->size;
    if (rest > 0) {
        p.reach = fmin(p.reach, SINEW_REST_NEAR * rest);
        p.gap = fmin(p.gap, fmax(SINEW_GAP_MIN * p.gap, SINEW_REST_GAP * rest));
    }
    return p;
}

/* Whether the pair is separated along u by the reach and by the gap, each enlarged by `more`: all vertices against all,
 * at all corners of (lambda, mu). */
static bool is_separated(const detect_case *c, const sinew_candidate *pair, const promise *p, const double u[3],
                         double more)
{
    for (int corner = 0; corner < 4; corner++)
        for (int a = 0; a < p->firsts; a++)
            for (int b = p->firsts; b < 4; b++) {
                const int32_t i = pair->v[a], j = pair->v[b];
                const int lambda = corner % 2, mu = corner / 2;
                double h = -p->radii;
                for (int k = 0; k < 3; k++)
                    h += u[k] * ((double)c->x[4 * i + k] - (double)c->x[4 * j + k] +
                                 lambda * (double)c->predicted[4 * i + k] - mu * (double)c->predicted[4 * j + k]);
                if (p->joint && lambda != mu)
                    continue;
                if (!(h > p->reach + more) ||
                    !(h - (double)c->predicted[4 * i + 3] - (double)c->predicted[4 * j + 3] > p->gap + more))
                    return false;
            }
    return true;
}

/* Whether some of the four directions proves that the pair may be left out; `more` as in is_separated(). */
static bool has_proof(const detect_case *c, const sinew_candidate *pair, const promise *p, double more)
{
    sinew_candidate closest = *pair;
    double n[3], length = 0;
    sinew_candidate_closest(&closest, c->x);
    for (int k = 0; k < 3; k++)
        length += (double)closest.n[k] * (double)closest.n[k];
    for (int k = 0; k < 3; k++)
        n[k] = (double)closest.n[k] / sqrt(length);
    bool any = is_separated(c, pair, p, n, more);
    for (int k = 0; k < 6; k++) {
        double axis[3] = {0, 0, 0};
        axis[k / 2] = k % 2 ? -1 : 1;
        any = any || is_separated(c, pair, p, axis, more);
    }
    return any;
}

/* Checks the distance of an unlisted pair, m, where its vertices are at x + lambda d, pushed by their whole radii along
 * `push` (unit, from the second to the first feature) towards each other. */
static void check_distance(const detect_case *c, const sinew_candidate *pair, const promise *p, const double ends[2],
                           const double push[3], double least)
{
    static const int32_t own[4] = {0, 1, 2, 3};
    sinew_real x[4][4] = {{0}};
    for (int a = 0; a < 4; a++)
        for (int k = 0; k < 3; k++) {
            const sinew_real *d = c->predicted + 4 * pair->v[a];
            const double sign = a < p->firsts ? -1 : 1;
            x[a][k] = (sinew_real)((double)c->x[4 * pair->v[a] + k] + ends[a >= p->firsts] * (double)d[k] +
                                   sign * push[k] * (double)d[3]);
        }
    const double distance = (double)referee_distance(own, pair->kind, x[0]) - p->radii;
    if (!(distance >= least - 4 * CASE_ROUND_OFF * c->size))
        fail_msg("a pair that is not listed comes as near as %g, not %g", distance, least);
}

/* Draws places that the step filter allows the vertices of an unlisted pair, the worst ones included. The referee is
 * slow: check_pair() calls this for a sample of the pairs. */
static void check_unlisted(random_cases *r, const detect_case *c, const sinew_candidate *pair, const promise *p)
{
    sinew_candidate closest = *pair;
    double n[3], none[3] = {0, 0, 0};
    sinew_candidate_closest(&closest, c->x);
    for (int k = 0; k < 3; k++)
        n[k] = (double)closest.n[k] * (1 - (double)FLT_EPSILON);
    for (int corner = 0; corner < 4; corner++) {
        double ends[2] = {corner % 2, corner / 2};
        if (p->joint && corner % 2 != corner / 2)
            ends[0] = ends[1] = random_between(r, 0, 1);
        check_distance(c, pair, p, ends, none, p->reach);
        check_distance(c, pair, p, ends, n, p->gap);
        for (int k = 0; k < 3; k++)
            n[k] = random_between(r, -0.57, 0.57);
        check_distance(c, pair, p, ends, n, p->gap);
    }
}

static bool is_still(const sinew_collision_mesh *f, int32_t v)
{
    return f->objects[f->object[v]].kinematic;
}

/* Checks that the pair is listed if and only if it may come near, with the right numbers. Counts it if it is. */
static void check_pair(random_cases *r, const detect_case *c, const sinew_candidates *pairs,
                       const sinew_candidate *wanted, int64_t *listed)
{
    const sinew_collision_mesh *f = &c->mesh;
    const int32_t *v = wanted->v;
    const int firsts = wanted->kind == SINEW_CANDIDATE_EDGE_EDGE ? 2 : 1, object = f->object[v[0]],
              other = f->object[v[3]];
    const sinew_candidate *found = find_pair(pairs, wanted);
    bool shared = false;
    for (int i = 0; i < firsts; i++)
        for (int j = firsts; j < 4; j++)
            shared = shared || v[i] == v[j];
    if (shared || !sinew_may_collide(f, object, other) || (is_still(f, v[0]) && is_still(f, v[3]))) {
        assert_null(found);
        return;
    }
    const promise p = promise_of(c, wanted);
    if (p.is_doubtful) {
        *listed += found != NULL;
        return;
    }
    const double distance = (double)referee_distance(v, wanted->kind, c->x) - p.radii,
                 round_off = CASE_ROUND_OFF * c->size;
    if (!c->predicted && fabs(distance - p.reach) > round_off)
        assert_int_equal(found != NULL, distance < p.reach);
    /* The direction of nearly coincident features is round-off. */
    if (c->predicted && distance + p.radii > 1e-6 * c->size && has_proof(c, wanted, &p, 1e3 * round_off))
        assert_null(found);
    if (!found && c->predicted && random_index(r, 32) == 0)
        check_unlisted(r, c, wanted, &p);
    if (!found)
        return;
    (*listed)++;
    assert_int_equal(found->first, wanted->first);
    assert_true(fabs((double)found->distance - distance) <= CASE_ROUND_OFF * c->size);
    assert_true(referee_agrees(found, c->x, c->size, CASE_ROUND_OFF));
}

static void check_weights(const sinew_candidate *pair)
{
    const int firsts = pair->kind == SINEW_CANDIDATE_EDGE_EDGE ? 2 : 1;
    double sum[2] = {0, 0}, length = 0;
    for (int a = 0; a < 4; a++) {
        const double w = (double)pair->w[a];
        assert_true(a < firsts ? w >= 0 : w <= 0);
        assert_int_equal(pair->zero_weights >> a & 1, w == 0);
        sum[a >= firsts] += w;
    }
    for (int k = 0; k < 3; k++)
        length += (double)pair->n[k] * (double)pair->n[k];
    assert_true(fabs(sum[0] - 1) < CASE_ROUND_OFF && fabs(sum[1] + 1) < CASE_ROUND_OFF);
    assert_true(fabs(length - 1) < CASE_ROUND_OFF);
}

/* A listed pair has the same numbers as the pair alone. */
static void check_alone(const detect_case *c, const sinew_candidate *pair)
{
    const sinew_collision_object *objects = c->mesh.objects;
    const int32_t *object = c->mesh.object;
    sinew_candidate alone = {.kind = pair->kind};
    memcpy(alone.v, pair->v, sizeof alone.v);
    sinew_candidate_closest(&alone, c->x);
    for (int a = 0; a < 4; a++)
        assert_true(alone.w[a] == pair->w[a] && (a == 3 || alone.n[a] == pair->n[a]));
    assert_int_equal(alone.zero_weights, pair->zero_weights);
    if (objects[object[pair->v[0]]].radius + objects[object[pair->v[3]]].radius == 0)
        assert_true(alone.distance == pair->distance);
}

static void check_all(random_cases *r, const detect_case *c, const sinew_candidates *pairs)
{
    const sinew_collision_mesh *f = &c->mesh;
    int64_t listed = 0;
    for (int64_t i = 0; i < pairs->count; i++) {
        assert_true(i == 0 || compare_pairs(pairs->list + i - 1, pairs->list + i) < 0);
        check_weights(pairs->list + i);
        check_alone(c, pairs->list + i);
    }
    for (int32_t v = 0; v < f->vertex_count; v++)
        for (int32_t i = 0; i < f->primitive_count; i++) {
            const int32_t *t = f->primitives[i];
            const bool face = t[1] != t[2], lone = f->first_neighbour[v] == f->first_neighbour[v + 1];
            bool primitive = false; /* vertices without a primitive have no pairs */
            for (int32_t j = 0; j < f->primitive_count; j++)
                primitive = primitive || has_vertex(f->primitives[j], v);
            if (primitive && (face || (lone && (t[0] != t[1] || t[0] > v))))
                check_pair(
                    r, c, pairs,
                    &(sinew_candidate){
                        .kind = SINEW_CANDIDATE_VERTEX_FACE, .v = {v, t[0], t[1], t[2]}, .first = v, .second = i},
                    &listed);
        }
    for (int32_t i = 0; i < f->edge_count; i++)
        for (int32_t j = i + 1; j < f->edge_count; j++) {
            const int32_t *a = f->edges[i], *b = f->edges[j];
            check_pair(r, c, pairs,
                       &(sinew_candidate){
                           .kind = SINEW_CANDIDATE_EDGE_EDGE, .v = {a[0], a[1], b[0], b[1]}, .first = i, .second = j},
                       &listed);
        }
    assert_int_equal(listed, pairs->count);
}

static void detect(sinew_detector *detector, const detect_case *c, int64_t limit, sinew_candidates *pairs)
{
    sinew_error error;
    const sinew_detect_input input = {c->x, c->inflation_radius, c->predicted, c->island};
    assert_int_equal(sinew_detect(detector, &input, limit, pairs, &error), SINEW_OK);
}

static void test_brute_force(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("pairs", 60, 1000);
    for (int32_t n = 0; n < r.count; n++) {
        detect_case *c = detect_case_make(&r);
        sinew_detector *detector = case_detector(c, 1);
        sinew_candidates pairs = {0};
        detect(detector, c, 0, &pairs);
        assert_int_equal(pairs.dropped, 0);
        check_all(&r, c, &pairs);
        sinew_candidates_release(&pairs, &c->mesh.allocator);
        sinew_detector_destroy(detector);
        detect_case_release(c);
    }
}

static void assert_same(const sinew_candidates *a, const sinew_candidates *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->dropped, b->dropped);
    assert_true(a->count == 0 || memcmp(a->list, b->list, (size_t)a->count * sizeof *a->list) == 0);
}

/* Rounds positions to a grid, so that moving them by `shift` m is exact in both precisions. */
static void put_on_grid(detect_case *c, double grid, double shift)
{
    for (int32_t v = 0; v < c->mesh.vertex_count; v++)
        for (int k = 0; k < 3; k++)
            c->x[4 * v + k] = (sinew_real)(grid * round((double)c->x[4 * v + k] / grid) + (k == 1 ? -shift : shift));
}

/* A scene that is moved far from the origin, without round-off, has the same pairs with the same data. */
static void test_far_away(void **state)
{
    (void)state;
    /* Positions have 12 digits below `size`: 24 digits in single precision with one for the sum, 53 in double. */
    const int far_exponent = sizeof(sinew_real) == 4 ? 10 : 30;
    random_cases r = random_cases_begin("far away", 30, 500);
    for (int32_t n = 0; n < r.count; n++) {
        detect_case *c = detect_case_make(&r);
        const double size = exp2(ceil(log2(c->size))), grid = ldexp(size, -12);
        sinew_candidates near = {0}, far = {0};
        put_on_grid(c, grid, 0);
        sinew_detector *detector = case_detector(c, 1);
        detect(detector, c, 0, &near);
        sinew_detector_destroy(detector);
        put_on_grid(c, grid, ldexp(size, random_index(&r, 2) ? far_exponent : 2));
        detector = case_detector(c, 1);
        detect(detector, c, 0, &far);
        sinew_detector_destroy(detector);
        assert_same(&near, &far);
        sinew_candidates_release(&near, &c->mesh.allocator);
        sinew_candidates_release(&far, &c->mesh.allocator);
        detect_case_release(c);
    }
}

/* One vertex is infinitely far away, or not a number: the pairs of all other vertices are found as before. */
static void test_lost_vertex(void **state)
{
    (void)state;
    const double places[] = {1e37, -1e37, INFINITY, -INFINITY, NAN};
    random_cases r = random_cases_begin("lost vertex", 40, 500);
    for (int32_t n = 0; n < r.count; n++) {
        detect_case *c = detect_case_make(&r);
        const int32_t lost = random_index(&r, c->mesh.vertex_count);
        sinew_candidates all = {0}, rest = {0};
        sinew_detector *detector = case_detector(c, 1);
        detect(detector, c, 0, &all);
        sinew_detector_destroy(detector);
        for (int k = 0; k < 3; k++)
            c->x[4 * lost + k] = (sinew_real)places[random_index(&r, 5)];
        detector = case_detector(c, 1);
        detect(detector, c, 0, &rest);
        sinew_detector_destroy(detector);
        for (int64_t i = 0; i < all.count; i++) {
            bool has = false;
            for (int a = 0; a < 4; a++)
                has |= all.list[i].v[a] == lost;
            assert_true(has || find_pair(&rest, &all.list[i]));
        }
        sinew_candidates_release(&all, &c->mesh.allocator);
        sinew_candidates_release(&rest, &c->mesh.allocator);
        detect_case_release(c);
    }
}

/* ---- The same list ---------------------------------------------------------------------------- */

/* Compares the list of a new detector with `threads` threads in one SIMD variant. */
static void check_same(const detect_case *c, int32_t threads, int32_t variant, const sinew_candidates *wanted)
{
    sinew_candidates pairs = {0};
    const int32_t chosen = sinew_variant_chosen();
    sinew_variant_use(variant);
    sinew_detector *detector = case_detector(c, threads);
    sinew_variant_use(chosen);
    detect(detector, c, 0, &pairs);
    assert_same(&pairs, wanted);
    if (wanted->count > 1) {
        const int64_t limit = wanted->count / 2;
        detect(detector, c, limit, &pairs);
        const sinew_candidates fraction = {.list = wanted->list, .count = limit, .dropped = wanted->count - limit};
        assert_same(&pairs, &fraction);
    }
    sinew_candidates_release(&pairs, &c->mesh.allocator);
    sinew_detector_destroy(detector);
}

/* Moves everything a little, or to unrelated positions; colliders sometimes stay. */
static void move_on(random_cases *r, detect_case *c)
{
    const double far = random_index(r, 3) ? 0.05 : 2;
    const int32_t last = random_index(r, 2) ? c->mesh.moved_count : c->mesh.vertex_count;
    for (int32_t v = 0; v < last; v++) {
        for (int k = 0; k < 3; k++)
            c->x[4 * v + k] += (sinew_real)(far * c->size * random_between(r, -1, 1));
        c->inflation_radius[v] *= (sinew_real)random_between(r, 0.5, 1.9);
    }
    if (c->predicted && random_index(r, 3) == 0)
        case_ways(r, c);
    c->predicted = random_index(r, 5) ? c->known_predicted : NULL;
}

static void test_same_list(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("same lists", 60, 1000);
    for (int32_t n = 0; n < r.count; n++) {
        detect_case *c = detect_case_make(&r);
        sinew_detector *old = case_detector(c, 1);
        sinew_candidates pairs = {0};
        for (int i = 0; i < 4; i++) {
            int32_t crossing[1][2];
            detect(old, c, 0, &pairs);
            for (int32_t threads = 1; threads <= 3; threads++)
                check_same(c, threads, sinew_variant_chosen(), &pairs);
            for (int32_t variant = sinew_variant_best(); variant < SINEW_VARIANT_COUNT; variant++)
                check_same(c, 1, variant, &pairs);
            assert_true(sinew_detect_intersections(old, c->x, crossing, 1) >= 0);
            move_on(&r, c);
        }
        sinew_candidates_release(&pairs, &c->mesh.allocator);
        sinew_detector_destroy(old);
        detect_case_release(c);
    }
}

/* ---- Many features ----------------------------------------------------------------------------- */

enum {
    SIDE = 24
};

/* Two wavy sheets that pass through each other, and a rope over them. */
static void place_sheets(detect_case *c, double time)
{
    for (int32_t v = 0; v < c->mesh.vertex_count; v++) {
        const int32_t own = v % (SIDE * SIDE), sheet = v / (SIDE * SIDE);
        const double i = own / SIDE, j = own % SIDE;
        const double wave = 2 * sin(0.3 * i + time) * cos(0.4 * j + sheet);
        const double at[3] = {sheet < 2 ? i : 0.05 * own, wave + 0.4 * sheet, sheet < 2 ? j : 0.05 * own};
        for (int k = 0; k < 3; k++)
            c->x[4 * v + k] = (sinew_real)at[k];
        c->inflation_radius[v] = (sinew_real)(0.2 + 0.1 * sin(v));
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
        c->objects[o] = (sinew_collision_object){.first_vertex = o * SIDE * SIDE, .vertex_count = SIDE * SIDE};
        if (o < 2)
            c->primitives[o] =
                (sinew_object_primitives){.triangles = triangles, .triangle_count = 2 * (SIDE - 1) * (SIDE - 1)};
        else
            c->primitives[o] = (sinew_object_primitives){.edges = edges, .edge_count = SIDE * SIDE - 1};
    }
    assert_int_equal(sinew_collision_mesh_create(&c->mesh, NULL, c->objects, c->primitives, c->lone, 3, NULL),
                     SINEW_OK);
    memset(c->mesh.may_collide, 1, 9);
    c->x = calloc(4 * 3 * SIDE * SIDE, sizeof *c->x);
    c->inflation_radius = calloc(3 * SIDE * SIDE, sizeof *c->inflation_radius);
    assert_true(c->x && c->inflation_radius);
    return c;
}

/* The number of edges near higher ones, by a loop over all pairs; checks that each is listed. */
static int64_t count_edge_pairs(const detect_case *c, const sinew_candidates *pairs)
{
    const sinew_collision_mesh *f = &c->mesh;
    int64_t count = 0;
    for (int32_t i = 0; i < f->edge_count; i++)
        for (int32_t j = i + 1; j < f->edge_count; j++) {
            const int32_t *a = f->edges[i], *b = f->edges[j];
            sinew_candidate pair = {.kind = SINEW_CANDIDATE_EDGE_EDGE, .v = {a[0], a[1], b[0], b[1]}, .second = j};
            if (a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1] ||
                fabs((double)c->x[4 * a[0]] - (double)c->x[4 * b[0]]) > 5)
                continue;
            sinew_candidate_closest(&pair, c->x);
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
    sinew_candidates pairs = {0};
    for (int step = 0; step < 5; step++) {
        place_sheets(c, 0.1 * step);
        detect(old, c, 0, &pairs);
        for (int32_t threads = 1; threads <= 3; threads++)
            check_same(c, threads, sinew_variant_chosen(), &pairs);
    }
    int64_t edges = 0;
    for (int64_t i = 0; i < pairs.count; i++) {
        edges += pairs.list[i].kind == SINEW_CANDIDATE_EDGE_EDGE;
        check_alone(c, pairs.list + i);
    }
    assert_int_equal(edges, count_edge_pairs(c, &pairs));
    assert_true(edges > 1000);
    sinew_candidates_release(&pairs, &c->mesh.allocator);
    sinew_detector_destroy(old);
    detect_case_release(c);
}

/* ---- Closest points of hard pairs --------------------------------------------------------------- */

/* Corners that are nearly or exactly collinear, repeated, or coincident. */
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
                at = (double)x[a - 2][k] / scale + (k == 2 ? 0.3 : 0); /* parallel edges */
            if (how == 3 && a >= 1)
                at = (double)x[0][k] / scale;
            if (how == 4 && a >= 2)
                at = (double)(x[0][k] + x[a - 1][k]) / scale / 2; /* collinear with the other corners */
            if (how == 5 && a == 3)
                at = (double)x[2][k] / scale;
            x[a][k] = (sinew_real)(scale * (at + noise * random_between(r, -1, 1)));
        }
    for (int a = 0; a < 4; a++)
        x[a][3] = 0;
}

/* Checks distance and closest points of one pair of the size `size` against the referee. */
static void check_hard(const char *what, int32_t n, int kind, sinew_real x[4][4], double size)
{
    sinew_candidate pair = {.v = {0, 1, 2, 3}, .kind = (uint8_t)kind};
    sinew_candidate_closest(&pair, x[0]);
    check_weights(&pair);
    const double distance = (double)referee_distance(pair.v, pair.kind, x[0]);
    if (!(fabs((double)pair.distance - distance) <= 10 * CASE_ROUND_OFF * size) ||
        !referee_agrees(&pair, x[0], size, CASE_FLAT_WEIGHTS))
        fail_msg("%s %d: %.17g, referee %.17g, size %g", what, (int)n, (double)pair.distance, distance, size);
}

/* Triangles with a side of a few units of round-off, found by random draws. */
static void test_short_sides(void **state)
{
    (void)state;
    static const double x[3][4][3] = {
        {{23357.027764562572, 4.6722695808173049e-14, 6.8577626334115089e-13},
         {-23357.027764562572, 23357.027764562568, 23357.027764562572},
         {-23357.027764562572, 23357.027764562572, 23357.027764562568},
         {23357.027764562572, -23357.027764562572, -23357.027764562572}},
        {{0.0069164513434177973, -3.2016424569436455e-19, -7.5027201690796457e-19},
         {-0.0069164513434177965, -0.0069164513434177973, -0.0069164513434177965},
         {-7.5259595293353918e-19, 0.0069164513434177991, 0.0069164513434177973},
         {-0.0069164513434177965, -0.0069164513434177965, -0.0069164513434177973}},
        {{4.2587398274548106e-14, -145.51921983366233, -145.51921983366228},
         {145.51921983366228, -145.51921983366219, 145.51921983366222},
         {-145.51921983366219, 145.51921983366219, -145.51921983366216},
         {145.51921983366216, -145.51921983366219, 145.51921983366222}},
    };
    for (int32_t n = 0; n < 9; n++) {
        sinew_real corners[4][4] = {{0}};
        for (int a = 0; a < 4; a++)
            for (int k = 0; k < 3; k++)
                corners[a][k] = (sinew_real)x[n / 3][a ? 1 + (a - 1 + n) % 3 : 0][k];
        check_hard("sliver", n, SINEW_CANDIDATE_VERTEX_FACE, corners, fabs(x[n / 3][1][0]));
    }
}

static void test_hard_pairs(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("closest points", 20000, 1000000);
    for (int32_t n = 0; n < r.count; n++) {
        sinew_real x[4][4];
        double size = 0;
        draw_hard(&r, x);
        for (int i = 0; i < 16; i++)
            size = fmax(size, fabs((double)x[i / 4][i % 4]));
        check_hard("case", n, n % 2, x, size);
    }
}

/* ---- Memory ----------------------------------------------------------------------------------- */

/* Creates a mesh, a detector and two lists with an allocator that fails once. True: all succeeded. */
static bool run_once(const detect_case *c, const sinew_allocator *hooks, sinew_error *error)
{
    sinew_collision_mesh f = {0};
    sinew_detector *detector = NULL;
    sinew_candidates pairs = {0};
    const sinew_detect_input input = {c->x, c->inflation_radius, c->predicted, c->island};
    sinew_status status =
        sinew_collision_mesh_create(&f, hooks, c->objects, c->primitives, c->lone, c->object_count, error);
    if (status == SINEW_OK) {
        memset(f.may_collide, 1, (size_t)(f.object_count * f.object_count));
        status = sinew_detector_create(&detector, &f, 2, error);
    }
    if (status == SINEW_OK)
        status = sinew_detect(detector, &input, 0, &pairs, error);
    if (status == SINEW_OK && sinew_detect_intersections(detector, c->x, NULL, 0) < 0)
        status = error->status = SINEW_ERROR_MEMORY;
    /* A failure does not affect later calls. */
    if (detector && status != SINEW_OK) {
        sinew_candidates again = {0}, fresh = {0};
        sinew_detector *other = NULL;
        assert_int_equal(sinew_detect(detector, &input, 0, &again, NULL), SINEW_OK);
        assert_int_equal(sinew_detector_create(&other, &f, 1, NULL), SINEW_OK);
        assert_int_equal(sinew_detect(other, &input, 0, &fresh, NULL), SINEW_OK);
        assert_same(&again, &fresh);
        sinew_detector_destroy(other);
        sinew_candidates_release(&again, hooks);
        sinew_candidates_release(&fresh, hooks);
    }
    sinew_candidates_release(&pairs, hooks);
    sinew_detector_destroy(detector);
    sinew_collision_mesh_destroy(&f);
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
        for (int64_t i = 0; i < c->mesh.vertex_count; i++) /* exceeds the initial capacity */
            c->inflation_radius[i] = (sinew_real)(3 * c->size);
        for (memory.fail_at = 1; !done; memory.fail_at++) {
            memory.calls = 0;
            done = run_once(c, &hooks, &error);
            assert_true(done || error.status == SINEW_ERROR_MEMORY);
            assert_int_equal(memory.live, 0);
        }
        detect_case_release(c);
    }
}

/* A second detection at the same positions allocates nothing. */
static void test_warm(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("warm", 20, 200);
    for (int32_t n = 0; n < r.count; n++) {
        detect_case *c = detect_case_make(&r);
        failing_allocator memory = {0};
        const sinew_allocator hooks = hooks_of(&memory), own = c->mesh.allocator;
        sinew_candidates pairs = {0};
        c->mesh.allocator = hooks;
        sinew_detector *detector = case_detector(c, 1);
        c->mesh.allocator = own;
        for (int i = 0; i < 3; i++) {
            memory.calls = 0;
            detect(detector, c, 0, &pairs);
            sinew_detect_intersections(detector, c->x, NULL, 0);
            assert_true(i < 2 || memory.calls == 0);
        }
        sinew_candidates_release(&pairs, &hooks);
        sinew_detector_destroy(detector);
        assert_int_equal(memory.live, 0);
        detect_case_release(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_features),      cmocka_unit_test(test_brute_force), cmocka_unit_test(test_same_list),
        cmocka_unit_test(test_many_features), cmocka_unit_test(test_short_sides), cmocka_unit_test(test_hard_pairs),
        cmocka_unit_test(test_memory),        cmocka_unit_test(test_warm),        cmocka_unit_test(test_far_away),
        cmocka_unit_test(test_lost_vertex),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
