/* SPDX-License-Identifier: MIT
 *
 * test_coarse.c: the coarse space over aggregates (objective/coarse/aggregates.h, objective/coarse/galerkin.h,
 * solve/coarse/coarse_correction.h). References: P^T H P by dense matrices for the Galerkin matrix; Newton's method
 * without a coarse space for pbng and for Newton with conjugate gradients. Results do not depend on the number of
 * threads, a changed world equals one built that way, and failing allocations are reported.
 */
#include "failing_allocator.h"
#include "objective/coarse/aggregates.h"
#include "objective/assembly.h"
#include "pbng_worlds.h"
#include "random_cases.h"
#include "solve/coarse/coarse_correction.h"

enum {
    AGGREGATES = 2, /* value `aggregates` of pbng's option `coarse` */
    UNKNOWNS = 3 * SINEW_MODES
};

static sinew_solver_def coarse_pbng(int iterations, int size)
{
    sinew_solver_def def = solver_of(SINEW_SOLVER_PBNG, iterations);
    set(&def, "coarse", AGGREGATES);
    set(&def, "aggregate", size);
    return def;
}

/* A prepared world of a scene with randomly displaced particles. */
static sinew_world *prepared(int which, int refine, int threads, random_cases *r)
{
    const sinew_solver_def newton = solver_of(SINEW_SOLVER_NEWTON, 1);
    sinew_error error = {0};
    sinew_world *world = build(&scenes[which], &newton, refine, threads);
    sinew_world_predict(world);
    assert_int_equal(sinew_world_prepare(world, &error), SINEW_OK);
    for (int32_t i = 0; i < 4 * world->particle_count; i++)
        if (i % 4 < 3)
            world->q[i] += (sinew_real)random_between(r, -0.02, 0.02);
    return world;
}

/* ---- The space ----------------------------------------------------------------------------------- */

/* P [3 * free][12 * aggregates], with rows in the order of the assembly. */
static double *dense_space(const sinew_coarse_space *space, const sinew_assembly *as)
{
    const size_t columns = UNKNOWNS * (size_t)space->count;
    double *P = make_array(3 * (size_t)as->free_count * columns, sizeof *P);
    for (int32_t i = 0; i < as->free_count; i++) {
        const int32_t particle = as->particle[i], a = space->aggregate[particle];
        for (size_t k = 0; k < UNKNOWNS; k++)
            P[(3 * (size_t)i + k % 3) * columns + UNKNOWNS * (size_t)a + k] =
                (double)space->basis[SINEW_MODES * (size_t)particle + k / 3];
    }
    return P;
}

/* Every free particle is in one aggregate, no pinned particle is in any, and the basis functions are orthonormal. */
static void check_space(const sinew_coarse_space *space, const sinew_objective *o, int32_t size)
{
    int32_t found = 0;
    for (int32_t i = 0; i < o->particle_count; i++) {
        assert_true((space->aggregate[i] >= 0) == !o->step.pinned[i]);
        found += space->aggregate[i] >= 0;
    }
    assert_int_equal(space->first_particle[space->count], found);
    for (int32_t a = 0; a < space->count; a++) {
        double sums[SINEW_MODES * SINEW_MODES] = {0};
        assert_true(space->first_particle[a + 1] - space->first_particle[a] <= 3 * size);
        for (int32_t k = space->first_particle[a]; k < space->first_particle[a + 1]; k++)
            for (size_t e = 0; e < SINEW_MODES * SINEW_MODES; e++) {
                const sinew_real *phi = space->basis + SINEW_MODES * (size_t)space->particle[k];
                sums[e] += (double)phi[e / SINEW_MODES] * (double)phi[e % SINEW_MODES];
            }
        for (size_t e = 0; e < SINEW_MODES * SINEW_MODES; e++) {
            const double expected = e % (SINEW_MODES + 1) == 0 && e / SINEW_MODES < space->mode_count[a] ? 1 : 0;
            assert_true(fabs(sums[e] - expected) < (IS_SINGLE ? 1e-4 : 1e-9));
        }
    }
}

/* ---- The matrix ---------------------------------------------------------------------------------- */

