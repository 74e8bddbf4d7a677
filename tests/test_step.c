/* SPDX-License-Identifier: MIT
 *
 * test_step.c: the step of a world: pins and targets, forces and damping, stopping criteria, reported results; a failed
 * step leaves the state unchanged.
 */
#include "small_world.h"

/* ---- Pins and targets ------------------------------------------------------------------------ */

static void refuse_pins(sinew_world *world, const sinew_pin_def *def, sinew_status status, const char *words)
{
    sinew_error error = {0};
    assert_true(sinew_world_add_pins(world, def, &error).index < 0);
    refused(&error, status, words);
}

static void test_bad_pins(void **state)
{
    (void)state;
    scene s = make_scene(NULL);
    int32_t right[16], count = vertices_at(s.mesh, 0, 1, 1, right);
    const int32_t twice[3] = {right[0], right[1], right[0]}, outside[2] = {right[0], 12},
                  taken[2] = {right[0], s.held[1]};
    sinew_real targets[48] = {0};
    sinew_pin_def good = sinew_default_pin_def(), def = {0};
    good.body = s.body;
    good.vertices = right;
    good.vertex_count = count;
    refuse_pins(s.world, NULL, SINEW_ERROR_USAGE, "def");
    refuse_pins(s.world, &def, SINEW_ERROR_USAGE, "sinew_default_pin_def");
    def = good, def.vertex_count = 0;
    refuse_pins(s.world, &def, SINEW_ERROR_DATA, "empty");
    def = good, def.vertices = NULL;
    refuse_pins(s.world, &def, SINEW_ERROR_DATA, "empty");
    def = good, def.body.index = 1;
    refuse_pins(s.world, &def, SINEW_ERROR_USAGE, "body 1");
    def = good, def.vertices = outside, def.vertex_count = 2;
    refuse_pins(s.world, &def, SINEW_ERROR_DATA, "12");
    def = good, def.vertices = twice, def.vertex_count = 3;
    refuse_pins(s.world, &def, SINEW_ERROR_DATA, "pinned already");
    def = good, def.vertices = taken, def.vertex_count = 2;
    refuse_pins(s.world, &def, SINEW_ERROR_DATA, "pinned already");
    targets[4] = (sinew_real)NAN;
    def = good, def.targets = targets;
    refuse_pins(s.world, &def, SINEW_ERROR_DATA, "target 1");
    assert_int_equal(sinew_pin_set_targets(s.world, s.pin, targets, NULL), SINEW_ERROR_DATA);
    assert_int_equal(sinew_pin_set_targets(s.world, s.pin, NULL, NULL), SINEW_ERROR_USAGE);
    assert_true(hash_after(s.world, 3) == plain_hash(3)); /* the refused calls left no pin */
    free_scene(&s);
}

/* After every step pinned particles are at their targets to the last bit, and their velocity is that of their motion.
 */
static void test_moving_pins(void **state)
{
    (void)state;
    scene s = make_scene(NULL);
    sinew_real targets[48], q[3], v[3];
    for (int step = 1; step <= 5; step++) {
        for (int32_t i = 0; i < s.held_count; i++) {
            const sinew_real *X = sinew_mesh_positions(s.mesh) + 3 * s.held[i];
            for (int c = 0; c < 3; c++)
                targets[3 * i + c] = X[c] + (sinew_real)(0.013 * step * (c + 1));
        }
        assert_int_equal(sinew_pin_set_targets(s.world, s.pin, targets, NULL), SINEW_OK);
        hash_after(s.world, 1);
        for (int32_t i = 0; i < s.held_count; i++) {
            sinew_world_get_positions(s.world, s.held[i], 1, q);
            sinew_world_get_velocities(s.world, s.held[i], 1, v);
            assert_memory_equal(q, targets + 3 * i, sizeof q);
            for (int c = 0; c < 3; c++)
                assert_true(fabs((double)v[c] - 0.013 * (c + 1) * 60) < 1e5 * CLOSE * 1e-3);
        }
    }
    free_scene(&s);
}

