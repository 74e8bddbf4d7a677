/* SPDX-License-Identifier: MIT
 *
 * coarse_factor.c: pattern, values and Cholesky factor of a coarse matrix. See coarse_factor.h.
 */
#include "solve/coarse/coarse_factor.h"

#include <string.h>

#include "base/sort.h"
#include "base/stop.h"
#include "base/tasks.h"

enum {
    /* size of the matrix of basis-function pairs at one entry (r, c) of a 3x3 block */
    WEIGHTS = SINEW_MODES * SINEW_MODES,
    SHIFTS = 3 /* number of diagonal shifts tried on a matrix that is not positive definite */
};
/* first diagonal shift, as a fraction of the mean diagonal entry; each retry is a thousand times larger */
#define SHIFT_FIRST 1e-10

/* ---- Pattern of the coarse factor -------------------------------------------------------------- */

static sinew_status order_rows(sinew_coarse_system *c, const sinew_allocator *allocator, const sinew_real *points,
                               sinew_error *error)
{
    const sinew_coarse_matrix *m = &c->matrix;
    int32_t *order = sinew_allocate(allocator, (size_t)m->count, sizeof *order);
    if (!order)
        return sinew_fail_memory(error, "the order of the aggregates");
    const sinew_status status = sinew_fill_reducing_order(allocator, m->count, m->column, m->row, points, order, error);
    for (int32_t k = 0; status == SINEW_OK && k < m->count; k++)
        c->position[order[k]] = k;
    sinew_release(allocator, order);
    return status;
}

static int compare_coarse_entries(const void *a, const void *b)
{
    const sinew_coarse_entry *x = a, *y = b;
    return (x->row > y->row) - (x->row < y->row);
}

/* Lists the 12x12 blocks of the coarse matrix by block column, in elimination order. */
static void list_coarse_entries(sinew_coarse_system *c)
{
    const sinew_coarse_matrix *g = &c->matrix;
    int32_t *first = c->first_slot;
    memset(first, 0, ((size_t)c->matrix.count + 1) * sizeof *first);
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t j = 0; j < c->matrix.count; j++)
            for (int32_t b = g->column[j]; b < g->column[j + 1]; b++) {
                const int32_t row = c->position[g->row[b]], column = c->position[j];
                const bool transposed = row < column;
                if (pass == 0)
                    first[(transposed ? row : column) + 1]++;
                else
                    c->slots[first[transposed ? row : column]++] =
                        (sinew_coarse_entry){transposed ? column : row, b, transposed};
            }
        for (int32_t j = 0; pass == 0 && j < c->matrix.count; j++)
            first[j + 1] += first[j];
    }
    memmove(first + 1, first, (size_t)c->matrix.count * sizeof *first);
    first[0] = 0;
    for (int32_t j = 0; j < c->matrix.count; j++)
        sinew_sort(c->slots + first[j], (size_t)(first[j + 1] - first[j]), sizeof *c->slots, compare_coarse_entries);
}

/* Writes the row indices of the factor's lower triangle: one column of 3x3 blocks for each basis function of each
 * aggregate. */
static void fill_pattern(const sinew_coarse_system *c, int32_t *row)
{
    int32_t at = 0;
    for (int32_t j = 0; j < c->matrix.count; j++)
        for (int32_t f = 0; f < SINEW_MODES; f++) {
            c->column[SINEW_MODES * j + f] = at;
            for (int32_t k = c->first_slot[j]; k < c->first_slot[j + 1]; k++)
                for (int32_t i = c->slots[k].row == j ? f : 0; i < SINEW_MODES; i++)
                    row[at++] = SINEW_MODES * c->slots[k].row + i;
        }
    c->column[SINEW_MODES * c->matrix.count] = at;
}

