/* SPDX-License-Identifier: MIT
 *
 * simplify.h: a coarser triangle mesh on some of the vertices of a finer one, with about a quarter of them.
 *
 * Vertices that stay are a maximal independent set: no two of them are neighbours, and every other one has a neighbour
 * among them. Held vertices and corners of the border are taken first, then the border, then the rest, each in the
 * order of their numbers. The others join the nearest of those that stay, along the border where they lie on it, and
 * triangles whose vertices join three different ones are the coarse triangles (vertex clustering, Rossignac and Borrel
 * 1993). Any triangle mesh will do, with borders, holes and several pieces; edges of more than two triangles count as
 * border.
 */
#ifndef SINEW_SRC_MESH_EDIT_SIMPLIFY_H
#define SINEW_SRC_MESH_EDIT_SIMPLIFY_H

#include "base/base.h"

typedef struct sinew_simplified {
    int32_t vertex_count;
    int32_t *origin; /* [vertex_count] vertex of the finer mesh, ascending */
    int32_t triangle_count;
    int32_t *triangles; /* [3 * triangle_count] */
    int32_t *owner;     /* [vertices of the finer] the coarse vertex that each joins, -1: in no triangle */
    /* Where each vertex of the finer mesh lies on the coarser one. */
    int32_t (*corner)[3];    /* [vertices of the finer] coarse vertices; corner[i][0] < 0: too far off */
    sinew_real (*weight)[3]; /* [vertices of the finer] barycentric, of the nearest point in the triangle's plane */
} sinew_simplified;

typedef struct sinew_simplify_input {
    int32_t vertex_count;
    const sinew_real *positions; /* [vertex_count][4] m */
    const uint8_t *held;         /* [vertex_count] 1: stays if no neighbour does */
    int32_t triangle_count;
    const int32_t *triangles; /* [3 * triangle_count] */
} sinew_simplify_input;

/* Allocates; on failure nothing is held. */
sinew_status sinew_simplify(const sinew_allocator *allocator, const sinew_simplify_input *input,
                            sinew_simplified *simplified, sinew_error *error);
void sinew_simplified_release(const sinew_allocator *allocator, sinew_simplified *simplified); /* zeroed is fine */

#endif
