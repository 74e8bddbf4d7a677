/* SPDX-License-Identifier: MIT
 *
 * test_clamp.c: clamps of rods and shells at vertices. Cantilevers converge with the square of the edge length to
 * f l^3 / 3 EI and to the elastica, which the test integrates; twist, rest curvature and tangents are exact; motion,
 * removal, solvers and refusals.
 */
#include "make_world.h"
#include "small_world.h"

#include "../experiments/rod_cases.h"
#include "sinew/scene.h"

#ifdef SINEW_SINGLE
#define EXACT 2e-3
#else
#define EXACT 1e-6
#endif

#ifndef SINEW_SINGLE
/* ---- Elastica ------------------------------------------------------------------------------------- */

/* theta' = kappa, kappa' = -load cos(theta), x' = cos(theta), y' = sin(theta), by Runge and Kutta from the clamp with
 * curvature `start`. y receives theta, kappa, x, y at the tip. */
static void integrate_elastica(double load, double start, double y[4])
{
    enum {
        STEPS = 2000
    };
    static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1 / 6.0, 1 / 3.0, 1 / 3.0, 1 / 6.0};
    const double h = 1.0 / STEPS;
    y[0] = y[2] = y[3] = 0;
    y[1] = start;
    for (int step = 0; step < STEPS; step++) {
        double slope[4] = {0}, sum[4] = {0};
        for (int stage = 0; stage < 4; stage++) {
            const double theta = y[0] + at[stage] * h * slope[0], kappa = y[1] + at[stage] * h * slope[1];
            const double next[4] = {kappa, -load * cos(theta), cos(theta), sin(theta)};
            for (int i = 0; i < 4; i++) {
                slope[i] = next[i];
                sum[i] += weight[stage] * next[i];
            }
        }
        for (int i = 0; i < 4; i++)
            y[i] += h * sum[i];
    }
}

/* Deflection of the tip of a cantilever of length 1 and EI = 1 under a load across it: the curvature at the clamp is
 * found by bisection, so that the tip has none. */
static double elastica_deflection(double load)
{
    double low = 0, high = load, y[4] = {0};
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        integrate_elastica(load, middle, y);
        *(y[1] > 0 ? &high : &low) = middle;
    }
    return y[3];
}

static double tip_deflection(double load)
{
    return load < 0.01 ? load / 3 : elastica_deflection(load);
}
#endif

/* ---- Rods ----------------------------------------------------------------------------------------- */

static sinew_pin clamp_at(const rod_world *r, int32_t vertex, const sinew_real *tangent, const sinew_motion *motion)
{
    sinew_error error = {0};
    sinew_clamp_def def = sinew_default_clamp_def();
    def.body = r->body;
    def.vertices = &vertex;
    def.vertex_count = 1;
    def.tangent = tangent;
    def.motion = motion;
    const sinew_pin pin = sinew_world_add_clamp(r->world, &def, &error);
    must(&error);
    return pin;
}

static rod_world make_rod(int32_t segments, const rod_stuff *s)
{
    sinew_error error = {0};
    rod_world r;
    sinew_mesh *mesh = rod_line(segments, 0, 1, &error);
    rod_make(mesh, s, &r, &error);
    must(&error);
    sinew_mesh_destroy(mesh);
    return r;
}

#ifndef SINEW_SINGLE
/* Deflection of the tip of a rod clamped at its first or last vertex. */
static double rod_deflection(int32_t segments, double load, bool last)
{
    rod_stuff s = rod_default_stuff();
    double x[3];
    s.load_steps = 1 + (int32_t)load;
    rod_world r = make_rod(segments, &s);
    clamp_at(&r, last ? segments : 0, NULL, NULL);
    assert_true(rod_pull(&r, last ? 0 : segments, (double[]){0, -load, 0}));
    assert_true(rod_settle(&r, s.load_steps));
    rod_point(&r, last ? 0 : segments, x);
    sinew_world_destroy(r.world);
    return -x[1];
}

