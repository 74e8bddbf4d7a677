/* SPDX-License-Identifier: MIT
 *
 * colour.c: greedy colourings. Elements, or vertices, of one colour may be updated at the same time.
 *
 * Elements: each vertex has a 64-bit set of the colours of its elements; an element takes the lowest colour that is
 * free at all its vertices. Elements without a free colour wait for another pass with the next 64 colours, which gives
 * the same colours as one pass with unbounded sets.
 *
 * Vertices: the vertex with the most of the first 64 colours among its neighbours is next (Brelaz, Commun. ACM 22
 * (1979) 251, "DSATUR"). A block of five tets per cell then gets four colours, the minimum; first fit finds five in the
 * order of the grid and ten along a Hilbert curve. When elements are added, only their vertices are recoloured.
 */
#include "mesh/topology.h"

#include <string.h>

/* One pass of the colouring: colours the elements of `left` that have one of 64 colours free, keeps the other elements
 * in `left`, in order, and returns their number. */
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

static int32_t largest_value(const int32_t *values, int32_t count)
{
    int32_t found = -1;
    for (int32_t i = 0; i < count; i++)
        found = values[i] > found ? values[i] : found;
    return found;
}

/* Clears the colour sets of all vertices of the given elements. */
static void clear_used(const sinew_elements *elements, uint64_t *used)
{
    for (size_t i = 0; i < (size_t)elements->count * (size_t)elements->size; i++)
        used[elements->vertices[i]] = 0;
}

static bool reserve_colour_work(sinew_colour_work *work, const sinew_allocator *allocator, int32_t vertex_count,
                                const sinew_elements *elements)
{
    const size_t capacity = work->used_capacity;
    if (!sinew_reserve(allocator, &work->used, &work->used_capacity, (size_t)vertex_count, sizeof *work->used) ||
        !sinew_reserve(allocator, &work->left, &work->left_capacity, (size_t)elements->count, sizeof *work->left))
        return false;
    if (work->used_capacity != capacity)
        memset(work->used, 0, work->used_capacity);
    return true;
}

sinew_status sinew_colour_elements_again(sinew_colour_work *work, const sinew_allocator *allocator,
                                         int32_t vertex_count, const sinew_elements *elements, int32_t *colours,
                                         int32_t *colour_count, sinew_error *error)
{
    if (!reserve_colour_work(work, allocator, vertex_count, elements)) {
        sinew_colour_work_release(work, allocator);
        return sinew_fail_memory(error, "the colours of elements");
    }
    int32_t left_count = elements->count;
    for (int32_t e = 0; e < left_count; e++)
        work->left[e] = e;
    for (int32_t base = 0; left_count > 0; base += 64) {
        left_count = colour_round(elements, work->used, base, work->left, left_count, colours);
        clear_used(elements, work->used);
    }
    *colour_count = largest_value(colours, elements->count) + 1;
    return SINEW_OK;
}

void sinew_colour_work_release(sinew_colour_work *work, const sinew_allocator *allocator)
{
    sinew_release(allocator, work->used);
    sinew_release(allocator, work->left);
    *work = (sinew_colour_work){0};
}

sinew_status sinew_colour_elements(const sinew_allocator *allocator, int32_t vertex_count,
                                   const sinew_elements *elements, int32_t *colours, int32_t *colour_count,
                                   sinew_error *error)
{
    sinew_colour_work work = {0};
    const sinew_status status =
        sinew_colour_elements_again(&work, allocator, vertex_count, elements, colours, colour_count, error);
    sinew_colour_work_release(&work, allocator);
    return status;
}

/* ---- Colouring of vertices ----------------------------------------------------------------------- */

enum {
    QUEUES = 65 /* number of lists: one per number of different colours, among the first 64, of a vertex's neighbours */
};

/* The uncoloured vertices, in one doubly linked list for each number of colours among their neighbours. */
typedef struct saturation {
    uint64_t *around; /* [vertex_count] bit set of the colours of each vertex's neighbours, of the first 64 */
    /* [vertex_count] next and previous vertex in the same list of uncoloured vertices; -1: none */
    int32_t *next, *back;
    int32_t head[QUEUES];
    int32_t max; /* highest number of neighbouring colours whose list may contain vertices */
} saturation;

