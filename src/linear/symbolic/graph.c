/* SPDX-License-Identifier: MIT
 *
 * graph.c: builds the graph of a sparse symmetric matrix. See graph.h.
 */
#include "linear/symbolic/graph.h"

static void graph_fill(sinew_graph *graph, const size_t *column, const int32_t *row, size_t *next)
{
    const int32_t count = graph->count;
    for (int32_t j = 0; j < count; j++)
        for (size_t e = column[j]; e < column[j + 1]; e++)
            if (row[e] != j) {
                graph->first[j + 1]++;
                graph->first[row[e] + 1]++;
            }
    for (int32_t j = 0; j < count; j++) {
        graph->first[j + 1] += graph->first[j];
        next[j] = graph->first[j];
    }
    for (int32_t j = 0; j < count; j++)
        for (size_t e = column[j]; e < column[j + 1]; e++)
            if (row[e] != j) {
                graph->other[next[j]++] = row[e];
                graph->other[next[row[e]]++] = j;
            }
}

bool sinew_graph_create(sinew_graph *graph, const sinew_allocator *allocator, int32_t count, const size_t *column,
                        const int32_t *row)
{
    const size_t n = (size_t)count;
    *graph = (sinew_graph){.count = count};
    graph->first = sinew_allocate_zero(allocator, n + 1, sizeof *graph->first);
    graph->other = sinew_allocate(allocator, 2 * column[n], sizeof *graph->other);
    size_t *next = sinew_allocate(allocator, n, sizeof *next);
    const bool good = graph->first && graph->other && next;
    if (good)
        graph_fill(graph, column, row, next);
    sinew_release(allocator, next);
    return good;
}

void sinew_graph_destroy(sinew_graph *graph, const sinew_allocator *allocator)
{
    sinew_release(allocator, graph->first);
    sinew_release(allocator, graph->other);
    *graph = (sinew_graph){0};
}
