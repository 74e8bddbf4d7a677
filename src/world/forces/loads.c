/* SPDX-License-Identifier: MIT
 *
 * loads.c: adds, changes and removes loads of a world; computes their layouts and their forces in a step.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/tagged_blob.h"
#include "energy/parameter.h"
#include "world/forces/loads.h"

/* ---- Load kinds and defaults ----------------------------------------------------------------- */

const sinew_load_info *sinew_get_load_info(sinew_load_kind kind)
{
    const sinew_load_ops *ops = sinew_load_get_ops(kind);
    return ops ? &ops->info : NULL;
}

sinew_load_kind sinew_load_by_name(const char *name)
{
    for (int kind = 0; name && kind < SINEW_LOAD_COUNT; kind++)
        if (strcmp(sinew_load_get_ops((sinew_load_kind)kind)->info.name, name) == 0)
            return (sinew_load_kind)kind;
    return SINEW_LOAD_COUNT;
}

int32_t sinew_load_parameter(sinew_load_kind kind, const char *name)
{
    const sinew_load_info *info = sinew_get_load_info(kind);
    for (int32_t p = 0; info && name && p < info->parameter_count; p++)
        if (strcmp(info->parameters[p].name, name) == 0)
            return p;
    return -1;
}

sinew_load_def sinew_default_load_def(sinew_load_kind kind)
{
    sinew_load_def def = {.cookie = SINEW_COOKIE_LOAD, .kind = kind, .body = {.index = -1}};
    const sinew_load_info *info = sinew_get_load_info(kind);
    for (int32_t p = 0; info && p < info->parameter_count; p++)
        def.parameters[p] = (sinew_real)info->parameters[p].preset;
    return def;
}

/* ---- Checks of a load definition --------------------------------------------------------------- */

static bool loads_finite3(const sinew_real vector[3])
{
    return isfinite(vector[0]) && isfinite(vector[1]) && isfinite(vector[2]);
}

static sinew_status check_keys(const sinew_load_def *def, const sinew_load_info *info, sinew_error *error)
{
    if (!loads_finite3(def->vector))
        return sinew_fail(error, SINEW_ERROR_DATA, "%s: its %s is %g %g %g %s, must be finite", info->name,
                          info->vector.name, (double)def->vector[0], (double)def->vector[1], (double)def->vector[2],
                          info->vector.unit);
    if (def->key_count < 0 || (def->key_count > 0 && !def->keys))
        return sinew_fail(error, SINEW_ERROR_DATA, "%s: has %d keys, but no list of them", info->name, def->key_count);
    for (int32_t k = 0; k < def->key_count; k++) {
        const sinew_load_key *key = &def->keys[k];
        if (!isfinite(key->time) || !loads_finite3(key->vector) || !isfinite(key->factor))
            return sinew_fail(error, SINEW_ERROR_DATA, "%s: key %d is not finite", info->name, k);
        if (k > 0 && !(key->time > key[-1].time))
            return sinew_fail(error, SINEW_ERROR_DATA, "%s: key %d is at %g s, not after the one before it at %g s",
                              info->name, k, (double)key->time, (double)key[-1].time);
    }
    return SINEW_OK;
}

static sinew_status check_load_def(const sinew_world *world, const sinew_load_def *def, sinew_error *error)
{
    const sinew_load_info *info = def ? sinew_get_load_info(def->kind) : NULL;
    if (!SINEW_ASSERT(world && info && def->cookie == SINEW_COOKIE_LOAD))
        return sinew_fail(error, SINEW_ERROR_USAGE,
                          "a load needs a world and a def made by sinew_default_load_def() with a kind that there is");
    if (!sinew_world_find_body(world, def->body, error))
        return SINEW_ERROR_USAGE;
    sinew_status status = check_keys(def, info, error);
    for (int32_t p = 0; status == SINEW_OK && p < info->parameter_count; p++)
        status = sinew_parameter_check(&info->parameters[p], (double)def->parameters[p], info->name, error);
    if (status == SINEW_OK && def->elements && def->element_count < 1)
        status = sinew_fail(error, SINEW_ERROR_DATA, "%s: the list of what it acts on is empty", info->name);
    return status;
}

