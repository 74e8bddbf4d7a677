/* SPDX-License-Identifier: MIT
 *
 * ordering.h: fill-reducing elimination orders of sparse symmetric matrices.
 *
 * Two orders are tried, and the one with less fill is taken: nested dissection (nested_dissection.h) whose sets are
 * ordered inside by constrained minimum degree (CAMD), and minimum degree alone (AMD), which is better on small or thin
 * graphs. METIS is not used: it installs handlers for SIGTERM and SIGABRT while it works, and reseeds rand(). Counts of
 * entries decide (an upper bound for AMD), so the same graph and points give the same order.
 *
 * AMD and CAMD of SuiteSparse (BSD-3-Clause) allocate with SuiteSparse's own hooks, not with the allocator.
 */
#ifndef SINEW_SRC_LINEAR_ORDERING_ORDERING_H
#define SINEW_SRC_LINEAR_ORDERING_ORDERING_H

#include "linear/symbolic/elimination.h"

/* Computes the dissection order and the minimum-degree order and stores the one with less fill in *e, postordered, with
 * elimination tree and column counts. points [count][4], m, or NULL: positions of the vertices in space. False: out of
 * memory, or stopped (base/stop.h); destroy in any case. */
bool sinew_find_elimination(sinew_elimination *e, const sinew_allocator *allocator, const sinew_graph *graph,
                            const sinew_real *points);
/* Fill-reducing order by nested dissection, into order [count]. False: out of memory or interrupted. */
bool sinew_dissection_order(const sinew_allocator *allocator, const sinew_graph *graph, const sinew_real *points,
                            int32_t *order);
/* Fill-reducing order by minimum degree, into order [count]. *fill: an upper bound of the entries of the Cholesky
 * factor, from AMD's approximate degrees. False: out of memory. */
bool sinew_minimum_degree_order(const sinew_allocator *allocator, const sinew_graph *graph, int32_t *order,
                                double *fill);

#endif
