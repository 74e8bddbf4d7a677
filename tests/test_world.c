/* SPDX-License-Identifier: MIT
 *
 * test_world.c: the world through its public functions: the effect of each function; every misuse is refused with a
 * message that names its location; a refused call changes nothing.
 */
#include "small_world.h"

/* ---- Worlds ---------------------------------------------------------------------------------- */

static void refuse_world(const sinew_world_def *def, sinew_status status, const char *words)
{
    sinew_error error = {0};
    assert_null(sinew_world_create(def, &error));
    refused(&error, status, words);
    assert_null(sinew_world_create(def, NULL));
}

static void test_bad_worlds(void **state)
{
    (void)state;
    const sinew_world_def good = sinew_default_world_def(), empty = {0};
    const sinew_real steps[] = {0, -1, (sinew_real)NAN, (sinew_real)INFINITY};
    sinew_world_def def;
    assertions = 0;
    refuse_world(NULL, SINEW_ERROR_USAGE, "sinew_default_world_def");
    refuse_world(&empty, SINEW_ERROR_USAGE, "sinew_default_world_def");
    assert_int_equal(assertions, 4);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        def = good;
        def.time_step = steps[i];
        refuse_world(&def, SINEW_ERROR_DATA, "time_step");
    }
    def = good, def.gravity[2] = (sinew_real)NAN;
    refuse_world(&def, SINEW_ERROR_DATA, "gravity");
    def = good, def.damping = -1;
    refuse_world(&def, SINEW_ERROR_DATA, "damping");
    def = good, def.thread_count = -1;
    refuse_world(&def, SINEW_ERROR_DATA, "thread_count");
    def = good, def.solver.cookie = 0;
    refuse_world(&def, SINEW_ERROR_USAGE, "sinew_default_solver_def");
    def = good, def.solver.kind = SINEW_SOLVER_COUNT;
    refuse_world(&def, SINEW_ERROR_USAGE, "solver number");
    def = good, def.solver.iterations = -1;
    refuse_world(&def, SINEW_ERROR_DATA, "iterations");
    /* The number of records is one more than that of iterations, and must fit its counter. */
    def = good, def.solver.iterations = INT32_MAX, def.solver.record = SINEW_RECORD_ITERATIONS;
    refuse_world(&def, SINEW_ERROR_DATA, "iterations is 2147483647, must be in [0, 1000000000]");
    def = good, def.solver.tolerance = (sinew_real)NAN;
    refuse_world(&def, SINEW_ERROR_DATA, "tolerance");
    def = good, def.solver.tolerance = (sinew_real)INFINITY;
    refuse_world(&def, SINEW_ERROR_DATA, "tolerance is inf, must be finite");
    def = good, def.solver.time_budget = -1;
    refuse_world(&def, SINEW_ERROR_DATA, "time_budget");
    def = good, def.solver.parameters[0] = 7;
    refuse_world(&def, SINEW_ERROR_DATA, "linear");
}

