/* SPDX-License-Identifier: MIT
 *
 * test_symbolic.c: elimination trees, postorders, column counts, supernodes and reordered matrices of random graphs
 * against a dense elimination of the pattern, entry by entry.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "linear/symbolic/reordered_matrix.h"
#include "linear/symbolic/supernodes.h"
#include "random_cases.h"

enum {
    N_MAX = 48
};

/* A random pattern: its lower triangle by columns, and dense. */
typedef struct pattern {
    int32_t n;
    size_t column[N_MAX + 1];
    int32_t row[N_MAX * (N_MAX + 1) / 2];
    bool A[N_MAX][N_MAX];
} pattern;

static sinew_allocator allocator;

static pattern pattern_draw(random_cases *r, int32_t n)
{
    pattern p = {.n = n};
    /* Empty, tree-like, sparse or dense; with several components, no edge joins even and odd numbers. */
    const double density = (const double[]){0, 1.0 / (n + 1), 3.0 / (n + 1), 0.3, 1}[random_index(r, 5)];
    const bool components = random_index(r, 4) == 0;
    for (int32_t j = 0; j < n; j++)
        for (int32_t i = j + 1; i < n; i++)
            p.A[i][j] = p.A[j][i] = random_between(r, 0, 1) < density && !(components && (i + j) % 2 != 0);
    size_t at = 0;
    for (int32_t j = 0; j < n; j++) {
        p.A[j][j] = true;
        p.column[j] = at;
        for (int32_t i = j; i < n; i++)
            if (p.A[i][j])
                p.row[at++] = i;
    }
    p.column[n] = at;
    return p;
}

/* The pattern of L by dense elimination: eliminating column k couples all rows below that have an entry in it. */
static void eliminate(const pattern *p, const int32_t *order, bool L[N_MAX][N_MAX])
{
    for (int32_t i = 0; i < p->n; i++)
        for (int32_t j = 0; j < p->n; j++)
            L[i][j] = p->A[order[i]][order[j]];
    for (int32_t k = 0; k < p->n; k++)
        for (int32_t i = k + 1; i < p->n; i++)
            for (int32_t j = k + 1; j <= i; j++)
                L[i][j] = L[i][j] || (L[i][k] && L[j][k]);
}

static void expect_tree(const pattern *p, const sinew_elimination *e)
{
    bool L[N_MAX][N_MAX];
    eliminate(p, e->order, L);
    double fill = 0, cost = 0;
    for (int32_t j = 0; j < p->n; j++) {
        int32_t parent = -1, entries = 1;
        for (int32_t i = p->n - 1; i > j; i--)
            if (L[i][j]) {
                parent = i;
                entries++;
            }
        assert_int_equal(e->parent[j], parent);
        assert_int_equal(e->entries[j], entries);
        assert_int_equal(e->index[e->order[j]], j);
        fill += entries;
        cost += (double)entries * entries;
    }
    assert_true(sinew_elimination_fill(e) == fill);
    assert_true(sinew_elimination_cost(e) == cost);
}

/* Each subtree is a range of columns that ends with its root; of two siblings the one with fewer entries comes first.
 */
static void expect_postorder(const sinew_elimination *e, int32_t n)
{
    int32_t size[N_MAX], last_child[N_MAX];
    for (int32_t j = 0; j < n; j++) {
        size[j] = 1;
        last_child[j] = -1;
    }
    for (int32_t j = 0; j < n; j++) {
        const int32_t up = e->parent[j];
        assert_true(up < 0 || up > j);
        if (up < 0)
            continue;
        if (last_child[up] >= 0) {
            assert_true(e->entries[last_child[up]] <= e->entries[j]);
            assert_int_equal(j - size[j], last_child[up]);
        }
        last_child[up] = j;
        size[up] += size[j];
    }
    for (int32_t j = 0; j < n; j++)
        if (last_child[j] >= 0)
            assert_int_equal(last_child[j], j - 1);
}

/* The rows of a supernode are its columns and the union of the rows below in its columns; each is stored for every
 * column. Returns the number of stored zeros. */
