/* SPDX-License-Identifier: MIT
 *
 * embedded_builder.h: data that a reader collects for a skin besides the mesh: faces before triangulation, texture
 * coordinates, names, painted values. Readers of formats without these need no code, because builder.c adds the
 * faces.
 *
 * If only a mesh is requested (builder->skin is NULL), functions that add data do nothing and return true, except that
 * sinew_skin_builder_find_attribute() returns -1. If a function returns false, the error is set.
 */
#ifndef SINEW_SRC_IO_MESH_EMBEDDED_BUILDER_H
#define SINEW_SRC_IO_MESH_EMBEDDED_BUILDER_H

#include "io/mesh/builder.h"
#include "mesh/embedded_surface.h"

enum {
    SINEW_ATTRIBUTES_MAX = 64
};

/* A growing array of items of one size. */
typedef struct sinew_builder_list {
    void *items;
    int64_t count, capacity;
} sinew_builder_list;

struct sinew_embedded_builder {
    sinew_builder_list starts;  /* int32_t per face: index of its first corner */
    sinew_builder_list corners; /* int32_t per corner: index of its vertex */
    /* int32_t per corner: index in `uvs`; the list is empty until a corner has texture coordinates */
    sinew_builder_list corner_uvs;
    sinew_builder_list uvs; /* float[2] per texture coordinate: u, v */
    /* int32_t per triangle: its face; int32_t[3] per triangle: its corners */
    sinew_builder_list triangle_faces, triangle_corners;
    sinew_name_list names[SINEW_SKIN_SET_COUNT];
    /* name indices of the faces that are added next, per set of names; -1: none */
    int32_t current[SINEW_SKIN_SET_COUNT];
    /* int32_t per face: index of its name; the list is empty until a face has a name */
    sinew_builder_list face_names[SINEW_SKIN_SET_COUNT];
    sinew_name_list attributes;
    /* float per vertex: values of one attribute; missing last values are 0 */
    sinew_builder_list values[SINEW_ATTRIBUTES_MAX];
    char *library;             /* name of the material library file (mtllib of OBJ), owned; NULL: none */
    const int32_t *coming_uvs; /* indices of the texture coordinates of the next face's corners, or NULL */
    bool uvs_of_vertices;      /* true: texture coordinates are per vertex instead of per corner; NaN: none */
};

void sinew_skin_builder_open(sinew_embedded_builder *skin);
void sinew_skin_builder_close(sinew_builder *builder, sinew_embedded_builder *skin);

/* builder.c calls the first function for each face and the second for each triangle of this face, which is then the
 * last triangle of the builder. a, b, c: positions of the triangle's corners in `corners` of the face. */
bool sinew_skin_builder_add_face(sinew_builder *builder, const int32_t *corners, int64_t count);
bool sinew_skin_builder_add_triangle(sinew_builder *builder, int64_t a, int64_t b, int64_t c);
/* Swaps the last two corners of the skin's face that consists of triangle `triangle` of the builder; the caller
 * reverses the triangle itself. */
void sinew_skin_builder_reverse_face(sinew_builder *builder, int64_t triangle);

bool sinew_skin_builder_add_uv(sinew_builder *builder, float u, float v);
/* Sets the name, in one set of names, of all faces that are added next. */
bool sinew_skin_builder_set_name(sinew_builder *builder, sinew_skin_set set, const char *name, size_t length);
bool sinew_skin_builder_set_library(sinew_builder *builder, const char *name, size_t length);
/* Returns the index of a skin attribute, which is added if it is new; -1: too many attributes, or no skin is requested.
 * *good becomes false if memory runs out. */
int32_t sinew_skin_builder_find_attribute(sinew_builder *builder, const char *name, size_t length, bool *good);
bool sinew_skin_builder_set_value(sinew_builder *builder, int32_t attribute, int64_t vertex, double value);

/* Returns the finished skin, which takes ownership of the builder's arrays. NULL on failure, for example without
 * faces. */
sinew_skin *sinew_skin_builder_finish(sinew_builder *builder, const char *name);

#endif
