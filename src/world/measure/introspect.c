/* SPDX-License-Identifier: MIT
 *
 * introspect.c: the energies of a world, their elements, and the pinned particles: for programs that draw or save a
 * world that another program built.
 */
#include "world/world.h"

#include <string.h>

int32_t sinew_world_energy_count(const sinew_world *world)
{
    return SINEW_ASSERT(world) ? world->energy_count : 0;
}

sinew_energy sinew_world_energy_at(const sinew_world *world, int32_t index)
{
    const sinew_energy none = {.index = -1};
    if (!SINEW_ASSERT(world && index >= 0 && index < world->energy_count) || !world->energies[index].batch)
        return none;
    return (sinew_energy){index, world->energies[index].generation};
}

sinew_energy_kind sinew_energy_kind_of(const sinew_world *world, sinew_energy energy)
{
    const sinew_energy_record *record = sinew_world_find_energy(world, energy, NULL);
    return record ? record->kind : SINEW_ENERGY_COUNT;
}

sinew_status sinew_energy_get_elements(const sinew_world *world, sinew_energy energy, int32_t first, int32_t count,
                                       int32_t *particles, sinew_real *weights, sinew_error *error)
{
    sinew_error_clear(error);
    const sinew_energy_record *record = sinew_world_find_energy(world, energy, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    const sinew_energy_info *info = &record->batch->ops->info;
    const int32_t have = record->batch->element_count;
    if (first < 0 || count < 0 || count > have - first)
        return sinew_fail(error, SINEW_ERROR_DATA, "energy %d (%s) has no elements %d to %d; it has %d", energy.index,
                          info->name, first, first + count - 1, have);
    if (weights && !record->store.weights)
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED, "energy %d (%s): its elements have no weights; pass NULL",
                          energy.index, info->name);
    const size_t n = (size_t)info->vertex_count, begin = n * (size_t)first, total = n * (size_t)count;
    for (size_t i = 0; particles && i < total; i++)
        particles[i] = world->outside[record->store.particles[begin + i]];
    if (weights && total > 0)
        memcpy(weights, record->store.weights + begin, total * sizeof *weights);
    return SINEW_OK;
}

int32_t sinew_world_pinned(const sinew_world *world, int32_t capacity, int32_t *particles)
{
    int32_t count = 0;
    if (!SINEW_ASSERT(world && (capacity == 0 || particles)))
        return 0;
    for (int32_t i = 0; i < world->number_count; i++)
        if (world->inside[i] >= 0 && world->pinned[world->inside[i]]) {
            if (count < capacity)
                particles[count] = i;
            count++;
        }
    return count;
}
