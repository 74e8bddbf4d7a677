/* SPDX-License-Identifier: MIT
 *
 * test_motors.c: hard motors in every solver that takes them, against the closed form: an arm that rests at time zero
 * has turned, or slid, by speed times time.
 *
 * Tolerances. Solvers that correct C reach the target to the accuracy of their iterations. kkt, scd and dae solve one
 * linear system per step: the angle error of a step is at most of order (speed h)^3, that of a turn of order
 * (speed h)^2 speed time. As the post is fixed, C of the motor is linear in q, and J at q_n (kkt) leaves no error; nor
 * does a slide. servin (`stepper` of kkt) includes C before the start of time, so the jump from rest leaves an error of
 * speed h / 9, which decays by 1/3 per step.
 *
 * In single precision dae has two to three digits of the acceleration (dae.c). Its error grows up to the square of the
 * turn: eight random axes at speed 4.9 rad/s, h = 14 ms were off by up to 1.9e-2 rad after 1.26 rad, 1.0e-3 in double
 * precision; kkt, with the same term of the drive, by 5e-7.
 */
#include "rigid_world.h"

#include "world/world.h"

typedef struct driven_solver {
    const char *name, *parameter; /* parameter: NULL, or an option of the solver that is set to `value` */
    double value;
    double floor[2]; /* rad or m: double and single precision */
    double order;    /* factor of (speed h)^2 |speed time| */
    double start;    /* factor of |speed h| */
} driven_solver;

static const driven_solver solvers[] = {
    {"sap", NULL, 0, {1e-6, 1e-2}, 0, 0},
    {"primal-dual", NULL, 0, {1e-6, 1e-2}, 0, 0},
    {"kkt", NULL, 0, {1e-8, 2e-3}, 0, 0},
    {"kkt", "expansion", 1, {1e-8, 2e-3}, 0.02, 0},
    {"kkt", "expansion", 2, {1e-8, 2e-3}, 0.02, 0},
    {"kkt", "stepper", 1, {1e-8, 2e-3}, 0.02, 1.0 / 9},
    {"scd", NULL, 0, {1e-8, 2e-3}, 0.02, 0},
    {"dae", NULL, 0, {1e-6, 2e-3}, 0.3, 0},
    {"dae", "stabilisation", 1, {1e-6, 2e-3}, 0.3, 0},
    {"dae", "stabilisation", 2, {1e-6, 2e-3}, 0.3, 0},
    {"xpbd", NULL, 0, {1e-2, 1e-2}, 0, 0},
    {"pbd", NULL, 0, {1e-2, 1e-2}, 0, 0},
    {"xpbd-qs", NULL, 0, {2e-3, 5e-3}, 0, 0},
};

enum {
    SOLVER_COUNT = sizeof solvers / sizeof solvers[0]
};

static sinew_world_def def_of(const driven_solver *s, double h, const double gravity[3])
{
    sinew_world_def def = sinew_default_world_def();
    const sinew_solver_kind kind = sinew_solver_by_name(s->name);
    def.time_step = (sinew_real)h;
    def.thread_count = 1;
    def.solver = sinew_default_solver_def(kind);
    def.solver.measure = SINEW_MEASURE_NOTHING;
    def.quasistatic = sinew_get_solver_info(kind)->static_only;
    if (sinew_get_solver_info(kind)->needs & SINEW_CAN_CONSTRAINT)
        def.solver.iterations = 4000;
    if (s->parameter)
        def.solver.parameters[sinew_solver_parameter(kind, s->parameter)] = (sinew_real)s->value;
    for (int c = 0; c < 3; c++)
        /* Sweeps of xpbd-qs add the load each time, which leaves constraints open; the motion needs no load. */
        def.gravity[c] = def.quasistatic ? 0 : (sinew_real)gravity[c];
    return def;
}

/* rad or m: tolerance of a motion by `wanted`, in steps of `step`. */
static double tolerance_of(const driven_solver *s, double step, double wanted, bool slides)
{
    const bool single = sizeof(sinew_real) == 4, differences = single && strcmp(s->name, "dae") == 0;
    return s->floor[single] + (slides ? 0 : s->order) * step * step * fabs(wanted) + s->start * fabs(step) +
           (differences ? 0.03 * wanted * wanted : 0);
}

