/* SPDX-License-Identifier: MIT
 *
 * cache_shape.c: the surface of all bodies of a world, in particle indices.
 *
 * Bodies with tetrahedra show the boundary of these, bodies of triangles their own triangles, bodies with neither their
 * edges (ropes). The springs of a cloth and edges inside a solid are not drawn.
 */
#include "io/cache.h"

#include <string.h>

void sinew_cache_shape_free(const sinew_cache *cache, sinew_cache_shape *shape)
{
    sinew_release(&cache->allocator, shape->triangles);
    sinew_release(&cache->allocator, shape->edges);
    *shape = (sinew_cache_shape){0};
}

static void free_surfaces(const sinew_cache *cache, sinew_mesh **surfaces, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        sinew_mesh_destroy(surfaces[i]);
    sinew_release(&cache->allocator, surfaces);
}

/* [body count] meshes, so that their cells can be counted before the arrays are made. */
static sinew_mesh **make_surfaces(const sinew_cache *cache, int32_t count, sinew_error *error)
{
    sinew_mesh **surfaces = sinew_allocate_zero(&cache->allocator, (size_t)count, sizeof(sinew_mesh *));
    if (!surfaces) {
        sinew_fail_memory(error, "the surface of a cache");
        return NULL;
    }
    for (int32_t i = 0; i < count; i++) {
        const sinew_body body = sinew_world_body_at(cache->world, i);
        if (body.index < 0)
            continue;
        surfaces[i] = sinew_mesh_surface(sinew_body_mesh(cache->world, body), error);
        if (!surfaces[i]) {
            free_surfaces(cache, surfaces, i);
            return NULL;
        }
    }
    return surfaces;
}

static int64_t drawn_edges(const sinew_mesh *surface)
{
    return !surface || sinew_mesh_triangle_count(surface) ? 0 : sinew_mesh_edge_count(surface);
}

/* Appends `count` vertex indices as particle indices; returns where the next ones go. */
static int32_t *append(int32_t *to, const int32_t *vertices, int64_t count, int32_t first)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = vertices[i] + first;
    return to + count;
}

static void fill(const sinew_cache *cache, sinew_mesh *const *surfaces, int32_t count, sinew_cache_shape *shape)
{
    int32_t *triangles = shape->triangles;
    int32_t *edges = shape->edges;
    for (int32_t i = 0; i < count; i++) {
        if (!surfaces[i])
            continue;
        int32_t first = sinew_body_first_particle(cache->world, sinew_world_body_at(cache->world, i));
        triangles = append(triangles, sinew_mesh_triangles(surfaces[i]),
                           3 * (int64_t)sinew_mesh_triangle_count(surfaces[i]), first);
        edges = append(edges, sinew_mesh_edges(surfaces[i]), 2 * drawn_edges(surfaces[i]), first);
    }
}

sinew_status sinew_cache_shape_make(const sinew_cache *cache, sinew_cache_shape *shape, sinew_error *error)
{
    *shape = (sinew_cache_shape){0};
    int32_t count = sinew_world_body_count(cache->world);
    sinew_error reason = {.status = SINEW_ERROR_MEMORY};
    sinew_mesh **surfaces = make_surfaces(cache, count, &reason);
    if (!surfaces)
        return sinew_fail(error, reason.status, "%s: %s", cache->stem, reason.text);
    for (int32_t i = 0; i < count; i++) {
        shape->triangle_count += surfaces[i] ? sinew_mesh_triangle_count(surfaces[i]) : 0;
        shape->edge_count += drawn_edges(surfaces[i]);
    }
    shape->triangles = sinew_allocate(&cache->allocator, (size_t)shape->triangle_count, 3 * sizeof(int32_t));
    shape->edges = sinew_allocate(&cache->allocator, (size_t)shape->edge_count, 2 * sizeof(int32_t));
    bool good = shape->triangles && shape->edges;
    if (good)
        fill(cache, surfaces, count, shape);
    free_surfaces(cache, surfaces, count);
    if (good)
        return SINEW_OK;
    sinew_cache_shape_free(cache, shape);
    return sinew_fail_memory(error, "the surface of a cache");
}

void sinew_cache_shape_used(const sinew_cache *cache, const sinew_cache_shape *shape, uint8_t *used)
{
    memset(used, 0, (size_t)cache->particle_count);
    for (int64_t i = 0; i < 3 * shape->triangle_count; i++)
        used[shape->triangles[i]] = 1;
    for (int64_t i = 0; i < 2 * shape->edge_count; i++)
        used[shape->edges[i]] = 1;
}
