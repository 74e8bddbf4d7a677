/* SPDX-License-Identifier: MIT
 *
 * test_mixing.c: single particles against closed forms of impact and sliding: coefficients of two materials, the speed
 * below which nothing rebounds, pinned corners, the force on a particle, and contacts that move from face to face.
 */
#include "contact_worlds.h"
#include "random_cases.h"

/* Round-off of a speed in m/s: positions of about 0.03 m in single precision, over H. */
#ifdef SINEW_SINGLE
#define EXACT     2e-3
#define ROUND_OFF 1e-5
#else
#define EXACT     1e-5
#define ROUND_OFF 0
#endif

#define G         9.81
#define H         1e-3
#define THICKNESS 2e-3

/* ---- Worlds ---------------------------------------------------------------------------------- */

static sinew_world *make_impact_world(double gravity)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.time_step = (sinew_real)H;
    def.gravity[1] = (sinew_real)-gravity;
    def.solver = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    def.solver.iterations = 200;
    def.solver.tolerance = (sinew_real)1e-12;
    sinew_world *world = make_world(&def);
    set_touch(world, THICKNESS, 0);
    return world;
}

/* Adds a body of one vertex of a given mass. */
static sinew_body add_particle(sinew_world *world, double mass, const double x[3], const double v[3])
{
    sinew_error error = {0};
    sinew_real position[3], velocity[3];
    const sinew_real m = (sinew_real)mass;
    for (int c = 0; c < 3; c++) {
        position[c] = (sinew_real)x[c];
        velocity[c] = (sinew_real)v[c];
    }
    sinew_mesh_def point = sinew_default_mesh_def();
    point.vertex_count = 1;
    point.positions = position;
    sinew_mesh *mesh = sinew_mesh_create(&point, &error);
    must(&error);
    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    def.masses = &m;
    def.velocities = velocity;
    const sinew_body body = add_body(world, &def);
    sinew_mesh_destroy(mesh);
    return body;
}

/* A square sheet in the plane y = 0, n x n vertices, whose first `pinned` vertices are held. */
static sinew_body add_sheet(sinew_world *world, int n, double size, int32_t pinned)
{
    sinew_error error = {0};
    int32_t held[64];
    sinew_cloth_def cloth = sinew_default_cloth_def();
    cloth.vertices[0] = cloth.vertices[1] = n;
    cloth.size[0] = cloth.size[1] = (sinew_real)size;
    sinew_mesh *mesh = sinew_mesh_cloth(&cloth, &error);
    must(&error);
    const int32_t count = sinew_mesh_vertex_count(mesh);
    sinew_real *x = make_array(3 * (size_t)count, sizeof *x);
    for (int32_t i = 0; i < count; i++) {
        const sinew_real *X = sinew_mesh_positions(mesh) + 3 * (size_t)i;
        x[3 * i] = X[0] - (sinew_real)(size / 2);
        x[3 * i + 1] = 0;
        x[3 * i + 2] = (sinew_real)(size / 2) - X[1];
    }
    const sinew_body body = add_mesh(world, mesh, 10, x, NULL);
    add_springs(world, body, 10);
    for (int32_t i = 0; i < pinned; i++)
        held[i] = i;
    if (pinned > 0)
        add_pins(world, body, held, pinned, NULL);
    free(x);
    sinew_mesh_destroy(mesh);
    return body;
}

/* Sets friction and restitution; NaN: the world's values. */
static void set_material(sinew_world *world, sinew_body body, double friction, double restitution)
{
    sinew_error error = {0};
    sinew_body_contact contact = sinew_default_body_contact();
    contact.friction = (sinew_real)friction;
    contact.restitution = (sinew_real)restitution;
    sinew_body_set_contact(world, body, &contact, &error);
    must(&error);
}

static void set_world_material(sinew_world *world, double friction, double restitution)
{
    sinew_error error = {0};
    sinew_contact_def def = sinew_world_contact(world);
    def.friction = (sinew_real)friction;
    def.restitution = (sinew_real)restitution;
    sinew_world_set_contact(world, &def, &error);
    must(&error);
}

static void add_floor_of(sinew_world *world, double friction, double restitution)
{
    sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_PLANE);
    def.friction = (sinew_real)friction;
    def.restitution = (sinew_real)restitution;
    add_collider(world, &def);
}

static void velocity_of(const sinew_world *world, sinew_body body, double v[3])
{
    sinew_real out[3];
    assert_int_equal(sinew_world_get_velocities(world, sinew_body_first_particle(world, body), 1, out), SINEW_OK);
    for (int c = 0; c < 3; c++)
        v[c] = (double)out[c];
}

