/* SPDX-License-Identifier: MIT
 *
 * stencil.c: the table of stencils, and how each one's cells are found in a mesh. See stencil.h.
 */
#include "mesh/stencil.h"

#include <stdatomic.h>
#include <string.h>

#include "mesh/facets.h"
#include "mesh/mesh.h"

/* ---- Cells of a mesh --------------------------------------------------------------------------- */

static sinew_status copy_cells(const sinew_allocator *allocator, const int32_t *from, int32_t from_count, int32_t n,
                               int32_t **cells, int32_t *count, sinew_error *error)
{
    const size_t entries = (size_t)from_count * (size_t)n;
    *cells = sinew_allocate(allocator, entries, sizeof **cells);
    if (!*cells)
        return sinew_fail_memory(error, "the elements of an energy");
    if (entries > 0)
        memcpy(*cells, from, entries * sizeof **cells);
    *count = from_count;
    return SINEW_OK;
}

static sinew_status find_tets(const sinew_allocator *allocator, const sinew_mesh *mesh, int32_t n, int32_t **cells,
                              int32_t *count, sinew_error *error)
{
    return copy_cells(allocator, mesh->tets, mesh->tet_count, n, cells, count, error);
}

/* The mesh's own edges, or those of all cells where it has none. */
static sinew_status find_edges(const sinew_allocator *allocator, const sinew_mesh *mesh, int32_t n, int32_t **cells,
                               int32_t *count, sinew_error *error)
{
    if (mesh->edge_count > 0)
        return copy_cells(allocator, mesh->edges, mesh->edge_count, n, cells, count, error);
    sinew_elements lists[3];
    sinew_mesh_elements(mesh, lists);
    return sinew_unique_edges(allocator, mesh->vertex_count, lists, 3, cells, count, error);
}

static sinew_status find_vertices(const sinew_allocator *allocator, const sinew_mesh *mesh, int32_t n, int32_t **cells,
                                  int32_t *count, sinew_error *error)
{
    (void)n;
    *cells = sinew_allocate(allocator, (size_t)mesh->vertex_count, sizeof **cells);
    if (!*cells)
        return sinew_fail_memory(error, "the elements of an energy");
    for (int32_t i = 0; i < mesh->vertex_count; i++)
        (*cells)[i] = i;
    *count = mesh->vertex_count;
    return SINEW_OK;
}

/* The mesh's own triangles, or the surface of its tets where it has none. */
static sinew_status find_triangles(const sinew_allocator *allocator, const sinew_mesh *mesh, int32_t n, int32_t **cells,
                                   int32_t *count, sinew_error *error)
{
    if (mesh->triangle_count > 0 || mesh->tet_count == 0)
        return copy_cells(allocator, mesh->triangles, mesh->triangle_count, n, cells, count, error);
    sinew_mesh *surface = sinew_mesh_surface(mesh, error);
    if (!surface)
        return SINEW_ERROR_MEMORY;
    const sinew_status status =
        copy_cells(allocator, surface->triangles, surface->triangle_count, n, cells, count, error);
    sinew_mesh_destroy(surface);
    return status;
}

typedef struct hinge_list {
    const int32_t *triangles;
    int32_t *cells; /* NULL: only counted */
    int32_t count;
} hinge_list;

/* An edge of two triangles and the vertices opposite to it. An edge of more than two is no hinge. */
static void add_hinge(void *context, const int32_t *vertices, const sinew_pair *uses, size_t use_count)
{
    hinge_list *list = context;
    if (use_count != 2)
        return;
    if (list->cells) {
        int32_t *cell = list->cells + 4 * (size_t)list->count;
        cell[0] = vertices[0];
        cell[1] = vertices[1];
        cell[2] = list->triangles[uses[0].minor];
        cell[3] = list->triangles[uses[1].minor];
    }
    list->count++;
}

static sinew_status find_hinges(const sinew_allocator *allocator, const sinew_mesh *mesh, int32_t n, int32_t **cells,
                                int32_t *count, sinew_error *error)
{
    int32_t *triangles = NULL, triangle_count = 0;
    sinew_status status = find_triangles(allocator, mesh, 3, &triangles, &triangle_count, error);
    const sinew_elements elements = {triangles, triangle_count, 3};
    hinge_list list = {.triangles = triangles};
    if (status == SINEW_OK)
        status = sinew_visit_facets(allocator, mesh->vertex_count, &elements, add_hinge, &list, error);
    if (status == SINEW_OK) {
        *cells = list.cells = sinew_allocate(allocator, (size_t)list.count * (size_t)n, sizeof **cells);
        list.count = 0;
        status = list.cells ? sinew_visit_facets(allocator, mesh->vertex_count, &elements, add_hinge, &list, error)
                            : sinew_fail_memory(error, "the elements of an energy");
    }
    sinew_release(allocator, triangles);
    *count = list.count;
    return status;
}