/* x(t) = pivot + R(t) (X - pivot) + T(t): a quarter turn about z and a metre along z in the second second. */
static void test_key_frames(void **state)
{
    (void)state;
    const double h = 0.125, turn = MAKE_PI / 2;
    sinew_world_def world_def = sinew_default_world_def();
    world_def.time_step = (sinew_real)h;
    sinew_world *world = make_world(&world_def);
    sinew_mesh *rope = make_rope(2, (double[]){1, 2, 0}, (double[]){3, 2, 0});
    sinew_body body = add_mesh(world, rope, 1, NULL, NULL);
    const sinew_key keys[2] = {{.time = 1},
                               {.time = 2, .translation = {0, 0, 1}, .rotation = {0, 0, (sinew_real)turn}}};
    const sinew_motion motion = {.key_count = 2, .keys = keys, .pivot = {1, 1, 0}};
    sinew_error error = {0};
    sinew_pin_def def = sinew_default_pin_def();
    def.body = body;
    def.vertices = (const int32_t[]){0, 1};
    def.vertex_count = 2;
    def.motion = &motion;
    sinew_world_add_pins(world, &def, &error);
    must(&error);
    for (int step = 1; step <= 20; step++) {
        sinew_real q[6];
        hash_after(world, 1);
        sinew_world_get_positions(world, 0, 2, q);
        const double s = fmin(fmax(step * h - 1, 0), 1), c = cos(s * turn), d = sin(s * turn);
        const double expected[6] = {1 - d, 1 + c, s, 1 + 2 * c - d, 1 + 2 * d + c, s};
        for (int i = 0; i < 6; i++)
            assert_true(fabs((double)q[i] - expected[i]) < CLOSE);
    }
    sinew_mesh_destroy(rope);
    sinew_world_destroy(world);
}

/* A mass on a zero-length spring to a target: quasistatic, it hangs m g / k below the target and follows it. */
static void test_moving_targets(void **state)
{
    (void)state;
    sinew_world_def world_def = sinew_default_world_def();
    world_def.quasistatic = true;
    world_def.time_step = 1;
    sinew_world *world = make_world(&world_def);
    sinew_mesh *rope = make_rope(2, (double[]){0, 0, 0}, (double[]){1, 0, 0});
    sinew_body body = add_mesh(world, rope, 2, NULL, NULL); /* 1 kg at each end */
    const sinew_key keys[2] = {{.time = 0}, {.time = 10, .translation = {10, 0, 0}}};
    const sinew_motion motion = {.key_count = 2, .keys = keys};
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_POSITION);
    def.body = body;
    def.parameters[0] = 100;
    def.motion = &motion;
    sinew_energy energy = add_energy(world, &def);
    sinew_real q[6];
    for (int step = 1; step <= 3; step++) {
        hash_after(world, 1);
        sinew_world_get_positions(world, 0, 2, q);
        for (int i = 0; i < 2; i++) {
            assert_true(fabs((double)q[3 * i] - (step + i)) < CLOSE);
            assert_true(fabs((double)q[3 * i + 1] + 9.81 / 100) < CLOSE);
        }
    }
    const sinew_real targets[6] = {7, 7, 7, 8, 8, 8};
    assert_int_equal(sinew_energy_set_targets(world, energy, targets, NULL), SINEW_OK);
    hash_after(world, 2);
    sinew_world_get_positions(world, 0, 2, q);
    assert_true(fabs((double)q[0] - 7) < CLOSE && fabs((double)q[5] - 8) < CLOSE);
    sinew_mesh_destroy(rope);
    sinew_world_destroy(world);
}

/* ---- Forces ---------------------------------------------------------------------------------- */

