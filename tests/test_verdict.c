/* SPDX-License-Identifier: MIT
 *
 * test_verdict.c: when a step is solved. The status follows the position error relative to the size of each body, which
 * is computed here from rest positions and fields; steps without an estimate follow residual and last estimate;
 * `measure` = auto spends at most a tenth of the work. Random worlds of two bars of different sizes, by several
 * solvers.
 */
#include "contact_worlds.h"
#include "random_cases.h"
#include "solve/driver/newton_decrement.h"
#include "solve/driver/objective_gap.h"
#include "world/world.h"

enum {
    STEPS = 24,
    BARS = 2
};

typedef struct verdict_case {
    sinew_world *world;
    sinew_body bars[BARS];
    double size[BARS]; /* m: diagonals of the bounding boxes */
} verdict_case;

static sinew_solver_def draw_solver(random_cases *r)
{
    static const sinew_solver_kind kinds[] = {SINEW_SOLVER_NEWTON, SINEW_SOLVER_QN, SINEW_SOLVER_PBNG,
                                              SINEW_SOLVER_ADMM, SINEW_SOLVER_XPBD};
    sinew_solver_def def = sinew_default_solver_def(kinds[random_index(r, 5)]);
    def.iterations = 1 + random_index(r, def.kind == SINEW_SOLVER_NEWTON ? 3 : 25);
    def.accuracy = (sinew_real)random_magnitude(r, 1e-7, 1e-2);
    return def;
}

/* Bars of lengths 0.4 m and 4 m, the first held at one end. */
static verdict_case make_case(const sinew_solver_def *solver, uint64_t seed)
{
    random_cases r = {.state = seed};
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.solver = *solver;
    verdict_case c = {.world = make_world(&def)};
    for (int k = 0; k < BARS; k++) {
        const double length = k ? 4 : 0.4, width = length / 4;
        sinew_mesh *mesh = make_beam(4, 1, 1, length, width, width);
        const int32_t n = sinew_mesh_vertex_count(mesh);
        sinew_real *x = make_array(3 * (size_t)n, sizeof *x), *v = make_array(3 * (size_t)n, sizeof *v);
        for (int32_t i = 0; i < 3 * n; i++) {
            x[i] = sinew_mesh_positions(mesh)[i] + (i % 3 == 1 ? (sinew_real)(2 * k) : 0);
            v[i] = (sinew_real)(length * random_between(&r, -0.3, 0.3));
        }
        c.bars[k] = add_mesh(c.world, mesh, 1000, x, v);
        c.size[k] = sqrt(length * length + 2 * width * width);
        add_material(c.world, c.bars[k], SINEW_ENERGY_COROTATED, random_magnitude(&r, 1e4, 1e6), 0.3);
        const int32_t pins[4] = {0, 1, 2, 3};
        if (k == 0)
            add_pins(c.world, c.bars[k], pins, 4, NULL);
        free(x);
        free(v);
        sinew_mesh_destroy(mesh);
    }
    return c;
}

/* The largest error of a bar over its size; NaN if unknown. */
static double relative_of(const verdict_case *c)
{
    double relative = 0, own;
    for (int k = 0; k < BARS; k++)
        relative = sinew_body_position_error(c->world, c->bars[k], &own, NULL) ? fmax(relative, own / c->size[k]) : NAN;
    return relative;
}

static bool is_known(const sinew_step_result *result)
{
    return result->position_error_kind == SINEW_GAP_ESTIMATE;
}

/* Measured steps are solved exactly if the relative error is at most the accuracy. */
static void status_follows_the_error(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("errors", 20, 1000);
    int32_t solved = 0, open = 0;
    for (int32_t i = 0; i < r.count; i++) {
        sinew_solver_def solver = draw_solver(&r);
        solver.measure = SINEW_MEASURE_GAP;
        verdict_case c = make_case(&solver, random_bits(&r));
        for (int step = 0; step < 6; step++) {
            sinew_step_result result;
            const uint32_t bits = sinew_world_step(c.world, &result);
            if (!is_known(&result))
                continue;
            const double relative = relative_of(&c);
            assert_true(fabs(relative - result.position_error_relative) <= 1e-5 * relative);
            const bool good = result.position_error_relative <= (double)solver.accuracy;
            assert_int_equal((bits & SINEW_STEP_NOT_CONVERGED) == 0, good);
            assert_int_equal(bits & (SINEW_STEP_UNMEASURED | SINEW_STEP_ROUND_OFF), 0);
            solved += good;
            open += !good;
        }
        sinew_world_destroy(c.world);
    }
    assert_true(solved > 0 && open > 0);
}

/* Steps between estimates are solved exactly if residual times the last ratio is at most a quarter of the accuracy; for
 * residuals above four times the measured one times the root of the excess. */
static void other_steps_follow_the_residual(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("between", 40, 1000);
    int32_t solved = 0, unmeasured = 0;
    for (int32_t i = 0; i < r.count; i++) {
        sinew_solver_def solver = draw_solver(&r);
        solver.measure = SINEW_MEASURE_GAP;
        solver.gap_every = 4;
        verdict_case c = make_case(&solver, random_bits(&r));
        double ratio = 0, residual = 0;
        bool rough = true; /* residuals exceed their round-off */
        for (int step = 1; step <= STEPS; step++) {
            sinew_step_result result;
            const uint32_t bits = sinew_world_step(c.world, &result);
            rough = rough && result.relative_residual > (sizeof(sinew_real) == 4 ? 1e-3 : 1e-9);
            if (step % 4 == 0 && result.position_error_kind == SINEW_GAP_ESTIMATE) {
                ratio = result.position_error_relative / result.residual;
                residual = result.residual;
            }
            if (step % 4 == 0 || !rough)
                continue;
            assert_int_equal(result.position_error_kind, SINEW_GAP_NONE);
            const double growth = sqrt(fmax(result.residual / (4 * residual), 1));
            const bool good = ratio > 0 && growth * ratio * result.residual <= 0.25 * (double)solver.accuracy;
            assert_int_equal((bits & SINEW_STEP_UNMEASURED) == 0, good);
            assert_int_equal(bits & SINEW_STEP_NOT_CONVERGED, 0);
            solved += good;
            unmeasured += !good;
        }
        sinew_world_destroy(c.world);
    }
    assert_true(unmeasured > 0 && (solved > 0 || sizeof(sinew_real) == 4));
}

