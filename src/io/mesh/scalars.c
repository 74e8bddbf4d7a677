/* SPDX-License-Identifier: MIT
 *
 * scalars.c: reads typed numbers from bytes that may be unaligned and in either byte order.
 */
#include "io/mesh/scalars.h"

#include <string.h>

bool sinew_host_is_big_endian(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 0;
}

size_t sinew_scalar_size(sinew_scalar type)
{
    static const unsigned char sizes[] = {0, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
    return sizes[type];
}

bool sinew_scalar_is_integer(sinew_scalar type)
{
    return type >= SINEW_SCALAR_INT8 && type <= SINEW_SCALAR_UINT64;
}

static uint16_t load16(const unsigned char *bytes, bool swap)
{
    uint16_t value;
    memcpy(&value, bytes, sizeof value);
    return swap ? (uint16_t)(value << 8 | value >> 8) : value;
}

static uint32_t load32(const unsigned char *bytes, bool swap)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return swap ? __builtin_bswap32(value) : value;
}

static uint64_t load64(const unsigned char *bytes, bool swap)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return swap ? __builtin_bswap64(value) : value;
}

static double load_float(const unsigned char *bytes, bool swap)
{
    uint32_t bits = load32(bytes, swap);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double load_double(const unsigned char *bytes, bool swap)
{
    uint64_t bits = load64(bytes, swap);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

int64_t sinew_scalar_integer(sinew_scalar type, const unsigned char *bytes, bool swap)
{
    switch (type) {
    case SINEW_SCALAR_INT8:
        return (int8_t)bytes[0];
    case SINEW_SCALAR_UINT8:
        return bytes[0];
    case SINEW_SCALAR_INT16:
        return (int16_t)load16(bytes, swap);
    case SINEW_SCALAR_UINT16:
        return load16(bytes, swap);
    case SINEW_SCALAR_INT32:
        return (int32_t)load32(bytes, swap);
    case SINEW_SCALAR_UINT32:
        return load32(bytes, swap);
    case SINEW_SCALAR_INT64:
        return (int64_t)load64(bytes, swap);
    case SINEW_SCALAR_UINT64: {
        uint64_t value = load64(bytes, swap);
        return value > INT64_MAX ? -1 : (int64_t)value;
    }
    default:
        return -1;
    }
}

double sinew_scalar_real(sinew_scalar type, const unsigned char *bytes, bool swap)
{
    if (type == SINEW_SCALAR_DOUBLE)
        return load_double(bytes, swap);
    if (type == SINEW_SCALAR_FLOAT)
        return load_float(bytes, swap);
    return (double)sinew_scalar_integer(type, bytes, swap);
}
