/* SPDX-License-Identifier: MIT
 *
 * cholesky.h: sparse Cholesky of symmetric matrices of 3x3 blocks, A = L L^T (supernodal.h), in a fill-reducing order.
 *
 * The pattern is the lower triangle by block columns, diagonal block first, rows ascending; values are three scalar
 * columns per block column (objective/assembly.h). Symbolic and numeric work are separate: order and create (analyse)
 * once per pattern, factorise and solve for every set of values. The pattern must be in the order that
 * sinew_fill_reducing_order gave, so a factorisation permutes nothing.
 */
#ifndef SINEW_SRC_LINEAR_FACTOR_CHOLESKY_H
#define SINEW_SRC_LINEAR_FACTOR_CHOLESKY_H

#include "base/base.h"
#include "math/dense.h"

typedef struct sinew_cholesky sinew_cholesky;

/* Computes a fill-reducing, postordered elimination order: order[k] is the block that is eliminated k-th. points
 * [count][4], m, or NULL: rest positions of the blocks (linear/ordering/ordering.h). */
sinew_status sinew_fill_reducing_order(const sinew_allocator *allocator, int32_t count, const int32_t *column,
                                       const int32_t *row, const sinew_real *points, int32_t *order,
                                       sinew_error *error);

/* Analyses the pattern of `count` block columns and allocates L. `kernels` are the dense kernels of the SIMD variant in
 * use. NULL on failure. */
sinew_cholesky *sinew_cholesky_create(const sinew_allocator *allocator, const sinew_dense_kernels *kernels,
                                      int32_t count, const int32_t *column, const int32_t *row, sinew_error *error);
void sinew_cholesky_destroy(sinew_cholesky *cholesky);

/* [9 * column[count]] entries of the 3x3 blocks, the input of factorise */
double *sinew_cholesky_values(sinew_cholesky *cholesky);
/* Computes the Cholesky factor L of A + shift I. SINEW_ERROR_NUMERIC: A + shift I is not positive definite. */
sinew_status sinew_cholesky_factorise(sinew_cholesky *cholesky, double shift, sinew_error *error);
/* x = (A + shift I)^-1 b with the factor last computed; b and x are [3 * count]; b may be x. */
void sinew_cholesky_solve(sinew_cholesky *cholesky, const double *b, double *x);
/* number of stored entries of the Cholesky factor L */
int64_t sinew_cholesky_factor_size(const sinew_cholesky *cholesky);
double sinew_cholesky_factor_cost(const sinew_cholesky *cholesky); /* cost: sum of squares of L's column counts */

#endif