static void rods_converge_with_the_square(void **unused)
{
    (void)unused;
    static const double loads[3] = {1e-3, 1, 4};
    for (int l = 0; l < 3; l++)
        for (int last = 0; last < 2; last++) {
            const double exact = tip_deflection(loads[l]);
            double off[4];
            for (int i = 0; i < 4; i++)
                off[i] = rod_deflection(10 << i, loads[l], last) / exact - 1;
            print_message("load %g, clamped at the %s vertex: 10, 20, 40, 80 edges off by %.4f, %.4f, %.4f, %.4f %%\n",
                          loads[l], last ? "last" : "first", 100 * off[0], 100 * off[1], 100 * off[2], 100 * off[3]);
            for (int i = 0; i < 4; i++)
                assert_true(fabs(off[i]) <
                            0.55 / pow(10 << i, 2)); /* half of the squared edge length for small loads */
        }
}
#endif

/* One clamp of a straight rod turns about the rod by an angle: the energy is GJ angle^2 / 2 for any number of edges. */
static void twist_between_clamps_is_exact(void **unused)
{
    (void)unused;
    for (int32_t segments = 2; segments < 12; segments += 3) {
        rod_stuff s = rod_default_stuff();
        sinew_measures measures;
        const double angle = 1;
        const sinew_key keys[2] = {{.time = 0}, {.time = 1, .rotation = {(sinew_real)angle}}};
        const sinew_motion motion = {.key_count = 2, .keys = keys, .pivot = {1, 0, 0}};
        s.twisting = 0.7;
        rod_world r = make_rod(segments, &s);
        clamp_at(&r, 0, NULL, NULL);
        clamp_at(&r, segments, NULL, &motion);
        assert_true(rod_settle(&r, 2));
        assert_int_equal(sinew_world_measure(r.world, &measures), SINEW_OK);
        print_message("%d edges: %.8f J of twist\n", (int)segments, measures.elastic);
        assert_true(fabs(measures.elastic / (0.5 * s.twisting * angle * angle) - 1) < EXACT);
        sinew_world_destroy(r.world);
    }
}

/* Without load the rod leaves the clamp along the tangent. */
static void tangents_are_held(void **unused)
{
    (void)unused;
    static const sinew_real tangents[4][3] = {{0, 3, 0}, {1, 1, (sinew_real)0.5}, {0, 0, -1}, {-1, 0, 0}};
    for (int i = 0; i < 4; i++)
        for (int last = 0; last < 2; last++) {
            rod_stuff s = rod_default_stuff();
            double tip[3], clamp[3], length = 0;
            s.stretching = 1e3;
            rod_world r = make_rod(6, &s);
            clamp_at(&r, last ? 6 : 0, tangents[i], NULL);
            /* No bending force acts on a rod folded back on its clamp, so it is moved aside. */
            rod_shake(&r, 0.02);
            assert_true(rod_settle(&r, 4));
            rod_point(&r, last ? 0 : 6, tip);
            rod_point(&r, last ? 6 : 0, clamp);
            for (int k = 0; k < 3; k++)
                length += pow((double)tangents[i][k], 2);
            for (int k = 0; k < 3; k++)
                assert_float_equal(tip[k] - clamp[k], (double)tangents[i][k] / sqrt(length), 10 * EXACT);
            sinew_world_destroy(r.world);
        }
}

