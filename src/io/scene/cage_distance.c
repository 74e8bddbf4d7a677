/* SPDX-License-Identifier: MIT
 *
 * cage_distance.c: computes the distance between the embedded surface of a body and the body's own surface (its cage).
 *
 * Contacts of a body act on the surface of its tets, the cage, while its embedded surface is drawn. The distance
 * estimates the gap that is visible between the drawn surface and an object that touches the cage.
 */
#include "io/scene/cage_distance.h"

#include <math.h>

#include "base/base.h"
#include "sinew/skin.h"
#include "sinew/tree.h"

/* Builds a BVH over the surface triangles of a body; NULL: no triangles, or memory runs out. */
static sinew_tree *cage_tree(const sinew_world *world, sinew_body body, const sinew_allocator *allocator,
                             sinew_error *error)
{
    sinew_mesh *surface = sinew_mesh_surface(sinew_body_mesh(world, body), error);
    if (!surface)
        return NULL;
    const int32_t count = sinew_mesh_vertex_count(surface);
    sinew_real *q = sinew_allocate(allocator, 3 * (size_t)count, sizeof *q);
    sinew_tree *tree = NULL;
    if (!q)
        sinew_fail_memory(error, "the distance of a skin");
    if (q && sinew_mesh_triangle_count(surface) > 0 &&
        sinew_world_get_positions(world, sinew_body_first_particle(world, body), count, q) == SINEW_OK) {
        sinew_tree_def def = sinew_default_tree_def();
        def.allocator = *allocator;
        def.vertex_count = count;
        def.positions = q;
        def.cell_count = sinew_mesh_triangle_count(surface);
        def.cells = sinew_mesh_triangles(surface);
        def.winding = false;
        def.thread_count = 1;
        tree = sinew_tree_create(&def, error);
    }
    sinew_release(allocator, q);
    sinew_mesh_destroy(surface);
    return tree;
}

double sinew_cage_distance(const sinew_world *world, sinew_body body, const sinew_allocator *allocator,
                           sinew_error *error)
{
    const sinew_skin *skin = sinew_body_skin(world, body);
    if (!skin)
        return -1;
    const int32_t count = sinew_skin_vertex_count(skin);
    sinew_tree *tree = cage_tree(world, body, allocator, error);
    sinew_real *points = tree ? sinew_allocate(allocator, 3 * (size_t)count, sizeof *points) : NULL;
    double max = -1;
    if (tree && !points)
        sinew_fail_memory(error, "the distance of a skin");
    if (points && sinew_body_skin_positions(world, body, points) == SINEW_OK)
        for (int32_t i = 0; i < count; i++) {
            sinew_tree_point nearest;
            sinew_tree_nearest(tree, 1, points + 3 * (size_t)i, NULL, &nearest);
            max = fmax(max, (double)nearest.distance);
        }
    sinew_release(allocator, points);
    sinew_tree_destroy(tree);
    return max;
}
