/* SPDX-License-Identifier: MIT
 *
 * usda.c: <name>.usda, one text file of Universal Scene Description with the frames as time samples.
 *
 * The text lists all samples of one attribute before the next attribute, but frames arrive one by one. So frames are
 * streamed as 32-bit floats to the side file <name>.usda.bin.partial, from which close writes the text. A resumed
 * cache reads the kept frames from the side file, or from the finished text, whose nine digits restore the same
 * bits. Source: openusd.org, "USD text file format", UsdGeomMesh, UsdGeomBasisCurves.
 *
 * Known limits: 32-bit positions and velocities (UsdGeom's types). No normals: renderers compute them for the
 * subdivision scheme "none", and they would enlarge the file by half.
 */
#include "io/cache/usda.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int64_t sinew_usda_offset(const sinew_usda *own, int64_t frame, int array, int32_t first_vertex)
{
    return 12 * ((frame * SINEW_USDA_ARRAYS + array) * own->vertex_count + first_vertex);
}

/* ---- Resuming a USD cache ------------------------------------------------------------------------ */

/* Parser state of a finished USDA file. */
typedef struct usda_reader {
    FILE *stream;
    locale_t plain; /* locale in which numbers have decimal points */
} usda_reader;

/* Skips in a USDA file to just after the next occurrence of `line`, which begins with a line break and contains no
 * other one before its last character; false: none. An occurrence inside a failed partial match can therefore only
 * begin at the mismatched character. */
static bool skip_past_line(FILE *stream, const char *line)
{
    size_t matched = 0;
    for (int c; line[matched] && (c = getc(stream)) != EOF;)
        matched = c == line[matched] ? matched + 1 : c == line[0];
    return !line[matched];
}

static bool read_next_number(usda_reader *reader, float *value)
{
    char word[48];
    size_t length = 0;
    int c = getc(reader->stream);
    while (c != EOF && !isdigit(c) && c != '-' && c != '}')
        c = getc(reader->stream);
    for (; c != EOF && length < sizeof word - 1 && (isdigit(c) || (c && strchr("+-.e", c))); c = getc(reader->stream))
        word[length++] = (char)c;
    word[length] = '\0';
    *value = strtof_l(word, NULL, reader->plain);
    return length > 0 && isfinite(*value);
}

/* Copies the samples of an earlier run of one array of a prim from the USDA text to the side file. */
static sinew_status read_samples(sinew_cache *cache, usda_reader *reader, const sinew_usda_prim *prim, int array,
                                 sinew_error *error)
{
    /* Lines of a USDA file at which the time samples of an array start. They are whole lines, which names of prims and
     * paths of files cannot contain. */
    static const char *const heads[SINEW_USDA_ARRAYS] = {"\n        point3f[] points.timeSamples = {\n",
                                                         "\n        vector3f[] velocities.timeSamples = {\n"};
    sinew_usda *own = cache->own;
    bool good = skip_past_line(reader->stream, heads[array]);
    sinew_status status = SINEW_OK;
    for (int32_t k = 0; k < cache->kept && good && status == SINEW_OK; k++) {
        float value;
        good = read_next_number(reader, &value) && value == (float)(cache->first + k);
        for (size_t i = 0; i < 3 * (size_t)prim->vertex_count && good; i++) {
            good = read_next_number(reader, &value);
            sinew_cache_store_float(own->bytes + 4 * i, value);
        }
        if (good)
            status = sinew_cache_seek(&own->side, sinew_usda_offset(own, k, array, prim->first_vertex), error);
        if (good && status == SINEW_OK)
            status = sinew_cache_put(&own->side, own->bytes, 12 * (size_t)prim->vertex_count, error);
    }
    return good ? status
                : sinew_fail(error, SINEW_ERROR_FORMAT,
                             "%s.usda: does not hold the frames to go on from; start the run again", cache->stem);
}

static sinew_status rebuild_side_file_from_text(sinew_cache *cache, sinew_error *error)
{
    sinew_usda *own = cache->own;
    char path[sizeof cache->stem + 40];
    snprintf(path, sizeof path, "%s.usda", cache->stem);
    sinew_status status = sinew_cache_create_file(cache, &own->side, ".usda.bin", error);
    int file = status == SINEW_OK ? open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
    usda_reader reader = {file >= 0 ? fdopen(file, "rb") : NULL, newlocale(LC_NUMERIC_MASK, "C", (locale_t)0)};
    if (status == SINEW_OK && !reader.stream)
        status = sinew_fail(error, SINEW_ERROR_FILE, "%s: cannot read: %s", path, strerror(errno));
    if (status == SINEW_OK && !reader.plain)
        status = sinew_fail_memory(error, "a locale");
    for (int32_t i = 0; i < own->prim_count && status == SINEW_OK; i++)
        for (int array = 0; array < SINEW_USDA_ARRAYS && status == SINEW_OK; array++)
            status = read_samples(cache, &reader, &own->prims[i], array, error);
    if (reader.plain)
        freelocale(reader.plain);
    if (reader.stream)
        fclose(reader.stream);
    else if (file >= 0)
        close(file);
    if (status == SINEW_OK)
        status = sinew_cache_seek(&own->side, sinew_usda_offset(own, cache->kept, 0, 0), error);
    return status == SINEW_OK ? sinew_writer_sync(&own->side, error) : status;
}

