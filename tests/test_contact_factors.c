/* SPDX-License-Identifier: MIT
 *
 * test_contact_factors.c: contacts in solvers with a constant matrix cause no factorisation in a thousand steps with
 * changing contacts, only solves with the existing factor, which are counted. Allocation failures while contacts appear
 * leak nothing.
 */
#include "contact_scenes.h"
#include "failing_allocator.h"
#include "world/world.h"

static const sinew_solver_kind kinds[] = {SINEW_SOLVER_PD, SINEW_SOLVER_QN, SINEW_SOLVER_ADMM};
enum {
    KINDS = sizeof kinds / sizeof kinds[0],
#ifdef SINEW_SANITIZED
    STEPS = 250, /* sanitizers are ten times slower */
#else
    STEPS = 1000,
#endif
    STACK = 2
};

static sinew_solver_def solver_of(sinew_solver_kind kind)
{
    sinew_solver_def def = sinew_default_solver_def(kind);
    def.measure = SINEW_MEASURE_RESIDUAL;
    /* A fixed weight: the automatic weight refactorises when it adapts. */
    if (kind == SINEW_SOLVER_ADMM)
        assert_int_equal(sinew_solver_def_set(&def, "weight", 1, NULL), SINEW_OK);
    return def;
}

/* Sums over steps without and with contacts. */
typedef struct tally {
    int64_t steps[2], iterations[2], solves[2];
    int64_t changes; /* contacts that begin or end */
} tally;

/* Rotates gravity, so that bodies slide, take off and land. */
static void turn_gravity(sinew_world *world, int step)
{
    sinew_error error = {0};
    const double part = step % 100, down = part < 80 ? -9.81 : 9.81, along = step % 200 < 100 ? 6 : -6;
    const sinew_real gravity[3] = {(sinew_real)along, (sinew_real)down, (sinew_real)(along / 3)};
    sinew_world_set_gravity(world, gravity, &error);
    must(&error);
}

static tally run(sinew_world *world, int steps)
{
    tally t = {0};
    for (int i = 0; i < steps; i++) {
        sinew_error error = {0};
        sinew_step_result result;
        sinew_contact_report report;
        turn_gravity(world, i);
        assert_false(sinew_world_step(world, &result) & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED));
        sinew_world_contact_report(world, &report, &error);
        must(&error);
        const int touches = report.contacts > 0;
        t.steps[touches]++;
        t.iterations[touches] += result.iterations;
        t.solves[touches] += result.linear_iterations;
        t.changes += report.began + report.ended;
    }
    return t;
}

static void factors_are_kept(void **state)
{
    const sinew_solver_kind kind = *(const sinew_solver_kind *)*state;
    const sinew_solver_def def = solver_of(kind);
    sinew_world *world = make_contact_world(&contact_scenes[STACK], &def);
    const tally t = run(world, STEPS);
    print_message("%s: %lld factorisations, %lld changes of contacts; solves an iteration: %.2f in %lld steps without "
                  "contact, %.2f in %lld with\n",
                  sinew_get_solver_info(kind)->name, (long long)world->solve.factorisations, (long long)t.changes,
                  (double)t.solves[0] / fmax(1, (double)t.iterations[0]), (long long)t.steps[0],
                  (double)t.solves[1] / fmax(1, (double)t.iterations[1]), (long long)t.steps[1]);
    assert_int_equal(world->solve.factorisations, 1);
    assert_true(t.changes > 100);
    assert_true(t.solves[1] > t.iterations[1]);
    sinew_world_destroy(world);
}

/* Fails the n-th allocation of a few steps in which contacts appear: the step reports it, and the next one continues.
 * Returns whether there were n allocations. */
static bool fail_at(const sinew_solver_def *def, int64_t n)
{
    failing_allocator memory = {0};
    sinew_world *world = make_contact_world_in(&contact_scenes[STACK], def, hooks_of(&memory));
    memory.calls = 0;
    memory.fail_at = n;
    for (int i = 0; i < 4; i++)
        assert_false(sinew_world_step(world, NULL) & SINEW_STEP_NOT_FINITE);
    const bool reached = memory.calls >= n;
    memory.fail_at = 0;
    assert_false(sinew_world_step(world, NULL) & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED));
    sinew_world_destroy(world);
    if (memory.live != 0)
        fail_msg("%lld blocks lost when allocation %lld fails", (long long)memory.live, (long long)n);
    return reached;
}

static void memory_may_run_out(void **state)
{
    static const sinew_solver_kind all[] = {SINEW_SOLVER_PD, SINEW_SOLVER_QN, SINEW_SOLVER_ADMM, SINEW_SOLVER_NEWTON};
    (void)state;
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        const sinew_solver_def def = solver_of(all[k]);
        int64_t n = 1;
        while (fail_at(&def, n))
            n++;
        print_message("%s: %lld allocations\n", sinew_get_solver_info(all[k])->name, (long long)n - 1);
    }
}

int main(void)
{
    struct CMUnitTest tests[KINDS + 1] = {[KINDS] = cmocka_unit_test(memory_may_run_out)};
    for (size_t i = 0; i < KINDS; i++)
        tests[i] = (struct CMUnitTest){.name = sinew_get_solver_info(kinds[i])->name,
                                       .test_func = factors_are_kept,
                                       .initial_state = (void *)(uintptr_t)&kinds[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
