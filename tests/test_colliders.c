/* SPDX-License-Identifier: MIT
 *
 * test_colliders.c: shapes of colliders: closed, oriented outward, with the right volume; positions from motions,
 * caches and poses against closed forms; ids; triangle meshes for drawing; refusals; and allocation failures.
 */
#include "collide/shapes/colliders.h"
#include "failing_allocator.h"
#include "mesh/key_frames.h"
#include "random_cases.h"
#include "sinew/contact.h"
#include "small_world.h"
#include "world/world.h"

#ifdef SINEW_SINGLE
#define EXACT 2e-5
#else
#define EXACT 1e-12
#endif

#define PI 3.14159265358979323846

static const sinew_allocator none = {0};

static sinew_collider_record make_shape(const sinew_collider_def *def)
{
    sinew_error error = {0};
    const sinew_allocator system = sinew_allocator_or_system(&none);
    sinew_collider_record record;
    assert_int_equal(sinew_shape_create(&record, &system, def, &error), SINEW_OK);
    return record;
}

static void drop_shape(sinew_collider_record *record)
{
    const sinew_allocator system = sinew_allocator_or_system(&none);
    sinew_shape_destroy(record, &system);
}

/* The volume enclosed by triangles, by the divergence theorem. */
static double volume_of(const sinew_real *x, const int32_t *triangles, int32_t count)
{
    double volume = 0;
    for (int32_t t = 0; t < count; t++) {
        const sinew_real *p[3];
        for (int i = 0; i < 3; i++)
            p[i] = x + 3 * (size_t)triangles[3 * t + i];
        volume += ((double)p[0][0] * ((double)p[1][1] * (double)p[2][2] - (double)p[1][2] * (double)p[2][1]) -
                   (double)p[0][1] * ((double)p[1][0] * (double)p[2][2] - (double)p[1][2] * (double)p[2][0]) +
                   (double)p[0][2] * ((double)p[1][0] * (double)p[2][1] - (double)p[1][1] * (double)p[2][0])) /
                  6;
    }
    return volume;
}

/* Each directed side has exactly one opposite: the surface is closed and consistently oriented. */
static bool closes(const int32_t *triangles, int32_t count)
{
    for (int32_t i = 0; i < 3 * count; i++) {
        const int32_t a = triangles[i], b = triangles[i / 3 * 3 + (i + 1) % 3];
        int32_t opposite = 0, same = 0;
        for (int32_t j = 0; j < 3 * count; j++) {
            const int32_t c = triangles[j], d = triangles[j / 3 * 3 + (j + 1) % 3];
            opposite += c == b && d == a;
            same += c == a && d == b;
        }
        if (opposite != 1 || same != 1)
            return false;
    }
    return true;
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

static void test_box(void **state)
{
    (void)state;
    sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_BOX);
    def.size[0] = 2;
    def.size[2] = (sinew_real)0.5;
    for (int hollow = 0; hollow < 2; hollow++) {
        def.hollow = hollow;
        sinew_collider_record box = make_shape(&def);
        assert_int_equal(box.vertex_count, 8);
        assert_int_equal(box.triangle_count, 12);
        assert_true(closes(box.triangles, 12));
        assert_int_equal(box.closed, !hollow);
        assert_true(fabs(volume_of(box.vertices, box.triangles, 12) - 1) < EXACT);
        drop_shape(&box);
    }
}

static void test_round_shapes_are_cores(void **state)
{
    (void)state;
    sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_SPHERE);
    def.radius = 2;
    sinew_collider_record sphere = make_shape(&def);
    assert_int_equal(sphere.vertex_count, 1);
    assert_int_equal(sphere.triangle_count + sphere.edge_count, 0);
    assert_true(sphere.radius == 2 && sphere.closed);
    drop_shape(&sphere);
    def.kind = SINEW_SHAPE_CAPSULE;
    def.size[1] = 3;
    sinew_collider_record capsule = make_shape(&def);
    assert_int_equal(capsule.vertex_count, 2);
    assert_int_equal(capsule.edge_count, 1);
    assert_true(capsule.radius == 2 && capsule.closed);
    assert_true(fabs((double)capsule.vertices[4] - (double)capsule.vertices[1]) == 3);
    drop_shape(&capsule);
}

