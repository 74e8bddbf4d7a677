/* SPDX-License-Identifier: MIT
 *
 * test_contact_sweeps.c: contact in solvers that sweep over nodes or constraints: boxes on a slope stick and slide,
 * stacks rest, equilibria lean on floors, and no body passes through a floor at any number of sweeps.
 *
 * pbng sticks and slides according to Coulomb's law. xpbd and pbd reset their multipliers in every step: near the
 * critical angle single contacts stick in one step and slip in the next, which loses about one percent of friction.
 * They stick at 0.8 of the critical slope, not at 0.99 (box of E = 1 MPa, 20 sweeps: 18 mm/s); xpbd with as many
 * substeps as sweeps does stick at 0.99.
 */
#include <math.h>

#include "contact_worlds.h"

#define SIZE     0.2
#define FRICTION 0.5
#define YOUNG    1e6
#ifdef SINEW_SINGLE
#define STILL 1e-3 /* fraction of the size */
#else
#define STILL 1e-5
#endif

enum {
    CELLS = 2,
    SECOND = 60 /* steps per second */
};

static double middle_of(const sinew_world *world, int axis)
{
    sinew_real *q = positions_of(world);
    const int32_t count = sinew_world_particle_count(world);
    double sum = 0;
    for (int32_t i = 0; i < count; i++)
        sum += (double)q[3 * i + axis] / count;
    free(q);
    return sum;
}

static double lowest_of(const sinew_world *world)
{
    sinew_real *q = positions_of(world);
    double low = HUGE_VAL;
    for (int32_t i = 0; i < sinew_world_particle_count(world); i++)
        low = fmin(low, (double)q[3 * i + 1]);
    free(q);
    return low;
}

static void run(sinew_world *world, int steps)
{
    for (int k = 0; k < steps; k++) {
        const uint32_t bits = sinew_world_step(world, NULL);
        if (bits & SINEW_STEP_UNPREPARED)
            fail_msg("%s", sinew_world_error(world));
        assert_false(bits & (SINEW_STEP_NOT_FINITE | SINEW_STEP_INTERSECTING));
    }
}

/* A box on a floor under tilted gravity; `part` is the slope over the critical slope. */
static sinew_world *box_on_slope(const sinew_solver_def *solver, double part)
{
    const double angle = atan(part * FRICTION), g = 9.81, middle[3] = {0, SIZE / 2 + 1e-3, 0};
    sinew_world_def def = sinew_default_world_def();
    def.solver = *solver;
    def.solver.measure = SINEW_MEASURE_RESIDUAL;
    def.gravity[0] = (sinew_real)(g * sin(angle));
    def.gravity[1] = (sinew_real)(-g * cos(angle));
    sinew_world *world = make_world(&def);
    add_box(world, solver->kind, CELLS, SIZE, middle, YOUNG);
    set_touch(world, 1e-3, FRICTION);
    add_floor(world);
    return world;
}

/* The displacement of the box in the second second, m. */
static double drift_of(const sinew_solver_def *solver, double part)
{
    sinew_world *world = box_on_slope(solver, part);
    run(world, SECOND);
    const double before = middle_of(world, 0);
    run(world, SECOND);
    const double drift = middle_of(world, 0) - before;
    print_message("%s at %.2f of the critical slope: %.2e m a second\n", sinew_get_solver_info(solver->kind)->name,
                  part, drift);
    sinew_world_destroy(world);
    return drift;
}

/* The displacement of the box in one second at 1.5 of the critical slope, over Coulomb's. */
static double slide_of(const sinew_solver_def *solver)
{
    const double angle = atan(1.5 * FRICTION), a = 9.81 * (sin(angle) - FRICTION * cos(angle));
    sinew_world *world = box_on_slope(solver, 1.5);
    const double before = middle_of(world, 0);
    run(world, SECOND);
    const double way = middle_of(world, 0) - before, exact = a * (1 + 1.0 / SECOND) / 2;
    print_message("%s slides %.4f m, exact %.4f\n", sinew_get_solver_info(solver->kind)->name, way, exact);
    sinew_world_destroy(world);
    return way / exact;
}

static void pbng_holds_and_slides(void **state)
{
    (void)state;
    const sinew_solver_def solver = sinew_default_solver_def(SINEW_SOLVER_PBNG);
    assert_true(fabs(drift_of(&solver, 0.99)) < STILL * SIZE);
    assert_true(fabs(slide_of(&solver) - 1) < 0.03);
}

static void constraints_hold_and_slide(void **state)
{
    (void)state;
    const sinew_solver_kind kinds[] = {SINEW_SOLVER_XPBD, SINEW_SOLVER_PBD};
    for (int k = 0; k < 2; k++) {
        const sinew_solver_def solver = sinew_default_solver_def(kinds[k]);
        assert_true(fabs(drift_of(&solver, 0.8)) < 10 * STILL * SIZE);
        assert_true(fabs(slide_of(&solver) - 1) < 0.05);
    }
}

static void substeps_hold(void **state)
{
    (void)state;
    sinew_error error = {0};
    sinew_solver_def solver = sinew_default_solver_def(SINEW_SOLVER_XPBD);
    sinew_solver_def_set(&solver, "substeps", (sinew_real)solver.iterations, &error);
    must(&error);
    assert_true(fabs(drift_of(&solver, 0.99)) < 1e-2 * SIZE);
}

