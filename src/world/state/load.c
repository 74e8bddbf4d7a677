/* SPDX-License-Identifier: MIT
 *
 * load.c: loads a state into the world that it was saved from, or one that was built the same way; and the comment that
 * the caller stores in a state.
 */
#include <math.h>
#include <string.h>

#include "world/state/contact_sections.h"
#include "world/state/known_points.h"
#include "world/state/state_sections.h"

/* ---- Taking over sections: all checks are done -------------------------------------------------- */

void sinew_state_forget_steps(sinew_world *world)
{
    sinew_world_mark_changed(world, SINEW_CHANGED_SOLVER);
}

sinew_status sinew_state_take_solver(sinew_world *world, sinew_section_reader *reader, sinew_error *error)
{
    const sinew_solver_ops *ops =
        world->solver_changed == 0 ? world->solve.ops : sinew_solver_get_ops(world->def.solver.kind);
    size_t size;
    const char *content = sinew_sections_find(reader, "SOLV", 0, &size);
    if (content && (size < SINEW_STATE_SOLVER_NAME || memchr(content, '\0', SINEW_STATE_SOLVER_NAME) == NULL))
        return sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: its solver has no name");
    if (!ops->state_load)
        return SINEW_OK;
    if (!content || strcmp(content, ops->info.name) != 0) {
        sinew_state_forget_steps(world);
        return SINEW_OK;
    }
    const sinew_status status = sinew_world_make_ready(world, error);
    if (status == SINEW_ERROR_MEMORY)
        return status;
    if (status != SINEW_OK) {
        /* Clears the error, because the next step reports it. The state may have been saved while the same preparation
         * failed. */
        sinew_error_clear(error);
        sinew_state_forget_steps(world);
        return SINEW_OK;
    }
    if (ops->state_load(&world->solve, content + SINEW_STATE_SOLVER_NAME, size - SINEW_STATE_SOLVER_NAME))
        return SINEW_OK;
    return sinew_fail(error, SINEW_ERROR_FORMAT,
                      "%s does not take what it remembered: it is damaged or of another scene", ops->info.name);
}

void sinew_state_take_body(sinew_world *world, int32_t index, sinew_section_reader *reader)
{
    const sinew_body_record *body = &world->bodies[index];
    sinew_real *arrays[] = {world->q, world->v, world->force};
    size_t size;
    const char *at = sinew_sections_find(reader, "BODY", (uint32_t)index, &size);
    for (int a = 0; a < 3; a++)
        for (int32_t i = body->first; i < body->first + body->count; i++, at += 3 * sizeof(sinew_real))
            memcpy(arrays[a] + 4 * (size_t)world->inside[i], at, 3 * sizeof(sinew_real));
    sinew_contact_take_body_section(world, index, reader);
    sinew_known_points_take(world, world->acceleration, "WIND", index, reader);
}

void sinew_state_take_torn(const sinew_world *world, int32_t index, sinew_section_reader *reader)
{
    size_t size;
    if (world->bodies[index].tear)
        world->bodies[index].tear->torn_step =
            sinew_sections_find(reader, "TORN", (uint32_t)index, &size) ? world->step_count : 0;
}

void sinew_state_take_trajectory(sinew_trajectory *trajectory, const char *tag, int32_t index,
                                 sinew_section_reader *reader)
{
    size_t size;
    uint32_t moving;
    const char *content = sinew_sections_find(reader, tag, (uint32_t)index, &size);
    memcpy(&moving, content, sizeof moving);
    memcpy(trajectory->base, content + 2 * sizeof moving, 3 * (size_t)trajectory->count * sizeof *trajectory->base);
    if (moving == SINEW_STATE_STILL)
        sinew_trajectory_set(trajectory, trajectory->base);
    else if (moving == SINEW_STATE_FOLLOWING)
        sinew_state_follow_points(trajectory, content, trajectory->points);
}

void sinew_state_take_time(sinew_world *world, sinew_section_reader *reader)
{
    size_t size;
    const char *content = sinew_sections_find(reader, "TIME", 0, &size);
    memcpy(&world->step_count, content, sizeof world->step_count);
    memcpy(&world->time, content + sizeof world->step_count, sizeof world->time);
}

void sinew_state_take_history(sinew_world *world, sinew_section_reader *reader)
{
    size_t size;
    double h[6];
    const char *content = sinew_sections_find(reader, "MEAS", 0, &size);
    world->solve.history = (sinew_measure_history){0};
    if (!content || size != sizeof h)
        return;
    memcpy(h, content, sizeof h);
    if (h[0] >= 0 && h[4] >= 0 && h[5] >= 0 && isfinite(h[0] + h[1] + h[2] + h[3] + h[4] + h[5]))
        world->solve.history = (sinew_measure_history){h[0], h[1], h[2], h[3], {h[4], h[5]}};
}

