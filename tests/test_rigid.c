/* SPDX-License-Identifier: MIT
 *
 * test_rigid.c: rigid bodies and joints: inertia against closed forms, four particles against the body that they
 * represent, hinged arms against the pendulum equation, limits and motors, and refusals. Free bodies: test_free_body.c.
 */
#include "rigid_world.h"

#include "random_cases.h"
#include "sinew/skin.h"

#ifdef SINEW_SINGLE
#define ROUND 1e-4 /* relative error of inertia */
#define HELD  1e-3 /* m, largest gap of a joint */
#else
#define ROUND 1e-12
#define HELD  1e-6
#endif

/* The same mesh under x -> A x + t. */
static sinew_mesh *make_moved(const sinew_mesh *mesh, const double A[9], const double t[3])
{
    const int32_t count = sinew_mesh_vertex_count(mesh);
    const sinew_real *x = sinew_mesh_positions(mesh);
    sinew_real *moved = malloc(3 * (size_t)count * sizeof *moved);
    for (int32_t v = 0; v < count; v++)
        for (int i = 0; i < 3; i++)
            moved[3 * v + i] = (sinew_real)(A[3 * i] * (double)x[3 * v] + A[3 * i + 1] * (double)x[3 * v + 1] +
                                            A[3 * i + 2] * (double)x[3 * v + 2] + t[i]);
    sinew_error error;
    sinew_mesh *result = sinew_mesh_moved(mesh, moved, &error);
    assert_non_null(result);
    free(moved);
    return result;
}

/* ---- Inertia ----------------------------------------------------------------------------------- */

static void box_has_the_inertia_of_the_textbook(void **unused)
{
    (void)unused;
    const double size[3] = {1.2, 0.7, 0.3};
    sinew_mesh *bar = make_beam(2, 2, 2, size[0], size[1], size[2]);
    sinew_error error;
    sinew_mesh *surface = sinew_mesh_surface(bar, &error);
    const sinew_mesh *shapes[2] = {bar, surface};
    for (int k = 0; k < 2; k++) {
        sinew_inertia inertia;
        assert_int_equal(sinew_mesh_inertia(shapes[k], &inertia, &error), SINEW_OK);
        const double volume = size[0] * size[1] * size[2];
        assert_true(fabs(inertia.volume - volume) <= ROUND * volume);
        for (int i = 0; i < 9; i++) {
            const double wanted = i % 4 == 0 ? volume * size[i / 3] * size[i / 3] / 12 : 0;
            assert_true(fabs(inertia.second[i] - wanted) <= ROUND * volume);
        }
        for (int i = 0; i < 3; i++)
            assert_true(fabs(inertia.centre[i]) <= ROUND);
    }
    sinew_mesh_destroy(surface);
    sinew_mesh_destroy(bar);
}

/* Four masses and the body agree in mass, centre and second moment, for every shape. Reference: under x -> A x + t,
 * second moments become det A (A S A^T). */
static void four_masses_stand_for_the_body(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("frames", 20, 1000);
    sinew_mesh *bar = make_beam(2, 2, 2, 1, 1, 1);
    for (int32_t n = 0; n < r.count; n++) {
        double A[9], t[3];
        for (int i = 0; i < 9; i++)
            A[i] = random_between(&r, -0.3, 0.3) + (i % 4 == 0 ? random_between(&r, 0.5, 2) : 0);
        for (int i = 0; i < 3; i++)
            t[i] = random_between(&r, -3, 3);
        sinew_mesh *shape = make_moved(bar, A, t);
        sinew_error error;
        sinew_mesh *frame = sinew_mesh_frame(shape, &error);
        sinew_inertia inertia;
        assert_non_null(frame);
        assert_int_equal(sinew_mesh_inertia(shape, &inertia, &error), SINEW_OK);
        const sinew_real *x = sinew_mesh_positions(frame);
        double centre[3] = {0, 0, 0};
        for (int i = 0; i < 12; i++)
            centre[i % 3] += (double)x[i] / 4;
        for (int i = 0; i < 3; i++)
            assert_true(fabs(centre[i] - t[i]) <= 10 * ROUND && fabs(inertia.centre[i] - t[i]) <= 10 * ROUND);
        for (int i = 0; i < 9; i++) {
            double masses = 0, moved = 0;
            for (int a = 0; a < 4; a++)
                masses += ((double)x[3 * a + i / 3] - centre[i / 3]) * ((double)x[3 * a + i % 3] - centre[i % 3]) / 4;
            for (int k = 0; k < 3; k++)
                moved += A[3 * (i / 3) + k] * A[3 * (i % 3) + k] / 12;
            assert_true(fabs(masses - moved) <= 100 * ROUND);
            assert_true(fabs(inertia.second[i] / inertia.volume - moved) <= 100 * ROUND);
        }
        sinew_mesh_destroy(frame);
        sinew_mesh_destroy(shape);
    }
    sinew_mesh_destroy(bar);
}

