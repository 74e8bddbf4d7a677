/* SPDX-License-Identifier: MIT
 *
 * test_quasistatic.c: equilibria: every quasistatic solver against Newton's, load steps, refusal of unsupported bodies,
 * and properties of PBD and XPBD in pseudo-time (PBNG 6.1, 11.3, 11.4).
 */
#include <pthread.h>

#include "solver_scenes.h"

#include "sinew/scene.h"

/* ---- A bar that hangs, and a bar that sticks out ---------------------------------------------- */

typedef struct bar {
    sinew_energy_kind kind;
    double young, gravity;
    int32_t load_steps;
    int axis; /* of the held face: 1, the upper one: the bar hangs; 0, the left one: it bends */
} bar;

static const bar hanging = {SINEW_ENERGY_STRAIN, 2e4, 9.81, 0, 1};
static const bar bending = {SINEW_ENERGY_COROTATED, 1e3, 9.81, 0, 0}; /* values of PBNG 11.4 */

/* A bar of 1 x 0.5 x 0.5 m; its density is 1000 kg/m3 if it hangs, 10 if it bends. */
static sinew_world *bar_world(const bar *b, const sinew_solver_def *solver)
{
    sinew_world_def def = sinew_default_world_def();
    sinew_mesh *mesh = make_beam(6, 3, 3, 1, 0.5, 0.5);
    int32_t held[64];
    def.quasistatic = true;
    def.thread_count = 1;
    def.time_step = 1;
    def.gravity[1] = (sinew_real)-b->gravity;
    def.load_steps = b->load_steps;
    def.solver = *solver;
    sinew_world *world = make_world(&def);
    sinew_body body = add_mesh(world, mesh, b->axis ? 1000 : 10, NULL, NULL);
    add_material(world, body, b->kind, b->young, 0.3);
    const double at = b->axis ? 0.25 : -0.5;
    add_pins(world, body, held, vertices_at(mesh, b->axis, at, at, held), NULL);
    sinew_mesh_destroy(mesh);
    return world;
}

static sinew_solver_def tight_newton(void)
{
    sinew_solver_def def = solver_of(SINEW_SOLVER_NEWTON, 200);
    def.tolerance = (sinew_real)(IS_SINGLE ? 1e-5 : 1e-11);
    return def;
}

/* Positions of the bar after some steps. */
static sinew_real *bar_after(const bar *b, const sinew_solver_def *solver, int steps, sinew_step_result *result)
{
    sinew_world *world = bar_world(b, solver);
    for (int k = 0; k < steps; k++)
        *result = step_of(world);
    sinew_real *q = positions_of(world);
    sinew_world_destroy(world);
    return q;
}

static int32_t bar_numbers(void)
{
    return 3 * 7 * 4 * 4;
}

/* The largest distance of q from the bar's rest shape. */
static double sag_of(const sinew_real *q)
{
    sinew_mesh *mesh = make_beam(6, 3, 3, 1, 0.5, 0.5);
    const double sag = largest_difference(q, sinew_mesh_positions(mesh), bar_numbers());
    sinew_mesh_destroy(mesh);
    return sag;
}

/* ---- Every solver ----------------------------------------------------------------------------- */

/* Whether a solver minimises the objective; the others have properties of their own, tested below. */
static bool minimises(sinew_solver_kind kind)
{
    return sinew_get_solver_info(kind)->quasistatic && kind != SINEW_SOLVER_PBD && kind != SINEW_SOLVER_XPBD_QS;
}

