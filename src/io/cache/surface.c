/* SPDX-License-Identifier: MIT
 *
 * surface.c: the drawable shape of a cache's points: the faces of skins with their names and texture coordinates, and
 * the surface of other bodies (sinew_world_surface).
 *
 * Skins come first, in the order of cache->bodies; the surfaces of bodies without a skin follow, so that a world
 * without skins has exactly the triangles of sinew_world_surface().
 */
#include "io/cache/cache.h"

#include <string.h>

void sinew_cache_shape_free(const sinew_cache *cache, sinew_cache_shape *shape)
{
    const sinew_allocator *allocator = &cache->allocator;
    sinew_release(allocator, shape->starts);
    sinew_release(allocator, shape->corners);
    sinew_release(allocator, shape->face_bodies);
    sinew_release(allocator, shape->triangles);
    sinew_release(allocator, shape->triangle_corners);
    sinew_release(allocator, shape->triangle_faces);
    sinew_release(allocator, shape->edges);
    sinew_release(allocator, shape->uvs);
    sinew_release(allocator, shape->corner_uvs);
    for (int set = 0; set < SINEW_SKIN_SET_COUNT; set++) {
        sinew_names_release(allocator, &shape->names[set]);
        sinew_release(allocator, shape->face_names[set]);
    }
    sinew_names_release(allocator, &shape->libraries);
    *shape = (sinew_cache_shape){0};
}

/* ---- Sizes and buffers of the shape -------------------------------------------------------------- */

/* The surface of the world in particle indices, including the surfaces of bodies with skins. */
typedef struct world_surface {
    sinew_surface cells;
    int32_t triangle_count, edge_count; /* numbers of triangles and edges of the bodies without a skin */
} world_surface;

static void release_surface(const sinew_cache *cache, sinew_surface *cells)
{
    sinew_release(&cache->allocator, cells->triangles);
    sinew_release(&cache->allocator, cells->bodies);
    sinew_release(&cache->allocator, cells->edges);
    sinew_release(&cache->allocator, cells->edge_bodies);
}

static sinew_status fetch_surface(const sinew_cache *cache, world_surface *surface, sinew_error *error)
{
    sinew_surface *cells = &surface->cells;
    sinew_error reason;
    sinew_status status = sinew_world_surface(cache->world, cells, &reason);
    if (status != SINEW_OK)
        return sinew_fail(error, status, "%s: %s", cache->stem, reason.text);
    cells->triangles = sinew_allocate(&cache->allocator, (size_t)cells->triangle_count, 3 * sizeof(int32_t));
    cells->bodies = sinew_allocate(&cache->allocator, (size_t)cells->triangle_count, sizeof *cells->bodies);
    cells->edges = sinew_allocate(&cache->allocator, (size_t)cells->edge_count, 2 * sizeof(int32_t));
    cells->edge_bodies = sinew_allocate(&cache->allocator, (size_t)cells->edge_count, sizeof *cells->edge_bodies);
    if (!cells->triangles || !cells->bodies || !cells->edges || !cells->edge_bodies)
        return sinew_fail_memory(error, "the surface of a cache");
    status = sinew_world_surface(cache->world, cells, &reason);
    if (status != SINEW_OK)
        return sinew_fail(error, status, "%s: %s", cache->stem, reason.text);
    for (int32_t i = 0; i < cells->triangle_count; i++)
        surface->triangle_count += !cache->bodies[cells->bodies[i].index].skin;
    for (int32_t i = 0; i < cells->edge_count; i++)
        surface->edge_count += !cache->bodies[cells->edge_bodies[i].index].skin;
    return SINEW_OK;
}

/* Counts faces, edges and texture coordinates of the drawable shape with all skins; *corners receives the number of
 * corners of all faces. */
static void count_shape(const sinew_cache *cache, const world_surface *surface, sinew_cache_shape *shape,
                        int64_t *corners)
{
    shape->face_count = shape->triangle_count = surface->triangle_count;
    shape->edge_count = surface->edge_count;
    *corners = 3 * (int64_t)surface->triangle_count;
    for (int32_t i = 0; i < cache->body_count; i++) {
        const sinew_skin *skin = cache->bodies[i].skin;
        if (!skin)
            continue;
        shape->face_count += skin->face_count;
        shape->triangle_count += sinew_mesh_triangle_count(skin->mesh);
        shape->uv_count += skin->uv_count;
        *corners += skin->starts[skin->face_count];
    }
}

static bool any_skin_has_names(const sinew_cache *cache, int set)
{
    bool any = false;
    for (int32_t i = 0; i < cache->body_count; i++)
        any = any || (cache->bodies[i].skin && cache->bodies[i].skin->face_names[set]);
    return any;
}

