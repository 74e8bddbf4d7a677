/* SPDX-License-Identifier: MIT
 *
 * test_follow.c: pins and targets that follow a collider or a vertex cache.
 *
 * References: Rodrigues' formula on the key frames of a rigid collider; for a deforming one a search of all triangles
 * and Cramer's rule in the frame of the nearest; vertices and frames themselves; states continue with the same bits.
 */
#include "contact_worlds.h"
#include "failing_allocator.h"
#include "random_cases.h"
#include "saved_state.h"
#include "small_world.h"

#include "sinew/scene.h"

#ifdef SINEW_SINGLE
#define EXACT 2e-5
#else
#define EXACT 1e-11
#endif

enum {
    SIDE = 5, /* vertices along a side of the moving sheet */
    SHEET = SIDE * SIDE,
    FRAMES = 4,
    HELD = 6
};

/* ---- Geometry of the references --------------------------------------------------------------------- */

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double determinant(const double a[3], const double b[3], const double c[3])
{
    double n[3];
    cross(b, c, n);
    return dot(a, n);
}

/* Sides and unit normal of a triangle. */
static void triangle_frame(double corners[3][3], double frame[3][3])
{
    for (int k = 0; k < 3; k++) {
        frame[0][k] = corners[1][k] - corners[0][k];
        frame[1][k] = corners[2][k] - corners[0][k];
    }
    cross(frame[0], frame[1], frame[2]);
    const double length = sqrt(dot(frame[2], frame[2]));
    for (int k = 0; k < 3; k++)
        frame[2][k] /= length;
}

/* Coordinates of x in the frame of the triangle, by Cramer's rule. */
static void coordinates(double corners[3][3], const double x[3], double local[3])
{
    double f[3][3], d[3];
    triangle_frame(corners, f);
    for (int k = 0; k < 3; k++)
        d[k] = x[k] - corners[0][k];
    const double all = determinant(f[0], f[1], f[2]);
    local[0] = determinant(d, f[1], f[2]) / all;
    local[1] = determinant(f[0], d, f[2]) / all;
    local[2] = determinant(f[0], f[1], d) / all;
}

static double segment_distance(const double a[3], const double b[3], const double x[3])
{
    double e[3], d[3], rest[3];
    for (int k = 0; k < 3; k++) {
        e[k] = b[k] - a[k];
        d[k] = x[k] - a[k];
    }
    const double t = fmin(fmax(dot(e, d) / dot(e, e), 0), 1);
    for (int k = 0; k < 3; k++)
        rest[k] = d[k] - t * e[k];
    return sqrt(dot(rest, rest));
}

static double triangle_distance(double corners[3][3], const double x[3])
{
    double local[3], nearest = HUGE_VAL;
    coordinates(corners, x, local);
    if (local[0] >= 0 && local[1] >= 0 && local[0] + local[1] <= 1)
        return fabs(local[2]);
    for (int k = 0; k < 3; k++)
        nearest = fmin(nearest, segment_distance(corners[k], corners[(k + 1) % 3], x));
    return nearest;
}