static void every_solver_finds_newtons_equilibrium(void **unused)
{
    (void)unused;
    const sinew_solver_def newton = tight_newton();
    int tried = 0;
    for (int32_t load_steps = 0; load_steps <= 3; load_steps += 3) {
        bar b = hanging;
        sinew_step_result result;
        b.load_steps = load_steps;
        const int steps = load_steps ? load_steps : 1;
        sinew_real *best = bar_after(&b, &newton, steps, &result);
        const double sag = sag_of(best);
        for (int kind = 0; kind < SINEW_SOLVER_COUNT; kind++) {
            if (!minimises((sinew_solver_kind)kind))
                continue;
            sinew_solver_def def = solver_of((sinew_solver_kind)kind, 3000);
            def.tolerance = (sinew_real)(IS_SINGLE ? 1e-3 : 1e-6);
            sinew_real *q = bar_after(&b, &def, steps, &result);
            const double apart = largest_difference(q, best, bar_numbers());
            print_message(
                "%-7s %d load steps: %4d iterations in the last, relative residual %.1e, %.1e m from Newton's "
                "of %.2g m\n",
                sinew_get_solver_info(def.kind)->name, (int)load_steps, result.iterations, result.relative_residual,
                apart, sag);
            assert_int_equal(result.bits & (SINEW_STEP_NOT_CONVERGED | SINEW_STEP_STALLED), 0);
            assert_true(apart < (IS_SINGLE ? 1e-2 : 1e-5) * sag);
            free(q);
            tried++;
        }
        free(best);
    }
    assert_true(tried >= 8); /* newton, pd, qn, admm, with and without load steps */
}

/* The soft bar of PBNG 11.4 bends by half its length. ADMM's automatic weight, made for small rotations, does not
 * converge there; three times PD's weight does. */
static void solvers_find_a_bar_bent_far(void **unused)
{
    (void)unused;
    sinew_step_result result;
    const sinew_solver_def newton = tight_newton();
    sinew_real *best = bar_after(&bending, &newton, 1, &result);
    for (int kind = 0; kind < SINEW_SOLVER_COUNT; kind++) {
        if (!minimises((sinew_solver_kind)kind) ||
            !sinew_solver_accepts((sinew_solver_kind)kind, bending.kind, NULL, 0))
            continue;
        sinew_solver_def def = solver_of((sinew_solver_kind)kind, 5000);
        def.record = SINEW_RECORD_NONE;
        def.tolerance = (sinew_real)1e-3;
        sinew_real *q = bar_after(&bending, &def, 1, &result);
        const double apart = largest_difference(q, best, bar_numbers());
        print_message("%-7s bent far: %4d iterations, relative residual %.1e, %.1e m from Newton's of %.2g m\n",
                      sinew_get_solver_info(def.kind)->name, result.iterations, result.relative_residual, apart,
                      sag_of(best));
        assert_int_equal(result.bits & (SINEW_STEP_NOT_CONVERGED | SINEW_STEP_STALLED), 0);
        assert_true(apart < 0.02 * sag_of(best));
        free(q);
    }
    free(best);
}

/* ---- Loads ------------------------------------------------------------------------------------ */

/* Step k of n finds the equilibrium of k/n of the load; once the full load acts, positions no longer change. */
static void loads_grow_step_by_step(void **unused)
{
    (void)unused;
    enum {
        LOAD_STEPS = 4
    };
    const sinew_solver_def newton = tight_newton();
    bar ramped = bending;
    ramped.load_steps = LOAD_STEPS;
    sinew_world *world = bar_world(&ramped, &newton);
    const int32_t n = sinew_world_particle_count(world);
    sinew_real *force = make_array(3 * (size_t)n, sizeof *force);
    force[3 * (n - 1) + 2] = (sinew_real)0.3;
    assert_int_equal(sinew_world_set_forces(world, 0, n, force), SINEW_OK);
    sinew_measures measures;
    assert_int_equal(sinew_world_measure(world, &measures), SINEW_OK);
    assert_true(measures.residual < (IS_SINGLE ? 1e-2 : 1e-10) && measures.potential == 0); /* no load acts yet */
    for (int k = 1; k <= LOAD_STEPS + 1; k++) {
        const double load = fmin(1, (double)k / LOAD_STEPS);
        bar once = bending;
        once.gravity *= load;
        const sinew_step_result result = step_of(world);
        sinew_world *other = bar_world(&once, &newton);
        sinew_real *part = make_array(3 * (size_t)n, sizeof *part);
        part[3 * (n - 1) + 2] = (sinew_real)(0.3 * load);
        assert_int_equal(sinew_world_set_forces(other, 0, n, part), SINEW_OK);
        const sinew_step_result at_once = step_of(other);
        sinew_real *q = positions_of(world), *p = positions_of(other);
        print_message("load step %d: %d iterations, %d from rest; %.1e m apart, sag %.2g m\n", k, result.iterations,
                      at_once.iterations, largest_difference(q, p, 3 * n), sag_of(q));
        assert_true(largest_difference(q, p, 3 * n) < (IS_SINGLE ? 2e-3 : 1e-8));
        /* Measures refer to the current load. */
        assert_int_equal(sinew_world_measure(world, &measures), SINEW_OK);
        assert_true(measures.residual == result.residual);
        if (k > LOAD_STEPS)
            assert_true(result.iterations <= 1); /* starts at the last equilibrium */
        free(q);
        free(p);
        free(part);
        sinew_world_destroy(other);
    }
    free(force);
    sinew_world_destroy(world);
}

