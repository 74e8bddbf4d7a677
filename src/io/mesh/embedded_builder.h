/* SPDX-License-Identifier: MIT
 *
 * embedded_builder.h: data that a reader collects for a skin besides the mesh: uncut faces, texture coordinates, names,
 * painted values. Readers of formats without these need no code, because builder.c adds the faces.
 *
 * All calls do nothing and return true if only a mesh is requested. False: the error is set.
 */
#ifndef SINEW_SRC_IO_MESH_EMBEDDED_BUILDER_H
#define SINEW_SRC_IO_MESH_EMBEDDED_BUILDER_H

#include "io/mesh/builder.h"
#include "mesh/embedded_surface.h"

enum {
    SINEW_ATTRIBUTES_MAX = 64
};

/* An array that grows. */
typedef struct sinew_builder_list {
    void *items;
    int64_t count, capacity;
} sinew_builder_list;

struct sinew_embedded_builder {
    sinew_builder_list starts;                           /* int32_t a face: its first corner */
    sinew_builder_list corners;                          /* int32_t */
    sinew_builder_list corner_uvs;                       /* int32_t a corner, or empty while no corner has one */
    sinew_builder_list uvs;                              /* float[2] */
    sinew_builder_list triangle_faces, triangle_corners; /* int32_t, int32_t[3] a triangle of the draft */
    sinew_name_list names[SINEW_SKIN_SET_COUNT];
    int32_t current[SINEW_SKIN_SET_COUNT];               /* that the coming faces have; -1: none */
    sinew_builder_list face_names[SINEW_SKIN_SET_COUNT]; /* int32_t a face, or empty while no face has one */
    sinew_name_list attributes;
    sinew_builder_list values[SINEW_ATTRIBUTES_MAX]; /* float a vertex; those that are missing at the end are 0 */
    char *library;
    const int32_t *coming_uvs; /* of the corners of the coming face, or NULL */
    bool uvs_of_vertices;      /* a corner's texture coordinate is its vertex's; not a number: none */
};

void sinew_skin_builder_open(sinew_embedded_builder *skin);
void sinew_skin_builder_close(sinew_builder *builder, sinew_embedded_builder *skin);

/* Called by builder.c: a face, then each triangle (the newest of the draft) that it is cut into. */
bool sinew_skin_builder_face(sinew_builder *builder, const int32_t *corners, int64_t count);
bool sinew_skin_builder_triangle(sinew_builder *builder, int64_t a, int64_t b, int64_t c);
/* Flips the face of a triangle of three corners; the caller flips its cell. */
void sinew_skin_builder_turn(sinew_builder *builder, int64_t triangle);

bool sinew_skin_builder_uv(sinew_builder *builder, float u, float v);
/* Sets the name of all following faces. */
bool sinew_skin_builder_name(sinew_builder *builder, sinew_skin_set set, const char *name, size_t length);
bool sinew_skin_builder_library(sinew_builder *builder, const char *name, size_t length);
/* The index of an attribute, new or existing; -1: there are too many, or no skin is requested. If memory is short,
 * *good becomes false. */
int32_t sinew_skin_builder_attribute(sinew_builder *builder, const char *name, size_t length, bool *good);
bool sinew_skin_builder_value(sinew_builder *builder, int32_t attribute, int64_t vertex, double value);

/* The skin, which takes ownership of the arrays, or NULL. Refuses a draft without faces. */
sinew_skin *sinew_skin_builder_finish(sinew_builder *builder, const char *name);

#endif
