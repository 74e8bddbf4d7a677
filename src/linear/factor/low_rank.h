/* SPDX-License-Identifier: MIT
 *
 * low_rank.h: solves with a matrix that differs from a factored one by a few rank-one terms:
 *
 *     S' = S + D^T W D,    W diagonal: weights of terms that were added (w > 0) or removed (w < 0)
 *
 * by Woodbury's formula in the middle of a solve (Hager 1989), where S = L L^T and y = L^-1 b:
 *
 *     x = L^-T (y - V C^-1 V^T y),    V = L^-1 D^T |W|^(1/2),    C = sign(W) + V^T V
 *
 * A column of V is nonzero only on the paths from the columns of its row of D to the root of the elimination tree
 * (Gilbert 1994). Only the supernodes of these paths are visited, four columns of V at a time; terms whose paths
 * overlap are grouped. C is indefinite if terms are removed. Its block of the removed terms is negative definite as
 * long as S' without the added terms is definite; the Schur complement of that block is then positive definite: two
 * Cholesky factorisations.
 */
#ifndef SINEW_SRC_LINEAR_FACTOR_LOW_RANK_H
#define SINEW_SRC_LINEAR_FACTOR_LOW_RANK_H

#include "linear/factor/factored_system.h"

#define SINEW_RANK_ONE_MAX 16

/* A rank-one term: one row of the matrix D (file head) and its weight. Entries for unknowns come first; entries for
 * known values after them are not read here. */
typedef struct sinew_rank_one_term {
    double weight;
    int32_t count, known; /* numbers of entries of the term: for unknowns and, after them, for known values */
    int32_t index[SINEW_RANK_ONE_MAX];
    double value[SINEW_RANK_ONE_MAX];
} sinew_rank_one_term;

/* Low-rank terms of one factored system. A zeroed struct has no terms. */
typedef struct sinew_low_rank {
    /* Paths through the elimination tree of the factor L. */
    int32_t *rank;         /* [n] position of each matrix row in the elimination order */
    int32_t *supernode_of; /* [n] supernode that contains the column eliminated k-th */
    int32_t *up;           /* [supernodes] parent supernode, which contains the first row below; -1 at roots */
    int32_t *subtree_of;   /* [supernodes] subtree of the solve tree that contains each supernode */
    int32_t *stamp;        /* [supernodes] work space: last quad (group of four terms) that reached each supernode */
    int64_t *reached;      /* [supernodes] work space: the supernodes that a quad of terms reaches */
    int32_t *entered;      /* [subtrees] work space: the subtrees that the current quad of terms has entered */

    /* Current rank-one terms: `taken` removed ones first, then added ones, each kind sorted by `order`. */
    int32_t taken, count;
    int64_t *order;     /* [count] sort key: lowest elimination rank of the term's rows << 32 | index of the term */
    size_t *first;      /* [count / 4 rounded up + 1] index of each quad's first supernode in supernode and start */
    int32_t *supernode; /* [first[quads]] supernodes that each quad of terms reaches, ascending */
    size_t *start;      /* [first[quads]] offset in `values` of each supernode that a quad of terms reaches */
    /* columns V of the low-rank terms: [columns of the supernode][4] for each supernode that a quad of terms reaches */
    sinew_real *values;
    /* [taken][count] columns of the small matrix C (low_rank.c) of the removed terms: L1, L2 of factorise_small */
    double *taken_block;
    /* [count - taken][count - taken] L3: Cholesky factor of the Schur complement of the removed terms */
    double *added_block;
    double *product, *work, *sums;
    size_t order_capacity, first_capacity, supernode_capacity, start_capacity, value_capacity, taken_capacity,
        added_capacity, product_capacity, work_capacity, sum_capacity;
} sinew_low_rank;

/* Sets `count` terms, the first `taken` of which have negative weights, for the current factor. Entry k of a term
 * belongs to row index[term.index[k]] of the matrix; weights are multiplied by `scale`. SINEW_ERROR_NUMERIC: the matrix
 * without the removed terms is not definite, or loses too many digits. After a failure there are no terms. Allocates
 * only if a buffer is too small. */
sinew_status sinew_low_rank_set(sinew_low_rank *low_rank, sinew_factored_system *factor,
                                const sinew_rank_one_term *rows, int32_t taken, int32_t count, const int32_t *index,
                                double scale, sinew_error *error);
/* x = S'^-1 b with the changed matrix S'; arguments as in sinew_factored_system_solve. */
void sinew_low_rank_solve(sinew_low_rank *low_rank, sinew_factored_system *factor, const int32_t *index,
                          const sinew_real *b, sinew_real *x);
void sinew_low_rank_destroy(sinew_low_rank *low_rank, const sinew_allocator *allocator);

#endif