static int32_t count_bits(uint64_t set)
{
    int32_t count = 0;
    for (; set; set &= set - 1)
        count++;
    return count;
}

static void saturation_push(saturation *s, int32_t v)
{
    const int32_t at = count_bits(s->around[v]), head = s->head[at];
    s->back[v] = -1;
    s->next[v] = head;
    if (head >= 0)
        s->back[head] = v;
    s->head[at] = v;
    s->max = at > s->max ? at : s->max;
}

static void saturation_remove(saturation *s, int32_t v)
{
    if (s->back[v] >= 0)
        s->next[s->back[v]] = s->next[v];
    else
        s->head[count_bits(s->around[v])] = s->next[v];
    if (s->next[v] >= 0)
        s->back[s->next[v]] = s->back[v];
}

/* Lowest colour that no neighbour of v has. taken[c] == v marks colour c as taken. */
static int32_t lowest_free_colour(const sinew_adjacency *adjacency, const int32_t *colours, int32_t v, int32_t *taken)
{
    for (int64_t at = adjacency->first[v]; at < adjacency->first[v + 1]; at++)
        if (colours[adjacency->neighbours[at]] >= 0)
            taken[colours[adjacency->neighbours[at]]] = v;
    int32_t colour = 0;
    while (taken[colour] == v)
        colour++;
    return colour;
}

/* Always colours the vertex with the most of the first 64 colours among its neighbours, of these the one that reached
 * this number last (after Brelaz). */
static void colour_by_saturation(const sinew_adjacency *adjacency, int32_t vertex_count, saturation *s, int32_t *taken,
                                 int32_t *colours)
{
    for (int32_t c = 0; c < QUEUES; c++)
        s->head[c] = -1;
    s->max = 0;
    for (int32_t v = vertex_count - 1; v >= 0; v--) {
        colours[v] = -1;
        saturation_push(s, v);
    }
    for (int32_t done = 0; done < vertex_count; done++) {
        while (s->head[s->max] < 0)
            s->max--;
        const int32_t v = s->head[s->max];
        saturation_remove(s, v);
        colours[v] = lowest_free_colour(adjacency, colours, v, taken);
        const uint64_t bit = colours[v] < 64 ? (uint64_t)1 << colours[v] : 0;
        for (int64_t at = adjacency->first[v]; at < adjacency->first[v + 1]; at++) {
            const int32_t u = adjacency->neighbours[at];
            if (colours[u] >= 0 || (s->around[u] & bit) == bit)
                continue;
            saturation_remove(s, u);
            s->around[u] |= bit;
            saturation_push(s, u);
        }
    }
}

sinew_status sinew_colour_vertices(const sinew_allocator *allocator, int32_t vertex_count, const sinew_elements *lists,
                                   int32_t list_count, int32_t *colours, int32_t *colour_count, sinew_error *error)
{
    sinew_adjacency adjacency;
    sinew_status status = sinew_adjacency_build(&adjacency, allocator, vertex_count, lists, list_count, error);
    if (status != SINEW_OK)
        return status;
    saturation s = {.around = sinew_allocate_zero(allocator, (size_t)vertex_count, sizeof *s.around),
                    .next = sinew_allocate(allocator, (size_t)vertex_count, sizeof *s.next),
                    .back = sinew_allocate(allocator, (size_t)vertex_count, sizeof *s.back)};
    /* There is one colour more than vertices, so that the search for a free colour always ends. */
    int32_t *taken = sinew_allocate(allocator, (size_t)vertex_count + 1, sizeof *taken);
    if (s.around && s.next && s.back && taken) {
        for (int32_t c = 0; c <= vertex_count; c++)
            taken[c] = -1;
        colour_by_saturation(&adjacency, vertex_count, &s, taken, colours);
        *colour_count = largest_value(colours, vertex_count) + 1;
    } else {
        status = sinew_fail_memory(error, "the colours of vertices");
    }
    sinew_release(allocator, s.around);
    sinew_release(allocator, s.next);
    sinew_release(allocator, s.back);
    sinew_release(allocator, taken);
    sinew_adjacency_free(&adjacency, allocator);
    return status;
}

