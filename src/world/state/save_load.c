/* SPDX-License-Identifier: MIT
 *
 * save_load.c: all data that stepping changes, as one block of tagged sections (base/tagged_blob.h).
 *
 *     TIME   int64 steps taken, double time (s)
 *     BODY   one per body: positions, velocities, forces, [3 * vertex_count] reals each, in the public order
 *     TEAR   one per body with tears or refused tears: int64 edges, copies, refusals; the log of int32 (tear.h)
 *     TORN   one per body that was torn for the next step, which was interrupted; empty
 *     GOAL   one per energy with targets: uint32 1 if key frames move them, uint32 count, base points [3 * count]
 *     PINS   one per pin, same content as GOAL
 *     SOLV   char[16] name of the solver, then the data that it keeps between steps; absent if it has none
 *     MEAS   double [6]: what earlier steps measured (sinew_measure_history); absent: later steps do not need it
 *     TCHS, YLDS, IMPT, CVEL, COLL   data of contact (contact_sections.c)
 *     WIND   one per body in a world with wind: acceleration in the last step by all other forces (known_points.h)
 *     GENS   uint32 number of slots of bodies, of energies, of pins, then the generation of each; absent: all are 0
 *     SIGN   the signature of the world (signature.c), "name=value" lines
 *     NOTE   the comment, a text of the caller
 *
 * A reader must support all sections but MEAS and the last three. The index of a section is the slot of its body,
 * energy or pins. Loading requires a world with the same slots and sizes. Restoring also requires the same generations
 * and skips objects that do not fit.
 */
#include <math.h>
#include <string.h>

#include "base/tagged_blob.h"
#include "world/state/contact_sections.h"
#include "world/state/known_points.h"
#include "world/bodies/tear.h"
#include "world/follow.h"

static const char *const known_tags[] = {
    "TIME", "BODY", "GOAL", "PINS", "SOLV", "GENS", "SIGN", "NOTE", "TEAR", "TORN", "MEAS", "WIND", SINEW_CONTACT_TAGS};
enum {
    KNOWN_TAGS = sizeof known_tags / sizeof known_tags[0],
    SOLVER_NAME = 16,
    TEAR_HEAD = 3 * sizeof(int64_t) /* number of bytes before the tear log in a body's TEAR section */
};

/* ---- Saving of a state ----------------------------------------------------------------------- */

static void put_time(const sinew_world *world, sinew_section_writer *writer)
{
    sinew_section_begin(writer, "TIME", true, 0);
    sinew_section_put(writer, &world->step_count, sizeof world->step_count);
    sinew_section_put(writer, &world->time, sizeof world->time);
    sinew_section_end(writer);
}

static void state_put_body(const sinew_world *world, int32_t index, sinew_section_writer *writer)
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

static void put_tear(const sinew_tear *tear, int32_t index, int64_t step_count, sinew_section_writer *writer)
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

/* Kinds of motion of a trajectory's points, stored at the start of its section. */
enum {
    POINTS_STILL = 0,
    POINTS_MOVING,   /* the definition of the pins or targets has key frames, or frames of a vertex cache */
    POINTS_FOLLOWING /* the section stores positions on the followed collider after the base points */
};

static uint32_t trajectory_motion(const sinew_trajectory *trajectory)
{
    if (trajectory->follows && trajectory->points)
        return POINTS_FOLLOWING;
    return sinew_trajectory_is_moving(trajectory) ? POINTS_MOVING : POINTS_STILL;
}

static void put_trajectory(const sinew_trajectory *trajectory, const char *tag, int32_t index,
                           sinew_section_writer *writer)
{
    const uint32_t head[2] = {trajectory_motion(trajectory), (uint32_t)trajectory->count};
    sinew_section_begin(writer, tag, true, (uint32_t)index);
    sinew_section_put(writer, head, sizeof head);
    sinew_section_put(writer, trajectory->base, 3 * (size_t)trajectory->count * sizeof *trajectory->base);
    if (head[0] == POINTS_FOLLOWING)
        sinew_section_put(writer, trajectory->points, (size_t)trajectory->count * sizeof *trajectory->points);
    sinew_section_end(writer);
}