/* Applies the tears that are in the saved state but not yet in the world. */
static sinew_status load_tears(sinew_world *world, sinew_section_reader *reader, sinew_error *error)
{
    sinew_status status = SINEW_OK;
    for (int32_t i = 0; i < world->body_count && status == SINEW_OK; i++) {
        size_t count, size;
        int64_t counts[3];
        const char *head = world->bodies[i].mesh ? sinew_sections_find(reader, "TEAR", (uint32_t)i, &size) : NULL;
        if (!head && world->bodies[i].tear)
            world->bodies[i].tear->report = (sinew_tear_report){0};
        if (!head)
            continue;
        memcpy(counts, head, sizeof counts);
        int32_t *operations = sinew_state_new_tears(world, i, reader, &count);
        if (count > 0)
            status = operations ? sinew_tear_apply_log(world, (sinew_body){i, world->bodies[i].generation}, operations,
                                                       count, error)
                                : sinew_fail_memory(error, "the tears of a state");
        sinew_release(&world->allocator, operations);
        world->bodies[i].tear->report = (sinew_tear_report){counts[0], counts[1], counts[2]};
    }
    return status;
}

/* Copies time, bodies, targets and contact data of the state to the world. All checks are done, so this cannot fail. */
static void load_sections(sinew_world *world, sinew_section_reader *reader)
{
    sinew_state_take_time(world, reader);
    sinew_state_take_history(world, reader);
    for (int32_t i = 0; i < world->body_count; i++)
        if (world->bodies[i].mesh) {
            sinew_state_take_body(world, i, reader);
            sinew_state_take_torn(world, i, reader);
        }
    for (int32_t i = 0; i < world->energy_count; i++)
        if (world->energies[i].targets.count > 0)
            sinew_state_take_trajectory(&world->energies[i].targets, "GOAL", i, reader);
    for (int32_t i = 0; i < world->pin_count; i++)
        if (world->pins[i].count > 0)
            sinew_state_take_trajectory(&world->pins[i].trajectory, "PINS", i, reader);
    sinew_contact_take_sections(world, true, reader);
}

/* ---- Comment that the caller stores in a state ------------------------------------------------- */

/* Copies the comment of a state; *comment is NULL if the state has none. */
static sinew_status comment_copy(const sinew_world *world, const char *text, size_t size, char **comment,
                                 sinew_error *error)
{
    *comment = NULL;
    if (!text)
        return SINEW_OK;
    if (memchr(text, '\0', size))
        return sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: its note is no text");
    *comment = sinew_allocate(&world->allocator, size + 1, 1);
    if (!*comment)
        return sinew_fail_memory(error, "the note of a state");
    memcpy(*comment, text, size);
    (*comment)[size] = '\0';
    return SINEW_OK;
}

static void comment_replace(sinew_world *world, char *comment)
{
    sinew_release(&world->allocator, world->comment);
    world->comment = comment;
}

sinew_status sinew_world_set_comment(sinew_world *world, const char *text)
{
    char *comment;
    if (!SINEW_ASSERT(world))
        return SINEW_ERROR_USAGE;
    if (!sinew_world_may_change(world, __func__, &world->error))
        return SINEW_ERROR_USAGE;
    sinew_status status = comment_copy(world, text, text ? strlen(text) : 0, &comment, NULL);
    if (status == SINEW_OK)
        comment_replace(world, comment);
    return status;
}

const char *sinew_world_comment(const sinew_world *world)
{
    return SINEW_ASSERT(world) && world->comment ? world->comment : "";
}

/* ---- Loading of a state ---------------------------------------------------------------------- */

sinew_status sinew_world_state_load(sinew_world *world, const void *blob, size_t size, sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    if (!SINEW_ASSERT(world && blob))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_world_state_load needs a world and a state");
    sinew_section_reader reader;
    sinew_status status = sinew_state_open(&reader, blob, size, error);
    if (status == SINEW_OK)
        status = sinew_state_check_time(&reader, error);
    if (status == SINEW_OK)
        status = sinew_state_check_bodies(world, &reader, error);
    if (status == SINEW_OK)
        status = sinew_state_check_trajectories(world, &reader, error);
    if (status == SINEW_OK)
        status = sinew_contact_check_sections(world, true, &reader, error);
    if (status != SINEW_OK)
        return status;
    size_t comment_size;
    char *comment;
    const char *text = sinew_sections_find(&reader, "NOTE", 0, &comment_size);
    status = comment_copy(world, text, comment_size, &comment, error);
    if (status == SINEW_OK)
        status = load_tears(world, &reader, error);
    if (status == SINEW_OK && !sinew_contact_reserve_sections(world, &reader))
        status = sinew_fail_memory(error, "the contacts of a state");
    if (status == SINEW_OK)
        status = sinew_state_take_solver(world, &reader, error);
    if (status != SINEW_OK) {
        sinew_release(&world->allocator, comment);
        return status;
    }
    load_sections(world, &reader);
    comment_replace(world, comment);
    return SINEW_OK;
}

sinew_status sinew_world_state_check(const sinew_world *world, const void *blob, size_t size, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(world && blob))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_world_state_check needs a world and a state");
    sinew_section_reader reader;
    sinew_status status = sinew_state_open(&reader, blob, size, error);
    if (status != SINEW_OK)
        return status;
    size_t length;
    const char *text = sinew_sections_find(&reader, "SIGN", 0, &length);
    if (!text)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "does not say which scene it belongs to");
    return sinew_world_signature_check(world, text, length, error);
}
