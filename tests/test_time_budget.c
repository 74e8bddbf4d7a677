/* SPDX-License-Identifier: MIT
 *
 * test_time_budget.c: the time budget of a step, under a clock that advances by a second with each reading, so that
 * the time of a stage is the number of readings in it. Boxes of different softness fall on each other and on a floor.
 * Without a budget, and with a budget that cuts nothing, steps have the same bits. With a budget that does not suffice,
 * every step is accepted without intersections, has at least one iteration, and names what it left out and the
 * smallest budget. Results do not depend on the number of threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "sinew/contact.h"
#include "sinew/scene.h"
#include "world/world.h"

enum {
    STEPS = 40,
    QUANTUM = 4 /* readings of the clock that belong to no stage */
};

static double read_clock(void *context)
{
    int64_t *readings = context;
    return (double)++*readings;
}

static sinew_scene *falling_boxes(const char *solver, int threads, const char *measure)
{
    static const char text[] =
        "{\"sinew\": 1, \"time_step\": \"20 ms\", \"contact\": {\"thickness\": \"4 mm\", \"friction\": 0.4},"
        "\"colliders\": [{\"shape\": \"plane\", \"position\": [0, -0.1, 0]}], \"bodies\": ["
        "{\"mesh\": {\"generator\": \"box\", \"vertices\": [4, 4, 4], \"size\": [0.2, 0.2, 0.2]}, \"density\": 500,"
        " \"transform\": {\"translate\": [0, 0.05, 0]}, \"energies\": [{\"energy\": \"strain\", \"stiffness\": 3e4}]},"
        "{\"mesh\": {\"generator\": \"box\", \"vertices\": [4, 4, 4], \"size\": [0.2, 0.2, 0.2]}, \"density\": 500,"
        " \"transform\": {\"translate\": [0.05, 0.3, 0.03]}, \"energies\": [{\"energy\": \"strain\", \"stiffness\": "
        "2000}]}]}";
    char name[64], measured[64], count[64];
    snprintf(name, sizeof name, "solver.name=%s", solver);
    snprintf(measured, sizeof measured, "solver.measure=%s", measure);
    snprintf(count, sizeof count, "threads=%d", threads);
    const char *settings[] = {name, measured, count, "solver.iterations=12"};
    sinew_scene_def def = sinew_default_scene_def();
    sinew_error error = {0};
    def.path = "boxes.json";
    def.text = text;
    def.text_size = sizeof text - 1;
    def.settings = settings;
    def.setting_count = 4;
    sinew_scene *scene = sinew_scene_read(&def, &error);
    if (!scene)
        fail_msg("%s", error.text);
    return scene;
}

/* What a run of STEPS steps with a budget (s of the test's clock; 0: none) showed. */
typedef struct budget_run {
    uint64_t hash;
    int64_t readings;
    int over, cut, iterations_least, iterations_most;
    double least; /* largest smallest budget of a step */
} budget_run;

static void check_step(sinew_world *world, const sinew_step_result *r, double budget, budget_run *run)
{
    sinew_error error = {0};
    int32_t intersections = -1;
    assert_false(r->bits & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE));
    assert_true(sinew_world_intersections(world, 0, NULL, &intersections, &error) == SINEW_OK || intersections > 0);
    assert_int_equal(intersections, 0);
    assert_true(r->iterations >= 1);
    if (budget == 0) {
        assert_true(r->budget_seconds == 0 && r->budget_least == 0);
        assert_string_equal(r->budget_left_out, "");
        return;
    }
    assert_true(r->budget_least > 0 && r->budget_least <= r->budget_seconds + QUANTUM);
    const bool over = r->budget_seconds > 1.2 * budget;
    assert_int_equal(over, (r->bits & SINEW_STEP_OVER_BUDGET) != 0);
    /* A step that exceeds its budget has left out what it can. */
    if (over)
        assert_string_not_equal(r->budget_left_out, "");
    run->over += over;
    run->cut += r->budget_left_out[0] != 0;
    run->least = r->budget_least > run->least ? r->budget_least : run->least;
}

