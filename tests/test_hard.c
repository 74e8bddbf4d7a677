/* SPDX-License-Identifier: MIT
 *
 * test_hard.c: hard and compliant constraints in one world, and PBD's stiffness per energy.
 *
 * Two ropes of equal springs hang side by side; the springs of one are hard. At rest the soft rope has the length of
 * statics, each spring stretched by the weight below it, and the hard rope has its rest length.
 */
#include "make_world.h"

#include "sinew/scene.h"
#include "small_world.h"

enum {
    VERTICES = 6,
    STEPS = 300
};

static const double stiffness = 400, density = 2 /* kg/m */, top[3] = {0, 0, 0}, bottom[3] = {0, -1, 0};

static sinew_body hang_rope(sinew_world *world, bool hard, double pbd_stiffness)
{
    sinew_mesh *mesh = make_rope(VERTICES, top, bottom);
    const sinew_body body = add_mesh(world, mesh, density, NULL, NULL);
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    def.body = body;
    def.parameters[0] = (sinew_real)stiffness;
    def.hard = hard;
    def.pbd_stiffness = (sinew_real)pbd_stiffness;
    add_energy(world, &def);
    add_pins(world, body, &(int32_t){0}, 1, NULL);
    sinew_mesh_destroy(mesh);
    return body;
}

static sinew_world *hang_two(sinew_solver_kind solver, int order)
{
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)0.02;
    def.damping = 4;
    def.thread_count = 1;
    def.solver = sinew_default_solver_def(solver);
    def.solver.iterations = order == 2 ? 1500 : 300;
    def.solver.tolerance = 0;
    def.solver.measure = SINEW_MEASURE_NOTHING;
    def.solver.parameters[sinew_solver_parameter(solver, "order")] = (sinew_real)order;
    sinew_world *world = make_world(&def);
    hang_rope(world, false, 0);
    hang_rope(world, true, 0);
    return world;
}

/* The spring of the soft rope between vertices i and i + 1 carries the weight below it. */
static void check_lengths(const sinew_world *world)
{
    sinew_real *q = positions_of(world);
    const double gravity = 9.81, piece = 1.0 / (VERTICES - 1), close = sizeof(sinew_real) == 4 ? 2e-5 : 1e-8;
    for (int i = 0; i + 1 < VERTICES; i++) {
        const double below = density * piece * (VERTICES - 2 - i + 0.5) * gravity;
        const double soft = (double)(q[3 * i + 1] - q[3 * (i + 1) + 1]);
        const double hard = (double)(q[3 * (VERTICES + i) + 1] - q[3 * (VERTICES + i + 1) + 1]);
        assert_true(below / stiffness > 100 * close);
        if (fabs(soft - piece - below / stiffness) > close || fabs(hard - piece) > close)
            fail_msg("spring %d: soft %.9g and not %.9g, hard %.9g and not %.9g", i, soft, piece + below / stiffness,
                     hard, piece);
    }
    free(q);
}

static void a_hard_rope_keeps_its_length(void **unused)
{
    (void)unused;
    for (int order = 0; order < 3; order++) { /* orders: coloured, mesh, Jacobi */
        sinew_world *world = hang_two(SINEW_SOLVER_XPBD, order);
        for (int step = 0; step < STEPS; step++)
            sinew_world_step(world, NULL);
        check_lengths(world);
        sinew_world_destroy(world);
    }
}

/* ---- Refusals ------------------------------------------------------------------------------------ */

