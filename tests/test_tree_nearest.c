/* SPDX-License-Identifier: MIT
 *
 * test_tree_nearest.c: nearest points and primitives within a distance against brute force with the same leaf function,
 * and the leaf function against an independent minimisation.
 */
#include <math.h>

#undef SINEW_SIMD_WIDTH
#undef SINEW_SIMD_SUFFIX
#define SINEW_SIMD_WIDTH  1
#define SINEW_SIMD_SUFFIX test
#include "bvh/leaf_nearest.h"
#include "bvh/tree.h"
#include "tree_cases.h"

/* ---- Brute force ------------------------------------------------------------------------------ */

static leaf_spot cell_spot(const sinew_tree *tree, int32_t cell, const sinew_nearest_query *q)
{
    sinew_real x[9] = {0};
    for (int i = 0; i < 3 * tree->width; i++)
        x[i] = (sinew_real)((double)sinew_tree_corner(tree, cell, i / 3)[i % 3] * tree->scale);
    return leaf_nearest(tree->width, q->p, x);
}

/* The nearest primitive, -1 if there is none; and its distance. */
static int32_t brute_nearest(const sinew_tree *tree, const sinew_real p[3], double limit, sinew_real *distance)
{
    sinew_nearest_query q;
    int exponent;
    int32_t cell = -1;
    if (!sinew_nearest_query_set(tree, p, limit, &q, &exponent))
        return -1;
    for (int32_t i = 0; i < tree->cell_count; i++) {
        const sinew_real d2 = cell_spot(tree, i, &q).d2;
        if (cell < 0 ? d2 <= q.d2 : d2 < q.d2) {
            q.d2 = d2;
            cell = i;
        }
    }
    *distance = (sinew_real)ldexp(sqrt((double)q.d2), -exponent);
    return cell;
}

static double draw_limit(random_cases *r, const tree_case *c)
{
    return random_index(r, 3) ? INFINITY : c->size * random_magnitude(r, 1e-6, 10);
}

static void check_nearest(const sinew_tree *tree, const sinew_real p[3], sinew_real limit, int kind, int64_t *found)
{
    sinew_real distance = 0;
    const int32_t wanted = brute_nearest(tree, p, (double)limit, &distance);
    int32_t count;
    const sinew_tree_kernel *const *kernels = sinew_tree_kernels(&count);
    sinew_tree_point first = {0};
    for (int32_t i = 0; i < count; i++) {
        sinew_tree_point place;
        ((sinew_tree *)tree)->kernel = kernels[i];
        sinew_tree_nearest(tree, 1, p, &limit, &place);
        if (place.cell != wanted || (wanted >= 0 && place.distance != distance))
            fail_msg("%s, kind %d of %d cells of %d: cell %d at %.9g, brute force %d at %.9g", kernels[i]->name, kind,
                     tree->cell_count, tree->width, place.cell, (double)place.distance, wanted, (double)distance);
        if (i > 0 && (memcmp(place.weights, first.weights, sizeof place.weights) || place.on != first.on ||
                      memcmp(place.point, first.point, sizeof place.point)))
            fail_msg("%s: another place", kernels[i]->name);
        first = place;
    }
    *found += wanted >= 0;
}

static void check_within(const sinew_tree *tree, const sinew_real p[3], sinew_real distance)
{
    sinew_nearest_query q;
    int exponent;
    int32_t *cells = malloc((size_t)(tree->cell_count + 1) * sizeof *cells);
    assert_non_null(cells);
    assert_true(sinew_nearest_query_set(tree, p, (double)distance, &q, &exponent));
    const int64_t count = sinew_tree_within(tree, p, distance, cells, tree->cell_count), part = count / 2;
    int64_t at = 0;
    for (int32_t i = 0; i < tree->cell_count; i++)
        if (cell_spot(tree, i, &q).d2 <= q.d2) {
            assert_true(at < count);
            assert_int_equal(cells[at++], i);
        }
    assert_int_equal(at, count);
    /* With a smaller capacity the lowest indices are written, and nothing beyond the buffer. */
    int32_t *some = malloc((size_t)(part + 1) * sizeof *some);
    assert_non_null(some);
    some[part] = -7;
    assert_int_equal(sinew_tree_within(tree, p, distance, some, part), count);
    assert_memory_equal(some, cells, (size_t)part * sizeof *some);
    assert_int_equal(some[part], -7);
    free(some);
    free(cells);
}

