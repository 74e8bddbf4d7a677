/* SPDX-License-Identifier: MIT
 *
 * facets.c: visits the facets (faces of tets, edges of triangles) of a mesh vertex by vertex: the elements at v contain
 * all facets whose lowest vertex is v. These are sorted and reported run by run. Extra memory is proportional to the
 * largest number of elements at a vertex.
 */
#include "mesh/topology/facets.h"

#include "base/sort_pairs.h"

/* The vertices of an element without its vertex number `left_out`, ascending: one facet. */
static void facet_vertices(const int32_t *element, int32_t size, int32_t left_out, int32_t *vertices)
{
    int32_t count = 0;
    for (int32_t i = 0; i < size; i++) {
        if (i == left_out)
            continue;
        int32_t at = count++;
        for (; at > 0 && element[i] < vertices[at - 1]; at--)
            vertices[at] = vertices[at - 1];
        vertices[at] = element[i];
    }
}

static bool repeats_vertex(const int32_t *element, int32_t size)
{
    for (int32_t i = 0; i < size; i++)
        for (int32_t j = 0; j < i; j++)
            if (element[i] == element[j])
                return true;
    return false;
}

/* Collects the facets whose lowest vertex is v, unsorted; returns their number. */
static size_t list_facets_at(const sinew_elements *elements, const sinew_incidence *incidence, int32_t v,
                             sinew_pair *pairs)
{
    size_t count = 0;
    for (int64_t at = incidence->first[v]; at < incidence->first[v + 1]; at++) {
        int32_t e = incidence->elements[at];
        const int32_t *element = elements->vertices + (size_t)e * (size_t)elements->size;
        if (repeats_vertex(element, elements->size))
            continue;
        for (int32_t i = 0; i < elements->size; i++) {
            int32_t vertices[3] = {0};
            facet_vertices(element, elements->size, i, vertices);
            if (vertices[0] != v)
                continue;
            uint64_t key = elements->size == 4 ? sinew_pack(vertices[1], vertices[2]) : sinew_pack(0, vertices[1]);
            pairs[count++] = (sinew_pair){key, (uint64_t)e * (uint64_t)elements->size + (uint64_t)i};
        }
    }
    return count;
}

static void visit_facet_runs(int32_t size, int32_t v, const sinew_pair *pairs, size_t count, sinew_facet_visitor *visit,
                             void *context)
{
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && pairs[end].major == pairs[begin].major;)
            end++;
        int32_t high = (int32_t)(pairs[begin].major >> 32), low = (int32_t)(pairs[begin].major & UINT32_MAX);
        int32_t vertices[3] = {v, size == 4 ? high : low, low};
        visit(context, vertices, pairs + begin, end - begin);
    }
}

sinew_status sinew_visit_facets(const sinew_allocator *allocator, int32_t vertex_count, const sinew_elements *elements,
                                sinew_facet_visitor *visit, void *context, sinew_error *error)
{
    sinew_incidence incidence;
    sinew_status status = sinew_incidence_build(&incidence, allocator, vertex_count, elements, error);
    if (status != SINEW_OK)
        return status;
    size_t capacity = (size_t)sinew_incidence_count_max(&incidence, vertex_count) * (size_t)(elements->size - 1);
    sinew_pair *pairs = sinew_allocate(allocator, 2 * capacity, sizeof *pairs);
    if (pairs) {
        for (int32_t v = 0; v < vertex_count; v++) {
            size_t count = list_facets_at(elements, &incidence, v, pairs);
            sinew_sort_pairs(pairs, count, pairs + capacity);
            visit_facet_runs(elements->size, v, pairs, count, visit, context);
        }
    } else {
        status = sinew_fail_memory(error, "the faces of a mesh");
    }
    sinew_release(allocator, pairs);
    sinew_incidence_free(&incidence, allocator);
    return status;
}
