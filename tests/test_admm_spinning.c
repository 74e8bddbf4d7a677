/* SPDX-License-Identifier: MIT
 *
 * test_admm_spinning.c: ADMM's automatic weight, which adapts during a step, against five fixed weights on random
 * spinning bodies.
 *
 * A scene has a generated mesh, a material that ADMM supports, E = 1e4 .. 1e8, nu = 0.1 .. 0.49, h = 0.1 .. 0.003 s and
 * a spin of 3 .. 30 rad/s about a random axis; the body is free, pinned or held by springs at one end. A weight solves
 * the scene if each of STEPS steps reaches the tolerance within ITERATIONS_MAX iterations. A Newton world in the same
 * state, which is never stepped, measures the residuals. Of the scenes that one of the fixed weights solves, the
 * automatic weight has to solve 95 % within twice the iterations of the best fixed weight. All results are finite. The
 * weight is part of the saved state, and its bits do not depend on the number of threads.
 */
#include "make_world.h"
#include "random_cases.h"
#include "solve/projective/admm_penalty.h"
#include "world/world.h"

enum {
    STEPS = 4,
    ITERATIONS_MAX = 500, /* iterations per step */
    HAND_COUNT = 5
};

static const double by_hand[HAND_COUNT] = {0.3, 0.5, 0.7, 1, 2};

#ifdef SINEW_SINGLE
static const double tolerance = 1e-3;
#else
static const double tolerance = 1e-6;
#endif

/* ---- Scenes ---------------------------------------------------------------------------------- */

typedef enum shape {
    BALL,
    CYLINDER,
    TORUS,
    TUBE,
    BEAM,
    THIN_BEAM,
    BOX,
    CLOTH, /* this shape and the following ones have no tets */
    ROPE,
    SHAPE_COUNT
} shape;

static const char *const shape_names[SHAPE_COUNT] = {"ball",      "cylinder", "torus", "tube", "beam",
                                                     "thin beam", "box",      "cloth", "rope"};
/* kg/m3 for solids, kg/m2 for cloth, kg/m for ropes */
static const double densities[SHAPE_COUNT] = {1000, 1000, 1000, 1000, 1000, 1000, 1000, 0.3, 0.1};

typedef enum hold {
    FREE,
    PINNED,
    SPRUNG, /* held by position energies */
    HOLD_COUNT
} hold;

typedef struct spinning {
    shape shape;
    hold hold;
    sinew_energy_kind kind;
    double modulus, poisson, h;
    double omega[3]; /* rad/s */
    double gravity;
    sinew_mesh *mesh;
    sinew_real *velocities; /* [3 * vertex_count] */
    int32_t *end;           /* [end_count] vertices at the low end of x */
    int32_t end_count;
} spinning;

static sinew_mesh *draw_round(random_cases *r, shape which)
{
    sinew_mesh *(*const makers[])(const sinew_round_def *, sinew_error *) = {sinew_mesh_ball, sinew_mesh_cylinder,
                                                                             sinew_mesh_torus, sinew_mesh_tube};
    sinew_error error = {0};
    sinew_round_def def = sinew_default_round_def();
    def.radius = (sinew_real)random_between(r, 0.2, 0.6);
    def.height = (sinew_real)random_between(r, 0.3, 1.5);
    def.segments = which >= TORUS ? 10 + random_index(r, 6) : 4 + random_index(r, 3);
    def.layers = 2 + random_index(r, 3);
    def.rings = 1;
    sinew_mesh *mesh = makers[which](&def, &error);
    must(&error);
    return mesh;
}

static sinew_mesh *draw_box(random_cases *r)
{
    sinew_error error = {0};
    sinew_box_def def = sinew_default_box_def();
    for (int c = 0; c < 3; c++) {
        def.vertices[c] = 3 + random_index(r, 4);
        def.size[c] = (sinew_real)random_between(r, 0.2, 1);
    }
    sinew_mesh *mesh = sinew_mesh_box(&def, &error);
    must(&error);
    return mesh;
}

