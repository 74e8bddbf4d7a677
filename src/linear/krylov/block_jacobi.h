/* SPDX-License-Identifier: MIT
 *
 * block_jacobi.h: the inverse 3x3 diagonal blocks of a matrix: the preconditioner of the Krylov methods.
 *
 * Vectors are [count][4] reals with a zero fourth number (base/reduce.h).
 */
#ifndef SINEW_SRC_LINEAR_KRYLOV_BLOCK_JACOBI_H
#define SINEW_SRC_LINEAR_KRYLOV_BLOCK_JACOBI_H

#include "base/base.h"

/* inverse = A^-1 of a symmetric 3x3 block by cofactors, both row-major. Returns false, and writes nothing, unless A is
 * positive definite with a determinant above `floor` times the cube of its trace. */
bool sinew_invert_block(const double A[9], double floor, double inverse[9]);

typedef struct sinew_block_inverse {
    int32_t count, thread_count;
    sinew_real *inverse; /* [count][9] inverses of the diagonal blocks, row-major */
} sinew_block_inverse;

sinew_status sinew_block_inverse_create(const sinew_allocator *allocator, sinew_block_inverse *blocks, int32_t count,
                                        int32_t thread_count, sinew_error *error);
void sinew_block_inverse_destroy(const sinew_allocator *allocator, sinew_block_inverse *blocks);
/* Inverts the diagonal blocks [count][9]. The inverse of a block that is not safely positive definite is replaced by I
 * / s, s the block's largest absolute diagonal entry (s = 1 if that is 0). */
void sinew_block_inverse_set(sinew_block_inverse *blocks, const double *diagonal);
/* z = P r, P the block-diagonal matrix of the inverse 3x3 blocks; r and z [count][4] */
void sinew_block_inverse_apply(const sinew_block_inverse *blocks, const sinew_real *r, sinew_real *z);

#endif