static void states_go_on_in_the_middle_of_loading(void **unused)
{
    (void)unused;
    const sinew_solver_def newton = tight_newton();
    bar b = hanging;
    b.load_steps = 4;
    sinew_world *first = bar_world(&b, &newton), *second = bar_world(&b, &newton);
    for (int k = 0; k < 2; k++)
        step_of(first);
    const size_t size = sinew_world_state_size(first);
    void *blob = make_array(size, 1);
    assert_int_equal(sinew_world_state_save(first, blob, size), SINEW_OK);
    assert_int_equal(sinew_world_state_load(second, blob, size, NULL), SINEW_OK);
    for (int k = 0; k < 2; k++) {
        step_of(first);
        step_of(second);
    }
    assert_true(sinew_world_state_hash(first) == sinew_world_state_hash(second));
    free(blob);
    sinew_world_destroy(first);
    sinew_world_destroy(second);
}

/* The scene's gravity grows over four steps: the potential energy is that of the current fraction of the weight. */
static void scenes_have_load_steps(void **unused)
{
    (void)unused;
    static const char *const settings[] = {"solver.name=newton", "threads=1"};
    sinew_error error = {0};
    sinew_scene_def def = sinew_default_scene_def();
    def.path = SINEW_SOURCE_DIR "/scenes/hanging_blocks.json";
    def.settings = settings;
    def.setting_count = 2;
    sinew_scene *loaded = sinew_scene_read(&def, &error);
    must(&error);
    for (int k = 1; k <= 5; k++) {
        sinew_measures m;
        step_of(sinew_scene_world(loaded));
        assert_int_equal(sinew_world_measure(sinew_scene_world(loaded), &m), SINEW_OK);
        const double whole = 9.8 * m.mass * m.centre_of_mass[1];
        assert_true(fabs(m.potential / whole - fmin(1, k / 4.0)) < (IS_SINGLE ? 1e-4 : 1e-12));
    }
    sinew_scene_destroy(loaded);
}

static void negative_load_steps_are_refused(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    def.load_steps = -1;
    assert_null(sinew_world_create(&def, &error));
    assert_non_null(strstr(error.text, "load_steps is -1"));
}

/* ---- Support ---------------------------------------------------------------------------------- */

/* Two cubes of eight vertices: the first is held by its left face, the second is free, 1 m to the right. */
typedef struct cubes {
    sinew_world *world;
    sinew_body body[2];
} cubes;

static cubes make_cubes(const sinew_solver_def *solver)
{
    sinew_world_def def = sinew_default_world_def();
    sinew_mesh *mesh = make_beam(1, 1, 1, 1, 1, 1);
    sinew_real moved[24];
    int32_t held[8];
    def.quasistatic = true;
    def.thread_count = 1;
    def.solver = *solver;
    cubes c = {.world = make_world(&def)};
    for (int i = 0; i < 24; i++)
        moved[i] = sinew_mesh_positions(mesh)[i] + (sinew_real)(i % 3 == 0 ? 1 : 0);
    for (int i = 0; i < 2; i++) {
        c.body[i] = add_mesh(c.world, mesh, 1, i ? moved : NULL, NULL);
        add_material(c.world, c.body[i], SINEW_ENERGY_COROTATED, 1e4, 0.3);
    }
    add_pins(c.world, c.body[0], held, vertices_at(mesh, 0, -0.5, -0.5, held), NULL);
    sinew_mesh_destroy(mesh);
    return c;
}