static sinew_mesh *draw_cloth(random_cases *r)
{
    sinew_error error = {0};
    sinew_cloth_def def = sinew_default_cloth_def();
    def.vertices[0] = 6 + random_index(r, 8);
    def.vertices[1] = 6 + random_index(r, 8);
    def.diagonals = (sinew_diagonals)random_index(r, 4);
    sinew_mesh *mesh = sinew_mesh_cloth(&def, &error);
    must(&error);
    return mesh;
}

static sinew_mesh *draw_mesh(random_cases *r, shape which)
{
    if (which <= TUBE)
        return draw_round(r, which);
    if (which == BEAM)
        return make_beam(6 + random_index(r, 8), 2 + random_index(r, 2), 2, random_between(r, 0.6, 2),
                         random_between(r, 0.2, 0.4), random_between(r, 0.2, 0.4));
    if (which == THIN_BEAM)
        return make_beam(12 + random_index(r, 8), 2, 1, random_between(r, 1, 3), 0.15, 0.1);
    if (which == BOX)
        return draw_box(r);
    if (which == CLOTH)
        return draw_cloth(r);
    return make_rope(8 + random_index(r, 20), (const double[3]){0, 0, 0}, (const double[3]){1, 0, 0.2});
}

/* Sets velocities v = omega x X and selects the vertices within a tenth of the low end of x. */
static void spin(spinning *s)
{
    const int32_t n = sinew_mesh_vertex_count(s->mesh);
    const sinew_real *X = sinew_mesh_positions(s->mesh);
    double low = HUGE_VAL, high = -HUGE_VAL;
    s->velocities = make_array(3 * (size_t)n, sizeof *s->velocities);
    s->end = make_array((size_t)n, sizeof *s->end);
    for (int32_t i = 0; i < n; i++) {
        low = fmin(low, (double)X[3 * i]);
        high = fmax(high, (double)X[3 * i]);
        for (int c = 0; c < 3; c++)
            s->velocities[3 * i + c] = (sinew_real)(s->omega[(c + 1) % 3] * (double)X[3 * i + (c + 2) % 3] -
                                                    s->omega[(c + 2) % 3] * (double)X[3 * i + (c + 1) % 3]);
    }
    for (int32_t i = 0; i < n; i++)
        if ((double)X[3 * i] <= low + 0.1 * (high - low))
            s->end[s->end_count++] = i;
}

static spinning draw_scene(random_cases *r)
{
    spinning s = {.shape = (shape)random_index(r, SHAPE_COUNT), .hold = (hold)random_index(r, HOLD_COUNT)};
    double length = 0;
    /* Meshes without tets take springs; the kinds below SINEW_ENERGY_SPRING are tet materials. */
    s.kind = s.shape >= CLOTH ? SINEW_ENERGY_SPRING : (sinew_energy_kind)random_index(r, SINEW_ENERGY_SPRING + 1);
    s.modulus = random_magnitude(r, 1e4, 1e8);
    s.poisson = random_between(r, 0.1, 0.49);
    s.h = random_magnitude(r, 0.003, 0.1);
    s.gravity = random_index(r, 2) ? -9.81 : 0;
    for (int c = 0; c < 3; c++) {
        s.omega[c] = random_between(r, -1, 1);
        length += s.omega[c] * s.omega[c];
    }
    const double speed = random_between(r, 3, 30);
    for (int c = 0; c < 3; c++)
        s.omega[c] *= speed / sqrt(length);
    s.mesh = draw_mesh(r, s.shape);
    spin(&s);
    return s;
}

static void drop_scene(spinning *s)
{
    sinew_mesh_destroy(s->mesh);
    free(s->velocities);
    free(s->end);
}

