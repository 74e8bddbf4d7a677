/* SPDX-License-Identifier: MIT
 *
 * test_filter_passes.c: step and project as a velocity filter (Goldenthal et al. 2007) beside a collision pass,
 * composed by the caller from two worlds. The first world steps everything but inextensibility (weight, soft threads,
 * contact) by any solver that supports contact. The second world has the hard threads alone. Started at the end of the
 * first, at rest and without weight, its sap step is the projection in the mass metric. Velocities follow from both
 * displacements.
 *
 * Without contact and soft threads the composition equals sap's own step up to round-off.
 */
#include <string.h>

#include "contact_worlds.h"
#include "sinew/hard.h"

#ifdef SINEW_SINGLE
#define SAME      2e-5 /* m */
#define HELD      2e-6 /* m, of links of 5 cm */
#define TOLERANCE 5e-7
#else
#define SAME      1e-12
#define HELD      1e-10
#define TOLERANCE 1e-12
#endif

enum {
    POINTS = 21
};
#define STEP   5e-3 /* s */
#define RADIUS 0.15 /* m, of a ball at the origin */
#define THICK  2e-3 /* m */

static sinew_world *make_rope_world(sinew_solver_kind solver, double gravity, double stiffness, bool hard, bool touch)
{
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)STEP;
    def.gravity[1] = (sinew_real)-gravity;
    def.solver = sinew_default_solver_def(solver);
    def.solver.iterations = 50;
    if (solver == SINEW_SOLVER_SAP)
        def.solver.tolerance = (sinew_real)TOLERANCE;
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_rope(POINTS, (double[]){-0.5, 0.25, 0.02}, (double[]){0.5, 0.25, 0.02});
    sinew_body_def body = sinew_default_body_def();
    sinew_real masses[POINTS];
    for (int i = 0; i < POINTS; i++)
        masses[i] = (sinew_real)(0.01 + 1e-3 * (i % 3));
    body.mesh = mesh;
    body.masses = masses;
    sinew_energy_def spring = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    spring.body = add_body(world, &body);
    spring.parameters[0] = (sinew_real)stiffness;
    spring.hard = hard;
    if (stiffness > 0)
        add_energy(world, &spring);
    if (touch) {
        sinew_collider_def ball = sinew_default_collider_def(SINEW_SHAPE_SPHERE);
        ball.radius = (sinew_real)RADIUS;
        add_collider(world, &ball);
        set_touch(world, THICK, 0.3);
    }
    sinew_mesh_destroy(mesh);
    return world;
}

/* Takes one step of both passes; v = (q'' - q) / h. Returns the largest |C| that the first pass leaves. */
static double take_passes(sinew_world *first, sinew_world *filter)
{
    sinew_real start[3 * POINTS], q[3 * POINTS], v[3 * POINTS] = {0};
    sinew_world_get_positions(first, 0, POINTS, start);
    sinew_world_step(first, NULL);
    sinew_world_get_positions(first, 0, POINTS, q);
    sinew_world_set_positions(filter, 0, POINTS, q);
    sinew_world_set_velocities(filter, 0, POINTS, v);
    const double open = sinew_world_violation(filter);
    sinew_world_step(filter, NULL);
    sinew_world_get_positions(filter, 0, POINTS, q);
    for (int i = 0; i < 3 * POINTS; i++)
        v[i] = (sinew_real)(((double)q[i] - (double)start[i]) / STEP);
    sinew_world_set_positions(first, 0, POINTS, q);
    sinew_world_set_velocities(first, 0, POINTS, v);
    return open;
}

/* A free, spinning rope: both passes against sap in one world. */
static void without_contact_it_is_sap(void **unused)
{
    (void)unused;
    sinew_world *whole = make_rope_world(SINEW_SOLVER_SAP, 9.81, 1000, true, false);
    sinew_world *first = make_rope_world(SINEW_SOLVER_NEWTON, 9.81, 0, false, false);
    sinew_world *filter = make_rope_world(SINEW_SOLVER_SAP, 0, 1000, true, false);
    sinew_real v[3 * POINTS] = {0}, a[3 * POINTS], b[3 * POINTS];
    for (int i = 0; i < POINTS; i++)
        v[3 * i + 2] = (sinew_real)(4 * sin(0.7 * i));
    sinew_world_set_velocities(whole, 0, POINTS, v);
    sinew_world_set_velocities(first, 0, POINTS, v);
    double apart = 0, open = 0;
    for (int step = 0; step < 20; step++) {
        sinew_world_step(whole, NULL);
        open = fmax(open, take_passes(first, filter));
    }
    sinew_world_get_positions(whole, 0, POINTS, a);
    sinew_world_get_positions(first, 0, POINTS, b);
    for (int i = 0; i < 3 * POINTS; i++)
        apart = fmax(apart, fabs((double)a[i] - (double)b[i]));
    printf("20 steps: links open by %.2g m before the filter; two passes and sap are %.2g m apart\n", open, apart);
    assert_true(open > 1e-4 && apart < SAME);
    sinew_world_destroy(whole);
    sinew_world_destroy(first);
    sinew_world_destroy(filter);
}

/* Distance from the ball to the nearest point, m; negative inside. */
static double clearance_of(const sinew_world *world)
{
    double min = HUGE_VAL;
    sinew_real q[3 * POINTS];
    sinew_world_get_positions(world, 0, POINTS, q);
    for (int i = 0; i < POINTS; i++)
        min = fmin(min, sqrt(pow((double)q[3 * i], 2) + pow((double)q[3 * i + 1], 2) + pow((double)q[3 * i + 2], 2)));
    return min - RADIUS;
}

/* A rope falls on a ball and hangs over it: links keep their length to round-off, points stay out of the ball. */
static void a_rope_falls_on_a_ball(void **unused)
{
    (void)unused;
    const sinew_solver_kind solvers[] = {SINEW_SOLVER_NEWTON, SINEW_SOLVER_PBNG, SINEW_SOLVER_XPBD};
    for (size_t k = 0; k < sizeof solvers / sizeof solvers[0]; k++) {
        sinew_world *first = make_rope_world(solvers[k], 9.81, 2000, false, true);
        sinew_world *filter = make_rope_world(SINEW_SOLVER_SAP, 0, 1000, true, false);
        double open = 0, held = 0, near = HUGE_VAL, lowest = 0;
        sinew_real q[3 * POINTS];
        for (int step = 0; step < 60; step++) {
            open = fmax(open, take_passes(first, filter));
            held = fmax(held, sinew_world_violation(filter));
            near = fmin(near, clearance_of(first));
        }
        sinew_world_get_positions(first, 0, POINTS, q);
        for (int i = 0; i < POINTS; i++)
            lowest = fmin(lowest, (double)q[3 * i + 1]);
        printf("contact by %-6s: links open by at most %.2g m, after the filter %.2g m; never nearer to the ball than "
               "%.2g m; "
               "ends at y = %.3f m\n",
               sinew_get_solver_info(solvers[k])->name, open, held, near, lowest);
        assert_true(open > 1e-5 && held < HELD);
        assert_true(near > 0.5 * THICK && near < 1.5 * THICK && lowest < 0);
        sinew_world_destroy(first);
        sinew_world_destroy(filter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(without_contact_it_is_sap),
                                       cmocka_unit_test(a_rope_falls_on_a_ball)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
