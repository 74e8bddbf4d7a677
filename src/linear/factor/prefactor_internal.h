/* SPDX-License-Identifier: MIT
 *
 * prefactor_internal.h: the inside of a prefactor (prefactor.h), for the files of this room.
 */
#ifndef SINEW_SRC_LINEAR_FACTOR_PREFACTOR_INTERNAL_H
#define SINEW_SRC_LINEAR_FACTOR_PREFACTOR_INTERNAL_H

#include "linear/factor/solve_tree.h"
#include "linear/factor/prefactor.h"

/* Kept for factorisations of new values: P S P^T as a view of the arrays below it, and L. */
typedef struct sinew_kept_factor {
    sinew_supernodal factor;
    cholmod_sparse lower;
    SuiteSparse_long *column, *row; /* [n + 1], [entries] */
    double *value;                  /* [entries] */
    size_t *source;                 /* [entries] the entry of S that each one is */
} sinew_kept_factor;

struct sinew_prefactor {
    sinew_allocator allocator;
    const sinew_panel_kernels *kernels;
    const sinew_dense_kernels *dense;
    int32_t thread_count, n;
    int32_t *order; /* [n] the matrix row that is eliminated k-th */
    sinew_part_tree tree;
    sinew_kept_factor *kept; /* NULL where S never changes */
};

/* The two halves of a solve. Between them y = L^-1 P b lies in the parts' vectors, own columns. */
void sinew_prefactor_forward(sinew_prefactor *prefactor, const int32_t *place, const sinew_real *b);
void sinew_prefactor_backward(sinew_prefactor *prefactor, const int32_t *place, sinew_real *x);

#endif
