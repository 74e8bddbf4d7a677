/* SPDX-License-Identifier: MIT
 *
 * test_loads.c: wind, traction and couples: closed forms, the bound on the wind's impulse for random cases, sums and
 * moments, energy balance, changing bodies, refusals; and a flag in a storm that stays finite in every solver.
 */
#include "failing_allocator.h"
#include "random_cases.h"
#include "sinew/load.h"
#include "small_world.h"

#ifdef SINEW_SINGLE
#define EXACT 2e-5
#else
#define EXACT 1e-11
#endif

static sinew_mesh *make_cloth(int nx, int ny, double width, double length)
{
    sinew_error error = {0};
    sinew_cloth_def def = sinew_default_cloth_def();
    def.vertices[0] = nx;
    def.vertices[1] = ny;
    def.size[0] = (sinew_real)width;
    def.size[1] = (sinew_real)length;
    sinew_mesh *mesh = sinew_mesh_cloth(&def, &error);
    must(&error);
    return mesh;
}

static sinew_world_def calm(double h)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.time_step = (sinew_real)h;
    memset(def.gravity, 0, sizeof def.gravity);
    return def;
}

static sinew_load add_load(sinew_world *world, const sinew_load_def *def)
{
    sinew_error error = {0};
    const sinew_load load = sinew_world_add_load(world, def, &error);
    must(&error);
    return load;
}

static sinew_load_def wind_on(sinew_body body, double x, double y, double z)
{
    sinew_load_def def = sinew_default_load_def(SINEW_LOAD_WIND);
    def.body = body;
    def.vector[0] = (sinew_real)x;
    def.vector[1] = (sinew_real)y;
    def.vector[2] = (sinew_real)z;
    return def;
}

/* Forces of all loads on the world's particles; the caller frees them. */
static sinew_real *forces_of(sinew_world *world)
{
    sinew_error error = {0};
    const int32_t n = sinew_world_particle_count(world);
    sinew_real *f = make_array(3 * (size_t)n, sizeof *f);
    sinew_world_load_forces(world, 0, n, f, &error);
    must(&error);
    return f;
}

/* Sum of the forces and their moment about the origin. */
static void resultant(sinew_world *world, double force[3], double moment[3])
{
    sinew_real *f = forces_of(world), *q = positions_of(world);
    for (int c = 0; c < 3; c++) {
        const int a = (c + 1) % 3, b = (c + 2) % 3;
        force[c] = moment[c] = 0;
        for (int32_t i = 0; i < sinew_world_particle_count(world); i++) {
            force[c] += (double)f[3 * i + c];
            moment[c] += (double)q[3 * i + a] * (double)f[3 * i + b] - (double)q[3 * i + b] * (double)f[3 * i + a];
        }
    }
    free(f);
    free(q);
}

static void near3(const double found[3], double x, double y, double z, double scale, const char *what)
{
    const double expected[3] = {x, y, z};
    for (int c = 0; c < 3; c++)
        if (!(fabs(found[c] - expected[c]) <= EXACT * scale))
            fail_msg("%s: component %d is %.12g, expected %.12g", what, c, found[c], expected[c]);
}

/* ---- Wind -------------------------------------------------------------------------------------- */

/* A free sheet that faces the wind: dv/dt = b |w - v| (w - v) / m, so w - v = w / (1 + w b t / m). */
static void a_sheet_takes_on_the_speed_of_the_wind(void **unused)
{
    (void)unused;
    const double w = 10, density = 0.2, rho = 1.225, rate = rho / 2 / density, T = 1;
    double last = 0;
    for (int steps = 100; steps <= 400; steps *= 2) {
        sinew_world_def def = calm(T / steps);
        sinew_world *world = make_world(&def);
        sinew_mesh *mesh = make_cloth(4, 4, 1, 1);
        const sinew_body body = add_mesh(world, mesh, density, NULL, NULL);
        const sinew_load_def wind = wind_on(body, 0, 0, w);
        add_load(world, &wind);
        for (int i = 0; i < steps; i++)
            sinew_world_step(world, NULL);
        sinew_measures m;
        sinew_world_measure(world, &m);
        const double v = m.linear_momentum[2] / m.mass, expected = w - w / (1 + w * rate * T);
        const double error = fabs(v - expected);
        printf("wind: %d steps, v = %.6f m/s, expected %.6f\n", steps, v, expected);
        assert_true(error < 0.2 * w / steps);
        if (last > 0 && sizeof(sinew_real) == 8)
            assert_true(error < 0.6 * last); /* first order in h */
        last = error;
        sinew_mesh_destroy(mesh);
        sinew_world_destroy(world);
    }
}