static sinew_world *build_scene(const spinning *s, const sinew_solver_def *solver, int threads)
{
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)s->h;
    def.gravity[1] = (sinew_real)s->gravity;
    def.thread_count = threads;
    def.solver = *solver;
    sinew_world *world = make_world(&def);
    const sinew_body body = add_mesh(world, s->mesh, densities[s->shape], NULL, s->velocities);
    if (s->kind == SINEW_ENERGY_SPRING)
        add_springs(world, body, s->modulus * (s->shape >= CLOTH ? 1e-3 : 0.1));
    else
        add_material(world, body, s->kind, s->modulus, s->poisson);
    if (s->hold == PINNED)
        add_pins(world, body, s->end, s->end_count, NULL);
    if (s->hold == SPRUNG) {
        sinew_energy_def anchor = sinew_default_energy_def(SINEW_ENERGY_POSITION);
        anchor.body = body;
        anchor.elements = s->end;
        anchor.element_count = s->end_count;
        anchor.parameters[0] = (sinew_real)(s->modulus * 0.1);
        add_energy(world, &anchor);
    }
    return world;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static double residual_at(sinew_world *referee, const sinew_real *q)
{
    const size_t count = 3 * (size_t)sinew_world_particle_count(referee);
    sinew_real *gradient = make_array(count, sizeof *gradient);
    double value, sum = 0;
    assert_int_equal(sinew_world_objective(referee, q, &value, gradient), SINEW_OK);
    for (size_t i = 0; i < count; i++)
        sum += (double)gradient[i] * (double)gradient[i];
    free(gradient);
    return sqrt(sum);
}

/* Copies positions and velocities of `world` to the reference world. */
static void follow(sinew_world *referee, const sinew_world *world)
{
    const int32_t n = sinew_world_particle_count(world);
    sinew_real *q = positions_of(world), *v = make_array(3 * (size_t)n, sizeof *v);
    sinew_world_get_velocities(world, 0, n, v);
    sinew_world_set_positions(referee, 0, n, q);
    sinew_world_set_velocities(referee, 0, n, v);
    free(q);
    free(v);
}

typedef struct outcome {
    bool solved, finite;
    int iterations; /* sum over all steps */
    int changes;    /* changes of the weight */
} outcome;

static sinew_solver_def admm_with(double weight)
{
    sinew_solver_def def = sinew_default_solver_def(SINEW_SOLVER_ADMM);
    def.iterations = ITERATIONS_MAX;
    def.tolerance = (sinew_real)tolerance;
    def.measure = SINEW_MEASURE_RESIDUAL;
    def.parameters[sinew_solver_parameter(SINEW_SOLVER_ADMM, "weight")] = (sinew_real)weight;
    return def;
}

static sinew_weight_memory memory_of(const sinew_world *world)
{
    sinew_weight_memory memory = {0};
    if (world->solve.ops->state_size(&world->solve) == sizeof memory)
        world->solve.ops->state_save(&world->solve, &memory);
    return memory;
}

/* Takes one step; the reference world measures its residual. In single precision a step also counts as solved if the
 * solver reports that it stopped at round-off. */
static void step(sinew_world *world, sinew_world *referee, outcome *out)
{
    sinew_step_result result;
    follow(referee, world);
    sinew_real *before = positions_of(world);
    sinew_world_step(world, &result);
    sinew_real *after = positions_of(world);
    const double end = residual_at(referee, after), start = residual_at(referee, before);
    const bool round_off = sizeof(sinew_real) == 4 && !(result.bits & SINEW_STEP_NOT_CONVERGED);
    out->finite = out->finite && !(result.bits & SINEW_STEP_NOT_FINITE);
    out->solved = out->solved && out->finite && (end <= 1.1 * tolerance * start || round_off);
    out->iterations += result.iterations;
    free(before);
    free(after);
}

static outcome run(const spinning *s, sinew_world *referee, double weight)
{
    const sinew_solver_def def = admm_with(weight);
    sinew_world *world = build_scene(s, &def, 1);
    outcome out = {.solved = true, .finite = true};
    for (int k = 0; k < STEPS && out.solved; k++)
        step(world, referee, &out);
    out.changes = (int)memory_of(world).changes;
    sinew_world_destroy(world);
    return out;
}

