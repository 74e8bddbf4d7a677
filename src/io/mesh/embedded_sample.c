/* SPDX-License-Identifier: MIT
 *
 * embedded_sample.c: the nearest vertices and painted values of a skin, by a tree over its vertices or triangles.
 */
#include "io/mesh/embedded_sample.h"

#include "sinew/tree.h"

/* The nearest places to all points, to be released; NULL on failure. */
static sinew_tree_place *find_places(const sinew_skin *skin, int32_t width, const sinew_allocator *allocator,
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
    sinew_tree_place *places = tree ? sinew_allocate(allocator, (size_t)count, sizeof *places) : NULL;
    if (places)
        sinew_tree_nearest(tree, count, points, NULL, places);
    else if (tree)
        sinew_fail_memory(error, "places on a skin");
    sinew_tree_destroy(tree);
    return places;
}

sinew_status sinew_skin_nearest(const sinew_skin *skin, const sinew_allocator *allocator, int32_t count,
                                const sinew_real *points, int32_t *vertices, sinew_error *error)
{
    sinew_tree_place *places = find_places(skin, 1, allocator, count, points, error);
    for (int32_t i = 0; places && i < count; i++)
        vertices[i] = places[i].cell;
    sinew_release(allocator, places);
    return places ? SINEW_OK : SINEW_ERROR_MEMORY;
}

sinew_status sinew_skin_sample(const sinew_skin *skin, const float *painted, const sinew_allocator *allocator,
                               int32_t count, const sinew_real *points, sinew_real *values, sinew_error *error)
{
    const int32_t *triangles = sinew_mesh_triangles(sinew_skin_mesh(skin));
    sinew_tree_place *places = find_places(skin, 3, allocator, count, points, error);
    for (int32_t i = 0; places && i < count; i++) {
        double sum = 0;
        for (int k = 0; k < 3; k++)
            sum += (double)places[i].weights[k] * (double)painted[triangles[3 * (int64_t)places[i].cell + k]];
        values[i] = (sinew_real)sum;
    }
    sinew_release(allocator, places);
    return places ? SINEW_OK : SINEW_ERROR_MEMORY;
}
