/* SPDX-License-Identifier: MIT
 *
 * edit.c: removes elements of an energy and appends others.
 *
 * The new list is assembled in the record's next store, from which the next batch is built. Both replace the old ones
 * when they are complete.
 */
#include <string.h>

#include "world/world.h"

/* Elements of an energy after an edit: kept elements of the old store, in their order, then all added elements. */
typedef struct selection {
    const sinew_allocator *allocator;
    /* The energy's store before the edit; store of added elements, NULL: none. */
    const sinew_energy_store *old, *added;
    const int32_t *kept; /* [kept_count] numbers that the kept elements have in the old store */
    int32_t kept_count, added_count;
    const int32_t *particles; /* [kept_count][vertex_count] new particles of the kept elements; NULL: unchanged */
} selection;

/* Copies the array of kept and of added elements, `size` bytes per element, one after the other, into the array at
 * `slot`. */
static bool merge_element_arrays(const selection *s, const void *old, const void *added, size_t size, void *slot,
                                 size_t *reserved)
{
    const size_t kept = (size_t)s->kept_count, more = (size_t)s->added_count;
    if (!sinew_reserve(s->allocator, slot, reserved, kept + more, size))
        return false;
    char *to = *(char **)slot;
    for (size_t i = 0; i < kept; i++)
        memcpy(to + i * size, (const char *)old + (size_t)s->kept[i] * size, size);
    if (more > 0)
        memcpy(to + kept * size, added, more * size);
    return true;
}

/* Merges a parameter: as one value per element if one store has individual values, or if the values of the two stores
 * differ. */
static bool merge_parameter(const selection *s, int32_t p, sinew_energy_store *to)
{
    const uint32_t bit = 1u << p;
    const bool same = !s->added || s->added->parameters[p] == s->old->parameters[p];
    const bool each = (s->old->by_element & bit) || (s->added && s->added->by_element & bit);
    to->parameters[p] = s->old->parameters[p];
    if (same && !each)
        return true;
    if (!sinew_reserve(s->allocator, &to->each[p], &to->each_capacity[p], (size_t)to->count, sizeof *to->each[p]))
        return false;
    to->by_element |= bit;
    for (int32_t i = 0; i < to->count; i++) {
        const sinew_energy_store *from = i < s->kept_count ? s->old : s->added;
        const int32_t e = i < s->kept_count ? s->kept[i] : i - s->kept_count;
        to->each[p][i] = from->by_element & bit ? from->each[p][e] : from->parameters[p];
    }
    return true;
}

/* Merges the normals of kept and added elements if one store has them; elements of the other store get z. */
static bool merge_normals(const selection *s, sinew_energy_store *to)
{
    const sinew_real z[3] = {0, 0, 1};
    to->normals_given = s->old->normals_given || (s->added && s->added->normals_given);
    if (!to->normals_given)
        return true;
    if (!sinew_reserve(s->allocator, &to->normals, &to->normal_capacity, 3 * (size_t)to->count, sizeof *to->normals))
        return false;
    for (int32_t i = 0; i < to->count; i++) {
        const sinew_energy_store *from = i < s->kept_count ? s->old : s->added;
        const size_t e = (size_t)(i < s->kept_count ? s->kept[i] : i - s->kept_count);
        memcpy(to->normals + 3 * (size_t)i, from->normals_given ? from->normals + 3 * e : z, sizeof z);
    }
    return true;
}

/* Merges the filled fractions of kept and added elements if one store has them; elements of the other store get 1. */
static bool merge_fractions(const selection *s, sinew_energy_store *to)
{
    to->fractions_given = s->old->fractions_given || (s->added && s->added->fractions_given);
    if (!to->fractions_given)
        return true;
    if (!sinew_reserve(s->allocator, &to->fractions, &to->fraction_capacity, (size_t)to->count, sizeof *to->fractions))
        return false;
    for (int32_t i = 0; i < to->count; i++) {
        const sinew_energy_store *from = i < s->kept_count ? s->old : s->added;
        const int32_t e = i < s->kept_count ? s->kept[i] : i - s->kept_count;
        to->fractions[i] = from->fractions_given ? from->fractions[e] : 1;
    }
    return true;
}

