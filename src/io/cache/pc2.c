/* SPDX-License-Identifier: MIT
 *
 * pc2.c: <name>.pc2, positions for Blender's Mesh Cache modifier, and <name>.obj, the mesh that the modifier
 * deforms.
 *
 * PC2, all little-endian: "POINTCACHE2\0", int32 version 1, int32 points, float start 0, float rate 1, int32 samples,
 * then for each sample float x y z of every point. The layout is the one Blender reads (its MOD_meshcache_pc2).
 *
 * The modifier requires one vertex per point, in the same order. Blender's OBJ importer drops vertices that no
 * element uses (MeshFromGeometry::create_vertices), so each particle inside a solid, and each vertex of a skin
 * without a face, gets an `l` line to another point: an edge without faces, which renderers do not draw.
 *
 * Known limits: 32-bit positions and no velocities (limits of the format).
 */
#include "io/cache/cache.h"

#include <string.h>
#include <unistd.h>

enum {
    header_size = 32,
    sample_count_at = 28
};

typedef struct format_state {
    sinew_writer pc2, obj;
    sinew_cache_shape shape;
    uint8_t *used;         /* [point_count] 1: an element of the OBJ uses the point */
    unsigned char *sample; /* [12 * point_count] bytes of one frame in the PC2 file */
} format_state;

static void pc2_format_header(const sinew_cache *cache, int32_t samples, unsigned char header[header_size])
{
    memcpy(header, "POINTCACHE2", 12);
    sinew_cache_store32(header + 12, 1);
    sinew_cache_store32(header + 16, (uint32_t)cache->point_count);
    sinew_cache_store_float(header + 20, 0.0f);
    sinew_cache_store_float(header + 24, 1.0f);
    sinew_cache_store32(header + sample_count_at, (uint32_t)samples);
}

/* Writes the PC2 header at the start of the file. The number of samples is 0 until close writes it. */
static sinew_status pc2_write_header(const sinew_cache *cache, sinew_writer *writer, int32_t samples,
                                     sinew_error *error)
{
    unsigned char header[header_size];
    pc2_format_header(cache, samples, header);
    const sinew_status status = sinew_cache_seek(writer, 0, error);
    return status == SINEW_OK ? sinew_cache_put(writer, header, sizeof header, error) : status;
}

/* Fails unless the PC2 header of a file from an earlier run is that of an unfinished file, or of one finished with the
 * frames that it holds. */
static sinew_status pc2_check_header(const sinew_cache *cache, sinew_writer *writer, sinew_error *error)
{
    unsigned char header[header_size], expected[header_size];
    const int64_t size = fseeko(writer->stream, 0, SEEK_END) == 0 ? (int64_t)ftello(writer->stream) : 0;
    rewind(writer->stream);
    const bool whole = fread(header, 1, sizeof header, writer->stream) == sizeof header;
    pc2_format_header(cache, 0, expected);
    if (whole && memcmp(header, expected, sizeof header) == 0)
        return SINEW_OK;
    pc2_format_header(cache, (int32_t)((size - header_size) / (12 * (int64_t)cache->point_count)), expected);
    if (whole && memcmp(header, expected, sizeof header) == 0)
        return SINEW_OK;
    if (whole && sinew_cache_load32(header + 16) != (uint32_t)cache->point_count)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "%s: is not of the %d %ss that are there now; start the run again",
                          writer->partial, (int)cache->point_count, cache->noun);
    return sinew_fail(error, SINEW_ERROR_FORMAT, "%s: its header is damaged; start the run again", writer->partial);
}

/* Truncates the PC2 file of an earlier run to its kept frames, with the header of an unfinished file. */
static sinew_status pc2_resume(const sinew_cache *cache, sinew_writer *writer, sinew_error *error)
{
    const int64_t size = header_size + 12 * (int64_t)cache->kept * cache->point_count;
    sinew_status status = pc2_check_header(cache, writer, error);
    if (status == SINEW_OK)
        status = sinew_cache_cut_bytes(writer, size, error);
    if (status == SINEW_OK)
        status = pc2_write_header(cache, writer, 0, error);
    return status == SINEW_OK ? sinew_cache_seek(writer, size, error) : status;
}

static sinew_status pc2_open(sinew_cache *cache, sinew_error *error)
{
    format_state *own = cache->own;
    sinew_status status = sinew_cache_shape_make(cache, &own->shape, error);
    if (status != SINEW_OK)
        return status;
    own->used = sinew_allocate(&cache->allocator, (size_t)cache->point_count, 1);
    own->sample = sinew_allocate(&cache->allocator, (size_t)cache->point_count, 12);
    if (!own->used || !own->sample)
        return sinew_fail_memory(error, "the buffers of a PC2 cache");
    status = sinew_cache_open_stream(cache, &own->pc2, ".pc2", error);
    if (status == SINEW_OK)
        status = sinew_cache_open_stream(cache, &own->obj, ".obj", error);
    if (status != SINEW_OK)
        return status;
    return cache->kept > 0 ? pc2_resume(cache, &own->pc2, error) : pc2_write_header(cache, &own->pc2, 0, error);
}

