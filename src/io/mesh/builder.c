/* SPDX-License-Identifier: MIT
 *
 * builder.c: collects the points and cells of a mesh file in growing arrays, triangulates polygons, and writes the
 * warnings.
 *
 * Polygons are cut by ear clipping in the plane of their Newell normal (Sutherland, Sproull and Schumacker 1974 give
 * the normal; Meisters 1975 the ears), which handles concave faces. Known limit: a polygon without ears (it
 * intersects itself), or with more than 256 corners, is cut as a fan from its first corner.
 */
#include "io/mesh/builder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/mesh/embedded_builder.h"
#include "mesh/mesh.h"

enum {
    EAR_CORNERS_MAX = 256
};

void sinew_builder_open(sinew_builder *builder, const sinew_allocator *allocator, sinew_error *error)
{
    memset(builder, 0, sizeof *builder);
    builder->allocator = sinew_allocator_or_system(allocator);
    builder->error = error;
}

void sinew_builder_close(sinew_builder *builder)
{
    sinew_release(&builder->allocator, builder->positions);
    builder->positions = NULL;
    sinew_release(&builder->allocator, builder->fractions);
    builder->fractions = NULL;
    for (int kind = 0; kind < SINEW_BUILDER_KINDS; kind++) {
        sinew_release(&builder->allocator, builder->cells[kind].indices);
        builder->cells[kind].indices = NULL;
    }
}

/* ---- Growing arrays of vertices and cells -------------------------------------------------------- */

/* Returns the new capacity of an array for `needed` items: 1.5 times the old one or more, at most 2^31 - 1; -1 if more
 * items are needed. */
static int64_t grown_capacity(int64_t capacity, int64_t needed)
{
    if (needed > INT32_MAX)
        return -1;
    int64_t target = capacity + capacity / 2 + 64;
    target = target < needed ? needed : target;
    return target < INT32_MAX ? target : INT32_MAX;
}

static bool fail_too_many(const sinew_builder *builder, const char *what)
{
    sinew_fail(builder->error, SINEW_ERROR_DATA, "the file holds more than 2147483647 %s: split it", what);
    return false;
}

static bool resize_vertices(sinew_builder *builder, int64_t capacity)
{
    if (capacity < 0)
        return fail_too_many(builder, "vertices");
    sinew_real *positions = sinew_reallocate(&builder->allocator, builder->positions, (size_t)builder->vertex_count * 3,
                                             (size_t)capacity * 3, sizeof *positions);
    if (!positions) {
        sinew_fail_memory(builder->error, "the vertices");
        return false;
    }
    builder->positions = positions;
    builder->vertex_capacity = capacity;
    return true;
}

static bool resize_cells(sinew_builder *builder, int kind, int64_t capacity)
{
    if (capacity < 0)
        return fail_too_many(builder, "cells");
    sinew_builder_cells *cells = &builder->cells[kind];
    size_t corners = (size_t)kind + 2;
    int32_t *indices = sinew_reallocate(&builder->allocator, cells->indices, (size_t)cells->count * corners,
                                        (size_t)capacity * corners, sizeof *indices);
    if (!indices) {
        sinew_fail_memory(builder->error, "the cells");
        return false;
    }
    cells->indices = indices;
    cells->capacity = capacity;
    return true;
}

bool sinew_builder_reserve_vertices(sinew_builder *builder, int64_t count)
{
    if (count <= builder->vertex_capacity - builder->vertex_count)
        return true;
    return resize_vertices(builder, grown_capacity(builder->vertex_capacity, builder->vertex_count + count));
}

bool sinew_builder_reserve_cells(sinew_builder *builder, int kind, int64_t count)
{
    const sinew_builder_cells *cells = &builder->cells[kind];
    if (count <= cells->capacity - cells->count)
        return true;
    return resize_cells(builder, kind, grown_capacity(cells->capacity, cells->count + count));
}

bool sinew_builder_reserve_corners(const sinew_builder *builder, int32_t **corners, int64_t *capacity, int64_t count)
{
    if (count <= *capacity)
        return true;
    int32_t *grown = sinew_reallocate(&builder->allocator, *corners, 0, (size_t)count, sizeof *grown);
    if (!grown) {
        sinew_fail_memory(builder->error, "the corners of a cell");
        return false;
    }
    *corners = grown;
    *capacity = count;
    return true;
}

