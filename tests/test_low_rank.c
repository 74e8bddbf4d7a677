/* SPDX-License-Identifier: MIT
 *
 * test_low_rank.c: solves with a factor plus low-rank terms against the matrix itself: random terms, added and removed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "energy/energy.h"
#include "linear/factor/low_rank.h"
#include "random_cases.h"

#ifdef SINEW_SINGLE
static const double near = 2e-3;
#else
static const double near = 1e-9;
#endif

/* A grid's graph Laplacian plus a multiple of the identity, and the weight of each of its edges. */
typedef struct grid {
    int32_t side, n;
    size_t *column;
    int32_t *row, *index;
    double *value;
    sinew_factored_system *factor;
} grid;

static grid make_grid(random_cases *r)
{
    grid g = {.side = 4 + random_index(r, 30)};
    g.n = g.side * g.side;
    const size_t n = (size_t)g.n;
    g.column = malloc((n + 1) * sizeof *g.column);
    g.row = malloc(3 * n * sizeof *g.row);
    g.index = malloc(n * sizeof *g.index);
    g.value = malloc(3 * n * sizeof *g.value);
    const double more = random_magnitude(r, 1e-3, 1);
    size_t at = 0;
    for (int32_t j = 0; j < g.n; j++) {
        const int32_t x = j % g.side, y = j / g.side;
        const int degree = (x > 0) + (x < g.side - 1) + (y > 0) + (y < g.side - 1);
        g.column[j] = at;
        g.index[j] = j;
        g.row[at] = j;
        g.value[at++] = degree + more;
        const int32_t others[2] = {x < g.side - 1 ? j + 1 : -1, y < g.side - 1 ? j + g.side : -1};
        for (int k = 0; k < 2; k++)
            if (others[k] >= 0) {
                g.row[at] = others[k];
                g.value[at++] = -1;
            }
    }
    g.column[g.n] = at;
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    const sinew_factored_system_kernels kernels = {sinew_simd()->supernodes, sinew_simd()->dense, false};
    g.factor = sinew_factored_system_create(&allocator, &kernels, 1, g.n, g.column, g.row, g.value, NULL, NULL);
    assert_non_null(g.factor);
    return g;
}

static void free_grid(grid *g)
{
    sinew_factored_system_destroy(g->factor);
    free(g->column);
    free(g->row);
    free(g->index);
    free(g->value);
}

/* A rank-one term that removes part of an edge's weight, or adds random entries. */
static sinew_rank_one_term draw_row(random_cases *r, const grid *g, bool taken)
{
    sinew_rank_one_term row = {.weight = taken ? -0.45 : random_magnitude(r, 1e-2, 1e2)};
    const int32_t j = random_index(r, g->side - 1) + g->side * random_index(r, g->side);
    row.index[0] = j;
    row.index[1] = j + 1;
    row.value[0] = 1;
    row.value[1] = -1;
    row.count = taken ? 2 : 1 + random_index(r, SINEW_RANK_ONE_MAX);
    for (int32_t e = 0; !taken && e < row.count; e++) {
        row.index[e] = random_index(r, g->n);
        row.value[e] = random_between(r, -1, 1);
    }
    return row;
}

/* Sx = S' x of one right-hand side, in double */
static void multiply(const grid *g, const sinew_rank_one_term *rows, int32_t count, double scale, const sinew_real *x,
                     double *Sx, size_t c)
{
    memset(Sx, 0, (size_t)g->n * sizeof *Sx);
    for (int32_t j = 0; j < g->n; j++)
        for (size_t k = g->column[j]; k < g->column[j + 1]; k++) {
            Sx[g->row[k]] += g->value[k] * (double)x[4 * (size_t)j + c];
            if (g->row[k] != j)
                Sx[j] += g->value[k] * (double)x[4 * (size_t)g->row[k] + c];
        }
    for (int32_t i = 0; i < count; i++) {
        double sum = 0;
        for (int32_t e = 0; e < rows[i].count; e++)
            sum += rows[i].value[e] * (double)x[4 * (size_t)rows[i].index[e] + c];
        for (int32_t e = 0; e < rows[i].count; e++)
            Sx[rows[i].index[e]] += scale * rows[i].weight * rows[i].value[e] * sum;
    }
}

static void check_solve(random_cases *r, grid *g, sinew_low_rank *l, const sinew_rank_one_term *rows, int32_t count,
                        double scale)
{
    const size_t n = (size_t)g->n, bytes = (4 * n * sizeof(sinew_real) + 63) / 64 * 64;
    sinew_real *b = aligned_alloc(64, bytes), *x = aligned_alloc(64, bytes);
    double *Sx = malloc(n * sizeof *Sx);
    for (size_t i = 0; i < 4 * n; i++)
        x[i] = b[i] = i % 4 == 3 ? 0 : (sinew_real)random_between(r, -1, 1);
    sinew_low_rank_solve(l, g->factor, NULL, x, x);
    for (size_t c = 0; c < 3; c++) {
        multiply(g, rows, count, scale, x, Sx, c);
        for (size_t i = 0; i < n; i++)
            assert_true(fabs(Sx[i] - (double)b[4 * i + c]) <= near * 100);
    }
    free(b);
    free(x);
    free(Sx);
}

static void test_solves(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("rows beside a factor", 40, 1000);
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    for (int32_t i = 0; i < r.count; i++) {
        grid g = make_grid(&r);
        sinew_low_rank l = {0};
        for (int again = 0; again < 3; again++) {
            enum {
                MOST = 60
            };
            sinew_rank_one_term rows[MOST];
            const int32_t count = random_index(&r, MOST), taken = random_index(&r, 8) < count ? random_index(&r, 5) : 0;
            const double scale = random_between(&r, 0.5, 1);
            for (int32_t k = 0; k < count; k++)
                rows[k] = draw_row(&r, &g, k < taken);
            const sinew_status status =
                sinew_low_rank_set(&l, g.factor, rows, taken < count ? taken : count, count, g.index, scale, NULL);
            if (status == SINEW_OK)
                check_solve(&r, &g, &l, rows, count, scale);
            else /* an edge was removed more than twice */
                assert_true(taken > 2 && status == SINEW_ERROR_NUMERIC);
        }
        sinew_low_rank_destroy(&l, &allocator);
        free_grid(&g);
    }
}

/* Terms that make a pivot zero or the matrix indefinite are refused; afterwards there are no terms. */
static void test_refused(void **state)
{
    (void)state;
    random_cases r = {.state = 1};
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    grid g = make_grid(&r);
    sinew_low_rank l = {0};
    sinew_error error = {0};
    sinew_rank_one_term rows[2] = {{.weight = -10, .count = 2, .index = {0, 1}, .value = {1, -1}},
                                   {.weight = 3, .count = 1, .index = {2}, .value = {1}}};
    assert_int_equal(sinew_low_rank_set(&l, g.factor, rows, 1, 2, g.index, 1, &error), SINEW_ERROR_NUMERIC);
    assert_non_null(strstr(error.text, "not positive definite"));
    check_solve(&r, &g, &l, rows, 0, 1);
    rows[0].weight = -0.5;
    assert_int_equal(sinew_low_rank_set(&l, g.factor, rows, 1, 2, g.index, 1, &error), SINEW_OK);
    check_solve(&r, &g, &l, rows, 2, 1);
    sinew_low_rank_destroy(&l, &allocator);
    free_grid(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_solves), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
