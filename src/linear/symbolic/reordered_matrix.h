/* SPDX-License-Identifier: MIT
 *
 * reordered_matrix.h: the lower triangle of P A P^T, A sparse and symmetric, P a permutation.
 */
#ifndef SINEW_SRC_LINEAR_SYMBOLIC_REORDERED_MATRIX_H
#define SINEW_SRC_LINEAR_SYMBOLIC_REORDERED_MATRIX_H

#include "base/base.h"

/* The lower triangle of a sparse matrix by columns; rows of a column are in any order. */
typedef struct sinew_lower_triangle {
    int32_t n;
    size_t *column; /* [n + 1] index of each column's first entry in row and value */
    int32_t *row;   /* [column[n]] row index of each stored entry */
    double *value;  /* [column[n]] value of each stored entry */
} sinew_lower_triangle;

typedef struct sinew_reordered_matrix {
    sinew_lower_triangle lower;
    size_t *slot; /* [column[n]] index of each entry of A in lower.row and lower.value */
} sinew_reordered_matrix;

/* Builds the pattern of the permuted matrix P A P^T from one triangle of A by columns, column [n + 1] and row
 * [column[n]]; index [n] is the position of each row of A in the new order. Values are zero. False: out of memory;
 * call destroy in any case. */
bool sinew_reordered_matrix_create(sinew_reordered_matrix *matrix, const sinew_allocator *allocator, int32_t n,
                                   const size_t *column, const int32_t *row, const int32_t *index);
void sinew_reordered_matrix_destroy(sinew_reordered_matrix *matrix, const sinew_allocator *allocator);
/* Copies new values of A, value [column[n]], into P A P^T. */
void sinew_reordered_matrix_set(sinew_reordered_matrix *matrix, const double *value);

#endif
