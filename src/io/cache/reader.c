/* SPDX-License-Identifier: MIT
 *
 * reader.c: reads frames of a cache, common code of all formats; and sequences of mesh files (OBJ, VTU), which it
 * reads with the mesh readers.
 *
 * Known limit: velocities in VTU files are not read; differences of positions replace them.
 */
#include "io/cache/reader.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/cache/cache.h"

/* ---- Sequences of mesh files ------------------------------------------------------------------ */

static bool frame_file_path(const sinew_cache_reader *reader, int32_t index, const char *suffix, char *path,
                            size_t size)
{
    int length = snprintf(path, size, "%s.%04lld.%s", reader->stem, (long long)reader->first + index, suffix);
    return length > 0 && (size_t)length < size;
}

static sinew_status sequence_frame(sinew_cache_reader *reader, int32_t index, const char *suffix, sinew_real *q,
                                   sinew_error *error)
{
    char path[1024];
    frame_file_path(reader, index, suffix, path, sizeof path);
    sinew_mesh *mesh = sinew_mesh_read(path, &reader->allocator, error);
    if (!mesh)
        return error->status;
    const int32_t count = sinew_mesh_vertex_count(mesh);
    sinew_status status = SINEW_OK;
    if (reader->point_count == 0)
        reader->point_count = count;
    else if (count != reader->point_count)
        status = sinew_fail(error, SINEW_ERROR_FORMAT,
                            "%s: has %d points, %s has %d; of a body that tears, render the scene", path, (int)count,
                            reader->path, (int)reader->point_count);
    if (q && status == SINEW_OK)
        memcpy(q, sinew_mesh_positions(mesh), 3 * (size_t)count * sizeof *q);
    sinew_mesh_destroy(mesh);
    return status;
}

static sinew_status sequence_open(sinew_cache_reader *reader, const char *suffix, sinew_error *error)
{
    char path[1024];
    if (!frame_file_path(reader, 0, suffix, reader->path, sizeof reader->path))
        return sinew_fail(error, SINEW_ERROR_FILE, "%.60s...: the path of the cache is too long", reader->stem);
    while (reader->frame_count < INT32_MAX - reader->first &&
           frame_file_path(reader, reader->frame_count, suffix, path, sizeof path) && access(path, F_OK) == 0)
        reader->frame_count++;
    return sequence_frame(reader, 0, suffix, NULL, error);
}

static sinew_status obj_reader_open(sinew_cache_reader *reader, sinew_error *error)
{
    return sequence_open(reader, "obj", error);
}

static sinew_status obj_reader_frame(sinew_cache_reader *reader, int32_t index, sinew_real *q, sinew_real *v,
                                     sinew_error *error)
{
    (void)v;
    return sequence_frame(reader, index, "obj", q, error);
}

static sinew_status vtu_reader_open(sinew_cache_reader *reader, sinew_error *error)
{
    return sequence_open(reader, "vtu", error);
}

static sinew_status vtu_reader_frame(sinew_cache_reader *reader, int32_t index, sinew_real *q, sinew_real *v,
                                     sinew_error *error)
{
    (void)v;
    return sequence_frame(reader, index, "vtu", q, error);
}

static void sequence_close(sinew_cache_reader *reader)
{
    (void)reader; /* nothing to close: each mesh file is closed after its frame is read */
}

const sinew_cache_reader_ops sinew_cache_reader_obj = {
    .own_size = 1, .open = obj_reader_open, .frame = obj_reader_frame, .close = sequence_close};
const sinew_cache_reader_ops sinew_cache_reader_vtu = {
    .own_size = 1, .open = vtu_reader_open, .frame = vtu_reader_frame, .close = sequence_close};

/* ---- Common code of all formats ------------------------------------------------------------------ */

static const sinew_cache_reader_ops *const formats[SINEW_CACHE_COUNT] = {
    [SINEW_CACHE_PC2] = &sinew_cache_reader_pc2, [SINEW_CACHE_OBJ] = &sinew_cache_reader_obj,
    [SINEW_CACHE_VTU] = &sinew_cache_reader_vtu, [SINEW_CACHE_CSV] = &sinew_cache_reader_csv,
    [SINEW_CACHE_NPY] = &sinew_cache_reader_npy,
};

sinew_cache_reader_def sinew_default_cache_reader_def(void)
{
    return (sinew_cache_reader_def){
        .cookie = SINEW_COOKIE_REPLAY,
        .directory = ".",
        .name = "cache",
        .format = SINEW_CACHE_PC2,
        .frame_time = (sinew_real)(1.0 / 60.0),
    };
}

