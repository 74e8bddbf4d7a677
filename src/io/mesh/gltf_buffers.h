/* SPDX-License-Identifier: MIT
 *
 * gltf_buffers.h: the buffers and accessors of a glTF file; all ranges are checked before numbers are read.
 */
#ifndef SINEW_SRC_IO_MESH_GLTF_BUFFERS_H
#define SINEW_SRC_IO_MESH_GLTF_BUFFERS_H

#include <jansson.h>

#include "io/mesh/file_formats.h"
#include "io/mesh/scalars.h"

/* Nodes may place one mesh many times. This limit of corners per byte of the file admits real scenes and rejects
 * attacks. */
enum {
    SINEW_GLTF_CORNERS_PER_BYTE = 16
};

typedef struct sinew_gltf_buffer sinew_gltf_buffer;
struct sinew_gltf_buffer {
    const unsigned char *bytes;
    size_t size;
    char *owned;                          /* NULL when the bytes are the file's own, or another buffer's */
    char *path;                           /* of the file that was read into `owned`, or NULL */
    const sinew_gltf_buffer *read_before; /* the last that was read from a file before this one */
};

typedef struct sinew_gltf_reader {
    const sinew_source *source;
    sinew_builder *builder;
    json_t *root;
    const unsigned char *chunk; /* binary chunk of a .glb, or NULL */
    size_t chunk_size;
    sinew_gltf_buffer *buffers; /* [buffer_count], opened when first used */
    size_t buffer_count;
    const sinew_gltf_buffer *last_read; /* from a file, or NULL */
    unsigned char *visited;             /* [node_count] how often, over both passes */
    size_t node_count;
    int64_t corner_budget;
    bool trial; /* true: the pass checks everything and adds nothing, so that a refused file costs no memory */
} sinew_gltf_reader;

/* Numbers laid out in a buffer. */
typedef struct sinew_gltf_accessor {
    const unsigned char *bytes;
    size_t stride;
    int64_t count;
    sinew_scalar type;
    double scale; /* of normalized integers; 1 otherwise */
} sinew_gltf_accessor;

/* Each function sets the error and returns false on failure. */
bool sinew_gltf_fail(const sinew_gltf_reader *reader, const char *format, ...) SINEW_PRINTF(2, 3);
bool sinew_gltf_fail_memory(const sinew_gltf_reader *reader);

/* A whole number of an object, at least 0; `missing` stands in for one that is not there (-1: it must be). */
bool sinew_gltf_integer(const sinew_gltf_reader *reader, const json_t *object, const char *key, int64_t missing,
                        int64_t *value);
/* An entry of one of the arrays at the root, such as accessors[3]; NULL and an error when there is none. */
const json_t *sinew_gltf_entry(const sinew_gltf_reader *reader, const char *array, int64_t index);

/* Opens a buffer at its first use. Every element of the accessor lies within its buffer. */
bool sinew_gltf_open_accessor(sinew_gltf_reader *reader, int64_t index, const char *shape, size_t components,
                              sinew_gltf_accessor *accessor);
/* For skins (gltf_attributes.c): texture coordinates, colours and attributes of vertices first .. first + count - 1 of
 * the draft; the material of a primitive and the name of a mesh as names of the coming faces. */
bool sinew_gltf_paint(sinew_gltf_reader *reader, const json_t *attributes, int64_t first, int64_t count);
bool sinew_gltf_material(sinew_gltf_reader *reader, const json_t *primitive);
bool sinew_gltf_group(sinew_gltf_reader *reader, const json_t *mesh);
bool sinew_gltf_allocate_tables(sinew_gltf_reader *reader);
void sinew_gltf_release(sinew_gltf_reader *reader);

#endif
