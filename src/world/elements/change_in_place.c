/* SPDX-License-Identifier: MIT
 *
 * change_in_place.c: changes of an energy that keep its elements: on/off switches, parameters, rest shapes and targets;
 * and the multipliers of its constraints.
 *
 * A change that an element refuses is undone for all elements.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "energy/parameter.h"
#include "world/elements/energy_record.h"
#include "world/world.h"

/* ---- On/off switches of elements --------------------------------------------------------------- */

sinew_status sinew_energy_check_list(const sinew_world *world, const sinew_energy_record *record, int32_t energy,
                                     const int32_t *elements, int32_t count, sinew_error *error)
{
    const int32_t max = record->batch->element_count;
    const char *name = record->batch->ops->info.name;
    if (count < 0)
        return sinew_fail(error, SINEW_ERROR_DATA, "energy %d (%s): the number of elements is %d, must be at least 0",
                          energy, name, count);
    uint8_t *seen = sinew_allocate_zero(&world->allocator, (size_t)max, 1);
    sinew_status status = seen ? SINEW_OK : sinew_fail_memory(error, "a list of elements");
    for (int32_t i = 0; status == SINEW_OK && i < count; i++) {
        if (elements[i] < 0 || elements[i] >= max)
            status = sinew_fail(error, SINEW_ERROR_DATA, "energy %d (%s) has no element %d; it has %d", energy, name,
                                elements[i], max);
        else if (seen[elements[i]]++)
            status = sinew_fail(error, SINEW_ERROR_DATA, "energy %d (%s): element %d is listed twice", energy, name,
                                elements[i]);
    }
    sinew_release(&world->allocator, seen);
    return status;
}

