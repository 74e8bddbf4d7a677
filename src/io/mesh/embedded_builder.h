/* SPDX-License-Identifier: MIT
 *
 * embedded_builder.h: what a reader collects for a skin besides the mesh: faces as they are, texture coordinates, names,
 * painted values. Readers that know none of these need no line for it: faces come in through builder.c.
 *
 * All calls do nothing, and return true, for a draft that is to become a mesh only. False: the error is written.
 */
#ifndef SINEW_SRC_IO_MESH_EMBEDDED_BUILDER_H
#define SINEW_SRC_IO_MESH_EMBEDDED_BUILDER_H

#include "io/mesh/builder.h"
#include "mesh/embedded_surface.h"

enum {
    SINEW_ATTRIBUTES_MAX = 64
};

/* An array that grows. */
typedef struct sinew_draft_list {
    void *items;
    int64_t count, capacity;
} sinew_draft_list;

struct sinew_skin_draft {
    sinew_draft_list starts;                           /* int32_t a face: its first corner */
    sinew_draft_list corners;                          /* int32_t */
    sinew_draft_list corner_uvs;                       /* int32_t a corner, or empty while no corner has one */
    sinew_draft_list uvs;                              /* float[2] */
    sinew_draft_list triangle_faces, triangle_corners; /* int32_t, int32_t[3] a triangle of the draft */
    sinew_name_list names[SINEW_SKIN_SET_COUNT];
    int32_t current[SINEW_SKIN_SET_COUNT];             /* that the coming faces have; -1: none */
    sinew_draft_list face_names[SINEW_SKIN_SET_COUNT]; /* int32_t a face, or empty while no face has one */
    sinew_name_list attributes;
    sinew_draft_list values[SINEW_ATTRIBUTES_MAX]; /* float a vertex; those that are missing at the end are 0 */
    char *library;
    const int32_t *coming_uvs; /* of the corners of the coming face, or NULL */
    bool uvs_of_vertices;      /* a corner's texture coordinate is its vertex's; not a number: none */
};

void sinew_skin_draft_open(sinew_skin_draft *skin);
void sinew_skin_draft_close(sinew_draft *draft, sinew_skin_draft *skin);

/* Called by builder.c: a face, then each triangle (the newest of the draft) that it is cut into. */
bool sinew_skin_draft_face(sinew_draft *draft, const int32_t *corners, int64_t count);
bool sinew_skin_draft_triangle(sinew_draft *draft, int64_t a, int64_t b, int64_t c);
/* Turns the face of a triangle of three corners, whose cell is turned by the caller. */
void sinew_skin_draft_turn(sinew_draft *draft, int64_t triangle);

bool sinew_skin_draft_uv(sinew_draft *draft, float u, float v);
/* The coming faces have this name. */
bool sinew_skin_draft_name(sinew_draft *draft, sinew_skin_set set, const char *name, size_t length);
bool sinew_skin_draft_library(sinew_draft *draft, const char *name, size_t length);
/* The number of an attribute, new or known; -1: none, since there are too many or no skin is wanted. Without memory
 * *good becomes false. */
int32_t sinew_skin_draft_attribute(sinew_draft *draft, const char *name, size_t length, bool *good);
bool sinew_skin_draft_value(sinew_draft *draft, int32_t attribute, int64_t vertex, double value);

/* The skin, which takes the arrays over, or NULL. Refuses a draft without faces. */
sinew_skin *sinew_skin_draft_finish(sinew_draft *draft, const char *name);

#endif
