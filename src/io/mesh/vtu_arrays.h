/* SPDX-License-Identifier: MIT
 *
 * vtu_arrays.h: the arrays of VTK XML files, however they are encoded: text, base64 or raw bytes, zlib or not.
 *
 * An array is where its bytes lie; a stream hands out its numbers one after the other and unpacks a few kilobytes at a
 * time. So a file can be gone through once to see whether it is sound, whatever sizes it promises, before anything is
 * made from it.
 */
#ifndef SINEW_SRC_IO_MESH_VTU_ARRAYS_H
#define SINEW_SRC_IO_MESH_VTU_ARRAYS_H

#include "io/mesh/scalars.h"
#include "io/text.h"

/* The coding of all arrays of a file, from its root element. */
typedef struct sinew_vtu_coding {
    bool swap;                /* byte order is not this machine's */
    sinew_scalar header_type; /* of the byte counts before each array: UINT32 or UINT64 */
    bool compressed;          /* zlib */
} sinew_vtu_coding;

typedef enum sinew_vtu_form {
    SINEW_VTU_NONE, /* there is no such array: it holds no numbers */
    SINEW_VTU_TEXT,
    SINEW_VTU_BASE64,
    SINEW_VTU_RAW
} sinew_vtu_form;

/* Numbers of one type, one after the other, somewhere in the file. */
typedef struct sinew_vtu_array {
    sinew_vtu_form form;
    sinew_scalar type;
    const char *place; /* its tag, for errors */
    const char *at;    /* its first byte */
    const char *end;   /* no byte from here on belongs to it */
    int64_t count;     /* of numbers; set by sinew_vtu_measure */
} sinew_vtu_array;

/* Finds the count from the header of the array, or from its words, and holds it against the bytes at hand. */
bool sinew_vtu_measure(sinew_vtu_array *array, const sinew_text *text, const sinew_vtu_coding *coding,
                       const sinew_allocator *allocator);

typedef struct sinew_vtu_stream sinew_vtu_stream;

/* At the first number of a measured array; NULL with the error written. The text must outlive the stream. */
sinew_vtu_stream *sinew_vtu_open(const sinew_vtu_array *array, const sinew_text *text, const sinew_vtu_coding *coding,
                                 const sinew_allocator *allocator);
void sinew_vtu_close(sinew_vtu_stream *stream); /* NULL is fine */
/* At most `count` times; false with the error written where the bytes are broken. Real numbers are no integers: -1. */
bool sinew_vtu_next_real(sinew_vtu_stream *stream, double *value);
bool sinew_vtu_next_integer(sinew_vtu_stream *stream, int64_t *value);

#endif