static void corners_of(const sinew_real *x, const int32_t *triangle, double corners[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            corners[i][k] = (double)x[3 * triangle[i] + k];
}

/* The nearest triangle; *margin: how much nearer it is than the second. */
static int32_t nearest_triangle(const sinew_mesh *mesh, const sinew_real *positions, const double x[3], double *margin)
{
    double best = HUGE_VAL, second = HUGE_VAL;
    int32_t found = -1;
    for (int32_t t = 0; t < sinew_mesh_triangle_count(mesh); t++) {
        double corners[3][3];
        corners_of(positions, sinew_mesh_triangles(mesh) + 3 * t, corners);
        const double distance = triangle_distance(corners, x);
        if (distance < best) {
            second = best;
            best = distance;
            found = t;
        } else {
            second = fmin(second, distance);
        }
    }
    *margin = second - best;
    return found;
}

static void rotate(const double r[3], double x[3])
{
    const double angle = sqrt(dot(r, r));
    if (angle == 0)
        return;
    const double u[3] = {r[0] / angle, r[1] / angle, r[2] / angle}, along = dot(u, x) * (1 - cos(angle));
    double n[3];
    cross(u, x, n);
    for (int k = 0; k < 3; k++)
        x[k] = x[k] * cos(angle) + n[k] * sin(angle) + u[k] * along;
}

/* ---- Worlds ------------------------------------------------------------------------------------------ */

/* A net of springs of HELD x 3 vertices at random places in a box; the vertices 0 .. HELD - 1 are for pins. */
static sinew_body add_net(sinew_world *world, const sinew_real *held)
{
    sinew_error error = {0};
    sinew_cloth_def def = sinew_default_cloth_def();
    def.vertices[0] = HELD;
    def.vertices[1] = 3;
    sinew_mesh *mesh = sinew_mesh_cloth(&def, &error);
    must(&error);
    sinew_real *x = make_array(3 * (size_t)sinew_mesh_vertex_count(mesh), sizeof *x);
    memcpy(x, sinew_mesh_positions(mesh), 3 * (size_t)sinew_mesh_vertex_count(mesh) * sizeof *x);
    memcpy(x, held, 3 * HELD * sizeof *x);
    const sinew_body body = add_mesh(world, mesh, 0.2, x, NULL);
    add_springs(world, body, 10);
    sinew_mesh_destroy(mesh);
    free(x);
    return body;
}

static const int32_t held_vertices[HELD] = {0, 1, 2, 3, 4, 5};

static sinew_pin pin_to(sinew_world *world, sinew_body body, const sinew_follow *follow, sinew_error *error)
{
    sinew_pin_def def = sinew_default_pin_def();
    def.body = body;
    def.vertices = held_vertices;
    def.vertex_count = HELD;
    def.follow = follow;
    return sinew_world_add_pins(world, &def, error);
}

static sinew_world *empty_world(int threads)
{
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)0.02;
    def.thread_count = threads;
    def.solver.measure = SINEW_MEASURE_RESIDUAL;
    def.solver.iterations = 10;
    return make_world(&def);
}

static void expect_points(const sinew_world *world, sinew_body body, int32_t count, const double *expected)
{
    sinew_real q[3 * SHEET];
    assert_int_equal(sinew_world_get_positions(world, sinew_body_first_particle(world, body), count, q), SINEW_OK);
    for (int32_t i = 0; i < 3 * count; i++)
        if (fabs((double)q[i] - expected[i]) > EXACT * (1 + fabs(expected[i])))
            fail_msg("coordinate %d of point %d is %.17g, the reference has %.17g", i % 3, i / 3, (double)q[i],
                     expected[i]);
}

/* A sheet with a moving mesh: FRAMES frames, 0.03 s apart, each with random bumps and a drift. Vertex 0 has no
 * triangle.
 */
typedef struct moving_sheet {
    sinew_mesh *mesh;
    sinew_real frames[FRAMES][3 * (SHEET + 1)];
    double frame_time;
} moving_sheet;

static void make_moving_sheet(moving_sheet *s, random_cases *r)
{
    sinew_error error = {0};
    int32_t triangles[6 * (SIDE - 1) * (SIDE - 1)], count = 0;
    s->frame_time = 0.03;
    for (int f = 0; f < FRAMES; f++) {
        const double turn[3] = {0.2 * f, random_between(r, -0.3, 0.3) * f, 0.1 * f};
        memset(s->frames[f], 0, sizeof s->frames[f]);
        for (int v = 0; v < SHEET; v++) {
            double x[3] = {v % SIDE * 0.25 - 0.5, random_between(r, -0.03, 0.03), v / SIDE * 0.25 - 0.5};
            rotate(turn, x);
            for (int k = 0; k < 3; k++)
                s->frames[f][3 * (v + 1) + k] = (sinew_real)(x[k] + 0.05 * f);
        }
    }
    for (int z = 0; z + 1 < SIDE; z++)
        for (int x = 0; x + 1 < SIDE; x++) {
            const int32_t a = 1 + z * SIDE + x, quad[6] = {a, a + SIDE, a + 1, a + 1, a + SIDE, a + SIDE + 1};
            memcpy(triangles + count, quad, sizeof quad);
            count += 6;
        }
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = SHEET + 1;
    def.positions = s->frames[0];
    def.triangle_count = count / 3;
    def.triangles = triangles;
    s->mesh = sinew_mesh_create(&def, &error);
    must(&error);
}

