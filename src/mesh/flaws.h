/* SPDX-License-Identifier: MIT
 *
 * flaws.h: functions that mesh check and mesh repair share: quality of one cell, duplicate cells and vertices, and
 * triangles whose orientation differs from their neighbours'.
 */
#ifndef SINEW_SRC_MESH_FLAWS_H
#define SINEW_SRC_MESH_FLAWS_H

#include "mesh/mesh.h"
#include "mesh/topology.h"

/* volume over the longest edge cubed (tets), or area over its square (triangles), below which a cell is degenerate */
#define SINEW_DEGENERATE 1e-10
#define SINEW_SLIVER     0.1 /* quality 6 sqrt(2) volume / (rms edge)^3 below which a tet is a sliver */

/* ---- Shape of one cell (cell_measures.c) ----------------------------------------------------------- */

typedef struct sinew_tet_shape {
    double volume;        /* signed volume of the tet, in m3 */
    double quality;       /* quality of the tet: 6 sqrt(2) volume / (rms edge)^3, signed; 0 if all vertices coincide */
    sinew_flaw_kind flaw; /* the tet's first flaw among degenerate, inverted, sliver; SINEW_FLAW_COUNT: none */
} sinew_tet_shape;

sinew_tet_shape sinew_shape_of_tet(const sinew_real *positions, const int32_t tet[4]);

/* Area of a triangle in m2. Sets *degenerate by the definition of SINEW_FLAW_DEGENERATE_TRIANGLE. */
double sinew_shape_of_triangle(const sinew_real *positions, const int32_t triangle[3], bool *degenerate);

/* Length of an edge in m. An edge of length 0 is degenerate. */
double sinew_shape_of_edge(const sinew_real *positions, const int32_t edge[2]);

/* ---- Duplicate cells and vertices (merge_duplicates.c) ------------------------------------------- */

/* Sets same[i] to the lowest element with the same vertices as element i, in any order; same[i] = i for the first of
 * them. Elements have 2, 3 or 4 vertices. */
sinew_status sinew_same_elements(const sinew_allocator *allocator, int32_t vertex_count, const sinew_elements *elements,
                                 int32_t *same, sinew_error *error);

/* Sets same[v] to the lowest kept vertex within `distance` (m, >= 0) of v; same[v] = v for kept vertices. A vertex is
 * kept if no lower kept vertex is within the distance, so kept vertices are farther apart. */
sinew_status sinew_same_vertices(const sinew_allocator *allocator, const sinew_real *positions, int32_t count,
                                 double distance, int32_t *same, sinew_error *error);

/* ---- Orientation of triangles (orient.c) --------------------------------------------------- */

/* Connected components of a surface: triangles connected across edges that exactly two triangles share. */
typedef struct sinew_orientation {
    int32_t *component; /* [triangle_count] index of the lowest triangle of each triangle's component */
    /* [triangle_count] 1: the triangle's orientation is opposite to the majority of the component (a tie: opposite to
     * its first triangle) */
    uint8_t *flip;
    uint8_t *open; /* [triangle_count] set at a component's first triangle. 1: an edge is not shared by exactly two
                           triangles, or the component has no consistent orientation */
    /* [triangle_count] for a triangle oriented against neighbours: the lowest such neighbour; -1: none. Of each pair,
     * the triangle to be flipped stores it, or the higher one if no flip helps. */
    int32_t *against;
    int32_t *votes;        /* [triangle_count] work space that counts orientations per component */
    int64_t once_count;    /* number of edges that only one triangle uses */
    int64_t odd_count;     /* number of edges that an odd number of triangles use */
    int64_t twisted_count; /* number of edges at which no flip makes both triangles agree, as in a Moebius strip */
} sinew_orientation;

sinew_status sinew_orientation_find(sinew_orientation *orientation, const sinew_allocator *allocator,
                                    int32_t vertex_count, const int32_t *triangles, int32_t triangle_count,
                                    sinew_error *error);
void sinew_orientation_free(sinew_orientation *orientation, const sinew_allocator *allocator);

#endif
