/* SPDX-License-Identifier: MIT
 *
 * test_solver_traits.c: invariants of all solvers: momentum, the centre of mass in single precision, pins, the same
 * bits for any number of threads; and refusals: unsupported pairs of solver and energy, missing inertia, no memory,
 * numbers out of range.
 */
#include "linear_methods.h"
#include "solver_scenes.h"

#include <dirent.h>
#include <jansson.h>

#include "failing_allocator.h"

/* ---- Invariants ------------------------------------------------------------------------------------ */

/* A free, moving, spinning and squashed body. */
static sinew_world *flying(sinew_energy_kind kind, const sinew_solver_def *def, double spin)
{
    scene s = scenes[BALL_SOFT];
    s.kind = kind;
    s.poisson = 0.3;
    s.stiffness = 1e5;
    sinew_world *world = build(&s, def, 1, 1);
    const int32_t n = sinew_world_particle_count(world);
    sinew_real *q = positions_of(world), *v = make_array(3 * (size_t)n, sizeof *v);
    for (int32_t i = 0; i < n; i++) {
        v[3 * i] = (sinew_real)(3 - spin * (double)q[3 * i + 1]);
        v[3 * i + 1] = (sinew_real)(1 + spin * (double)q[3 * i]);
        v[3 * i + 2] = -2;
    }
    assert_int_equal(sinew_world_set_velocities(world, 0, n, v), SINEW_OK);
    free(q);
    free(v);
    return world;
}

static void linear_momentum_is_kept(void **unused)
{
    (void)unused;
    /* test_pbng_coarse.c covers pbng. */
    for (int kind = 0; kind < SINEW_SOLVER_PBNG; kind++)
        for (int order = 0; order < (kind == SINEW_SOLVER_XPBD || kind == SINEW_SOLVER_PBD ? 3 : 1); order++) {
            sinew_solver_def def = solver_of((sinew_solver_kind)kind, 10);
            if (sinew_get_solver_info(def.kind)->static_only)
                continue;
            if (kind == SINEW_SOLVER_XPBD || kind == SINEW_SOLVER_PBD)
                set(&def, "order", order);
            sinew_world *world = flying(SINEW_ENERGY_STRAIN, &def, 4);
            sinew_measures before;
            sinew_world_measure(world, &before);
            for (int k = 0; k < 3; k++) {
                int32_t count;
                step_of(world);
                const sinew_iteration *records = sinew_world_iterations(world, &count);
                assert_true(count > 1);
                for (int32_t r = 1; r < count; r++)
                    for (int c = 0; c < 3; c++)
                        if (!(fabs(records[r].linear_momentum[c] - before.linear_momentum[c]) <=
                              (IS_SINGLE ? 1e-4 : 1e-10) * before.mass * 4))
                            fail_msg("%s (order %d), iteration %d: momentum %.17g, before %.17g",
                                     sinew_get_solver_info((sinew_solver_kind)kind)->name, order, r,
                                     records[r].linear_momentum[c], before.linear_momentum[c]);
            }
            sinew_world_destroy(world);
        }
}

