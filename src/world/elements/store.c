/* SPDX-License-Identifier: MIT
 *
 * store.c: checks and copies the data of an energy's definition, so that elements can be prepared again after changes
 * of materials, rest shapes or particle numbers.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/tagged_blob.h"
#include "energy/parameter.h"
#include "world/world.h"

/* ---- Checks of an energy definition ------------------------------------------------------------ */

sinew_status sinew_energy_check_parameter(sinew_energy_kind kind, int32_t parameter, const sinew_real *values,
                                          int32_t count, sinew_error *error)
{
    const sinew_energy_info *info = sinew_get_energy_info(kind);
    sinew_status status = SINEW_OK;
    for (int32_t e = 0; status == SINEW_OK && e < count; e++) {
        char owner[64];
        snprintf(owner, sizeof owner, "%s, element %d", info->name, e);
        status = sinew_parameter_check(&info->parameters[parameter], (double)values[e], owner, error);
    }
    return status;
}

static sinew_status check_parameters(const sinew_energy_def *def, int32_t element_count, sinew_error *error)
{
    const sinew_energy_info *info = sinew_get_energy_info(def->kind);
    sinew_status status = SINEW_OK;
    for (int32_t p = 0; status == SINEW_OK && p < info->parameter_count; p++) {
        const sinew_real *own = def->element_parameters[p];
        status = own ? sinew_energy_check_parameter(def->kind, p, own, element_count, error)
                     : sinew_parameter_check(&info->parameters[p], (double)def->parameters[p], info->name, error);
    }
    return status;
}

/* ---- Copies of an energy definition ------------------------------------------------------------ */

/* Lists the cells of the body that match the stencil of the energy: *count elements in *numbers, which the caller
 * releases. */
static sinew_status find_body_cells(const sinew_world *world, const sinew_energy_def *def, int32_t **numbers,
                                    int32_t *count, sinew_error *error)
{
    const sinew_energy_info *info = sinew_get_energy_info(def->kind);
    const sinew_stencil_info *stencil_info = sinew_get_stencil(info->stencil);
    const sinew_status status = stencil_info->find(&world->allocator, sinew_body_mesh(world, def->body),
                                                   info->vertex_count, numbers, count, error);
    if (status == SINEW_OK && *count == 0)
        return sinew_fail(error, SINEW_ERROR_DATA, "%s: body %d has no %s%s", info->name, def->body.index,
                          stencil_info->plural,
                          info->stencil == SINEW_STENCIL_TET ? "; sinew mesh fill makes them of a surface" : "");
    return status;
}

/* Copies an array of `count` reals, if `from` is not NULL; false: out of memory. */
static bool copy_reals(const sinew_allocator *allocator, const sinew_real *from, size_t count, sinew_real **to,
                       size_t *reserved)
{
    if (!from)
        return true;
    if (!sinew_reserve(allocator, to, reserved, count, sizeof **to))
        return false;
    memcpy(*to, from, count * sizeof **to);
    return true;
}

static bool element_store_copy_arrays(sinew_energy_store *store, const sinew_allocator *allocator,
                                      const sinew_energy_def *def)
{
    const sinew_energy_info *info = sinew_get_energy_info(def->kind);
    const size_t count = (size_t)store->count;
    bool good = copy_reals(allocator, def->weights, 8 * count, &store->weights, &store->weight_capacity) &&
                copy_reals(allocator, def->normals, 3 * count, &store->normals, &store->normal_capacity);
    for (int32_t p = 0; good && p < info->parameter_count; p++)
        good = copy_reals(allocator, def->element_parameters[p], count, &store->each[p], &store->each_capacity[p]);
    return good;
}

/* Copies individual parameters, weights, normals and particles of store->count elements to the store. Fails for too
 * many elements, parameters out of range or vertices that do not exist. */
static sinew_status element_store_fill(sinew_energy_store *store, const sinew_world *world, const sinew_energy_def *def,
                                       const int32_t *numbers, sinew_error *error)
{
    const sinew_energy_info *info = sinew_get_energy_info(def->kind);
    const int32_t n = info->vertex_count;
    if (store->count > INT32_MAX / (32 * n))
        return sinew_fail(error, SINEW_ERROR_DATA, "%s: more than %d elements", info->name, INT32_MAX / (32 * n));
    sinew_status status = check_parameters(def, store->count, error);
    if (status != SINEW_OK)
        return status;
    const size_t entries = (size_t)store->count * (size_t)n;
    if (!sinew_reserve(&world->allocator, &store->particles, &store->particle_bytes, entries,
                       sizeof *store->particles) ||
        !element_store_copy_arrays(store, &world->allocator, def))
        return sinew_fail_memory(error, "the elements of an energy");
    return sinew_world_resolve(world, def->body, numbers, store->count * n, info->name, store->particles, error);
}