/* The curvature at rest counts from the clamp on: the polygon of a full turn closes exactly. */
static void rest_curvature_closes_a_circle(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    const int32_t n = 24;
    rod_stuff s = rod_default_stuff();
    double tip[3];
    s.stretching = 1e3;
    rod_world r = make_rod(n, &s);
    const sinew_energy rod = sinew_world_energy_at(r.world, 1);
    clamp_at(&r, 0, NULL, NULL);
    /* The angle between edges is 2 atan(kappa l / 2); 2 n tan(pi / n) makes it 2 pi / n. */
    const double curvature = 2 * n * tan(MAKE_PI / n);
    assert_int_equal(sinew_energy_set_parameter(r.world, rod, "curvature_2", (sinew_real)curvature, &error), SINEW_OK);
    assert_true(rod_settle(&r, 8));
    rod_point(&r, n, tip);
    assert_true(sqrt(tip[0] * tip[0] + tip[1] * tip[1] + tip[2] * tip[2]) < 100 * EXACT);
    sinew_world_destroy(r.world);
}

/* After its removal the clamp does not hold: a rod in free fall keeps its shape. */
static void removed_clamps_let_go(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    rod_stuff s = rod_default_stuff();
    double a[3], b[3];
    s.gravity = ROD_GRAVITY;
    s.time_step = 0.01;
    s.density = 1;
    rod_world r = make_rod(5, &s);
    const sinew_energy rod = sinew_world_energy_at(r.world, 1);
    const int32_t elements = sinew_energy_element_count(r.world, rod);
    const sinew_pin clamp = clamp_at(&r, 0, NULL, NULL);
    assert_int_equal(sinew_energy_element_count(r.world, rod), elements + 1);
    assert_int_equal(sinew_world_remove_clamp(r.world, clamp, &error), SINEW_OK);
    assert_int_equal(sinew_energy_element_count(r.world, rod), elements);
    for (int i = 0; i < 10; i++)
        sinew_world_step(r.world, NULL);
    rod_point(&r, 0, a);
    rod_point(&r, 5, b);
    assert_float_equal(a[1], -ROD_GRAVITY * 0.01 * 0.01 * 55, 1e-4);
    assert_float_equal(b[1], a[1], 1e-4);
    assert_true(sinew_world_remove_clamp(r.world, clamp, &error) != SINEW_OK);
    sinew_world_destroy(r.world);
}

/* ---- Shells --------------------------------------------------------------------------------------- */

/* A strip along x of length 1, a quarter as wide, D = 1, nu = 0, with its clamp at x = 0. */
static sinew_world *make_strip(int32_t cells, int32_t load_steps, sinew_body *body)
{
    sinew_error error = {0};
    const double thickness = 0.01;
    sinew_cloth_def cloth = sinew_default_cloth_def();
    cloth.vertices[0] = cells + 1;
    cloth.vertices[1] = cells / 4 + 1;
    cloth.size[1] = (sinew_real)0.25;
    sinew_mesh *plain = sinew_mesh_cloth(&cloth, &error), *mesh = sinew_mesh_with_directors(plain, 0, NULL, &error);
    must(&error);
    rod_stuff s = rod_default_stuff();
    s.load_steps = load_steps;
    sinew_world *world = rod_make_world(&s, &error);
    must(&error);
    *body = add_mesh(world, mesh, 1e-6, NULL, NULL);
    sinew_energy_def sheet = sinew_default_energy_def(SINEW_ENERGY_MEMBRANE_STVK);
    sinew_energy_def bend = sinew_default_energy_def(SINEW_ENERGY_SHELL_BENDING);
    sheet.body = bend.body = *body;
    sinew_energy_def_set(&sheet, "young", 12 / (thickness * thickness * thickness), &error);
    sinew_energy_def_set(&sheet, "poisson", 0, &error);
    sinew_energy_def_set(&sheet, "thickness", thickness, &error);
    sinew_energy_def_set(&bend, "rigidity", 1, &error);
    sinew_energy_def_set(&bend, "poisson", 0, &error);
    must(&error);
    add_energy(world, &sheet);
    add_energy(world, &bend);
    sinew_mesh_destroy(mesh);
    sinew_mesh_destroy(plain);
    return world;
}