/* Boxes that touch each other move together. */
static void a_stack_rests(void **state)
{
    (void)state;
    sinew_world_def def = sinew_default_world_def();
    def.solver = sinew_default_solver_def(SINEW_SOLVER_PBNG);
    def.solver.measure = SINEW_MEASURE_RESIDUAL;
    def.damping = 2;
    sinew_world *world = make_world(&def);
    for (int k = 0; k < 3; k++) {
        const double middle[3] = {0.01 * (k % 2), SIZE / 2 + 1e-3 + k * (SIZE + 1e-3), 0.01 * (k / 2)};
        add_box(world, SINEW_SOLVER_PBNG, CELLS, SIZE, middle, YOUNG);
    }
    set_touch(world, 1e-3, FRICTION);
    add_floor(world);
    run(world, 2 * SECOND);
    sinew_measures measures;
    assert_int_equal(sinew_world_measure(world, &measures), SINEW_OK);
    const double scale = 1000 * SIZE * SIZE * SIZE * 9.81 * SIZE;
    print_message("three boxes: kinetic energy %.1e of m g L\n", measures.kinetic / scale);
    assert_true(measures.kinetic < (sizeof(sinew_real) == 4 ? 1e-4 : 1e-6) * scale);
    assert_true(middle_of(world, 1) > 1.4 * SIZE);
    sinew_world_destroy(world);
}

/* A quasistatic beam that is held at one end, 2 cm above a floor. */
static sinew_world *leaning_beam(sinew_solver_kind kind)
{
    sinew_world_def def = sinew_default_world_def();
    def.quasistatic = true;
    def.solver = sinew_default_solver_def(kind);
    def.solver.measure = SINEW_MEASURE_RESIDUAL;
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_beam(8, 2, 2, 0.8, 0.1, 0.1);
    const int32_t count = sinew_mesh_vertex_count(mesh);
    const sinew_real *X = sinew_mesh_positions(mesh);
    sinew_real *x = make_array(3 * (size_t)count, sizeof *x);
    int32_t ends[16];
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL};
    for (int32_t i = 0; i < 3 * count; i++)
        low[i % 3] = fmin(low[i % 3], (double)X[i]);
    for (int32_t i = 0; i < 3 * count; i++)
        x[i] = X[i] + (sinew_real)(i % 3 == 1 ? 0.02 - low[1] : 0);
    const sinew_body body = add_mesh(world, mesh, 1000, x, NULL);
    const bool strain = kind == SINEW_SOLVER_PBD || kind == SINEW_SOLVER_XPBD_QS;
    add_material(world, body, strain ? SINEW_ENERGY_STRAIN : SINEW_ENERGY_COROTATED, 1e5, 0.3);
    add_pins(world, body, ends, vertices_at(mesh, 0, low[0], low[0], ends), NULL);
    set_touch(world, 2e-3, FRICTION);
    add_floor(world);
    sinew_mesh_destroy(mesh);
    free(x);
    return world;
}

/* The beam leans on the floor; pbd, in which forces only shift the start, need not reach it. */
static void equilibria_lean(void **state)
{
    (void)state;
    const sinew_solver_kind kinds[] = {SINEW_SOLVER_NEWTON, SINEW_SOLVER_PBNG, SINEW_SOLVER_XPBD_QS, SINEW_SOLVER_PBD};
    for (int k = 0; k < 4; k++) {
        sinew_world *world = leaning_beam(kinds[k]);
        sinew_contact_report report;
        run(world, 5);
        assert_int_equal(sinew_world_contact_report(world, &report, NULL), SINEW_OK);
        print_message("%s: %d contacts, lowest vertex at %.2e m\n", sinew_get_solver_info(kinds[k])->name,
                      report.contacts, lowest_of(world));
        assert_true(lowest_of(world) > 0);
        assert_true(kinds[k] == SINEW_SOLVER_PBD || report.contacts > 0);
        sinew_world_destroy(world);
    }
}

/* Floors hold for any number of sweeps. */
static void floors_hold(void **state)
{
    (void)state;
    const sinew_solver_kind kinds[] = {SINEW_SOLVER_XPBD, SINEW_SOLVER_PBD, SINEW_SOLVER_PBNG};
    for (int k = 0; k < 9; k++) {
        const double middle[3] = {0, SIZE, 0};
        sinew_world_def def = sinew_default_world_def();
        def.solver = sinew_default_solver_def(kinds[k / 3]);
        def.solver.iterations = k % 3 == 0 ? 1 : k % 3 == 1 ? 5 : 20;
        def.solver.measure = SINEW_MEASURE_RESIDUAL;
        sinew_world *world = make_world(&def);
        add_box(world, kinds[k / 3], CELLS, SIZE, middle, 2e4);
        set_touch(world, 1e-3, FRICTION);
        add_floor(world);
        for (int step = 0; step < SECOND; step++) {
            run(world, 1);
            assert_true(lowest_of(world) > 0);
        }
        sinew_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pbng_holds_and_slides), cmocka_unit_test(constraints_hold_and_slide),
        cmocka_unit_test(substeps_hold),         cmocka_unit_test(a_stack_rests),
        cmocka_unit_test(equilibria_lean),       cmocka_unit_test(floors_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
