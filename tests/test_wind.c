/* SPDX-License-Identifier: MIT
 *
 * test_wind.c: wind on cloth of random shape and motion against the formula of docs/guides/loads.md, implemented here a
 * second time; gusts against their spectrum, by projecting the wind at a triangle on waves; and J^-1 M of points
 * against J.
 */
#include "random_cases.h"
#include "sinew/load.h"
#include "small_world.h"
#include "world/inertia.h"

#ifdef SINEW_SINGLE
#define EXACT 2e-4
#define GUST  2e-2
#else
#define EXACT 1e-11
#define GUST  2e-3
#endif

typedef struct vec {
    double c[3];
} vec;

static vec sum_of(vec a, double s, vec b)
{
    return (vec){{a.c[0] + s * b.c[0], a.c[1] + s * b.c[1], a.c[2] + s * b.c[2]}};
}

static double dot_of(vec a, vec b)
{
    return a.c[0] * b.c[0] + a.c[1] * b.c[1] + a.c[2] * b.c[2];
}

static vec cross_of(vec a, vec b)
{
    return (vec){
        {a.c[1] * b.c[2] - a.c[2] * b.c[1], a.c[2] * b.c[0] - a.c[0] * b.c[2], a.c[0] * b.c[1] - a.c[1] * b.c[0]}};
}

static vec read_vec(const sinew_real *x, int32_t i)
{
    return (vec){{(double)x[3 * i], (double)x[3 * i + 1], (double)x[3 * i + 2]}};
}

static void set_wind(sinew_load_def *def, const char *name, double value)
{
    const int32_t p = sinew_load_parameter(SINEW_LOAD_WIND, name);
    assert_true(p >= 0);
    def->parameters[p] = (sinew_real)value;
}

/* ---- Drag -------------------------------------------------------------------------------------- */

typedef struct cloth {
    sinew_mesh *mesh;
    sinew_real *q, *v; /* [3 * vertices] */
} cloth;

/* A cloth with a randomly perturbed rest shape, random positions and random velocities. */
static cloth make_crumpled(random_cases *r)
{
    sinew_error error = {0};
    sinew_cloth_def def = sinew_default_cloth_def();
    def.vertices[0] = 2 + random_index(r, 3);
    def.vertices[1] = 2 + random_index(r, 3);
    sinew_mesh *flat = sinew_mesh_cloth(&def, &error);
    must(&error);
    const int32_t n = sinew_mesh_vertex_count(flat);
    cloth c = {.q = make_array(3 * (size_t)n, sizeof *c.q), .v = make_array(3 * (size_t)n, sizeof *c.v)};
    sinew_real *rest = make_array(3 * (size_t)n, sizeof *rest);
    for (int32_t i = 0; i < 3 * n; i++) {
        rest[i] = sinew_mesh_positions(flat)[i] + (sinew_real)random_between(r, -0.1, 0.1);
        c.q[i] = rest[i] + (sinew_real)random_between(r, -0.3, 0.3);
        c.v[i] = (sinew_real)random_between(r, -5, 5);
    }
    sinew_mesh_def bent = sinew_default_mesh_def();
    bent.vertex_count = n;
    bent.positions = rest;
    bent.triangle_count = sinew_mesh_triangle_count(flat);
    bent.triangles = sinew_mesh_triangles(flat);
    c.mesh = sinew_mesh_create(&bent, &error);
    must(&error);
    sinew_mesh_destroy(flat);
    free(rest);
    return c;
}

static vec area_vector(const sinew_real *x, const int32_t *t)
{
    const vec a = read_vec(x, t[0]), e = sum_of(read_vec(x, t[1]), -1, a), f = sum_of(read_vec(x, t[2]), -1, a);
    return sum_of((vec){{0}}, 0.5, cross_of(e, f));
}

/* The impulse over h of drag with the coefficient C: r decays as exp(-h C b / m). */
static double held_drag(double Cb, double m, double h)
{
    return m / h * (1 - exp(-h * Cb / m));
}