/* ---- An arm on a hinge --------------------------------------------------------------------------- */

/* An arm of 1 m by 0.1 m by 0.1 m, hinged about z at one end to a fixed post. */
typedef struct hinged {
    sinew_world *world;
    sinew_body arm;
    int32_t frames[8];
} hinged;

static sinew_energy try_row(hinged *w, sinew_energy_kind kind, const char *const *names, const double *values,
                            int count, sinew_error *error)
{
    sinew_energy_def def = sinew_default_energy_def(kind);
    def.body.index = -1;
    def.element_count = 1;
    def.elements = w->frames;
    def.hard = true;
    for (int i = 0; i < count; i++)
        def.parameters[sinew_energy_parameter(kind, names[i])] = (sinew_real)values[i];
    return sinew_world_add_energy(w->world, &def, error);
}

static sinew_energy add_row(hinged *w, sinew_energy_kind kind, const char *const *names, const double *values,
                            int count)
{
    sinew_error error;
    const sinew_energy energy = try_row(w, kind, names, values, count, &error);
    if (energy.index < 0)
        fail_msg("%s", error.text);
    return energy;
}

static hinged make_hinged(double h, double gravity)
{
    hinged w = {.world = make_rigid_world(h, "primal-dual", gravity)};
    const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, aside[3] = {0.5, 0, 0};
    sinew_mesh *post = make_beam(1, 1, 1, 0.1, 1, 0.1), *middle = make_beam(2, 1, 1, 1, 0.1, 0.1);
    sinew_mesh *arm = make_moved(middle, one, aside);
    const sinew_body still = add_rigid(w.world, post, 1000);
    const int32_t all[4] = {0, 1, 2, 3};
    sinew_pin_def pin = sinew_default_pin_def();
    pin.body = still;
    pin.vertices = all;
    pin.vertex_count = 4;
    assert_true(sinew_world_add_pins(w.world, &pin, NULL).index >= 0);
    w.arm = add_rigid(w.world, arm, 1000);
    for (int a = 0; a < 4; a++) {
        w.frames[a] = sinew_body_first_particle(w.world, still) + a;
        w.frames[4 + a] = sinew_body_first_particle(w.world, w.arm) + a;
    }
    static const char *const type[1] = {"type"};
    add_row(&w, SINEW_ENERGY_JOINT, type, (const double[1]){2}, 1);
    sinew_mesh_destroy(post);
    sinew_mesh_destroy(middle);
    sinew_mesh_destroy(arm);
    return w;
}

/* The rotation of the arm about z, rad. */
static double angle_of(const hinged *w)
{
    sinew_real q[12];
    double centre[2] = {0, 0};
    sinew_world_get_positions(w->world, w->frames[4], 4, q);
    for (int a = 0; a < 4; a++)
        for (int i = 0; i < 2; i++)
            centre[i] += (double)q[3 * a + i] / 4;
    return atan2(centre[1], centre[0]);
}

