/* SPDX-License-Identifier: MIT
 *
 * rod_frames.h: director points: a point beside the middle of an edge that carries a direction perpendicular to the
 * edge.
 *
 * A director (a, b, p) is the edge a b and the vertex p, at rest at (x_a + x_b)/2 + s d with d a unit vector
 * perpendicular to the edge. Shells and rods take the slope or the frame of an edge from its director, which moves like
 * other vertices.
 */
#ifndef SINEW_SRC_MESH_TOPOLOGY_ROD_FRAMES_H
#define SINEW_SRC_MESH_TOPOLOGY_ROD_FRAMES_H

#include "mesh/mesh.h"

/* Cell finders by directors (sinew_cell_finder). They fail if a required edge has no director. */

/* Finds shell cells: a triangle and the director points of the edges opposite to its vertices. */
sinew_status sinew_find_shells(const sinew_allocator *allocator, const sinew_mesh *mesh, int32_t n, int32_t **cells,
                               int32_t *count, sinew_error *error);
/* Pair of shells: two triangles a b c and b a d with a common edge, a < b, then the director points of the edges b c,
 * c a, a d and d b. Edges of one triangle have none. */
sinew_status sinew_find_shell_pairs(const sinew_allocator *allocator, const sinew_mesh *mesh, int32_t n,
                                    int32_t **cells, int32_t *count, sinew_error *error);
/* Finds rod cells x0 x1 x2 p01 p12: two edges with directors p01 and p12 that meet at x1. At a vertex of more than
 * two edges, each edge is joined to the next one in the order of directors. */
sinew_status sinew_find_rods(const sinew_allocator *allocator, const sinew_mesh *mesh, int32_t n, int32_t **cells,
                             int32_t *count, sinew_error *error);
/* Finds director cells: the director itself, edge a b and director point p. */
sinew_status sinew_find_directors(const sinew_allocator *allocator, const sinew_mesh *mesh, int32_t n, int32_t **cells,
                                  int32_t *count, sinew_error *error);

#endif
