/* SPDX-License-Identifier: MIT
 *
 * fields.c: converts fields of the world to the order of a cache's particles and tetrahedra.
 *
 * The API numbers values by the elements of an energy, files by the tetrahedra of the bodies. The particles of an
 * element identify its tet: tets are listed by their lowest particle, and an element is compared with the tets of
 * its lowest particle. This is repeated for each frame, because energies may change while a cache is open.
 *
 * Known limits: energies whose elements are not tets (springs, pairs) have no values here, and elements that are not
 * tets of a body's mesh are skipped.
 */
#include "io/cache/fields.h"

#include <math.h>
#include <string.h>

#include "sinew/contact.h"

/* ---- Choice of the fields that are written ------------------------------------------------------- */

static bool cache_fields_is_over_tets(const sinew_world *world, sinew_energy energy)
{
    const sinew_energy_info *info =
        energy.index >= 0 ? sinew_get_energy_info(sinew_energy_kind_of(world, energy)) : NULL;
    return info && info->stencil == SINEW_STENCIL_TET;
}

/* True if the cache writes the tets of some body. */
static bool cache_writes_tets(const sinew_cache *cache)
{
    bool any = false;
    for (int32_t i = 0; i < cache->body_count; i++) {
        const sinew_cache_body *of = &cache->bodies[i];
        any = any ||
              (of->body.index >= 0 && !of->skin && sinew_mesh_tet_count(sinew_body_mesh(cache->world, of->body)) > 0);
    }
    return any;
}

/* The reason why the world does not have the field; NULL: the world has it. */
static const char *field_missing_reason(const sinew_cache *cache, sinew_field_kind field)
{
    const sinew_world *world = cache->world;
    if (field == SINEW_FIELD_FORCE || field == SINEW_FIELD_POSITION_ERROR)
        return NULL;
    if (field == SINEW_FIELD_CONTACT_FORCE)
        return sinew_world_contact(world).on ? NULL : "nothing touches in it: give its scene `contact`";
    if (!sinew_get_field_info(field)->of_elements) {
        sinew_balance balance;
        const bool kept = sinew_world_balance(world, &balance, NULL) != SINEW_ERROR_UNSUPPORTED;
        return kept || sinew_world_quasistatic(world) ? NULL : "it keeps no balance: set `balance` of its def or scene";
    }
    if (cache->skinned && !cache_writes_tets(cache))
        return "its bodies are written as their embedded surfaces: write the bodies themselves";
    for (int32_t i = 0; i < sinew_world_energy_count(world); i++)
        if (cache_fields_is_over_tets(world, sinew_world_energy_at(world, i)))
            return NULL;
    return "no energy of it acts on tets: leave the field out";
}

/* Chooses the fields to write: fails if a mandatory field is missing; skips a missing optional field. */
static sinew_status cache_fields_choose(const sinew_cache *cache, uint32_t *chosen, sinew_error *error)
{
    *chosen = 0;
    for (int f = 0; f < SINEW_FIELD_COUNT; f++) {
        const uint32_t bit = 1u << f;
        const char *reason = field_missing_reason(cache, (sinew_field_kind)f);
        if (!reason)
            *chosen |= (cache->fields | cache->fields_if_any) & bit;
        else if (cache->fields & bit)
            return sinew_fail(error, SINEW_ERROR_UNSUPPORTED, "%s: the world does not have the field %s: %s",
                              cache->stem, sinew_get_field_info((sinew_field_kind)f)->name, reason);
    }
    if ((cache->fields | cache->fields_if_any) >> SINEW_FIELD_COUNT)
        return sinew_fail(error, SINEW_ERROR_USAGE, "%s: fields is %#x; its bits are 1 << sinew_field_kind, %d of them",
                          cache->stem, (unsigned)(cache->fields | cache->fields_if_any), SINEW_FIELD_COUNT);
    return SINEW_OK;
}

/* ---- Tetrahedra of all bodies -------------------------------------------------------------------- */

static int32_t lowest_tet_particle(const int32_t corners[4])
{
    int32_t low = corners[0];
    for (int k = 1; k < 4; k++)
        low = corners[k] < low ? corners[k] : low;
    return low;
}

static void copy_tets(const sinew_cache *cache, sinew_cache_fields *fields)
{
    size_t at = 0;
    for (int32_t i = 0; i < sinew_world_body_count(cache->world); i++) {
        const sinew_body body = sinew_world_body_at(cache->world, i);
        if (body.index < 0)
            continue;
        const sinew_mesh *mesh = sinew_body_mesh(cache->world, body);
        const int32_t first = sinew_body_first_particle(cache->world, body);
        for (size_t k = 0; k < 4 * (size_t)sinew_mesh_tet_count(mesh); k++)
            fields->tets[at++] = first + sinew_mesh_tets(mesh)[k];
    }
}

