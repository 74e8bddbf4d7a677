/* SPDX-License-Identifier: MIT
 *
 * mesh_collider.c: a mesh as a collider: its triangles, or the boundary of its tets.
 *
 * Triangles without area and duplicates are dropped, then vertices without a triangle (also from the frames of a
 * cache). Triangles with the minority orientation of their component are flipped. The mesh is closed if every edge
 * has exactly two triangles of equal orientation. A closed mesh with negative volume is flipped as a whole, so that
 * cavities keep their orientation.
 *
 * Limits: coincident vertices are not merged (sinew_mesh_fix() merges them): a surface with coincident vertices
 * counts as open.
 */
#include "collide/shapes/primitives.h"

#include "math/vec3.h"
#include "mesh/flaws.h"
#include "sinew/tree.h"
#include "bvh/triangle_crossing.h"

#include <math.h>
#include <string.h>

/* ---- Checks of a mesh collider ----------------------------------------------------------------- */

static sinew_status collider_check_frames(const sinew_collider_def *def, sinew_error *error)
{
    if (def->frame_count < 2 || !def->frames)
        return sinew_fail(error, SINEW_ERROR_DATA, "mesh: frame_count is %d, must be 0 (no cache) or at least 2 frames",
                          def->frame_count);
    if (def->motion)
        return sinew_fail(error, SINEW_ERROR_DATA, "mesh: has %d frames of a cache and a motion; give one of them",
                          def->frame_count);
    if (!isfinite(def->frame_time) || !(def->frame_time > 0))
        return sinew_fail(error, SINEW_ERROR_DATA, "mesh: frame_time is %g s, must be finite and greater than 0",
                          (double)def->frame_time);
    const size_t each = 3 * (size_t)sinew_mesh_vertex_count(def->mesh);
    for (size_t i = 0; i < (size_t)def->frame_count * each; i++)
        if (!isfinite(def->frames[i]))
            return sinew_fail(error, SINEW_ERROR_DATA, "mesh: vertex %zu of frame %zu is not finite", i % each / 3,
                              i / each);
    return SINEW_OK;
}

sinew_status sinew_shape_check_mesh(const sinew_collider_def *def, sinew_error *error)
{
    if (!def->mesh)
        return sinew_fail(error, SINEW_ERROR_DATA, "mesh: the def has none");
    if (sinew_mesh_triangle_count(def->mesh) == 0 && sinew_mesh_tet_count(def->mesh) == 0)
        return sinew_fail(error, SINEW_ERROR_DATA, "mesh: has 0 triangles and 0 tets, must have some of either");
    return def->frame_count == 0 ? SINEW_OK : collider_check_frames(def, error);
}

/* ---- Triangles of the collider --------------------------------------------------------------- */

typedef struct mesh_work {
    const sinew_allocator *allocator;
    const sinew_mesh *mesh; /* surface of the mesh that the collider's def gives */
    int32_t *triangles;     /* [3 * count] vertices of the triangles that the collider keeps */
    int32_t count;
    bool closed;
    sinew_error *error;
} mesh_work;

static void surface_keep_triangles(mesh_work *w)
{
    const int32_t *triangles = sinew_mesh_triangles(w->mesh);
    const sinew_real *positions = sinew_mesh_positions(w->mesh);
    for (int32_t t = 0; t < sinew_mesh_triangle_count(w->mesh); t++) {
        bool flat;
        sinew_shape_of_triangle(positions, triangles + 3 * (size_t)t, &flat);
        if (!flat)
            memcpy(w->triangles + 3 * (size_t)w->count++, triangles + 3 * (size_t)t, 3 * sizeof *triangles);
    }
}

static sinew_status surface_drop_duplicates(mesh_work *w)
{
    const sinew_elements elements = {w->triangles, w->count, 3};
    int32_t *same = sinew_allocate(w->allocator, (size_t)w->count, sizeof *same);
    if (!same)
        return sinew_fail_memory(w->error, "a collider");
    const sinew_status status =
        sinew_same_elements(w->allocator, sinew_mesh_vertex_count(w->mesh), &elements, same, w->error);
    int32_t kept = 0;
    for (int32_t t = 0; status == SINEW_OK && t < elements.count; t++)
        if (same[t] == t)
            memmove(w->triangles + 3 * (size_t)kept++, w->triangles + 3 * (size_t)t, 3 * sizeof *w->triangles);
    w->count = kept;
    sinew_release(w->allocator, same);
    return status;
}