#ifndef SINEW_SINGLE
/* Lists the vertices of the strip at x = place; the list also has the director points there. */
static int32_t strip_line(const sinew_world *world, sinew_body body, double place, bool directors, int32_t *list)
{
    const sinew_mesh *mesh = sinew_body_mesh(world, body);
    const int32_t plain = sinew_mesh_vertex_count(mesh) - sinew_mesh_director_count(mesh);
    int32_t count = 0;
    for (int32_t i = 0; i < (directors ? sinew_mesh_vertex_count(mesh) : plain); i++)
        if (fabs((double)sinew_mesh_positions(mesh)[3 * i] - place) < 1e-6)
            list[count++] = i;
    return count;
}

/* Mean deflection of the strip's end under a load per width, shared as a line load. */
static double strip_deflection(int32_t cells, double load)
{
    sinew_error error = {0};
    sinew_body body;
    int32_t list[256];
    sinew_clamp_def def = sinew_default_clamp_def();
    sinew_world *world = make_strip(cells, 1 + (int32_t)load, &body);
    def.body = body;
    def.vertices = list;
    def.vertex_count = strip_line(world, body, 0, true, list);
    sinew_world_add_clamp(world, &def, &error);
    must(&error);
    const rod_world r = {.world = world, .body = body};
    const int32_t count = strip_line(world, body, 1, false, list);
    double sum = 0, x[3];
    for (int32_t i = 0; i < count; i++) {
        const double width = 0.25 / (count - 1) * (i == 0 || i == count - 1 ? 0.5 : 1);
        rod_pull(&r, list[i], (double[]){0, 0, -load * width});
    }
    assert_true(rod_settle(&r, 1 + (int32_t)load));
    for (int32_t i = 0; i < count; i++) {
        rod_point(&r, list[i], x);
        sum -= x[2] / count;
    }
    sinew_world_destroy(world);
    return sum;
}

static void strips_converge_with_the_square(void **unused)
{
    (void)unused;
    static const double loads[2] = {1e-3, 2};
    for (int l = 0; l < 2; l++) {
        const double exact = tip_deflection(loads[l]);
        double off[3];
        for (int i = 0; i < 3; i++)
            off[i] = strip_deflection(8 << i, loads[l]) / exact - 1;
        print_message("strip, load %g: 8, 16, 32 cells off by %.4f, %.4f, %.4f %%\n", loads[l], 100 * off[0],
                      100 * off[1], 100 * off[2]);
        assert_true(fabs(off[1]) < 0.3 * fabs(off[0]) && fabs(off[2]) < 0.3 * fabs(off[1]));
    }
}
#endif

/* ---- Refusals ------------------------------------------------------------------------------------- */

static void refuse_clamp(sinew_world *world, sinew_body body, const int32_t *vertices, int32_t count,
                         const sinew_real *tangent, const char *words)
{
    sinew_error error = {0};
    sinew_clamp_def def = sinew_default_clamp_def();
    def.body = body;
    def.vertices = vertices;
    def.vertex_count = count;
    def.tangent = tangent;
    assert_true(sinew_world_add_clamp(world, &def, &error).index < 0);
    refused(&error, SINEW_ERROR_DATA, words);
}