/* Joins one vertex of each cube with the caller's weights; unused entries are vertex 0. */
static sinew_status join(const cubes *c, sinew_real first, sinew_real second, sinew_real stiffness, sinew_error *error)
{
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_WEAK);
    const int32_t elements[8] = {7, 0, 0, 0, 8, 15, 15, 15};
    const sinew_real weights[8] = {first, 0, 0, 0, second, 1 - second, 0, 0};
    def.parameters[0] = def.parameters[1] = stiffness;
    def.element_count = 1;
    def.elements = elements;
    def.weights = weights;
    sinew_world_add_energy(c->world, &def, error);
    return error->status;
}

static void refused_with(sinew_status status, const sinew_error *error, const char *const *words, int count)
{
    assert_int_equal(status, SINEW_ERROR_DATA);
    for (int i = 0; i < count; i++)
        if (!strstr(error->text, words[i]))
            fail_msg("\"%s\" does not say \"%s\"", error->text, words[i]);
}

static void free_pieces_are_named(void **unused)
{
    (void)unused;
    static const char *const words[] = {"body 1",          "8 particles",   "particle 8", "vertex 0 of the body",
                                        "held by nothing", "no equilibrium"};
    const sinew_solver_def newton = tight_newton();
    sinew_error error = {0};
    cubes c = make_cubes(&newton);
    refused_with(sinew_world_prepare(c.world, &error), &error, words, 6);
    /* A pair without stiffness supports nothing. */
    assert_int_equal(join(&c, 1, 1, 0, &error), SINEW_OK);
    refused_with(sinew_world_prepare(c.world, &error), &error, words, 6);
    /* Nor does a pair that uses a vertex of the free cube with weight zero. */
    sinew_energy_def idle = sinew_default_energy_def(SINEW_ENERGY_WEAK);
    idle.element_count = 1;
    idle.elements = (const int32_t[]){7, 8, 8, 8, 0, 8, 8, 8};
    idle.weights = (const sinew_real[]){1, 0, 0, 0, 1, 0, 0, 0};
    add_energy(c.world, &idle);
    refused_with(sinew_world_prepare(c.world, &error), &error, words, 6);
    /* A pair with stiffness supports the cube at a single vertex: the cube rotates about it and hangs from it. */
    assert_int_equal(join(&c, 1, 1, 1000, &error), SINEW_OK);
    assert_int_equal(sinew_world_prepare(c.world, &error), SINEW_OK);
    sinew_world_destroy(c.world);
}

/* Three bodies in a row, joined by springs, are one free component. Then one vertex gets a target. */
static void pieces_of_several_bodies_count_as_one(void **unused)
{
    (void)unused;
    const sinew_solver_def newton = tight_newton();
    static const char *const words[] = {"body 1", "1 more body", "16 particles"};
    sinew_error error = {0};
    cubes c = make_cubes(&newton);
    sinew_mesh *mesh = make_beam(1, 1, 1, 1, 1, 1);
    sinew_body third = add_mesh(c.world, mesh, 1, NULL, NULL);
    add_material(c.world, third, SINEW_ENERGY_COROTATED, 1e4, 0.3);
    sinew_energy_def spring = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    spring.element_count = 1;
    spring.elements = (const int32_t[]){15, 16};
    add_energy(c.world, &spring);
    refused_with(sinew_world_prepare(c.world, &error), &error, words, 3);
    sinew_energy_def position = sinew_default_energy_def(SINEW_ENERGY_POSITION);
    position.element_count = 1;
    position.elements = (const int32_t[]){23};
    add_energy(c.world, &position);
    assert_int_equal(sinew_world_prepare(c.world, &error), SINEW_OK);
    sinew_mesh_destroy(mesh);
    sinew_world_destroy(c.world);
}

