/* SPDX-License-Identifier: MIT
 *
 * test_contact_state.c: persistent contact data: in saved states, when bodies and colliders are added and removed, and
 * for any number of threads.
 */
#include "contact_worlds.h"
#include "random_cases.h"
#include "saved_state.h"

#ifdef SINEW_SINGLE
#define FORCE_CLOSE 5e-3
#else
#define FORCE_CLOSE 1e-3
#endif

static void steps(sinew_world *world, int count)
{
    for (int i = 0; i < count; i++)
        if (sinew_world_step(world, NULL) & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE))
            fail_msg("step %d: %s", i, sinew_world_error(world));
}

/* Boxes that fall on each other and on a floor, with a plate that moves to and fro. */
static sinew_world *make_pile(sinew_solver_kind solver, int threads)
{
    sinew_world *world = make_touching_world(solver, threads);
    set_touch(world, 4e-3, 0.4);
    add_floor(world);
    add_box(world, solver, 2, 0.2, (const double[]){0, 0.11, 0}, 2e5);
    add_box(world, solver, 2, 0.2, (const double[]){0.03, 0.33, 0.02}, 2e5);
    add_box(world, solver, 2, 0.15, (const double[]){-0.05, 0.53, 0.01}, 1e5);
    sinew_collider_def plate = sinew_default_collider_def(SINEW_SHAPE_BOX);
    const sinew_key keys[] = {{.time = 0}, {.time = (sinew_real)0.3, .translation = {(sinew_real)0.1, 0, 0}}};
    sinew_motion motion = {.keys = keys, .key_count = 2};
    plate.size[0] = (sinew_real)0.05;
    plate.position[0] = (sinew_real)-0.2;
    plate.position[1] = (sinew_real)0.5;
    plate.motion = &motion;
    add_collider(world, &plate);
    return world;
}

enum {
    BEFORE = 25,
    AFTER = 20,
#ifdef SINEW_SANITIZED
    DRAWN = 3 /* number of solvers drawn; sanitizers are ten times slower */
#else
    DRAWN = TOUCH_SOLVERS
#endif
};

/* ---- States ---------------------------------------------------------------------------------- */

static void go_on_with(sinew_solver_kind solver)
{
    const char *name = sinew_get_solver_info(solver)->name;
    sinew_world *whole = make_pile(solver, 1), *fresh = make_pile(solver, 1);
    int32_t max = 0;
    for (int i = 0; i < BEFORE; i++) {
        sinew_contact_report report;
        steps(whole, 1);
        assert_int_equal(sinew_world_contact_report(whole, &report, NULL), SINEW_OK);
        max = report.contacts > max ? report.contacts : max;
    }
    if (max < 5)
        fail_msg("%s: only %d contacts", name, max);
    const saved state = save(whole);
    sinew_error error = {0};
    sinew_world_state_load(fresh, state.bytes, state.size, &error);
    must(&error);
    const saved again = save(fresh);
    assert_int_equal(again.size, state.size);
    assert_memory_equal(again.bytes, state.bytes, state.size);
    for (int i = 0; i < AFTER; i++) {
        steps(whole, 1);
        steps(fresh, 1);
        if (sinew_world_state_hash(whole) != sinew_world_state_hash(fresh))
            fail_msg("%s: step %d after loading is another", name, i + 1);
    }
    /* Loads the state into the world that continued. */
    sinew_world_state_load(whole, state.bytes, state.size, &error);
    must(&error);
    steps(whole, AFTER);
    if (sinew_world_state_hash(whole) != sinew_world_state_hash(fresh))
        fail_msg("%s: a world that went back goes another way", name);
    const saved end = save(whole), end_fresh = save(fresh);
    assert_int_equal(end.size, end_fresh.size);
    assert_memory_equal(end.bytes, end_fresh.bytes, end.size);
    free(end.bytes);
    free(end_fresh.bytes);
    free(again.bytes);
    free(state.bytes);
    sinew_world_destroy(whole);
    sinew_world_destroy(fresh);
}

static void save_and_go_on(void **state)
{
    (void)state;
    random_cases draw = random_cases_begin("solvers that go on", DRAWN, TOUCH_SOLVERS);
    const int first = random_index(&draw, TOUCH_SOLVERS);
    for (int k = first; k < first + draw.count; k++)
        go_on_with(touch_solvers[k % TOUCH_SOLVERS]);
}

