/* SPDX-License-Identifier: MIT
 *
 * persistence.h: what contact adds to states of a world (save_load.c): written, checked, taken.
 *
 * The order is that of save_load.c: everything is checked and all room made before anything is taken.
 */
#ifndef SINEW_SRC_WORLD_CONTACT_PERSISTENCE_H
#define SINEW_SRC_WORLD_CONTACT_PERSISTENCE_H

#include "base/tagged_blob.h"
#include "world/world.h"

#define SINEW_CONTACT_TAGS "TCHS", "CVEL", "COLL"

void sinew_contact_put_sections(const sinew_world *world, sinew_section_writer *writer);
/* What belongs to one body of so many particles; then the rest. whole: the state must fit as it is, else only be sound.
 */
sinew_status sinew_contact_check_body(int32_t index, size_t particles, sinew_section_reader *reader,
                                      sinew_error *error);
sinew_status sinew_contact_check_sections(const sinew_world *world, bool whole, sinew_section_reader *reader,
                                          sinew_error *error);
/* Room for what is to be taken; false without memory, and then nothing has changed. */
bool sinew_contact_make_take_room(sinew_world *world, sinew_section_reader *reader);
void sinew_contact_take_body(const sinew_world *world, int32_t index, sinew_section_reader *reader);
/* whole: objects are known by their places, else by their generations too. */
void sinew_contact_take_sections(sinew_world *world, bool whole, sinew_section_reader *reader);

#endif