/* ---- Random bodies --------------------------------------------------------------------------- */

typedef struct tally {
    int solvable, solved, near, steps, changes, broken;
    double *ratios; /* [solved] */
} tally;

static void describe(const spinning *s, int number)
{
    static const char *const holds[] = {"free", "pinned", "sprung"};
    const double speed = sqrt(s->omega[0] * s->omega[0] + s->omega[1] * s->omega[1] + s->omega[2] * s->omega[2]);
    printf("%3d %-9s %-19s %-6s E %-7.2g nu %.2f h %-7.3g %4.1f rad/s", number, shape_names[s->shape],
           sinew_get_energy_info(s->kind)->name, holds[s->hold], s->modulus, s->poisson, s->h, speed);
}

static void compare_weights(const spinning *s, int number, tally *t)
{
    const sinew_solver_def newton = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    sinew_world *referee = build_scene(s, &newton, 1);
    outcome best = {0};
    describe(s, number);
    for (int w = 0; w < HAND_COUNT; w++) {
        const outcome tried = run(s, referee, by_hand[w]);
        if (tried.solved && (!best.solved || tried.iterations < best.iterations))
            best = tried;
        printf(tried.solved ? " %5d" : "     -", tried.iterations);
    }
    const outcome own = run(s, referee, 0);
    const double ratio = best.iterations > 0 ? (double)own.iterations / best.iterations : 1;
    printf(own.solved ? " | %5d" : " |     -", own.iterations);
    printf(" after %d changes%s\n", own.changes,
           !best.solved  ? ""
           : !own.solved ? " FAILED"
           : ratio > 2   ? " SLOW"
                         : "");
    t->broken += !own.finite;
    t->solvable += best.solved;
    t->steps += own.solved ? STEPS : 0;
    t->changes += own.solved ? own.changes : 0;
    /* The tolerance of single precision often takes a few iterations, fewer than the weight rule needs for its first
     * test. */
    const bool few = sizeof(sinew_real) == 4 && own.iterations <= best.iterations + 8 * STEPS;
    t->near += best.solved && own.solved && (ratio <= 2 || few);
    if (best.solved && own.solved)
        t->ratios[t->solved++] = ratio;
    sinew_world_destroy(referee);
}

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A sample may miss the 95 % by two scenes. */
static void spinning_bodies_converge(void **state)
{
    (void)state;
#ifdef SINEW_SANITIZED
    random_cases r = random_cases_begin("spinning bodies", 2, 10);
#else
    random_cases r = random_cases_begin("spinning bodies", 8, 100);
#endif
    tally t = {.ratios = make_array((size_t)r.count, sizeof *t.ratios)};
    printf("iterations of %d steps with weights 0.3, 0.5, 0.7, 1, 2 | automatic\n", STEPS);
    for (int32_t k = 0; k < r.count; k++) {
        spinning s = draw_scene(&r);
        compare_weights(&s, (int)k, &t);
        drop_scene(&s);
    }
    qsort(t.ratios, (size_t)t.solved, sizeof *t.ratios, compare_numbers);
    printf("automatic solves %d of %d that one of five weights solves, %d within twice the best one's iterations%s\n",
           t.solved, t.solvable, t.near, sizeof(sinew_real) == 4 ? " (or eight a step more)" : "");
    if (t.solved > 0)
        printf("iterations / best: median %.2f, 95 %% below %.2f, at most %.2f; %.2f changes a step\n",
               t.ratios[t.solved / 2], t.ratios[(int)(0.95 * (t.solved - 1))], t.ratios[t.solved - 1],
               (double)t.changes / t.steps);
    assert_int_equal(t.broken, 0);
    assert_true(t.near >= (r.count >= 50 ? 0.95 * t.solvable : t.solvable - 2));
    free(t.ratios);
}

/* ---- One body -------------------------------------------------------------------------------- */

