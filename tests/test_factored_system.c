/* SPDX-License-Identifier: MIT
 *
 * test_factored_system.c: solves with a cached factor against the matrix itself; their bits do not depend on threads or
 * the SIMD variant.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "energy/energy.h"
#include "linear/factor/factored_system.h"
#include "mesh/topology.h"

typedef struct system {
    int32_t n;
    size_t *column;
    int32_t *row;
    double *value;
} system_t;

/* Graph Laplacian of a box mesh plus a small multiple of the identity: the pattern of PD's global step. */
static system_t make_system(int32_t side)
{
    sinew_box_def def = sinew_default_box_def();
    for (int i = 0; i < 3; i++)
        def.vertices[i] = side;
    sinew_mesh *mesh = sinew_mesh_box(&def, NULL);
    sinew_elements tets = {sinew_mesh_tets(mesh), sinew_mesh_tet_count(mesh), 4};
    sinew_allocator allocator = sinew_allocator_or_system(NULL);
    sinew_adjacency adjacency = {0};
    system_t s = {.n = sinew_mesh_vertex_count(mesh)};
    assert_int_equal(sinew_adjacency_build(&adjacency, &allocator, s.n, &tets, 1, NULL), SINEW_OK);
    s.column = malloc(((size_t)s.n + 1) * sizeof *s.column);
    s.row = malloc((size_t)(adjacency.first[s.n] + s.n) * sizeof *s.row);
    s.value = malloc((size_t)(adjacency.first[s.n] + s.n) * sizeof *s.value);
    size_t at = 0;
    for (int32_t j = 0; j < s.n; j++) {
        s.column[j] = at;
        s.row[at] = j;
        s.value[at++] = (double)(adjacency.first[j + 1] - adjacency.first[j]) + 0.01;
        for (int64_t k = adjacency.first[j]; k < adjacency.first[j + 1]; k++)
            if (adjacency.neighbours[k] > j) {
                s.row[at] = adjacency.neighbours[k];
                s.value[at++] = -1;
            }
    }
    s.column[s.n] = at;
    sinew_adjacency_free(&adjacency, &allocator);
    sinew_mesh_destroy(mesh);
    return s;
}

static void free_system(system_t *s)
{
    free(s->column);
    free(s->row);
    free(s->value);
}

static sinew_factored_system *factor_system(const system_t *s, const sinew_simd_variant *simd, int32_t threads)
{
    sinew_allocator allocator = sinew_allocator_or_system(NULL);
    const sinew_factored_system_kernels kernels = {simd->supernodes, simd->dense, false};
    return sinew_factored_system_create(&allocator, &kernels, threads, s->n, s->column, s->row, s->value, NULL, NULL);
}

static sinew_real *aligned_vector(int32_t n)
{
    sinew_real *x = aligned_alloc(64, (4 * (size_t)n * sizeof *x + 63) / 64 * 64);
    memset(x, 0, 4 * (size_t)n * sizeof *x);
    return x;
}

/* max |S x - b| / (|S| |x|) over the three columns */
static double residual(const system_t *s, const sinew_real *x, const sinew_real *b)
{
    double *r = calloc(3 * (size_t)s->n, sizeof *r), worst = 0, size = 0;
    for (int32_t j = 0; j < s->n; j++)
        for (size_t k = s->column[j]; k < s->column[j + 1]; k++)
            for (size_t c = 0; c < 3; c++) {
                size_t i = (size_t)s->row[k], jj = (size_t)j;
                r[3 * i + c] += s->value[k] * (double)x[4 * jj + c];
                if (i != jj)
                    r[3 * jj + c] += s->value[k] * (double)x[4 * i + c];
            }
    for (int32_t i = 0; i < s->n; i++)
        for (size_t c = 0; c < 3; c++) {
            worst = fmax(worst, fabs(r[3 * (size_t)i + c] - (double)b[4 * (size_t)i + c]));
            size = fmax(size, fabs((double)x[4 * (size_t)i + c]));
        }
    free(r);
    return worst / (30 * size);
}

static void fill_right(sinew_real *b, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        for (size_t c = 0; c < 3; c++)
            b[4 * (size_t)i + c] = (sinew_real)(sin(0.1 * i + (double)c) + 0.3);
}

static void test_solves(void **state)
{
    (void)state;
    const double tolerance = sizeof(sinew_real) == 4 ? 2e-6 : 4e-15;
    const int32_t sides[] = {2, 3, 5, 9, 17};
    int32_t count;
    const sinew_simd_variant *const *variants = sinew_simd_variants(&count);
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        system_t s = make_system(sides[i]);
        sinew_real *b = aligned_vector(s.n), *x = aligned_vector(s.n);
        fill_right(b, s.n);
        for (int32_t v = 0; v < count; v++) {
            sinew_factored_system *f = factor_system(&s, variants[v], 1);
            assert_non_null(f);
            sinew_factored_system_solve(f, NULL, b, x);
            double r = residual(&s, x, b);
            print_message("n = %d, %s: |Sx - b| / |S||x| = %.1e, %lld numbers in L\n", s.n, variants[v]->name, r,
                          (long long)sinew_factored_system_size(f));
            assert_true(r < tolerance);
            sinew_factored_system_destroy(f);
        }
        free(b);
        free(x);
        free_system(&s);
    }
}

