/* SPDX-License-Identifier: MIT
 *
 * test_tree.c: the BVH: bad input, every failing allocation, refits against new trees, threads and SIMD variants
 * against each other, primitives that cannot be split, loops over ranges.
 */
#include <math.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "failing_allocator.h"
#include "bvh/tree.h"
#include "tree_cases.h"

/* ---- Query results ----------------------------------------------------------------------------- */

enum {
    POINTS = 600 /* more than a thread processes at once */
};

/* The results of all queries of a tree, in one record without padding. */
typedef struct answers {
    sinew_tree_point places[POINTS];
    sinew_ray_hit hits[POINTS];
    sinew_real windings[POINTS];
    int64_t counts[POINTS], pairs;
} answers;

static void draw_points(random_cases *r, const tree_case *c, sinew_real *points)
{
    for (int i = 0; i < POINTS; i++)
        case_point(r, c, points + 3 * i);
}

static answers *ask(const sinew_tree *tree, const tree_case *c, const sinew_real *points)
{
    answers *a = calloc(1, sizeof *a);
    assert_non_null(a);
    sinew_tree_nearest(tree, POINTS, points, NULL, a->places);
    a->pairs = sinew_tree_pairs(tree, tree, 0, NULL, 0);
    for (int i = 0; i < POINTS; i += 20)
        a->counts[i] = sinew_tree_within(tree, points + 3 * i, (sinew_real)(0.3 * c->size), NULL, 0);
    if (c->width < 3)
        return a;
    sinew_tree_winding(tree, POINTS, points, a->windings);
    for (int i = 0; i < POINTS; i++) {
        const sinew_real *o = points + 3 * i, *to = points + 3 * ((i + 1) % POINTS);
        sinew_ray ray = {{o[0], o[1], o[2]}, {to[0] - o[0], to[1] - o[1], to[2] - o[2]}, 0, INFINITY};
        sinew_tree_ray(tree, &ray, &a->hits[i]);
        assert_int_equal(sinew_tree_ray_any(tree, &ray), a->hits[i].cell >= 0);
    }
    return a;
}

/* Compares field by field, since padding may differ. Winding numbers agree to the accuracy of their expansion. */
static void check_same(const answers *a, const answers *b, bool windings)
{
    assert_int_equal(a->pairs, b->pairs);
    for (int i = 0; i < POINTS; i++) {
        const sinew_tree_point *p = &a->places[i], *q = &b->places[i];
        assert_int_equal(p->cell, q->cell);
        assert_int_equal(p->on, q->on);
        assert_memory_equal(p->weights, q->weights, sizeof p->weights);
        assert_memory_equal(p->point, q->point, sizeof p->point);
        assert_true(p->distance == q->distance);
        assert_int_equal(a->hits[i].cell, b->hits[i].cell);
        assert_true(a->hits[i].t == b->hits[i].t && a->hits[i].u == b->hits[i].u && a->hits[i].v == b->hits[i].v);
        assert_int_equal(a->counts[i], b->counts[i]);
        if (windings && a->windings[i] != b->windings[i])
            fail_msg("winding numbers %.9g and %.9g", (double)a->windings[i], (double)b->windings[i]);
    }
}

/* ---- Tests ------------------------------------------------------------------------------------ */

/* One, two and three threads and every SIMD variant build and query the same tree. */
static void test_threads_and_lanes(void **state)
{
    (void)state;
#ifdef SINEW_SANITIZED
    random_cases r = random_cases_begin("threads and lanes", 4, 20);
#else
    random_cases r = random_cases_begin("threads and lanes", 12, 200);
#endif
    sinew_real points[3 * POINTS];
    for (int32_t n = 0; n < r.count; n++) {
        const int32_t kind = n % CASE_KINDS, max = kind == CASE_SOUP ? 20000 : 500;
        tree_case c = case_make(&r, kind, 3 - n / CASE_KINDS % 3, max);
        draw_points(&r, &c, points);
        answers *first = NULL;
        int32_t count;
        const sinew_tree_kernel *const *kernels = sinew_tree_kernels(&count);
        for (int32_t i = 0; i < 3 * count; i++) {
            sinew_tree_def def = case_def(&c);
            def.thread_count = 1 + i % 3;
            sinew_tree *tree = sinew_tree_create(&def, NULL);
            assert_non_null(tree);
            tree->kernel = kernels[i / 3];
            answers *a = ask(tree, &c, points);
            if (first)
                check_same(first, a, true);
            sinew_tree_destroy(tree);
            if (first)
                free(a);
            else
                first = a;
        }
        free(first);
        case_release(&c);
    }
}