/* The prism is circumscribed about the circle: its volume is n r^2 tan(pi / n) l. */
static void test_cylinder(void **state)
{
    (void)state;
    sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_CYLINDER);
    def.size[1] = 2;
    for (int32_t n = 3; n < 80; n += 19) {
        def.segments = n;
        sinew_collider_record cylinder = make_shape(&def);
        assert_true(cylinder.closed && closes(cylinder.triangles, cylinder.triangle_count));
        const double exact = n * 0.25 * tan(PI / n) * 2;
        assert_true(fabs(volume_of(cylinder.vertices, cylinder.triangles, cylinder.triangle_count) - exact) < EXACT);
        drop_shape(&cylinder);
    }
}

static void test_height_field(void **state)
{
    (void)state;
    const sinew_real heights[6] = {0, 1, 2, 0, 1, 2};
    sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_HEIGHT_FIELD);
    def.columns = 3;
    def.rows = 2;
    def.heights = heights;
    def.size[0] = 4;
    sinew_collider_record field = make_shape(&def);
    assert_int_equal(field.triangle_count, 4);
    assert_false(field.closed);
    for (int32_t v = 0; v < 6; v++) {
        assert_true((double)field.vertices[3 * v] == 2 * (v % 3) - 2);
        assert_true((double)field.vertices[3 * v + 1] == v % 3);
        assert_true((double)field.vertices[3 * v + 2] == (v < 3 ? -0.5 : 0.5));
    }
    /* All triangles face up: the slope's normal is (-1, 2, 0). */
    for (int32_t t = 0; t < 4; t++) {
        const sinew_real *p[3];
        for (int i = 0; i < 3; i++)
            p[i] = field.vertices + 3 * (size_t)field.triangles[3 * t + i];
        const double e[2][3] = {{p[1][0] - p[0][0], p[1][1] - p[0][1], p[1][2] - p[0][2]},
                                {p[2][0] - p[0][0], p[2][1] - p[0][1], p[2][2] - p[0][2]}};
        assert_true(e[0][2] * e[1][0] - e[0][0] * e[1][2] > 0);
    }
    drop_shape(&field);
}

/* A surface with flaws: inside out, one triangle flipped, one duplicated, one degenerate, one unused vertex. */
static void test_mesh_is_repaired(void **state)
{
    (void)state;
    sinew_error error = {0};
    const sinew_real positions[18] = {0, 0, 0, 9, 9, 9, 1, 0, 0, 0, 1, 0, 0, 0, 1, 2, 0, 0};
    const int32_t inside_out[] = {0, 2, 3, 0, 4, 2, 0, 3, 4, 2, 3, 4, 2, 4, 3, 0, 2, 5};
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = 6;
    def.positions = positions;
    def.triangle_count = 6;
    def.triangles = inside_out;
    sinew_mesh *mesh = sinew_mesh_create(&def, &error);
    must(&error);
    sinew_collider_def shape = sinew_default_collider_def(SINEW_SHAPE_MESH);
    shape.mesh = mesh;
    sinew_collider_record record = make_shape(&shape);
    assert_int_equal(record.vertex_count, 4);
    assert_int_equal(record.triangle_count, 4);
    assert_true(record.closed && closes(record.triangles, 4));
    assert_true(fabs(volume_of(record.vertices, record.triangles, 4) - 1.0 / 6) < EXACT);
    drop_shape(&record);
    sinew_mesh_destroy(mesh);
}

static void test_mesh_of_tets_and_open_ones(void **state)
{
    (void)state;
    sinew_error error = {0};
    const sinew_allocator system = sinew_allocator_or_system(&none);
    sinew_box_def box = sinew_default_box_def();
    sinew_mesh *mesh = sinew_mesh_box(&box, &error);
    must(&error);
    sinew_collider_def shape = sinew_default_collider_def(SINEW_SHAPE_MESH);
    shape.mesh = mesh;
    sinew_collider_record record = make_shape(&shape);
    assert_int_equal(record.vertex_count, 8 * 8 * 8 - 6 * 6 * 6); /* without the interior vertices */
    assert_true(record.closed);
    assert_true(fabs(volume_of(record.vertices, record.triangles, record.triangle_count) - 1) < 10 * EXACT);
    drop_shape(&record);
    sinew_mesh_destroy(mesh);
    sinew_cloth_def cloth = sinew_default_cloth_def();
    mesh = sinew_mesh_cloth(&cloth, &error);
    must(&error);
    shape.mesh = mesh;
    assert_int_equal(sinew_shape_create(&record, &system, &shape, &error), SINEW_OK);
    assert_false(record.closed);
    assert_non_null(strstr(error.text, "do not close"));
    drop_shape(&record);
    sinew_mesh_destroy(mesh);
}

