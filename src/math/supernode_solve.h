/* SPDX-License-Identifier: MIT
 *
 * supernode_solve.h: triangular solves with the supernodes of a sparse Cholesky factor, for three right-hand sides at
 * once.
 *
 * A supernode is a range of columns of L with the same rows below the diagonal block. Vectors are [row][4] reals: x, y,
 * z and an unused number, so that one instruction works on one row. The numbers are stored in the order in which the
 * solves read them:
 *
 *    diagonal  in blocks of eight rows (the last block may be smaller): the columns before the block, eight rows side
 *              by side, then the block's own triangle row by row, with the reciprocal on the diagonal
 *    below     [row / 8][column][8]: eight rows side by side; the last group has four rows if four suffice, padded
 *              with zeros
 *
 * A forward or backward solve reads each number of L once, as a stream; the vectors usually fit in the cache.
 */
#ifndef SINEW_SRC_MATH_SUPERNODE_SOLVE_H
#define SINEW_SRC_MATH_SUPERNODE_SOLVE_H

#include "sinew/types.h"

#define SINEW_SUPERNODE_ROWS 8

typedef struct sinew_supernode {
    int32_t first, column_count; /* index of the supernode's first column in x; number of columns */
    int32_t row_count;           /* number of rows below the diagonal block, padded to a multiple of four */
    const int32_t *rows;         /* [row_count] indices in x of the rows below the diagonal block */
    const sinew_real *diagonal;  /* [column_count (column_count + 1) / 2] lower triangle of the diagonal block */
    const sinew_real *below;     /* [row_count * column_count] entries below the diagonal block */
} sinew_supernode;

typedef struct sinew_supernode_kernels {
    /* Forward substitution x = L^-1 x with the factor L over supernodes 0 .. count-1: solves for the own columns,
     * updates the rows below. */
    void (*forward)(const sinew_supernode *supernodes, int32_t count, sinew_real *x);
    /* Backward substitution x = L^-T x with the factor L over supernodes count-1 .. 0: solves for the own columns,
     * given the rows below. */
    void (*backward)(const sinew_supernode *supernodes, int32_t count, sinew_real *x);
    /* Products with four columns V [rows][4] of a low-rank term; y [rows][4] holds vectors. gather: sums [4][4] = V^T
     * y; spread: y -= V a with a [4][4]. */
    void (*gather)(const sinew_real *V, int32_t rows, const sinew_real *y, sinew_real *sums);
    void (*spread)(const sinew_real *V, int32_t rows, const sinew_real *a, sinew_real *y);
} sinew_supernode_kernels;

#endif