static void threads_agree(void **state)
{
    (void)state;
    random_cases draw = random_cases_begin("solvers on threads", DRAWN, TOUCH_SOLVERS);
    const int first = random_index(&draw, TOUCH_SOLVERS);
    for (int k = first; k < first + draw.count; k++) {
        const sinew_solver_kind solver = touch_solvers[k % TOUCH_SOLVERS];
        sinew_world *worlds[3];
        for (int t = 0; t < 3; t++)
            worlds[t] = make_pile(solver, t + 1);
        for (int i = 0; i < BEFORE + 10; i++) {
            uint64_t hash[3];
            for (int t = 0; t < 3; t++) {
                steps(worlds[t], 1);
                hash[t] = sinew_world_state_hash(worlds[t]);
            }
            if (hash[0] != hash[1] || hash[0] != hash[2])
                fail_msg("%s: step %d depends on the number of threads", sinew_get_solver_info(solver)->name, i + 1);
        }
        for (int t = 0; t < 3; t++)
            sinew_world_destroy(worlds[t]);
    }
}

/* ---- Forged states ------------------------------------------------------------------------------- */

/* A world, an earlier state of it, and its current state. */
typedef struct forgery {
    sinew_world *world;
    saved good, now;
} forgery;

/* Loads a forged state; words: expected message, NULL if the state is accepted. */
static void load_forged(const forgery *f, const char *tag, size_t at, const void *bytes, size_t size, const char *words)
{
    saved state = {make_array(f->good.size, 1), f->good.size};
    memcpy(state.bytes, f->good.bytes, state.size);
    assert_true(forge(&state, tag, at, bytes, size));
    sinew_error error = {0};
    const sinew_status status = sinew_world_state_load(f->world, state.bytes, state.size, &error);
    if (words) {
        assert_int_equal(status, SINEW_ERROR_FORMAT);
        assert_non_null(strstr(error.text, words));
        const saved after = save(f->world);
        assert_int_equal(f->now.size, after.size);
        assert_memory_equal(f->now.bytes, after.bytes, after.size);
        free(after.bytes);
    } else {
        must(&error);
        steps(f->world, 1);
    }
    free(state.bytes);
}

static void forged_states(void **state)
{
    (void)state;
    const double bad = NAN, minus = -1;
    const int32_t far = 1 << 29, below = -5;
    const uint32_t many = 7;
    const sinew_real half = (sinew_real)0.5;
    forgery f = {.world = make_pile(SINEW_SOLVER_PD, 1)};
    sinew_collider_set_pose(f.world, sinew_world_collider_at(f.world, 1), (const sinew_real[3]){0, 1, 0},
                            (const sinew_real[3]){0}, NULL);
    steps(f.world, BEFORE);
    sinew_contact_report report = {0};
    for (int i = 0; i < BEFORE && report.contacts == 0; i++) {
        steps(f.world, 1);
        assert_int_equal(sinew_world_contact_report(f.world, &report, NULL), SINEW_OK);
    }
    f.good = save(f.world);
    steps(f.world, 2);
    f.now = save(f.world);
    load_forged(&f, "TCHS", 0, &far, sizeof far, "an invalid kind or force");
    load_forged(&f, "TCHS", 0, &below, sizeof below, "an invalid kind or force");
    load_forged(&f, "TCHS", 48, &bad, sizeof bad, "an invalid kind or force");
    load_forged(&f, "TCHS", 48, &minus, sizeof minus, "an invalid kind or force");
    load_forged(&f, "TCHS", 88, &bad, sizeof bad, "an invalid kind or force");
    load_forged(&f, "CVEL", 3 * sizeof half, &half, sizeof half, "velocities of body");
    load_forged(&f, "COLL", 4, &many, sizeof many, "pose of collider 1");
    load_forged(&f, "COLL", 8, &minus, sizeof minus, "pose of collider 1");
    load_forged(&f, "COLL", 16, &bad, sizeof bad, "pose of collider 1");
    /* Contacts with unknown objects are dropped. */
    for (size_t at = 4; at < 48; at += 4) {
        load_forged(&f, "TCHS", at, &far, sizeof far, NULL);
        load_forged(&f, "TCHS", at, &below, sizeof below, NULL);
    }
    free(f.good.bytes);
    free(f.now.bytes);
    sinew_world_destroy(f.world);
}