static double *dense_hessian(const sinew_world *world, sinew_assembly *as)
{
    const size_t n = 3 * (size_t)as->free_count;
    double *values = make_array(9 * (size_t)as->column[as->free_count], sizeof *values);
    double *H = make_array(n * n, sizeof *H);
    sinew_assembly_fill(as, (sinew_objective *)&world->objective, world->q, true, values);
    for (int32_t j = 0; j < as->free_count; j++)
        for (int32_t k = as->column[j]; k < as->column[j + 1]; k++)
            for (size_t e = 0; e < 9; e++) {
                const size_t blocks = (size_t)(as->column[j + 1] - as->column[j]), c = e % 3, row = e / 3;
                const double value =
                    values[9 * (size_t)as->column[j] + 3 * blocks * c + 3 * (size_t)(k - as->column[j]) + row];
                H[(3 * (size_t)as->row[k] + row) * n + 3 * (size_t)j + c] = value;
                H[(3 * (size_t)j + c) * n + 3 * (size_t)as->row[k] + row] = value;
            }
    free(values);
    return H;
}

/* Entry (i, j) of the Galerkin matrix, unknowns 12 a + 3 f + c. */
static double galerkin_number(const sinew_galerkin *g, size_t i, size_t j)
{
    const int32_t a = (int32_t)(i / UNKNOWNS), b = (int32_t)(j / UNKNOWNS);
    if (a < b)
        return galerkin_number(g, j, i);
    for (int32_t k = g->column[b]; k < g->column[b + 1]; k++)
        if (g->row[k] == a)
            return g->values[SINEW_PAIR_NUMBERS * (size_t)k + SINEW_MODES * SINEW_MODES * (3 * (i % 3) + j % 3) +
                             SINEW_MODES * (i % UNKNOWNS / 3) + j % UNKNOWNS / 3];
    return 0;
}

static void check_matrix(const sinew_galerkin *g, const sinew_coarse_space *space, const double *P, const double *H,
                         size_t n)
{
    const size_t m = UNKNOWNS * (size_t)space->count;
    double *HP = make_array(n * m, sizeof *HP), largest = 0, worst = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; H[i * n + k] != 0 && j < m; j++)
                HP[i * m + j] += H[i * n + k] * P[k * m + j];
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++) {
            double sum = i == j && i % UNKNOWNS / 3 >= space->mode_count[i / UNKNOWNS] ? 1 : 0;
            for (size_t k = 0; k < n; k++)
                sum += P[k * m + i] * HP[k * m + j];
            largest = fmax(largest, fabs(sum));
            worst = fmax(worst, fabs(sum - galerkin_number(g, i, j)));
        }
    assert_true(worst < (IS_SINGLE ? 1e-5 : 1e-12) * largest);
    free(HP);
}

static void matrix_is_the_projected_hessian(void **unused)
{
    (void)unused;
    static const int cases[] = {BEAM_STIFF, BALL_SOFT, CLOTH_STIFF, RUBBER_STIFF, BEAM_STILL};
    random_cases r = random_cases_begin("test_coarse, matrix", 5, 100);
    for (int32_t k = 0; k < r.count; k++) {
        const int32_t size = 4 + random_index(&r, 40);
        sinew_error error = {0};
        sinew_world *world = prepared(cases[k % 5], 1, 1 + k % 2, &r);
        const sinew_objective *o = &world->objective;
        sinew_coarse_space space;
        sinew_galerkin g;
        sinew_assembly *as = sinew_assembly_create(o, o->task_count, NULL, &error);
        assert_non_null(as);
        assert_int_equal(sinew_aggregates_create(&space, o, size, &error), SINEW_OK);
        check_space(&space, o, size);
        assert_int_equal(sinew_galerkin_create(&g, o, &space, &error), SINEW_OK);
        sinew_galerkin_fill(&g, o, world->q);
        double *P = dense_space(&space, as), *H = dense_hessian(world, as);
        check_matrix(&g, &space, P, H, 3 * (size_t)as->free_count);
        free(P);
        free(H);
        sinew_galerkin_destroy(&g, o);
        sinew_aggregates_destroy(&space, o);
        sinew_assembly_destroy(o, as);
        sinew_world_destroy(world);
    }
}