bool sinew_builder_add_vertex(sinew_builder *builder, const sinew_real point[3])
{
    int64_t at = builder->vertex_count;
    if (at == builder->vertex_capacity && !resize_vertices(builder, grown_capacity(at, at + 1)))
        return false;
    memcpy(builder->positions + 3 * at, point, 3 * sizeof *point);
    builder->vertex_count++;
    return true;
}

static bool builder_put_cell(sinew_builder *builder, int kind, const int32_t *indices)
{
    sinew_builder_cells *cells = &builder->cells[kind];
    int64_t at = cells->count;
    if (at == cells->capacity && !resize_cells(builder, kind, grown_capacity(at, at + 1)))
        return false;
    size_t corners = (size_t)kind + 2;
    memcpy(cells->indices + corners * (size_t)at, indices, corners * sizeof *indices);
    cells->count++;
    return true;
}

/* Adds a triangle with the corners a, b, c of a polygonal face. */
static bool put_triangle(sinew_builder *builder, const int32_t *corners, int64_t a, int64_t b, int64_t c)
{
    return builder_put_cell(builder, SINEW_BUILDER_TRIANGLE, (int32_t[]){corners[a], corners[b], corners[c]}) &&
           sinew_skin_builder_add_triangle(builder, a, b, c);
}

bool sinew_builder_add_cell(sinew_builder *builder, int kind, const int32_t *indices)
{
    if (kind != SINEW_BUILDER_TRIANGLE)
        return builder_put_cell(builder, kind, indices);
    return sinew_skin_builder_add_face(builder, indices, 3) && put_triangle(builder, indices, 0, 1, 2);
}

bool sinew_builder_set_fraction(sinew_builder *builder, int64_t tet, double fraction)
{
    if (tet >= builder->fraction_capacity) {
        const int64_t capacity = builder->cells[SINEW_BUILDER_TET].capacity;
        sinew_real *fractions =
            sinew_reallocate(&builder->allocator, builder->fractions, (size_t)builder->fraction_capacity,
                             (size_t)capacity, sizeof *fractions);
        if (!fractions) {
            sinew_fail_memory(builder->error, "the filled fractions of a mesh");
            return false;
        }
        for (int64_t t = builder->fraction_capacity; t < capacity; t++)
            fractions[t] = 1;
        builder->fractions = fractions;
        builder->fraction_capacity = capacity;
    }
    builder->fractions[tet] = (sinew_real)fraction;
    return true;
}

/* Copies the tets' filled fractions to the mesh; tets without a fraction get 1. */
static bool copy_fractions_to_mesh(sinew_builder *builder, sinew_mesh *mesh)
{
    const int64_t count = builder->cells[SINEW_BUILDER_TET].count;
    if (!builder->fractions || count == 0)
        return true;
    if (count > builder->fraction_capacity && !sinew_builder_set_fraction(builder, count - 1, 1))
        return false;
    return sinew_mesh_set_fractions(mesh, builder->fractions, builder->error) == SINEW_OK;
}

/* ---- Triangulation of polygons ------------------------------------------------------------------- */

bool sinew_builder_add_line(sinew_builder *builder, const int32_t *corners, int64_t count, bool closed)
{
    for (int64_t i = 0; i + 1 < count; i++)
        if (!sinew_builder_add_cell(builder, SINEW_BUILDER_EDGE, corners + i))
            return false;
    if (!closed || count < 3)
        return true;
    return sinew_builder_add_cell(builder, SINEW_BUILDER_EDGE, (int32_t[]){corners[count - 1], corners[0]});
}

bool sinew_builder_add_strip(sinew_builder *builder, const int32_t *corners, int64_t count)
{
    for (int64_t i = 0; i + 2 < count; i++) {
        int32_t triangle[3] = {corners[i], corners[i + 1 + i % 2], corners[i + 2 - i % 2]};
        if (!sinew_builder_add_cell(builder, SINEW_BUILDER_TRIANGLE, triangle))
            return false;
    }
    return true;
}

