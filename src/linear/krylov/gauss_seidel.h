/* SPDX-License-Identifier: MIT
 *
 * gauss_seidel.h: over-relaxed Gauss-Seidel sweeps for A x = b, A symmetric of 3x3 blocks:
 *
 *     x_i <- x_i + omega A_ii^-1 (b_i - sum_j A_ij x_j)
 *
 * one block row after the other, each with the updated x of the rows before it (Young 1971). Rows are visited colour by
 * colour; no block couples two rows of one colour, so threads share the rows of a colour and the bits stay the same.
 * The sweeps converge for every positive definite A and 0 < omega < 2 (Ostrowski 1954); for an indefinite A they may
 * diverge. Rows whose diagonal block is singular are skipped.
 */
#ifndef SINEW_SRC_LINEAR_KRYLOV_GAUSS_SEIDEL_H
#define SINEW_SRC_LINEAR_KRYLOV_GAUSS_SEIDEL_H

#include "linear/factor/symmetric_rows.h"

typedef struct sinew_gauss_seidel {
    sinew_allocator allocator;
    int32_t count, colour_count, thread_count;
    int32_t *first_row; /* [colour_count + 1] index of each colour's first row in `order` */
    int32_t *order;     /* [count] block rows sorted by colour */
    sinew_symmetric_rows rows;
    double *values;  /* [9 * blocks] input: the lower triangle of A by block columns, filled before invert */
    double *inverse; /* [count][9] inverse diagonal blocks A_ii^-1; zero if A_ii is singular */
} sinew_gauss_seidel;

/* Creates sweeps for the pattern of linear/factor/cholesky.h. colours [count] are 0 .. colour_count - 1; two rows that
 * a block couples have different colours. */
sinew_status sinew_gauss_seidel_create(const sinew_allocator *allocator, sinew_gauss_seidel *gs, int32_t thread_count,
                                       int32_t count, const int32_t *column, const int32_t *row, const int32_t *colours,
                                       int32_t colour_count, sinew_error *error);
void sinew_gauss_seidel_destroy(sinew_gauss_seidel *gs); /* frees the arrays of the sweeps; accepts a zeroed struct */
void sinew_gauss_seidel_invert(sinew_gauss_seidel *gs);  /* inverts the diagonal blocks A_ii after `values` change */
/* One over-relaxed Gauss-Seidel sweep for A x = b; b and x [3 * count]. */
void sinew_gauss_seidel_sweep(const sinew_gauss_seidel *gs, double omega, const double *b, double *x);
/* Euclidean norm |b - A x|; b and x [3 * count]. */
double sinew_gauss_seidel_residual(const sinew_gauss_seidel *gs, const double *b, const double *x);

#endif
