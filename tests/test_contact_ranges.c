/* SPDX-License-Identifier: MIT
 *
 * test_contact_ranges.c: each number of a contact def, of a body's contact and of a collider is taken at both ends of
 * its range and refused beyond them, with its name; a refusal leaves the settings as they were.
 */
#include <float.h>

#include "contact_worlds.h"
#include "sinew/mesh.h"

/* ---- Ranges ---------------------------------------------------------------------------------------- */

typedef enum number_type {
    REAL,
    INT32,
    INT64
} number_type;

/* The ranges of include/sinew/contact.h. */
typedef struct range {
    const char *name;
    size_t offset;
    number_type type;
    double low, high; /* both taken; INFINITY: as large as may be */
    bool nan;         /* NaN is taken: the value of the world */
} range;

#define CONTACT(field, type, low, high)                                                                                \
    {                                                                                                                  \
#field, offsetof(sinew_contact_def, field), type, low, high, false                                             \
    }
#define BODY(field, low, high)                                                                                         \
    {                                                                                                                  \
#field, offsetof(sinew_body_contact, field), REAL, low, high, true                                             \
    }
#define SHAPE(field, type, low, high)                                                                                  \
    {                                                                                                                  \
#field, offsetof(sinew_collider_def, field), type, low, high, false                                            \
    }
#define OWN(field, low, high)                                                                                          \
    {                                                                                                                  \
#field, offsetof(sinew_collider_def, field), REAL, low, high, true                                             \
    }

static const range contact_ranges[] = {
    CONTACT(thickness, REAL, 0, INFINITY),
    CONTACT(friction, REAL, 0, 10),
    CONTACT(restitution, REAL, 0, 1),
    CONTACT(stiffness, REAL, 0.125, 1e4),
    CONTACT(penalty, REAL, 1e-29, 1e29),
    CONTACT(penalty_tangent, REAL, 0, 1e29),
    CONTACT(multiplier_interval, INT32, 0, 1e9),
    CONTACT(max_detections, INT32, 1, 1000),
    CONTACT(pair_limit, INT64, 0, INFINITY),
};
static const range body_ranges[] = {BODY(thickness, 0, INFINITY), BODY(friction, 0, 10), BODY(restitution, 0, 1)};
static const range collider_ranges[] = {OWN(thickness, 0, INFINITY), OWN(friction, 0, 10), OWN(restitution, 0, 1)};
static const range cylinder_ranges[] = {SHAPE(segments, INT32, 3, 4096)};

static void set_number(void *def, const range *r, double value)
{
    char *at = (char *)def + r->offset;
    const sinew_real real = (sinew_real)value;
    const int32_t small = r->type == INT32 ? (int32_t)value : 0;
    const int64_t large = r->type == REAL ? 0 : (int64_t)value;
    if (r->type == REAL)
        memcpy(at, &real, sizeof real);
    else if (r->type == INT32)
        memcpy(at, &small, sizeof small);
    else
        memcpy(at, &large, sizeof large);
}

/* A value just outside: one less or more, or a sixteenth part; the bounds 0.1 and 1e30 are not exact numbers. */
static double beyond(const range *r, double bound, double sign)
{
    if (r->type != REAL)
        return bound + sign;
    if (bound == 0)
        return -1e-6;
    return r->high >= 1e4 && r->high < INFINITY ? (sign > 0 ? 100 * bound : bound / 100) : bound * (1 + sign / 16);
}

/* Sets a def; the status and, on failure, the text of the error. */
typedef sinew_status set_def(void *context, const void *def, sinew_error *error);

static void check_value(const range *r, void *def, size_t size, set_def *set, void *context, double value, bool good)
{
    char changed[sizeof(sinew_collider_def) + sizeof(sinew_contact_def)];
    sinew_error error = {0};
    memcpy(changed, def, size);
    set_number(changed, r, value);
    const sinew_status status = set(context, changed, &error);
    if (status != (good ? SINEW_OK : SINEW_ERROR_DATA))
        fail_msg("%s = %g: status %s: %s", r->name, value, sinew_status_name(status), error.text);
    if (!good && !strstr(error.text, r->name))
        fail_msg("%s = %g: the error does not name it: %s", r->name, value, error.text);
}

static void check_ranges(const range *ranges, size_t count, void *def, size_t size, set_def *set, void *context)
{
    for (size_t i = 0; i < count; i++) {
        const range *r = &ranges[i];
        check_value(r, def, size, set, context, r->low, true);
        check_value(r, def, size, set, context, beyond(r, r->low, -1), false);
        if (r->high < INFINITY) {
            check_value(r, def, size, set, context, r->high, true);
            check_value(r, def, size, set, context, beyond(r, r->high, 1), false);
        }
        if (r->type != REAL)
            continue;
        check_value(r, def, size, set, context, (double)INFINITY, false);
        check_value(r, def, size, set, context, (double)NAN, r->nan);
    }
}

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- Contact ---------------------------------------------------------------------------------------- */

