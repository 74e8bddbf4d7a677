/* SPDX-License-Identifier: MIT
 *
 * scalars.h: numbers of binary mesh files, by type and byte order.
 */
#ifndef SINEW_SRC_IO_MESH_SCALARS_H
#define SINEW_SRC_IO_MESH_SCALARS_H

#include "base/base.h"

typedef enum sinew_scalar {
    SINEW_SCALAR_NONE = 0, /* number type that the reader does not support */
    SINEW_SCALAR_INT8,
    SINEW_SCALAR_UINT8,
    SINEW_SCALAR_INT16,
    SINEW_SCALAR_UINT16,
    SINEW_SCALAR_INT32,
    SINEW_SCALAR_UINT32,
    SINEW_SCALAR_INT64,
    SINEW_SCALAR_UINT64,
    SINEW_SCALAR_FLOAT,
    SINEW_SCALAR_DOUBLE
} sinew_scalar;

bool sinew_host_is_big_endian(void);
size_t sinew_scalar_size(sinew_scalar type); /* size in bytes of a number of this type; 0 for NONE */
bool sinew_scalar_is_integer(sinew_scalar type);
/* Reads a number of a binary file. `swap`: the bytes are in the opposite order of this machine. */
double sinew_scalar_real(sinew_scalar type, const unsigned char *bytes, bool swap);
/* Reads an index or a count of a binary file. Unsigned 64-bit values past the signed range, and reals, give -1. */
int64_t sinew_scalar_integer(sinew_scalar type, const unsigned char *bytes, bool swap);

#endif