static void bad_clamps_are_refused(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    const sinew_real zero[3] = {0, 0, 0}, up[3] = {0, 1, 0};
    const double from[3] = {0, 0, 0}, to[3] = {1, 0, 0};
    rod_stuff s = rod_default_stuff();
    rod_world r = make_rod(4, &s);
    refuse_clamp(r.world, r.body, (int32_t[]){2}, 1, NULL, "vertex 2 has 2 edges");
    refuse_clamp(r.world, r.body, (int32_t[]){99}, 1, NULL, "vertex 99 is not in");
    refuse_clamp(r.world, r.body, (int32_t[]){5}, 1, NULL, "none of the vertices is the end of a rod");
    refuse_clamp(r.world, r.body, NULL, 0, NULL, "the list of vertices is empty");
    refuse_clamp(r.world, r.body, (int32_t[]){0}, 1, zero, "has no direction");
    clamp_at(&r, 0, NULL, NULL);
    refuse_clamp(r.world, r.body, (int32_t[]){0}, 1, NULL, "vertex 0 is pinned already");
    sinew_mesh *rope = make_rope(4, from, to);
    const sinew_body plain = add_mesh(r.world, rope, 1, NULL, NULL);
    refuse_clamp(r.world, plain, (int32_t[]){0}, 1, NULL, "the mesh has no directors");
    sinew_mesh *framed = sinew_mesh_with_directors(rope, 0, NULL, &error);
    must(&error);
    const sinew_body limp = add_mesh(r.world, framed, 1, NULL, NULL);
    refuse_clamp(r.world, limp, (int32_t[]){0}, 1, NULL, "no energy of kind rod acts on the edge (0, 1)");
    sinew_mesh_destroy(framed);
    sinew_mesh_destroy(rope);
    sinew_world_destroy(r.world);
    sinew_body body;
    sinew_world *world = make_strip(8, 0, &body);
    refuse_clamp(world, body, (int32_t[]){0, 1}, 2, up, "a tangent is for rods");
    refuse_clamp(world, body, (int32_t[]){0}, 1, NULL, "no edge joins two of the vertices");
    sinew_world_destroy(world);
}

/* ---- Scenes --------------------------------------------------------------------------------------- */

static sinew_scene *read_clamped(const char *clamp, sinew_error *error)
{
    static char text[1024];
    sinew_scene_def def = sinew_default_scene_def();
    snprintf(text, sizeof text,
             "{\"sinew\": 1, \"quasistatic\": true, \"time_step\": 1, \"gravity\": [0, 0, 0], \"bodies\": [{\"name\": "
             "\"rod\", \"mesh\": {\"generator\": \"rope\", \"vertices\": 5, \"directors\": true}, \"density\": 1, "
             "\"energies\": [{\"energy\": \"edge_strain\", \"stiffness\": 1000}, {\"energy\": \"rod\"}, {\"energy\": "
             "\"director\"}], \"clamp\": [%s]}]}",
             clamp);
    def.text = text;
    def.text_size = strlen(text);
    return sinew_scene_read(&def, error);
}

static void scenes_have_clamps(void **unused)
{
    (void)unused;
    static const char *const bad[3][2] = {{"{\"select\": {\"indices\": [1]}}", "vertex 1 has 2 edges"},
                                          {"{\"tangent\": [0, 1, 0]}", "select"},
                                          {"{\"select\": {\"indices\": [0]}, \"tangent\": [0, 0, 0]}", "no direction"}};
    sinew_error error = {0};
    sinew_scene *made = read_clamped("{\"select\": {\"indices\": [0]}, \"tangent\": [0, 1, 0]}", &error);
    must(&error);
    sinew_world *world = sinew_scene_world(made);
    sinew_real q[15];
    for (int i = 0; i < 8; i++)
        sinew_world_step(world, NULL);
    sinew_world_get_positions(world, 0, 5, q);
    assert_float_equal((double)q[12], 0, 1e-3);
    assert_float_equal((double)q[13], 1, 1e-3);
    sinew_scene_destroy(made);
    for (int i = 0; i < 3; i++) {
        error = (sinew_error){0};
        assert_null(read_clamped(bad[i][0], &error));
        assert_non_null(strstr(error.text, "bodies[0].clamp[0]"));
        assert_non_null(strstr(error.text, bad[i][1]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifndef SINEW_SINGLE
        cmocka_unit_test(rods_converge_with_the_square),  cmocka_unit_test(strips_converge_with_the_square),
#endif
        cmocka_unit_test(twist_between_clamps_is_exact),  cmocka_unit_test(tangents_are_held),
        cmocka_unit_test(rest_curvature_closes_a_circle), cmocka_unit_test(removed_clamps_let_go),
        cmocka_unit_test(bad_clamps_are_refused),         cmocka_unit_test(scenes_have_clamps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
