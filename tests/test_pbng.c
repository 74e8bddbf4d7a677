/* SPDX-License-Identifier: MIT
 *
 * test_pbng.c: pbng against tightly solved Newton, at rest and in motion, from inverted states, with every kind of
 * energy in one world. A sweep never increases the objective; the layout is checked by brute force; bits do not depend
 * on the number of threads; refusals. Run with -V (ctest) for the figures of docs/reference/solvers/pbng.md.
 */
#include "layout_checks.h"
#include "pbng_worlds.h"

#include "solve/vertex_sweep/vertex_layout.h"

#define REACHED (IS_SINGLE ? 1e-5 : 1e-8)

static const sinew_energy_kind materials[] = {
    SINEW_ENERGY_COROTATED, SINEW_ENERGY_NEO_HOOKEAN,         SINEW_ENERGY_STABLE_NEO_HOOKEAN,
    SINEW_ENERGY_STRAIN,    SINEW_ENERGY_ST_VENANT_KIRCHHOFF, SINEW_ENERGY_NEO_HOOKEAN_LOG,
    SINEW_ENERGY_LINEAR,
};
enum {
    PAPERS = 4, /* the first materials, which may start inverted */
    MATERIALS = sizeof materials / sizeof materials[0]
};

/* ---- Newton's minimum ------------------------------------------------------------------------- */

static void reaches_newtons_minimum(void **unused)
{
    (void)unused;
    for (int m = 0; m < MATERIALS; m++)
        for (int still = 0; still < 2; still++)
            for (int exact = 0; exact < 2; exact++) {
                if (still && exact != (m >= PAPERS)) /* one kind of block each: quasistatic steps are slow */
                    continue;
                scene s = scenes[still ? BEAM_STILL : BEAM_SOFT];
                s.kind = materials[m];
                s.stiffness = 1e6;
                s.poisson = 0.3;
                sinew_solver_def def = pbng(20000, CHEBYSHEV, exact);
                def.tolerance = (sinew_real)REACHED;
                sinew_real *best;
                const double min = newton_minimum(&s, &best);
                sinew_world *world = build(&s, &def, 1, 1);
                const sinew_step_result result = step_of(world);
                sinew_real *q = positions_of(world);
                const double apart = largest_difference(q, best, 3 * sinew_world_particle_count(world));
                print_message("%-20s %-11s %-5s: relative residual %.1e after %5d iterations, %.1e m from Newton's\n",
                              name_of(s.kind), still ? "quasistatic" : "dynamic", exact ? "exact" : "cheap",
                              result.relative_residual, result.iterations, apart);
                if (!IS_SINGLE && !(result.relative_residual <= REACHED))
                    fail_msg("relative residual %g", result.relative_residual);
                assert_true(apart <= (IS_SINGLE ? 1e-2 : 1e-5));
                assert_true(fabs(result.objective - min) <= (IS_SINGLE ? 1e-4 : 1e-10) * (fabs(min) + 1));
                free(q);
                free(best);
                sinew_world_destroy(world);
            }
}

/* Starts with a tenth of the tets inverted. A quasistatic result is a minimum: Newton started there does not move. A
 * dynamic result is Newton's own minimum. */