sinew_status sinew_energy_store_fill(sinew_energy_store *store, const sinew_world *world, const sinew_energy_def *def,
                                     sinew_error *error)
{
    const sinew_energy_info *info = sinew_get_energy_info(def->kind);
    int32_t *cells = NULL;
    sinew_status status = SINEW_OK;
    store->body = def->body;
    store->count = def->element_count;
    store->normals_given = def->normals != NULL;
    store->rest_given = false;
    store->by_element = 0;
    memcpy(store->parameters, def->parameters, sizeof store->parameters);
    for (int32_t p = 0; p < info->parameter_count; p++)
        store->by_element |= def->element_parameters[p] ? 1u << p : 0;
    if (!def->elements)
        status = find_body_cells(world, def, &cells, &store->count, error);
    if (status == SINEW_OK)
        status = element_store_fill(store, world, def, def->elements ? def->elements : cells, error);
    if (status == SINEW_OK)
        status = sinew_energy_store_examples(store, world, def, def->elements ? def->elements : cells, error);
    if (status == SINEW_OK)
        status = sinew_energy_store_fractions(store, world, info, error);
    sinew_release(&world->allocator, cells);
    return status;
}

void sinew_energy_store_release(sinew_energy_store *store, const sinew_allocator *allocator)
{
    sinew_release(allocator, store->particles);
    sinew_release(allocator, store->weights);
    sinew_release(allocator, store->normals);
    sinew_release(allocator, store->rest);
    sinew_release(allocator, store->fractions);
    sinew_release(allocator, store->examples);
    sinew_release(allocator, store->size);
    for (int p = 0; p < SINEW_PARAMETER_MAX; p++)
        sinew_release(allocator, store->each[p]);
    *store = (sinew_energy_store){0};
}

/* ---- Signature of an energy's store ------------------------------------------------------------ */

static uint32_t digest_reals(uint32_t digest, const sinew_real *values, size_t count, bool given)
{
    return given ? sinew_checksum(digest, values, count * sizeof *values) : digest;
}

sinew_energy_origin sinew_energy_get_origin(const sinew_world *world, const sinew_energy_record *record)
{
    const sinew_energy_store *store = &record->store;
    const sinew_energy_info *info = sinew_get_energy_info(record->kind);
    const size_t count = (size_t)store->count, n = (size_t)info->vertex_count;
    sinew_energy_origin origin = {
        .body = store->body.index, .by_element = store->by_element, .digest = record->motion_digest};
    memcpy(origin.parameters, store->parameters, sizeof origin.parameters);
    const int32_t first = store->body.index >= 0 ? world->bodies[store->body.index].first : 0;
    for (size_t i = 0; i < count * n; i++) {
        const int32_t number = world->outside[store->particles[i]] - first;
        origin.digest = sinew_checksum(origin.digest, &number, sizeof number);
    }
    for (int32_t p = 0; p < info->parameter_count; p++)
        origin.digest = digest_reals(origin.digest, store->each[p], count, (store->by_element >> p & 1) != 0);
    if (record->batch->hard || record->batch->pbd_stiffness > 0) {
        const sinew_real manner[2] = {record->batch->hard, record->batch->pbd_stiffness};
        origin.digest = digest_reals(origin.digest, manner, 2, true);
    }
    origin.digest = digest_reals(origin.digest, store->weights, 8 * count, store->weights != NULL);
    origin.digest = digest_reals(origin.digest, store->normals, 3 * count, store->normals_given);
    origin.digest = digest_reals(origin.digest, store->fractions, count, store->fractions_given);
    origin.digest = digest_reals(origin.digest, store->examples, 6 * SINEW_EXAMPLE_MAX * count, store->examples_given);
    origin.digest = digest_reals(origin.digest, store->rest, 3 * n * count, store->rest_given);
    for (int32_t e = 0; e < record->batch->element_count; e++)
        if (sinew_batch_is_off(record->batch, e))
            origin.digest = sinew_checksum(origin.digest, &e, sizeof e);
    return origin;
}