/* No torque: sum q x m (v - v_n) = 0 at the minimum, q the new positions. */
static void angular_momentum_is_kept_at_convergence(void **unused)
{
    (void)unused;
    static const sinew_solver_kind kinds[] = {SINEW_SOLVER_NEWTON, SINEW_SOLVER_QN, SINEW_SOLVER_ADMM,
                                              SINEW_SOLVER_PBNG};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        sinew_solver_def def = solver_of(kinds[k], 300);
        if (kinds[k] != SINEW_SOLVER_ADMM)
            def.tolerance = (sinew_real)(IS_SINGLE ? 1e-5 : 1e-12);
        sinew_world *world = flying(SINEW_ENERGY_NEO_HOOKEAN, &def, 6);
        const int32_t n = sinew_world_particle_count(world);
        sinew_real *old = make_array(3 * (size_t)n, sizeof *old), *v = make_array(3 * (size_t)n, sizeof *v);
        sinew_real *m = make_array((size_t)n, sizeof *m);
        sinew_world_get_velocities(world, 0, n, old);
        sinew_world_get_masses(world, 0, n, m);
        step_of(world);
        sinew_world_get_velocities(world, 0, n, v);
        sinew_real *q = positions_of(world);
        double torque[3] = {0}, scale = 0;
        for (int32_t i = 0; i < n; i++) {
            double d[3];
            for (int c = 0; c < 3; c++) {
                d[c] = (double)m[i] * ((double)v[3 * i + c] - (double)old[3 * i + c]);
                scale += fabs(d[c]);
            }
            for (int c = 0; c < 3; c++)
                torque[c] +=
                    (double)q[3 * i + (c + 1) % 3] * d[(c + 2) % 3] - (double)q[3 * i + (c + 2) % 3] * d[(c + 1) % 3];
        }
        for (int c = 0; c < 3; c++)
            if (!(fabs(torque[c]) <= (IS_SINGLE ? 1e-3 : 1e-9) * scale))
                fail_msg("%s: angular momentum changes by %g of %g", sinew_get_solver_info(kinds[k])->name, torque[c],
                         scale);
        free(old);
        free(v);
        free(m);
        free(q);
        sinew_world_destroy(world);
    }
}

/* One constraint of one free element with random masses: a projection conserves sum m dx and sum m x X dx, where X is
 * the cross product (slides, "Constraint Projection"). */