/* Merges the example shapes of kept and added elements if one store has them; elements of the other store get none. */
static bool merge_examples(const selection *s, sinew_energy_store *to)
{
    const size_t each = 6 * SINEW_EXAMPLE_MAX;
    to->examples_given = s->old->examples_given || (s->added && s->added->examples_given);
    if (!to->examples_given)
        return true;
    if (!sinew_reserve(s->allocator, &to->examples, &to->example_capacity, each * (size_t)to->count,
                       sizeof *to->examples))
        return false;
    memset(to->examples, 0, each * (size_t)to->count * sizeof *to->examples);
    for (int32_t i = 0; i < to->count; i++) {
        const sinew_energy_store *from = i < s->kept_count ? s->old : s->added;
        const size_t e = (size_t)(i < s->kept_count ? s->kept[i] : i - s->kept_count);
        if (from->examples_given)
            memcpy(to->examples + each * (size_t)i, from->examples + each * e, each * sizeof *to->examples);
    }
    return true;
}

static bool merge_elements(const selection *s, const sinew_energy_info *info, sinew_energy_store *to)
{
    const sinew_energy_store *old = s->old, *added = s->added;
    const size_t n = (size_t)info->vertex_count;
    const bool weighted = sinew_get_stencil(info->stencil)->takes & SINEW_TAKES_WEIGHTS;
    to->body = !added || added->body.index == old->body.index ? old->body : (sinew_body){.index = -1};
    to->count = s->kept_count + s->added_count;
    to->by_element = 0;
    to->rest_given = old->rest_given;
    bool good = merge_element_arrays(s, old->particles, added ? added->particles : NULL, n * sizeof *to->particles,
                                     &to->particles, &to->particle_bytes) &&
                (!weighted || merge_element_arrays(s, old->weights, added ? added->weights : NULL,
                                                   8 * sizeof *to->weights, &to->weights, &to->weight_capacity)) &&
                merge_normals(s, to) && merge_fractions(s, to) && merge_examples(s, to) &&
                (!to->rest_given || merge_element_arrays(s, old->rest, added ? added->rest : NULL,
                                                         3 * n * sizeof *to->rest, &to->rest, &to->rest_capacity));
    for (int32_t p = 0; good && p < info->parameter_count; p++)
        good = merge_parameter(s, p, to);
    if (good && s->particles)
        memcpy(to->particles, s->particles, (size_t)s->kept_count * n * sizeof *to->particles);
    return good;
}

/* Copies the on/off switches of the kept elements to the new batch. */
static bool copy_kept_switches(const selection *s, const sinew_batch *from, sinew_batch *to)
{
    if (from->off_count == 0)
        return true;
    if (!sinew_batch_allow_switching(to, s->allocator))
        return false;
    for (int32_t i = 0; i < s->kept_count; i++)
        if (sinew_batch_is_off(from, s->kept[i]))
            sinew_batch_switch(to, i, false);
    return true;
}

static sinew_status replace_by_selection(sinew_world *world, sinew_energy_record *record, const selection *s,
                                         sinew_error *error)
{
    const sinew_energy_info *info = &record->batch->ops->info;
    sinew_status status = merge_elements(s, info, &record->next_store)
                              ? sinew_energy_build_from(world, record, &record->next_store, error)
                              : sinew_fail_memory(error, "the elements of an energy");
    if (status == SINEW_OK && !copy_kept_switches(s, record->batch, record->next_batch))
        status = sinew_fail_memory(error, "the elements of an energy");
    if (status == SINEW_OK)
        sinew_energy_take_next_store(world, record);
    else
        sinew_energy_drop_next(world, record);
    return status;
}

static sinew_status fail_has_targets(const sinew_energy_record *record, int32_t energy, sinew_error *error)
{
    return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                      "energy %d (%s) has targets, which belong to its list of elements; use sinew_energy_set_elements",
                      energy, record->batch->ops->info.name);
}

