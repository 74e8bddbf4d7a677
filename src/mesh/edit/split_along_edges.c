/* SPDX-License-Identifier: MIT
 *
 * split_along_edges.c: finds groups of connected cells around a vertex and separates them. See split_along_edges.h.
 */
#include "mesh/edit/split_along_edges.h"

#include <string.h>

sinew_status sinew_cut_begin(sinew_cut *cut, const sinew_allocator *allocator, int32_t vertex_count,
                             const sinew_elements *cells, sinew_error *error)
{
    const size_t corners = (size_t)cells->count * (size_t)cells->size;
    *cut = (sinew_cut){
        .allocator = allocator, .vertex_count = vertex_count, .cell_count = cells->count, .size = cells->size};
    cut->cells = sinew_allocate(allocator, corners, sizeof *cut->cells);
    cut->after = sinew_allocate(allocator, corners, sizeof *cut->after);
    cut->touched = sinew_allocate_zero(allocator, (size_t)cells->count, sizeof *cut->touched);
    cut->copies = sinew_allocate(allocator, corners, sizeof *cut->copies);
    if (!cut->cells || !cut->after || !cut->touched || !cut->copies)
        return sinew_fail_memory(error, "a cut through a mesh");
    if (corners > 0) {
        memcpy(cut->cells, cells->vertices, corners * sizeof *cut->cells);
        memcpy(cut->after, cells->vertices, corners * sizeof *cut->after);
    }
    const sinew_elements own = {cut->cells, cells->count, cells->size};
    const sinew_status status = sinew_incidence_build(&cut->at, allocator, vertex_count, &own, error);
    if (status != SINEW_OK)
        return status;
    const int64_t max = sinew_incidence_count_max(&cut->at, vertex_count);
    cut->group = sinew_allocate(allocator, (size_t)max + 1, sizeof *cut->group);
    return cut->group ? SINEW_OK : sinew_fail_memory(error, "a cut through a mesh");
}

void sinew_cut_end(sinew_cut *cut)
{
    sinew_release(cut->allocator, cut->cells);
    sinew_release(cut->allocator, cut->after);
    sinew_release(cut->allocator, cut->touched);
    sinew_release(cut->allocator, cut->group);
    sinew_release(cut->allocator, cut->copies);
    sinew_incidence_free(&cut->at, cut->allocator);
}

/* ---- Groups of cells around a vertex ----------------------------------------------------------- */

/* Returns the corner of a cell, as an index into `cells`, at a vertex of the uncut mesh; -1: none. */
static int32_t corner_at(const sinew_cut *cut, int32_t cell, int32_t vertex)
{
    for (int32_t i = 0; i < cut->size; i++)
        if (cut->cells[cell * cut->size + i] == vertex)
            return cell * cut->size + i;
    return -1;
}

/* Whether two cells at a vertex share an edge (triangles) or a face (tets) at this vertex, in the present state of
 * the cut; always true of edges. */
static bool cells_are_connected(const sinew_cut *cut, int32_t a, int32_t b, int32_t vertex)
{
    int32_t shared = 0;
    for (int32_t i = 0; i < cut->size; i++)
        for (int32_t j = 0; j < cut->size; j++)
            shared += cut->cells[a * cut->size + i] != vertex &&
                      cut->after[a * cut->size + i] == cut->after[b * cut->size + j];
    return shared >= cut->size - 2;
}

/* Whether the centroid of a cell lies on the positive side of the cutting plane through `vertex` with normal
 * `direction`. */
static bool lies_on_positive_side(const sinew_cut *cut, const sinew_real *points, int32_t cell, int32_t vertex,
                                  const double direction[3])
{
    double along = 0;
    for (int32_t i = 0; i < cut->size; i++)
        for (size_t k = 0; k < 3; k++)
            along += ((double)points[3 * (size_t)cut->cells[cell * cut->size + i] + k] -
                      (double)points[3 * (size_t)vertex + k]) *
                     direction[k];
    return along > 0;
}

/* group[i] of the i-th cell at a vertex becomes the group of the lowest cell connected to it. On entry group[i] is
 * the side (0 or 1) of the cell; only cells of the same side are connected. */