static void state_put_solver(const sinew_world *world, sinew_section_writer *writer)
{
    const sinew_solve *solve = &world->solve;
    if (!sinew_world_solver_remembers(world))
        return;
    const bool pending = world->solver_state_pending;
    const sinew_solver_ops *ops = pending ? sinew_solver_get_ops(world->def.solver.kind) : solve->ops;
    char name[SOLVER_NAME] = "";
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
static void put_history(const sinew_world *world, sinew_section_writer *writer)
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

/* Kinds of objects with slots, in the order of the state section GENS. */
enum {
    OF_BODIES,
    OF_ENERGIES,
    OF_PINS,
    KINDS
};

static uint32_t generation_at(const sinew_world *world, int kind, int32_t slot)
{
    return kind == OF_BODIES     ? world->bodies[slot].generation
           : kind == OF_ENERGIES ? world->energies[slot].generation
                                 : world->pins[slot].generation;
}

static void put_generations(const sinew_world *world, sinew_section_writer *writer)
{
    const uint32_t counts[KINDS] = {(uint32_t)world->body_count, (uint32_t)world->energy_count,
                                    (uint32_t)world->pin_count};
    bool any = false;
    for (int kind = 0; kind < KINDS; kind++)
        for (int32_t i = 0; i < (int32_t)counts[kind]; i++)
            any = any || generation_at(world, kind, i) > 0;
    if (!any)
        return;
    sinew_section_begin(writer, "GENS", false, 0);
    sinew_section_put(writer, counts, sizeof counts);
    for (int kind = 0; kind < KINDS; kind++)
        for (int32_t i = 0; i < (int32_t)counts[kind]; i++) {
            const uint32_t generation = generation_at(world, kind, i);
            sinew_section_put(writer, &generation, sizeof generation);
        }
    sinew_section_end(writer);
}

static void put_line(void *context, const char *name, const char *value)
{
    sinew_section_put(context, name, strlen(name));
    sinew_section_put(context, "=", 1);
    sinew_section_put(context, value, strlen(value));
    sinew_section_put(context, "\n", 1);
}

static void put_sections(const sinew_world *world, sinew_section_writer *writer)
{
    put_time(world, writer);
    for (int32_t i = 0; i < world->body_count; i++)
        if (world->bodies[i].mesh) {
            state_put_body(world, i, writer);
            if (world->acceleration)
                sinew_known_points_put(world, world->acceleration, "WIND", i, writer);
            if (world->bodies[i].tear)
                put_tear(world->bodies[i].tear, i, world->step_count, writer);
        }
    for (int32_t i = 0; i < world->energy_count; i++)
        if (world->energies[i].targets.count > 0)
            put_trajectory(&world->energies[i].targets, "GOAL", i, writer);
    for (int32_t i = 0; i < world->pin_count; i++)
        if (world->pins[i].count > 0)
            put_trajectory(&world->pins[i].trajectory, "PINS", i, writer);
    state_put_solver(world, writer);
    put_history(world, writer);
    sinew_contact_put_sections(world, writer);
    put_generations(world, writer);
    sinew_section_begin(writer, "SIGN", false, 0);
    sinew_world_signature(world, put_line, writer);
    sinew_section_end(writer);
    if (!world->comment)
        return;
    sinew_section_begin(writer, "NOTE", false, 0);
    sinew_section_put(writer, world->comment, strlen(world->comment));
    sinew_section_end(writer);
}

static sinew_section_writer count_sections(const sinew_world *world)
{
    sinew_section_writer counted;
    sinew_sections_begin(&counted, NULL, 0);
    put_sections(world, &counted);
    return counted;
}

size_t sinew_world_state_size(const sinew_world *world)
{
    if (!SINEW_ASSERT(world))
        return 0;
    const sinew_section_writer counted = count_sections(world);
    return sinew_sections_size(&counted);
}

sinew_status sinew_world_state_save(const sinew_world *world, void *blob, size_t size)
{
    if (!SINEW_ASSERT(world && blob))
        return SINEW_ERROR_USAGE;
    const sinew_section_writer counted = count_sections(world);
    if (!SINEW_ASSERT(size >= sinew_sections_size(&counted)))
        return SINEW_ERROR_USAGE;
    sinew_section_writer writer;
    sinew_sections_begin(&writer, blob, counted.count);
    put_sections(world, &writer);
    sinew_sections_end(&writer);
    return SINEW_OK;
}

/* ---- Checks of a state before the first change ------------------------------------------------- */

static bool finite_reals(const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sinew_real value;
        memcpy(&value, bytes + i * sizeof value, sizeof value);
        if (!isfinite(value))
            return false;
    }
    return true;
}

