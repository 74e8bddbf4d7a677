/* SPDX-License-Identifier: MIT
 *
 * energies.c: adds, changes and removes energies of a world.
 *
 * Materials, rest shapes and on/off switches change in place. New elements are built beside the old ones and replace
 * them when they are complete, so that a failure leaves the world unchanged.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "energy/parameter.h"
#include "world/follow.h"
#include "world/world.h"

sinew_energy_def sinew_default_energy_def(sinew_energy_kind kind)
{
    const sinew_energy_info *info = sinew_get_energy_info(kind);
    sinew_energy_def def = {.cookie = SINEW_COOKIE_ENERGY,
                            .kind = kind,
                            .body = {.index = -1},
                            .transient = info && sinew_get_stencil(info->stencil)->transient};
    for (int32_t i = 0; info && i < info->parameter_count; i++)
        def.parameters[i] = (sinew_real)info->parameters[i].preset;
    return def;
}

void sinew_energy_record_destroy(const sinew_allocator *allocator, sinew_energy_record *record)
{
    sinew_batch_destroy(allocator, record->batch);
    sinew_batch_destroy(allocator, record->next_batch);
    sinew_energy_store_release(&record->store, allocator);
    sinew_energy_store_release(&record->next_store, allocator);
    sinew_energy_work_release(&record->work, allocator);
    sinew_trajectory_destroy(&record->targets, allocator);
    *record = (sinew_energy_record){.kind = record->kind, .generation = record->generation};
}

/* ---- Addition of an energy ------------------------------------------------------------------- */

static sinew_status check_energy_def(const sinew_world *world, const sinew_energy_def *def, sinew_error *error)
{
    if (!SINEW_ASSERT(world && def && def->cookie == SINEW_COOKIE_ENERGY))
        return sinew_fail(error, SINEW_ERROR_USAGE,
                          "an energy needs a world and a def made by sinew_default_energy_def()");
    const sinew_energy_info *info = sinew_get_energy_info(def->kind);
    if (!SINEW_ASSERT(info))
        return sinew_fail(error, SINEW_ERROR_USAGE, "there is no energy number %d", (int)def->kind);
    if (def->elements && def->element_count < 1)
        return sinew_fail(error, SINEW_ERROR_DATA, "%s: element_count is %d, must be at least 1", info->name,
                          def->element_count);
    if (!def->elements && def->body.index < 0)
        return sinew_fail(error, SINEW_ERROR_USAGE, "%s: needs a body or a list of elements", info->name);
    if (def->body.index >= 0 && !sinew_world_find_body(world, def->body, error))
        return SINEW_ERROR_USAGE;
    const sinew_stencil_info *stencil_info = sinew_get_stencil(info->stencil);
    if ((!stencil_info->find && !def->elements) || (stencil_info->takes & SINEW_TAKES_WEIGHTS && !def->weights))
        return sinew_fail(error, SINEW_ERROR_USAGE, "%s: needs elements%s", info->name,
                          stencil_info->takes & SINEW_TAKES_WEIGHTS ? " and weights" : "");
    if (!(def->pbd_stiffness >= 0 && def->pbd_stiffness <= 1))
        return sinew_fail(error, SINEW_ERROR_DATA, "%s: pbd_stiffness is %g, must be in [0, 1]", info->name,
                          (double)def->pbd_stiffness);
    const sinew_energy_ops *ops = sinew_energy_get_ops(def->kind);
    if (def->transient && (ops->global_constraint || ops->potential))
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "%s: its elements are one surface, which cannot be transient; leave transient off",
                          info->name);
    const sinew_status status = sinew_energy_damping_check(def, error);
    if (status != SINEW_OK)
        return status;
    const sinew_status coupled = sinew_solver_check_coupled(&world->def.solver, def->kind, def->parameters, error);
    if (coupled != SINEW_OK)
        return coupled;
    return sinew_solver_check_energy(&world->def.solver, def->kind, def->hard, error);
}

/* Computes the base points of an energy's targets, [count][3] in m, in *points, which the caller releases; NULL for
 * energies without targets. */
