/* SPDX-License-Identifier: MIT
 *
 * ordering.c: fill-reducing orders by AMD and CAMD (ordering.h). AMD, CAMD: Amestoy, Davis, Duff, Algorithm 837
 * (2004), without and with constraints.
 */
#include "linear/ordering/ordering.h"

#include <amd.h>
#include <camd.h>

#include "base/memory_limit.h"
#include "base/stop.h"
#include "linear/ordering/nested_dissection.h"

/* Converts the graph's offsets to AMD's 32-bit integers. NULL: out of memory, or the graph has 2^31 entries or more. */
static int32_t *narrow_offsets(const sinew_allocator *allocator, const sinew_graph *graph)
{
    const size_t n = (size_t)graph->count;
    int32_t *column = graph->first[n] <= INT32_MAX ? sinew_allocate(allocator, n + 1, sizeof *column) : NULL;
    for (size_t j = 0; column && j <= n; j++)
        column[j] = (int32_t)graph->first[j];
    return column;
}

/* True if there is memory for the work arrays of AMD and CAMD, which allocate without the hooks: the graph's entries
 * (both triangles) plus a fifth, and up to ten integers per column. */
static bool admits_workspace(const sinew_allocator *allocator, const sinew_graph *graph)
{
    const size_t entries = (size_t)graph->first[graph->count];
    return sinew_memory_admits(allocator, entries + entries / 5 + 10 * (size_t)graph->count + 1, sizeof(int32_t));
}

bool sinew_dissection_order(const sinew_allocator *allocator, const sinew_graph *graph, const sinew_real *points,
                            int32_t *order)
{
    int32_t *set = sinew_allocate(allocator, (size_t)graph->count, sizeof *set);
    int32_t *column = narrow_offsets(allocator, graph);
    /* CAMD orders the sets of the dissection one after the other, each by minimum degree. */
    const bool good = set && column && sinew_dissect(allocator, graph, points, set) == SINEW_OK &&
                      admits_workspace(allocator, graph) &&
                      camd_order(graph->count, column, graph->other, order, NULL, NULL, set) >= 0;
    sinew_release(allocator, set);
    sinew_release(allocator, column);
    return good;
}

bool sinew_minimum_degree_order(const sinew_allocator *allocator, const sinew_graph *graph, int32_t *order,
                                double *fill)
{
    double info[AMD_INFO];
    int32_t *column = narrow_offsets(allocator, graph);
    const bool good = column && admits_workspace(allocator, graph) &&
                      amd_order(graph->count, column, graph->other, order, NULL, info) >= 0;
    /* AMD_LNZ counts the entries of the Cholesky factor without the diagonal */
    *fill = good ? (double)graph->count + info[AMD_LNZ] : 0;
    sinew_release(allocator, column);
    return good;
}

bool sinew_find_elimination(sinew_elimination *e, const sinew_allocator *allocator, const sinew_graph *graph,
                            const sinew_real *points)
{
    double fill = 0;
    *e = (sinew_elimination){.allocator = *allocator};
    int32_t *order = sinew_allocate(allocator, (size_t)graph->count, sizeof *order);
    bool good = order && sinew_dissection_order(allocator, graph, points, order) &&
                sinew_elimination_create(e, allocator, graph, order) && !sinew_stop_came() &&
                sinew_minimum_degree_order(allocator, graph, order, &fill);
    if (good && fill < sinew_elimination_fill(e)) {
        sinew_elimination_destroy(e);
        good = sinew_elimination_create(e, allocator, graph, order);
    }
    sinew_release(allocator, order);
    return good && !sinew_stop_came() && sinew_elimination_postorder(e);
}
