/* SPDX-License-Identifier: MIT
 *
 * builder.c: growing arrays of points and cells, polygons cut into triangles, and the notes.
 *
 * Polygons are cut by ear clipping in the plane of their Newell normal (Sutherland, Sproull and Schumacker 1974 give
 * the normal; Meisters 1975 the ears), which keeps concave faces of modellers right. Known limit: a polygon that
 * crosses itself, or has more than 256 corners, is cut as a fan from its first corner.
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

void sinew_draft_open(sinew_draft *draft, const sinew_allocator *allocator, sinew_error *error)
{
    memset(draft, 0, sizeof *draft);
    draft->allocator = sinew_allocator_or_system(allocator);
    draft->error = error;
}

void sinew_draft_close(sinew_draft *draft)
{
    sinew_release(&draft->allocator, draft->positions);
    draft->positions = NULL;
    sinew_release(&draft->allocator, draft->fractions);
    draft->fractions = NULL;
    for (int kind = 0; kind < SINEW_DRAFT_KINDS; kind++) {
        sinew_release(&draft->allocator, draft->cells[kind].indices);
        draft->cells[kind].indices = NULL;
    }
}

/* ---- Growing arrays ------------------------------------------------------------------------ */

/* The capacity that holds `needed`, at least half as large again as before; -1 past 2^31 - 1. */
static int64_t grown(int64_t capacity, int64_t needed)
{
    if (needed > INT32_MAX)
        return -1;
    int64_t target = capacity + capacity / 2 + 64;
    target = target < needed ? needed : target;
    return target < INT32_MAX ? target : INT32_MAX;
}

static bool too_many(const sinew_draft *draft, const char *what)
{
    sinew_fail(draft->error, SINEW_ERROR_DATA, "the file holds more than 2147483647 %s: split it", what);
    return false;
}

static bool resize_vertices(sinew_draft *draft, int64_t capacity)
{
    if (capacity < 0)
        return too_many(draft, "vertices");
    sinew_real *positions = sinew_reallocate(&draft->allocator, draft->positions, (size_t)draft->vertex_count * 3,
                                             (size_t)capacity * 3, sizeof *positions);
    if (!positions) {
        sinew_fail_memory(draft->error, "the vertices");
        return false;
    }
    draft->positions = positions;
    draft->vertex_capacity = capacity;
    return true;
}

static bool resize_cells(sinew_draft *draft, int kind, int64_t capacity)
{
    if (capacity < 0)
        return too_many(draft, "cells");
    sinew_draft_cells *cells = &draft->cells[kind];
    size_t corners = (size_t)kind + 2;
    int32_t *indices = sinew_reallocate(&draft->allocator, cells->indices, (size_t)cells->count * corners,
                                        (size_t)capacity * corners, sizeof *indices);
    if (!indices) {
        sinew_fail_memory(draft->error, "the cells");
        return false;
    }
    cells->indices = indices;
    cells->capacity = capacity;
    return true;
}

bool sinew_draft_reserve_vertices(sinew_draft *draft, int64_t count)
{
    if (count <= draft->vertex_capacity - draft->vertex_count)
        return true;
    return resize_vertices(draft, grown(draft->vertex_capacity, draft->vertex_count + count));
}

bool sinew_draft_reserve_cells(sinew_draft *draft, int kind, int64_t count)
{
    const sinew_draft_cells *cells = &draft->cells[kind];
    if (count <= cells->capacity - cells->count)
        return true;
    return resize_cells(draft, kind, grown(cells->capacity, cells->count + count));
}

bool sinew_draft_reserve_corners(const sinew_draft *draft, int32_t **corners, int64_t *capacity, int64_t count)
{
    if (count <= *capacity)
        return true;
    int32_t *grown = sinew_reallocate(&draft->allocator, *corners, 0, (size_t)count, sizeof *grown);
    if (!grown) {
        sinew_fail_memory(draft->error, "the corners of a cell");
        return false;
    }
    *corners = grown;
    *capacity = count;
    return true;
}

bool sinew_draft_add_vertex(sinew_draft *draft, const sinew_real point[3])
{
    int64_t at = draft->vertex_count;
    if (at == draft->vertex_capacity && !resize_vertices(draft, grown(at, at + 1)))
        return false;
    memcpy(draft->positions + 3 * at, point, 3 * sizeof *point);
    draft->vertex_count++;
    return true;
}

static bool put_cell(sinew_draft *draft, int kind, const int32_t *indices)
{
    sinew_draft_cells *cells = &draft->cells[kind];
    int64_t at = cells->count;
    if (at == cells->capacity && !resize_cells(draft, kind, grown(at, at + 1)))
        return false;
    size_t corners = (size_t)kind + 2;
    memcpy(cells->indices + corners * (size_t)at, indices, corners * sizeof *indices);
    cells->count++;
    return true;
}

/* A triangle with these corners of a face. */
static bool put_triangle(sinew_draft *draft, const int32_t *corners, int64_t a, int64_t b, int64_t c)
{
    return put_cell(draft, SINEW_DRAFT_TRIANGLE, (int32_t[]){corners[a], corners[b], corners[c]}) &&
           sinew_skin_draft_triangle(draft, a, b, c);
}

