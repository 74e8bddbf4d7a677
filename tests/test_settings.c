/* SPDX-License-Identifier: MIT
 *
 * test_settings.c: settings and queries of a running world, and defs that are set by parameter names.
 */
#include "failing_allocator.h"
#include "small_world.h"

/* ---- Settings ---------------------------------------------------------------------------------- */

static sinew_world_def def_with(int kind)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.solver = sinew_default_solver_def((sinew_solver_kind)kind);
    def.quasistatic = sinew_get_solver_info(def.solver.kind)->static_only;
    return def;
}

/* After a change of gravity and damping a prepared world has the bits of a world built that way. A change of h may
 * change the factor, so positions are compared. */
static void check_changed(int kind, bool step_too)
{
    const sinew_real gravity[3] = {1, 2, -3};
    sinew_error error = {0};
    sinew_world_def def = def_with(kind);
    scene a = make_scene(&def);
    memcpy(def.gravity, gravity, sizeof gravity);
    def.damping = (sinew_real)1.5;
    def.time_step = step_too ? (sinew_real)0.004 : def.time_step;
    scene b = make_scene(&def);
    sinew_world_prepare(a.world, &error);
    must(&error);
    sinew_world_set_gravity(a.world, gravity, &error);
    sinew_world_set_damping(a.world, (sinew_real)1.5, &error);
    sinew_world_set_time_step(a.world, def.time_step, &error);
    must(&error);
    for (int i = 0; i < 3; i++) {
        sinew_world_step(a.world, NULL);
        sinew_world_step(b.world, NULL);
    }
    sinew_real *x = positions_of(a.world), *y = positions_of(b.world);
    double max = 0;
    for (int32_t i = 0; i < 3 * sinew_world_particle_count(a.world); i++)
        max = fmax(max, fabs((double)x[i] - (double)y[i]));
    if (step_too ? !(max <= (sizeof(sinew_real) == 4 ? 1e-4 : 1e-8))
                 : sinew_world_state_hash(a.world) != sinew_world_state_hash(b.world))
        fail_msg("%s: a changed world steps otherwise, by %g m", sinew_get_solver_info(def.solver.kind)->name, max);
    free(x);
    free(y);
    free_scene(&a);
    free_scene(&b);
}

static void a_changed_world_is_one_that_was_made_so(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < SINEW_SOLVER_COUNT; kind++)
        for (int step_too = 0; step_too < 2; step_too++)
            if (sinew_solver_accepts((sinew_solver_kind)kind, SINEW_ENERGY_NEO_HOOKEAN, NULL, 0))
                check_changed(kind, step_too);
}

static void what_is_set_can_be_read(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    sinew_world_def def = def_with(SINEW_SOLVER_QN);
    def.load_steps = 4;
    def.quasistatic = true;
    def.solver.iterations = 17;
    scene s = make_scene(&def);
    const sinew_real gravity[3] = {3, 4, 5}, force[6] = {1, 2, 3, 4, 5, 6};
    sinew_real found[3], forces[6];
    sinew_world_set_gravity(s.world, gravity, &error);
    sinew_world_set_damping(s.world, 2, &error);
    must(&error);
    assert_int_equal(sinew_world_get_gravity(s.world, found), SINEW_OK);
    assert_memory_equal(found, gravity, sizeof gravity);
    assert_true(sinew_world_damping(s.world) == 2);
    assert_true(sinew_world_time_step(s.world) == def.time_step);
    assert_true(sinew_world_quasistatic(s.world));
    assert_int_equal(sinew_world_load_steps(s.world), 4);
    assert_int_equal(sinew_world_solver(s.world).iterations, 17);
    assert_int_equal(sinew_world_set_forces(s.world, 3, 2, force), SINEW_OK);
    assert_int_equal(sinew_world_get_forces(s.world, 3, 2, forces), SINEW_OK);
    assert_memory_equal(forces, force, sizeof force);
    free_scene(&s);
}

static void wrong_settings_change_nothing(void **unused)
{
    (void)unused;
    sinew_error error;
    scene s = make_scene(NULL);
    const sinew_real wrong[3] = {0, (sinew_real)NAN, 0};
    sinew_real found[3];
    assertions = 0;
    sinew_world_set_gravity(s.world, wrong, &error);
    refused(&error, SINEW_ERROR_DATA, "gravity is 0 nan 0 m/s2, must be finite");
    sinew_world_set_damping(s.world, -1, &error);
    refused(&error, SINEW_ERROR_DATA, "damping is -1 1/s");
    sinew_world_set_gravity(s.world, NULL, &error);
    refused(&error, SINEW_ERROR_USAGE, "sinew_world_set_gravity");
    assert_int_equal(sinew_world_get_forces(s.world, -1, 1, found), SINEW_ERROR_USAGE);
    assert_int_equal(sinew_world_get_gravity(NULL, found), SINEW_ERROR_USAGE);
    assert_int_equal(assertions, 3);
    const uint64_t hash = hash_after(s.world, 3);
    assert_true(hash == plain_hash(3));
    free_scene(&s);
}

