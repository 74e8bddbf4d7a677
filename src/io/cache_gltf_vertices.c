/* SPDX-License-Identifier: MIT
 *
 * cache_gltf_vertices.c: which vertices and primitives a glTF cache has.
 *
 * Vertices are, in the order of the points, all points of skins and those of other bodies that a triangle or line
 * names. glTF has one texture coordinate a vertex, so a point whose corners have several gets copies, which stand
 * behind all others in the order of (point, texture coordinate): vertex k of a skin stays vertex k. Triangles are put
 * in the order of their materials, and each material is one primitive.
 */
#include "io/cache_gltf.h"
#include "mesh/sort.h"

#include <string.h>

/* ---- Points ------------------------------------------------------------------------------------ */

/* Numbers the points that are drawn from zero: vertex[point], or -1. */
static void number_points(const sinew_cache *cache, sinew_gltf *own, const uint8_t *used, int32_t *vertex)
{
    for (int32_t i = 0; i < cache->point_count; i++)
        vertex[i] = used[i] ? 0 : -1;
    for (int32_t i = 0; i < cache->body_count; i++)
        for (int32_t k = 0; cache->bodies[i].skin && k < cache->bodies[i].point_count; k++)
            vertex[cache->bodies[i].first_point + k] = 0;
    for (int32_t i = 0; i < cache->point_count; i++) {
        if (vertex[i] < 0)
            continue;
        vertex[i] = own->vertex_count;
        own->points[own->vertex_count++] = i;
    }
}

static void rename_corners(sinew_gltf *own, const int32_t *vertex)
{
    for (int64_t i = 0; i < 3 * own->shape.triangle_count; i++)
        own->shape.triangles[i] = vertex[own->shape.triangles[i]];
    for (int64_t i = 0; i < 2 * own->shape.edge_count; i++)
        own->shape.edges[i] = vertex[own->shape.edges[i]];
}

/* ---- Texture coordinates ----------------------------------------------------------------------- */

/* OBJ counts v upwards, glTF downwards. */
static void set_uv(sinew_gltf *own, int32_t vertex, int32_t uv)
{
    own->uvs[2 * (size_t)vertex] = uv >= 0 ? own->shape.uvs[2 * (size_t)uv] : 0;
    own->uvs[2 * (size_t)vertex + 1] = uv >= 0 ? 1 - own->shape.uvs[2 * (size_t)uv + 1] : 0;
}

/* Gives each different (vertex, texture coordinate) of the sorted corners a vertex: the first of a vertex its own. */
static void split_corners(sinew_gltf *own, const sinew_pair *sorted, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const int32_t vertex = (int32_t)(sorted[i].major >> 32), uv = (int32_t)(uint32_t)sorted[i].major - 1;
        const bool known = i > 0 && sorted[i].major == sorted[i - 1].major;
        const bool first = i == 0 || sorted[i].major >> 32 != sorted[i - 1].major >> 32;
        if (first) {
            set_uv(own, vertex, uv);
        } else if (!known) {
            own->points[own->vertex_count] = own->points[vertex];
            set_uv(own, own->vertex_count++, uv);
        }
        if (!first)
            own->shape.triangles[sorted[i].minor] =
                known ? own->shape.triangles[sorted[i - 1].minor] : own->vertex_count - 1;
    }
}

static sinew_status split_at_seams(const sinew_cache *cache, sinew_gltf *own, sinew_error *error)
{
    const int64_t count = 3 * own->shape.triangle_count;
    own->uvs = sinew_allocate_zero(&cache->allocator, (size_t)own->vertex_count + (size_t)count, 2 * sizeof(float));
    sinew_pair *pairs = sinew_allocate(&cache->allocator, 2 * (size_t)count, sizeof *pairs);
    if (own->uvs && pairs) {
        for (int64_t i = 0; i < count; i++) {
            const int32_t uv = own->shape.corner_uvs[own->shape.triangle_corners[i]];
            pairs[i] = (sinew_pair){sinew_pack(own->shape.triangles[i], uv + 1), (uint64_t)i};
        }
        sinew_sort_pairs(pairs, (size_t)count, pairs + count);
        split_corners(own, pairs, count);
    }
    const bool good = own->uvs && pairs;
    sinew_release(&cache->allocator, pairs);
    return good ? SINEW_OK : sinew_fail_memory(error, "the texture coordinates of a glTF cache");
}

/* ---- Primitives -------------------------------------------------------------------------------- */

static int32_t material_of(const sinew_gltf *own, int64_t triangle)
{
    const int32_t *names = own->shape.face_names[SINEW_SKIN_MATERIAL];
    const int32_t name = names ? names[own->shape.triangle_faces[triangle]] : -1;
    return name >= 0 ? name : own->shape.names[SINEW_SKIN_MATERIAL].count;
}

/* Triangles by material, those of one in their order; those without one last. */
static sinew_status sort_by_material(const sinew_cache *cache, sinew_gltf *own, sinew_error *error)
{
    const int32_t materials = own->shape.names[SINEW_SKIN_MATERIAL].count + 1;
    const int64_t count = own->shape.triangle_count;
    own->part_count = materials;
    own->part_starts = sinew_allocate_zero(&cache->allocator, (size_t)materials + 2, sizeof *own->part_starts);
    int32_t *sorted = sinew_allocate(&cache->allocator, (size_t)count, 3 * sizeof *sorted);
    if (!own->part_starts || !sorted) {
        sinew_release(&cache->allocator, sorted);
        return sinew_fail_memory(error, "the primitives of a glTF cache");
    }
    for (int64_t i = 0; i < count; i++)
        own->part_starts[material_of(own, i) + 2]++;
    for (int32_t m = 0; m < materials; m++)
        own->part_starts[m + 2] += own->part_starts[m + 1];
    for (int64_t i = 0; i < count; i++)
        memcpy(sorted + 3 * own->part_starts[material_of(own, i) + 1]++, own->shape.triangles + 3 * i,
               3 * sizeof *sorted);
    sinew_release(&cache->allocator, own->shape.triangles);
    own->shape.triangles = sorted;
    return SINEW_OK;
}

sinew_status sinew_gltf_vertices(const sinew_cache *cache, sinew_gltf *own, sinew_error *error)
{
    const size_t count = (size_t)cache->point_count;
    const size_t copies = own->shape.uvs ? 3 * (size_t)own->shape.triangle_count : 0;
    uint8_t *used = sinew_allocate(&cache->allocator, count, 1);
    int32_t *vertex = sinew_allocate(&cache->allocator, count, sizeof *vertex);
    own->points = sinew_allocate(&cache->allocator, count + copies, sizeof *own->points);
    const bool good = used && vertex && own->points;
    if (good) {
        sinew_cache_shape_used(cache, &own->shape, used);
        number_points(cache, own, used, vertex);
        rename_corners(own, vertex);
    }
    sinew_release(&cache->allocator, used);
    sinew_release(&cache->allocator, vertex);
    sinew_status status = good ? SINEW_OK : sinew_fail_memory(error, "the vertices of a glTF cache");
    if (status == SINEW_OK && own->shape.uvs)
        status = split_at_seams(cache, own, error);
    return status == SINEW_OK ? sort_by_material(cache, own, error) : status;
}
