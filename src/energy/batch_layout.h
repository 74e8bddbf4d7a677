/* SPDX-License-Identifier: MIT
 *
 * batch_layout.h: in which order the elements of one energy go into its batch, decided before their numbers are prepared.
 *
 * Elements are sorted by their lowest particle (particles are in Hilbert order, so neighbours lie together) and cut
 * into chunks of SINEW_CHUNK_ELEMENTS. Within a chunk, tets that share faces are joined to fans of three and of two,
 * whose vertices change places so that all fans are alike:
 *
 *     A = 0 1 2 3      B = 0 1 2 4 beyond the face 0 1 2 of A      C = 0 1 4 5 beyond the face 0 1 4 of B
 *
 * Three tets one beyond the other always have such names: the middle one has two vertices that both neighbours share,
 * 0 and 1, one that the first shares, 2, and one that the last shares, 4. A kernel that works on a fan loads and adds
 * to 6 points in place of 12 (two tets: 5 in place of 8). A fan lies in one lane of three groups that follow each
 * other.
 */
#ifndef SINEW_SRC_ENERGY_BATCH_LAYOUT_H
#define SINEW_SRC_ENERGY_BATCH_LAYOUT_H

#include "base/base.h"

/* As many as have their points, and what is added to them, in a first cache of 32 KiB. */
#ifdef SINEW_SINGLE
#define SINEW_CHUNK_ELEMENTS 3072
#else
#define SINEW_CHUNK_ELEMENTS 1024
#endif
#define SINEW_FAN 3 /* elements of a fan, at most */

typedef struct sinew_plan {
    int32_t element_count, chunk_count;
    int32_t *order; /* [element_count] chunk after chunk: its fans of three, of two, of one; a fan's elements in turn */
    int32_t (*fans)[SINEW_FAN];             /* [chunk_count] of each chunk: how many fans of 1, 2 and 3 elements */
    int32_t *work;                          /* [particle_count + 1] while planning */
    size_t order_room, fan_room, work_room; /* bytes */
} sinew_plan;

/* particles [element_count][n], each below particle_count; the vertices of tets change places if `tets`. The plan is
 * zeroed or one that was made before, whose memory is used again. false without memory; plan is to be released in any
 * case. */
bool sinew_plan_make(sinew_plan *plan, const sinew_allocator *allocator, int32_t element_count, int32_t n,
                     int32_t particle_count, bool tets, int32_t *particles);
void sinew_plan_release(sinew_plan *plan, const sinew_allocator *allocator);

/* Elements of one chunk. */
int32_t sinew_plan_chunk(const sinew_plan *plan, int32_t chunk);

#endif