static void a_projection_keeps_both_momenta(void **unused)
{
    (void)unused;
    static const sinew_energy_kind kinds[] = {SINEW_ENERGY_STRAIN, SINEW_ENERGY_VOLUME, SINEW_ENERGY_NEO_HOOKEAN};
    static const sinew_real corners[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const int32_t tet[4] = {0, 1, 2, 3};
    uint32_t state = 11;
    for (int k = 0; k < 6; k++) {
        sinew_error error = {0};
        sinew_mesh_def parts = sinew_default_mesh_def();
        sinew_world_def def = sinew_default_world_def();
        sinew_body_def body = sinew_default_body_def();
        sinew_real start[12], masses[4];
        for (int i = 0; i < 12; i++)
            start[i] = corners[i] * (sinew_real)1.3 + (sinew_real)(0.2 * next_random(&state));
        for (int i = 0; i < 4; i++)
            masses[i] = (sinew_real)(2 + next_random(&state));
        parts.positions = corners;
        parts.vertex_count = 4;
        parts.tets = tet;
        parts.tet_count = 1;
        def.gravity[1] = 0;
        def.solver = solver_of(k % 2 ? SINEW_SOLVER_XPBD : SINEW_SOLVER_PBD, 1);
        sinew_mesh *mesh = sinew_mesh_create(&parts, &error);
        must(&error);
        sinew_world *world = make_world(&def);
        body.mesh = mesh;
        body.masses = masses;
        body.positions = start;
        sinew_energy_def energy = sinew_default_energy_def(kinds[k / 2]);
        energy.body = add_body(world, &body);
        add_energy(world, &energy);
        step_of(world);
        sinew_real *q = positions_of(world);
        double sum[3] = {0}, moment[3] = {0}, way = 0;
        for (int i = 0; i < 12; i++) {
            const int a = 3 * (i / 3), c = i % 3;
            const double m = (double)masses[i / 3];
            double d[3];
            for (int j = 0; j < 3; j++)
                d[j] = m * ((double)q[a + j] - (double)start[a + j]);
            sum[c] += d[c];
            moment[c] +=
                (double)start[a + (c + 1) % 3] * d[(c + 2) % 3] - (double)start[a + (c + 2) % 3] * d[(c + 1) % 3];
            way += fabs(d[c]);
        }
        for (int c = 0; c < 3; c++)
            assert_true(way > 0.01 && fmax(fabs(sum[c]), fabs(moment[c])) < (IS_SINGLE ? 1e-5 : 1e-13) * way);
        free(q);
        sinew_mesh_destroy(mesh);
        sinew_world_destroy(world);
    }
}

/* Displacement of the centre of mass of a free stiff beam in one step, relative to its length. */
static double drift_of(double form)
{
    scene s = scenes[BALL_STIFF];
    sinew_measures before, after;
    sinew_solver_def def = solver_of(SINEW_SOLVER_PD, 20);
    s.h = 1e-1;
    s.stiffness = 1e9;
    set(&def, "form", form);
    sinew_world *world = build(&s, &def, 2, 1);
    sinew_world_measure(world, &before);
    step_of(world);
    sinew_world_measure(world, &after);
    double sum = 0;
    for (int c = 0; c < 3; c++)
        sum += pow(after.centre_of_mass[c] - before.centre_of_mass[c], 2);
    sinew_world_destroy(world);
    return sqrt(sum);
}

/* Thesis 5.5.6 finds that PD loses momentum at large h^2 k. The loss is round-off: it vanishes in double, and in single
 * if the global step solves for the increment. */
static void drift_of_pd_is_round_off(void **unused)
{
    (void)unused;
    const double increment = drift_of(0), position = drift_of(1);
    print_message("centre of mass after 20 iterations of pd, h = 0.1 s, k = 1e9 Pa, ball of 1 m: increment %.2e m, "
                  "position %.2e m\n",
                  increment, position);
    if (IS_SINGLE) {
        assert_true(increment <= 1e-4);
        assert_true(position >= 10 * increment && position >= 1e-4);
    } else {
        assert_true(increment <= 1e-10 && position <= 1e-6);
    }
}

static void pins_are_exact(void **unused)
{
    (void)unused;
    const sinew_key keys[2] = {{0, {0, 0, 0}, {0, 0, 0}}, {(sinew_real)0.03, {(sinew_real)0.1, 0, 0}, {1, 0, 0}}};
    const sinew_motion motion = {2, keys, {0, 0, 0}};
    for (int kind = 0; kind < SINEW_SOLVER_COUNT; kind++)
        for (int cut = 0; cut < (kind == SINEW_SOLVER_XPBD ? 2 : 1); cut++) {
            sinew_solver_def def = solver_of((sinew_solver_kind)kind, 6);
            if (cut)
                set(&def, "substeps", 3);
            sinew_mesh *mesh = make_beam(4, 1, 1, 3, 1, 1);
            sinew_world_def world_def = sinew_default_world_def();
            sinew_error error = {0};
            int32_t held[16];
            world_def.solver = def;
            world_def.quasistatic = sinew_get_solver_info(def.kind)->static_only;
            world_def.thread_count = 1;
            world_def.time_step = (sinew_real)0.01;
            sinew_world *world = make_world(&world_def);
            sinew_body body = add_mesh(world, mesh, 1000, NULL, NULL);
            add_material(world, body, SINEW_ENERGY_STRAIN, 1e5, 0);
            sinew_pin_def pin = sinew_default_pin_def();
            pin.body = body;
            pin.vertices = held;
            pin.vertex_count = vertices_at(mesh, 0, -1.5, -1.5, held);
            pin.motion = &motion;
            sinew_world_add_pins(world, &pin, &error);
            must(&error);
            sinew_real targets[48], fixed[48], *q;
            for (int k = 0; k < 2; k++)
                step_of(world);
            q = positions_of(world);
            /* The pins of a second world with these targets must end on the same bits. */
            for (int32_t i = 0; i < pin.vertex_count; i++)
                memcpy(targets + 3 * i, q + 3 * held[i], 3 * sizeof *targets);
            sinew_pin own = {0};
            for (int32_t i = 0; i < 3 * pin.vertex_count; i++)
                fixed[i] = targets[i] + (sinew_real)0.0123;
            assert_int_equal(sinew_pin_set_targets(world, own, fixed, NULL), SINEW_OK);
            step_of(world);
            free(q);
            q = positions_of(world);
            for (int32_t i = 0; i < pin.vertex_count; i++)
                assert_memory_equal(q + 3 * held[i], fixed + 3 * i, 3 * sizeof *fixed);
            free(q);
            sinew_world_destroy(world);
            sinew_mesh_destroy(mesh);
        }
}

static void results_do_not_depend_on_threads(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < SINEW_SOLVER_COUNT; kind++) {
        sinew_solver_def def = solver_of((sinew_solver_kind)kind, 3);
        uint64_t hash[2];
        for (int threads = 1; threads <= 2; threads++) {
            /* Large enough that the colours of a sweep are divided among threads. */
            const bool still = sinew_get_solver_info(def.kind)->static_only;
            sinew_world *world = build(&scenes[still ? BEAM_STILL : BEAM_STIFF], &def, 5, threads);
            step_of(world);
            hash[threads - 1] = sinew_world_state_hash(world);
            sinew_world_destroy(world);
        }
        if (hash[0] != hash[1])
            fail_msg("%s: two threads give other bits than one", sinew_get_solver_info((sinew_solver_kind)kind)->name);
    }
}