/* A cube pinned at one corner, under gravity, hangs with its centre below the pin. */
static void one_pinned_vertex_is_enough(void **unused)
{
    (void)unused;
    sinew_world_def def = sinew_default_world_def();
    sinew_mesh *mesh = make_beam(1, 1, 1, 1, 1, 1);
    def.quasistatic = true;
    def.thread_count = 1;
    def.solver = tight_newton();
    def.solver.iterations = 1000;
    sinew_world *world = make_world(&def);
    sinew_body body = add_mesh(world, mesh, 1, NULL, NULL);
    add_material(world, body, SINEW_ENERGY_COROTATED, 1e4, 0.3);
    add_pins(world, body, (const int32_t[]){7}, 1, NULL);
    const sinew_step_result result = step_of(world);
    sinew_measures measures;
    sinew_real *q = positions_of(world);
    assert_int_equal(sinew_world_measure(world, &measures), SINEW_OK);
    const double aside = hypot(measures.centre_of_mass[0] - (double)q[21], measures.centre_of_mass[2] - (double)q[23]);
    const double below = (double)q[22] - measures.centre_of_mass[1];
    print_message("held at one corner: %d iterations, relative residual %.1e, bits %x; the centre hangs %.3f m below, "
                  "%.1e m aside\n",
                  result.iterations, result.relative_residual, result.bits, below, aside);
    assert_true(below > 0.8 && aside < (IS_SINGLE ? 1e-2 : 1e-5));
    free(q);
    sinew_mesh_destroy(mesh);
    sinew_world_destroy(world);
}

static void bad_weights_are_refused_with_their_numbers(void **unused)
{
    (void)unused;
    static const char *const sum[] = {"weak, element 0", "first point sum to 0.75", "not to 1"};
    static const char *const negative[] = {"weak, element 0", "is -0.5", "at least 0"};
    const sinew_solver_def newton = tight_newton();
    sinew_error error = {0};
    cubes c = make_cubes(&newton);
    refused_with(join(&c, (sinew_real)0.75, 1, 1000, &error), &error, sum, 3);
    refused_with(join(&c, 1, (sinew_real)1.5, 1000, &error), &error, negative, 3);
    sinew_world_destroy(c.world);
}

/* ---- PBD: loads enter through the starting guess only ------------------------------------------ */

static void pbd_forgets_the_load(void **unused)
{
    (void)unused;
    static const int sweeps[] = {20, 200, 2000};
    sinew_step_result result;
    double last = HUGE_VAL;
    const sinew_solver_def newton = tight_newton();
    sinew_real *best = bar_after(&bending, &newton, 1, &result);
    for (size_t i = 0; i < sizeof sweeps / sizeof sweeps[0]; i++) {
        const sinew_solver_def def = solver_of(SINEW_SOLVER_PBD, sweeps[i]);
        sinew_real *q = bar_after(&bending, &def, 1, &result);
        const double sag = sag_of(q);
        print_message("pbd, %4d sweeps: sag %.2e m (equilibrium %.2g m), residual %.2e N\n", sweeps[i], sag,
                      sag_of(best), result.residual);
        assert_true(sag < last);
        last = sag;
        free(q);
    }
    assert_true(last < 0.02 * sag_of(best));
    free(best);
}

/* ---- XPBD in pseudo-time ----------------------------------------------------------------------- */

static sinew_solver_def pseudo(double step, int sweeps, double damping, int iterations)
{
    sinew_solver_def def = solver_of(SINEW_SOLVER_XPBD_QS, iterations);
    set(&def, "pseudo_step", step);
    set(&def, "sweeps", sweeps);
    set(&def, "damping", damping);
    return def;
}

/* Pseudo-steps without damping equal the steps of xpbd in a world with inertia, bit for bit. */
static void pseudo_steps_are_steps_of_xpbd(void **unused)
{
    (void)unused;
    enum {
        STEPS = 5,
        SWEEPS = 3
    };
    scene still = scenes[BEAM_STILL], moving = still;
    moving.h = 0.004;
    const sinew_solver_def qs = pseudo(moving.h, SWEEPS, 0, STEPS * SWEEPS),
                           xpbd = solver_of(SINEW_SOLVER_XPBD, SWEEPS);
    sinew_world *pseudo_time = build(&still, &qs, 1, 1), *time = build(&moving, &xpbd, 1, 1);
    step_of(pseudo_time);
    for (int k = 0; k < STEPS; k++)
        step_of(time);
    const int32_t n = sinew_world_particle_count(time);
    sinew_real *a = positions_of(pseudo_time), *b = positions_of(time);
    const double apart = largest_difference(a, b, 3 * n);
    print_message("%d pseudo-steps against as many steps of xpbd: %.1e m\n", STEPS, apart);
    assert_true(apart < (IS_SINGLE ? 1e-5 : 1e-13));
    free(a);
    free(b);
    sinew_world_destroy(pseudo_time);
    sinew_world_destroy(time);
}