/* With A = P^T H P, P x is a fixed point of P A^-1 P^T H. */
static void solve_inverts_the_matrix(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("test_coarse, solve", 4, 40);
    for (int32_t k = 0; k < r.count; k++) {
        /* A limit on the size of the factor makes a second level. */
        const int64_t max = k % 4 < 2 ? 0 : 3000;
        const double near = IS_SINGLE ? 1e-2 : k % 4 < 2 ? 1e-8 : 1e-2;
        sinew_error error = {0};
        sinew_world *world = prepared(k % 2 ? CLOTH_STIFF : RUBBER_STIFF, 2, 2, &r);
        sinew_objective *o = &world->objective;
        sinew_coarse c;
        assert_int_equal(sinew_coarse_create(&c, o, 20, max, &error), SINEW_OK);
        assert_true((c.second_level.group != NULL) == (max > 0));
        assert_true(sinew_coarse_fill(&c, world->q));
        const size_t n = 4 * (size_t)o->particle_count;
        sinew_real *x = make_array(n, sizeof *x), *Hx = make_array(n, sizeof *x), *z = make_array(n, sizeof *x);
        for (int32_t i = 0; i < o->particle_count; i++)
            for (size_t m = 0; c.space.aggregate[i] >= 0 && m < UNKNOWNS; m++)
                x[4 * (size_t)i + m % 3] += (sinew_real)sin(1 + (double)m + 3.0 * c.space.aggregate[i]) *
                                            c.space.basis[SINEW_MODES * (size_t)i + m / 3];
        assert_int_equal(sinew_objective_need_tangents(o, &error), SINEW_OK);
        sinew_objective_linearise(o, world->q, true);
        sinew_objective_product(o, x, Hx);
        sinew_coarse_solve(&c, 1, Hx, false, z);
        for (size_t i = 0; i < n; i++)
            assert_true(fabs((double)z[i] - (double)x[i]) < near);
        sinew_coarse_solve(&c, -2, Hx, true, z);
        for (size_t i = 0; i < n; i++)
            assert_true(fabs((double)z[i] + (double)x[i]) < 3 * near);
        free(x);
        free(Hx);
        free(z);
        sinew_coarse_destroy(&c);
        sinew_world_destroy(world);
    }
}

/* ---- Steps --------------------------------------------------------------------------------------- */

static double end_objective(int which, const sinew_solver_def *solver, int refine)
{
    sinew_world *world = build(&scenes[which], solver, refine, 1);
    const double objective = step_of(world).objective;
    sinew_world_destroy(world);
    return objective;
}

static double start_objective(int which)
{
    const sinew_solver_def none = solver_of(SINEW_SOLVER_PBNG, 0);
    return end_objective(which, &none, 1);
}

static void pbng_ends_at_newtons_minimum(void **unused)
{
    (void)unused;
    static const int cases[] = {BEAM_SOFT, BEAM_STIFF, BALL_STIFF, CLOTH_SOFT, RUBBER_STIFF, RUBBER_STILL};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        sinew_solver_def newton = solver_of(SINEW_SOLVER_NEWTON, 100), coarse = coarse_pbng(100, 10);
        newton.tolerance = (sinew_real)(IS_SINGLE ? 1e-4 : 1e-9);
        const double lowest = end_objective(cases[k], &newton, 1), start = start_objective(cases[k]);
        const double error = (end_objective(cases[k], &coarse, 1) - lowest) / (start - lowest);
        print_message("%-26s relative error %.1e after 100 iterations\n", scenes[cases[k]].name, error);
        assert_true(error < (IS_SINGLE ? 1e-3 : 1e-6));
    }
}

static void no_iteration_raises_the_objective(void **unused)
{
    (void)unused;
    static const sinew_energy_kind kinds[] = {SINEW_ENERGY_NEO_HOOKEAN, SINEW_ENERGY_COROTATED};
    static const double steps[] = {0, 0.1, 0.001};
    for (int m = 0; m < 2; m++)
        for (int E = 3; E <= 9; E += 3)
            for (int k = 0; k < 3; k++) {
                sinew_solver_def def = coarse_pbng(30, 12);
                set(&def, "acceleration", NONE);
                sinew_world *world = inverted_world(kinds[m], pow(10, E), steps[k], &def);
                assert_true(largest_rise(world) <= 64);
                sinew_world_destroy(world);
            }
}

