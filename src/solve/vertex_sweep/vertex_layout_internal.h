/* SPDX-License-Identifier: MIT
 *
 * vertex_layout_internal.h: for the files that lay visits out (vertex_layout.c, transient_layout.c): from batches and from nodes by colour to
 * groups. Functions that return bool return false where there is no memory.
 */
#ifndef SINEW_SRC_SOLVE_VERTEX_SWEEP_VERTEX_LAYOUT_INTERNAL_H
#define SINEW_SRC_SOLVE_VERTEX_SWEEP_VERTEX_LAYOUT_INTERNAL_H

#include "solve/vertex_sweep/vertex_layout.h"

/* Where the visits of one batch come from. */
typedef struct sinew_visit_supply {
    const void *context;
    int32_t (*count)(const void *context, int32_t node); /* visits of a node */
    /* Writes the node's visit number `which` into visit k; `real` false: with weight zero. */
    void (*write)(const void *context, const sinew_visit_batch *batch, size_t k, size_t lane, int32_t node,
                  int32_t which, bool real);
} sinew_visit_supply;

/* Room for `count` visit batches; those that are there keep their memory. */
bool sinew_visit_groups_reserve(sinew_visit_groups *groups, int32_t count, const sinew_allocator *allocator);
/* Makes visit batches, from number groups->batch_count on, for the batches of tasks begin .. end-1: one for each kind
 * of energy, or, with `apart`, one for every batch that couples. */
bool sinew_visit_sources_find(sinew_visits *visits, sinew_visit_groups *groups, int32_t begin, int32_t end, bool apart,
                              sinew_visit_sources *sources);
void sinew_visit_sources_release(sinew_visit_sources *sources, const sinew_allocator *allocator);

/* Fills first_group, node and mass of groups whose colour_count is known. order: the nodes by colour, colour c from
 * first[c] to first[c + 1] - 1; windows of them are sorted by load [particle_count], the elements at each. */
bool sinew_visit_groups_fill(const sinew_visits *visits, sinew_visit_groups *groups, int32_t *order,
                             const int32_t *first, const int32_t *load);
/* Lays out the visits of one batch for groups that are filled. */
bool sinew_visit_batch_fill(const sinew_visits *visits, const sinew_visit_groups *groups, sinew_visit_batch *batch,
                            const sinew_visit_supply *supply);
void sinew_visit_groups_release(sinew_visit_groups *groups, const sinew_allocator *allocator);

/* Writes an element as `node`, one of its particles [vertex_count], sees it into visit k of a lane. */
void sinew_visit_write(const sinew_visits *visits, const sinew_visit_batch *batch, const int32_t *particles,
                       int32_t element, int32_t node, bool real, size_t k, size_t lane);
sinew_status sinew_visit_fail_colours(int32_t count, sinew_error *error);

void sinew_visit_layer_destroy(sinew_visits *visits);

#endif
