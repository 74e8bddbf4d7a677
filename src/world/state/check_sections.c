/* SPDX-License-Identifier: MIT
 *
 * check_sections.c: checks the sections of a state against a world, before the first change (state_sections.h).
 */
#include <math.h>
#include <string.h>

#include "world/state/contact_sections.h"
#include "world/state/known_points.h"
#include "world/state/state_sections.h"
#include "world/follow.h"

static const char *const known_tags[] = {
    "TIME", "BODY", "GOAL", "PINS", "SOLV", "GENS", "SIGN", "NOTE", "TEAR", "TORN", "MEAS", "WIND", SINEW_CONTACT_TAGS};

sinew_status sinew_state_open(sinew_section_reader *reader, const void *blob, size_t size, sinew_error *error)
{
    return sinew_sections_open(reader, blob, size, known_tags, sizeof known_tags / sizeof known_tags[0], error);
}

static bool reals_are_finite(const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sinew_real value;
        memcpy(&value, bytes + i * sizeof value, sizeof value);
        if (!isfinite(value))
            return false;
    }
    return true;
}

static sinew_status fail_not_finite(sinew_error *error, const char *where, int32_t index)
{
    return sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: %s %d holds numbers that are not finite", where,
                      (int)index);
}

sinew_status sinew_state_check_time(sinew_section_reader *reader, sinew_error *error)
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

int32_t *sinew_state_new_tears(const sinew_world *world, int32_t index, sinew_section_reader *reader, size_t *count)
{
    size_t size;
    const sinew_tear *tear = world->bodies[index].tear;
    const char *content = sinew_sections_find(reader, "TEAR", (uint32_t)index, &size);
    const size_t done = tear ? tear->log_count : 0;
    *count = content ? (size - SINEW_STATE_TEAR_HEAD) / sizeof(int32_t) - done : 0;
    int32_t *operations = *count > 0 ? sinew_allocate(&world->allocator, *count, sizeof *operations) : NULL;
    if (operations)
        memcpy(operations, content + SINEW_STATE_TEAR_HEAD + done * sizeof *operations, *count * sizeof *operations);
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
    if (content && (size < SINEW_STATE_TEAR_HEAD || size % sizeof(int32_t) != 0))
        return sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: the tears of body %d are cut off", (int)index);
    if (!content || size - SINEW_STATE_TEAR_HEAD < done * sizeof(int32_t) ||
        (done > 0 && memcmp(content + SINEW_STATE_TEAR_HEAD, body->tear->log, done * sizeof(int32_t)) != 0))
        return sinew_fail(error, SINEW_ERROR_FORMAT,
                          "body %d is torn otherwise in the world, and tears do not heal: build it the same way",
                          (int)index);
    int32_t *operations = sinew_state_new_tears(world, index, reader, &more);
    if (!operations && more > 0)
        return sinew_fail_memory(error, "the tears of a state");
    const bool sound = sinew_tear_log_is_sound(body->mesh, operations, more);
    *copies = sinew_tear_log_copies(operations, more);
    sinew_release(&world->allocator, operations);
    return sound ? SINEW_OK
                 : sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: the tears of body %d are none", (int)index);
}

sinew_status sinew_state_check_body(const sinew_world *world, int32_t index, sinew_section_reader *reader,
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
    if (!reals_are_finite(content, reals))
        return fail_not_finite(error, "body", index);
    const sinew_status wind = sinew_known_points_check("WIND", "accelerations", index, reals / 9, reader, error);
    return wind == SINEW_OK ? sinew_contact_check_body_section(index, reals / 9, reader, error) : wind;
}

sinew_status sinew_state_check_bodies(const sinew_world *world, sinew_section_reader *reader, sinew_error *error)
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
            status = sinew_state_check_body(world, i, reader, error);
    return status;
}

bool sinew_state_trajectory_fits(const sinew_trajectory *trajectory, const char *tag, int32_t index,
                                 sinew_section_reader *reader, sinew_error *error)
{
    size_t size;
    uint32_t head[2] = {0};
    const char *what = tag[0] == 'G' ? "the targets of energy" : "pin";
    const char *content = sinew_sections_find(reader, tag, (uint32_t)index, &size);
    if (content && size >= sizeof head)
        memcpy(head, content, sizeof head);
    const size_t each =
        3 * sizeof(sinew_real) + (head[0] == SINEW_STATE_FOLLOWING ? sizeof(sinew_follow_point) : (size_t)0);
    if (!content || head[1] != (uint32_t)trajectory->count || size != sizeof head + (size_t)trajectory->count * each) {
        sinew_fail(error, SINEW_ERROR_FORMAT, "%s %d has %u points there, %d in the world: build it the same way", what,
                   (int)index, (unsigned)head[1], (int)trajectory->count);
        return false;
    }
    const bool fits = head[0] == SINEW_STATE_STILL || head[0] == sinew_state_motion_of(trajectory);
    if (!fits)
        sinew_fail(error, SINEW_ERROR_FORMAT, "%s %d %s there, and not in the world", what, (int)index,
                   head[0] == SINEW_STATE_FOLLOWING ? "follows a collider" : "is moved by key frames or a cache");
    return fits;
}

bool sinew_state_follow_points(const sinew_trajectory *trajectory, const char *content, sinew_follow_point *points)
{
    const size_t count = (size_t)trajectory->count;
    uint32_t motion;
    memcpy(&motion, content, sizeof motion);
    if (motion != SINEW_STATE_FOLLOWING)
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
        !sinew_state_follow_points(trajectory, content, points) || sinew_follow_points_fit(world, trajectory, points);
    sinew_release(&world->allocator, points);
    return fit ? SINEW_OK
               : sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: a pin or target follows what its collider lacks");
}

sinew_status sinew_state_check_trajectory(const sinew_world *world, const sinew_trajectory *trajectory, const char *tag,
                                          int32_t index, sinew_section_reader *reader, sinew_error *error)
{
    size_t size;
    if (!sinew_state_trajectory_fits(trajectory, tag, index, reader, error))
        return SINEW_ERROR_FORMAT;
    const char *content = sinew_sections_find(reader, tag, (uint32_t)index, &size);
    if (!reals_are_finite(content + 2 * sizeof(uint32_t), 3 * (size_t)trajectory->count))
        return fail_not_finite(error, tag[0] == 'G' ? "the targets of energy" : "pin", index);
    return check_follow_points(world, trajectory, content, error);
}

sinew_status sinew_state_check_trajectories(const sinew_world *world, sinew_section_reader *reader, sinew_error *error)
{
    uint32_t goals = 0, pins = 0;
    sinew_status status = SINEW_OK;
    for (int32_t i = 0; i < world->energy_count && status == SINEW_OK; i++)
        if (world->energies[i].targets.count > 0) {
            status = sinew_state_check_trajectory(world, &world->energies[i].targets, "GOAL", i, reader, error);
            goals++;
        }
    for (int32_t i = 0; i < world->pin_count && status == SINEW_OK; i++)
        if (world->pins[i].count > 0) {
            status = sinew_state_check_trajectory(world, &world->pins[i].trajectory, "PINS", i, reader, error);
            pins++;
        }
    if (status == SINEW_OK &&
        (goals != sinew_sections_count(reader, "GOAL") || pins != sinew_sections_count(reader, "PINS")))
        status = sinew_fail(error, SINEW_ERROR_FORMAT,
                            "has %u pins and %u energies with targets, the world has %u and %u: build it the same way",
                            sinew_sections_count(reader, "PINS"), sinew_sections_count(reader, "GOAL"), pins, goals);
    return status;
}
