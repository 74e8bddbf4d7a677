/* SPDX-License-Identifier: MIT
 *
 * csv.c: <name>.csv, a cache with one line per point and frame: frame,time,particle,x,y,z,vx,vy,vz. For skins the
 * column "particle" has the index of the vertex, numbered body by body.
 *
 * Numbers have 17 significant digits (single: 9), so that reading them gives the same bits. They have a decimal point
 * in every locale.
 */
#include "io/cache/cache.h"

typedef struct format_state {
    sinew_writer writer;
} format_state;

static sinew_status csv_open(sinew_cache *cache, sinew_error *error)
{
    format_state *own = cache->own;
    sinew_status status = sinew_cache_open_stream(cache, &own->writer, ".csv", error);
    if (status == SINEW_OK && cache->kept > 0)
        return sinew_cache_cut_lines(&own->writer, 1 + (int64_t)cache->kept * cache->point_count, error);
    if (status == SINEW_OK)
        status = sinew_cache_print(&own->writer, error, "frame,time,particle,x,y,z,vx,vy,vz\n");
    return status;
}

/* Writes three numbers, each after a comma, to `text`; returns the length. */
static int put_vector(char *text, const sinew_real *vector)
{
    int length = 0;
    for (int axis = 0; axis < 3; axis++) {
        text[length++] = ',';
        length += sinew_cache_format_number(text + length, vector[axis]);
    }
    return length;
}

static sinew_status csv_frame(sinew_cache *cache, sinew_error *error)
{
    format_state *own = cache->own;
    char time[SINEW_CACHE_NUMBER];
    sinew_cache_format_number(time, (sinew_real)cache->time);
    sinew_status status = SINEW_OK;
    for (int32_t i = 0; i < cache->point_count && status == SINEW_OK; i++) {
        char line[8 * SINEW_CACHE_NUMBER];
        int length = snprintf(line, sizeof line, "%d,%s,%d", (int)(cache->first + cache->frame_count), time, (int)i);
        length += put_vector(line + length, &cache->q[3 * (size_t)i]);
        length += put_vector(line + length, &cache->v[3 * (size_t)i]);
        line[length++] = '\n';
        status = sinew_cache_put(&own->writer, line, (size_t)length, error);
    }
    return status == SINEW_OK ? sinew_cache_flush(&own->writer, error) : status;
}

static sinew_status csv_sync(sinew_cache *cache, sinew_error *error)
{
    format_state *own = cache->own;
    return sinew_writer_sync(&own->writer, error);
}

static sinew_status csv_close(sinew_cache *cache, sinew_error *error)
{
    format_state *own = cache->own;
    return sinew_writer_commit_durable(&own->writer, error);
}

static void csv_drop(sinew_cache *cache)
{
    format_state *own = cache->own;
    sinew_writer_abandon(&own->writer);
}

const sinew_cache_ops sinew_cache_csv = {
    .name = "csv",
    .own_size = sizeof(format_state),
    .open = csv_open,
    .frame = csv_frame,
    .sync = csv_sync,
    .close = csv_close,
    .drop = csv_drop,
};