/* Writes the rings of all vertices that have neighbours. */
static sinew_status write_rings(const sinew_adjacency *adjacency, int32_t vertex_count, int32_t n, int32_t *cells,
                                int32_t *count, sinew_error *error)
{
    for (int32_t v = 0; v < vertex_count; v++) {
        const int64_t size = adjacency->first[v + 1] - adjacency->first[v];
        if (size == 0)
            continue;
        if (size > n - 1)
            return sinew_fail(error, SINEW_ERROR_DATA,
                              "vertex %d has %lld neighbours and a ring may have %d; refine the mesh around it", v,
                              (long long)size, n - 1);
        int32_t *cell = cells + (size_t)*count * (size_t)n;
        for (int32_t i = 0; i < n; i++)
            cell[i] = i > 0 && i <= size ? adjacency->neighbours[adjacency->first[v] + i - 1] : v;
        (*count)++;
    }
    return SINEW_OK;
}

/* A vertex, then the vertices that share a cell with it. */
static sinew_status find_rings(const sinew_allocator *allocator, const sinew_mesh *mesh, int32_t n, int32_t **cells,
                               int32_t *count, sinew_error *error)
{
    sinew_elements lists[3];
    sinew_adjacency adjacency;
    sinew_mesh_elements(mesh, lists);
    sinew_status status = sinew_adjacency_build(&adjacency, allocator, mesh->vertex_count, lists, 3, error);
    if (status != SINEW_OK)
        return status;
    *count = 0;
    *cells = sinew_allocate(allocator, (size_t)mesh->vertex_count * (size_t)n, sizeof **cells);
    status = *cells ? write_rings(&adjacency, mesh->vertex_count, n, *cells, count, error)
                    : sinew_fail_memory(error, "the elements of an energy");
    sinew_adjacency_free(&adjacency, allocator);
    return status;
}

/* ---- Table ------------------------------------------------------------------------------------- */

static const sinew_stencil_row table[SINEW_STENCIL_COUNT] = {
    [SINEW_STENCIL_TET] = {"tet", "tets", 4, .fans = true, .find = find_tets},
    [SINEW_STENCIL_EDGE] = {"edge", "edges", 2, .find = find_edges},
    [SINEW_STENCIL_VERTEX] = {"vertex", "vertices", 1, .takes = SINEW_TAKES_TARGET, .find = find_vertices},
    [SINEW_STENCIL_PAIR] = {"pair of points", "pairs of points", 8, .takes = SINEW_TAKES_WEIGHTS | SINEW_TAKES_NORMAL,
                            .couples = true, .transient = true},
    [SINEW_STENCIL_TRIANGLE] = {"triangle", "triangles", 3, .sheet = true, .find = find_triangles},
    [SINEW_STENCIL_HINGE] = {"hinge", "hinges", 4, .find = find_hinges},
    [SINEW_STENCIL_RING] = {"ring", "rings", SINEW_STENCIL_MAX, .padded = true, .find = find_rings},
};

/* Rows of the program's own. The one table that grows while the process runs: a place is filled once, by whoever finds
 * it empty, and never changes again, so readers need no lock. */
static _Atomic(const sinew_stencil_row *) foreign[SINEW_STENCILS_FOREIGN];

const sinew_stencil_row *sinew_get_stencil(sinew_stencil stencil)
{
    if ((unsigned)stencil < SINEW_STENCIL_COUNT)
        return &table[stencil];
    const unsigned place = (unsigned)stencil - SINEW_STENCIL_COUNT - 1; /* the count itself means none */
    return place < SINEW_STENCILS_FOREIGN ? atomic_load(&foreign[place]) : NULL;
}

const char *sinew_stencil_name(sinew_stencil stencil)
{
    const sinew_stencil_row *row = sinew_get_stencil(stencil);
    return row ? row->plural : NULL;
}

sinew_stencil sinew_stencil_register(const sinew_stencil_row *row, sinew_error *error)
{
    sinew_error_clear(error);
    if (!row || !row->noun || !row->plural || row->vertex_count < 1 || row->vertex_count > SINEW_STENCIL_MAX ||
        (row->fans && row->vertex_count != 4) || (row->takes & SINEW_TAKES_WEIGHTS && row->vertex_count != 8)) {
        sinew_fail(error, SINEW_ERROR_USAGE,
                   "a stencil needs a noun, its plural and 1 to %d vertices (fans: 4, weights: 8)", SINEW_STENCIL_MAX);
        return SINEW_STENCIL_COUNT;
    }
    for (int place = 0; place < SINEW_STENCILS_FOREIGN; place++) {
        const sinew_stencil_row *found = NULL;
        if (atomic_compare_exchange_strong(&foreign[place], &found, row) || found == row)
            return (sinew_stencil)(SINEW_STENCIL_COUNT + 1 + place);
    }
    sinew_fail(error, SINEW_ERROR_USAGE, "stencil %s: %d are registered already, and no more may be", row->noun,
               SINEW_STENCILS_FOREIGN);
    return SINEW_STENCIL_COUNT;
}

int32_t sinew_stencil_size(const sinew_stencil_row *row, const int32_t *cell, int32_t n)
{
    int32_t size = n;
    while (row->padded && size > 1 && cell[size - 1] == cell[0])
        size--;
    return size;
}