static sinew_status fail_numbers(sinew_error *error, const char *where, int32_t index)
{
    return sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: %s %d holds numbers that are not finite", where,
                      (int)index);
}

static sinew_status check_time(sinew_section_reader *reader, sinew_error *error)
{
    size_t size;
    int64_t steps;
    double time;
    const char *content = sinew_sections_find(reader, "TIME", 0, &size);
    if (!content || size != sizeof steps + sizeof time)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: it has no time");
    memcpy(&steps, content, sizeof steps);
    memcpy(&time, content + sizeof steps, sizeof time);
    if (!isfinite(time) || steps < 0 || steps > INT64_MAX / 2)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: its time is no time");
    return SINEW_OK;
}

/* Returns the tear operations of a body that only the state has: *count integers, which the caller releases. The
 * state may be unaligned. NULL: no such operations (*count 0) or out of memory (*count > 0). */
static int32_t *new_operations(const sinew_world *world, int32_t index, sinew_section_reader *reader, size_t *count)
{
    size_t size;
    const sinew_tear *tear = world->bodies[index].tear;
    const char *content = sinew_sections_find(reader, "TEAR", (uint32_t)index, &size);
    const size_t done = tear ? tear->log_count : 0;
    *count = content ? (size - TEAR_HEAD) / sizeof(int32_t) - done : 0;
    int32_t *operations = *count > 0 ? sinew_allocate(&world->allocator, *count, sizeof *operations) : NULL;
    if (operations)
        memcpy(operations, content + TEAR_HEAD + done * sizeof *operations, *count * sizeof *operations);
    return operations;
}

/* Checks that the tears of a state continue the tears of the world: the log of the world is a prefix of the log of the
 * state. *copies: vertices that the remaining log adds. */
static sinew_status check_tear(const sinew_world *world, int32_t index, sinew_section_reader *reader, int64_t *copies,
                               sinew_error *error)
{
    size_t size, more;
    const char *content = sinew_sections_find(reader, "TEAR", (uint32_t)index, &size);
    const sinew_body_record *body = &world->bodies[index];
    const size_t done = body->tear ? body->tear->log_count : 0;
    *copies = 0;
    if (!content && done == 0)
        return SINEW_OK;
    if (content && !body->tear)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "body %d tears there, not in the world: build it the same way",
                          (int)index);
    if (content && (size < TEAR_HEAD || size % sizeof(int32_t) != 0))
        return sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: the tears of body %d are cut off", (int)index);
    if (!content || size - TEAR_HEAD < done * sizeof(int32_t) ||
        (done > 0 && memcmp(content + TEAR_HEAD, body->tear->log, done * sizeof(int32_t)) != 0))
        return sinew_fail(error, SINEW_ERROR_FORMAT,
                          "body %d is torn otherwise in the world, and tears do not heal: build it the same way",
                          (int)index);
    int32_t *operations = new_operations(world, index, reader, &more);
    if (!operations && more > 0)
        return sinew_fail_memory(error, "the tears of a state");
    const bool sound = sinew_tear_log_is_sound(body->mesh, operations, more);
    *copies = sinew_tear_log_copies(operations, more);
    sinew_release(&world->allocator, operations);
    return sound ? SINEW_OK
                 : sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: the tears of body %d are none", (int)index);
}