static double expect_supernodes(const pattern *p, const sinew_elimination *e, const sinew_supernodes *s)
{
    bool L[N_MAX][N_MAX];
    double zeros = 0;
    eliminate(p, e->order, L);
    assert_int_equal(s->n, p->n);
    assert_int_equal(s->column[0], 0);
    assert_int_equal(s->column[s->count], p->n);
    for (int32_t k = 0; k < s->count; k++) {
        const int32_t *row = s->rows + s->row_first[k], *end = s->rows + s->row_first[k + 1];
        assert_true(s->column[k] < s->column[k + 1]);
        for (int32_t i = s->column[k]; i < p->n; i++) {
            bool any = i < s->column[k + 1];
            for (int32_t j = s->column[k]; j < s->column[k + 1]; j++)
                any = any || L[i][j];
            if (!any)
                continue;
            assert_true(row < end);
            assert_int_equal(*row++, i);
            for (int32_t j = s->column[k]; j < s->column[k + 1] && j <= i; j++)
                zeros += !L[i][j];
        }
        assert_ptr_equal(row, end);
    }
    return zeros;
}

static void expect_partition(const pattern *p, const sinew_elimination *e)
{
    static const sinew_amalgamation none = {{0, 0, 0}, {0, 0, 0}}, usual = {{4, 16, 48}, {0.8, 0.1, 0.05}};
    sinew_supernodes exact, relaxed;
    assert_true(sinew_supernodes_create(&exact, &allocator, &none, e, 1));
    assert_true(sinew_supernodes_create(&relaxed, &allocator, &usual, e, 1));
    assert_true(expect_supernodes(p, e, &exact) == 0);
    const double zeros = expect_supernodes(p, e, &relaxed), fill = sinew_elimination_fill(e);
    assert_true(relaxed.count <= exact.count);
    assert_true(zeros <= 0.8 * (zeros + fill)); /* the loosest bound of amalgamation, except for up to 4 columns */
    sinew_supernodes_destroy(&exact, &allocator);
    sinew_supernodes_destroy(&relaxed, &allocator);
}

static void trees_counts_and_supernodes_are_those_of_dense_elimination(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("symbolic factorisations", 600, 20000);
    for (int i = 0; i < r.count; i++) {
        const pattern p = pattern_draw(&r, i < 4 ? i / 2 : random_index(&r, N_MAX + 1));
        int32_t order[N_MAX];
        for (int32_t k = 0; k < p.n; k++)
            order[k] = k;
        for (int32_t k = p.n - 1; k > 0; k--) {
            const int32_t other = random_index(&r, k + 1), kept = order[k];
            order[k] = order[other];
            order[other] = kept;
        }
        sinew_graph graph;
        sinew_elimination e;
        assert_true(sinew_graph_create(&graph, &allocator, p.n, p.column, p.row));
        assert_true(sinew_elimination_create(&e, &allocator, &graph, i % 2 ? order : NULL));
        expect_tree(&p, &e);
        expect_partition(&p, &e);
        const double fill = sinew_elimination_fill(&e);
        assert_true(sinew_elimination_postorder(&e));
        expect_tree(&p, &e);
        expect_postorder(&e, p.n);
        expect_partition(&p, &e);
        assert_true(sinew_elimination_fill(&e) == fill);
        sinew_elimination_destroy(&e);
        sinew_graph_destroy(&graph, &allocator);
    }
}

/* The graph of 3 x 3 blocks as a scalar graph: all entries of a block, lower triangle. */
static sinew_graph expand_graph(const pattern *p)
{
    static size_t column[3 * N_MAX + 1];
    static int32_t row[9 * N_MAX * (N_MAX + 1) / 2];
    size_t at = 0;
    for (int32_t j = 0; j < 3 * p->n; j++) {
        column[j] = at;
        for (int32_t i = j; i < 3 * p->n; i++)
            if (p->A[i / 3][j / 3])
                row[at++] = i;
    }
    column[3 * p->n] = at;
    sinew_graph graph;
    assert_true(sinew_graph_create(&graph, &allocator, 3 * p->n, column, row));
    return graph;
}

