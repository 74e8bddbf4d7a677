/* SPDX-License-Identifier: MIT
 *
 * lu.c: sparse LU with pivoting: UMFPACK 5 (Davis 2004, unsymmetric-pattern multifrontal method) with its symmetric
 * strategy. The caller's matrix is already in a fill-reducing order; pivots leave the diagonal only if the diagonal
 * entry is too small. Solutions are refined against the matrix.
 */
#include <stdio.h>
#include <stdlib.h>
#include <umfpack.h>

#include "linear_methods.h"

_Static_assert(sizeof(SuiteSparse_long) == sizeof(int64_t), "UMFPACK reads the library's arrays");

typedef struct lu_factors {
    SuiteSparse_long n;
    const SuiteSparse_long *column, *row; /* column starts and row indices of the matrix's pattern, borrowed */
    const double *value;
    SuiteSparse_long *work_i; /* [n] integer work space of UMFPACK */
    double *work;             /* [5 n] work space of UMFPACK's solve */
    double control[UMFPACK_CONTROL];
    void *symbolic, *numeric;
} lu_factors;

static sinew_status lu_fail(SuiteSparse_long status, const char *what, sinew_error *error)
{
    if (status == UMFPACK_ERROR_out_of_memory)
        return linear_method_fail(error, SINEW_ERROR_MEMORY, what, "out of memory");
    if (status == UMFPACK_WARNING_singular_matrix)
        return linear_method_fail(error, SINEW_ERROR_NUMERIC, what, "the matrix is singular");
    char text[64];
    snprintf(text, sizeof text, "UMFPACK status %d", (int)status);
    return linear_method_fail(error, SINEW_ERROR_NUMERIC, what, text);
}

static void lu_destroy(void *factors)
{
    lu_factors *f = factors;
    if (f->numeric)
        umfpack_dl_free_numeric(&f->numeric);
    if (f->symbolic)
        umfpack_dl_free_symbolic(&f->symbolic);
    free(f->work_i);
    free(f->work);
    free(f);
}

static SuiteSparse_long lu_analyse(lu_factors *f)
{
    umfpack_dl_defaults(f->control);
    f->control[UMFPACK_PRL] = 0;
    f->control[UMFPACK_STRATEGY] = UMFPACK_STRATEGY_SYMMETRIC;
    /* Passes the identity ordering to UMFPACK: UMFPACK 5.7.9 leaks if an ordering of its own runs out of memory. */
    for (SuiteSparse_long i = 0; i < f->n; i++)
        f->work_i[i] = i;
    return umfpack_dl_qsymbolic(f->n, f->n, f->column, f->row, NULL, f->work_i, &f->symbolic, f->control, NULL);
}

static void *lu_create(int64_t n, const int64_t *column, const int64_t *row, sinew_error *error)
{
    lu_factors *f = calloc(1, sizeof *f);
    SuiteSparse_long status = UMFPACK_ERROR_out_of_memory;
    if (f) {
        f->n = n;
        f->column = column;
        f->row = row;
        f->work_i = malloc((size_t)n * sizeof *f->work_i);
        f->work = malloc(5 * (size_t)n * sizeof *f->work);
        if (f->work_i && f->work)
            status = lu_analyse(f);
    }
    if (status == UMFPACK_OK)
        return f;
    lu_fail(status, "analysis of the sparse matrix", error);
    if (f)
        lu_destroy(f);
    return NULL;
}

static sinew_status lu_factorise(void *factors, const double *value, sinew_error *error)
{
    lu_factors *f = factors;
    f->value = value;
    if (f->numeric)
        umfpack_dl_free_numeric(&f->numeric);
    const SuiteSparse_long status =
        umfpack_dl_numeric(f->column, f->row, value, f->symbolic, &f->numeric, f->control, NULL);
    return status == UMFPACK_OK ? SINEW_OK : lu_fail(status, "LU factorisation", error);
}

static sinew_status lu_solve(void *factors, const double *b, double *x, sinew_error *error)
{
    lu_factors *f = factors;
    const SuiteSparse_long status = umfpack_dl_wsolve(UMFPACK_A, f->column, f->row, f->value, x, b, f->numeric,
                                                      f->control, NULL, f->work_i, f->work);
    return status == UMFPACK_OK ? SINEW_OK : lu_fail(status, "solution with LU factors", error);
}

const sinew_linear_method linear_method_lu = {
    .name = "lu",
    .create = lu_create,
    .factorise = lu_factorise,
    .solve = lu_solve,
    .destroy = lu_destroy,
};
