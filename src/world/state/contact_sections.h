/* SPDX-License-Identifier: MIT
 *
 * contact_sections.h: writes, checks and restores the contact sections of a state (state_sections.h).
 *
 * The order is that of load.c: checks, then allocations, then changes that cannot fail.
 */
#ifndef SINEW_SRC_WORLD_STATE_CONTACT_SECTIONS_H
#define SINEW_SRC_WORLD_STATE_CONTACT_SECTIONS_H

#include "base/tagged_blob.h"
#include "world/world.h"

#define SINEW_CONTACT_TAGS "TCHS", "YLDS", "IMPT", "FREE", "CVEL", "COLL"

void sinew_contact_put_sections(const sinew_world *world, sinew_section_writer *writer);
/* Check the contact section of one body with the given number of particles, and all other contact sections. `whole`:
 * the state must match the world; otherwise it must only be valid. */
sinew_status sinew_contact_check_body_section(int32_t index, size_t particles, sinew_section_reader *reader,
                                              sinew_error *error);
sinew_status sinew_contact_check_sections(const sinew_world *world, bool whole, sinew_section_reader *reader,
                                          sinew_error *error);
/* Allocates memory for the contact sections of a state; false: out of memory, and nothing has changed. */
bool sinew_contact_reserve_sections(sinew_world *world, sinew_section_reader *reader);
void sinew_contact_take_body_section(const sinew_world *world, int32_t index, sinew_section_reader *reader);
/* Restores the contact sections of a state. `whole`: objects are identified by slots; otherwise by slots and
 * generations. */
void sinew_contact_take_sections(sinew_world *world, bool whole, sinew_section_reader *reader);

#endif
