/* SPDX-License-Identifier: MIT
 *
 * contact_sections.c: the sections of contact in a state:
 *
 *     TCHS   cached contacts, one sinew_contact_cache_entry (contact/contact.h) each, without `yield`
 *     YLDS   `yield` of each cached contact; absent if all are zero
 *     IMPT   impacts in progress, one sinew_impact (contact/restitution.h) each; absent without impacts
 *     FREE   present if it is known that no surfaces overlap: the key of the colliders (state_key_of_colliders)
 *     CVEL   one per body: velocities at the start of the last step (known_points.h)
 *     COLL   one per collider with a delay or a pose: collider_state
 *
 * The bytes are untrusted: slots and vertices are only looked up, and forces must be finite and not negative.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "world/state/contact_sections.h"
#include "contact/contact.h"
#include "world/state/known_points.h"
#include "world/world.h"

/* State of one collider as a section of a saved state stores it. */
typedef struct collider_state {
    uint32_t generation, posed;
    double behind; /* delay of the collider relative to its prescribed motion, in s */
    double pose[2][6];
} collider_state;

/* ---- Saving of contact sections ---------------------------------------------------------------- */

/* Bytes of a cache entry in TCHS. */
#define ENTRY_SIZE offsetof(sinew_contact_cache_entry, yield)

/* Calls put(writer, entry) for every cached contact of the world. */
static void state_each_contact(const sinew_contact_work *c, sinew_section_writer *writer,
                               void (*put)(sinew_section_writer *, const sinew_contact_cache_entry *))
{
    for (int32_t k = 0; c->cached && k < c->cache_count; k++)
        put(writer, &c->cache[k]);
    for (int32_t k = 0; !c->cached && k < c->contacts.count; k++)
        if (sinew_contact_is_cacheable(&c->contacts.list[k])) {
            const sinew_contact_cache_entry entry = sinew_contact_cache_entry_of(c, &c->contacts.list[k]);
            put(writer, &entry);
        }
}

static void state_put_entry(sinew_section_writer *writer, const sinew_contact_cache_entry *entry)
{
    sinew_section_put(writer, entry, ENTRY_SIZE);
}

static void state_put_yield(sinew_section_writer *writer, const sinew_contact_cache_entry *entry)
{
    sinew_section_put(writer, &entry->yield, sizeof entry->yield);
}

static bool has_yields(const sinew_contact_work *c)
{
    for (int32_t k = 0; k < (c->cached ? c->cache_count : c->contacts.count); k++) {
        const sinew_contact_yield *y = c->cached ? &c->cache[k].yield : &c->contacts.list[k].yield;
        if (y->offset > 0 || y->updates > 0)
            return true;
    }
    return false;
}

static void state_put_contacts(const sinew_world *world, sinew_section_writer *writer)
{
    const sinew_contact_work *c = world->contact;
    sinew_section_begin(writer, "TCHS", true, 0);
    state_each_contact(c, writer, state_put_entry);
    sinew_section_end(writer);
    if (!has_yields(c))
        return;
    sinew_section_begin(writer, "YLDS", true, 0);
    state_each_contact(c, writer, state_put_yield);
    sinew_section_end(writer);
}

static void state_put_impacts(const sinew_world *world, sinew_section_writer *writer)
{
    const sinew_restitution *r = &world->contact->restitution;
    if (r->impact_count == 0)
        return;
    sinew_section_begin(writer, "IMPT", true, 0);
    sinew_section_put(writer, r->impacts, (size_t)r->impact_count * sizeof *r->impacts);
    sinew_section_end(writer);
}

/* A key of the slots and generations of all colliders. */
static uint64_t state_key_of_colliders(const sinew_world *world)
{
    uint64_t key = 0;
    for (int32_t i = 0; i < world->collider_count; i++)
        if (world->colliders[i].there)
            key = (key ^ ((uint64_t)i << 32 | world->colliders[i].generation)) * 0x100000001B3u;
    return key;
}

/* A step looks for overlaps unless it is known that there are none; where bodies changed since, as by tearing, it looks.
 * A step after a load must do the same. */
