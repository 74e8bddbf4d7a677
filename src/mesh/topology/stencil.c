/* SPDX-License-Identifier: MIT
 *
 * stencil.c: the table of stencils, and the search for the cells of each stencil in a mesh. See stencil.h.
 */
#include "mesh/topology/stencil.h"

#include <stdatomic.h>
#include <string.h>

#include "mesh/topology/rod_frames.h"
#include "mesh/topology/facets.h"
#include "mesh/mesh.h"

/* ---- Search for the cells of a stencil in a mesh ------------------------------------------------- */

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

static sinew_status stencil_find_tets(const sinew_allocator *allocator, const sinew_mesh *mesh, int32_t n,
                                      int32_t **cells, int32_t *count, sinew_error *error)
{
    return copy_cells(allocator, mesh->tets, mesh->tet_count, n, cells, count, error);
}

/* Finds edge cells: the edges of the mesh, or the edges of all its cells if it has none. */
static sinew_status stencil_find_edges(const sinew_allocator *allocator, const sinew_mesh *mesh, int32_t n,
                                       int32_t **cells, int32_t *count, sinew_error *error)
{
    if (mesh->edge_count > 0)
        return copy_cells(allocator, mesh->edges, mesh->edge_count, n, cells, count, error);
    sinew_elements lists[3];
    sinew_mesh_elements(mesh, lists);
    return sinew_unique_edges(allocator, mesh->vertex_count, lists, 3, cells, count, error);
}

static sinew_status stencil_find_vertices(const sinew_allocator *allocator, const sinew_mesh *mesh, int32_t n,
                                          int32_t **cells, int32_t *count, sinew_error *error)
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

/* Finds triangle cells: the triangles of the mesh, or the surface of its tets if it has none. */
static sinew_status stencil_find_triangles(const sinew_allocator *allocator, const sinew_mesh *mesh, int32_t n,
                                           int32_t **cells, int32_t *count, sinew_error *error)
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
    int32_t *cells; /* [4 * count] vertices of the hinges; NULL: hinges are only counted */
    int32_t count;
    int32_t many_uses, many[2]; /* number of triangles at a non-manifold edge (0: none), and the edge's two vertices */
} hinge_list;

/* Adds a hinge: an edge of two triangles and the vertices opposite to it. Stores the first edge of more than two
 * triangles. */
static void stencil_add_hinge(void *context, const int32_t *vertices, const sinew_pair *uses, size_t use_count)
{
    hinge_list *list = context;
    if (use_count > 2 && list->many_uses == 0) {
        list->many_uses = (int32_t)use_count;
        memcpy(list->many, vertices, sizeof list->many);
    }
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
    sinew_status status = stencil_find_triangles(allocator, mesh, 3, &triangles, &triangle_count, error);
    const sinew_elements elements = {triangles, triangle_count, 3};
    hinge_list list = {.triangles = triangles};
    if (status == SINEW_OK)
        status = sinew_visit_facets(allocator, mesh->vertex_count, &elements, stencil_add_hinge, &list, error);
    if (status == SINEW_OK && list.many_uses > 0)
        status = sinew_fail(error, SINEW_ERROR_DATA,
                            "edge %d %d belongs to %d triangles and a hinge joins two; give the sheets vertices of "
                            "their own there and attach them",
                            list.many[0], list.many[1], list.many_uses);
    if (status == SINEW_OK) {
        *cells = list.cells = sinew_allocate(allocator, (size_t)list.count * (size_t)n, sizeof **cells);
        list.count = 0;
        status = list.cells
                     ? sinew_visit_facets(allocator, mesh->vertex_count, &elements, stencil_add_hinge, &list, error)
                     : sinew_fail_memory(error, "the elements of an energy");
    }
    sinew_release(allocator, triangles);
    *count = list.count;
    return status;
}

/* Writes the ring cells of all vertices that have neighbours. */
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

/* Finds ring cells: a vertex, then the vertices that share a cell with it. */
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

/* ---- Wheels: inner vertices with their neighbours in order --------------------------------------- */

/* The neighbours of a vertex, and for each the two neighbours with which it shares a triangle; -1: fewer. */
typedef struct ring_links {
    int32_t vertex, size, max;
    int32_t neighbour[SINEW_STENCIL_MAX], next[SINEW_STENCIL_MAX][2];
} ring_links;

/* Stores that neighbours p and q of the vertex share a triangle, in the entry of p. */
static sinew_status link_neighbour(ring_links *links, int32_t p, int32_t q, sinew_error *error)
{
    int32_t at = 0;
    while (at < links->size && links->neighbour[at] != p)
        at++;
    if (at == links->max)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "vertex %d has more than %d neighbours, which a ring may have; refine the mesh around it",
                          links->vertex, links->max);
    if (at == links->size) {
        links->neighbour[at] = p;
        links->next[at][0] = links->next[at][1] = -1;
        links->size++;
    }
    if (links->next[at][1] >= 0)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "edge %d %d belongs to more than two triangles and a wheel has two; give the sheets "
                          "vertices of their own there and attach them",
                          links->vertex, p);
    links->next[at][links->next[at][0] < 0 ? 0 : 1] = q;
    return SINEW_OK;
}