/* Reference: theta'' = -m g d cos(theta) / J about the hinge by a Runge-Kutta method. */
static double pendulum_after(double seconds, double gravity)
{
    const double inertia = (1 + 0.01) / 12 + 0.25, pull = gravity * 0.5 / inertia, h = 1e-5;
    double theta = 0, omega = 0;
    for (double t = 0; t < seconds - h / 2; t += h) {
        const double k1 = -pull * cos(theta), k2 = -pull * cos(theta + h / 2 * omega);
        const double k3 = -pull * cos(theta + h / 2 * (omega + h / 2 * k1));
        const double k4 = -pull * cos(theta + h * (omega + h / 2 * k2));
        theta += h * omega + h * h / 6 * (k1 + k2 + k3);
        omega += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    return theta;
}

static void an_arm_falls_as_a_pendulum(void **unused)
{
    (void)unused;
    const double wanted = pendulum_after(0.4, 9.81);
    double off[2];
    for (int k = 0; k < 2; k++) {
        const double h = k ? 0.002 : 0.004;
        hinged w = make_hinged(h, 9.81);
        for (int i = 0; i < (int)lround(0.4 / h); i++)
            sinew_world_step(w.world, NULL);
        off[k] = angle_of(&w) - wanted;
        sinew_world_destroy(w.world);
    }
    printf("    after 0.4 s %.4f rad; off by %.2e at h = 4 ms, %.2e at 2 ms\n", wanted, off[0], off[1]);
    assert_true(fabs(off[1]) < 0.01);
    if (sizeof(sinew_real) == 8) /* in single precision round-off is as large */
        assert_true(fabs(off[1]) < 0.6 * fabs(off[0]));
}

static void an_arm_rests_at_its_limit(void **unused)
{
    (void)unused;
    static const char *const names[2] = {"low", "high"};
    hinged w = make_hinged(0.01, 9.81);
    add_row(&w, SINEW_ENERGY_JOINT_LIMIT, names, (const double[2]){-0.7, 0.7}, 2);
    double lowest = 0;
    for (int i = 0; i < 100; i++) {
        sinew_world_step(w.world, NULL);
        lowest = fmin(lowest, angle_of(&w));
    }
    printf("    limit -0.7 rad: lowest %.9f, at the end %.9f\n", lowest, angle_of(&w));
    assert_true(fabs(lowest + 0.7) <= HELD && fabs(angle_of(&w) + 0.7) <= HELD);
    sinew_world_destroy(w.world);
}

/* Thrown arms with random limits. A second arm without limits starts every step in the state of the first. The hinge
 * has one degree of freedom, so the step ends at the free arm's end or at the limit before it. */
static void limits_act_where_they_are_in_the_way(void **unused)
{
    (void)unused;
    static const char *const names[2] = {"low", "high"};
    random_cases r = random_cases_begin("limits of hinges", 4, 100);
    int at_limits = 0, free_steps = 0;
    for (int c = 0; c < r.count; c++) {
        const double limits[2] = {-random_between(&r, 0.05, 0.5), random_between(&r, 0.05, 0.5)};
        const double gravity = random_between(&r, -5, 10), omega = random_between(&r, -4, 4);
        hinged w = make_hinged(0.01, gravity), beside = make_hinged(0.01, gravity);
        sinew_real q[24], v[24];
        add_row(&w, SINEW_ENERGY_JOINT_LIMIT, names, limits, 2);
        sinew_world_get_positions(w.world, 0, 8, q);
        memset(v, 0, sizeof v);
        for (int a = 4; a < 8; a++) {
            v[3 * a] = -(sinew_real)omega * q[3 * a + 1];
            v[3 * a + 1] = (sinew_real)omega * q[3 * a];
        }
        sinew_world_set_velocities(w.world, 0, 8, v);
        for (int i = 0; i < 40; i++) {
            sinew_world_get_positions(w.world, 0, 8, q);
            sinew_world_get_velocities(w.world, 0, 8, v);
            sinew_world_set_positions(beside.world, 0, 8, q);
            sinew_world_set_velocities(beside.world, 0, 8, v);
            sinew_world_step(w.world, NULL);
            sinew_world_step(beside.world, NULL);
            const double wanted = fmin(fmax(angle_of(&beside), limits[0]), limits[1]);
            if (!(fabs(angle_of(&w) - wanted) <= HELD))
                fail_msg("case %d, step %d: %.9f rad in place of %.9f", c, i, angle_of(&w), wanted);
            *(wanted == angle_of(&beside) ? &free_steps : &at_limits) += 1;
        }
        sinew_world_destroy(w.world);
        sinew_world_destroy(beside.world);
    }
    printf("    %d steps at a limit, %d free\n", at_limits, free_steps);
    assert_true(at_limits > 0 && free_steps > 0);
}

static void a_motor_turns_an_arm(void **unused)
{
    (void)unused;
    static const char *const names[1] = {"speed"};
    hinged w = make_hinged(0.01, 9.81);
    add_row(&w, SINEW_ENERGY_MOTOR, names, (const double[1]){0.5}, 1);
    for (int i = 0; i < 100; i++)
        sinew_world_step(w.world, NULL);
    printf("    a motor of 0.5 rad/s after 1 s: %.9f rad\n", angle_of(&w));
    assert_true(fabs(angle_of(&w) - 0.5) <= HELD);
    sinew_world_destroy(w.world);
}

/* ---- Limits of both types ----------------------------------------------------------------------- */

/* Rotates x by angle about the line through p along the unit vector n. */
static void turn_about(const double p[3], const double n[3], double angle, double x[3])
{
    double r[3], along = 0;
    for (int i = 0; i < 3; i++) {
        r[i] = x[i] - p[i];
        along += r[i] * n[i];
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        x[i] = p[i] + along * n[i] + cos(angle) * (r[i] - along * n[i]) + sin(angle) * (n[j] * r[k] - n[k] * r[j]);
    }
}

static void random_unit(random_cases *r, double n[3])
{
    double length = 0;
    for (int i = 0; i < 3; i++) {
        n[i] = random_between(r, -1, 1);
        length += n[i] * n[i];
    }
    for (int i = 0; i < 3; i++)
        n[i] /= sqrt(length);
}

/* Two tets and a limit of one type. B rotates about the joint's axis by `turn` and slides along it by `slide`, then
 * both move rigidly: the energy is that of the two sines, or of the two distances. */
static void limits_have_the_energy_of_the_formula(void **unused)
{
    (void)unused;
    static const char *const names[8] = {"point_x", "point_y", "point_z", "axis_x", "axis_y", "axis_z", "low", "high"};
    random_cases r = random_cases_begin("energies of limits", 40, 2000);
    for (int c = 0; c < r.count; c++) {
        double x[8][3], n[3], about[3], square = 0, C[2], values[8];
        const bool slides = c % 2;
        sinew_world *world = make_rigid_world(0.01, "newton", 0);
        sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_JOINT_LIMIT);
        int32_t frames[8];
        sinew_error error;
        sinew_measures m;
        sinew_real q[24];
        for (int b = 0; b < 2; b++) {
            sinew_mesh *unit = make_beam(1, 1, 1, 1, 1, 1);
            const int32_t first = sinew_body_first_particle(world, add_mesh(world, unit, 1, NULL, NULL));
            sinew_real rest[12];
            int32_t picked[4], count = 0;
            /* A corner of the cube and its three neighbours. */
            for (int32_t v = 0; v < sinew_mesh_vertex_count(unit) && count < 4; v++) {
                const sinew_real *p = sinew_mesh_positions(unit) + 3 * v;
                if ((p[0] > 0) + (p[1] > 0) + (p[2] > 0) <= 1)
                    picked[count++] = v;
            }
            assert_int_equal(count, 4);
            double middle[3] = {0, 0, 0};
            for (int a = 0; a < 4; a++) {
                frames[4 * b + a] = first + picked[a];
                sinew_world_get_positions(world, first + picked[a], 1, rest + 3 * a);
                for (int i = 0; i < 3; i++) {
                    x[4 * b + a][i] = (double)rest[3 * a + i];
                    middle[i] += x[4 * b + a][i] / 4;
                }
            }
            for (int a = 0; a < 12; a++)
                square += pow(x[4 * b + a / 3][a % 3] - middle[a % 3], 2) / 8;
            sinew_mesh_destroy(unit);
        }
        random_unit(&r, n);
        for (int i = 0; i < 3; i++) {
            values[i] = random_between(&r, -0.5, 0.5);
            values[3 + i] = 2 * n[i];
        }
        values[6] = random_between(&r, -0.5, -0.1);
        values[7] = random_between(&r, 0.1, 0.5);
        const double turn = random_between(&r, -1.2, 1.2), slide = random_between(&r, -1, 1);
        def.body.index = -1;
        def.element_count = 1;
        def.elements = frames;
        def.parameters[sinew_energy_parameter(def.kind, "type")] = slides;
        def.parameters[sinew_energy_parameter(def.kind, "stiffness")] = 100;
        for (int i = 0; i < 8; i++)
            def.parameters[sinew_energy_parameter(def.kind, names[i])] = (sinew_real)values[i];
        if (sinew_world_add_energy(world, &def, &error).index < 0)
            fail_msg("%s", error.text);
        random_unit(&r, about);
        const double far = random_between(&r, -1, 1), whole = random_between(&r, -3, 3);
        for (int a = 0; a < 8; a++) {
            if (a >= 4)
                turn_about(values, n, turn, x[a]);
            for (int i = 0; a >= 4 && i < 3; i++)
                x[a][i] += slide * n[i];
            turn_about((const double[3]){far, 0, -far}, about, whole, x[a]);
            for (int i = 0; i < 3; i++)
                q[i] = (sinew_real)x[a][i];
            sinew_world_set_positions(world, frames[a], 1, q);
        }
        C[0] = slides ? slide - values[6] : sqrt(square) * sin(turn - values[6]);
        C[1] = slides ? values[7] - slide : sqrt(square) * sin(values[7] - turn);
        const double wanted = 50 * (pow(fmin(C[0], 0), 2) + pow(fmin(C[1], 0), 2));
        assert_int_equal(sinew_world_measure(world, &m), SINEW_OK);
        if (!(fabs(m.elastic - wanted) <= 100 * ROUND))
            fail_msg("case %d, %s: %.9g J in place of %.9g J", c, slides ? "slide" : "angle", m.elastic, wanted);
        sinew_world_destroy(world);
    }
}

