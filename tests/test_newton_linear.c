/* SPDX-License-Identifier: MIT
 *
 * test_newton_linear.c: Newton's linear solvers against each other, against dense matrices written out by hand and
 * against finite differences of the gradient; fixed numbers of inner iterations; the handling of diverging steps.
 */
#include "dense_solve.h"
#include "solver_scenes.h"

#include "linear/factor/indefinite_solver.h"
#include "linear/krylov/gauss_seidel.h"
#include "linear_methods.h"

enum {
    DIRECT,
    CG,
    BICGSTAB,
    LU,
    GS,
    QR,
    LINEAR_COUNT
};
enum {
    AUTO,
    PROJECTED,
    EXACT
};

static const char *const names[LINEAR_COUNT] = {"direct", "cg", "bicgstab", "lu", "gs", "qr"};

/* Whether a linear solver exists: LU and QR need UMFPACK and SPQR. */
static bool available(int linear)
{
    return (linear != LU && linear != QR) || linear_methods_register();
}

static sinew_solver_def newton_of(int linear, int hessian, int iterations)
{
    sinew_solver_def def = solver_of(SINEW_SOLVER_NEWTON, iterations);
    set(&def, "linear", linear);
    set(&def, "hessian", hessian);
    return def;
}

/* ---- Dense matrices -------------------------------------------------------------------------- */

/* Six block rows, coupled as a ring with two chords; lower triangle by block columns, diagonal first. */
enum {
    N = 6,
    BLOCKS = 14,
    SIZE = 3 * N
};
static const int32_t column[N + 1] = {0, 4, 7, 9, 11, 13, 14};
static const int32_t row[BLOCKS] = {0, 1, 3, 5, 1, 2, 4, 2, 3, 3, 4, 4, 5, 5};
static const int32_t colours[N] = {0, 1, 0, 1, 0, 1};

/* A random matrix with `shift` on the diagonal, in the layout of the linear solvers and dense. */
static void make_matrix(double shift, double *values, double A[SIZE][SIZE])
{
    uint32_t seed = 5;
    memset(A, 0, SIZE * sizeof A[0]);
    for (int32_t j = 0; j < N; j++)
        for (int32_t k = column[j]; k < column[j + 1]; k++)
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++) {
                    const int32_t I = 3 * row[k] + r, J = 3 * j + c;
                    if (I >= J)
                        A[I][J] = A[J][I] = next_random(&seed) + (I == J ? shift : 0);
                }
    for (int32_t j = 0; j < N; j++)
        for (int32_t k = column[j]; k < column[j + 1]; k++)
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++)
                    values[9 * column[j] + 3 * (column[j + 1] - column[j]) * c + 3 * (k - column[j]) + r] =
                        A[3 * row[k] + r][3 * j + c];
}

/* Reference sweep: block rows in the order 0 2 4 1 3 5, each solved exactly and over-relaxed by omega. */
static void dense_sweep(double A[SIZE][SIZE], double omega, const double *b, double *x)
{
    static const int order[N] = {0, 2, 4, 1, 3, 5};
    for (int k = 0; k < N; k++) {
        const int i = 3 * order[k];
        double block[9], r[3];
        for (int c = 0; c < 3; c++) {
            r[c] = b[i + c];
            for (int j = 0; j < SIZE; j++)
                r[c] -= A[i + c][j] * x[j];
            for (int d = 0; d < 3; d++)
                block[3 * c + d] = A[i + c][i + d];
        }
        dense_solve(block, 3, r, 3, 0);
        for (int c = 0; c < 3; c++)
            x[i + c] += omega * r[c];
    }
}

static double largest(const double *a, const double *b, int count)
{
    double max = 0;
    for (int i = 0; i < count; i++)
        max = fmax(max, fabs(a[i] - b[i]));
    return max;
}

