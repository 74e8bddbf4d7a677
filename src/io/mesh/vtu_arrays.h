/* SPDX-License-Identifier: MIT
 *
 * vtu_arrays.h: the arrays of VTK XML files in each encoding: text, base64 or raw bytes, with or without zlib.
 *
 * An array is a range of bytes; a stream returns its numbers in order and decodes a few kilobytes at a time. So a first
 * pass can check all numbers before memory for the mesh is allocated.
 */
#ifndef SINEW_SRC_IO_MESH_VTU_ARRAYS_H
#define SINEW_SRC_IO_MESH_VTU_ARRAYS_H

#include "io/mesh/scalars.h"
#include "io/text.h"

/* The coding of all arrays of a VTU file, from its root element. */
typedef struct sinew_vtu_coding {
    bool swap;                /* true: the file's byte order is not this machine's */
    sinew_scalar header_type; /* type of the byte counts before each array: UINT32 or UINT64 */
    bool compressed;          /* true: arrays are compressed by zlib */
} sinew_vtu_coding;

typedef enum sinew_vtu_form {
    SINEW_VTU_NONE, /* the array does not exist in the file: no numbers */
    SINEW_VTU_TEXT,
    SINEW_VTU_BASE64,
    SINEW_VTU_RAW
} sinew_vtu_form;

/* An array of numbers of one type in a VTU file. */
typedef struct sinew_vtu_array {
    sinew_vtu_form form;
    sinew_scalar type;
    const char *location; /* position of the array's tag in the file, for error messages */
    const char *at;       /* first byte of the array's encoded data in the file */
    const char *end;      /* upper bound of the end of the array's encoded data */
    int64_t count;        /* number of values of the array; set by sinew_vtu_measure() */
} sinew_vtu_array;

/* Computes the number of an array's values from its header, or from the words of its text, and checks it against the
 * available bytes. */
bool sinew_vtu_measure(sinew_vtu_array *array, const sinew_text *text, const sinew_vtu_coding *coding,
                       const sinew_allocator *allocator);

typedef struct sinew_vtu_stream sinew_vtu_stream;

/* Opens a stream at the first number of a measured array; NULL, with the error set, on failure. The text must outlive
 * the stream. */
sinew_vtu_stream *sinew_vtu_open(const sinew_vtu_array *array, const sinew_text *text, const sinew_vtu_coding *coding,
                                 const sinew_allocator *allocator);
void sinew_vtu_close(sinew_vtu_stream *stream); /* closes an array's stream; NULL has no effect */
/* Reads the next number of an array; the two functions together may be called at most `count` times. Returns false with
 * the error set for corrupt data. Reading a real as an integer gives -1. */
bool sinew_vtu_next_real(sinew_vtu_stream *stream, double *value);
bool sinew_vtu_next_integer(sinew_vtu_stream *stream, int64_t *value);

#endif