/* The wind's force on each vertex, triangle by triangle. kept: the fraction of velocities that damping leaves. */
static void expected_drag(const cloth *c, const sinew_real *mass, const sinew_load_def *wind, double h, double kept,
                          vec *f)
{
    const int32_t *T = sinew_mesh_triangles(c->mesh), count = sinew_mesh_triangle_count(c->mesh);
    const int32_t n = sinew_mesh_vertex_count(c->mesh);
    const sinew_real *X = sinew_mesh_positions(c->mesh);
    double *around = make_array((size_t)n, sizeof *around);
    for (int32_t t = 0; t < 3 * count; t++) {
        const vec A = area_vector(X, T + 3 * (t / 3));
        around[T[t]] += sqrt(dot_of(A, A));
    }
    for (int32_t t = 0; t < count; t++) {
        const int32_t *v = T + 3 * t;
        const vec A0 = area_vector(X, v), A = area_vector(c->q, v), w = read_vec(wind->vector, 0);
        const double area = sqrt(dot_of(A, A));
        double m[3], whole = 0;
        vec move = {{0}};
        for (int a = 0; a < 3; a++)
            whole += m[a] = (double)mass[v[a]] * sqrt(dot_of(A0, A0)) / around[v[a]];
        for (int a = 0; a < 3; a++)
            move = sum_of(move, kept * m[a] / whole, read_vec(c->v, v[a]));
        const vec r = sum_of(w, -1, move), n_part = sum_of((vec){{0}}, dot_of(r, A) / (area * area), A);
        const double b = (double)wind->parameters[0] / 2 * area * sqrt(dot_of(r, r));
        const vec force = sum_of(sum_of((vec){{0}}, held_drag((double)wind->parameters[1] * b, whole, h), n_part),
                                 held_drag((double)wind->parameters[2] * b, whole, h), sum_of(r, -1, n_part));
        for (int a = 0; a < 3; a++)
            f[v[a]] = sum_of(f[v[a]], m[a] / whole, force);
    }
    free(around);
}

static void blow_on(random_cases *r)
{
    sinew_error error = {0};
    cloth c = make_crumpled(r);
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.time_step = (sinew_real)random_magnitude(r, 1e-3, 1);
    def.damping = (sinew_real)random_between(r, 0, 2);
    sinew_world *world = make_world(&def);
    const sinew_body body = add_mesh(world, c.mesh, random_magnitude(r, 0.05, 5), c.q, c.v);
    add_springs(world, body, 10);
    sinew_load_def wind = sinew_default_load_def(SINEW_LOAD_WIND);
    wind.body = body;
    for (int k = 0; k < 3; k++)
        wind.vector[k] = (sinew_real)random_between(r, -20, 20);
    set_wind(&wind, "density", random_magnitude(r, 0.1, 10));
    set_wind(&wind, "normal", random_between(r, 0, 2));
    set_wind(&wind, "tangential", random_between(r, 0, 1));
    sinew_world_add_load(world, &wind, &error);
    must(&error);
    const int32_t n = sinew_world_particle_count(world);
    sinew_real *mass = make_array((size_t)n, sizeof *mass), *f = make_array(3 * (size_t)n, sizeof *f);
    vec *expected = make_array((size_t)n, sizeof *expected);
    sinew_world_get_masses(world, 0, n, mass);
    assert_int_equal(sinew_world_load_forces(world, 0, n, f, &error), SINEW_OK);
    const double h = (double)def.time_step;
    expected_drag(&c, mass, &wind, h, exp(-(double)def.damping * h), expected);
    double scale = 0;
    for (int32_t i = 0; i < n; i++)
        scale = fmax(scale, sqrt(dot_of(expected[i], expected[i])));
    for (int32_t i = 0; i < n; i++) {
        const vec d = sum_of(expected[i], -1, read_vec(f, i));
        if (!(sqrt(dot_of(d, d)) <= EXACT * scale))
            fail_msg("vertex %d: the wind's force is off by %g N of %g N", i, sqrt(dot_of(d, d)), scale);
    }
    free(mass);
    free(f);
    free(expected);
    free(c.q);
    free(c.v);
    sinew_mesh_destroy(c.mesh);
    sinew_world_destroy(world);
}