static void newton_with_it_ends_where_it_does_without(void **unused)
{
    (void)unused;
    static const int cases[] = {BEAM_STIFF, BALL_STIFF, CLOTH_SOFT, RUBBER_STILL};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        double objective[2];
        for (int coarse = 0; coarse < 2; coarse++) {
            sinew_solver_def def = solver_of(SINEW_SOLVER_NEWTON, 100);
            def.tolerance = (sinew_real)(IS_SINGLE ? 1e-4 : 1e-9);
            set(&def, "linear", 1);
            set(&def, "preconditioner", coarse);
            set(&def, "aggregate", 10);
            objective[coarse] = end_objective(cases[k], &def, 1);
        }
        const double size = fabs(start_objective(cases[k]) - objective[0]);
        assert_true(fabs(objective[1] - objective[0]) < (IS_SINGLE ? 1e-4 : 1e-9) * size);
    }
}

/* ---- Mesh refinement ------------------------------------------------------------------------------- */

/* Conjugate-gradient iterations in two Newton iterations. */
static int32_t inner_iterations(int refine, int coarse)
{
    sinew_solver_def def = solver_of(SINEW_SOLVER_NEWTON, 2);
    set(&def, "linear", 1);
    set(&def, "cg_tolerance", 0.001);
    set(&def, "preconditioner", coarse);
    set(&def, "aggregate", 30);
    sinew_world *world = build(&scenes[RUBBER_STIFF], &def, refine, 1);
    const int32_t count = step_of(world).linear_iterations;
    sinew_world_destroy(world);
    return count;
}

/* pbng iterations until g - g* is 1e-3 of its initial value. */
static int32_t outer_iterations(int refine, int coarse)
{
    sinew_solver_def newton = solver_of(SINEW_SOLVER_NEWTON, 100), def = coarse_pbng(300, 30);
    newton.tolerance = (sinew_real)1e-4;
    set(&def, "coarse", coarse);
    const double lowest = end_objective(RUBBER_STIFF, &newton, refine);
    sinew_world *world = build(&scenes[RUBBER_STIFF], &def, refine, 1);
    int32_t count, k = 0;
    step_of(world);
    const sinew_iteration *records = sinew_world_iterations(world, &count);
    while (k < count - 1 && records[k].objective - lowest > 1e-3 * (records[0].objective - lowest))
        k++;
    sinew_world_destroy(world);
    return k;
}

static void iterations_stay_as_meshes_get_finer(void **unused)
{
    (void)unused;
#ifndef SINEW_SANITIZED
    const int fine = 5;
#else
    const int fine = 3;
#endif
    const int32_t without[2] = {inner_iterations(2, 0), inner_iterations(fine, 0)};
    const int32_t with[2] = {inner_iterations(2, 1), inner_iterations(fine, 1)};
    print_message("conjugate gradients: %d, %d; with the coarse space %d, %d\n", without[0], without[1], with[0],
                  with[1]);
    assert_true(with[1] < 1.5 * with[0] && with[1] < without[1]);
    const int32_t plain[2] = {outer_iterations(2, 1), outer_iterations(fine, 1)};
    const int32_t coarse[2] = {outer_iterations(2, AGGREGATES), outer_iterations(fine, AGGREGATES)};
    print_message("pbng: %d, %d; with aggregates %d, %d\n", plain[0], plain[1], coarse[0], coarse[1]);
    assert_true(coarse[1] <= 1.5 * coarse[0] && coarse[1] <= plain[1]);
}

/* ---- Threads, changes, memory ---------------------------------------------------------------------- */

static uint64_t hash_after(sinew_world *world, int steps)
{
    for (int k = 0; k < steps; k++)
        step_of(world);
    const uint64_t hash = sinew_world_state_hash(world);
    sinew_world_destroy(world);
    return hash;
}