static int32_t contacts_of(const sinew_world *world, sinew_contact *contacts, int32_t capacity)
{
    sinew_error error = {0};
    int32_t count = 0;
    sinew_world_contacts(world, capacity, contacts, &count, &error);
    must(&error);
    return count;
}

static void near(double found, double expected, double scale, const char *what)
{
    if (!(fabs(found - expected) <= EXACT * scale))
        fail_msg("%s is %.10g, expected %.10g", what, found, expected);
}

/* ---- Friction of two materials ----------------------------------------------------------------- */

/* A particle slides at 5 m/s: every step reduces its speed by mu g h, where mu is the root of the product of both
 * coefficients. Its force obeys Newton's second law, friction included. On a plane, and on a sheet with all vertices
 * held. */
static void slide(random_cases *r, bool on_sheet, bool of_world)
{
    sinew_world *world = make_impact_world(G);
    const double mu[2] = {random_between(r, 0.05, 1.5), random_between(r, 0.05, 1.5)}, root = sqrt(mu[0] * mu[1]);
    const double m = random_magnitude(r, 0.1, 10), angle = random_between(r, -3, 3), speed = 5;
    const double v[3] = {speed * cos(angle), 0, speed * sin(angle)}, x[3] = {0.01, THICKNESS, 0.02};
    set_world_material(world, of_world ? mu[1] : 3, 0);
    if (on_sheet)
        set_material(world, add_sheet(world, 2, 1, 4), of_world ? (double)NAN : mu[1], (double)NAN);
    else
        add_floor_of(world, of_world ? (double)NAN : mu[1], (double)NAN);
    const sinew_body body = add_particle(world, m, x, v);
    set_material(world, body, mu[0], (double)NAN);
    double before[3] = {v[0], v[1], v[2]}, after[3];
    for (int s = 0; s < 5; s++) {
        sinew_error error = {0};
        sinew_real f[3];
        assert_int_equal(sinew_world_step(world, NULL) & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED), 0);
        velocity_of(world, body, after);
        sinew_world_field(world, SINEW_FIELD_CONTACT_FORCE, sinew_body_first_particle(world, body), 1, f, &error);
        must(&error);
        const double lost = root * G * H, scale = lost + ROUND_OFF / EXACT;
        near(after[0], before[0] - lost * cos(angle), scale, "the speed along x of a sliding particle");
        near(after[2], before[2] - lost * sin(angle), scale, "the speed along z of a sliding particle");
        for (int c = 0; c < 3; c++)
            near((double)f[c], m * (after[c] - before[c]) / H + (c == 1 ? m * G : 0), m * G, "the force of a contact");
        memcpy(before, after, sizeof before);
    }
    sinew_world_destroy(world);
}

static void friction_is_the_root_of_the_product(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("friction", 12, 200);
    for (int i = 0; i < r.count; i++)
        slide(&r, i % 2, i % 4 > 1);
}

/* ---- Restitution of two materials ----------------------------------------------------------------- */

/* The speed of a particle after the step in which it hits a plane, for a given speed and clearance. */
static double rebound_speed(double of_body, double of_plane, double speed, double clearance)
{
    sinew_world *world = make_impact_world(G);
    const double x[3] = {0, THICKNESS + clearance, 0}, v[3] = {0, -speed, 0};
    double after[3];
    add_floor_of(world, 0, of_plane);
    const sinew_body body = add_particle(world, 1, x, v);
    set_material(world, body, 0, of_body);
    sinew_world_step(world, NULL);
    velocity_of(world, body, after);
    sinew_world_destroy(world);
    return after[1];
}

/* Torricelli: the squared speed at the plane is v^2 + 2 g d. */
static void restitution_is_the_larger_one(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("restitution", 12, 200);
    for (int i = 0; i < r.count; i++) {
        const double e[2] = {random_between(&r, 0.05, 1), random_between(&r, 0.05, 1)};
        const double speed = random_between(&r, 0.5, 3), clearance = random_between(&r, 0, 0.5) * speed * H;
        const double came = sqrt(speed * speed + 2 * G * clearance);
        near(rebound_speed(e[0], e[1], speed, clearance), fmax(e[0], e[1]) * came, came, "the speed of a rebound");
    }
}

/* Resting contacts gain g h of speed in every step, so impacts below 2 g h do not rebound. */
static void slow_impacts_do_not_rebound(void **state)
{
    (void)state;
    const double gh = G * H;
    for (int k = 1; k < 5; k++) {
        const double fast = (2 + 0.1 * k) * gh, slow = (2 - 0.1 * k) * gh;
        near(rebound_speed(0.7, 0, fast, 0), 0.7 * fast, gh, "the speed of a fast rebound");
        near(rebound_speed(0.7, 0, slow, 0), 0, gh, "the speed of a slow rebound");
    }
}