static void recovers_from_inversion(void **unused)
{
    (void)unused;
    for (int m = 0; m < PAPERS; m++)
        for (int still = 0; still < 2; still++) {
            const double h = still ? 0 : 1e-2;
            sinew_solver_def def = pbng(40000, CHEBYSHEV, 0), newton = solver_of(SINEW_SOLVER_NEWTON, 300);
            newton.tolerance = (sinew_real)(IS_SINGLE ? 1e-6 : 1e-12);
            def.tolerance = (sinew_real)REACHED;
            sinew_world *world = inverted_world(materials[m], 1e5, h, &def);
            sinew_measures before, after;
            sinew_world_measure(world, &before);
            sinew_world *other = inverted_world(materials[m], 1e5, h, &newton);
            const sinew_step_result result = step_of(world);
            sinew_world_measure(world, &after);
            sinew_real *q = positions_of(world);
            const int32_t n = sinew_world_particle_count(world);
            if (still)
                assert_int_equal(sinew_world_set_positions(other, 0, n, q), SINEW_OK);
            const sinew_step_result reference = step_of(other);
            sinew_real *best = positions_of(other);
            const double apart = largest_difference(q, best, 3 * n);
            print_message("%-20s %-11s %3d of %d tets inverted: relative residual %.1e after %5d iterations, %d "
                          "inverted, %.1e m from Newton's\n",
                          name_of(materials[m]), still ? "quasistatic" : "dynamic", before.inverted_count,
                          INVERTED_TETS, result.relative_residual, result.iterations, after.inverted_count, apart);
            assert_true(before.inverted_count >= INVERTED_TETS / 10);
            if (result.bits & SINEW_STEP_NOT_CONVERGED)
                fail_msg("relative residual %g", result.relative_residual);
            assert_true(apart <= (IS_SINGLE ? 1e-2 : 1e-5));
            assert_true(fabs(result.objective - reference.objective) <=
                        (IS_SINGLE ? 1e-3 : 1e-9) * (fabs(reference.objective) + 1));
            free(q);
            free(best);
            sinew_world_destroy(world);
            sinew_world_destroy(other);
        }
}

/* ---- Monotone objective ------------------------------------------------------------------------- */

static void sweeps_never_raise_the_objective(void **unused)
{
    (void)unused;
    static const double steps[] = {0, 1e-1, 1e-3}, moduli[] = {1e3, 1e6, 1e9};
    for (int m = 0; m < MATERIALS; m++)
        for (int how = 0; how < 4; how++) {
            double max = 0;
            for (int i = 0; i < 9; i++) {
                sinew_solver_def def = pbng(30, how / 2 ? SOR_NODE : NONE, how % 2);
                def.record = SINEW_RECORD_ITERATIONS;
                if (materials[m] == SINEW_ENERGY_NEO_HOOKEAN_LOG) {
                    scene s = scenes[BEAM_STILL];
                    s.kind = materials[m];
                    s.poisson = 0.3;
                    s.h = steps[i % 3];
                    s.stiffness = moduli[i / 3];
                    sinew_world *world = build(&s, &def, 1, 1);
                    max = fmax(max, largest_rise(world));
                    sinew_world_destroy(world);
                    continue;
                }
                sinew_world *world = inverted_world(materials[m], moduli[i / 3], steps[i % 3], &def);
                max = fmax(max, largest_rise(world));
                sinew_world_destroy(world);
            }
            print_message("%-20s %-8s %-5s: largest rise %.3f of the objective's round-off\n", name_of(materials[m]),
                          how / 2 ? "sor_node" : "none", how % 2 ? "exact" : "cheap", max);
            assert_true(max <= 1);
        }
}

/* ---- All energies in one world ---------------------------------------------------------------- */

enum {
    JOINED_PAIRS = 12
};

/* Two blocks of different rubber, one above the other, joined by anisotropic pairs; springs in the lower, pinned block,
 * and anchors at the top of the upper one. */
