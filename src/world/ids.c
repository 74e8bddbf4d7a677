/* SPDX-License-Identifier: MIT
 *
 * ids.c: ids of bodies, energies, pins and colliders, and their slots.
 *
 * A slot is reused after its object was removed, so an id carries a generation: each new object increments the slot's
 * generation. An id with another generation than its slot is refused: its object was removed, or is of another world.
 */
#include <stdio.h>

#include "world/world.h"

/* Description of one slot of the world (body, energy, ...), for error texts. */
typedef struct slot_view {
    const char *noun; /* noun for error texts: "body", "energy", "pins" or "collider" */
    bool many;        /* true: the noun is a plural, such as "pins" */
    int32_t count;    /* number of slots of this kind in the world */
    bool live;        /* true: the slot is in use; name and kind describe its current or last object */
    uint32_t generation;
    const char *kind; /* kind of the slot's object for error texts; "" if there is only one kind */
} slot_view;

static bool id_is_live(const slot_view *at, int32_t index, uint32_t generation)
{
    return index >= 0 && index < at->count && at->live && at->generation == generation;
}

/* Sets an error that states whether the object of the id never existed, was removed, or was replaced. */
static void fail_unknown_id(const slot_view *at, int32_t index, uint32_t generation, sinew_error *error)
{
    const char *verb = at->many ? "were" : "was";
    char kind[64] = "";
    if (at->kind[0])
        snprintf(kind, sizeof kind, " (%s)", at->kind);
    if (index < 0)
        sinew_fail(error, SINEW_ERROR_USAGE, "there %s no %s %d: a negative index means none", at->many ? "are" : "is",
                   at->noun, index);
    else if (index >= at->count || generation > at->generation)
        sinew_fail(error, SINEW_ERROR_USAGE, "there %s no %s %d of generation %u: the id is of another world",
                   at->many ? "are" : "is", at->noun, index, (unsigned)generation);
    else if (generation == at->generation)
        sinew_fail(error, SINEW_ERROR_USAGE, "%s %d%s %s removed", at->noun, index, kind, verb);
    else
        sinew_fail(error, SINEW_ERROR_USAGE, "%s %d of generation %u %s removed; the place went to generation %u%s%s",
                   at->noun, index, (unsigned)generation, verb, (unsigned)at->generation, kind,
                   at->live ? "" : ", removed too");
}

static bool slot_exists(const sinew_world *world, int32_t count, int32_t index)
{
    return world && index >= 0 && index < count;
}

sinew_body_record *sinew_world_find_body(const sinew_world *world, sinew_body body, sinew_error *error)
{
    slot_view at = {.noun = "body", .count = world ? world->body_count : 0, .kind = ""};
    sinew_body_record *record = slot_exists(world, at.count, body.index) ? &world->bodies[body.index] : NULL;
    if (record) {
        at.live = record->mesh != NULL;
        at.generation = record->generation;
    }
    if (SINEW_ASSERT(id_is_live(&at, body.index, body.generation)))
        return record;
    fail_unknown_id(&at, body.index, body.generation, error);
    return NULL;
}

sinew_energy_record *sinew_world_find_energy(const sinew_world *world, sinew_energy energy, sinew_error *error)
{
    slot_view at = {.noun = "energy", .count = world ? world->energy_count : 0, .kind = ""};
    sinew_energy_record *record = slot_exists(world, at.count, energy.index) ? &world->energies[energy.index] : NULL;
    if (record) {
        at.live = record->batch != NULL;
        at.generation = record->generation;
        at.kind = sinew_get_energy_info(record->kind)->name;
    }
    if (SINEW_ASSERT(id_is_live(&at, energy.index, energy.generation)))
        return record;
    fail_unknown_id(&at, energy.index, energy.generation, error);
    return NULL;
}

sinew_pin_record *sinew_world_find_pin(const sinew_world *world, sinew_pin pin, sinew_error *error)
{
    slot_view at = {.noun = "pins", .many = true, .count = world ? world->pin_count : 0, .kind = ""};
    sinew_pin_record *record = slot_exists(world, at.count, pin.index) ? &world->pins[pin.index] : NULL;
    if (record) {
        at.live = record->count > 0;
        at.generation = record->generation;
    }
    if (SINEW_ASSERT(id_is_live(&at, pin.index, pin.generation)))
        return record;
    fail_unknown_id(&at, pin.index, pin.generation, error);
    return NULL;
}

sinew_collider_record *sinew_world_find_collider(const sinew_world *world, sinew_collider collider, sinew_error *error)
{
    slot_view at = {.noun = "collider", .count = world ? world->collider_count : 0, .kind = ""};
    sinew_collider_record *record =
        slot_exists(world, at.count, collider.index) ? &world->colliders[collider.index] : NULL;
    if (record) {
        at.live = record->there;
        at.generation = record->generation;
        at.kind = sinew_shape_name(record->kind);
    }
    if (SINEW_ASSERT(id_is_live(&at, collider.index, collider.generation)))
        return record;
    fail_unknown_id(&at, collider.index, collider.generation, error);
    return NULL;
}

/* ---- Slots of the world ---------------------------------------------------------------------- */

void sinew_world_release_slot(int32_t *hint, int32_t slot)
{
    *hint = slot < *hint ? slot : *hint;
}

int32_t sinew_world_body_slot(const sinew_world *world)
{
    int32_t slot = world->body_hint;
    while (slot < world->body_count && world->bodies[slot].mesh)
        slot++;
    return slot;
}

int32_t sinew_world_energy_slot(const sinew_world *world)
{
    int32_t slot = world->energy_hint;
    while (slot < world->energy_count && world->energies[slot].batch)
        slot++;
    return slot;
}

int32_t sinew_world_pin_slot(const sinew_world *world)
{
    int32_t slot = world->pin_hint;
    while (slot < world->pin_count && world->pins[slot].count > 0)
        slot++;
    return slot;
}

int32_t sinew_world_collider_slot(const sinew_world *world)
{
    int32_t slot = world->collider_hint;
    while (slot < world->collider_count && world->colliders[slot].there)
        slot++;
    return slot;
}

sinew_body sinew_world_put_body(sinew_world *world, int32_t slot, sinew_body_record record)
{
    record.generation = slot < world->body_count ? world->bodies[slot].generation + 1 : 0;
    world->body_count += slot == world->body_count;
    world->body_hint = slot + 1;
    world->bodies[slot] = record;
    return (sinew_body){slot, record.generation};
}

sinew_energy sinew_world_put_energy(sinew_world *world, int32_t slot, sinew_energy_record record)
{
    record.generation = slot < world->energy_count ? world->energies[slot].generation + 1 : 0;
    world->energy_count += slot == world->energy_count;
    world->energy_hint = slot + 1;
    record.batch->number = slot;
    world->energies[slot] = record;
    return (sinew_energy){slot, record.generation};
}

sinew_pin sinew_world_put_pin(sinew_world *world, int32_t slot, sinew_pin_record record)
{
    record.generation = slot < world->pin_count ? world->pins[slot].generation + 1 : 0;
    world->pin_count += slot == world->pin_count;
    world->pin_hint = slot + 1;
    world->pins[slot] = record;
    return (sinew_pin){slot, record.generation};
}

sinew_collider sinew_world_put_collider(sinew_world *world, int32_t slot, sinew_collider_record record)
{
    record.there = true;
    record.generation = slot < world->collider_count ? world->colliders[slot].generation + 1 : 0;
    world->collider_count += slot == world->collider_count;
    world->collider_hint = slot + 1;
    world->colliders[slot] = record;
    return (sinew_collider){slot, record.generation};
}