/* The textbook drag, which the exponential law approaches as h goes to zero, and which quasistatic worlds always use.
 */
static void small_steps_and_equilibria_have_the_plain_drag(void **unused)
{
    (void)unused;
    for (int quasistatic = 0; quasistatic < 2; quasistatic++) {
        sinew_world_def def = calm(quasistatic ? 0.1 : 1e-9);
        def.quasistatic = quasistatic;
        sinew_world *world = make_world(&def);
        sinew_mesh *mesh = make_cloth(3, 4, 2, 1.5);
        const sinew_body body = add_mesh(world, mesh, 0.3, NULL, NULL);
        add_springs(world, body, 100);
        add_pins(world, body, (int32_t[]){0, 1}, 2, NULL);
        sinew_load_def wind = wind_on(body, 3, 0, 4);
        wind.parameters[sinew_load_parameter(SINEW_LOAD_WIND, "normal")] = (sinew_real)1.5;
        wind.parameters[sinew_load_parameter(SINEW_LOAD_WIND, "tangential")] = (sinew_real)0.5;
        add_load(world, &wind);
        double force[3], moment[3];
        resultant(world, force, moment);
        const double b = 1.225 / 2 * 3 * 5;
        const double tolerance = quasistatic ? 1 : 1e-5 / EXACT * 10;
        near3(force, 0.5 * b * 3, 0, 1.5 * b * 4, b * tolerance, "plain drag");
        sinew_mesh_destroy(mesh);
        sinew_world_destroy(world);
    }
}

/* sum m |v + h f / m - w|^2 does not grow for any step, wind, shape and masses. */
static void draw_bound(random_cases *r)
{
    sinew_world_def def = calm(random_magnitude(r, 1e-6, 1e3));
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_cloth(2 + random_index(r, 4), 2 + random_index(r, 4), 1, 1);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    sinew_real *x = make_array(3 * (size_t)n, sizeof *x), *v = make_array(3 * (size_t)n, sizeof *v);
    sinew_real *m = make_array((size_t)n, sizeof *m);
    for (int32_t i = 0; i < 3 * n; i++) {
        x[i] = (sinew_real)random_between(r, -1, 1);
        v[i] = (sinew_real)random_between(r, -30, 30);
        m[i / 3] = (sinew_real)random_magnitude(r, 1e-4, 10);
    }
    sinew_body_def body_def = sinew_default_body_def();
    body_def.mesh = mesh;
    body_def.positions = x;
    body_def.velocities = v;
    body_def.masses = m;
    const sinew_body body = add_body(world, &body_def);
    double w[3];
    for (int c = 0; c < 3; c++)
        w[c] = random_between(r, -200, 200);
    sinew_load_def wind = wind_on(body, w[0], w[1], w[2]);
    wind.parameters[0] = (sinew_real)random_magnitude(r, 1e-3, 1e4);
    wind.parameters[1] = (sinew_real)random_magnitude(r, 1e-3, 100);
    wind.parameters[2] = (sinew_real)random_magnitude(r, 1e-3, 100);
    add_load(world, &wind);
    sinew_real *f = forces_of(world);
    double before = 0, after = 0;
    for (int32_t i = 0; i < 3 * n; i++) {
        const double mass = (double)m[i / 3], gap = (double)v[i] - w[i % 3];
        const double next = gap + (double)def.time_step * (double)f[i] / mass;
        before += mass * gap * gap;
        after += mass * next * next;
    }
    if (!(after <= before * (1 + EXACT)))
        fail_msg("h = %g s: the wind takes sum m |v - w|^2 from %g to %g", (double)def.time_step, before, after);
    free(f);
    free(x);
    free(v);
    free(m);
    sinew_mesh_destroy(mesh);
    sinew_world_destroy(world);
}