/* ---- Refusals -------------------------------------------------------------------------------------- */

/* A dynamic or quasistatic world that its solver does not support is refused. */
static void refuse_mode(int index, sinew_solver_kind kind, const char *const *words, int word_count)
{
    sinew_error error = {0};
    sinew_step_result result;
    const sinew_solver_def def = solver_of(kind, 5);
    sinew_world *world = build(&scenes[index], &def, 1, 1);
    assert_int_equal(sinew_world_prepare(world, &error), SINEW_ERROR_UNSUPPORTED);
    for (int i = 0; i < word_count; i++)
        if (!strstr(error.text, words[i]))
            fail_msg("\"%s\" does not say \"%s\"", error.text, words[i]);
    const uint64_t hash = sinew_world_state_hash(world);
    assert_int_equal(sinew_world_step(world, &result), SINEW_STEP_UNPREPARED);
    assert_string_equal(sinew_world_error(world), error.text);
    assert_true(sinew_world_state_hash(world) == hash);
    sinew_world_destroy(world);
}

static void wrong_modes_are_refused_before_the_first_step(void **unused)
{
    (void)unused;
    static const char *const xpbd[] = {"xpbd cannot be quasistatic", "masses", "divides by zero", "xpbd-qs", "newton"};
    static const char *const qs[] = {"xpbd-qs finds equilibria only", "quasistatic", "use xpbd"};
    refuse_mode(BEAM_STILL, SINEW_SOLVER_XPBD, xpbd, 5);
    refuse_mode(BEAM_SOFT, SINEW_SOLVER_XPBD_QS, qs, 3);
}

/* For every unsupported pair: the energy is refused if the solver is set first, the solver if the energy is added
 * first. */
static void pairs_that_do_not_fit_are_refused(void **unused)
{
    (void)unused;
    int refused = 0;
    for (int solver = 0; solver < SINEW_SOLVER_COUNT; solver++)
        for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++) {
            if (sinew_get_energy_info((sinew_energy_kind)kind)->stencil != SINEW_STENCIL_TET ||
                sinew_solver_accepts((sinew_solver_kind)solver, (sinew_energy_kind)kind, NULL, 0))
                continue;
            sinew_error error = {0};
            scene s = scenes[BALL_SOFT];
            s.kind = (sinew_energy_kind)kind;
            s.poisson = 0.3;
            if (sinew_get_solver_info((sinew_solver_kind)solver)->static_only)
                s.h = 0; /* otherwise the mode would be refused first */
            const sinew_solver_def newton = solver_of(SINEW_SOLVER_NEWTON, 5),
                                   def = solver_of((sinew_solver_kind)solver, 5);
            sinew_world *world = build(&s, &newton, 1, 1);
            sinew_status status = sinew_world_set_solver(world, &def, &error);
            if (status == SINEW_OK)
                status = sinew_world_prepare(world, &error);
            assert_int_equal(status, SINEW_ERROR_UNSUPPORTED);
            assert_non_null(strstr(error.text, sinew_get_solver_info((sinew_solver_kind)solver)->name));
            assert_non_null(strstr(error.text, sinew_get_energy_info((sinew_energy_kind)kind)->name));
            sinew_world_destroy(world);
            refused++;
        }
    assert_true(refused >= 6); /* pd and the six materials that are no distance */
}

