/* SPDX-License-Identifier: MIT
 *
 * cage_distance.h: distance between the displayed surface and the contact surface of a body.
 */
#ifndef SINEW_SRC_IO_SCENE_CAGE_DISTANCE_H
#define SINEW_SRC_IO_SCENE_CAGE_DISTANCE_H

#include "sinew/sinew.h"

/* The largest current distance, in m, of a vertex of a body's skin from the body's surface. Negative without a skin,
 * without triangles, or on failure (then with an error). */
double sinew_cage_distance(const sinew_world *world, sinew_body body, const sinew_allocator *allocator,
                           sinew_error *error);

#endif