static void no_step_is_too_long_for_the_wind(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("wind's impulse", 300, 20000);
    for (int32_t i = 0; i < r.count; i++)
        draw_bound(&r);
}

/* Bound of relative errors of steady states. */
#define STEADY (sizeof(sinew_real) == 4 ? 1e-3 : 1e-6)

/* A sheet that falls flat ends with v = sqrt(2 m g / (rho C A)) at any frequency, as long as h g / v <= 1.5. */
static void draw_fall(random_cases *r)
{
    const double hz = (double[]){30, 60, 100}[random_index(r, 3)], g = random_between(r, 1, 20);
    const double rho = random_between(r, 0.5, 2), C = random_between(r, 0.5, 2), x = random_between(r, 0.05, 1.4);
    const double expected = g / (hz * x), density = rho * C * expected * expected / (2 * g);
    sinew_world_def def = calm(1 / hz);
    def.gravity[2] = (sinew_real)-g;
    def.solver = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_cloth(3, 4, 0.2, 0.3);
    const sinew_body body = add_mesh(world, mesh, density, NULL, NULL);
    add_springs(world, body, 100);
    sinew_load_def wind = wind_on(body, 0, 0, 0);
    wind.parameters[sinew_load_parameter(SINEW_LOAD_WIND, "density")] = (sinew_real)rho;
    wind.parameters[sinew_load_parameter(SINEW_LOAD_WIND, "normal")] = (sinew_real)C;
    add_load(world, &wind);
    /* A step multiplies the error by 1 - 2 E, E = 1 - exp(-x). */
    for (int32_t steps = (int32_t)(50 + 12 / x); steps > 0; steps--)
        sinew_world_step(world, NULL);
    sinew_measures m;
    sinew_world_measure(world, &m);
    const double v = -m.linear_momentum[2] / m.mass;
    if (!(fabs(v / expected - 1) <= STEADY))
        fail_msg("%g kg/m2 at %g Hz fall with %.9g m/s, expected %.9g", density, hz, v, expected);
    sinew_mesh_destroy(mesh);
    sinew_world_destroy(world);
}

static void terminal_velocities_do_not_depend_on_the_step(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("falling sheets", 30, 2000);
    for (int32_t i = 0; i < r.count; i++)
        draw_fall(&r);
}

/* Cloth that stands still in the wind has the plain drag; beyond x = h C b / m = 1.5 it has 1.5 m / h (w - v). */
static void draw_held(random_cases *r)
{
    const double h = random_magnitude(r, 1e-3, 0.1), w = random_between(r, 1, 50), x = random_between(r, 0.05, 3);
    const double density = h * 1.225 / 2 * w / x, plain = 1.225 / 2 * w * w;
    const double expected = x < 1.5 ? plain : 1.5 * density * w / h;
    sinew_world_def def = calm(h);
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_cloth(3, 3, 1, 1);
    const sinew_body body = add_mesh(world, mesh, density, NULL, NULL);
    int32_t all[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    add_pins(world, body, all, 9, NULL);
    const sinew_load_def wind = wind_on(body, 0, 0, w);
    add_load(world, &wind);
    for (int step = 0; step < 60; step++)
        sinew_world_step(world, NULL);
    double force[3], moment[3];
    resultant(world, force, moment);
    if (!(fabs(force[2] / expected - 1) <= STEADY))
        fail_msg("x = %g: %.9g N on held cloth, expected %.9g", x, force[2], expected);
    sinew_mesh_destroy(mesh);
    sinew_world_destroy(world);
}

static void held_cloth_has_the_plain_drag(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("held sheets", 50, 5000);
    for (int32_t i = 0; i < r.count; i++)
        draw_held(&r);
}

static sinew_world *make_flag(sinew_solver_kind kind, double density, double speed, double gust, sinew_body *body)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.time_step = (sinew_real)(1.0 / 30);
    def.balance = true;
    def.solver = sinew_default_solver_def(kind);
    def.solver.measure = SINEW_MEASURE_RESIDUAL;
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_cloth(10, 7, 1.5, 1);
    *body = add_mesh(world, mesh, density, NULL, NULL);
    add_springs(world, *body, 2000);
    int32_t held[8];
    add_pins(world, *body, held, vertices_at(mesh, 0, 0, 0, held), NULL);
    sinew_load_def wind = wind_on(*body, speed, 0, speed / 50);
    wind.parameters[sinew_load_parameter(SINEW_LOAD_WIND, "gust")] = (sinew_real)gust;
    add_load(world, &wind);
    sinew_mesh_destroy(mesh);
    return world;
}