static void test_brute_force(void **state)
{
    (void)state;
#ifdef SINEW_SANITIZED
    random_cases r = random_cases_begin("nearest", 40, 400);
#else
    random_cases r = random_cases_begin("nearest", 1200, 20000);
#endif
    int64_t points = 0, found = 0;
    for (int32_t n = 0; n < r.count; n++) {
        const int kind = n % CASE_KINDS, width = 3 - n / CASE_KINDS % 4 % 3;
        tree_case c = case_make(&r, kind, width, n % 50 ? 60 : 2000);
        sinew_tree *tree = case_tree(&c);
        for (int i = 0; i < 50; i++, points++) {
            sinew_real p[3];
            case_point(&r, &c, p);
            const sinew_real limit = (sinew_real)draw_limit(&r, &c);
            check_nearest(tree, p, limit, kind, &found);
            if (i % 10 == 0)
                check_within(tree, p, limit);
        }
        sinew_tree_destroy(tree);
        case_release(&c);
    }
    printf("%lld points, %lld have a place\n", (long long)points, (long long)found);
    assert_true(found > points / 2 && found < points);
}

/* ---- The leaf function ------------------------------------------------------------------------ */

/* The distance by nested ternary search in long double: |p - a - v ab - w ac| is convex. */
static long double far_from(const sinew_real p[3], const sinew_real *const x[3], long double v, long double w)
{
    long double sum = 0;
    for (int k = 0; k < 3; k++) {
        const long double a = (long double)x[0][k];
        const long double d = (long double)p[k] - a - v * ((long double)x[1][k] - a) - w * ((long double)x[2][k] - a);
        sum += d * d;
    }
    return sqrtl(sum);
}

static long double search_w(const sinew_real p[3], const sinew_real *const x[3], long double v)
{
    long double low = 0, high = 1 - v;
    for (int i = 0; i < 90; i++) {
        const long double a = low + (high - low) / 3, b = high - (high - low) / 3;
        if (far_from(p, x, v, a) < far_from(p, x, v, b))
            high = b;
        else
            low = a;
    }
    return far_from(p, x, v, low);
}

static long double search_distance(const sinew_real p[3], const sinew_real *const x[3])
{
    long double low = 0, high = 1;
    for (int i = 0; i < 90; i++) {
        const long double a = low + (high - low) / 3, b = high - (high - low) / 3;
        if (search_w(p, x, a) < search_w(p, x, b))
            high = b;
        else
            low = a;
    }
    return search_w(p, x, low);
}

/* The nearest point of a triangle has the minimal distance and agrees with its weights. */
static void check_place(const tree_case *c, const sinew_real p[3], const sinew_tree_point *place)
{
    const sinew_real *x[3];
    double size = 0, sum = 0, away = 0;
    for (int i = 0; i < 3; i++) {
        x[i] = c->positions + 3 * (size_t)c->cells[3 * place->cell + i];
        sum += (double)place->weights[i];
        assert_true(place->weights[i] >= 0);
        assert_int_equal(place->on >> i & 1, place->weights[i] > 0);
    }
    for (int k = 0; k < 3; k++) {
        double at = 0;
        for (int i = 0; i < 3; i++) {
            at += (double)place->weights[i] * (double)x[i][k];
            size = fmax(size, fmax(fabs((double)x[i][k]), fabs((double)p[k])));
        }
        assert_true(fabs(at - (double)place->point[k]) <= 8 * WIDE_EPSILON * size);
        away = hypot(away, (double)place->point[k] - (double)p[k]);
    }
    const double min = (double)search_distance(p, x), close = 64 * WIDE_EPSILON * size;
    assert_true(fabs(sum - 1) <= 4 * WIDE_EPSILON);
    assert_true(fabs(away - (double)place->distance) <= close);
    if (!(fabs((double)place->distance - min) <= close))
        fail_msg("distance %.9g, by search %.9g", (double)place->distance, min);
}

static void test_places(void **state)
{
    (void)state;
#ifdef SINEW_SANITIZED
    random_cases r = random_cases_begin("places", 40, 400);
#else
    random_cases r = random_cases_begin("places", 200, 4000);
#endif
    static const int kinds[] = {CASE_SOUP, CASE_SHARED, CASE_LATTICE, CASE_LARGE, CASE_SLIVERS, CASE_ONE_SPOT};
    for (int32_t n = 0; n < r.count; n++) {
        tree_case c = case_make(&r, kinds[n % 6], 3, 8);
        sinew_tree *tree = case_tree(&c);
        sinew_tree_point place;
        sinew_real p[3];
        case_point(&r, &c, p);
        sinew_tree_nearest(tree, 1, p, NULL, &place);
        check_place(&c, p, &place);
        sinew_tree_destroy(tree);
        case_release(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brute_force),
        cmocka_unit_test(test_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