/* Full quasi-Newton steps on a quartic energy far from rest diverge. */
static void divergence_keeps_the_last_good_state(void **unused)
{
    (void)unused;
    scene s = scenes[BALL_STIFF];
    sinew_solver_def def = solver_of(SINEW_SOLVER_QN, 200);
    sinew_step_result result;
    s.kind = SINEW_ENERGY_ST_VENANT_KIRCHHOFF;
    s.poisson = 0.3;
    set(&def, "window", 0);
    set(&def, "search", 2);
    sinew_world *world = build(&s, &def, 1, 1);
    const int32_t n = sinew_world_particle_count(world);
    sinew_real *q = positions_of(world);
    for (int32_t i = 0; i < 3 * n; i++)
        q[i] *= 6;
    assert_int_equal(sinew_world_set_positions(world, 0, n, q), SINEW_OK);
    const uint64_t hash = sinew_world_state_hash(world);
    assert_true(sinew_world_step(world, &result) & SINEW_STEP_NOT_FINITE);
    assert_true(sinew_world_state_hash(world) == hash);
    sinew_real *after = positions_of(world);
    assert_memory_equal(after, q, 3 * (size_t)n * sizeof *q);
    free(q);
    free(after);
    sinew_world_destroy(world);
}

/* Each allocation of a solver's preparation fails in turn; nothing leaks, and afterwards the preparation succeeds. */
static void survive_without_memory(const sinew_solver_def *def)
{
    failing_allocator memory = {0};
    scene s = scenes[sinew_get_solver_info(def->kind)->static_only ? BEAM_STILL : BALL_SOFT];
    s.allocator = hooks_of(&memory);
    sinew_world *world = build(&s, def, 1, 1);
    sinew_status status = SINEW_ERROR_MEMORY;
    int64_t refused = 0;
    for (int64_t n = 1; status == SINEW_ERROR_MEMORY; n++, refused++) {
        sinew_error error = {0};
        memory.calls = 0;
        memory.fail_at = n;
        status = sinew_world_prepare(world, &error);
    }
    memory.fail_at = 0;
    assert_int_equal(status, SINEW_OK);
    assert_true(refused > (sinew_get_solver_info(def->kind)->explicit_step ? 5 : 10));
    step_of(world);
    sinew_world_destroy(world);
    assert_int_equal(memory.live, 0);
}

/* Every solver with default parameters, and with parameters that need other memory. */
static void prepare_survives_without_memory(void **unused)
{
    (void)unused;
    static const struct {
        sinew_solver_kind kind;
        const char *parameter;
        double value;
    } cases[] = {
        {SINEW_SOLVER_PD, "form", 1},       {SINEW_SOLVER_QN, "window", 3},     {SINEW_SOLVER_XPBD, "order", 2},
        {SINEW_SOLVER_XPBD, "substeps", 2}, {SINEW_SOLVER_PBD, "order", 1},     {SINEW_SOLVER_NEWTON, "linear", 2},
        {SINEW_SOLVER_NEWTON, "linear", 3}, {SINEW_SOLVER_NEWTON, "linear", 4}, {SINEW_SOLVER_XPBD_QS, "first", 1},
        {SINEW_SOLVER_PBNG, "hessian", 1},
    };
    for (int kind = 0; kind < SINEW_SOLVER_COUNT; kind++) {
        const sinew_solver_def def = solver_of((sinew_solver_kind)kind, 4);
        survive_without_memory(&def);
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (cases[i].kind == SINEW_SOLVER_NEWTON && cases[i].value == 3 && !linear_methods_register())
            continue; /* lu needs a registered linear solver */
        sinew_solver_def def = solver_of(cases[i].kind, 4);
        set(&def, cases[i].parameter, cases[i].value);
        survive_without_memory(&def);
    }
}