/* Every solver that accepts a hard motor is in the table. */
static void the_table_has_every_solver(void **unused)
{
    (void)unused;
    for (int k = 0; k < SINEW_SOLVER_COUNT; k++) {
        const driven_solver one = {.name = sinew_get_solver_info((sinew_solver_kind)k)->name};
        const double still[3] = {0, 0, 0};
        const sinew_world_def def = def_of(&one, 0.01, still);
        sinew_error error = {0};
        sinew_world *world = make_world(&def);
        sinew_mesh *mesh = make_beam(1, 1, 1, 1, 1, 1);
        add_mesh(world, mesh, 1000, NULL, NULL);
        sinew_energy_def motor = sinew_default_energy_def(SINEW_ENERGY_MOTOR);
        motor.body.index = -1;
        motor.element_count = 1;
        motor.elements = (const int32_t[]){0, 1, 2, 4, 7, 6, 5, 3};
        motor.hard = true;
        const bool takes = sinew_world_add_energy(world, &motor, &error).index >= 0;
        bool listed = false;
        for (int i = 0; i < SOLVER_COUNT; i++)
            listed |= strcmp(solvers[i].name, one.name) == 0;
        if (takes != listed)
            fail_msg("%s: takes hard motors: %d; in the table: %d", one.name, takes, listed);
        sinew_mesh_destroy(mesh);
        sinew_world_destroy(world);
    }
}

static void a_motor_moves_by_speed_times_time(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("hard motors", 6, 200);
    double worst[SOLVER_COUNT] = {0};
    for (int c = 0; c < r.count; c++) {
        double axis[3], gravity[3];
        random_direction(&r, axis);
        random_direction(&r, gravity);
        const double h = random_magnitude(&r, 1e-3, 2e-2);
        const double speed = random_magnitude(&r, 0.3, 6) * (random_index(&r, 2) ? 1 : -1);
        const int steps = 3 + random_index(&r, 17), slides = c % 3 == 2;
        for (int i = 0; i < 3; i++)
            gravity[i] *= 9.81;
        for (int k = 0; k < SOLVER_COUNT; k++) {
            const sinew_world_def def = def_of(&solvers[k], h, gravity);
            rigid_arm a = make_arm(&def, axis, slides ? ARM_SLIDER : ARM_HINGE);
            sinew_error error = {0};
            sinew_real rest[12];
            add_to_arm(&a, SINEW_ENERGY_MOTOR, (const char *const[]){"speed", "type", NULL},
                       (const double[]){speed, slides}, &error);
            must(&error);
            sinew_world_get_positions(a.world, a.frames[4], 4, rest);
            for (int i = 0; i < steps; i++)
                assert_false(sinew_world_step(a.world, NULL) & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED));
            const double wanted = speed * (double)def.time_step * steps;
            const double off = (slides ? arm_slide : arm_angle)(&a, rest) - wanted;
            const double bound = tolerance_of(&solvers[k], speed * (double)def.time_step, wanted, slides);
            worst[k] = fmax(worst[k], fabs(off) / bound);
            if (!(fabs(off) <= bound))
                fail_msg("case %d, %s %s %g: %.9f in place of %.9f; speed %g, h %g, %d steps, bound %.1e", c,
                         solvers[k].name, solvers[k].parameter ? solvers[k].parameter : "", solvers[k].value,
                         wanted + off, wanted, speed, h, steps, bound);
            sinew_world_destroy(a.world);
        }
    }
    for (int k = 0; k < SOLVER_COUNT; k++)
        printf("    %-12s %-14s %g: largest error %.1e of the tolerance\n", solvers[k].name,
               solvers[k].parameter ? solvers[k].parameter : "", solvers[k].value, worst[k]);
}

/* A program that sets the speed to zero stops the arm, also in solvers that know velocities alone. */
static void a_motor_stops(void **unused)
{
    (void)unused;
    const double axis[3] = {0, 0, 1}, still[3] = {0, 0, 0}, h = 0.005, speed = 2;
    for (int k = 0; k < SOLVER_COUNT; k++) {
        const sinew_world_def def = def_of(&solvers[k], h, still);
        rigid_arm a = make_arm(&def, axis, ARM_HINGE);
        sinew_error error = {0};
        sinew_real rest[12], v[12];
        const char *const names[] = {"speed", NULL};
        const sinew_energy motor = add_to_arm(&a, SINEW_ENERGY_MOTOR, names, &speed, &error);
        must(&error);
        for (int i = 0; i < 10; i++)
            sinew_world_step(a.world, NULL);
        sinew_energy_set_parameter(a.world, motor, "speed", 0, &error);
        must(&error);
        sinew_energy_set_parameter(a.world, motor, "target", (sinew_real)(speed * 10 * h), &error);
        must(&error);
        sinew_world_get_positions(a.world, a.frames[4], 4, rest);
        for (int i = 0; i < 8; i++)
            sinew_world_step(a.world, NULL);
        sinew_world_get_velocities(a.world, a.frames[4], 4, v);
        double fastest = 0;
        for (int i = 0; i < 12; i++)
            fastest = fmax(fastest, fabs((double)v[i]));
        if (!(fastest <= 0.02 * speed) || !(fabs(arm_angle(&a, rest)) <= 1e-3))
            fail_msg("%s: the arm moves on by %.1e rad, at %.1e m/s", solvers[k].name, arm_angle(&a, rest), fastest);
        sinew_world_destroy(a.world);
    }
}