/* One free particle of 2 kg: v' = exp(-d h) v + h f / m, q' = q + h v'. */
static void test_forces_and_damping(void **state)
{
    (void)state;
    const double h = 0.1, d = 3;
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)h;
    def.damping = (sinew_real)d;
    sinew_world *world = make_world(&def);
    sinew_mesh *rope = make_rope(2, (double[]){0, 0, 0}, (double[]){1, 0, 0});
    const sinew_real masses[2] = {2, 2}, velocities[6] = {1, 2, 3, 1, 2, 3}, f[3] = {4, 5, -6};
    sinew_body_def body = sinew_default_body_def();
    body.mesh = rope;
    body.masses = masses;
    body.velocities = velocities;
    add_body(world, &body);
    assert_int_equal(sinew_world_set_forces(world, 1, 1, f), SINEW_OK);
    sinew_real q[6], v[6];
    assert_int_equal(sinew_world_step(world, NULL), 0);
    sinew_world_get_positions(world, 0, 2, q);
    sinew_world_get_velocities(world, 0, 2, v);
    for (int i = 0; i < 6; i++) {
        const double push = (i < 3 ? 0 : (double)f[i % 3] / 2) + (i % 3 == 1 ? -9.81 : 0);
        const double expected = exp(-d * h) * (double)velocities[i] + h * push;
        assert_true(fabs((double)v[i] - expected) < 100 * CLOSE);
        assert_true(fabs((double)q[i] - (i == 3) - h * expected) < CLOSE);
    }
    /* Momenta and energies of the state, computed here. */
    sinew_measures measures;
    assert_int_equal(sinew_world_measure(world, &measures), SINEW_OK);
    double kinetic = 0, potential = 0;
    for (int i = 0; i < 6; i++) {
        kinetic += (double)v[i] * (double)v[i];
        potential -= ((i < 3 ? 0 : (double)f[i % 3]) + (i % 3 == 1 ? -2 * 9.81 : 0)) * (double)q[i];
    }
    assert_true(fabs(measures.kinetic - kinetic) < 10 * CLOSE * kinetic);
    assert_true(fabs(measures.potential - potential) < 100 * CLOSE);
    assert_true(fabs(measures.mass - 4) < CLOSE);
    assert_true(measures.elastic == 0 && measures.det_min == 1 && measures.inverted_count == 0);
    for (int c = 0; c < 3; c++)
        assert_true(fabs(measures.linear_momentum[c] - 2 * ((double)v[c] + (double)v[3 + c])) < 100 * CLOSE);
    sinew_mesh_destroy(rope);
    sinew_world_destroy(world);
}

/* ---- Equilibria ------------------------------------------------------------------------------ */

static void test_quasistatic_must_be_held(void **state)
{
    (void)state;
    sinew_world_def def = sinew_default_world_def();
    def.quasistatic = true;
    scene s = make_scene(&def);
    sinew_error error = {0};
    assert_int_equal(sinew_world_prepare(s.world, &error), SINEW_OK);
    sinew_mesh *rope = make_rope(3, (double[]){5, 0, 0}, (double[]){6, 0, 0});
    sinew_body second = add_mesh(s.world, rope, 1, NULL, NULL);
    add_springs(s.world, second, 100);
    assert_int_equal(sinew_world_prepare(s.world, &error), SINEW_ERROR_DATA);
    refused(&error, SINEW_ERROR_DATA, "particle 12"); /* the first particle of the second body */
    const uint64_t before = sinew_world_state_hash(s.world);
    sinew_step_result result;
    assert_int_equal(sinew_world_step(s.world, &result), SINEW_STEP_UNPREPARED);
    assert_int_equal(result.bits, SINEW_STEP_UNPREPARED);
    assert_non_null(strstr(sinew_world_error(s.world), "held by nothing"));
    assert_true(sinew_world_state_hash(s.world) == before);
    add_pins(s.world, second, (const int32_t[]){1}, 1, NULL);
    assert_int_equal(sinew_world_step(s.world, &result) & SINEW_STEP_UNPREPARED, 0);
    assert_string_equal(sinew_world_error(s.world), "");
    sinew_mesh_destroy(rope);
    free_scene(&s);
}

/* A step without unknowns counts as solved. */
static void test_empty_and_all_pinned(void **state)
{
    (void)state;
    for (int linear = 0; linear < 2; linear++)
        for (int quasistatic = 0; quasistatic < 2; quasistatic++) {
            sinew_world_def def = sinew_default_world_def();
            def.quasistatic = quasistatic;
            def.solver.parameters[0] = (sinew_real)linear;
            sinew_world *world = make_world(&def);
            sinew_step_result result;
            assert_int_equal(sinew_world_step(world, &result), 0);
            assert_int_equal(sinew_world_step_count(world), 1);
            sinew_world_destroy(world);

            scene s = make_scene(&def);
            int32_t rest[16], count = vertices_at(s.mesh, 0, 0, 1, rest);
            add_pins(s.world, s.body, rest, count, NULL);
            assert_int_equal(sinew_world_step(s.world, &result), 0);
            assert_true(result.residual == 0);
            free_scene(&s);
        }
}

