/* SPDX-License-Identifier: MIT
 *
 * graph_coarsening.c: matches vertices and builds the coarser graphs. See graph_coarsening.h.
 */
#include "linear/ordering/graph_coarsening.h"

#include <string.h>

/* capacity for vertices and edges of all levels, relative to the finest; coarsening stops when it is used up */
#define LEVEL_CAPACITY 3
#define DEGREES        64      /* number of classes of vertices by degree; the last holds all higher degrees */
#define JUMP           1000003 /* stride between visited vertices of equal degree; a prime */

static int degree_class(const sinew_weighted *g, int32_t i)
{
    const size_t degree = g->first[i + 1] - g->first[i];
    return degree < DEGREES ? (int)degree : DEGREES - 1;
}

bool sinew_levels_create(const sinew_allocator *allocator, sinew_levels *l, size_t vertices, size_t entries)
{
    sinew_weighted *r = &l->capacity;
    *l = (sinew_levels){.vertex_capacity = LEVEL_CAPACITY * vertices + SINEW_LEVELS_MAX,
                        .edge_capacity = LEVEL_CAPACITY * entries};
    r->first = sinew_allocate(allocator, l->vertex_capacity, sizeof *r->first);
    r->other = sinew_allocate(allocator, l->edge_capacity, sizeof *r->other);
    r->edge = sinew_allocate(allocator, l->edge_capacity, sizeof *r->edge);
    r->weight = sinew_allocate(allocator, l->vertex_capacity, sizeof *r->weight);
    r->price = sinew_allocate(allocator, l->vertex_capacity, sizeof *r->price);
    r->coarse = sinew_allocate(allocator, l->vertex_capacity, sizeof *r->coarse);
    r->point = sinew_allocate(allocator, 3 * l->vertex_capacity, sizeof *r->point);
    r->side = sinew_allocate(allocator, l->vertex_capacity, 1);
    l->match = sinew_allocate(allocator, vertices, sizeof *l->match);
    l->slot = sinew_allocate(allocator, vertices, sizeof *l->slot);
    return r->first && r->other && r->edge && r->weight && r->price && r->coarse && r->point && r->side && l->match &&
           l->slot;
}

void sinew_levels_destroy(const sinew_allocator *allocator, sinew_levels *l)
{
    void *arrays[] = {l->capacity.first,  l->capacity.other, l->capacity.edge, l->capacity.weight, l->capacity.price,
                      l->capacity.coarse, l->capacity.point, l->capacity.side, l->match,           l->slot};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(allocator, arrays[i]);
}

void sinew_levels_begin(sinew_levels *l)
{
    l->graphs[0] = l->capacity;
    l->count = 1;
}

/* Order in which vertices are matched. Vertices with the fewest neighbours are first, because they have the least
 * choice. Vertices of equal degree are visited with a stride; consecutive vertices would pair up along lines. */
static void visiting_order(const sinew_weighted *g, int32_t *order)
{
    int32_t begin[DEGREES + 1] = {0};
    for (int32_t i = 0; i < g->count; i++)
        begin[degree_class(g, i) + 1]++;
    for (int k = 0; k < DEGREES; k++)
        begin[k + 1] += begin[k];
    for (int32_t k = 0; k < g->count; k++) {
        const int32_t i = g->count % JUMP ? (int32_t)((uint64_t)k * JUMP % (uint32_t)g->count) : k;
        order[begin[degree_class(g, i)]++] = i;
    }
}

/* Matches each vertex with the unmatched neighbour of the heaviest edge; among equal edges, with the lighter neighbour.
 * Two vertices together weigh at most `heaviest`; a vertex without a partner is matched with itself. Returns the number
 * of coarse vertices, pairs and single vertices. */
static int32_t match_vertices(const sinew_weighted *g, int32_t heaviest, int32_t *order, int32_t *match)
{
    int32_t made = 0;
    visiting_order(g, order);
    for (int32_t i = 0; i < g->count; i++)
        match[i] = -1;
    for (int32_t k = 0; k < g->count; k++) {
        const int32_t i = order[k];
        if (match[i] >= 0)
            continue;
        int32_t best = i, edge = 0;
        for (size_t e = g->first[i]; e < g->first[i + 1]; e++) {
            const int32_t j = g->other[e];
            if (match[j] < 0 && g->weight[i] + g->weight[j] <= heaviest &&
                (g->edge[e] > edge || (g->edge[e] == edge && g->weight[j] < g->weight[best]))) {
                best = j;
                edge = g->edge[e];
            }
        }
        match[i] = best;
        match[best] = i;
        made++;
    }
    return made;
}