static sinew_status base_points(const sinew_world *world, const sinew_energy_def *def, const sinew_energy_store *store,
                                sinew_real **points, sinew_error *error)
{
    const sinew_energy_ops *ops = sinew_energy_get_ops(def->kind);
    *points = NULL;
    if (ops->target_slot < 0)
        return SINEW_OK;
    *points = sinew_allocate(&world->allocator, 3 * (size_t)store->count, sizeof **points);
    if (!*points)
        return sinew_fail_memory(error, "the targets of an energy");
    if (!def->targets) {
        sinew_world_points(world->q, store->particles, store->count, *points);
        return SINEW_OK;
    }
    for (int32_t i = 0; i < 3 * store->count; i++) {
        if (!isfinite(def->targets[i]))
            return sinew_fail(error, SINEW_ERROR_DATA, "%s: target %d is not finite", ops->info.name, i / 3);
        (*points)[i] = def->targets[i];
    }
    return SINEW_OK;
}

/* Fills a zeroed record of an energy from its definition: store, targets and batch. The caller destroys its contents,
 * also on failure. */
static sinew_status energy_make_record(const sinew_world *world, const sinew_energy_def *def,
                                       sinew_energy_record *record, sinew_error *error)
{
    const sinew_energy_ops *ops = sinew_energy_get_ops(def->kind);
    sinew_real *points = NULL;
    sinew_status status = sinew_energy_store_fill(&record->store, world, def, error);
    record->kind = def->kind;
    if (status == SINEW_OK)
        status = base_points(world, def, &record->store, &points, error);
    if (status == SINEW_OK && points)
        status = sinew_trajectory_create(&record->targets, &world->allocator, record->store.count, points, def->motion,
                                         ops->info.name, error);
    if (status == SINEW_OK && points)
        status = sinew_follow_bind(world, &record->targets, def->follow, ops->info.name, error);
    if (status == SINEW_OK)
        record->motion_digest =
            sinew_follow_digest(sinew_motion_digest(def->motion), points ? def->follow : NULL, record->store.count);
    if (status == SINEW_OK) {
        record->batch = sinew_batch_create(&world->allocator, ops, sinew_simd_width());
        status = record->batch
                     ? sinew_energy_build(world, def->kind, &record->store, points, &record->work, record->batch, error)
                     : sinew_fail_memory(error, "the elements of an energy");
    }
    if (record->batch) {
        record->batch->transient = def->transient;
        record->batch->hard = def->hard;
        record->batch->pbd_stiffness = def->pbd_stiffness;
        record->damping = def->damping;
    }
    sinew_release(&world->allocator, points);
    return status;
}

/* Reserves memory for the record of an energy and its entry in the list of batches. */
static bool reserve_energy(sinew_world *world)
{
    int32_t capacity = world->energy_capacity;
    if (sinew_world_energy_slot(world) < world->energy_count)
        return true;
    if (!sinew_grow(&world->allocator, (void **)&world->energies, world->energy_count, &capacity,
                    sizeof *world->energies))
        return false;
    if (capacity != world->energy_capacity || !world->batches) {
        sinew_batch **batches = sinew_allocate(&world->allocator, (size_t)capacity + 2, sizeof(sinew_batch *));
        world->energy_capacity = batches ? capacity : world->energy_count;
        if (!batches)
            return false;
        sinew_release(&world->allocator, world->batches);
        world->batches = batches;
    }
    return true;
}

static uint32_t elements_bit(const sinew_energy_record *record)
{
    return record->batch->transient ? SINEW_CHANGED_TRANSIENT : SINEW_CHANGED_ELEMENTS;
}

sinew_energy sinew_world_add_energy(sinew_world *world, const sinew_energy_def *def, sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return (sinew_energy){.index = -1};
    if (check_energy_def(world, def, error) != SINEW_OK)
        return (sinew_energy){.index = -1};
    sinew_energy_record record = {0};
    sinew_status status = energy_make_record(world, def, &record, error);
    if (status == SINEW_OK)
        status = sinew_energy_check_hard(world, &record, error);
    if (status == SINEW_OK)
        status = sinew_energy_check_fixed(world, &record, sinew_world_energy_slot(world), error);
    if (status == SINEW_OK && !reserve_energy(world))
        status = sinew_fail_memory(error, "the elements of an energy");
    if (status != SINEW_OK) {
        sinew_energy_record_destroy(&world->allocator, &record);
        return (sinew_energy){.index = -1};
    }
    if (!def->transient)
        sinew_energy_work_release(&record.work, &world->allocator);
    sinew_world_mark_changed(world, elements_bit(&record));
    return sinew_world_put_energy(world, sinew_world_energy_slot(world), record);
}

