/* SPDX-License-Identifier: MIT
 *
 * save.c: writes the state of a world as sections (state_sections.h).
 */
#include <string.h>

#include "world/state/contact_sections.h"
#include "world/state/known_points.h"
#include "world/state/state_sections.h"

uint32_t sinew_state_motion_of(const sinew_trajectory *trajectory)
{
    if (trajectory->follows && trajectory->points)
        return SINEW_STATE_FOLLOWING;
    return sinew_trajectory_is_moving(trajectory) ? SINEW_STATE_MOVING : SINEW_STATE_STILL;
}

uint32_t sinew_state_generation(const sinew_world *world, int kind, int32_t slot)
{
    return kind == SINEW_STATE_BODIES     ? world->bodies[slot].generation
           : kind == SINEW_STATE_ENERGIES ? world->energies[slot].generation
                                          : world->pins[slot].generation;
}

static void save_time(const sinew_world *world, sinew_section_writer *writer)
{
    sinew_section_begin(writer, "TIME", true, 0);
    sinew_section_put(writer, &world->step_count, sizeof world->step_count);
    sinew_section_put(writer, &world->time, sizeof world->time);
    sinew_section_end(writer);
}

static void save_body(const sinew_world *world, int32_t index, sinew_section_writer *writer)
{
    const sinew_body_record *body = &world->bodies[index];
    const sinew_real *arrays[] = {world->q, world->v, world->force};
    sinew_section_begin(writer, "BODY", true, (uint32_t)index);
    char *at = sinew_section_reserve(writer, 9 * (size_t)body->count * sizeof(sinew_real));
    for (int a = 0; at && a < 3; a++)
        for (int32_t i = body->first; i < body->first + body->count; i++, at += 3 * sizeof(sinew_real))
            memcpy(at, arrays[a] + 4 * (size_t)world->inside[i], 3 * sizeof(sinew_real));
    sinew_section_end(writer);
}

static void save_tear(const sinew_tear *tear, int32_t index, int64_t step_count, sinew_section_writer *writer)
{
    const int64_t head[3] = {tear->report.edges, tear->report.vertices, tear->report.refused};
    if (tear->log_count == 0 && tear->report.refused == 0)
        return;
    sinew_section_begin(writer, "TEAR", true, (uint32_t)index);
    sinew_section_put(writer, head, sizeof head);
    sinew_section_put(writer, tear->log, tear->log_count * sizeof *tear->log);
    sinew_section_end(writer);
    if (tear->torn_step != step_count)
        return;
    sinew_section_begin(writer, "TORN", true, (uint32_t)index);
    sinew_section_end(writer);
}

static void save_trajectory(const sinew_trajectory *trajectory, const char *tag, int32_t index,
                            sinew_section_writer *writer)
{
    const uint32_t head[2] = {sinew_state_motion_of(trajectory), (uint32_t)trajectory->count};
    sinew_section_begin(writer, tag, true, (uint32_t)index);
    sinew_section_put(writer, head, sizeof head);
    sinew_section_put(writer, trajectory->base, 3 * (size_t)trajectory->count * sizeof *trajectory->base);
    if (head[0] == SINEW_STATE_FOLLOWING)
        sinew_section_put(writer, trajectory->points, (size_t)trajectory->count * sizeof *trajectory->points);
    sinew_section_end(writer);
}

static void save_solver(const sinew_world *world, sinew_section_writer *writer)
{
    const sinew_solve *solve = &world->solve;
    if (!sinew_world_solver_remembers(world))
        return;
    const bool pending = world->solver_state_pending;
    const sinew_solver_ops *ops = pending ? sinew_solver_get_ops(world->def.solver.kind) : solve->ops;
    char name[SINEW_STATE_SOLVER_NAME] = "";
    strncpy(name, ops->info.name, sizeof name - 1);
    sinew_section_begin(writer, "SOLV", true, 0);
    sinew_section_put(writer, name, sizeof name);
    void *reserved = sinew_section_reserve(writer, pending ? world->solver_state_size : ops->state_size(solve));
    if (reserved && pending)
        memcpy(reserved, world->solver_state, world->solver_state_size);
    else if (reserved)
        ops->state_save(solve, reserved);
    sinew_section_end(writer);
}

/* Writes the section MEAS. Steps without an estimate of their own depend on the history, but not with SINEW_MEASURE_GAP
 * in every step. */
