/* SPDX-License-Identifier: MIT
 *
 * test_tree_overlaps.c: boxes that overlap a box, and pairs of primitives with overlapping boxes, against a loop over
 * all.
 */
#include <math.h>

#include "bvh/tree.h"
#include "tree_cases.h"

static void box_of(const tree_case *c, int32_t cell, sinew_real box[6])
{
    for (int k = 0; k < 3; k++) {
        box[k] = INFINITY;
        box[3 + k] = -INFINITY;
        for (int32_t i = 0; i < c->width; i++) {
            const sinew_real x = c->positions[3 * (size_t)c->cells[c->width * cell + i] + (size_t)k];
            box[k] = x < box[k] ? x : box[k];
            box[3 + k] = x > box[3 + k] ? x : box[3 + k];
        }
    }
}

static bool gap_at_max(const sinew_real a[6], const sinew_real b[6], sinew_real margin)
{
    for (int k = 0; k < 3; k++)
        if (a[k] - b[3 + k] > margin || b[k] - a[3 + k] > margin)
            return false;
    return true;
}

/* A box around a point of the case, all of space, or a primitive's own box. */
static void draw_box(random_cases *r, const tree_case *c, sinew_real box[6])
{
    const int how = random_index(r, 8);
    sinew_real p[3];
    case_point(r, c, p);
    for (int k = 0; k < 3; k++) {
        const double reach = c->size * random_magnitude(r, 1e-6, 3);
        box[k] = (sinew_real)((double)p[k] - reach);
        box[3 + k] = (sinew_real)((double)p[k] + reach);
        if (how == 0) {
            box[k] = -INFINITY;
            box[3 + k] = INFINITY;
        }
    }
    if (how == 1)
        box_of(c, random_index(r, c->cell_count), box);
}

static void check_overlaps(random_cases *r, const tree_case *c, const sinew_tree *tree)
{
    sinew_real box[6], own[6];
    int32_t *cells = malloc((size_t)c->cell_count * sizeof *cells), some[3] = {-7, -7, -7};
    assert_non_null(cells);
    draw_box(r, c, box);
    const int64_t count = sinew_tree_overlaps(tree, box, cells, c->cell_count);
    int64_t at = 0;
    for (int32_t i = 0; i < c->cell_count; i++) {
        box_of(c, i, own);
        if (gap_at_max(own, box, 0)) {
            assert_true(at < count);
            assert_int_equal(cells[at++], i);
        }
    }
    assert_int_equal(at, count);
    assert_int_equal(sinew_tree_overlaps(tree, box, some, 2), count);
    assert_int_equal(some[2], -7);
    for (int i = 0; i < 2; i++)
        assert_int_equal(some[i], i < count ? cells[i] : -7);
    assert_int_equal(sinew_tree_overlaps(tree, box, NULL, 0), count);
    free(cells);
}

static int64_t brute_pairs(const tree_case *a, const tree_case *b, sinew_real margin, int32_t *pairs)
{
    int64_t count = 0;
    for (int32_t i = 0; i < a->cell_count; i++)
        for (int32_t j = a == b ? i + 1 : 0; j < b->cell_count; j++) {
            sinew_real box[2][6];
            box_of(a, i, box[0]);
            box_of(b, j, box[1]);
            if (gap_at_max(box[0], box[1], margin)) {
                pairs[2 * count] = i;
                pairs[2 * count++ + 1] = j;
            }
        }
    return count;
}

static void check_pairs(random_cases *r, const tree_case *a, const tree_case *b, sinew_tree *ta, sinew_tree *tb)
{
    const sinew_real margin = (sinew_real)(random_index(r, 2) ? a->size * random_magnitude(r, 1e-6, 1) : 0);
    const size_t max = (size_t)a->cell_count * (size_t)b->cell_count;
    int32_t *wanted = malloc(2 * max * sizeof *wanted), *pairs = malloc((2 * max + 1) * sizeof *pairs);
    assert_true(wanted && pairs);
    const int64_t count = brute_pairs(a, b, margin, wanted), part = count / 2;
    for (ta->thread_count = 1; ta->thread_count <= 3; ta->thread_count++) {
        assert_int_equal(sinew_tree_pairs(ta, tb, margin, pairs, (int64_t)max), count);
        assert_memory_equal(pairs, wanted, 2 * (size_t)count * sizeof *pairs);
        pairs[2 * part] = -7;
        assert_int_equal(sinew_tree_pairs(ta, tb, margin, pairs, part), count);
        assert_memory_equal(pairs, wanted, 2 * (size_t)part * sizeof *pairs);
        assert_int_equal(pairs[2 * part], -7);
    }
    ta->thread_count = 1;
    free(pairs);
    free(wanted);
}

static void test_brute_force(void **state)
{
    (void)state;
#ifdef SINEW_SANITIZED
    random_cases r = random_cases_begin("overlaps", 40, 400);
#else
    random_cases r = random_cases_begin("overlaps", 600, 20000);
#endif
    for (int32_t n = 0; n < r.count; n++) {
        const int32_t width = 3 - n / CASE_KINDS % 3;
        tree_case a = case_make(&r, n % CASE_KINDS, width, n % 50 ? 60 : 800);
        tree_case b = case_make(&r, random_index(&r, CASE_KINDS), 1 + random_index(&r, 3), 60);
        sinew_tree *ta = case_tree(&a), *tb = case_tree(&b);
        for (int i = 0; i < 10; i++)
            check_overlaps(&r, &a, ta);
        check_pairs(&r, &a, &b, ta, tb);
        check_pairs(&r, &a, &a, ta, ta);
        sinew_tree_destroy(ta);
        sinew_tree_destroy(tb);
        case_release(&a);
        case_release(&b);
    }
}

/* A query stores one number per primitive: many coincident primitives can be counted. */
static void test_many_in_one_place(void **state)
{
    (void)state;
    const int32_t count = 20000;
    sinew_real *positions = malloc(3 * (size_t)count * sizeof *positions);
    assert_non_null(positions);
    for (int32_t i = 0; i < 3 * count; i++)
        positions[i] = (sinew_real)0.25;
    sinew_tree_def def = sinew_default_tree_def();
    def.width = 1;
    def.vertex_count = def.cell_count = count / 10;
    def.positions = positions;
    sinew_tree *tree = sinew_tree_create(&def, NULL);
    assert_non_null(tree);
    const int64_t n = count / 10;
    assert_int_equal(sinew_tree_pairs(tree, tree, 0, NULL, 0), n * (n - 1) / 2);
    sinew_tree_destroy(tree);
    free(positions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brute_force),
        cmocka_unit_test(test_many_in_one_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
