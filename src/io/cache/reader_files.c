/* SPDX-License-Identifier: MIT
 *
 * reader_files.c: reads caches in one file: PC2 (layout in pc2.c) and CSV (csv.c).
 *
 * Frames are read on demand: PC2 frames have a fixed size, and one pass over a CSV file finds the offset of each
 * frame.
 */
#include "io/cache/reader.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/cache/cache.h"
#include "io/input.h"

static sinew_status reader_open_stream(sinew_cache_reader *reader, const char *ending, FILE **stream, size_t *size,
                                       sinew_error *error)
{
    snprintf(reader->path, sizeof reader->path, "%s%s%s", reader->stem, ending, reader->unfinished ? ".partial" : "");
    *stream = sinew_file_stream(reader->path, size, error);
    return *stream ? SINEW_OK : error->status;
}

static sinew_status fail_reading(const sinew_cache_reader *reader, const FILE *stream, sinew_error *error)
{
    return sinew_fail(error, SINEW_ERROR_FILE, "%s: cannot read: %s", reader->path,
                      ferror((FILE *)stream) ? strerror(errno) : "the file became shorter meanwhile");
}

/* ---- Reading PC2 caches -------------------------------------------------------------------------- */

enum {
    header_size = 32
};

typedef struct pc2_state {
    FILE *stream;
    unsigned char *sample; /* [12 * point_count] bytes of one frame in the PC2 file */
} pc2_state;

static sinew_status pc2_read_header(sinew_cache_reader *reader, const unsigned char *header, size_t size,
                                    sinew_error *error)
{
    const uint32_t points = sinew_cache_load32(header + 16);
    uint32_t samples = sinew_cache_load32(header + 28);
    if (memcmp(header, "POINTCACHE2", 12) != 0 || sinew_cache_load32(header + 12) != 1)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "%s: does not begin as a PC2 file of version 1 does",
                          reader->path);
    if (reader->unfinished && points > 0)
        samples = (uint32_t)((size - header_size) / (12 * (uint64_t)points) & INT32_MAX);
    if (points == 0 || points > INT32_MAX || samples == 0 || samples > INT32_MAX)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "%s: has %lu points and %lu frames; needs at least one of each",
                          reader->path, (unsigned long)points, (unsigned long)samples);
    const uint64_t frame = 12 * (uint64_t)points;
    if ((size - header_size) / frame < samples)
        return sinew_fail(error, SINEW_ERROR_FORMAT,
                          "%s: says %lu frames of %lu points and holds %llu; it was cut short", reader->path,
                          (unsigned long)samples, (unsigned long)points,
                          (unsigned long long)((size - header_size) / frame));
    reader->point_count = (int32_t)points;
    reader->frame_count = (int32_t)samples;
    return SINEW_OK;
}

static sinew_status pc2_reader_open(sinew_cache_reader *reader, sinew_error *error)
{
    pc2_state *own = reader->own;
    size_t size;
    unsigned char header[header_size];
    sinew_status status = reader_open_stream(reader, ".pc2", &own->stream, &size, error);
    if (status != SINEW_OK)
        return status;
    if (fread(header, 1, header_size, own->stream) != header_size)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "%s: has %zu bytes, the head of a PC2 file has %d", reader->path,
                          size, header_size);
    status = pc2_read_header(reader, header, size, error);
    if (status != SINEW_OK)
        return status;
    own->sample = sinew_allocate(&reader->allocator, (size_t)reader->point_count, 12);
    return own->sample ? SINEW_OK : sinew_fail_memory(error, "a frame of a PC2 cache");
}