/* ---- Pinned corners --------------------------------------------------------------------------------- */

/* A particle falls on a sheet of two triangles with some corners held. The contact point separates at e times the speed
 * of approach: held corners take no impulse. The sheet rotates a little within the step. */
static void corners_that_are_held(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("held corners", 12, 200);
    for (int i = 0; i < r.count; i++) {
        sinew_world *world = make_impact_world(0);
        const double e = random_between(&r, 0.2, 1), speed = random_between(&r, 1, 3);
        const double x[3] = {random_between(&r, 0.05, 0.15), THICKNESS, random_between(&r, -0.15, -0.05)};
        const double v[3] = {0, -speed, 0};
        add_sheet(world, 2, 0.5, i % 4);
        const sinew_body body = add_particle(world, random_magnitude(&r, 0.1, 10), x, v);
        set_world_material(world, 0, e);
        sinew_contact contacts[8];
        sinew_world_step(world, NULL);
        assert_int_equal(contacts_of(world, contacts, 8), 1);
        double parts = 0;
        for (int a = 0; a < 4; a++) {
            sinew_real u[3] = {0};
            if (contacts[0].particles[a] >= 0)
                sinew_world_get_velocities(world, contacts[0].particles[a], 1, u);
            for (int c = 0; c < 3; c++)
                parts += (double)contacts[0].weights[a] * (double)contacts[0].normal[c] * (double)u[c];
        }
        near(parts, e * speed, 100 * speed, "the speed at which they part");
        assert_int_equal(contacts[0].particles[0], sinew_body_first_particle(world, body));
        sinew_world_destroy(world);
    }
}

/* ---- Contacts that move from face to face -------------------------------------------------------- */

/* A particle slides over the faces of a sheet: it is one contact, which begins once and ends when the particle is
 * lifted. */
static void a_contact_passes_from_face_to_face(void **state)
{
    (void)state;
    sinew_world *world = make_impact_world(G);
    const double x[3] = {-0.2, THICKNESS, 0.017}, v[3] = {4, 0, 0.3};
    set_world_material(world, 0.1, 0);
    add_sheet(world, 6, 0.5, 36);
    const sinew_body body = add_particle(world, 0.5, x, v);
    int32_t began = 0, stayed = 0, ended = 0, faces = 0, last = -1;
    for (int s = 0; s < 80; s++) {
        sinew_contact contacts[8];
        sinew_contact_report report;
        if (s == 79) {
            const sinew_real up[3] = {0, 1, 0};
            assert_int_equal(sinew_world_set_positions(world, sinew_body_first_particle(world, body), 1, up), SINEW_OK);
        }
        sinew_world_step(world, NULL);
        const int32_t count = contacts_of(world, contacts, 8);
        if (count != 1)
            fail_msg("step %d has %d contacts", s, (int)count);
        began += contacts[0].event == SINEW_CONTACT_BEGAN;
        stayed += contacts[0].event == SINEW_CONTACT_STAYED;
        ended += contacts[0].event == SINEW_CONTACT_ENDED;
        const int32_t face = contacts[0].particles[1] + contacts[0].particles[2] + contacts[0].particles[3];
        faces += face != last;
        last = face;
        assert_int_equal(sinew_world_contact_report(world, &report, NULL), SINEW_OK);
        assert_int_equal(report.began, contacts[0].event == SINEW_CONTACT_BEGAN);
        assert_int_equal(report.ended, contacts[0].event == SINEW_CONTACT_ENDED);
    }
    printf("%d began, %d stayed, %d ended, over %d faces\n", (int)began, (int)stayed, (int)ended, (int)faces);
    assert_int_equal(began, 1);
    assert_int_equal(stayed, 78);
    assert_int_equal(ended, 1);
    assert_true(faces >= 5);
    sinew_world_destroy(world);
}

/* A mesh with a groove of two slopes at right angles along z, and a shelf beside it. */
static void add_groove(sinew_world *world)
{
    static const double profile[4][2] = {{-0.5, 0.5}, {0, 0}, {0.5, 0.5}, {1.5, 0.5}};
    sinew_error error = {0};
    sinew_real x[24];
    int32_t triangles[18];
    for (int i = 0; i < 8; i++) {
        x[3 * i] = (sinew_real)profile[i / 2][0];
        x[3 * i + 1] = (sinew_real)profile[i / 2][1];
        x[3 * i + 2] = i % 2 ? 1 : -1;
    }
    for (int s = 0; s < 3; s++)
        for (int k = 0; k < 6; k++)
            triangles[6 * s + k] = 2 * s + (const int[]){0, 1, 2, 2, 1, 3}[k];
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = 8;
    def.positions = x;
    def.triangle_count = 6;
    def.triangles = triangles;
    sinew_mesh *mesh = sinew_mesh_create(&def, &error);
    must(&error);
    sinew_collider_def collider = sinew_default_collider_def(SINEW_SHAPE_MESH);
    collider.mesh = mesh;
    add_collider(world, &collider);
    sinew_mesh_destroy(mesh);
}

