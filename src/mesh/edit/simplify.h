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
    int32_t *origin; /* [vertex_count] index in the finer mesh of each coarse vertex, ascending */
    int32_t triangle_count;
    int32_t *triangles; /* [3 * triangle_count] vertices of each coarse triangle */
    int32_t *owner;     /* [fine vertices] coarse vertex to which each fine vertex is assigned; -1: in no triangle */
    /* The next two arrays are the embedding of each fine vertex in the coarse mesh. A kept vertex has its coarse vertex
     * at all three corners, with the weights 1 0 0. */
    /* [fine vertices] coarse vertices of the embedding triangle; corner[i][0] < 0: vertex i is too far outside of all
     * triangles around its owner, or in no triangle */
    int32_t (*corner)[3];
    /* [fine vertices] barycentric weights, in the embedding triangle, of the point of its plane nearest to the
     * vertex */
    sinew_real (*weight)[3];
} sinew_simplified;

typedef struct sinew_simplify_input {
    int32_t vertex_count;
    const sinew_real *positions; /* [vertex_count][4] positions of the finer mesh, in m */
    const uint8_t *held;         /* [vertex_count] 1: vertex of the finer mesh to keep unless a neighbour is kept */
    int32_t triangle_count;
    const int32_t *triangles; /* [3 * triangle_count] vertices of each triangle of the finer mesh */
} sinew_simplify_input;

/* Simplifies a triangle mesh. Allocates the result. On failure nothing stays allocated. */
sinew_status sinew_simplify(const sinew_allocator *allocator, const sinew_simplify_input *input,
                            sinew_simplified *simplified, sinew_error *error);
/* Frees the arrays of a simplified mesh; accepts a zeroed struct. */
void sinew_simplified_release(const sinew_allocator *allocator, sinew_simplified *simplified);

#endif
