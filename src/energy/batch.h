/* SPDX-License-Identifier: MIT
 *
 * batch.h: all elements of one energy, grouped for lanes and cut into chunks for threads.
 *
 * A plan (batch_layout.h) has sorted the elements and cut them into chunks; each chunk numbers its particles from 0. A chunk's
 * positions are copied into a small local array before a kernel runs, and its contributions land in slots of its own
 * (first_slot ..): two chunks never write to the same place. The sum of a particle's slots, always in the same order,
 * is its result; so results do not depend on the number of threads. Chunk borders do not depend on the lane width
 * either.
 *
 * The groups of a chunk: first those of its fans of three, three groups of W fans, then of two, then single elements.
 * Each of the three ends with a group that may not be full.
 *
 * A batch is where the numbers of elements are kept: other orders of the same elements (sweeps, visits) are filled from
 * it by sinew_batch_element, and again when its version has changed. An element that is switched off has weight zero,
 * as fillers have, and keeps its place in every order.
 */
#ifndef SINEW_SRC_ENERGY_BATCH_H
#define SINEW_SRC_ENERGY_BATCH_H

#include "base/base.h"
#include "energy/energy.h"
#include "energy/batch_layout.h"

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
    /* Parameters [parameter_count] that an element was prepared with, for whoever makes elements like it. The world
     * sets both before a solver is prepared, for that time; NULL: not known. */
    void (*parameters_of)(const void *origin, int32_t element, sinew_real *parameters);
    const void *origin;
    int32_t number;           /* of the energy in its world, for messages */
    bool hard;                /* constraints without compliance (sinew_energy_def) */
    sinew_real pbd_stiffness; /* factor of PBD's corrections, 0: the solver's own */
    bool transient;           /* its elements are in no factor and no fixed colouring (objective.h) */
    uint32_t version;         /* changes whenever data do */
    uint32_t form_version;    /* changes whenever data other than weights do */
    bool switchable;          /* the next three are there */
    int32_t off_count;        /* elements that are switched off */
    uint8_t *off;             /* [element_count] 1 where one is */
    sinew_real *on_weight;    /* [element_count] weights as they are while switched on */
    size_t vertex_room, data_room, element_room, place_room, particle_room, chunk_room, off_room, on_room; /* bytes */
} sinew_batch;

/* Work space of sinew_batch_fill, kept by who fills a batch often. Zeroed is fine. */
typedef struct sinew_batch_work {
    int32_t *local, *stamp; /* [particle_count] */
    size_t local_room, stamp_room;
} sinew_batch_work;

/* An empty batch, NULL without memory. */
sinew_batch *sinew_batch_create(const sinew_allocator *allocator, const sinew_energy_ops *ops, int32_t width);
/* Takes over elements in place of those it has: particles [element_count][vertex_count] as the plan left them, each
 * below particle_count, data [element_count][data_count]; both copied. False without memory: the batch is then to be
 * filled again or destroyed. */
bool sinew_batch_fill(sinew_batch *batch, const sinew_allocator *allocator, const sinew_plan *plan,
                      const int32_t *particles, const sinew_real *data, int32_t particle_count, sinew_batch_work *work);
void sinew_batch_work_release(sinew_batch_work *work, const sinew_allocator *allocator);
void sinew_batch_destroy(const sinew_allocator *allocator, sinew_batch *batch);

/* The elements as the caller numbered them: particles [element_count][vertex_count], a tet's in the plan's order. */
void sinew_batch_list(const sinew_batch *batch, int32_t *particles);
/* The same of one element, [vertex_count]. */
void sinew_batch_particles(const sinew_batch *batch, int32_t element, int32_t *particles);
/* data [data_count] of one of the caller's elements; weight zero where it is off. */
void sinew_batch_element(const sinew_batch *batch, int32_t element, sinew_real *data);
/* data[0] of the same. */
sinew_real sinew_batch_weight(const sinew_batch *batch, int32_t element);
/* New data of an element, which stays off if it is. */
void sinew_batch_set_element(sinew_batch *batch, int32_t element, const sinew_real *data);
/* Elements can be switched after this; false without memory. */
bool sinew_batch_allow_switching(sinew_batch *batch, const sinew_allocator *allocator);
void sinew_batch_switch(sinew_batch *batch, int32_t element, bool on);
bool sinew_batch_is_off(const sinew_batch *batch, int32_t element);
/* Shows all elements as if they were on, or as they are again. What solvers prepare for must not depend on who is
 * switched off at the time, so they prepare for all. */
void sinew_batch_show_all(sinew_batch *batch, bool all);
/* New targets [element_count][3] of a batch whose energy has a target slot. */
void sinew_batch_set_targets(sinew_batch *batch, const sinew_real *targets);
/* New first numbers [shared_count] of all elements (energy.h); those that are off stay so. */
void sinew_batch_set_shared(sinew_batch *batch, const sinew_real *shared);
/* The groups of one chunk, for a kernel. */
sinew_groups sinew_batch_groups(const sinew_batch *batch, const sinew_chunk *chunk);

#endif
