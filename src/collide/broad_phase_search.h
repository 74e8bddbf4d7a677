/* SPDX-License-Identifier: MIT
 *
 * search.h: features of one list that have near partners in others, found on several threads.
 *
 * A search goes through the nodes of its own list. Nodes are cut into chunks whose borders depend on the list alone;
 * each chunk writes its findings into memory of its own, made before. A chunk that finds more counts on and is searched
 * again with room enough. So threads need no memory, and findings do not depend on their number.
 *
 * A finding is one number: the row of the feature in its chunk (8 * node + place in the node) above, and the partner's
 * key below. Rows ascend, and keys within a row.
 */
#ifndef SINEW_SRC_COLLIDE_BROAD_PHASE_SEARCH_H
#define SINEW_SRC_COLLIDE_BROAD_PHASE_SEARCH_H

#include "collide/feature_bvh.h"
#include "collide/candidates.h"

typedef enum sinew_search_kind {
    SINEW_SEARCH_FACES = 0, /* vertices and cells; key: the cell's rank */
    SINEW_SEARCH_EDGES,     /* edges and higher edges; key: the edge */
    SINEW_SEARCH_CROSSINGS  /* cells and higher cells; key: the cell */
} sinew_search_kind;

typedef struct sinew_search {
    sinew_search_kind kind;
    const sinew_features *features;
    const sinew_real *x, *reach, *ways; /* as of sinew_detect() */
    const int32_t *rank;                /* [cell_count] of cells in the order of their vertices */
    const sinew_boxes *own;
    const sinew_boxes *targets[2];
    int32_t target_count;
} sinew_search;

typedef struct sinew_search_found {
    uint64_t *entries; /* [capacity] */
    int64_t capacity;
    int64_t count; /* more than the capacity: the last ones were not written */
} sinew_search_found;

typedef struct sinew_search_kernel {
    const char *name;
    bool (*usable)(void);
    /* Adds the findings of a node of level 0, rows from `row` on, unsorted. */
    void (*node)(const sinew_search *search, int32_t node, uint32_t row, sinew_search_found *found);
    /* The closest points of four pairs of one kind, whose faces have three corners, less the cores. */
    void (*closest)(sinew_touch_pair *const pairs[4], const sinew_real *x, const double cores[4]);
} sinew_search_kernel;

const sinew_search_kernel *sinew_search_kernel_chosen(void);
/* All variants of this build, best first; for tests. */
const sinew_search_kernel *const *sinew_search_kernels(int32_t *count);

typedef struct sinew_search_chunk {
    int32_t search;
    int32_t first, last; /* nodes of level 0, last excluded */
    bool again;          /* found more than there was room for */
    sinew_search_found found;
} sinew_search_chunk;

/* Searches that are made together, and their findings. */
typedef struct sinew_search_run {
    sinew_search searches[3];
    int32_t search_count, chunk_count;
    sinew_search_chunk *chunks; /* [chunk_count] */
    uint64_t *entries, *more;   /* of chunks; of those that were searched again */
    size_t entries_room, more_room;
} sinew_search_run;

/* Cuts the searches, which are set, into chunks. False without memory: nothing is held but the searches. */
bool sinew_search_run_create(sinew_search_run *run, const sinew_allocator *allocator);
void sinew_search_run_destroy(sinew_search_run *run, const sinew_allocator *allocator); /* zeroed is fine */
/* Fills `found` of all chunks. False without memory. */
bool sinew_search_run_all(sinew_search_run *run, const sinew_search_kernel *kernel, const sinew_allocator *allocator,
                          int32_t thread_count);

/* The feature of a finding. */
static inline int32_t sinew_search_feature(const sinew_search_run *run, const sinew_search_chunk *chunk, uint64_t entry)
{
    const uint32_t row = (uint32_t)(entry >> 32);
    const sinew_box_node *node = run->searches[chunk->search].own->nodes[0] + chunk->first + row / SINEW_BOXES_WIDE;
    return node->id[row % SINEW_BOXES_WIDE];
}

/* Whether two cells that share no vertex cross, those of spheres and capsules with their cores. */
bool sinew_cells_cross(const sinew_features *features, const sinew_real *x, int32_t a, int32_t b);

#endif
