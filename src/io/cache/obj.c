/* SPDX-License-Identifier: MIT
 *
 * obj.c: one Wavefront OBJ file per frame: <name>.0000.obj, <name>.0001.obj and so on.
 *
 * Every point is a vertex, in the cache's order, so that without tears vertex k is the same in all frames. Elements are
 * `f` for faces, with the corners, texture coordinates, groups and materials of a skin, and `l` for bodies of edges
 * only. Objects of a skin's file are written as groups: importers split a file at `o` and renumber the vertices.
 * Each file gets its name when it is complete and is kept after a later failure.
 */
#include "io/cache/cache.h"

#include <string.h>

typedef struct format_state {
    sinew_cache_shape shape;
} format_state;

/* Writes one line of an OBJ file: the keyword and x[3], or uv[2] if x is NULL. */
static sinew_status put_numbers(sinew_writer *writer, const char *keyword, const sinew_real *x, const float *uv,
                                sinew_error *error)
{
    char line[3 * SINEW_CACHE_NUMBER + 8];
    int length = snprintf(line, sizeof line, "%s", keyword);
    for (int i = 0; i < (x ? 3 : 2); i++) {
        line[length++] = ' ';
        length += x ? sinew_cache_format_number(line + length, x[i]) : sinew_cache_format_float(line + length, uv[i]);
    }
    line[length++] = '\n';
    return sinew_cache_put(writer, line, (size_t)length, error);
}

sinew_status sinew_cache_obj_vertices(const sinew_cache *cache, const sinew_cache_shape *shape, sinew_writer *writer,
                                      sinew_error *error)
{
    sinew_status status = sinew_cache_print(writer, error, "# sinew %s: %d %ss, m\n", SINEW_VERSION,
                                            (int)cache->point_count, cache->noun);
    for (int32_t i = 0; i < shape->libraries.count && status == SINEW_OK; i++)
        status = sinew_cache_print(writer, error, "mtllib %s\n", sinew_names_get(&shape->libraries, i));
    for (size_t i = 0; i < (size_t)cache->point_count && status == SINEW_OK; i++)
        status = put_numbers(writer, "v", &cache->q[3 * i], NULL, error);
    for (int64_t i = 0; i < shape->uv_count && status == SINEW_OK; i++)
        status = put_numbers(writer, "vt", NULL, &shape->uvs[2 * i], error);
    return status;
}

/* Writes an OBJ line `g` or `usemtl` if the name of the face differs from *current, the index of the name of the face
 * before (-1: none), and updates *current. */
static sinew_status obj_cache_put_name(const sinew_cache_shape *shape, int set, int64_t face, int32_t *current,
                                       sinew_writer *writer, sinew_error *error)
{
    static const char *const keywords[SINEW_SKIN_SET_COUNT] = {
        [SINEW_SKIN_GROUP] = "g", [SINEW_SKIN_MATERIAL] = "usemtl"};
    const int32_t name = shape->face_names[set] ? shape->face_names[set][face] : -1;
    if (name == *current)
        return SINEW_OK;
    *current = name;
    return sinew_cache_print(writer, error, "%s %s\n", keywords[set],
                             name >= 0 ? sinew_names_get(&shape->names[set], name) : "default");
}

static sinew_status put_face(const sinew_cache_shape *shape, int64_t face, sinew_writer *writer, sinew_error *error)
{
    sinew_status status = sinew_cache_put(writer, "f", 1, error);
    for (int32_t i = shape->starts[face]; i < shape->starts[face + 1] && status == SINEW_OK; i++) {
        /* Vertex indices of OBJ files start at one. */
        status = sinew_cache_print(writer, error, " %lld", shape->corners[i] + 1LL);
        if (status == SINEW_OK && shape->corner_uvs && shape->corner_uvs[i] >= 0)
            status = sinew_cache_print(writer, error, "/%lld", shape->corner_uvs[i] + 1LL);
    }
    return status == SINEW_OK ? sinew_cache_put(writer, "\n", 1, error) : status;
}

sinew_status sinew_cache_obj_elements(const sinew_cache_shape *shape, sinew_writer *writer, sinew_error *error)
{
    sinew_status status = SINEW_OK;
    int32_t current[SINEW_SKIN_SET_COUNT] = {-1, -1};
    for (int64_t i = 0; i < shape->face_count && status == SINEW_OK; i++) {
        for (int set = 0; set < SINEW_SKIN_SET_COUNT && status == SINEW_OK; set++)
            status = obj_cache_put_name(shape, set, i, &current[set], writer, error);
        if (status == SINEW_OK)
            status = put_face(shape, i, writer, error);
    }
    for (int64_t i = 0; i < shape->edge_count && status == SINEW_OK; i++) {
        const int32_t *e = &shape->edges[2 * i];
        status = sinew_cache_print(writer, error, "l %lld %lld\n", e[0] + 1LL, e[1] + 1LL);
    }
    return status;
}

static sinew_status obj_open(sinew_cache *cache, sinew_error *error)
{
    format_state *own = cache->own;
    sinew_status status = sinew_cache_shape_make(cache, &own->shape, error);
    return status == SINEW_OK ? sinew_cache_cut_sequence(cache, "obj", error) : status;
}

static sinew_status obj_frame(sinew_cache *cache, sinew_error *error)
{
    format_state *own = cache->own;
    char ending[32];
    sinew_cache_ending(cache, cache->frame_count, "obj", ending);
    sinew_writer writer;
    sinew_status status = sinew_cache_create_file(cache, &writer, ending, error);
    if (status == SINEW_OK)
        status = sinew_cache_obj_vertices(cache, &own->shape, &writer, error);
    if (status == SINEW_OK)
        status = sinew_cache_obj_elements(&own->shape, &writer, error);
    if (status == SINEW_OK)
        return sinew_writer_commit(&writer, error);
    sinew_writer_abandon(&writer);
    return status;
}

static sinew_status obj_reshape(sinew_cache *cache, sinew_error *error)
{
    format_state *own = cache->own;
    sinew_cache_shape_free(cache, &own->shape);
    return sinew_cache_shape_make(cache, &own->shape, error);
}

static sinew_status obj_sync(sinew_cache *cache, sinew_error *error)
{
    return sinew_cache_sync_sequence(cache, "obj", error);
}

static sinew_status obj_close(sinew_cache *cache, sinew_error *error)
{
    (void)cache;
    (void)error;
    return SINEW_OK; /* nothing to rename: every frame's file already has its final name */
}

static void obj_drop(sinew_cache *cache)
{
    format_state *own = cache->own;
    sinew_cache_shape_free(cache, &own->shape);
}

const sinew_cache_ops sinew_cache_obj = {
    .name = "obj",
    .own_size = sizeof(format_state),
    .open = obj_open,
    .frame = obj_frame,
    .reshape = obj_reshape,
    .sync = obj_sync,
    .close = obj_close,
    .drop = obj_drop,
};