/* The kernel of a process whose environment names a SIMD variant (NULL: none), as an index of `kernels`. */
static int chosen_with(const char *simd, const sinew_tree_kernel *const *kernels, int32_t count)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (simd)
            setenv("SINEW_SIMD", simd, 1);
        else
            unsetenv("SINEW_SIMD");
        const sinew_tree_kernel *kernel = sinew_tree_kernel_chosen();
        int at = 0;
        while (at < count && kernels[at] != kernel)
            at++;
        _exit(at);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* The environment selects a variant once per process: this test runs before any other has made the choice. */
static void test_environment(void **state)
{
    (void)state;
    int32_t count;
    const sinew_tree_kernel *const *kernels = sinew_tree_kernels(&count);
    assert_string_equal(kernels[count - 1]->name, "scalar");
    assert_int_equal(chosen_with("scalar", kernels, count), count - 1);
    assert_int_equal(chosen_with("no such", kernels, count), 0);
    assert_int_equal(chosen_with(NULL, kernels, count), 0);
    for (int32_t i = 0; i < count; i++)
        assert_int_equal(chosen_with(kernels[i]->name, kernels, count), i);
}

/* A refitted tree gives the results of a new tree at the same vertices, whether the refit rebuilds it or not. */
static void test_refit(void **state)
{
    (void)state;
#ifdef SINEW_SANITIZED
    random_cases r = random_cases_begin("refits", 8, 40);
#else
    random_cases r = random_cases_begin("refits", 32, 1000);
#endif
    int32_t rebuilt = 0, kept = 0;
    sinew_real points[3 * POINTS];
    for (int32_t n = 0; n < r.count; n++) {
        tree_case c = case_make(&r, n % CASE_KINDS, 3 - n / CASE_KINDS % 3, 300);
        sinew_tree *tree = case_tree(&c);
        for (int step = 0; step < 3; step++) {
            const double shake = c.size * random_magnitude(&r, 1e-4, 2), grow = random_magnitude(&r, 0.1, 10);
            for (int32_t i = 0; i < 3 * c.vertex_count; i++)
                c.positions[i] = (sinew_real)(grow * (double)c.positions[i] + shake * case_normal(&r));
            const sinew_tree_node *before = tree->shape.nodes;
            assert_int_equal(sinew_tree_refit(tree, c.positions, NULL), SINEW_OK);
            rebuilt += tree->shape.nodes != before;
            kept += tree->shape.nodes == before;
            draw_points(&r, &c, points);
            sinew_tree *fresh = case_tree(&c);
            answers *a = ask(tree, &c, points), *b = ask(fresh, &c, points);
            check_same(a, b, false);
            free(a);
            free(b);
            sinew_tree_destroy(fresh);
        }
        sinew_tree_destroy(tree);
        case_release(&c);
    }
    printf("%d refits built anew, %d did not\n", rebuilt, kept);
    assert_true(rebuilt > 0 && kept > 0);
}

/* Every parent's box contains its children's, every primitive is in one leaf, no path is too long. */
static int32_t check_node(const sinew_tree *tree, uint32_t at, int32_t depth, int32_t *seen)
{
    const sinew_tree_node *node = tree->shape.nodes + at;
    int32_t deepest = depth;
    assert_in_range(node->child_count, 1, SINEW_TREE_WIDE);
    for (int32_t c = 0; c < SINEW_TREE_WIDE; c++)
        for (int k = 0; k < 3; k++)
            assert_int_equal(node->bounds[2 * k][c] <= node->bounds[2 * k + 1][c], c < node->child_count);
    for (int32_t c = 0; c < node->child_count; c++) {
        const uint32_t child = node->child[c], block = child & ~SINEW_TREE_LEAF;
        if (!(child & SINEW_TREE_LEAF)) {
            assert_true(child > at);
            const int32_t below = check_node(tree, child, depth + 1, seen);
            deepest = below > deepest ? below : deepest;
            continue;
        }
        assert_in_range(tree->shape.counts[block], 1, SINEW_TREE_BLOCK);
        for (int32_t i = 0; i < tree->shape.counts[block]; i++) {
            const int32_t cell = tree->shape.ids[block * SINEW_TREE_BLOCK + (uint32_t)i];
            float box[6];
            seen[cell]++;
            sinew_tree_cell_box(tree, cell, box);
            for (int k = 0; k < 3; k++)
                assert_true(node->bounds[2 * k][c] <= box[k] && box[3 + k] <= node->bounds[2 * k + 1][c]);
        }
    }
    return deepest;
}

static int32_t check_structure(const sinew_tree *tree)
{
    int32_t *seen = calloc((size_t)tree->cell_count, sizeof *seen);
    assert_non_null(seen);
    const int32_t depth = check_node(tree, 0, 1, seen);
    assert_true(depth <= SINEW_TREE_DEPTH);
    for (int32_t i = 0; i < tree->cell_count; i++)
        assert_int_equal(seen[i], 1);
    free(seen);
    return depth;
}

