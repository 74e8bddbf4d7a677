/* SPDX-License-Identifier: MIT
 *
 * ordering.c: see ordering.h. CAMD: Amestoy, Davis, Duff, Algorithm 837 (2004), with constraints.
 */
#include "linear/ordering/ordering.h"

#include <camd.h>

#include "linear/ordering/nested_dissection.h"

/* Both triangles without the diagonal. */
static void fill_graph(const cholmod_sparse *lower, sinew_graph *graph, size_t *next)
{
    const SuiteSparse_long *p = lower->p, *i = lower->i;
    for (int32_t j = 0; j < graph->count; j++)
        for (SuiteSparse_long k = p[j]; k < p[j + 1]; k++)
            if (i[k] != j) {
                graph->first[j + 1]++;
                graph->first[i[k] + 1]++;
            }
    for (int32_t j = 0; j < graph->count; j++) {
        graph->first[j + 1] += graph->first[j];
        next[j] = graph->first[j];
    }
    for (int32_t j = 0; j < graph->count; j++)
        for (SuiteSparse_long k = p[j]; k < p[j + 1]; k++)
            if (i[k] != j) {
                graph->other[next[j]++] = (int32_t)i[k];
                graph->other[next[i[k]]++] = j;
            }
}

static bool make_graph(const sinew_allocator *allocator, const cholmod_sparse *lower, sinew_graph *graph)
{
    const size_t n = lower->nrow, entries = 2 * (size_t)((const SuiteSparse_long *)lower->p)[n];
    graph->count = (int32_t)n;
    graph->first = sinew_allocate_zero(allocator, n + 1, sizeof *graph->first);
    graph->other = sinew_allocate(allocator, entries, sizeof *graph->other);
    size_t *next = sinew_allocate(allocator, n, sizeof *next);
    const bool good = graph->first && graph->other && next;
    if (good)
        fill_graph(lower, graph, next);
    sinew_release(allocator, next);
    return good;
}

/* Minimum degree within the sets, one set after the other. */
static bool order_sets(const sinew_allocator *allocator, const sinew_graph *graph, const int32_t *set,
                       SuiteSparse_long *order)
{
    const size_t n = (size_t)graph->count, entries = graph->first[n];
    SuiteSparse_long *column = sinew_allocate(allocator, n + 1, sizeof *column);
    SuiteSparse_long *row = sinew_allocate(allocator, entries, sizeof *row);
    SuiteSparse_long *constraint = sinew_allocate(allocator, n, sizeof *constraint);
    bool good = column && row && constraint;
    if (good) {
        for (size_t j = 0; j <= n; j++)
            column[j] = (SuiteSparse_long)graph->first[j];
        for (size_t k = 0; k < entries; k++)
            row[k] = graph->other[k];
        for (size_t j = 0; j < n; j++)
            constraint[j] = set[j];
        good = camd_l_order(graph->count, column, row, order, NULL, NULL, constraint) >= 0;
    }
    sinew_release(allocator, column);
    sinew_release(allocator, row);
    sinew_release(allocator, constraint);
    return good;
}

sinew_status sinew_dissection_order(const sinew_allocator *allocator, const cholmod_sparse *lower,
                                    const sinew_real *points, SuiteSparse_long *order)
{
    sinew_graph graph = {0};
    int32_t *set = sinew_allocate(allocator, lower->nrow, sizeof *set);
    const bool good = set && make_graph(allocator, lower, &graph) &&
                      sinew_dissect(allocator, &graph, points, set) == SINEW_OK &&
                      order_sets(allocator, &graph, set, order);
    sinew_release(allocator, graph.first);
    sinew_release(allocator, graph.other);
    sinew_release(allocator, set);
    return good ? SINEW_OK : SINEW_ERROR_MEMORY;
}

cholmod_factor *sinew_analyse(const sinew_allocator *allocator, cholmod_sparse *lower, const sinew_real *points,
                              cholmod_common *common)
{
    cholmod_factor *factor = NULL;
    SuiteSparse_long *order = sinew_allocate(allocator, lower->nrow, sizeof *order);
    if (order && sinew_dissection_order(allocator, lower, points, order) == SINEW_OK) {
        common->nmethods = 2;
        common->method[0].ordering = CHOLMOD_GIVEN;
        common->method[1].ordering = CHOLMOD_AMD;
        factor = cholmod_l_analyze_p(lower, order, NULL, 0, common);
    } else {
        common->status = CHOLMOD_OUT_OF_MEMORY;
    }
    sinew_release(allocator, order);
    return factor;
}
