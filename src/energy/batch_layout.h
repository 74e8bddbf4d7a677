/* SPDX-License-Identifier: MIT
 *
 * batch_layout.h: the order of the elements of one energy in its batch, chosen before their data are prepared.
 *
 * Elements are sorted by their lowest particle (particles are in Hilbert order, so neighbours lie together) and cut
 * into chunks of SINEW_CHUNK_ELEMENTS. Within a chunk, tets that share faces are joined to fans of three and of two,
 * with permuted vertices, so that all fans have the same structure:
 *
 *     A = 0 1 2 3      B = 0 1 2 4 beyond the face 0 1 2 of A      C = 0 1 4 5 beyond the face 0 1 4 of B
 *
 * This numbering always exists: vertices 0 and 1 of the middle tet belong to both neighbours, vertex 2 to the first,
 * and vertex 4 to the last. A kernel loads and updates 6 points per fan instead of 12 (two tets: 5 instead of 8). A fan
 * occupies one lane of consecutive groups, one group per tet.
 */
#ifndef SINEW_SRC_ENERGY_BATCH_LAYOUT_H
#define SINEW_SRC_ENERGY_BATCH_LAYOUT_H

#include "base/base.h"

/* Elements per chunk: positions and gradients of this many tets of a typical mesh fit into an L1 cache of 32 KiB. */
#ifdef SINEW_SINGLE
#define SINEW_CHUNK_ELEMENTS 3072
#else
#define SINEW_CHUNK_ELEMENTS 1024
#endif
#define SINEW_FAN 3 /* largest number of elements of a fan, a chain of tets that share faces */

typedef struct sinew_batch_layout {
    int32_t element_count, chunk_count;
    /* [element_count] element indices by chunk; in a chunk first fans of three, then of two, then of one element */
    int32_t *order;
    int32_t (*fans)[SINEW_FAN]; /* [chunk_count] number of fans of 1, 2 and 3 elements in each chunk */
    int32_t *work;              /* [particle_count + 1] work space of the sort of elements by particle */
    size_t order_capacity, fan_capacity, work_capacity; /* allocated bytes of order, fans and work */
} sinew_batch_layout;

/* Sorts elements with particles [element_count][n], each below particle_count; permutes the vertices of tets if `tets`.
 * `layout` is zeroed, or an earlier layout whose memory is reused. Returns false if memory runs out. The layout must be
 * released also after a failure. */
bool sinew_batch_layout_make(sinew_batch_layout *layout, const sinew_allocator *allocator, int32_t element_count,
                             int32_t n, int32_t particle_count, bool tets, int32_t *particles);
void sinew_batch_layout_release(sinew_batch_layout *layout, const sinew_allocator *allocator);

/* Returns the number of elements of one chunk of the layout. */
int32_t sinew_batch_layout_chunk_size(const sinew_batch_layout *layout, int32_t chunk);

#endif
