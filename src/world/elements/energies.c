/* SPDX-License-Identifier: MIT
 *
 * energies.c: adds and removes energies of a world, and replaces their elements.
 *
 * New elements are built beside the old ones and replace them when they are complete, so that a failure leaves the
 * world unchanged.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "energy/parameter.h"
#include "world/elements/energy_record.h"
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
static sinew_status target_base_points(const sinew_world *world, const sinew_energy_def *def,
                                       const sinew_energy_store *store, sinew_real **points, sinew_error *error)
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
        status = target_base_points(world, def, &record->store, &points, error);
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
    sinew_world_mark_changed(world, sinew_energy_elements_bit(&record));
    return sinew_world_put_energy(world, sinew_world_energy_slot(world), record);
}

/* ---- Replacement of the elements of an energy ------------------------------------------------ */

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
static void keep_batch_settings(const sinew_batch *from, sinew_batch *to)
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
    keep_batch_settings(old, record->next_batch);
    record->batch = record->next_batch;
    record->next_batch = old;
    sinew_world_mark_changed(world, sinew_energy_elements_bit(record));
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
    keep_batch_settings(record->batch, made.batch);
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
    sinew_energy_record *record = sinew_energy_find(world, energy, error);
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
    const sinew_energy_record *record = sinew_energy_find(world, energy, NULL);
    return record ? record->batch->element_count : 0;
}

/* ---- Removal of an energy ---------------------------------------------------------------------- */

sinew_status sinew_world_remove_energy(sinew_world *world, sinew_energy energy, sinew_error *error)
{
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    sinew_energy_record *record = sinew_energy_find(world, energy, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    sinew_world_mark_changed(world, sinew_energy_elements_bit(record));
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
