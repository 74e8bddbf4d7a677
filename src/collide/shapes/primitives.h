/* SPDX-License-Identifier: MIT
 *
 * primitives.h: the table of collider shapes: name, required sizes in the definition, and constructor.
 */
#ifndef SINEW_SRC_COLLIDE_SHAPES_PRIMITIVES_H
#define SINEW_SRC_COLLIDE_SHAPES_PRIMITIVES_H

#include "collide/shapes/colliders.h"

enum {
    SINEW_SHAPE_NEEDS_X = 1 << 0, /* the shape needs a size > 0 along x; the next two bits: along y, along z */
    SINEW_SHAPE_NEEDS_Y = 1 << 1,
    SINEW_SHAPE_NEEDS_Z = 1 << 2,
    SINEW_SHAPE_NEEDS_RADIUS = 1 << 3
};

typedef struct sinew_shape_ops {
    const char *name;
    uint32_t needs; /* sizes that the shape's definition must have: bits SINEW_SHAPE_NEEDS_... */
    /* Checks of the collider definition that only this kind of shape needs; NULL: none. */
    sinew_status (*check)(const sinew_collider_def *def, sinew_error *error);
    /* Constructor: fills vertices, triangles, edges, radius, closed and frames. On failure the caller releases its
     * allocations. NULL: the shape has no geometry arrays. */
    sinew_status (*make)(sinew_collider_record *record, const sinew_allocator *allocator, const sinew_collider_def *def,
                         sinew_error *error);
} sinew_shape_ops;

/* Returns the table entry of a shape; NULL if `kind` is out of range. */
const sinew_shape_ops *sinew_get_shape_ops(sinew_shape_kind kind);

/* Allocates vertices, triangles and edges of a collider record with the given counts. */
sinew_status sinew_shape_allocate(sinew_collider_record *record, const sinew_allocator *allocator, int64_t vertex_count,
                                  int64_t triangle_count, int64_t edge_count, sinew_error *error);

/* Checks and geometry of mesh colliders (mesh_collider.c). */
sinew_status sinew_shape_check_mesh(const sinew_collider_def *def, sinew_error *error);
sinew_status sinew_shape_make_mesh(sinew_collider_record *record, const sinew_allocator *allocator,
                                   const sinew_collider_def *def, sinew_error *error);

#endif
