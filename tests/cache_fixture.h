/* SPDX-License-Identifier: MIT
 *
 * cache_fixture.h: the small world, folders and helpers of the tests of caches and state files.
 *
 * The world: a solid with one particle inside (its first), a cloth, a rope, a solid with one particle inside (the last
 * of the world). Positions and velocities follow a formula of frame and particle, so each value in a file has an
 * expected value that does not come from the code under test.
 */
#ifndef SINEW_CACHE_FIXTURE_H
#define SINEW_CACHE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "failing_allocator.h"
#include "file_limit.h"
#include "io/file.h"
#include "sinew/scene.h"

enum {
    particles = 17,
    triangles = 10,
    lines = 2,
    inner_first = 0,
    inner_last = 16
};

/* ---- The world --------------------------------------------------------------------------------- */

static inline void add_body(sinew_world *world, int vertices, const sinew_real *positions, int tets, const int32_t *tet,
                            int faces, const int32_t *face, int edges, const int32_t *edge)
{
    sinew_error error = {0};
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = vertices;
    def.positions = positions;
    def.tet_count = tets;
    def.tets = tet;
    def.triangle_count = faces;
    def.triangles = face;
    def.edge_count = edges;
    def.edges = edge;
    sinew_mesh *mesh = sinew_mesh_create(&def, &error);
    assert_non_null(mesh);
    sinew_body_def body = sinew_default_body_def();
    body.mesh = mesh;
    assert_true(sinew_world_add_body(world, &body, &error).index >= 0);
    sinew_mesh_destroy(mesh);
}