static sinew_collider add_moving_sheet(sinew_world *world, const moving_sheet *s)
{
    sinew_error error = {0};
    sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_MESH);
    def.mesh = s->mesh;
    def.frame_count = FRAMES;
    def.frames = s->frames[0];
    def.frame_time = (sinew_real)s->frame_time;
    def.name = "sheet";
    const sinew_collider collider = sinew_world_add_collider(world, &def, &error); /* warns: it is open */
    assert_true(collider.index >= 0);
    return collider;
}

/* Position of a vertex of the sheet at a time. */
static void sheet_vertex(const moving_sheet *s, int32_t v, double time, double x[3])
{
    const double at = fmin(time / (double)(sinew_real)s->frame_time, FRAMES - 1);
    const int frame = (int)fmin(floor(at), FRAMES - 2);
    for (int k = 0; k < 3; k++)
        x[k] = (1 - (at - frame)) * (double)s->frames[frame][3 * v + k] +
               (at - frame) * (double)s->frames[frame + 1][3 * v + k];
}

/* ---- Tests ------------------------------------------------------------------------------------------- */

/* Every shape: points move by the key frames of the collider. */
static void test_rigid(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("pins that follow rigid colliders", 20, 400);
    static const sinew_shape_kind kinds[] = {SINEW_SHAPE_PLANE, SINEW_SHAPE_BOX, SINEW_SHAPE_SPHERE,
                                             SINEW_SHAPE_CAPSULE, SINEW_SHAPE_CYLINDER};
    for (int32_t n = 0; n < r.count; n++) {
        sinew_error error = {0};
        sinew_world *world = empty_world(1);
        sinew_key keys[2] = {{.time = 0}, {.time = (sinew_real)random_between(&r, 0.05, 0.3)}};
        sinew_motion motion = {.key_count = 2, .keys = keys};
        sinew_collider_def def = sinew_default_collider_def(kinds[random_index(&r, 5)]);
        sinew_real held[3 * HELD];
        for (int k = 0; k < 3; k++) {
            keys[1].translation[k] = (sinew_real)random_between(&r, -1, 1);
            keys[1].rotation[k] = (sinew_real)random_between(&r, -2, 2);
            motion.pivot[k] = (sinew_real)random_between(&r, -1, 1);
            def.position[k] = (sinew_real)random_between(&r, -1, 1);
            def.rotation[k] = (sinew_real)random_between(&r, -2, 2);
        }
        for (int i = 0; i < 3 * HELD; i++)
            held[i] = (sinew_real)random_between(&r, -1, 1);
        def.motion = &motion;
        sinew_follow follow = sinew_default_follow();
        follow.collider = add_collider(world, &def);
        const sinew_body body = add_net(world, held);
        pin_to(world, body, &follow, &error);
        must(&error);
        for (int step = 1; step <= 12; step++) {
            double expected[3 * HELD];
            sinew_world_step(world, NULL);
            const double part = fmin(sinew_world_time(world) / (double)keys[1].time, 1);
            for (int i = 0; i < HELD; i++) {
                double turn[3], x[3];
                for (int k = 0; k < 3; k++) {
                    turn[k] = part * (double)keys[1].rotation[k];
                    x[k] = (double)held[3 * i + k] - (double)motion.pivot[k];
                }
                rotate(turn, x);
                for (int k = 0; k < 3; k++)
                    expected[3 * i + k] = x[k] + (double)motion.pivot[k] + part * (double)keys[1].translation[k];
            }
            expect_points(world, body, HELD, expected);
        }
        sinew_world_destroy(world);
    }
}

/* Points near the sheet, with a nearest triangle that is not in doubt. */
static void draw_points(random_cases *r, const moving_sheet *s, sinew_real *held, int32_t *triangle)
{
    for (int i = 0; i < HELD; i++)
        for (double margin = 0; margin < 1e-3;) {
            double x[3] = {random_between(r, -0.6, 0.6), random_between(r, -0.2, 0.2), random_between(r, -0.6, 0.6)};
            for (int k = 0; k < 3; k++) {
                held[3 * i + k] = (sinew_real)x[k];
                x[k] = (double)held[3 * i + k];
            }
            triangle[i] = nearest_triangle(s->mesh, s->frames[0], x, &margin);
        }
}

