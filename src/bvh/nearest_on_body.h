/* SPDX-License-Identifier: MIT
 *
 * nearest_on_body.h: the nearest point on a body: on its triangles; without triangles on its edges; without edges at
 * its vertices. Weights are double in both precisions: a BVH finds the cells that may be nearest, and these cells are
 * compared in double.
 *
 * Known limit: a search serves one thread at a time.
 */
#ifndef SINEW_SRC_BVH_NEAREST_ON_BODY_H
#define SINEW_SRC_BVH_NEAREST_ON_BODY_H

#include "base/base.h"
#include "sinew/mesh.h"
#include "sinew/tree.h"

/* A point of a body's surface: up to four vertices with weights that sum to 1. */
typedef struct sinew_surface_point {
    int32_t vertices[4];
    double weights[4];
    double distance2; /* squared distance of the point from the query point, in m2 */
} sinew_surface_point;

/* A search for nearest points on cells of `width` vertices each: triangles, edges or vertices. */
typedef struct sinew_body_search {
    const sinew_real *positions; /* [3 * vertex_count] coordinates of the vertices in m, borrowed */
    const int32_t *cells;        /* [count][width] vertices of the cells; NULL: the cells are the vertices */
    int32_t count, width;
    sinew_mesh *surface; /* owned: surface of the mesh; NULL: only vertices are searched */
    sinew_tree *tree;    /* owned: BVH over the cells of the search */
    int32_t *candidates; /* [count] owned: indices of cells that may be nearest */
    double slack;        /* round-off margin of distances computed by the BVH, in m */
    sinew_allocator allocator;
} sinew_body_search;

/* Builds the BVH of the search; `vertices`: over the vertices only. The mesh and the positions of its vertices must
 * outlive the search. sinew_body_search_end() must follow, also after a failure. */
sinew_status sinew_body_search_begin(sinew_body_search *search, const sinew_mesh *mesh, const sinew_real *positions,
                                     bool vertices, sinew_error *error);
void sinew_body_search_end(sinew_body_search *search); /* frees the search; accepts a zeroed struct */
sinew_surface_point sinew_body_search_nearest(const sinew_body_search *search, const sinew_real *p);

#endif