/* The signature in a state identifies the world that it belongs to. */
static void signatures(void **state)
{
    (void)state;
    sinew_world *world = make_pile(SINEW_SOLVER_PD, 1);
    const saved before = save(world);
    sinew_error error = {0};
    assert_int_equal(sinew_world_state_check(world, before.bytes, before.size, &error), SINEW_OK);
    sinew_contact_def def = sinew_world_contact(world);
    def.friction = (sinew_real)0.7;
    assert_int_equal(sinew_world_set_contact(world, &def, &error), SINEW_OK);
    assert_int_equal(sinew_world_state_check(world, before.bytes, before.size, &error), SINEW_ERROR_DATA);
    assert_non_null(strstr(error.text, "contact.friction was 0.4, is 0.7"));
    def.friction = (sinew_real)0.4;
    assert_int_equal(sinew_world_set_contact(world, &def, &error), SINEW_OK);
    sinew_body_contact own = sinew_default_body_contact();
    own.thickness = (sinew_real)0.25;
    assert_int_equal(sinew_body_set_contact(world, (sinew_body){1, 0}, &own, &error), SINEW_OK);
    assert_int_equal(sinew_world_state_check(world, before.bytes, before.size, &error), SINEW_ERROR_DATA);
    assert_non_null(strstr(error.text, "bodies.1.contact.thickness was the world's, is 0.25"));
    def.on = false;
    assert_int_equal(sinew_world_set_contact(world, &def, &error), SINEW_OK);
    assert_int_equal(sinew_world_state_check(world, before.bytes, before.size, &error), SINEW_ERROR_DATA);
    assert_non_null(strstr(error.text, "contact.mode was augmented, is not there"));
    free(before.bytes);
    sinew_world_destroy(world);
}

/* ---- Added and removed objects --------------------------------------------------------------------- */

/* A stack of three boxes at rest on a floor. */
static sinew_world *make_stack(sinew_solver_kind solver)
{
    sinew_world *world = make_touching_world(solver, 1);
    set_touch(world, 2e-3, 0.5);
    add_floor(world);
    add_box(world, solver, 1, 0.2, (const double[]){0, 0.102, 0}, 1e6);
    add_box(world, solver, 2, 0.2, (const double[]){0, 0.304, 0.01}, 1e6);
    add_box(world, solver, 1, 0.1, (const double[]){0.01, 0.456, 0.02}, 1e6);
    steps(world, 60);
    return world;
}

/* The largest displacement of particles first .. first + count - 1, m. */
static double moved(const sinew_world *world, int32_t first, int32_t count, const sinew_real *before)
{
    sinew_real *q = make_array(3 * (size_t)count, sizeof *q);
    assert_int_equal(sinew_world_get_positions(world, first, count, q), SINEW_OK);
    double max = 0;
    for (int32_t i = 0; i < 3 * count; i++)
        max = fmax(max, fabs((double)q[i] - (double)before[i]));
    free(q);
    return max;
}

static double force_on_floor(const sinew_world *world)
{
    double force[3];
    assert_int_equal(sinew_collider_force(world, sinew_world_collider_at(world, 0), force, NULL, NULL), SINEW_OK);
    return force[1];
}

static void far_things_do_not_disturb(void **state)
{
    (void)state;
    const sinew_solver_kind solvers[] = {SINEW_SOLVER_NEWTON, SINEW_SOLVER_PBNG};
    for (int k = 0; k < 2; k++) {
        sinew_world *still = make_stack(solvers[k]), *busy = make_stack(solvers[k]);
        /* Adding colliders, and adding and removing a distant body, must not change the force on the floor. */
        sinew_error error = {0};
        const int32_t first = sinew_body_first_particle(busy, (sinew_body){1, 0});
        const int32_t count = sinew_world_particle_count(busy) - first;
        sinew_real *q = make_array(3 * (size_t)count, sizeof *q);
        assert_int_equal(sinew_world_get_positions(busy, first, count, q), SINEW_OK);
        const double bears = -force_on_floor(busy);
        sinew_body far = {-1, 0};
        sinew_collider_def ball = sinew_default_collider_def(SINEW_SHAPE_SPHERE);
        ball.position[0] = 9;
        for (int i = 0; i < 12; i++) {
            if (i % 3 == 0)
                far = add_box(busy, solvers[k], 1, 0.1, (const double[]){5, 5, 5}, 1e6);
            if (i % 3 == 1)
                add_collider(busy, &ball);
            if (i % 3 == 2)
                assert_int_equal(sinew_world_remove_body(busy, far, &error), SINEW_OK);
            steps(busy, 1);
            steps(still, 1);
            const double force = force_on_floor(busy);
            if (fabs(force - force_on_floor(still)) > FORCE_CLOSE * bears)
                fail_msg("%s: change %d changed the force on the floor from %g to %g N",
                         sinew_get_solver_info(solvers[k])->name, i, force_on_floor(still), force);
        }
        const double went = moved(busy, first, count, q), alone = moved(still, first, count, q);
        if (went > 2 * alone + 1e-6)
            fail_msg("%s: a stack moved by %g m when far things came and went, by %g m alone",
                     sinew_get_solver_info(solvers[k])->name, went, alone);
        free(q);
        sinew_world_destroy(still);
        sinew_world_destroy(busy);
    }
}

