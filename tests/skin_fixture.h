/* SPDX-License-Identifier: MIT
 *
 * skin_fixture.h: small skins and worlds for the tests of embedded surfaces.
 */
#ifndef SINEW_SKIN_FIXTURE_H
#define SINEW_SKIN_FIXTURE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "sinew/scene.h"
#include "sinew/skin.h"

#ifdef SINEW_SINGLE
#define CLOSE 2e-5
#else
#define CLOSE 1e-11
#endif

/* A roof: a quad, a triangle and a pentagon over seven vertices, of which the last is in no face. */
static const char roof_obj[] = "mtllib roof.mtl\n"
                               "o house\n"
                               "v 0 0 0 1 0 0\nv 1 0 0 0.5 0 0\nv 1 1 0 0 1 0\nv 0 1 0 0 0 1\n"
                               "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nvt 0.5 0.25\n"
                               "vn 0 0 1\n"
                               "usemtl tiles\n"
                               "f 1/1/1 2/2/1 3/3/1 4/4/1\n"
                               "v 0.5 0.5 1\nv 2 0.5 0.25\nv 9 9 9\n"
                               "g gable left\n"
                               "f 1/5 2/1 5\n"
                               "usemtl glass\n"
                               "f -2/-1 -6//1 \\\n -5/2 -3/2 -7/1\n";

static inline void write_text(const char *name, const char *text)
{
    char path[1024];
    mkdir(SINEW_TEST_DIR, 0777);
    snprintf(path, sizeof path, "%s/%s", SINEW_TEST_DIR, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static inline sinew_skin *read_skin(const char *name, const sinew_allocator *allocator, sinew_error *error)
{
    char path[2048];
    snprintf(path, sizeof path, "%s%s%s", name[0] == '/' ? "" : SINEW_TEST_DIR, name[0] == '/' ? "" : "/", name);
    sinew_skin_def def = sinew_default_skin_def();
    if (allocator)
        def.allocator = *allocator;
    def.path = path;
    return sinew_skin_read(&def, error);
}

static inline sinew_skin *need_skin(const char *name)
{
    sinew_error error = {0};
    sinew_skin *skin = read_skin(name, NULL, &error);
    if (!skin)
        fail_msg("%s", error.text);
    return skin;
}

static inline sinew_skin *roof_skin(void)
{
    write_text("roof.obj", roof_obj);
    return need_skin("roof.obj");
}

/* A world with one body of this mesh; destroys the mesh. */
static inline sinew_world *world_of(sinew_mesh *mesh, const sinew_allocator *allocator, sinew_body *body)
{
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    if (allocator)
        def.allocator = *allocator;
    def.thread_count = 1;
    sinew_world *world = sinew_world_create(&def, &error);
    sinew_body_def body_def = sinew_default_body_def();
    body_def.mesh = mesh;
    *body = world ? sinew_world_add_body(world, &body_def, &error) : (sinew_body){.index = -1};
    sinew_mesh_destroy(mesh);
    if (body->index >= 0)
        return world;
    sinew_world_destroy(world);
    return NULL;
}

static inline sinew_status put_skin(sinew_world *world, sinew_body body, const sinew_skin *skin, sinew_error *error)
{
    sinew_embedding_def def = sinew_default_embedding_def();
    def.skin = skin;
    return sinew_body_set_skin(world, body, &def, error);
}

/* A skin of given points: separate triangles with three points each, since skins need faces. */
static inline sinew_skin *skin_of_points(const sinew_real *points, int32_t count)
{
    sinew_error error = {0};
    sinew_mesh_def def = sinew_default_mesh_def();
    int32_t *triangles = malloc((size_t)count * sizeof *triangles);
    for (int32_t i = 0; i < count; i++)
        triangles[i] = i;
    def.vertex_count = count;
    def.positions = points;
    def.triangle_count = count / 3;
    def.triangles = triangles;
    sinew_mesh *mesh = sinew_mesh_create(&def, &error);
    assert_non_null(mesh);
    sinew_skin *skin = sinew_skin_of_mesh(mesh, &error);
    assert_non_null(skin);
    sinew_mesh_destroy(mesh);
    free(triangles);
    return skin;
}

#endif