sinew_status sinew_energy_switch(sinew_world *world, sinew_energy energy, const int32_t *elements, int32_t count,
                                 bool on, sinew_error *error)
{
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    sinew_energy_record *record = sinew_energy_find(world, energy, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    sinew_batch *batch = record->batch;
    sinew_status status =
        elements ? sinew_energy_check_list(world, record, energy.index, elements, count, error) : SINEW_OK;
    if (status == SINEW_OK && !sinew_batch_allow_switching(batch, &world->allocator))
        status = sinew_fail_memory(error, "the switches of an energy");
    if (status != SINEW_OK)
        return status;
    for (int32_t i = 0; i < (elements ? count : batch->element_count); i++)
        sinew_batch_switch(batch, elements ? elements[i] : i, on);
    sinew_world_mark_changed(world, batch->transient ? SINEW_CHANGED_TRANSIENT : SINEW_CHANGED_SWITCHED);
    return SINEW_OK;
}

bool sinew_energy_is_on(const sinew_world *world, sinew_energy energy, int32_t element)
{
    const sinew_energy_record *record = sinew_energy_find(world, energy, NULL);
    if (!record)
        return false;
    const sinew_batch *batch = record->batch;
    return SINEW_ASSERT(element >= 0 && element < batch->element_count) && !sinew_batch_is_off(batch, element);
}

/* ---- Changes of parameters and rest shapes ----------------------------------------------------- */

static uint32_t energy_data_bit(const sinew_energy_record *record)
{
    return record->batch->transient ? SINEW_CHANGED_TRANSIENT : SINEW_CHANGED_DATA;
}

/* Prepares elements first .. last - 1 of an energy from the current store; *done receives the element after the last
 * one tried. */
static sinew_status energy_prepare_range(const sinew_world *world, sinew_energy_record *record, int32_t first,
                                         int32_t last, int32_t *done, sinew_error *error)
{
    sinew_status status = SINEW_OK;
    for (*done = first; status == SINEW_OK && *done < last; ++*done)
        status = sinew_energy_prepare_again(world, record, *done, error);
    return status;
}

static int32_t energy_find_parameter(const sinew_energy_record *record, int32_t energy, const char *name,
                                     sinew_error *error)
{
    const int32_t p = name ? sinew_energy_parameter(record->kind, name) : -1;
    if (p < 0)
        sinew_fail(error, SINEW_ERROR_USAGE, "energy %d is %s and has no parameter '%s'", energy,
                   record->batch->ops->info.name, name ? name : "");
    return p;
}

/* Sets a parameter of an energy: one value for all elements (each NULL), or one value per element, in an array that
 * the store then owns. If an element refuses, the old parameter is restored. */
static sinew_status energy_take_parameter(sinew_world *world, sinew_energy_record *record, int32_t p, sinew_real value,
                                          sinew_real *each, sinew_error *error)
{
    sinew_energy_store *store = &record->store;
    const sinew_real old = store->parameters[p];
    const uint32_t old_bits = store->by_element;
    sinew_real *old_each = store->each[p];
    const bool coupled = record->batch->coupled;
    store->parameters[p] = each ? old : value;
    store->by_element = each ? old_bits | 1u << p : old_bits & ~(1u << p);
    store->each[p] = each ? each : old_each;
    const sinew_status status = sinew_energy_reparametrise(world, record, error);
    if (status != SINEW_OK) {
        store->parameters[p] = old;
        store->by_element = old_bits;
        store->each[p] = old_each;
        sinew_energy_reparametrise(world, record, NULL);
        sinew_release(&world->allocator, each);
        return status;
    }
    if (each) {
        sinew_release(&world->allocator, old_each);
        store->each_capacity[p] = (size_t)store->count * sizeof *each;
    }
    /* A parameter that starts or stops to couple the elements changes the systems of solvers. */
    sinew_world_mark_changed(world, record->batch->coupled == coupled ? energy_data_bit(record)
                                                                      : sinew_energy_elements_bit(record));
    return SINEW_OK;
}

sinew_status sinew_energy_set_parameter(sinew_world *world, sinew_energy energy, const char *name, sinew_real value,
                                        sinew_error *error)
{
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    sinew_energy_record *record = sinew_energy_find(world, energy, error);
    const int32_t p = record ? energy_find_parameter(record, energy.index, name, error) : -1;
    if (p < 0)
        return SINEW_ERROR_USAGE;
    const sinew_energy_info *info = &record->batch->ops->info;
    const sinew_status status = sinew_parameter_check(&info->parameters[p], (double)value, info->name, error);
    return status == SINEW_OK ? energy_take_parameter(world, record, p, value, NULL, error) : status;
}

sinew_status sinew_energy_set_element_parameters(sinew_world *world, sinew_energy energy, const char *name,
                                                 const sinew_real *values, sinew_error *error)
{
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    sinew_energy_record *record = sinew_energy_find(world, energy, error);
    const int32_t p = record ? energy_find_parameter(record, energy.index, name, error) : -1;
    if (p < 0)
        return SINEW_ERROR_USAGE;
    if (!SINEW_ASSERT(values))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_energy_set_element_parameters needs values");
    const size_t count = (size_t)record->store.count;
    const sinew_status status = sinew_energy_check_parameter(record->kind, p, values, record->store.count, error);
    if (status != SINEW_OK)
        return status;
    sinew_real *each = sinew_allocate(&world->allocator, count, sizeof *each);
    if (!each)
        return sinew_fail_memory(error, "the parameters of an energy");
    memcpy(each, values, count * sizeof *each);
    return energy_take_parameter(world, record, p, 0, each, error);
}

sinew_status sinew_energy_get_parameter(const sinew_world *world, sinew_energy energy, const char *name,
                                        int32_t element, sinew_real *value, sinew_error *error)
{
    const sinew_energy_record *record = sinew_energy_find(world, energy, error);
    const int32_t p = record ? energy_find_parameter(record, energy.index, name, error) : -1;
    if (p < 0)
        return SINEW_ERROR_USAGE;
    if (!SINEW_ASSERT(value))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_energy_get_parameter needs room for the value");
    if (element < 0 || element >= record->store.count)
        return sinew_fail(error, SINEW_ERROR_DATA, "energy %d (%s) has no element %d; it has %d", energy.index,
                          record->batch->ops->info.name, element, record->store.count);
    *value = record->store.by_element >> p & 1 ? record->store.each[p][element] : record->store.parameters[p];
    return SINEW_OK;
}

bool sinew_energy_own_rest(const sinew_world *world, sinew_energy_kind kind, sinew_energy_store *store)
{
    const int32_t n = sinew_get_energy_info(kind)->vertex_count;
    if (store->rest_given)
        return true;
    if (!sinew_reserve(&world->allocator, &store->rest, &store->rest_capacity, 3 * (size_t)store->count * (size_t)n,
                       sizeof *store->rest))
        return false;
    sinew_world_points(world->rest, store->particles, store->count * n, store->rest);
    store->rest_given = true;
    return true;
}

sinew_status sinew_energy_set_rest(sinew_world *world, sinew_energy energy, int32_t first, int32_t count,
                                   const sinew_real *rest, sinew_error *error)
{
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    sinew_energy_record *record = sinew_energy_find(world, energy, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    const sinew_energy_info *info = &record->batch->ops->info;
    if (!SINEW_ASSERT(rest || count == 0))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_energy_set_rest needs rest positions");
    if (first < 0 || count < 0 || first > record->store.count - count)
        return sinew_fail(error, SINEW_ERROR_DATA, "energy %d (%s) has %d elements, not %d .. %lld", energy.index,
                          info->name, record->store.count, first, (long long)first + count - 1);
    const size_t size = 3 * (size_t)info->vertex_count, reals = size * (size_t)count;
    for (size_t i = 0; i < reals; i++)
        if (!isfinite(rest[i]))
            return sinew_fail(error, SINEW_ERROR_DATA, "energy %d (%s): the rest shape of element %d is not finite",
                              energy.index, info->name, first + (int32_t)(i / size));
    sinew_real *old = sinew_allocate(&world->allocator, reals, sizeof *old);
    if (!old || !sinew_energy_own_rest(world, record->kind, &record->store)) {
        sinew_release(&world->allocator, old);
        return sinew_fail_memory(error, "the rest shapes of an energy");
    }
    sinew_real *own = record->store.rest + size * (size_t)first;
    int32_t done, again;
    memcpy(old, own, reals * sizeof *old);
    memcpy(own, rest, reals * sizeof *own);
    const sinew_status status = energy_prepare_range(world, record, first, first + count, &done, error);
    if (status != SINEW_OK) {
        memcpy(own, old, reals * sizeof *own);
        energy_prepare_range(world, record, first, done, &again, NULL);
    } else {
        sinew_world_mark_changed(world, energy_data_bit(record));
    }
    sinew_release(&world->allocator, old);
    return status;
}

/* ---- Targets and multipliers of an energy -------------------------------------------- */

sinew_status sinew_energy_set_targets(sinew_world *world, sinew_energy energy, const sinew_real *targets,
                                      sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    sinew_energy_record *record = sinew_world_find_energy(world, energy, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    const char *name = sinew_get_energy_info(record->kind)->name;
    if (!SINEW_ASSERT(targets && record->targets.count > 0))
        return sinew_fail(error, SINEW_ERROR_USAGE, "energy %d (%s): %s", energy.index, name,
                          targets ? "has no targets" : "no targets are given");
    char owner[64];
    snprintf(owner, sizeof owner, "energy %d (%s)", energy.index, name);
    return sinew_trajectory_replace(&record->targets, targets, owner, error);
}

sinew_status sinew_energy_multipliers(const sinew_world *world, sinew_energy energy, int32_t capacity,
                                      sinew_real *values, int32_t *count, sinew_error *error)
{
    sinew_error_clear(error);
    const sinew_energy_record *record = sinew_world_find_energy(world, energy, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    if (!SINEW_ASSERT(count && (values || capacity == 0)))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_energy_multipliers needs a count and room for the values");
    const sinew_batch *batch = record->batch;
    const char *solver = sinew_get_solver_info(world->def.solver.kind)->name;
    *count = 0;
    if (!sinew_solver_get_ops(world->def.solver.kind)->multipliers)
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED, "%s has no multipliers; use xpbd, pbd, sap or primal-dual",
                          solver);
    if (world->solver_changed || world->step_count == 0)
        return sinew_fail(error, SINEW_ERROR_DATA, "%s has no multipliers before its first step; take one", solver);
    *count = batch->element_count * batch->ops->constraint_count;
    if (capacity < *count)
        return sinew_fail(error, SINEW_ERROR_DATA, "there are %d multipliers and room for %d", *count, capacity);
    if (world->solve.ops->multipliers(&world->solve, batch, values))
        return SINEW_OK;
    return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                      "energy %d (%s) is no constraint of %s's system; keep it hard, or set constraints to all",
                      energy.index, batch->ops->info.name, solver);
}