static void sweeps_agree_with_dense_ones(void **unused)
{
    (void)unused;
    double A[SIZE][SIZE], values[9 * BLOCKS], b[SIZE], x[SIZE] = {0}, y[SIZE] = {0};
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    sinew_gauss_seidel gs;
    uint32_t seed = 11;
    make_matrix(12, values, A);
    for (int i = 0; i < SIZE; i++)
        b[i] = next_random(&seed);
    assert_int_equal(sinew_gauss_seidel_create(&allocator, &gs, 2, N, column, row, colours, 2, NULL), SINEW_OK);
    memcpy(gs.values, values, sizeof values);
    sinew_gauss_seidel_invert(&gs);
    for (int sweep = 0; sweep < 3; sweep++) {
        sinew_gauss_seidel_sweep(&gs, 1.3, b, x);
        dense_sweep(A, 1.3, b, y);
        assert_true(largest(x, y, SIZE) < 1e-14);
    }
    const double before = sinew_gauss_seidel_residual(&gs, b, x);
    for (int sweep = 0; sweep < 60; sweep++)
        sinew_gauss_seidel_sweep(&gs, 1, b, x);
    dense_solve(&A[0][0], SIZE, b, SIZE, 0);
    print_message("gauss-seidel: |b - A x| %.1e after 3 sweeps; after 60 more %.1e from elimination\n", before,
                  largest(x, b, SIZE));
    assert_true(largest(x, b, SIZE) < 1e-13);
    sinew_gauss_seidel_destroy(&gs);
}

static void lu_and_qr_solve_indefinite_matrices(void **unused)
{
    (void)unused;
    static const char *const methods[] = {"lu", "qr"};
    if (!available(LU))
        skip();
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    for (int k = 0; k < 2; k++) {
        double A[SIZE][SIZE], b[SIZE], x[SIZE];
        sinew_error error = {0};
        sinew_indefinite_solver *g = sinew_indefinite_solver_create(&allocator, methods[k], N, column, row, &error);
        must(&error);
        uint32_t seed = 11;
        make_matrix(0, sinew_indefinite_solver_values(g), A);
        for (int i = 0; i < SIZE; i++)
            b[i] = next_random(&seed);
        assert_int_equal(sinew_indefinite_solver_factorise(g, &error), SINEW_OK);
        assert_int_equal(sinew_indefinite_solver_solve(g, b, x, &error), SINEW_OK);
        dense_solve(&A[0][0], SIZE, b, SIZE, 0);
        print_message("%s: %.1e from elimination\n", methods[k], largest(x, b, SIZE));
        assert_true(largest(x, b, SIZE) < 1e-12);
        memset(sinew_indefinite_solver_values(g), 0, 9 * BLOCKS * sizeof(double));
        assert_int_equal(sinew_indefinite_solver_factorise(g, &error), SINEW_ERROR_NUMERIC);
        sinew_indefinite_solver_destroy(g);
    }
}

/* ---- One direction --------------------------------------------------------------------------- */

static sinew_real *positions_after(const scene *s, const sinew_solver_def *def, sinew_step_result *result)
{
    sinew_world *world = build(s, def, 1, 1);
    sinew_world_step(world, result);
    sinew_real *q = positions_of(world);
    sinew_world_destroy(world);
    return q;
}

/* Each solver solves one linear system tightly and takes a full step along its solution. */
static void linear_solvers_agree(void **unused)
{
    (void)unused;
    static const int used[] = {BEAM_STIFF, RUBBER_STILL, CLOTH_SOFT};
    for (size_t i = 0; i < sizeof used / sizeof used[0]; i++) {
        const scene *s = &scenes[used[i]];
        sinew_mesh *mesh = mesh_of(s, 1);
        const int32_t n = 3 * sinew_mesh_vertex_count(mesh);
        sinew_real *direct = NULL;
        sinew_mesh_destroy(mesh);
        for (int linear = 0; linear < LINEAR_COUNT; linear++) {
            if (!available(linear))
                continue;
            sinew_solver_def def = newton_of(linear, PROJECTED, 1);
            set(&def, "line_search", 1);
            set(&def, "cg_iterations", 20000);
            set(&def, "cg_tolerance", IS_SINGLE ? 1e-6 : 1e-13);
            set(&def, "omega", 1.6);
            sinew_step_result result;
            sinew_real *q = positions_after(s, &def, &result);
            if (!direct)
                direct = q;
            const double apart = largest_difference(direct, q, n);
            print_message("%-26s %-9s %5d inner iterations, %.1e m from direct\n", s->name, names[linear],
                          result.linear_iterations, apart);
            assert_true(apart < (IS_SINGLE ? 2e-3 : 1e-9));
            if (q != direct)
                free(q);
        }
        free(direct);
    }
}

