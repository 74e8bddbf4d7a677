/* SPDX-License-Identifier: MIT
 *
 * graph_coarsening.h: a multilevel hierarchy of coarser graphs: each vertex is matched with the neighbour of its
 * heaviest edge, until few vertices are left (Karypis and Kumar 1998). A cut of the coarsest graph is also a cut of the
 * finer ones, where it is refined (separator.h).
 */
#ifndef SINEW_SRC_LINEAR_ORDERING_GRAPH_COARSENING_H
#define SINEW_SRC_LINEAR_ORDERING_GRAPH_COARSENING_H

#include "linear/ordering/separator.h"

enum {
    SINEW_LEVELS_MAX = 24
};

/* Storage for the graphs of all levels, the finest first. */
typedef struct sinew_levels {
    sinew_weighted graphs[SINEW_LEVELS_MAX];
    int32_t count;
    /* capacities of the shared arrays, in vertices and edges, summed over all levels */
    size_t vertex_capacity, edge_capacity;
    sinew_weighted capacity; /* arrays that the graphs of all levels share, the finest level first */
    int32_t *match;          /* [vertices of the finest level] work space: partner of each vertex in the matching */
    /* [vertices of the finest level] work space: visiting order of vertices, then index of the edge to each coarse
     * neighbour */
    int32_t *slot;
} sinew_levels;

/* Allocates for graphs with up to `vertices` vertices and `entries` edge entries on the finest level. False: out of
 * memory. */
bool sinew_levels_create(const sinew_allocator *allocator, sinew_levels *levels, size_t vertices, size_t entries);
void sinew_levels_destroy(const sinew_allocator *allocator, sinew_levels *levels);

/* Starts with levels->graphs[0] as the finest level; the caller sets its count and total and fills first, other,
 * edge, weight, price and point. */
void sinew_levels_begin(sinew_levels *levels);
/* Builds the coarser levels, down to about `min` vertices; stops earlier if matching no longer shrinks the graph. */
void sinew_levels_coarsen(sinew_levels *levels, int32_t min);

#endif
