/* SPDX-License-Identifier: MIT
 *
 * nested_dissection.h: nested dissection of a sparse symmetric matrix by the positions of its rows in space.
 *
 * A set of rows is divided into two halves that no entry of the matrix joins, and a separator that is eliminated after
 * both; each half is divided recursively (George 1973). Two kinds of cuts are tried: straight across the set, along the
 * axes and the body diagonals; and on a coarser graph, along more directions and in breadth-first orders, which need no
 * positions. The best cut of each kind is refined by moving single rows (Fiduccia and Mattheyses 1982; on vertex
 * separators Hendrickson and Rothberg 1998), and the better one is taken.
 *
 * A block with five tets per cell has diagonal layers with 3/4 of the vertices of an axis-aligned layer, so diagonal
 * cuts give less fill than METIS (bench/bench_order.c).
 *
 * The same input gives the same cuts: the method uses neither random numbers nor global state.
 */
#ifndef SINEW_SRC_LINEAR_ORDERING_NESTED_DISSECTION_H
#define SINEW_SRC_LINEAR_ORDERING_NESTED_DISSECTION_H

#include "linear/symbolic/graph.h"

/* Dissects the graph of a matrix. points [count][4], m: positions of the rows, or NULL. Writes set [count]: the rank of
 * each row's set in the elimination order. A separator comes after the sets that it separates. Returns SINEW_OK, or
 * SINEW_ERROR_MEMORY if out of memory or interrupted. */
sinew_status sinew_dissect(const sinew_allocator *allocator, const sinew_graph *graph, const sinew_real *points,
                           int32_t *set);

#endif
