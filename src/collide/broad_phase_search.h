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
    SINEW_SEARCH_FACES = 0, /* kind of search: vertices against primitives; key of a hit: rank of the primitive */
    /* Kind of search: edges against edges of higher number; key of a hit: number of the other edge. */
    SINEW_SEARCH_EDGES,
    /* Kind of search: primitives against primitives of higher number; key of a hit: number of the other primitive. */
    SINEW_SEARCH_INTERSECTIONS
} sinew_search_kind;

typedef struct sinew_search {
    sinew_search_kind kind;
    const sinew_collision_mesh *mesh;
    sinew_detect_input input;      /* positions, inflation radii and predicted displacements of vertices */
    const int32_t *rank;           /* [primitive_count] index of each primitive in the list sorted by vertex numbers */
    const sinew_boxes *own;        /* BVH of the features that search for others */
    const sinew_boxes *targets[2]; /* [target_count] BVHs of the features to be found: of bodies, then of colliders */
    int32_t target_count;
} sinew_search;

typedef struct sinew_search_found {
    uint64_t *entries; /* [capacity] hits: slot of the searching feature and key of the feature found */
    int64_t capacity;
    int64_t count; /* number of hits of a search chunk; hits beyond the capacity are counted but not written */
} sinew_search_found;

typedef struct sinew_search_kernel {
    const char *name;
    /* Appends the unsorted hits of one searching node of level 0; `row` is the index of its first slot in the chunk. */
    void (*node)(const sinew_search *search, int32_t node, uint32_t row, sinew_search_found *found);
    /* Computes the closest points of four candidate pairs of one kind, whose faces are triangles; subtracts the
     * radii from the distances. */
    void (*closest)(sinew_candidate *const pairs[4], const sinew_real *x, const double radii[4]);
} sinew_search_kernel;

const sinew_search_kernel *sinew_search_kernel_chosen(void);

typedef struct sinew_search_chunk {
    int32_t search;
    int32_t first, last; /* nodes first .. last - 1 of level 0 of the BVH, with which the chunk searches */
    bool again; /* true: the chunk must be searched, in the first run or because its hit buffer was too small */
    sinew_search_found found;
} sinew_search_chunk;

/* Broad-phase searches that run together, and the hits that they found. */
typedef struct sinew_search_run {
    sinew_search searches[3];
    int32_t search_count, chunk_count;
    sinew_search_chunk *chunks; /* [chunk_count] parts of the searches, each run by one thread */
    /* hit buffers of all chunks, one after the other; larger hit buffers of chunks that were searched again */
    uint64_t *entries, *more;
    size_t entries_capacity, more_capacity;
} sinew_search_run;

/* Divides the broad-phase searches, which the caller has set, into chunks. False: out of memory; only the searches
 * remain set. */
bool sinew_search_run_create(sinew_search_run *run, const sinew_allocator *allocator);
/* Frees the chunks of a search run and their hit buffers; accepts a zeroed struct. */
void sinew_search_run_destroy(sinew_search_run *run, const sinew_allocator *allocator);
/* Runs all searches: fills the hits `found` of all chunks. False: out of memory, or stopped (base/stop.h). */
bool sinew_search_run_all(sinew_search_run *run, const sinew_search_kernel *kernel, const sinew_allocator *allocator,
                          int32_t thread_count);

/* Number of the searching feature (vertex, edge or primitive) of a hit in a chunk. */
static inline int32_t sinew_search_feature(const sinew_search_run *run, const sinew_search_chunk *chunk, uint64_t entry)
{
    const uint32_t row = (uint32_t)(entry >> 32);
    const sinew_box_node *node = run->searches[chunk->search].own->nodes[0] + chunk->first + row / SINEW_BOXES_WIDE;
    return node->id[row % SINEW_BOXES_WIDE];
}

/* True if two primitives without a common vertex intersect; spheres and capsules are solid up to their radii. */
bool sinew_primitives_intersect(const sinew_collision_mesh *mesh, const sinew_real *x, int32_t a, int32_t b);

#endif
