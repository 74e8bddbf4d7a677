/* SPDX-License-Identifier: MIT
 *
 * test_gap_slope.c: the optimality gap of quadratic objectives, from far away down to round-off.
 *
 * One particle of mass m on a zero-length spring: g has the Hessian K 1, K = m / h^2 + k, so that a residual r gives
 * exactly g - min g = r^2 / (2 K). Differences of g resolve the gap down to a distance of about 1e-7 of the world's
 * size; below, slopes of g resolve it to 1e-13 and less.
 */
#include "make_world.h"
#include "world/world.h"

typedef struct left_over {
    double gap, truth, distance;
    sinew_gap_kind kind;
} left_over;

/* A step whose end is prescribed: at a distance from the minimum, in a fixed direction. */
static left_over end_at(double distance, double m, double k, double h)
{
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.time_step = (sinew_real)h;
    def.solver = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    def.solver.tolerance = 0;
    def.solver.measure = SINEW_MEASURE_GAP;
    sinew_world *world = make_world(&def);
    const sinew_real x[3] = {(sinew_real)0.3, (sinew_real)-0.7, (sinew_real)1.1}, target[3] = {1, (sinew_real)0.4, -1};
    const sinew_real mass = (sinew_real)m;
    sinew_mesh_def point = sinew_default_mesh_def();
    point.vertex_count = 1;
    point.positions = x;
    sinew_mesh *mesh = sinew_mesh_create(&point, &error);
    must(&error);
    sinew_body_def body = sinew_default_body_def();
    body.mesh = mesh;
    body.masses = &mass;
    sinew_energy_def spring = sinew_default_energy_def(SINEW_ENERGY_POSITION);
    spring.body = add_body(world, &body);
    spring.parameters[0] = (sinew_real)k;
    spring.targets = target;
    add_energy(world, &spring);
    sinew_world_prepare(world, &error);
    must(&error);
    sinew_world_predict(world);
    sinew_solve *s = &world->solve;
    const double K = m / (h * h) + k;
    for (int c = 0; c < 3; c++)
        s->q[c] = (sinew_real)((m / (h * h) * (double)world->q_tilde[c] + k * (double)target[c]) / K +
                               distance * (double[]){0.6, 0, -0.8}[c]);
    s->q_start = world->q;
    s->step = 1;
    s->def.iterations = 0;
    sinew_step_result result;
    sinew_solve_run(s, &result);
    const left_over left = {result.gap, result.residual * result.residual / (2 * K), result.residual / K,
                            result.gap_kind};
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
    return left;
}

static void a_residual_tells_the_gap(void **state)
{
    (void)state;
    const bool single = sizeof(sinew_real) == 4;
    for (double d = 1; d > (single ? 1e-3 : 1e-14); d /= 3) {
        const left_over l = end_at(d, 0.5, 3000, 0.01);
        if (l.kind != SINEW_GAP_ESTIMATE || !(fabs(l.gap / l.truth - 1) < 0.05) || !(fabs(l.distance / d - 1) < 0.05))
            fail_msg("%.3e m away, %.3e by the residual: gap %.6e J, true %.6e J, kind %d", d, l.distance, l.gap,
                     l.truth, (int)l.kind);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_residual_tells_the_gap)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
