/* SPDX-License-Identifier: MIT
 *
 * embedded_sample.c: finds nearest vertices and interpolates painted values of a skin with a BVH over its vertices or
 * triangles.
 */
#include "io/mesh/embedded_sample.h"

#include "sinew/tree.h"

/* Returns the nearest vertex (width 1) or point on a triangle (width 3) of the skin for each of points[3 * count]; the
 * caller releases the array. NULL on failure. */
static sinew_tree_point *embedded_find_nearest(const sinew_skin *skin, int32_t width, const sinew_allocator *allocator,
                                               int32_t count, const sinew_real *points, sinew_error *error)
{
    const sinew_mesh *mesh = sinew_skin_mesh(skin);
    sinew_tree_def def = sinew_default_tree_def();
    def.allocator = *allocator;
    def.vertex_count = sinew_mesh_vertex_count(mesh);
    def.positions = sinew_mesh_positions(mesh);
    def.width = width;
    def.cell_count = width == 3 ? sinew_mesh_triangle_count(mesh) : def.vertex_count;
    def.cells = width == 3 ? sinew_mesh_triangles(mesh) : NULL;
    def.winding = false;
    sinew_tree *tree = sinew_tree_create(&def, error);
    sinew_tree_point *nearest = tree ? sinew_allocate(allocator, (size_t)count, sizeof *nearest) : NULL;
    if (nearest)
        sinew_tree_nearest(tree, count, points, NULL, nearest);
    else if (tree)
        sinew_fail_memory(error, "places on a skin");
    sinew_tree_destroy(tree);
    return nearest;
}

sinew_status sinew_skin_nearest(const sinew_skin *skin, const sinew_allocator *allocator, int32_t count,
                                const sinew_real *points, int32_t *vertices, sinew_error *error)
{
    sinew_tree_point *nearest = embedded_find_nearest(skin, 1, allocator, count, points, error);
    for (int32_t i = 0; nearest && i < count; i++)
        vertices[i] = nearest[i].cell;
    sinew_release(allocator, nearest);
    return nearest ? SINEW_OK : SINEW_ERROR_MEMORY;
}

sinew_status sinew_skin_sample(const sinew_skin *skin, const float *painted, const sinew_allocator *allocator,
                               int32_t count, const sinew_real *points, sinew_real *values, sinew_error *error)
{
    const int32_t *triangles = sinew_mesh_triangles(sinew_skin_mesh(skin));
    sinew_tree_point *nearest = embedded_find_nearest(skin, 3, allocator, count, points, error);
    for (int32_t i = 0; nearest && i < count; i++) {
        double sum = 0;
        for (int k = 0; k < 3; k++)
            sum += (double)nearest[i].weights[k] * (double)painted[triangles[3 * (int64_t)nearest[i].cell + k]];
        values[i] = (sinew_real)sum;
    }
    sinew_release(allocator, nearest);
    return nearest ? SINEW_OK : SINEW_ERROR_MEMORY;
}