/* ---- Replacement of the elements of an energy ------------------------------------------------ */

/* Returns the record of an energy id; NULL, with an error, if the id names no energy. */
static sinew_energy_record *find_energy(const sinew_world *world, sinew_energy energy, sinew_error *error)
{
    sinew_error_clear(error);
    return sinew_world_find_energy(world, energy, error);
}

/* Switches off in `to` the elements that are off in `from`; the batches before and after a rebuild have the same
 * elements. */
static bool copy_switches(const sinew_batch *from, sinew_batch *to, const sinew_allocator *allocator)
{
    if (from->off_count > 0 && !sinew_batch_allow_switching(to, allocator))
        return false;
    for (int32_t e = 0; from->off_count > 0 && e < from->element_count; e++)
        if (sinew_batch_is_off(from, e))
            sinew_batch_switch(to, e, false);
    return true;
}

/* Copies to the next batch the data that do not depend on its elements (transient, hard, PBD stiffness, number), and
 * increments its version. */
static void keep_manner(const sinew_batch *from, sinew_batch *to)
{
    to->transient = from->transient;
    to->hard = from->hard;
    to->number = from->number;
    to->pbd_stiffness = from->pbd_stiffness;
    to->version = from->version + 1;
}

/* Replaces the batch of an energy by the next one. The objective and the solver borrow batches. So transient
 * elements leave the objective, and the old batch is kept for reuse; a fixed batch is released after solver and
 * objective. */
static void swap_batch(sinew_world *world, sinew_energy_record *record)
{
    sinew_batch *old = record->batch;
    keep_manner(old, record->next_batch);
    record->batch = record->next_batch;
    record->next_batch = old;
    sinew_world_mark_changed(world, elements_bit(record));
    if (old->transient) {
        sinew_objective_set_transient(&world->objective, NULL, 0, NULL);
        return;
    }
    sinew_solve_release(&world->solve);
    sinew_objective_clear(&world->objective);
    sinew_batch_destroy(&world->allocator, old);
    record->next_batch = NULL;
    sinew_energy_work_release(&record->work, &world->allocator);
}

/* Builds record->next_batch, the batch after an edit, from a store. */
static sinew_status build_next(const sinew_world *world, sinew_energy_record *record, sinew_energy_store *store,
                               const sinew_real *targets, sinew_error *error)
{
    if (!record->next_batch)
        record->next_batch = sinew_batch_create(&world->allocator, record->batch->ops, record->batch->width);
    if (!record->next_batch)
        return sinew_fail_memory(error, "the elements of an energy");
    return sinew_energy_build(world, record->kind, store, targets, &record->work, record->next_batch, error);
}

sinew_status sinew_energy_build_next(const sinew_world *world, sinew_energy_record *record, sinew_error *error)
{
    const sinew_real *targets = record->targets.count > 0 ? record->targets.current : NULL;
    sinew_status status = build_next(world, record, &record->store, targets, error);
    if (status == SINEW_OK && !copy_switches(record->batch, record->next_batch, &world->allocator))
        status = sinew_fail_memory(error, "the elements of an energy");
    return status;
}

void sinew_energy_take_next(sinew_world *world, sinew_energy_record *record)
{
    swap_batch(world, record);
}

void sinew_energy_drop_next(sinew_world *world, sinew_energy_record *record)
{
    if (record->batch->transient)
        return;
    sinew_batch_destroy(&world->allocator, record->next_batch);
    record->next_batch = NULL;
    sinew_energy_store_release(&record->next_store, &world->allocator);
    sinew_energy_work_release(&record->work, &world->allocator);
}