static bool builder_add_fan(sinew_builder *builder, const int32_t *corners, int64_t count)
{
    for (int64_t i = 1; i + 1 < count; i++)
        if (!put_triangle(builder, corners, 0, i, i + 1))
            return false;
    return true;
}

typedef struct flat_point {
    double x, y;
    int32_t vertex, corner;
} flat_point;

/* Projects a polygon along the axis with the largest component of its Newell normal; the flat polygon is
 * counterclockwise. */
static void project_polygon(const sinew_builder *builder, const int32_t *corners, int64_t count, flat_point *flat)
{
    double normal[3] = {0, 0, 0};
    for (int64_t i = 0; i < count; i++) {
        const sinew_real *p = builder->positions + 3 * (int64_t)corners[i];
        const sinew_real *q = builder->positions + 3 * (int64_t)corners[(i + 1) % count];
        for (int axis = 0; axis < 3; axis++) {
            int next = (axis + 1) % 3, last = (axis + 2) % 3;
            normal[axis] += ((double)p[next] - q[next]) * ((double)p[last] + q[last]);
        }
    }
    int drop = 0;
    for (int axis = 1; axis < 3; axis++)
        if (fabs(normal[axis]) > fabs(normal[drop]))
            drop = axis;
    int x = (drop + 1) % 3, y = (drop + 2) % 3;
    double sign = normal[drop] < 0 ? -1 : 1;
    for (int64_t i = 0; i < count; i++) {
        const sinew_real *p = builder->positions + 3 * (int64_t)corners[i];
        flat[i] = (flat_point){p[x], sign * p[y], corners[i], (int32_t)i};
    }
}

