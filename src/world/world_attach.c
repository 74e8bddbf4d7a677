/* SPDX-License-Identifier: MIT
 *
 * world_attach.c: vertices of one body joined to the nearest places of another, by an energy over pairs.
 *
 * A vertex goes to the place of the other body that is nearest to it (tree/search.h) when that is within the distance.
 * The pair is the vertex with weight 1 on one side and the place's vertices with theirs on the other.
 */
#include <math.h>

#include "tree/search.h"
#include "world/world.h"

sinew_attach_def sinew_default_attach_def(void)
{
    return (sinew_attach_def){.cookie = SINEW_COOKIE_ATTACH,
                              .from = {.index = -1},
                              .to = {.index = -1},
                              .energy = sinew_default_energy_def(SINEW_ENERGY_WEAK)};
}

typedef struct pair_list {
    int32_t count;
    int32_t *elements;   /* [8 * capacity] particles of the world */
    sinew_real *weights; /* [8 * capacity] */
    sinew_real *normals; /* [3 * capacity], NULL: those of the energy */
} pair_list;

static void release_pairs(const sinew_allocator *allocator, pair_list *pairs)
{
    sinew_release(allocator, pairs->elements);
    sinew_release(allocator, pairs->weights);
    sinew_release(allocator, pairs->normals);
}

static bool has_normal(const sinew_attach_def *def)
{
    return def->normal[0] != 0 || def->normal[1] != 0 || def->normal[2] != 0;
}

static sinew_status make_pairs(const sinew_world *world, const sinew_attach_def *def, int32_t capacity,
                               pair_list *pairs, sinew_error *error)
{
    const size_t size = (size_t)capacity;
    pairs->elements = sinew_allocate(&world->allocator, 8 * size, sizeof *pairs->elements);
    pairs->weights = sinew_allocate(&world->allocator, 8 * size, sizeof *pairs->weights);
    if (has_normal(def)) {
        pairs->normals = sinew_allocate(&world->allocator, 3 * size, sizeof *pairs->normals);
        for (size_t i = 0; pairs->normals && i < 3 * size; i++)
            pairs->normals[i] = def->normal[i % 3];
    }
    const bool good = pairs->elements && pairs->weights && (pairs->normals || !has_normal(def));
    return good ? SINEW_OK : sinew_fail_memory(error, "the pairs of an attachment");
}

/* Joins a particle to a place; `first` is the second body's first particle. */
static void add_pair(pair_list *pairs, int32_t particle, int32_t first, const sinew_place *to)
{
    int32_t *elements = pairs->elements + 8 * (size_t)pairs->count;
    sinew_real *weights = pairs->weights + 8 * (size_t)pairs->count;
    for (int i = 0; i < 4; i++) {
        elements[i] = particle;
        weights[i] = i == 0;
        elements[4 + i] = first + to->vertices[i];
        weights[4 + i] = (sinew_real)to->weights[i];
    }
    pairs->count++;
}

/* ---- Check ----------------------------------------------------------------------------------- */

static sinew_status check_def(const sinew_world *world, const sinew_attach_def *def, sinew_error *error)
{
    if (!SINEW_ASSERT(world && def && def->cookie == SINEW_COOKIE_ATTACH && def->energy.cookie == SINEW_COOKIE_ENERGY))
        return sinew_fail(error, SINEW_ERROR_USAGE,
                          "an attachment needs a world and a def made by sinew_default_attach_def()");
    const sinew_body_record *from = sinew_world_find_body(world, def->from, error);
    if (!from || !sinew_world_find_body(world, def->to, error))
        return SINEW_ERROR_USAGE;
    const sinew_energy_info *info = sinew_get_energy_info(def->energy.kind);
    if (!info || !sinew_get_stencil(info->stencil)->couples)
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED, "attach: %s is no energy over pairs; use weak",
                          info ? info->name : "the energy");
    if (!(isfinite(def->distance) && def->distance >= 0))
        return sinew_fail(error, SINEW_ERROR_DATA, "attach: distance is %g m, must be finite and at least 0",
                          def->distance);
    for (int32_t i = 0; def->vertices && i < def->vertex_count; i++)
        if (def->vertices[i] < 0 || def->vertices[i] >= from->count)
            return sinew_fail(error, SINEW_ERROR_DATA, "attach: entry %d names vertex %d, must be in [0, %d]", i,
                              def->vertices[i], from->count - 1);
    return SINEW_OK;
}

/* ---- Attach ---------------------------------------------------------------------------------- */

/* The vertices of a body where they are now, to be released, or at rest. */
static const sinew_real *points_of(const sinew_world *world, const sinew_body_record *body, bool now, sinew_real **own)
{
    if (!now)
        return sinew_mesh_positions(body->mesh);
    *own = sinew_allocate(&world->allocator, 3 * (size_t)body->count, sizeof **own);
    if (*own)
        sinew_world_outside_points(world, world->q, body->first, body->count, *own);
    return *own;
}

static sinew_status find_pairs(const sinew_attach_def *def, const sinew_body_record *from, const sinew_real *points,
                               const sinew_body_record *to, const sinew_search *search, pair_list *pairs,
                               sinew_error *error)
{
    /* Distances of points that touch are round-off. */
    const double slack = sizeof(sinew_real) == sizeof(float) ? 1e-5 : 1e-9;
    const int32_t count = def->vertices ? def->vertex_count : from->count;
    double nearest = INFINITY;
    for (int32_t i = 0; i < count; i++) {
        const int32_t vertex = def->vertices ? def->vertices[i] : i;
        const sinew_place found = sinew_search_nearest(search, points + 3 * (size_t)vertex);
        nearest = fmin(nearest, sqrt(found.distance));
        if (sqrt(found.distance) <= def->distance + slack)
            add_pair(pairs, from->first + vertex, to->first, &found);
    }
    if (pairs->count > 0)
        return SINEW_OK;
    return sinew_fail(error, SINEW_ERROR_DATA, "joins nothing: the nearest pair is %g m apart", nearest);
}

sinew_energy sinew_world_attach_within(sinew_world *world, const sinew_attach_def *def, sinew_error *error)
{
    sinew_energy energy = {.index = -1};
    sinew_error_clear(error);
    if (check_def(world, def, error) != SINEW_OK)
        return energy;
    const sinew_body_record *from = &world->bodies[def->from.index], *to = &world->bodies[def->to.index];
    sinew_real *own[2] = {NULL, NULL};
    const sinew_real *points = points_of(world, from, def->now, &own[0]);
    const sinew_real *places = points_of(world, to, def->now, &own[1]);
    sinew_search search = {0};
    pair_list pairs = {0};
    sinew_status status = points && places ? SINEW_OK : sinew_fail_memory(error, "an attachment");
    if (status == SINEW_OK)
        status = sinew_search_begin(&search, to->mesh, places, def->to_vertices, error);
    if (status == SINEW_OK)
        status = make_pairs(world, def, def->vertices ? def->vertex_count : from->count, &pairs, error);
    if (status == SINEW_OK)
        status = find_pairs(def, from, points, to, &search, &pairs, error);
    if (status == SINEW_OK) {
        sinew_energy_def joined = def->energy;
        joined.body = (sinew_body){.index = -1};
        joined.element_count = pairs.count;
        joined.elements = pairs.elements;
        joined.weights = pairs.weights;
        joined.normals = pairs.normals;
        energy = sinew_world_add_energy(world, &joined, error);
    }
    sinew_search_end(&search);
    release_pairs(&world->allocator, &pairs);
    sinew_release(&world->allocator, own[0]);
    sinew_release(&world->allocator, own[1]);
    return energy;
}
