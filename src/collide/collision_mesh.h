/* SPDX-License-Identifier: MIT
 *
 * collision_mesh.h: what touches: the surfaces of bodies and colliders as one list of vertices, edges and triangles.
 *
 * Vertices of bodies stand for particles; those of colliders follow them and move as they are told. A *cell* is what
 * the broad phase puts into boxes: a triangle; an edge that belongs to no triangle (ropes, capsules), its second vertex
 * repeated; a vertex that belongs to no edge (particles, spheres), repeated twice. Each vertex and each edge is *owned*
 * by one cell that has it, so that a pair of features is found once though many pairs of cells contain it.
 *
 * Spheres are vertices, and capsules edges, with a solid *core*: distances are measured from the surface of the core.
 */
#ifndef SINEW_SRC_COLLIDE_COLLISION_MESH_H
#define SINEW_SRC_COLLIDE_COLLISION_MESH_H

#include "base/base.h"
#include "sinew/contact.h"

enum {
    SINEW_OWNS_VERTEX = 1 << 0, /* shifted by 0 .. 2: the cell's vertices */
    SINEW_OWNS_EDGE = 1 << 3,   /* shifted by 0 .. 2: its sides 01, 12, 20 */
    SINEW_IS_FACE = 1 << 6,     /* has an area to touch */
    SINEW_IS_LONE_EDGE = 1 << 7
};

/* A body or a collider. */
typedef struct sinew_touch_object {
    int32_t body, collider; /* places in the world; the other is -1 */
    uint32_t generation;    /* of that place */
    int32_t first_vertex, vertex_count;
    double half; /* m: half its thickness */
    double core; /* m: solid radius around its features; 0 but for spheres and capsules */
    double friction, restitution;
    uint32_t group, mask;
    bool self;      /* may touch itself */
    bool kinematic; /* a collider */
} sinew_touch_object;

typedef struct sinew_features {
    sinew_allocator allocator;
    int32_t object_count, vertex_count, edge_count, cell_count;
    int32_t moved_count;         /* vertices that stand for particles: the first ones */
    sinew_touch_object *objects; /* [object_count] */
    uint8_t *touches;            /* [object_count * object_count] 1 where two may touch (one with itself: itself) */
    int32_t *object;             /* [vertex_count] */
    int32_t *particle;           /* [moved_count] inside numbers of the world, ascending within a body */
    sinew_real *rest;            /* [vertex_count][4] m: rest shapes; colliders: as they were made */
    int32_t (*edges)[2];         /* [edge_count] lower vertex first, each edge once */
    int32_t (*wings)[2];         /* [edge_count] vertices opposite to it in its first two triangles; -1: none */
    int32_t (*cells)[3];         /* [cell_count] */
    int32_t (*sides)[3];         /* [cell_count] edges 01, 12, 20 of a cell; -1: none */
    uint8_t *flags;              /* [cell_count] SINEW_OWNS_..., SINEW_IS_... */
    int32_t *first_neighbour;    /* [vertex_count + 1] into neighbours */
    int32_t *neighbours;         /* other ends of each vertex's edges */
} sinew_features;

/* Cells of one object: vertices numbered from its first_vertex. */
typedef struct sinew_object_cells {
    const int32_t *triangles; /* [3 * triangle_count] */
    int32_t triangle_count;
    const int32_t *edges; /* [2 * edge_count] that belong to no triangle */
    int32_t edge_count;
} sinew_object_cells;

/* Makes edges, wings, cells, owners and neighbours from objects whose first_vertex, vertex_count and other numbers are
 * set, vertices in the order of objects, those of kinematic ones last; `object`, `particle`, `rest` and `touches` are
 * allocated, `object` filled, the other three left to the caller. Triangles that name a vertex twice are left out.
 * Vertices of no cell become lone vertices only where `lone_vertices[o]` says so. On failure nothing is held. */
sinew_status sinew_features_create(sinew_features *features, const sinew_allocator *allocator,
                                   const sinew_touch_object *objects, const sinew_object_cells *cells,
                                   const bool *lone_vertices, int32_t object_count, sinew_error *error);
void sinew_features_destroy(sinew_features *features); /* zeroed is fine */

static inline bool sinew_may_touch(const sinew_features *f, int32_t a, int32_t b)
{
    return f->touches[(size_t)a * (size_t)f->object_count + (size_t)b];
}

#endif
