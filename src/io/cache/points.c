/* SPDX-License-Identifier: MIT
 *
 * points.c: the points that a cache writes, particles or vertices of skins, and their positions.
 */
#include "io/cache/cache.h"

/* The points that a cache writes for one body, numbered from first_point: vertices of its skin, if it has one and
 * `whole_bodies` is false. */
static sinew_cache_body cache_body_of(const sinew_world *world, int32_t index, bool whole_bodies, int64_t first_point)
{
    sinew_cache_body found = {.body = sinew_world_body_at(world, index), .first_point = (int32_t)first_point};
    if (found.body.index < 0)
        return found;
    found.skin = whole_bodies ? NULL : sinew_body_skin(world, found.body);
    found.point_count =
        found.skin ? sinew_skin_vertex_count(found.skin) : sinew_mesh_vertex_count(sinew_body_mesh(world, found.body));
    return found;
}

bool sinew_cache_tears(const sinew_world *world)
{
    bool any = false;
    for (int32_t i = 0; i < sinew_world_body_count(world); i++)
        any = any || sinew_body_tears(world, sinew_world_body_at(world, i));
    return any;
}

/* Numbers the points of the cache like the particles of the world. */
static void number_as_particles(sinew_cache *cache)
{
    cache->point_count = cache->particle_count;
    for (int32_t i = 0; i < cache->body_count; i++)
        if (cache->bodies[i].body.index >= 0)
            cache->bodies[i].first_point = sinew_body_first_particle(cache->world, cache->bodies[i].body);
}

sinew_status sinew_cache_points_open(sinew_cache *cache, sinew_error *error)
{
    cache->particle_count = sinew_world_particle_count(cache->world);
    cache->shape_version = sinew_world_shape_version(cache->world);
    cache->body_count = sinew_world_body_count(cache->world);
    sinew_release(&cache->allocator, cache->bodies);
    cache->bodies = sinew_allocate(&cache->allocator, (size_t)cache->body_count, sizeof *cache->bodies);
    if (!cache->bodies)
        return sinew_fail_memory(error, "the bodies of a cache");
    int64_t count = 0;
    for (int32_t i = 0; i < cache->body_count; i++) {
        cache->bodies[i] = cache_body_of(cache->world, i, cache->whole_bodies, count);
        cache->skinned = cache->skinned || cache->bodies[i].skin;
        count += cache->bodies[i].point_count;
        if (count > INT32_MAX / 8)
            return sinew_fail(error, SINEW_ERROR_DATA, "%s: %lld points are more than the %d that a cache takes",
                              cache->stem, (long long)count, INT32_MAX / 8);
    }
    cache->noun = cache->skinned ? "point" : "particle";
    cache->point_count = (int32_t)count;
    cache->by_body = cache->skinned || sinew_cache_tears(cache->world);
    if (!cache->by_body)
        number_as_particles(cache);
    return SINEW_OK;
}

/* Reads positions and velocities of one body's points if points are numbered body by body. */
static sinew_status fetch_body_points(sinew_cache *cache, const sinew_cache_body *of)
{
    const sinew_world *world = cache->world;
    sinew_real *q = cache->q + 3 * (size_t)of->first_point, *v = cache->v + 3 * (size_t)of->first_point;
    const int32_t first = sinew_body_first_particle(world, of->body);
    sinew_status status = of->skin ? sinew_body_skin_positions(world, of->body, q)
                                   : sinew_world_get_positions(world, first, of->point_count, q);
    if (status == SINEW_OK)
        status = of->skin ? sinew_body_skin_velocities(world, of->body, v)
                          : sinew_world_get_velocities(world, first, of->point_count, v);
    return status;
}

sinew_status sinew_cache_points_fetch(sinew_cache *cache)
{
    if (!cache->by_body) {
        sinew_status status = sinew_world_get_positions(cache->world, 0, cache->point_count, cache->q);
        return status == SINEW_OK ? sinew_world_get_velocities(cache->world, 0, cache->point_count, cache->v) : status;
    }
    sinew_status status = SINEW_OK;
    for (int32_t i = 0; i < cache->body_count && status == SINEW_OK; i++)
        if (cache->bodies[i].body.index >= 0)
            status = fetch_body_points(cache, &cache->bodies[i]);
    return status;
}
