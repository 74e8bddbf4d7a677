/* SPDX-License-Identifier: MIT
 *
 * cache_obj.c: one Wavefront OBJ file a frame, <name>.0000.obj and on.
 *
 * Every particle is a vertex, in the world's order, so that vertex k of one frame is vertex k of the next. Elements are
 * `f` for the surface and `l` for bodies of edges only. No object or group lines: importers would split the file
 * and number the vertices anew. Each file appears when it is complete and stays whatever comes after.
 */
#include "io/cache.h"

#include <string.h>

typedef struct own_part {
    sinew_cache_shape shape;
} own_part;

sinew_status sinew_cache_obj_vertices(const sinew_cache *cache, sinew_writer *writer, sinew_error *error)
{
    sinew_status status =
        sinew_cache_print(writer, error, "# sinew %s: %d particles, m\n", SINEW_VERSION, (int)cache->particle_count);
    for (size_t i = 0; i < (size_t)cache->particle_count && status == SINEW_OK; i++) {
        char line[3 * SINEW_CACHE_NUMBER + 8];
        int length = 0;
        line[length++] = 'v';
        for (int axis = 0; axis < 3; axis++) {
            line[length++] = ' ';
            length += sinew_cache_number(line + length, cache->q[3 * i + (size_t)axis]);
        }
        line[length++] = '\n';
        status = sinew_cache_put(writer, line, (size_t)length, error);
    }
    return status;
}

sinew_status sinew_cache_obj_elements(const sinew_cache_shape *shape, sinew_writer *writer, sinew_error *error)
{
    sinew_status status = SINEW_OK;
    for (int64_t i = 0; i < shape->triangle_count && status == SINEW_OK; i++) {
        const int32_t *t = &shape->triangles[3 * i];
        /* OBJ counts from one. */
        status = sinew_cache_print(writer, error, "f %lld %lld %lld\n", t[0] + 1LL, t[1] + 1LL, t[2] + 1LL);
    }
    for (int64_t i = 0; i < shape->edge_count && status == SINEW_OK; i++) {
        const int32_t *e = &shape->edges[2 * i];
        status = sinew_cache_print(writer, error, "l %lld %lld\n", e[0] + 1LL, e[1] + 1LL);
    }
    return status;
}

static sinew_status obj_open(sinew_cache *cache, sinew_error *error)
{
    own_part *own = cache->own;
    sinew_status status = sinew_cache_shape_make(cache, &own->shape, error);
    return status == SINEW_OK ? sinew_cache_cut_sequence(cache, "obj", error) : status;
}

static sinew_status obj_frame(sinew_cache *cache, sinew_error *error)
{
    own_part *own = cache->own;
    char ending[32];
    sinew_cache_ending(cache, cache->frame_count, "obj", ending);
    sinew_writer writer;
    sinew_status status = sinew_cache_create(cache, &writer, ending, error);
    if (status == SINEW_OK)
        status = sinew_cache_obj_vertices(cache, &writer, error);
    if (status == SINEW_OK)
        status = sinew_cache_obj_elements(&own->shape, &writer, error);
    if (status == SINEW_OK)
        return sinew_writer_commit(&writer, error);
    sinew_writer_abandon(&writer);
    return status;
}

static sinew_status obj_sync(sinew_cache *cache, sinew_error *error)
{
    return sinew_cache_sync_sequence(cache, "obj", error);
}

static sinew_status obj_close(sinew_cache *cache, sinew_error *error)
{
    (void)cache;
    (void)error;
    return SINEW_OK; /* every frame is in place already */
}

static void obj_drop(sinew_cache *cache)
{
    own_part *own = cache->own;
    sinew_cache_shape_free(cache, &own->shape);
}

const sinew_cache_ops sinew_cache_obj = {
    .name = "obj",
    .own_size = sizeof(own_part),
    .open = obj_open,
    .frame = obj_frame,
    .sync = obj_sync,
    .close = obj_close,
    .drop = obj_drop,
};
