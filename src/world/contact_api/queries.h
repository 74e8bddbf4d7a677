/* SPDX-License-Identifier: MIT
 *
 * queries.h: the BVH of a world's current triangles, for ray, distance and box queries.
 */
#ifndef SINEW_SRC_WORLD_CONTACT_API_QUERIES_H
#define SINEW_SRC_WORLD_CONTACT_API_QUERIES_H

#include "world/world.h"

typedef struct sinew_query_triangles {
    const struct sinew_tree *tree;       /* BVH of all triangles of the world; NULL: there are no triangles */
    const sinew_contact_object *objects; /* [number of triangles] body or collider that each triangle belongs to */
} sinew_query_triangles;

/* Updates the BVH of queries to the current bodies, colliders and positions. */
sinew_status sinew_query_update(sinew_world *world, sinew_error *error);
sinew_query_triangles sinew_query_triangles_of(const sinew_world *world);
/* Computes the centres of both ends of a capsule, or twice the centre of a sphere; returns the radius in m. */
double sinew_query_round_ends(const sinew_world *world, const sinew_collider_record *collider, double ends[2][3]);

#endif