/* With line search, all linear solvers reach the same minimum. */
static void every_linear_solver_reaches_the_minimum(void **unused)
{
    (void)unused;
    static const int used[] = {BEAM_SOFT, BEAM_STILL, RUBBER_STILL, CLOTH_STIFF};
    for (size_t i = 0; i < sizeof used / sizeof used[0]; i++)
        for (int linear = 0; linear < LINEAR_COUNT; linear++) {
            if (!available(linear))
                continue;
            sinew_solver_def def = newton_of(linear, AUTO, 60);
            def.tolerance = (sinew_real)(IS_SINGLE ? 1e-4 : 1e-10);
            set(&def, "omega", 1.6);
            sinew_world *world = build(&scenes[used[i]], &def, 1, 1);
            const sinew_step_result result = step_of(world);
            int32_t count;
            const double first = sinew_world_iterations(world, &count)[0].objective, best = minimum_of(used[i]);
            const double error = (result.objective - best) / (first - best);
            print_message("%-26s %-9s %2d iterations, %5d inner, relative residual %.1e, relative error %.1e\n",
                          scenes[used[i]].name, names[linear], result.iterations, result.linear_iterations,
                          result.relative_residual, error);
            assert_int_equal(result.bits & (SINEW_STEP_NOT_CONVERGED | SINEW_STEP_STALLED), 0);
            assert_true(error < (IS_SINGLE ? 1e-4 : 1e-10));
            sinew_world_destroy(world);
        }
}

/* ---- The exact Hessian ----------------------------------------------------------------------- */

/* |H d + g| / |g| at q with H d by finite differences of the gradient. */
static double miss_of(sinew_world *world, const sinew_real *q, const sinew_real *d, const sinew_real *g, int32_t n)
{
    double value, reach = 0, miss = 0, size = 0;
    sinew_real *x = make_array((size_t)n, sizeof *x), *side[2];
    for (int32_t i = 0; i < n; i++)
        reach = fmax(reach, fabs((double)d[i]));
    const double epsilon = 1e-5 / reach;
    for (int k = 0; k < 2; k++) {
        side[k] = make_array((size_t)n, sizeof *side[k]);
        for (int32_t i = 0; i < n; i++)
            x[i] = q[i] + (sinew_real)(k ? epsilon : -epsilon) * d[i];
        assert_int_equal(sinew_world_objective(world, x, &value, side[k]), SINEW_OK);
    }
    for (int32_t i = 0; i < n; i++) {
        const double Hd = ((double)side[1][i] - (double)side[0][i]) / (2 * epsilon);
        miss += (Hd + (double)g[i]) * (Hd + (double)g[i]);
        size += (double)g[i] * (double)g[i];
    }
    free(x);
    free(side[0]);
    free(side[1]);
    return sqrt(miss / size);
}

/* A squashed and perturbed ball, whose exact Hessian is indefinite. */
static sinew_world *shaken_ball(const sinew_solver_def *def)
{
    scene s = scenes[RUBBER_BALL];
    s.h = 1e-1;
    sinew_world *world = build(&s, def, 1, 1);
    const int32_t n = sinew_world_particle_count(world);
    sinew_real *q = positions_of(world);
    uint32_t seed = 7;
    for (int32_t i = 0; i < 3 * n; i++)
        q[i] += (sinew_real)(0.03 * next_random(&seed));
    assert_int_equal(sinew_world_set_positions(world, 0, n, q), SINEW_OK);
    free(q);
    return world;
}

/* H d = -grad g, where H d is a finite difference of the gradient along d. */
static void exact_directions_solve_the_exact_system(void **unused)
{
    (void)unused;
    if (IS_SINGLE)
        skip(); /* differences of single-precision gradients are too inaccurate */
    for (int linear = 0; linear < LINEAR_COUNT; linear++) {
        if (linear == GS || !available(linear))
            continue; /* sweeps diverge on an indefinite matrix */
        sinew_solver_def def = newton_of(linear, EXACT, 1);
        set(&def, "line_search", 1);
        set(&def, "cg_iterations", 2000);
        set(&def, "cg_tolerance", 1e-12);
        sinew_world *world = shaken_ball(&def), *stepped = shaken_ball(&def);
        const int32_t n = 3 * sinew_world_particle_count(world);
        double value, slope = 0;
        const uint32_t bits = sinew_world_step(stepped, NULL);
        sinew_real *q = positions_of(world), *d = positions_of(stepped), *g = make_array((size_t)n, sizeof *g);
        assert_int_equal(sinew_world_objective(world, q, &value, g), SINEW_OK);
        for (int32_t i = 0; i < n; i++) {
            d[i] -= q[i];
            slope += (double)d[i] * (double)g[i];
        }
        const double miss = miss_of(world, q, d, g, n);
        print_message("%-9s exact Hessian: |H d + grad| / |grad| = %.1e, d . grad = %9.2e J%s\n", names[linear], miss,
                      slope, bits & SINEW_STEP_INDEFINITE ? ", indefinite" : "");
        if (linear == LU || linear == QR || linear == BICGSTAB)
            assert_true(miss < 1e-5);
        /* Cholesky shifts and conjugate gradients stop early: neither solves the system, both report why and descend.
         */
        if (linear == DIRECT || linear == CG)
            assert_true((bits & SINEW_STEP_INDEFINITE) && slope < 0 && miss > 1e-3);
        free(q);
        free(d);
        free(g);
        sinew_world_destroy(world);
        sinew_world_destroy(stepped);
    }
}