/* ---- Motions --------------------------------------------------------------------------------- */

static void near3(const double *a, double x, double y, double z)
{
    assert_true(fabs(a[0] - x) < EXACT && fabs(a[1] - y) < EXACT && fabs(a[2] - z) < EXACT);
}

/* A collider is rotated by 90 degrees about z and moved to (1, 0, 0). It then circles the origin by a quarter turn
 * about y per second and rises at 2 m/s. */
static void test_motion(void **state)
{
    (void)state;
    const sinew_key keys[2] = {{.time = 0},
                               {.time = 4, .translation = {0, 8, 0}, .rotation = {0, (sinew_real)(2 * PI), 0}}};
    const sinew_motion motion = {.key_count = 2, .keys = keys};
    sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_CAPSULE);
    def.position[0] = 1;
    def.rotation[2] = (sinew_real)(PI / 2);
    def.motion = &motion;
    sinew_collider_record record = make_shape(&def);
    for (int step = -2; step <= 20; step++) {
        const double time = step * 0.25, t = time < 0 ? 0 : time > 4 ? 4 : time, a = PI / 2 * t;
        sinew_real x[8];
        sinew_shape_positions(&record, time, 0, x);
        /* The ends are at (1.5, 0, 0) and (0.5, 0, 0) before the motion. */
        for (int end = 0; end < 2; end++) {
            const double r = end ? 0.5 : 1.5, at[3] = {x[4 * end], x[4 * end + 1], x[4 * end + 2]};
            near3(at, r * cos(a), 2 * t, -r * sin(a));
            assert_true(x[4 * end + 3] == 0);
        }
    }
    drop_shape(&record);
}

static void test_plane_tilts(void **state)
{
    (void)state;
    sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_PLANE);
    def.position[1] = 3;
    def.rotation[2] = (sinew_real)0.25;
    sinew_collider_record plane = make_shape(&def);
    double point[3], normal[3];
    sinew_shape_plane(&plane, 0, 0, point, normal);
    near3(point, 0, 3, 0);
    near3(normal, -sin(0.25), cos(0.25), 0);
    drop_shape(&plane);
}

static void test_cache_is_interpolated_and_held(void **state)
{
    (void)state;
    sinew_error error = {0};
    sinew_cloth_def cloth = sinew_default_cloth_def();
    cloth.vertices[0] = cloth.vertices[1] = 2;
    sinew_mesh *mesh = sinew_mesh_cloth(&cloth, &error);
    must(&error);
    sinew_real frames[3 * 12];
    for (int f = 0; f < 3; f++)
        for (int i = 0; i < 12; i++)
            frames[12 * f + i] = sinew_mesh_positions(mesh)[i] + (sinew_real)(i % 3 == 2 ? f * f : 0);
    sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_MESH);
    def.mesh = mesh;
    def.frame_count = 3;
    def.frames = frames;
    def.frame_time = (sinew_real)0.5;
    def.position[1] = 1;
    sinew_collider_record record = make_shape(&def);
    const double times[5] = {-1, 0.25, 0.5, 0.75, 9}, z[5] = {0, 0.5, 1, 2.5, 4};
    for (int i = 0; i < 5; i++) {
        sinew_real x[16];
        sinew_shape_positions(&record, times[i], 0, x);
        const double first[3] = {x[0], x[1], x[2]};
        near3(first, 0, 1, z[i]);
    }
    drop_shape(&record);
    sinew_mesh_destroy(mesh);
}

/* The midpoint of two rotations, applied twice, leads from the first to the second. Rotation vector and matrix are
 * inverse to each other, also near 0 and near a half turn. */
static void test_rotations(void **state)
{
    (void)state;
    random_cases cases = random_cases_begin("test_colliders", 200, 20000);
    for (int32_t n = 0; n < cases.count; n++) {
        double a[3], b[3], back[3], A[9], B[9], H[9], again[9], whole[9], half[9];
        const double angle = n % 3 == 0 ? random_magnitude(&cases, 1e-9, 1) : random_between(&cases, 0, PI);
        double length = 0;
        for (int c = 0; c < 3; c++) {
            a[c] = random_between(&cases, -1, 1);
            b[c] = random_between(&cases, -2, 2);
            length += a[c] * a[c];
        }
        for (int c = 0; c < 3; c++)
            a[c] *= angle / sqrt(length);
        sinew_rotation_matrix(a, A);
        sinew_rotation_vector(A, back);
        sinew_rotation_matrix(back, again);
        for (int i = 0; i < 9; i++)
            assert_true(fabs(again[i] - A[i]) < 1e-12);
        sinew_rotation_matrix(b, B);
        sinew_rotation_between(A, B, 0.5, H);
        const double T[9] = {A[0], A[3], A[6], A[1], A[4], A[7], A[2], A[5], A[8]};
        sinew_matrix_product(H, T, half);
        sinew_matrix_product(half, H, whole);
        for (int i = 0; i < 9; i++)
            assert_true(fabs(whole[i] - B[i]) < 1e-9);
    }
}