bool sinew_draft_add_cell(sinew_draft *draft, int kind, const int32_t *indices)
{
    if (kind != SINEW_DRAFT_TRIANGLE)
        return put_cell(draft, kind, indices);
    return sinew_skin_draft_face(draft, indices, 3) && put_triangle(draft, indices, 0, 1, 2);
}

bool sinew_draft_set_fraction(sinew_draft *draft, int64_t tet, double fraction)
{
    if (tet >= draft->fraction_capacity) {
        const int64_t capacity = draft->cells[SINEW_DRAFT_TET].capacity;
        sinew_real *fractions = sinew_reallocate(&draft->allocator, draft->fractions, (size_t)draft->fraction_capacity,
                                                 (size_t)capacity, sizeof *fractions);
        if (!fractions) {
            sinew_fail_memory(draft->error, "the filled fractions of a mesh");
            return false;
        }
        for (int64_t t = draft->fraction_capacity; t < capacity; t++)
            fractions[t] = 1;
        draft->fractions = fractions;
        draft->fraction_capacity = capacity;
    }
    draft->fractions[tet] = (sinew_real)fraction;
    return true;
}

/* The fractions of all tets go to the mesh; tets without one are filled. */
static bool hand_over_fractions(sinew_draft *draft, sinew_mesh *mesh)
{
    const int64_t count = draft->cells[SINEW_DRAFT_TET].count;
    if (!draft->fractions || count == 0)
        return true;
    if (count > draft->fraction_capacity && !sinew_draft_set_fraction(draft, count - 1, 1))
        return false;
    return sinew_mesh_set_fractions(mesh, draft->fractions, draft->error) == SINEW_OK;
}

/* ---- Polygons ------------------------------------------------------------------------------ */

bool sinew_draft_add_line(sinew_draft *draft, const int32_t *corners, int64_t count, bool closed)
{
    for (int64_t i = 0; i + 1 < count; i++)
        if (!sinew_draft_add_cell(draft, SINEW_DRAFT_EDGE, corners + i))
            return false;
    if (!closed || count < 3)
        return true;
    return sinew_draft_add_cell(draft, SINEW_DRAFT_EDGE, (int32_t[]){corners[count - 1], corners[0]});
}

bool sinew_draft_add_strip(sinew_draft *draft, const int32_t *corners, int64_t count)
{
    for (int64_t i = 0; i + 2 < count; i++) {
        int32_t triangle[3] = {corners[i], corners[i + 1 + i % 2], corners[i + 2 - i % 2]};
        if (!sinew_draft_add_cell(draft, SINEW_DRAFT_TRIANGLE, triangle))
            return false;
    }
    return true;
}

static bool add_fan(sinew_draft *draft, const int32_t *corners, int64_t count)
{
    for (int64_t i = 1; i + 1 < count; i++)
        if (!put_triangle(draft, corners, 0, i, i + 1))
            return false;
    return true;
}

typedef struct flat_point {
    double x, y;
    int32_t vertex, corner;
} flat_point;

/* Drops the axis along which the Newell normal is largest; keeps the turning sense. */
static void flatten(const sinew_draft *draft, const int32_t *corners, int64_t count, flat_point *flat)
{
    double normal[3] = {0, 0, 0};
    for (int64_t i = 0; i < count; i++) {
        const sinew_real *p = draft->positions + 3 * (int64_t)corners[i];
        const sinew_real *q = draft->positions + 3 * (int64_t)corners[(i + 1) % count];
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
        const sinew_real *p = draft->positions + 3 * (int64_t)corners[i];
        flat[i] = (flat_point){p[x], sign * p[y], corners[i], (int32_t)i};
    }
}

