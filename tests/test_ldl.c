/* SPDX-License-Identifier: MIT
 *
 * test_ldl.c: L D L^T of saddle-point matrices of random patterns against dense algebra of this test: pivots one by
 * one, the unknowns that are left out, and solutions by Gaussian elimination with pivoting.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "dense_solve.h"
#include "energy/energy.h"
#include "failing_allocator.h"
#include "linear/factor/ldl.h"
#include "random_cases.h"

#define FLOOR 1e-9 /* smallest pivot of a hard constraint; smaller pivots are left out */

/* A saddle-point matrix in elimination order, dense [n][n] and in the form of sinew_ldl_create(). */
typedef struct saddle {
    int32_t n;
    double *dense;
    size_t *column;
    int32_t *row;
    double *values;
    double *floors; /* [n] */
} saddle;

static saddle saddle_begin(int32_t n)
{
    return (saddle){.n = n,
                    .dense = calloc((size_t)n * (size_t)n, sizeof(double)),
                    .column = calloc((size_t)n + 1, sizeof(size_t)),
                    .row = malloc((size_t)n * (size_t)(n + 1) / 2 * sizeof(int32_t)),
                    .values = malloc((size_t)n * (size_t)(n + 1) / 2 * sizeof(double)),
                    .floors = calloc((size_t)n, sizeof(double))};
}

static void saddle_end(saddle *s)
{
    free(s->dense);
    free(s->column);
    free(s->row);
    free(s->values);
    free(s->floors);
}

static double *entry(const saddle *s, int32_t i, int32_t j)
{
    return &s->dense[(size_t)i * (size_t)s->n + (size_t)j];
}

static void set_both(saddle *s, int32_t i, int32_t j, double value)
{
    *entry(s, i, j) = *entry(s, j, i) = value;
}

static void list_columns(saddle *s)
{
    size_t count = 0;
    for (int32_t j = 0; j < s->n; j++) {
        for (int32_t i = 0; i <= j; i++)
            if (i == j || *entry(s, i, j) != 0) {
                s->row[count] = i;
                s->values[count++] = *entry(s, i, j);
            }
        s->column[j + 1] = count;
    }
}

/* A random pattern. A constraint follows some of its particles; particles couple to a few others, constraints to one to
 * four. A hard constraint is sometimes the sum of two others and must be left out. */
typedef struct drawing {
    uint8_t *is_row, *early;
} drawing;

static void draw_particles(saddle *s, const drawing *d, random_cases *r)
{
    for (int32_t j = 0; j < s->n; j++) {
        const int links = d->is_row[j] ? 0 : random_index(r, 4);
        for (int k = 0; k < links && j > 0; k++) {
            const int32_t i = random_index(r, j);
            if (!d->is_row[i])
                set_both(s, i, j, random_between(r, -1, 1));
        }
    }
    for (int32_t j = 0; j < s->n; j++) {
        double sum = 0.5;
        for (int32_t i = 0; i < s->n; i++)
            sum += i != j ? fabs(*entry(s, i, j)) : 0;
        if (!d->is_row[j])
            *entry(s, j, j) = sum;
    }
}

static bool add_sum_of_rows(saddle *s, const drawing *d, int32_t j, random_cases *r)
{
    const int32_t a = random_index(r, j), b = random_index(r, j);
    if (!d->is_row[a] || !d->is_row[b] || d->early[a] || d->early[b] || a == b)
        return false;
    for (int32_t i = 0; i < j; i++)
        if (!d->is_row[i])
            set_both(s, i, j, *entry(s, i, a) - 0.5 * *entry(s, i, b));
    return true;
}

static void draw_rows(saddle *s, const drawing *d, random_cases *r, double stiffest)
{
    for (int32_t j = 0; j < s->n; j++) {
        if (!d->is_row[j])
            continue;
        const int ends = 1 + random_index(r, 4);
        const bool summed = !d->early[j] && j > 1 && random_index(r, 6) == 0 && add_sum_of_rows(s, d, j, r);
        for (int k = 0; k < ends && !summed; k++) {
            const int32_t i = random_index(r, d->early[j] ? s->n : j);
            if (!d->is_row[i])
                set_both(s, i, j, random_between(r, -1, 1));
        }
        *entry(s, j, j) = d->early[j] ? -random_magnitude(r, stiffest, 1) : 0;
        s->floors[j] = d->early[j] ? -FLOOR : FLOOR;
    }
}