/* ---- In a world ------------------------------------------------------------------------------ */

static sinew_world *make_empty_world(void)
{
    const sinew_world_def def = sinew_default_world_def();
    return make_world(&def);
}

static void test_ids_and_places(void **state)
{
    (void)state;
    sinew_error error = {0};
    sinew_world *world = make_empty_world();
    const sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_SPHERE);
    const sinew_collider a = sinew_world_add_collider(world, &def, &error);
    const sinew_collider b = sinew_world_add_collider(world, &def, &error);
    must(&error);
    assert_int_equal(sinew_world_collider_count(world), 2);
    assert_int_equal(sinew_world_remove_collider(world, a, &error), SINEW_OK);
    assert_int_equal(sinew_world_collider_count(world), 2);
    assert_int_equal(sinew_world_collider_at(world, 0).index, -1);
    assert_int_equal(sinew_world_collider_at(world, 1).index, b.index);
    double force[3];
    install_hook(NULL);
    assert_int_equal(sinew_collider_force(world, a, force, NULL, &error), SINEW_ERROR_USAGE);
    assert_non_null(strstr(error.text, "collider 0 (sphere) was removed"));
    const sinew_collider c = sinew_world_add_collider(world, &def, &error);
    assert_int_equal(c.index, 0);
    assert_int_equal(c.generation, a.generation + 1);
    assert_int_equal(sinew_world_remove_collider(world, a, &error), SINEW_ERROR_USAGE);
    remove_hook(NULL);
    assert_int_equal(sinew_collider_force(world, c, force, NULL, &error), SINEW_OK);
    sinew_world_destroy(world);
}

static void surface_of(const sinew_world *world, sinew_collider id, sinew_real *x, int32_t *vertex_count,
                       int32_t *triangles, int32_t *triangle_count)
{
    sinew_error error = {0};
    sinew_collider_surface(world, id, 10, vertex_count, NULL, triangle_count, NULL, &error);
    must(&error);
    assert_true(*vertex_count <= 2100 && *triangle_count <= 4200);
    sinew_collider_surface(world, id, 10, vertex_count, x, triangle_count, triangles, &error);
    must(&error);
}

/* Triangle meshes of spheres and capsules for drawing are closed, oriented outward, and have nearly the exact volume.
 */
static void test_drawings(void **state)
{
    (void)state;
    static sinew_real x[3 * 2100];
    static int32_t triangles[3 * 4200];
    sinew_error error = {0};
    sinew_world *world = make_empty_world();
    for (int kind = 0; kind < 2; kind++) {
        sinew_collider_def def = sinew_default_collider_def(kind ? SINEW_SHAPE_CAPSULE : SINEW_SHAPE_SPHERE);
        def.position[0] = 3;
        const sinew_collider id = sinew_world_add_collider(world, &def, &error);
        must(&error);
        int32_t vertex_count, triangle_count;
        surface_of(world, id, x, &vertex_count, triangles, &triangle_count);
        assert_true(closes(triangles, triangle_count));
        const double exact = PI / 6 + kind * PI / 4;
        assert_true(fabs(volume_of(x, triangles, triangle_count) / exact - 1) < 0.01);
    }
    const sinew_collider_def plane = sinew_default_collider_def(SINEW_SHAPE_PLANE);
    const sinew_collider id = sinew_world_add_collider(world, &plane, &error);
    int32_t vertex_count, triangle_count;
    surface_of(world, id, x, &vertex_count, triangles, &triangle_count);
    assert_int_equal(vertex_count, 4);
    assert_true(x[0] == -5 && x[9] == 5 && x[1] == 0);
    assert_int_equal(sinew_collider_surface(world, id, 0, &vertex_count, x, &triangle_count, triangles, &error),
                     SINEW_ERROR_DATA);
    sinew_world_destroy(world);
}

