/* SPDX-License-Identifier: MIT
 *
 * symmetric_rows.c: lists the 3x3 blocks of each block row. See symmetric_rows.h.
 */
#include "linear/factor/symmetric_rows.h"

/* Appends every 3x3 block of the lower triangle and its mirror image so that each block row ascends: first the blocks
 * left of the diagonal, then the diagonal block and the blocks right of it. */
static void place_blocks(sinew_symmetric_rows *rows, size_t *next, const int32_t *column, const int32_t *row)
{
    for (int32_t j = 0; j < rows->count; j++)
        for (int32_t k = column[j] + 1; k < column[j + 1]; k++)
            rows->blocks[next[row[k]]++] = (sinew_symmetric_block){j, 3 * (column[j + 1] - column[j]),
                                                                   9 * (size_t)column[j] + 3 * (size_t)(k - column[j])};
    for (int32_t j = 0; j < rows->count; j++)
        for (int32_t k = column[j]; k < column[j + 1]; k++)
            rows->blocks[next[j]++] = (sinew_symmetric_block){row[k], 3 * (column[j + 1] - column[j]),
                                                              9 * (size_t)column[j] + 3 * (size_t)(k - column[j])};
}

sinew_status sinew_symmetric_rows_create(const sinew_allocator *allocator, sinew_symmetric_rows *rows, int32_t count,
                                         const int32_t *column, const int32_t *row, sinew_error *error)
{
    const size_t n = (size_t)count;
    *rows = (sinew_symmetric_rows){.count = count};
    rows->first = sinew_allocate_zero(allocator, n + 1, sizeof *rows->first);
    rows->blocks = sinew_allocate(allocator, 2 * (size_t)column[count] - n, sizeof *rows->blocks);
    size_t *next = sinew_allocate(allocator, n, sizeof *next);
    const bool good = rows->first && rows->blocks && next;
    if (good) {
        for (int32_t j = 0; j < count; j++)
            for (int32_t k = column[j]; k < column[j + 1]; k++) {
                rows->first[j + 1]++;
                rows->first[row[k] + 1] += row[k] != j;
            }
        for (size_t i = 0; i < n; i++) {
            rows->first[i + 1] += rows->first[i];
            next[i] = rows->first[i];
        }
        place_blocks(rows, next, column, row);
    } else {
        sinew_symmetric_rows_destroy(allocator, rows);
    }
    sinew_release(allocator, next);
    return good ? SINEW_OK : sinew_fail_memory(error, "the rows of the sparse matrix");
}

void sinew_symmetric_rows_destroy(const sinew_allocator *allocator, sinew_symmetric_rows *rows)
{
    sinew_release(allocator, rows->first);
    sinew_release(allocator, rows->blocks);
    *rows = (sinew_symmetric_rows){0};
}

void sinew_symmetric_block_get(const sinew_symmetric_block *block, int32_t i, const double *values, double out[9])
{
    const size_t stride = (size_t)block->stride;
    const bool mirrored = block->other > i;
    for (size_t r = 0; r < 3; r++)
        for (size_t c = 0; c < 3; c++)
            out[3 * r + c] = values[block->offset + (mirrored ? stride * r + c : stride * c + r)];
}