static sinew_status check_body(const sinew_world *world, int32_t index, sinew_section_reader *reader,
                               sinew_error *error)
{
    size_t size;
    int64_t copies;
    const char *content = sinew_sections_find(reader, "BODY", (uint32_t)index, &size);
    const sinew_status status = check_tear(world, index, reader, &copies, error);
    if (status != SINEW_OK)
        return status;
    const size_t reals = 9 * ((size_t)world->bodies[index].count + (size_t)copies);
    if (!content)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "has no body %d, the world has: build it the same way",
                          (int)index);
    if (size != reals * sizeof(sinew_real))
        return sinew_fail(error, SINEW_ERROR_FORMAT,
                          "body %d has %zu particles there, %d in the world: build it the same way", (int)index,
                          size / (9 * sizeof(sinew_real)), (int)world->bodies[index].count);
    if (!finite_reals(content, reals))
        return fail_numbers(error, "body", index);
    const sinew_status wind = sinew_known_points_check("WIND", "accelerations", index, reals / 9, reader, error);
    return wind == SINEW_OK ? sinew_contact_check_body(index, reals / 9, reader, error) : wind;
}

static sinew_status check_bodies(const sinew_world *world, sinew_section_reader *reader, sinew_error *error)
{
    const uint32_t count = sinew_sections_count(reader, "BODY");
    uint32_t live = 0;
    for (int32_t i = 0; i < world->body_count; i++)
        live += world->bodies[i].mesh != NULL;
    if (count != live)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "has %u bodies, the world has %u: build it the same way", count,
                          live);
    sinew_status status = SINEW_OK;
    for (int32_t i = 0; i < world->body_count && status == SINEW_OK; i++)
        if (world->bodies[i].mesh)
            status = check_body(world, i, reader, error);
    return status;
}

/* True if the section of these pins or targets exists, has the same number of points, and moves them only if the world
 * does. */
static bool trajectory_fits(const sinew_trajectory *trajectory, const char *tag, int32_t index,
                            sinew_section_reader *reader, sinew_error *error)
{
    size_t size;
    uint32_t head[2] = {0};
    const char *what = tag[0] == 'G' ? "the targets of energy" : "pin";
    const char *content = sinew_sections_find(reader, tag, (uint32_t)index, &size);
    if (content && size >= sizeof head)
        memcpy(head, content, sizeof head);
    const size_t each = 3 * sizeof(sinew_real) + (head[0] == POINTS_FOLLOWING ? sizeof(sinew_follow_point) : (size_t)0);
    if (!content || head[1] != (uint32_t)trajectory->count || size != sizeof head + (size_t)trajectory->count * each) {
        sinew_fail(error, SINEW_ERROR_FORMAT, "%s %d has %u points there, %d in the world: build it the same way", what,
                   (int)index, (unsigned)head[1], (int)trajectory->count);
        return false;
    }
    const bool fits = head[0] == POINTS_STILL || head[0] == trajectory_motion(trajectory);
    if (!fits)
        sinew_fail(error, SINEW_ERROR_FORMAT, "%s %d %s there, and not in the world", what, (int)index,
                   head[0] == POINTS_FOLLOWING ? "follows a collider" : "is moved by key frames or a cache");
    return fits;
}

/* Copies the positions on the followed collider from a section that fits to points [count]; false: the section has
 * none. */
static bool section_follow_points(const sinew_trajectory *trajectory, const char *content, sinew_follow_point *points)
{
    const size_t count = (size_t)trajectory->count;
    uint32_t motion;
    memcpy(&motion, content, sizeof motion);
    if (motion != POINTS_FOLLOWING)
        return false;
    memcpy(points, content + 2 * sizeof motion + 3 * count * sizeof(sinew_real), count * sizeof *points);
    return true;
}