static void surface_flip_triangle(int32_t *triangle)
{
    const int32_t swap = triangle[1];
    triangle[1] = triangle[2];
    triangle[2] = swap;
}

/* Six times the volume that the collider's triangles enclose, m^3, computed relative to the first vertex, so that
 * meshes far from the origin lose no digits. */
static double surface_volume(const mesh_work *w)
{
    const sinew_real *x = sinew_mesh_positions(w->mesh), *eye = x + 3 * (size_t)w->triangles[0];
    double volume = 0;
    for (int32_t t = 0; t < w->count; t++) {
        double p[3][3];
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                p[i][k] = (double)x[3 * (size_t)w->triangles[3 * (size_t)t + (size_t)i] + (size_t)k] - (double)eye[k];
        volume += vec3_triple(p[0], p[1], p[2]);
    }
    return volume;
}

static sinew_status surface_orient(mesh_work *w)
{
    sinew_orientation orientation;
    const sinew_status status = sinew_orientation_find(&orientation, w->allocator, sinew_mesh_vertex_count(w->mesh),
                                                       w->triangles, w->count, w->error);
    if (status != SINEW_OK)
        return status;
    w->closed = true;
    for (int32_t t = 0; t < w->count; t++) {
        w->closed = w->closed && !orientation.open[orientation.component[t]];
        if (orientation.flip[t])
            surface_flip_triangle(w->triangles + 3 * (size_t)t);
    }
    sinew_orientation_free(&orientation, w->allocator);
    const bool inside_out = w->closed && surface_volume(w) < 0;
    for (int32_t t = 0; inside_out && t < w->count; t++)
        surface_flip_triangle(w->triangles + 3 * (size_t)t);
    return SINEW_OK;
}

/* ---- Vertices of the collider ---------------------------------------------------------------- */

/* Sets number[v] to the new index of a mesh vertex that a triangle uses, -1 for other vertices; returns the number of
 * used vertices. */
static int32_t surface_number_vertices(const mesh_work *w, int32_t *number)
{
    const int32_t vertex_count = sinew_mesh_vertex_count(w->mesh);
    int32_t used = 0;
    for (int32_t v = 0; v < vertex_count; v++)
        number[v] = -1;
    for (size_t i = 0; i < 3 * (size_t)w->count; i++)
        number[w->triangles[i]] = 0;
    for (int32_t v = 0; v < vertex_count; v++)
        if (number[v] == 0)
            number[v] = used++;
    return used;
}

static void surface_copy_points(const mesh_work *w, const int32_t *number, const sinew_real *from, sinew_real *to)
{
    for (int32_t v = 0; v < sinew_mesh_vertex_count(w->mesh); v++)
        if (number[v] >= 0)
            memcpy(to + 3 * (size_t)number[v], from + 3 * (size_t)v, 3 * sizeof *to);
}

static sinew_status surface_copy_geometry(sinew_collider_record *record, const mesh_work *w,
                                          const sinew_collider_def *def, const int32_t *number, int32_t used)
{
    const sinew_status status = sinew_shape_allocate(record, w->allocator, used, w->count, 0, w->error);
    if (status != SINEW_OK)
        return status;
    surface_copy_points(w, number, sinew_mesh_positions(w->mesh), record->vertices);
    record->mesh_vertices = sinew_allocate(w->allocator, (size_t)used, sizeof *record->mesh_vertices);
    if (!record->mesh_vertices)
        return sinew_fail_memory(w->error, "a collider");
    record->mesh_vertex_count = sinew_mesh_vertex_count(w->mesh);
    for (int32_t v = 0; v < record->mesh_vertex_count; v++)
        if (number[v] >= 0)
            record->mesh_vertices[number[v]] = v;
    for (size_t i = 0; i < 3 * (size_t)w->count; i++)
        record->triangles[i] = number[w->triangles[i]];
    record->closed = w->closed;
    if (def->frame_count == 0)
        return SINEW_OK;
    const size_t old = 3 * (size_t)sinew_mesh_vertex_count(w->mesh), kept = 3 * (size_t)used;
    record->frames = sinew_allocate(w->allocator, (size_t)def->frame_count * kept, sizeof *record->frames);
    if (!record->frames)
        return sinew_fail_memory(w->error, "the frames of a collider");
    for (size_t f = 0; f < (size_t)def->frame_count; f++)
        surface_copy_points(w, number, def->frames + f * old, record->frames + f * kept);
    record->frame_count = def->frame_count;
    record->frame_time = def->frame_time;
    return SINEW_OK;
}

