/* SPDX-License-Identifier: MIT
 *
 * mesh_vtu_data.h: the arrays of VTK XML files, however they are encoded: text, base64 or raw bytes, zlib or not.
 */
#ifndef SINEW_MESH_VTU_DATA_H
#define SINEW_MESH_VTU_DATA_H

#include "io/mesh_scalar.h"
#include "io/text.h"

/* What the root element says about all arrays of a file. */
typedef struct sinew_vtu_coding {
    bool swap;                /* byte order is not this machine's */
    sinew_scalar header_type; /* of the byte counts before each array: UINT32 or UINT64 */
    bool compressed;          /* zlib */
} sinew_vtu_coding;

/* Numbers of one type, one after the other. */
typedef struct sinew_vtu_array {
    sinew_scalar type;
    bool swap;
    int64_t count;
    const unsigned char *bytes; /* [count * size of type] */
    void *owned;                /* released with the array; NULL when the bytes lie in the file */
} sinew_vtu_array;

void sinew_vtu_array_release(sinew_vtu_array *array, const sinew_allocator *allocator);

/* Each reads from text->at on, looks no further than `end`, and leaves text->at where it was. An error names the line
 * of the number (text) or of `place`. Text is turned into doubles (real types) or 64-bit integers (others). */
bool sinew_vtu_read_text(sinew_text *text, const char *end, sinew_scalar type, const sinew_allocator *allocator,
                         sinew_vtu_array *array);
bool sinew_vtu_read_base64(const sinew_text *text, const char *end, const char *place, const sinew_vtu_coding *coding,
                           sinew_scalar type, const sinew_allocator *allocator, sinew_vtu_array *array);
bool sinew_vtu_read_raw(const sinew_text *text, const char *end, const char *place, const sinew_vtu_coding *coding,
                        sinew_scalar type, const sinew_allocator *allocator, sinew_vtu_array *array);

double sinew_vtu_real(const sinew_vtu_array *array, int64_t i);
int64_t sinew_vtu_integer(const sinew_vtu_array *array, int64_t i);

#endif
