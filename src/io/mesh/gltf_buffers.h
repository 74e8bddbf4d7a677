/* SPDX-License-Identifier: MIT
 *
 * gltf_buffers.h: the buffers and accessors of a glTF file; all ranges are checked before numbers are read.
 */
#ifndef SINEW_SRC_IO_MESH_GLTF_BUFFERS_H
#define SINEW_SRC_IO_MESH_GLTF_BUFFERS_H

#include <jansson.h>

#include "io/mesh/file_formats.h"
#include "io/mesh/scalars.h"

/* Largest number of vertices and indices per byte of a glTF file: its nodes may place one mesh many times, so that a
 * small file could otherwise fill the memory. */
enum {
    SINEW_GLTF_CORNERS_PER_BYTE = 16
};

typedef struct sinew_gltf_buffer sinew_gltf_buffer;
struct sinew_gltf_buffer {
    const unsigned char *bytes;
    size_t size;
    /* bytes that this buffer owns; NULL: the bytes belong to the file or to another buffer */
    char *owned;
    char *path;                           /* path of the file that was read into `owned`, or NULL */
    const sinew_gltf_buffer *read_before; /* the buffer that was read from a file before this one, or NULL */
};

typedef struct sinew_gltf_reader {
    const sinew_source *source;
    sinew_builder *builder;
    json_t *root;
    const unsigned char *chunk; /* binary chunk of a .glb file, or NULL */
    size_t chunk_size;
    sinew_gltf_buffer *buffers; /* [buffer_count] buffers of the glTF file, opened when first used */
    size_t buffer_count;
    const sinew_gltf_buffer *last_read; /* last buffer that was read from a file, or NULL */
    unsigned char *visited;             /* [node_count] number of visits of each node over both passes */
    size_t node_count;
    int64_t corner_budget; /* number of vertices and indices that the primitives of the scene may still have */
    bool trial;            /* true in the first pass, which checks the glTF file and adds nothing to the builder */
} sinew_gltf_reader;

/* A typed array within a glTF buffer. */
typedef struct sinew_gltf_accessor {
    const unsigned char *bytes;
    size_t stride;
    int64_t count;
    sinew_scalar type;
    double scale; /* factor of an accessor's normalized integers; 1 otherwise */
} sinew_gltf_accessor;

/* The following functions of the glTF reader set the error and return false (or NULL) on failure. */
bool sinew_gltf_fail(const sinew_gltf_reader *reader, const char *format, ...) SINEW_PRINTF(2, 3);
bool sinew_gltf_fail_memory(const sinew_gltf_reader *reader);

/* Reads a non-negative integer of a JSON object; `missing` is its default (-1: the key is mandatory). */
bool sinew_gltf_integer(const sinew_gltf_reader *reader, const json_t *object, const char *key, int64_t missing,
                        int64_t *value);
/* Returns an entry of an array at the root of the JSON, such as accessors[3]; NULL with an error if it does not
 * exist. */
const json_t *sinew_gltf_entry(const sinew_gltf_reader *reader, const char *array, int64_t index);

/* Opens an accessor and, at first use, its buffer. Checks that every element lies within the buffer. */
bool sinew_gltf_open_accessor(sinew_gltf_reader *reader, int64_t index, const char *shape, size_t components,
                              sinew_gltf_accessor *accessor);
/* For skins (gltf_attributes.c): reads texture coordinates, colours and attributes of the builder's vertices first ..
 * first + count - 1; sets the primitive's material and the mesh name as names of the following faces. */
bool sinew_gltf_read_attributes(sinew_gltf_reader *reader, const json_t *attributes, int64_t first, int64_t count);
bool sinew_gltf_set_material_name(sinew_gltf_reader *reader, const json_t *primitive);
bool sinew_gltf_set_group_name(sinew_gltf_reader *reader, const json_t *mesh);

/* Allocates reader->buffers and reader->visited for the loaded JSON. */
bool sinew_gltf_allocate_tables(sinew_gltf_reader *reader);
void sinew_gltf_release(sinew_gltf_reader *reader);

#endif