static sinew_status pc2_reader_frame(sinew_cache_reader *reader, int32_t index, sinew_real *q, sinew_real *v,
                                     sinew_error *error)
{
    (void)v;
    pc2_state *own = reader->own;
    const size_t count = 3 * (size_t)reader->point_count;
    if (fseeko(own->stream, header_size + (off_t)(4 * count) * index, SEEK_SET) != 0 ||
        fread(own->sample, 4, count, own->stream) != count)
        return fail_reading(reader, own->stream, error);
    for (size_t i = 0; i < count; i++) {
        q[i] = (sinew_real)sinew_cache_load_float(own->sample + 4 * i);
        if (!isfinite(q[i]))
            return sinew_fail(error, SINEW_ERROR_FORMAT, "%s: point %zu of frame %lld is not finite", reader->path,
                              i / 3, (long long)reader->first + index);
    }
    return SINEW_OK;
}

static void pc2_reader_close(sinew_cache_reader *reader)
{
    pc2_state *own = reader->own;
    if (own->stream)
        fclose(own->stream);
    sinew_release(&reader->allocator, own->sample);
}

const sinew_cache_reader_ops sinew_cache_reader_pc2 = {
    .own_size = sizeof(pc2_state), .open = pc2_reader_open, .frame = pc2_reader_frame, .close = pc2_reader_close};

/* ---- Reading CSV caches -------------------------------------------------------------------------- */

enum {
    line_size = 512 /* bytes of a line buffer, longer than any line that the cache writes */
};

typedef struct csv_state {
    FILE *stream;
    int64_t *offsets; /* [capacity] byte offset of each frame in the CSV file */
    int32_t capacity;
    locale_t locale;
} csv_state;

static bool csv_add_frame(sinew_cache_reader *reader, int64_t offset)
{
    csv_state *own = reader->own;
    if (reader->frame_count == own->capacity) {
        const int32_t capacity = 2 * own->capacity + 64;
        int64_t *grown =
            sinew_reallocate(&reader->allocator, own->offsets, (size_t)own->capacity, (size_t)capacity, sizeof *grown);
        if (!grown)
            return false;
        own->offsets = grown;
        own->capacity = capacity;
    }
    own->offsets[reader->frame_count++] = offset;
    return true;
}

/* Reads one line of a CSV file including its newline; NULL at the end of the file, or if the
 * line is unfinished or does not fit. */
static char *read_complete_line(FILE *stream, char line[line_size])
{
    return fgets(line, line_size, stream) && strchr(line, '\n') ? line : NULL;
}

/* Counts line `row` of the CSV file in *rows, the lines of its frame, and stores `offset` if a frame starts. Fails
 * unless frame numbers are consecutive and all frames have the same number of points. */
static sinew_status csv_count_line(sinew_cache_reader *reader, const char *line, int64_t offset, int64_t row,
                                   int64_t *rows, sinew_error *error)
{
    char *end;
    const long long frame = strtoll(line, &end, 10);
    const long long current = (long long)reader->first + reader->frame_count - 1;
    if (end == line || *end != ',' || (frame != current && frame != current + 1))
        return sinew_fail(error, SINEW_ERROR_FORMAT, "%s:%lld: frame %lld comes after %lld", reader->path,
                          (long long)row, frame, current);
    if (frame == current + 1) {
        if (reader->frame_count == 1)
            reader->point_count = (int32_t)*rows;
        if (reader->frame_count > 0 && *rows != reader->point_count)
            return sinew_fail(error, SINEW_ERROR_FORMAT, "%s:%lld: frame %lld has %lld points, the first has %d",
                              reader->path, (long long)row, current, (long long)*rows, (int)reader->point_count);
        *rows = 0;
        if (!csv_add_frame(reader, offset))
            return sinew_fail_memory(error, "the frames of a CSV cache");
    }
    ++*rows;
    return *rows < INT32_MAX ? SINEW_OK : sinew_fail(error, SINEW_ERROR_FORMAT, "%s: too many points", reader->path);
}

