/* SPDX-License-Identifier: MIT
 *
 * rod_cells.c: finds the cells of shells and rods by the directors of a mesh. See rod_frames.h.
 */
#include <string.h>

#include "mesh/topology/facets.h"
#include "mesh/topology/rod_frames.h"
#include "base/sort_pairs.h"

/* Index of directors, sorted by their edges. */
typedef struct director_index {
    /* [2 * count] sort keys, major: lower and higher end of the edge, minor: the director; then a buffer for sorting */
    sinew_pair *keys;
    size_t count;
} director_index;

static uint64_t edge_key(int32_t a, int32_t b)
{
    return a < b ? sinew_pack(a, b) : sinew_pack(b, a);
}

static sinew_status require_directors(const sinew_mesh *mesh, sinew_error *error)
{
    return mesh->director_count > 0
               ? SINEW_OK
               : sinew_fail(error, SINEW_ERROR_DATA,
                            "the mesh has no directors; sinew_mesh_with_directors() (\"directors\": true in a scene's "
                            "mesh) makes them");
}

static sinew_status index_directors(director_index *index, const sinew_allocator *allocator, const sinew_mesh *mesh,
                                    sinew_error *error)
{
    index->count = (size_t)mesh->director_count;
    index->keys = sinew_allocate(allocator, 2 * index->count, sizeof *index->keys);
    if (!index->keys)
        return sinew_fail_memory(error, "the elements of an energy");
    for (size_t i = 0; i < index->count; i++) {
        const int32_t *director = mesh->directors + 3 * i;
        index->keys[i] = (sinew_pair){edge_key(director[0], director[1]), i};
    }
    sinew_sort_pairs(index->keys, index->count, index->keys + index->count);
    return SINEW_OK;
}

/* Returns the director point of the edge a b, or -1. */
static int32_t director_of(const director_index *index, const sinew_mesh *mesh, int32_t a, int32_t b)
{
    const uint64_t key = edge_key(a, b);
    size_t low = 0, high = index->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (index->keys[middle].major < key)
            low = middle + 1;
        else
            high = middle;
    }
    const bool found = low < index->count && index->keys[low].major == key;
    return found ? mesh->directors[3 * index->keys[low].minor + 2] : -1;
}

static sinew_status write_shells(const director_index *index, const sinew_mesh *mesh, int32_t *cells,
                                 sinew_error *error)
{
    for (int32_t t = 0; t < mesh->triangle_count; t++) {
        const int32_t *triangle = mesh->triangles + 3 * (size_t)t;
        int32_t *cell = cells + 6 * (size_t)t;
        memcpy(cell, triangle, 3 * sizeof *cell);
        for (int i = 0; i < 3; i++) {
            const int32_t a = triangle[(i + 1) % 3], b = triangle[(i + 2) % 3];
            cell[3 + i] = director_of(index, mesh, a, b);
            if (cell[3 + i] < 0)
                return sinew_fail(error, SINEW_ERROR_DATA,
                                  "triangle %d: its edge (%d, %d) has no director; sinew_mesh_with_directors() makes "
                                  "them for all edges",
                                  t, a, b);
        }
    }
    return SINEW_OK;
}

sinew_status sinew_find_shells(const sinew_allocator *allocator, const sinew_mesh *mesh, int32_t n, int32_t **cells,
                               int32_t *count, sinew_error *error)
{
    director_index index = {0};
    sinew_status status = require_directors(mesh, error);
    if (status == SINEW_OK)
        status = index_directors(&index, allocator, mesh, error);
    if (status == SINEW_OK) {
        *cells = sinew_allocate(allocator, (size_t)mesh->triangle_count * (size_t)n, sizeof **cells);
        status =
            *cells ? write_shells(&index, mesh, *cells, error) : sinew_fail_memory(error, "the elements of an energy");
    }
    sinew_release(allocator, index.keys);
    *count = mesh->triangle_count;
    return status;
}

typedef struct shell_pairs {
    const sinew_mesh *mesh;
    const director_index *index;
    int32_t *cells; /* [8 * count] points of the pairs */
    int32_t count;
} shell_pairs;

/* Adds a pair for an edge of two triangles. sinew_mesh_with_directors() refuses edges of more than two; edges of one
 * triangle have no pair. */
static void add_shell_pair(void *context, const int32_t *edge, const sinew_pair *uses, size_t use_count)
{
    shell_pairs *pairs = context;
    if (use_count != 2)
        return;
    int32_t *cell = pairs->cells + 8 * (size_t)pairs->count++;
    const int32_t c = pairs->mesh->triangles[uses[0].minor], d = pairs->mesh->triangles[uses[1].minor];
    memcpy(cell, (const int32_t[4]){edge[0], edge[1], c, d}, 4 * sizeof *cell);
    cell[4] = director_of(pairs->index, pairs->mesh, edge[1], c);
    cell[5] = director_of(pairs->index, pairs->mesh, c, edge[0]);
    cell[6] = director_of(pairs->index, pairs->mesh, edge[0], d);
    cell[7] = director_of(pairs->index, pairs->mesh, d, edge[1]);
}