/* Removing the lowest body renumbers the others; their contacts follow. */
static void contacts_follow_renumbered_bodies(void **state)
{
    (void)state;
    sinew_world *world = make_touching_world(SINEW_SOLVER_NEWTON, 1);
    set_touch(world, 2e-3, 0.5);
    sinew_error error = {0};
    const sinew_body lone = add_box(world, SINEW_SOLVER_NEWTON, 2, 0.2, (const double[]){3, 0.102, 0}, 1e6);
    const sinew_body low = add_box(world, SINEW_SOLVER_NEWTON, 2, 0.2, (const double[]){0, 0.102, 0}, 1e6);
    add_box(world, SINEW_SOLVER_NEWTON, 1, 0.1, (const double[]){0.01, 0.254, 0.02}, 1e6);
    add_floor(world);
    steps(world, 60);
    sinew_contact_report before, after;
    const int32_t first = sinew_body_first_particle(world, low), count = sinew_world_particle_count(world) - first;
    sinew_real *q = make_array(3 * (size_t)count, sizeof *q);
    assert_int_equal(sinew_world_get_positions(world, first, count, q), SINEW_OK);
    assert_int_equal(sinew_world_contact_report(world, &before, &error), SINEW_OK);
    assert_int_equal(sinew_world_remove_body(world, lone, &error), SINEW_OK);
    steps(world, 1);
    assert_int_equal(sinew_world_contact_report(world, &after, &error), SINEW_OK);
    assert_int_equal(after.began, 0);
    assert_true(after.contacts < before.contacts && after.contacts > 8);
    assert_true(moved(world, first, count, q) < 1e-6);
    free(q);
    sinew_world_destroy(world);
}

/* Contacts of restored bodies are kept; contacts of other bodies are dropped. */
static void restored_contacts(void **state)
{
    (void)state;
    sinew_world *world = make_stack(SINEW_SOLVER_NEWTON);
    const saved before = save(world);
    sinew_error error = {0};
    sinew_restore_report report;
    steps(world, 1);
    const uint64_t hash = sinew_world_state_hash(world);
    assert_int_equal(sinew_world_state_restore(world, before.bytes, before.size, &report, &error), SINEW_OK);
    steps(world, 1);
    assert_true(sinew_world_state_hash(world) == hash);
    assert_int_equal(sinew_world_remove_body(world, (sinew_body){2, 0}, &error), SINEW_OK);
    assert_int_equal(sinew_world_state_restore(world, before.bytes, before.size, &report, &error), SINEW_OK);
    steps(world, 2);
    sinew_contact_report touch;
    assert_int_equal(sinew_world_contact_report(world, &touch, &error), SINEW_OK);
    assert_true(touch.contacts > 4);
    free(before.bytes);
    sinew_world_destroy(world);
}

/* ---- Teleports ------------------------------------------------------------------------------- */

static void teleports_are_counted(void **state)
{
    (void)state;
    sinew_world *world = make_stack(SINEW_SOLVER_NEWTON);
    sinew_contact_report report;
    const int32_t n = sinew_world_particle_count(world);
    sinew_real *q = make_array(3 * (size_t)n, sizeof *q);
    assert_int_equal(sinew_world_contact_report(world, &report, NULL), SINEW_OK);
    assert_int_equal(report.intersections, 0);
    const saved before = save(world);
    assert_int_equal(sinew_world_get_positions(world, 0, n, q), SINEW_OK);
    const int32_t first = sinew_body_first_particle(world, (sinew_body){1, 0});
    for (int32_t i = first; i < n; i++)
        q[3 * i + 1] -= (sinew_real)0.03;
    assert_int_equal(sinew_world_set_positions(world, first, n - first, q + 3 * first), SINEW_OK);
    assert_false(sinew_world_step(world, NULL) & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE));
    assert_int_equal(sinew_world_contact_report(world, &report, NULL), SINEW_OK);
    assert_true(report.intersections_before > 0);
    const int32_t crossed = report.intersections_before;
    const saved within = save(world);
    steps(world, 1);
    assert_int_equal(sinew_world_state_load(world, before.bytes, before.size, NULL), SINEW_OK);
    steps(world, 1);
    assert_int_equal(sinew_world_contact_report(world, &report, NULL), SINEW_OK);
    assert_int_equal(report.intersections_before, 0);
    assert_int_equal(sinew_world_state_load(world, within.bytes, within.size, NULL), SINEW_OK);
    steps(world, 1);
    assert_int_equal(sinew_world_contact_report(world, &report, NULL), SINEW_OK);
    print_message("%d crossings after a teleport, %d one step later\n", crossed, report.intersections_before);
    free(within.bytes);
    free(before.bytes);
    free(q);
    sinew_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(save_and_go_on),
        cmocka_unit_test(threads_agree),
        cmocka_unit_test(forged_states),
        cmocka_unit_test(signatures),
        cmocka_unit_test(far_things_do_not_disturb),
        cmocka_unit_test(contacts_follow_renumbered_bodies),
        cmocka_unit_test(restored_contacts),
        cmocka_unit_test(teleports_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