static void blocks_give_the_supernodes_of_their_scalars(void **state)
{
    (void)state;
    static const sinew_amalgamation usual = {{4, 16, 48}, {0.8, 0.1, 0.05}};
    random_cases r = random_cases_begin("supernodes of blocks", 200, 4000);
    for (int i = 0; i < r.count; i++) {
        const pattern p = pattern_draw(&r, 1 + random_index(&r, N_MAX));
        sinew_graph blocks, scalars = expand_graph(&p);
        sinew_elimination by_blocks, by_scalars;
        sinew_supernodes a, b;
        assert_true(sinew_graph_create(&blocks, &allocator, p.n, p.column, p.row));
        assert_true(sinew_elimination_create(&by_blocks, &allocator, &blocks, NULL));
        assert_true(sinew_elimination_create(&by_scalars, &allocator, &scalars, NULL));
        assert_true(sinew_supernodes_create(&a, &allocator, &usual, &by_blocks, 3));
        assert_true(sinew_supernodes_create(&b, &allocator, &usual, &by_scalars, 1));
        assert_int_equal(a.n, b.n);
        assert_int_equal(a.count, b.count);
        assert_memory_equal(a.column, b.column, ((size_t)a.count + 1) * sizeof *a.column);
        assert_memory_equal(a.row_first, b.row_first, ((size_t)a.count + 1) * sizeof *a.row_first);
        assert_memory_equal(a.rows, b.rows, a.row_first[a.count] * sizeof *a.rows);
        sinew_supernodes_destroy(&a, &allocator);
        sinew_supernodes_destroy(&b, &allocator);
        sinew_elimination_destroy(&by_blocks);
        sinew_elimination_destroy(&by_scalars);
        sinew_graph_destroy(&blocks, &allocator);
        sinew_graph_destroy(&scalars, &allocator);
    }
}

/* Every entry of A occurs once, at its permuted position. */
static void reordered_matrices_hold_every_entry(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("reordered matrices", 200, 4000);
    for (int i = 0; i < r.count; i++) {
        const pattern p = pattern_draw(&r, 1 + random_index(&r, N_MAX));
        int32_t index[N_MAX];
        double value[N_MAX * (N_MAX + 1) / 2], found[N_MAX][N_MAX] = {{0}};
        for (int32_t k = 0; k < p.n; k++)
            index[k] = (k * 5 + i) % p.n; /* a permutation unless 5 divides n */
        if (p.n % 5 == 0)
            for (int32_t k = 0; k < p.n; k++)
                index[k] = p.n - 1 - k;
        for (size_t e = 0; e < p.column[p.n]; e++)
            value[e] = 1 + (double)e;
        sinew_reordered_matrix m;
        assert_true(sinew_reordered_matrix_create(&m, &allocator, p.n, p.column, p.row, index));
        sinew_reordered_matrix_set(&m, value);
        assert_int_equal(m.lower.column[p.n], p.column[p.n]);
        for (int32_t j = 0; j < p.n; j++)
            for (size_t e = m.lower.column[j]; e < m.lower.column[j + 1]; e++) {
                assert_in_range(m.lower.row[e], j, p.n - 1);
                found[m.lower.row[e]][j] += m.lower.value[e];
            }
        for (int32_t j = 0; j < p.n; j++)
            for (size_t e = p.column[j]; e < p.column[j + 1]; e++) {
                const int32_t a = index[j], b = index[p.row[e]];
                assert_true(found[a > b ? a : b][a > b ? b : a] == value[e]);
            }
        sinew_reordered_matrix_destroy(&m, &allocator);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_counts_and_supernodes_are_those_of_dense_elimination),
        cmocka_unit_test(blocks_give_the_supernodes_of_their_scalars),
        cmocka_unit_test(reordered_matrices_hold_every_entry),
    };
    allocator = sinew_allocator_or_system(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