static sinew_status csv_reader_open(sinew_cache_reader *reader, sinew_error *error)
{
    static const char head[] = "frame,time,particle,x,y,z,vx,vy,vz\n";
    csv_state *own = reader->own;
    size_t size;
    char line[line_size];
    sinew_status status = reader_open_stream(reader, ".csv", &own->stream, &size, error);
    if (status != SINEW_OK)
        return status;
    own->locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!own->locale)
        return sinew_fail_memory(error, "a locale");
    if (!read_complete_line(own->stream, line) || strcmp(line, head) != 0)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "%s:1: is not the head of a cache: %.34s", reader->path, head);
    int64_t rows = 0, row = 2, offset = (int64_t)strlen(head);
    for (; status == SINEW_OK && read_complete_line(own->stream, line); row++) {
        status = csv_count_line(reader, line, offset, row, &rows, error);
        offset += (int64_t)strlen(line);
    }
    if (status != SINEW_OK)
        return status;
    /* The last frame of an unfinished CSV file may be incomplete; whether a single frame is complete cannot be
     * known. */
    if (reader->unfinished && reader->frame_count > 0 && rows != reader->point_count)
        return --reader->frame_count > 0
                   ? SINEW_OK
                   : sinew_fail(error, SINEW_ERROR_FORMAT, "%s: has no complete frame yet", reader->path);
    if (reader->frame_count == 1)
        reader->point_count = (int32_t)rows;
    if (reader->frame_count == 0 || rows != reader->point_count)
        return sinew_fail(error, SINEW_ERROR_FORMAT,
                          "%s: its last frame has %lld points, the first has %d; it was cut short", reader->path,
                          (long long)rows, (int)reader->point_count);
    return SINEW_OK;
}

/* Parses the CSV line frame,time,particle and six numbers (position, velocity). Returns false if the line is
 * malformed, is for another particle than `particle`, or has a number that is not finite. */
static bool csv_parse_line(const csv_state *own, const char *line, int64_t particle, double numbers[6])
{
    const char *at = strchr(line, ',');
    at = at ? strchr(at + 1, ',') : NULL;
    char *end;
    if (!at || strtoll(at + 1, &end, 10) != particle || end == at + 1)
        return false;
    for (int i = 0; i < 6; i++) {
        if (*end != ',')
            return false;
        at = end + 1;
        numbers[i] = strtod_l(at, &end, own->locale);
        if (end == at || !isfinite((sinew_real)numbers[i]))
            return false;
    }
    return *end == '\n';
}

static sinew_status csv_reader_frame(sinew_cache_reader *reader, int32_t index, sinew_real *q, sinew_real *v,
                                     sinew_error *error)
{
    csv_state *own = reader->own;
    if (fseeko(own->stream, (off_t)own->offsets[index], SEEK_SET) != 0)
        return fail_reading(reader, own->stream, error);
    for (int32_t i = 0; i < reader->point_count; i++) {
        char line[line_size];
        double numbers[6];
        if (!read_complete_line(own->stream, line))
            return fail_reading(reader, own->stream, error);
        if (!csv_parse_line(own, line, i, numbers))
            return sinew_fail(error, SINEW_ERROR_FORMAT,
                              "%s:%lld: is not frame %lld, particle %d with six finite numbers", reader->path,
                              2 + (long long)index * reader->point_count + i, (long long)reader->first + index, (int)i);
        for (int axis = 0; axis < 3; axis++) {
            q[3 * (size_t)i + (size_t)axis] = (sinew_real)numbers[axis];
            if (v)
                v[3 * (size_t)i + (size_t)axis] = (sinew_real)numbers[3 + axis];
        }
    }
    return SINEW_OK;
}

static void csv_reader_close(sinew_cache_reader *reader)
{
    csv_state *own = reader->own;
    if (own->stream)
        fclose(own->stream);
    if (own->locale)
        freelocale(own->locale);
    sinew_release(&reader->allocator, own->offsets);
}

const sinew_cache_reader_ops sinew_cache_reader_csv = {.own_size = sizeof(csv_state),
                                                       .velocities = true,
                                                       .open = csv_reader_open,
                                                       .frame = csv_reader_frame,
                                                       .close = csv_reader_close};