static sinew_status check_shell_pairs(const shell_pairs *pairs, sinew_error *error)
{
    for (int32_t i = 0; i < pairs->count; i++) {
        const int32_t *cell = pairs->cells + 8 * (size_t)i;
        for (int k = 4; k < 8; k++)
            if (cell[k] < 0)
                return sinew_fail(error, SINEW_ERROR_DATA,
                                  "the triangles at the edge (%d, %d): one of their edges has no director; "
                                  "sinew_mesh_with_directors() makes them for all edges",
                                  cell[0], cell[1]);
    }
    return SINEW_OK;
}

sinew_status sinew_find_shell_pairs(const sinew_allocator *allocator, const sinew_mesh *mesh, int32_t n,
                                    int32_t **cells, int32_t *count, sinew_error *error)
{
    director_index index = {0};
    shell_pairs pairs = {.mesh = mesh, .index = &index};
    const sinew_elements triangles = {mesh->triangles, mesh->triangle_count, 3};
    sinew_status status = require_directors(mesh, error);
    if (status == SINEW_OK)
        status = index_directors(&index, allocator, mesh, error);
    if (status == SINEW_OK) {
        /* Triangles have 3 sides each, and a pair takes two sides, one of each of its triangles. */
        const size_t pair_max = (size_t)mesh->triangle_count * 3 / 2;
        *cells = pairs.cells = sinew_allocate(allocator, pair_max * (size_t)n, sizeof **cells);
        status = pairs.cells
                     ? sinew_visit_facets(allocator, mesh->vertex_count, &triangles, add_shell_pair, &pairs, error)
                     : sinew_fail_memory(error, "the elements of an energy");
    }
    if (status == SINEW_OK)
        status = check_shell_pairs(&pairs, error);
    sinew_release(allocator, index.keys);
    *count = pairs.count;
    return status;
}

/* Writes a rod cell for each pair of consecutive edges at a vertex. */
static void write_rods(const sinew_mesh *mesh, const sinew_incidence *at, int32_t *cell)
{
    for (int32_t v = 0; v < mesh->vertex_count; v++)
        for (int64_t i = at->first[v]; i + 1 < at->first[v + 1]; i++, cell += 5) {
            const int32_t *one = mesh->directors + 3 * (size_t)at->elements[i];
            const int32_t *two = mesh->directors + 3 * (size_t)at->elements[i + 1];
            /* The rod cell follows the direction of its two edges if both agree: the first edge ends at v. */
            const bool swap = one[1] != v && two[1] == v;
            const int32_t *from = swap ? two : one, *to = swap ? one : two;
            cell[0] = from[0] == v ? from[1] : from[0];
            cell[1] = v;
            cell[2] = to[0] == v ? to[1] : to[0];
            cell[3] = from[2];
            cell[4] = to[2];
        }
}

/* Returns a copy of the two vertices of every director's edge. */
static int32_t *director_edges(const sinew_allocator *allocator, const sinew_mesh *mesh)
{
    const size_t count = (size_t)mesh->director_count;
    int32_t *edges = sinew_allocate(allocator, 2 * count, sizeof *edges);
    for (size_t i = 0; edges && i < count; i++)
        memcpy(edges + 2 * i, mesh->directors + 3 * i, 2 * sizeof *edges);
    return edges;
}

sinew_status sinew_find_rods(const sinew_allocator *allocator, const sinew_mesh *mesh, int32_t n, int32_t **cells,
                             int32_t *count, sinew_error *error)
{
    sinew_incidence at = {0};
    sinew_status status = require_directors(mesh, error);
    if (status != SINEW_OK)
        return status;
    int32_t *edges = director_edges(allocator, mesh);
    const sinew_elements elements = {edges, mesh->director_count, 2};
    status = edges ? sinew_incidence_build(&at, allocator, mesh->vertex_count, &elements, error)
                   : sinew_fail_memory(error, "the elements of an energy");
    *count = 0;
    for (int32_t v = 0; status == SINEW_OK && v < mesh->vertex_count; v++)
        if (at.first[v + 1] > at.first[v])
            *count += (int32_t)(at.first[v + 1] - at.first[v]) - 1;
    if (status == SINEW_OK) {
        *cells = sinew_allocate(allocator, (size_t)*count * (size_t)n, sizeof **cells);
        if (*cells)
            write_rods(mesh, &at, *cells);
        else
            status = sinew_fail_memory(error, "the elements of an energy");
    }
    sinew_incidence_free(&at, allocator);
    sinew_release(allocator, edges);
    return status;
}

sinew_status sinew_find_directors(const sinew_allocator *allocator, const sinew_mesh *mesh, int32_t n, int32_t **cells,
                                  int32_t *count, sinew_error *error)
{
    sinew_status status = require_directors(mesh, error);
    if (status != SINEW_OK)
        return status;
    const size_t entries = (size_t)mesh->director_count * (size_t)n;
    *cells = sinew_allocate(allocator, entries, sizeof **cells);
    if (!*cells)
        return sinew_fail_memory(error, "the elements of an energy");
    memcpy(*cells, mesh->directors, entries * sizeof **cells);
    *count = mesh->director_count;
    return SINEW_OK;
}