static sinew_status put_line_element(sinew_writer *writer, int32_t a, int32_t b, sinew_error *error)
{
    return sinew_cache_print(writer, error, "l %lld %lld\n", a + 1LL, b + 1LL);
}

/* Writes OBJ line elements from particles of the body's tets that no element uses yet to a neighbour in their tet. */
static sinew_status link_inner_points(sinew_cache *cache, const sinew_cache_body *of, sinew_error *error)
{
    format_state *own = cache->own;
    const sinew_mesh *mesh = sinew_body_mesh(cache->world, of->body);
    const int32_t first = of->first_point;
    const int32_t *tets = sinew_mesh_tets(mesh);
    sinew_status status = SINEW_OK;
    for (size_t i = 0; i < 4 * (size_t)sinew_mesh_tet_count(mesh) && status == SINEW_OK; i++) {
        int32_t a = first + tets[i];
        int32_t b = first + tets[i % 4 == 3 ? i - 3 : i + 1];
        if (own->used[a])
            continue;
        own->used[a] = own->used[b] = 1;
        status = put_line_element(&own->obj, a, b, error);
    }
    return status;
}

/* Writes an OBJ line element from each point that no element uses to the point before it (the first: to the second). */
static sinew_status link_loose_points(sinew_cache *cache, sinew_error *error)
{
    format_state *own = cache->own;
    sinew_status status = SINEW_OK;
    for (int32_t i = 0; i < cache->point_count && status == SINEW_OK; i++)
        if (!own->used[i] && cache->point_count > 1)
            status = put_line_element(&own->obj, i, i ? i - 1 : 1, error);
    return status;
}

/* Writes the OBJ file: positions of the current frame (the first), faces, edges, and lines to otherwise unused points.
 */
static sinew_status put_obj(sinew_cache *cache, sinew_error *error)
{
    format_state *own = cache->own;
    sinew_status status = sinew_cache_obj_vertices(cache, &own->shape, &own->obj, error);
    if (status == SINEW_OK)
        status = sinew_cache_obj_elements(&own->shape, &own->obj, error);
    sinew_cache_shape_used(cache, &own->shape, own->used);
    for (int32_t i = 0; i < cache->body_count && status == SINEW_OK; i++)
        if (cache->bodies[i].body.index >= 0 && !cache->bodies[i].skin)
            status = link_inner_points(cache, &cache->bodies[i], error);
    if (status == SINEW_OK)
        status = link_loose_points(cache, error);
    return status == SINEW_OK ? sinew_cache_flush(&own->obj, error) : status;
}

static sinew_status pc2_frame(sinew_cache *cache, sinew_error *error)
{
    format_state *own = cache->own;
    sinew_status status = sinew_cache_check_float(cache, error);
    if (status == SINEW_OK && cache->frame_count == 0)
        status = put_obj(cache, error);
    if (status != SINEW_OK)
        return status;
    for (size_t i = 0; i < 3 * (size_t)cache->point_count; i++)
        sinew_cache_store_float(own->sample + 4 * i, (float)cache->q[i]);
    status = sinew_cache_put(&own->pc2, own->sample, 12 * (size_t)cache->point_count, error);
    return status == SINEW_OK ? sinew_cache_flush(&own->pc2, error) : status;
}

static sinew_status pc2_sync(sinew_cache *cache, sinew_error *error)
{
    format_state *own = cache->own;
    sinew_status status = sinew_writer_sync(&own->obj, error);
    return status == SINEW_OK ? sinew_writer_sync(&own->pc2, error) : status;
}

static sinew_status pc2_close(sinew_cache *cache, sinew_error *error)
{
    format_state *own = cache->own;
    sinew_status status = cache->frame_count == 0 ? put_obj(cache, error) : SINEW_OK;
    if (status == SINEW_OK)
        status = pc2_write_header(cache, &own->pc2, cache->frame_count, error);
    if (status == SINEW_OK)
        status = sinew_writer_commit_durable(&own->pc2, error);
    if (status != SINEW_OK)
        return status;
    status = sinew_writer_commit_durable(&own->obj, error);
    /* The PC2 file is unusable without its OBJ file. */
    if (status != SINEW_OK && !cache->resumable)
        unlink(own->pc2.path);
    return status;
}

static void pc2_drop(sinew_cache *cache)
{
    format_state *own = cache->own;
    sinew_writer_abandon(&own->pc2);
    sinew_writer_abandon(&own->obj);
    sinew_cache_shape_free(cache, &own->shape);
    sinew_release(&cache->allocator, own->used);
    sinew_release(&cache->allocator, own->sample);
}

const sinew_cache_ops sinew_cache_pc2 = {
    .name = "pc2",
    .own_size = sizeof(format_state),
    .open = pc2_open,
    .frame = pc2_frame,
    .sync = pc2_sync,
    .close = pc2_close,
    .drop = pc2_drop,
};
