/* SPDX-License-Identifier: MIT
 *
 * embed_point.h: embeds a point in the rest shape of a body: finds the cell that contains the point, and the point's
 * weights in the cell.
 *
 * If several tetrahedra contain the point (a shared face, duplicated cells), the tetrahedron with the largest
 * minimum weight is used; among equals, the lowest index. A point outside all of them uses the tetrahedron behind
 * the nearest point of the boundary, with weights that may be negative. Bodies without tetrahedra use the nearest
 * point on a triangle, an edge or a vertex and its weights; offsets from a cloth are dropped.
 *
 * Tetrahedra are found in a grid of boxes of about their size, boundary points by the BVH. A flat tetrahedron has no
 * barycentric weights; the weights of the boundary point are then used.
 */
#ifndef SINEW_SRC_WORLD_BODIES_EMBED_POINT_H
#define SINEW_SRC_WORLD_BODIES_EMBED_POINT_H

#include "base/base.h"
#include "sinew/mesh.h"
#include "sinew/skin.h"
#include "sinew/tree.h"

/* Tetrahedra of a mesh, listed by the boxes of a regular grid that they overlap. */
typedef struct sinew_tet_grid {
    double low[3], scale[3]; /* index of the box of a point p along each axis: (p - low) * scale */
    int32_t boxes[3];
    int32_t *starts;  /* [number of boxes + 1] index of each box's first tet in members */
    int32_t *members; /* [starts[number of boxes]] tetrahedra that overlap each grid box, box by box, ascending */
} sinew_tet_grid;

typedef struct sinew_embeddings {
    sinew_allocator allocator;
    const sinew_mesh *mesh; /* mesh of the body in which points are embedded; borrowed */
    sinew_mesh *surface;    /* surface of the mesh, on which nearest points are searched */
    int32_t *owners;        /* [surface triangles] tetrahedron behind each triangle; NULL: the mesh has no tetrahedra */
    sinew_tree *tree;
    const int32_t *cells; /* cells of the BVH, `width` vertices each; NULL: the BVH holds vertices */
    int32_t width;
    sinew_tet_grid grid; /* grid of the tetrahedra; empty if the mesh has none */
} sinew_embeddings;

/* Embedding of a point: up to four vertices with weights that sum to 1; unused entries repeat the first with weight
 * 0. */
typedef struct sinew_embedding {
    int32_t vertices[4];
    double weights[4];
    double distance; /* distance of the point from the body, in m; 0 inside a tetrahedron */
    int32_t tet;  /* tetrahedron that embeds the point; -1: the point is embedded in a triangle, an edge or a vertex */
    bool several; /* true: another tetrahedron also contains the point, strictly or, without a common vertex, on its
                        boundary: components of a filled surface that share a lattice cell */
} sinew_embedding;

sinew_status sinew_embeddings_begin(sinew_embeddings *embeddings, const sinew_mesh *mesh,
                                    const sinew_allocator *allocator, sinew_error *error);
/* Frees all arrays and the BVH of the embeddings; accepts a zeroed struct. */
void sinew_embeddings_end(sinew_embeddings *embeddings);
sinew_embedding sinew_embeddings_find(const sinew_embeddings *embeddings, const sinew_real point[3]);

/* Finds the tetrahedra that contain the point, boundaries included. Writes at most `capacity` tetrahedra and returns
 * their total number. */
int32_t sinew_embeddings_holding(const sinew_embeddings *embeddings, const sinew_real point[3], int32_t *tets,
                                 int32_t capacity);
/* Resolves skin vertices that tetrahedra of several connected components contain: each gets the component of its
 * neighbours (embed_components.c). points [3 * vertex_count], m; found [vertex_count]: embeddings of the skin
 * vertices. */
sinew_status sinew_embeddings_resolve(const sinew_embeddings *embeddings, const sinew_skin *skin,
                                      const sinew_real *points, sinew_embedding *found, sinew_error *error);

/* Computes the barycentric weights of a point in a tetrahedron; false if the tetrahedron is flat. */
bool sinew_tet_weights(const sinew_real *positions, const int32_t tet[4], const sinew_real point[3], double weights[4]);

#endif