/* ---- View -------------------------------------------------------------------------------------- */

static void the_view_shows_the_positions(void **unused)
{
    (void)unused;
    scene s = make_scene(NULL);
    sinew_error error = {0};
    add_mesh(s.world, s.mesh, 500, NULL, NULL);
    const sinew_body last = add_mesh(s.world, s.mesh, 500, NULL, NULL);
    sinew_world_remove_body(s.world, sinew_world_body_at(s.world, 1), &error);
    must(&error);
    assert_true(sinew_body_first_particle(s.world, last) > 0);
    for (int step = 0; step < 3; step++) {
        const sinew_positions_view view = sinew_world_positions_view(s.world);
        sinew_real *q = positions_of(s.world);
        int32_t seen = 0;
        assert_int_equal(view.particle_count, sinew_world_particle_count(s.world));
        for (int32_t i = 0; i < 3 * view.particle_count; i++) {
            const int32_t at = view.inside[i / 3];
            assert_true(q[i] == (at < 0 ? 0 : view.q[view.stride * at + i % 3]));
            seen += at >= 0;
        }
        assert_int_equal(seen, 3 * 2 * sinew_mesh_vertex_count(s.mesh));
        free(q);
        sinew_world_step(s.world, NULL);
    }
    free_scene(&s);
}

/* ---- Names ------------------------------------------------------------------------------------- */

static void energies_by_name(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++) {
        const sinew_energy_info *info = sinew_get_energy_info((sinew_energy_kind)kind);
        sinew_energy_def def = sinew_default_energy_def((sinew_energy_kind)kind);
        for (int32_t p = 0; p < info->parameter_count; p++) {
            const sinew_parameter *parameter = &info->parameters[p];
            const double value = isfinite(parameter->maximum) ? (parameter->minimum + parameter->maximum) / 2 : 12345;
            if (parameter->choices)
                continue;
            sinew_energy_def_set(&def, parameter->name, value, &error);
            must(&error);
            assert_true(def.parameters[p] == (sinew_real)value);
            sinew_energy_def_set(&def, parameter->name, NAN, &error);
            refused(&error, SINEW_ERROR_DATA, parameter->name);
            assert_true(def.parameters[p] == (sinew_real)value);
        }
    }
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_NEO_HOOKEAN);
    sinew_energy_def_set(&def, "yuong", 1, &error);
    refused(&error, SINEW_ERROR_DATA, "neo_hookean has no parameter \"yuong\"; did you mean \"young\"?");
    sinew_energy_def_set(&def, "poisson", 0.6, &error);
    refused(&error, SINEW_ERROR_DATA, "neo_hookean: poisson is 0.6, must be in");
    sinew_energy_def_set(&def, "colour", 1, &error);
    refused(&error, SINEW_ERROR_DATA, "see sinew info energies");
    sinew_energy_def_set_keyword(&def, "young", "soft", &error);
    refused(&error, SINEW_ERROR_DATA, "young is a number in Pa, not the word \"soft\"");
    const sinew_energy_def untouched = sinew_default_energy_def(SINEW_ENERGY_NEO_HOOKEAN);
    assert_memory_equal(def.parameters, untouched.parameters, sizeof def.parameters);
    assertions = 0;
    def.cookie = 0;
    sinew_energy_def_set(&def, "young", 1, &error);
    refused(&error, SINEW_ERROR_USAGE, "sinew_default_energy_def()");
    assert_int_equal(assertions, 1);
}

