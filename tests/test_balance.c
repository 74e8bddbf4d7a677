/* SPDX-License-Identifier: MIT
 *
 * test_balance.c: the energy balance of a step against closed forms of work and loss; for random scenes and every
 * solver the balance closes to round-off.
 */
#include "failing_allocator.h"
#include "random_scene.h"
#include "small_world.h"

#define BROKEN (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED)
#ifdef SINEW_SINGLE
#define EXACT  2e-5
#define CLOSES 1e-5
#else
#define EXACT  1e-10
#define CLOSES 1e-10
#endif

static sinew_balance balance_of(const sinew_world *world)
{
    sinew_error error = {0};
    sinew_balance balance;
    sinew_world_balance(world, &balance, &error);
    must(&error);
    return balance;
}

static void near(double found, double expected, double scale, const char *what)
{
    if (!(fabs(found - expected) <= EXACT * scale))
        fail_msg("%s: %.15g J, expected %.15g", what, found, expected);
}

/* Sum of the absolute values of all terms of the balance, J. */
static double size_of(const sinew_balance *b)
{
    return fabs(b->kinetic[0]) + fabs(b->kinetic[1]) + fabs(b->elastic[0]) + fabs(b->elastic[1]) + fabs(b->gravity[0]) +
           fabs(b->gravity[1]) + fabs(b->pins) + fabs(b->forces) + fabs(b->targets) + fabs(b->lost_integrator) +
           fabs(b->lost_damping) + fabs(b->lost_solver);
}

/* ---- Closed forms ------------------------------------------------------------------------------ */

static const double mass = 0.4; /* kg of each end of the dumbbell below: 0.8 kg/m over 1 m */

/* Two particles 1 m apart along x, without energies. */
static sinew_world *dumbbell(const double gravity[3], double damping, const sinew_real *velocities, sinew_body *body)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.balance = true;
    def.damping = (sinew_real)damping;
    def.time_step = (sinew_real)0.01;
    def.solver.tolerance = (sinew_real)(sizeof(sinew_real) == 4 ? 1e-6 : 1e-13);
    for (int c = 0; c < 3; c++)
        def.gravity[c] = (sinew_real)gravity[c];
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_rope(2, (double[]){0, 0, 0}, (double[]){1, 0, 0});
    *body = add_mesh(world, mesh, 2 * mass, NULL, velocities);
    sinew_mesh_destroy(mesh);
    return world;
}

static const double none[3] = {0, 0, 0};

static void free_fall(void **unused)
{
    (void)unused;
    const sinew_real v[6] = {1, 2, 3, 1, 2, 3};
    const double down[3] = {0, -10, 0}, h = 0.01, M = 2 * mass;
    sinew_body body;
    sinew_world *world = dumbbell(down, 0, v, &body);
    sinew_world_step(world, NULL);
    const sinew_balance b = balance_of(world);
    near(b.kinetic[0], M / 2 * 14, M, "kinetic before");
    near(b.kinetic[1], M / 2 * (1 + 9 + (2 - 10 * h) * (2 - 10 * h)), M, "kinetic after");
    near(b.gravity[1] - b.gravity[0], M * 10 * h * (2 - 10 * h), M, "gravity");
    near(b.lost_integrator, M / 2 * 100 * h * h, M, "lost by the integrator");
    near(b.lost_solver, 0, M, "lost by the solver");
    near(b.pins + b.forces + b.targets + b.lost_damping, 0, M, "nothing else");
    near(b.unaccounted, 0, M, "unaccounted");
    sinew_world_destroy(world);
}

/* m y'' = -k y by implicit Euler: y1 = (y0 + h v0) / (1 + h^2 k / m), with loss m/2 (v1 - v0)^2 + k/2 (y1 - y0)^2. */
static void oscillator(void **unused)
{
    (void)unused;
    const sinew_real v[6] = {0, 0, 0, (sinew_real)0.5, 0, 0};
    const double k = 30, h = 0.01;
    sinew_body body;
    sinew_world *world = dumbbell(none, 0, v, &body);
    add_springs(world, body, k);
    const int32_t end = 0;
    add_pins(world, body, &end, 1, NULL);
    double y = 0, speed = 0.5;
    for (int i = 0; i < 20; i++) {
        const double y1 = (y + h * speed) / (1 + h * h * k / mass), speed1 = (y1 - y) / h;
        sinew_world_step(world, NULL);
        const sinew_balance b = balance_of(world);
        near(b.elastic[0], k / 2 * y * y, 1, "elastic before");
        near(b.elastic[1], k / 2 * y1 * y1, 1, "elastic after");
        near(b.kinetic[1], mass / 2 * speed1 * speed1, 1, "kinetic after");
        near(b.lost_integrator, mass / 2 * (speed1 - speed) * (speed1 - speed) + k / 2 * (y1 - y) * (y1 - y), 1,
             "lost by the integrator");
        near(b.lost_solver, 0, 1, "lost by the solver");
        near(b.pins, 0, 1, "a pin that stands still does no work");
        y = y1;
        speed = speed1;
    }
    sinew_world_destroy(world);
}

