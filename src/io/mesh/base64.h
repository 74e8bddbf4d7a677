/* SPDX-License-Identifier: MIT
 *
 * base64.h: decodes base64 text (RFC 4648) of VTK XML and glTF files.
 */
#ifndef SINEW_SRC_IO_MESH_BASE64_H
#define SINEW_SRC_IO_MESH_BASE64_H

#include "base/base.h"

/* Upper bound of the bytes that so many characters encode. */
size_t sinew_base64_capacity(size_t length);
/* The next group of four characters as 1 to 3 bytes (fewer than 3 end a run), or 0 when there is no valid one. */
int sinew_base64_group(const char **at, const char *end, unsigned char out[3]);
/* Decodes whole groups of four, skipping white space, until `size` bytes are there; false when the characters run out
 * or are none of base64. `*at` moves past the groups used, so that a padded run can be followed by another. */
bool sinew_base64_decode(const char **at, const char *end, unsigned char *out, size_t size);

#endif