static sinew_status link_ring(ring_links *links, const int32_t *triangles, const sinew_incidence *around,
                              sinew_error *error)
{
    sinew_status status = SINEW_OK;
    links->size = 0;
    for (int64_t i = around->first[links->vertex]; i < around->first[links->vertex + 1] && status == SINEW_OK; i++) {
        const int32_t *t = triangles + 3 * (size_t)around->elements[i];
        const int own = t[0] == links->vertex ? 0 : t[1] == links->vertex ? 1 : 2;
        const int32_t p = t[(own + 1) % 3], q = t[(own + 2) % 3];
        if (p == q || p == links->vertex || q == links->vertex)
            continue; /* skips a triangle that contains a vertex twice */
        status = link_neighbour(links, p, q, error);
        if (status == SINEW_OK)
            status = link_neighbour(links, q, p, error);
    }
    return status;
}

/* Writes the neighbours of a vertex in order around it, starting at the neighbour with the lowest index. Returns
 * their number: 0 if the vertex is on a boundary, less than links->size if several sheets meet at the vertex. */
static int32_t walk_ring(const ring_links *links, int32_t *out)
{
    int32_t at = 0, count = 0, came_from = -1;
    for (int32_t i = 0; i < links->size; i++) {
        if (links->next[i][1] < 0)
            return 0;
        if (links->neighbour[i] < links->neighbour[at])
            at = i;
    }
    const int32_t first = at;
    do {
        out[count++] = links->neighbour[at];
        const int32_t to = links->next[at][links->next[at][0] == came_from];
        came_from = links->neighbour[at];
        for (at = 0; links->neighbour[at] != to;)
            at++;
    } while (at != first && count < links->size);
    return count;
}

static sinew_status write_wheels(const sinew_elements *triangles, const sinew_incidence *around, int32_t vertex_count,
                                 int32_t n, int32_t *cells, int32_t *count, sinew_error *error)
{
    for (int32_t v = 0; v < vertex_count; v++) {
        ring_links links = {.vertex = v, .max = n - 1};
        int32_t *cell = cells + (size_t)*count * (size_t)n;
        const sinew_status status = link_ring(&links, triangles->vertices, around, error);
        if (status != SINEW_OK)
            return status;
        for (int32_t i = 0; i < n; i++)
            cell[i] = v;
        const int32_t size = links.size > 0 ? walk_ring(&links, cell + 1) : 0;
        if (size > 0 && size < links.size)
            return sinew_fail(
                error, SINEW_ERROR_DATA,
                "vertex %d is where sheets meet in a point and a wheel is of one; give each sheet a vertex "
                "of its own there",
                v);
        *count += size > 0;
    }
    return SINEW_OK;
}

/* Finds wheel cells: each inner vertex of a triangle surface, then its neighbours in order around it. */
static sinew_status find_wheels(const sinew_allocator *allocator, const sinew_mesh *mesh, int32_t n, int32_t **cells,
                                int32_t *count, sinew_error *error)
{
    int32_t *vertices = NULL, triangle_count = 0;
    sinew_incidence around = {0};
    sinew_status status = stencil_find_triangles(allocator, mesh, 3, &vertices, &triangle_count, error);
    const sinew_elements triangles = {vertices, triangle_count, 3};
    *count = 0;
    if (status == SINEW_OK)
        status = sinew_incidence_build(&around, allocator, mesh->vertex_count, &triangles, error);
    if (status == SINEW_OK) {
        *cells = sinew_allocate(allocator, ((size_t)mesh->vertex_count + 1) * (size_t)n, sizeof **cells);
        status = *cells ? write_wheels(&triangles, &around, mesh->vertex_count, n, *cells, count, error)
                        : sinew_fail_memory(error, "the elements of an energy");
    }
    sinew_incidence_free(&around, allocator);
    sinew_release(allocator, vertices);
    return status;
}

/* ---- Table of stencils and registration ---------------------------------------------------------- */

static const int8_t whole[1][4] = {{0, 1, 2, 3}}, hinge_triangles[2][4] = {{0, 1, 2}, {0, 1, 3}};
#define ONE_SIMPLEX(size) .simplex_count = 1, .simplex_size = (size), .simplices = whole

