/* SPDX-License-Identifier: MIT
 *
 * test_contact_skin.c: bodies that collide with colliders by their embedded surface instead of their own: heights and
 * forces at rest against the offset and the weight, saved states, refusals.
 */
#include "contact_worlds.h"
#include "saved_state.h"
#include "skin_fixture.h"

/* A cube of 0.3 m around the origin as an OBJ file, embedded in a block of 0.2 m. */
static const char cube_obj[] = "v -0.15 -0.15 -0.15\nv 0.15 -0.15 -0.15\nv 0.15 -0.15 0.15\nv -0.15 -0.15 0.15\n"
                               "v -0.15 0.15 -0.15\nv 0.15 0.15 -0.15\nv 0.15 0.15 0.15\nv -0.15 0.15 0.15\n"
                               "f 1 2 3 4\nf 8 7 6 5\nf 1 5 6 2\nf 2 6 7 3\nf 3 7 8 4\nf 4 8 5 1\n";

/* A cube of 0.1 m around the origin, which the block encloses. */
static const char inner_obj[] = "v -0.05 -0.05 -0.05\nv 0.05 -0.05 -0.05\nv 0.05 -0.05 0.05\nv -0.05 -0.05 0.05\n"
                                "v -0.05 0.05 -0.05\nv 0.05 0.05 -0.05\nv 0.05 0.05 0.05\nv -0.05 0.05 0.05\n"
                                "f 1 2 3 4\nf 8 7 6 5\nf 1 5 6 2\nf 2 6 7 3\nf 3 7 8 4\nf 4 8 5 1\n";

/* Adds a block with the skin of an OBJ file's text, `height` m above the floor. */
static sinew_body add_skin_of(sinew_world *world, sinew_solver_kind solver, double height, const char *obj)
{
    sinew_error error = {0};
    write_text("cube.obj", obj);
    sinew_skin *skin = read_skin("cube.obj", NULL, &error);
    must(&error);
    const sinew_body body = add_box(world, solver, 2, 0.2, (const double[]){0, height, 0}, 1e6);
    sinew_embedding_def ride = sinew_default_embedding_def();
    ride.skin = skin;
    sinew_body_set_skin(world, body, &ride, &error);
    must(&error);
    sinew_skin_destroy(skin);
    sinew_body_contact own = sinew_default_body_contact();
    own.surface = SINEW_CONTACT_SKIN;
    sinew_body_set_contact(world, body, &own, &error);
    must(&error);
    return body;
}

static sinew_body add_skinned(sinew_world *world, sinew_solver_kind solver, double height)
{
    return add_skin_of(world, solver, height, cube_obj);
}

static double lowest(const sinew_world *world, sinew_body body)
{
    const int32_t n = sinew_skin_vertex_count(sinew_body_skin(world, body));
    sinew_real *q = make_array(3 * (size_t)n, sizeof *q);
    assert_int_equal(sinew_body_skin_positions(world, body, q), SINEW_OK);
    double low = HUGE_VAL;
    for (int32_t i = 0; i < n; i++)
        low = fmin(low, (double)q[3 * i + 1]);
    free(q);
    return low;
}

static void steps(sinew_world *world, int count)
{
    for (int i = 0; i < count; i++)
        if (sinew_world_step(world, NULL) & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE))
            fail_msg("step %d: %s", i, sinew_world_error(world));
}