static void wind_on_crumpled_cloth(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("wind", 20, 500);
    for (int i = 0; i < r.count; i++)
        blow_on(&r);
}

/* ---- Gusts -------------------------------------------------------------------------------------- */

typedef struct gust_case {
    double mean[3], gust, period, seed, at[3];
    double edge;        /* m; 0: 1e-3 */
    sinew_real mass[3]; /* kg of the corners: at the point, along x and along y of it; 0: 1 */
} gust_case;

/* Measures the air velocity at one point and many times, from the force on a held triangle with C rho A / 2 = 1, so
 * that F = |w| w. w [count][3], at the times h, 2 h, ... */
static void feel(const gust_case *g, double h, int count, double *w)
{
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.time_step = (sinew_real)h;
    def.quasistatic = true;
    def.solver.measure = SINEW_MEASURE_NOTHING;
    sinew_world *world = make_world(&def);
    sinew_real x[9];
    const double edge = g->edge > 0 ? g->edge : 1e-3;
    for (int i = 0; i < 9; i++)
        x[i] = (sinew_real)(g->at[i % 3] + edge * ((i == 3) + (i == 7)));
    sinew_mesh_def mesh_def = sinew_default_mesh_def();
    mesh_def.vertex_count = 3;
    mesh_def.positions = x;
    mesh_def.triangle_count = 1;
    mesh_def.triangles = (const int32_t[]){0, 1, 2};
    sinew_mesh *mesh = sinew_mesh_create(&mesh_def, &error);
    must(&error);
    sinew_body_def body_def = sinew_default_body_def();
    body_def.mesh = mesh;
    body_def.density = 1;
    body_def.masses = g->mass[0] > 0 ? g->mass : NULL;
    const sinew_body body = add_body(world, &body_def);
    add_springs(world, body, 1);
    add_pins(world, body, (const int32_t[]){0, 1, 2}, 3, NULL);
    sinew_load_def wind = sinew_default_load_def(SINEW_LOAD_WIND);
    wind.body = body;
    for (int c = 0; c < 3; c++)
        wind.vector[c] = (sinew_real)g->mean[c];
    set_wind(&wind, "density", 4e-6 / (edge * edge));
    set_wind(&wind, "normal", 1e6);
    set_wind(&wind, "tangential", 1e6);
    set_wind(&wind, "gust", g->gust);
    set_wind(&wind, "gust_period", g->period);
    set_wind(&wind, "seed", g->seed);
    sinew_world_add_load(world, &wind, &error);
    must(&error);
    for (int s = 0; s < count; s++) {
        sinew_real f[9];
        double F[3] = {0, 0, 0};
        assert_int_equal(sinew_world_load_forces(world, 0, 3, f, &error), SINEW_OK);
        for (int i = 0; i < 9; i++)
            F[i % 3] += (double)f[i];
        const double size = sqrt(F[0] * F[0] + F[1] * F[1] + F[2] * F[2]);
        for (int c = 0; c < 3; c++)
            w[3 * s + c] = F[c] / sqrt(size);
        sinew_world_step(world, NULL);
    }
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
}

/* Amplitude of one angular frequency in one component, less the mean. */
static double amplitude_of(const double *w, int count, double h, int c, double mean, double omega)
{
    double cosine = 0, sine = 0;
    for (int s = 0; s < count; s++) {
        /* Hann window: the leakage of other waves falls with the cube of their distance in frequency. */
        const double window = 1 - cos(2 * MAKE_PI * (s + 0.5) / count), u = window * (w[3 * s + c] - mean);
        cosine += u * cos(omega * (s + 1) * h);
        sine += u * sin(omega * (s + 1) * h);
    }
    return 2 * sqrt(cosine * cosine + sine * sine) / count;
}

