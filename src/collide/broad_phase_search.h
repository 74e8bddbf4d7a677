/* SPDX-License-Identifier: MIT
 *
 * broad_phase_search.h: finds features of one list that are near features of other lists, on several threads.
 *
 * A search visits the nodes of its own list. Nodes are divided into chunks whose borders depend on the list alone.
 * Each chunk writes its hits into its own preallocated buffer. A chunk whose buffer is full continues to count and
 * is searched again with a larger buffer. So threads do not allocate, and hits do not depend on the number of
 * threads.
 *
 * A hit is one 64-bit integer: the upper half is the slot of the searching feature in its chunk (8 * node of the chunk
 * + slot in the node), the lower half is the key of the other feature (sinew_search_kind). Slots ascend, and keys
 * ascend within a slot.
 */
#ifndef SINEW_SRC_COLLIDE_BROAD_PHASE_SEARCH_H
#define SINEW_SRC_COLLIDE_BROAD_PHASE_SEARCH_H

#include "collide/feature_bvh.h"
#include "collide/candidates.h"

typedef enum sinew_search_kind {
    SINEW_SEARCH_FACES = 0,    /* searches vertices against primitives; key: rank of the primitive */
    SINEW_SEARCH_EDGES,        /* searches edges against edges of higher number; key: the edge */
    SINEW_SEARCH_INTERSECTIONS /* searches primitives against primitives of higher number; key: the primitive */
} sinew_search_kind;

typedef struct sinew_search {
    sinew_search_kind kind;
    const sinew_collision_mesh *mesh;
    const sinew_real *x, *inflation_radius, *predicted; /* as in sinew_detect_input */
    const int32_t *rank;           /* [primitive_count] rank of each primitive in the order of vertices */
    const sinew_boxes *own;        /* the searching features */
    const sinew_boxes *targets[2]; /* [target_count] features that are searched: of bodies, then of colliders */
    int32_t target_count;
} sinew_search;

typedef struct sinew_search_found {
    uint64_t *entries; /* [capacity] hits */
    int64_t capacity;
    int64_t count; /* number of hits; hits beyond the capacity are counted but not written */
} sinew_search_found;

typedef struct sinew_search_kernel {
    const char *name;
    /* Adds the unsorted hits of a node of level 0, whose slots start at `row`. */
    void (*node)(const sinew_search *search, int32_t node, uint32_t row, sinew_search_found *found);
    /* Computes the closest points of four pairs of one kind whose faces have three corners; subtracts the radii from
     * the distances. */
    void (*closest)(sinew_candidate *const pairs[4], const sinew_real *x, const double radii[4]);
} sinew_search_kernel;

const sinew_search_kernel *sinew_search_kernel_chosen(void);

typedef struct sinew_search_chunk {
    int32_t search;
    int32_t first, last; /* nodes first .. last - 1 of level 0 */
    bool again;          /* the chunk must be searched: in the first run, or because its buffer was too small */
    sinew_search_found found;
} sinew_search_chunk;

/* Searches that run together, with their hits. */
typedef struct sinew_search_run {
    sinew_search searches[3];
    int32_t search_count, chunk_count;
    sinew_search_chunk *chunks; /* [chunk_count] */
    uint64_t *entries, *more;   /* buffers of all chunks; buffers of chunks that were searched again */
    size_t entries_capacity, more_capacity;
} sinew_search_run;

/* Divides the searches, which the caller has set, into chunks. False: out of memory; only the searches remain set. */
bool sinew_search_run_create(sinew_search_run *run, const sinew_allocator *allocator);
void sinew_search_run_destroy(sinew_search_run *run, const sinew_allocator *allocator); /* accepts a zeroed struct */
/* Fills `found` of all chunks. False: out of memory, or stopped (base/stop.h). */
bool sinew_search_run_all(sinew_search_run *run, const sinew_search_kernel *kernel, const sinew_allocator *allocator,
                          int32_t thread_count);

/* The searching feature of a hit of a chunk. */
static inline int32_t sinew_search_feature(const sinew_search_run *run, const sinew_search_chunk *chunk, uint64_t entry)
{
    const uint32_t row = (uint32_t)(entry >> 32);
    const sinew_box_node *node = run->searches[chunk->search].own->nodes[0] + chunk->first + row / SINEW_BOXES_WIDE;
    return node->id[row % SINEW_BOXES_WIDE];
}

/* True if two primitives without a common vertex intersect; spheres and capsules have their radii. */
bool sinew_primitives_intersect(const sinew_collision_mesh *mesh, const sinew_real *x, int32_t a, int32_t b);

#endif
