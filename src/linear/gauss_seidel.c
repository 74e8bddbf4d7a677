/* SPDX-License-Identifier: MIT
 *
 * gauss_seidel.c: see gauss_seidel.h.
 */
#include "linear/gauss_seidel.h"

#include <math.h>
#include <string.h>

/* Rows of one colour below which one thread does them all. */
#define PARALLEL_ROWS 256

/* ---- Create ---------------------------------------------------------------------------------- */

/* Rows by colour, ascending inside a colour. */
static void sort_rows(sinew_gauss_seidel *gs, const int32_t *colours)
{
    memset(gs->first_row, 0, ((size_t)gs->colour_count + 1) * sizeof *gs->first_row);
    for (int32_t i = 0; i < gs->count; i++)
        gs->first_row[colours[i] + 1]++;
    for (int32_t c = 0; c < gs->colour_count; c++)
        gs->first_row[c + 1] += gs->first_row[c];
    for (int32_t i = 0; i < gs->count; i++)
        gs->order[gs->first_row[colours[i]]++] = i;
    /* Filling moved every start to its successor's. */
    memmove(gs->first_row + 1, gs->first_row, (size_t)gs->colour_count * sizeof *gs->first_row);
    gs->first_row[0] = 0;
}

sinew_status sinew_gauss_seidel_create(const sinew_allocator *allocator, sinew_gauss_seidel *gs, int32_t thread_count,
                                       int32_t count, const int32_t *column, const int32_t *row, const int32_t *colours,
                                       int32_t colour_count, sinew_error *error)
{
    *gs = (sinew_gauss_seidel){
        .allocator = *allocator, .count = count, .colour_count = colour_count, .thread_count = thread_count};
    gs->first_row = sinew_allocate(allocator, (size_t)colour_count + 1, sizeof *gs->first_row);
    gs->order = sinew_allocate(allocator, (size_t)count, sizeof *gs->order);
    gs->values = sinew_allocate_zero(allocator, 9 * (size_t)column[count], sizeof *gs->values);
    gs->inverse = sinew_allocate_zero(allocator, 9 * (size_t)count, sizeof *gs->inverse);
    sinew_status status = gs->first_row && gs->order && gs->values && gs->inverse
                              ? sinew_rows_create(allocator, &gs->rows, count, column, row, error)
                              : sinew_fail_memory(error, "Gauss-Seidel sweeps");
    if (status == SINEW_OK)
        sort_rows(gs, colours);
    else
        sinew_gauss_seidel_destroy(gs);
    return status;
}

void sinew_gauss_seidel_destroy(sinew_gauss_seidel *gs)
{
    if (gs->count == 0 && !gs->order)
        return;
    const sinew_allocator allocator = gs->allocator;
    sinew_rows_destroy(&allocator, &gs->rows);
    void *arrays[] = {gs->first_row, gs->order, gs->values, gs->inverse};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&allocator, arrays[i]);
    *gs = (sinew_gauss_seidel){0};
}

/* ---- Numbers --------------------------------------------------------------------------------- */

/* inverse = A^-1 by cofactors, of any definiteness; zero where the determinant is round-off */
static void invert(const double A[9], double inverse[9])
{
    const double cofactors[9] = {A[4] * A[8] - A[5] * A[7], A[2] * A[7] - A[1] * A[8], A[1] * A[5] - A[2] * A[4],
                                 A[5] * A[6] - A[3] * A[8], A[0] * A[8] - A[2] * A[6], A[2] * A[3] - A[0] * A[5],
                                 A[3] * A[7] - A[4] * A[6], A[1] * A[6] - A[0] * A[7], A[0] * A[4] - A[1] * A[3]};
    const double det = A[0] * cofactors[0] + A[1] * cofactors[3] + A[2] * cofactors[6];
    double size = 0;
    for (int k = 0; k < 9; k++)
        size = fmax(size, fabs(A[k]));
    const bool good = fabs(det) > 1e-14 * size * size * size;
    for (int k = 0; k < 9; k++)
        inverse[k] = good ? cofactors[k] / det : 0;
}

void sinew_gauss_seidel_invert(sinew_gauss_seidel *gs)
{
    for (int32_t i = 0; i < gs->count; i++)
        for (size_t k = gs->rows.first[i]; k < gs->rows.first[i + 1]; k++)
            if (gs->rows.blocks[k].other == i) {
                double A[9];
                sinew_row_block_get(&gs->rows.blocks[k], i, gs->values, A);
                invert(A, gs->inverse + 9 * (size_t)i);
            }
}

/* r = b_i - sum_j A_ij x_j */
static void row_residual(const sinew_gauss_seidel *gs, int32_t i, const double *b, const double *x, double r[3])
{
    memcpy(r, b + 3 * (size_t)i, 3 * sizeof *r);
    for (size_t k = gs->rows.first[i]; k < gs->rows.first[i + 1]; k++) {
        const double *xj = x + 3 * (size_t)gs->rows.blocks[k].other;
        double A[9];
        sinew_row_block_get(&gs->rows.blocks[k], i, gs->values, A);
        for (size_t c = 0; c < 3; c++)
            r[c] -= A[3 * c] * xj[0] + A[3 * c + 1] * xj[1] + A[3 * c + 2] * xj[2];
    }
}

void sinew_gauss_seidel_sweep(const sinew_gauss_seidel *gs, double omega, const double *b, double *x)
{
    for (int32_t colour = 0; colour < gs->colour_count; colour++) {
        const int32_t first = gs->first_row[colour], last = gs->first_row[colour + 1];
#pragma omp parallel for schedule(static) num_threads(gs->thread_count) if (last - first >= PARALLEL_ROWS)
        for (int32_t k = first; k < last; k++) {
            const int32_t i = gs->order[k];
            const double *inverse = gs->inverse + 9 * (size_t)i;
            double r[3];
            row_residual(gs, i, b, x, r);
            for (size_t c = 0; c < 3; c++)
                x[3 * (size_t)i + c] +=
                    omega * (inverse[3 * c] * r[0] + inverse[3 * c + 1] * r[1] + inverse[3 * c + 2] * r[2]);
        }
    }
}

double sinew_gauss_seidel_residual(const sinew_gauss_seidel *gs, const double *b, const double *x)
{
    double sum = 0;
    for (int32_t i = 0; i < gs->count; i++) {
        double r[3];
        row_residual(gs, i, b, x, r);
        sum += r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    }
    return sqrt(sum);
}