static sinew_status set_world(void *context, const void *def, sinew_error *error)
{
    return sinew_world_set_contact(context, def, error);
}

static void contact_of_a_world(void **state)
{
    (void)state;
    sinew_world *world = make_touching_world(SINEW_SOLVER_NEWTON, 1);
    sinew_contact_def def = sinew_default_contact_def();
    check_ranges(contact_ranges, COUNT(contact_ranges), &def, sizeof def, set_world, world);
    /* A refusal changes nothing. */
    def.friction = (sinew_real)0.625;
    assert_int_equal(sinew_world_set_contact(world, &def, NULL), SINEW_OK);
    sinew_contact_def bad = def;
    bad.friction = 11;
    sinew_error error = {0};
    assert_int_equal(sinew_world_set_contact(world, &bad, &error), SINEW_ERROR_DATA);
    assert_true(sinew_world_contact(world).friction == (sinew_real)0.625);
    for (int mode = -1; mode <= SINEW_CONTACT_MODE_COUNT; mode++) {
        const bool exists = mode >= 0 && mode < SINEW_CONTACT_MODE_COUNT;
        bad = def;
        bad.mode = (sinew_contact_mode)mode;
        assert_int_equal(sinew_world_set_contact(world, &bad, &error), exists ? SINEW_OK : SINEW_ERROR_DATA);
        assert_int_equal(sinew_contact_mode_name(bad.mode) != NULL, exists);
    }
    sinew_world_destroy(world);
}

typedef struct body_context {
    sinew_world *world;
    sinew_body body;
} body_context;

static sinew_status set_of_body(void *context, const void *def, sinew_error *error)
{
    const body_context *b = context;
    return sinew_body_set_contact(b->world, b->body, def, error);
}

static void contact_of_a_body(void **state)
{
    (void)state;
    body_context b = {.world = make_touching_world(SINEW_SOLVER_NEWTON, 1)};
    b.body = add_box(b.world, SINEW_SOLVER_NEWTON, 1, 1, (const double[]){0, 2, 0}, 1e5);
    sinew_body_contact own = sinew_default_body_contact();
    check_ranges(body_ranges, COUNT(body_ranges), &own, sizeof own, set_of_body, &b);
    for (int surface = -1; surface <= SINEW_CONTACT_NONE + 1; surface++) {
        sinew_error error = {0};
        const bool exists = surface >= 0 && surface <= SINEW_CONTACT_NONE;
        own.surface = (sinew_contact_surface)surface;
        assert_int_equal(sinew_body_set_contact(b.world, b.body, &own, &error), exists ? SINEW_OK : SINEW_ERROR_DATA);
        if (exists)
            assert_int_equal(sinew_body_get_contact(b.world, b.body).surface, surface);
    }
    sinew_world_destroy(b.world);
}

/* ---- Colliders --------------------------------------------------------------------------------------- */

static sinew_status add_to_world(void *context, const void *def, sinew_error *error)
{
    const sinew_collider id = sinew_world_add_collider(context, def, error);
    return id.index < 0 ? error->status : SINEW_OK;
}

/* Lengths that each shape has: x, y, z of size, and the radius. */
static const struct {
    sinew_shape_kind kind;
    bool lengths[4];
} shape_lengths[] = {
    {SINEW_SHAPE_PLANE, {false, false, false, false}},  {SINEW_SHAPE_BOX, {true, true, true, false}},
    {SINEW_SHAPE_SPHERE, {false, false, false, true}},  {SINEW_SHAPE_CAPSULE, {false, true, false, true}},
    {SINEW_SHAPE_CYLINDER, {false, true, false, true}}, {SINEW_SHAPE_HEIGHT_FIELD, {true, false, true, false}},
};

static void check_lengths(sinew_world *world, const sinew_collider_def *def, const bool lengths[4])
{
    static const double bad[] = {0, -1, (double)INFINITY, (double)NAN};
    for (int k = 0; k < 4; k++)
        for (size_t i = 0; i < COUNT(bad); i++) {
            sinew_error error = {0};
            sinew_collider_def other = *def;
            *(k < 3 ? &other.size[k] : &other.radius) = (sinew_real)bad[i];
            assert_int_equal(add_to_world(world, &other, &error), lengths[k] ? SINEW_ERROR_DATA : SINEW_OK);
            if (lengths[k])
                assert_non_null(strstr(error.text, k < 3 ? "size along" : "radius"));
        }
    for (int k = 0; k < 6; k++)
        for (size_t i = 2; i < COUNT(bad); i++) {
            sinew_error error = {0};
            sinew_collider_def other = *def;
            *(k < 3 ? &other.position[k] : &other.rotation[k - 3]) = (sinew_real)bad[i];
            assert_int_equal(add_to_world(world, &other, &error), SINEW_ERROR_DATA);
            assert_non_null(strstr(error.text, k < 3 ? "position along" : "rotation along"));
        }
}

