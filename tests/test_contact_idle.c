/* SPDX-License-Identifier: MIT
 *
 * test_contact_idle.c: contact in worlds where nothing comes near anything. The motion has the bits of a world without
 * contact where solvers are not stopped on their way, no vertex is truncated, and no Hessian is evaluated for contact stiffnesses. Such Hessians are evaluated for
 * the bodies that touch, and for no others.
 */
#include "contact_worlds.h"
#include "contact/contact.h"
#include "idle_scenes.h"
#include "world/world.h"

enum {
    BOXES_APART = 8
};

static sinew_scene *need_scene(int which, const char *solver)
{
    sinew_error error = {0};
    sinew_scene *scene = idle_scene(which, SINEW_SOURCE_DIR "/scenes/meshes", solver, &error);
    if (!scene)
        fail_msg("%s", error.text);
    return scene;
}

/* Steps the scene with contact and, for solvers that are filtered only at the end of a step and for bodies that do not
 * deform (`same`), without. Positions are compared until there is a contact, because a flag may fold, or a second
 * detection pass: xpbd then goes on with other bits. */
static void check_idle(int which, const char *solver, int steps, bool same)
{
    sinew_error error = {0};
    sinew_scene *touching = need_scene(which, solver), *plain = need_scene(which, solver);
    sinew_world *on = sinew_scene_world(touching), *off = sinew_scene_world(plain);
    sinew_contact_def def = sinew_world_contact(off);
    const bool compare = same;
    int truncated = 0, compared = 0, detections = 0;
    def.on = false;
    assert_int_equal(sinew_world_set_contact(off, &def, &error), SINEW_OK);
    for (int k = 0; k < steps; k++) {
        sinew_contact_report report;
        const uint32_t bits = sinew_world_step(on, NULL);
        if (bits & SINEW_STEP_UNPREPARED)
            fail_msg("%s", sinew_world_error(on));
        assert_false(sinew_world_step(off, NULL) & SINEW_STEP_UNPREPARED);
        assert_int_equal(sinew_world_contact_report(on, &report, &error), SINEW_OK);
        if (report.detections == 1)
            assert_int_equal(on->contact->stiffness_work > 0, on->contact->contacts.count > 0);
        detections += report.detections;
        truncated += (bits & SINEW_STEP_TRUNCATED) != 0 && on->contact->contacts.count == 0;
        same = same && report.detections == 1 && on->contact->contacts.count == 0;
        if (!same)
            continue;
        sinew_real *q = positions_of(on), *expected = positions_of(off);
        assert_memory_equal(q, expected, 3 * (size_t)sinew_world_particle_count(on) * sizeof *q);
        compared++;
        free(q);
        free(expected);
    }
    print_message("%s by %s: %d of %d steps compared, %d truncated, %.2f detections a step\n", idle_names[which],
                  solver, compared, steps, truncated, (double)detections / steps);
    assert_int_equal(truncated, 0);
    assert_true(compared > 0 || !compare);
    sinew_scene_destroy(touching);
    sinew_scene_destroy(plain);
}

static void a_flag_moves_as_without_contact(void **state)
{
    (void)state;
    const char *const solvers[] = {"xpbd", "pbd", "newton", "qn", "pbng"};
    for (int k = 0; k < 5; k++)
        check_idle(IDLE_FLAG, solvers[k], k < 2 ? 120 : 10, k < 2);
}

/* Without self-collision and colliders no pair exists, and nothing limits a vertex. */
static void a_flag_alone_is_not_truncated(void **state)
{
    (void)state;
    const char *const solvers[] = {"xpbd", "pbd", "newton", "qn", "pbng"};
    for (int k = 0; k < 5; k++) {
        sinew_error error = {0};
        sinew_scene *scene = need_scene(IDLE_FLAG, solvers[k]);
        sinew_world *world = sinew_scene_world(scene);
        sinew_contact_def def = sinew_world_contact(world);
        def.self = false;
        assert_int_equal(sinew_world_set_contact(world, &def, &error), SINEW_OK);
        for (int step = 0; step < (k < 2 ? 120 : 10); step++) {
            sinew_contact_report report;
            assert_int_equal(sinew_world_step(world, NULL) & (SINEW_STEP_TRUNCATED | SINEW_STEP_UNPREPARED), 0);
            assert_int_equal(sinew_world_contact_report(world, &report, &error), SINEW_OK);
            assert_int_equal(report.pairs, 0);
            assert_int_equal(report.filtered_vertices, 0);
        }
        sinew_scene_destroy(scene);
    }
}

static void solids_fall_as_without_contact(void **state)
{
    (void)state;
    const char *const solvers[] = {"xpbd", "pbd", "newton", "pd", "pbng"};
    for (int which = IDLE_BEAN; which <= IDLE_BOXES; which++)
        for (int k = 0; k < 5; k++)
            check_idle(which, solvers[k], 8, true);
}

static void only_bodies_in_contact_are_evaluated(void **state)
{
    (void)state;
    int64_t work[2];
    for (int apart = 0; apart < 2; apart++) {
        sinew_world *world = make_touching_world(SINEW_SOLVER_NEWTON, 1);
        const double low[3] = {0, 0.1, 0};
        add_box(world, SINEW_SOLVER_NEWTON, 2, 0.2, low, 1e5);
        for (int k = 0; apart && k < BOXES_APART; k++) {
            const double high[3] = {0.5 * k, 50, 0};
            add_box(world, SINEW_SOLVER_NEWTON, 2, 0.2, high, 1e5);
        }
        set_touch(world, 1e-3, 0.5);
        add_floor(world);
        for (int k = 0; k < 5; k++)
            assert_false(sinew_world_step(world, NULL) & SINEW_STEP_UNPREPARED);
        work[apart] = world->contact->stiffness_work;
        sinew_world_destroy(world);
    }
    print_message("SIMD groups evaluated for a box on a floor: %lld, with %d boxes in the air %lld\n",
                  (long long)work[0], BOXES_APART, (long long)work[1]);
    assert_true(work[0] > 0);
    assert_int_equal(work[0], work[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flag_moves_as_without_contact),
        cmocka_unit_test(a_flag_alone_is_not_truncated),
        cmocka_unit_test(solids_fall_as_without_contact),
        cmocka_unit_test(only_bodies_in_contact_are_evaluated),
    };
    return cmocka_run_group_tests_name("contact with nothing near", tests, NULL, NULL);
}