sinew_status sinew_energy_add_elements(sinew_world *world, sinew_energy energy, const sinew_energy_def *def,
                                       int32_t *first, sinew_error *error)
{
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    sinew_error own;
    sinew_error *told = error ? error : &own;
    sinew_energy_record *record = sinew_energy_check_elements_def(world, energy, def, told);
    if (!record)
        return told->status;
    if (record->targets.count > 0)
        return fail_has_targets(record, energy.index, error);
    const sinew_allocator *allocator = &world->allocator;
    const int32_t count = record->store.count;
    sinew_energy_store added = {0};
    int32_t *kept = sinew_allocate(allocator, (size_t)count, sizeof *kept);
    sinew_status status = kept ? sinew_energy_store_fill(&added, world, def, error)
                               : sinew_fail_memory(error, "the elements of an energy");
    const int32_t max = INT32_MAX / (32 * record->batch->ops->info.vertex_count);
    if (status == SINEW_OK && added.count > max - count)
        status = sinew_fail(error, SINEW_ERROR_DATA, "energy %d (%s) would have more than %d elements", energy.index,
                            record->batch->ops->info.name, max);
    if (status == SINEW_OK && record->store.rest_given && !sinew_energy_own_rest(world, record->kind, &added))
        status = sinew_fail_memory(error, "the elements of an energy");
    for (int32_t i = 0; kept && i < count; i++)
        kept[i] = i;
    if (status == SINEW_OK)
        status = replace_by_selection(world, record,
                                      &(selection){.allocator = allocator,
                                                   .old = &record->store,
                                                   .added = &added,
                                                   .kept = kept,
                                                   .kept_count = count,
                                                   .added_count = added.count},
                                      error);
    if (status == SINEW_OK && first)
        *first = count;
    sinew_energy_store_release(&added, allocator);
    sinew_release(allocator, kept);
    return status;
}

/* Lists in kept [all - count] the elements of 0 .. all - 1 that are not in the list; returns their number. */
static int32_t list_kept(const int32_t *elements, int32_t count, int32_t all, int32_t *kept)
{
    int32_t found = 0;
    for (int32_t i = 0; i < all; i++)
        kept[i] = 0;
    for (int32_t i = 0; i < count; i++)
        kept[elements[i]] = 1;
    for (int32_t i = 0; i < all; i++)
        if (!kept[i])
            kept[found++] = i;
    return found;
}

sinew_status sinew_energy_remove_elements(sinew_world *world, sinew_energy energy, const int32_t *elements,
                                          int32_t count, sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    sinew_energy_record *record = sinew_world_find_energy(world, energy, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    if (!SINEW_ASSERT(elements || count == 0))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_energy_remove_elements needs a list");
    if (record->targets.count > 0)
        return fail_has_targets(record, energy.index, error);
    const int32_t all = record->store.count;
    sinew_status status = sinew_energy_check_list(world, record, energy.index, elements, count, error);
    if (status != SINEW_OK || count == 0)
        return status;
    if (count == all)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "energy %d (%s) would have no elements; remove it, or switch them off", energy.index,
                          record->batch->ops->info.name);
    int32_t *kept = sinew_allocate(&world->allocator, (size_t)all, sizeof *kept);
    if (!kept)
        return sinew_fail_memory(error, "the elements of an energy");
    const int32_t left = list_kept(elements, count, all, kept);
    status = replace_by_selection(
        world, record,
        &(selection){.allocator = &world->allocator, .old = &record->store, .kept = kept, .kept_count = left}, error);
    sinew_release(&world->allocator, kept);
    return status;
}

sinew_status sinew_energy_reselect(sinew_world *world, sinew_energy_record *record, const int32_t *kept, int32_t count,
                                   const int32_t *particles, sinew_error *error)
{
    const selection s = {.allocator = &world->allocator,
                         .old = &record->store,
                         .kept = kept,
                         .kept_count = count,
                         .particles = particles};
    return replace_by_selection(world, record, &s, error);
}
