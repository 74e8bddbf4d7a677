/* SPDX-License-Identifier: MIT
 *
 * batch.h: all elements of one energy, in groups for SIMD and chunks for threads.
 *
 * A layout (batch_layout.h) has sorted the elements and cut them into chunks; each chunk numbers its particles from 0.
 * A chunk's positions are copied into a small local array before a kernel runs, and its contributions are written to
 * its own slots (first_slot ..): two chunks never write to the same memory. The result of a particle is the sum of its
 * slots, always in the same order, so results do not depend on the number of threads. The bounds of
 * chunks do not depend on the SIMD width either.
 *
 * A chunk has first its fans of three (three groups for W fans), then fans of two, then single elements. The last lanes
 * of the groups of each kind may be fillers.
 *
 * A batch stores the data of its elements. Other layouts of the same elements (sweeps, vertex layouts) copy the data
 * with sinew_batch_element(), and copy them again when the version changes. An element that is switched off has weight
 * zero, like fillers, and keeps its slot in every layout.
 */
#ifndef SINEW_SRC_ENERGY_BATCH_H
#define SINEW_SRC_ENERGY_BATCH_H

#include "base/base.h"
#include "energy/energy.h"
#include "energy/batch_layout.h"
#include "base/sort_pairs.h"

typedef struct sinew_chunk {
    int32_t first_group, group_count;
    int32_t fan_groups[SINEW_FAN];  /* number of SIMD groups that hold fans (chains of tets) of 1, 2 and 3 elements */
    int32_t first_slot, slot_count; /* range of the batch's output slots, one per particle of the chunk */
} sinew_chunk;

typedef struct sinew_batch {
    const sinew_energy_ops *ops;
    int32_t width; /* SIMD width W: elements per group */
    int32_t element_count, group_count, chunk_count, slot_count;
    int32_t *vertex;  /* [group_count][vertex_count][W] SINEW_POINT times the particle's index in the chunk */
    sinew_real *data; /* [group_count][data_count][W] data of each element from `prepare`, weight first */
    /* [group_count * W] element in each lane, an index into the arrays given to sinew_batch_fill(); -1: filler */
    int32_t *element;
    /* [element_count] index in `element`, group * W + lane, of each element in the order given to sinew_batch_fill() */
    int32_t *padded_index;
    int32_t *particle; /* [slot_count] index of the particle whose contributions each output slot holds */
    sinew_chunk *chunks;
    /* Parameters [parameter_count] with which an element was prepared, for solvers that create similar elements. The
     * world sets `parameters_of` and `origin` while a solver is prepared; NULL: unknown. */
    void (*parameters_of)(const void *origin, int32_t element, sinew_real *parameters);
    const void *origin;
    int32_t number;           /* index of the energy in its world, for error messages */
    bool hard;                /* true: the elements are hard constraints, without compliance (sinew_energy_def) */
    bool coupled;             /* true: psi is a function of a sum over all elements: a global constraint or potential */
    sinew_real pbd_stiffness; /* factor of PBD's position corrections; 0: use the solver's factor */
    /* true: elements, such as contacts, that no prefactored matrix and no fixed colouring contains (objective.h) */
    bool transient;
    uint32_t version;      /* counter, incremented whenever the data of an element change */
    uint32_t form_version; /* counter, incremented whenever data of an element other than its weight change */
    bool switchable;       /* true: elements can be switched off; off and on_weight are allocated */
    int32_t off_count;     /* number of elements that are switched off */
    uint8_t *off;          /* [element_count] 1: the element is switched off and has weight 0 */
    sinew_real *on_weight; /* [element_count] weight of each element when it is switched on */
    size_t vertex_capacity, data_capacity, element_capacity, index_capacity, particle_bytes, chunk_capacity,
        off_capacity, on_capacity; /* allocated bytes of each array of the batch */
} sinew_batch;

/* Work space of sinew_batch_fill(), kept by callers that fill often. A zeroed struct is valid. */
typedef struct sinew_batch_work {
    /* [particle_count] index of a particle within the last filled chunk that contains it, and the index of this chunk,
     * -1: none */
    int32_t *local, *stamp;
    /* [2 * upper bound of a chunk's particles] work space that sorts the particles of a chunk */
    sinew_pair *pairs;
    size_t local_capacity, stamp_capacity, pair_capacity;
} sinew_batch_work;

/* Creates a batch without elements for an energy and a SIMD width; returns NULL if memory runs out. */
sinew_batch *sinew_batch_create(const sinew_allocator *allocator, const sinew_energy_ops *ops, int32_t width);
/* Replaces the elements: particles [element_count][vertex_count], with tet vertices permuted by
 * sinew_batch_layout_make(), each below particle_count; data [element_count][data_count]. Both are copied; their order
 * defines the element indices of the functions below. All elements are switched on. Returns false if memory runs out:
 * the batch must then be filled again or destroyed. */
bool sinew_batch_fill(sinew_batch *batch, const sinew_allocator *allocator, const sinew_batch_layout *layout,
                      const int32_t *particles, const sinew_real *data, int32_t particle_count, sinew_batch_work *work);
void sinew_batch_work_release(sinew_batch_work *work, const sinew_allocator *allocator);
void sinew_batch_destroy(const sinew_allocator *allocator, sinew_batch *batch);

/* Copies the particles [element_count][vertex_count] of all elements, in the order of element indices; the vertices of
 * a tet have the order of the layout. */
void sinew_batch_list_particles(const sinew_batch *batch, int32_t *particles);
/* Copies the particle indices [vertex_count] of one element. */
void sinew_batch_particles(const sinew_batch *batch, int32_t element, int32_t *particles);
/* Copies data [data_count] of one element; the weight is zero if the element is switched off. */
void sinew_batch_element(const sinew_batch *batch, int32_t element, sinew_real *data);
/* The weight, data[0], of one element; 0 if the element is switched off. */
sinew_real sinew_batch_weight(const sinew_batch *batch, int32_t element);
/* Sets new data of an element; an element that is switched off stays off. */
void sinew_batch_set_element(sinew_batch *batch, int32_t element, const sinew_real *data);
/* Allocates the arrays that switch elements off and on; returns false if memory runs out. */
bool sinew_batch_allow_switching(sinew_batch *batch, const sinew_allocator *allocator);
void sinew_batch_switch(sinew_batch *batch, int32_t element, bool on);
bool sinew_batch_is_off(const sinew_batch *batch, int32_t element);
/* Gives elements that are switched off their weight (`show`), for solvers that prepare, or weight zero again. */
void sinew_batch_show_switched_off(sinew_batch *batch, bool show);
/* Sets new target positions [element_count][3] of a batch whose energy has a target in its data. */
void sinew_batch_set_targets(sinew_batch *batch, const sinew_real *targets);
/* Sets the first shared_count numbers of the data of all elements (energy.h); elements that are switched off stay
 * off. */
void sinew_batch_set_shared(sinew_batch *batch, const sinew_real *shared);
/* Returns the element groups of one chunk as the input of a kernel call. */
sinew_groups sinew_batch_groups(const sinew_batch *batch, const sinew_chunk *chunk);

#endif