/* Pins move both ends at speed V: the first step needs m V^2, of which half becomes kinetic energy and half is lost. */
static void moving_pins(void **unused)
{
    (void)unused;
    const sinew_key keys[] = {{0, {0, 0, 0}, {0, 0, 0}}, {1, {3, 0, 0}, {0, 0, 0}}};
    const sinew_motion motion = {2, keys, {0, 0, 0}};
    const int32_t ends[2] = {0, 1};
    const double V = 3, M = 2 * mass, h = 0.01;
    sinew_error error = {0};
    sinew_body body;
    sinew_world *world = dumbbell(none, 0, NULL, &body);
    sinew_pin_def pins = sinew_default_pin_def();
    pins.body = body;
    pins.vertices = ends;
    pins.vertex_count = 2;
    pins.motion = &motion;
    sinew_world_add_pins(world, &pins, &error);
    must(&error);
    for (int i = 0; i < 3; i++) {
        sinew_real reaction[6];
        sinew_world_step(world, NULL);
        const sinew_balance b = balance_of(world);
        near(b.pins, i == 0 ? M * V * V : 0, M, "work of the pins");
        near(b.kinetic[1], M / 2 * V * V, M, "kinetic after");
        near(b.lost_integrator, i == 0 ? M / 2 * V * V : 0, M, "lost by the integrator");
        sinew_world_field(world, SINEW_FIELD_REACTION, 0, 2, reaction, &error);
        must(&error);
        near((double)reaction[0], i == 0 ? mass * V / h : 0, mass * V / h, "reaction");
    }
    sinew_world_destroy(world);
}

static void damping_and_forces(void **unused)
{
    (void)unused;
    const sinew_real v[6] = {2, 0, 0, 2, 0, 0}, f[6] = {0, 5, 0, 0, 0, 0};
    const double h = 0.01, kept = exp(-7 * h);
    sinew_body body;
    sinew_world *world = dumbbell(none, 7, v, &body);
    sinew_world_set_forces(world, 0, 2, f);
    sinew_world_step(world, NULL);
    const sinew_balance b = balance_of(world);
    near(b.lost_damping, (1 - kept * kept) * mass * 4, 1, "lost by damping");
    near(b.forces, 5 * h * h * 5 / mass, 1, "work of the force");
    near(b.lost_integrator, mass / 2 * (5 * h / mass) * (5 * h / mass), 1, "lost by the integrator");
    near(b.unaccounted, 0, 1, "unaccounted");
    sinew_world_destroy(world);
}

/* A target that moves by d does work k/2 (y - d)^2 - k/2 y^2 at the start of the step. */
static void moving_targets(void **unused)
{
    (void)unused;
    const sinew_key keys[] = {{0, {0, 0, 0}, {0, 0, 0}}, {1, {2, 0, 0}, {0, 0, 0}}};
    const sinew_motion motion = {2, keys, {0, 0, 0}};
    const double k = 50, h = 0.01;
    sinew_body body;
    sinew_world *world = dumbbell(none, 0, NULL, &body);
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_POSITION);
    sinew_measures measures;
    def.body = body;
    def.parameters[0] = (sinew_real)k;
    def.motion = &motion;
    add_energy(world, &def);
    double y = 0, d = 0, elastic = 0;
    for (int i = 0; i < 10; i++) {
        if (i % 2) /* a measurement between steps must not change the balance of targets */
            assert_int_equal(sinew_world_measure(world, &measures), SINEW_OK);
        sinew_world_step(world, NULL);
        const sinew_balance b = balance_of(world);
        near(b.elastic[0], elastic, 1, "elastic before is elastic after of the step before");
        near(b.targets, 2 * (k / 2 * (y - d - 2 * h) * (y - d - 2 * h) - k / 2 * (y - d) * (y - d)), 1, "targets");
        near(b.unaccounted, 0, 1, "unaccounted");
        d += 2 * h;
        sinew_real q[6];
        assert_int_equal(sinew_world_get_positions(world, 0, 2, q), SINEW_OK);
        y = (double)q[0];
        elastic = b.elastic[1];
    }
    sinew_world_destroy(world);
}

