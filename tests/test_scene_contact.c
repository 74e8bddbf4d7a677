/* SPDX-License-Identifier: MIT
 *
 * test_scene_contact.c: contact and colliders in scene files: the built world, command-line settings, files (point
 * caches, height maps, meshes), refusals with location and both numbers, the schema, and allocation failures.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "failing_allocator.h"
#include "schema_check.h"
#include "sinew/contact.h"
#include "sinew/scene.h"

#ifdef SINEW_SINGLE
#define EXACT 1e-6
#else
#define EXACT 1e-14
#endif

#define HEAD   "{\n\"sinew\": 1,\n"
#define BODIES "\"bodies\": [{\"mesh\": {\"generator\": \"box\", \"vertices\": [2, 2, 2]}}],\n"
#define BOTH   HEAD "\"contact\": true,\n" BODIES "\"colliders\": [\n"
#define TAIL   "]}"

static sinew_scene *parse(const char *text, const char *setting, sinew_error *error)
{
    sinew_scene_def def = sinew_default_scene_def();
    def.path = SINEW_TEST_DIR "/scene.json";
    def.text = text;
    def.text_size = strlen(text);
    def.settings = &setting;
    def.setting_count = setting != NULL;
    *error = (sinew_error){0};
    return sinew_scene_read(&def, error);
}

static sinew_scene *must_parse(const char *text, const char *setting)
{
    sinew_error error;
    sinew_scene *scene = parse(text, setting, &error);
    if (!scene)
        fail_msg("%s", error.text);
    assert_string_equal(error.text, "");
    return scene;
}

static void must_refuse(const char *text, const char *place, const char *part)
{
    sinew_error error;
    sinew_scene *scene = parse(text, NULL, &error);
    if (scene || !strstr(error.text, place) || !strstr(error.text, part) || strchr(error.text, '\n'))
        fail_msg("\"%s\" does not say \"%s\" and \"%s\" of\n%s", error.text, place, part, text);
}

/* The positions of a scene's collider at a time, vertices [capacity]. */
static int32_t place_of(const sinew_scene *scene, int32_t index, double time, sinew_real *x, int32_t capacity)
{
    sinew_error error;
    const sinew_world *world = sinew_scene_world((sinew_scene *)scene);
    const sinew_collider id = sinew_world_collider_at(world, index);
    int32_t vertices, triangles;
    assert_int_equal(sinew_collider_surface_at(world, id, time, 1, &vertices, NULL, &triangles, NULL, &error),
                     SINEW_OK);
    assert_true(vertices <= capacity);
    assert_int_equal(sinew_collider_surface_at(world, id, time, 1, &vertices, x, &triangles, NULL, &error), SINEW_OK);
    return vertices;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static void put_file(const char *name, const void *bytes, size_t size)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", SINEW_TEST_DIR, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

/* A point cache in which vertex v of frame f is at (v, f, 0). */
static void put_cache(const char *name, int32_t points, int32_t frames)
{
    static unsigned char bytes[32 + 12 * 64] = "POINTCACHE2";
    const int32_t version = 1;
    const float start[2] = {0, 1};
    memcpy(bytes + 12, &version, 4);
    memcpy(bytes + 16, &points, 4);
    memcpy(bytes + 20, start, 8);
    memcpy(bytes + 28, &frames, 4);
    for (int32_t frame = 0; frame < frames; frame++)
        for (int32_t point = 0; point < points; point++) {
            const float x[3] = {(float)point, (float)frame, 0};
            memcpy(bytes + 32 + 12 * (frame * points + point), x, 12);
        }
    put_file(name, bytes, 32 + 12 * (size_t)(points * frames));
}

static int make_files(void **state)
{
    (void)state;
    static const char mesh[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    static const char image[] = "P5\n3 2\n255\n\x00\x33\x66\x99\xcc\xff";
    put_file("one.obj", mesh, sizeof mesh - 1);
    put_file("hills.pgm", image, sizeof image - 1);
    put_cache("three.pc2", 3, 4);
    put_cache("four.pc2", 4, 2);
    put_cache("short.pc2", 3, 1);
    return 0;
}

/* ---- Built worlds ------------------------------------------------------------------------------ */

static void test_contact_is_read(void **state)
{
    (void)state;
    sinew_scene *scene = must_parse(
        HEAD "\"contact\": {\"mode\": \"penalty\", \"thickness\": \"2 mm\", \"friction\": 0.5, \"restitution\": 0.25, "
             "\"self\": false, \"intersection_free\": false, \"stiffness\": 20, \"penalty\": \"1 kN/m\", "
             "\"penalty_tangent\": 5, "
             "\"multiplier_interval\": 3, \"max_detections\": 4, \"pair_limit\": 5000000000},\n" BODIES
             "\"frames\": 1}",
        NULL);
    const sinew_contact_def def = sinew_world_contact(sinew_scene_world(scene));
    assert_true(def.on && !def.self && !def.intersection_free);
    assert_int_equal(def.mode, SINEW_CONTACT_PENALTY);
    assert_true(def.thickness == (sinew_real)2e-3 && def.friction == (sinew_real)0.5);
    assert_true(def.restitution == (sinew_real)0.25 && def.stiffness == 20);
    assert_true(def.penalty == 1000 && def.penalty_tangent == 5);
    assert_int_equal(def.multiplier_interval, 3);
    assert_int_equal(def.max_detections, 4);
    assert_true(def.pair_limit == 5000000000);
    sinew_scene_destroy(scene);
}

static void test_contact_is_off_unless_given(void **state)
{
    (void)state;
    sinew_scene *scene = must_parse(HEAD BODIES "\"frames\": 1}", NULL);
    assert_false(sinew_world_contact(sinew_scene_world(scene)).on);
    sinew_scene_destroy(scene);
    scene = must_parse(HEAD BODIES "\"contact\": false, \"colliders\": [{\"shape\": \"plane\"}]}", NULL);
    assert_false(sinew_world_contact(sinew_scene_world(scene)).on);
    assert_int_equal(sinew_world_collider_count(sinew_scene_world(scene)), 1);
    sinew_scene_destroy(scene);
}

static void test_settings_reach_contact(void **state)
{
    (void)state;
    sinew_scene *scene = must_parse(BOTH "{\"shape\": \"plane\"}" TAIL, "contact.friction=0.125");
    assert_true(sinew_world_contact(sinew_scene_world(scene)).friction == (sinew_real)0.125);
    sinew_scene_destroy(scene);
    scene = must_parse(HEAD BODIES "\"frames\": 1}", "contact.mode=projection");
    assert_int_equal(sinew_world_contact(sinew_scene_world(scene)).mode, SINEW_CONTACT_PROJECTION);
    sinew_scene_destroy(scene);
}

static void test_body_contact_is_read(void **state)
{
    (void)state;
    sinew_scene *scene = must_parse(
        HEAD
        "\"contact\": true, \"bodies\": [{\"mesh\": {\"generator\": \"box\", \"vertices\": [2, 2, 2]}, "
        "\"contact\": {\"surface\": \"none\", \"thickness\": 0.5, \"friction\": 1, \"restitution\": 0.5, \"self\": "
        "false, \"group\": 6, \"mask\": 4294967295}}]}",
        NULL);
    sinew_scene_destroy(scene);
}

static void test_every_shape_is_read(void **state)
{
    (void)state;
    sinew_scene *scene = must_parse(
        BOTH "{\"shape\": \"plane\", \"position\": [0, -1, 0], \"friction\": 2, \"group\": 3, \"mask\": 1},\n"
             "{\"shape\": \"box\", \"size\": [1, 2, \"30 cm\"], \"hollow\": true},\n"
             "{\"shape\": \"sphere\", \"radius\": 2, \"name\": \"ball\"},\n"
             "{\"shape\": \"capsule\", \"radius\": 0.1, \"length\": 3, \"thickness\": 0},\n"
             "{\"shape\": \"cylinder\", \"segments\": 12, \"restitution\": 1},\n"
             "{\"shape\": \"height_field\", \"heights\": [[0, 1], [\"50 cm\", 2]], \"scale\": 2},\n"
             "{\"shape\": \"mesh\", \"mesh\": {\"generator\": \"ball\", \"segments\": 4}, \"transform\": {\"scale\": "
             "3}}" TAIL,
        NULL);
    const sinew_world *world = sinew_scene_world(scene);
    for (int32_t i = 0; i < SINEW_SHAPE_COUNT; i++) {
        const sinew_collider id = sinew_world_collider_at(world, i);
        assert_int_equal(sinew_collider_kind(world, id), i);
        assert_int_equal(sinew_collider_closed(world, id), i != SINEW_SHAPE_BOX && i != SINEW_SHAPE_HEIGHT_FIELD);
        assert_string_equal(sinew_collider_name(world, id), i == SINEW_SHAPE_SPHERE ? "ball" : "");
    }
    sinew_real x[3 * 256];
    assert_int_equal(place_of(scene, SINEW_SHAPE_BOX, 0, x, 256), 8);
    assert_true(fabs((double)x[23] - 0.15) < EXACT && x[22] == 1);
    assert_int_equal(place_of(scene, SINEW_SHAPE_CYLINDER, 0, x, 256), 26);
    assert_int_equal(place_of(scene, SINEW_SHAPE_HEIGHT_FIELD, 0, x, 256), 4);
    assert_true(x[4] == 2 && x[7] == 1 && x[10] == 4);
    double farthest = 0;
    const int32_t count = place_of(scene, SINEW_SHAPE_MESH, 0, x, 256);
    for (int32_t i = 0; i < 3 * count; i++)
        farthest = fmax(farthest, fabs((double)x[i]));
    assert_true(fabs(farthest - 1.5) < 1e-5);
    sinew_scene_destroy(scene);
}

static void test_place_and_motion(void **state)
{
    (void)state;
    sinew_scene *scene = must_parse(
        BOTH "{\"shape\": \"box\", \"position\": [1, 0, 0], \"rotation\": {\"axis\": \"z\", \"angle\": \"90 deg\"}, "
             "\"size\": [2, 4, 6], \"motion\": {\"keys\": [{\"time\": 0}, {\"time\": 2, \"translate\": [0, 4, "
             "0]}]}}" TAIL,
        NULL);
    sinew_real x[24];
    for (int i = 0; i < 3; i++) {
        place_of(scene, 0, i, x, 8);
        /* The upper corner (1, 2, 3) in the box's own frame. */
        assert_true(fabs((double)x[21] + 1) < 10 * EXACT && fabs((double)x[22] - 1 - 2 * i) < 10 * EXACT && x[23] == 3);
    }
    sinew_scene_destroy(scene);
}

static void test_caches_and_pictures(void **state)
{
    (void)state;
    sinew_error error;
    const char *text =
        BOTH "{\"shape\": \"mesh\", \"mesh\": {\"file\": \"one.obj\", \"unit\": \"cm\"}, \"position\": [0, 0, 7], "
             "\"cache\": {\"file\": \"three.pc2\", \"fps\": 2}},\n"
             "{\"shape\": \"height_field\", \"image\": \"hills.pgm\", \"scale\": 10}" TAIL;
    sinew_scene *scene = parse(text, NULL, &error);
    if (!scene)
        fail_msg("%s", error.text);
    assert_non_null(strstr(sinew_scene_warnings(scene), "colliders[0]: mesh: its 1 triangles do not close"));
    const double times[4] = {0, 0.25, 1, 9}, frames[4] = {0, 0.5, 2, 3};
    sinew_real x[18];
    for (int i = 0; i < 4; i++) {
        assert_int_equal(place_of(scene, 0, times[i], x, 3), 3);
        assert_true(fabs((double)x[6] - 0.02) < EXACT && fabs((double)x[7] - 0.01 * frames[i]) < EXACT && x[8] == 7);
    }
    /* The upper row of the image comes first, at the lowest z. */
    assert_int_equal(place_of(scene, 1, 0, x, 6), 6);
    for (int i = 0; i < 6; i++)
        assert_true(fabs((double)x[3 * i + 1] - 2 * i) < 1e-5 && (double)x[3 * i + 2] == (i < 3 ? -0.5 : 0.5));
    sinew_scene_destroy(scene);
}

/* A state identifies the colliders of its world. */
static void test_states_tell_colliders_apart(void **state)
{
    (void)state;
    sinew_error error;
    static char blob[1 << 20];
    const char *text = BOTH "{\"shape\": \"sphere\"}" TAIL;
    sinew_scene *scene = must_parse(text, NULL), *same = must_parse(text, NULL),
                *other = must_parse(text, "colliders.0.radius=0.75"), *none = must_parse(text, "colliders=[]");
    const size_t size = sinew_world_state_size(sinew_scene_world(scene));
    assert_true(size <= sizeof blob);
    assert_int_equal(sinew_world_state_save(sinew_scene_world(scene), blob, size), SINEW_OK);
    assert_int_equal(sinew_world_state_check(sinew_scene_world(same), blob, size, &error), SINEW_OK);
    assert_int_equal(sinew_world_state_check(sinew_scene_world(other), blob, size, &error), SINEW_ERROR_DATA);
    assert_non_null(strstr(error.text, "colliders.0 was sphere (checksum"));
    assert_int_equal(sinew_world_state_check(sinew_scene_world(none), blob, size, &error), SINEW_ERROR_DATA);
    assert_non_null(strstr(error.text, "colliders.0 was sphere"));
    sinew_scene_destroy(scene);
    sinew_scene_destroy(same);
    sinew_scene_destroy(other);
    sinew_scene_destroy(none);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static const struct wrong {
    const char *text, *place, *part;
    bool by_schema;
} wrongs[] = {
    {HEAD "\"contact\": 1}", ":3: contact: ", "must be true or false or an object, not a number", true},
    {HEAD "\"contact\": {\"mode\": \"penalti\"}}",
     ":3: contact.mode: ", "is \"penalti\", must be one of augmented, penalty, projection, half_space", true},
    {HEAD "\"contact\": {\"frction\": 1}}", ":3: contact.frction: ", "did you mean \"friction\"?", true},
    {HEAD "\"contact\": {\"thickness\": -1}}", ":3: contact.thickness: ", "is -1 m, must be >= 0", true},
    {HEAD "\"contact\": {\"thickness\": \"1 s\"}}", ":3: contact.thickness: ", "unit \"s\" is a time", true},
    {HEAD "\"contact\": {\"friction\": 10.5}}", ":3: contact.friction: ", "is 10.5, must be >= 0 and <= 10", true},
    {HEAD "\"contact\": {\"restitution\": 2}}", ":3: contact.restitution: ", "is 2, must be >= 0 and <= 1", true},
    {HEAD "\"contact\": {\"stiffness\": 0}}", ":3: contact.stiffness: ", "is 0, must be >= 0.1 and <= 10000", true},
    {HEAD "\"contact\": {\"penalty\": 0}}", ":3: contact.penalty: ", "is 0 N/m, must be > 0", true},
    {HEAD "\"contact\": {\"guard\": true}}", ":3: contact.guard: ", "did you mean \"intersection_free\"?", true},
    {HEAD "\"contact\": {\"rounds\": 3}}", ":3: contact.rounds: ", "did you mean \"multiplier_interval\"?", true},
    {HEAD "\"contact\": {\"epochs\": 3}}", ":3: contact.epochs: ", "did you mean \"max_detections\"?", true},
    {HEAD "\"contact\": {\"max_detections\": 0}}", ":3: contact.max_detections: ", "is 0, must be >= 1 and <= 1000",
     true},
    {HEAD "\"contact\": {\"pair_limit\": -1}}", ":3: contact.pair_limit: ", "is -1, must be >= 0", true},
    {HEAD BODIES "\"colliders\": [{\"shape\": \"plane\"}]}", ":4: colliders: ", "add \"contact\": true", false},
    {HEAD "\"bodies\": [{\"mesh\": {\"generator\": \"box\"}, \"contact\": {}}]}",
     ":3: bodies[0].contact: ", "add \"contact\": true", false},
    {HEAD "\"contact\": true, \"bodies\": [{\"mesh\": {\"generator\": \"box\"},\n\"contact\": {\"surface\": "
          "\"cag\"}}]}",
     ":4: bodies[0].contact.surface: ", "must be one of cage, skin, none", true},
    {BOTH "{\"shape\": \"spere\"}" TAIL,
     ":6: colliders[0].shape: ", "unknown shape \"spere\"; did you mean \"sphere\"?", true},
    {BOTH "{\"position\": [0, 0, 0]}" TAIL, ":6: colliders[0]: ", "needs the key \"shape\"", true},
    {BOTH "{\"shape\": \"box\", \"radius\": 1}" TAIL, ":6: colliders[0].radius: ", "unknown key \"radius\"", true},
    {BOTH "{\"shape\": \"box\", \"size\": [1, 0, 1]}" TAIL, ":6: colliders[0].size[1]: ", "is 0 m, must be > 0", true},
    {BOTH "{\"shape\": \"sphere\", \"radius\": 0}" TAIL, ":6: colliders[0].radius: ", "is 0 m, must be > 0", true},
    {BOTH "{\"shape\": \"sphere\", \"radius\": 1e999}" TAIL, ":6:", "real number overflow", false},
    {BOTH "{\"shape\": \"capsule\", \"length\": -1}" TAIL, ":6: colliders[0].length: ", "is -1 m, must be > 0", true},
    {BOTH "{\"shape\": \"cylinder\", \"segments\": 2}" TAIL,
     ":6: colliders[0].segments: ", "is 2, must be >= 3 and <= 4096", true},
    {BOTH "{\"shape\": \"plane\", \"thickness\": -0.5}" TAIL, ":6: colliders[0].thickness: ", "is -0.5 m, must be >= 0",
     true},
    {BOTH "{\"shape\": \"plane\", \"mask\": 4294967296}" TAIL,
     ":6: colliders[0].mask: ", "must be >= 0 and <= 4294967295", true},
    {BOTH "{\"shape\": \"plane\", \"rotation\": {\"axis\": \"y\"}}" TAIL,
     ":6: colliders[0].rotation: ", "needs the key \"angle\"", true},
    {BOTH "{\"shape\": \"plane\", \"motion\": {\"keys\": [{\"time\": 1},\n{\"time\": 1}]}}" TAIL,
     ":7: colliders[0].motion.keys[1]: ", "times must ascend: 1 s comes after 1 s", false},
    {BOTH "{\"shape\": \"plane\", \"name\": \"a\"},\n{\"shape\": \"plane\", \"name\": \"a\"}" TAIL,
     ":7: colliders[1].name: ", "colliders[0] has the same name", false},
    {BOTH "{\"shape\": \"height_field\"}" TAIL, ":6: colliders[0]: ", "needs exactly one of heights, image", false},
    {BOTH "{\"shape\": \"height_field\", \"heights\": [[1, 2]]}" TAIL, ":6: colliders[0].heights: ", "at least 2",
     true},
    {BOTH "{\"shape\": \"height_field\", \"heights\": [[1, 2],\n[1, 2, 3]]}" TAIL,
     ":7: colliders[0].heights[1]: ", "has 3 numbers, the first row 2", false},
    {BOTH "{\"shape\": \"height_field\", \"heights\": [[1, 2], [1, true]]}" TAIL,
     ":6: colliders[0].heights[1][1]: ", "must be a number", true},
    {BOTH "{\"shape\": \"height_field\", \"heights\": [1, 2]}" TAIL,
     ":6: colliders[0].heights[0]: ", "must be a row of numbers, not a number", true},
    {BOTH "{\"shape\": \"height_field\", \"image\": \"none.pgm\"}" TAIL, ":6: colliders[0].image: ", "none.pgm", false},
    {BOTH "{\"shape\": \"mesh\"}" TAIL, ":6: colliders[0]: ", "needs the key \"mesh\"", true},
    {BOTH "{\"shape\": \"mesh\", \"mesh\": {\"generator\": \"rope\"}}" TAIL,
     ":6: colliders[0]: ", "has 0 triangles and 0 tets", false},
    {BOTH "{\"shape\": \"mesh\", \"mesh\": {\"file\": \"one.obj\"}, \"cache\": {\"file\": \"four.pc2\"}}" TAIL,
     ":6: colliders[0].cache.file: ", "has 4 vertices, the mesh has 3", false},
    {BOTH "{\"shape\": \"mesh\", \"mesh\": {\"file\": \"one.obj\"}, \"cache\": {\"file\": \"short.pc2\"}}" TAIL,
     ":6: colliders[0].cache.file: ", "has 1 frames, must have at least 2", false},
    {BOTH "{\"shape\": \"mesh\", \"mesh\": {\"file\": \"one.obj\"}, \"cache\": {\"file\": \"nowhere.pc2\"}}" TAIL,
     ":6: colliders[0].cache.file: ", "nowhere.pc2", false},
    {BOTH "{\"shape\": \"mesh\", \"mesh\": {\"file\": \"one.obj\"}, \"cache\": {\"file\": \"one.obj\"}}" TAIL,
     ":6: colliders[0].cache.file: ", "must end in .pc2", false},
    {BOTH "{\"shape\": \"mesh\", \"mesh\": {\"file\": \"one.obj\"}, \"cache\": {\"file\": \"three.pc2\"},\n\"motion\": "
          "{\"keys\": [{\"time\": 0}]}}" TAIL,
     ":7: colliders[0].motion: ", "a cache moves this mesh already", false},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++)
        must_refuse(wrongs[i].text, wrongs[i].place, wrongs[i].part);
}

static void test_schema_refuses_too(void **state)
{
    (void)state;
    json_error_t error;
    json_t *schema = json_load_file(SINEW_SOURCE_DIR "/docs/reference/scene.schema.json", 0, &error);
    assert_non_null(schema);
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        json_t *scene = json_loads(wrongs[i].text, 0, NULL);
        if (scene && wrongs[i].by_schema && schema_holds(schema, schema, scene))
            fail_msg("the schema accepts\n%s", wrongs[i].text);
        json_decref(scene);
    }
    json_t *right =
        json_loads(BOTH "{\"shape\": \"height_field\", \"heights\": [[0, \"1 cm\"], [1, 2]]}" TAIL, 0, NULL);
    assert_true(schema_holds(schema, schema, right));
    json_decref(right);
    json_decref(schema);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void test_memory_runs_out(void **state)
{
    (void)state;
    const char *text =
        BOTH "{\"shape\": \"mesh\", \"mesh\": {\"file\": \"one.obj\"}, \"cache\": {\"file\": \"three.pc2\"}},\n"
             "{\"shape\": \"height_field\", \"image\": \"hills.pgm\"},\n"
             "{\"shape\": \"plane\", \"motion\": {\"keys\": [{\"time\": 0}]}}" TAIL;
    failing_allocator memory = {0};
    sinew_scene_def def = sinew_default_scene_def();
    def.allocator = hooks_of(&memory);
    def.path = SINEW_TEST_DIR "/scene.json";
    def.text = text;
    def.text_size = strlen(text);
    sinew_scene *scene = NULL;
    for (memory.fail_at = 1; !scene; memory.fail_at++) {
        sinew_error error;
        memory.calls = 0;
        scene = sinew_scene_read(&def, &error);
        if (!scene && error.status != SINEW_ERROR_MEMORY)
            fail_msg("request %lld: %s", (long long)memory.fail_at, error.text);
        if (!scene)
            assert_int_equal(memory.live, 0);
    }
    assert_true(memory.fail_at > 40);
    sinew_scene_destroy(scene);
    assert_int_equal(memory.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contact_is_read),
        cmocka_unit_test(test_contact_is_off_unless_given),
        cmocka_unit_test(test_settings_reach_contact),
        cmocka_unit_test(test_body_contact_is_read),
        cmocka_unit_test(test_every_shape_is_read),
        cmocka_unit_test(test_place_and_motion),
        cmocka_unit_test(test_caches_and_pictures),
        cmocka_unit_test(test_states_tell_colliders_apart),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_schema_refuses_too),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, make_files, NULL);
}
