/* SPDX-License-Identifier: MIT
 *
 * energy_record.h: looks up energies of a world, and names the changes of their elements.
 */
#ifndef SINEW_SRC_WORLD_ELEMENTS_ENERGY_RECORD_H
#define SINEW_SRC_WORLD_ELEMENTS_ENERGY_RECORD_H

#include "world/world.h"

/* Returns the record of an energy id; NULL, with an error, if the id names no energy. */
static inline sinew_energy_record *sinew_energy_find(const sinew_world *world, sinew_energy energy, sinew_error *error)
{
    sinew_error_clear(error);
    return sinew_world_find_energy(world, energy, error);
}

/* Bit SINEW_CHANGED_... of a change of the elements of an energy. */
static inline uint32_t sinew_energy_elements_bit(const sinew_energy_record *record)
{
    return record->batch->transient ? SINEW_CHANGED_TRANSIENT : SINEW_CHANGED_ELEMENTS;
}

#endif