/* ---- Solver and time step -------------------------------------------------------------------- */

static void test_set_solver_and_time_step(void **state)
{
    (void)state;
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.time_step = (sinew_real)0.005;
    def.solver.parameters[0] = 1;
    scene made = make_scene(&def), changed = make_scene(NULL);
    sinew_error error = {0};
    sinew_solver_def solver = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    solver.parameters[sinew_solver_parameter(SINEW_SOLVER_NEWTON, "linear")] = 1;
    assert_int_equal(sinew_world_prepare(changed.world, &error), SINEW_OK);
    assert_int_equal(sinew_world_set_time_step(changed.world, (sinew_real)0.005, &error), SINEW_OK);
    assert_int_equal(sinew_world_set_solver(changed.world, &solver, &error), SINEW_OK);
    solver.iterations = -1;
    assert_int_equal(sinew_world_set_solver(changed.world, &solver, &error), SINEW_ERROR_DATA);
    assert_true(hash_after(changed.world, 4) == hash_after(made.world, 4));
    assert_true(fabs((double)sinew_world_time(made.world) - 0.02) < 1e-8);
    free_scene(&made);
    free_scene(&changed);
}

static sinew_step_result run_once(sinew_solver_def solver, uint64_t *hash)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.solver = solver;
    def.time_step = (sinew_real)0.3; /* long enough to need several iterations */
    scene s = make_scene(&def);
    sinew_step_result result;
    const uint32_t bits = sinew_world_step(s.world, &result);
    assert_int_equal(bits, result.bits);
    *hash = sinew_world_state_hash(s.world);
    free_scene(&s);
    return result;
}

static void test_stops(void **state)
{
    (void)state;
    uint64_t hash, other;
    sinew_solver_def solver = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    const sinew_step_result full = run_once(solver, &hash);
    assert_int_equal(full.bits & SINEW_STEP_NOT_CONVERGED, 0);
    assert_true(full.iterations >= 3 && full.relative_residual <= (double)solver.tolerance);

    solver.iterations = 2;
    sinew_step_result cut = run_once(solver, &other);
    assert_int_equal(cut.iterations, 2);
    assert_true(cut.bits & SINEW_STEP_NOT_CONVERGED);
    assert_true(cut.relative_residual > full.relative_residual);

    solver.tolerance = 0; /* runs all iterations; the default tolerance decides whether the step counts as solved */
    sinew_step_result all = run_once(solver, &hash);
    assert_int_equal(all.iterations, 2);
    assert_true(all.bits & SINEW_STEP_NOT_CONVERGED);
    assert_true(hash == other);

    solver.iterations = 0;
    all = run_once(solver, &hash);
    assert_int_equal(all.iterations, 0);
    assert_true(fabs(all.relative_residual - 1) < 1e-12);

    solver = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    solver.time_budget = 1e-9;
    cut = run_once(solver, &hash);
    assert_int_equal(cut.iterations, 1);
    /* The position error is not measured either, so whether the step is solved is unknown. */
    assert_true(cut.bits & SINEW_STEP_UNMEASURED && cut.bits & SINEW_STEP_OVER_BUDGET);
    assert_true(cut.relative_residual > full.relative_residual);
    assert_string_equal(cut.budget_left_out, "iterations and measurements");
}