sinew_status sinew_energy_build_from(const sinew_world *world, sinew_energy_record *record, sinew_energy_store *store,
                                     sinew_error *error)
{
    return build_next(world, record, store, NULL, error);
}

void sinew_energy_take_next_store(sinew_world *world, sinew_energy_record *record)
{
    const sinew_energy_store old = record->store;
    record->store = record->next_store;
    record->next_store = old;
    if (!record->batch->transient)
        sinew_energy_store_release(&record->next_store, &world->allocator);
    swap_batch(world, record);
}

/* Builds new elements of an energy without targets in the next store and batch, then replaces the current ones. */
static sinew_status replace_elements(sinew_world *world, sinew_energy_record *record, const sinew_energy_def *def,
                                     sinew_error *error)
{
    sinew_status status = sinew_energy_store_fill(&record->next_store, world, def, error);
    if (status == SINEW_OK)
        status = build_next(world, record, &record->next_store, NULL, error);
    if (status == SINEW_OK)
        sinew_energy_take_next_store(world, record);
    else
        sinew_energy_drop_next(world, record);
    return status;
}

/* Replaces the elements of an energy with targets: a complete new record replaces the old record. */
static sinew_status replace_record(sinew_world *world, sinew_energy_record *record, const sinew_energy_def *def,
                                   sinew_error *error)
{
    sinew_energy_record made = {0};
    sinew_status status = energy_make_record(world, def, &made, error);
    if (status != SINEW_OK) {
        sinew_energy_record_destroy(&world->allocator, &made);
        return status;
    }
    made.generation = record->generation;
    keep_manner(record->batch, made.batch);
    sinew_solve_release(&world->solve);
    sinew_objective_clear(&world->objective);
    sinew_energy_record_destroy(&world->allocator, record);
    *record = made;
    sinew_world_mark_changed(world, SINEW_CHANGED_ELEMENTS);
    return SINEW_OK;
}

sinew_status sinew_energy_replace_rigid(sinew_world *world, sinew_energy_record *record, const sinew_energy_def *def,
                                        sinew_error *error)
{
    const int32_t number = record->batch->number;
    const sinew_status status = replace_record(world, record, def, error);
    if (status != SINEW_OK)
        return status;
    record->batch->hard = def->hard;
    record->batch->number = number;
    record->rigid = true;
    return SINEW_OK;
}

sinew_energy_record *sinew_energy_check_elements_def(const sinew_world *world, sinew_energy energy,
                                                     const sinew_energy_def *def, sinew_error *error)
{
    sinew_energy_record *record = find_energy(world, energy, error);
    if (!record || check_energy_def(world, def, error) != SINEW_OK)
        return NULL;
    const char *name = record->batch->ops->info.name;
    if (def->kind != record->kind) {
        sinew_fail(error, SINEW_ERROR_USAGE, "energy %d is %s: it does not take elements of %s", energy.index, name,
                   sinew_get_energy_info(def->kind)->name);
        return NULL;
    }
    if (def->transient != record->batch->transient) {
        sinew_fail(error, SINEW_ERROR_USAGE, "energy %d (%s) was added as %s and stays so; remove it and add it again",
                   energy.index, name, record->batch->transient ? "transient" : "fixed");
        return NULL;
    }
    return record;
}

sinew_status sinew_energy_set_elements(sinew_world *world, sinew_energy energy, const sinew_energy_def *def,
                                       sinew_error *error)
{
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    sinew_error own;
    sinew_error *told = error ? error : &own;
    sinew_energy_record *record = sinew_energy_check_elements_def(world, energy, def, told);
    if (!record)
        return told->status;
    return (record->targets.count > 0 ? replace_record : replace_elements)(world, record, def, error);
}

int32_t sinew_energy_element_count(const sinew_world *world, sinew_energy energy)
{
    const sinew_energy_record *record = find_energy(world, energy, NULL);
    return record ? record->batch->element_count : 0;
}

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
    sinew_energy_record *record = find_energy(world, energy, error);
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
    const sinew_energy_record *record = find_energy(world, energy, NULL);
    if (!record)
        return false;
    const sinew_batch *batch = record->batch;
    return SINEW_ASSERT(element >= 0 && element < batch->element_count) && !sinew_batch_is_off(batch, element);
}

