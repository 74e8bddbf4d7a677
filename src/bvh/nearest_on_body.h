/* SPDX-License-Identifier: MIT
 *
 * search.h: the nearest place of a body to a point: on its surface (triangles; without them edges; without both
 * vertices) or at a vertex. Weights are double in both precisions, as attachments of scenes have always had them: a
 * tree finds the cells that may be nearest, and these are compared in double.
 *
 * Known limits: one thread at a time asks a search.
 */
#ifndef SINEW_SRC_BVH_NEAREST_ON_BODY_H
#define SINEW_SRC_BVH_NEAREST_ON_BODY_H

#include "base/base.h"
#include "sinew/mesh.h"
#include "sinew/tree.h"

/* Up to four vertices with weights that sum to 1. */
typedef struct sinew_place {
    int32_t vertices[4];
    double weights[4];
    double distance; /* m2: squared, of the point that was asked for */
} sinew_place;

/* The cells that are searched, of `width` vertices each. */
typedef struct sinew_search {
    const sinew_real *positions; /* [3 * vertex_count] borrowed */
    const int32_t *cells;        /* NULL: the vertices */
    int32_t count, width;
    sinew_mesh *surface; /* owned, may be NULL */
    sinew_tree *tree;    /* owned */
    int32_t *candidates; /* [count] owned */
    double slack;        /* m: what round-off may hide from the tree */
    sinew_allocator allocator;
} sinew_search;

/* The mesh, with its vertices at these positions, must outlive the search. vertices: only these count as places. */
sinew_status sinew_search_begin(sinew_search *search, const sinew_mesh *mesh, const sinew_real *positions,
                                bool vertices, sinew_error *error);
void sinew_search_end(sinew_search *search); /* zeroed is fine */
sinew_place sinew_search_nearest(const sinew_search *search, const sinew_real *p);

#endif
