/* SPDX-License-Identifier: MIT
 *
 * queries.h: the current triangles of a world, for queries.
 */
#ifndef SINEW_SRC_WORLD_CONTACT_API_QUERIES_H
#define SINEW_SRC_WORLD_CONTACT_API_QUERIES_H

#include "world/world.h"

typedef struct sinew_query_triangles {
    const struct sinew_tree *tree;       /* BVH of all triangles; NULL: there are no triangles */
    const sinew_contact_object *objects; /* [number of triangles] body or collider of each triangle */
} sinew_query_triangles;

/* Updates the BVH of ray and distance queries to current bodies, colliders and positions. */
sinew_status sinew_query_refit(sinew_world *world, sinew_error *error);
sinew_query_triangles sinew_query_triangles_of(const sinew_world *world);
/* Centres of the ends of a sphere or capsule; returns its radius. */
double sinew_query_round_ends(const sinew_world *world, const sinew_collider_record *collider, double ends[2][3]);

#endif