static void test_records(void **state)
{
    (void)state;
    sinew_world_def def = sinew_default_world_def();
    def.solver.record = SINEW_RECORD_ITERATIONS;
    def.time_step = (sinew_real)0.3;
    scene s = make_scene(&def);
    sinew_real *q = positions_of(s.world);
    double value;
    assert_int_equal(sinew_world_objective(s.world, q, &value, NULL), SINEW_OK);
    sinew_step_result result;
    sinew_world_step(s.world, &result);
    int32_t count;
    const sinew_iteration *records = sinew_world_iterations(s.world, &count);
    assert_int_equal(count, result.iterations + 1);
    assert_true(fabs(records[0].objective - value) <= CLOSE * fabs(value)); /* pins do not move: the start is q_n */
    for (int32_t i = 0; i < count; i++) {
        assert_int_equal(records[i].iteration, i);
        assert_true(fabs(records[i].inertia + records[i].elastic - records[i].objective) <=
                    CLOSE * fabs(records[i].objective));
        assert_true(i == 0 || records[i].objective <= records[i - 1].objective + 1e-6 * fabs(records[i].objective));
        assert_true(i == 0 || records[i].seconds >= records[i - 1].seconds);
    }
    assert_true(records[count - 1].residual == result.residual);
    assert_true(records[count - 1].objective == result.objective);
    sinew_measures measures;
    sinew_world_measure(s.world, &measures);
    for (int c = 0; c < 3; c++)
        assert_true(fabs(records[count - 1].linear_momentum[c] - measures.linear_momentum[c]) < 1e4 * CLOSE);
    free(q);
    free_scene(&s);
}

/* ---- Failure --------------------------------------------------------------------------------- */

/* Full steps without a line search invert tets of a stiff log material, where its energy is infinite. */
static void test_not_finite_keeps_the_state(void **state)
{
    (void)state;
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    const int32_t line_search = sinew_solver_parameter(SINEW_SOLVER_NEWTON, "line_search");
    def.quasistatic = true;
    def.solver.parameters[line_search] = 1;
    scene s = make_scene(&def);
    sinew_world_remove_energy(s.world, s.energy, NULL);
    add_material(s.world, s.body, SINEW_ENERGY_NEO_HOOKEAN_LOG, 1e4, 0.4);
    int32_t right[16], count = vertices_at(s.mesh, 0, 1, 1, right);
    const sinew_real f[3] = {-4000, 0, 0};
    for (int32_t i = 0; i < count; i++)
        sinew_world_set_forces(s.world, right[i], 1, f);
    const uint64_t before = sinew_world_state_hash(s.world);
    sinew_step_result result;
    assert_true(sinew_world_step(s.world, &result) & SINEW_STEP_NOT_FINITE);
    assert_true(sinew_world_state_hash(s.world) == before);
    assert_int_equal(sinew_world_step_count(s.world), 0);
    assert_true(sinew_world_time(s.world) == 0);
    /* With its line search Newton converges from the same state. */
    def.solver.parameters[line_search] = 0;
    assert_int_equal(sinew_world_set_solver(s.world, &def.solver, &error), SINEW_OK);
    assert_int_equal(sinew_world_step(s.world, &result) & (SINEW_STEP_NOT_FINITE | SINEW_STEP_NOT_CONVERGED), 0);
    assert_int_equal(sinew_world_step_count(s.world), 1);
    free_scene(&s);
}

static void test_bit_names(void **state)
{
    (void)state;
    assert_string_equal(sinew_step_bit_name(SINEW_STEP_NOT_CONVERGED), "not_converged");
    assert_string_equal(sinew_step_bit_name(SINEW_STEP_NOT_FINITE), "not_finite");
    assert_string_equal(sinew_step_bit_name(SINEW_STEP_INVERTED), "inverted");
    assert_string_equal(sinew_step_bit_name(SINEW_STEP_INDEFINITE), "indefinite");
    assert_string_equal(sinew_step_bit_name(SINEW_STEP_STALLED), "stalled");
    assert_string_equal(sinew_step_bit_name(SINEW_STEP_UNPREPARED), "unprepared");
    assert_string_equal(sinew_step_bit_name(0), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_pins),
        cmocka_unit_test(test_moving_pins),
        cmocka_unit_test(test_key_frames),
        cmocka_unit_test(test_moving_targets),
        cmocka_unit_test(test_forces_and_damping),
        cmocka_unit_test(test_quasistatic_must_be_held),
        cmocka_unit_test(test_empty_and_all_pinned),
        cmocka_unit_test(test_set_solver_and_time_step),
        cmocka_unit_test(test_stops),
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_not_finite_keeps_the_state),
        cmocka_unit_test(test_bit_names),
    };
    return cmocka_run_group_tests(tests, install_hook, remove_hook);
}