static sinew_world *joined_world(const sinew_solver_def *def, int threads, int cells, int pairs, double h)
{
    sinew_error error = {0};
    sinew_world_def world_def = sinew_default_world_def();
    sinew_mesh *mesh = make_beam(cells, cells, cells, 1, 1, 1);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    const sinew_real *X = sinew_mesh_positions(mesh);
    sinew_real *above = make_array(3 * (size_t)n, sizeof *above);
    int32_t *some = make_array((size_t)n, sizeof *some), *corner = make_array((size_t)n, sizeof *corner);
    for (int32_t i = 0; i < 3 * n; i++)
        above[i] = X[i] + (sinew_real)(i % 3 == 1 ? 1.05 : 0.02);
    world_def.quasistatic = h == 0;
    if (h > 0)
        world_def.time_step = (sinew_real)h;
    world_def.thread_count = threads;
    world_def.solver = *def;
    sinew_world *world = make_world(&world_def);
    sinew_body low = add_mesh(world, mesh, 1000, NULL, NULL), high = add_mesh(world, mesh, 500, above, NULL);
    add_material(world, low, SINEW_ENERGY_COROTATED, 1e5, 0.3);
    add_material(world, high, SINEW_ENERGY_NEO_HOOKEAN, 5e4, 0.4);
    add_springs(world, low, 300);
    add_pins(world, low, some, vertices_at(mesh, 1, -0.5, -0.5, some), NULL);
    sinew_energy_def anchor = sinew_default_energy_def(SINEW_ENERGY_POSITION);
    anchor.body = high;
    anchor.elements = some;
    anchor.element_count = vertices_at(mesh, 1, 0.5, 0.5, some);
    anchor.parameters[0] = 2000;
    add_energy(world, &anchor);
    sinew_energy_def weak = sinew_default_energy_def(SINEW_ENERGY_WEAK);
    int32_t elements[8 * JOINED_PAIRS];
    sinew_real weights[8 * JOINED_PAIRS] = {0}, normals[3 * JOINED_PAIRS];
    const int32_t tops = vertices_at(mesh, 1, 0.5, 0.5, some), bottoms = vertices_at(mesh, 1, -0.5, -0.5, corner);
    for (int p = 0; p < JOINED_PAIRS; p++) {
        /* Three vertices of the lower face, one of them listed twice; one of the upper. */
        for (int a = 0; a < 4; a++) {
            elements[8 * p + a] = some[(p + (a < 3 ? a : 0)) % tops];
            elements[8 * p + 4 + a] = n + corner[p % bottoms];
        }
        weights[8 * p] = weights[8 * p + 3] = (sinew_real)0.25;
        weights[8 * p + 1] = (sinew_real)0.3;
        weights[8 * p + 2] = (sinew_real)0.2;
        weights[8 * p + 4] = 1;
        normals[3 * p] = (sinew_real)0.1;
        normals[3 * p + 1] = 1;
        normals[3 * p + 2] = 0;
    }
    weak.body.index = -1;
    weak.elements = elements;
    weak.element_count = pairs;
    weak.weights = weights;
    weak.normals = normals;
    weak.parameters[0] = 5000;
    weak.parameters[1] = 400;
    if (pairs > 0)
        sinew_world_add_energy(world, &weak, &error);
    must(&error);
    free(above);
    free(some);
    free(corner);
    sinew_mesh_destroy(mesh);
    return world;
}

static void all_energies_together(void **unused)
{
    (void)unused;
    for (int still = 0; still < 2; still++) {
        sinew_solver_def newton = solver_of(SINEW_SOLVER_NEWTON, 200), def = pbng(20000, SOR_NODE, 0);
        newton.tolerance = (sinew_real)(IS_SINGLE ? 1e-6 : 1e-12);
        def.tolerance = (sinew_real)REACHED;
        sinew_world *world = joined_world(&def, 1, 2, JOINED_PAIRS, still ? 0 : 0.02);
        sinew_world *other = joined_world(&newton, 1, 2, JOINED_PAIRS, still ? 0 : 0.02);
        for (int k = 0; k < 3; k++) {
            const sinew_step_result result = step_of(world);
            step_of(other);
            if (result.bits & SINEW_STEP_NOT_CONVERGED)
                fail_msg("relative residual %g", result.relative_residual);
        }
        sinew_real *q = positions_of(world), *best = positions_of(other);
        const double apart = largest_difference(q, best, 3 * sinew_world_particle_count(world));
        print_message("two bodies, pairs, springs, anchors, %s: %.1e m from Newton's after 3 steps\n",
                      still ? "quasistatic" : "dynamic", apart);
        assert_true(apart <= (IS_SINGLE ? 1e-2 : 1e-5));
        free(q);
        free(best);
        sinew_world_destroy(world);
        sinew_world_destroy(other);
    }
}