static void colliders(void **state)
{
    (void)state;
    static const sinew_real heights[4] = {0, 1, 0, 1};
    sinew_world *world = make_touching_world(SINEW_SOLVER_NEWTON, 1);
    for (size_t i = 0; i < COUNT(shape_lengths); i++) {
        sinew_collider_def def = sinew_default_collider_def(shape_lengths[i].kind);
        def.columns = def.rows = 2;
        def.heights = heights;
        check_ranges(collider_ranges, COUNT(collider_ranges), &def, sizeof def, add_to_world, world);
        check_lengths(world, &def, shape_lengths[i].lengths);
        def.frame_count = 2;
        assert_int_equal(add_to_world(world, &def, &(sinew_error){0}), SINEW_ERROR_DATA);
    }
    sinew_collider_def cylinder = sinew_default_collider_def(SINEW_SHAPE_CYLINDER);
    check_ranges(cylinder_ranges, COUNT(cylinder_ranges), &cylinder, sizeof cylinder, add_to_world, world);
    sinew_world_destroy(world);
}

static void refuse(sinew_world *world, const sinew_collider_def *def, const char *reason)
{
    sinew_error error = {0};
    assert_int_equal(add_to_world(world, def, &error), SINEW_ERROR_DATA);
    if (!strstr(error.text, reason))
        fail_msg("expected '%s', found '%s'", reason, error.text);
}

static void height_fields(void **state)
{
    (void)state;
    sinew_real heights[6] = {0, 1, 0, 1, 0, 1};
    sinew_world *world = make_touching_world(SINEW_SOLVER_NEWTON, 1);
    sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_HEIGHT_FIELD);
    def.heights = heights;
    def.columns = 1;
    def.rows = 3;
    refuse(world, &def, "1 columns and 3 rows; at least 2 of each");
    def.columns = 3;
    def.rows = 1;
    refuse(world, &def, "3 columns and 1 rows; at least 2 of each");
    def.columns = def.rows = 100000;
    refuse(world, &def, "100000 columns times 100000 rows are over 357913941 samples");
    def.columns = 3;
    def.rows = 2;
    assert_int_equal(add_to_world(world, &def, &(sinew_error){0}), SINEW_OK);
    heights[5] = (sinew_real)NAN;
    refuse(world, &def, "height 2 of row 1 is");
    def.heights = NULL;
    refuse(world, &def, "3 columns and 2 rows, but no heights");
    sinew_world_destroy(world);
}

static void mesh_caches(void **state)
{
    (void)state;
    sinew_world *world = make_touching_world(SINEW_SOLVER_NEWTON, 1);
    sinew_mesh *mesh = make_beam(1, 1, 1, 1, 1, 1);
    const size_t each = 3 * (size_t)sinew_mesh_vertex_count(mesh);
    sinew_real *frames = make_array(2 * each, sizeof *frames);
    for (size_t i = 0; i < 2 * each; i++)
        frames[i] = sinew_mesh_positions(mesh)[i % each];
    const sinew_key key = {.time = 0};
    const sinew_motion motion = {.key_count = 1, .keys = &key};
    sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_MESH);
    refuse(world, &def, "mesh: the def has none");
    def.mesh = mesh;
    def.frames = frames;
    def.frame_time = 1;
    def.frame_count = 1;
    refuse(world, &def, "frame_count is 1, must be 0 (no cache) or at least 2 frames");
    def.frame_count = 2;
    assert_int_equal(add_to_world(world, &def, &(sinew_error){0}), SINEW_OK);
    def.motion = &motion;
    refuse(world, &def, "2 frames of a cache and a motion; give one of them");
    def.motion = NULL;
    def.frame_time = 0;
    refuse(world, &def, "frame_time is 0 s");
    def.frame_time = (sinew_real)INFINITY;
    refuse(world, &def, "frame_time is inf s");
    def.frame_time = 1;
    frames[2 * each - 1] = (sinew_real)NAN;
    refuse(world, &def, "vertex 7 of frame 1 is not finite");
    def.frames = NULL;
    refuse(world, &def, "frame_count is 2");
    free(frames);
    sinew_mesh_destroy(mesh);
    sinew_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contact_of_a_world), cmocka_unit_test(contact_of_a_body), cmocka_unit_test(colliders),
        cmocka_unit_test(height_fields),      cmocka_unit_test(mesh_caches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