static void test_structure(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("structures", 60, 2000);
    for (int32_t n = 0; n < r.count; n++) {
        tree_case c = case_make(&r, n % CASE_KINDS, 1 + random_index(&r, 3), 3000);
        sinew_tree *tree = case_tree(&c);
        check_structure(tree);
        sinew_tree_destroy(tree);
        case_release(&c);
    }
}

/* Points that converge to a corner, so that each split removes few; and a million coincident points. */
static void test_hard_to_split(void **state)
{
    (void)state;
#ifdef SINEW_SANITIZED
    const int32_t count = 20000;
#else
    const int32_t count = 1000000;
#endif
    sinew_real *positions = malloc(3 * (size_t)count * sizeof *positions);
    assert_non_null(positions);
    sinew_tree_def def = sinew_default_tree_def();
    def.width = 1;
    def.positions = positions;
    def.vertex_count = def.cell_count = count / 50;
    for (int32_t i = 0; i < 3 * def.vertex_count; i++)
        positions[i] = (sinew_real)exp2(-(i / 3 % (sizeof(sinew_real) == 4 ? 140 : 1000)) + (i % 3) * 0.01);
    sinew_tree *tree = sinew_tree_create(&def, NULL);
    assert_non_null(tree);
    printf("ever closer: %d nodes deep\n", check_structure(tree));
    sinew_tree_destroy(tree);
    def.vertex_count = def.cell_count = count;
    for (int32_t i = 0; i < 3 * count; i++)
        positions[i] = (sinew_real)(i % 3);
    tree = sinew_tree_create(&def, NULL);
    assert_non_null(tree);
    printf("one place: %d nodes deep\n", check_structure(tree));
    sinew_tree_point place;
    sinew_tree_nearest(tree, 1, (const sinew_real[3]){4, 1, 2}, NULL, &place);
    assert_int_equal(place.cell, 0);
    assert_true(place.distance == 4);
    assert_int_equal(sinew_tree_within(tree, (const sinew_real[3]){0, 1, 2}, 0, NULL, 0), count);
    sinew_tree_destroy(tree);
    free(positions);
}

/* ---- Refusals --------------------------------------------------------------------------------- */

static void refuse(const sinew_tree_def *def, sinew_status status, const char *text)
{
    sinew_error error;
    assert_null(sinew_tree_create(def, &error));
    assert_int_equal(error.status, status);
    if (!strstr(error.text, text))
        fail_msg("\"%s\" does not say \"%s\"", error.text, text);
}