/* Pairs are added and removed between steps: the bits equal those of a world built without the history. */
static void pairs_come_and_go(void **unused)
{
    (void)unused;
    sinew_solver_def def = pbng(5, NONE, 0);
    sinew_world *with = joined_world(&def, 1, 3, JOINED_PAIRS, 0.02), *without = joined_world(&def, 1, 3, 0, 0.02);
    for (int k = 0; k < 2; k++) {
        step_of(with);
        step_of(without);
    }
    assert_true(sinew_world_state_hash(with) != sinew_world_state_hash(without));
    assert_int_equal(sinew_world_remove_energy(with, (sinew_energy){.index = 4}, NULL), SINEW_OK);
    const size_t size = sinew_world_state_size(without);
    void *blob = make_array(size, 1);
    assert_int_equal(sinew_world_state_save(without, blob, size), SINEW_OK);
    assert_int_equal(sinew_world_state_load(with, blob, size, NULL), SINEW_OK);
    step_of(with);
    step_of(without);
    assert_true(sinew_world_state_hash(with) == sinew_world_state_hash(without));
    free(blob);
    sinew_world_destroy(with);
    sinew_world_destroy(without);
}

/* ---- Layout ----------------------------------------------------------------------------------- */

static void layout_holds_every_incidence_once(void **unused)
{
    (void)unused;
    const sinew_solver_def def = pbng(1, NONE, 0);
    for (int pairs = 0; pairs <= JOINED_PAIRS; pairs += JOINED_PAIRS) {
        sinew_error error = {0};
        sinew_vertex_layout layout;
        sinew_world *world = joined_world(&def, 1, 4, pairs, 0.02);
        assert_int_equal(sinew_world_prepare(world, &error), SINEW_OK);
        assert_int_equal(sinew_vertex_layout_create(&layout, &world->objective, sinew_simd(), false, &error), SINEW_OK);
        print_message("two blocks, %2d pairs: %d colours\n", pairs, layout.colour_count);
        assert_incidences(&layout);
        sinew_vertex_layout_destroy(&layout);
        sinew_world_destroy(world);
    }
}

/* The block has four colours; PBNG table 1 has five. */
static void block_has_four_colours(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    sinew_box_def box = sinew_default_box_def();
    sinew_vertex_layout layout;
    const sinew_solver_def def = pbng(1, NONE, 0);
    sinew_world_def world_def = sinew_default_world_def();
    world_def.solver = def;
    for (int i = 0; i < 3; i++)
        box.vertices[i] = 12;
    sinew_mesh *mesh = sinew_mesh_box(&box, &error);
    must(&error);
    sinew_world *world = make_world(&world_def);
    add_material(world, add_mesh(world, mesh, 1000, NULL, NULL), SINEW_ENERGY_COROTATED, 1e5, 0.3);
    assert_int_equal(sinew_world_prepare(world, &error), SINEW_OK);
    assert_int_equal(sinew_vertex_layout_create(&layout, &world->objective, sinew_simd(), false, &error), SINEW_OK);
    assert_int_equal(layout.colour_count, 4);
    assert_incidences(&layout);
    sinew_vertex_layout_destroy(&layout);
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
}

/* Large enough that every colour is divided among threads. */
static void results_do_not_depend_on_threads(void **unused)
{
    (void)unused;
    for (int kind = NONE; kind <= CHEBYSHEV; kind++) {
        const sinew_solver_def def = pbng(4, kind, kind == NONE);
        uint64_t hash[3];
        for (int threads = 1; threads <= 3; threads++) {
            sinew_world *world = joined_world(&def, threads, kind == NONE ? 9 : 12, JOINED_PAIRS, 0.02);
            step_of(world);
            hash[threads - 1] = sinew_world_state_hash(world);
            sinew_world_destroy(world);
        }
        assert_true(hash[0] == hash[1] && hash[0] == hash[2]);
    }
}

/* ---- Momentum, refusals ----------------------------------------------------------------------- */

