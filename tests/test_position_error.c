/* SPDX-License-Identifier: MIT
 *
 * test_position_error.c: the position error of a step: values per body, field and result agree with each other, and
 * with the distance to a Newton step solved to round-off; when it is known, and how long it is valid. test_gap.c has
 * random scenes by every solver.
 */
#include "contact_worlds.h"
#include "random_cases.h"
#include "sinew/scene.h"

/* Two bars, the first pinned at one end, the second free: both fall; the second is stiffer and turns. */
typedef struct bars {
    sinew_world *world;
    sinew_body body[2];
} bars;

static bars make_bars(sinew_solver_kind solver, int32_t iterations, uint64_t seed)
{
    random_cases r = {.state = seed};
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.solver = sinew_default_solver_def(solver);
    def.solver.measure = SINEW_MEASURE_GAP;
    def.solver.iterations = iterations;
    def.solver.tolerance = iterations > 100 ? (sinew_real)1e-12 : 0;
    bars b = {.world = make_world(&def)};
    for (int k = 0; k < 2; k++) {
        sinew_mesh *mesh = make_beam(4, 1, 1, 0.8, 0.2, 0.2);
        const int32_t n = sinew_mesh_vertex_count(mesh);
        sinew_real *x = make_array(3 * (size_t)n, sizeof *x), *v = make_array(3 * (size_t)n, sizeof *v);
        for (int32_t i = 0; i < 3 * n; i++) {
            x[i] = sinew_mesh_positions(mesh)[i] + (i % 3 == 1 ? (sinew_real)k : 0);
            v[i] = (sinew_real)random_between(&r, -0.3, 0.3);
        }
        b.body[k] = add_mesh(b.world, mesh, 1000, x, v);
        add_material(b.world, b.body[k], SINEW_ENERGY_COROTATED, k ? 1e7 : 1e5, 0.3);
        const int32_t pins[4] = {0, 1, 2, 3};
        if (k == 0)
            add_pins(b.world, b.body[k], pins, 4, NULL);
        free(x);
        free(v);
        sinew_mesh_destroy(mesh);
    }
    return b;
}

static sinew_real *positions(const sinew_world *world)
{
    const int32_t n = sinew_world_particle_count(world);
    sinew_real *q = make_array(3 * (size_t)n, sizeof *q);
    assert_int_equal(sinew_world_get_positions(world, 0, n, q), SINEW_OK);
    return q;
}

/* Largest distance between two states over the particles of a body. */
static double distance(const sinew_world *world, sinew_body body, const sinew_real *a, const sinew_real *b)
{
    const int32_t first = sinew_body_first_particle(world, body);
    const int32_t count = sinew_mesh_vertex_count(sinew_body_mesh(world, body));
    double max = 0;
    for (int32_t i = 3 * first; i < 3 * (first + count); i += 3) {
        double square = 0;
        for (int c = 0; c < 3; c++)
            square += pow((double)a[i + c] - (double)b[i + c], 2);
        max = fmax(max, sqrt(square));
    }
    return max;
}

/* Each body has its own error, within 2 of the distance to the solved step; the result has the largest. */
static void bodies_have_their_own_errors(void **state)
{
    (void)state;
    static const sinew_solver_kind kinds[] = {SINEW_SOLVER_QN, SINEW_SOLVER_PBNG, SINEW_SOLVER_ADMM};
    random_cases r = random_cases_begin("bodies", 6, 200);
    int32_t wrong = 0;
    for (int32_t i = 0; i < r.count; i++) {
        const sinew_solver_kind kind = kinds[random_index(&r, 3)];
        const int32_t iterations = 1 + random_index(&r, 20);
        const uint64_t seed = random_bits(&r);
        bars rough = make_bars(kind, iterations, seed), solved = make_bars(SINEW_SOLVER_NEWTON, 500, seed);
        sinew_step_result result;
        sinew_world_step(rough.world, &result);
        sinew_world_step(solved.world, NULL);
        assert_int_equal(result.position_error_kind, SINEW_GAP_ESTIMATE);
        sinew_real *q = positions(rough.world), *truth = positions(solved.world);
        double max[2], rms[2];
        for (int k = 0; k < 2; k++) {
            assert_true(sinew_body_position_error(rough.world, rough.body[k], &max[k], &rms[k]));
            const double exact = distance(rough.world, rough.body[k], q, truth);
            const double small = (sizeof(sinew_real) == 4 ? 1e-5 : 1e-11);
            wrong += !(max[k] <= 2 * exact + small && exact <= 2 * max[k] + small);
            assert_true(rms[k] <= max[k] && (max[k] == 0 || rms[k] > 0));
        }
        assert_true(fabs(fmax(max[0], max[1]) - result.position_error) <= 1e-5 * result.position_error);
        assert_true(result.position_error_rms <= result.position_error);
        free(q);
        free(truth);
        sinew_world_destroy(rough.world);
        sinew_world_destroy(solved.world);
    }
    printf("  %d of %d bodies are farther off than a factor of 2\n", wrong, 2 * r.count);
    assert_true(wrong <= 1 + r.count / 10);
}

