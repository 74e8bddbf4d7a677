/* SPDX-License-Identifier: MIT
 *
 * elimination.h: the elimination tree of a sparse symmetric matrix A and the column counts of its factor,
 * P A P^T = L L^T, from the graph of A alone.
 *
 *     parent(j) = min { i > j : L_ij != 0 }                              Liu 1986, 1990
 *     entries(j) = | { i >= j : L_ij != 0 } |
 *
 * The tree costs O(e log n) for e entries of A (path compression without balancing; Liu 1986). The counts have the
 * same cost: entry (i, j) adds to a count if j is a leaf of row subtree i. Neighbouring leaves of a subtree share
 * the path above their least common ancestor (Gilbert, Ng and Peyton 1994, figure 3). L itself is never formed.
 *
 * Numerical cancellation is ignored, as in every symbolic factorisation.
 */
#ifndef SINEW_SRC_LINEAR_SYMBOLIC_ELIMINATION_H
#define SINEW_SRC_LINEAR_SYMBOLIC_ELIMINATION_H

#include "linear/symbolic/graph.h"

/* Elimination order, elimination tree and column counts of a matrix. Column k of its Cholesky factor L belongs to
 * vertex order[k] of the graph. */
typedef struct sinew_elimination {
    sinew_allocator allocator;
    const sinew_graph *graph; /* pattern of the matrix; borrowed */
    int32_t *order;           /* [count] order[k]: the vertex that is eliminated k-th */
    int32_t *index;           /* [count] position of each vertex in the elimination order */
    int32_t *parent;          /* [count] parent of column k in the elimination tree, -1 at roots */
    int32_t *entries;         /* [count] number of entries in column k of the Cholesky factor, with the diagonal */
} sinew_elimination;

/* Computes tree and column counts. order [graph->count] is copied; NULL: ascending vertex indices. False: out of
 * memory; call destroy in any case. */
bool sinew_elimination_create(sinew_elimination *e, const sinew_allocator *allocator, const sinew_graph *graph,
                              const int32_t *order);
void sinew_elimination_destroy(sinew_elimination *e); /* frees order, tree and counts; accepts a zeroed struct */

/* Renumbers the columns along a postorder of the tree (Liu 1990, section 3.2): each subtree becomes a range of columns,
 * and the entries of L stay the same. The child with most entries is last, next to its parent, so that the two may
 * share a supernode. False: out of memory, with nothing changed. */
bool sinew_elimination_postorder(sinew_elimination *e);

/* number of entries of the Cholesky factor, with the diagonal */
double sinew_elimination_fill(const sinew_elimination *e);
/* cost of the factorisation: sum of squares of L's column counts */
double sinew_elimination_cost(const sinew_elimination *e);

#endif