/* ---- Changes of parameters and rest shapes ----------------------------------------------------- */

static uint32_t data_bit(const sinew_energy_record *record)
{
    return record->batch->transient ? SINEW_CHANGED_TRANSIENT : SINEW_CHANGED_DATA;
}

/* Prepares elements first .. last - 1 of an energy from the current store; *done receives the element after the last
 * one tried. */
static sinew_status prepare_range(const sinew_world *world, sinew_energy_record *record, int32_t first, int32_t last,
                                  int32_t *done, sinew_error *error)
{
    sinew_status status = SINEW_OK;
    for (*done = first; status == SINEW_OK && *done < last; ++*done)
        status = sinew_energy_prepare_again(world, record, *done, error);
    return status;
}

static int32_t find_parameter(const sinew_energy_record *record, int32_t energy, const char *name, sinew_error *error)
{
    const int32_t p = name ? sinew_energy_parameter(record->kind, name) : -1;
    if (p < 0)
        sinew_fail(error, SINEW_ERROR_USAGE, "energy %d is %s and has no parameter '%s'", energy,
                   record->batch->ops->info.name, name ? name : "");
    return p;
}

/* Sets a parameter of an energy: one value for all elements (each NULL), or one value per element, in an array that
 * the store then owns. If an element refuses, the old parameter is restored. */
static sinew_status take_parameter(sinew_world *world, sinew_energy_record *record, int32_t p, sinew_real value,
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
    sinew_world_mark_changed(world, record->batch->coupled == coupled ? data_bit(record) : elements_bit(record));
    return SINEW_OK;
}

sinew_status sinew_energy_set_parameter(sinew_world *world, sinew_energy energy, const char *name, sinew_real value,
                                        sinew_error *error)
{
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    sinew_energy_record *record = find_energy(world, energy, error);
    const int32_t p = record ? find_parameter(record, energy.index, name, error) : -1;
    if (p < 0)
        return SINEW_ERROR_USAGE;
    const sinew_energy_info *info = &record->batch->ops->info;
    const sinew_status status = sinew_parameter_check(&info->parameters[p], (double)value, info->name, error);
    return status == SINEW_OK ? take_parameter(world, record, p, value, NULL, error) : status;
}

sinew_status sinew_energy_set_element_parameters(sinew_world *world, sinew_energy energy, const char *name,
                                                 const sinew_real *values, sinew_error *error)
{
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    sinew_energy_record *record = find_energy(world, energy, error);
    const int32_t p = record ? find_parameter(record, energy.index, name, error) : -1;
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
    return take_parameter(world, record, p, 0, each, error);
}

sinew_status sinew_energy_get_parameter(const sinew_world *world, sinew_energy energy, const char *name,
                                        int32_t element, sinew_real *value, sinew_error *error)
{
    const sinew_energy_record *record = find_energy(world, energy, error);
    const int32_t p = record ? find_parameter(record, energy.index, name, error) : -1;
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
    sinew_energy_record *record = find_energy(world, energy, error);
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
    const sinew_status status = prepare_range(world, record, first, first + count, &done, error);
    if (status != SINEW_OK) {
        memcpy(own, old, reals * sizeof *own);
        prepare_range(world, record, first, done, &again, NULL);
    } else {
        sinew_world_mark_changed(world, data_bit(record));
    }
    sinew_release(&world->allocator, old);
    return status;
}

/* ---- Targets, multipliers and removal of an energy -------------------------------------------- */

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

sinew_status sinew_world_remove_energy(sinew_world *world, sinew_energy energy, sinew_error *error)
{
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    sinew_energy_record *record = find_energy(world, energy, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    sinew_world_mark_changed(world, elements_bit(record));
    /* The objective and the solver hold pointers to the batch of the removed energy. */
    if (record->batch->transient) {
        sinew_objective_set_transient(&world->objective, NULL, 0, NULL);
    } else {
        sinew_solve_release(&world->solve);
        sinew_objective_clear(&world->objective);
    }
    sinew_energy_record_destroy(&world->allocator, record);
    sinew_world_release_slot(&world->energy_hint, energy.index);
    return SINEW_OK;
}