/* Creates a coarse vertex for each pair or single vertex: sets g->coarse, and weight, price and point of c. Coarse
 * vertices are numbered by their lower fine vertex, which keeps neighbours close in memory. */
static void number_pairs(sinew_weighted *g, const int32_t *match, sinew_weighted *c)
{
    c->count = 0;
    for (int32_t i = 0; i < g->count; i++) {
        if (match[i] < i) {
            g->coarse[i] = g->coarse[match[i]];
            continue;
        }
        const int32_t pair[2] = {i, match[i]}, size = match[i] == i ? 1 : 2, at = c->count++;
        g->coarse[i] = at;
        c->weight[at] = c->price[at] = 0;
        for (size_t x = 0; x < 3; x++)
            c->point[3 * (size_t)at + x] = 0;
        for (int32_t m = 0; m < size; m++) {
            c->weight[at] += g->weight[pair[m]];
            c->price[at] += g->price[pair[m]];
            for (size_t x = 0; x < 3; x++)
                c->point[3 * (size_t)at + x] += g->weight[pair[m]] * g->point[3 * (size_t)pair[m] + x];
        }
        for (size_t x = 0; x < 3; x++)
            c->point[3 * (size_t)at + x] /= c->weight[at];
    }
}

/* Adds the edges of a fine vertex to its coarse vertex, whose edges start at c->first[at]; slot [coarse vertices] is
 * the index of the edge to each coarse neighbour. `end` is the end of all edges so far; returns the new end. */
static size_t add_coarse_edges(const sinew_weighted *g, int32_t i, sinew_weighted *c, int32_t at, size_t end,
                               int32_t *slot)
{
    const size_t begin = c->first[at];
    for (size_t e = g->first[i]; e < g->first[i + 1]; e++) {
        const int32_t other = g->coarse[g->other[e]];
        if (other == at)
            continue;
        const size_t found = begin + (size_t)slot[other];
        if (slot[other] >= 0 && found < end && c->other[found] == other) {
            c->edge[found] += g->edge[e];
        } else {
            slot[other] = (int32_t)(end - begin);
            c->other[end] = other;
            c->edge[end++] = g->edge[e];
        }
    }
    return end;
}

static size_t build_coarse_edges(const sinew_weighted *g, const int32_t *match, sinew_weighted *c, int32_t *slot)
{
    size_t end = 0;
    for (int32_t i = 0; i < c->count; i++)
        slot[i] = -1;
    for (int32_t i = 0; i < g->count; i++) {
        if (match[i] < i)
            continue;
        const int32_t at = g->coarse[i];
        c->first[at] = end;
        end = add_coarse_edges(g, i, c, at, end, slot);
        if (match[i] != i)
            end = add_coarse_edges(g, match[i], c, at, end, slot);
    }
    c->first[c->count] = end;
    return end;
}

void sinew_levels_coarsen(sinew_levels *l, int32_t min)
{
    size_t vertices = 0, edges = 0;
    while (l->count < SINEW_LEVELS_MAX) {
        sinew_weighted *g = &l->graphs[l->count - 1], *c = g + 1;
        vertices += (size_t)g->count + 1;
        edges += g->first[g->count];
        if (g->count <= min || vertices + (size_t)g->count + 1 > l->vertex_capacity ||
            edges + g->first[g->count] > l->edge_capacity)
            break;
        const int32_t made = match_vertices(g, 2 * (g->total / min + 1), l->slot, l->match);
        if (made > 0.9 * g->count)
            break;
        *c = (sinew_weighted){.total = g->total,
                              .first = l->capacity.first + vertices,
                              .other = l->capacity.other + edges,
                              .edge = l->capacity.edge + edges,
                              .weight = l->capacity.weight + vertices,
                              .price = l->capacity.price + vertices,
                              .coarse = l->capacity.coarse + vertices,
                              .point = l->capacity.point + 3 * vertices,
                              .side = l->capacity.side + vertices};
        number_pairs(g, l->match, c);
        build_coarse_edges(g, l->match, c, l->slot);
        l->count++;
    }
}
