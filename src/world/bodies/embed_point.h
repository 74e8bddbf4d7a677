/* SPDX-License-Identifier: MIT
 *
 * embed_point.h: which cell of a body carries a point beside its rest shape, and with which weights.
 *
 * The tetrahedron that holds the point: where several do (a shared face, cells that are there twice), the one that the
 * point lies deepest in, the lowest of equals. A point outside all of them is carried by the tetrahedron behind the
 * nearest place of the boundary, with weights that may be negative. Bodies without tetrahedra carry by the nearest
 * place of a triangle, an edge or a vertex; weights are then those of the place, which lies on the body: what
 * stands off a cloth is drawn on it.
 *
 * Tetrahedra are found in a grid of boxes about as large as they are, places of the boundary by the tree. Without
 * extent (a flat tetrahedron) weights of the tetrahedron do not exist, and the place's are taken.
 */
#ifndef SINEW_SRC_WORLD_BODIES_EMBED_POINT_H
#define SINEW_SRC_WORLD_BODIES_EMBED_POINT_H

#include "base/base.h"
#include "sinew/mesh.h"
#include "sinew/skin.h"
#include "sinew/tree.h"

/* Tetrahedra by the boxes of a grid that they reach into. */
typedef struct sinew_tet_grid {
    double low[3], scale[3]; /* box = (p - low) * scale */
    int32_t boxes[3];
    int32_t *starts;  /* [number of boxes + 1] */
    int32_t *members; /* tets of each box, ascending */
} sinew_tet_grid;

typedef struct sinew_carriers {
    sinew_allocator allocator;
    const sinew_mesh *mesh; /* borrowed */
    sinew_mesh *surface;
    int32_t *owners; /* [triangles of the surface] the tetrahedron behind each; NULL: there are none */
    sinew_tree *tree;
    const int32_t *cells; /* of the tree, `width` vertices each; NULL: the vertices */
    int32_t width;
    sinew_tet_grid grid; /* empty without tetrahedra */
} sinew_carriers;

/* Up to four vertices with weights that sum to 1; places that are left over repeat the first with weight 0. */
typedef struct sinew_carrier {
    int32_t vertices[4];
    double weights[4];
    double distance; /* m from the body; 0 inside a tetrahedron */
    int32_t tet;     /* the tetrahedron; -1: the place of a triangle, an edge or a vertex */
    bool several;    /* tetrahedra that do not hang together there hold the point too: parts of a filled surface that
                        share a cell of the lattice */
} sinew_carrier;

sinew_status sinew_carriers_begin(sinew_carriers *carriers, const sinew_mesh *mesh, const sinew_allocator *allocator,
                                  sinew_error *error);
void sinew_carriers_end(sinew_carriers *carriers); /* zeroed is fine */
sinew_carrier sinew_carriers_find(const sinew_carriers *carriers, const sinew_real point[3]);

/* Tetrahedra that hold the point, on their borders too, at most `capacity`; returns how many there are. */
int32_t sinew_carriers_holding(const sinew_carriers *carriers, const sinew_real point[3], int32_t *tets,
                               int32_t capacity);
/* Settles, for the vertices of a skin that several parts could carry, which one does: the part that carries their
 * neighbours (embed_components.c). points and found: one a vertex. */
sinew_status sinew_carriers_settle(const sinew_carriers *carriers, const sinew_skin *skin, const sinew_real *points,
                                   sinew_carrier *found, sinew_error *error);

/* Barycentric weights of a point; false where the tetrahedron has no volume to speak of. */
bool sinew_tet_weights(const sinew_real *positions, const int32_t tet[4], const sinew_real point[3], double weights[4]);

#endif
