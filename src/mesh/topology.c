/* SPDX-License-Identifier: MIT
 *
 * topology.c: builds vertex -> element and vertex -> vertex lists in compressed row storage, unique edges, connected
 * components.
 *
 * Lists are counted, then filled, and need no sorting: adjacency is symmetric, so visiting vertices in ascending order
 * and appending each to the lists of its neighbours leaves every list ascending. Time O(vertices + sum of size^2 *
 * count).
 */
#include "mesh/topology.h"

#include <string.h>

/* ---- Incidence: elements at each vertex ---------------------------------------------------------- */

/* Whether vertices[i] differs from all earlier vertices of its element. */
static bool is_first_mention(const int32_t *vertices, int32_t i)
{
    for (int32_t j = 0; j < i; j++)
        if (vertices[j] == vertices[i])
            return false;
    return true;
}

/* Converts counts per vertex in first[v + 1] to starts of the vertices' lists in first[v]. */
static void counts_to_starts(int64_t *first, int32_t count)
{
    for (int32_t v = 0; v < count; v++)
        first[v + 1] += first[v];
}

/* Restores the starts of the vertices' lists: filling has used first[v] as a cursor and advanced it to the start of v +
 * 1. */
static void restore_starts(int64_t *first, int32_t count)
{
    memmove(first + 1, first, (size_t)count * sizeof *first);
    first[0] = 0;
}

static void incidence_fill(sinew_incidence *incidence, const sinew_elements *elements)
{
    for (int32_t e = 0; e < elements->count; e++) {
        const int32_t *vertices = elements->vertices + (size_t)e * (size_t)elements->size;
        for (int32_t i = 0; i < elements->size; i++)
            if (is_first_mention(vertices, i))
                incidence->elements[incidence->first[vertices[i]]++] = e;
    }
}

sinew_status sinew_incidence_build(sinew_incidence *incidence, const sinew_allocator *allocator, int32_t vertex_count,
                                   const sinew_elements *elements, sinew_error *error)
{
    *incidence = (sinew_incidence){0};
    incidence->first = sinew_allocate_zero(allocator, (size_t)vertex_count + 1, sizeof *incidence->first);
    if (!incidence->first)
        return sinew_fail_memory(error, "the cells at each vertex");
    for (int32_t e = 0; e < elements->count; e++) {
        const int32_t *vertices = elements->vertices + (size_t)e * (size_t)elements->size;
        for (int32_t i = 0; i < elements->size; i++)
            incidence->first[vertices[i] + 1] += is_first_mention(vertices, i);
    }
    counts_to_starts(incidence->first, vertex_count);
    incidence->elements =
        sinew_allocate(allocator, (size_t)incidence->first[vertex_count], sizeof *incidence->elements);
    if (!incidence->elements) {
        sinew_incidence_free(incidence, allocator);
        return sinew_fail_memory(error, "the cells at each vertex");
    }
    incidence_fill(incidence, elements);
    restore_starts(incidence->first, vertex_count);
    return SINEW_OK;
}

void sinew_incidence_free(sinew_incidence *incidence, const sinew_allocator *allocator)
{
    sinew_release(allocator, incidence->first);
    sinew_release(allocator, incidence->elements);
    *incidence = (sinew_incidence){0};
}

int64_t sinew_incidence_count_max(const sinew_incidence *incidence, int32_t vertex_count)
{
    int64_t busiest = 0;
    for (int32_t v = 0; v < vertex_count; v++)
        if (incidence->first[v + 1] - incidence->first[v] > busiest)
            busiest = incidence->first[v + 1] - incidence->first[v];
    return busiest;
}

/* ---- Adjacency: neighbours of each vertex -------------------------------------------------------- */

/* Work space of the adjacency: one incidence per list of elements, and for each vertex the last vertex whose neighbours
 * included it. */
typedef struct gather {
    const sinew_allocator *allocator;
    const sinew_elements *lists;
    int32_t list_count;
    sinew_incidence *incidences; /* [list_count] elements at each vertex, one incidence per list of elements */
    int32_t *met;                /* [vertex_count] last vertex whose search for neighbours reached this one */
    int32_t *found;              /* [vertex_count] indices of the neighbours of the current vertex, unordered */
} gather;

static void gather_free(gather *g)
{
    for (int32_t l = 0; g->incidences && l < g->list_count; l++)
        sinew_incidence_free(&g->incidences[l], g->allocator);
    sinew_release(g->allocator, g->incidences);
    sinew_release(g->allocator, g->met);
    sinew_release(g->allocator, g->found);
}

static sinew_status gather_start(gather *g, const sinew_allocator *allocator, int32_t vertex_count,
                                 const sinew_elements *lists, int32_t list_count, sinew_error *error)
{
    *g = (gather){.allocator = allocator, .lists = lists, .list_count = list_count};
    g->incidences = sinew_allocate_zero(allocator, (size_t)list_count, sizeof *g->incidences);
    g->met = sinew_allocate(allocator, (size_t)vertex_count, sizeof *g->met);
    g->found = sinew_allocate(allocator, (size_t)vertex_count, sizeof *g->found);
    sinew_status status = SINEW_OK;
    if (!g->incidences || !g->met || !g->found)
        status = sinew_fail_memory(error, "the neighbours of each vertex");
    for (int32_t l = 0; status == SINEW_OK && l < list_count; l++)
        status = sinew_incidence_build(&g->incidences[l], allocator, vertex_count, &lists[l], error);
    if (status != SINEW_OK)
        gather_free(g);
    return status;
}