/* ---- Warnings about a mesh collider ------------------------------------------------------------ */

static void count_intersection(void *context, int32_t a, int32_t b)
{
    (void)a;
    (void)b;
    (*(int64_t *)context)++;
}

static sinew_status surface_count_intersections(const sinew_collider_record *record, const mesh_work *w, int64_t *count)
{
    sinew_tree_def def = sinew_default_tree_def();
    def.allocator = *w->allocator;
    def.vertex_count = record->vertex_count;
    def.positions = record->vertices;
    def.cell_count = record->triangle_count;
    def.cells = record->triangles;
    def.winding = false;
    def.thread_count = 1; /* one thread: only a world may start threads or use the threads of the calling program */
    sinew_tree *tree = sinew_tree_create(&def, w->error);
    if (!tree)
        return SINEW_ERROR_MEMORY;
    const sinew_status status = sinew_visit_crossings(tree, w->allocator, record->vertices, record->triangles,
                                                      record->triangle_count, count_intersection, count, w->error);
    sinew_tree_destroy(tree);
    return status;
}

static sinew_status surface_warn(const sinew_collider_record *record, const mesh_work *w)
{
    int64_t intersections = 0;
    if (!w->closed)
        return sinew_fail(w->error, SINEW_OK,
                          "mesh: its %d triangles do not close, so it has no inside and is felt from both sides",
                          record->triangle_count);
    const sinew_status status = surface_count_intersections(record, w, &intersections);
    if (status == SINEW_OK && intersections > 0)
        sinew_fail(w->error, SINEW_OK,
                   "mesh: %lld pairs of its triangles cross, which leaves its inside in doubt there",
                   (long long)intersections);
    return status;
}

static sinew_status make_from_surface(sinew_collider_record *record, mesh_work *w, const sinew_collider_def *def)
{
    surface_keep_triangles(w);
    sinew_status status = surface_drop_duplicates(w);
    if (status == SINEW_OK && w->count == 0)
        return sinew_fail(w->error, SINEW_ERROR_DATA, "mesh: of its %d triangles 0 have an area; at least 1 is needed",
                          sinew_mesh_triangle_count(w->mesh));
    if (status == SINEW_OK)
        status = surface_orient(w);
    if (status != SINEW_OK)
        return status;
    int32_t *number = sinew_allocate(w->allocator, (size_t)sinew_mesh_vertex_count(w->mesh), sizeof *number);
    if (!number)
        return sinew_fail_memory(w->error, "a collider");
    status = surface_copy_geometry(record, w, def, number, surface_number_vertices(w, number));
    sinew_release(w->allocator, number);
    return status == SINEW_OK ? surface_warn(record, w) : status;
}

sinew_status sinew_shape_make_mesh(sinew_collider_record *record, const sinew_allocator *allocator,
                                   const sinew_collider_def *def, sinew_error *error)
{
    sinew_mesh *surface = sinew_mesh_surface(def->mesh, error);
    if (!surface)
        return SINEW_ERROR_MEMORY;
    mesh_work w = {.allocator = allocator, .mesh = surface, .error = error};
    w.triangles = sinew_allocate(allocator, 3 * (size_t)sinew_mesh_triangle_count(surface), sizeof *w.triangles);
    const sinew_status status =
        w.triangles ? make_from_surface(record, &w, def) : sinew_fail_memory(error, "a collider");
    sinew_release(allocator, w.triangles);
    sinew_mesh_destroy(surface);
    return status;
}