/* 200 m/s, h = 1/30: finite for 10 000 steps in every solver that supports springs and iterates to convergence. */
static void a_flag_in_a_storm_stays_finite(void **unused)
{
    (void)unused;
#ifdef SINEW_SANITIZED
    const int32_t sample = 20;
#else
    const int32_t sample = 200;
#endif
    const random_cases r = random_cases_begin("steps of the flag", sample, 5000);
    for (int kind = 0; kind < SINEW_SOLVER_COUNT; kind++) {
        const sinew_solver_info *info = sinew_get_solver_info((sinew_solver_kind)kind);
        if (info->static_only || is_integrator(info) ||
            !sinew_solver_accepts((sinew_solver_kind)kind, SINEW_ENERGY_SPRING, NULL, 0))
            continue;
        sinew_body body;
        sinew_world *world = make_flag((sinew_solver_kind)kind, 0.15, 200, 20, &body);
        double max = 0;
        for (int32_t i = 0; i < r.count; i++) {
            sinew_measures m;
            if (sinew_world_step(world, NULL) & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED))
                fail_msg("%s: step %d became non-finite: %s", info->name, i + 1, sinew_world_error(world));
            sinew_world_measure(world, &m);
            max = fmax(max, sqrt(2 * m.kinetic / m.mass));
        }
        sinew_real *q = positions_of(world);
        double far = 0;
        for (int32_t i = 0; i < 3 * sinew_world_particle_count(world); i++)
            far = fmax(far, fabs((double)q[i]));
        printf("%-8s %d steps at 200 m/s, h = 1/30: finite; greatest rms speed %.1f m/s, last reach %.2f m\n",
               info->name, (int)r.count, max, far);
        assert_true(isfinite(far) && far < 1e3);
        free(q);
        sinew_world_destroy(world);
    }
}

/* 1 g/m2 at 50 m/s, h = 1/30: h C b / m = 1000. */
static void the_lightest_flag_stays_slow(void **unused)
{
    (void)unused;
    sinew_body body;
    sinew_world *world = make_flag(SINEW_SOLVER_NEWTON, 0.001, 50, 5, &body);
    for (int32_t i = 0; i < 200; i++) {
        sinew_measures m;
        assert_false(sinew_world_step(world, NULL) & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED));
        sinew_world_measure(world, &m);
        assert_true(sqrt(2 * m.kinetic / m.mass) < 100);
    }
    sinew_world_destroy(world);
}

static void the_wind_is_in_the_balance(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    sinew_body body;
    sinew_world *world = make_flag(SINEW_SOLVER_NEWTON, 0.15, 12, 3, &body);
    for (int step = 0; step < 30; step++) {
        sinew_real *f = forces_of(world), *before = positions_of(world);
        sinew_world_step(world, NULL);
        sinew_real *after = positions_of(world);
        sinew_balance b;
        sinew_world_balance(world, &b, &error);
        must(&error);
        double work = 0;
        for (int32_t i = 0; i < 3 * sinew_world_particle_count(world); i++)
            work += (double)f[i] * ((double)after[i] - (double)before[i]);
        const double scale = fabs(b.kinetic[0]) + b.kinetic[1] + fabs(b.elastic[1]) + fabs(b.gravity[1]) + fabs(work);
        if (!(fabs(b.forces - work) <= EXACT * scale && fabs(b.unaccounted) <= EXACT * scale))
            fail_msg("step %d: forces %g J, expected %g; unaccounted %g", step, b.forces, work, b.unaccounted);
        free(f);
        free(before);
        free(after);
    }
    sinew_world_destroy(world);
}