/* ---- Points on a rigid body ------------------------------------------------------------------------ */

/* A string's end joins a corner of a box, far outside the tet of its particles: it exerts no force at rest. */
static void a_corner_is_joined_where_it_is(void **unused)
{
    (void)unused;
    sinew_error error;
    sinew_measures m;
    const double from[3] = {0.5, 0.1, 0.05}, to[3] = {0.5, 1, 0.05};
    sinew_world *world = make_rigid_world(0.01, "primal-dual", 0);
    sinew_mesh *bar = make_beam(2, 1, 1, 1, 0.2, 0.1), *line = make_rope(2, from, to);
    sinew_attach_def def = sinew_default_attach_def();
    def.to = add_rigid(world, bar, 1000);
    def.from = add_mesh(world, line, 1, NULL, NULL);
    def.distance = 1e-6;
    assert_true(sinew_world_attach_within(world, &def, &error).index >= 0);
    assert_int_equal(sinew_world_measure(world, &m), SINEW_OK);
    printf("    elastic energy at rest: %.1e J\n", m.elastic);
    assert_true(m.elastic <= HELD * HELD);
    sinew_world_destroy(world);
    sinew_mesh_destroy(bar);
    sinew_mesh_destroy(line);
}

/* ---- Refusals ----------------------------------------------------------------------------------- */