/* ---- Recolouring after elements were added ------------------------------------------------------- */

static bool element_is_touched(const sinew_elements *list, int32_t element, const uint8_t *touched)
{
    for (int32_t i = 0; i < list->size; i++)
        if (touched[list->vertices[(size_t)element * (size_t)list->size + (size_t)i]])
            return true;
    return false;
}

/* Copies the elements of a list that contain a vertex of an added element into a list of their own. Returns false if
 * memory runs out. */
static bool list_touched_elements(const sinew_allocator *allocator, const sinew_elements *list, const uint8_t *touched,
                                  sinew_elements *near)
{
    const size_t size = (size_t)list->size;
    int32_t count = 0;
    for (int32_t e = 0; e < list->count; e++)
        count += element_is_touched(list, e, touched);
    int32_t *vertices = sinew_allocate(allocator, (size_t)count * size, sizeof *vertices);
    *near = (sinew_elements){vertices, vertices ? count : 0, list->size};
    for (int32_t e = 0, k = 0; vertices && e < list->count; e++)
        if (element_is_touched(list, e, touched))
            memcpy(vertices + size * (size_t)k++, list->vertices + size * (size_t)e, size * sizeof *vertices);
    return vertices != NULL;
}

/* Keeps v's colour if no neighbour has it, or gives v the lowest free colour. taken[c] == v marks colour c as taken. */
static void recolour_vertex(const sinew_adjacency *adjacency, int32_t *colours, int32_t v, int32_t *taken)
{
    for (int64_t at = adjacency->first[v]; at < adjacency->first[v + 1]; at++)
        taken[colours[adjacency->neighbours[at]]] = v;
    if (taken[colours[v]] != v)
        return;
    colours[v] = 0;
    while (taken[colours[v]] == v)
        colours[v]++;
}

sinew_status sinew_recolour_vertices(const sinew_allocator *allocator, int32_t vertex_count,
                                     const sinew_elements *lists, int32_t list_count, const sinew_elements *added,
                                     int32_t *colours, int32_t *colour_count, sinew_error *error)
{
    sinew_adjacency adjacency = {0};
    uint8_t *touched = sinew_allocate_zero(allocator, (size_t)vertex_count, 1);
    int32_t *taken = sinew_allocate(allocator, (size_t)vertex_count + 1, sizeof *taken);
    sinew_elements *near = sinew_allocate_zero(allocator, (size_t)list_count + 1, sizeof *near);
    bool good = touched && taken && near;
    for (int64_t i = 0; good && i < (int64_t)added->count * added->size; i++)
        touched[added->vertices[i]] = 1;
    for (int32_t k = 0; good && k <= list_count; k++)
        good = list_touched_elements(allocator, k < list_count ? &lists[k] : added, touched, &near[k]);
    sinew_status status = good ? SINEW_OK : sinew_fail_memory(error, "the colours of vertices");
    if (status == SINEW_OK)
        status = sinew_adjacency_build(&adjacency, allocator, vertex_count, near, list_count + 1, error);
    if (status == SINEW_OK) {
        for (int32_t c = 0; c <= vertex_count; c++)
            taken[c] = -1;
        for (int32_t v = 0; v < vertex_count; v++)
            if (touched[v])
                recolour_vertex(&adjacency, colours, v, taken);
        *colour_count = largest_value(colours, vertex_count) + 1;
        sinew_adjacency_free(&adjacency, allocator);
    }
    for (int32_t k = 0; near && k <= list_count; k++)
        sinew_release(allocator, (int32_t *)near[k].vertices);
    sinew_release(allocator, near);
    sinew_release(allocator, touched);
    sinew_release(allocator, taken);
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