static budget_run run_boxes(const char *solver, int threads, const char *measure, double budget)
{
    budget_run run = {.iterations_least = 1000};
    sinew_error error = {0};
    sinew_scene *scene = falling_boxes(solver, threads, measure);
    sinew_world *world = sinew_scene_world(scene);
    sinew_solver_def def = sinew_scene_solver(scene);
    def.time_budget = budget;
    assert_int_equal(sinew_world_set_solver(world, &def, &error), SINEW_OK);
    world->solve.budget.clock = read_clock;
    world->solve.budget.context = &run.readings;
    for (int k = 0; k < STEPS; k++) {
        sinew_step_result result;
        sinew_world_step(world, &result);
        check_step(world, &result, budget, &run);
        run.iterations_least = result.iterations < run.iterations_least ? result.iterations : run.iterations_least;
        run.iterations_most = result.iterations > run.iterations_most ? result.iterations : run.iterations_most;
    }
    run.hash = sinew_world_state_hash(world);
    sinew_scene_destroy(scene);
    return run;
}

static const char *const solvers[] = {"xpbd", "pbd", "newton", "pbng"};

static void test_without_cuts(void **state)
{
    (void)state;
    for (int s = 0; s < 4; s++) {
        const budget_run none = run_boxes(solvers[s], 1, "nothing", 0);
        const budget_run ample = run_boxes(solvers[s], 1, "nothing", 1e9);
        assert_int_equal(none.readings, 0);
        assert_true(ample.readings > STEPS);
        assert_true(none.hash == ample.hash);
        assert_int_equal(ample.over + ample.cut, 0);
    }
}

static void test_cuts(void **state)
{
    (void)state;
    const double budgets[] = {2, 12, 20, 32};
    for (int s = 0; s < 4; s++)
        for (int b = 0; b < 4; b++) {
            const budget_run one = run_boxes(solvers[s], 1, "nothing", budgets[b]);
            const budget_run two = run_boxes(solvers[s], 2, "nothing", budgets[b]);
            assert_true(one.hash == two.hash && one.readings == two.readings);
            if (budgets[b] < 3) {
                assert_int_equal(one.over, STEPS);
                assert_int_equal(one.iterations_least, 1);
                assert_true(one.least > budgets[b]);
            }
            /* Beyond the smallest budget a step ends within 1.2 times the budget. */
            if (budgets[b] > one.least + QUANTUM)
                assert_true(one.over <= STEPS / 10);
        }
}

/* More time never means fewer iterations at the start, and the budget is spent on them. */
static void test_grows(void **state)
{
    (void)state;
    for (int s = 0; s < 4; s++) {
        const budget_run little = run_boxes(solvers[s], 1, "nothing", 12),
                         much = run_boxes(solvers[s], 1, "nothing", 1000);
        print_message("%s: %d and %d of %d steps cut\n", solvers[s], little.cut, much.cut, STEPS);
        assert_true(little.cut > 0);
        assert_true(little.iterations_most <= much.iterations_most);
        assert_int_equal(much.cut, 0);
    }
}

/* Measurements that do not fit are left out, and reported as unknown. */
static void test_measurements(void **state)
{
    (void)state;
    sinew_error error = {0};
    int64_t readings = 0;
    sinew_scene *scene = falling_boxes("newton", 1, "gap");
    sinew_world *world = sinew_scene_world(scene);
    sinew_solver_def def = sinew_scene_solver(scene);
    def.time_budget = 2;
    assert_int_equal(sinew_world_set_solver(world, &def, &error), SINEW_OK);
    world->solve.budget.clock = read_clock;
    world->solve.budget.context = &readings;
    sinew_step_result result;
    sinew_world_step(world, &result);
    sinew_world_step(world, &result);
    assert_true(result.bits & SINEW_STEP_OVER_BUDGET);
    assert_non_null(strstr(result.budget_left_out, "measurements"));
    assert_int_equal(result.gap_kind, SINEW_GAP_UNKNOWN);
    assert_string_equal(result.gap_reason, "the time budget is spent");
    sinew_contact_report report;
    assert_int_equal(sinew_world_contact_report(world, &report, &error), SINEW_OK);
    assert_int_equal(report.intersections, -1);
    assert_string_equal(sinew_step_bit_name(SINEW_STEP_OVER_BUDGET), "over_budget");
    sinew_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_cuts),
        cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_grows),
        cmocka_unit_test(test_measurements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
