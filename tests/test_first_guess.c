/* SPDX-License-Identifier: MIT
 *
 * test_first_guess.c: the starting guess of a step. Inertia may invert tets of neo_hookean_log, whose energy is
 * infinite there, or pins may run ahead of their body. Solvers then start at the alternative guess and find Newton's
 * minimum.
 */
#include <float.h>

#include "random_cases.h"
#include "solver_scenes.h"

/* Solvers whose objective decreases from the starting guess; admm passes through infeasible states. */
static const sinew_solver_kind descending[] = {SINEW_SOLVER_NEWTON, SINEW_SOLVER_QN, SINEW_SOLVER_PBNG};

typedef struct rush {
    double E, nu, h, speed;
    bool towed; /* body and pins fly together; otherwise the two ends fly through each other */
    bool previous;
    uint64_t seed;
} rush;

static sinew_world *rushing(const rush *r, const sinew_solver_def *solver)
{
    sinew_world_def def = sinew_default_world_def();
    sinew_mesh *mesh = make_beam(3, 1, 1, 0.6, 0.2, 0.2);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    const sinew_real *X = sinew_mesh_positions(mesh);
    random_cases random = {.state = r->seed};
    sinew_real v[3 * 16], targets[3 * 4];
    int32_t fixed[4];
    assert_int_equal(n, 16);
    for (int32_t i = 0; i < 3 * n; i++) {
        const double inward = r->towed ? 1 : X[i / 3 * 3] < 0 ? 1 : -1;
        v[i] = (sinew_real)((i % 3 == 0 ? r->speed * inward : 0) + random_between(&random, -0.05, 0.05) * r->speed);
    }
    def.thread_count = 1;
    def.time_step = (sinew_real)r->h;
    def.solver = *solver;
    sinew_world *world = make_world(&def);
    sinew_body body = add_mesh(world, mesh, 1000, NULL, v);
    add_material(world, body, SINEW_ENERGY_NEO_HOOKEAN_LOG, r->E, r->nu);
    const int32_t count = vertices_at(mesh, 0, -0.3, -0.3, fixed);
    for (int32_t i = 0; i < 3 * count; i++)
        targets[i] = X[3 * fixed[i / 3] + i % 3] + (sinew_real)(i % 3 == 0 ? r->speed * r->h : 0);
    if (r->towed)
        add_pins(world, body, fixed, count, targets);
    sinew_mesh_destroy(mesh);
    return world;
}

static sinew_step_result rush_step(const rush *r, sinew_solver_kind kind, int iterations, double tolerance)
{
    sinew_solver_def def = solver_of(kind, iterations);
    def.tolerance = (sinew_real)tolerance;
    if (sinew_solver_parameter(kind, "start") >= 0)
        set(&def, "start", r->previous);
    sinew_world *world = rushing(r, &def);
    const sinew_step_result result = step_of(world);
    sinew_world_destroy(world);
    return result;
}

static rush draw(random_cases *random)
{
    rush r = {.E = random_magnitude(random, 1e4, 1e7),
              .nu = random_between(random, 0, 0.45),
              .h = random_magnitude(random, 0.003, 0.03),
              .towed = random_index(random, 2),
              .previous = random_index(random, 2),
              .seed = random_bits(random)};
    /* At this speed inertia inverts the cell in the middle, or the cell at the pins. */
    r.speed = (r.towed ? random_between(random, 0.25, 0.5) : random_between(random, 0.12, 0.2)) / r.h;
    return r;
}

/* Each solver finds Newton's minimum or another local one: a crash may have several. */
static void every_solver_takes_the_step(void **unused)
{
    (void)unused;
    random_cases random = random_cases_begin("first guess", 12, 300);
    int32_t same = 0;
    for (int32_t k = 0; k < random.count; k++) {
        const rush r = draw(&random);
        const double lowest = rush_step(&r, SINEW_SOLVER_NEWTON, 500, IS_SINGLE ? 1e-6 : 1e-12).objective;
        for (int s = 0; s < 3; s++) {
            const sinew_step_result found = rush_step(&r, descending[s], 20000, IS_SINGLE ? 1e-4 : 1e-9);
            const bool equal = fabs(found.objective - lowest) <= (IS_SINGLE ? 1e-2 : 1e-6) * fabs(lowest);
            same += equal;
            /* Where both minima agree to round-off, the line search finds no lower point for a smaller residual. */
            const bool same_to_round_off =
                fabs(found.objective - lowest) <= 64 * (IS_SINGLE ? FLT_EPSILON : DBL_EPSILON) * fabs(lowest);
            const bool open = found.bits & SINEW_STEP_NOT_CONVERGED && !same_to_round_off &&
                              !(found.relative_residual <= (IS_SINGLE ? 1e-4 : 1e-9));
            if (open || (r.towed && !equal))
                fail_msg("%s: E %g nu %g h %g speed %g towed %d previous %d: relative residual %g, %g J above Newton's "
                         "%g J",
                         sinew_get_solver_info(descending[s])->name, r.E, r.nu, r.h, r.speed, r.towed, r.previous,
                         found.relative_residual, found.objective - lowest, lowest);
        }
    }
    print_message("%d of %d end in Newton's minimum, the others in another one\n", same, 3 * random.count);
    assert_true(same >= 2 * random.count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_solver_takes_the_step)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
