/* SPDX-License-Identifier: MIT
 *
 * test_measure.c: the status of a step does not depend on unrelated measurements. Without measuring, a step reports
 * neither solved nor unsolved, for every choice of records; it ends in the same positions as with measuring.
 */
#include "solver_scenes.h"

static sinew_step_result step_with(int index, sinew_solver_kind kind, sinew_measure measure, sinew_record record,
                                   uint64_t *hash)
{
    sinew_solver_def solver = solver_of(kind, 6);
    solver.measure = measure;
    solver.record = record;
    sinew_world *world = build(&scenes[index], &solver, 1, 1);
    const sinew_step_result result = step_of(world);
    *hash = sinew_world_state_hash(world);
    sinew_world_destroy(world);
    return result;
}

static bool can_take(sinew_solver_kind kind, const scene *s)
{
    const sinew_solver_info *info = sinew_get_solver_info(kind);
    return (s->h > 0 ? !info->static_only : info->quasistatic) && sinew_solver_accepts(kind, s->kind, NULL, 0);
}

static void check(int index, sinew_solver_kind kind, sinew_record record)
{
    uint64_t hash, measured;
    const sinew_step_result result = step_with(index, kind, SINEW_MEASURE_NOTHING, record, &hash);
    step_with(index, kind, SINEW_MEASURE_RESIDUAL, record, &measured);
    assert_true(result.bits &
                (sinew_get_solver_info(kind)->explicit_step ? SINEW_STEP_EXPLICIT : SINEW_STEP_UNMEASURED));
    assert_false(result.bits & (SINEW_STEP_NOT_CONVERGED | SINEW_STEP_ROUND_OFF));
    assert_true(isnan(result.relative_residual));
    assert_int_equal(result.gap_kind, SINEW_GAP_NONE);
    if (hash != measured)
        fail_msg("%s, %s: ends elsewhere without measuring", scenes[index].name, sinew_get_solver_info(kind)->name);
}

static void unmeasured_steps_say_so(void **unused)
{
    (void)unused;
    static const sinew_record records[] = {SINEW_RECORD_NONE, SINEW_RECORD_ITERATIONS, SINEW_RECORD_STEP};
    int32_t count = 0;
    for (int index = 0; index < SCENE_COUNT; index++)
        for (int kind = 0; kind < SINEW_SOLVER_COUNT; kind++)
            for (int r = 0; r < 3 && can_take((sinew_solver_kind)kind, &scenes[index]); r++, count++)
                check(index, (sinew_solver_kind)kind, records[r]);
    assert_true(count > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(unmeasured_steps_say_so)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