/* Four waves: their frequencies are the powers 0, 2, 4, 6 of the golden ratio over the period, and their energies fall
 * as f^(-5/3). Together they have the prescribed root mean square, and the mean is the wind. */
static void gusts_have_their_spectrum(void **state)
{
    (void)state;
    enum {
        COUNT = 4000
    };
    const double golden = (1 + sqrt(5.0)) / 2;
    const gust_case g = {.mean = {3, -1, 2}, .gust = 1.5, .period = 0.7, .seed = 5};
    const double h = g.period / 100;
    double *w = make_array(3 * COUNT, sizeof *w);
    feel(&g, h, COUNT, w);
    for (int c = 0; c < 3; c++) {
        double energy = 0, amplitudes[4], of_law = 0;
        for (int k = 0; k < 4; k++) {
            const double omega = 2 * MAKE_PI * pow(golden, 2 * k) / g.period;
            amplitudes[k] = amplitude_of(w, COUNT, h, c, g.mean[c], omega);
            energy += amplitudes[k] * amplitudes[k] / 2;
            of_law += pow(pow(golden, 2 * k), -5.0 / 3) / 2;
        }
        printf("gusts along %d: amplitudes %.4f %.4f %.4f %.4f m/s, root mean square %.4f of %.4f\n", c, amplitudes[0],
               amplitudes[1], amplitudes[2], amplitudes[3], sqrt(energy), g.gust);
        assert_true(fabs(sqrt(energy) - g.gust) < GUST * g.gust);
        for (int k = 0; k < 4; k++) {
            const double expected = g.gust * sqrt(pow(pow(golden, 2 * k), -5.0 / 3) / of_law);
            assert_true(fabs(amplitudes[k] - expected) < GUST * g.gust);
        }
    }
    free(w);
}

/* The mean wind carries the gusts: a point downwind has the origin's gusts later; a point across the wind has them at
 * once. */
static void gusts_travel_with_the_wind(void **state)
{
    (void)state;
    enum {
        COUNT = 60,
        LATER = 20
    };
    const double h = 0.01;
    gust_case here = {.mean = {3, 0, 4}, .gust = 1, .period = 0.5, .seed = 2}, there = here, other = here;
    double a[3 * COUNT], b[3 * COUNT], worst = 0, apart = 0, across = 0;
    /* 20 steps later at 5 m/s: 1 m along the wind; the additional offset is across it */
    for (int c = 0; c < 3; c++)
        there.at[c] = here.mean[c] / 5 * (5 * LATER * h) + (double[]){0.8, 2, -0.6}[c];
    feel(&here, h, COUNT, a);
    feel(&there, h, COUNT, b);
    for (int s = 0; s + LATER < COUNT; s++)
        for (int c = 0; c < 3; c++)
            worst = fmax(worst, fabs(a[3 * s + c] - b[3 * (s + LATER) + c]));
    assert_true(worst < GUST);
    other.seed = 3;
    feel(&other, h, COUNT, b);
    for (int i = 0; i < 3 * COUNT; i++)
        apart = fmax(apart, fabs(a[i] - b[i]));
    assert_true(apart > 0.3);
    /* Components have different phases. */
    for (int s = 0; s < COUNT; s++)
        across = fmax(across, fabs((a[3 * s] - here.mean[0]) - (a[3 * s + 1] - here.mean[1])));
    assert_true(across > 0.3);
}

/* Without a mean wind the gusts are the same everywhere. */
static void gusts_without_wind_are_everywhere(void **state)
{
    (void)state;
    double a[3 * 20], b[3 * 20];
    gust_case here = {.gust = 2, .period = 1, .seed = 1}, there = here;
    there.at[0] = 0.7;
    there.at[2] = -3;
    feel(&here, 0.05, 20, a);
    feel(&there, 0.05, 20, b);
    for (int i = 0; i < 60; i++)
        assert_true(fabs(a[i] - b[i]) < GUST);
}