/* A block falls on a plane, a box or a large sphere, and its skin rests on the surface. */
static void skins_rest(void **state)
{
    (void)state;
    const sinew_shape_kind kinds[] = {SINEW_SHAPE_PLANE, SINEW_SHAPE_BOX, SINEW_SHAPE_SPHERE};
    const sinew_solver_kind solvers[] = {SINEW_SOLVER_NEWTON, SINEW_SOLVER_PD, SINEW_SOLVER_PBNG};
    for (int k = 0; k < 3; k++)
        for (int s = 0; s < 3; s++) {
            sinew_world *world = make_touching_world(solvers[s], 1);
            set_touch(world, 4e-3, 0.4);
            sinew_collider_def def = sinew_default_collider_def(kinds[k]);
            def.radius = 50;
            def.position[1] = kinds[k] == SINEW_SHAPE_SPHERE ? -50 : kinds[k] == SINEW_SHAPE_BOX ? (sinew_real)-0.5 : 0;
            const sinew_collider floor = add_collider(world, &def);
            const sinew_body body = add_skinned(world, solvers[s], 0.2);
            steps(world, 90);
            const double low = lowest(world, body);
            double force[3];
            assert_int_equal(sinew_collider_force(world, floor, force, NULL, NULL), SINEW_OK);
            print_message("%s on a %s: %g m, %g N\n", sinew_get_solver_info(solvers[s])->name,
                          sinew_shape_name(kinds[k]), low, -force[1]);
            /* Under the corners the sphere is lower by 0.15^2 / 50 m. */
            assert_true(fabs(low - 0.004) < (kinds[k] == SINEW_SHAPE_SPHERE ? 7e-4 : 2e-4));
            assert_true(fabs(-force[1] / (8 * 9.81) - 1) < 0.05);
            sinew_world_destroy(world);
        }
}

/* A skin within its block rests on the surface, with the vertices of the block below it: these touch nothing and
 * overlap with nothing, so that a loaded state goes on with the same bits. */
static void blocks_around_skins_touch_nothing(void **state)
{
    (void)state;
    const sinew_shape_kind kinds[] = {SINEW_SHAPE_PLANE, SINEW_SHAPE_BOX};
    const sinew_solver_kind solvers[] = {SINEW_SOLVER_NEWTON, SINEW_SOLVER_PBD};
    for (int k = 0; k < 4; k++) {
        sinew_world *worlds[2];
        sinew_body body = {0, 0};
        sinew_contact_report report;
        for (int i = 0; i < 2; i++) {
            worlds[i] = make_touching_world(solvers[k / 2], 1);
            set_touch(worlds[i], 4e-3, 0.4);
            sinew_collider_def def = sinew_default_collider_def(kinds[k % 2]);
            def.position[1] = k % 2 ? (sinew_real)-0.5 : 0;
            add_collider(worlds[i], &def);
            body = add_skin_of(worlds[i], solvers[k / 2], 0.12, inner_obj);
        }
        steps(worlds[0], 90);
        const double low = lowest(worlds[0], body);
        const saved state_of = save(worlds[0]);
        assert_int_equal(sinew_world_state_load(worlds[1], state_of.bytes, state_of.size, NULL), SINEW_OK);
        for (int i = 0; i < 5; i++) {
            steps(worlds[0], 1);
            steps(worlds[1], 1);
            assert_true(sinew_world_state_hash(worlds[0]) == sinew_world_state_hash(worlds[1]));
        }
        assert_int_equal(sinew_world_contact_report(worlds[0], &report, NULL), SINEW_OK);
        print_message("%s in a block on a %s: %g m\n", sinew_get_solver_info(solvers[k / 2])->name,
                      sinew_shape_name(kinds[k % 2]), low);
        assert_int_equal(report.overlaps, 0);
        assert_true(fabs(low - 0.004) < 2e-4);
        free(state_of.bytes);
        sinew_world_destroy(worlds[0]);
        sinew_world_destroy(worlds[1]);
    }
}

/* m/s: mean velocity of all particles of a world along an axis. */
static double mean_velocity(const sinew_world *world, int axis)
{
    const int32_t n = sinew_world_particle_count(world);
    sinew_real *v = make_array(3 * (size_t)n, sizeof *v);
    double sum = 0;
    assert_int_equal(sinew_world_get_velocities(world, 0, n, v), SINEW_OK);
    for (int32_t i = 0; i < n; i++)
        sum += (double)v[3 * i + axis];
    free(v);
    return sum / n;
}

/* A block on a collider that moves steadily has the collider's velocity and the distance of the offset. Colliders of
 * other shapes, which come first, stand elsewhere. */