/* Points keep their coordinates in the frame of the nearest triangle at the start. */
static void test_deforming(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("pins that follow a deforming collider", 20, 400);
    for (int32_t n = 0; n < r.count; n++) {
        sinew_error error = {0};
        moving_sheet sheet;
        sinew_real held[3 * HELD];
        int32_t triangle[HELD];
        sinew_world *world = empty_world(1);
        make_moving_sheet(&sheet, &r);
        sinew_follow follow = sinew_default_follow();
        follow.collider = add_moving_sheet(world, &sheet);
        draw_points(&r, &sheet, held, triangle);
        const sinew_body body = add_net(world, held);
        pin_to(world, body, &follow, &error);
        must(&error);
        for (int step = 1; step <= 7; step++) {
            double expected[3 * HELD];
            sinew_world_step(world, NULL);
            for (int i = 0; i < HELD; i++) {
                const int32_t *corners = sinew_mesh_triangles(sheet.mesh) + 3 * triangle[i];
                double at[3][3], local[3], frame[3][3];
                const double x[3] = {(double)held[3 * i], (double)held[3 * i + 1], (double)held[3 * i + 2]};
                corners_of(sheet.frames[0], corners, at);
                coordinates(at, x, local);
                for (int c = 0; c < 3; c++)
                    sheet_vertex(&sheet, corners[c], sinew_world_time(world), at[c]);
                triangle_frame(at, frame);
                for (int k = 0; k < 3; k++)
                    expected[3 * i + k] =
                        at[0][k] + local[0] * frame[0][k] + local[1] * frame[1][k] + local[2] * frame[2][k];
            }
            expect_points(world, body, HELD, expected);
        }
        sinew_mesh_destroy(sheet.mesh);
        sinew_world_destroy(world);
    }
}

/* Named vertices of a collider, the same vertices of frames, and soft targets without another force: all are there. */
static void test_vertices(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("vertices that are followed", 10, 100);
    for (int32_t n = 0; n < 3 * r.count; n++) {
        sinew_error error = {0};
        moving_sheet sheet;
        sinew_real held[3 * HELD] = {0};
        int32_t vertices[HELD];
        sinew_world *world = empty_world(1);
        make_moving_sheet(&sheet, &r);
        for (int i = 0; i < HELD; i++) {
            vertices[i] = 1 + random_index(&r, SHEET);
            held[3 * i] = (sinew_real)i; /* springs of length 0 would be refused */
        }
        sinew_follow follow = sinew_default_follow();
        follow.vertices = vertices;
        if (n % 3 == 1) {
            follow.frame_count = FRAMES;
            follow.frame_vertex_count = SHEET + 1;
            follow.frames = sheet.frames[0];
            follow.frame_time = (sinew_real)sheet.frame_time;
        } else {
            follow.collider = add_moving_sheet(world, &sheet);
            assert_int_equal(sinew_collider_vertex_count(world, follow.collider), SHEET + 1);
        }
        sinew_body body = {.index = -1};
        if (n % 3 < 2) {
            body = add_net(world, held);
            pin_to(world, body, &follow, &error);
            must(&error);
        } else {
            const sinew_real still[3] = {0, 0, 0};
            sinew_mesh *mesh = make_rope(HELD, (const double[3]){0, 0, 0}, (const double[3]){1, 0, 0});
            body = add_mesh(world, mesh, 1e-6, NULL, NULL);
            sinew_mesh_destroy(mesh);
            sinew_world_set_gravity(world, still, &error);
            sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_POSITION);
            def.body = body;
            def.follow = &follow;
            sinew_energy_def_set(&def, "stiffness", 1e12, &error);
            must(&error);
            add_energy(world, &def);
        }
        for (int step = 1; step <= 6; step++) {
            double expected[3 * HELD];
            sinew_world_step(world, NULL);
            for (int i = 0; i < HELD; i++)
                sheet_vertex(&sheet, vertices[i], sinew_world_time(world), expected + 3 * i);
            expect_points(world, body, HELD, expected);
        }
        sinew_mesh_destroy(sheet.mesh);
        sinew_world_destroy(world);
    }
}