static sinew_status cache_reader_check_def(const sinew_cache_reader_def *def, sinew_error *error)
{
    if (!SINEW_ASSERT(def && def->cookie == SINEW_COOKIE_REPLAY && def->directory && def->name))
        return sinew_fail(error, SINEW_ERROR_USAGE,
                          "cache reader: the def must come from sinew_default_cache_reader_def()");
    if ((size_t)def->format >= SINEW_CACHE_COUNT)
        return sinew_fail(error, SINEW_ERROR_USAGE, "cache reader: format %d is none of sinew_cache_format",
                          (int)def->format);
    if (!formats[def->format])
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                          "%s/%s: %s is written for other programs and not read back; use pc2, npy or csv",
                          def->directory, def->name, sinew_cache_format_name(def->format));
    if (!(def->frame_time > 0) || !isfinite(def->frame_time) || def->first_frame < 0)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "cache reader %s: frame_time is %g s and first_frame %d; the one must be greater than 0, the "
                          "other at least 0",
                          def->name, (double)def->frame_time, (int)def->first_frame);
    if (strlen(def->directory) + 1 + strlen(def->name) >= sizeof((sinew_cache_reader *)0)->stem)
        return sinew_fail(error, SINEW_ERROR_FILE, "%.60s...: the path of the cache is too long", def->directory);
    return SINEW_OK;
}

void sinew_cache_reader_close(sinew_cache_reader *reader)
{
    if (!reader)
        return;
    sinew_allocator allocator = reader->allocator;
    if (reader->own)
        reader->ops->close(reader);
    sinew_release(&allocator, reader->own);
    sinew_release(&allocator, reader->other);
    sinew_release(&allocator, reader);
}

sinew_cache_reader *sinew_cache_reader_open(const sinew_cache_reader_def *def, sinew_error *error)
{
    sinew_error own;
    error = error ? error : &own;
    sinew_error_clear(error);
    if (cache_reader_check_def(def, error) != SINEW_OK)
        return NULL;
    sinew_allocator allocator = sinew_allocator_or_system(&def->allocator);
    sinew_cache_reader *reader = sinew_allocate_zero(&allocator, 1, sizeof *reader);
    if (!reader) {
        sinew_fail_memory(error, "a cache reader");
        return NULL;
    }
    reader->allocator = allocator;
    reader->ops = formats[def->format];
    reader->first = def->first_frame;
    reader->frame_time = (double)def->frame_time;
    reader->unfinished = def->unfinished;
    snprintf(reader->stem, sizeof reader->stem, "%s/%s", def->directory, def->name);
    reader->own = sinew_allocate_zero(&allocator, 1, reader->ops->own_size);
    if (!reader->own)
        sinew_fail_memory(error, "a cache reader");
    if (!reader->own || reader->ops->open(reader, error) != SINEW_OK) {
        sinew_cache_reader_close(reader);
        return NULL;
    }
    return reader;
}

int32_t sinew_cache_reader_frame_count(const sinew_cache_reader *reader)
{
    return SINEW_ASSERT(reader != NULL) ? reader->frame_count : 0;
}

int32_t sinew_cache_reader_point_count(const sinew_cache_reader *reader)
{
    return SINEW_ASSERT(reader != NULL) ? reader->point_count : 0;
}

const char *sinew_cache_reader_path(const sinew_cache_reader *reader)
{
    return SINEW_ASSERT(reader != NULL) ? reader->path : "";
}

/* v = (q - q of the previous frame) / frame time; the first frame uses the next frame instead, and a cache of one frame
 * has zero velocities. */
static sinew_status make_velocities(sinew_cache_reader *reader, int32_t index, const sinew_real *q, sinew_real *v,
                                    sinew_error *error)
{
    const size_t count = 3 * (size_t)reader->point_count;
    const int32_t neighbour = index > 0 ? index - 1 : 1;
    if (neighbour >= reader->frame_count) {
        memset(v, 0, count * sizeof *v);
        return SINEW_OK;
    }
    if (!reader->other)
        reader->other = sinew_allocate(&reader->allocator, count, sizeof *reader->other);
    if (!reader->other)
        return sinew_fail_memory(error, "a frame of a cache");
    sinew_status status = reader->ops->frame(reader, neighbour, reader->other, NULL, error);
    const double time = index > 0 ? reader->frame_time : -reader->frame_time;
    for (size_t i = 0; i < count && status == SINEW_OK; i++)
        v[i] = (sinew_real)(((double)q[i] - (double)reader->other[i]) / time);
    return status;
}

sinew_status sinew_cache_reader_frame(sinew_cache_reader *reader, int32_t frame, sinew_real *q, sinew_real *v,
                                      sinew_error *error)
{
    sinew_error own;
    error = error ? error : &own;
    sinew_error_clear(error);
    if (!SINEW_ASSERT(reader && q))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_cache_reader_frame: the reader or q is NULL");
    const int64_t index = (int64_t)frame - reader->first;
    if (index < 0 || index >= reader->frame_count)
        return sinew_fail(error, SINEW_ERROR_DATA, "%s: frame %d of %d..%lld", reader->path, (int)frame,
                          (int)reader->first, (long long)reader->first + reader->frame_count - 1);
    sinew_status status = reader->ops->frame(reader, (int32_t)index, q, v, error);
    if (status == SINEW_OK && v && !reader->ops->velocities)
        status = make_velocities(reader, (int32_t)index, q, v, error);
    return status;
}
