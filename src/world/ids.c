/* SPDX-License-Identifier: MIT
 *
 * ids.c: ids of bodies, energies, pins and colliders, and the places they name.
 *
 * A place is used again once its thing was removed, so an id carries the generation of what it named: the place's
 * generation goes up by one with each new thing. An id whose generation is not the place's names nothing for ever.
 */
#include <stdio.h>

#include "world/world.h"

/* One place as the texts of refusals describe it. */
typedef struct place_view {
    const char *noun; /* "body", "energy", "pins", "collider" */
    bool many;        /* the noun is a plural */
    int32_t count;    /* of places of this kind */
    bool live;        /* something is there, the next three are its own or those of what was there last */
    uint32_t generation;
    const char *kind; /* "" where all are alike */
} place_view;

static bool names_present(const place_view *at, int32_t index, uint32_t generation)
{
    return index >= 0 && index < at->count && at->live && at->generation == generation;
}

/* Says what became of the thing that the id names. */
static void refuse_id(const place_view *at, int32_t index, uint32_t generation, sinew_error *error)
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

static bool has_place(const sinew_world *world, int32_t count, int32_t index)
{
    return world && index >= 0 && index < count;
}

sinew_body_record *sinew_world_find_body(const sinew_world *world, sinew_body body, sinew_error *error)
{
    place_view at = {.noun = "body", .count = world ? world->body_count : 0, .kind = ""};
    sinew_body_record *record = has_place(world, at.count, body.index) ? &world->bodies[body.index] : NULL;
    if (record) {
        at.live = record->mesh != NULL;
        at.generation = record->generation;
    }
    if (SINEW_ASSERT(names_present(&at, body.index, body.generation)))
        return record;
    refuse_id(&at, body.index, body.generation, error);
    return NULL;
}

sinew_energy_record *sinew_world_find_energy(const sinew_world *world, sinew_energy energy, sinew_error *error)
{
    place_view at = {.noun = "energy", .count = world ? world->energy_count : 0, .kind = ""};
    sinew_energy_record *record = has_place(world, at.count, energy.index) ? &world->energies[energy.index] : NULL;
    if (record) {
        at.live = record->batch != NULL;
        at.generation = record->generation;
        at.kind = sinew_get_energy_info(record->kind)->name;
    }
    if (SINEW_ASSERT(names_present(&at, energy.index, energy.generation)))
        return record;
    refuse_id(&at, energy.index, energy.generation, error);
    return NULL;
}

sinew_pin_record *sinew_world_find_pin(const sinew_world *world, sinew_pin pin, sinew_error *error)
{
    place_view at = {.noun = "pins", .many = true, .count = world ? world->pin_count : 0, .kind = ""};
    sinew_pin_record *record = has_place(world, at.count, pin.index) ? &world->pins[pin.index] : NULL;
    if (record) {
        at.live = record->count > 0;
        at.generation = record->generation;
    }
    if (SINEW_ASSERT(names_present(&at, pin.index, pin.generation)))
        return record;
    refuse_id(&at, pin.index, pin.generation, error);
    return NULL;
}

sinew_collider_record *sinew_world_find_collider(const sinew_world *world, sinew_collider collider, sinew_error *error)
{
    place_view at = {.noun = "collider", .count = world ? world->collider_count : 0, .kind = ""};
    sinew_collider_record *record =
        has_place(world, at.count, collider.index) ? &world->colliders[collider.index] : NULL;
    if (record) {
        at.live = record->there;
        at.generation = record->generation;
        at.kind = sinew_shape_name(record->kind);
    }
    if (SINEW_ASSERT(names_present(&at, collider.index, collider.generation)))
        return record;
    refuse_id(&at, collider.index, collider.generation, error);
    return NULL;
}

/* ---- Places ---------------------------------------------------------------------------------- */

void sinew_world_free_place(int32_t *hint, int32_t place)
{
    *hint = place < *hint ? place : *hint;
}

int32_t sinew_world_body_place(const sinew_world *world)
{
    int32_t place = world->body_hint;
    while (place < world->body_count && world->bodies[place].mesh)
        place++;
    return place;
}

int32_t sinew_world_energy_place(const sinew_world *world)
{
    int32_t place = world->energy_hint;
    while (place < world->energy_count && world->energies[place].batch)
        place++;
    return place;
}

int32_t sinew_world_pin_place(const sinew_world *world)
{
    int32_t place = world->pin_hint;
    while (place < world->pin_count && world->pins[place].count > 0)
        place++;
    return place;
}

int32_t sinew_world_collider_place(const sinew_world *world)
{
    int32_t place = world->collider_hint;
    while (place < world->collider_count && world->colliders[place].there)
        place++;
    return place;
}

sinew_body sinew_world_put_body(sinew_world *world, int32_t place, sinew_body_record record)
{
    record.generation = place < world->body_count ? world->bodies[place].generation + 1 : 0;
    world->body_count += place == world->body_count;
    world->body_hint = place + 1;
    world->bodies[place] = record;
    return (sinew_body){place, record.generation};
}

sinew_energy sinew_world_put_energy(sinew_world *world, int32_t place, sinew_energy_record record)
{
    record.generation = place < world->energy_count ? world->energies[place].generation + 1 : 0;
    world->energy_count += place == world->energy_count;
    world->energy_hint = place + 1;
    record.batch->number = place;
    world->energies[place] = record;
    return (sinew_energy){place, record.generation};
}

sinew_pin sinew_world_put_pin(sinew_world *world, int32_t place, sinew_pin_record record)
{
    record.generation = place < world->pin_count ? world->pins[place].generation + 1 : 0;
    world->pin_count += place == world->pin_count;
    world->pin_hint = place + 1;
    world->pins[place] = record;
    return (sinew_pin){place, record.generation};
}

sinew_collider sinew_world_put_collider(sinew_world *world, int32_t place, sinew_collider_record record)
{
    record.there = true;
    record.generation = place < world->collider_count ? world->colliders[place].generation + 1 : 0;
    world->collider_count += place == world->collider_count;
    world->collider_hint = place + 1;
    world->colliders[place] = record;
    return (sinew_collider){place, record.generation};
}