/* True if a killed run left a side file that holds the kept frames. */
static bool usda_side_file_has_kept_frames(const sinew_cache *cache)
{
    char path[sizeof cache->stem + 40];
    struct stat facts;
    snprintf(path, sizeof path, "%s.usda.bin.partial", cache->stem);
    return lstat(path, &facts) == 0 && S_ISREG(facts.st_mode) &&
           facts.st_size >= sinew_usda_offset(cache->own, cache->kept, 0, 0);
}

static sinew_status usda_resume(sinew_cache *cache, sinew_error *error)
{
    sinew_usda *own = cache->own;
    if (!usda_side_file_has_kept_frames(cache)) {
        const sinew_status status = rebuild_side_file_from_text(cache, error);
        own->side.keep = status == SINEW_OK;
        return status;
    }
    const sinew_status status = sinew_cache_open_stream(cache, &own->side, ".usda.bin", error);
    return status == SINEW_OK ? sinew_cache_cut_bytes(&own->side, sinew_usda_offset(own, cache->kept, 0, 0), error)
                              : status;
}

/* ---- Operations of the cache format USD ---------------------------------------------------------- */

static sinew_status usda_open(sinew_cache *cache, sinew_error *error)
{
    sinew_usda *own = cache->own;
    sinew_status status = sinew_cache_shape_make(cache, &own->shape, error);
    if (status == SINEW_OK)
        status = sinew_usda_build_prims(cache, own, error);
    if (status != SINEW_OK)
        return status;
    if (own->prim_count == 0)
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                          "%s.usda: no body has triangles, tetrahedra or edges to draw; use pc2 or csv", cache->stem);
    own->bytes = sinew_allocate(&cache->allocator, (size_t)own->vertex_count, 12);
    if (!own->bytes)
        return sinew_fail_memory(error, "the buffers of a USD cache");
    return cache->kept > 0 ? usda_resume(cache, error) : sinew_cache_open_stream(cache, &own->side, ".usda.bin", error);
}

static sinew_status put_frame_array(sinew_cache *cache, const sinew_real *values, sinew_error *error)
{
    sinew_usda *own = cache->own;
    for (size_t i = 0; i < 3 * (size_t)own->vertex_count; i++)
        sinew_cache_store_float(own->bytes + 4 * i, (float)values[3 * (size_t)own->points[i / 3] + i % 3]);
    return sinew_cache_put(&own->side, own->bytes, 12 * (size_t)own->vertex_count, error);
}

static sinew_status usda_frame(sinew_cache *cache, sinew_error *error)
{
    sinew_usda *own = cache->own;
    sinew_status status = sinew_cache_check_float(cache, error);
    for (size_t i = 0; i < 3 * (size_t)cache->point_count && status == SINEW_OK; i++)
        if (fabs((double)cache->v[i]) > (double)FLT_MAX)
            status = sinew_fail(error, SINEW_ERROR_DATA,
                                "%s: frame %d: %s %zu moves at %g m/s, beyond 32-bit floats; use csv or vtu",
                                cache->stem, (int)cache->frame_count, cache->noun, i / 3, (double)cache->v[i]);
    if (status == SINEW_OK)
        status = put_frame_array(cache, cache->q, error);
    if (status == SINEW_OK)
        status = put_frame_array(cache, cache->v, error);
    return status == SINEW_OK ? sinew_cache_flush(&own->side, error) : status;
}

static sinew_status usda_sync(sinew_cache *cache, sinew_error *error)
{
    sinew_usda *own = cache->own;
    return sinew_writer_sync(&own->side, error);
}

static sinew_status usda_close(sinew_cache *cache, sinew_error *error)
{
    sinew_usda *own = cache->own;
    sinew_status status = cache->frame_count == 0 ? usda_frame(cache, error) : SINEW_OK;
    if (status == SINEW_OK)
        status = sinew_cache_create_file(cache, &own->text, ".usda", error);
    if (status != SINEW_OK)
        return status;
    FILE *side = fopen(own->side.partial, "rb");
    if (!side)
        return sinew_fail(error, SINEW_ERROR_FILE, "%s: cannot read: %s", own->side.partial, strerror(errno));
    status = sinew_usda_write(cache, own, side, cache->frame_count, error);
    fclose(side);
    if (status == SINEW_OK)
        status = sinew_writer_commit_durable(&own->text, error);
    if (status == SINEW_OK)
        own->side.keep = false; /* the finished USDA file holds the frames, so the side file is removed */
    return status;
}

static void usda_drop(sinew_cache *cache)
{
    sinew_usda *own = cache->own;
    sinew_writer_abandon(&own->side);
    sinew_writer_abandon(&own->text);
    sinew_cache_shape_free(cache, &own->shape);
    sinew_names_release(&cache->allocator, &own->names);
    sinew_names_release(&cache->allocator, &own->material_names);
    sinew_release(&cache->allocator, own->prims);
    sinew_release(&cache->allocator, own->materials);
    sinew_release(&cache->allocator, own->points);
    sinew_release(&cache->allocator, own->curve_counts);
    sinew_release(&cache->allocator, own->bytes);
}

const sinew_cache_ops sinew_cache_usda = {
    .name = "usda",
    .own_size = sizeof(sinew_usda),
    .open = usda_open,
    .frame = usda_frame,
    .sync = usda_sync,
    .close = usda_close,
    .drop = usda_drop,
};
