/* SPDX-License-Identifier: MIT
 *
 * base64.h: decodes base64 text (RFC 4648) of VTK XML and glTF files.
 */
#ifndef SINEW_SRC_IO_MESH_BASE64_H
#define SINEW_SRC_IO_MESH_BASE64_H

#include "base/base.h"

/* Upper bound of the number of bytes that `length` base64 characters encode. */
size_t sinew_base64_capacity(size_t length);
/* Decodes the next group of four base64 characters to 1 to 3 bytes and returns their number (fewer than 3: padding ends
 * the encoded data); returns 0 if the group is invalid. */
int sinew_base64_group(const char **at, const char *end, unsigned char out[3]);
/* Decodes groups of four base64 characters, skipping white space, until `size` bytes are decoded. Returns false if the
 * text ends early or is not base64. `*at` moves past the used groups, so separately encoded data may follow. */
bool sinew_base64_decode(const char **at, const char *end, unsigned char *out, size_t size);

#endif
