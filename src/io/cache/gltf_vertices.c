/* SPDX-License-Identifier: MIT
 *
 * gltf_vertices.c: chooses the vertices and primitives of a glTF cache.
 *
 * Vertices are, in the order of the points, all points of skins, and the points of other bodies that belong to a
 * triangle or a line. A glTF vertex has one texture coordinate and one normal, so points whose corners have several
 * are copied. Copies follow all other vertices, so the vertices of a skin stay consecutive and in order. Copies for
 * texture coordinates, ordered by (point, texture coordinate), precede copies for sharp edges. Triangles are sorted by
 * material, and each material is one primitive.
 */
#include "io/cache/gltf.h"
#include "base/sort_pairs.h"

#include <string.h>

/* ---- GLB vertices from the points of the cache --------------------------------------------------- */

/* Numbers the drawn points of the cache from zero: vertex[point] receives the number, -1 for points that are not
 * drawn. */
static void gltf_vertices_number_points(const sinew_cache *cache, sinew_gltf *own, const uint8_t *used, int32_t *vertex)
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

static void replace_points_by_vertices(sinew_gltf *own, const int32_t *vertex)
{
    for (int64_t i = 0; i < 3 * own->shape.triangle_count; i++)
        own->shape.triangles[i] = vertex[own->shape.triangles[i]];
    for (int64_t i = 0; i < 2 * own->shape.edge_count; i++)
        own->shape.edges[i] = vertex[own->shape.edges[i]];
}

/* ---- Copies of vertices for texture coordinates and normals -------------------------------------- */

/* A rule that splits vertices: corners of one vertex with different keys get different copies. `key` returns the key of
 * a corner; `set` stores the key's data in a vertex (`original` or a copy of it). */
typedef struct vertex_split {
    int32_t (*key)(const sinew_gltf *own, const int32_t *keys, int64_t corner);
    void (*set)(sinew_gltf *own, int32_t vertex, int32_t original, int32_t key);
} vertex_split;

static int32_t uv_of(const sinew_gltf *own, const int32_t *keys, int64_t corner)
{
    (void)keys;
    return own->shape.corner_uvs[own->shape.triangle_corners[corner]];
}

/* Sets the texture coordinates of a vertex. The v axis points up in OBJ and down in glTF. */
static void set_uv(sinew_gltf *own, int32_t vertex, int32_t original, int32_t uv)
{
    (void)original;
    own->uvs[2 * (size_t)vertex] = uv >= 0 ? own->shape.uvs[2 * (size_t)uv] : 0;
    own->uvs[2 * (size_t)vertex + 1] = uv >= 0 ? 1 - own->shape.uvs[2 * (size_t)uv + 1] : 0;
}

static int32_t group_of(const sinew_gltf *own, const int32_t *keys, int64_t corner)
{
    (void)own;
    return keys[corner];
}

static void set_group(sinew_gltf *own, int32_t vertex, int32_t original, int32_t group)
{
    own->groups[vertex] = group;
    if (own->uvs && vertex != original)
        memcpy(own->uvs + 2 * (size_t)vertex, own->uvs + 2 * (size_t)original, 2 * sizeof *own->uvs);
}

static const vertex_split split_by_uv = {uv_of, set_uv}, split_by_group = {group_of, set_group};

/* Assigns a vertex to each distinct (vertex, key) of the sorted corners: the first key keeps the vertex, others get
 * copies. */
static void split_corners(sinew_gltf *own, const vertex_split *by, const sinew_pair *sorted, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const int32_t vertex = (int32_t)(sorted[i].major >> 32), key = (int32_t)(uint32_t)sorted[i].major - 1;
        const bool known = i > 0 && sorted[i].major == sorted[i - 1].major;
        const bool first = i == 0 || sorted[i].major >> 32 != sorted[i - 1].major >> 32;
        if (first) {
            by->set(own, vertex, vertex, key);
        } else if (!known) {
            own->points[own->vertex_count] = own->points[vertex];
            by->set(own, own->vertex_count++, vertex, key);
        }
        if (!first)
            own->shape.triangles[sorted[i].minor] =
                known ? own->shape.triangles[sorted[i - 1].minor] : own->vertex_count - 1;
    }
}

static sinew_status split_vertices_by_key(const sinew_cache *cache, sinew_gltf *own, const vertex_split *by,
                                          const int32_t *keys, sinew_error *error)
{
    const int64_t count = 3 * own->shape.triangle_count;
    sinew_pair *pairs = sinew_allocate(&cache->allocator, 2 * (size_t)count, sizeof *pairs);
    if (!pairs)
        return sinew_fail_memory(error, "the vertices of a glTF cache");
    for (int64_t i = 0; i < count; i++)
        pairs[i] = (sinew_pair){sinew_pack(own->shape.triangles[i], by->key(own, keys, i) + 1), (uint64_t)i};
    sinew_sort_pairs(pairs, (size_t)count, pairs + count);
    split_corners(own, by, pairs, count);
    sinew_release(&cache->allocator, pairs);
    return SINEW_OK;
}

