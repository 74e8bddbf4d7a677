/* SPDX-License-Identifier: MIT
 *
 * contact_sections.h: the sections of contact in states of a world (save_load.c): written, checked, taken.
 *
 * The order is that of save_load.c: all checks and all allocations precede the first change.
 */
#ifndef SINEW_SRC_WORLD_STATE_CONTACT_SECTIONS_H
#define SINEW_SRC_WORLD_STATE_CONTACT_SECTIONS_H

#include "base/tagged_blob.h"
#include "world/world.h"

#define SINEW_CONTACT_TAGS "TCHS", "CVEL", "COLL"

void sinew_contact_put_sections(const sinew_world *world, sinew_section_writer *writer);
/* Checks the section of one body with the given number of particles; checks all other sections. `whole`: the state must
 * match the world; else the state must only be valid. */
sinew_status sinew_contact_check_body(int32_t index, size_t particles, sinew_section_reader *reader,
                                      sinew_error *error);
sinew_status sinew_contact_check_sections(const sinew_world *world, bool whole, sinew_section_reader *reader,
                                          sinew_error *error);
/* Allocates for the sections; false without memory, and then nothing has changed. */
bool sinew_contact_reserve_take(sinew_world *world, sinew_section_reader *reader);
void sinew_contact_take_body(const sinew_world *world, int32_t index, sinew_section_reader *reader);
/* `whole`: slots identify objects; else slots and generations do. */
void sinew_contact_take_sections(sinew_world *world, bool whole, sinew_section_reader *reader);

#endif
