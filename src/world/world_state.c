/* SPDX-License-Identifier: MIT
 *
 * world_state.c: everything that changes while stepping, as one block of bytes, and its hash.
 *
 * The block: a header, then positions, velocities and forces in outside order, then the base points of every target and
 * pin with one word that says whether key frames still move them. All in the machine's own byte order.
 */
#include <math.h>
#include <string.h>

#include "world/world.h"

#define STATE_MAGIC   0x53574e53u /* "SNWS" */
#define STATE_VERSION 1u

typedef struct state_header {
    uint32_t magic, version;
    uint32_t real_size;
    int32_t particle_count, guide_count, point_count; /* of all guides together */
    int64_t step_count;
    double time;
} state_header;

/* Calls `visit` on every guide of the world, energies first. */
typedef void guide_visitor(sinew_guide *guide, void *context);
static void visit_guides(const sinew_world *world, guide_visitor *visit, void *context)
{
    for (int32_t i = 0; i < world->energy_count; i++)
        if (world->energies[i].targets.count > 0)
            visit(&world->energies[i].targets, context);
    for (int32_t i = 0; i < world->pin_count; i++)
        if (world->pins[i].count > 0)
            visit(&world->pins[i].guide, context);
}

static void count_guide(sinew_guide *guide, void *context)
{
    state_header *header = context;
    header->guide_count++;
    header->point_count += guide->count;
}

static state_header make_header(const sinew_world *world)
{
    state_header header;
    memset(&header, 0, sizeof header);
    header.magic = STATE_MAGIC;
    header.version = STATE_VERSION;
    header.real_size = (uint32_t)sizeof(sinew_real);
    header.particle_count = world->particle_count;
    header.step_count = world->step_count;
    header.time = world->time;
    visit_guides(world, count_guide, &header);
    return header;
}

static size_t block_size(const state_header *header)
{
    return sizeof *header +
           (9 * (size_t)header->particle_count + 3 * (size_t)header->point_count) * sizeof(sinew_real) +
           (size_t)header->guide_count * sizeof(uint32_t);
}

size_t sinew_world_state_size(const sinew_world *world)
{
    if (!SINEW_ASSERT(world))
        return 0;
    state_header header = make_header(world);
    return block_size(&header);
}

/* ---- Save ------------------------------------------------------------------------------------ */

static void put(char **at, const void *bytes, size_t size)
{
    if (size)
        memcpy(*at, bytes, size);
    *at += size;
}

static void put_guide(sinew_guide *guide, void *context)
{
    uint32_t moving = guide->key_count > 0;
    put(context, &moving, sizeof moving);
    put(context, guide->base, 3 * (size_t)guide->count * sizeof *guide->base);
}

sinew_status sinew_world_state_save(const sinew_world *world, void *blob, size_t size)
{
    if (!SINEW_ASSERT(world && blob && size >= sinew_world_state_size(world)))
        return SINEW_ERROR_USAGE;
    char *at = blob;
    state_header header = make_header(world);
    put(&at, &header, sizeof header);
    const sinew_real *arrays[] = {world->q, world->v, world->force};
    for (int a = 0; a < 3; a++)
        for (int32_t i = 0; i < world->particle_count; i++)
            put(&at, arrays[a] + 4 * (size_t)world->inside[i], 3 * sizeof(sinew_real));
    visit_guides(world, put_guide, &at);
    return SINEW_OK;
}

/* ---- Load ------------------------------------------------------------------------------------ */

static sinew_status check_header(const sinew_world *world, const state_header *header, size_t size, sinew_error *error)
{
    state_header own = make_header(world);
    if (header->magic != STATE_MAGIC || header->version != STATE_VERSION)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "not a state of this version of sinew");
    if (header->real_size != own.real_size)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "the state was saved in %s precision, this is " SINEW_PRECISION,
                          header->real_size == 4 ? "single" : "double");
    if (header->particle_count != own.particle_count || header->guide_count != own.guide_count ||
        header->point_count != own.point_count)
        return sinew_fail(
            error, SINEW_ERROR_FORMAT,
            "the state has %d particles and %d guided points, the world has %d and %d: build it the same way",
            header->particle_count, header->point_count, own.particle_count, own.point_count);
    if (size != block_size(header))
        return sinew_fail(error, SINEW_ERROR_FORMAT, "the state has %zu bytes, must have %zu", size,
                          block_size(header));
    if (!isfinite(header->time) || header->step_count < 0)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "the state's time is damaged");
    return SINEW_OK;
}

/* All numbers finite, and no guide moving that has no key frames here. */
typedef struct guide_check {
    const char *at;
    bool good;
} guide_check;

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

static void check_guide(sinew_guide *guide, void *context)
{
    guide_check *check = context;
    uint32_t moving;
    memcpy(&moving, check->at, sizeof moving);
    check->at += sizeof moving;
    check->good = check->good && moving <= 1 && (moving == 0 || guide->key_count > 0) &&
                  finite_reals(check->at, 3 * (size_t)guide->count);
    check->at += 3 * (size_t)guide->count * sizeof(sinew_real);
}

static void take_guide(sinew_guide *guide, void *context)
{
    const char **at = context;
    uint32_t moving;
    memcpy(&moving, *at, sizeof moving);
    *at += sizeof moving;
    memcpy(guide->base, *at, 3 * (size_t)guide->count * sizeof *guide->base);
    if (!moving)
        sinew_guide_set(guide, guide->base);
    *at += 3 * (size_t)guide->count * sizeof *guide->base;
}

sinew_status sinew_world_state_load(sinew_world *world, const void *blob, size_t size, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(world && blob))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_world_state_load needs a world and a state");
    state_header header;
    if (size < sizeof header)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "the state has %zu bytes: it is cut short", size);
    memcpy(&header, blob, sizeof header);
    sinew_status status = check_header(world, &header, size, error);
    if (status != SINEW_OK)
        return status;
    const char *at = (const char *)blob + sizeof header;
    const size_t reals = 9 * (size_t)world->particle_count;
    guide_check check = {at + reals * sizeof(sinew_real), true};
    visit_guides(world, check_guide, &check);
    if (!check.good || !finite_reals(at, reals))
        return sinew_fail(error, SINEW_ERROR_FORMAT, "the state holds numbers that are not finite, or is damaged");
    sinew_real *arrays[] = {world->q, world->v, world->force};
    for (int a = 0; a < 3; a++)
        for (int32_t i = 0; i < world->particle_count; i++, at += 3 * sizeof(sinew_real))
            memcpy(arrays[a] + 4 * (size_t)world->inside[i], at, 3 * sizeof(sinew_real));
    visit_guides(world, take_guide, &at);
    world->time = header.time;
    world->step_count = header.step_count;
    return SINEW_OK;
}

/* ---- Hash ------------------------------------------------------------------------------------ */

/* FNV-1a, 64 bits (Fowler, Noll, Vo). */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

uint64_t sinew_world_state_hash(const sinew_world *world)
{
    uint64_t hash = 0xcbf29ce484222325u;
    if (!SINEW_ASSERT(world))
        return hash;
    const sinew_real *arrays[] = {world->q, world->v};
    for (int a = 0; a < 2; a++)
        for (int32_t i = 0; i < world->particle_count; i++)
            hash = hash_bytes(hash, arrays[a] + 4 * (size_t)world->inside[i], 3 * sizeof(sinew_real));
    return hash_bytes(hash, &world->time, sizeof world->time);
}
