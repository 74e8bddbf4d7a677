/* SPDX-License-Identifier: MIT
 *
 * pins.c: adds, moves and removes pins: particles with prescribed motion.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "world/follow.h"
#include "world/world.h"

sinew_pin_def sinew_default_pin_def(void)
{
    return (sinew_pin_def){.cookie = SINEW_COOKIE_PIN, .body = {.index = -1}};
}

void sinew_pin_record_destroy(const sinew_allocator *allocator, sinew_pin_record *record)
{
    sinew_release(allocator, record->particles);
    sinew_release(allocator, record->along);
    sinew_trajectory_destroy(&record->trajectory, allocator);
    *record = (sinew_pin_record){.generation = record->generation};
}

/* Marks the solver as changed, because pinned particles are not unknowns. */
static void mark_pins_changed(sinew_world *world)
{
    sinew_world_mark_changed(world, SINEW_CHANGED_PINS);
}

static void unmark_pinned(sinew_world *world, const int32_t *particles, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        world->pinned[particles[i]] = 0;
}

/* Marks the particles of a new pin as pinned; if one is already pinned, unmarks the others and fails. */
static sinew_status pin_mark(sinew_world *world, const sinew_pin_def *def, const int32_t *particles, sinew_error *error)
{
    for (int32_t i = 0; i < def->vertex_count; i++) {
        if (world->pinned[particles[i]]) {
            unmark_pinned(world, particles, i);
            return sinew_fail(error, SINEW_ERROR_DATA, "pins: vertex %d is pinned already", def->vertices[i]);
        }
        world->pinned[particles[i]] = 1;
    }
    return SINEW_OK;
}

static sinew_status pin_make_record(const sinew_world *world, const sinew_pin_def *def, sinew_pin_record *record,
                                    sinew_error *error)
{
    const int32_t count = record->count = def->vertex_count;
    const sinew_status directions = sinew_pin_take_directions(def, record, error);
    if (directions != SINEW_OK)
        return directions;
    record->particles = sinew_allocate(&world->allocator, (size_t)count, sizeof *record->particles);
    sinew_real *base = sinew_allocate(&world->allocator, 3 * (size_t)count, sizeof *base);
    sinew_status status = record->particles && base ? SINEW_OK : sinew_fail_memory(error, "pins");
    if (status == SINEW_OK)
        status = sinew_world_resolve(world, def->body, def->vertices, count, "pins", record->particles, error);
    if (status == SINEW_OK) {
        sinew_world_points(world->q, record->particles, count, base);
        for (int32_t i = 0; def->targets && i < 3 * count; i++) {
            base[i] = def->targets[i];
            if (!isfinite(base[i]))
                status = sinew_fail(error, SINEW_ERROR_DATA, "pins: target %d is not finite", i / 3);
        }
    }
    if (status == SINEW_OK)
        status =
            sinew_trajectory_create(&record->trajectory, &world->allocator, count, base, def->motion, "pins", error);
    if (status == SINEW_OK)
        status = sinew_follow_bind(world, &record->trajectory, def->follow, "pins", error);
    sinew_release(&world->allocator, base);
    record->body = def->body;
    record->motion_digest = sinew_follow_digest(sinew_motion_digest(def->motion), def->follow, count);
    return status;
}

sinew_pin sinew_world_add_pins(sinew_world *world, const sinew_pin_def *def, sinew_error *error)
{
    const sinew_pin none = {.index = -1};
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return none;
    if (!SINEW_ASSERT(world && def && def->cookie == SINEW_COOKIE_PIN)) {
        sinew_fail(error, SINEW_ERROR_USAGE, "pins need a world and a def made by sinew_default_pin_def()");
        return none;
    }
    if (def->vertex_count < 1 || !def->vertices) {
        sinew_fail(error, SINEW_ERROR_DATA, "pins: the list of vertices is empty");
        return none;
    }
    sinew_pin_record record = {0};
    sinew_status status = pin_make_record(world, def, &record, error);
    const int32_t slot = sinew_world_pin_slot(world);
    if (status == SINEW_OK &&
        !sinew_grow(&world->allocator, (void **)&world->pins, slot, &world->pin_capacity, sizeof *world->pins))
        status = sinew_fail_memory(error, "pins");
    if (status == SINEW_OK)
        status = sinew_pin_check_directions(world, def, &record, error);
    if (status == SINEW_OK)
        status = pin_mark(world, def, record.particles, error);
    if (status == SINEW_OK && sinew_pin_is_partial(&record)) {
        unmark_pinned(world, record.particles, record.count);
    } else if (status == SINEW_OK) {
        status = sinew_world_check_fixed(world, error);
        if (status != SINEW_OK)
            unmark_pinned(world, record.particles, record.count);
    }
    if (status != SINEW_OK) {
        sinew_pin_record_destroy(&world->allocator, &record);
        return none;
    }
    mark_pins_changed(world);
    return sinew_world_put_pin(world, slot, record);
}

sinew_status sinew_pin_set_targets(sinew_world *world, sinew_pin pin, const sinew_real *targets, sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    sinew_pin_record *record = sinew_world_find_pin(world, pin, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    if (!SINEW_ASSERT(targets))
        return sinew_fail(error, SINEW_ERROR_USAGE, "pins %d: no targets are given", pin.index);
    char owner[32];
    snprintf(owner, sizeof owner, "pins %d", pin.index);
    return sinew_trajectory_replace(&record->trajectory, targets, owner, error);
}

sinew_status sinew_pin_set_motion(sinew_world *world, sinew_pin pin, const sinew_motion *motion, sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    sinew_pin_record *record = sinew_world_find_pin(world, pin, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    char owner[32];
    snprintf(owner, sizeof owner, "pins %d", pin.index);
    sinew_trajectory trajectory;
    sinew_status status = sinew_trajectory_create(&trajectory, &world->allocator, record->count,
                                                  record->trajectory.base, motion, owner, error);
    if (status != SINEW_OK)
        return status;
    sinew_trajectory_destroy(&record->trajectory, &world->allocator);
    record->trajectory = trajectory;
    record->motion_digest = sinew_motion_digest(motion);
    return SINEW_OK;
}

sinew_status sinew_world_remove_pins(sinew_world *world, sinew_pin pin, sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    sinew_pin_record *record = sinew_world_find_pin(world, pin, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    unmark_pinned(world, record->particles, record->count);
    sinew_pin_record_destroy(&world->allocator, record);
    sinew_world_release_slot(&world->pin_hint, pin.index);
    mark_pins_changed(world);
    return SINEW_OK;
}
