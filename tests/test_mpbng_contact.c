/* SPDX-License-Identifier: MIT
 *
 * test_mpbng_contact.c: mpbng's layers in contact. The contact force on a cloth on a floor equals its weight, at the
 * right offset, and its coarse layers lie there too. A cloth over a bar sags closer to newton's shape with layers than
 * without. No surfaces intersect. Saved states, threads and failing allocations are tested with layers in contact.
 *
 * While its layers are bound, mpbng solves another problem than the world's, so that its end state is not compared with
 * newton's. The reported residuals are those of the world's own objective.
 */
#include "contact_worlds.h"
#include "failing_allocator.h"

#define LENGTH    1.0 /* m: length of the cloth across the bar */
#define WIDTH     0.5
#define BAR       0.2 /* m */
#define THICKNESS 4e-3
#define DENSITY   1.0 /* kg/m2 */
#define H         0.01

#ifdef SINEW_SINGLE
#define BORNE 1e-2 /* fraction of the weight */
#else
#define BORNE 1e-3
#endif

static void set_parameter(sinew_solver_def *def, const char *name, double value)
{
    sinew_error error = {0};
    assert_int_equal(sinew_solver_def_set(def, name, value, &error), SINEW_OK);
}

static sinew_solver_def layered(int iterations, int levels)
{
    sinew_solver_def def = sinew_default_solver_def(SINEW_SOLVER_MPBNG);
    def.iterations = iterations;
    def.measure = SINEW_MEASURE_RESIDUAL;
    set_parameter(&def, "levels", levels);
    return def;
}

/* A level cloth of (2 n - 1) x n vertices, centred near x = z = 0. */
static sinew_world *level_cloth(int n, double height, const sinew_solver_def *solver, const sinew_allocator *allocator,
                                int threads)
{
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    sinew_cloth_def cloth = sinew_default_cloth_def();
    if (allocator)
        def.allocator = *allocator;
    def.thread_count = threads;
    def.time_step = (sinew_real)H;
    def.damping = 3;
    def.solver = *solver;
    sinew_world *world = make_world(&def);
    cloth.vertices[0] = 2 * n - 1;
    cloth.vertices[1] = n;
    cloth.size[0] = (sinew_real)LENGTH;
    cloth.size[1] = (sinew_real)WIDTH;
    sinew_mesh *mesh = sinew_mesh_cloth(&cloth, &error);
    must(&error);
    const int32_t count = sinew_mesh_vertex_count(mesh);
    sinew_real *x = make_array(3 * (size_t)count, sizeof *x);
    for (int32_t i = 0; i < count; i++) {
        const sinew_real *X = sinew_mesh_positions(mesh) + 3 * (size_t)i;
        x[3 * i] = X[0] - (sinew_real)(LENGTH / 2 - 0.01);
        x[3 * i + 1] = (sinew_real)(height + 1.1 * THICKNESS);
        x[3 * i + 2] = X[1] - (sinew_real)(WIDTH / 2);
    }
    sinew_energy_def membrane = sinew_default_energy_def(SINEW_ENERGY_MEMBRANE_COROTATED);
    membrane.body = add_mesh(world, mesh, DENSITY, x, NULL);
    membrane.parameters[sinew_energy_parameter(membrane.kind, "young")] = (sinew_real)1e3;
    membrane.parameters[sinew_energy_parameter(membrane.kind, "thickness")] = 1;
    add_energy(world, &membrane);
    set_touch(world, THICKNESS, 0.6);
    free(x);
    sinew_mesh_destroy(mesh);
    return world;
}

/* A cloth just above a bar along z, slightly off the cloth's centre. */
static sinew_world *over_a_bar(int n, const sinew_solver_def *solver, const sinew_allocator *allocator, int threads)
{
    sinew_world *world = level_cloth(n, BAR, solver, allocator, threads);
    sinew_collider_def bar = sinew_default_collider_def(SINEW_SHAPE_CAPSULE);
    bar.radius = (sinew_real)BAR;
    bar.size[1] = (sinew_real)(2 * WIDTH);
    bar.rotation[0] = (sinew_real)(M_PI / 2);
    add_collider(world, &bar);
    return world;
}

static sinew_contact_report report_of(const sinew_world *world)
{
    sinew_contact_report report;
    assert_int_equal(sinew_world_contact_report(world, &report, NULL), SINEW_OK);
    return report;
}

static sinew_step_result take_steps(sinew_world *world, int count)
{
    sinew_step_result result = {0};
    for (int i = 0; i < count; i++)
        if (sinew_world_step(world, &result) &
            (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE | SINEW_STEP_INTERSECTING))
            fail_msg("step %d: bits %x %s", i, result.bits, sinew_world_error(world));
    return result;
}

static double height_of(sinew_world *world)
{
    sinew_measures m;
    assert_int_equal(sinew_world_measure(world, &m), SINEW_OK);
    return m.centre_of_mass[1];
}

/* ---- Forces and residuals ------------------------------------------------------------------------ */

/* The last sweeps of a step solve the world's own problem, so the contact force equals the weight. */
static void the_floor_bears_the_cloth(void **state)
{
    (void)state;
    sinew_solver_def solver = layered(20, 3);
    set_parameter(&solver, "fine_sweeps", 100);
    sinew_world *world = level_cloth(13, 0, &solver, NULL, 1);
    const sinew_collider floor = add_floor(world);
    double force[3], torque[3];
    take_steps(world, 40);
    sinew_collider_force(world, floor, force, torque, NULL);
    const double borne = -force[1] / (9.81 * DENSITY * LENGTH * WIDTH);
    const sinew_contact_report r = report_of(world);
    print_message("the floor bears %.6f of the weight, violation %.2g of the thickness, %d contacts\n", borne,
                  r.violation / THICKNESS, r.contacts);
    assert_true(fabs(borne - 1) < BORNE);
    assert_true(r.violation < 0.01 * THICKNESS && r.intersections == 0);
    sinew_world_destroy(world);
}