/* A collider that the program moves: the pins are at its pose at the end of the step, with contact and without. */
static void test_pose(void **state)
{
    (void)state;
    for (int contact = 0; contact < 2; contact++) {
        sinew_error error = {0};
        sinew_world *world = empty_world(1);
        sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_SPHERE);
        def.radius = (sinew_real)0.1;
        sinew_follow follow = sinew_default_follow();
        follow.collider = add_collider(world, &def);
        sinew_real held[3 * HELD];
        for (int i = 0; i < 3 * HELD; i++)
            held[i] = (sinew_real)(i % 3 == 0 ? 0.02 * i : 0.3);
        const sinew_body body = add_net(world, held);
        pin_to(world, body, &follow, &error);
        must(&error);
        if (contact)
            set_touch(world, 1e-3, 0.3);
        for (int step = 1; step <= 10; step++) {
            const double turn[3] = {0, 0.1 * step, 0};
            const sinew_real position[3] = {(sinew_real)(0.01 * step), 0, 0}, rotation[3] = {0, (sinew_real)turn[1], 0};
            double expected[3 * HELD];
            assert_int_equal(sinew_collider_set_pose(world, follow.collider, position, rotation, &error), SINEW_OK);
            sinew_world_step(world, NULL);
            for (int i = 0; i < HELD; i++) {
                double x[3] = {(double)held[3 * i], (double)held[3 * i + 1], (double)held[3 * i + 2]};
                rotate(turn, x);
                x[0] += 0.01 * step;
                memcpy(expected + 3 * i, x, sizeof x);
            }
            expect_points(world, body, HELD, expected);
        }
        sinew_world_destroy(world);
    }
}

/* ---- States ------------------------------------------------------------------------------------------ */

/* The world of test_states: pins are added after `late` steps, so that they are bound to another place. */
static sinew_world *sheet_world(const moving_sheet *sheet, const sinew_real *held, int threads, int late,
                                sinew_pin *pin)
{
    sinew_error error = {0};
    sinew_world *world = empty_world(threads);
    sinew_follow follow = sinew_default_follow();
    follow.collider = add_moving_sheet(world, sheet);
    const sinew_body body = add_net(world, held);
    set_touch(world, 5e-3, 0.3);
    for (int i = 0; i < late; i++)
        sinew_world_step(world, NULL);
    *pin = pin_to(world, body, &follow, &error);
    must(&error);
    return world;
}

/* A state continues with the same bits, for 1 and 2 threads, also where pins were bound at another time; set targets
 * stay set. */
static void test_states(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("states of following pins", 2, 25);
    for (int32_t n = 0; n < r.count; n++) {
        sinew_error error = {0};
        moving_sheet sheet;
        sinew_real held[3 * HELD];
        int32_t triangle[HELD];
        sinew_pin pin;
        make_moving_sheet(&sheet, &r);
        draw_points(&r, &sheet, held, triangle);
        sinew_world *one = sheet_world(&sheet, held, 1, 2, &pin);
        if (n % 2 == 1) {
            assert_int_equal(sinew_pin_set_targets(one, pin, held, &error), SINEW_OK);
        }
        sinew_world_step(one, NULL);
        const saved kept = save(one);
        for (int i = 0; i < 3; i++)
            sinew_world_step(one, NULL);
        for (int threads = 1; threads <= 2; threads++) {
            sinew_world *other = sheet_world(&sheet, held, threads, 0, &pin);
            assert_int_equal(sinew_world_state_load(other, kept.bytes, kept.size, &error), SINEW_OK);
            for (int i = 0; i < 3; i++)
                sinew_world_step(other, NULL);
            assert_true(sinew_world_state_hash(other) == sinew_world_state_hash(one));
            sinew_world_destroy(other);
        }
        free(kept.bytes);
        sinew_world_destroy(one);
        sinew_mesh_destroy(sheet.mesh);
    }
}

