/* SPDX-License-Identifier: MIT
 *
 * test_at_rest.c: a world at rest without forces stays there, in every solver and with every measure: no bit but those
 * of the solver's kind, zero residual, energy and gap, and the same positions to the last bit.
 */
#include "make_world.h"

static sinew_world *make_resting(sinew_solver_kind solver, sinew_measure measure, bool quasistatic)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.quasistatic = quasistatic;
    def.gravity[1] = 0;
    def.solver = sinew_default_solver_def(solver);
    def.solver.measure = measure;
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_rope(4, (const double[]){0, 0, 0}, (const double[]){3, 0, 0});
    const sinew_body body = add_mesh(world, mesh, 1, NULL, NULL);
    add_springs(world, body, 100);
    const int32_t first = 0;
    add_pins(world, body, &first, 1, NULL);
    sinew_mesh_destroy(mesh);
    return world;
}

static void check_rest(sinew_solver_kind kind, sinew_measure measure, bool quasistatic)
{
    const sinew_solver_info *info = sinew_get_solver_info(kind);
    sinew_world *world = make_resting(kind, measure, quasistatic);
    sinew_step_result result;
    sinew_error error = {0};
    if (sinew_world_prepare(world, &error) != SINEW_OK) { /* solvers that take no such world say so */
        sinew_world_destroy(world);
        return;
    }
    sinew_real *before = positions_of(world);
    for (int i = 0; i < 2; i++) {
        const uint32_t bits = sinew_world_step(world, &result);
        const uint32_t expected = info->explicit_step                ? SINEW_STEP_EXPLICIT
                                  : measure == SINEW_MEASURE_NOTHING ? SINEW_STEP_UNMEASURED
                                                                     : 0;
        if (bits != expected)
            fail_msg("%s, measure %d: bits are %x, expected %x", info->name, (int)measure, bits, expected);
        if (measure == SINEW_MEASURE_NOTHING)
            continue;
        assert_true(result.residual == 0 && result.objective == 0 && result.elastic == 0);
        if (measure == SINEW_MEASURE_GAP && result.gap_kind != SINEW_GAP_UNKNOWN)
            assert_true(fabs(result.gap) == 0);
    }
    sinew_real *after = positions_of(world);
    assert_memory_equal(before, after, 12 * sizeof *before);
    free(before);
    free(after);
    sinew_world_destroy(world);
}

static void every_solver(void **state)
{
    (void)state;
    for (int kind = 0; kind < SINEW_SOLVER_COUNT; kind++)
        for (int quasistatic = 0; quasistatic < 2; quasistatic++) {
            check_rest((sinew_solver_kind)kind, SINEW_MEASURE_GAP, quasistatic);
            check_rest((sinew_solver_kind)kind, SINEW_MEASURE_RESIDUAL, quasistatic);
            check_rest((sinew_solver_kind)kind, SINEW_MEASURE_NOTHING, quasistatic);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_solver)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
