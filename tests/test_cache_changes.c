/* SPDX-License-Identifier: MIT
 *
 * test_cache_changes.c: caches of worlds whose bodies come and go. A cache writes the bodies that exist when it is
 * opened. If bodies are added or removed later, the next frame is refused, even if the number of particles is
 * unchanged.
 */
#include "make_world.h"
#include "sinew/mesh.h"
#include "sinew/scene.h"

static sinew_cache *open_cache(sinew_world *world, int format, sinew_error *error)
{
    sinew_cache_def def = sinew_default_cache_def();
    def.world = world;
    def.directory = SINEW_TEST_DIR;
    def.name = "changing";
    def.format = (sinew_cache_format)format;
    def.frame_count = 2;
    def.frame_time = 1;
    return sinew_cache_open(&def, error);
}

static void every_format(void **state)
{
    (void)state;
    for (int format = 0; format < SINEW_CACHE_COUNT; format++) {
        sinew_world_def def = sinew_default_world_def();
        sinew_world *world = make_world(&def);
        sinew_mesh *mesh = make_beam(1, 1, 1, 1, 1, 1);
        sinew_body bodies[3];
        for (int i = 0; i < 3; i++)
            bodies[i] = add_mesh(world, mesh, 1000, NULL, NULL);
        assert_int_equal(sinew_world_remove_body(world, bodies[1], NULL), SINEW_OK);
        sinew_error error = {0};
        sinew_cache *cache = open_cache(world, format, &error);
        must(&error);
        assert_int_equal(sinew_cache_frame(cache, &error), SINEW_OK);
        add_mesh(world, mesh, 1000, NULL, NULL); /* restores the particle count that the cache was opened with */
        assert_int_equal(sinew_cache_frame(cache, &error), SINEW_ERROR_DATA);
        assert_non_null(strstr(error.text, "bodies came or went"));
        sinew_cache_drop(cache);
        sinew_mesh_destroy(mesh);
        sinew_world_destroy(world);
    }
}

/* The OBJ of a world with a removed body has the triangles of the remaining bodies, with their particle numbers. */
static void obj_with_a_hole(void **state)
{
    (void)state;
    sinew_world_def def = sinew_default_world_def();
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_beam(1, 1, 1, 1, 1, 1);
    sinew_body gone = add_mesh(world, mesh, 1000, NULL, NULL);
    add_mesh(world, mesh, 1000, NULL, NULL);
    assert_int_equal(sinew_world_remove_body(world, gone, NULL), SINEW_OK);
    sinew_error error = {0};
    sinew_cache *cache = open_cache(world, SINEW_CACHE_OBJ, &error);
    must(&error);
    assert_int_equal(sinew_cache_frame(cache, &error), SINEW_OK);
    assert_int_equal(sinew_cache_close(cache, &error), SINEW_OK);
    sinew_mesh *read = sinew_mesh_read(SINEW_TEST_DIR "/changing.0000.obj", NULL, &error);
    must(&error);
    sinew_mesh *surface = sinew_mesh_surface(mesh, &error);
    must(&error);
    assert_int_equal(sinew_mesh_vertex_count(read), 2 * sinew_mesh_vertex_count(mesh));
    assert_int_equal(sinew_mesh_triangle_count(read), sinew_mesh_triangle_count(surface));
    for (int32_t i = 0; i < 3 * sinew_mesh_triangle_count(read); i++)
        assert_true(sinew_mesh_triangles(read)[i] >= sinew_mesh_vertex_count(mesh));
    sinew_mesh_destroy(surface);
    sinew_mesh_destroy(read);
    sinew_mesh_destroy(mesh);
    sinew_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_format), cmocka_unit_test(obj_with_a_hole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