/* Every function called without a world: the assertion hook is called, nothing happens, and the result is an error. */
static void test_null_world(void **state)
{
    (void)state;
    sinew_real x[3] = {0};
    double value;
    int32_t count;
    sinew_error error = {0};
    sinew_measures measures;
    const sinew_solver_def solver = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    const sinew_body_def body = sinew_default_body_def();
    const sinew_energy_def energy = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    const sinew_pin_def pin = sinew_default_pin_def();
    assertions = 0;
    int calls = 0;
    sinew_world_destroy(NULL);
#define ASSERTS(expression) (calls++, assert_true(expression), assert_int_equal(assertions, calls))
    ASSERTS(sinew_world_time(NULL) == 0);
    ASSERTS(sinew_world_step_count(NULL) == 0);
    ASSERTS(sinew_world_particle_count(NULL) == 0);
    ASSERTS(sinew_world_body_count(NULL) == 0);
    ASSERTS(sinew_world_set_solver(NULL, &solver, &error) == SINEW_ERROR_USAGE);
    ASSERTS(sinew_world_set_time_step(NULL, 1, &error) == SINEW_ERROR_USAGE);
    ASSERTS(sinew_world_add_body(NULL, &body, &error).index < 0);
    ASSERTS(sinew_body_mesh(NULL, (sinew_body){.index = 0}) == NULL);
    ASSERTS(sinew_body_first_particle(NULL, (sinew_body){.index = 0}) < 0);
    ASSERTS(sinew_world_get_positions(NULL, 0, 1, x) == SINEW_ERROR_USAGE);
    ASSERTS(sinew_world_set_positions(NULL, 0, 1, x) == SINEW_ERROR_USAGE);
    ASSERTS(sinew_world_get_velocities(NULL, 0, 1, x) == SINEW_ERROR_USAGE);
    ASSERTS(sinew_world_set_velocities(NULL, 0, 1, x) == SINEW_ERROR_USAGE);
    ASSERTS(sinew_world_get_masses(NULL, 0, 1, x) == SINEW_ERROR_USAGE);
    ASSERTS(sinew_world_set_forces(NULL, 0, 1, x) == SINEW_ERROR_USAGE);
    ASSERTS(sinew_world_add_energy(NULL, &energy, &error).index < 0);
    ASSERTS(sinew_energy_set_targets(NULL, (sinew_energy){.index = 0}, x, NULL) == SINEW_ERROR_USAGE);
    ASSERTS(sinew_world_remove_energy(NULL, (sinew_energy){.index = 0}, NULL) == SINEW_ERROR_USAGE);
    ASSERTS(sinew_world_add_pins(NULL, &pin, &error).index < 0);
    ASSERTS(sinew_pin_set_targets(NULL, (sinew_pin){.index = 0}, x, NULL) == SINEW_ERROR_USAGE);
    ASSERTS(sinew_world_remove_pins(NULL, (sinew_pin){.index = 0}, NULL) == SINEW_ERROR_USAGE);
    ASSERTS(sinew_world_step(NULL, NULL) == SINEW_STEP_UNPREPARED);
    ASSERTS(sinew_world_iterations(NULL, &count) == NULL);
    ASSERTS(strcmp(sinew_world_error(NULL), "") == 0);
    ASSERTS(sinew_world_prepare(NULL, &error) == SINEW_ERROR_USAGE);
    ASSERTS(sinew_world_measure(NULL, &measures) == SINEW_ERROR_USAGE);
    ASSERTS(sinew_world_objective(NULL, x, &value, NULL) == SINEW_ERROR_USAGE);
    ASSERTS(sinew_world_state_size(NULL) == 0);
    ASSERTS(sinew_world_state_save(NULL, x, sizeof x) == SINEW_ERROR_USAGE);
    ASSERTS(sinew_world_state_load(NULL, x, sizeof x, &error) == SINEW_ERROR_USAGE);
    ASSERTS(sinew_world_state_hash(NULL) != 0);
#undef ASSERTS
}

