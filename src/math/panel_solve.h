/* SPDX-License-Identifier: MIT
 *
 * panel_solve.h: dense triangular panels of a sparse Cholesky factor, applied to three right-hand sides at once.
 *
 * A panel is a run of columns of L with the same rows below the diagonal block. Vectors are [row][4] reals: x, y, z and
 * an unused number, so that one instruction works on one row. The numbers lie in the order in which the solves read
 * them:
 *
 *     diagonal  by blocks of eight rows (the last one has what is left): the columns before the block, eight rows side
 *               by side, then the block's own triangle row by row, with the reciprocal on the diagonal
 *     below     [row / 8][column][8]: eight rows side by side; four, filled up with zeros, where they are enough
 *
 * Each number of L is read once per solve, as a stream; the rest fits in the cache.
 */
#ifndef SINEW_SRC_MATH_PANEL_SOLVE_H
#define SINEW_SRC_MATH_PANEL_SOLVE_H

#include "sinew/types.h"

#define SINEW_PANEL_ROWS 8

typedef struct sinew_panel {
    int32_t first, column_count; /* its columns */
    int32_t row_count;           /* rows below, a multiple of four with fillers */
    const int32_t *rows;         /* [row_count] */
    const sinew_real *diagonal;  /* [column_count (column_count + 1) / 2] */
    const sinew_real *below;     /* [row_count * column_count] */
} sinew_panel;

typedef struct sinew_panel_kernels {
    /* x = L^-1 x over panels 0 .. count-1: own columns solved, rows below updated */
    void (*forward)(const sinew_panel *panels, int32_t count, sinew_real *x);
    /* x = L^-T x over panels count-1 .. 0: own columns from the rows below */
    void (*backward)(const sinew_panel *panels, int32_t count, sinew_real *x);
    /* Four columns V [rows][4] beside vectors y [rows][4]: sums [4][4] = V^T y, and y -= V a with a [4][4]. */
    void (*gather)(const sinew_real *V, int32_t rows, const sinew_real *y, sinew_real *sums);
    void (*spread)(const sinew_real *V, int32_t rows, const sinew_real *a, sinew_real *y);
} sinew_panel_kernels;

#endif