/* Copies vertices for different texture coordinates, then for different normals; `groups` are the normal groups of the
 * corners. */
static sinew_status split_vertices(const sinew_cache *cache, sinew_gltf *own, const int32_t *groups, sinew_error *error)
{
    const size_t max = (size_t)own->vertex_count + 3 * (size_t)own->shape.triangle_count;
    own->uvs = own->shape.uvs ? sinew_allocate_zero(&cache->allocator, max, 2 * sizeof(float)) : NULL;
    own->groups = sinew_allocate(&cache->allocator, max, sizeof *own->groups);
    own->sums = sinew_allocate(&cache->allocator, (size_t)own->group_count, 3 * sizeof *own->sums);
    if ((own->shape.uvs && !own->uvs) || !own->groups || !own->sums)
        return sinew_fail_memory(error, "the vertices of a glTF cache");
    memset(own->groups, -1, max * sizeof *own->groups);
    sinew_status status = own->uvs ? split_vertices_by_key(cache, own, &split_by_uv, NULL, error) : SINEW_OK;
    return status == SINEW_OK ? split_vertices_by_key(cache, own, &split_by_group, groups, error) : status;
}

/* ---- Primitives of the GLB mesh, by material ----------------------------------------------------- */

static int32_t material_of_triangle(const sinew_gltf *own, int64_t triangle)
{
    const int32_t *names = own->shape.face_names[SINEW_SKIN_MATERIAL];
    const int32_t name = names ? names[own->shape.triangle_faces[triangle]] : -1;
    return name >= 0 ? name : own->shape.names[SINEW_SKIN_MATERIAL].count;
}

/* Sorts triangles by material, stably; triangles without a material come last. */
static sinew_status sort_by_material(const sinew_cache *cache, sinew_gltf *own, sinew_error *error)
{
    const int32_t materials = own->shape.names[SINEW_SKIN_MATERIAL].count + 1;
    const int64_t count = own->shape.triangle_count;
    own->primitive_count = materials;
    own->primitive_starts =
        sinew_allocate_zero(&cache->allocator, (size_t)materials + 2, sizeof *own->primitive_starts);
    int32_t *sorted = sinew_allocate(&cache->allocator, (size_t)count, 3 * sizeof *sorted);
    if (!own->primitive_starts || !sorted) {
        sinew_release(&cache->allocator, sorted);
        return sinew_fail_memory(error, "the primitives of a glTF cache");
    }
    for (int64_t i = 0; i < count; i++)
        own->primitive_starts[material_of_triangle(own, i) + 2]++;
    for (int32_t m = 0; m < materials; m++)
        own->primitive_starts[m + 2] += own->primitive_starts[m + 1];
    for (int64_t i = 0; i < count; i++)
        memcpy(sorted + 3 * own->primitive_starts[material_of_triangle(own, i) + 1]++, own->shape.triangles + 3 * i,
               3 * sizeof *sorted);
    sinew_release(&cache->allocator, own->shape.triangles);
    own->shape.triangles = sorted;
    return SINEW_OK;
}

/* Creates one GLB vertex per drawn point; returns false if memory runs out. */
static bool make_vertices_of_points(const sinew_cache *cache, sinew_gltf *own)
{
    const size_t count = (size_t)cache->point_count;
    uint8_t *used = sinew_allocate(&cache->allocator, count, 1);
    int32_t *vertex = sinew_allocate(&cache->allocator, count, sizeof *vertex);
    own->points = sinew_allocate(&cache->allocator, count + 3 * (size_t)own->shape.triangle_count, sizeof *own->points);
    const bool good = used && vertex && own->points;
    if (good) {
        sinew_cache_shape_used(cache, &own->shape, used);
        gltf_vertices_number_points(cache, own, used, vertex);
        replace_points_by_vertices(own, vertex);
    }
    sinew_release(&cache->allocator, used);
    sinew_release(&cache->allocator, vertex);
    return good;
}

sinew_status sinew_gltf_choose_vertices(const sinew_cache *cache, sinew_gltf *own, sinew_error *error)
{
    int32_t *groups = sinew_allocate(&cache->allocator, (size_t)own->shape.triangle_count, 3 * sizeof *groups);
    sinew_status status = groups ? sinew_gltf_find_normal_groups(cache, own, groups, error)
                                 : sinew_fail_memory(error, "the normals of a glTF cache");
    if (status == SINEW_OK && !make_vertices_of_points(cache, own))
        status = sinew_fail_memory(error, "the vertices of a glTF cache");
    if (status == SINEW_OK)
        status = split_vertices(cache, own, groups, error);
    sinew_release(&cache->allocator, groups);
    return status == SINEW_OK ? sort_by_material(cache, own, error) : status;
}