/* ---- Time -------------------------------------------------------------------------------------- */

static void keys_are_interpolated_and_held(void **unused)
{
    (void)unused;
    const sinew_load_key keys[] = {{.time = 1, .vector = {0, 0, 2}, .factor = 1},
                                   {.time = 3, .vector = {0, 4, 2}, .factor = 2}};
    const double expected[4][3] = {{0, 0, 2}, {0, 0, 2}, {0, 3, 3}, {0, 8, 4}}; /* at 0.5, 1, 2 and 3.5 s */
    const double times[4] = {0.5, 1, 2, 3.5};
    for (int k = 0; k < 4; k++) {
        sinew_world_def def = calm(times[k]);
        sinew_world *world = make_world(&def);
        sinew_mesh *mesh = make_cloth(2, 2, 1, 1);
        sinew_load_def load = sinew_default_load_def(SINEW_LOAD_TRACTION);
        load.body = add_mesh(world, mesh, 1, NULL, NULL);
        load.keys = keys;
        load.key_count = 2;
        add_load(world, &load);
        double force[3], moment[3];
        resultant(world, force, moment);
        near3(force, expected[k][0], expected[k][1], expected[k][2], 10, "traction by keys");
        sinew_mesh_destroy(mesh);
        sinew_world_destroy(world);
    }
}

static uint64_t blown(sinew_world *world)
{
    for (int i = 0; i < 5; i++)
        sinew_world_step(world, NULL);
    return sinew_world_state_hash(world);
}

static void saved_in_the_wind_goes_on_with_the_same_bits(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    sinew_body body;
    sinew_world *a = make_flag(SINEW_SOLVER_XPBD, 0.15, 20, 5, &body),
                *b = make_flag(SINEW_SOLVER_XPBD, 0.15, 20, 5, &body);
    blown(a);
    const size_t size = sinew_world_state_size(a);
    void *blob = make_array(size, 1);
    assert_int_equal(sinew_world_state_save(a, blob, size), SINEW_OK);
    sinew_world_state_check(b, blob, size, &error);
    must(&error);
    sinew_world_state_load(b, blob, size, &error);
    must(&error);
    assert_true(blown(a) == blown(b));
    const sinew_load load = sinew_world_load_at(b, 0);
    sinew_load_set_parameter(b, load, "seed", 2, &error);
    must(&error);
    assert_true(blown(a) != blown(b));
    assert_int_equal(sinew_world_state_check(b, blob, size, &error), SINEW_ERROR_DATA);
    refused(&error, SINEW_ERROR_DATA, "loads.0 was wind on body 0");
    sinew_world_remove_load(b, load, &error);
    assert_int_equal(sinew_world_state_check(b, blob, size, &error), SINEW_ERROR_DATA);
    refused(&error, SINEW_ERROR_DATA, "is removed");
    free(blob);
    sinew_world_destroy(a);
    sinew_world_destroy(b);
}

/* ---- Traction and couples ---------------------------------------------------------------------- */

static void tractions_add_up(void **unused)
{
    (void)unused;
    sinew_world_def def = calm(0.01);
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_cloth(5, 4, 2, 1.5);
    sinew_load_def load = sinew_default_load_def(SINEW_LOAD_TRACTION);
    load.body = add_mesh(world, mesh, 1, NULL, NULL);
    load.vector[0] = 2;
    load.parameters[0] = 7;
    const sinew_load made = add_load(world, &load);
    double force[3], moment[3];
    resultant(world, force, moment);
    near3(force, 6, 0, 21, 30, "sum of a traction");
    near3(moment, 21 * 0.75, -21, -6 * 0.75, 30, "moment of a traction");
    /* Stretched by 3 along x: the dead traction stays, the pressure acts on the larger area. */
    sinew_real *q = positions_of(world);
    const int32_t n = sinew_world_particle_count(world);
    for (int32_t i = 0; i < n; i++)
        q[3 * i] *= 3;
    sinew_world_set_positions(world, 0, n, q);
    resultant(world, force, moment);
    near3(force, 6, 0, 63, 70, "traction of a stretched sheet");
    sinew_error error = {0};
    sinew_load_set_parameter(world, made, "pressure", 0, &error);
    sinew_load_set_vector(world, made, (sinew_real[]){0, 1, 0}, &error);
    must(&error);
    resultant(world, force, moment);
    near3(force, 0, 3, 0, 10, "traction that was set");
    free(q);
    sinew_mesh_destroy(mesh);
    sinew_world_destroy(world);
}