/* Sorts the tets by their lowest particle with a counting sort: fills starts and order. */
static void sort_tets(const sinew_cache *cache, sinew_cache_fields *fields)
{
    int32_t *starts = fields->starts;
    memset(starts, 0, ((size_t)cache->particle_count + 1) * sizeof *starts);
    for (int32_t t = 0; t < fields->tet_count; t++)
        starts[lowest_tet_particle(&fields->tets[4 * (size_t)t]) + 1]++;
    for (int32_t p = 0; p < cache->particle_count; p++)
        starts[p + 1] += starts[p];
    for (int32_t t = fields->tet_count; t-- > 0;)
        fields->order[--starts[lowest_tet_particle(&fields->tets[4 * (size_t)t]) + 1]] = t;
    /* Filling has left the start of particle p's tets in starts[p + 1]; the shift by one entry restores starts[p]. */
    memmove(starts, starts + 1, (size_t)cache->particle_count * sizeof *starts);
    starts[cache->particle_count] = fields->tet_count;
}

static bool same_corners(const int32_t a[4], const int32_t b[4])
{
    bool same = true;
    for (int i = 0; i < 4; i++)
        same = same && (a[i] == b[0] || a[i] == b[1] || a[i] == b[2] || a[i] == b[3]);
    return same;
}

/* Index of the tet with these four particles, -1: none. */
static int32_t find_tet(const sinew_cache_fields *fields, const int32_t corners[4])
{
    const int32_t low = lowest_tet_particle(corners);
    for (int32_t i = fields->starts[low]; i < fields->starts[low + 1]; i++)
        if (same_corners(corners, &fields->tets[4 * (size_t)fields->order[i]]))
            return fields->order[i];
    return -1;
}

/* ---- Opening and freeing of the fields ----------------------------------------------------------- */

static int32_t cache_fields_count_tets(const sinew_world *world)
{
    int64_t count = 0;
    for (int32_t i = 0; i < sinew_world_body_count(world); i++) {
        const sinew_body body = sinew_world_body_at(world, i);
        count += body.index >= 0 ? sinew_mesh_tet_count(sinew_body_mesh(world, body)) : 0;
    }
    return count > INT32_MAX ? -1 : (int32_t)count;
}

static sinew_status cache_fields_reserve_elements(const sinew_cache *cache, sinew_cache_fields *fields,
                                                  int32_t elements, sinew_error *error)
{
    if (elements <= fields->element_capacity)
        return SINEW_OK;
    sinew_release(&cache->allocator, fields->corners);
    sinew_release(&cache->allocator, fields->found);
    fields->element_capacity = elements;
    fields->corners = sinew_allocate(&cache->allocator, (size_t)elements, 4 * sizeof(int32_t));
    fields->found = sinew_allocate(&cache->allocator, (size_t)elements, 3 * sizeof(sinew_real));
    return fields->corners && fields->found ? SINEW_OK : sinew_fail_memory(error, "the fields of a cache");
}

static sinew_status cache_fields_reserve(const sinew_cache *cache, sinew_cache_fields *fields, uint32_t chosen,
                                         sinew_error *error)
{
    const size_t tets = (size_t)fields->tet_count, points = (size_t)cache->particle_count;
    fields->tets = sinew_allocate(&cache->allocator, tets, 4 * sizeof(int32_t));
    fields->material = sinew_allocate(&cache->allocator, tets, sizeof(int32_t));
    fields->order = sinew_allocate(&cache->allocator, tets, sizeof(int32_t));
    fields->starts = sinew_allocate(&cache->allocator, points + 1, sizeof(int32_t));
    bool good = fields->tets && fields->material && fields->order && fields->starts;
    for (int f = 0; f < SINEW_FIELD_COUNT; f++) {
        const sinew_field_info *info = sinew_get_field_info((sinew_field_kind)f);
        if (!(chosen >> f & 1))
            continue;
        fields->values[f] = sinew_allocate(&cache->allocator, info->of_elements ? tets : points,
                                           (size_t)info->component_count * sizeof(sinew_real));
        good = good && fields->values[f];
    }
    return good ? SINEW_OK : sinew_fail_memory(error, "the fields of a cache");
}

sinew_status sinew_cache_fields_open(const sinew_cache *cache, sinew_cache_fields *fields, sinew_error *error)
{
    uint32_t chosen;
    sinew_status status = cache_fields_choose(cache, &chosen, error);
    fields->tet_count = cache_fields_count_tets(cache->world);
    if (status == SINEW_OK && fields->tet_count < 0)
        status =
            sinew_fail(error, SINEW_ERROR_UNSUPPORTED, "%s: the bodies have 2^31 tets or more; use pc2", cache->stem);
    if (status == SINEW_OK)
        status = cache_fields_reserve(cache, fields, chosen, error);
    if (status != SINEW_OK)
        return status;
    copy_tets(cache, fields);
    sort_tets(cache, fields);
    int32_t max = 0;
    for (int32_t i = 0; i < sinew_world_energy_count(cache->world); i++) {
        const sinew_energy energy = sinew_world_energy_at(cache->world, i);
        const int32_t count =
            cache_fields_is_over_tets(cache->world, energy) ? sinew_energy_element_count(cache->world, energy) : 0;
        max = count > max ? count : max;
    }
    return cache_fields_reserve_elements(cache, fields, max, error);
}