static const sinew_stencil_info table[SINEW_STENCIL_COUNT] = {
    [SINEW_STENCIL_TET] = {"tet", "tets", 4, .fans = true, .find = stencil_find_tets, ONE_SIMPLEX(4)},
    [SINEW_STENCIL_EDGE] = {"edge", "edges", 2, .find = stencil_find_edges, ONE_SIMPLEX(2)},
    [SINEW_STENCIL_VERTEX] = {"vertex", "vertices", 1, .takes = SINEW_TAKES_TARGET, .find = stencil_find_vertices},
    [SINEW_STENCIL_PAIR] = {"pair of points", "pairs of points", 8, .takes = SINEW_TAKES_WEIGHTS | SINEW_TAKES_NORMAL,
                            .couples = true, .transient = true},
    [SINEW_STENCIL_TRIANGLE] = {"triangle", "triangles", 3, .is_surface = true, .find = stencil_find_triangles,
                                ONE_SIMPLEX(3)},
    [SINEW_STENCIL_HINGE] = {"hinge", "hinges", 4, .find = find_hinges, .simplex_count = 2, .simplex_size = 3,
                             .simplices = hinge_triangles},
    [SINEW_STENCIL_RING] = {"ring", "rings", SINEW_STENCIL_MAX, .padded = true, .find = find_rings},
    [SINEW_STENCIL_WHEEL] = {"wheel", "wheels", SINEW_STENCIL_MAX, .padded = true, .find = find_wheels,
                             .simplex_size = 3},
    [SINEW_STENCIL_SHELL] = {"shell", "shells", 6, .find = sinew_find_shells},
    [SINEW_STENCIL_ROD] = {"rod", "rods", 5, .find = sinew_find_rods},
    [SINEW_STENCIL_DIRECTOR] = {"director", "directors", 3, .find = sinew_find_directors},
    [SINEW_STENCIL_FRAMES] = {"pair of frames", "pairs of frames", 8, .couples = true},
    [SINEW_STENCIL_SHELL_PAIR] = {"pair of shells", "pairs of shells", 8, .find = sinew_find_shell_pairs},
};

/* Stencils registered by the program. This table may grow while the process runs: a slot is filled once, atomically,
 * and never changes again, so readers need no lock. */
static _Atomic(const sinew_stencil_info *) foreign[SINEW_STENCILS_FOREIGN];

const sinew_stencil_info *sinew_get_stencil(sinew_stencil stencil)
{
    if ((unsigned)stencil < SINEW_STENCIL_COUNT)
        return &table[stencil];
    /* index in `foreign`; SINEW_STENCIL_COUNT itself means no stencil */
    const unsigned slot = (unsigned)stencil - SINEW_STENCIL_COUNT - 1;
    return slot < SINEW_STENCILS_FOREIGN ? atomic_load(&foreign[slot]) : NULL;
}

const char *sinew_stencil_name(sinew_stencil stencil)
{
    const sinew_stencil_info *stencil_info = sinew_get_stencil(stencil);
    return stencil_info ? stencil_info->plural : NULL;
}

sinew_stencil sinew_stencil_register(const sinew_stencil_info *stencil_info, sinew_error *error)
{
    sinew_error_clear(error);
    if (!stencil_info || !stencil_info->noun || !stencil_info->plural || stencil_info->vertex_count < 1 ||
        stencil_info->vertex_count > SINEW_STENCIL_MAX || (stencil_info->fans && stencil_info->vertex_count != 4) ||
        (stencil_info->takes & SINEW_TAKES_WEIGHTS && stencil_info->vertex_count != 8)) {
        sinew_fail(error, SINEW_ERROR_USAGE,
                   "a stencil needs a noun, its plural and 1 to %d vertices (fans: 4, weights: 8)", SINEW_STENCIL_MAX);
        return SINEW_STENCIL_COUNT;
    }
    for (int slot = 0; slot < SINEW_STENCILS_FOREIGN; slot++) {
        const sinew_stencil_info *found = NULL;
        if (atomic_compare_exchange_strong(&foreign[slot], &found, stencil_info) || found == stencil_info)
            return (sinew_stencil)(SINEW_STENCIL_COUNT + 1 + slot);
    }
    sinew_fail(error, SINEW_ERROR_USAGE, "stencil %s: %d are registered already, and no more may be",
               stencil_info->noun, SINEW_STENCILS_FOREIGN);
    return SINEW_STENCIL_COUNT;
}

int32_t sinew_stencil_size(const sinew_stencil_info *stencil_info, const int32_t *cell, int32_t n)
{
    int32_t size = n;
    while (stencil_info->padded && size > 1 && cell[size - 1] == cell[0])
        size--;
    return size;
}

int32_t sinew_stencil_simplex(const sinew_stencil_info *stencil_info, const int32_t *element, int32_t n,
                              int32_t simplex, int32_t vertices[4])
{
    const int32_t around = stencil_info->simplices || stencil_info->simplex_size == 0
                               ? 0
                               : sinew_stencil_size(stencil_info, element, n) - 1;
    if (simplex >= (stencil_info->simplices ? stencil_info->simplex_count : around))
        return 0;
    if (!stencil_info->simplices) {
        vertices[0] = element[0];
        vertices[1] = element[1 + simplex];
        vertices[2] = element[1 + (simplex + 1) % around];
    }
    for (int32_t i = 0; stencil_info->simplices && i < stencil_info->simplex_size; i++)
        vertices[i] = element[stencil_info->simplices[simplex][i]];
    return stencil_info->simplex_size;
}