static void test_bad_ids_and_ranges(void **state)
{
    (void)state;
    scene s = make_scene(NULL);
    const int32_t n = sinew_world_particle_count(s.world);
    sinew_real x[3] = {0, 0, (sinew_real)NAN};
    assertions = 0;
    assert_null(sinew_body_mesh(s.world, (sinew_body){.index = 1}));
    assert_null(sinew_body_mesh(s.world, (sinew_body){.index = -1}));
    assert_int_equal(sinew_world_get_positions(s.world, n, 1, x), SINEW_ERROR_USAGE);
    assert_int_equal(sinew_world_get_positions(s.world, -1, 1, x), SINEW_ERROR_USAGE);
    assert_int_equal(sinew_world_get_positions(s.world, 0, -1, x), SINEW_ERROR_USAGE);
    assert_int_equal(sinew_world_get_positions(s.world, 0, INT32_MAX, x), SINEW_ERROR_USAGE);
    assert_int_equal(sinew_world_get_positions(s.world, INT32_MAX, INT32_MAX, x), SINEW_ERROR_USAGE);
    assert_int_equal(sinew_world_get_positions(s.world, 0, 1, NULL), SINEW_ERROR_USAGE);
    assert_int_equal(sinew_world_remove_energy(s.world, (sinew_energy){.index = 1}, NULL), SINEW_ERROR_USAGE);
    assert_int_equal(sinew_world_remove_pins(s.world, (sinew_pin){.index = -1}, NULL), SINEW_ERROR_USAGE);
    assert_int_equal(sinew_energy_set_targets(s.world, s.energy, x, NULL), SINEW_ERROR_USAGE); /* it has no targets */
    assert_int_equal(sinew_world_measure(s.world, NULL), SINEW_ERROR_USAGE);
    assert_int_equal(sinew_world_set_solver(s.world, NULL, NULL), SINEW_ERROR_USAGE);
    assert_int_equal(assertions, 13);
    /* Invalid data, unlike invalid calls, cause no assertion. */
    assert_int_equal(sinew_world_set_positions(s.world, 0, 1, x), SINEW_ERROR_DATA);
    assert_int_equal(sinew_world_set_velocities(s.world, 0, 1, x), SINEW_ERROR_DATA);
    assert_int_equal(sinew_world_set_forces(s.world, 0, 1, x), SINEW_ERROR_DATA);
    assert_int_equal(sinew_world_set_time_step(s.world, 0, NULL), SINEW_ERROR_DATA);
    assert_int_equal(sinew_world_get_positions(s.world, n, 0, NULL), SINEW_OK);
    assert_int_equal(assertions, 13);
    assert_true(hash_after(s.world, 3) == plain_hash(3));
    free_scene(&s);
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

static void refuse_body(sinew_world *world, const sinew_body_def *def, sinew_status status, const char *words)
{
    sinew_error error = {0};
    const int32_t before = sinew_world_particle_count(world);
    assert_true(sinew_world_add_body(world, def, &error).index < 0);
    refused(&error, status, words);
    assert_int_equal(sinew_world_particle_count(world), before);
    assert_int_equal(sinew_world_body_count(world), 1);
}

static void test_bad_bodies(void **state)
{
    (void)state;
    scene s = make_scene(NULL);
    const int32_t n = sinew_mesh_vertex_count(s.mesh);
    const sinew_real bad[] = {0, -1, (sinew_real)NAN, (sinew_real)INFINITY};
    sinew_body_def good = sinew_default_body_def(), def = {0};
    good.mesh = s.mesh;
    refuse_body(s.world, NULL, SINEW_ERROR_USAGE, "def");
    refuse_body(s.world, &def, SINEW_ERROR_USAGE, "sinew_default_body_def");
    def = good, def.mesh = NULL;
    refuse_body(s.world, &def, SINEW_ERROR_USAGE, "mesh");
    sinew_real *numbers = make_array(3 * (size_t)n, sizeof *numbers);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        def = good, def.density = bad[i];
        refuse_body(s.world, &def, SINEW_ERROR_DATA, "density");
        for (int32_t k = 0; k < n; k++)
            numbers[k] = k == 5 ? bad[i] : 1;
        def = good, def.masses = numbers;
        refuse_body(s.world, &def, SINEW_ERROR_DATA, "vertex 5");
    }
    memset(numbers, 0, 3 * (size_t)n * sizeof *numbers);
    numbers[3 * 4 + 1] = (sinew_real)NAN;
    def = good, def.positions = numbers;
    refuse_body(s.world, &def, SINEW_ERROR_DATA, "position of vertex 4");
    def = good, def.velocities = numbers;
    refuse_body(s.world, &def, SINEW_ERROR_DATA, "velocity of vertex 4");

    /* A vertex that no cell uses has no mass. */
    static const sinew_real points[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 5, 5, 5};
    static const int32_t tet[4] = {0, 1, 2, 3};
    sinew_error error = {0};
    sinew_mesh_def mesh_def = sinew_default_mesh_def();
    mesh_def.vertex_count = 5;
    mesh_def.positions = points;
    mesh_def.tet_count = 1;
    mesh_def.tets = tet;
    sinew_mesh *mesh = sinew_mesh_create(&mesh_def, &error);
    must(&error);
    def = good, def.mesh = mesh;
    refuse_body(s.world, &def, SINEW_ERROR_DATA, "vertex 4 has no mass");
    sinew_mesh_destroy(mesh);
    free(numbers);
    assert_true(hash_after(s.world, 3) == plain_hash(3));
    free_scene(&s);
}