static void state_put_free(const sinew_world *world, sinew_section_writer *writer)
{
    const sinew_contact_work *c = world->contact;
    if (c->shape_version != world->shape_version || (c->stale ? !c->free_loaded : !c->free_known))
        return;
    const uint64_t key = state_key_of_colliders(world);
    sinew_section_begin(writer, "FREE", true, 0);
    sinew_section_put(writer, &key, sizeof key);
    sinew_section_end(writer);
}

static void state_put_collider(const sinew_collider_record *r, int32_t index, sinew_section_writer *writer)
{
    collider_state entry = {r->generation, r->posed, r->behind, {{0}}};
    for (int k = 0; r->posed && k < 12; k++)
        entry.pose[k / 6][k % 6] = (double)r->pose[k / 6][k % 6];
    sinew_section_begin(writer, "COLL", true, (uint32_t)index);
    sinew_section_put(writer, &entry, sizeof entry);
    sinew_section_end(writer);
}

void sinew_contact_put_sections(const sinew_world *world, sinew_section_writer *writer)
{
    if (sinew_contact_is_on(world))
        state_put_contacts(world, writer);
    if (sinew_contact_is_on(world))
        state_put_impacts(world, writer);
    if (sinew_contact_is_on(world))
        state_put_free(world, writer);
    for (int32_t i = 0; sinew_contact_is_on(world) && world->v_before && i < world->body_count; i++)
        if (world->bodies[i].mesh)
            sinew_known_points_put(world, world->v_before, "CVEL", i, writer);
    for (int32_t i = 0; i < world->collider_count; i++)
        if (world->colliders[i].there && (world->colliders[i].posed || world->colliders[i].behind != 0))
            state_put_collider(&world->colliders[i], i, writer);
}

/* ---- Checks of contact sections ---------------------------------------------------------------- */

static bool is_finite_force(double value)
{
    return isfinite(value) && value >= 0;
}

static bool entry_is_sound(const sinew_contact_cache_entry *n)
{
    return n->kind >= 0 && n->kind < SINEW_CONTACT_KIND_COUNT && is_finite_force(n->lambda) &&
           is_finite_force(n->lagged_normal_force) && is_finite_force(n->force) && isfinite(n->tangent[0]) &&
           isfinite(n->tangent[1]) && isfinite(n->tangent[2]);
}

static bool yield_is_sound(const sinew_contact_yield *y)
{
    return is_finite_force(y->offset) && is_finite_force(y->violation) && is_finite_force(y->lambda) &&
           is_finite_force(y->updates);
}

static sinew_status state_check_yields(sinew_section_reader *reader, size_t contacts, sinew_error *error)
{
    size_t size;
    const char *content = sinew_sections_find(reader, "YLDS", 0, &size);
    bool sound = !content || size == contacts * sizeof(sinew_contact_yield);
    for (size_t k = 0; content && sound && k < contacts; k++) {
        sinew_contact_yield yield;
        memcpy(&yield, content + k * sizeof yield, sizeof yield);
        sound = yield_is_sound(&yield);
    }
    return sound ? SINEW_OK
                 : sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: the yields of its contacts are invalid");
}

static sinew_status state_check_contacts(sinew_section_reader *reader, sinew_error *error)
{
    size_t size;
    const char *content = sinew_sections_find(reader, "TCHS", 0, &size);
    if (!content)
        return state_check_yields(reader, 0, error);
    if (size % ENTRY_SIZE != 0 || size / ENTRY_SIZE > INT32_MAX / 4)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: its contacts are cut off");
    for (size_t at = 0; at < size; at += ENTRY_SIZE) {
        sinew_contact_cache_entry entry;
        memcpy(&entry, content + at, ENTRY_SIZE);
        if (!entry_is_sound(&entry))
            return sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: contact %zu has an invalid kind or force",
                              at / ENTRY_SIZE);
    }
    return state_check_yields(reader, size / ENTRY_SIZE, error);
}

static bool impact_is_sound(const sinew_impact *n)
{
    const double numbers[] = {n->budget,   n->normal[0], n->normal[1], n->normal[2], n->point[0],
                              n->point[1], n->point[2],  n->drive[0],  n->drive[1],  n->drive[2]};
    bool sound = is_finite_force(n->approach) && is_finite_force(n->force) && is_finite_force(n->largest_change) &&
                 n->slot[0] >= 0 && n->slot[1] >= 0;
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
        sound = sound && isfinite(numbers[k]);
    return sound;
}

