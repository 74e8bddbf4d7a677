/* SPDX-License-Identifier: MIT
 *
 * collision_mesh.c: edges, cells, owners and neighbours of the surfaces that touch.
 *
 * Sides of all cells are sorted by their vertices, so that equal ones stand together: each run becomes an edge, owned
 * by the lowest cell that has it, with the vertices opposite to it in the first two triangles as wings. Edges are thus
 * in the order of their vertices, and neighbours of a vertex ascend.
 *
 * Limits: an edge of more than two triangles has two wings all the same. A lone edge that repeats another edge owns
 * nothing and is not marked, so no pair is found twice through it.
 */
#include "collide/collision_mesh.h"

#include <string.h>

#include "mesh/sort_pairs.h"

typedef struct feature_draft {
    sinew_features *f;
    const sinew_object_cells *cells;
    const bool *lone_vertices;
    uint8_t *used;     /* [vertex_count] vertices that a cell has */
    sinew_pair *sides; /* [3 * cell_count] packed vertices; 4 * cell + side */
    sinew_pair *spare; /* the same, for sorting */
    size_t side_count;
} feature_draft;

/* ---- Cells ------------------------------------------------------------------------------------ */

static bool is_triangle(const int32_t *t)
{
    return t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
}

static void put_cell(feature_draft *d, int32_t a, int32_t b, int32_t c)
{
    sinew_features *f = d->f;
    const int32_t cell[3] = {a, b, c};
    for (int i = 0; i < 3; i++)
        d->used[cell[i]] = 1;
    if (f->cells)
        memcpy(f->cells[f->cell_count], cell, sizeof cell);
    f->cell_count++;
}

/* Triangles, lone edges, lone vertices of an object; without an array of cells they are counted. */
static void put_object(feature_draft *d, int32_t o)
{
    const int32_t first = d->f->objects[o].first_vertex;
    const sinew_object_cells *own = d->cells + o;
    for (int32_t i = 0; i < own->triangle_count; i++) {
        const int32_t *t = own->triangles + 3 * (size_t)i;
        if (is_triangle(t))
            put_cell(d, first + t[0], first + t[1], first + t[2]);
    }
    for (int32_t i = 0; i < own->edge_count; i++) {
        const int32_t *e = own->edges + 2 * (size_t)i;
        if (e[0] != e[1])
            put_cell(d, first + e[0], first + e[1], first + e[1]);
    }
    for (int32_t v = first; d->lone_vertices[o] && v < first + d->f->objects[o].vertex_count; v++)
        if (!d->used[v])
            put_cell(d, v, v, v);
}

static void put_cells(feature_draft *d)
{
    d->f->cell_count = 0;
    memset(d->used, 0, (size_t)d->f->vertex_count);
    for (int32_t o = 0; o < d->f->object_count; o++)
        put_object(d, o);
}

static bool make_cells(feature_draft *d)
{
    sinew_features *f = d->f;
    put_cells(d);
    const size_t count = (size_t)f->cell_count;
    f->cells = sinew_allocate(&f->allocator, count, sizeof *f->cells);
    f->sides = sinew_allocate(&f->allocator, count, sizeof *f->sides);
    f->flags = sinew_allocate_zero(&f->allocator, count, sizeof *f->flags);
    d->sides = sinew_allocate(&f->allocator, 6 * count, sizeof *d->sides);
    if (!f->cells || !f->sides || !f->flags || !d->sides)
        return false;
    d->spare = d->sides + 3 * count;
    put_cells(d);
    return true;
}

/* ---- Edges ------------------------------------------------------------------------------------ */

static void collect_sides(feature_draft *d)
{
    const sinew_features *f = d->f;
    for (int32_t cell = 0; cell < f->cell_count; cell++) {
        const int32_t *v = f->cells[cell];
        for (int i = 0; i < 3; i++) {
            const int32_t a = v[i], b = v[(i + 1) % 3];
            f->sides[cell][i] = -1;
            if (a == b || (i == 2 && v[1] == v[2]))
                continue;
            const uint64_t ends = sinew_pack(a < b ? a : b, a < b ? b : a);
            d->sides[d->side_count++] = (sinew_pair){ends, 4 * (uint64_t)cell + (uint64_t)i};
        }
    }
    sinew_sort_pairs(d->sides, d->side_count, d->spare);
}

/* The end of the run of equal sides that begins at `begin`. */
static size_t run_end(const feature_draft *d, size_t begin)
{
    size_t end = begin + 1;
    while (end < d->side_count && d->sides[end].major == d->sides[begin].major)
        end++;
    return end;
}

/* Fills edge e from the run of its sides, whose first is the owner's. */
static void put_edge(sinew_features *f, int32_t e, const sinew_pair *sides, size_t count)
{
    f->edges[e][0] = (int32_t)(sides[0].major >> 32);
    f->edges[e][1] = (int32_t)(sides[0].major & UINT32_MAX);
    f->wings[e][0] = f->wings[e][1] = -1;
    int wing = 0;
    for (size_t n = 0; n < count; n++) {
        const size_t cell = (size_t)(sides[n].minor / 4), side = (size_t)(sides[n].minor % 4);
        const int32_t *v = f->cells[cell];
        f->sides[cell][side] = e;
        if (n == 0)
            f->flags[cell] |= (uint8_t)(SINEW_OWNS_EDGE << side);
        if (is_triangle(v) && wing < 2)
            f->wings[e][wing++] = v[(side + 2) % 3];
    }
}