/* A state of a world whose pins follow does not fit where they stand, and is checked against the collider. */
static void test_foreign_states(void **state)
{
    (void)state;
    sinew_error error = {0};
    random_cases r = {.state = 5};
    moving_sheet sheet;
    sinew_real held[3 * HELD];
    int32_t triangle[HELD];
    sinew_pin pin;
    make_moving_sheet(&sheet, &r);
    draw_points(&r, &sheet, held, triangle);
    sinew_world *one = sheet_world(&sheet, held, 1, 0, &pin), *other = sheet_world(&sheet, held, 1, 0, &pin);
    const saved kept = save(one);
    assert_int_equal(sinew_pin_set_motion(other, pin, NULL, &error), SINEW_OK);
    assert_int_equal(sinew_world_state_load(other, kept.bytes, kept.size, &error), SINEW_ERROR_FORMAT);
    refused(&error, SINEW_ERROR_FORMAT, "pin 0 follows a collider there, and not in the world");
    assert_int_equal(sinew_world_state_check(other, kept.bytes, kept.size, &error), SINEW_ERROR_DATA);
    refused(&error, SINEW_ERROR_DATA, "pins");
    free(kept.bytes);
    sinew_world_destroy(one);
    sinew_world_destroy(other);
    sinew_mesh_destroy(sheet.mesh);
}

/* ---- Contact ----------------------------------------------------------------------------------------- */

/* A cloth hangs from a box that its pinned row lies in, and the box moves to and fro: no bit of contact, no
 * intersection, no lag; the free vertices stay outside. The same pins with the box's motion, which do not follow, cross
 * its surface. */
static void test_contact(void **state)
{
    (void)state;
    for (int follows = 1; follows >= 0; follows--) {
        sinew_error error = {0};
        sinew_world_def world_def = sinew_default_world_def();
        world_def.time_step = (sinew_real)0.01;
        world_def.solver.iterations = 30;
        sinew_world *world = make_world(&world_def);
        const sinew_key keys[] = {
            {.time = 0}, {.time = (sinew_real)0.2, .translation = {(sinew_real)0.1, 0, 0}}, {.time = (sinew_real)0.4}};
        const sinew_motion motion = {.key_count = 3, .keys = keys};
        sinew_collider_def box = sinew_default_collider_def(SINEW_SHAPE_BOX);
        for (int k = 0; k < 3; k++)
            box.size[k] = (sinew_real)(k == 2 ? 1 : 0.2);
        box.motion = &motion;
        sinew_follow follow = sinew_default_follow();
        follow.collider = add_collider(world, &box);
        set_touch(world, 4e-3, 0.3);
        sinew_cloth_def cloth = sinew_default_cloth_def();
        cloth.vertices[0] = 8;
        cloth.vertices[1] = 5;
        cloth.size[0] = (sinew_real)0.42;
        cloth.size[1] = (sinew_real)0.2;
        cloth.origin[0] = (sinew_real)-0.08; /* the first rows are inside the box, which ends at x = 0.1 */
        cloth.origin[2] = (sinew_real)-0.1;
        sinew_mesh *mesh = sinew_mesh_cloth(&cloth, &error);
        must(&error);
        const sinew_body body = add_mesh(world, mesh, 0.2, NULL, NULL);
        add_springs(world, body, 50);
        int32_t rows[40], count = 0;
        for (int32_t v = 0; v < sinew_mesh_vertex_count(mesh); v++)
            if ((double)sinew_mesh_positions(mesh)[3 * v] < 0.1)
                rows[count++] = v;
        sinew_mesh_destroy(mesh);
        sinew_pin_def pin = sinew_default_pin_def();
        pin.body = body;
        pin.vertices = rows;
        pin.vertex_count = count;
        pin.follow = follows ? &follow : NULL;
        pin.motion = follows ? NULL : &motion;
        sinew_world_add_pins(world, &pin, &error);
        must(&error);
        int32_t crossing = 0;
        for (int step = 0; step < 40; step++) {
            sinew_contact_report report;
            const uint32_t bits = sinew_world_step(world, NULL);
            assert_int_equal(sinew_world_contact_report(world, &report, &error), SINEW_OK);
            crossing += report.intersections;
            if (!follows)
                continue;
            assert_int_equal(bits & (SINEW_STEP_TRUNCATED | SINEW_STEP_INTERSECTING | SINEW_STEP_CONTACT), 0);
            assert_int_equal(report.intersections, 0);
            assert_true(report.motion_lag == 0);
        }
        assert_true(follows ? crossing == 0 : crossing > 0);
        sinew_world_destroy(world);
    }
}