static void minimisers_refuse_by_name(void **unused)
{
    (void)unused;
    for (int solver = 0; solver < SINEW_SOLVER_COUNT; solver++) {
        const sinew_solver_info *info = sinew_get_solver_info((sinew_solver_kind)solver);
        const bool rows =
            solver == SINEW_SOLVER_DAE || sinew_solver_parameter((sinew_solver_kind)solver, "constraints") >= 0;
        const bool takes = (info->needs & SINEW_CAN_CONSTRAINT) != 0 || solver == SINEW_SOLVER_ADMM || rows;
        sinew_world_def def = sinew_default_world_def();
        sinew_error error = {0};
        def.solver = sinew_default_solver_def((sinew_solver_kind)solver);
        def.quasistatic = info->static_only;
        sinew_world *world = make_world(&def);
        sinew_mesh *mesh = make_rope(VERTICES, top, bottom);
        sinew_energy_def energy = sinew_default_energy_def(SINEW_ENERGY_SPRING);
        energy.body = add_mesh(world, mesh, density, NULL, NULL);
        energy.hard = true;
        const sinew_energy added = sinew_world_add_energy(world, &energy, &error);
        if (takes)
            assert_true(added.index >= 0);
        else
            refused(&error, SINEW_ERROR_UNSUPPORTED, "cannot keep spring hard");
        if (!takes)
            assert_memory_equal(error.text, info->name, strlen(info->name));
        sinew_mesh_destroy(mesh);
        sinew_world_destroy(world);
    }
}

/* A world with hard energies cannot change its solver from xpbd to newton. */
static void a_change_of_solver_is_refused(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    sinew_world *world = hang_two(SINEW_SOLVER_XPBD, 0);
    const sinew_solver_def newton = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    if (sinew_world_set_solver(world, &newton, &error) == SINEW_OK)
        sinew_world_prepare(world, &error);
    refused(&error, SINEW_ERROR_UNSUPPORTED, "newton cannot keep spring hard");
    sinew_world_destroy(world);
}

/* Without its hard energy a world may change to a minimiser, which measures g as if the energy had never been there. */
static void hard_energies_are_forgotten(void **unused)
{
    (void)unused;
    double gap[2];
    uint64_t hash[2];
    for (int lost = 0; lost < 2; lost++) {
        sinew_error error = {0};
        sinew_world_def def = sinew_default_world_def();
        def.thread_count = 1;
        def.solver = sinew_default_solver_def(lost ? SINEW_SOLVER_PRIMAL_DUAL : SINEW_SOLVER_NEWTON);
        sinew_world *world = make_world(&def);
        const sinew_body rope = hang_rope(world, false, 0);
        if (lost) {
            sinew_energy_def more = sinew_default_energy_def(SINEW_ENERGY_SPRING);
            more.body = rope;
            more.hard = true;
            const sinew_energy hard = add_energy(world, &more);
            sinew_world_prepare(world, &error);
            must(&error);
            sinew_world_remove_energy(world, hard, &error);
            must(&error);
            const sinew_solver_def newton = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
            sinew_world_set_solver(world, &newton, &error);
            must(&error);
        }
        sinew_step_result result;
        sinew_world_step(world, &result);
        gap[lost] = result.gap;
        hash[lost] = sinew_world_state_hash(world);
        sinew_world_destroy(world);
    }
    assert_true(isfinite(gap[0]) && gap[0] == gap[1] && hash[0] == hash[1]);
}

static void stiffness_out_of_range_is_refused(void **unused)
{
    (void)unused;
    const sinew_world_def def = sinew_default_world_def();
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_rope(VERTICES, top, bottom);
    sinew_energy_def energy = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    energy.body = add_mesh(world, mesh, density, NULL, NULL);
    const double bad[] = {-0.1, 1.1, NAN};
    for (int i = 0; i < 3; i++) {
        sinew_error error = {0};
        energy.pbd_stiffness = (sinew_real)bad[i];
        sinew_world_add_energy(world, &energy, &error);
        refused(&error, SINEW_ERROR_DATA, "pbd_stiffness");
    }
    sinew_mesh_destroy(mesh);
    sinew_world_destroy(world);
}

/* ---- PBD --------------------------------------------------------------------------------------- */

/* Springs of two vertices, one pinned, are stretched to twice their length in a world without gravity. After n
 * iterations the fraction (1 - k)^n of the stretch is left, or 1 - k by the other rule, with each energy's own k. */
