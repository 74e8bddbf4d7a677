/* SPDX-License-Identifier: MIT
 *
 * ordering.h: in which order a sparse symmetric matrix is eliminated, and what its factor will look like.
 *
 * Two orders are tried and the one with less fill is taken: nested dissection (nested_dissection.h) whose sets are ordered
 * inside by constrained minimum degree (CAMD), and minimum degree alone (AMD), which is better on what is small or
 * thin. METIS, which CHOLMOD could call too, is left out: it takes over SIGTERM and SIGABRT while it works, and starts
 * rand() anew. Counts of entries decide, so the same matrix and places give the same order.
 */
#ifndef SINEW_SRC_LINEAR_ORDERING_ORDERING_H
#define SINEW_SRC_LINEAR_ORDERING_ORDERING_H

#include <cholmod.h>

#include "base/base.h"

/* cholmod_l_analyze of a symmetric matrix whose lower triangle is stored, with `common` set up but for its orderings.
 * points [rows][4], m, or NULL: where the rows lie in space. NULL with common->status set on failure. */
cholmod_factor *sinew_analyse(const sinew_allocator *allocator, cholmod_sparse *lower, const sinew_real *points,
                              cholmod_common *common);
/* The dissection's order alone; order [rows]. */
sinew_status sinew_dissection_order(const sinew_allocator *allocator, const cholmod_sparse *lower,
                                    const sinew_real *points, SuiteSparse_long *order);

#endif