static double total_mass(const sinew_mesh *mesh, double density)
{
    sinew_world_def def = sinew_default_world_def();
    sinew_world *world = make_world(&def);
    add_mesh(world, mesh, density, NULL, NULL);
    const int32_t n = sinew_world_particle_count(world);
    sinew_real *m = make_array((size_t)n, sizeof *m);
    double sum = 0;
    assert_int_equal(sinew_world_get_masses(world, 0, n, m), SINEW_OK);
    for (int32_t i = 0; i < n; i++)
        sum += (double)m[i];
    free(m);
    sinew_world_destroy(world);
    return sum;
}

/* Density is per volume, area or length, according to the kind of cells. */
static void test_masses(void **state)
{
    (void)state;
    sinew_error error = {0};
    sinew_mesh *beam = make_beam(3, 2, 2, 3, 1, 0.5);
    sinew_mesh *rope = make_rope(7, (double[]){0, 0, 0}, (double[]){3, 4, 0});
    sinew_cloth_def def = sinew_default_cloth_def();
    def.size[0] = 2;
    sinew_mesh *cloth = sinew_mesh_cloth(&def, &error);
    must(&error);
    assert_true(fabs(total_mass(beam, 10) / 15 - 1) < CLOSE);
    assert_true(fabs(total_mass(cloth, 0.3) / 0.6 - 1) < CLOSE);
    assert_true(fabs(total_mass(rope, 2) / 10 - 1) < CLOSE);
    sinew_mesh_destroy(beam);
    sinew_mesh_destroy(rope);
    sinew_mesh_destroy(cloth);
}

/* Two bodies in one world move as each does alone. */
static void test_several_bodies(void **state)
{
    (void)state;
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.solver.tolerance = (sinew_real)(sizeof(sinew_real) == 4 ? 1e-6 : 1e-14);
    scene alone = make_scene(&def), both = make_scene(&def);
    sinew_mesh *rope = make_rope(5, (double[]){5, 0, 0}, (double[]){6, 0, 0});
    sinew_body second = add_mesh(both.world, rope, 1, NULL, NULL);
    add_springs(both.world, second, 100);
    add_pins(both.world, second, (const int32_t[]){0}, 1, NULL);
    const int32_t n = sinew_mesh_vertex_count(both.mesh);
    assert_int_equal(sinew_world_body_count(both.world), 2);
    assert_int_equal(sinew_body_first_particle(both.world, second), n);
    assert_int_equal(sinew_mesh_vertex_count(sinew_body_mesh(both.world, second)), 5);
    hash_after(alone.world, 5);
    hash_after(both.world, 5);
    sinew_real *p = positions_of(alone.world), *q = positions_of(both.world);
    for (int32_t i = 0; i < 3 * n; i++)
        assert_true(fabs((double)p[i] - (double)q[i]) < CLOSE);
    assert_true(q[3 * n] == 5 && q[3 * (n + 4) + 1] < 0);
    free(p);
    free(q);
    sinew_mesh_destroy(rope);
    free_scene(&alone);
    free_scene(&both);
}

/* ---- Energies -------------------------------------------------------------------------------- */

static void refuse_energy(sinew_world *world, const sinew_energy_def *def, sinew_status status, const char *words)
{
    sinew_error error = {0};
    assert_true(sinew_world_add_energy(world, def, &error).index < 0);
    refused(&error, status, words);
}