/* On a closed surface a uniform pressure has no resultant force and no moment. */
static void pressure_on_a_ball_is_in_balance(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    sinew_world_def def = calm(0.01);
    sinew_world *world = make_world(&def);
    sinew_round_def round = sinew_default_round_def();
    sinew_mesh *mesh = sinew_mesh_ball(&round, &error);
    must(&error);
    sinew_load_def load = sinew_default_load_def(SINEW_LOAD_TRACTION);
    load.body = add_mesh(world, mesh, 1000, NULL, NULL);
    load.parameters[0] = 1000;
    add_load(world, &load);
    double force[3], moment[3];
    resultant(world, force, moment);
    near3(force, 0, 0, 0, 1e4, "sum of a pressure");
    near3(moment, 0, 0, 0, 1e4, "moment of a pressure");
    sinew_mesh_destroy(mesh);
    sinew_world_destroy(world);
}

static void draw_couple(random_cases *r)
{
    sinew_world_def def = calm(0.01);
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_cloth(4, 4, 1, 1);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    sinew_real *x = make_array(3 * (size_t)n, sizeof *x);
    for (int32_t i = 0; i < 3 * n; i++)
        x[i] = (sinew_real)random_between(r, -1, 1);
    sinew_load_def load = sinew_default_load_def(SINEW_LOAD_COUPLE);
    load.body = add_mesh(world, mesh, 1, x, NULL);
    int32_t vertices[16];
    load.element_count = 3 + random_index(r, 13);
    for (int32_t i = 0; i < load.element_count; i++)
        vertices[i] = i;
    load.elements = vertices;
    for (int c = 0; c < 3; c++)
        load.vector[c] = (sinew_real)random_between(r, -5, 5);
    add_load(world, &load);
    double force[3], moment[3];
    resultant(world, force, moment);
    near3(force, 0, 0, 0, 1e3, "sum of a couple");
    near3(moment, (double)load.vector[0], (double)load.vector[1], (double)load.vector[2], 1e3, "moment of a couple");
    free(x);
    sinew_mesh_destroy(mesh);
    sinew_world_destroy(world);
}

static void couples_have_their_moment_and_no_sum(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("couples", 200, 10000);
    for (int32_t i = 0; i < r.count; i++)
        draw_couple(&r);
}

/* A rotation of the body rotates the axis of a follower couple and leaves that of a dead couple. */
static void followers_turn_with_the_body(void **unused)
{
    (void)unused;
    for (int follower = 0; follower < 2; follower++) {
        sinew_world_def def = calm(0.01);
        sinew_world *world = make_world(&def);
        sinew_mesh *mesh = make_cloth(3, 3, 1, 1);
        const int32_t n = sinew_mesh_vertex_count(mesh);
        const sinew_real *X = sinew_mesh_positions(mesh);
        sinew_real q[27];
        for (int32_t i = 0; i < n; i++) { /* a quarter turn about z, then y to z */
            q[3 * i] = -X[3 * i + 1];
            q[3 * i + 1] = 0;
            q[3 * i + 2] = X[3 * i];
        }
        sinew_load_def load = sinew_default_load_def(SINEW_LOAD_COUPLE);
        load.body = add_mesh(world, mesh, 1, q, NULL);
        load.vector[0] = 2;
        load.parameters[0] = (sinew_real)follower;
        add_load(world, &load);
        double force[3], moment[3];
        resultant(world, force, moment);
        near3(moment, follower ? 0 : 2, 0, follower ? 2 : 0, 20, "moment of a turned couple");
        sinew_mesh_destroy(mesh);
        sinew_world_destroy(world);
    }
}

/* ---- Bodies that change ------------------------------------------------------------------------ */