/* Single sweeps do not conserve momentum; the minimum does. */
static void momentum_is_kept_at_convergence(void **unused)
{
    (void)unused;
    for (int m = 0; m < PAPERS; m++) {
        scene s = scenes[BALL_SOFT];
        s.kind = materials[m];
        s.stiffness = 1e5;
        s.poisson = 0.3;
        sinew_solver_def def = pbng(2000, SOR_NODE, 0);
        def.tolerance = (sinew_real)(IS_SINGLE ? 1e-5 : 1e-12);
        sinew_world *world = build(&s, &def, 1, 1);
        const int32_t n = sinew_world_particle_count(world);
        sinew_real *v = make_array(3 * (size_t)n, sizeof *v), *q = positions_of(world);
        for (int32_t i = 0; i < n; i++) {
            v[3 * i] = (sinew_real)(3 - 4 * (double)q[3 * i + 1]);
            v[3 * i + 1] = (sinew_real)(1 + 4 * (double)q[3 * i]);
        }
        assert_int_equal(sinew_world_set_velocities(world, 0, n, v), SINEW_OK);
        sinew_measures before, after;
        sinew_world_measure(world, &before);
        for (int k = 0; k < 3; k++)
            step_of(world);
        sinew_world_measure(world, &after);
        double change = 0;
        for (int c = 0; c < 3; c++)
            change = fmax(change, fabs(after.linear_momentum[c] - before.linear_momentum[c]));
        print_message("%-20s momentum changes by %.1e m/s in three steps\n", name_of(s.kind), change / before.mass);
        assert_true(change <= (IS_SINGLE ? 1e-4 : 1e-10) * 4 * before.mass);
        free(v);
        free(q);
        sinew_world_destroy(world);
    }
}

/* Without energies a node's minimum is its inertial position: one iteration, from either start. */
static void free_fall_takes_one_iteration(void **unused)
{
    (void)unused;
    for (int previous = 0; previous < 2; previous++) {
        sinew_world_def def = sinew_default_world_def();
        sinew_mesh *mesh = make_beam(2, 1, 1, 2, 1, 1);
        def.solver = pbng(1, NONE, 0);
        set(&def.solver, "start", previous);
        sinew_world *world = make_world(&def);
        add_mesh(world, mesh, 1000, NULL, NULL);
        const double fall = -9.81 * pow((double)def.time_step, 2);
        sinew_real *before = positions_of(world);
        step_of(world);
        sinew_real *after = positions_of(world);
        for (int32_t i = 0; i < 3 * sinew_world_particle_count(world); i++)
            assert_true(fabs((double)(after[i] - before[i]) - (i % 3 == 1 ? fall : 0)) <= (IS_SINGLE ? 1e-6 : 1e-14));
        free(before);
        free(after);
        sinew_world_destroy(world);
        sinew_mesh_destroy(mesh);
    }
}

static void refusals_name_the_number(void **unused)
{
    (void)unused;
    static const struct {
        const char *name;
        double value;
        const char *words;
    } cases[] = {{"omega", 2, "omega is 2,"},    {"omega", 0, "omega is 0,"},
                 {"rho", 1, "rho is 1,"},        {"rho", -0.5, "rho is -0.5,"},
                 {"gamma", 0, "gamma is 0,"},    {"gamma", 2.5, "gamma is 2.5,"},
                 {"hessian", 2, "hessian is 2"}, {"acceleration", 4, "acceleration is 4"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sinew_error error = {0};
        sinew_world_def def = sinew_default_world_def();
        def.solver = pbng(1, NONE, 0);
        set(&def.solver, cases[i].name, cases[i].value);
        assert_null(sinew_world_create(&def, &error));
        if (!strstr(error.text, cases[i].words))
            fail_msg("\"%s\" is not in: %s", cases[i].words, error.text);
    }
}

/* Springs between all of 300 particles: each needs its own colour. */
static void too_many_colours_are_refused(void **unused)
{
    (void)unused;
    enum {
        CLIQUE = 300
    };
    const double from[3] = {0, 0, 0}, to[3] = {0, 30, 1};
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    def.solver = pbng(1, NONE, 0);
    sinew_mesh *rope = make_rope(CLIQUE, from, to);
    sinew_world *world = make_world(&def);
    sinew_energy_def springs = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    int32_t *edges = make_array((size_t)CLIQUE * CLIQUE, sizeof *edges), count = 0;
    for (int32_t i = 0; i < CLIQUE; i++)
        for (int32_t j = 0; j < i; j++) {
            edges[2 * count] = i;
            edges[2 * count++ + 1] = j;
        }
    springs.body = add_mesh(world, rope, 1, NULL, NULL);
    springs.elements = edges;
    springs.element_count = count;
    add_energy(world, &springs);
    assert_int_equal(sinew_world_prepare(world, &error), SINEW_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "need 300 colours"));
    free(edges);
    sinew_world_destroy(world);
    sinew_mesh_destroy(rope);
}

