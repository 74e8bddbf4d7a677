/* SPDX-License-Identifier: MIT
 *
 * cache_shape.c: the surface of a world (sinew_world_surface) in memory of the cache.
 */
#include "io/cache.h"

#include <string.h>

void sinew_cache_shape_free(const sinew_cache *cache, sinew_cache_shape *shape)
{
    sinew_release(&cache->allocator, shape->triangles);
    sinew_release(&cache->allocator, shape->edges);
    *shape = (sinew_cache_shape){0};
}

sinew_status sinew_cache_shape_make(const sinew_cache *cache, sinew_cache_shape *shape, sinew_error *error)
{
    *shape = (sinew_cache_shape){0};
    sinew_surface surface = {0};
    sinew_error reason;
    sinew_status status = sinew_world_surface(cache->world, &surface, &reason);
    if (status != SINEW_OK)
        return sinew_fail(error, status, "%s: %s", cache->stem, reason.text);
    surface.triangles = sinew_allocate(&cache->allocator, (size_t)surface.triangle_count, 3 * sizeof(int32_t));
    surface.edges = sinew_allocate(&cache->allocator, (size_t)surface.edge_count, 2 * sizeof(int32_t));
    *shape = (sinew_cache_shape){surface.triangle_count, surface.triangles, surface.edge_count, surface.edges};
    status = surface.triangles && surface.edges ? SINEW_OK : sinew_fail_memory(error, "the surface of a cache");
    if (status == SINEW_OK) {
        status = sinew_world_surface(cache->world, &surface, &reason);
        if (status != SINEW_OK)
            sinew_fail(error, status, "%s: %s", cache->stem, reason.text);
    }
    if (status != SINEW_OK)
        sinew_cache_shape_free(cache, shape);
    return status;
}

void sinew_cache_shape_used(const sinew_cache *cache, const sinew_cache_shape *shape, uint8_t *used)
{
    memset(used, 0, (size_t)cache->particle_count);
    for (int64_t i = 0; i < 3 * shape->triangle_count; i++)
        used[shape->triangles[i]] = 1;
    for (int64_t i = 0; i < 2 * shape->edge_count; i++)
        used[shape->edges[i]] = 1;
}