static void test_poses(void **state)
{
    (void)state;
    sinew_error error = {0};
    sinew_world *world = make_empty_world();
    sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_PLANE);
    def.rotation[2] = (sinew_real)0.5;
    const sinew_collider id = sinew_world_add_collider(world, &def, &error);
    const sinew_real position[3] = {2, 0, 0}, rotation[3] = {0, 0, (sinew_real)1.5}, bad[3] = {0, INFINITY, 0};
    assert_int_equal(sinew_collider_set_pose(world, id, position, rotation, &error), SINEW_OK);
    const sinew_collider_record *record = sinew_world_find_collider(world, id, &error);
    for (int part = 0; part <= 4; part++) {
        double point[3], normal[3];
        const double s = part / 4.0, angle = 0.5 + s;
        sinew_shape_plane(record, 77, s, point, normal);
        near3(point, 2 * s, 0, 0);
        near3(normal, -sin(angle), cos(angle), 0);
    }
    assert_int_equal(sinew_collider_set_pose(world, id, bad, rotation, &error), SINEW_ERROR_DATA);
    assert_non_null(strstr(error.text, "position along y of its pose is inf"));
    sinew_world_destroy(world);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

typedef struct refusal {
    sinew_collider_def def;
    const char *text;
} refusal;

static sinew_collider_def bad(sinew_shape_kind kind, double size_y, double radius, double friction)
{
    sinew_collider_def def = sinew_default_collider_def(kind);
    def.size[1] = (sinew_real)size_y;
    def.radius = (sinew_real)radius;
    def.friction = (sinew_real)friction;
    return def;
}

static void test_refusals(void **state)
{
    (void)state;
    const sinew_key late[2] = {{.time = 1}, {.time = 1}};
    const sinew_motion motion = {.key_count = 2, .keys = late};
    refusal refusals[] = {
        {bad(SINEW_SHAPE_BOX, 0, 1, 0), "box: size along y is 0 m, must be finite and greater than 0"},
        {bad(SINEW_SHAPE_CAPSULE, -2, 1, 0), "capsule: size along y is -2 m"},
        {bad(SINEW_SHAPE_SPHERE, 1, NAN, 0), "sphere: radius is nan m"},
        {bad(SINEW_SHAPE_PLANE, 1, 1, 11), "plane: friction is 11, must be 0 .. 10"},
        {bad(SINEW_SHAPE_HEIGHT_FIELD, 1, 1, 0), "height_field: 0 columns and 0 rows"},
        {bad(SINEW_SHAPE_MESH, 1, 1, 0), "mesh: the def has none"},
        {bad(SINEW_SHAPE_CYLINDER, 1, 1, 0), "cylinder: segments is 2, must be 3 .. 4096"},
        {bad(SINEW_SHAPE_PLANE, 1, 1, 0), "plane: thickness is -1 m"},
        {bad(SINEW_SHAPE_PLANE, 1, 1, 0), "plane: restitution is 2, must be 0 .. 1"},
        {bad(SINEW_SHAPE_PLANE, 1, 1, 0), "plane: rotation along z is inf"},
        {bad(SINEW_SHAPE_PLANE, 1, 1, 0), "plane: key 1 of its motion is at 1 s"},
        {bad(SINEW_SHAPE_PLANE, 1, 1, 0), "plane: frame_count is 2, must be 0"},
    };
    refusals[6].def.segments = 2;
    refusals[7].def.thickness = -1;
    refusals[8].def.restitution = 2;
    refusals[9].def.rotation[2] = (sinew_real)INFINITY;
    refusals[10].def.motion = &motion;
    refusals[11].def.frame_count = 2;
    sinew_world *world = make_empty_world();
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        sinew_error error = {0};
        assert_int_equal(sinew_world_add_collider(world, &refusals[i].def, &error).index, -1);
        assert_int_equal(error.status, SINEW_ERROR_DATA);
        if (!strstr(error.text, refusals[i].text))
            fail_msg("%s, and not %s", error.text, refusals[i].text);
    }
    assert_int_equal(sinew_world_collider_count(world), 0);
    sinew_world_destroy(world);
}

