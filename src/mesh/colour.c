/* SPDX-License-Identifier: MIT
 *
 * colour.c: first-fit colourings. Elements, or vertices, of one colour may be updated at the same time.
 *
 * Elements: each vertex keeps a 64-bit set of the colours at it; an element takes the lowest colour free at all its
 * vertices. Where 64 are not enough the elements left over go through another round with the next 64, which gives
 * the very colours that one round with unbounded sets would give.
 */
#include "mesh/topology.h"

#include <string.h>

/* One round: colours the elements of `left` that find one of 64 free colours, keeps the others in it, in order.
 * Returns how many are left. */
static int32_t colour_round(const sinew_elements *elements, uint64_t *used, int32_t base, int32_t *left,
                            int32_t left_count, int32_t *colours)
{
    int32_t kept = 0;
    for (int32_t n = 0; n < left_count; n++) {
        const int32_t *vertices = elements->vertices + (size_t)left[n] * (size_t)elements->size;
        uint64_t taken = 0;
        for (int32_t i = 0; i < elements->size; i++)
            taken |= used[vertices[i]];
        if (taken == UINT64_MAX) {
            left[kept++] = left[n];
            continue;
        }
        int32_t colour = 0;
        while (taken >> colour & 1)
            colour++;
        for (int32_t i = 0; i < elements->size; i++)
            used[vertices[i]] |= (uint64_t)1 << colour;
        colours[left[n]] = base + colour;
    }
    return kept;
}

static int32_t largest(const int32_t *values, int32_t count)
{
    int32_t found = -1;
    for (int32_t i = 0; i < count; i++)
        found = values[i] > found ? values[i] : found;
    return found;
}

sinew_status sinew_colour_elements(const sinew_allocator *allocator, int32_t vertex_count,
                                   const sinew_elements *elements, int32_t *colours, int32_t *colour_count,
                                   sinew_error *error)
{
    sinew_status status = SINEW_OK;
    uint64_t *used = sinew_allocate(allocator, (size_t)vertex_count, sizeof *used);
    int32_t *left = sinew_allocate(allocator, (size_t)elements->count, sizeof *left);
    if (used && left) {
        int32_t left_count = elements->count;
        for (int32_t e = 0; e < left_count; e++)
            left[e] = e;
        for (int32_t base = 0; left_count > 0; base += 64) {
            memset(used, 0, (size_t)vertex_count * sizeof *used);
            left_count = colour_round(elements, used, base, left, left_count, colours);
        }
        *colour_count = largest(colours, elements->count) + 1;
    } else {
        status = sinew_fail_memory(error, "the colours of elements");
    }
    sinew_release(allocator, used);
    sinew_release(allocator, left);
    return status;
}

/* Lowest colour that no earlier neighbour of v has. taken[c] == v marks colour c as taken. */
static int32_t free_colour(const sinew_adjacency *adjacency, const int32_t *colours, int32_t v, int32_t *taken)
{
    for (int64_t at = adjacency->first[v]; at < adjacency->first[v + 1]; at++)
        if (adjacency->neighbours[at] < v)
            taken[colours[adjacency->neighbours[at]]] = v;
    int32_t colour = 0;
    while (taken[colour] == v)
        colour++;
    return colour;
}

sinew_status sinew_colour_vertices(const sinew_allocator *allocator, int32_t vertex_count, const sinew_elements *lists,
                                   int32_t list_count, int32_t *colours, int32_t *colour_count, sinew_error *error)
{
    sinew_adjacency adjacency;
    sinew_status status = sinew_adjacency_build(&adjacency, allocator, vertex_count, lists, list_count, error);
    if (status != SINEW_OK)
        return status;
    /* One colour more than there are vertices, so that the search for a free one always ends. */
    int32_t *taken = sinew_allocate(allocator, (size_t)vertex_count + 1, sizeof *taken);
    if (taken) {
        for (int32_t c = 0; c <= vertex_count; c++)
            taken[c] = -1;
        for (int32_t v = 0; v < vertex_count; v++)
            colours[v] = free_colour(&adjacency, colours, v, taken);
        *colour_count = largest(colours, vertex_count) + 1;
    } else {
        status = sinew_fail_memory(error, "the colours of vertices");
    }
    sinew_release(allocator, taken);
    sinew_adjacency_free(&adjacency, allocator);
    return status;
}

void sinew_colour_groups(const int32_t *colours, int32_t count, int32_t colour_count, int32_t *first, int32_t *order)
{
    memset(first, 0, ((size_t)colour_count + 1) * sizeof *first);
    for (int32_t i = 0; i < count; i++)
        first[colours[i] + 1]++;
    for (int32_t c = 0; c < colour_count; c++)
        first[c + 1] += first[c];
    for (int32_t i = 0; i < count; i++)
        order[first[colours[i]]++] = i;
    memmove(first + 1, first, (size_t)colour_count * sizeof *first);
    first[0] = 0;
}