/* Writes the neighbours of vertex v to g->found and returns their number. */
static int32_t gather_neighbours(gather *g, int32_t v)
{
    int32_t found_count = 0;
    g->met[v] = v;
    for (int32_t l = 0; l < g->list_count; l++) {
        const sinew_elements *list = &g->lists[l];
        const sinew_incidence *incidence = &g->incidences[l];
        for (int64_t at = incidence->first[v]; at < incidence->first[v + 1]; at++) {
            const int32_t *vertices = list->vertices + (size_t)incidence->elements[at] * (size_t)list->size;
            for (int32_t i = 0; i < list->size; i++) {
                if (g->met[vertices[i]] == v)
                    continue;
                g->met[vertices[i]] = v;
                g->found[found_count++] = vertices[i];
            }
        }
    }
    return found_count;
}

static void gather_reset(gather *g, int32_t vertex_count)
{
    for (int32_t v = 0; v < vertex_count; v++)
        g->met[v] = -1;
}

sinew_status sinew_adjacency_build(sinew_adjacency *adjacency, const sinew_allocator *allocator, int32_t vertex_count,
                                   const sinew_elements *lists, int32_t list_count, sinew_error *error)
{
    *adjacency = (sinew_adjacency){0};
    gather g;
    sinew_status status = gather_start(&g, allocator, vertex_count, lists, list_count, error);
    if (status != SINEW_OK)
        return status;
    adjacency->first = sinew_allocate_zero(allocator, (size_t)vertex_count + 1, sizeof *adjacency->first);
    if (adjacency->first) {
        gather_reset(&g, vertex_count);
        for (int32_t v = 0; v < vertex_count; v++)
            adjacency->first[v + 1] = gather_neighbours(&g, v);
        counts_to_starts(adjacency->first, vertex_count);
        adjacency->neighbours =
            sinew_allocate(allocator, (size_t)adjacency->first[vertex_count], sizeof *adjacency->neighbours);
    }
    if (adjacency->neighbours) {
        gather_reset(&g, vertex_count);
        for (int32_t v = 0; v < vertex_count; v++) {
            int32_t found_count = gather_neighbours(&g, v);
            for (int32_t i = 0; i < found_count; i++)
                adjacency->neighbours[adjacency->first[g.found[i]]++] = v;
        }
        restore_starts(adjacency->first, vertex_count);
    } else {
        sinew_adjacency_free(adjacency, allocator);
        status = sinew_fail_memory(error, "the neighbours of each vertex");
    }
    gather_free(&g);
    return status;
}

void sinew_adjacency_free(sinew_adjacency *adjacency, const sinew_allocator *allocator)
{
    sinew_release(allocator, adjacency->first);
    sinew_release(allocator, adjacency->neighbours);
    *adjacency = (sinew_adjacency){0};
}

sinew_status sinew_unique_edges(const sinew_allocator *allocator, int32_t vertex_count, const sinew_elements *lists,
                                int32_t list_count, int32_t **edges, int32_t *edge_count, sinew_error *error)
{
    sinew_adjacency adjacency;
    sinew_status status = sinew_adjacency_build(&adjacency, allocator, vertex_count, lists, list_count, error);
    if (status != SINEW_OK)
        return status;
    int64_t count = adjacency.first[vertex_count] / 2;
    int32_t *out = NULL;
    if (count > INT32_MAX)
        status =
            sinew_fail(error, SINEW_ERROR_DATA, "mesh: %lld edges are more than 32-bit counts reach", (long long)count);
    else if (!(out = sinew_allocate(allocator, 2 * (size_t)count, sizeof *out)))
        status = sinew_fail_memory(error, "unique edges");
    if (status == SINEW_OK) {
        *edges = out;
        *edge_count = (int32_t)count;
        for (int32_t v = 0; v < vertex_count; v++)
            for (int64_t at = adjacency.first[v]; at < adjacency.first[v + 1]; at++)
                if (adjacency.neighbours[at] > v) {
                    *out++ = v;
                    *out++ = adjacency.neighbours[at];
                }
    }
    sinew_adjacency_free(&adjacency, allocator);
    return status;
}

/* ---- Connected components of a mesh -------------------------------------------------------------- */

/* Root of vertex v's tree (union-find with path halving). Every root is the lowest vertex of its tree. */
static int32_t find_root(int32_t *parent, int32_t v)
{
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

static void topology_join(int32_t *parent, int32_t a, int32_t b)
{
    a = find_root(parent, a);
    b = find_root(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

int32_t sinew_components(int32_t vertex_count, const sinew_elements *lists, int32_t list_count, int32_t *component)
{
    for (int32_t v = 0; v < vertex_count; v++)
        component[v] = -1;
    for (int32_t l = 0; l < list_count; l++)
        for (size_t i = 0; i < (size_t)lists[l].count * (size_t)lists[l].size; i++)
            component[lists[l].vertices[i]] = lists[l].vertices[i];
    for (int32_t l = 0; l < list_count; l++)
        for (size_t i = 0; i < (size_t)lists[l].count * (size_t)lists[l].size; i++)
            topology_join(component, lists[l].vertices[i], lists[l].vertices[i - i % (size_t)lists[l].size]);
    /* A root is the lowest vertex of its tree, so its component number is known before its other vertices are
     * visited. It is stored as -2 - number to distinguish it from a parent index. */
    int32_t count = 0;
    for (int32_t v = 0; v < vertex_count; v++) {
        if (component[v] == -1)
            continue;
        int32_t parent = component[v];
        if (parent == v)
            component[v] = -2 - count++;
        else
            component[v] = component[parent];
    }
    for (int32_t v = 0; v < vertex_count; v++)
        if (component[v] < -1)
            component[v] = -2 - component[v];
    return count;
}
