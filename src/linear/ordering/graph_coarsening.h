/* SPDX-License-Identifier: MIT
 *
 * graph_coarsening.h: a multilevel hierarchy of coarser graphs: neighbours are matched in pairs, heaviest edges first,
 * until few vertices are left (Karypis and Kumar 1998). A good cut of the coarsest graph is nearly as good on all
 * levels.
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
    size_t vertex_capacity, edge_capacity; /* capacities, summed over all levels */
    sinew_weighted capacity;               /* arrays that the levels share */
    int32_t *match;                        /* [vertices of the finest level] partner of each vertex */
    int32_t *slot;                         /* [vertices of the finest level] work space: edge to a coarse neighbour */
} sinew_levels;

/* vertices, entries: the largest finest graph that will be coarsened. */
bool sinew_levels_create(const sinew_allocator *allocator, sinew_levels *levels, size_t vertices, size_t entries);
void sinew_levels_destroy(const sinew_allocator *allocator, sinew_levels *levels);

/* Starts with levels->graphs[0] as the finest level; the caller sets its count and total and fills first, other,
 * edge, weight, price and point. */
void sinew_levels_begin(sinew_levels *levels);
/* Builds the coarser levels, down to about `min` vertices. */
void sinew_levels_coarsen(sinew_levels *levels, int32_t min);

#endif
