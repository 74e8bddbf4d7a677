/* SPDX-License-Identifier: MIT
 *
 * simplify.h: a coarser triangle mesh with about a quarter of the vertices of a finer one.
 *
 * The kept vertices are a maximal independent set: no two of them are neighbours, and every other vertex has a kept
 * neighbour. Held vertices and corners of the boundary are chosen first, then boundary vertices, then the rest, each in
 * index order. Every other vertex is assigned to its nearest kept neighbour, boundary to boundary if possible. A
 * triangle whose vertices are assigned to three different kept vertices becomes a coarse triangle (vertex clustering,
 * Rossignac and Borrel 1993). The input may be open and have several components; edges of more than two triangles
 * count as boundary.
 */
#ifndef SINEW_SRC_MESH_EDIT_SIMPLIFY_H
#define SINEW_SRC_MESH_EDIT_SIMPLIFY_H

#include "base/base.h"

typedef struct sinew_simplified {
    int32_t vertex_count;
    int32_t *origin; /* [vertex_count] vertex of the finer mesh, ascending */
    int32_t triangle_count;
    int32_t *triangles; /* [3 * triangle_count] vertices of each triangle */
    int32_t *owner;     /* [fine vertices] coarse vertex that each is assigned to; -1: in no triangle */
    /* The embedding of each fine vertex in the coarse mesh. */
    int32_t (*corner)[3];    /* [fine vertices] coarse vertices; corner[i][0] < 0: too far outside */
    sinew_real (*weight)[3]; /* [fine vertices] barycentric weights of the nearest point in the triangle's plane */
} sinew_simplified;

typedef struct sinew_simplify_input {
    int32_t vertex_count;
    const sinew_real *positions; /* [vertex_count][4] positions, in m */
    const uint8_t *held;         /* [vertex_count] 1: kept unless a neighbour is kept */
    int32_t triangle_count;
    const int32_t *triangles; /* [3 * triangle_count] vertices of each triangle */
} sinew_simplify_input;

/* Allocates the result. On failure nothing stays allocated. */
sinew_status sinew_simplify(const sinew_allocator *allocator, const sinew_simplify_input *input,
                            sinew_simplified *simplified, sinew_error *error);
/* Frees the arrays of a result; a zeroed struct has none. */
void sinew_simplified_release(const sinew_allocator *allocator, sinew_simplified *simplified);

#endif
