/* SPDX-License-Identifier: MIT
 *
 * test_tree_nearest.c: nearest places and cells within a distance against brute force over the same leaf function, and
 * that function against the minimum found another way.
 */
#include <math.h>

#define SINEW_LANE_WIDTH  1
#define SINEW_LANE_SUFFIX test
#include "tree/leaf_nearest.h"
#include "tree/tree.h"
#include "tree_cases.h"

/* ---- Brute force ------------------------------------------------------------------------------ */

static leaf_spot cell_spot(const sinew_tree *tree, int32_t cell, const sinew_nearest_query *q)
{
    sinew_real x[9] = {0};
    for (int i = 0; i < 3 * tree->width; i++)
        x[i] = (sinew_real)((double)sinew_tree_corner(tree, cell, i / 3)[i % 3] * tree->scale);
    return leaf_nearest(tree->width, q->p, x);
}

/* The cell, -1: none; and its distance. */
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
    sinew_tree_place first = {0};
    for (int32_t i = 0; i < count; i++) {
        sinew_tree_place place;
        if (!kernels[i]->usable())
            continue;
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
    /* With less room the lowest are written, and nothing behind them. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brute_force),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