/* ---- Refusals and memory ------------------------------------------------------------------------------ */

static void test_refusals(void **state)
{
    (void)state;
    sinew_error error = {0};
    random_cases r = {.state = 7};
    moving_sheet sheet;
    sinew_real held[3 * HELD];
    int32_t triangle[HELD], vertices[HELD] = {1, 2, 3, 4, 5, SHEET + 1};
    sinew_world *world = empty_world(1);
    make_moving_sheet(&sheet, &r);
    draw_points(&r, &sheet, held, triangle);
    const sinew_collider collider = add_moving_sheet(world, &sheet), plane = add_floor(world);
    const sinew_body body = add_net(world, held);
    sinew_follow follow = sinew_default_follow();
    pin_to(world, body, &follow, &error);
    refused(&error, SINEW_ERROR_DATA, "0 frames of 0 vertices");
    follow.collider = collider;
    follow.vertices = vertices;
    pin_to(world, body, &follow, &error);
    refused(&error, SINEW_ERROR_DATA, "no vertex 26 to follow, \"sheet\" has 26 vertices");
    vertices[5] = 0;
    pin_to(world, body, &follow, &error);
    refused(&error, SINEW_ERROR_DATA, "vertex 0 of \"sheet\" cannot be followed");
    follow.collider = plane;
    pin_to(world, body, &follow, &error);
    refused(&error, SINEW_ERROR_DATA, "is a plane, and only a mesh has vertices");
    follow = sinew_default_follow();
    follow.frame_count = FRAMES;
    follow.frame_vertex_count = HELD - 1;
    follow.frames = sheet.frames[0];
    pin_to(world, body, &follow, &error);
    refused(&error, SINEW_ERROR_DATA, "no vertex 5 to follow, the cache has 5 vertices");
    follow.frame_vertex_count = SHEET;
    follow.frame_time = 0;
    pin_to(world, body, &follow, &error);
    refused(&error, SINEW_ERROR_DATA, "frame_time is 0 s");
    follow = sinew_default_follow();
    follow.collider = collider;
    const sinew_key key = {.time = 0};
    const sinew_motion motion = {.key_count = 1, .keys = &key};
    sinew_pin_def def = sinew_default_pin_def();
    def.body = body;
    def.vertices = held_vertices;
    def.vertex_count = 1;
    def.follow = &follow;
    def.motion = &motion;
    sinew_world_add_pins(world, &def, &error);
    refused(&error, SINEW_ERROR_DATA, "a motion and follows");
    const sinew_pin pin = pin_to(world, body, &follow, &error);
    must(&error);
    assert_int_equal(sinew_world_remove_collider(world, collider, &error), SINEW_ERROR_DATA);
    refused(&error, SINEW_ERROR_DATA, "collider 0 is followed by pins 0");
    assert_int_equal(sinew_world_remove_pins(world, pin, &error), SINEW_OK);
    assert_int_equal(sinew_world_remove_collider(world, collider, &error), SINEW_OK);
    sinew_world_destroy(world);
    sinew_mesh_destroy(sheet.mesh);
}

/* Every allocation fails once: nothing leaks, and the message is about memory. */
static void test_memory(void **state)
{
    (void)state;
    random_cases r = {.state = 9};
    moving_sheet sheet;
    sinew_real held[3 * HELD];
    int32_t triangle[HELD];
    make_moving_sheet(&sheet, &r);
    draw_points(&r, &sheet, held, triangle);
    failing_allocator memory = {0};
    sinew_world_def def = sinew_default_world_def();
    def.allocator = hooks_of(&memory);
    sinew_world *world = make_world(&def);
    sinew_follow follow = sinew_default_follow();
    follow.collider = add_moving_sheet(world, &sheet);
    const sinew_body body = add_net(world, held);
    sinew_pin pin = {.index = -1};
    int refusals = 0;
    for (memory.fail_at = 1; pin.index < 0; memory.fail_at++) {
        sinew_error error = {0};
        const int64_t live = memory.live;
        memory.calls = 0;
        pin = pin_to(world, body, &follow, &error);
        if (pin.index >= 0)
            break;
        assert_int_equal(error.status, SINEW_ERROR_MEMORY);
        assert_int_equal(memory.live, live);
        refusals++;
    }
    assert_true(refusals > 3);
    memory.fail_at = 0;
    sinew_world_destroy(world);
    assert_int_equal(memory.live, 0);
    sinew_mesh_destroy(sheet.mesh);
}