static saddle draw_saddle(random_cases *r, int32_t n, double stiffest)
{
    saddle s = saddle_begin(n);
    drawing d = {calloc((size_t)n, 1), calloc((size_t)n, 1)};
    for (int32_t j = 2; j < n; j++) {
        d.is_row[j] = random_index(r, 3) == 0;
        d.early[j] = d.is_row[j] && random_index(r, 3) == 0;
    }
    draw_particles(&s, &d, r);
    draw_rows(&s, &d, r, stiffest);
    list_columns(&s);
    free(d.is_row);
    free(d.early);
    return s;
}

/* ---- Dense algebra ------------------------------------------------------------------------------- */

/* Pivots in the given order; kept [n]. False if a pivot is too near its floor to decide. */
static bool dense_pivots(const saddle *s, uint8_t *kept, sinew_pivots *inertia)
{
    const size_t n = (size_t)s->n;
    double *A = malloc(n * n * sizeof *A);
    bool clear = true;
    memcpy(A, s->dense, n * n * sizeof *A);
    *inertia = (sinew_pivots){0};
    for (size_t k = 0; k < n; k++) {
        const double d = A[k * n + k];
        clear &= s->floors[k] <= 0 || fabs(d) < 1e-3 * s->floors[k] || fabs(d) > 1e5 * s->floors[k];
        kept[k] = !(fabs(d) <= s->floors[k]);
        inertia->dropped += !kept[k];
        inertia->positive += kept[k] && d > 0;
        inertia->negative += kept[k] && d < 0;
        for (size_t i = k + 1; i < n && kept[k]; i++)
            for (size_t j = k + 1; j < n && A[i * n + k] != 0; j++)
                A[i * n + j] -= A[i * n + k] * A[k * n + j] / d;
    }
    free(A);
    return clear;
}

/* x = A^-1 b without the rows and columns of unknowns that are not kept. */
static void solve_kept(const saddle *s, const uint8_t *kept, const double *b, double *x)
{
    const size_t n = (size_t)s->n;
    double *A = malloc(n * n * sizeof *A);
    for (size_t i = 0; i < n; i++) {
        x[i] = kept[i] ? b[i] : 0;
        for (size_t j = 0; j < n; j++)
            A[i * n + j] = kept[i] && kept[j] ? s->dense[i * n + j] : i == j;
    }
    dense_solve(A, s->n, x, s->n, 0);
    free(A);
}

/* ---- Tests --------------------------------------------------------------------------------------- */

typedef struct tally {
    double worst;
    int compared, dropped;
} tally;

/* Distance of two solutions relative to the second. */
static double off_by(const double *x, const double *y, int32_t n)
{
    double far = 0, size = 0;
    for (int32_t k = 0; k < n; k++) {
        far = fmax(far, fabs(x[k] - y[k]));
        size = fmax(size, fabs(y[k]));
    }
    return far / (size > 0 ? size : 1);
}

static void compare_with_dense(const saddle *s, const sinew_dense_kernels *kernels, random_cases *r, tally *t)
{
    failing_allocator memory = {0};
    const sinew_allocator hooks = hooks_of(&memory);
    sinew_error error = {0};
    sinew_pivots expected, found;
    const size_t n = (size_t)s->n;
    uint8_t *kept = malloc(n);
    double *b = malloc(n * sizeof *b), *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
    sinew_ldl *ldl = sinew_ldl_create(&hooks, kernels, s->n, s->column, s->row, &error);
    assert_non_null(ldl);
    memory.calls = 0;
    assert_true(sinew_ldl_factorise(ldl, s->values, s->floors, &found));
    for (size_t k = 0; k < n; k++)
        b[k] = random_between(r, -1, 1);
    sinew_ldl_solve(ldl, b, x, 6);
    assert_int_equal(memory.calls, 0);
    if (dense_pivots(s, kept, &expected)) {
        assert_int_equal(found.positive, expected.positive);
        assert_int_equal(found.negative, expected.negative);
        assert_int_equal(found.dropped, expected.dropped);
        for (int32_t k = 0; k < s->n; k++)
            assert_int_equal(sinew_ldl_dropped(ldl, k), !kept[k]);
        solve_kept(s, kept, b, y);
        t->worst = fmax(t->worst, off_by(x, y, s->n));
        t->dropped += expected.dropped;
        t->compared++;
    }
    sinew_ldl_destroy(ldl);
    assert_int_equal(memory.live, 0);
    free(kept);
    free(b);
    free(x);
    free(y);
}

