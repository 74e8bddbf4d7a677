/* SPDX-License-Identifier: MIT
 *
 * follow.h: trajectories that follow a collider or the frames of a vertex cache (sinew_follow).
 */
#ifndef SINEW_SRC_WORLD_FOLLOW_H
#define SINEW_SRC_WORLD_FOLLOW_H

#include "world/world.h"

/* Makes a created trajectory follow `follow` (NULL: no change) from its base points at the world's current time.
 * `owner` is named in the error; on failure the caller destroys the trajectory. */
sinew_status sinew_follow_bind(const sinew_world *world, sinew_trajectory *trajectory, const sinew_follow *follow,
                               const char *owner, sinew_error *error);
/* CRC-32 of the collider or cache that `follow` (may be NULL) refers to, continuing `digest`; count: number of
 * points. */
uint32_t sinew_follow_digest(uint32_t digest, const sinew_follow *follow, int32_t count);
/* Sets the positions `current` of any trajectory to its points at this time, in s. */
void sinew_world_move_trajectory(const sinew_world *world, sinew_trajectory *trajectory, double time);
/* True if all following points of a saved state, [trajectory->count], are finite and refer to vertices of the followed
 * collider. */
bool sinew_follow_points_fit(const sinew_world *world, const sinew_trajectory *trajectory,
                             const sinew_follow_point *points);
/* Fails if a pin or a target of an energy follows the collider in this slot. */
sinew_status sinew_follow_check_unused(const sinew_world *world, int32_t collider, sinew_error *error);
/* True if a pin follows a collider in all directions. sinew_follow_list_particles sets followed [particle_count]:
 * slot of the collider that each particle with such a pin follows, -1 for all others. */
bool sinew_follow_any_pin(const sinew_world *world);
void sinew_follow_list_particles(const sinew_world *world, int32_t *followed);

#endif