/* ---- Scenes ------------------------------------------------------------------------------------------ */

static sinew_scene *read_text(const char *pins, sinew_error *error)
{
    char text[2000];
    snprintf(
        text, sizeof text,
        "{\"sinew\": 1, \"time_step\": 0.01, \"contact\": {\"thickness\": 0.002},\n"
        " \"bodies\": [{\"mesh\": {\"generator\": \"cloth\", \"vertices\": [4, 3], \"origin\": [0, 0.2, 0]},\n"
        "   \"density\": 0.2, \"energies\": [{\"energy\": \"spring\", \"stiffness\": 10}],\n"
        "   \"pins\": [{\"select\": {\"indices\": [0, 3]},\n%s}]}],\n"
        " \"colliders\": [{\"shape\": \"mesh\", \"name\": \"arm\", \"mesh\": {\"generator\": \"box\"},\n"
        "   \"position\": [0, -2, 0], \"motion\": {\"keys\": [{\"time\": 0}, {\"time\": 1, \"translate\": [1, 0, 0]}]"
        "}}]}",
        pins);
    sinew_scene_def def = sinew_default_scene_def();
    def.text = text;
    def.text_size = strlen(text);
    return sinew_scene_read(&def, error);
}

static void test_scene_text(void **state)
{
    (void)state;
    sinew_error error = {0};
    sinew_scene *opened = read_text("\"follow\": {\"collider\": \"arm\"}", &error);
    must(&error);
    for (int i = 0; i < 10; i++)
        sinew_world_step(sinew_scene_world(opened), NULL);
    sinew_real q[3];
    sinew_world_get_positions(sinew_scene_world(opened), 3, 1, q);
    sinew_scene_destroy(opened);
    opened = read_text("\"follow\": {\"collider\": \"arm\"}", &error);
    sinew_real start[3];
    sinew_world_get_positions(sinew_scene_world(opened), 3, 1, start);
    sinew_scene_destroy(opened);
    for (int k = 0; k < 3; k++)
        assert_true(fabs((double)q[k] - (double)start[k] - (k == 0 ? 0.1 : 0)) < EXACT);
    static const struct {
        const char *pins, *words;
    } wrong[] = {
        {"\"follow\": {\"collider\": \"am\"}",
         "scene:5: bodies[0].pins[0].follow.collider: there is no collider \"am\"; did you mean \"arm\"?"},
        {"\"follow\": {\"collider\": \"arm\", \"vertices\": [1]}",
         "scene:5: bodies[0].pins[0].follow.vertices: has 1 vertices for 2 points"},
        {"\"follow\": {\"collider\": \"arm\", \"vertices\": [1,\n 100000]}",
         "scene:6: bodies[0].pins[0].follow.vertices[1]: there is no vertex 100000 to follow, it has"},
        {"\"follow\": {\"collider\": \"arm\"}, \"motion\": {\"keys\": [{\"time\": 0}]}", "a motion moves these points"},
        {"\"follow\": {}", "exactly one of"},
        {"\"follow\": {\"cache\": {\"file\": \"none.pc2\"}}", "scene:5: bodies[0].pins[0].follow.cache.file:"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_null(read_text(wrong[i].pins, &error));
        if (!strstr(error.text, wrong[i].words))
            fail_msg("expected \"%s\", got \"%s\"", wrong[i].words, error.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rigid),      cmocka_unit_test(test_deforming), cmocka_unit_test(test_vertices),
        cmocka_unit_test(test_pose),       cmocka_unit_test(test_states),    cmocka_unit_test(test_foreign_states),
        cmocka_unit_test(test_contact),    cmocka_unit_test(test_refusals),  cmocka_unit_test(test_memory),
        cmocka_unit_test(test_scene_text),
    };
    return cmocka_run_group_tests_name("follow", tests, NULL, NULL);
}