/* Checks that the load can exert its forces, for the vector of every key frame. */
static sinew_status check_load_can_act(const sinew_world *world, const sinew_load_record *record, sinew_error *error)
{
    const sinew_load_ops *ops = sinew_load_get_ops(record->kind);
    const char *why = ops->check && record->key_count == 0 ? ops->check(world, record, record->vector) : NULL;
    for (int32_t k = 0; ops->check && !why && k < record->key_count; k++)
        why = ops->check(world, record, record->keys[k].vector);
    return why ? sinew_fail(error, SINEW_ERROR_DATA, "%s on body %d: %s", ops->info.name, record->body.index, why)
               : SINEW_OK;
}

/* ---- Layout of a load ------------------------------------------------------------------------ */

static void release_layout(const sinew_allocator *allocator, sinew_load_layout *layout)
{
    sinew_release(allocator, layout->elements);
    sinew_release(allocator, layout->numbers);
    *layout = (sinew_load_layout){.shape_version = -1};
}

/* Finds the elements of a load: those of its definition, or all current elements of the body. */
static sinew_status loads_find_elements(const sinew_world *world, const sinew_load_record *record,
                                        const sinew_load_ops *ops, sinew_load_layout *layout, sinew_error *error)
{
    const sinew_stencil_info *stencil_info = sinew_get_stencil(ops->info.stencil);
    const size_t n = (size_t)ops->corners;
    if (!record->given)
        return stencil_info->find(&world->allocator, world->bodies[record->body.index].mesh, ops->corners,
                                  &layout->elements, &layout->count, error);
    layout->count = record->given_count;
    layout->elements = sinew_allocate(&world->allocator, n * (size_t)layout->count, sizeof *layout->elements);
    if (!layout->elements)
        return sinew_fail_memory(error, "a load");
    memcpy(layout->elements, record->given, n * (size_t)layout->count * sizeof *layout->elements);
    return SINEW_OK;
}

static sinew_status make_layout(const sinew_world *world, const sinew_load_record *record, sinew_load_layout *layout,
                                sinew_error *error)
{
    const sinew_load_ops *ops = sinew_load_get_ops(record->kind);
    *layout = (sinew_load_layout){.shape_version = world->shape_version};
    sinew_status status = loads_find_elements(world, record, ops, layout, error);
    const size_t count = (size_t)layout->count * (size_t)ops->corners;
    const size_t vertices = (size_t)world->bodies[record->body.index].count;
    double *scratch = sinew_allocate(&world->allocator, vertices, sizeof *scratch);
    layout->numbers = status == SINEW_OK ? sinew_allocate(&world->allocator, count, sizeof *layout->numbers) : NULL;
    if (status == SINEW_OK && (!scratch || !layout->numbers))
        status = sinew_fail_memory(error, "a load");
    if (status == SINEW_OK)
        ops->measure(world, record, scratch, layout);
    else
        release_layout(&world->allocator, layout);
    sinew_release(&world->allocator, scratch);
    return status;
}

sinew_status sinew_loads_prepare(sinew_world *world, sinew_error *error)
{
    sinew_status status = SINEW_OK;
    for (int32_t i = 0; i < world->load_count && status == SINEW_OK; i++) {
        sinew_load_record *record = &world->loads[i];
        if (!record->live || record->layout.shape_version == world->shape_version)
            continue;
        sinew_load_layout layout;
        status = make_layout(world, record, &layout, error);
        if (status != SINEW_OK)
            break;
        release_layout(&world->allocator, &record->layout);
        record->layout = layout;
    }
    return status;
}

/* ---- Addition and removal of loads ------------------------------------------------------------- */

void sinew_load_record_destroy(const sinew_allocator *allocator, sinew_load_record *record)
{
    sinew_release(allocator, record->keys);
    sinew_release(allocator, record->given);
    release_layout(allocator, &record->layout);
    *record = (sinew_load_record){.kind = record->kind, .generation = record->generation};
}

