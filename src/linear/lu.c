/* SPDX-License-Identifier: MIT
 *
 * lu.c: see lu.h. UMFPACK 5 (Davis 2004, unsymmetric-pattern multifrontal method) with its symmetric strategy: the
 * matrix comes in a fill-reducing order, and pivots are taken off the diagonal only where those on it are too small.
 */
#include "linear/lu.h"

#ifndef SINEW_WITHOUT_GPL

#include <umfpack.h>

#include "linear/blas_threads.h"
#include "linear/symmetric.h"

struct sinew_lu {
    sinew_allocator allocator;
    SuiteSparse_long n; /* 3 * count */
    sinew_rows rows;
    double *lower;             /* [9 * blocks] the caller's values */
    SuiteSparse_long *pointer; /* [n + 1] scalar columns of the whole matrix */
    SuiteSparse_long *row;     /* [pointer[n]] */
    double *value;             /* [pointer[n]] */
    SuiteSparse_long *work_i;  /* [n] */
    double *work;              /* [5 n] */
    double control[UMFPACK_CONTROL];
    void *symbolic, *numeric;
};

static sinew_status fail_umfpack(SuiteSparse_long status, const char *what, sinew_error *error)
{
    if (status == UMFPACK_ERROR_out_of_memory)
        return sinew_fail_memory(error, what);
    if (status == UMFPACK_WARNING_singular_matrix)
        return sinew_fail(error, SINEW_ERROR_NUMERIC, "%s: the matrix is singular", what);
    return sinew_fail(error, SINEW_ERROR_NUMERIC, "%s: UMFPACK status %d", what, (int)status);
}

/* ---- Create ---------------------------------------------------------------------------------- */

/* Three scalar columns a block column; the matrix is symmetric, so its columns are its rows. */
static void expand_pattern(sinew_lu *lu)
{
    SuiteSparse_long at = 0;
    for (int32_t j = 0; j < lu->rows.count; j++)
        for (size_t s = 0; s < 3; s++) {
            lu->pointer[3 * (size_t)j + s] = at;
            for (size_t k = lu->rows.first[j]; k < lu->rows.first[j + 1]; k++)
                for (int r = 0; r < 3; r++)
                    lu->row[at++] = 3 * (SuiteSparse_long)lu->rows.blocks[k].other + r;
        }
    lu->pointer[lu->n] = at;
}

static bool allocate_matrix(sinew_lu *lu, size_t lower)
{
    const size_t n = (size_t)lu->n, entries = 9 * lu->rows.first[lu->rows.count];
    lu->lower = sinew_allocate_zero(&lu->allocator, lower, sizeof *lu->lower);
    lu->pointer = sinew_allocate(&lu->allocator, n + 1, sizeof *lu->pointer);
    lu->row = sinew_allocate(&lu->allocator, entries, sizeof *lu->row);
    lu->value = sinew_allocate_zero(&lu->allocator, entries, sizeof *lu->value);
    lu->work_i = sinew_allocate(&lu->allocator, n, sizeof *lu->work_i);
    lu->work = sinew_allocate(&lu->allocator, 5 * n, sizeof *lu->work);
    return lu->lower && lu->pointer && lu->row && lu->value && lu->work_i && lu->work;
}

static sinew_status analyse(sinew_lu *lu, sinew_error *error)
{
    umfpack_dl_defaults(lu->control);
    lu->control[UMFPACK_PRL] = 0;
    lu->control[UMFPACK_STRATEGY] = UMFPACK_STRATEGY_SYMMETRIC;
    if (lu->n == 0)
        return SINEW_OK;
    /* Given as it stands: UMFPACK 5.7.9 loses memory where an ordering of its own fails for want of more. */
    for (SuiteSparse_long i = 0; i < lu->n; i++)
        lu->work_i[i] = i;
    const SuiteSparse_long status =
        umfpack_dl_qsymbolic(lu->n, lu->n, lu->pointer, lu->row, NULL, lu->work_i, &lu->symbolic, lu->control, NULL);
    return status == UMFPACK_OK ? SINEW_OK : fail_umfpack(status, "analysis of the sparse matrix", error);
}

