/* SPDX-License-Identifier: MIT
 *
 * factored_system_internal.h: the struct of a factored system (factored_system.h), for the files of this folder.
 */
#ifndef SINEW_SRC_LINEAR_FACTOR_FACTORED_SYSTEM_INTERNAL_H
#define SINEW_SRC_LINEAR_FACTOR_FACTORED_SYSTEM_INTERNAL_H

#include "linear/factor/solve_tree.h"
#include "linear/factor/factored_system.h"

/* Data of a factored system that allow a factorisation of new values in the same pattern. */
typedef struct sinew_kept_factor {
    sinew_supernodal factor;       /* Cholesky factor L of the permuted matrix, P S P^T = L L^T */
    sinew_reordered_matrix matrix; /* permuted matrix P S P^T, P the permutation of the elimination order */
} sinew_kept_factor;

struct sinew_factored_system {
    sinew_allocator allocator;
    const sinew_supernode_kernels *kernels;
    const sinew_dense_kernels *dense;
    int32_t thread_count, n;
    int32_t *order; /* [n] order[k]: the matrix row that is eliminated k-th */
    sinew_solve_tree tree;
    sinew_kept_factor *kept; /* data for factorising new values of the matrix S; NULL: not kept, no refactor */
};

/* Forward and backward substitution of a solve. Forward leaves y = L^-1 P b (factor L, permutation P) in the
 * subtrees' vectors, in their own columns; backward reads y from there. */
void sinew_factored_system_forward(sinew_factored_system *system, const int32_t *index, const sinew_real *b);
void sinew_factored_system_backward(sinew_factored_system *system, const int32_t *index, sinew_real *x);

#endif
