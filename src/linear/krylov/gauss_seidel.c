/* SPDX-License-Identifier: MIT
 *
 * gauss_seidel.c: coloured Gauss-Seidel sweeps over 3x3 block rows. See gauss_seidel.h.
 */
#include "linear/krylov/gauss_seidel.h"

#include <math.h>
#include <string.h>

#include "base/phases.h"

#define PARALLEL_ROWS 1024 /* number of block rows below which one thread sweeps */
#define ITEM_ROWS     128  /* block rows per work item of a thread */

/* ---- Creation of coloured sweeps ------------------------------------------------------------- */

/* Lists the block rows by colour, ascending inside a colour. */
static void gauss_seidel_sort_rows(sinew_gauss_seidel *gs, const int32_t *colours)
{
    memset(gs->first_row, 0, ((size_t)gs->colour_count + 1) * sizeof *gs->first_row);
    for (int32_t i = 0; i < gs->count; i++)
        gs->first_row[colours[i] + 1]++;
    for (int32_t c = 0; c < gs->colour_count; c++)
        gs->first_row[c + 1] += gs->first_row[c];
    for (int32_t i = 0; i < gs->count; i++)
        gs->order[gs->first_row[colours[i]]++] = i;
    /* Filling `order` has advanced first_row of each colour to that of the next colour; the shift restores
     * first_row. */
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
                              ? sinew_symmetric_rows_create(allocator, &gs->rows, count, column, row, error)
                              : sinew_fail_memory(error, "Gauss-Seidel sweeps");
    if (status == SINEW_OK)
        gauss_seidel_sort_rows(gs, colours);
    else
        sinew_gauss_seidel_destroy(gs);
    return status;
}

void sinew_gauss_seidel_destroy(sinew_gauss_seidel *gs)
{
    if (gs->count == 0 && !gs->order)
        return;
    const sinew_allocator allocator = gs->allocator;
    sinew_symmetric_rows_destroy(&allocator, &gs->rows);
    void *arrays[] = {gs->first_row, gs->order, gs->values, gs->inverse};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&allocator, arrays[i]);
    *gs = (sinew_gauss_seidel){0};
}

/* ---- Sweeps over the current values ---------------------------------------------------------- */

/* inverse = A^-1 of a 3x3 block by cofactors, for any definiteness; zero if the determinant is round-off */
static void invert_diagonal_block(const double A[9], double inverse[9])
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
                sinew_symmetric_block_get(&gs->rows.blocks[k], i, gs->values, A);
                invert_diagonal_block(A, gs->inverse + 9 * (size_t)i);
            }
}

/* Residual of block row i: r = b_i - sum_j A_ij x_j. */
static void row_residual(const sinew_gauss_seidel *gs, int32_t i, const double *b, const double *x, double r[3])
{
    memcpy(r, b + 3 * (size_t)i, 3 * sizeof *r);
    for (size_t k = gs->rows.first[i]; k < gs->rows.first[i + 1]; k++) {
        const double *xj = x + 3 * (size_t)gs->rows.blocks[k].other;
        double A[9];
        sinew_symmetric_block_get(&gs->rows.blocks[k], i, gs->values, A);
        for (size_t c = 0; c < 3; c++)
            r[c] -= A[3 * c] * xj[0] + A[3 * c + 1] * xj[1] + A[3 * c + 2] * xj[2];
    }
}

/* Arguments of one sweep. Phase k updates the rows of colour k; no block A_ij couples two of them. */
typedef struct sweep_pass {
    const sinew_gauss_seidel *gs;
    double omega;
    const double *b;
    double *x;
} sweep_pass;

static int32_t count_sweep_items(const void *context, int32_t phase)
{
    const int32_t *first = ((const sweep_pass *)context)->gs->first_row + phase;
    return (first[1] - first[0] + ITEM_ROWS - 1) / ITEM_ROWS;
}

static void run_sweep_item(const void *context, int32_t phase, int32_t item)
{
    const sweep_pass *pass = context;
    const sinew_gauss_seidel *gs = pass->gs;
    const int32_t begin = gs->first_row[phase] + item * ITEM_ROWS, last = gs->first_row[phase + 1];
    const int32_t end = last - begin < ITEM_ROWS ? last : begin + ITEM_ROWS;
    for (int32_t k = begin; k < end; k++) {
        const int32_t i = gs->order[k];
        const double *inverse = gs->inverse + 9 * (size_t)i;
        double r[3];
        row_residual(gs, i, pass->b, pass->x, r);
        for (size_t c = 0; c < 3; c++)
            pass->x[3 * (size_t)i + c] +=
                pass->omega * (inverse[3 * c] * r[0] + inverse[3 * c + 1] * r[1] + inverse[3 * c + 2] * r[2]);
    }
}

void sinew_gauss_seidel_sweep(const sinew_gauss_seidel *gs, double omega, const double *b, double *x)
{
    const sweep_pass pass = {gs, omega, b, x};
    const sinew_phases work = {gs->colour_count, count_sweep_items, run_sweep_item, &pass};
    sinew_phases_run(&work, gs->count >= PARALLEL_ROWS ? gs->thread_count : 1);
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