static void test_bits(void **state)
{
    (void)state;
    system_t s = make_system(17);
    sinew_real *b = aligned_vector(s.n), *x = aligned_vector(s.n), *y = aligned_vector(s.n);
    fill_right(b, s.n);
    sinew_factored_system *one = factor_system(&s, sinew_simd(), 1), *two = factor_system(&s, sinew_simd(), 2);
    sinew_factored_system_solve(one, NULL, b, x);
    sinew_factored_system_solve(two, NULL, b, y);
    assert_memory_equal(x, y, 4 * (size_t)s.n * sizeof *x);
    sinew_factored_system_solve(two, NULL, y, y); /* in place and repeated: a solve leaves no state */
    sinew_factored_system_solve(one, NULL, x, b);
    assert_memory_equal(b, y, 4 * (size_t)s.n * sizeof *x);
    sinew_factored_system_destroy(one);
    sinew_factored_system_destroy(two);
    free(b);
    free(x);
    free(y);
    free_system(&s);
}

/* Rows of the matrix may map to any entries of the vectors. */
static void test_places(void **state)
{
    (void)state;
    system_t s = make_system(4);
    int32_t *place = malloc((size_t)s.n * sizeof *place);
    sinew_real *b = aligned_vector(s.n), *x = aligned_vector(s.n), *moved = aligned_vector(2 * s.n);
    fill_right(b, s.n);
    for (int32_t i = 0; i < s.n; i++) {
        place[i] = 2 * (s.n - 1 - i);
        memcpy(moved + 4 * (size_t)place[i], b + 4 * (size_t)i, 4 * sizeof *b);
    }
    sinew_factored_system *f = factor_system(&s, sinew_simd(), 1);
    sinew_factored_system_solve(f, NULL, b, x);
    sinew_factored_system_solve(f, place, moved, moved);
    for (int32_t i = 0; i < s.n; i++)
        assert_memory_equal(moved + 4 * (size_t)place[i], x + 4 * (size_t)i, 3 * sizeof *x);
    sinew_factored_system_destroy(f);
    free(place);
    free(b);
    free(x);
    free(moved);
    free_system(&s);
}

static void test_indefinite(void **state)
{
    (void)state;
    system_t s = make_system(3);
    s.value[s.column[5]] = -1;
    sinew_allocator allocator = sinew_allocator_or_system(NULL);
    sinew_error error;
    const sinew_factored_system_kernels kernels = {sinew_simd()->supernodes, sinew_simd()->dense, false};
    assert_null(sinew_factored_system_create(&allocator, &kernels, 1, s.n, s.column, s.row, s.value, NULL, &error));
    assert_int_equal(error.status, SINEW_ERROR_NUMERIC);
    free_system(&s);
}

/* New values in the same pattern give the bits of a new system. An indefinite matrix is refused and leaves the factor
 * unchanged. */
static void test_refactor(void **state)
{
    (void)state;
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    const sinew_simd_variant *simd = sinew_simd();
    const sinew_factored_system_kernels kernels = {simd->supernodes, simd->dense, false};
    system_t s = make_system(7);
    sinew_factored_system *again =
        sinew_factored_system_create_kept(&allocator, &kernels, 1, s.n, s.column, s.row, s.value, NULL, NULL);
    assert_non_null(again);
    for (int32_t j = 0; j < s.n; j++)
        for (size_t k = s.column[j]; k < s.column[j + 1]; k++)
            s.value[k] = 3 * s.value[k] + (k == s.column[j] ? 0.1 * (j % 5) : 0);
    sinew_factored_system *fresh = factor_system(&s, simd, 1);
    sinew_real *b = aligned_vector(s.n), *x = aligned_vector(s.n), *y = aligned_vector(s.n);
    for (int32_t i = 0; i < 4 * s.n; i++)
        b[i] = i % 4 == 3 ? 0 : (sinew_real)((i * 37) % 101 - 50);
    assert_int_equal(sinew_factored_system_refactor(again, s.value, NULL), SINEW_OK);
    s.value[s.column[s.n / 2]] = -1;
    assert_int_equal(sinew_factored_system_refactor(again, s.value, NULL), SINEW_ERROR_NUMERIC);
    sinew_factored_system_solve(again, NULL, b, x);
    sinew_factored_system_solve(fresh, NULL, b, y);
    assert_memory_equal(x, y, 4 * (size_t)s.n * sizeof *x);
    sinew_factored_system_destroy(again);
    sinew_factored_system_destroy(fresh);
    free(b);
    free(x);
    free(y);
    free_system(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_solves), cmocka_unit_test(test_bits),
                                       cmocka_unit_test(test_places), cmocka_unit_test(test_indefinite),
                                       cmocka_unit_test(test_refactor)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
