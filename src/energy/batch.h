/* SPDX-License-Identifier: MIT
 *
 * batch.h: all elements of one energy, grouped for lanes and cut into chunks for threads.
 *
 * A plan (plan.h) has sorted the elements and cut them into chunks; each chunk numbers its particles from 0. A chunk's
 * positions are copied into a small local array before a kernel runs, and its contributions land in slots of its own
 * (first_slot ..): two chunks never write to the same place. The sum of a particle's slots, always in the same order,
 * is its result; so results do not depend on the number of threads. Chunk borders do not depend on the lane width
 * either.
 *
 * The groups of a chunk: first those of its fans of three, three groups of W fans, then of two, then single elements.
 * Each of the three ends with a group that may not be full.
 */
#ifndef SINEW_BATCH_H
#define SINEW_BATCH_H

#include "base/base.h"
#include "energy/energy.h"
#include "energy/plan.h"

typedef struct sinew_chunk {
    int32_t first_group, group_count;
    int32_t fan_groups[SINEW_FAN];  /* of them, those of fans of 1, 2 and 3 */
    int32_t first_slot, slot_count; /* its particles, in the batch's numbering of slots */
} sinew_chunk;

typedef struct sinew_batch {
    const sinew_energy_ops *ops;
    int32_t width; /* W */
    int32_t element_count, group_count, chunk_count, slot_count;
    int32_t *vertex;   /* [group_count][vertex_count][W] SINEW_POINT times the number in the chunk */
    sinew_real *data;  /* [group_count][data_count][W] */
    int32_t *element;  /* [group_count * W] caller's number of each element, -1 where it only fills up */
    int32_t *place;    /* [element_count] group * W + lane of each of the caller's elements */
    int32_t *particle; /* [slot_count] */
    sinew_chunk *chunks;
} sinew_batch;

/* particles [element_count][vertex_count] as the plan left them, data [element_count][data_count]; both copied. NULL
 * without memory. */
sinew_batch *sinew_batch_create(const sinew_allocator *allocator, const sinew_energy_ops *ops, int32_t width,
                                const sinew_plan *plan, const int32_t *particles, const sinew_real *data,
                                int32_t particle_count);
void sinew_batch_destroy(const sinew_allocator *allocator, sinew_batch *batch);

/* The elements as the caller numbered them: particles [element_count][vertex_count], a tet's in the plan's order. */
void sinew_batch_list(const sinew_batch *batch, int32_t *particles);
/* data [data_count] of one of the caller's elements. */
void sinew_batch_element(const sinew_batch *batch, int32_t element, sinew_real *data);
/* New targets [element_count][3] of a batch whose energy has a target slot. */
void sinew_batch_set_targets(sinew_batch *batch, const sinew_real *targets);
/* The groups of one chunk, for a kernel. */
sinew_groups sinew_batch_groups(const sinew_batch *batch, const sinew_chunk *chunk);

#endif