/* A closed surface without volume: four triangles of four points in an oblique plane. */
static sinew_mesh *make_flat_tet(void)
{
    static const double corners[4][2] = {{0, 0}, {1, 0.1}, {0.2, 1.1}, {0.9, 0.8}};
    static const int32_t triangles[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2};
    sinew_real x[12];
    for (int a = 0; a < 4; a++) {
        x[3 * a] = (sinew_real)corners[a][0];
        x[3 * a + 1] = (sinew_real)(0.3 * corners[a][0] - 0.7 * corners[a][1]);
        x[3 * a + 2] = (sinew_real)corners[a][1];
    }
    sinew_error error;
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = 4;
    def.positions = x;
    def.triangle_count = 4;
    def.triangles = triangles;
    sinew_mesh *mesh = sinew_mesh_create(&def, &error);
    assert_non_null(mesh);
    return mesh;
}

static void what_cannot_be_rigid_is_refused(void **unused)
{
    (void)unused;
    sinew_error error;
    sinew_inertia inertia;
    sinew_cloth_def cloth = sinew_default_cloth_def();
    sinew_mesh *sheet = sinew_mesh_cloth(&cloth, &error), *bar = make_beam(2, 2, 2, 1, 1, 1);
    assert_int_equal(sinew_mesh_inertia(sheet, &inertia, &error), SINEW_ERROR_DATA);
    assert_non_null(strstr(error.text, "open edges"));
    assert_null(sinew_mesh_frame(sheet, &error));

    sinew_world *world = make_rigid_world(0.01, "qn", 9.81);
    sinew_body_def def = sinew_default_body_def();
    def.mesh = bar;
    assert_true(sinew_world_add_rigid(world, &def, &error).index < 0);
    assert_non_null(strstr(error.text, "qn cannot keep spring hard"));
    assert_int_equal(sinew_world_body_at(world, 0).index, -1);
    sinew_world_destroy(world);

    world = make_rigid_world(0.01, "xpbd", 9.81);
    def.density = -1;
    assert_true(sinew_world_add_rigid(world, &def, &error).index < 0);
    assert_non_null(strstr(error.text, "density"));
    def = sinew_default_body_def();
    def.mesh = sheet;
    assert_true(sinew_world_add_rigid(world, &def, &error).index < 0);
    sinew_mesh *flat = make_flat_tet();
    def.mesh = flat;
    assert_true(sinew_world_add_rigid(world, &def, &error).index < 0);
    assert_int_equal(error.status, SINEW_ERROR_DATA);
    sinew_mesh_destroy(flat);
    sinew_world_destroy(world);
    sinew_mesh_destroy(sheet);
    sinew_mesh_destroy(bar);
}