/* The field leads to the minimum: q plus the field is nearer to the solved step than q. Pins have no error. */
static void the_field_leads_to_the_minimum(void **state)
{
    (void)state;
    bars rough = make_bars(SINEW_SOLVER_PBNG, 5, 1), solved = make_bars(SINEW_SOLVER_NEWTON, 500, 1);
    sinew_error error = {0};
    sinew_world_step(rough.world, NULL);
    sinew_world_step(solved.world, NULL);
    const int32_t n = sinew_world_particle_count(rough.world);
    sinew_real *q = positions(rough.world), *truth = positions(solved.world);
    sinew_real *e = make_array(3 * (size_t)n, sizeof *e), *moved = make_array(3 * (size_t)n, sizeof *moved);
    assert_int_equal(sinew_world_field(rough.world, SINEW_FIELD_POSITION_ERROR, 0, n, e, &error), SINEW_OK);
    for (int32_t i = 0; i < 3 * n; i++)
        moved[i] = q[i] + e[i];
    for (int k = 0; k < 2; k++)
        assert_true(distance(rough.world, rough.body[k], moved, truth) <
                    0.3 * distance(rough.world, rough.body[k], q, truth));
    for (int i = 0; i < 12; i++)
        assert_true(e[3 * sinew_body_first_particle(rough.world, rough.body[0]) + i] == 0);
    free(q);
    free(truth);
    free(e);
    free(moved);
    sinew_world_destroy(rough.world);
    sinew_world_destroy(solved.world);
}

static bool is_known(const bars *b)
{
    double max = 0, rms = 0;
    const bool known = sinew_body_position_error(b->world, b->body[0], &max, &rms);
    assert_int_equal(known, !isnan(max));
    assert_int_equal(known, !isnan(rms));
    return known;
}

static void it_is_valid_until_something_changes(void **state)
{
    (void)state;
    bars b = make_bars(SINEW_SOLVER_PBNG, 5, 3);
    sinew_error error = {0};
    const sinew_real x[3] = {0, 0, 0};
    assert_false(is_known(&b));
    sinew_world_step(b.world, NULL);
    assert_true(is_known(&b));
    sinew_world_set_positions(b.world, 5, 1, x);
    assert_false(is_known(&b));
    sinew_world_step(b.world, NULL);
    assert_true(is_known(&b));
    assert_int_equal(sinew_world_remove_body(b.world, b.body[1], &error), SINEW_OK);
    assert_false(is_known(&b));
    sinew_solver_def def = sinew_default_solver_def(SINEW_SOLVER_PBNG);
    def.gap_every = 2;
    sinew_world_step(b.world, NULL);
    assert_true(is_known(&b));
    assert_int_equal(sinew_world_set_solver(b.world, &def, &error), SINEW_OK);
    assert_int_equal(sinew_world_prepare(b.world, &error), SINEW_OK);
    assert_false(is_known(&b));
    for (int i = 0; i < 4; i++) {
        sinew_step_result result;
        sinew_world_step(b.world, &result);
        assert_int_equal(is_known(&b), result.position_error_kind == SINEW_GAP_ESTIMATE);
        assert_int_equal(result.position_error_kind == SINEW_GAP_NONE, result.gap_kind == SINEW_GAP_NONE);
    }
    assert_false(sinew_body_position_error(b.world, b.body[1], NULL, NULL));
    sinew_world_destroy(b.world);
}

static const char torn_cloth[] =
    "{\"sinew\": 1, \"time_step\": 0.01, \"threads\": 1, \"bodies\": [{\"mesh\": {\"generator\": \"cloth\", "
    "\"vertices\": [9, 7], \"origin\": [-0.6, 0, 0], \"width\": 1.2, \"length\": 1}, \"density\": 0.2, \"energies\": "
    "[{\"energy\": \"spring\", \"stiffness\": 15}], \"tear\": {\"strain\": 0.1, \"most\": 3}, \"pins\": [{\"select\": "
    "{\"half_space\": {\"point\": [-0.59, 0, 0], \"normal\": [-1, 0, 0]}}}, {\"select\": {\"half_space\": {\"point\": "
    "[0.59, 0, 0], \"normal\": [1, 0, 0]}}, \"motion\": {\"keys\": [{\"time\": 0}, {\"time\": 0.1, \"translate\": "
    "[0.5, 0, 0]}]}}]}]}";

static sinew_scene *open_torn(sinew_solver_kind solver, int iterations)
{
    char name[64], count[64];
    sinew_error error = {0};
    sinew_scene_def def = sinew_default_scene_def();
    snprintf(name, sizeof name, "solver.name=%s", sinew_get_solver_info(solver)->name);
    snprintf(count, sizeof count, "solver.iterations=%d", iterations);
    const char *settings[] = {name, count, "solver.tolerance=0", "solver.measure=gap"};
    def.text = torn_cloth;
    def.text_size = sizeof torn_cloth - 1;
    def.settings = settings;
    def.setting_count = 4;
    sinew_scene *scene = sinew_scene_read(&def, &error);
    must(&error);
    return scene;
}