static sinew_status state_check_impacts(sinew_section_reader *reader, sinew_error *error)
{
    size_t size = 0;
    const char *content = sinew_sections_find(reader, "IMPT", 0, &size);
    if (!content)
        return SINEW_OK;
    if (size % sizeof(sinew_impact) != 0 || size / sizeof(sinew_impact) > INT32_MAX / 4)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: its impacts are cut off");
    for (size_t at = 0; at < size; at += sizeof(sinew_impact)) {
        sinew_impact impact;
        memcpy(&impact, content + at, sizeof impact);
        if (!impact_is_sound(&impact))
            return sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: impact %zu has an invalid number",
                              at / sizeof impact);
    }
    return SINEW_OK;
}

static sinew_status state_check_collider(int32_t index, sinew_section_reader *reader, sinew_error *error)
{
    size_t size;
    collider_state entry = {0};
    const char *content = sinew_sections_find(reader, "COLL", (uint32_t)index, &size);
    if (!content)
        return SINEW_OK;
    if (size == sizeof entry)
        memcpy(&entry, content, sizeof entry);
    bool sound = size == sizeof entry && isfinite(entry.behind) && entry.behind >= 0 && entry.posed <= 1;
    for (int k = 0; sound && k < 12; k++)
        sound = isfinite((sinew_real)entry.pose[k / 6][k % 6]);
    return sound ? SINEW_OK
                 : sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: the pose of collider %d is invalid", (int)index);
}

sinew_status sinew_contact_check_body_section(int32_t index, size_t particles, sinew_section_reader *reader,
                                              sinew_error *error)
{
    return sinew_known_points_check("CVEL", "velocities", index, particles, reader, error);
}

sinew_status sinew_contact_check_sections(const sinew_world *world, bool whole, sinew_section_reader *reader,
                                          sinew_error *error)
{
    sinew_status status = state_check_contacts(reader, error);
    if (status == SINEW_OK)
        status = state_check_impacts(reader, error);
    uint32_t seen = 0;
    for (int32_t i = 0; i < world->collider_count && status == SINEW_OK; i++)
        if (world->colliders[i].there) {
            size_t size;
            seen += sinew_sections_find(reader, "COLL", (uint32_t)i, &size) != NULL;
            status = state_check_collider(i, reader, error);
        }
    if (status == SINEW_OK && whole && seen != sinew_sections_count(reader, "COLL"))
        status = sinew_fail(error, SINEW_ERROR_FORMAT,
                            "has %u colliders that were moved, the world has %u of them: build it the same way",
                            sinew_sections_count(reader, "COLL"), seen);
    return status;
}

/* ---- Restoring of contact sections ------------------------------------------------------------- */

/* Allocates memory for the impacts of a state; those of the world stay. */
static bool state_reserve_impacts(sinew_world *world, sinew_section_reader *reader)
{
    size_t size = 0;
    return !sinew_sections_find(reader, "IMPT", 0, &size) ||
           sinew_restitution_reserve_impacts(&world->contact->restitution, &world->allocator,
                                             size / sizeof(sinew_impact));
}

bool sinew_contact_reserve_sections(sinew_world *world, sinew_section_reader *reader)
{
    size_t size = 0;
    sinew_contact_work *c = world->contact;
    if (!sinew_contact_is_on(world))
        return true;
    if (!sinew_world_allocate_v_before(world) || !state_reserve_impacts(world, reader))
        return false;
    if (!sinew_sections_find(reader, "TCHS", 0, &size) || size / ENTRY_SIZE * sizeof *c->cache <= c->cache_capacity)
        return true;
    const size_t count = size / ENTRY_SIZE;
    sinew_contact_cache_entry *entries =
        sinew_reallocate(&world->allocator, c->cache, (size_t)c->cache_count, count, sizeof *entries);
    c->cache = entries ? entries : c->cache;
    c->cache_capacity = entries ? count * sizeof *entries : c->cache_capacity;
    return entries;
}