/* ---- Random scenes ----------------------------------------------------------------------------- */

static void push(sinew_world *world, random_cases *r)
{
    const int32_t n = sinew_world_particle_count(world);
    sinew_error error = {0};
    sinew_real gravity[3], *f = make_array(3 * (size_t)n, sizeof *f);
    for (int c = 0; c < 3; c++)
        gravity[c] = (sinew_real)random_between(r, -10, 10);
    for (int32_t i = 0; i < 3 * n; i++)
        f[i] = (sinew_real)random_between(r, -1, 1);
    sinew_world_set_gravity(world, gravity, &error);
    sinew_world_set_damping(world, (sinew_real)random_between(r, 0, 5), &error);
    must(&error);
    assert_int_equal(sinew_world_set_forces(world, 0, n, f), SINEW_OK);
    free(f);
}

/* Adds pairs of random vertices, some of them disabled, to a running world. */
static void couple(sinew_world *world, random_cases *r)
{
    enum {
        PAIRS = 5
    };
    sinew_error error = {0};
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_WEAK);
    int32_t elements[8 * PAIRS];
    sinew_real weights[8 * PAIRS];
    for (int i = 0; i < 8 * PAIRS; i++) {
        elements[i] = i % 4 ? elements[i - 1] : random_index(r, sinew_world_particle_count(world));
        weights[i] = i % 4 == 0;
    }
    def.elements = elements;
    def.weights = weights;
    def.element_count = PAIRS;
    def.transient = random_index(r, 2);
    const sinew_energy energy = add_energy(world, &def);
    const int32_t off = random_index(r, PAIRS);
    sinew_energy_switch(world, energy, &off, 1, false, &error);
    must(&error);
}

static void move_pins(sinew_world *world, random_cases *r)
{
    sinew_error error = {0};
    sinew_key keys[2] = {{.time = 0}, {.time = (sinew_real)0.1}};
    const sinew_motion motion = {2, keys, {0, 0, 0}};
    for (int c = 0; c < 3; c++) {
        keys[1].translation[c] = (sinew_real)random_between(r, -0.02, 0.02);
        keys[1].rotation[c] = (sinew_real)random_between(r, -0.2, 0.2);
    }
    sinew_pin_set_motion(world, (sinew_pin){0, 0}, &motion, &error);
    must(&error);
}

/* Round-off of the balance, J: the sum of |force times displacement| over the particles. Large internal forces cancel
 * in the balance but leave round-off of their own size. `before`: positions before the step. */
static double gross_of(sinew_world *world, const sinew_real *before)
{
    const int32_t n = sinew_world_particle_count(world);
    sinew_error error = {0};
    sinew_real *q = positions_of(world), *f = make_array(3 * (size_t)n, sizeof *f);
    double sum = 0;
    sinew_world_field(world, SINEW_FIELD_FORCE, 0, n, f, &error);
    must(&error);
    for (int32_t i = 0; i < 3 * n; i++)
        sum += fabs((double)f[i] * ((double)q[i] - (double)before[i]));
    free(q);
    free(f);
    return sum;
}

static void the_balance_closes(void **unused)
{
    (void)unused;
    double worst = 0;
    int32_t steps = 0, solvers[SINEW_SOLVER_COUNT] = {0};
    random_cases r = random_cases_begin("balance", 150, 6000);
    for (int32_t i = 0; i < r.count; i++) {
        drawn_scene d = draw_scene(&r);
        d.balance = true;
        sinew_solver_def solver = sinew_default_solver_def(d.solver);
        solver.iterations = 1 + d.iterations % 40;
        solver.measure = (sinew_measure)random_index(&r, 3);
        if (random_index(&r, 2) && sinew_solver_parameter(d.solver, "substeps") >= 0 && solver.iterations >= 4)
            sinew_solver_def_set(&solver, "substeps", 4, NULL);
        sinew_world *world = drawn_world(&d, &solver, NULL);
        push(world, &r);
        if (d.pinned && random_index(&r, 2))
            move_pins(world, &r);
        for (int step = 0; step < d.steps; step++) {
            if (step == 1 && sinew_solver_accepts(d.solver, SINEW_ENERGY_WEAK, NULL, 0))
                couple(world, &r);
            sinew_real *before = positions_of(world);
            const uint32_t bits = sinew_world_step(world, NULL);
            const double gross = bits & BROKEN ? 0 : gross_of(world, before);
            free(before);
            if (bits & BROKEN)
                break;
            const sinew_balance b = balance_of(world);
            if (!isfinite(size_of(&b)))
                continue; /* the energy was infinite before the step */
            worst = fmax(worst, fabs(b.unaccounted) / (size_of(&b) + gross));
            steps++;
            solvers[d.solver]++;
            if (fabs(b.unaccounted) > CLOSES * (size_of(&b) + gross)) {
                print_scene(&d);
                fail_msg(": %g J of %g J are unaccounted for", b.unaccounted, size_of(&b));
            }
        }
        sinew_world_destroy(world);
    }
    printf("%d steps, at most %.2g of the energy that a step moves is unaccounted for\n", (int)steps, worst);
    for (int kind = 0; kind < SINEW_SOLVER_COUNT; kind++)
        printf("%s %d%s", sinew_get_solver_info((sinew_solver_kind)kind)->name, (int)solvers[kind],
               kind + 1 < SINEW_SOLVER_COUNT ? ", " : "\n");
    assert_true(steps > r.count / 2);
}

