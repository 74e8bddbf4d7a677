/* SPDX-License-Identifier: MIT
 *
 * test_contact_solvers.c: solvers of the same objective reach the same minimum, also in contact with friction: one step
 * from one state, solved to round-off, against newton's.
 *
 * The step filter is inactive in that step: it triggers detection passes at iterates, which differ between solvers and
 * would find different contacts. Surfaces keep their offset: no step sets the status bit `contact`. xpbd has hard
 * contacts and compliant constraints, and mpbng binds its layers: their distances from newton are printed, not
 * asserted.
 */
#include "contact_scenes.h"

#ifdef SINEW_SINGLE
#define TOLERANCE 1e-5
#define AGREE     3e-3
#else
#define TOLERANCE 1e-10
/* Solvers agree to AGREE of the scene's size: 1e-8 except on the sphere, where redundant contacts distribute forces. */
#define AGREE     1e-5
#endif

typedef struct row {
    sinew_solver_kind kind;
    int32_t iterations;
    bool agrees;
    int32_t multiplier_interval; /* iterations between multiplier updates; slow solvers would exhaust theirs */
} row;

static const row rows[] = {
    {SINEW_SOLVER_NEWTON, 1000, true, 0},  {SINEW_SOLVER_QN, 3000, true, 8},
    {SINEW_SOLVER_PD, 20000, true, 50},    {SINEW_SOLVER_ADMM, 5000, true, 12},
    {SINEW_SOLVER_PBNG, 10000, true, 12},  {SINEW_SOLVER_XPBD, 1000, false, 0},
    {SINEW_SOLVER_MPBNG, 1000, false, 12}, {SINEW_SOLVER_PRIMAL_DUAL, 1000, true, 0},
    {SINEW_SOLVER_SAP, 1000, true, 0},
};

static sinew_solver_def solver_of(sinew_solver_kind kind, int32_t iterations)
{
    sinew_solver_def def = sinew_default_solver_def(kind);
    def.iterations = iterations;
    def.tolerance = (sinew_real)TOLERANCE;
    def.measure = SINEW_MEASURE_RESIDUAL;
    return def;
}

/* Brings the scene to newton's state, then takes one step of the given solver. */
static sinew_real *solve_step(const contact_scene *scene, const row *r, sinew_step_result *result,
                              sinew_contact_report *report)
{
    sinew_error error = {0};
    const sinew_solver_def newton = solver_of(SINEW_SOLVER_NEWTON, 200), own = solver_of(r->kind, r->iterations);
    sinew_world *world = make_contact_world(scene, &newton);
    for (int i = 0; i < scene->warm; i++)
        assert_false(sinew_world_step(world, NULL) & SINEW_STEP_NOT_FINITE);
    sinew_contact_def contact = sinew_world_contact(world);
    contact.intersection_free = false;
    contact.multiplier_interval = r->multiplier_interval;
    sinew_world_set_contact(world, &contact, &error);
    must(&error);
    sinew_world_set_solver(world, &own, &error);
    must(&error);
    assert_false(sinew_world_step(world, result) & SINEW_STEP_NOT_FINITE);
    sinew_world_contact_report(world, report, &error);
    must(&error);
    sinew_real *q = positions_of(world);
    sinew_world_destroy(world);
    return q;
}

static int32_t particles_of(const contact_scene *scene)
{
    const sinew_solver_def def = solver_of(SINEW_SOLVER_NEWTON, 1);
    sinew_world *world = make_contact_world(scene, &def);
    const int32_t count = sinew_world_particle_count(world);
    sinew_world_destroy(world);
    return count;
}

static void solvers_agree(void **state)
{
    const contact_scene *scene = *state;
    const int32_t count = particles_of(scene);
    sinew_real *best = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sinew_step_result result;
        sinew_contact_report report;
        sinew_real *q = solve_step(scene, &rows[i], &result, &report);
        double apart = 0;
        for (size_t k = 0; best && k < 3 * (size_t)count; k++)
            apart = fmax(apart, fabs((double)q[k] - (double)best[k]));
        print_message("%-16s %-6s %4d iterations, %5d linear, %3d updates, %2d contacts, %d held, relative residual "
                      "%.1e, violation %.1e m, apart %.1e of the size\n",
                      scene->name, sinew_get_solver_info(rows[i].kind)->name, result.iterations,
                      result.linear_iterations, report.updates, report.contacts, report.filtered_vertices,
                      result.relative_residual, report.violation, apart / scene->size);
        assert_true(report.contacts > 0);
        assert_false(rows[i].agrees && result.bits & SINEW_STEP_CONTACT);
        if (rows[i].agrees && apart > AGREE * scene->size)
            fail_msg("%s: %s ends %.1e of the size from newton", scene->name, sinew_get_solver_info(rows[i].kind)->name,
                     apart / scene->size);
        if (best)
            free(q);
        else
            best = q;
    }
    free(best);
}

int main(void)
{
    struct CMUnitTest tests[CONTACT_SCENES];
    for (size_t i = 0; i < CONTACT_SCENES; i++)
        tests[i] = (struct CMUnitTest){.name = contact_scenes[i].name,
                                       .test_func = solvers_agree,
                                       .initial_state = (void *)(uintptr_t)&contact_scenes[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