static sinew_status check_follow_points(const sinew_world *world, const sinew_trajectory *trajectory,
                                        const char *content, sinew_error *error)
{
    sinew_follow_point *points = sinew_allocate(&world->allocator, (size_t)trajectory->count, sizeof *points);
    if (!points)
        return sinew_fail_memory(error, "the pins of a state");
    const bool fit =
        !section_follow_points(trajectory, content, points) || sinew_follow_points_fit(world, trajectory, points);
    sinew_release(&world->allocator, points);
    return fit ? SINEW_OK
               : sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: a pin or target follows what its collider lacks");
}

static sinew_status check_trajectory(const sinew_world *world, const sinew_trajectory *trajectory, const char *tag,
                                     int32_t index, sinew_section_reader *reader, sinew_error *error)
{
    size_t size;
    if (!trajectory_fits(trajectory, tag, index, reader, error))
        return SINEW_ERROR_FORMAT;
    const char *content = sinew_sections_find(reader, tag, (uint32_t)index, &size);
    if (!finite_reals(content + 2 * sizeof(uint32_t), 3 * (size_t)trajectory->count))
        return fail_numbers(error, tag[0] == 'G' ? "the targets of energy" : "pin", index);
    return check_follow_points(world, trajectory, content, error);
}

static sinew_status check_trajectories(const sinew_world *world, sinew_section_reader *reader, sinew_error *error)
{
    uint32_t goals = 0, pins = 0;
    sinew_status status = SINEW_OK;
    for (int32_t i = 0; i < world->energy_count && status == SINEW_OK; i++)
        if (world->energies[i].targets.count > 0) {
            status = check_trajectory(world, &world->energies[i].targets, "GOAL", i, reader, error);
            goals++;
        }
    for (int32_t i = 0; i < world->pin_count && status == SINEW_OK; i++)
        if (world->pins[i].count > 0) {
            status = check_trajectory(world, &world->pins[i].trajectory, "PINS", i, reader, error);
            pins++;
        }
    if (status == SINEW_OK &&
        (goals != sinew_sections_count(reader, "GOAL") || pins != sinew_sections_count(reader, "PINS")))
        status = sinew_fail(error, SINEW_ERROR_FORMAT,
                            "has %u pins and %u energies with targets, the world has %u and %u: build it the same way",
                            sinew_sections_count(reader, "PINS"), sinew_sections_count(reader, "GOAL"), pins, goals);
    return status;
}

/* ---- Loading of a state ---------------------------------------------------------------------- */

/* Marks the solver for preparation in the next step, because it may have data from steps that the state does not
 * contain. */
static void forget_steps(sinew_world *world)
{
    sinew_world_mark_changed(world, SINEW_CHANGED_SOLVER);
}

/* Restores the data that the solver keeps between steps. A different solver than that of the state starts without
 * data. */
static sinew_status take_solver(sinew_world *world, sinew_section_reader *reader, sinew_error *error)
{
    const sinew_solver_ops *ops =
        world->solver_changed == 0 ? world->solve.ops : sinew_solver_get_ops(world->def.solver.kind);
    size_t size;
    const char *content = sinew_sections_find(reader, "SOLV", 0, &size);
    if (content && (size < SOLVER_NAME || memchr(content, '\0', SOLVER_NAME) == NULL))
        return sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: its solver has no name");
    if (!ops->state_load)
        return SINEW_OK;
    if (!content || strcmp(content, ops->info.name) != 0) {
        forget_steps(world);
        return SINEW_OK;
    }
    const sinew_status status = sinew_world_make_ready(world, error);
    if (status == SINEW_ERROR_MEMORY)
        return status;
    if (status != SINEW_OK) {
        /* Clears the error, because the next step reports it. The state may have been saved while the same preparation
         * failed. */
        sinew_error_clear(error);
        forget_steps(world);
        return SINEW_OK;
    }
    if (ops->state_load(&world->solve, content + SOLVER_NAME, size - SOLVER_NAME))
        return SINEW_OK;
    return sinew_fail(error, SINEW_ERROR_FORMAT,
                      "%s does not take what it remembered: it is damaged or of another scene", ops->info.name);
}