static void check_pbd(int rule, int order, int iterations)
{
    static const double own[] = {0, 0.25, 0.9};
    const double solver = 0.5, close = sizeof(sinew_real) == 4 ? 1e-5 : 1e-12;
    sinew_world_def def = sinew_default_world_def();
    def.gravity[1] = 0;
    def.solver = sinew_default_solver_def(SINEW_SOLVER_PBD);
    def.solver.iterations = iterations;
    def.solver.parameters[sinew_solver_parameter(SINEW_SOLVER_PBD, "stiffness")] = (sinew_real)solver;
    def.solver.parameters[sinew_solver_parameter(SINEW_SOLVER_PBD, "rule")] = (sinew_real)rule;
    def.solver.parameters[sinew_solver_parameter(SINEW_SOLVER_PBD, "order")] = (sinew_real)order;
    def.solver.parameters[sinew_solver_parameter(SINEW_SOLVER_PBD, "relaxation")] = 1;
    sinew_world *world = make_world(&def);
    for (int i = 0; i < 3; i++) {
        const sinew_real pulled[6] = {0, 0, 0, 0, -2, 0};
        sinew_mesh *mesh = make_rope(2, top, bottom);
        const sinew_body body = add_mesh(world, mesh, density, pulled, NULL);
        sinew_energy_def energy = sinew_default_energy_def(SINEW_ENERGY_SPRING);
        energy.body = body;
        energy.pbd_stiffness = (sinew_real)own[i];
        add_energy(world, &energy);
        add_pins(world, body, &(int32_t){0}, 1, NULL);
        sinew_mesh_destroy(mesh);
    }
    sinew_world_step(world, NULL);
    sinew_real *q = positions_of(world);
    for (int i = 0; i < 3; i++) {
        const double k = own[i] > 0 ? own[i] : solver, left = rule ? 1 - k : pow(1 - k, iterations);
        const double length = -(double)q[3 * (2 * i + 1) + 1];
        if (fabs(length - 1 - left) > close)
            fail_msg("rule %d, order %d, energy %d: %.12g and not %.12g", rule, order, i, length, 1 + left);
    }
    free(q);
    sinew_world_destroy(world);
}

static void pbd_takes_each_energys_stiffness(void **unused)
{
    (void)unused;
    for (int rule = 0; rule < 2; rule++)
        for (int order = 0; order < 3; order++)
            for (int iterations = 1; iterations < 5; iterations += 3)
                check_pbd(rule, order, iterations);
}

/* ---- Scenes ------------------------------------------------------------------------------------ */

/* Reads a rope with the given keys in its energy; returns false and the error if it is refused. */
static bool read_rope(const char *solver, const char *keys, sinew_error *error)
{
    const char *path = "test_hard_" SINEW_PRECISION ".json";
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fprintf(stream,
            "{\"sinew\": 1, \"solver\": {\"name\": \"%s\"}, \"bodies\": [{\"mesh\": {\"generator\": \"rope\"},"
            " \"density\": 1, \"energies\": [{\"energy\": \"spring\", %s}],"
            " \"pins\": [{\"select\": {\"nearest\": [0, 0, 0]}}]}]}\n",
            solver, keys);
    fclose(stream);
    sinew_scene_def def = sinew_default_scene_def();
    def.path = path;
    sinew_scene *read = sinew_scene_read(&def, error);
    const bool good = read != NULL;
    sinew_scene_destroy(read);
    remove(path);
    return good;
}

static void scenes_have_the_keys(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    if (!read_rope("xpbd", "\"hard\": true", &error) || !read_rope("pbd", "\"pbd_stiffness\": 0.5", &error))
        fail_msg("%s", error.text);
    assert_true(read_rope("newton", "\"hard\": false", &error));
    assert_false(read_rope("newton", "\"hard\": true", &error));
    assert_non_null(strstr(error.text, "newton cannot keep spring hard"));
    assert_false(read_rope("pbd", "\"pbd_stiffness\": 1.5", &error));
    assert_non_null(strstr(error.text, "pbd_stiffness"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hard_rope_keeps_its_length),
        cmocka_unit_test_setup_teardown(minimisers_refuse_by_name, install_hook, remove_hook),
        cmocka_unit_test(a_change_of_solver_is_refused),
        cmocka_unit_test(hard_energies_are_forgotten),
        cmocka_unit_test(stiffness_out_of_range_is_refused),
        cmocka_unit_test(pbd_takes_each_energys_stiffness),
        cmocka_unit_test(scenes_have_the_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
