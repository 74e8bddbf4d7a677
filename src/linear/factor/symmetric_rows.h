/* SPDX-License-Identifier: MIT
 *
 * symmetric_rows.h: the rows of a symmetric matrix of 3x3 blocks whose lower triangle is stored by block columns
 * (objective/assembly.h): the blocks of each block row on both sides of the diagonal, and the offsets of their numbers.
 */
#ifndef SINEW_SRC_LINEAR_FACTOR_SYMMETRIC_ROWS_H
#define SINEW_SRC_LINEAR_FACTOR_SYMMETRIC_ROWS_H

#include "base/base.h"

/* Block (i, other) of block row i. Entry (r, c) of the block is at offset + stride c + r in the values of the lower
 * triangle if other <= i. If other > i, the mirror image is stored, with this entry at offset + stride r + c. */
typedef struct sinew_symmetric_block {
    int32_t other, stride;
    size_t offset;
} sinew_symmetric_block;

typedef struct sinew_symmetric_rows {
    int32_t count;
    size_t *first;                 /* [count + 1] index of each block row's first block in blocks */
    sinew_symmetric_block *blocks; /* [first[count]] blocks of each block row, `other` ascending */
} sinew_symmetric_rows;

sinew_status sinew_symmetric_rows_create(const sinew_allocator *allocator, sinew_symmetric_rows *rows, int32_t count,
                                         const int32_t *column, const int32_t *row, sinew_error *error);
void sinew_symmetric_rows_destroy(const sinew_allocator *allocator, sinew_symmetric_rows *rows);
/* Copies the 3x3 block (i, block->other) from the values of the lower triangle to out, row-major. */
void sinew_symmetric_block_get(const sinew_symmetric_block *block, int32_t i, const double *values, double out[9]);

#endif