/* Many sweeps per pseudo-step end nearer to the equilibrium than one (PBNG fig. 18), short steps nearer than long ones.
 */
static void pseudo_time_comes_near_the_equilibrium(void **unused)
{
    (void)unused;
    static const struct {
        double step;
        int sweeps, iterations;
    } runs[] = {{0.01, 1, 4000}, {0.01, 10, 4000}, {0.003, 10, 12000}};
    double apart[3];
    sinew_step_result result;
    const sinew_solver_def newton = tight_newton();
    sinew_real *best = bar_after(&bending, &newton, 1, &result);
    const double sag = sag_of(best);
    for (int i = 0; i < 3; i++) {
        sinew_solver_def def = pseudo(runs[i].step, runs[i].sweeps, 0.02, runs[i].iterations);
        def.record = SINEW_RECORD_NONE;
        sinew_real *q = bar_after(&bending, &def, 1, &result);
        apart[i] = largest_difference(q, best, bar_numbers());
        print_message("xpbd-qs, pseudo-step %g s, %2d sweeps each, %5d in all: residual %.2e N, %.2e m from the "
                      "equilibrium's %.2g m\n",
                      runs[i].step, runs[i].sweeps, runs[i].iterations, result.residual, apart[i], sag);
        free(q);
    }
    assert_true(apart[1] < apart[0] && apart[2] < apart[1]);
    assert_true(apart[2] < 0.02 * sag);
    free(best);
}

/* Two soft blocks; the lower is bound to the upper by stiff weak constraints (PBNG 11.3). */
static sinew_world *two_blocks(const sinew_solver_def *solver, bool weak_added_first)
{
    sinew_world_def def = sinew_default_world_def();
    sinew_mesh *mesh = make_beam(3, 3, 3, 0.5, 0.5, 0.5);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    sinew_real moved[3 * 64];
    int32_t held[64], top[64], elements[8 * 16];
    sinew_real weights[8 * 16] = {0};
    def.quasistatic = true;
    def.thread_count = 1;
    def.solver = *solver;
    sinew_world *world = make_world(&def);
    for (int i = 0; i < 3 * n; i++)
        moved[i] = sinew_mesh_positions(mesh)[i] - (sinew_real)(i % 3 == 1 ? 0.5 : 0);
    sinew_body upper = add_mesh(world, mesh, 10, NULL, NULL), lower = add_mesh(world, mesh, 10, moved, NULL);
    const int32_t count = vertices_at(mesh, 1, 0.25, 0.25, top);
    assert_int_equal(vertices_at(mesh, 1, -0.25, -0.25, held), count);
    sinew_energy_def weak = sinew_default_energy_def(SINEW_ENERGY_WEAK);
    for (int32_t i = 0; i < count; i++)
        for (int k = 0; k < 8; k++) {
            elements[8 * i + k] = k < 4 ? n + top[i] : held[i];
            weights[8 * i + k] = k % 4 == 0;
        }
    weak.element_count = count;
    weak.elements = elements;
    weak.weights = weights;
    weak.parameters[0] = weak.parameters[1] = (sinew_real)1e8;
    if (weak_added_first)
        add_energy(world, &weak);
    add_material(world, upper, SINEW_ENERGY_COROTATED, 1e3, 0.3);
    add_material(world, lower, SINEW_ENERGY_COROTATED, 1e3, 0.3);
    if (!weak_added_first)
        add_energy(world, &weak);
    add_pins(world, upper, top, count, NULL);
    sinew_mesh_destroy(mesh);
    return world;
}

