/* SPDX-License-Identifier: MIT
 *
 * tear.h: tearing of bodies: the log of tears, how a tear is applied to a world, and how it is replayed.
 *
 * A tear is one of two operations. Both are logged, so that a state can replay them in a world that was built the same
 * way:
 *
 *     SPLIT    copies m, corners n, then m vertices that got a copy, then n pairs (corner, its vertex from now on)
 *     REMOVE   edges m, 0, then m pairs (vertex, vertex)
 *
 * The choice of an operation depends on positions (tear_criterion.c); its execution depends on topology alone
 * (tear_topology.c). So the log determines elements, meshes and masses, independent of positions.
 */
#ifndef SINEW_SRC_WORLD_BODIES_TEAR_H
#define SINEW_SRC_WORLD_BODIES_TEAR_H

#include "mesh/edit/split_along_edges.h"
#include "world/world.h"

typedef struct sinew_tear {
    sinew_tear_def def;
    sinew_tear_report report;
    int32_t *edges; /* [edge_count][2] unique edges of the body's cells; NULL: not computed yet */
    int32_t edge_count;
    int32_t *log; /* [log_count] all tearing operations so far, as integers, one after the other */
    size_t log_count, log_capacity;
    /* Value of step_count at the last tears: a step that is tried again does not tear again; 0: no tear yet. */
    int64_t torn_step;
    /* True: a tearing operation ran out of memory and is incomplete, so that the world cannot be stepped. */
    bool torn_apart;
} sinew_tear;

enum {
    SINEW_TEAR_SPLIT = 1,
    SINEW_TEAR_REMOVE = 2,
    SINEW_TEAR_HEAD = 3 /* number of integers at the start of an operation in the tear log, before its lists */
};

/* Called at the start of every step. From the second step on, tests the edges of all bodies that may tear, and tears
 * them. */
sinew_status sinew_world_tear(sinew_world *world, sinew_error *error);
void sinew_tear_destroy(const sinew_allocator *allocator, sinew_tear *tear);

/* True if a tear log can be applied to a body with this mesh: all lengths and indices are in range. */
bool sinew_tear_log_is_sound(const sinew_mesh *mesh, const int32_t *log, size_t count);
/* Applies the operations of a tear log to a body and appends them to the body's log. */
sinew_status sinew_tear_apply_log(sinew_world *world, sinew_body body, const int32_t *log, size_t count,
                                  sinew_error *error);
/* Number of vertices that all operations of a tear log add to the body. */
int64_t sinew_tear_log_copies(const int32_t *log, size_t count);
/* Returns the cells along which a body tears: tets, else triangles, else edges. */
sinew_elements sinew_tear_cells(const sinew_mesh *mesh);

#endif