static void saddles_as_dense_algebra_has_them(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("saddles", 60, 2000);
    int32_t variants;
    const sinew_simd_variant *const *simd = sinew_simd_variants(&variants);
    tally t = {0};
    for (int i = 0; i < r.count; i++) {
        const sinew_simd_variant *own = simd[random_index(&r, variants)];
        saddle s = draw_saddle(&r, 1 + random_index(&r, i % 10 ? 60 : 400), 1e-3);
        compare_with_dense(&s, own->dense, &r, &t);
        saddle_end(&s);
    }
    print_message("%d saddles, %d rows left out, solutions off by %.1e\n", t.compared, t.dropped, t.worst);
    assert_true(t.worst < 1e-7 && 2 * t.compared >= r.count);
}

/* A chain of particles; each rod of compliance alpha comes between its particles in the order. */
static saddle draw_rope(random_cases *r, int32_t particles, double alpha)
{
    saddle s = saddle_begin(2 * particles);
    for (int32_t k = 0; k < particles; k++) {
        *entry(&s, 2 * k, 2 * k) = -alpha;
        s.floors[2 * k] = -FLOOR;
        *entry(&s, 2 * k + 1, 2 * k + 1) = random_between(r, 0.5, 2);
        set_both(&s, 2 * k, 2 * k + 1, 1);
        if (k > 0)
            set_both(&s, 2 * k - 1, 2 * k, -1);
    }
    list_columns(&s);
    return s;
}

/* Rods are eliminated after one of their particles, with a shifted diagonal; refinement removes the shift. */
static void stiff_rows_may_come_early(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("stiff rows", 20, 500);
    tally t = {0};
    for (int i = 0; i < r.count; i++) {
        saddle s = draw_rope(&r, 2 + random_index(&r, 60), random_magnitude(&r, 1e-14, 1e-9));
        compare_with_dense(&s, sinew_simd()->dense, &r, &t);
        saddle_end(&s);
    }
    print_message("%d ropes with compliances down to 1e-14, solutions off by %.1e\n", t.compared, t.worst);
    assert_true(t.worst < 1e-9);
}

/* A zero pivot without a floor and a NaN are reported; the next matrix is factorised as usual. */
static void bad_numbers_are_told(void **unused)
{
    (void)unused;
    failing_allocator memory = {0};
    const sinew_allocator hooks = hooks_of(&memory);
    const size_t column[] = {0, 1, 3};
    const int32_t row[] = {0, 0, 1};
    double values[] = {4, 2, 1}, x[2];
    const double none[] = {0, 0}, floors[] = {0, 1e-9}, b[] = {1, 1};
    sinew_pivots pivots;
    sinew_ldl *ldl = sinew_ldl_create(&hooks, sinew_simd()->dense, 2, column, row, NULL);
    assert_non_null(ldl);
    assert_false(sinew_ldl_factorise(ldl, values, none, &pivots)); /* the second pivot 1 - 2^2 / 4 is zero */
    assert_true(sinew_ldl_factorise(ldl, values, floors, &pivots));
    assert_true(pivots.positive == 1 && pivots.dropped == 1 && sinew_ldl_dropped(ldl, 1));
    assert_true(sinew_ldl_pivot(ldl, 0) == 4 && sinew_ldl_pivot(ldl, 1) == 0);
    assert_true(sinew_ldl_solve(ldl, b, x, 2) == 0 && x[0] == 0.25 && x[1] == 0);
    values[1] = NAN;
    assert_false(sinew_ldl_factorise(ldl, values, floors, &pivots));
    values[1] = 0;
    assert_true(sinew_ldl_factorise(ldl, values, NULL, &pivots) && pivots.positive == 2);
    assert_true(sinew_ldl_solve(ldl, b, x, 2) <= 1e-15 && fabs(x[1] - 1) < 1e-15);
    sinew_ldl_destroy(ldl);
    assert_int_equal(memory.live, 0);
}

static void every_allocation_may_fail(void **unused)
{
    (void)unused;
    random_cases r = {.state = 7};
    saddle s = draw_saddle(&r, 80, 1e-3);
    failing_allocator memory = {0};
    const sinew_allocator hooks = hooks_of(&memory);
    for (memory.fail_at = 1;; memory.fail_at++) {
        sinew_error error = {0};
        memory.calls = 0;
        sinew_ldl *ldl = sinew_ldl_create(&hooks, sinew_simd()->dense, s.n, s.column, s.row, &error);
        const bool made = ldl;
        sinew_ldl_destroy(ldl);
        assert_int_equal(memory.live, 0);
        if (made)
            break;
        assert_int_equal(error.status, SINEW_ERROR_MEMORY);
    }
    saddle_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saddles_as_dense_algebra_has_them),
        cmocka_unit_test(stiff_rows_may_come_early),
        cmocka_unit_test(bad_numbers_are_told),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