static void find_groups(const sinew_cut *cut, int32_t vertex, int32_t *group)
{
    const int32_t *cells = cut->at.elements + cut->at.first[vertex];
    const int32_t count = (int32_t)(cut->at.first[vertex + 1] - cut->at.first[vertex]);
    for (int32_t i = 0; i < count; i++)
        group[i] = 2 * i + group[i]; /* group unique to this cell: its index and its side of the plane */
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t i = 0; i < count; i++)
            for (int32_t j = 0; j < i; j++) {
                if (group[i] == group[j] || group[i] % 2 != group[j] % 2 ||
                    !cells_are_connected(cut, cells[i], cells[j], vertex))
                    continue;
                const int32_t low = group[i] < group[j] ? group[i] : group[j];
                group[i] = group[j] = low;
                changed = true;
            }
    }
}

/* Gives each group of cells at a vertex a copy of the vertex if an earlier group uses the same one. Marks all cells at
 * the vertex as touched. */
static void separate_groups(sinew_cut *cut, int32_t vertex, const int32_t *group)
{
    const int32_t *cells = cut->at.elements + cut->at.first[vertex];
    const int32_t count = (int32_t)(cut->at.first[vertex + 1] - cut->at.first[vertex]);
    for (int32_t i = 1; i < count; i++) {
        const int32_t mine = cut->after[corner_at(cut, cells[i], vertex)];
        bool shared = false, first = true;
        for (int32_t j = 0; j < i; j++) {
            first = first && group[j] != group[i];
            shared = shared || (group[j] != group[i] && cut->after[corner_at(cut, cells[j], vertex)] == mine);
        }
        if (!shared || !first)
            continue;
        cut->copies[cut->copy_count] = vertex;
        for (int32_t j = i; j < count; j++)
            if (group[j] == group[i])
                cut->after[corner_at(cut, cells[j], vertex)] = cut->vertex_count + cut->copy_count;
        cut->copy_count++;
    }
    for (int32_t i = 0; i < count; i++)
        cut->touched[cells[i]] = 1;
}

/* Splits a neighbour of an opened vertex if the cells around it are no longer connected. */
static void separate_neighbour(sinew_cut *cut, int32_t vertex)
{
    const int32_t count = (int32_t)(cut->at.first[vertex + 1] - cut->at.first[vertex]);
    memset(cut->group, 0, (size_t)count * sizeof *cut->group);
    find_groups(cut, vertex, cut->group);
    bool whole = true;
    for (int32_t i = 1; i < count; i++)
        whole = whole && cut->group[i] == cut->group[0];
    if (!whole)
        separate_groups(cut, vertex, cut->group);
}

bool sinew_cut_vertex(sinew_cut *cut, const sinew_real *points, int32_t vertex, const double direction[3])
{
    const int32_t *cells = cut->at.elements + cut->at.first[vertex];
    const int32_t count = (int32_t)(cut->at.first[vertex + 1] - cut->at.first[vertex]);
    int32_t ahead = 0;
    for (int32_t i = 0; i < count; i++) {
        if (cut->touched[cells[i]])
            return false;
        cut->group[i] = lies_on_positive_side(cut, points, cells[i], vertex, direction);
        ahead += cut->group[i];
    }
    if (ahead == 0 || ahead == count)
        return false;
    find_groups(cut, vertex, cut->group);
    separate_groups(cut, vertex, cut->group);
    for (int32_t i = 0; i < count && cut->size > 2; i++)
        for (int32_t k = 0; k < cut->size; k++)
            if (cut->cells[cells[i] * cut->size + k] != vertex)
                separate_neighbour(cut, cut->cells[cells[i] * cut->size + k]);
    return true;
}

/* ---- Images of edges, faces and cells in the cut mesh -------------------------------------------- */

int32_t sinew_cut_map(const sinew_cut *cut, const int32_t *vertices, int32_t count, int32_t *out, int32_t capacity)
{
    int32_t found = 0;
    for (int64_t at = cut->at.first[vertices[0]]; at < cut->at.first[vertices[0] + 1] && found < capacity; at++) {
        int32_t *mapped = out + (size_t)found * (size_t)count;
        bool all = true, known = false;
        for (int32_t i = 0; i < count && all; i++) {
            const int32_t corner = corner_at(cut, cut->at.elements[at], vertices[i]);
            all = corner >= 0;
            mapped[i] = all ? cut->after[corner] : -1;
        }
        for (int32_t i = 0; i < found && all; i++)
            known = known || memcmp(out + (size_t)i * (size_t)count, mapped, (size_t)count * sizeof *mapped) == 0;
        found += all && !known;
    }
    return found;
}