/* The text of a page, truncated at 64 KB. */
static const char *page_of(const char *name)
{
    static char text[65536];
    char path[1024];
    snprintf(path, sizeof path, SINEW_SOURCE_DIR "/docs/reference/solvers/%s.md", name);
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("there is no page %s", path);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void every_solver_has_a_page(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < SINEW_SOLVER_COUNT; kind++) {
        const sinew_solver_info *info = sinew_get_solver_info((sinew_solver_kind)kind);
        const char *text = page_of(info->name);
        char link[64];
        for (int32_t p = 0; p < info->parameter_count; p++)
            if (!strstr(text, info->parameters[p].name))
                fail_msg("docs/reference/solvers/%s.md does not mention the parameter %s", info->name,
                         info->parameters[p].name);
        snprintf(link, sizeof link, "(%s.md)", info->name);
        if (!strstr(page_of("index"), link))
            fail_msg("solver %s is not listed in docs/reference/solvers/index.md", info->name);
    }
}

/* The number of files of a folder in which `has` finds the name. */
static int files_with(const char *folder, const char *ending, const char *name,
                      bool (*has)(const char *path, const char *name))
{
    DIR *directory = opendir(folder);
    int count = 0;
    assert_non_null(directory);
    for (const struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        char path[2048];
        const char *dot = strrchr(entry->d_name, '.');
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        count += dot && strcmp(dot, ending) == 0 && has(path, name);
    }
    closedir(directory);
    return count;
}

static bool scene_sets(const char *path, const char *name)
{
    json_t *read = json_load_file(path, 0, NULL);
    assert_non_null(read);
    const bool sets = json_object_get(json_object_get(read, "solver"), name) != NULL;
    json_decref(read);
    return sets;
}

static bool source_quotes(const char *path, const char *name)
{
    static char text[262144];
    char quoted[64];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    snprintf(quoted, sizeof quoted, "\"%s\"", name);
    return strstr(text, quoted) != NULL;
}

/* A parameter is marked as expert if no scene and at most one experiment sets it; its page says so. */
static void marks_of_expert_parameters_hold(void **unused)
{
    (void)unused;
    int experts = 0;
    for (int kind = 0; kind < SINEW_SOLVER_COUNT; kind++) {
        const sinew_solver_info *info = sinew_get_solver_info((sinew_solver_kind)kind);
        for (int32_t p = 0; p < info->parameter_count; p++) {
            const char *name = info->parameters[p].name;
            char mark[80];
            snprintf(mark, sizeof mark, "`%s` (expert)", name);
            if (info->parameters[p].expert != (strstr(page_of(info->name), mark) != NULL))
                fail_msg("docs/solvers/%s.md: mark of %s does not match its descriptor", info->name, name);
            if (!info->parameters[p].expert)
                continue;
            experts++;
            if (files_with(SINEW_SOURCE_DIR "/scenes", ".json", name, scene_sets) > 0)
                fail_msg("%s of %s is set by a scene: not for experts alone", name, info->name);
            if (files_with(SINEW_SOURCE_DIR "/experiments", ".c", name, source_quotes) > 1)
                fail_msg("%s of %s is in several experiments: not for experts alone", name, info->name);
        }
    }
    assert_true(experts > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_momentum_is_kept),
        cmocka_unit_test(angular_momentum_is_kept_at_convergence),
        cmocka_unit_test(a_projection_keeps_both_momenta),
        cmocka_unit_test(drift_of_pd_is_round_off),
        cmocka_unit_test(pins_are_exact),
        cmocka_unit_test(results_do_not_depend_on_threads),
        cmocka_unit_test(wrong_modes_are_refused_before_the_first_step),
        cmocka_unit_test(pairs_that_do_not_fit_are_refused),
        cmocka_unit_test(divergence_keeps_the_last_good_state),
        cmocka_unit_test(prepare_survives_without_memory),
        cmocka_unit_test(every_solver_has_a_page),
        cmocka_unit_test(marks_of_expert_parameters_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
