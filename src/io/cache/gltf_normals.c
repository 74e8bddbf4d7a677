/* SPDX-License-Identifier: MIT
 *
 * gltf_normals.c: normals of a glTF cache: smooth, but for edges that are sharp at rest.
 *
 * Corners of triangles at one point form groups: the corners at both ends of an edge join one group each if the edge
 * has exactly two triangles and their normals at rest differ by less than 0.8 rad (as in `sinew render`). A group
 * has one normal, the sum of the normals of its triangles weighted by their areas, and a vertex belongs to one
 * group; so seams of texture coordinates do not show. Normals are computed for each frame, because with the normals at
 * rest a moved body would be lit as in its rest shape.
 */
#include "io/cache/gltf.h"
#include "math/vec3.h"
#include "base/sort_pairs.h"

#include <math.h>
#include <string.h>

static const double crease_cosine = 0.6967067093471654; /* cosine of the crease angle, 0.8 rad */

/* ---- Groups of triangle corners that share a normal ---------------------------------------------- */

/* Rest positions of the points of a body, [3 * point_count], in m: vertices of its skin, else of its mesh. */
static const sinew_real *rest_positions_of(const sinew_cache *cache, const sinew_cache_body *of)
{
    return of->skin ? sinew_skin_positions(of->skin) : sinew_mesh_positions(sinew_body_mesh(cache->world, of->body));
}

/* Unit normals of the triangles at rest; zero for triangles without area. */
static void rest_normals(const sinew_cache *cache, const sinew_cache_shape *shape, double *normals)
{
    for (int64_t t = 0; t < shape->triangle_count; t++) {
        const sinew_cache_body *of = &cache->bodies[shape->face_bodies[shape->triangle_faces[t]]];
        const sinew_real *rest = rest_positions_of(cache, of);
        const sinew_real *corner[3];
        for (int k = 0; k < 3; k++)
            corner[k] = rest + 3 * (size_t)(shape->triangles[3 * t + k] - of->first_point);
        double u[3], v[3], *normal = normals + 3 * t;
        vec3_edge(corner[0], corner[1], u);
        vec3_edge(corner[0], corner[2], v);
        vec3_cross(u, v, normal);
        const double length = vec3_norm(normal);
        for (int axis = 0; axis < 3; axis++)
            normal[axis] = length > 0 ? normal[axis] / length : 0;
    }
}

static int32_t group_root(int32_t *parents, int32_t corner)
{
    while (parents[corner] != corner)
        corner = parents[corner] = parents[parents[corner]];
    return corner;
}

static void join_corner_groups(int32_t *parents, int32_t a, int32_t b)
{
    a = group_root(parents, a);
    b = group_root(parents, b);
    parents[a > b ? a : b] = a > b ? b : a;
}

/* Joins the corners of two triangles at both ends of their shared edge; a and b are the corners where the edge starts
 * in each triangle. */
static void join_corners_at_edge(const sinew_cache_shape *shape, int32_t *parents, int32_t a, int32_t b)
{
    const int32_t ends[2][2] = {{a, a % 3 == 2 ? a - 2 : a + 1}, {b, b % 3 == 2 ? b - 2 : b + 1}};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            if (shape->triangles[ends[0][i]] == shape->triangles[ends[1][k]])
                join_corner_groups(parents, ends[0][i], ends[1][k]);
}

/* Joins triangle corners across smooth edges by union-find: parents[3 * triangle_count] then forms one tree per group.
 * `edges` is scratch [6 * triangle_count]. */
static void join_across_smooth_edges(const sinew_cache_shape *shape, const double *normals, sinew_pair *edges,
                                     int32_t *parents)
{
    const int64_t count = 3 * shape->triangle_count;
    for (int64_t i = 0; i < count; i++) {
        const int32_t a = shape->triangles[i], b = shape->triangles[i % 3 == 2 ? i - 2 : i + 1];
        edges[i] = (sinew_pair){sinew_pack(a < b ? a : b, a < b ? b : a), (uint64_t)i};
        parents[i] = (int32_t)i;
    }
    sinew_sort_pairs(edges, (size_t)count, edges + count);
    for (int64_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && edges[end].major == edges[i].major;)
            end++;
        const int32_t a = (int32_t)edges[i].minor, b = (int32_t)edges[end - 1].minor;
        if (end - i == 2 && vec3_dot(normals + 3 * (a / 3), normals + 3 * (b / 3)) > crease_cosine)
            join_corners_at_edge(shape, parents, a, b);
    }
}

sinew_status sinew_gltf_find_normal_groups(const sinew_cache *cache, sinew_gltf *own, int32_t *groups,
                                           sinew_error *error)
{
    const sinew_cache_shape *shape = &own->shape;
    const size_t triangles = (size_t)shape->triangle_count;
    double *normals = sinew_allocate(&cache->allocator, triangles, 3 * sizeof *normals);
    sinew_pair *edges = sinew_allocate(&cache->allocator, triangles, 6 * sizeof *edges);
    const bool good = normals && edges;
    if (good) {
        rest_normals(cache, shape, normals);
        join_across_smooth_edges(shape, normals, edges, groups);
        /* The union-find root is the lowest corner of its group, so it is numbered before the other corners. */
        for (size_t i = 0; i < 3 * triangles; i++) {
            const int32_t root = group_root(groups, (int32_t)i);
            edges[i].major = root == (int32_t)i ? (uint64_t)own->group_count++ : edges[root].major;
        }
        for (size_t i = 0; i < 3 * triangles; i++)
            groups[i] = (int32_t)edges[i].major;
    }
    sinew_release(&cache->allocator, normals);
    sinew_release(&cache->allocator, edges);
    return good ? SINEW_OK : sinew_fail_memory(error, "the normals of a glTF cache");
}

/* ---- Normals of one frame ------------------------------------------------------------------------ */

void sinew_gltf_compute_normals(sinew_gltf *own, const float *positions, float *normals)
{
    memset(own->sums, 0, 3 * (size_t)own->group_count * sizeof *own->sums);
    for (int64_t t = 0; t < own->shape.triangle_count; t++) {
        const int32_t *corner = own->shape.triangles + 3 * t;
        double u[3], v[3], normal[3];
        for (size_t axis = 0; axis < 3; axis++) {
            const double origin = (double)positions[3 * (size_t)corner[0] + axis];
            u[axis] = (double)positions[3 * (size_t)corner[1] + axis] - origin;
            v[axis] = (double)positions[3 * (size_t)corner[2] + axis] - origin;
        }
        vec3_cross(u, v, normal);
        for (int k = 0; k < 3; k++)
            for (size_t axis = 0; axis < 3; axis++)
                own->sums[3 * (size_t)own->groups[corner[k]] + axis] += normal[axis];
    }
    for (int32_t i = 0; i < own->vertex_count; i++) {
        static const double up[3] = {0, 1, 0}; /* glTF requires unit vectors, also for vertices without a normal */
        const double *sum = own->groups[i] >= 0 ? own->sums + 3 * (size_t)own->groups[i] : up;
        const double length = vec3_norm(sum);
        for (int axis = 0; axis < 3; axis++)
            normals[3 * (size_t)i + (size_t)axis] =
                (float)(length > 0 && isfinite(length) ? sum[axis] / length : up[axis]);
    }
}
