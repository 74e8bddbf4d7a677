/* SPDX-License-Identifier: MIT
 *
 * known_points.h: sections with an array over the particles of one body, [4 * vertex_count] reals in the public order,
 * the fourth 1 if the first three are known: CVEL, WIND (state_sections.h).
 */
#ifndef SINEW_SRC_WORLD_STATE_KNOWN_POINTS_H
#define SINEW_SRC_WORLD_STATE_KNOWN_POINTS_H

#include "base/tagged_blob.h"
#include "world/world.h"

/* Writes the points (for example velocities) of one body's particles, from points [particle_count][4], to a section. */
void sinew_known_points_put(const sinew_world *world, const sinew_real *points, const char *tag, int32_t body,
                            sinew_section_writer *writer);
/* Checks the section of a body with the given number of particles; a missing section is valid. what: plural noun of the
 * points, for messages. */
sinew_status sinew_known_points_check(const char *tag, const char *what, int32_t body, size_t particles,
                                      sinew_section_reader *reader, sinew_error *error);
/* Restores the points of a body's particles; marks them unknown if the section is missing. points NULL: does
 * nothing. */
void sinew_known_points_take(const sinew_world *world, sinew_real *points, const char *tag, int32_t body,
                             sinew_section_reader *reader);

#endif