/* In the caller's numbering: by brute force no two vertices of a tet share a colour, and pins have none; pairs change
 * the colours of their own vertices only; constraint solvers report their colours, Newton has none. */
static void colours_can_be_read(void **unused)
{
    (void)unused;
    sinew_solver_def def = pbng(1, NONE, 0);
    sinew_world *world = joined_world(&def, 1, 3, JOINED_PAIRS, 0.02), *apart = joined_world(&def, 1, 3, 0, 0.02);
    const int32_t count = sinew_world_particle_count(world);
    int32_t *colours = make_array((size_t)count, sizeof *colours), *before = make_array((size_t)count, sizeof *before);
    int32_t colour_count = 0, highest = -1, uncoloured = 0, changed = 0;
    assert_int_equal(sinew_world_colours(world, &colour_count, colours), SINEW_OK);
    for (int32_t b = 0; b < sinew_world_body_count(world); b++) {
        const sinew_mesh *mesh = sinew_body_mesh(world, (sinew_body){.index = b});
        const int32_t first = sinew_body_first_particle(world, (sinew_body){.index = b}), *tets = sinew_mesh_tets(mesh);
        for (int32_t t = 0; t < 4 * sinew_mesh_tet_count(mesh); t++)
            for (int32_t i = t - t % 4; i < t; i++)
                assert_true(colours[first + tets[t]] < 0 || colours[first + tets[t]] != colours[first + tets[i]]);
    }
    assert_int_equal(sinew_world_colours(apart, &colour_count, before), SINEW_OK);
    for (int32_t i = 0; i < count; i++) {
        highest = before[i] > highest ? before[i] : highest;
        uncoloured += before[i] < 0;
        changed += before[i] != colours[i];
    }
    assert_int_equal(highest + 1, colour_count);
    assert_int_equal(uncoloured, 16);
    assert_true(changed <= 4 * JOINED_PAIRS);
    def = solver_of(SINEW_SOLVER_XPBD, 1);
    assert_int_equal(sinew_world_set_solver(apart, &def, NULL), SINEW_OK);
    assert_int_equal(sinew_world_colours(apart, &colour_count, colours), SINEW_OK);
    assert_true(colour_count > highest + 1 && colours[0] == -1);
    def = solver_of(SINEW_SOLVER_NEWTON, 1);
    assert_int_equal(sinew_world_set_solver(apart, &def, NULL), SINEW_OK);
    assert_int_equal(sinew_world_colours(apart, &colour_count, NULL), SINEW_OK);
    assert_int_equal(colour_count, 0);
    free(colours);
    free(before);
    sinew_world_destroy(world);
    sinew_world_destroy(apart);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reaches_newtons_minimum),
        cmocka_unit_test(recovers_from_inversion),
        cmocka_unit_test(sweeps_never_raise_the_objective),
        cmocka_unit_test(all_energies_together),
        cmocka_unit_test(pairs_come_and_go),
        cmocka_unit_test(layout_holds_every_incidence_once),
        cmocka_unit_test(block_has_four_colours),
        cmocka_unit_test(colours_can_be_read),
        cmocka_unit_test(results_do_not_depend_on_threads),
        cmocka_unit_test(momentum_is_kept_at_convergence),
        cmocka_unit_test(free_fall_takes_one_iteration),
        cmocka_unit_test(refusals_name_the_number),
        cmocka_unit_test(too_many_colours_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
