/* SPDX-License-Identifier: MIT
 *
 * nested_dissection.h: nested dissection of a sparse symmetric matrix by the places of its rows in space.
 *
 * A set of rows is cut in two halves of which no entry of the matrix joins one with the other, and a separator that is
 * eliminated after both; then each half likewise (George 1973). A cut is looked for in two ways, and the better one
 * taken: straight across the set, along the axes and the diagonals; and on a coarser picture of its graph, along more
 * directions and in breadth-first orders, which need no places, from where it is carried back to the set itself. Both
 * are refined by moving single rows (Fiduccia and Mattheyses 1982, on vertex separators: Hendrickson and Rothberg
 * 1998).
 *
 * A block of five tets a cell has layers across its diagonals that no plane along the axes shows: 3/4 as large as a
 * plane, and the reason why fill is less than METIS's there (bench/bench_order.c).
 *
 * The same input gives the same cuts: nothing is drawn at random, and nothing outside the call is touched.
 */
#ifndef SINEW_SRC_LINEAR_ORDERING_NESTED_DISSECTION_H
#define SINEW_SRC_LINEAR_ORDERING_NESTED_DISSECTION_H

#include "base/base.h"

/* Both triangles of the pattern without its diagonal. */
typedef struct sinew_graph {
    int32_t count;
    size_t *first;  /* [count + 1] into other */
    int32_t *other; /* [first[count]] */
} sinew_graph;

/* points [count][4], m, or NULL. set [count] gets the place of each row's set in the order of elimination: a set comes
 * after those that it separates. Returns SINEW_OK, or SINEW_ERROR_MEMORY. */
sinew_status sinew_dissect(const sinew_allocator *allocator, const sinew_graph *graph, const sinew_real *points,
                           int32_t *set);

#endif