static void take_body(sinew_world *world, int32_t index, sinew_section_reader *reader)
{
    const sinew_body_record *body = &world->bodies[index];
    sinew_real *arrays[] = {world->q, world->v, world->force};
    size_t size;
    const char *at = sinew_sections_find(reader, "BODY", (uint32_t)index, &size);
    for (int a = 0; a < 3; a++)
        for (int32_t i = body->first; i < body->first + body->count; i++, at += 3 * sizeof(sinew_real))
            memcpy(arrays[a] + 4 * (size_t)world->inside[i], at, 3 * sizeof(sinew_real));
    sinew_contact_take_body(world, index, reader);
    sinew_known_points_take(world, world->acceleration, "WIND", index, reader);
}

/* Restores from the section TORN whether the tears of a body already belong to the next step. */
static void take_torn(const sinew_world *world, int32_t index, sinew_section_reader *reader)
{
    size_t size;
    if (world->bodies[index].tear)
        world->bodies[index].tear->torn_step =
            sinew_sections_find(reader, "TORN", (uint32_t)index, &size) ? world->step_count : 0;
}

static void take_trajectory(sinew_trajectory *trajectory, const char *tag, int32_t index, sinew_section_reader *reader)
{
    size_t size;
    uint32_t moving;
    const char *content = sinew_sections_find(reader, tag, (uint32_t)index, &size);
    memcpy(&moving, content, sizeof moving);
    memcpy(trajectory->base, content + 2 * sizeof moving, 3 * (size_t)trajectory->count * sizeof *trajectory->base);
    if (moving == POINTS_STILL)
        sinew_trajectory_set(trajectory, trajectory->base);
    else if (moving == POINTS_FOLLOWING)
        section_follow_points(trajectory, content, trajectory->points);
}

static void take_time(sinew_world *world, sinew_section_reader *reader)
{
    size_t size;
    const char *content = sinew_sections_find(reader, "TIME", 0, &size);
    memcpy(&world->step_count, content, sizeof world->step_count);
    memcpy(&world->time, content + sizeof world->step_count, sizeof world->time);
}

/* Restores the measurement history from the section MEAS. A section without six finite numbers is ignored: the next
 * step measures as in a new world. */
static void take_history(sinew_world *world, sinew_section_reader *reader)
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
static sinew_status take_tears(sinew_world *world, sinew_section_reader *reader, sinew_error *error)
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
        int32_t *operations = new_operations(world, i, reader, &count);
        if (count > 0)
            status = operations
                         ? sinew_tear_do(world, (sinew_body){i, world->bodies[i].generation}, operations, count, error)
                         : sinew_fail_memory(error, "the tears of a state");
        sinew_release(&world->allocator, operations);
        world->bodies[i].tear->report = (sinew_tear_report){counts[0], counts[1], counts[2]};
    }
    return status;
}

/* Copies time, bodies, targets and contact data of the state to the world. All checks are done, so this cannot fail. */
static void take_sections(sinew_world *world, sinew_section_reader *reader)
{
    take_time(world, reader);
    take_history(world, reader);
    for (int32_t i = 0; i < world->body_count; i++)
        if (world->bodies[i].mesh) {
            take_body(world, i, reader);
            take_torn(world, i, reader);
        }
    for (int32_t i = 0; i < world->energy_count; i++)
        if (world->energies[i].targets.count > 0)
            take_trajectory(&world->energies[i].targets, "GOAL", i, reader);
    for (int32_t i = 0; i < world->pin_count; i++)
        if (world->pins[i].count > 0)
            take_trajectory(&world->pins[i].trajectory, "PINS", i, reader);
    sinew_contact_take_sections(world, true, reader);
}

