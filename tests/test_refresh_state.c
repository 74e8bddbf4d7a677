/* SPDX-License-Identifier: MIT
 *
 * test_refresh_state.c: pd, qn and admm in changing worlds: restoring a state saved in between, allocation failures
 * during a change, and pairs that are replaced in every step, which stop allocating after a few steps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "world_case.h"
#include "failing_allocator.h"

/* ---- State ----------------------------------------------------------------------------------- */

/* A state is saved in a changed world, every other time before a step applied the change, and continued in a world
 * built in the changed form. */
static void test_state(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("state", 2, 40);
    for (int32_t i = 0; i < r.count; i++)
        for (size_t k = 0; k < 3; k++) {
            world_case before = draw_case(&r, kinds[k]);
            const world_case after = change_case(&r, CHANGE_SWITCHED, &before);
            world_case more = after;
            more.pair_seed ^= 1;
            const sinew_solver_def solver = solver_of(kinds[k], 8, false);
            built a = build_case(&before, &solver, NULL, false), b = build_case(&more, &solver, NULL, false);
            sinew_world_step(a.world, NULL);
            apply_change(&a, &before, &after);
            sinew_world_step(a.world, NULL);
            apply_change(&a, &after, &more);
            if (i % 2 == 0)
                sinew_world_step(a.world, NULL);
            const size_t size = sinew_world_state_size(a.world);
            void *blob = malloc(size);
            sinew_error error = {0};
            assert_int_equal(sinew_world_state_save(a.world, blob, size), SINEW_OK);
            sinew_world_state_load(b.world, blob, size, &error);
            must(&error);
            for (int step = 0; step < 3; step++) {
                sinew_world_step(a.world, NULL);
                sinew_world_step(b.world, NULL);
            }
            if (sinew_world_state_hash(a.world) != sinew_world_state_hash(b.world)) {
                print_scene(&after.scene);
                fail_msg("%s went on otherwise, off by %g", sinew_get_solver_info(kinds[k])->name,
                         largest_difference(&a, &b));
            }
            free(blob);
            free_built(&a);
            free_built(&b);
        }
}

/* A state saved while the world cannot step, as its particles have no support, still loads. */
static void test_held_by_nothing(void **state)
{
    (void)state;
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    def.quasistatic = true;
    def.solver = sinew_default_solver_def(SINEW_SOLVER_ADMM);
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_beam(2, 1, 1, 2, 1, 1);
    const sinew_body body = add_mesh(world, mesh, 1000, NULL, NULL);
    const sinew_energy energy = add_material(world, body, SINEW_ENERGY_COROTATED, 1e6, 0.3);
    const int32_t held[3] = {0, 3, 6};
    add_pins(world, body, held, 3, NULL);
    assert_int_equal(sinew_world_step(world, NULL) & SINEW_STEP_UNPREPARED, 0);
    assert_int_equal(sinew_energy_switch(world, energy, NULL, 0, false, &error), SINEW_OK);
    const size_t size = sinew_world_state_size(world);
    void *blob = malloc(size);
    assert_int_equal(sinew_world_state_save(world, blob, size), SINEW_OK);
    assert_int_not_equal(sinew_world_step(world, NULL) & SINEW_STEP_UNPREPARED, 0);
    assert_int_equal(sinew_world_state_load(world, blob, size, &error), SINEW_OK);
    assert_int_equal(sinew_energy_switch(world, energy, NULL, 0, true, &error), SINEW_OK);
    assert_int_equal(sinew_world_step(world, NULL) & SINEW_STEP_UNPREPARED, 0);
    free(blob);
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* The step after a change runs while the n-th allocation fails: it reports the failure, and the next step is as without
 * it. */
static void test_failures(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("memory fails", 1, 10);
    for (size_t k = 0; k < 3; k++) {
        world_case before = draw_case(&r, kinds[k]);
        before.scene.mesh = DRAWN_BOX;
        before.scene.energy = SINEW_ENERGY_STRAIN;
        before.scene.cells = 1;
        const world_case after = change_case(&r, k == 1 ? CHANGE_MANY_PAIRS : CHANGE_ALL, &before);
        sinew_solver_def solver = solver_of(kinds[k], 3, false);
        if (kinds[k] == SINEW_SOLVER_ADMM)
            solver.parameters[sinew_solver_parameter(kinds[k], "weight")] = 1;
        uint64_t hash = 0;
        failing_allocator memory = {0};
        const sinew_allocator hooks = hooks_of(&memory);
        for (int64_t n = 0;; n++) {
            built a = build_case(&before, &solver, &hooks, false);
            sinew_world_step(a.world, NULL);
            apply_change(&a, &before, &after);
            memory.calls = 0;
            memory.fail_at = n;
            const bool failed = sinew_world_step(a.world, NULL) & SINEW_STEP_UNPREPARED;
            const bool through = memory.calls < n;
            memory.fail_at = 0;
            assert_true(failed || n == 0 || through);
            if (failed)
                assert_int_equal(sinew_world_step(a.world, NULL) & SINEW_STEP_UNPREPARED, 0);
            hash = n == 0 ? sinew_world_state_hash(a.world) : hash;
            assert_true(sinew_world_state_hash(a.world) == hash);
            free_built(&a);
            assert_int_equal(memory.live, 0);
            if (through)
                break;
        }
    }
}

/* Four random sets of few or many pairs take turns, one per step: once all have been present, steps allocate nothing.
 */
static void test_no_requests(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("pairs anew", 1, 10);
    for (size_t k = 0; k < 3; k++)
        for (int many = 0; many < 2; many++) {
            world_case now = draw_case(&r, kinds[k]);
            now.pair_count = many ? PAIRS_MAX : 60;
            now.pair_stiffness *= 0.02;
            failing_allocator memory = {0};
            const sinew_allocator hooks = hooks_of(&memory);
            const sinew_solver_def solver = solver_of(kinds[k], 3, false);
            built a = build_case(&now, &solver, &hooks, false);
            uint64_t seeds[4];
            for (int i = 0; i < 4; i++)
                seeds[i] = random_bits(&r);
            for (int step = 0; step < 40; step++) {
                world_case next = now;
                next.pair_seed = seeds[step % 4];
                apply_change(&a, &now, &next);
                sinew_world_step(a.world, NULL);
                now = next;
                memory.calls = step < 20 ? 0 : memory.calls;
            }
            assert_int_equal(memory.calls, 0);
            free_built(&a);
            assert_int_equal(memory.live, 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_state),
        cmocka_unit_test(test_held_by_nothing),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_no_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