static double turn(flat_point a, flat_point b, flat_point c)
{
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/* An ear turns left and has no other corner inside or on its border, its own three apart. */
static bool is_ear(const flat_point *flat, int64_t count, int64_t at)
{
    flat_point a = flat[(at + count - 1) % count], b = flat[at], c = flat[(at + 1) % count];
    if (turn(a, b, c) <= 0)
        return false;
    for (int64_t i = 0; i < count; i++) {
        flat_point p = flat[i];
        if (p.vertex == a.vertex || p.vertex == b.vertex || p.vertex == c.vertex)
            continue;
        if (turn(a, b, p) >= 0 && turn(b, c, p) >= 0 && turn(c, a, p) >= 0)
            return false;
    }
    return true;
}

/* Looks for ears from the second corner on, so that a convex polygon becomes the fan from its first corner. */
static int64_t find_ear(const flat_point *flat, int64_t count)
{
    for (int64_t i = 1; i <= count; i++)
        if (is_ear(flat, count, i % count))
            return i % count;
    return -1;
}

static bool clip_ears(sinew_draft *draft, const int32_t *corners, int64_t count)
{
    flat_point flat[EAR_CORNERS_MAX];
    int64_t first_triangle = draft->cells[SINEW_DRAFT_TRIANGLE].count;
    flatten(draft, corners, count, flat);
    for (int64_t left = count; left >= 3; left--) {
        int64_t ear = left == 3 ? 1 : find_ear(flat, left);
        if (ear < 0) {
            draft->cells[SINEW_DRAFT_TRIANGLE].count = first_triangle;
            return add_fan(draft, corners, count);
        }
        if (!put_triangle(draft, corners, flat[(ear + left - 1) % left].corner, flat[ear].corner,
                          flat[(ear + 1) % left].corner))
            return false;
        memmove(flat + ear, flat + ear + 1, (size_t)(left - ear - 1) * sizeof *flat);
    }
    return true;
}

bool sinew_draft_add_polygon(sinew_draft *draft, const int32_t *corners, int64_t count)
{
    if (count < 2) {
        sinew_draft_ignore(draft, "points", count);
        return true;
    }
    if (count <= 3)
        return sinew_draft_add_cell(draft, count == 2 ? SINEW_DRAFT_EDGE : SINEW_DRAFT_TRIANGLE, corners);
    if (!sinew_skin_draft_face(draft, corners, count))
        return false;
    draft->cut_count++;
    return count <= EAR_CORNERS_MAX ? clip_ears(draft, corners, count) : add_fan(draft, corners, count);
}

/* ---- Notes and the mesh -------------------------------------------------------------------- */

void sinew_draft_ignore(sinew_draft *draft, const char *name, int64_t count)
{
    if (count <= 0)
        return;
    int32_t slot = 0;
    while (slot < draft->ignored_count && strcmp(draft->ignored[slot].name, name) != 0)
        slot++;
    if (slot == SINEW_DRAFT_IGNORED_MAX) {
        slot = SINEW_DRAFT_IGNORED_MAX - 1;
        name = "cells of yet other kinds";
    }
    sinew_draft_ignored *ignored = &draft->ignored[slot];
    snprintf(ignored->name, sizeof ignored->name, "%s", name);
    ignored->count = ignored->count > INT64_MAX - count ? INT64_MAX : ignored->count + count;
    if (slot == draft->ignored_count)
        draft->ignored_count++;
}

static bool add_count_note(sinew_mesh *mesh, const char *before, int64_t count, const char *after)
{
    return count == 0 || sinew_mesh_add_note(mesh, "%s %lld %s", before, (long long)count, after) == SINEW_OK;
}

static bool add_notes(const sinew_draft *draft, sinew_mesh *mesh)
{
    bool good = true;
    for (int32_t i = 0; i < draft->ignored_count; i++)
        good = good && add_count_note(mesh, "ignored", draft->ignored[i].count, draft->ignored[i].name);
    good = good && add_count_note(mesh, "cut", draft->cut_count, "polygons into triangles");
    good =
        good && add_count_note(mesh, "read", draft->shortened_count, "second-order tetrahedra as their four corners");
    good = good && add_count_note(mesh, "merged", draft->merged_count, "vertices that the file repeats");
    if (!good)
        sinew_fail_memory(draft->error, "the notes");
    return good;
}

/* The mesh takes the array over: two copies of a large mesh at once are more than a reader may ask for. */
static void hand_over(const sinew_allocator *allocator, void *slot, void *draft_slot)
{
    void **array = slot, **drafted = draft_slot;
    if (!*drafted)
        return;
    sinew_release(allocator, *array);
    *array = *drafted;
    *drafted = NULL;
}

static void hand_over_all(sinew_draft *draft, sinew_mesh *mesh)
{
    const sinew_allocator *allocator = &draft->allocator;
    hand_over(allocator, &mesh->positions, &draft->positions);
    hand_over(allocator, &mesh->edges, &draft->cells[SINEW_DRAFT_EDGE].indices);
    hand_over(allocator, &mesh->triangles, &draft->cells[SINEW_DRAFT_TRIANGLE].indices);
    hand_over(allocator, &mesh->tets, &draft->cells[SINEW_DRAFT_TET].indices);
    mesh->vertex_count = (int32_t)draft->vertex_count;
    mesh->edge_count = (int32_t)draft->cells[SINEW_DRAFT_EDGE].count;
    mesh->triangle_count = (int32_t)draft->cells[SINEW_DRAFT_TRIANGLE].count;
    mesh->tet_count = (int32_t)draft->cells[SINEW_DRAFT_TET].count;
}

sinew_mesh *sinew_draft_finish(sinew_draft *draft, const char *name)
{
    if (draft->vertex_count == 0) {
        sinew_fail(draft->error, SINEW_ERROR_FORMAT, "%s: holds no vertices", name);
        return NULL;
    }
    sinew_mesh *mesh = sinew_mesh_allocate(&draft->allocator, 0, 0, 0, 0, draft->error);
    if (!mesh)
        return NULL;
    hand_over_all(draft, mesh);
    if (sinew_mesh_validate(mesh, draft->error) != SINEW_OK || !hand_over_fractions(draft, mesh) ||
        !add_notes(draft, mesh)) {
        sinew_mesh_destroy(mesh);
        return NULL;
    }
    return mesh;
}
