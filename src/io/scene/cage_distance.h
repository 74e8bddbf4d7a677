/* SPDX-License-Identifier: MIT
 *
 * cage_distance.h: how far the surface that is shown of a body is from the one that it touches with.
 */
#ifndef SINEW_SRC_IO_SCENE_CAGE_DISTANCE_H
#define SINEW_SRC_IO_SCENE_CAGE_DISTANCE_H

#include "sinew/sinew.h"

/* m: the largest distance of a vertex of a body's skin from the body's own surface, as the world is now; negative where
 * it cannot be had: no skin, no triangles, no memory (then with an error). */
double sinew_cage_distance(const sinew_world *world, sinew_body body, const sinew_allocator *allocator,
                           sinew_error *error);

#endif