static void save_history(const sinew_world *world, sinew_section_writer *writer)
{
    const sinew_solver_def *solver = &world->def.solver;
    const sinew_measure_history *h = &world->solve.history;
    const double content[6] = {h->error_per_force,  h->residual,           h->credit, h->cost,
                               h->factor_size.cost, h->factor_size.entries};
    if (solver->measure < SINEW_MEASURE_GAP || (solver->measure == SINEW_MEASURE_GAP && solver->gap_every == 1) ||
        (content[0] == 0 && content[1] == 0 && content[2] == 0))
        return;
    sinew_section_begin(writer, "MEAS", false, 0);
    sinew_section_put(writer, content, sizeof content);
    sinew_section_end(writer);
}

static void save_generations(const sinew_world *world, sinew_section_writer *writer)
{
    const uint32_t counts[SINEW_STATE_KINDS] = {(uint32_t)world->body_count, (uint32_t)world->energy_count,
                                                (uint32_t)world->pin_count};
    bool any = false;
    for (int kind = 0; kind < SINEW_STATE_KINDS; kind++)
        for (int32_t i = 0; i < (int32_t)counts[kind]; i++)
            any = any || sinew_state_generation(world, kind, i) > 0;
    if (!any)
        return;
    sinew_section_begin(writer, "GENS", false, 0);
    sinew_section_put(writer, counts, sizeof counts);
    for (int kind = 0; kind < SINEW_STATE_KINDS; kind++)
        for (int32_t i = 0; i < (int32_t)counts[kind]; i++) {
            const uint32_t generation = sinew_state_generation(world, kind, i);
            sinew_section_put(writer, &generation, sizeof generation);
        }
    sinew_section_end(writer);
}

static void save_signature_line(void *context, const char *name, const char *value)
{
    sinew_section_put(context, name, strlen(name));
    sinew_section_put(context, "=", 1);
    sinew_section_put(context, value, strlen(value));
    sinew_section_put(context, "\n", 1);
}

static void save_sections(const sinew_world *world, sinew_section_writer *writer)
{
    save_time(world, writer);
    for (int32_t i = 0; i < world->body_count; i++)
        if (world->bodies[i].mesh) {
            save_body(world, i, writer);
            if (world->acceleration)
                sinew_known_points_put(world, world->acceleration, "WIND", i, writer);
            if (world->bodies[i].tear)
                save_tear(world->bodies[i].tear, i, world->step_count, writer);
        }
    for (int32_t i = 0; i < world->energy_count; i++)
        if (world->energies[i].targets.count > 0)
            save_trajectory(&world->energies[i].targets, "GOAL", i, writer);
    for (int32_t i = 0; i < world->pin_count; i++)
        if (world->pins[i].count > 0)
            save_trajectory(&world->pins[i].trajectory, "PINS", i, writer);
    save_solver(world, writer);
    save_history(world, writer);
    sinew_contact_put_sections(world, writer);
    save_generations(world, writer);
    sinew_section_begin(writer, "SIGN", false, 0);
    sinew_world_signature(world, save_signature_line, writer);
    sinew_section_end(writer);
    if (!world->comment)
        return;
    sinew_section_begin(writer, "NOTE", false, 0);
    sinew_section_put(writer, world->comment, strlen(world->comment));
    sinew_section_end(writer);
}

static sinew_section_writer save_count_sections(const sinew_world *world)
{
    sinew_section_writer counted;
    sinew_sections_begin(&counted, NULL, 0);
    save_sections(world, &counted);
    return counted;
}

size_t sinew_world_state_size(const sinew_world *world)
{
    if (!SINEW_ASSERT(world))
        return 0;
    const sinew_section_writer counted = save_count_sections(world);
    return sinew_sections_size(&counted);
}

sinew_status sinew_world_state_save(const sinew_world *world, void *blob, size_t size)
{
    if (!SINEW_ASSERT(world && blob))
        return SINEW_ERROR_USAGE;
    const sinew_section_writer counted = save_count_sections(world);
    if (!SINEW_ASSERT(size >= sinew_sections_size(&counted)))
        return SINEW_ERROR_USAGE;
    sinew_section_writer writer;
    sinew_sections_begin(&writer, blob, counted.count);
    save_sections(world, &writer);
    sinew_sections_end(&writer);
    return SINEW_OK;
}
