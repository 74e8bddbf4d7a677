/* SPDX-License-Identifier: MIT
 *
 * cholesky.h: sparse Cholesky of symmetric matrices of 3x3 blocks, A = L L^T (supernodal.h), ordered by
 * nested dissection.
 *
 * The pattern is the lower triangle by block columns, diagonal block first, rows ascending; values are three scalar
 * columns per block column (objective/assembly.h). Symbolic and numeric work are apart: order, create (analyse) once
 * per pattern, factorise and solve as often as values change. The pattern must already be in the order that
 * sinew_fill_reducing_order gave: the factorisation then works in place and a repeated one makes no copies.
 *
 * CHOLMOD counts the entries of L; what it allocates for that does not go through the allocator, and is given back.
 */
#ifndef SINEW_SRC_LINEAR_FACTOR_CHOLESKY_H
#define SINEW_SRC_LINEAR_FACTOR_CHOLESKY_H

#include "base/base.h"
#include "math/dense.h"

typedef struct sinew_cholesky sinew_cholesky;

/* order[k] = the block that comes k-th in a fill-reducing (and postordered) elimination order. points [count][4], m, or
 * NULL: where the rows lie at rest (linear/ordering/ordering.h). */
sinew_status sinew_fill_reducing_order(const sinew_allocator *allocator, int32_t count, const int32_t *column,
                                       const int32_t *row, const sinew_real *points, int32_t *order,
                                       sinew_error *error);

/* `kernels` of the lanes in use. NULL on failure. */
sinew_cholesky *sinew_cholesky_create(const sinew_allocator *allocator, const sinew_dense_kernels *kernels,
                                      int32_t count, const int32_t *column, const int32_t *row, sinew_error *error);
void sinew_cholesky_destroy(sinew_cholesky *cholesky);

double *sinew_cholesky_values(sinew_cholesky *cholesky); /* [9 * column[count]], to be filled before factorise */
/* L of A + shift I. SINEW_ERROR_NUMERIC when that is not positive definite. */
sinew_status sinew_cholesky_factorise(sinew_cholesky *cholesky, double shift, sinew_error *error);
/* x = A^-1 b, [3 * count] each; b may be x. */
void sinew_cholesky_solve(sinew_cholesky *cholesky, const double *b, double *x);
int64_t sinew_cholesky_factor_size(const sinew_cholesky *cholesky); /* numbers in L */

#endif
