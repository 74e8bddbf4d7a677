/* SPDX-License-Identifier: MIT
 *
 * flaws.h: functions that check and fix share: quality of one cell, duplicate cells and vertices, and triangles whose
 * orientation differs from their neighbours'.
 */
#ifndef SINEW_SRC_MESH_FLAWS_H
#define SINEW_SRC_MESH_FLAWS_H

#include "mesh/mesh.h"
#include "mesh/topology.h"

#define SINEW_DEGENERATE 1e-10 /* of the longest edge cubed (tets) or squared (triangles) */
#define SINEW_SLIVER     0.1   /* quality */

/* ---- Shape of one cell (cell_measures.c) ----------------------------------------------------------- */

typedef struct sinew_tet_shape {
    double volume;        /* m3, signed */
    double quality;       /* 6 sqrt(2) volume / (rms edge)^3, signed; 0 when all vertices are in one place */
    sinew_flaw_kind flaw; /* degenerate, inverted or sliver, in this order; SINEW_FLAW_COUNT: none */
} sinew_tet_shape;

sinew_tet_shape sinew_shape_of_tet(const sinew_real *positions, const int32_t tet[4]);

/* Area in m2; *degenerate as SINEW_FLAW_DEGENERATE_TRIANGLE says. */
double sinew_shape_of_triangle(const sinew_real *positions, const int32_t triangle[3], bool *degenerate);

/* Length in m; an edge is degenerate when it is 0. */
double sinew_shape_of_edge(const sinew_real *positions, const int32_t edge[2]);

/* ---- Twice there (merge_duplicates.c) ----------------------------------------------------------------- */

/* same[i] is the lowest-numbered element with the vertices of element i, in any order; i itself when it is the first.
 * Elements of size 2, 3 or 4. */
sinew_status sinew_same_elements(const sinew_allocator *allocator, int32_t vertex_count, const sinew_elements *elements,
                                 int32_t *same, sinew_error *error);

/* same[v] is the lowest-numbered vertex among those that stay at most `distance` (m, >= 0) away from v; v itself when
 * it stays. A vertex stays when no lower-numbered one that stays is that near, so those that stay are further apart. */
sinew_status sinew_same_vertices(const sinew_allocator *allocator, const sinew_real *positions, int32_t count,
                                 double distance, int32_t *same, sinew_error *error);

/* ---- Orientation of triangles (orient.c) --------------------------------------------------- */

/* Components of triangles, connected across edges that exactly two triangles share. */
typedef struct sinew_orientation {
    int32_t *component; /* [triangle_count] the lowest-numbered triangle of its piece */
    /* [triangle_count] 1: orientation opposite to the majority of the component (ties: to its first) */
    uint8_t *flip;
    uint8_t *open;      /* [triangle_count] at a piece's first triangle, 1: some edge is not shared by exactly two,
                           or the piece has no consistent orientation */
    int32_t *against;   /* [triangle_count] the lowest-numbered neighbour it runs against, for the one of the two that
                           is to be flipped (the higher-numbered where flipping cannot help); or -1 */
    int32_t *votes;     /* [triangle_count] work */
    int64_t once_count; /* edges used by one triangle only */
    int64_t odd_count;  /* edges used by an odd number of triangles */
    int64_t twisted_count; /* edges at which no flip can make both agree: a Moebius strip has some */
} sinew_orientation;

sinew_status sinew_orientation_find(sinew_orientation *orientation, const sinew_allocator *allocator,
                                    int32_t vertex_count, const int32_t *triangles, int32_t triangle_count,
                                    sinew_error *error);
void sinew_orientation_free(sinew_orientation *orientation, const sinew_allocator *allocator);

#endif
