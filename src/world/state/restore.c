/* SPDX-License-Identifier: MIT
 *
 * restore.c: restores the objects of a state that a world still has, by slot and generation; other objects stay as they
 * are.
 */
#include <string.h>

#include "world/state/contact_sections.h"
#include "world/state/state_sections.h"

/* A saved state whose sections are looked up by slot and generation. */
typedef struct saved_state {
    sinew_section_reader reader;
    const char *generations; /* saved generations of all slots; NULL: all generations are 0 */
    uint32_t counts[SINEW_STATE_KINDS];
} saved_state;

static sinew_status restore_open(saved_state *saved, const void *blob, size_t size, sinew_error *error)
{
    *saved = (saved_state){0};
    sinew_status status = sinew_state_open(&saved->reader, blob, size, error);
    if (status == SINEW_OK)
        status = sinew_state_check_time(&saved->reader, error);
    if (status != SINEW_OK)
        return status;
    size_t bytes;
    const char *content = sinew_sections_find(&saved->reader, "GENS", 0, &bytes);
    if (!content)
        return SINEW_OK;
    if (bytes < sizeof saved->counts)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: its generations are cut off");
    memcpy(saved->counts, content, sizeof saved->counts);
    uint64_t total = 0;
    for (int kind = 0; kind < SINEW_STATE_KINDS; kind++)
        total += saved->counts[kind];
    if (bytes - sizeof saved->counts != total * sizeof(uint32_t))
        return sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: it has no generation for each place");
    saved->generations = content + sizeof saved->counts;
    return SINEW_OK;
}

/* True if a slot of the world holds the same object as in the saved state. */
static bool restore_is_same_object(const sinew_world *world, const saved_state *saved, int kind, int32_t slot)
{
    uint32_t was = 0;
    size_t at = (size_t)slot;
    for (int k = 0; k < kind; k++)
        at += saved->counts[k];
    if (saved->generations && (uint32_t)slot < saved->counts[kind])
        memcpy(&was, saved->generations + at * sizeof was, sizeof was);
    return was == sinew_state_generation(world, kind, slot);
}

/* Restores one body from a state; changes the world only if `take`. SINEW_ERROR_FORMAT: its section is damaged;
 * SINEW_ERROR_DATA: its section is missing or differs from the world's object. */
static sinew_status restore_body(sinew_world *world, saved_state *saved, int32_t slot, bool take, sinew_error *error)
{
    size_t size;
    const char *content = sinew_sections_find(&saved->reader, "BODY", (uint32_t)slot, &size);
    if (!content || size != 9 * (size_t)world->bodies[slot].count * sizeof(sinew_real) ||
        !restore_is_same_object(world, saved, SINEW_STATE_BODIES, slot))
        return SINEW_ERROR_DATA;
    const sinew_status status = sinew_state_check_body(world, slot, &saved->reader, error);
    if (status == SINEW_OK && take) {
        sinew_state_take_body(world, slot, &saved->reader);
        sinew_state_take_torn(world, slot, &saved->reader);
    }
    return status;
}

static sinew_status restore_trajectory(const sinew_world *world, saved_state *saved, int kind, int32_t slot, bool take,
                                       sinew_error *error)
{
    sinew_trajectory *trajectory =
        kind == SINEW_STATE_PINS ? &world->pins[slot].trajectory : &world->energies[slot].targets;
    const char *tag = kind == SINEW_STATE_PINS ? "PINS" : "GOAL";
    if (!sinew_state_trajectory_fits(trajectory, tag, slot, &saved->reader, NULL) ||
        !restore_is_same_object(world, saved, kind, slot))
        return SINEW_ERROR_DATA;
    const sinew_status status = sinew_state_check_trajectory(world, trajectory, tag, slot, &saved->reader, error);
    if (status == SINEW_OK && take)
        sinew_state_take_trajectory(trajectory, tag, slot, &saved->reader);
    return status;
}

static sinew_status restore_one(sinew_world *world, saved_state *saved, int kind, int32_t slot, bool take,
                                sinew_error *error)
{
    return kind == SINEW_STATE_BODIES ? restore_body(world, saved, slot, take, error)
                                      : restore_trajectory(world, saved, kind, slot, take, error);
}

static bool restore_has_object(const sinew_world *world, int kind, int32_t slot)
{
    return kind == SINEW_STATE_BODIES     ? world->bodies[slot].mesh != NULL
           : kind == SINEW_STATE_ENERGIES ? world->energies[slot].targets.count > 0
                                          : world->pins[slot].count > 0;
}

/* Restores all objects of one kind (bodies, energies or pins) and counts them in *report; `take` false: only checks and
 * counts. */
static sinew_status restore_kind(sinew_world *world, saved_state *saved, int kind, bool take, sinew_restored *report,
                                 sinew_error *error)
{
    static const char *const tags[SINEW_STATE_KINDS] = {"BODY", "GOAL", "PINS"};
    const int32_t slots[SINEW_STATE_KINDS] = {world->body_count, world->energy_count, world->pin_count};
    *report = (sinew_restored){0};
    for (int32_t i = 0; i < slots[kind]; i++) {
        if (!restore_has_object(world, kind, i))
            continue;
        const sinew_status status = restore_one(world, saved, kind, i, take, error);
        if (status == SINEW_ERROR_FORMAT)
            return status;
        report->taken += status == SINEW_OK;
        report->kept += status != SINEW_OK;
    }
    report->dropped = (int32_t)sinew_sections_count(&saved->reader, tags[kind]) - report->taken;
    return SINEW_OK;
}

sinew_status sinew_world_state_restore(sinew_world *world, const void *blob, size_t size, sinew_restore_report *report,
                                       sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    if (!SINEW_ASSERT(world && blob))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_world_state_restore needs a world and a state");
    saved_state saved;
    sinew_restored counts[SINEW_STATE_KINDS];
    bool whole = true;
    sinew_status status = restore_open(&saved, blob, size, error);
    if (status == SINEW_OK)
        status = sinew_contact_check_sections(world, false, &saved.reader, error);
    for (int kind = 0; kind < SINEW_STATE_KINDS && status == SINEW_OK; kind++) {
        status = restore_kind(world, &saved, kind, false, &counts[kind], error);
        whole = whole && status == SINEW_OK && counts[kind].kept == 0 && counts[kind].dropped == 0;
    }
    if (status == SINEW_OK && !sinew_contact_reserve_sections(world, &saved.reader))
        status = sinew_fail_memory(error, "the contacts of a state");
    if (status == SINEW_OK && whole)
        status = sinew_state_take_solver(world, &saved.reader, error);
    else if (status == SINEW_OK)
        sinew_state_forget_steps(world);
    if (status != SINEW_OK)
        return status;
    sinew_state_take_time(world, &saved.reader);
    sinew_state_take_history(world, &saved.reader);
    for (int kind = 0; kind < SINEW_STATE_KINDS; kind++)
        restore_kind(world, &saved, kind, true, &counts[kind], NULL);
    sinew_contact_take_sections(world, false, &saved.reader);
    if (!whole)
        sinew_contact_moved(world); /* objects that the state does not have may overlap */
    if (report)
        *report =
            (sinew_restore_report){counts[SINEW_STATE_BODIES], counts[SINEW_STATE_ENERGIES], counts[SINEW_STATE_PINS]};
    return SINEW_OK;
}
