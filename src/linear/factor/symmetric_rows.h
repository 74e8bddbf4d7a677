/* SPDX-License-Identifier: MIT
 *
 * symmetric_rows.h: the rows of a symmetric matrix of 3x3 blocks whose lower triangle is stored by block columns
 * (objective/assembly.h): for each block row its blocks on both sides of the diagonal, and where their numbers lie.
 */
#ifndef SINEW_SRC_LINEAR_FACTOR_SYMMETRIC_ROWS_H
#define SINEW_SRC_LINEAR_FACTOR_SYMMETRIC_ROWS_H

#include "base/base.h"

/* Block (i, other) of row i. In the values of the lower triangle its number (r, c) is at offset + stride c + r where
 * other <= i, and at offset + stride r + c, as that of its mirror image, where other > i. */
typedef struct sinew_row_block {
    int32_t other, stride;
    size_t offset;
} sinew_row_block;

typedef struct sinew_rows {
    int32_t count;
    size_t *first;           /* [count + 1] into blocks */
    sinew_row_block *blocks; /* [first[count]] of each row, `other` ascending */
} sinew_rows;

sinew_status sinew_rows_create(const sinew_allocator *allocator, sinew_rows *rows, int32_t count, const int32_t *column,
                               const int32_t *row, sinew_error *error);
void sinew_rows_destroy(const sinew_allocator *allocator, sinew_rows *rows);
/* out = block (i, block->other) of the values, row-major */
void sinew_row_block_get(const sinew_row_block *block, int32_t i, const double *values, double out[9]);

#endif
