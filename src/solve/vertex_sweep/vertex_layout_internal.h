/* SPDX-License-Identifier: MIT
 *
 * vertex_layout_internal.h: common functions of vertex_layout.c and transient_layout.c: from batches and nodes by
 * colour to groups. Functions of type bool return false if out of memory.
 */
#ifndef SINEW_SRC_SOLVE_VERTEX_SWEEP_VERTEX_LAYOUT_INTERNAL_H
#define SINEW_SRC_SOLVE_VERTEX_SWEEP_VERTEX_LAYOUT_INTERNAL_H

#include "solve/vertex_sweep/vertex_layout.h"

/* Callbacks that give the incidences of one incidence batch. */
typedef struct sinew_incidence_supply {
    const void *context;
    /* returns the number of incidences of a node in the incidence batch */
    int32_t (*count)(const void *context, int32_t node);
    /* Writes the node's incidence `which` to incidence k of a lane, as padding with weight zero unless `real`. */
    void (*write)(const void *context, const sinew_incidence_batch *batch, size_t k, size_t lane, int32_t node,
                  int32_t which, bool real);
} sinew_incidence_supply;

/* Reserves memory for `count` incidence batches; existing ones keep their memory. */
bool sinew_incidence_groups_reserve(sinew_incidence_groups *groups, int32_t count, const sinew_allocator *allocator);
/* Appends incidence batches for the batches of tasks begin .. end-1: one for each kind of energy. With `apart`, every
 * batch whose stencil couples arbitrary points (`couples` in mesh/topology/stencil.h) gets its own. */
bool sinew_incidence_sources_find(sinew_vertex_layout *layout, sinew_incidence_groups *groups, int32_t begin,
                                  int32_t end, bool apart, sinew_incidence_sources *sources);
void sinew_incidence_sources_release(sinew_incidence_sources *sources, const sinew_allocator *allocator);

/* Fills first_group, node and mass of node groups whose colour_count is known. order: the nodes by colour, colour c
 * from first[c] to first[c + 1] - 1. load [particle_count]: number of elements at each particle, by which windows of
 * nodes are sorted. */
bool sinew_incidence_groups_fill(const sinew_vertex_layout *layout, sinew_incidence_groups *groups, int32_t *order,
                                 const int32_t *first, const int32_t *load);
/* Lays out the incidences of one incidence batch for node groups that are filled. */
bool sinew_incidence_batch_fill(const sinew_vertex_layout *layout, const sinew_incidence_groups *groups,
                                sinew_incidence_batch *batch, const sinew_incidence_supply *supply);
void sinew_incidence_groups_release(sinew_incidence_groups *groups, const sinew_allocator *allocator);

/* Writes the data of an element into incidence k of a lane, with `node`, one of its particles [vertex_count], as the
 * first vertex. */
void sinew_incidence_write(const sinew_vertex_layout *layout, const sinew_incidence_batch *batch,
                           const int32_t *particles, int32_t element, int32_t node, bool real, size_t k, size_t lane);
sinew_status sinew_incidence_fail_colours(int32_t count, sinew_error *error);

void sinew_transient_layout_destroy(sinew_vertex_layout *layout);

#endif