/* Checks the elements of a load definition and copies them to the load's record. */
static sinew_status loads_take_elements(const sinew_world *world, const sinew_load_def *def, sinew_load_record *record,
                                        sinew_error *error)
{
    const sinew_load_ops *ops = sinew_load_get_ops(def->kind);
    if (!def->elements)
        return SINEW_OK;
    const size_t count = (size_t)def->element_count * (size_t)ops->corners;
    const int32_t limit = world->bodies[def->body.index].count;
    for (size_t i = 0; i < count; i++)
        if (def->elements[i] < 0 || def->elements[i] >= limit)
            return sinew_fail(error, SINEW_ERROR_DATA, "%s: entry %zu names vertex %d, must be in [0, %d]",
                              ops->info.name, i, def->elements[i], limit - 1);
    record->given_count = def->element_count;
    record->given = sinew_allocate(&world->allocator, count, sizeof *record->given);
    if (!record->given)
        return sinew_fail_memory(error, "a load");
    memcpy(record->given, def->elements, count * sizeof *record->given);
    return SINEW_OK;
}

static sinew_status copy_load_keys(const sinew_world *world, const sinew_load_def *def, sinew_load_record *record,
                                   sinew_error *error)
{
    if (def->key_count == 0)
        return SINEW_OK;
    record->keys = sinew_allocate(&world->allocator, (size_t)def->key_count, sizeof *record->keys);
    if (!record->keys)
        return sinew_fail_memory(error, "the keys of a load");
    memcpy(record->keys, def->keys, (size_t)def->key_count * sizeof *record->keys);
    record->key_count = def->key_count;
    return SINEW_OK;
}

/* Fails for a load that acts on nothing when it is added; later, a tear may leave a load without elements. */
static sinew_status check_load_has_elements(const sinew_load_record *record, sinew_error *error)
{
    const sinew_load_ops *ops = sinew_load_get_ops(record->kind);
    if (record->layout.count > 0)
        return SINEW_OK;
    return sinew_fail(error, SINEW_ERROR_DATA, "%s acts on %s and body %d has none", ops->info.name,
                      sinew_get_stencil(ops->info.stencil)->plural, record->body.index);
}

static bool reserve_points(const sinew_world *world, sinew_real **points)
{
    if (!*points)
        *points = sinew_allocate_zero(&world->allocator, 4 * (size_t)world->particle_capacity, sizeof **points);
    return *points;
}

/* Reserves memory for a load's record and for the array of load forces. */
static sinew_status reserve_load(sinew_world *world, int32_t slot, bool wind, sinew_error *error)
{
    const bool good =
        reserve_points(world, &world->load_force) &&
        (!wind || (reserve_points(world, &world->acceleration) && reserve_points(world, &world->wind_start)));
    if (good &&
        sinew_grow(&world->allocator, (void **)&world->loads, slot, &world->load_capacity, sizeof *world->loads))
        return SINEW_OK;
    return sinew_fail_memory(error, "a load");
}

static int32_t free_load_slot(const sinew_world *world)
{
    int32_t slot = 0;
    while (slot < world->load_count && world->loads[slot].live)
        slot++;
    return slot;
}

sinew_load sinew_world_add_load(sinew_world *world, const sinew_load_def *def, sinew_error *error)
{
    const sinew_load none = {.index = -1};
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return none;
    if (check_load_def(world, def, error) != SINEW_OK)
        return none;
    const int32_t slot = free_load_slot(world);
    sinew_load_record record = {.live = true, .kind = def->kind, .body = def->body, .layout = {.shape_version = -1}};
    memcpy(record.vector, def->vector, sizeof record.vector);
    memcpy(record.parameters, def->parameters, sizeof record.parameters);
    sinew_status status = loads_take_elements(world, def, &record, error);
    if (status == SINEW_OK)
        status = copy_load_keys(world, def, &record, error);
    if (status == SINEW_OK)
        status = make_layout(world, &record, &record.layout, error);
    if (status == SINEW_OK)
        status = check_load_has_elements(&record, error);
    if (status == SINEW_OK)
        status = check_load_can_act(world, &record, error);
    if (status == SINEW_OK)
        status = reserve_load(world, slot, sinew_load_get_ops(def->kind)->wind, error);
    if (status != SINEW_OK) {
        sinew_load_record_destroy(&world->allocator, &record);
        return none;
    }
    record.generation = slot < world->load_count ? world->loads[slot].generation + 1 : 0;
    world->load_count += slot == world->load_count;
    world->loads[slot] = record;
    return (sinew_load){slot, record.generation};
}