/* Cutting a sheet apart does not change the drag, which is independent of the distribution of masses. */
static void the_wind_follows_a_cut(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    sinew_world_def def = calm(1e-9);
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_cloth(3, 2, 2, 1);
    const sinew_body body = add_mesh(world, mesh, 1, NULL, NULL);
    const sinew_load_def wind = wind_on(body, 1, 2, 10);
    add_load(world, &wind);
    double before[3], after[3], moment[3];
    resultant(world, before, moment);
    sinew_vertices_def more = sinew_default_vertices_def();
    int32_t middle[2], first;
    more.count = vertices_at(mesh, 0, 1, 1, middle);
    more.copies_of = middle;
    sinew_body_add_vertices(world, body, &more, &first, &error);
    must(&error);
    sinew_mesh_def cut = sinew_default_mesh_def();
    const sinew_mesh *now = sinew_body_mesh(world, body);
    int32_t triangles[12];
    memcpy(triangles, sinew_mesh_triangles(now), sizeof triangles);
    for (int t = 0; t < 4; t++) {
        double x = 0;
        for (int c = 0; c < 3; c++)
            x += (double)sinew_mesh_positions(now)[3 * triangles[3 * t + c]] / 3;
        for (int c = 0; x > 1 && c < 3; c++)
            for (int k = 0; k < 2; k++)
                triangles[3 * t + c] = triangles[3 * t + c] == middle[k] ? first + k : triangles[3 * t + c];
    }
    cut.vertex_count = sinew_mesh_vertex_count(now);
    cut.positions = sinew_mesh_positions(now);
    cut.triangle_count = 4;
    cut.triangles = triangles;
    sinew_mesh *torn = sinew_mesh_create(&cut, &error);
    must(&error);
    sinew_body_set_mesh(world, body, torn, &error);
    must(&error);
    resultant(world, after, moment);
    near3(after, before[0], before[1], before[2], 100 * (1 + 1e-5 / EXACT), "wind on a cut sheet");
    sinew_world_remove_body(world, body, &error);
    must(&error);
    assert_int_equal(sinew_world_load_at(world, 0).index, -1);
    sinew_mesh_destroy(torn);
    sinew_mesh_destroy(mesh);
    sinew_world_destroy(world);
}

/* ---- Refusals ---------------------------------------------------------------------------------- */

static void refuse(sinew_world *world, const sinew_load_def *def, sinew_status status, const char *words)
{
    sinew_error error = {0};
    assert_true(sinew_world_add_load(world, def, &error).index < 0);
    refused(&error, status, words);
}

static void bad_loads_are_refused_by_name(void **unused)
{
    (void)unused;
    sinew_world_def world_def = calm(0.01);
    sinew_world *world = make_world(&world_def);
    sinew_mesh *cloth = make_cloth(3, 3, 1, 1), *rope = make_rope(4, (double[]){0, 0, 0}, (double[]){1, 0, 0});
    const sinew_body sheet = add_mesh(world, cloth, 1, NULL, NULL), line = add_mesh(world, rope, 1, NULL, NULL);
    sinew_load_def def = wind_on(line, 1, 0, 0);
    refuse(world, &def, SINEW_ERROR_DATA, "wind acts on triangles and body 1 has none");
    def = wind_on(sheet, NAN, 0, 0);
    refuse(world, &def, SINEW_ERROR_DATA, "wind: its velocity is nan 0 0 m/s, must be finite");
    def = wind_on(sheet, 1, 0, 0);
    def.parameters[0] = -1;
    refuse(world, &def, SINEW_ERROR_DATA, "wind: density is -1 kg/m3, must be in [0");
    def = wind_on(sheet, 1, 0, 0);
    def.elements = (const int32_t[]){0, 1, 9};
    def.element_count = 1;
    refuse(world, &def, SINEW_ERROR_DATA, "wind: entry 2 names vertex 9, must be in [0, 8]");
    def.element_count = 0;
    refuse(world, &def, SINEW_ERROR_DATA, "the list of what it acts on is empty");
    const sinew_load_key keys[] = {{.time = 1}, {.time = 1}};
    def = wind_on(sheet, 1, 0, 0);
    def.keys = keys;
    def.key_count = 2;
    refuse(world, &def, SINEW_ERROR_DATA, "key 1 is at 1 s, not after the one before it at 1 s");
    def = sinew_default_load_def(SINEW_LOAD_COUPLE);
    def.body = line;
    def.vector[0] = 1;
    refuse(world, &def, SINEW_ERROR_DATA, "its vertices lie on a line");
    def.vector[0] = 0;
    def.vector[1] = 1;
    add_load(world, &def);
    def.element_count = 1;
    def.elements = (const int32_t[]){2};
    refuse(world, &def, SINEW_ERROR_DATA, "its vertices lie in one place");
    def.body.index = 7;
    refuse(world, &def, SINEW_ERROR_USAGE, "there is no body 7");
    def.kind = SINEW_LOAD_COUNT;
    refuse(world, &def, SINEW_ERROR_USAGE, "sinew_default_load_def()");
    sinew_error error = {0};
    assert_int_equal(sinew_load_set_parameter(world, sinew_world_load_at(world, 0), "speed", 1, &error),
                     SINEW_ERROR_DATA);
    refused(&error, SINEW_ERROR_DATA, "couple has no parameter \"speed\"");
    assert_int_equal(sinew_load_set_vector(world, (sinew_load){3, 0}, (sinew_real[3]){0}, &error), SINEW_ERROR_USAGE);
    refused(&error, SINEW_ERROR_USAGE, "there is no load 3");
    sinew_mesh_destroy(cloth);
    sinew_mesh_destroy(rope);
    sinew_world_destroy(world);
}

