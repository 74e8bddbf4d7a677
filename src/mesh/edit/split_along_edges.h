/* SPDX-License-Identifier: MIT
 *
 * split_along_edges.h: a mesh opened at some of its vertices.
 *
 * The cells around an opened vertex fall into two sides of a plane through it. Each group of cells of one side that
 * hangs together (by shared edges of triangles, shared faces of tets) gets a vertex of its own: the first keeps the old
 * one, the others get copies. Where a neighbour is then left between groups that touch at that one point only, it is
 * taken apart too, so that a surface that was one stays one, with a border.
 *
 * Invariant: `after` has the same cells as `cells`, corner for corner; a corner's vertex is the old one or a copy of
 * it.
 */
#ifndef SINEW_SRC_MESH_EDIT_SPLIT_ALONG_EDGES_H
#define SINEW_SRC_MESH_EDIT_SPLIT_ALONG_EDGES_H

#include "mesh/topology.h"

typedef struct sinew_cut {
    const sinew_allocator *allocator;
    int32_t vertex_count;     /* before */
    int32_t cell_count, size; /* size: vertices of a cell: 2 edges, 3 triangles, 4 tets */
    int32_t *cells;           /* [cell_count][size] before */
    int32_t *after;           /* [cell_count][size] */
    sinew_incidence at;       /* cells at a vertex, before */
    uint8_t *touched;         /* [cell_count] whether it is at a vertex that was opened */
    int32_t *group;           /* [cells at one vertex, at most] */
    int32_t *copies;          /* [copy_count] the vertex that each copy is of; copies are numbered from vertex_count.
                                 There is room for one a corner */
    int32_t copy_count;
} sinew_cut;

/* Copies the cells. To be ended, also after a failure. */
sinew_status sinew_cut_begin(sinew_cut *cut, const sinew_allocator *allocator, int32_t vertex_count,
                             const sinew_elements *cells, sinew_error *error);
/* Opens a vertex across `direction`; points [vertex_count][3]. False where nothing opens: all cells lie on one side, or
 * a cell there was touched already. */
bool sinew_cut_vertex(sinew_cut *cut, const sinew_real *points, int32_t vertex, const double direction[3]);

void sinew_cut_end(sinew_cut *cut);

/* An edge, face or cell of `count` vertices after the mesh was cut: the lists of new vertices that cells
 * which have all of them say, each once; out [capacity][count]. Returns how many, at most `capacity`. */
int32_t sinew_cut_map(const sinew_cut *cut, const int32_t *vertices, int32_t count, int32_t *out, int32_t capacity);

#endif
