/* SPDX-License-Identifier: MIT
 *
 * reader_npy.c: reads <name>.positions.npy and <name>.velocities.npy; npy.c describes their layout.
 *
 * Known limits: arrays [frames, points, 3] of little-endian 32- or 64-bit numbers in C order, format version 1, as
 * the cache and numpy.save() write them.
 */
#include "io/cache/reader.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/cache/cache.h"
#include "io/input.h"

enum {
    magic_size = 10, /* number of bytes of an NPY file before the Python literal */
    literal_size = 1024
};

typedef struct npy_array {
    FILE *stream;
    char path[1024];
    int64_t frames, points;
    int64_t start; /* byte offset of the array's first number in the file */
    size_t width;  /* bytes per number of the NPY array: 4 or 8 */
} npy_array;

typedef struct npy_state {
    npy_array q, v;
    unsigned char *row; /* [3 * 8 * point_count] bytes of one frame of an array */
} npy_state;

/* Parses the Python literal of an NPY header with type and shape. */
static sinew_status parse_npy_header(npy_array *array, const char *literal, sinew_error *error)
{
    const char *type = strstr(literal, "'descr': '<f"), *shape = strstr(literal, "'shape': (");
    long long frames, points;
    array->width = type && (type[12] == '4' || type[12] == '8') ? (size_t)(type[12] - '0') : 0;
    if (array->width == 0 || !strstr(literal, "'fortran_order': False") || !shape ||
        sscanf(shape + 10, "%lld, %lld, 3)", &frames, &points) != 2 || frames < 0 || points < 1 || frames > INT32_MAX ||
        points > INT32_MAX)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "%s: is no array [frames, points, 3] of numbers: %.80s",
                          array->path, literal);
    array->frames = frames;
    array->points = points;
    return SINEW_OK;
}

static sinew_status npy_reader_open_array(const sinew_cache_reader *reader, const char *ending, npy_array *array,
                                          sinew_error *error)
{
    size_t size;
    unsigned char magic[magic_size];
    char literal[literal_size + 1] = "";
    snprintf(array->path, sizeof array->path, "%s%s%s", reader->stem, ending, reader->unfinished ? ".partial" : "");
    array->stream = sinew_file_stream(array->path, &size, error);
    if (!array->stream)
        return error->status;
    const bool begins =
        fread(magic, 1, magic_size, array->stream) == magic_size && memcmp(magic, "\x93NUMPY\x01", 7) == 0;
    const size_t length = begins ? magic[8] | (size_t)magic[9] << 8 : 0;
    if (!begins || length > literal_size || fread(literal, 1, length, array->stream) != length)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "%s: does not begin as a NumPy file of version 1 does",
                          array->path);
    sinew_status status = parse_npy_header(array, literal, error);
    if (status != SINEW_OK)
        return status;
    array->start = (int64_t)(magic_size + length);
    const uint64_t held = (size - (size_t)array->start) / (3 * array->width * (uint64_t)array->points);
    if (reader->unfinished)
        array->frames = held < INT32_MAX ? (int64_t)held : INT32_MAX;
    if (array->frames < 1)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "%s: has no complete frame", array->path);
    if (held < (uint64_t)array->frames)
        return sinew_fail(error, SINEW_ERROR_FORMAT,
                          "%s: says %lld frames of %lld points and holds %llu; it was cut short", array->path,
                          (long long)array->frames, (long long)array->points, (unsigned long long)held);
    return SINEW_OK;
}

static sinew_status npy_reader_open(sinew_cache_reader *reader, sinew_error *error)
{
    npy_state *own = reader->own;
    sinew_status status = npy_reader_open_array(reader, ".positions.npy", &own->q, error);
    snprintf(reader->path, sizeof reader->path, "%s", own->q.path);
    if (status == SINEW_OK)
        status = npy_reader_open_array(reader, ".velocities.npy", &own->v, error);
    if (status != SINEW_OK)
        return status;
    /* an unfinished cache may lack the last frame's velocities, which are written after its positions */
    if (reader->unfinished)
        own->q.frames = own->v.frames = own->q.frames < own->v.frames ? own->q.frames : own->v.frames;
    if (own->q.frames != own->v.frames || own->q.points != own->v.points)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "%s: has %lld frames of %lld points, %s %lld of %lld", own->q.path,
                          (long long)own->q.frames, (long long)own->q.points, own->v.path, (long long)own->v.frames,
                          (long long)own->v.points);
    reader->frame_count = (int32_t)own->q.frames;
    reader->point_count = (int32_t)own->q.points;
    own->row = sinew_allocate(&reader->allocator, (size_t)reader->point_count, 3 * 8);
    return own->row ? SINEW_OK : sinew_fail_memory(error, "a frame of a NumPy cache");
}

static double load_number(const unsigned char *bytes, size_t width)
{
    double number;
    if (width == 4)
        return (double)sinew_cache_load_float(bytes);
    const uint64_t bits = sinew_cache_load32(bytes) | (uint64_t)sinew_cache_load32(bytes + 4) << 32;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static sinew_status npy_reader_read_row(const sinew_cache_reader *reader, npy_array *array, int32_t index,
                                        unsigned char *row, sinew_real *values, sinew_error *error)
{
    const size_t count = 3 * (size_t)reader->point_count;
    const int64_t offset = array->start + (int64_t)(count * array->width) * index;
    if (fseeko(array->stream, (off_t)offset, SEEK_SET) != 0 || fread(row, array->width, count, array->stream) != count)
        return sinew_fail(error, SINEW_ERROR_FILE, "%s: cannot read: %s", array->path,
                          ferror(array->stream) ? strerror(errno) : "the file became shorter meanwhile");
    for (size_t i = 0; i < count; i++) {
        values[i] = (sinew_real)load_number(row + i * array->width, array->width);
        if (!isfinite(values[i]))
            return sinew_fail(error, SINEW_ERROR_FORMAT, "%s: point %zu of frame %lld is not finite", array->path,
                              i / 3, (long long)reader->first + index);
    }
    return SINEW_OK;
}

static sinew_status npy_reader_frame(sinew_cache_reader *reader, int32_t index, sinew_real *q, sinew_real *v,
                                     sinew_error *error)
{
    npy_state *own = reader->own;
    sinew_status status = npy_reader_read_row(reader, &own->q, index, own->row, q, error);
    return status == SINEW_OK && v ? npy_reader_read_row(reader, &own->v, index, own->row, v, error) : status;
}

static void npy_reader_close(sinew_cache_reader *reader)
{
    npy_state *own = reader->own;
    if (own->q.stream)
        fclose(own->q.stream);
    if (own->v.stream)
        fclose(own->v.stream);
    sinew_release(&reader->allocator, own->row);
}

const sinew_cache_reader_ops sinew_cache_reader_npy = {.own_size = sizeof(npy_state),
                                                       .velocities = true,
                                                       .open = npy_reader_open,
                                                       .frame = npy_reader_frame,
                                                       .close = npy_reader_close};
