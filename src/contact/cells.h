/* SPDX-License-Identifier: MIT
 *
 * cells.h: the guard: a convex cell for each vertex, within which it may move without any surface crossing another,
 * whatever the other vertices do in theirs.
 *
 * For each pair in reach (detect.h) with closest points c1, c2, n = (c1 - c2)/|c1 - c2| and distance d, two planes of
 * normal n stand between the features; vertices of the first stay beyond the one, those of the second below the other:
 *
 *     n.x >= n.c2 + room_2 + floor        n.x <= n.c2 + room_2        room_1 + room_2 = d - floor
 *
 * ("divide and truncate"). Closest points of two convex sets give a separating slab, so all vertices of both features
 * are on their sides. Two features that are apart along the same n at both ends of a straight motion are apart
 * throughout: planes are tested at the end. Room goes to who is coming: in proportion to the largest approach of any
 * vertex of each feature, also of those whose weight is zero.
 *
 * What is not in reach of each other stays so: besides its planes a vertex keeps within a ball around
 * where its body's mean motion c takes it, of radius `delta` and of what c was shortened by. Cells move with their
 * body: planes between features of one body, and the balls, go along with c; those between bodies do not, and c is
 * shortened until it leaves them open.
 *
 * The floor keeps a distance of 1 % of the offset, at least 64 units of the last place: going a part of the way to a
 * plane again and again would wear the distance down to nothing. At the floor only retreat is free.
 *
 * Invariant: `safe` is in its cell; every point on the way from there to the result of sinew_cells_cut is.
 */
#ifndef SINEW_CELLS_H
#define SINEW_CELLS_H

#include "contact/detect.h"

typedef struct sinew_cell_plane {
    sinew_real n[3], c; /* n.x >= c */
} sinew_cell_plane;

typedef struct sinew_cells {
    int32_t vertex_count;
    int32_t *first;           /* [vertex_count + 1] into planes */
    sinew_cell_plane *planes; /* of one vertex after the other */
    sinew_real *safe;         /* [vertex_count][4] where each is, within its cell */
    sinew_real *centre;       /* [vertex_count][4] of its ball; the fourth number is the radius */
    uint8_t *cut;             /* [vertex_count] 1 where the last sinew_cells_cut cut it */
    double (*carry)[3];       /* [object_count] c */
    double *radius;           /* [object_count] of the balls */
    size_t first_room, plane_room, safe_room, centre_room, cut_room, carry_room, radius_room;
} sinew_cells;

/* What is known of the motion that is to come. */
typedef struct sinew_cells_motion {
    const sinew_real *x;      /* [vertex_count][4] m where all are now */
    const sinew_real *wanted; /* [vertex_count][4] m where they would go */
    const double *delta;      /* [object_count] m: radii of the balls */
    bool carried;             /* cells go along with their bodies */
} sinew_cells_motion;

/* c of each object as far as it is wanted, before pairs are known; room for all. False without memory. */
bool sinew_cells_begin(sinew_cells *cells, const sinew_features *features, const sinew_cells_motion *motion);
/* Shortens c where pairs ask for it, and makes the cells. Pairs at or below zero distance have no plane. */
bool sinew_cells_build(sinew_cells *cells, const sinew_features *features, const sinew_cells_motion *motion,
                       const sinew_touch_pairs *pairs);
void sinew_cells_release(sinew_cells *cells, const sinew_allocator *allocator);

/* How far vertex v may go from its safe place towards `to` [3]: 0 .. 1. */
double sinew_cells_limit(const sinew_cells *cells, int32_t v, const sinew_real *to);
/* Moves the safe place of v towards `to`, as far as may be; true if that is not all the way. */
bool sinew_cells_cut(sinew_cells *cells, int32_t v, const sinew_real *to);

#endif