/* A particle in a groove touches two faces and is moved to the shelf: its one contact there continues one of the two,
 * and the other ends. */
static void two_contacts_become_one(void **state)
{
    (void)state;
    sinew_world *world = make_impact_world(G);
    const double d = THICKNESS, x[3] = {0, d * sqrt(2.0), 0.13}, v[3] = {0, 0, 0};
    add_groove(world);
    add_particle(world, 0.5, x, v);
    sinew_contact_report report;
    sinew_contact contacts[8];
    int32_t before = 0;
    for (int s = 0; s < 6; s++) {
        const sinew_real shelf[3] = {1, (sinew_real)(0.5 + d), (sinew_real)0.13};
        if (s == 3)
            assert_int_equal(sinew_world_set_positions(world, 0, 1, shelf), SINEW_OK);
        sinew_world_step(world, NULL);
        assert_int_equal(sinew_world_contact_report(world, &report, NULL), SINEW_OK);
        const int32_t count = contacts_of(world, contacts, 8);
        int32_t ended = 0;
        for (int32_t k = 0; k < count; k++)
            ended += contacts[k].event == SINEW_CONTACT_ENDED;
        assert_int_equal(report.contacts, s < 3 ? 2 : 1);
        assert_int_equal(report.contacts, before + report.began - report.ended);
        assert_int_equal(report.ended, ended);
        before = report.contacts;
    }
    sinew_world_destroy(world);
}

/* ---- Contacts during changes of the world -------------------------------------------------------- */

/* A particle rests on a sheet, another one on a plane beside it. A distant body is removed after four steps, another
 * one added after eight. Contacts persist, and positions equal those of a world without the distant bodies. */
static void contacts_outlive_visitors(void **state)
{
    (void)state;
    sinew_world *worlds[2];
    sinew_real at[2][6];
    for (int w = 0; w < 2; w++) {
        sinew_error error = {0};
        const double above[3] = {0.03, THICKNESS, 0.02}, beside[3] = {3, THICKNESS - 0.2, 0};
        const double far_away[3] = {0, 9, 0}, still[3] = {0, 0, 0}, slow[3] = {0.2, 0, 0.1};
        sinew_world *world = worlds[w] = make_impact_world(G);
        set_world_material(world, 0.6, 0);
        sinew_collider_def plane = sinew_default_collider_def(SINEW_SHAPE_PLANE);
        plane.position[1] = (sinew_real)-0.2;
        add_collider(world, &plane);
        sinew_body visitor = {.index = -1};
        if (w == 1) /* added before the others, so that its removal renumbers their particles */
            visitor = add_particle(world, 1, far_away, still);
        add_sheet(world, 3, 0.5, 9);
        const sinew_body a = add_particle(world, 0.5, above, slow), b = add_particle(world, 0.7, beside, slow);
        for (int s = 0; s < 12; s++) {
            sinew_contact_report report;
            if (w == 1 && s == 4) {
                sinew_world_remove_body(world, visitor, &error);
                must(&error);
            }
            if (w == 1 && s == 8)
                add_particle(world, 1, far_away, still);
            assert_int_equal(sinew_world_step(world, NULL) & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED), 0);
            assert_int_equal(sinew_world_contact_report(world, &report, NULL), SINEW_OK);
            assert_int_equal(report.contacts, 2);
            assert_int_equal(report.began, s == 0 ? 2 : 0);
            assert_int_equal(report.ended, 0);
        }
        sinew_world_get_positions(world, sinew_body_first_particle(world, a), 1, at[w]);
        sinew_world_get_positions(world, sinew_body_first_particle(world, b), 1, at[w] + 3);
    }
    for (int i = 0; i < 6; i++)
        near((double)at[1][i], (double)at[0][i], 1e-2, "where a particle is after a visit");
    sinew_world_destroy(worlds[0]);
    sinew_world_destroy(worlds[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(friction_is_the_root_of_the_product), cmocka_unit_test(restitution_is_the_larger_one),
        cmocka_unit_test(slow_impacts_do_not_rebound),         cmocka_unit_test(corners_that_are_held),
        cmocka_unit_test(a_contact_passes_from_face_to_face),  cmocka_unit_test(two_contacts_become_one),
        cmocka_unit_test(contacts_outlive_visitors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