void sinew_cache_fields_free(const sinew_cache *cache, sinew_cache_fields *fields)
{
    for (int f = 0; f < SINEW_FIELD_COUNT; f++)
        sinew_release(&cache->allocator, fields->values[f]);
    sinew_release(&cache->allocator, fields->tets);
    sinew_release(&cache->allocator, fields->material);
    sinew_release(&cache->allocator, fields->order);
    sinew_release(&cache->allocator, fields->starts);
    sinew_release(&cache->allocator, fields->corners);
    sinew_release(&cache->allocator, fields->found);
    *fields = (sinew_cache_fields){0};
}

/* ---- Values of the fields in one frame ----------------------------------------------------------- */

static void fill_unknown(sinew_real *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (sinew_real)NAN;
}

/* Copies fields->found, the values of an energy's elements, to their tets. The first energy of a tet, fields->material,
 * sets the value; later energies only add to SINEW_FIELD_ENERGY. fields->corners[e] is the tet of element e here, -1:
 * none. */
static void copy_values_to_tets(sinew_cache_fields *fields, sinew_field_kind field, int32_t energy_index,
                                int32_t elements)
{
    const size_t width = (size_t)sinew_get_field_info(field)->component_count;
    for (int32_t e = 0; e < elements; e++) {
        const int32_t tet = fields->corners[e];
        const bool first = tet >= 0 && fields->material[tet] == energy_index;
        sinew_real *to = fields->values[field] + width * (size_t)(tet < 0 ? 0 : tet);
        const sinew_real *from = fields->found + width * (size_t)e;
        if (first)
            memcpy(to, from, width * sizeof *to);
        else if (tet >= 0 && field == SINEW_FIELD_ENERGY)
            to[0] += from[0];
    }
}

/* Replaces the vertices of each element in fields->corners by the index of the element's tet, -1: none. Tets without
 * an earlier energy get this energy as material. */
static void cache_fields_find_tets(sinew_cache_fields *fields, int32_t energy_index, int32_t elements)
{
    for (int32_t e = 0; e < elements; e++) {
        const int32_t tet = find_tet(fields, &fields->corners[4 * (size_t)e]);
        fields->corners[e] = tet;
        if (tet >= 0 && fields->material[tet] < 0)
            fields->material[tet] = energy_index;
    }
}

static sinew_status fill_energy(const sinew_cache *cache, sinew_cache_fields *fields, int32_t energy_index,
                                sinew_error *error)
{
    const sinew_energy energy = sinew_world_energy_at(cache->world, energy_index);
    if (!cache_fields_is_over_tets(cache->world, energy))
        return SINEW_OK;
    const int32_t elements = sinew_energy_element_count(cache->world, energy);
    sinew_status status = cache_fields_reserve_elements(cache, fields, elements, error);
    if (status == SINEW_OK)
        status = sinew_energy_get_elements(cache->world, energy, 0, elements, fields->corners, NULL, error);
    if (status != SINEW_OK)
        return status;
    cache_fields_find_tets(fields, energy_index, elements);
    for (int f = 0; f < SINEW_FIELD_COUNT && status == SINEW_OK; f++) {
        const sinew_field_info *info = sinew_get_field_info((sinew_field_kind)f);
        int32_t count;
        if (!fields->values[f] || !info->of_elements)
            continue;
        status = sinew_energy_field(cache->world, energy, (sinew_field_kind)f, info->component_count * elements,
                                    fields->found, &count, error);
        if (status == SINEW_OK)
            copy_values_to_tets(fields, (sinew_field_kind)f, energy_index, elements);
    }
    return status;
}

sinew_status sinew_cache_fields_fill(const sinew_cache *cache, sinew_cache_fields *fields, sinew_error *error)
{
    sinew_status status = SINEW_OK;
    for (int32_t t = 0; t < fields->tet_count; t++)
        fields->material[t] = -1;
    for (int f = 0; f < SINEW_FIELD_COUNT && status == SINEW_OK; f++) {
        const sinew_field_info *info = sinew_get_field_info((sinew_field_kind)f);
        const size_t owners = (size_t)(info->of_elements ? fields->tet_count : cache->particle_count);
        if (!fields->values[f])
            continue;
        if (!info->of_elements)
            status = sinew_world_field(cache->world, (sinew_field_kind)f, 0, cache->particle_count, fields->values[f],
                                       error);
        /* Before the first step the world has no residuals, reactions or contacts. */
        if (info->of_elements || status == SINEW_ERROR_DATA) {
            fill_unknown(fields->values[f], owners * (size_t)info->component_count);
            status = SINEW_OK;
        }
    }
    for (int32_t i = 0; i < sinew_world_energy_count(cache->world) && status == SINEW_OK; i++)
        status = fill_energy(cache, fields, i, error);
    return status;
}