/* A tolerance other than the default is enough; the default is not. */
static void set_tolerances_decide(void **state)
{
    (void)state;
    sinew_solver_def solver = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    solver.accuracy = (sinew_real)1e-15;
    solver.measure = SINEW_MEASURE_RESIDUAL;
    for (int set = 0; set < 2; set++) {
        if (set)
            solver.tolerance = (sinew_real)(sizeof(sinew_real) == 4 ? 1e-3 : 1e-7);
        verdict_case c = make_case(&solver, 1);
        sinew_step_result result;
        const uint32_t bits = sinew_world_step(c.world, &result);
        assert_true(result.relative_residual <= (double)solver.tolerance);
        assert_int_equal(bits, set ? 0 : SINEW_STEP_UNMEASURED);
        sinew_world_destroy(c.world);
    }
}

/* Takes STEPS steps; with `again` half of them in a world that loads the state of the first. */
static int32_t count_measured(const sinew_solver_def *solver, uint64_t seed, bool again, uint32_t bits[STEPS])
{
    verdict_case c = make_case(solver, seed);
    int32_t measured = 0;
    for (int step = 0; step < STEPS; step++) {
        sinew_step_result result;
        if (again && step == STEPS / 2) {
            verdict_case next = make_case(solver, seed);
            const size_t size = sinew_world_state_size(c.world);
            char *blob = make_array(size, 1);
            assert_int_equal(sinew_world_state_save(c.world, blob, size), SINEW_OK);
            assert_int_equal(sinew_world_state_load(next.world, blob, size, NULL), SINEW_OK);
            sinew_world_destroy(c.world);
            free(blob);
            c = next;
        }
        bits[step] = sinew_world_step(c.world, &result);
        bits[step] |= (uint32_t)result.gap_kind << 24;
        assert_true(step > 0 || result.gap_kind != SINEW_GAP_NONE);
        measured += result.gap_kind != SINEW_GAP_NONE;
    }
    sinew_world_destroy(c.world);
    return measured;
}

/* `auto` measures the first step and some later ones, and a loaded state continues with the same steps and bits. */
static void auto_measures_some_steps(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("auto", 10, 300);
    int32_t total = 0;
    for (int32_t i = 0; i < r.count; i++) {
        uint32_t bits[STEPS], loaded[STEPS];
        const sinew_solver_def solver = draw_solver(&r);
        assert_int_equal(solver.measure, SINEW_MEASURE_AUTO);
        const uint64_t seed = random_bits(&r);
        const int32_t measured = count_measured(&solver, seed, false, bits);
        assert_int_equal(count_measured(&solver, seed, true, loaded), measured);
        assert_memory_equal(bits, loaded, sizeof bits);
        assert_true(measured >= 1 && measured <= STEPS / 2);
        total += measured;
    }
    /* Ten cases may measure their first steps alone (SINEW_SEED=1795134626), which tells nothing. */
    assert_true(total > r.count || sizeof(sinew_real) == 4 || r.count < 100);
}

/* A tenth of the solver's work pays for five quarters of the work of all estimates, the last of which stands for the
 * next one: estimates take longer than the same work of a solver. */
static void estimates_are_charged_by_their_time(void **state)
{
    (void)state;
    enum {
        LONG = 400
    };
    sinew_solver_def solver = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    solver.tolerance = (sinew_real)1e-6;
    verdict_case c = make_case(&solver, 5);
    double solved = 0, estimated = 0, last = 0;
    int32_t later = 0;
    for (int step = 0; step < LONG; step++) {
        sinew_step_result result;
        sinew_world_step(c.world, &result);
        if (result.gap_kind != SINEW_GAP_NONE) {
            const sinew_gap *gap = c.world->solve.gap;
            assert_true(step == 0 || 0.1 * solved >= 1.25 * (estimated + last) * (1 - 1e-9));
            later += step > 0;
            last = gap->work / gap->model.newton;
            estimated += last;
        }
        solved += sinew_solve_work(&c.world->solve);
    }
    assert_true(later > 0);
    sinew_world_destroy(c.world);
}

static void bad_accuracies_are_refused(void **state)
{
    (void)state;
    static const double bad[] = {0, -1e-4, 1e-16, 1.5, NAN, INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        sinew_world_def def = sinew_default_world_def();
        sinew_error error;
        def.solver.accuracy = (sinew_real)bad[i];
        assert_null(sinew_world_create(&def, &error));
        assert_non_null(strstr(error.text, "must be from 1e-15 to 1"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_follows_the_error),
        cmocka_unit_test(other_steps_follow_the_residual),
        cmocka_unit_test(set_tolerances_decide),
        cmocka_unit_test(auto_measures_some_steps),
        cmocka_unit_test(estimates_are_charged_by_their_time),
        cmocka_unit_test(bad_accuracies_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