/* The position error of steps that begin with tears, against a step of Newton's method from the same state, which makes
 * the same tears. The field has the size of the torn body. */
static void tears_keep_it_right(void **state)
{
    (void)state;
    sinew_scene *scene = open_torn(SINEW_SOLVER_PBNG, 3), *referee = open_torn(SINEW_SOLVER_NEWTON, 60);
    sinew_world *world = sinew_scene_world(scene), *exact = sinew_scene_world(referee);
    int torn = 0, known = 0;
    for (int step = 0; step < 30; step++) {
        sinew_error error = {0};
        sinew_step_result result;
        const size_t size = sinew_world_state_size(world);
        void *saved = make_array(size, 1);
        assert_int_equal(sinew_world_state_save(world, saved, size), SINEW_OK);
        assert_int_equal(sinew_world_state_load(exact, saved, size, &error), SINEW_OK);
        free(saved);
        const int64_t before = sinew_world_shape_version(world);
        sinew_world_step(world, &result);
        sinew_world_step(exact, NULL);
        const bool tore = sinew_world_shape_version(world) != before;
        torn += tore;
        assert_int_equal(sinew_world_particle_count(world), sinew_world_particle_count(exact));
        if (!tore || result.position_error_kind != SINEW_GAP_ESTIMATE)
            continue;
        sinew_real *a = positions(world), *b = positions(exact);
        const double apart = distance(world, sinew_world_body_at(world, 0), a, b);
        known++;
        print_message("step %d: %.3g m apart, error %.3g m\n", step + 1, apart, result.position_error);
        assert_true(result.position_error < 1.5 * apart && apart < 1.5 * result.position_error);
        free(a);
        free(b);
    }
    assert_true(torn > 3 && known > 3);
    sinew_scene_destroy(scene);
    sinew_scene_destroy(referee);
}

/* A box that rests on the floor: the error is that of its multipliers, and falls with the number of iterations. */
static void contact_settles(void **state)
{
    (void)state;
    const double middle[3] = {0, 0.1015, 0};
    double error[2];
    for (int k = 0; k < 2; k++) {
        sinew_world *world = make_touching_world(SINEW_SOLVER_PBNG, 1);
        set_touch(world, 2e-3, 0.3);
        add_floor(world);
        const sinew_body box = add_box(world, SINEW_SOLVER_PBNG, 1, 0.2, middle, 1e5);
        sinew_error problem = {0};
        sinew_solver_def def = sinew_default_solver_def(SINEW_SOLVER_PBNG);
        def.measure = SINEW_MEASURE_GAP;
        def.iterations = k ? 200 : 10;
        assert_int_equal(sinew_world_set_solver(world, &def, &problem), SINEW_OK);
        sinew_step_result result;
        for (int i = 0; i < 5; i++)
            sinew_world_step(world, &result);
        assert_int_equal(result.position_error_kind, SINEW_GAP_ESTIMATE);
        assert_true(sinew_body_position_error(world, box, &error[k], NULL));
        sinew_world_destroy(world);
    }
    assert_true(error[1] < 0.1 * error[0]);
}

/* Vertices that the step filter has truncated are not where the minimum would be. */
static void truncation_makes_it_unknown(void **state)
{
    (void)state;
    const double middle[3] = {0, 0.1015, 0};
    sinew_world *world = make_touching_world(SINEW_SOLVER_PBNG, 1);
    set_touch(world, 2e-3, 0.3);
    add_floor(world);
    const sinew_body box = add_box(world, SINEW_SOLVER_PBNG, 1, 0.2, middle, 1e5);
    sinew_error problem = {0};
    sinew_solver_def def = sinew_default_solver_def(SINEW_SOLVER_PBNG);
    def.measure = SINEW_MEASURE_GAP;
    def.iterations = 1;
    assert_int_equal(sinew_world_set_solver(world, &def, &problem), SINEW_OK);
    const int32_t n = sinew_world_particle_count(world);
    sinew_real *v = make_array(3 * (size_t)n, sizeof *v);
    for (int32_t i = 0; i < n; i++)
        v[3 * i + 1] = -20;
    sinew_world_set_velocities(world, 0, n, v);
    sinew_step_result result;
    sinew_world_step(world, &result);
    assert_int_equal(result.position_error_kind, SINEW_GAP_UNKNOWN);
    assert_true(isinf(result.position_error) && strstr(result.position_error_reason, "truncated"));
    assert_false(sinew_body_position_error(world, box, NULL, NULL));
    free(v);
    sinew_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_have_their_own_errors),
        cmocka_unit_test(the_field_leads_to_the_minimum),
        cmocka_unit_test(it_is_valid_until_something_changes),
        cmocka_unit_test(tears_keep_it_right),
        cmocka_unit_test(contact_settles),
        cmocka_unit_test(truncation_makes_it_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