static bool cache_surface_reserve(const sinew_cache *cache, sinew_cache_shape *shape, int64_t corners)
{
    const sinew_allocator *allocator = &cache->allocator;
    const size_t faces = (size_t)shape->face_count, triangles = (size_t)shape->triangle_count;
    shape->starts = sinew_allocate(allocator, faces + 1, sizeof(int32_t));
    shape->corners = sinew_allocate(allocator, (size_t)corners, sizeof(int32_t));
    shape->face_bodies = sinew_allocate(allocator, faces, sizeof(int32_t));
    shape->triangles = sinew_allocate(allocator, triangles, 3 * sizeof(int32_t));
    shape->triangle_corners = sinew_allocate(allocator, triangles, 3 * sizeof(int32_t));
    shape->triangle_faces = sinew_allocate(allocator, triangles, sizeof(int32_t));
    shape->edges = sinew_allocate(allocator, (size_t)shape->edge_count, 2 * sizeof(int32_t));
    bool good = shape->starts && shape->corners && shape->face_bodies && shape->triangles && shape->triangle_corners &&
                shape->triangle_faces && shape->edges;
    if (good && shape->uv_count > 0) {
        shape->uvs = sinew_allocate(allocator, (size_t)shape->uv_count, 2 * sizeof(float));
        shape->corner_uvs = sinew_allocate(allocator, (size_t)corners, sizeof(int32_t));
        good = shape->uvs && shape->corner_uvs;
    }
    for (int set = 0; set < SINEW_SKIN_SET_COUNT && good; set++)
        if (any_skin_has_names(cache, set)) {
            shape->face_names[set] = sinew_allocate(allocator, faces, sizeof(int32_t));
            good = shape->face_names[set] != NULL;
        }
    return good;
}

/* ---- Filling of the shape ------------------------------------------------------------------------ */

/* Indices in the shape of the next face, corner, triangle and texture coordinate to be filled. */
typedef struct cursor {
    int32_t face, corner, triangle, uv;
} cursor;

/* Adds the faces, corners and triangles of one skin to the shape. */
static void cache_surface_add_faces(const sinew_cache *cache, int32_t body, sinew_cache_shape *shape, const cursor *at)
{
    const sinew_skin *skin = cache->bodies[body].skin;
    const int32_t first = cache->bodies[body].first_point, corners = skin->starts[skin->face_count];
    for (int32_t f = 0; f < skin->face_count; f++) {
        shape->starts[at->face + f] = at->corner + skin->starts[f];
        shape->face_bodies[at->face + f] = body;
    }
    for (int32_t i = 0; i < corners; i++) {
        shape->corners[at->corner + i] = first + skin->corners[i];
        if (shape->corner_uvs)
            shape->corner_uvs[at->corner + i] =
                skin->corner_uvs && skin->corner_uvs[i] >= 0 ? at->uv + skin->corner_uvs[i] : -1;
    }
    const int32_t *triangles = sinew_mesh_triangles(skin->mesh);
    for (int32_t t = 0; t < sinew_mesh_triangle_count(skin->mesh); t++) {
        shape->triangle_faces[at->triangle + t] = at->face + skin->triangle_faces[t];
        for (int64_t k = 3 * (int64_t)t; k < 3 * (int64_t)t + 3; k++) {
            shape->triangles[3 * (int64_t)at->triangle + k] = first + triangles[k];
            shape->triangle_corners[3 * (int64_t)at->triangle + k] = at->corner + skin->triangle_corners[k];
        }
    }
}

/* Adds the names of a skin to the names of the shape; returns false if memory runs out. */
static bool cache_surface_add_names(const sinew_cache *cache, const sinew_skin *skin, sinew_cache_shape *shape,
                                    int32_t face)
{
    const sinew_allocator *allocator = &cache->allocator;
    for (int set = 0; set < SINEW_SKIN_SET_COUNT; set++) {
        for (int32_t i = 0; i < skin->names[set].count; i++) {
            const char *name = sinew_names_get(&skin->names[set], i);
            if (sinew_names_add(allocator, &shape->names[set], name, strlen(name)) < 0)
                return false;
        }
        for (int32_t f = 0; shape->face_names[set] && f < skin->face_count; f++) {
            const int32_t index = skin->face_names[set] ? skin->face_names[set][f] : -1;
            const char *name = index >= 0 ? sinew_names_get(&skin->names[set], index) : NULL;
            shape->face_names[set][face + f] =
                name ? sinew_names_add(allocator, &shape->names[set], name, strlen(name)) : -1;
        }
    }
    return !skin->library || sinew_names_add(allocator, &shape->libraries, skin->library, strlen(skin->library)) >= 0;
}

