/* SPDX-License-Identifier: MIT
 *
 * test_servin.c: Servin's stepper (kkt, `stepper` = servin) against its equation solved by hand, its energy at time
 * steps far beyond the stability limit of explicit integrators, and the absence of constraint drift.
 */
#include "make_world.h"

#ifdef SINEW_SINGLE
#define SAME 2e-5
#define KEPT 1e-2
#else
#define SAME 1e-11
#define KEPT 1e-6
#endif

/* One particle of 1 kg, 1 m from a pin; start NULL: at rest. */
static sinew_world *make_pendulum(double h, double k, bool hard, double relaxation, double gravity,
                                  const sinew_real *start, const sinew_real *velocities)
{
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)h;
    def.gravity[1] = (sinew_real)-gravity;
    def.solver = sinew_default_solver_def(SINEW_SOLVER_KKT);
    sinew_solver_def_set_keyword(&def.solver, "stepper", "servin", &error);
    sinew_solver_def_set_keyword(&def.solver, "constraints", "all", &error);
    sinew_solver_def_set(&def.solver, "relaxation", relaxation, &error);
    must(&error);
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_rope(2, (double[]){0, 0, 0}, (double[]){1, 0, 0});
    sinew_body_def body = sinew_default_body_def();
    const sinew_real masses[] = {1, 1};
    body.mesh = mesh;
    body.masses = masses;
    body.positions = start;
    body.velocities = velocities;
    sinew_energy_def spring = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    spring.body = add_body(world, &body);
    spring.parameters[0] = (sinew_real)k;
    spring.hard = hard;
    add_energy(world, &spring);
    add_pins(world, spring.body, &(int32_t){0}, 1, NULL);
    sinew_mesh_destroy(mesh);
    return world;
}

/* Along the spring C+ = C + h v+ is exact: v+ = v + h lambda, 4 lambda / k = -(C+ + 2 C + C-) - 4 tau/h (C+ - C). */
static void a_spring_follows_the_equation(void **unused)
{
    (void)unused;
    const double h = 0.05, k = 300;
    for (int damped = 0; damped < 2; damped++) {
        const double s = damped ? 4 * 0.5 : 0;
        const sinew_real start[6] = {0, 0, 0, (sinew_real)1.2, 0, 0}, velocities[6] = {0, 0, 0, (sinew_real)0.3, 0, 0};
        sinew_world *world = make_pendulum(h, k, false, damped ? 0.5 : 0, 0, start, velocities);
        double C = (double)start[3] - 1, v = (double)velocities[3];
        for (int step = 0; step < 50; step++) {
            /* C+ = C + h v + h^2 lambda, C- = C - h v; solved for lambda */
            const double free = C + h * v, past = (2 - s) * C + C - h * v;
            const double lambda = -((1 + s) * free + past) / (4 / k + (1 + s) * h * h);
            v += h * lambda;
            C += h * v;
            sinew_world_step(world, NULL);
            sinew_real q[3];
            sinew_world_get_positions(world, 1, 1, q);
            assert_true(fabs((double)q[0] - 1 - C) < SAME);
        }
        sinew_world_destroy(world);
    }
}

/* h omega = 10: the amplitude neither grows nor decays in 5000 steps. */
static void stiff_springs_keep_swinging(void **unused)
{
    (void)unused;
    const double h = 0.01, omega = 1000;
    const sinew_real start[6] = {0, 0, 0, (sinew_real)1.01, 0, 0};
    sinew_world *world = make_pendulum(h, omega * omega, false, 0, 0, start, NULL);
    double early = 0, late = 0;
    for (int step = 0; step < 5000; step++) {
        sinew_real q[3];
        sinew_world_step(world, NULL);
        sinew_world_get_positions(world, 1, 1, q);
        const double C = fabs((double)q[0] - 1);
        early = step < 500 ? fmax(early, C) : early;
        late = step >= 4500 ? fmax(late, C) : late;
    }
    printf("h omega = 10: the largest |C| of the first 500 steps %.6g m, of the last 500 %.6g m\n", early, late);
    assert_true(early > 0 && fabs(late / early - 1) < 0.02 + KEPT);
    sinew_world_destroy(world);
}

/* A hard pendulum does not drift in 2000 steps, and a violated one recovers within a few steps. */
static void hard_rows_do_not_drift(void **unused)
{
    (void)unused;
    const double h = 2e-3;
    sinew_world *world = make_pendulum(h, 1e4, true, 2, 9.81, NULL, NULL);
    double max = 0, last = 0;
    for (int step = 0; step < 2000; step++) {
        sinew_real q[3];
        sinew_world_step(world, NULL);
        sinew_world_get_positions(world, 1, 1, q);
        last = fabs(sqrt((double)q[0] * (double)q[0] + (double)q[1] * (double)q[1]) - 1);
        max = fmax(max, last);
    }
    printf("hard pendulum, 4 s at h = 2 ms: |C| at most %.3g m, at the end %.3g m\n", max, last);
    assert_true(max < 1e-3);
    sinew_world_destroy(world);
    const sinew_real start[6] = {0, 0, 0, (sinew_real)1.1, 0, 0};
    world = make_pendulum(h, 1e4, true, 2, 0, start, NULL);
    for (int step = 0; step < 30; step++)
        sinew_world_step(world, NULL);
    sinew_real q[3];
    sinew_world_get_positions(world, 1, 1, q);
    assert_true(fabs((double)q[0] - 1) < 1e-6);
    sinew_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_spring_follows_the_equation),
                                       cmocka_unit_test(stiff_springs_keep_swinging),
                                       cmocka_unit_test(hard_rows_do_not_drift)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