/* Few iterations on bound layers end far from the world's minimum, and the status reports it: the residuals of result
 * and contact report are those of the world's own objective. */
static void rows_are_of_the_worlds_objective(void **state)
{
    (void)state;
    const sinew_solver_def solver = layered(6, 3);
    sinew_world *world = over_a_bar(13, &solver, NULL, 1);
    for (int k = 0; k < 20; k++) {
        const sinew_step_result result = take_steps(world, 1);
        const sinew_contact_report report = report_of(world);
        assert_true(result.residual > 0 && fabs(report.stationarity - result.residual) <= 1e-6 * result.residual);
        assert_true(result.bits & SINEW_STEP_NOT_CONVERGED);
    }
    sinew_world_destroy(world);
}

/* ---- Layers ------------------------------------------------------------------------------------- */

/* Contact alone supports the layers. */
static void layers_help_where_contact_holds(void **state)
{
    (void)state;
    enum {
        STEPS = 18
    };
    sinew_solver_def newton = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    const sinew_solver_def one = layered(8, 1), two = layered(8, 2);
    const sinew_solver_def *const defs[] = {&newton, &one, &two};
    double height[3];
    newton.iterations = 60;
    newton.measure = SINEW_MEASURE_RESIDUAL;
    newton.tolerance = (sinew_real)1e-4;
    for (int i = 0; i < 3; i++) {
        sinew_world *world = over_a_bar(13, defs[i], NULL, 1);
        take_steps(world, STEPS);
        height[i] = height_of(world);
        assert_int_equal(report_of(world).intersections, 0);
        sinew_world_destroy(world);
    }
    print_message("centre of mass after %d steps: newton %.4f m, 8 iterations on one layer %.4f, on two %.4f\n",
                  (int)STEPS, height[0], height[1], height[2]);
    assert_true(fabs(height[2] - height[0]) < 0.5 * fabs(height[1] - height[0]));
}

/* ---- States, threads, memory -------------------------------------------------------------------- */

static void states_go_on(void **state)
{
    (void)state;
    const sinew_solver_def solver = layered(8, 3);
    sinew_world *whole = over_a_bar(13, &solver, NULL, 1), *fresh = over_a_bar(13, &solver, NULL, 1);
    take_steps(whole, 12);
    assert_true(report_of(whole).contacts > 4);
    const size_t size = sinew_world_state_size(whole);
    char *bytes = make_array(size, 1);
    sinew_error error = {0};
    assert_int_equal(sinew_world_state_save(whole, bytes, size), SINEW_OK);
    sinew_world_state_load(fresh, bytes, size, &error);
    must(&error);
    for (int k = 0; k < 10; k++) {
        take_steps(whole, 1);
        take_steps(fresh, 1);
        assert_true(sinew_world_state_hash(whole) == sinew_world_state_hash(fresh));
    }
    free(bytes);
    sinew_world_destroy(whole);
    sinew_world_destroy(fresh);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    const sinew_solver_def solver = layered(2, 3);
    uint64_t first = 0;
    for (int threads = 1; threads <= 3; threads++) {
        sinew_world *world = over_a_bar(40, &solver, NULL, threads);
        take_steps(world, 5);
        assert_true(report_of(world).contacts > 10);
        const uint64_t hash = sinew_world_state_hash(world);
        first = threads == 1 ? hash : first;
        assert_true(hash == first);
        sinew_world_destroy(world);
    }
}

/* Once the cloth lies still, a step allocates nothing. A step with a failed allocation reports it, and the next step
 * succeeds. */
static void failing_allocations_are_reported(void **state)
{
    (void)state;
    const sinew_solver_def solver = layered(2, 3);
    failing_allocator memory = {0};
    const sinew_allocator hooks = hooks_of(&memory);
    for (bool done = false; !done;) {
        const int64_t next = memory.fail_at + 1;
        memory.fail_at = 0;
        sinew_world *world = over_a_bar(5, &solver, &hooks, 1);
        memory.calls = 0;
        memory.fail_at = next;
        for (int k = 0; k < 3; k++) {
            sinew_step_result result;
            const uint32_t bits = sinew_world_step(world, &result);
            if (bits & SINEW_STEP_UNPREPARED)
                assert_true(memory.calls >= next);
            assert_false(bits & SINEW_STEP_NOT_FINITE);
        }
        done = memory.calls < next;
        memory.fail_at = 0;
        take_steps(world, 1);
        memory.fail_at = next;
        sinew_world_destroy(world);
        assert_int_equal(memory.live, 0);
    }
}

static void warm_steps_ask_for_nothing(void **state)
{
    (void)state;
    const sinew_solver_def solver = layered(8, 3);
    failing_allocator memory = {0};
    const sinew_allocator hooks = hooks_of(&memory);
    sinew_world *world = level_cloth(13, 0, &solver, &hooks, 1);
    add_floor(world);
    take_steps(world, 60);
    memory.calls = 0;
    take_steps(world, 10);
    assert_true(report_of(world).contacts > 4);
    assert_int_equal(memory.calls, 0);
    sinew_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_floor_bears_the_cloth),       cmocka_unit_test(rows_are_of_the_worlds_objective),
        cmocka_unit_test(layers_help_where_contact_holds), cmocka_unit_test(states_go_on),
        cmocka_unit_test(threads_do_not_matter),           cmocka_unit_test(failing_allocations_are_reported),
        cmocka_unit_test(warm_steps_ask_for_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