static const sinew_real q_inner_first[] = {0.25f, 0.25f, 0.25f, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
static const int32_t tets_inner_first[] = {1, 2, 3, 0, 1, 2, 0, 4, 1, 0, 3, 4, 0, 2, 3, 4};
static const sinew_real q_inner_last[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0.25f, 0.25f, 0.25f};
static const int32_t tets_inner_last[] = {0, 1, 2, 4, 0, 1, 4, 3, 0, 4, 2, 3, 4, 1, 2, 3};
static const sinew_real q_cloth[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
static const int32_t cloth_triangles[] = {0, 1, 3, 0, 3, 2};
static const int32_t cloth_edges[] = {0, 1, 2, 3, 0, 2, 1, 3, 0, 3};
static const sinew_real q_rope[] = {0, 0, 0, 1, 0, 0, 2, 0, 0};
static const int32_t rope_edges[] = {0, 1, 1, 2};

static inline sinew_world *empty_world(failing_allocator *memory)
{
    sinew_world_def def = sinew_default_world_def();
    if (memory)
        def.allocator = hooks_of(memory);
    sinew_error error = {0};
    sinew_world *world = sinew_world_create(&def, &error);
    assert_non_null(world);
    return world;
}

static inline sinew_world *make_world(failing_allocator *memory)
{
    sinew_world *world = empty_world(memory);
    add_body(world, 5, q_inner_first, 4, tets_inner_first, 0, NULL, 0, NULL);
    add_body(world, 4, q_cloth, 0, NULL, 2, cloth_triangles, 5, cloth_edges);
    add_body(world, 3, q_rope, 0, NULL, 0, NULL, 2, rope_edges);
    add_body(world, 5, q_inner_last, 4, tets_inner_last, 0, NULL, 0, NULL);
    assert_int_equal(sinew_world_particle_count(world), particles);
    return world;
}

/* Numbers with full mantissas, some negative, some tiny. */
static inline sinew_real q_at(int frame, int i, int axis)
{
    return (sinew_real)(sin(1.7 * frame + 3 * i + axis + 0.3) * (i % 5 == 3 ? 1e-9 : 2.0));
}

static inline sinew_real v_at(int frame, int i, int axis)
{
    return (sinew_real)(cos(0.9 * frame + 2 * i - axis) * 1e3);
}

static inline void set_state(sinew_world *world, int frame)
{
    sinew_real q[3 * particles], v[3 * particles];
    for (int i = 0; i < 3 * particles; i++) {
        q[i] = q_at(frame, i / 3, i % 3);
        v[i] = v_at(frame, i / 3, i % 3);
    }
    assert_int_equal(sinew_world_set_positions(world, 0, particles, q), SINEW_OK);
    assert_int_equal(sinew_world_set_velocities(world, 0, particles, v), SINEW_OK);
}

/* ---- Folders ----------------------------------------------------------------------------------- */

typedef struct scratch_path {
    char text[1100];
} scratch_path;

static inline scratch_path path_of(const char *folder, const char *name)
{
    scratch_path result;
    snprintf(result.text, sizeof result.text, "%s/%s", folder, name);
    return result;
}

static inline void empty_folder(const char *folder)
{
    DIR *list = opendir(folder);
    if (!list)
        return;
    for (struct dirent *entry = readdir(list); entry; entry = readdir(list))
        if (entry->d_name[0] != '.')
            remove(path_of(folder, entry->d_name).text);
    closedir(list);
}

#define IN_SCRATCH(name) SINEW_TEST_DIR "/" name

/* Creates the folder, or empties it. */
static inline const char *fresh_folder(const char *folder)
{
    mkdir(SINEW_TEST_DIR, 0777);
    empty_folder(folder);
    assert_true(mkdir(folder, 0777) == 0 || errno == EEXIST);
    return folder;
}

static inline int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Checks the names in a folder, sorted and separated by spaces. */
static inline void assert_listing(const char *folder, const char *expected)
{
    char names[64][256];
    int count = 0;
    DIR *list = opendir(folder);
    assert_non_null(list);
    for (struct dirent *entry = readdir(list); entry && count < 64; entry = readdir(list))
        if (entry->d_name[0] != '.')
            snprintf(names[count++], sizeof names[0], "%s", entry->d_name);
    closedir(list);
    qsort(names, (size_t)count, sizeof names[0], by_text);
    char text[64 * 257] = "";
    for (int i = 0; i < count; i++) {
        if (i)
            strcat(text, " ");
        strcat(text, names[i]);
    }
    assert_string_equal(text, expected);
}

static inline char *slurp(const char *folder, const char *name, size_t *size)
{
    sinew_allocator system = sinew_allocator_or_system(NULL);
    sinew_error error = {0};
    char *text = sinew_file_read(path_of(folder, name).text, &system, size, &error);
    if (!text)
        fail_msg("%s", error.text);
    return text;
}

/* ---- Writing ----------------------------------------------------------------------------------- */

static inline sinew_cache_def cache_def(sinew_world *world, const char *folder, sinew_cache_format format)
{
    sinew_cache_def def = sinew_default_cache_def();
    def.world = world;
    def.directory = folder;
    def.name = "run";
    def.format = format;
    def.frame_time = (sinew_real)0.04;
    return def;
}

/* Frame k is written after k steps; the steps only advance the time, the state is that of the formula. */
static inline void write_frames_from(sinew_world *world, const sinew_cache_def *def, int first, int frames)
{
    sinew_error error = {0};
    sinew_cache *cache = sinew_cache_open(def, &error);
    if (!cache)
        fail_msg("%s", error.text);
    for (int k = first; k < frames; k++) {
        if (k)
            sinew_world_step(world, NULL);
        set_state(world, k);
        if (sinew_cache_frame(cache, &error) != SINEW_OK)
            fail_msg("%s", error.text);
    }
    if (sinew_cache_close(cache, &error) != SINEW_OK)
        fail_msg("%s", error.text);
}

static inline void write_frames(sinew_world *world, const sinew_cache_def *def, int frames)
{
    write_frames_from(world, def, 0, frames);
}

static inline void assert_same_folders(const char *one, const char *two)
{
    DIR *list = opendir(one);
    assert_non_null(list);
    int count = 0;
    for (struct dirent *entry = readdir(list); entry; entry = readdir(list)) {
        if (entry->d_name[0] == '.')
            continue;
        size_t size, other_size;
        char *text = slurp(one, entry->d_name, &size), *other = slurp(two, entry->d_name, &other_size);
        if (size != other_size || memcmp(text, other, size) != 0)
            fail_msg("%s is not the same in %s and %s", entry->d_name, one, two);
        free(text);
        free(other);
        count++;
    }
    closedir(list);
    list = opendir(two);
    for (struct dirent *entry = readdir(list); entry; entry = readdir(list))
        count -= entry->d_name[0] != '.';
    closedir(list);
    assert_int_equal(count, 0);
}

static inline const char *write_all(const char *folder, sinew_cache_format format, int expected, int frames)
{
    fresh_folder(folder);
    sinew_world *world = make_world(NULL);
    set_state(world, 0);
    sinew_cache_def def = cache_def(world, folder, format);
    def.frame_count = expected;
    write_frames(world, &def, frames);
    sinew_world_destroy(world);
    return folder;
}

#endif