/* Copies the comment of a state; *comment is NULL if the state has none. */
static sinew_status copy_comment(const sinew_world *world, const char *text, size_t size, char **comment,
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

static void replace_comment(sinew_world *world, char *comment)
{
    sinew_release(&world->allocator, world->comment);
    world->comment = comment;
}

sinew_status sinew_world_state_load(sinew_world *world, const void *blob, size_t size, sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    if (!SINEW_ASSERT(world && blob))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_world_state_load needs a world and a state");
    sinew_section_reader reader;
    sinew_status status = sinew_sections_open(&reader, blob, size, known_tags, KNOWN_TAGS, error);
    if (status == SINEW_OK)
        status = check_time(&reader, error);
    if (status == SINEW_OK)
        status = check_bodies(world, &reader, error);
    if (status == SINEW_OK)
        status = check_trajectories(world, &reader, error);
    if (status == SINEW_OK)
        status = sinew_contact_check_sections(world, true, &reader, error);
    if (status != SINEW_OK)
        return status;
    size_t comment_size;
    char *comment;
    const char *text = sinew_sections_find(&reader, "NOTE", 0, &comment_size);
    status = copy_comment(world, text, comment_size, &comment, error);
    if (status == SINEW_OK)
        status = take_tears(world, &reader, error);
    if (status == SINEW_OK && !sinew_contact_reserve_take(world, &reader))
        status = sinew_fail_memory(error, "the contacts of a state");
    if (status == SINEW_OK)
        status = take_solver(world, &reader, error);
    if (status != SINEW_OK) {
        sinew_release(&world->allocator, comment);
        return status;
    }
    take_sections(world, &reader);
    replace_comment(world, comment);
    return SINEW_OK;
}

/* ---- Restoring of a state -------------------------------------------------------------------- */

/* A saved state whose sections are looked up by slot and generation. */
typedef struct saved_state {
    sinew_section_reader reader;
    const char *generations; /* saved generations of all slots; NULL: all generations are 0 */
    uint32_t counts[KINDS];
} saved_state;

static sinew_status open_saved(saved_state *saved, const void *blob, size_t size, sinew_error *error)
{
    *saved = (saved_state){0};
    sinew_status status = sinew_sections_open(&saved->reader, blob, size, known_tags, KNOWN_TAGS, error);
    if (status == SINEW_OK)
        status = check_time(&saved->reader, error);
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
    for (int kind = 0; kind < KINDS; kind++)
        total += saved->counts[kind];
    if (bytes - sizeof saved->counts != total * sizeof(uint32_t))
        return sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: it has no generation for each place");
    saved->generations = content + sizeof saved->counts;
    return SINEW_OK;
}

/* True if a slot of the world holds the same object as in the saved state. */
static bool same_generation(const sinew_world *world, const saved_state *saved, int kind, int32_t slot)
{
    uint32_t was = 0;
    size_t at = (size_t)slot;
    for (int k = 0; k < kind; k++)
        at += saved->counts[k];
    if (saved->generations && (uint32_t)slot < saved->counts[kind])
        memcpy(&was, saved->generations + at * sizeof was, sizeof was);
    return was == generation_at(world, kind, slot);
}

/* Restores one body from a state; changes the world only if `take`. SINEW_ERROR_FORMAT: its section is damaged;
 * SINEW_ERROR_DATA: its section is missing or differs from the world's object. */
static sinew_status restore_body(sinew_world *world, saved_state *saved, int32_t slot, bool take, sinew_error *error)
{
    size_t size;
    const char *content = sinew_sections_find(&saved->reader, "BODY", (uint32_t)slot, &size);
    if (!content || size != 9 * (size_t)world->bodies[slot].count * sizeof(sinew_real) ||
        !same_generation(world, saved, OF_BODIES, slot))
        return SINEW_ERROR_DATA;
    const sinew_status status = check_body(world, slot, &saved->reader, error);
    if (status == SINEW_OK && take) {
        take_body(world, slot, &saved->reader);
        take_torn(world, slot, &saved->reader);
    }
    return status;
}

static sinew_status restore_trajectory(const sinew_world *world, saved_state *saved, int kind, int32_t slot, bool take,
                                       sinew_error *error)
{
    sinew_trajectory *trajectory = kind == OF_PINS ? &world->pins[slot].trajectory : &world->energies[slot].targets;
    const char *tag = kind == OF_PINS ? "PINS" : "GOAL";
    if (!trajectory_fits(trajectory, tag, slot, &saved->reader, NULL) || !same_generation(world, saved, kind, slot))
        return SINEW_ERROR_DATA;
    const sinew_status status = check_trajectory(world, trajectory, tag, slot, &saved->reader, error);
    if (status == SINEW_OK && take)
        take_trajectory(trajectory, tag, slot, &saved->reader);
    return status;
}

static sinew_status restore_one(sinew_world *world, saved_state *saved, int kind, int32_t slot, bool take,
                                sinew_error *error)
{
    return kind == OF_BODIES ? restore_body(world, saved, slot, take, error)
                             : restore_trajectory(world, saved, kind, slot, take, error);
}

static bool state_has(const sinew_world *world, int kind, int32_t slot)
{
    return kind == OF_BODIES     ? world->bodies[slot].mesh != NULL
           : kind == OF_ENERGIES ? world->energies[slot].targets.count > 0
                                 : world->pins[slot].count > 0;
}

/* Restores all objects of one kind (bodies, energies or pins) and counts them in *report; `take` false: only checks and
 * counts. */
static sinew_status restore_kind(sinew_world *world, saved_state *saved, int kind, bool take, sinew_restored *report,
                                 sinew_error *error)
{
    static const char *const tags[KINDS] = {"BODY", "GOAL", "PINS"};
    const int32_t slots[KINDS] = {world->body_count, world->energy_count, world->pin_count};
    *report = (sinew_restored){0};
    for (int32_t i = 0; i < slots[kind]; i++) {
        if (!state_has(world, kind, i))
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
    sinew_restored counts[KINDS];
    bool whole = true;
    sinew_status status = open_saved(&saved, blob, size, error);
    if (status == SINEW_OK)
        status = sinew_contact_check_sections(world, false, &saved.reader, error);
    for (int kind = 0; kind < KINDS && status == SINEW_OK; kind++) {
        status = restore_kind(world, &saved, kind, false, &counts[kind], error);
        whole = whole && status == SINEW_OK && counts[kind].kept == 0 && counts[kind].dropped == 0;
    }
    if (status == SINEW_OK && !sinew_contact_reserve_take(world, &saved.reader))
        status = sinew_fail_memory(error, "the contacts of a state");
    if (status == SINEW_OK && whole)
        status = take_solver(world, &saved.reader, error);
    else if (status == SINEW_OK)
        forget_steps(world);
    if (status != SINEW_OK)
        return status;
    take_time(world, &saved.reader);
    take_history(world, &saved.reader);
    for (int kind = 0; kind < KINDS; kind++)
        restore_kind(world, &saved, kind, true, &counts[kind], NULL);
    sinew_contact_take_sections(world, false, &saved.reader);
    if (report)
        *report = (sinew_restore_report){counts[OF_BODIES], counts[OF_ENERGIES], counts[OF_PINS]};
    return SINEW_OK;
}

sinew_status sinew_world_state_check(const sinew_world *world, const void *blob, size_t size, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(world && blob))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_world_state_check needs a world and a state");
    sinew_section_reader reader;
    sinew_status status = sinew_sections_open(&reader, blob, size, known_tags, KNOWN_TAGS, error);
    if (status != SINEW_OK)
        return status;
    size_t length;
    const char *text = sinew_sections_find(&reader, "SIGN", 0, &length);
    if (!text)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "does not say which scene it belongs to");
    return sinew_world_signature_check(world, text, length, error);
}

/* ---- Comment that the caller stores in a state ------------------------------------------------- */

sinew_status sinew_world_set_comment(sinew_world *world, const char *text)
{
    char *comment;
    if (!SINEW_ASSERT(world))
        return SINEW_ERROR_USAGE;
    if (!sinew_world_may_change(world, __func__, &world->error))
        return SINEW_ERROR_USAGE;
    sinew_status status = copy_comment(world, text, text ? strlen(text) : 0, &comment, NULL);
    if (status == SINEW_OK)
        replace_comment(world, comment);
    return status;
}

const char *sinew_world_comment(const sinew_world *world)
{
    return SINEW_ASSERT(world) && world->comment ? world->comment : "";
}