/* Sweeps over an indefinite matrix diverge: the step reports it and keeps the state. */
static void divergence_ends_with_bits_and_the_last_state(void **unused)
{
    (void)unused;
    sinew_solver_def def = newton_of(GS, EXACT, 3);
    set(&def, "line_search", 1);
    set(&def, "inner", 20000);
    set(&def, "omega", 1.9);
    sinew_world *world = shaken_ball(&def);
    const uint64_t before = sinew_world_state_hash(world);
    sinew_step_result result;
    assert_true(sinew_world_step(world, &result) & SINEW_STEP_NOT_FINITE);
    assert_true(sinew_world_state_hash(world) == before);
    /* With line search no step is accepted, and the state is kept. */
    set(&def, "line_search", 0);
    sinew_error error = {0};
    assert_int_equal(sinew_world_set_solver(world, &def, &error), SINEW_OK);
    const uint32_t bits = sinew_world_step(world, &result);
    assert_true(bits & SINEW_STEP_STALLED);
    assert_true(bits & SINEW_STEP_INDEFINITE);
    assert_true(isfinite(result.objective) && isfinite(result.residual));
    sinew_world_destroy(world);
}

/* ---- Fixed numbers of iterations ----------------------------------------------------------------- */

/* PBNG, table 2 and section 11.1.3: 2 x 7 and 11 x 10 conjugate gradients, 2 x 3 and 6 x 7 sweeps; no line search. */
static void inner_iterations_are_as_many_as_asked(void **unused)
{
    (void)unused;
    static const int budgets[][3] = {{CG, 2, 7}, {CG, 11, 10}, {GS, 2, 3}, {GS, 6, 7}, {BICGSTAB, 3, 4}};
    for (size_t i = 0; i < sizeof budgets / sizeof budgets[0]; i++) {
        sinew_solver_def def = newton_of(budgets[i][0], PROJECTED, budgets[i][1]);
        set(&def, "line_search", 1);
        set(&def, "inner", budgets[i][2]);
        set(&def, "omega", 1.3);
        sinew_world *world = build(&scenes[RUBBER_STILL], &def, 1, 1);
        const sinew_step_result result = step_of(world);
        assert_int_equal(result.iterations, budgets[i][1]);
        assert_int_equal(result.linear_iterations, budgets[i][1] * budgets[i][2]);
        print_message("%d x %2d %-9s relative residual %.1e\n", budgets[i][1], budgets[i][2], names[budgets[i][0]],
                      result.relative_residual);
        sinew_world_destroy(world);
    }
}

static void bits_do_not_depend_on_threads(void **unused)
{
    (void)unused;
    for (int linear = BICGSTAB; linear < LINEAR_COUNT; linear++) {
        if (!available(linear))
            continue;
        sinew_solver_def def = newton_of(linear, PROJECTED, 1);
        const bool factors = linear == LU || linear == QR; /* an external library factorises, on one thread */
        set(&def, "inner", factors ? 0 : 3);
        uint64_t hash[2];
        for (int threads = 1; threads <= 2; threads++) {
            /* Large enough that the rows of a colour are divided among threads. */
            sinew_world *world = build(&scenes[BEAM_STIFF], &def, factors ? 2 : 5, threads);
            step_of(world);
            hash[threads - 1] = sinew_world_state_hash(world);
            sinew_world_destroy(world);
        }
        if (hash[0] != hash[1])
            fail_msg("%s: two threads give other bits than one", names[linear]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sweeps_agree_with_dense_ones),
        cmocka_unit_test(lu_and_qr_solve_indefinite_matrices),
        cmocka_unit_test(linear_solvers_agree),
        cmocka_unit_test(every_linear_solver_reaches_the_minimum),
        cmocka_unit_test(exact_directions_solve_the_exact_system),
        cmocka_unit_test(divergence_ends_with_bits_and_the_last_state),
        cmocka_unit_test(inner_iterations_are_as_many_as_asked),
        cmocka_unit_test(bits_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