static void solvers_by_name(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    sinew_solver_def def = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    const int32_t linear = sinew_solver_parameter(SINEW_SOLVER_NEWTON, "linear");
    sinew_solver_def_set_keyword(&def, "linear", "cg", &error);
    must(&error);
    const double cg = (double)def.parameters[linear];
    sinew_solver_def_set(&def, "linear", 0, &error);
    must(&error);
    assert_true(cg > 0 && def.parameters[linear] == 0);
    sinew_solver_def_set(&def, "iterations", 12, &error);
    sinew_solver_def_set(&def, "tolerance", 0.5, &error);
    sinew_solver_def_set(&def, "time_budget", 0.25, &error);
    sinew_solver_def_set(&def, "gap_every", 3, &error);
    sinew_solver_def_set_keyword(&def, "measure", "residual", &error);
    sinew_solver_def_set_keyword(&def, "record", "iterations", &error);
    must(&error);
    assert_true(def.iterations == 12 && def.tolerance == (sinew_real)0.5 && def.time_budget == 0.25);
    assert_true(def.gap_every == 3 && def.measure == SINEW_MEASURE_RESIDUAL && def.record == SINEW_RECORD_ITERATIONS);
    const sinew_solver_def kept = def;
    static const struct {
        const char *name;
        double value;
        const char *words;
    } wrong[] = {{"iterations", 1.5, "must be a whole number"},
                 {"iterations", -1, "iterations is -1"},
                 {"iterations", 2e9, "must be in [0, 1000000000]"},
                 {"tolerance", -1, "tolerance is -1"},
                 {"gap_every", 0, "gap_every is 0"},
                 {"itrations", 5, "did you mean \"iterations\"?"},
                 {"linear", 99, "linear is 99"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(sinew_solver_def_set(&def, wrong[i].name, wrong[i].value, &error), SINEW_ERROR_DATA);
        refused(&error, SINEW_ERROR_DATA, wrong[i].words);
    }
    sinew_solver_def_set_keyword(&def, "linear", "gauss", &error);
    refused(&error, SINEW_ERROR_DATA, "linear is \"gauss\", must be one of");
    assert_memory_equal(&def, &kept, sizeof def);
    assert_int_equal(sinew_solver_def_set(&def, "linear", 99, NULL), SINEW_ERROR_DATA);
}

/* ---- Bodies ------------------------------------------------------------------------------------ */

static void bodies_by_name(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    char name[] = "arm";
    scene s = make_scene(NULL);
    sinew_body_def def = sinew_default_body_def();
    def.mesh = s.mesh;
    def.name = name;
    const sinew_body arm = add_body(s.world, &def);
    name[0] = 'x'; /* the world keeps its own copy */
    assert_string_equal(sinew_body_name(s.world, arm), "arm");
    assert_string_equal(sinew_body_name(s.world, s.body), "");
    assert_int_equal(sinew_world_body_by_name(s.world, "arm").index, arm.index);
    assert_int_equal(sinew_world_body_by_name(s.world, "leg").index, -1);
    def.name = "arm";
    assert_int_equal(sinew_world_add_body(s.world, &def, &error).index, -1);
    refused(&error, SINEW_ERROR_DATA, "the name \"arm\" is another body's");
    def.name = "";
    assert_int_equal(sinew_world_add_body(s.world, &def, &error).index, -1);
    refused(&error, SINEW_ERROR_DATA, "empty");
    sinew_world_remove_body(s.world, arm, &error);
    must(&error);
    assert_int_equal(sinew_world_body_by_name(s.world, "arm").index, -1);
    def.name = "arm";
    const sinew_body again = add_body(s.world, &def);
    assert_int_equal(sinew_world_body_by_name(s.world, "arm").generation, again.generation);
    assert_string_equal(sinew_body_name(s.world, arm), ""); /* the id of the removed body stays invalid */
    free_scene(&s);
}

static void a_name_without_memory(void **unused)
{
    (void)unused;
    failing_allocator memory = {0};
    sinew_world_def world_def = sinew_default_world_def();
    world_def.allocator = hooks_of(&memory);
    sinew_world *world = make_world(&world_def);
    sinew_mesh *mesh = make_beam(1, 1, 1, 1, 1, 1);
    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    def.name = "arm";
    sinew_error error;
    for (memory.fail_at = 1;; memory.fail_at++) {
        memory.calls = 0;
        if (sinew_world_add_body(world, &def, &error).index >= 0)
            break;
        assert_int_equal(error.status, SINEW_ERROR_MEMORY);
        assert_int_equal(sinew_world_body_by_name(world, "arm").index, -1);
    }
    assert_true(memory.fail_at > 5);
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
    assert_int_equal(memory.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_changed_world_is_one_that_was_made_so),
        cmocka_unit_test(what_is_set_can_be_read),
        cmocka_unit_test_setup_teardown(wrong_settings_change_nothing, install_hook, remove_hook),
        cmocka_unit_test(the_view_shows_the_positions),
        cmocka_unit_test_setup_teardown(energies_by_name, install_hook, remove_hook),
        cmocka_unit_test(solvers_by_name),
        cmocka_unit_test(bodies_by_name),
        cmocka_unit_test(a_name_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