static void test_bad_energies(void **state)
{
    (void)state;
    scene s = make_scene(NULL);
    static const int32_t outside[8] = {0, 1, 2, 3, 4, 5, 99, 6};
    int32_t flat[8] = {0, 0, 0, 0, 0, 1, 2, 2};
    memcpy(flat, sinew_mesh_tets(s.mesh), 4 * sizeof *flat);
    sinew_energy_def good = sinew_default_energy_def(SINEW_ENERGY_NEO_HOOKEAN), def = {0};
    good.body = s.body;
    refuse_energy(s.world, NULL, SINEW_ERROR_USAGE, "def");
    refuse_energy(s.world, &def, SINEW_ERROR_USAGE, "sinew_default_energy_def");
    def = good, def.kind = SINEW_ENERGY_COUNT;
    refuse_energy(s.world, &def, SINEW_ERROR_USAGE, "energy number");
    def = good, def.body.index = 3;
    refuse_energy(s.world, &def, SINEW_ERROR_USAGE, "body 3");
    def = good, def.body.index = -1;
    refuse_energy(s.world, &def, SINEW_ERROR_USAGE, "needs a body or a list");
    def = good, def.elements = outside, def.element_count = 2;
    refuse_energy(s.world, &def, SINEW_ERROR_DATA, "99");
    def = good, def.elements = outside, def.element_count = 0;
    refuse_energy(s.world, &def, SINEW_ERROR_DATA, "element_count");
    def = good, def.elements = flat, def.element_count = 2;
    refuse_energy(s.world, &def, SINEW_ERROR_DATA, "element 1");
    def = good, def.parameters[0] = 0;
    refuse_energy(s.world, &def, SINEW_ERROR_DATA, "young");
    def = good, def.parameters[0] = (sinew_real)NAN;
    refuse_energy(s.world, &def, SINEW_ERROR_DATA, "young");
    def = good, def.parameters[1] = (sinew_real)0.5;
    refuse_energy(s.world, &def, SINEW_ERROR_DATA, "poisson");
    sinew_real young[10] = {1, 1, 1, 1, 1, 1, 1, -2, 1, 1};
    def = good, def.element_parameters[0] = young;
    refuse_energy(s.world, &def, SINEW_ERROR_DATA, "element 7");

    /* A mesh without tets gives the energy no elements. */
    sinew_mesh *rope = make_rope(3, (double[]){5, 0, 0}, (double[]){6, 0, 0});
    scene t = make_scene(NULL);
    def = good, def.body = add_mesh(t.world, rope, 1, NULL, NULL);
    refuse_energy(t.world, &def, SINEW_ERROR_DATA, "no tets");
    sinew_mesh_destroy(rope);
    free_scene(&t);
    assert_true(hash_after(s.world, 3) == plain_hash(3));
    free_scene(&s);
}

static void test_bad_weak_and_position(void **state)
{
    (void)state;
    scene s = make_scene(NULL);
    static const int32_t pair[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    sinew_real weights[8] = {1, 0, 0, 0, 1, 0, 0, 0}, normal[3] = {0, 0, 0};
    sinew_energy_def weak = sinew_default_energy_def(SINEW_ENERGY_WEAK), def;
    weak.elements = pair;
    weak.element_count = 1;
    refuse_energy(s.world, &weak, SINEW_ERROR_USAGE, "weights");
    weak.weights = weights;
    def = weak, def.elements = NULL, def.body = s.body;
    refuse_energy(s.world, &def, SINEW_ERROR_USAGE, "elements");
    weights[1] = (sinew_real)0.01;
    refuse_energy(s.world, &weak, SINEW_ERROR_DATA, "first point sum");
    weights[1] = 0, weights[4] = (sinew_real)0.5;
    refuse_energy(s.world, &weak, SINEW_ERROR_DATA, "second point sum");
    weights[4] = 2, weights[5] = -1;
    refuse_energy(s.world, &weak, SINEW_ERROR_DATA, "weight 5");
    weights[4] = (sinew_real)NAN, weights[5] = 0;
    refuse_energy(s.world, &weak, SINEW_ERROR_DATA, "weight 4");
    weights[4] = 1;
    def = weak, def.normals = normal;
    refuse_energy(s.world, &def, SINEW_ERROR_DATA, "normal");
    def = weak, def.parameters[0] = -1;
    refuse_energy(s.world, &def, SINEW_ERROR_DATA, "normal_stiffness");

    sinew_energy_def position = sinew_default_energy_def(SINEW_ENERGY_POSITION);
    const sinew_real target[3] = {0, (sinew_real)NAN, 0};
    sinew_key keys[2] = {{.time = 1}, {.time = 1}};
    sinew_motion motion = {.key_count = 2, .keys = keys};
    position.elements = pair;
    position.element_count = 1;
    def = position, def.targets = target;
    refuse_energy(s.world, &def, SINEW_ERROR_DATA, "target 0");
    def = position, def.motion = &motion;
    refuse_energy(s.world, &def, SINEW_ERROR_DATA, "key 1");
    keys[1].time = 2, keys[1].rotation[0] = (sinew_real)INFINITY;
    refuse_energy(s.world, &def, SINEW_ERROR_DATA, "key 1");
    motion.key_count = 0;
    refuse_energy(s.world, &def, SINEW_ERROR_DATA, "at least one key");
    assert_true(hash_after(s.world, 3) == plain_hash(3));
    free_scene(&s);
}

static void test_element_parameters(void **state)
{
    (void)state;
    scene s = make_scene(NULL);
    const int32_t count = sinew_mesh_tet_count(s.mesh);
    sinew_real *young = make_array((size_t)count, sizeof *young);
    for (int32_t i = 0; i < count; i++)
        young[i] = (sinew_real)1e5;
    assert_int_equal(sinew_world_remove_energy(s.world, s.energy, NULL), SINEW_OK);
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_NEO_HOOKEAN);
    def.body = s.body;
    def.parameters[0] = -1; /* the library does not read this value */
    def.parameters[1] = (sinew_real)0.3;
    def.element_parameters[0] = young;
    add_energy(s.world, &def);
    assert_true(hash_after(s.world, 3) == plain_hash(3));

    young[count - 1] = (sinew_real)2e5;
    scene t = make_scene(NULL);
    assert_int_equal(sinew_world_remove_energy(t.world, t.energy, NULL), SINEW_OK);
    add_energy(t.world, &def);
    assert_true(hash_after(t.world, 3) != plain_hash(3));
    free(young);
    free_scene(&s);
    free_scene(&t);
}

