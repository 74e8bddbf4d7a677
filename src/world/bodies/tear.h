/* SPDX-License-Identifier: MIT
 *
 * tear.h: bodies that tear: what a tear is, how it is done to a world, and how it is done again.
 *
 * A tear is one of two deeds, both written down in the body's log so that a state can do them again in a world that was
 * built the same way:
 *
 *     SPLIT    copies m, corners n, then m vertices that got a copy, then n pairs (corner, its vertex from now on)
 *     REMOVE   edges m, 0, then m pairs (vertex, vertex)
 *
 * A deed is decided by positions (tear_criterion.c) and done by topology alone (tear_topology.c): elements, meshes and masses
 * after it follow from the log, whatever the positions are.
 */
#ifndef SINEW_SRC_WORLD_BODIES_TEAR_H
#define SINEW_SRC_WORLD_BODIES_TEAR_H

#include "mesh/edit/split_along_edges.h"
#include "world/world.h"

typedef struct sinew_tear {
    sinew_tear_def def;
    sinew_tear_report report;
    int32_t *edges; /* [edge_count][2] unique edges of its cells; NULL: to be found anew */
    int32_t edge_count;
    int32_t *log; /* [log_count] deeds, one after the other */
    size_t log_count, log_room;
    bool torn_apart; /* a deed was left half done for want of memory: the world cannot be stepped */
} sinew_tear;

enum {
    SINEW_TEAR_SPLIT = 1,
    SINEW_TEAR_REMOVE = 2,
    SINEW_TEAR_HEAD = 3 /* numbers of a deed before its lists */
};

/* At the start of a step but the first: looks at the edges of all bodies that tear, and tears. */
sinew_status sinew_world_tear(sinew_world *world, sinew_error *error);
void sinew_tear_destroy(const sinew_allocator *allocator, sinew_tear *tear);

/* Whether a log is one that can be done to a body of so many vertices and such cells: lengths and numbers in range. */
bool sinew_tear_log_is_sound(const sinew_mesh *mesh, const int32_t *log, size_t count);
/* Does the deeds of a log to a body and writes them down. */
sinew_status sinew_tear_do(sinew_world *world, sinew_body body, const int32_t *log, size_t count, sinew_error *error);
/* Vertices that a log's deeds add. */
int64_t sinew_tear_log_copies(const int32_t *log, size_t count);
/* The cells that a body tears along: tets, else triangles, else edges. */
sinew_elements sinew_tear_cells(const sinew_mesh *mesh);

#endif