static void test_names(void **state)
{
    (void)state;
    for (int kind = 0; kind < SINEW_SHAPE_COUNT; kind++)
        assert_int_equal(sinew_shape_by_name(sinew_shape_name((sinew_shape_kind)kind)), kind);
    assert_null(sinew_shape_name(SINEW_SHAPE_COUNT));
    assert_int_equal(sinew_shape_by_name("cube"), SINEW_SHAPE_COUNT);
    assert_int_equal(sinew_shape_by_name(NULL), SINEW_SHAPE_COUNT);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void test_memory_runs_out(void **state)
{
    (void)state;
    sinew_error error = {0};
    const sinew_key key = {.time = 0};
    const sinew_motion motion = {.key_count = 1, .keys = &key};
    const sinew_real heights[4] = {0};
    sinew_cloth_def cloth = sinew_default_cloth_def();
    cloth.vertices[0] = cloth.vertices[1] = 2;
    sinew_mesh *mesh = sinew_mesh_cloth(&cloth, &error);
    const sinew_real frames[24] = {0};
    for (int kind = 0; kind < SINEW_SHAPE_COUNT; kind++) {
        sinew_collider_def def = sinew_default_collider_def((sinew_shape_kind)kind);
        def.name = "thing";
        def.motion = kind == SINEW_SHAPE_MESH ? NULL : &motion;
        def.columns = def.rows = 2;
        def.heights = heights;
        def.mesh = mesh;
        def.frame_count = kind == SINEW_SHAPE_MESH ? 2 : 0;
        def.frames = frames;
        failing_allocator memory = {0};
        sinew_world_def world_def = sinew_default_world_def();
        world_def.allocator = hooks_of(&memory);
        sinew_world *world = sinew_world_create(&world_def, &error);
        must(&error);
        const int64_t before = memory.live;
        for (memory.fail_at = 1;; memory.fail_at++) {
            memory.calls = 0;
            if (sinew_world_add_collider(world, &def, &error).index == 0)
                break;
            assert_int_equal(error.status, SINEW_ERROR_MEMORY);
            assert_int_equal(memory.live, before);
        }
        assert_true(memory.fail_at > 2);
        memory.fail_at = 0;
        sinew_world_destroy(world);
        assert_int_equal(memory.live, 0);
    }
    sinew_mesh_destroy(mesh);
}

/* By Euler's formula a closed surface has V = F / 2 + 2 vertices, all of them used. */
static void test_drawings_have_no_spare_vertices(void **state)
{
    (void)state;
    static const sinew_shape_kind kinds[] = {SINEW_SHAPE_BOX, SINEW_SHAPE_SPHERE, SINEW_SHAPE_CAPSULE,
                                             SINEW_SHAPE_CYLINDER};
    for (int k = 0; k < 4; k++) {
        sinew_error error = {0};
        sinew_world_def world_def = sinew_default_world_def();
        sinew_world *world = make_world(&world_def);
        const sinew_collider_def def = sinew_default_collider_def(kinds[k]);
        const sinew_collider collider = sinew_world_add_collider(world, &def, &error);
        must(&error);
        int32_t vertices, triangles;
        assert_int_equal(sinew_collider_surface(world, collider, 1, &vertices, NULL, &triangles, NULL, &error),
                         SINEW_OK);
        assert_int_equal(2 * vertices, triangles + 4);
        sinew_real *x = make_array(3 * (size_t)vertices, sizeof *x);
        int32_t *corners = make_array(3 * (size_t)triangles, sizeof *corners), used = 0;
        uint8_t *seen = make_array((size_t)vertices, 1);
        sinew_collider_surface(world, collider, 1, &vertices, x, &triangles, corners, &error);
        must(&error);
        for (int32_t i = 0; i < 3 * triangles; i++) {
            used += !seen[corners[i]];
            seen[corners[i]] = 1;
        }
        assert_int_equal(used, vertices);
        free(x);
        free(corners);
        free(seen);
        sinew_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_box),
        cmocka_unit_test(test_round_shapes_are_cores),
        cmocka_unit_test(test_cylinder),
        cmocka_unit_test(test_height_field),
        cmocka_unit_test(test_mesh_is_repaired),
        cmocka_unit_test(test_mesh_of_tets_and_open_ones),
        cmocka_unit_test(test_motion),
        cmocka_unit_test(test_plane_tilts),
        cmocka_unit_test(test_cache_is_interpolated_and_held),
        cmocka_unit_test(test_rotations),
        cmocka_unit_test(test_ids_and_places),
        cmocka_unit_test(test_drawings),
        cmocka_unit_test(test_drawings_have_no_spare_vertices),
        cmocka_unit_test(test_poses),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