sinew_status sinew_coarse_system_create(sinew_coarse_system *c, const sinew_objective *o,
                                        const sinew_coarse_matrix *matrix, const sinew_real *points, sinew_error *error)
{
    const sinew_allocator *allocator = &o->allocator;
    const size_t count = (size_t)matrix->count, pairs = (size_t)matrix->column[count];
    *c = (sinew_coarse_system){.matrix = *matrix};
    c->position = sinew_allocate(allocator, count, sizeof *c->position);
    c->first_slot = sinew_allocate(allocator, count + 1, sizeof *c->first_slot);
    c->slots = sinew_allocate(allocator, pairs, sizeof *c->slots);
    c->column = sinew_allocate(allocator, SINEW_MODES * count + 1, sizeof *c->column);
    c->right = sinew_allocate(allocator, SINEW_COARSE_NUMBERS * count, sizeof *c->right);
    int32_t *row = sinew_allocate(allocator, WEIGHTS * pairs, sizeof *row);
    sinew_status status = SINEW_OK;
    if (!c->position || !c->first_slot || !c->slots || !c->column || !c->right || !row)
        status = sinew_fail_memory(error, "the coarse system");
    if (status == SINEW_OK)
        status = order_rows(c, allocator, points, error);
    if (status == SINEW_OK) {
        list_coarse_entries(c);
        fill_pattern(c, row);
        c->factor =
            sinew_cholesky_create(allocator, o->simd->dense, SINEW_MODES * matrix->count, c->column, row, error);
        status = c->factor ? SINEW_OK : SINEW_ERROR_MEMORY;
    }
    sinew_release(allocator, row);
    return status;
}

void sinew_coarse_system_destroy(sinew_coarse_system *c, const sinew_allocator *allocator)
{
    void *arrays[] = {c->position, c->first_slot, c->slots, c->column, c->right};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(allocator, arrays[i]);
    sinew_cholesky_destroy(c->factor);
    *c = (sinew_coarse_system){0};
}

/* ---- Values of the coarse factor --------------------------------------------------------------- */

/* Copies block columns of the coarse matrix into the factor's layout (objective/assembly.h): three scalar columns for
 * each basis function. */
static void copy_columns(const void *context, int32_t member, int32_t first, int32_t last)
{
    const sinew_coarse_system *c = context;
    double *values = sinew_cholesky_values(c->factor);
    (void)member;
    for (int32_t j = first; j < last; j++)
        for (size_t f = 0; f < SINEW_MODES; f++) {
            const int32_t *column = c->column + SINEW_MODES * j + (int32_t)f;
            const size_t stride = 3 * (size_t)(column[1] - column[0]);
            double *out = values + 9 * (size_t)column[0];
            for (int32_t k = c->first_slot[j]; k < c->first_slot[j + 1]; k++) {
                const sinew_coarse_entry *p = &c->slots[k];
                const double *block = c->matrix.values + SINEW_PAIR_NUMBERS * (size_t)p->pair;
                for (size_t i = p->row == j ? f : 0; i < SINEW_MODES; i++, out += 3)
                    for (size_t e = 0; e < 9; e++)
                        out[stride * (e % 3) + e / 3] = p->transposed
                                                            ? block[WEIGHTS * (e % 3 * 3 + e / 3) + f * SINEW_MODES + i]
                                                            : block[WEIGHTS * e + i * SINEW_MODES + f];
            }
        }
}

static double mean_diagonal(const sinew_coarse_system *c)
{
    const double *values = sinew_cholesky_values(c->factor);
    const int32_t count = SINEW_MODES * c->matrix.count;
    double sum = 0;
    for (int32_t j = 0; j < count; j++) {
        const size_t at = 9 * (size_t)c->column[j], stride = 3 * (size_t)(c->column[j + 1] - c->column[j]);
        for (size_t k = 0; k < 3; k++)
            sum += values[at + stride * k + k];
    }
    return sum / (3.0 * count);
}

bool sinew_coarse_system_factorise(sinew_coarse_system *c, int32_t thread_count)
{
    double shift = 0;
    bool good = false;
    sinew_tasks_for(thread_count, c->matrix.count, 16, copy_columns, c);
    for (int k = 0; k <= SHIFTS && !good && !sinew_stop_came(); k++) {
        good = sinew_cholesky_factorise(c->factor, shift, NULL) == SINEW_OK;
        shift = k == 0 ? SHIFT_FIRST * mean_diagonal(c) : 1e3 * shift;
    }
    return good;
}

void sinew_coarse_system_solve(const sinew_coarse_system *c, double *x)
{
    const size_t size = SINEW_COARSE_NUMBERS * sizeof *x;
    for (int32_t a = 0; a < c->matrix.count; a++)
        memcpy(c->right + SINEW_COARSE_NUMBERS * (size_t)c->position[a], x + SINEW_COARSE_NUMBERS * (size_t)a, size);
    sinew_cholesky_solve(c->factor, c->right, c->right);
    for (int32_t a = 0; a < c->matrix.count; a++)
        memcpy(x + SINEW_COARSE_NUMBERS * (size_t)a, c->right + SINEW_COARSE_NUMBERS * (size_t)c->position[a], size);
}
