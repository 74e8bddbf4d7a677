/* SPDX-License-Identifier: MIT
 *
 * split_along_edges.h: cuts a mesh open at some of its vertices.
 *
 * A plane through an opened vertex divides its cells into two sides. Each group of connected cells of one side (sharing
 * edges of triangles, faces of tets) gets its own vertex: the first group keeps the old vertex, the others get copies.
 * If the groups around a neighbouring vertex then touch only at this vertex, it is split too, so that a manifold
 * surface stays manifold, with a boundary.
 *
 * Invariant: `after` has the same cells as `cells`, corner for corner; the vertex of a corner is the old vertex or a
 * copy of it.
 */
#ifndef SINEW_SRC_MESH_EDIT_SPLIT_ALONG_EDGES_H
#define SINEW_SRC_MESH_EDIT_SPLIT_ALONG_EDGES_H

#include "mesh/topology.h"

typedef struct sinew_cut {
    const sinew_allocator *allocator;
    int32_t vertex_count;     /* number of vertices of the uncut mesh */
    int32_t cell_count, size; /* size: number of vertices per cell: 2 for edges, 3 for triangles, 4 for tets */
    int32_t *cells;           /* [cell_count][size] vertices of the cells in the uncut mesh */
    int32_t *after;           /* [cell_count][size] vertices of the cells in the cut mesh */
    sinew_incidence at;       /* indices of the cells at each vertex of the uncut mesh */
    uint8_t *touched;         /* [cell_count] 1: a vertex of the cell was opened */
    int32_t *group;           /* [largest number of cells at a vertex] work space: group of each cell at a vertex */
    int32_t *copies;          /* [copy_count] original vertex of each copy; copies are numbered from vertex_count.
                                  The capacity is one copy per corner */
    int32_t copy_count;
} sinew_cut;

/* Begins a cut: copies the cells of the mesh. The cut must be ended, also after a failure. */
sinew_status sinew_cut_begin(sinew_cut *cut, const sinew_allocator *allocator, int32_t vertex_count,
                             const sinew_elements *cells, sinew_error *error);
/* Opens a vertex along the plane with normal `direction`; points [vertex_count][3]. Returns false if nothing opens: all
 * cells lie on one side, or a cell at the vertex was cut already. */
bool sinew_cut_vertex(sinew_cut *cut, const sinew_real *points, int32_t vertex, const double direction[3]);

void sinew_cut_end(sinew_cut *cut);

/* Maps an edge, face or cell of `count` vertices to the cut mesh: writes the different lists of its vertices in the cut
 * mesh, over all cells that contain it. out [capacity][count]. Returns their number, at most `capacity`. */
int32_t sinew_cut_map(const sinew_cut *cut, const int32_t *vertices, int32_t count, int32_t *out, int32_t capacity);

#endif