/* A beam that spins about its pinned end: with the weight of the rest shape the third step cycles without converging.
 */
static spinning turning_beam(double speed)
{
    spinning s = {.shape = BEAM,
                  .hold = PINNED,
                  .kind = SINEW_ENERGY_STRAIN,
                  .modulus = 1e5,
                  .h = 0.02,
                  .omega = {0, speed, speed},
                  .gravity = -9.81,
                  .mesh = make_beam(12, 3, 3, 1.2, 0.3, 0.3)};
    spin(&s);
    s.end_count = vertices_at(s.mesh, 0, -0.6, -0.6, s.end);
    return s;
}

static void turning_beam_converges(void **state)
{
    (void)state;
    spinning s = turning_beam(10);
    const sinew_solver_def newton = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    sinew_world *referee = build_scene(&s, &newton, 1);
    const outcome own = run(&s, referee, 0), one = run(&s, referee, 1);
    printf("turning beam: %d iterations and %d changes of the weight, %d with weight 1\n", own.iterations, own.changes,
           one.iterations);
    assert_true(own.solved && own.iterations <= 2 * one.iterations);
    sinew_world_destroy(referee);
    drop_scene(&s);
}

static uint64_t hash_after(sinew_world *world, int steps)
{
    for (int k = 0; k < steps; k++)
        sinew_world_step(world, NULL);
    return sinew_world_state_hash(world);
}

/* The saved weight has adapted, whereas the world that loads the state starts with the initial weight. */
static void bits_do_not_depend_on_threads_or_a_break(void **state)
{
    (void)state;
    spinning s = turning_beam(20);
    sinew_solver_def def = admm_with(0);
    def.tolerance = 0;
    def.iterations = 40;
    sinew_world *whole = build_scene(&s, &def, 1), *threaded = build_scene(&s, &def, 3);
    sinew_world *resumed = build_scene(&s, &def, 1);
    sinew_error error = {0};
    hash_after(whole, 4);
    assert_true(memory_of(whole).changes > 0);
    const size_t size = sinew_world_state_size(whole);
    void *blob = make_array(size, 1);
    assert_int_equal(sinew_world_state_save(whole, blob, size), SINEW_OK);
    assert_int_equal(sinew_world_state_load(resumed, blob, size, &error), SINEW_OK);
    const uint64_t hash = hash_after(whole, 4);
    assert_true(hash == hash_after(resumed, 4));
    assert_true(hash == hash_after(threaded, 8));
    assert_true(memory_of(whole).c == memory_of(resumed).c);
    free(blob);
    sinew_world_destroy(whole);
    sinew_world_destroy(threaded);
    sinew_world_destroy(resumed);
    drop_scene(&s);
}

/* A state is untrusted input: invalid weights are refused. */
static void foreign_memory_is_refused(void **state)
{
    (void)state;
    spinning s = turning_beam(10);
    const sinew_solver_def def = admm_with(0);
    sinew_world *world = build_scene(&s, &def, 1);
    sinew_world_step(world, NULL);
    const sinew_weight_memory good = memory_of(world);
    const sinew_solver_ops *ops = world->solve.ops;
    const double bad[] = {0, -1, NAN, INFINITY, 1e-200, 1e200};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        sinew_weight_memory memory = good;
        memory.c = bad[i];
        assert_false(ops->state_load(&world->solve, &memory, sizeof memory));
    }
    sinew_weight_memory worn = good;
    worn.changes = INT64_MAX;
    assert_false(ops->state_load(&world->solve, &worn, sizeof worn));
    assert_false(ops->state_load(&world->solve, &good, sizeof good - 1));
    assert_true(memory_of(world).c == good.c);
    assert_true(ops->state_load(&world->solve, &good, sizeof good));
    sinew_world_destroy(world);
    drop_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spinning_bodies_converge), cmocka_unit_test(turning_beam_converges),
        cmocka_unit_test(bits_do_not_depend_on_threads_or_a_break), cmocka_unit_test(foreign_memory_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