static void test_bad_input(void **state)
{
    (void)state;
    sinew_real positions[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    int32_t cells[3] = {0, 1, 2};
    sinew_tree_def good = sinew_default_tree_def(), def;
    good.vertex_count = 3;
    good.positions = positions;
    good.cell_count = 1;
    good.cells = cells;
    def = (sinew_tree_def){0};
    refuse(&def, SINEW_ERROR_USAGE, "sinew_default_tree_def");
    refuse(NULL, SINEW_ERROR_USAGE, "sinew_default_tree_def");
    def = good;
    def.positions = NULL;
    refuse(&def, SINEW_ERROR_USAGE, "positions");
    def = good;
    def.width = 4;
    refuse(&def, SINEW_ERROR_DATA, "cells of 4 vertices");
    def = good;
    def.cell_count = 0;
    refuse(&def, SINEW_ERROR_DATA, "0 cells");
    def = good;
    def.cells = NULL;
    refuse(&def, SINEW_ERROR_DATA, "without a list");
    cells[2] = 3;
    refuse(&good, SINEW_ERROR_DATA, "cell 0 names vertex 3, must be in [0, 2]");
    cells[2] = -1;
    refuse(&good, SINEW_ERROR_DATA, "cell 0 names vertex -1");
    cells[2] = 2;
    positions[4] = NAN;
    refuse(&good, SINEW_ERROR_DATA, "vertex 1 is at (1, nan, 0)");
    positions[4] = 0;

    sinew_tree *tree = sinew_tree_create(&good, NULL);
    assert_non_null(tree);
    const sinew_real bad[9] = {0, 0, INFINITY, 5, 5, 5, 5, 5, 5}, p[3] = {2, 0, 0};
    sinew_error error;
    sinew_tree_point place;
    assert_int_equal(sinew_tree_refit(tree, bad, &error), SINEW_ERROR_DATA);
    assert_non_null(strstr(error.text, "vertex 0"));
    assert_int_equal(sinew_tree_refit(tree, NULL, &error), SINEW_ERROR_USAGE);
    sinew_tree_nearest(tree, 1, p, NULL, &place);
    assert_true(place.cell == 0 && place.distance == 1 && place.on == 2);
    sinew_tree_destroy(tree);
    sinew_tree_destroy(NULL);
}

/* Queries without a result: NaN, no direction, nothing within the distance. */
static void test_no_answer(void **state)
{
    (void)state;
    const sinew_real positions[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    const int32_t cells[3] = {0, 1, 2};
    sinew_tree_def def = sinew_default_tree_def();
    def.vertex_count = 3;
    def.positions = positions;
    def.cell_count = 1;
    def.cells = cells;
    sinew_tree *tree = sinew_tree_create(&def, NULL);
    assert_non_null(tree);
    const sinew_real odd[9] = {NAN, 0, 0, 0, INFINITY, 0, 0, 0, 2}, limits[3] = {1, 1, 1};
    sinew_tree_point places[3];
    sinew_tree_nearest(tree, 3, odd, limits, places);
    for (int i = 0; i < 3; i++)
        assert_int_equal(places[i].cell, -1);
    assert_int_equal(sinew_tree_within(tree, odd, 1, NULL, 0), 0);
    assert_int_equal(sinew_tree_within(tree, positions, -1, NULL, 0), 0);
    sinew_ray_hit hit;
    const sinew_ray rays[5] = {{{0, 0, 1}, {0, 0, 0}, 0, INFINITY},
                               {{0, 0, 1}, {0, 0, NAN}, 0, INFINITY},
                               {{0, NAN, 1}, {0, 0, -1}, 0, INFINITY},
                               {{0, 0, 1}, {0, 0, -1}, 2, INFINITY},
                               {{0, 0, 1}, {0, 0, -1}, 0, (sinew_real)0.5}};
    for (int i = 0; i < 5; i++) {
        assert_false(sinew_tree_ray(tree, &rays[i], &hit));
        assert_int_equal(hit.cell, -1);
        assert_false(sinew_tree_ray_any(tree, &rays[i]));
    }
    sinew_tree_destroy(tree);
}

static void test_memory(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("memory", 1, 1);
    tree_case c = case_make(&r, CASE_SOUP, 3, 3000);
    failing_allocator memory = {0};
    sinew_tree_def def = case_def(&c);
    def.allocator = hooks_of(&memory);
    sinew_tree *tree = NULL;
    for (memory.fail_at = 1; !tree; memory.fail_at++) {
        sinew_error error;
        memory.calls = 0;
        tree = sinew_tree_create(&def, &error);
        assert_true(tree || (error.status == SINEW_ERROR_MEMORY && memory.live == 0));
    }
    assert_true(memory.fail_at > 10);
    /* A pair query reports the failure; a refit works without the memory for a rebuild. */
    memory.calls = 0;
    memory.fail_at = 1;
    assert_int_equal(sinew_tree_pairs(tree, tree, 0, NULL, 0), -1);
    for (int32_t i = 0; i < 3 * c.vertex_count; i++)
        c.positions[i] = (sinew_real)(c.size * random_between(&r, -1, 1));
    for (int64_t fail_at = 1; fail_at < 12; fail_at++) {
        memory.calls = 0;
        memory.fail_at = fail_at;
        assert_int_equal(sinew_tree_refit(tree, c.positions, NULL), SINEW_OK);
        check_structure(tree);
    }
    sinew_tree_destroy(tree);
    assert_int_equal(memory.live, 0);
    case_release(&c);
}

/* ---- Ranges ----------------------------------------------------------------------------------- */

static void count_items(void *context, int32_t member, int64_t first, int64_t last)
{
    assert_in_range(member, 0, 2);
    for (int64_t i = first; i < last; i++)
        atomic_fetch_add((_Atomic int *)context + i, 1);
}

static void sum_items(void *context, int32_t member, int64_t first, int64_t last)
{
    (void)member;
    atomic_fetch_add((_Atomic int64_t *)context, last - first);
}

static void test_ranges(void **state)
{
    (void)state;
    static _Atomic int counts[1000];
    for (int64_t count = 0; count <= 1000; count += 125)
        for (int64_t block = 1; block < 2000; block = 3 * block + 1) {
            for (int i = 0; i < 1000; i++)
                atomic_store(&counts[i], 0);
            sinew_run_range(3, count, block, count_items, counts);
            for (int i = 0; i < 1000; i++)
                assert_int_equal(atomic_load(&counts[i]), i < count);
        }
    /* More items than 32 bits can count. */
    _Atomic int64_t sum = 0;
    sinew_run_range(2, 5000000000, 1000000, sum_items, &sum);
    assert_true(atomic_load(&sum) == 5000000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_environment), /* must be the first test */
        cmocka_unit_test(test_threads_and_lanes),
        cmocka_unit_test(test_refit),
        cmocka_unit_test(test_structure),
        cmocka_unit_test(test_hard_to_split),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_no_answer),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