static void skins_ride(void **state)
{
    (void)state;
    const sinew_shape_kind kinds[] = {SINEW_SHAPE_PLANE, SINEW_SHAPE_BOX, SINEW_SHAPE_SPHERE, SINEW_SHAPE_CAPSULE};
    const double up = 0.5, along = 0.25;
    for (int k = 0; k < 4; k++) {
        sinew_world *world = make_touching_world(SINEW_SOLVER_NEWTON, 1);
        set_touch(world, 4e-3, 1);
        for (int other = 1; other < 4; other++) {
            sinew_collider_def def = sinew_default_collider_def(kinds[other]);
            def.position[0] = 200;
            def.position[2] = (sinew_real)(10 * other);
            add_collider(world, &def);
        }
        sinew_key keys[2] = {{.time = 0}, {.time = 10}};
        keys[1].translation[0] = (sinew_real)(10 * along);
        keys[1].translation[1] = (sinew_real)(10 * up);
        const sinew_motion motion = {.key_count = 2, .keys = keys};
        sinew_collider_def def = sinew_default_collider_def(kinds[k]);
        const bool round = kinds[k] == SINEW_SHAPE_SPHERE || kinds[k] == SINEW_SHAPE_CAPSULE;
        def.radius = 50;
        for (int c = 0; c < 3; c++)
            def.size[c] = 2;
        def.position[1] = round ? -50 : kinds[k] == SINEW_SHAPE_BOX ? -1 : 0;
        def.rotation[2] = kinds[k] == SINEW_SHAPE_CAPSULE ? (sinew_real)(MAKE_PI / 2) : 0;
        def.motion = &motion;
        add_collider(world, &def);
        const sinew_body body = add_skinned(world, SINEW_SOLVER_NEWTON, 0.155);
        steps(world, 60);
        const double low = lowest(world, body) - up * (double)sinew_world_time(world);
        const double v[2] = {mean_velocity(world, 0), mean_velocity(world, 1)};
        print_message("%s: %g m, %g %g m/s\n", sinew_shape_name(kinds[k]), low, v[0], v[1]);
        /* The corners are 0.15 m from the axis of the capsule, 0.15 sqrt(2) m from that of the sphere. */
        const double drop = !round ? 0 : (kinds[k] == SINEW_SHAPE_SPHERE ? 2 : 1) * pow(0.15, 2) / (2 * 50);
        assert_true(fabs(low - 0.004 + drop) < 2e-5);
        assert_true(fabs(v[0] - along) < 0.01 && fabs(v[1] - up) < 0.01);
        sinew_world_destroy(world);
    }
}

/* Saved states contain contacts of skins. A body without the required skin is refused. A body that starts in a collider
 * is pushed out. */
static void skins_are_remembered(void **state)
{
    (void)state;
    sinew_world *worlds[2];
    for (int i = 0; i < 2; i++) {
        worlds[i] = make_touching_world(SINEW_SOLVER_NEWTON, 1);
        set_touch(worlds[i], 4e-3, 0.4);
        sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_BOX);
        def.position[1] = (sinew_real)-0.5;
        add_collider(worlds[i], &def);
        add_skinned(worlds[i], SINEW_SOLVER_NEWTON, 0.12);
    }
    assert_true(lowest(worlds[0], (sinew_body){0, 0}) < -0.02);
    steps(worlds[0], 40);
    assert_true(lowest(worlds[0], (sinew_body){0, 0}) > 0.003);
    const size_t size = sinew_world_state_size(worlds[0]);
    void *blob = make_array(size, 1);
    assert_int_equal(sinew_world_state_save(worlds[0], blob, size), SINEW_OK);
    assert_int_equal(sinew_world_state_load(worlds[1], blob, size, NULL), SINEW_OK);
    for (int i = 0; i < 10; i++) {
        steps(worlds[0], 1);
        steps(worlds[1], 1);
        assert_true(sinew_world_state_hash(worlds[0]) == sinew_world_state_hash(worlds[1]));
    }
    free(blob);
    const sinew_embedding_def none = sinew_default_embedding_def();
    assert_int_equal(sinew_body_set_skin(worlds[0], (sinew_body){0, 0}, &none, NULL), SINEW_OK);
    assert_true(sinew_world_step(worlds[0], NULL) & SINEW_STEP_UNPREPARED);
    assert_non_null(strstr(sinew_world_error(worlds[0]), "and has none"));
    for (int i = 0; i < 2; i++)
        sinew_world_destroy(worlds[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skins_rest),
        cmocka_unit_test(blocks_around_skins_touch_nothing),
        cmocka_unit_test(skins_ride),
        cmocka_unit_test(skins_are_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