static double twice_signed_area(flat_point a, flat_point b, flat_point c)
{
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/* Whether a corner of a polygon is an ear: it turns left and no other corner lies inside its triangle or on an edge of
 * it. */
static bool is_ear(const flat_point *flat, int64_t count, int64_t at)
{
    flat_point a = flat[(at + count - 1) % count], b = flat[at], c = flat[(at + 1) % count];
    if (twice_signed_area(a, b, c) <= 0)
        return false;
    for (int64_t i = 0; i < count; i++) {
        flat_point p = flat[i];
        if (p.vertex == a.vertex || p.vertex == b.vertex || p.vertex == c.vertex)
            continue;
        if (twice_signed_area(a, b, p) >= 0 && twice_signed_area(b, c, p) >= 0 && twice_signed_area(c, a, p) >= 0)
            return false;
    }
    return true;
}

/* Index of an ear of a polygon, -1: none. The search starts at the second corner, so that a convex polygon becomes the
 * fan from its first corner. */
static int64_t find_ear(const flat_point *flat, int64_t count)
{
    for (int64_t i = 1; i <= count; i++)
        if (is_ear(flat, count, i % count))
            return i % count;
    return -1;
}

static bool clip_ears(sinew_builder *builder, const int32_t *corners, int64_t count)
{
    flat_point flat[EAR_CORNERS_MAX];
    int64_t first_triangle = builder->cells[SINEW_BUILDER_TRIANGLE].count;
    project_polygon(builder, corners, count, flat);
    for (int64_t left = count; left >= 3; left--) {
        int64_t ear = left == 3 ? 1 : find_ear(flat, left);
        if (ear < 0) {
            builder->cells[SINEW_BUILDER_TRIANGLE].count = first_triangle;
            return builder_add_fan(builder, corners, count);
        }
        if (!put_triangle(builder, corners, flat[(ear + left - 1) % left].corner, flat[ear].corner,
                          flat[(ear + 1) % left].corner))
            return false;
        memmove(flat + ear, flat + ear + 1, (size_t)(left - ear - 1) * sizeof *flat);
    }
    return true;
}

bool sinew_builder_add_polygon(sinew_builder *builder, const int32_t *corners, int64_t count)
{
    if (count < 2) {
        sinew_builder_ignore(builder, "points", count);
        return true;
    }
    if (count <= 3)
        return sinew_builder_add_cell(builder, count == 2 ? SINEW_BUILDER_EDGE : SINEW_BUILDER_TRIANGLE, corners);
    if (!sinew_skin_builder_add_face(builder, corners, count))
        return false;
    builder->cut_count++;
    return count <= EAR_CORNERS_MAX ? clip_ears(builder, corners, count) : builder_add_fan(builder, corners, count);
}

/* ---- Warnings and the finished mesh -------------------------------------------------------------- */

void sinew_builder_ignore(sinew_builder *builder, const char *name, int64_t count)
{
    if (count <= 0)
        return;
    int32_t slot = 0;
    while (slot < builder->ignored_count && strcmp(builder->ignored[slot].name, name) != 0)
        slot++;
    if (slot == SINEW_BUILDER_IGNORED_MAX) {
        slot = SINEW_BUILDER_IGNORED_MAX - 1;
        name = "cells of yet other kinds";
    }
    sinew_builder_ignored *ignored = &builder->ignored[slot];
    snprintf(ignored->name, sizeof ignored->name, "%s", name);
    ignored->count = ignored->count > INT64_MAX - count ? INT64_MAX : ignored->count + count;
    if (slot == builder->ignored_count)
        builder->ignored_count++;
}

static bool add_count_warning(sinew_mesh *mesh, const char *before, int64_t count, const char *after)
{
    return count == 0 || sinew_mesh_add_warning(mesh, "%s %lld %s", before, (long long)count, after) == SINEW_OK;
}

static bool add_builder_warnings(const sinew_builder *builder, sinew_mesh *mesh)
{
    bool good = true;
    for (int32_t i = 0; i < builder->ignored_count; i++)
        good = good && add_count_warning(mesh, "ignored", builder->ignored[i].count, builder->ignored[i].name);
    good = good && add_count_warning(mesh, "cut", builder->cut_count, "polygons into triangles");
    good = good &&
           add_count_warning(mesh, "read", builder->shortened_count, "second-order tetrahedra as their four corners");
    good = good && add_count_warning(mesh, "merged", builder->merged_count, "vertices that the file repeats");
    if (!good)
        sinew_fail_memory(builder->error, "the notes");
    return good;
}

/* Moves the builder's array *builder_slot to *slot of the mesh, whose old array is released. A copy would double the
 * memory of a large mesh. */
static void move_array_to_mesh(const sinew_allocator *allocator, void *slot, void *builder_slot)
{
    void **array = slot, **built = builder_slot;
    if (!*built)
        return;
    sinew_release(allocator, *array);
    *array = *built;
    *built = NULL;
}

static void move_arrays_to_mesh(sinew_builder *builder, sinew_mesh *mesh)
{
    const sinew_allocator *allocator = &builder->allocator;
    move_array_to_mesh(allocator, &mesh->positions, &builder->positions);
    move_array_to_mesh(allocator, &mesh->edges, &builder->cells[SINEW_BUILDER_EDGE].indices);
    move_array_to_mesh(allocator, &mesh->triangles, &builder->cells[SINEW_BUILDER_TRIANGLE].indices);
    move_array_to_mesh(allocator, &mesh->tets, &builder->cells[SINEW_BUILDER_TET].indices);
    mesh->vertex_count = (int32_t)builder->vertex_count;
    mesh->edge_count = (int32_t)builder->cells[SINEW_BUILDER_EDGE].count;
    mesh->triangle_count = (int32_t)builder->cells[SINEW_BUILDER_TRIANGLE].count;
    mesh->tet_count = (int32_t)builder->cells[SINEW_BUILDER_TET].count;
}

sinew_mesh *sinew_builder_finish(sinew_builder *builder, const char *name)
{
    if (builder->vertex_count == 0) {
        sinew_fail(builder->error, SINEW_ERROR_FORMAT, "%s: holds no vertices", name);
        return NULL;
    }
    sinew_mesh *mesh = sinew_mesh_allocate(&builder->allocator, 0, 0, 0, 0, builder->error);
    if (!mesh)
        return NULL;
    move_arrays_to_mesh(builder, mesh);
    if (sinew_mesh_validate(mesh, builder->error) != SINEW_OK || !copy_fractions_to_mesh(builder, mesh) ||
        !add_builder_warnings(builder, mesh)) {
        sinew_mesh_destroy(mesh);
        return NULL;
    }
    return mesh;
}
