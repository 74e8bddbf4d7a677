/* SPDX-License-Identifier: MIT
 *
 * graph.h: the graph of a sparse symmetric matrix: rows are vertices, entries off the diagonal are edges.
 */
#ifndef SINEW_SRC_LINEAR_SYMBOLIC_GRAPH_H
#define SINEW_SRC_LINEAR_SYMBOLIC_GRAPH_H

#include "base/base.h"

/* The off-diagonal sparsity pattern of both triangles of a symmetric matrix. */
typedef struct sinew_graph {
    int32_t count;
    size_t *first;  /* [count + 1] index of each vertex's first neighbour in other */
    int32_t *other; /* [first[count]] neighbours of each vertex, i.e. columns of its matrix row */
} sinew_graph;

/* Builds the graph from one triangle by columns, with or without the diagonal: column [count + 1], row [column[count]].
 * If the rows of each column ascend, the neighbours of each vertex ascend too. False: out of memory; call destroy in
 * any case. */
bool sinew_graph_create(sinew_graph *graph, const sinew_allocator *allocator, int32_t count, const size_t *column,
                        const int32_t *row);
void sinew_graph_destroy(sinew_graph *graph, const sinew_allocator *allocator);

#endif