static sinew_solver_def coarse_newton(void)
{
    sinew_solver_def def = solver_of(SINEW_SOLVER_NEWTON, 3);
    set(&def, "linear", 1);
    set(&def, "preconditioner", 1);
    set(&def, "aggregate", 30);
    return def;
}

static void bits_do_not_depend_on_threads(void **unused)
{
    (void)unused;
    const sinew_solver_def solvers[] = {coarse_pbng(5, 30), coarse_newton()};
    for (int s = 0; s < 2; s++) {
        uint64_t one = 0;
        for (int threads = 1; threads <= 4; threads++) {
            const uint64_t hash = hash_after(build(&scenes[RUBBER_STIFF], &solvers[s], 6, threads), 1);
            one = threads == 1 ? hash : one;
            assert_true(hash == one);
        }
    }
}

/* Changes of a world, made before or after its preparation. */
enum {
    TIME_STEP,
    MATERIAL,
    PINS,
    PAIRS,
    CHANGES
};

static void change(sinew_world *world, int what)
{
    sinew_error error = {0};
    const sinew_body body = sinew_world_body_at(world, 0);
    if (what == TIME_STEP)
        assert_int_equal(sinew_world_set_time_step(world, (sinew_real)0.02, &error), SINEW_OK);
    if (what == MATERIAL)
        add_material(world, body, SINEW_ENERGY_STRAIN, 1e5, 0);
    if (what == PINS)
        add_pins(world, body, (const int32_t[]){40}, 1, NULL);
    if (what != PAIRS)
        return;
    sinew_energy_def weak = sinew_default_energy_def(SINEW_ENERGY_WEAK);
    weak.body.index = -1;
    weak.elements = (const int32_t[]){40, 40, 40, 40, 60, 60, 60, 60};
    weak.element_count = 1;
    weak.weights = (const sinew_real[]){1, 0, 0, 0, 1, 0, 0, 0};
    add_energy(world, &weak);
}

static void a_changed_world_steps_like_one_made_so(void **unused)
{
    (void)unused;
    const sinew_solver_def solvers[] = {coarse_pbng(5, 20), coarse_newton()};
    for (int s = 0; s < 2; s++)
        for (int what = 0; what < CHANGES; what++) {
            sinew_error error = {0};
            sinew_world *made = build(&scenes[RUBBER_STIFF], &solvers[s], 2, 1);
            sinew_world *changed = build(&scenes[RUBBER_STIFF], &solvers[s], 2, 1);
            assert_int_equal(sinew_world_prepare(changed, &error), SINEW_OK);
            change(made, what);
            change(changed, what);
            assert_true(hash_after(made, 2) == hash_after(changed, 2));
        }
}

static void failing_allocations_are_reported(void **unused)
{
    (void)unused;
    const sinew_solver_def solvers[] = {coarse_pbng(1, 10), coarse_newton()};
    for (int s = 0; s < 2; s++) {
        failing_allocator memory = {0};
        scene own = scenes[RUBBER_SOFT];
        own.allocator = hooks_of(&memory);
        for (bool done = false; !done;) {
            sinew_error error = {0};
            const int64_t next = memory.fail_at + 1;
            memory.fail_at = 0;
            sinew_world *world = build(&own, &solvers[s], 1, 1);
            memory.calls = 0;
            memory.fail_at = next;
            done = sinew_world_prepare(world, &error) == SINEW_OK;
            assert_true(done || error.status == SINEW_ERROR_MEMORY);
            memory.fail_at = done ? memory.calls + 1 : 0; /* a step allocates nothing */
            assert_int_equal(sinew_world_prepare(world, &error), SINEW_OK);
            if (done)
                step_of(world);
            memory.fail_at = next;
            sinew_world_destroy(world);
            assert_int_equal(memory.live, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrix_is_the_projected_hessian),
        cmocka_unit_test(solve_inverts_the_matrix),
        cmocka_unit_test(pbng_ends_at_newtons_minimum),
        cmocka_unit_test(no_iteration_raises_the_objective),
        cmocka_unit_test(newton_with_it_ends_where_it_does_without),
        cmocka_unit_test(iterations_stay_as_meshes_get_finer),
        cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(a_changed_world_steps_like_one_made_so),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