/* Returns the record of a load id; NULL, with an error, if the id names no load. */
static sinew_load_record *find_load(const sinew_world *world, sinew_load load, sinew_error *error)
{
    sinew_load_record *record =
        world && load.index >= 0 && load.index < world->load_count ? &world->loads[load.index] : NULL;
    if (SINEW_ASSERT(record && record->live && record->generation == load.generation))
        return record;
    sinew_fail(error, SINEW_ERROR_USAGE, "there is no load %d of generation %u: it was removed, or is of another world",
               load.index, (unsigned)load.generation);
    return NULL;
}

sinew_status sinew_world_remove_load(sinew_world *world, sinew_load load, sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    sinew_load_record *record = find_load(world, load, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    sinew_load_record_destroy(&world->allocator, record);
    return SINEW_OK;
}

void sinew_loads_remove_body(sinew_world *world, sinew_body body)
{
    for (int32_t i = 0; i < world->load_count; i++)
        if (world->loads[i].live && world->loads[i].body.index == body.index)
            sinew_load_record_destroy(&world->allocator, &world->loads[i]);
}

int32_t sinew_world_load_count(const sinew_world *world)
{
    return SINEW_ASSERT(world) ? world->load_count : 0;
}

sinew_load sinew_world_load_at(const sinew_world *world, int32_t slot)
{
    if (!SINEW_ASSERT(world && slot >= 0 && slot < world->load_count) || !world->loads[slot].live)
        return (sinew_load){.index = -1};
    return (sinew_load){slot, world->loads[slot].generation};
}

/* ---- Changes of a load's vector and parameters ------------------------------------------------- */

sinew_status sinew_load_set_vector(sinew_world *world, sinew_load load, const sinew_real vector[3], sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    sinew_load_record *record = find_load(world, load, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    if (!SINEW_ASSERT(vector))
        return sinew_fail(error, SINEW_ERROR_USAGE, "load %d: no vector is given", load.index);
    sinew_load_def def = {.vector = {vector[0], vector[1], vector[2]}};
    sinew_status status = check_keys(&def, sinew_get_load_info(record->kind), error);
    if (status == SINEW_OK)
        status = sinew_loads_prepare(world, error);
    const sinew_load_record old = *record;
    if (status == SINEW_OK) {
        memcpy(record->vector, vector, sizeof record->vector);
        record->key_count = 0;
        status = check_load_can_act(world, record, error);
    }
    if (status != SINEW_OK) {
        memcpy(record->vector, old.vector, sizeof record->vector);
        record->key_count = old.key_count;
        return status;
    }
    sinew_release(&world->allocator, record->keys);
    record->keys = NULL;
    return SINEW_OK;
}

sinew_status sinew_load_set_parameter(sinew_world *world, sinew_load load, const char *name, sinew_real value,
                                      sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    sinew_load_record *record = find_load(world, load, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    const sinew_load_info *info = sinew_get_load_info(record->kind);
    const int32_t p = sinew_load_parameter(record->kind, name);
    if (p < 0)
        return sinew_fail(error, SINEW_ERROR_DATA, "%s has no parameter \"%.60s\"; see sinew info loads", info->name,
                          name ? name : "");
    const sinew_status status = sinew_parameter_check(&info->parameters[p], (double)value, info->name, error);
    if (status == SINEW_OK)
        record->parameters[p] = value;
    return status;
}

/* ---- Forces of all loads --------------------------------------------------------------------- */

static sinew_load_moment load_at_time(const sinew_load_record *record, double time)
{
    sinew_load_moment moment = {.factor = 1, .time = time};
    int32_t next = 0;
    while (next < record->key_count && (double)record->keys[next].time <= time)
        next++;
    for (int c = 0; c < 3; c++)
        moment.vector[c] = (double)record->vector[c];
    if (record->key_count == 0)
        return moment;
    const sinew_load_key *a = &record->keys[next > 0 ? next - 1 : 0];
    const sinew_load_key *b = &record->keys[next < record->key_count ? next : record->key_count - 1];
    const double span = (double)b->time - (double)a->time, s = span > 0 ? (time - (double)a->time) / span : 0;
    moment.factor = (1 - s) * (double)a->factor + s * (double)b->factor;
    for (int c = 0; c < 3; c++)
        moment.vector[c] = moment.factor * ((1 - s) * (double)a->vector[c] + s * (double)b->vector[c]);
    return moment;
}

/* Adds the forces of all winds (`wind`), or of all other loads, to the world's load_force, in N. */
static void add_loads(const sinew_world *world, bool wind)
{
    const double h = (double)world->def.time_step;
    for (int32_t i = 0; i < world->load_count; i++) {
        const sinew_load_record *record = &world->loads[i];
        const sinew_load_ops *ops = sinew_load_get_ops(record->kind);
        if (!record->live || ops->wind != wind || record->layout.shape_version != world->shape_version)
            continue;
        sinew_load_moment moment = load_at_time(record, world->time + h);
        moment.h = world->def.quasistatic ? 0 : h;
        moment.kept = exp(-(double)world->def.damping * h);
        ops->apply(world, record, &moment, world->load_force);
    }
}

/* Sets the world's wind_start, while load_force holds the forces of winds alone. */
static void keep_wind_start(const sinew_world *world)
{
    const double h = (double)world->def.time_step, kept = exp(-(double)world->def.damping * h);
    const double load = sinew_world_load_fraction(world, world->step_count + 1);
    for (int32_t i = 0; i < world->particle_count; i++)
        for (size_t c = 0, at = 4 * (size_t)i; c < 3; c++, at++)
            world->wind_start[at] = (sinew_real)(kept * (double)world->v[at] / h +
                                                 load * (double)world->load_force[at] / (double)world->mass[i]);
}

void sinew_loads_evaluate(sinew_world *world)
{
    if (!world->load_force)
        return;
    memset(world->load_force, 0, 4 * (size_t)world->particle_count * sizeof *world->load_force);
    add_loads(world, true);
    if (world->wind_start)
        keep_wind_start(world);
    add_loads(world, false);
}

void sinew_loads_end_step(sinew_world *world)
{
    const double h = (double)world->def.time_step;
    for (size_t i = 0; world->acceleration && i < 4 * (size_t)world->particle_count; i++)
        world->acceleration[i] = i % 4 == 3 ? 1 : (sinew_real)((double)world->v[i] / h - (double)world->wind_start[i]);
}

sinew_status sinew_world_load_forces(sinew_world *world, int32_t first, int32_t count, sinew_real *f,
                                     sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    if (!SINEW_ASSERT(sinew_world_has_range(world, first, count, f)))
        return sinew_fail(error, SINEW_ERROR_USAGE,
                          "sinew_world_load_forces needs a world, particles of it and an array");
    const sinew_status status = sinew_world_make_ready(world, error);
    if (status != SINEW_OK)
        return status;
    sinew_world_predict(world);
    for (int32_t i = 0; i < count; i++) {
        const int32_t at = world->inside[first + i];
        for (size_t c = 0; c < 3; c++)
            f[3 * (size_t)i + c] = at < 0 || !world->load_force ? 0 : world->load_force[4 * (size_t)at + c];
    }
    return SINEW_OK;
}

uint32_t sinew_load_digest(const sinew_load_record *record)
{
    const size_t corners = (size_t)sinew_load_get_ops(record->kind)->corners;
    uint32_t digest = sinew_checksum(0, record->vector, sizeof record->vector);
    digest = sinew_checksum(digest, record->parameters, sizeof record->parameters);
    if (record->key_count > 0)
        digest = sinew_checksum(digest, record->keys, (size_t)record->key_count * sizeof *record->keys);
    if (record->given)
        digest = sinew_checksum(digest, record->given, corners * (size_t)record->given_count * sizeof *record->given);
    return digest;
}
