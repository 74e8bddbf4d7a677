/* SPDX-License-Identifier: MIT
 *
 * test_linear_methods.c: linear solvers that a program registers (sinew/linear.h). Without one, lu and qr are refused
 * by name; incomplete ones are refused; a dense elimination in this file serves newton as lu and gives Cholesky's step.
 */
#include <string.h>

#include "dense_solve.h"
#include "sinew/linear.h"
#include "solver_scenes.h"

/* ---- A dense method ---------------------------------------------------------------------------- */

typedef struct dense_factors {
    int64_t n;
    const int64_t *column, *row;
    const double *value;
} dense_factors;

static int created, destroyed;

static void *dense_create(int64_t n, const int64_t *column, const int64_t *row, sinew_error *error)
{
    (void)error;
    dense_factors *f = malloc(sizeof *f);
    *f = (dense_factors){n, column, row, NULL};
    created++;
    return f;
}

static sinew_status dense_factorise(void *factors, const double *value, sinew_error *error)
{
    (void)error;
    ((dense_factors *)factors)->value = value;
    return SINEW_OK;
}

/* Also checks that both triangles of the matrix are present and agree. */
static sinew_status dense_solve_with(void *factors, const double *b, double *x, sinew_error *error)
{
    (void)error;
    const dense_factors *f = factors;
    const int n = (int)f->n;
    double *A = calloc((size_t)n * (size_t)n, sizeof *A);
    for (int j = 0; j < n; j++)
        for (int64_t e = f->column[j]; e < f->column[j + 1]; e++) {
            assert_true(e == f->column[j] || f->row[e] > f->row[e - 1]);
            A[f->row[e] * n + j] = f->value[e];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            assert_true(A[i * n + j] == A[j * n + i]);
    memcpy(x, b, (size_t)n * sizeof *x);
    dense_solve(A, n, x, n, 0);
    free(A);
    return SINEW_OK;
}

static void dense_destroy(void *factors)
{
    destroyed++;
    free(factors);
}

static const sinew_linear_method dense = {"lu", dense_create, dense_factorise, dense_solve_with, dense_destroy};

/* ---- Tests ------------------------------------------------------------------------------------- */

static sinew_world *world_with(const char *linear)
{
    sinew_error error = {0};
    sinew_solver_def def = solver_of(SINEW_SOLVER_NEWTON, 1);
    sinew_solver_def_set_keyword(&def, "linear", linear, &error);
    sinew_solver_def_set_keyword(&def, "line_search", "off", &error);
    must(&error);
    return build(&scenes[RUBBER_SOFT], &def, 1, 1);
}

static void unregistered_methods_are_refused_by_name(void **unused)
{
    (void)unused;
    static const char *const names[] = {"lu", "qr"};
    for (int k = 0; k < 2; k++) {
        sinew_error error = {0};
        char expected[64];
        snprintf(expected, sizeof expected, "linear = %s needs the experiments' program (sinew-reproduce)", names[k]);
        sinew_world *world = world_with(names[k]);
        const uint64_t before = sinew_world_state_hash(world);
        assert_int_equal(sinew_world_prepare(world, &error), SINEW_ERROR_UNSUPPORTED);
        assert_non_null(strstr(error.text, expected));
        assert_true(sinew_world_step(world, NULL) & SINEW_STEP_UNPREPARED);
        assert_non_null(strstr(sinew_world_error(world), expected));
        assert_true(sinew_world_state_hash(world) == before);
        sinew_world_destroy(world);
    }
}

static void refuse_method(const sinew_linear_method *method, const char *why)
{
    sinew_error error = {0};
    assert_int_equal(sinew_linear_method_register(method, &error), SINEW_ERROR_USAGE);
    assert_non_null(strstr(error.text, why));
}

static void incomplete_methods_are_refused(void **unused)
{
    (void)unused;
    sinew_linear_method m = dense;
    m.solve = NULL;
    refuse_method(&m, "lu cannot be registered: create, factorise, solve and destroy are required");
    m = dense;
    m.destroy = NULL;
    refuse_method(&m, "are required");
    m = dense;
    m.name = "cholesky";
    refuse_method(&m, "cholesky cannot be registered: its name must be lu or qr");
    m.name = NULL;
    refuse_method(&m, "must be lu or qr");
    refuse_method(NULL, "must be lu or qr");
}

static void a_registered_method_takes_cholesky_s_step(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    assert_int_equal(sinew_linear_method_register(&dense, &error), SINEW_OK);
    sinew_world *direct = world_with("direct"), *own = world_with("lu");
    for (int step = 0; step < 3; step++) {
        step_of(direct);
        step_of(own);
    }
    sinew_real *p = positions_of(direct), *q = positions_of(own);
    const double apart = largest_difference(p, q, 3 * sinew_world_particle_count(own));
    print_message("three steps: %.1e m from Cholesky's\n", apart);
    assert_true(apart < (IS_SINGLE ? 1e-4 : 1e-11));
    assert_true(created > 0);
    free(p);
    free(q);
    sinew_world_destroy(direct);
    sinew_world_destroy(own);
    assert_int_equal(created, destroyed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unregistered_methods_are_refused_by_name),
        cmocka_unit_test(incomplete_methods_are_refused),
        cmocka_unit_test(a_registered_method_takes_cholesky_s_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