/* A motor that is off does not turn the arm; switched on, it turns the arm to the target of that time. */
static void a_motor_is_switched(void **unused)
{
    (void)unused;
    const char *const names[] = {"primal-dual", "sap", "xpbd"};
    const double axis[3] = {0, 0, 1}, still[3] = {0, 0, 0}, h = 0.01, speed = 0.5;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        const driven_solver solver = {.name = names[k]};
        const sinew_world_def def = def_of(&solver, h, still);
        rigid_arm a = make_arm(&def, axis, ARM_HINGE);
        sinew_error error = {0};
        sinew_real rest[12];
        const sinew_energy motor =
            add_to_arm(&a, SINEW_ENERGY_MOTOR, (const char *const[]){"speed", NULL}, &speed, &error);
        must(&error);
        sinew_world_get_positions(a.world, a.frames[4], 4, rest);
        sinew_energy_switch(a.world, motor, NULL, 0, false, &error);
        must(&error);
        for (int i = 0; i < 6; i++)
            sinew_world_step(a.world, NULL);
        const double before = arm_angle(&a, rest);
        assert_false(sinew_energy_is_on(a.world, motor, 0));
        sinew_energy_switch(a.world, motor, NULL, 0, true, &error);
        must(&error);
        for (int i = 0; i < 4; i++)
            sinew_world_step(a.world, NULL);
        const double after = arm_angle(&a, rest), wanted = speed * 10 * h;
        if (!(fabs(before) <= 1e-3 * wanted) || !(fabs(after - wanted) <= 0.01 * wanted))
            fail_msg("%s: %.3e rad while off, then %.9f in place of %.9f", names[k], before, after, wanted);
        sinew_world_destroy(a.world);
    }
}

/* Shared numbers of a batch: an element that is off has weight zero and gets its last weight when it is switched on.
 * The version changes with any number, the version of the form with any number but the weight. */
static void shared_numbers_wait_for_elements(void **unused)
{
    (void)unused;
    const driven_solver solver = {.name = "primal-dual"};
    const double axis[3] = {0, 0, 1}, still[3] = {0, 0, 0}, speed = 1;
    const sinew_world_def def = def_of(&solver, 0.01, still);
    rigid_arm a = make_arm(&def, axis, ARM_HINGE);
    sinew_error error = {0};
    const sinew_energy motor = add_to_arm(&a, SINEW_ENERGY_MOTOR, (const char *const[]){"speed", NULL}, &speed, &error);
    must(&error);
    sinew_energy_switch(a.world, motor, NULL, 0, false, &error);
    must(&error);
    sinew_batch *b = a.world->energies[motor.index].batch;
    assert_int_equal(b->ops->shared_count, 5);
    const sinew_real first[5] = {3, 2, 5, 7, 11}, heavier[5] = {4, 2, 5, 7, 11}, turned[5] = {4, 2, 6, 7, 11};
    const sinew_real *const given[] = {first, heavier, turned, turned};
    for (int on = 0; on < 2; on++) {
        sinew_batch_set_shared(b, first);
        sinew_batch_switch(b, 0, on);
        for (int i = 0; i < 4; i++) {
            const uint64_t version = b->version, form = b->form_version;
            sinew_batch_set_shared(b, given[i]);
            assert_true(sinew_batch_weight(b, 0) == (on ? given[i][0] : 0));
            for (int k = 1; k < 5; k++)
                assert_true(b->data[k * b->width] == given[i][k]);
            const bool formed = i == 2, heavy = i == 1 && on;
            assert_int_equal(b->form_version - form, formed);
            assert_int_equal(b->version - version, formed || heavy);
        }
        sinew_batch_switch(b, 0, true);
        assert_true(sinew_batch_weight(b, 0) == turned[0]);
    }
    sinew_world_destroy(a.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_has_every_solver),
        cmocka_unit_test(a_motor_moves_by_speed_times_time),
        cmocka_unit_test(a_motor_stops),
        cmocka_unit_test(a_motor_is_switched),
        cmocka_unit_test(shared_numbers_wait_for_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