sinew_lu *sinew_lu_create(const sinew_allocator *allocator, int32_t count, const int32_t *column, const int32_t *row,
                          sinew_error *error)
{
    sinew_lu *lu = sinew_allocate_zero(allocator, 1, sizeof *lu);
    if (!lu) {
        sinew_fail_memory(error, "the LU factors");
        return NULL;
    }
    lu->allocator = *allocator;
    lu->n = 3 * (SuiteSparse_long)count;
    sinew_status status = sinew_rows_create(allocator, &lu->rows, count, column, row, error);
    if (status == SINEW_OK && !allocate_matrix(lu, 9 * (size_t)column[count]))
        status = sinew_fail_memory(error, "the sparse matrix");
    if (status == SINEW_OK) {
        expand_pattern(lu);
        status = analyse(lu, error);
    }
    if (status == SINEW_OK)
        return lu;
    sinew_lu_destroy(lu);
    return NULL;
}

void sinew_lu_destroy(sinew_lu *lu)
{
    if (!lu)
        return;
    const sinew_allocator allocator = lu->allocator;
    if (lu->numeric)
        umfpack_dl_free_numeric(&lu->numeric);
    if (lu->symbolic)
        umfpack_dl_free_symbolic(&lu->symbolic);
    if (lu->rows.first)
        sinew_rows_destroy(&allocator, &lu->rows);
    void *arrays[] = {lu->lower, lu->pointer, lu->row, lu->value, lu->work_i, lu->work, lu};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&allocator, arrays[i]);
}

double *sinew_lu_values(sinew_lu *lu)
{
    return lu->lower;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

/* The whole matrix from its lower triangle: number (r, s) of block k of block column j. */
static void expand_values(sinew_lu *lu)
{
    for (int32_t j = 0; j < lu->rows.count; j++) {
        const size_t first = lu->rows.first[j], blocks = lu->rows.first[j + 1] - first;
        for (size_t k = 0; k < blocks; k++) {
            double A[9];
            sinew_row_block_get(&lu->rows.blocks[first + k], j, lu->lower, A);
            for (size_t s = 0; s < 3; s++)
                for (size_t r = 0; r < 3; r++)
                    lu->value[9 * first + 3 * blocks * s + 3 * k + r] = A[3 * s + r];
        }
    }
}

sinew_status sinew_lu_factorise(sinew_lu *lu, sinew_error *error)
{
    if (lu->n == 0)
        return SINEW_OK;
    expand_values(lu);
    if (lu->numeric)
        umfpack_dl_free_numeric(&lu->numeric);
    const sinew_thread_setting threads = sinew_blas_single_thread();
    const SuiteSparse_long status =
        umfpack_dl_numeric(lu->pointer, lu->row, lu->value, lu->symbolic, &lu->numeric, lu->control, NULL);
    sinew_blas_restore(threads);
    return status == UMFPACK_OK ? SINEW_OK : fail_umfpack(status, "LU factorisation", error);
}

sinew_status sinew_lu_solve(sinew_lu *lu, const double *b, double *x, sinew_error *error)
{
    if (lu->n == 0)
        return SINEW_OK;
    const sinew_thread_setting threads = sinew_blas_single_thread();
    const SuiteSparse_long status = umfpack_dl_wsolve(UMFPACK_A, lu->pointer, lu->row, lu->value, x, b, lu->numeric,
                                                      lu->control, NULL, lu->work_i, lu->work);
    sinew_blas_restore(threads);
    return status == UMFPACK_OK ? SINEW_OK : fail_umfpack(status, "solution with LU factors", error);
}

#else

sinew_lu *sinew_lu_create(const sinew_allocator *allocator, int32_t count, const int32_t *column, const int32_t *row,
                          sinew_error *error)
{
    (void)allocator, (void)count, (void)column, (void)row;
    sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
               "linear = lu needs UMFPACK, which is GPL, and this build is without GPL code; use direct or bicgstab");
    return NULL;
}

void sinew_lu_destroy(sinew_lu *lu)
{
    (void)lu;
}

double *sinew_lu_values(sinew_lu *lu)
{
    (void)lu;
    return NULL;
}

sinew_status sinew_lu_factorise(sinew_lu *lu, sinew_error *error)
{
    (void)lu;
    return sinew_fail(error, SINEW_ERROR_UNSUPPORTED, "built without UMFPACK");
}

sinew_status sinew_lu_solve(sinew_lu *lu, const double *b, double *x, sinew_error *error)
{
    (void)lu, (void)b, (void)x;
    return sinew_fail(error, SINEW_ERROR_UNSUPPORTED, "built without UMFPACK");
}

#endif
