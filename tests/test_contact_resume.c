/* SPDX-License-Identifier: MIT
 *
 * test_contact_resume.c: a state that is saved while colliders move, are held back by what they press, or had their
 * pose set, goes on in a new world with the same bits as in the world that saved it.
 */
#include "contact_worlds.h"
#include "saved_state.h"

enum {
    BEFORE = 8,
    AFTER = 6
};

/* A cube between a floor and a piston that is to go through the floor, beside a ball whose pose the program sets and a
 * ball that does not move. */
static sinew_world *make_press(sinew_solver_kind solver)
{
    sinew_key keys[2] = {{.time = 0}, {.time = (sinew_real)0.25}};
    keys[1].translation[1] = (sinew_real)-0.5;
    keys[1].rotation[1] = 1;
    const sinew_motion motion = {.key_count = 2, .keys = keys};
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.solver = sinew_default_solver_def(solver);
    def.solver.iterations = 10; /* a few unsolved iterations hold the piston back too */
    def.solver.measure = SINEW_MEASURE_RESIDUAL;
    sinew_world *world = make_world(&def);
    set_touch(world, 0.01, 0.4);
    add_floor(world);
    sinew_collider_def piston = sinew_default_collider_def(SINEW_SHAPE_BOX);
    piston.size[1] = (sinew_real)0.1;
    piston.position[1] = (sinew_real)0.29;
    piston.motion = &motion;
    add_collider(world, &piston);
    sinew_collider_def ball = sinew_default_collider_def(SINEW_SHAPE_SPHERE);
    ball.radius = (sinew_real)0.1;
    ball.position[0] = (sinew_real)0.4;
    add_collider(world, &ball);
    ball.position[0] = 5;
    add_collider(world, &ball);
    add_box(world, solver, 1, 0.2, (const double[]){0, 0.1 + 0.011, 0}, 1e4);
    return world;
}

/* One step, after which the ball has come nearer to the cube. */
static void push_and_step(sinew_world *world, int i)
{
    const sinew_real position[3] = {(sinew_real)(0.4 - 0.015 * i), (sinew_real)0.1, 0};
    const sinew_real rotation[3] = {0, (sinew_real)(0.1 * i), 0};
    assert_int_equal(sinew_collider_set_pose(world, sinew_world_collider_at(world, 2), position, rotation, NULL),
                     SINEW_OK);
    sinew_world_step(world, NULL);
}

static void assert_same_surfaces(const sinew_world *a, const sinew_world *b)
{
    for (int32_t k = 1; k < sinew_world_collider_count(a); k++) {
        int32_t vertices, triangles;
        const sinew_collider of_a = sinew_world_collider_at(a, k), of_b = sinew_world_collider_at(b, k);
        assert_int_equal(sinew_collider_surface(a, of_a, 1, &vertices, NULL, &triangles, NULL, NULL), SINEW_OK);
        const size_t numbers = 3 * (size_t)vertices;
        sinew_real *x = make_array(2 * numbers, sizeof *x);
        int32_t *corners = make_array(3 * (size_t)triangles, sizeof *corners);
        assert_int_equal(sinew_collider_surface(a, of_a, 1, &vertices, x, &triangles, corners, NULL), SINEW_OK);
        assert_int_equal(sinew_collider_surface(b, of_b, 1, &vertices, x + numbers, &triangles, corners, NULL),
                         SINEW_OK);
        assert_memory_equal(x, x + numbers, numbers * sizeof *x);
        free(x);
        free(corners);
    }
}

static void resume(sinew_solver_kind solver)
{
    sinew_error error = {0};
    sinew_contact_report report;
    sinew_world *first = make_press(solver), *second = make_press(solver);
    for (int i = 0; i < BEFORE; i++)
        push_and_step(first, i);
    assert_int_equal(sinew_world_contact_report(first, &report, NULL), SINEW_OK);
    assert_true(report.contacts > 0 && report.motion_lag > 0);
    const saved state = save(first);
    sinew_world_state_load(second, state.bytes, state.size, &error);
    must(&error);
    assert_same_surfaces(first, second);
    for (int i = 0; i < AFTER; i++) {
        /* In the first steps the pose that was set before the state still holds. */
        if (i < 2) {
            sinew_world_step(first, NULL);
            sinew_world_step(second, NULL);
        } else {
            push_and_step(first, BEFORE + i);
            push_and_step(second, BEFORE + i);
        }
        assert_true(sinew_world_state_hash(first) == sinew_world_state_hash(second));
        assert_same_surfaces(first, second);
    }
    free(state.bytes);
    sinew_world_destroy(first);
    sinew_world_destroy(second);
}

static void states_go_on(void **state)
{
    (void)state;
    resume(SINEW_SOLVER_NEWTON);
    resume(SINEW_SOLVER_PBNG);
    resume(SINEW_SOLVER_XPBD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(states_go_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