static void test_remove_and_go_on(void **state)
{
    (void)state;
    scene s = make_scene(NULL);
    sinew_energy springs = add_springs(s.world, s.body, 1e4);
    int32_t right[16];
    sinew_pin pin = add_pins(s.world, s.body, right, vertices_at(s.mesh, 0, 1, 1, right), NULL);
    sinew_real *q = positions_of(s.world);
    const int32_t n = sinew_world_particle_count(s.world);
    hash_after(s.world, 2);
    assert_int_equal(sinew_world_remove_energy(s.world, springs, NULL), SINEW_OK);
    assert_int_equal(sinew_world_remove_pins(s.world, pin, NULL), SINEW_OK);
    assert_int_equal(sinew_world_remove_energy(s.world, springs, NULL), SINEW_ERROR_USAGE); /* already removed */
    assert_int_equal(sinew_world_remove_pins(s.world, pin, NULL), SINEW_ERROR_USAGE);
    assert_int_equal(sinew_pin_set_targets(s.world, pin, q, NULL), SINEW_ERROR_USAGE);
    /* Back to the state of a world without them. */
    sinew_real *zero = make_array(3 * (size_t)n, sizeof *zero);
    assert_int_equal(sinew_world_set_positions(s.world, 0, n, q), SINEW_OK);
    assert_int_equal(sinew_world_set_velocities(s.world, 0, n, zero), SINEW_OK);
    hash_after(s.world, 3);
    scene t = make_scene(NULL);
    hash_after(t.world, 3);
    sinew_real *a = positions_of(s.world), *b = positions_of(t.world);
    assert_memory_equal(a, b, 3 * (size_t)n * sizeof *a);
    const sinew_energy next = add_springs(s.world, s.body, 1e4);
    assert_true(next.index == springs.index && next.generation == springs.generation + 1);
    free(q);
    free(zero);
    free(a);
    free(b);
    free_scene(&s);
    free_scene(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_worlds),
        cmocka_unit_test(test_null_world),
        cmocka_unit_test(test_bad_ids_and_ranges),
        cmocka_unit_test(test_bad_bodies),
        cmocka_unit_test(test_masses),
        cmocka_unit_test(test_several_bodies),
        cmocka_unit_test(test_bad_energies),
        cmocka_unit_test(test_bad_weak_and_position),
        cmocka_unit_test(test_element_parameters),
        cmocka_unit_test(test_remove_and_go_on),
    };
    return cmocka_run_group_tests(tests, install_hook, remove_hook);
}
