/* SPDX-License-Identifier: MIT
 *
 * reordered_matrix.c: pattern and values of P A P^T. See reordered_matrix.h.
 */
#include "linear/symbolic/reordered_matrix.h"

#include <string.h>

/* Builds the pattern of P A P^T, the matrix A permuted by P, in two passes over the entries of A: counts the entries
 * of each column, then places them. */
static void reordered_fill_pattern(sinew_reordered_matrix *m, const size_t *column, const int32_t *row,
                                   const int32_t *index)
{
    size_t *first = m->lower.column;
    const int32_t n = m->lower.n;
    for (int32_t pass = 0; pass < 2; pass++) {
        for (int32_t j = 0; j < n; j++)
            for (size_t e = column[j]; e < column[j + 1]; e++) {
                const int32_t a = index[j], b = index[row[e]], low = a < b ? a : b;
                if (pass == 0) {
                    first[low + 1]++;
                } else {
                    m->slot[e] = first[low]++;
                    m->lower.row[m->slot[e]] = a < b ? b : a;
                }
            }
        for (int32_t j = 0; pass == 0 && j < n; j++)
            first[j + 1] += first[j];
    }
    /* The second pass over the entries has advanced the start of each column to its end; the shift restores the
     * starts. */
    memmove(first + 1, first, (size_t)n * sizeof *first);
    first[0] = 0;
}

bool sinew_reordered_matrix_create(sinew_reordered_matrix *matrix, const sinew_allocator *allocator, int32_t n,
                                   const size_t *column, const int32_t *row, const int32_t *index)
{
    sinew_lower_triangle *lower = &matrix->lower;
    const size_t entries = column[n];
    *lower = (sinew_lower_triangle){.n = n};
    lower->column = sinew_allocate_zero(allocator, (size_t)n + 1, sizeof *lower->column);
    lower->row = sinew_allocate(allocator, entries, sizeof *lower->row);
    lower->value = sinew_allocate_zero(allocator, entries, sizeof *lower->value);
    matrix->slot = sinew_allocate(allocator, entries, sizeof *matrix->slot);
    const bool good = lower->column && lower->row && lower->value && matrix->slot;
    if (good)
        reordered_fill_pattern(matrix, column, row, index);
    return good;
}

void sinew_reordered_matrix_destroy(sinew_reordered_matrix *matrix, const sinew_allocator *allocator)
{
    sinew_release(allocator, matrix->lower.column);
    sinew_release(allocator, matrix->lower.row);
    sinew_release(allocator, matrix->lower.value);
    sinew_release(allocator, matrix->slot);
    *matrix = (sinew_reordered_matrix){0};
}

void sinew_reordered_matrix_set(sinew_reordered_matrix *matrix, const double *value)
{
    for (size_t e = 0; e < matrix->lower.column[matrix->lower.n]; e++)
        matrix->lower.value[matrix->slot[e]] = value[e];
}
