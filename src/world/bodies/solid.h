/* SPDX-License-Identifier: MIT
 *
 * solid.h: the sphere or capsule of a rigid body (rigid.c), in place of a mesh.
 */
#ifndef SINEW_SRC_WORLD_BODIES_SOLID_H
#define SINEW_SRC_WORLD_BODIES_SOLID_H

#include "world/world.h"

/* Fails for a radius that is negative or not finite, and for ends that are not finite or nearly equal. */
sinew_status sinew_solid_check(const sinew_solid *solid, sinew_error *error);
/* Creates a tessellation of the solid, for drawing. NULL on failure. */
sinew_mesh *sinew_solid_tessellate(const sinew_solid *solid, const sinew_allocator *allocator, sinew_error *error);
/* Stores the solid in a body, with the weights of its ends in the body's four vertices. */
void sinew_body_set_solid(sinew_body_record *body, const sinew_solid *solid);

#endif