/* An empty range of limits is refused with its numbers, and the message does not blame the mesh. */
static void limits_without_room_are_refused(void **unused)
{
    (void)unused;
    static const char *const names[2] = {"low", "high"};
    static const struct {
        double limits[2];
        const char *says;
    } cases[2] = {{{0.5, -0.25}, "low = 0.5 is above high = -0.25; lower the one"}, {{-2, 2}, "3.1 rad apart or more"}};
    hinged w = make_hinged(0.01, 9.81);
    for (int c = 0; c < 2; c++) {
        sinew_error error;
        assert_true(try_row(&w, SINEW_ENERGY_JOINT_LIMIT, names, cases[c].limits, 2, &error).index < 0);
        assert_non_null(strstr(error.text, cases[c].says));
        assert_null(strstr(error.text, "mesh check"));
    }
    sinew_world_destroy(w.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(box_has_the_inertia_of_the_textbook),
        cmocka_unit_test(four_masses_stand_for_the_body),
        cmocka_unit_test(an_arm_falls_as_a_pendulum),
        cmocka_unit_test(an_arm_rests_at_its_limit),
        cmocka_unit_test(a_motor_turns_an_arm),
        cmocka_unit_test(a_corner_is_joined_where_it_is),
        cmocka_unit_test(limits_act_where_they_are_in_the_way),
        cmocka_unit_test(limits_have_the_energy_of_the_formula),
        cmocka_unit_test(what_cannot_be_rigid_is_refused),
        cmocka_unit_test(limits_without_room_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
