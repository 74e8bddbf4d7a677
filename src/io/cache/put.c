/* SPDX-License-Identifier: MIT
 *
 * put.c: writes bytes and numbers to a cache file and checks each write immediately.
 */
#include "io/cache/cache.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static void cache_file_path(const sinew_cache *cache, const char *ending, char *path, size_t size)
{
    snprintf(path, size, "%s%s", cache->stem, ending);
}

static sinew_status cache_fail_writing(const sinew_writer *writer, sinew_error *error)
{
    return sinew_fail(error, SINEW_ERROR_FILE, "%s: cannot write: %s", writer->path, strerror(errno));
}

sinew_status sinew_cache_create_file(const sinew_cache *cache, sinew_writer *writer, const char *ending,
                                     sinew_error *error)
{
    char path[sizeof cache->stem + 40];
    cache_file_path(cache, ending, path, sizeof path);
    return sinew_writer_open(writer, path, error);
}

sinew_status sinew_cache_open_stream(const sinew_cache *cache, sinew_writer *writer, const char *ending,
                                     sinew_error *error)
{
    char path[sizeof cache->stem + 40];
    cache_file_path(cache, ending, path, sizeof path);
    sinew_status status =
        cache->kept > 0 ? sinew_writer_reopen(writer, path, error) : sinew_writer_open(writer, path, error);
    writer->keep = cache->resumable;
    return status;
}

/* ---- Resuming a cache from the files of an earlier run ------------------------------------------- */

static sinew_status cache_fail_too_short(const sinew_writer *writer, sinew_error *error)
{
    return sinew_fail(error, SINEW_ERROR_FORMAT, "%s: does not hold the frames to go on from; start the run again",
                      writer->partial);
}

sinew_status sinew_cache_cut_lines(sinew_writer *writer, int64_t lines, sinew_error *error)
{
    char block[16384];
    int64_t offset = 0;
    rewind(writer->stream);
    for (size_t got; lines > 0 && (got = fread(block, 1, sizeof block, writer->stream)) > 0;) {
        const char *at = block;
        for (const char *end; lines > 0 && (end = memchr(at, '\n', got - (size_t)(at - block))); lines--)
            at = end + 1;
        offset += lines > 0 ? (int64_t)got : at - block;
    }
    if (ferror(writer->stream))
        return cache_fail_writing(writer, error);
    return lines > 0 ? cache_fail_too_short(writer, error) : sinew_writer_cut(writer, offset, error);
}

sinew_status sinew_cache_cut_bytes(sinew_writer *writer, int64_t size, sinew_error *error)
{
    if (fseeko(writer->stream, 0, SEEK_END) != 0)
        return cache_fail_writing(writer, error);
    return ftello(writer->stream) < size ? cache_fail_too_short(writer, error) : sinew_writer_cut(writer, size, error);
}

double sinew_cache_fps(const sinew_cache *cache)
{
    const double rate = 1 / cache->frame_time, plain = round(1000 * rate) / 1000;
    return fabs(rate - plain) <= 1e-6 * rate ? plain : rate;
}

void sinew_cache_ending(const sinew_cache *cache, int32_t frame, const char *suffix, char ending[32])
{
    snprintf(ending, 32, ".%04lld.%s", (long long)cache->first + frame, suffix);
}

static void frame_path(const sinew_cache *cache, int32_t frame, const char *suffix, char *path, size_t size)
{
    char ending[32];
    sinew_cache_ending(cache, frame, suffix, ending);
    cache_file_path(cache, ending, path, size);
}

sinew_status sinew_cache_cut_sequence(const sinew_cache *cache, const char *suffix, sinew_error *error)
{
    char path[sizeof cache->stem + 40];
    for (int32_t frame = 0; frame < cache->kept; frame++) {
        frame_path(cache, frame, suffix, path, sizeof path);
        if (access(path, R_OK) != 0)
            return sinew_fail(error, SINEW_ERROR_FILE, "%s: cannot go on behind it: %s", path, strerror(errno));
    }
    bool found = cache->kept > 0;
    for (int32_t frame = cache->kept; found; frame++) {
        frame_path(cache, frame, suffix, path, sizeof path);
        found = unlink(path) == 0;
    }
    return SINEW_OK;
}

