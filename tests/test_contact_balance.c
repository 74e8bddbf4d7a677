/* SPDX-License-Identifier: MIT
 *
 * test_contact_balance.c: the energy balance of steps with contact: friction dissipates heat, restitution returns
 * kinetic energy, moving colliders do work, and the sum closes.
 */
#include "contact_worlds.h"

#ifdef SINEW_SINGLE
#define ROUND_OFF 2e-4
#else
#define ROUND_OFF 1e-9
#endif

static double size_of(const sinew_balance *b)
{
    return fabs(b->kinetic[0]) + fabs(b->kinetic[1]) + fabs(b->elastic[0]) + fabs(b->elastic[1]) + fabs(b->gravity[0]) +
           fabs(b->gravity[1]) + fabs(b->pins) + fabs(b->forces) + fabs(b->targets) + fabs(b->contacts) +
           fabs(b->restitution) + fabs(b->lost_integrator) + fabs(b->lost_damping) + fabs(b->lost_solver);
}

/* Takes a step, checks that its balance closes and returns the balance. */
static sinew_balance balanced_step(sinew_world *world, const char *what)
{
    sinew_balance b;
    sinew_error error = {0};
    sinew_world_step(world, NULL);
    sinew_world_balance(world, &b, &error);
    must(&error);
    if (!(fabs(b.unaccounted) <= ROUND_OFF * size_of(&b)))
        fail_msg("%s: %g J of %g J are unaccounted for", what, b.unaccounted, size_of(&b));
    return b;
}

static sinew_world *make_balanced_world(sinew_solver_kind solver, double restitution)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.balance = true;
    def.solver = sinew_default_solver_def(solver);
    sinew_world *world = make_world(&def);
    sinew_contact_def touch = sinew_default_contact_def();
    touch.friction = (sinew_real)0.4;
    touch.restitution = (sinew_real)restitution;
    touch.thickness = (sinew_real)2e-3;
    assert_int_equal(sinew_world_set_contact(world, &touch, NULL), SINEW_OK);
    return world;
}

/* A block slides to rest: its kinetic energy becomes heat. */
static void sliding_block(void **state)
{
    (void)state;
    for (int s = 0; s < TOUCH_SOLVERS; s++) {
        const char *name = sinew_get_solver_info(touch_solvers[s])->name;
        sinew_world *world = make_balanced_world(touch_solvers[s], 0);
        add_floor(world);
        add_box(world, touch_solvers[s], 2, 0.2, (const double[]){0, 0.101, 0}, 1e6);
        for (int i = 0; i < 20; i++)
            balanced_step(world, name);
        const int32_t n = sinew_world_particle_count(world);
        sinew_real *v = make_array(3 * (size_t)n, sizeof *v);
        for (int32_t i = 0; i < n; i++)
            v[3 * i] = 1;
        assert_int_equal(sinew_world_set_velocities(world, 0, n, v), SINEW_OK);
        double heat = 0, work = 0, first = 0, last = 0;
        for (int i = 0; i < 40; i++) {
            const sinew_balance b = balanced_step(world, name);
            assert_true(b.friction_heat >= 0);
            first = i == 0 ? b.kinetic[0] : first;
            last = b.kinetic[1];
            heat += b.friction_heat;
            work += b.contacts;
        }
        print_message("%s: %.4g J of motion, %.4g J heat, contacts %.4g J, %.3g J left\n", name, first, heat, work,
                      last);
        /* Implicit Euler dissipates 1/2 m (mu g h)^2 per step, a tenth of the loss here. */
        if (touch_solvers[s] == SINEW_SOLVER_NEWTON)
            assert_true(heat > 0.8 * first && heat < 1.05 * first && last < 1e-2 * first && work < -0.8 * first);
        free(v);
        sinew_world_destroy(world);
    }
}

/* Two particles fall and bounce: the energy of restitution is a separate term. */
static void bouncing_particle(void **state)
{
    (void)state;
    sinew_world *world = make_balanced_world(SINEW_SOLVER_NEWTON, 0.8);
    add_floor(world);
    sinew_mesh *mesh = make_rope(2, (const double[]){0, 0.5, 0}, (const double[]){1, 0.5, 0});
    add_mesh(world, mesh, 1, NULL, NULL);
    sinew_mesh_destroy(mesh);
    double given = 0, before = 0, after = 0;
    for (int i = 0; i < 60; i++) {
        const sinew_balance b = balanced_step(world, "bouncing");
        if (b.restitution > 0 && given == 0) {
            given = b.restitution;
            before = b.kinetic[0];
            after = b.kinetic[1];
        }
    }
    print_message("%.4g J fall, bouncing gives %.4g J, %.4g J rise\n", before, given, after);
    /* The step of the impact keeps the speed of its remaining displacement; 0.8^2 of the energy is returned. */
    assert_true(fabs(after / before - 0.64) < 0.15 && given > 0.1 * after);
    sinew_world_destroy(world);
}

/* A rising plate lifts a block: contacts do the work. */
static void lifting_plate(void **state)
{
    (void)state;
    sinew_world *world = make_balanced_world(SINEW_SOLVER_NEWTON, 0);
    const sinew_key keys[] = {{.time = 0}, {.time = 1, .translation = {0, 1, 0}}};
    const sinew_motion motion = {.keys = keys, .key_count = 2};
    sinew_collider_def plate = sinew_default_collider_def(SINEW_SHAPE_BOX);
    plate.size[1] = (sinew_real)0.2;
    plate.position[1] = (sinew_real)-0.1;
    plate.motion = &motion;
    add_collider(world, &plate);
    add_box(world, SINEW_SOLVER_NEWTON, 2, 0.2, (const double[]){0, 0.102, 0}, 1e6);
    double work = 0, change = 0;
    for (int i = 0; i < 30; i++) {
        const sinew_balance b = balanced_step(world, "lifting");
        work += i >= 10 ? b.contacts : 0;
        change += i >= 10 ? b.gravity[1] - b.gravity[0] : 0;
    }
    print_message("contacts did %.5g J, gravity took %.5g J\n", work, change);
    assert_true(change > 20 && fabs(work / change - 1) < 0.05);
    sinew_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sliding_block),
        cmocka_unit_test(bouncing_particle),
        cmocka_unit_test(lifting_plate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
