/* SPDX-License-Identifier: MIT
 *
 * lu_qr.c: the whole matrix from its lower triangle of blocks, for the methods of lu_qr.h.
 */
#include "linear/factor/lu_qr.h"

/* Three scalar columns a block column; the matrix is symmetric, so its columns are its rows. */
static void expand_pattern(sinew_general *g)
{
    SuiteSparse_long at = 0;
    for (int32_t j = 0; j < g->rows.count; j++)
        for (size_t s = 0; s < 3; s++) {
            g->pointer[3 * (size_t)j + s] = at;
            for (size_t k = g->rows.first[j]; k < g->rows.first[j + 1]; k++)
                for (int r = 0; r < 3; r++)
                    g->row[at++] = 3 * (SuiteSparse_long)g->rows.blocks[k].other + r;
        }
    g->pointer[g->n] = at;
}

/* The whole matrix from its lower triangle: number (r, s) of block k of block column j. */
static void expand_values(sinew_general *g)
{
    for (int32_t j = 0; j < g->rows.count; j++) {
        const size_t first = g->rows.first[j], blocks = g->rows.first[j + 1] - first;
        for (size_t k = 0; k < blocks; k++) {
            double A[9];
            sinew_row_block_get(&g->rows.blocks[first + k], j, g->lower, A);
            for (size_t s = 0; s < 3; s++)
                for (size_t r = 0; r < 3; r++)
                    g->value[9 * first + 3 * blocks * s + 3 * k + r] = A[3 * s + r];
        }
    }
}

static bool allocate_matrix(sinew_general *g, size_t lower)
{
    const size_t n = (size_t)g->n, entries = 9 * g->rows.first[g->rows.count];
    g->lower = sinew_allocate_zero(&g->allocator, lower, sizeof *g->lower);
    g->pointer = sinew_allocate(&g->allocator, n + 1, sizeof *g->pointer);
    g->row = sinew_allocate(&g->allocator, entries, sizeof *g->row);
    g->value = sinew_allocate_zero(&g->allocator, entries, sizeof *g->value);
    return g->lower && g->pointer && g->row && g->value;
}

/* A matrix of the pattern that is far from singular, and has no zeros that a method might leave out. */
static void fill_trial(sinew_general *g)
{
    for (int32_t j = 0; j < g->rows.count; j++)
        for (size_t k = g->rows.first[j]; k < g->rows.first[j + 1]; k++)
            for (size_t e = 0; e < 9; e++) {
                const sinew_row_block *block = &g->rows.blocks[k];
                const size_t at = block->offset + (size_t)block->stride * (e / 3) + e % 3;
                g->lower[at] =
                    block->other == j && e % 4 == 0 ? 10.0 * (double)(g->rows.first[j + 1] - g->rows.first[j]) : -1;
            }
}

/* One factorisation, so that want of memory for it shows here and not within a step; its memory serves the next. */
static sinew_status analyse(sinew_general *g, sinew_error *error)
{
#ifdef SINEW_WITHOUT_GPL
    (void)g;
    return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                      "linear = lu and linear = qr need UMFPACK and SPQR, which are GPL, and this build is without GPL "
                      "code; use direct or bicgstab");
#else
    if (g->n == 0)
        return SINEW_OK;
    sinew_status status = g->method->analyse(g, error);
    if (status == SINEW_OK) {
        fill_trial(g);
        status = sinew_general_factorise(g, error);
    }
    return status;
#endif
}

sinew_general *sinew_general_create(const sinew_allocator *allocator, const sinew_general_method *method, int32_t count,
                                    const int32_t *column, const int32_t *row, sinew_error *error)
{
    sinew_general *g = sinew_allocate_zero(allocator, 1, sizeof *g);
    if (!g) {
        sinew_fail_memory(error, "the factors");
        return NULL;
    }
    g->allocator = *allocator;
    g->method = method;
    g->n = 3 * (SuiteSparse_long)count;
    sinew_status status = sinew_rows_create(allocator, &g->rows, count, column, row, error);
    if (status == SINEW_OK && !allocate_matrix(g, 9 * (size_t)column[count]))
        status = sinew_fail_memory(error, "the sparse matrix");
    if (status == SINEW_OK) {
        expand_pattern(g);
        status = analyse(g, error);
    }
    if (status == SINEW_OK)
        return g;
    sinew_general_destroy(g);
    return NULL;
}

void sinew_general_destroy(sinew_general *g)
{
    if (!g)
        return;
    const sinew_allocator allocator = g->allocator;
    if (g->memory)
        g->method->release(g);
    if (g->rows.first)
        sinew_rows_destroy(&allocator, &g->rows);
    void *arrays[] = {g->lower, g->pointer, g->row, g->value, g};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&allocator, arrays[i]);
}

double *sinew_general_values(sinew_general *g)
{
    return g->lower;
}

sinew_status sinew_general_factorise(sinew_general *g, sinew_error *error)
{
    if (g->n == 0)
        return SINEW_OK;
    expand_values(g);
    return g->method->factorise(g, error);
}

sinew_status sinew_general_solve(sinew_general *g, const double *b, double *x, sinew_error *error)
{
    return g->n > 0 ? g->method->solve(g, b, x, error) : SINEW_OK;
}