/* The largest distance between vertices that weak constraints join. */
static double gap_of(const sinew_real *q)
{
    sinew_mesh *mesh = make_beam(3, 3, 3, 0.5, 0.5, 0.5);
    int32_t top[64], bottom[64];
    const int32_t n = sinew_mesh_vertex_count(mesh), count = vertices_at(mesh, 1, 0.25, 0.25, top);
    double widest = 0;
    vertices_at(mesh, 1, -0.25, -0.25, bottom);
    for (int32_t i = 0; i < count; i++) {
        double sum = 0;
        for (int c = 0; c < 3; c++)
            sum += pow((double)q[3 * (n + top[i]) + c] - (double)q[3 * bottom[i] + c], 2);
        widest = fmax(widest, sqrt(sum));
    }
    sinew_mesh_destroy(mesh);
    return widest;
}

static void order_of_constraints_decides_the_gap(void **unused)
{
    (void)unused;
    const sinew_solver_def newton = tight_newton();
    sinew_world *world = two_blocks(&newton, false);
    step_of(world);
    sinew_real *best = positions_of(world);
    sinew_world_destroy(world);
    double gaps[2];
    for (int first = 0; first < 2; first++) {
        sinew_real *q[2];
        for (int added = 0; added < 2; added++) {
            sinew_solver_def def = pseudo(0.01, 1, 0.02, 130);
            set(&def, "first", first);
            world = two_blocks(&def, added == 1);
            const sinew_step_result result = step_of(world);
            q[added] = positions_of(world);
            const int32_t n = sinew_world_particle_count(world);
            gaps[first] = gap_of(q[added]);
            if (added == 0)
                print_message("xpbd-qs, %s first: widest gap %.2e m (equilibrium %.2e m), residual %.2e N, %.2e m from "
                              "the equilibrium\n",
                              first ? "weak" : "material", gaps[first], gap_of(best), result.residual,
                              largest_difference(q[added], best, 3 * n));
            /* The sweep order follows the parameter, not the order in which energies were added. */
            if (added == 1)
                assert_memory_equal(q[0], q[1], 3 * (size_t)n * sizeof *q[0]);
            sinew_world_destroy(world);
        }
        free(q[0]);
        free(q[1]);
    }
    assert_true(gaps[1] > 10 * gaps[0]);
    free(best);
}

/* ---- Worlds on threads of the caller ------------------------------------------------------------- */

enum {
    TEAM = 3
};

typedef struct member {
    pthread_t thread;
    uint64_t hash;
} member;

static void *step_a_world(void *argument)
{
    member *own = argument;
    const sinew_solver_def newton = tight_newton();
    const bar b = {.kind = SINEW_ENERGY_COROTATED, .young = 1000, .gravity = 9.8};
    sinew_world *world = bar_world(&b, &newton);
    sinew_world_step(world, NULL);
    own->hash = sinew_world_state_hash(world);
    sinew_world_destroy(world);
    return NULL;
}

/* Each thread of a caller has its own world: the bits equal those of a single thread and, with the address sanitizer,
 * no thread writes beyond its world's scratch memory. */
static void worlds_step_within_a_team(void **unused)
{
    (void)unused;
    member alone = {0}, team[TEAM] = {0};
    step_a_world(&alone);
    for (int i = 0; i < TEAM; i++)
        assert_int_equal(pthread_create(&team[i].thread, NULL, step_a_world, &team[i]), 0);
    for (int i = 0; i < TEAM; i++) {
        pthread_join(team[i].thread, NULL);
        assert_true(team[i].hash == alone.hash);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worlds_step_within_a_team),
        cmocka_unit_test(every_solver_finds_newtons_equilibrium),
        cmocka_unit_test(solvers_find_a_bar_bent_far),
        cmocka_unit_test(loads_grow_step_by_step),
        cmocka_unit_test(states_go_on_in_the_middle_of_loading),
        cmocka_unit_test(scenes_have_load_steps),
        cmocka_unit_test(negative_load_steps_are_refused),
        cmocka_unit_test(free_pieces_are_named),
        cmocka_unit_test(pieces_of_several_bodies_count_as_one),
        cmocka_unit_test(one_pinned_vertex_is_enough),
        cmocka_unit_test(bad_weights_are_refused_with_their_numbers),
        cmocka_unit_test(pbd_forgets_the_load),
        cmocka_unit_test(pseudo_steps_are_steps_of_xpbd),
        cmocka_unit_test(pseudo_time_comes_near_the_equilibrium),
        cmocka_unit_test(order_of_constraints_decides_the_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