/* ---- Cost and refusals --------------------------------------------------------------------------- */

static void results_do_not_depend_on_it(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < SINEW_SOLVER_COUNT; kind++) {
        uint64_t hash[2];
        if (!sinew_solver_accepts((sinew_solver_kind)kind, SINEW_ENERGY_NEO_HOOKEAN, NULL, 0))
            continue;
        for (int i = 0; i < 2; i++) {
            sinew_world_def def = sinew_default_world_def();
            def.thread_count = 1;
            def.solver = sinew_default_solver_def((sinew_solver_kind)kind);
            def.solver.measure = kind % 2 ? SINEW_MEASURE_NOTHING : SINEW_MEASURE_GAP;
            def.quasistatic = sinew_get_solver_info(def.solver.kind)->static_only;
            def.balance = i;
            scene s = make_scene(&def);
            for (int step = 0; step < 4; step++)
                sinew_world_step(s.world, NULL);
            hash[i] = sinew_world_state_hash(s.world);
            free_scene(&s);
        }
        assert_true(hash[0] == hash[1]);
    }
}

static void a_warm_step_does_not_allocate(void **unused)
{
    (void)unused;
    failing_allocator memory = {0};
    sinew_world_def def = sinew_default_world_def();
    def.allocator = hooks_of(&memory);
    def.thread_count = 1;
    def.balance = true;
    scene s = make_scene(&def);
    sinew_world_step(s.world, NULL);
    const int64_t calls = memory.calls;
    for (int i = 0; i < 3; i++)
        sinew_world_step(s.world, NULL);
    assert_int_equal(memory.calls, calls);
    /* Without memory for the balance the step is refused and the world stays unchanged. */
    scene t = make_scene(&def);
    sinew_error error = {0};
    sinew_world_prepare(t.world, &error);
    must(&error);
    memory.calls = 0;
    memory.fail_at = 3;
    assert_true(sinew_world_step(t.world, NULL) & SINEW_STEP_UNPREPARED);
    assert_non_null(strstr(sinew_world_error(t.world), "balance"));
    memory.fail_at = 0;
    assert_false(sinew_world_step(t.world, NULL) & SINEW_STEP_UNPREPARED);
    balance_of(t.world);
    free_scene(&s);
    free_scene(&t);
    assert_int_equal(memory.live, 0);
}

static void refusals(void **unused)
{
    (void)unused;
    sinew_error error;
    sinew_balance balance;
    scene plain = make_scene(NULL);
    sinew_world_balance(plain.world, &balance, &error);
    refused(&error, SINEW_ERROR_UNSUPPORTED, "balance = true");
    free_scene(&plain);
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.balance = true;
    scene s = make_scene(&def);
    sinew_world_balance(s.world, &balance, &error);
    refused(&error, SINEW_ERROR_DATA, "no step was taken");
    sinew_world_step(s.world, NULL);
    balance_of(s.world);
    add_mesh(s.world, s.mesh, 1000, NULL, NULL);
    sinew_world_balance(s.world, &balance, &error);
    refused(&error, SINEW_ERROR_DATA, "bodies came or went");
    sinew_world_step(s.world, NULL);
    const sinew_balance b = balance_of(s.world);
    assert_true(fabs(b.unaccounted) <= CLOSES * size_of(&b));
    free_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_fall),
        cmocka_unit_test(oscillator),
        cmocka_unit_test(moving_pins),
        cmocka_unit_test(damping_and_forces),
        cmocka_unit_test(moving_targets),
        cmocka_unit_test(the_balance_closes),
        cmocka_unit_test(results_do_not_depend_on_it),
        cmocka_unit_test(a_warm_step_does_not_allocate),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