sinew_status sinew_cache_sync_sequence(const sinew_cache *cache, const char *suffix, sinew_error *error)
{
    sinew_status status = SINEW_OK;
    for (int32_t frame = cache->synced; frame < cache->frame_count && status == SINEW_OK; frame++) {
        char path[sizeof cache->stem + 40];
        frame_path(cache, frame, suffix, path, sizeof path);
        status = sinew_file_sync(path, error);
    }
    return status;
}

/* ---- Bytes and numbers in cache files ------------------------------------------------------------ */

sinew_status sinew_cache_put(sinew_writer *writer, const void *data, size_t size, sinew_error *error)
{
    if (size && fwrite(data, 1, size, writer->stream) != size)
        return cache_fail_writing(writer, error);
    return SINEW_OK;
}

sinew_status sinew_cache_print(sinew_writer *writer, sinew_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int written = vfprintf(writer->stream, format, arguments);
    va_end(arguments);
    return written < 0 ? cache_fail_writing(writer, error) : SINEW_OK;
}

sinew_status sinew_cache_flush(sinew_writer *writer, sinew_error *error)
{
    return fflush(writer->stream) != 0 ? cache_fail_writing(writer, error) : SINEW_OK;
}

sinew_status sinew_cache_seek(sinew_writer *writer, int64_t offset, sinew_error *error)
{
    return fseeko(writer->stream, (off_t)offset, SEEK_SET) != 0 ? cache_fail_writing(writer, error) : SINEW_OK;
}

int sinew_cache_format_digits(char *text, double value, int digits)
{
    char raw[SINEW_CACHE_NUMBER];
    snprintf(raw, sizeof raw, "%.*g", digits, value);
    /* A byte of the printed number that is neither digit, sign nor exponent belongs to the locale's decimal point. */
    int length = 0;
    for (const char *c = raw; *c; c++) {
        if (strchr("0123456789+-e", *c))
            text[length++] = *c;
        else if (length == 0 || text[length - 1] != '.')
            text[length++] = '.';
    }
    text[length] = '\0';
    return length;
}

int sinew_cache_format_number(char *text, sinew_real value)
{
    return sinew_cache_format_digits(text, (double)value,
                                     sizeof value == sizeof(float) ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG);
}

int sinew_cache_format_float(char *text, float value)
{
    return sinew_cache_format_digits(text, (double)value, FLT_DECIMAL_DIG);
}

void sinew_cache_store32(unsigned char *bytes, uint32_t value)
{
    bytes[0] = (unsigned char)value;
    bytes[1] = (unsigned char)(value >> 8);
    bytes[2] = (unsigned char)(value >> 16);
    bytes[3] = (unsigned char)(value >> 24);
}

void sinew_cache_store_float(unsigned char *bytes, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    sinew_cache_store32(bytes, bits);
}

uint32_t sinew_cache_load32(const unsigned char *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

float sinew_cache_load_float(const unsigned char *bytes)
{
    uint32_t bits = sinew_cache_load32(bytes);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

sinew_status sinew_cache_check_float(const sinew_cache *cache, sinew_error *error)
{
    for (size_t i = 0; i < 3 * (size_t)cache->point_count; i++)
        if (fabs((double)cache->q[i]) > (double)FLT_MAX)
            return sinew_fail(error, SINEW_ERROR_DATA,
                              "%s: frame %d: %s %zu is at %g m, beyond 32-bit floats; use csv or vtu", cache->stem,
                              (int)cache->frame_count, cache->noun, i / 3, (double)cache->q[i]);
    return SINEW_OK;
}