void sinew_contact_take_body_section(const sinew_world *world, int32_t index, sinew_section_reader *reader)
{
    sinew_known_points_take(world, world->v_before, "CVEL", index, reader);
}

/* Generation of the slot of a body or collider; `otherwise` if there is no such slot. */
static uint32_t generation_of(const sinew_world *world, bool collider, int32_t slot, uint32_t otherwise)
{
    if (slot < 0 || slot >= (collider ? world->collider_count : world->body_count))
        return otherwise;
    return collider ? world->colliders[slot].generation : world->bodies[slot].generation;
}

static void state_take_impacts(sinew_world *world, bool whole, sinew_section_reader *reader)
{
    sinew_restitution *r = &world->contact->restitution;
    size_t size = 0;
    const char *content = sinew_sections_find(reader, "IMPT", 0, &size);
    r->impact_count = content ? (int32_t)(size / sizeof *r->impacts) : 0;
    if (r->impact_count > 0)
        memcpy(r->impacts, content, size);
    for (int32_t k = 0; whole && k < r->impact_count; k++)
        for (int s = 0; s < 2; s++) {
            sinew_impact *n = &r->impacts[k];
            n->generation[s] = generation_of(world, n->vertex[s] < 0, n->slot[s], n->generation[s]);
        }
}

/* True if the state knows that no surfaces overlap, and `whole` or its colliders are those of the world. */
static bool state_take_free(const sinew_world *world, bool whole, sinew_section_reader *reader)
{
    uint64_t key;
    size_t size;
    const char *content = sinew_sections_find(reader, "FREE", 0, &size);
    if (!content || size != sizeof key)
        return false;
    memcpy(&key, content, sizeof key);
    return whole || key == state_key_of_colliders(world);
}

static void state_take_contacts(sinew_world *world, bool whole, sinew_section_reader *reader)
{
    sinew_contact_work *c = world->contact;
    size_t size;
    const char *content = sinew_sections_find(reader, "TCHS", 0, &size);
    c->cache_count = content ? (int32_t)(size / ENTRY_SIZE) : 0;
    const char *yields = sinew_sections_find(reader, "YLDS", 0, &size);
    for (int32_t k = 0; k < c->cache_count; k++) {
        c->cache[k] = (sinew_contact_cache_entry){0};
        memcpy(&c->cache[k], content + (size_t)k * ENTRY_SIZE, ENTRY_SIZE);
        if (yields)
            memcpy(&c->cache[k].yield, yields + (size_t)k * sizeof c->cache[k].yield, sizeof c->cache[k].yield);
    }
    /* A state that is loaded as a whole identifies objects by slots alone, not by generations. */
    for (int32_t k = 0; whole && k < c->cache_count; k++)
        for (int s = 0; s < 2; s++) {
            sinew_contact_cache_entry *n = &c->cache[k];
            n->generation[s] = generation_of(world, n->flags >> s & 1, n->object_slot[s], n->generation[s]);
        }
    c->cached = c->stale = true;
    c->intersections_known = c->free_known = c->parted_known = false;
    c->free_loaded = state_take_free(world, whole, reader);
    c->shape_version = world->shape_version;
    c->report = (sinew_contact_report){0};
}

void sinew_contact_take_sections(sinew_world *world, bool whole, sinew_section_reader *reader)
{
    for (int32_t i = 0; i < world->collider_count; i++) {
        sinew_collider_record *r = &world->colliders[i];
        size_t size;
        collider_state entry = {.generation = r->generation};
        const char *content = sinew_sections_find(reader, "COLL", (uint32_t)i, &size);
        if (content)
            memcpy(&entry, content, sizeof entry);
        if (!r->there || (!whole && entry.generation != r->generation))
            continue;
        r->behind = entry.behind;
        r->posed = entry.posed;
        for (int k = 0; k < 12; k++)
            r->pose[k / 6][k % 6] = (sinew_real)entry.pose[k / 6][k % 6];
    }
    sinew_contact_moved(world);
    if (!sinew_contact_is_on(world))
        return;
    state_take_contacts(world, whole, reader);
    state_take_impacts(world, whole, reader);
}