/* Every allocation of a world with loads fails once: nothing is leaked, and the world stays unchanged. */
static void failing_memory_loses_nothing(void **unused)
{
    (void)unused;
    failing_allocator memory = {0};
    sinew_mesh *mesh = make_cloth(3, 3, 1, 1);
    sinew_world_def def = calm(0.01);
    def.allocator = hooks_of(&memory);
    sinew_world *world = make_world(&def);
    sinew_load_def wind = wind_on(add_mesh(world, mesh, 1, NULL, NULL), 1, 2, 3);
    const sinew_load_key key = {.time = 0, .vector = {1, 2, 3}, .factor = 1};
    wind.keys = &key;
    wind.key_count = 1;
    wind.elements = sinew_mesh_triangles(mesh);
    wind.element_count = 2;
    for (memory.fail_at = 1;; memory.fail_at++) {
        sinew_error error = {0};
        const int64_t live = memory.live;
        memory.calls = 0;
        if (sinew_world_add_load(world, &wind, &error).index >= 0)
            break;
        assert_int_equal(error.status, SINEW_ERROR_MEMORY);
        assert_true(memory.live <= live + 2); /* the buffers of forces are kept */
        assert_int_equal(sinew_world_load_count(world), 0);
    }
    assert_true(memory.fail_at > 5);
    memory.fail_at = 0;
    assert_int_equal(sinew_world_step(world, NULL), 0);
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
    assert_int_equal(memory.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sheet_takes_on_the_speed_of_the_wind),
        cmocka_unit_test(small_steps_and_equilibria_have_the_plain_drag),
        cmocka_unit_test(no_step_is_too_long_for_the_wind),
        cmocka_unit_test(terminal_velocities_do_not_depend_on_the_step),
        cmocka_unit_test(held_cloth_has_the_plain_drag),
        cmocka_unit_test(a_flag_in_a_storm_stays_finite),
        cmocka_unit_test(the_lightest_flag_stays_slow),
        cmocka_unit_test(the_wind_is_in_the_balance),
        cmocka_unit_test(keys_are_interpolated_and_held),
        cmocka_unit_test(saved_in_the_wind_goes_on_with_the_same_bits),
        cmocka_unit_test(tractions_add_up),
        cmocka_unit_test(pressure_on_a_ball_is_in_balance),
        cmocka_unit_test(couples_have_their_moment_and_no_sum),
        cmocka_unit_test(followers_turn_with_the_body),
        cmocka_unit_test(the_wind_follows_a_cut),
        cmocka_unit_test(bad_loads_are_refused_by_name),
        cmocka_unit_test(failing_memory_loses_nothing),
    };
    return cmocka_run_group_tests(tests, install_hook, remove_hook);
}