static bool add_skin(const sinew_cache *cache, int32_t body, sinew_cache_shape *shape, cursor *at)
{
    const sinew_skin *skin = cache->bodies[body].skin;
    cache_surface_add_faces(cache, body, shape, at);
    if (skin->uv_count > 0)
        memcpy(shape->uvs + 2 * (size_t)at->uv, skin->uvs, 2 * (size_t)skin->uv_count * sizeof(float));
    if (!cache_surface_add_names(cache, skin, shape, at->face))
        return false;
    at->face += skin->face_count;
    at->corner += skin->starts[skin->face_count];
    at->triangle += sinew_mesh_triangle_count(skin->mesh);
    at->uv += skin->uv_count;
    return true;
}

/* Index of the cache's point of a particle, for a body without a skin. */
static int32_t cache_surface_point_of(const sinew_cache *cache, const sinew_cache_body *of, int32_t particle)
{
    return of->first_point + particle - sinew_body_first_particle(cache->world, of->body);
}

static void add_surface(const sinew_cache *cache, const sinew_surface *cells, sinew_cache_shape *shape, cursor *at)
{
    for (int32_t i = 0; i < cells->triangle_count; i++) {
        const sinew_cache_body *of = &cache->bodies[cells->bodies[i].index];
        if (of->skin)
            continue;
        shape->starts[at->face] = at->corner;
        shape->face_bodies[at->face] = cells->bodies[i].index;
        shape->triangle_faces[at->triangle] = at->face;
        for (int set = 0; set < SINEW_SKIN_SET_COUNT; set++)
            if (shape->face_names[set])
                shape->face_names[set][at->face] = -1;
        for (int64_t k = 0; k < 3; k++) {
            const int32_t point = cache_surface_point_of(cache, of, cells->triangles[3 * (int64_t)i + k]);
            shape->corners[at->corner] = shape->triangles[3 * (int64_t)at->triangle + k] = point;
            if (shape->corner_uvs)
                shape->corner_uvs[at->corner] = -1;
            shape->triangle_corners[3 * (int64_t)at->triangle + k] = at->corner++;
        }
        at->face++;
        at->triangle++;
    }
    int32_t *edge = shape->edges;
    for (int32_t i = 0; i < cells->edge_count; i++) {
        const sinew_cache_body *of = &cache->bodies[cells->edge_bodies[i].index];
        for (int64_t k = 0; k < 2 && !of->skin; k++)
            *edge++ = cache_surface_point_of(cache, of, cells->edges[2 * (int64_t)i + k]);
    }
}

static sinew_status fill_shape(const sinew_cache *cache, const world_surface *surface, sinew_cache_shape *shape,
                               sinew_error *error)
{
    int64_t corners;
    count_shape(cache, surface, shape, &corners);
    if (corners > INT32_MAX || 3 * shape->triangle_count > INT32_MAX || shape->uv_count > INT32_MAX)
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED, "%s: the faces have %lld corners, a cache takes 2^31 - 1",
                          cache->stem, (long long)corners);
    if (!cache_surface_reserve(cache, shape, corners))
        return sinew_fail_memory(error, "the shape of a cache");
    cursor at = {0};
    for (int32_t i = 0; i < cache->body_count; i++)
        if (cache->bodies[i].skin && !add_skin(cache, i, shape, &at))
            return sinew_fail_memory(error, "the names of a cache");
    add_surface(cache, &surface->cells, shape, &at);
    shape->starts[shape->face_count] = at.corner;
    return SINEW_OK;
}

sinew_status sinew_cache_shape_make(const sinew_cache *cache, sinew_cache_shape *shape, sinew_error *error)
{
    *shape = (sinew_cache_shape){0};
    world_surface surface = {0};
    sinew_status status = fetch_surface(cache, &surface, error);
    if (status == SINEW_OK)
        status = fill_shape(cache, &surface, shape, error);
    release_surface(cache, &surface.cells);
    if (status != SINEW_OK)
        sinew_cache_shape_free(cache, shape);
    return status;
}

void sinew_cache_shape_used(const sinew_cache *cache, const sinew_cache_shape *shape, uint8_t *used)
{
    memset(used, 0, (size_t)cache->point_count);
    for (int64_t i = 0; i < shape->starts[shape->face_count]; i++)
        used[shape->corners[i]] = 1;
    for (int64_t i = 0; i < 2 * shape->edge_count; i++)
        used[shape->edges[i]] = 1;
}
