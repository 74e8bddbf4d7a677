/* SPDX-License-Identifier: MIT
 *
 * cache_put.c: bytes and numbers into a cache file, each write checked on the spot.
 */
#include "io/cache.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

sinew_status sinew_cache_create(const sinew_cache *cache, sinew_writer *writer, const char *ending, sinew_error *error)
{
    char path[sizeof cache->stem + 32];
    snprintf(path, sizeof path, "%s%s", cache->stem, ending);
    return sinew_writer_open(writer, path, error);
}

static sinew_status refuse(const sinew_writer *writer, sinew_error *error)
{
    return sinew_fail(error, SINEW_ERROR_FILE, "%s: cannot write: %s", writer->path, strerror(errno));
}

sinew_status sinew_cache_put(sinew_writer *writer, const void *data, size_t size, sinew_error *error)
{
    if (size && fwrite(data, 1, size, writer->stream) != size)
        return refuse(writer, error);
    return SINEW_OK;
}

sinew_status sinew_cache_print(sinew_writer *writer, sinew_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int written = vfprintf(writer->stream, format, arguments);
    va_end(arguments);
    return written < 0 ? refuse(writer, error) : SINEW_OK;
}

sinew_status sinew_cache_flush(sinew_writer *writer, sinew_error *error)
{
    return fflush(writer->stream) != 0 ? refuse(writer, error) : SINEW_OK;
}

sinew_status sinew_cache_seek(sinew_writer *writer, int64_t offset, sinew_error *error)
{
    return fseeko(writer->stream, (off_t)offset, SEEK_SET) != 0 ? refuse(writer, error) : SINEW_OK;
}

int sinew_cache_number(char *text, sinew_real value)
{
    char raw[SINEW_CACHE_NUMBER];
    int digits = sizeof value == sizeof(float) ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG;
    snprintf(raw, sizeof raw, "%.*g", digits, (double)value);
    /* What is neither digit, sign nor exponent is the locale's decimal point, which may be several bytes. */
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

sinew_status sinew_cache_check_float(const sinew_cache *cache, sinew_error *error)
{
    for (size_t i = 0; i < 3 * (size_t)cache->particle_count; i++)
        if (fabs((double)cache->q[i]) > (double)FLT_MAX)
            return sinew_fail(error, SINEW_ERROR_DATA,
                              "%s: frame %d: particle %zu is at %g m, beyond 32-bit floats; use csv or vtu",
                              cache->stem, (int)cache->frame_count, i / 3, (double)cache->q[i]);
    return SINEW_OK;
}