static bool make_edges(feature_draft *d)
{
    sinew_features *f = d->f;
    collect_sides(d);
    size_t count = 0;
    for (size_t at = 0; at < d->side_count; at = run_end(d, at))
        count++;
    f->edge_count = (int32_t)count;
    f->edges = sinew_allocate(&f->allocator, count, sizeof *f->edges);
    f->wings = sinew_allocate(&f->allocator, count, sizeof *f->wings);
    if (!f->edges || !f->wings)
        return false;
    int32_t e = 0;
    for (size_t at = 0, end; at < d->side_count; at = end) {
        end = run_end(d, at);
        put_edge(f, e++, d->sides + at, end - at);
    }
    return true;
}

/* ---- Owners and neighbours -------------------------------------------------------------------- */

static void mark_cells(feature_draft *d)
{
    sinew_features *f = d->f;
    memset(d->used, 0, (size_t)f->vertex_count);
    for (int32_t cell = 0; cell < f->cell_count; cell++) {
        const int32_t *v = f->cells[cell];
        for (int i = 0; i < 3; i++) {
            if (!d->used[v[i]])
                f->flags[cell] |= (uint8_t)(SINEW_OWNS_VERTEX << i);
            d->used[v[i]] = 1;
        }
        if (is_triangle(v))
            f->flags[cell] |= SINEW_IS_FACE;
        else if (v[0] != v[1] && f->flags[cell] & SINEW_OWNS_EDGE)
            f->flags[cell] |= SINEW_IS_LONE_EDGE;
    }
}

static bool make_neighbours(sinew_features *f)
{
    const size_t vertices = (size_t)f->vertex_count;
    f->first_neighbour = sinew_allocate_zero(&f->allocator, vertices + 2, sizeof *f->first_neighbour);
    f->neighbours = sinew_allocate(&f->allocator, 2 * (size_t)f->edge_count, sizeof *f->neighbours);
    if (!f->first_neighbour || !f->neighbours)
        return false;
    /* Counted two places further on and filled one place further on, so that the places end up where they belong. */
    int32_t *next = f->first_neighbour + 1;
    for (int32_t e = 0; e < f->edge_count; e++)
        for (int i = 0; i < 2; i++)
            next[f->edges[e][i] + 1]++;
    for (size_t v = 0; v < vertices; v++)
        next[v + 1] += next[v];
    for (int32_t e = 0; e < f->edge_count; e++)
        for (int i = 0; i < 2; i++)
            f->neighbours[next[f->edges[e][i]]++] = f->edges[e][1 - i];
    return true;
}

/* ---- Objects ---------------------------------------------------------------------------------- */

static bool make_objects(sinew_features *f, const sinew_touch_object *objects, int32_t count)
{
    f->object_count = count;
    for (int32_t o = 0; o < count; o++) {
        f->vertex_count += objects[o].vertex_count;
        f->moved_count += objects[o].kinematic ? 0 : objects[o].vertex_count;
    }
    const size_t vertices = (size_t)f->vertex_count;
    f->objects = sinew_allocate(&f->allocator, (size_t)count, sizeof *f->objects);
    f->touches = sinew_allocate_zero(&f->allocator, (size_t)count * (size_t)count, sizeof *f->touches);
    f->object = sinew_allocate(&f->allocator, vertices, sizeof *f->object);
    f->particle = sinew_allocate_zero(&f->allocator, (size_t)f->moved_count, sizeof *f->particle);
    f->rest = sinew_allocate_zero(&f->allocator, 4 * vertices, sizeof *f->rest);
    if (!f->objects || !f->touches || !f->object || !f->particle || !f->rest)
        return false;
    for (int32_t o = 0; o < count; o++) {
        f->objects[o] = objects[o];
        for (int32_t v = 0; v < objects[o].vertex_count; v++)
            f->object[objects[o].first_vertex + v] = o;
    }
    return true;
}

sinew_status sinew_features_create(sinew_features *features, const sinew_allocator *allocator,
                                   const sinew_touch_object *objects, const sinew_object_cells *cells,
                                   const bool *lone_vertices, int32_t object_count, sinew_error *error)
{
    *features = (sinew_features){.allocator = sinew_allocator_or_system(allocator)};
    feature_draft d = {.f = features, .cells = cells, .lone_vertices = lone_vertices};
    bool made = make_objects(features, objects, object_count);
    if (made) {
        d.used = sinew_allocate(&features->allocator, (size_t)features->vertex_count, sizeof *d.used);
        made = d.used && make_cells(&d) && make_edges(&d) && make_neighbours(features);
    }
    if (made)
        mark_cells(&d);
    sinew_release(&features->allocator, d.used);
    sinew_release(&features->allocator, d.sides);
    if (made)
        return SINEW_OK;
    sinew_features_destroy(features);
    return sinew_fail_memory(error, "the surfaces that touch");
}

void sinew_features_destroy(sinew_features *features)
{
    void *const blocks[] = {features->objects, features->touches, features->object,          features->particle,
                            features->rest,    features->edges,   features->wings,           features->cells,
                            features->sides,   features->flags,   features->first_neighbour, features->neighbours};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        sinew_release(&features->allocator, blocks[i]);
    memset(features, 0, sizeof *features);
}
