/* SPDX-License-Identifier: MIT
 *
 * graph_coarsening.h: ever coarser pictures of a graph: neighbours are joined in pairs, those first that most edges join, until
 * few vertices are left (Karypis and Kumar 1998). What is cut on the coarsest one is cut nearly as well on all.
 */
#ifndef SINEW_SRC_LINEAR_ORDERING_GRAPH_COARSENING_H
#define SINEW_SRC_LINEAR_ORDERING_GRAPH_COARSENING_H

#include "linear/ordering/separator.h"

enum {
    SINEW_LEVELS_MAX = 24
};

/* Room for the graphs of all levels, the finest first. */
typedef struct sinew_levels {
    sinew_weighted graphs[SINEW_LEVELS_MAX];
    int32_t count;
    size_t vertex_room, edge_room; /* of all levels together */
    sinew_weighted room;           /* arrays that the levels share */
    int32_t *match;                /* [vertices of the finest] */
    int32_t *slot;                 /* [vertices of the finest] */
} sinew_levels;

/* For finest graphs of up to so many vertices and entries. */
bool sinew_levels_create(const sinew_allocator *allocator, sinew_levels *levels, size_t vertices, size_t entries);
void sinew_levels_destroy(const sinew_allocator *allocator, sinew_levels *levels);

/* levels->graphs[0] has its arrays; the caller fills them and sets count, total, first, other, edge, weight, point. */
void sinew_levels_begin(sinew_levels *levels);
/* Makes the coarser levels, down to about `least` vertices. */
void sinew_levels_coarsen(sinew_levels *levels, int32_t least);

#endif
