/* SPDX-License-Identifier: MIT
 *
 * low_rank.h: solves with a matrix that differs from a prefactored one by a few rows:
 *
 *     S' = S + D^T W D,    W diagonal: weights of rows that were added (w > 0) or taken away (w < 0)
 *
 * by Woodbury's formula in the middle of a solve (Hager 1989), where S = L L^T and y = L^-1 b:
 *
 *     x = L^-T (y - V C^-1 V^T y),    V = L^-1 D^T |W|^(1/2),    C = sign(W) + V^T V
 *
 * A column of V reaches only the columns of L on the way from those of its row of D to the root of the elimination
 * tree (Gilbert 1994), so only their panels are touched, four columns of V at a time, and rows that lie close to each
 * other go together. C is not definite where rows are taken away; but its part over them is negative definite as long
 * as S' without the added rows is definite, and then the rest of it, that part eliminated, is positive definite: two
 * Cholesky factorisations.
 */
#ifndef SINEW_SRC_LINEAR_FACTOR_LOW_RANK_H
#define SINEW_SRC_LINEAR_FACTOR_LOW_RANK_H

#include "linear/factor/prefactor.h"

#define SINEW_LOW_ROW_MOST 16

/* A row of D and its weight. Entries that are unknowns come first; others are its owner's business. */
typedef struct sinew_low_row {
    double weight;
    int32_t count, known; /* unknowns, and the others after them */
    int32_t place[SINEW_LOW_ROW_MOST];
    double value[SINEW_LOW_ROW_MOST];
} sinew_low_row;

/* Belongs to one prefactor. Zeroed is empty. */
typedef struct sinew_low_rank {
    /* The ways through the factor. */
    int32_t *rank;     /* [n] when each row of the matrix is eliminated */
    int32_t *panel_of; /* [n] of the row that is eliminated k-th */
    int32_t *up;       /* [panels] panel of the first row below, -1 at roots */
    int32_t *part_of;  /* [panels] */
    int32_t *stamp;    /* [panels] work space, as the next two */
    int64_t *reached;  /* [panels] */
    int32_t *entered;  /* [parts] */

    /* Rows at hand, those taken away first; each of the two kinds by place. */
    int32_t taken, count;
    int64_t *order;     /* [count] first rank << 32 | row */
    size_t *first;      /* [count / 4 rounded up + 1] into panel and start, of four rows each */
    int32_t *panel;     /* panels that they reach, ascending */
    size_t *start;      /* of each of those in values */
    sinew_real *values; /* V: [columns of the panel][4] */
    double *taken_part; /* [taken columns][count] of C's factor */
    double *added_part; /* [count - taken][count - taken] */
    double *product, *work, *sums;
    size_t order_room, first_room, panel_room, start_room, value_room, taken_room, added_room, product_room, work_room,
        sum_room;
} sinew_low_rank;

/* Takes over `count` rows, the first `taken` of which have negative weights, for the factor as it is now. Row r of D
 * has value[k] where the matrix has index[place[k]], k < count; weights are multiplied by
 * `scale`. SINEW_ERROR_NUMERIC: what is left when rows are taken away is too small a difference of large numbers, or
 * not definite. After a failure there are no rows. Allocates only what has outgrown all before. */
sinew_status sinew_low_rank_set(sinew_low_rank *low_rank, sinew_prefactor *factor, const sinew_low_row *rows,
                                int32_t taken, int32_t count, const int32_t *index, double scale, sinew_error *error);
/* x = S'^-1 b as sinew_prefactor_solve. */
void sinew_low_rank_solve(sinew_low_rank *low_rank, sinew_prefactor *factor, const int32_t *place, const sinew_real *b,
                          sinew_real *x);
void sinew_low_rank_destroy(sinew_low_rank *low_rank, const sinew_allocator *allocator);

#endif