/* A large triangle uses the air velocity at its centre of mass. */
static void gusts_act_at_the_centre_of_mass(void **state)
{
    (void)state;
    double a[3 * 20], b[3 * 20];
    gust_case large = {{3, 1, 0}, 1, 0.5, 4, {0.2, 0.1, 0}, 0.9, {3, 2, 1}}, small = large;
    small.edge = 0;
    small.at[0] += 0.9 * 2 / 6;
    small.at[1] += 0.9 * 1 / 6;
    feel(&large, 0.02, 20, a);
    feel(&small, 0.02, 20, b);
    for (int i = 0; i < 60; i++)
        assert_true(fabs(a[i] - b[i]) < 10 * GUST);
}

/* ---- Inertia ------------------------------------------------------------------------------------ */

/* J (J^-1 M) = M, with J w = sum m r x (w x r); for collinear points without the component along the line. */
static void inertia_case(random_cases *r, double width)
{
    enum {
        POINTS = 6
    };
    double S[9] = {0}, w[3];
    vec axis, x[POINTS], M, back = {{0}}, out, centre = {{0}};
    for (int c = 0; c < 3; c++) {
        axis.c[c] = random_between(r, -1, 1);
        M.c[c] = random_between(r, -1, 1);
    }
    axis = sum_of((vec){{0}}, 1 / sqrt(dot_of(axis, axis)), axis);
    for (int i = 0; i < POINTS; i++) {
        const double t = i - 0.5 * (POINTS - 1);
        const vec off = {{random_between(r, -1, 1), random_between(r, -1, 1), random_between(r, -1, 1)}};
        x[i] = sum_of(sum_of((vec){{0}}, t, axis), width, off);
        centre = sum_of(centre, 1.0 / POINTS, x[i]);
    }
    for (int i = 0; i < POINTS; i++) {
        x[i] = sum_of(x[i], -1, centre);
        for (int k = 0; k < 9; k++)
            S[k] += 2.5 * x[i].c[k / 3] * x[i].c[k % 3];
    }
    const bool thin = width < 1e-5;
    double line[3];
    assert_int_equal(sinew_inertia_is_line(S, line), thin);
    sinew_inertia_solve(S, M.c, w);
    memcpy(out.c, w, sizeof w);
    for (int i = 0; i < POINTS; i++)
        back = sum_of(back, 2.5, cross_of(x[i], cross_of(out, x[i])));
    if (thin) {
        assert_true(fabs(fabs(dot_of(axis, (vec){{line[0], line[1], line[2]}})) - 1) < 1e-9);
        M = sum_of(M, -dot_of(M, axis), axis);
        assert_true(fabs(dot_of(out, axis)) < 1e-5);
    }
    for (int c = 0; c < 3; c++)
        if (!(fabs(back.c[c] - M.c[c]) < (thin ? 1e-5 : 1e-6)))
            fail_msg("width %g: moment %d is %.12g, expected %.12g", width, c, back.c[c], M.c[c]);
}

static void inertia_of_points(void **state)
{
    (void)state;
    /* Points count as collinear below 1e-9 of the trace; unlucky points of width 2e-4 are there. */
    static const double widths[] = {1, 0.1, 1e-2, 1e-3, 1e-6, 0};
    random_cases r = random_cases_begin("inertia", 30, 3000);
    for (int i = 0; i < r.count; i++)
        inertia_case(&r, widths[i % 6]);
    const double nothing[9] = {0}, M[3] = {1, 2, 3};
    double out[3] = {1, 1, 1};
    sinew_inertia_solve(nothing, M, out);
    for (int c = 0; c < 3; c++)
        assert_true(out[c] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wind_on_crumpled_cloth),          cmocka_unit_test(gusts_have_their_spectrum),
        cmocka_unit_test(gusts_travel_with_the_wind),      cmocka_unit_test(gusts_without_wind_are_everywhere),
        cmocka_unit_test(gusts_act_at_the_centre_of_mass), cmocka_unit_test(inertia_of_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
