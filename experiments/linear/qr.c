/* SPDX-License-Identifier: MIT
 *
 * qr.c: sparse QR: SuiteSparseQR (Davis 2011, multifrontal rank-revealing sparse QR): A E = Q R, x = E R^-1 Q^T b. R
 * fills in like the Cholesky factor of A^T A, more than LU does. E is the COLAMD ordering, which minimises this fill:
 * it is faster here than AMD and than the order for Cholesky. Solutions allocate memory too.
 */
#include <SuiteSparseQR_C.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linear_methods.h"

_Static_assert(sizeof(SuiteSparse_long) == sizeof(int64_t), "SPQR reads the library's arrays");

typedef struct qr_factors {
    cholmod_common common;
    cholmod_sparse matrix; /* CHOLMOD header of the caller's matrix arrays, which it does not own */
    SuiteSparseQR_C_factorization *qr;
} qr_factors;

static sinew_status qr_fail(const qr_factors *f, const char *what, sinew_error *error)
{
    if (!f || f->common.status == CHOLMOD_OUT_OF_MEMORY || f->common.status == CHOLMOD_TOO_LARGE)
        return linear_method_fail(error, SINEW_ERROR_MEMORY, what, "out of memory");
    char text[64];
    snprintf(text, sizeof text, "SPQR status %d", f->common.status);
    return linear_method_fail(error, SINEW_ERROR_NUMERIC, what, text);
}

static void qr_destroy(void *factors)
{
    qr_factors *f = factors;
    if (f->qr)
        SuiteSparseQR_C_free(&f->qr, &f->common);
    cholmod_l_finish(&f->common);
    free(f);
}

/* Removes const from an array: CHOLMOD's struct has no const pointers, and SPQR does not write to them. */
static void *qr_without_const(const void *array)
{
    void *same;
    memcpy(&same, &array, sizeof same);
    return same;
}

/* Analyses the pattern of the matrix. SPQR requires values here although it does not use them, so zeros are passed. */
static bool qr_analyse(qr_factors *f)
{
    double *zeros = calloc(f->matrix.nzmax, sizeof *zeros);
    f->matrix.x = zeros;
    if (zeros)
        f->qr = SuiteSparseQR_C_symbolic(SPQR_ORDERING_COLAMD, 1, &f->matrix, &f->common);
    else
        f->common.status = CHOLMOD_OUT_OF_MEMORY;
    f->matrix.x = NULL;
    free(zeros);
    return f->qr && f->common.status >= CHOLMOD_OK;
}

static void *qr_create(int64_t n, const int64_t *column, const int64_t *row, sinew_error *error)
{
    qr_factors *f = calloc(1, sizeof *f);
    if (f) {
        cholmod_l_start(&f->common);
        f->common.print = 0;
        f->matrix = (cholmod_sparse){.nrow = (size_t)n,
                                     .ncol = (size_t)n,
                                     .nzmax = (size_t)column[n],
                                     .p = qr_without_const(column),
                                     .i = qr_without_const(row),
                                     .itype = CHOLMOD_LONG,
                                     .xtype = CHOLMOD_REAL,
                                     .dtype = CHOLMOD_DOUBLE,
                                     .sorted = 1,
                                     .packed = 1};
        if (qr_analyse(f))
            return f;
    }
    qr_fail(f, "analysis of the sparse matrix", error);
    if (f)
        qr_destroy(f);
    return NULL;
}

static sinew_status qr_factorise(void *factors, const double *value, sinew_error *error)
{
    qr_factors *f = factors;
    f->matrix.x = qr_without_const(value);
    const bool good = SuiteSparseQR_C_numeric(0, &f->matrix, f->qr, &f->common) != 0;
    if (!good || f->common.status < CHOLMOD_OK)
        return qr_fail(f, "QR factorisation", error);
    /* Numerical rank found by SPQR is below the number of rows: the matrix is singular. */
    if (f->common.SPQR_istat[4] < (SuiteSparse_long)f->matrix.nrow)
        return linear_method_fail(error, SINEW_ERROR_NUMERIC, "QR factorisation", "the matrix is singular");
    return SINEW_OK;
}

static sinew_status qr_solve(void *factors, const double *b, double *x, sinew_error *error)
{
    qr_factors *f = factors;
    const size_t n = f->matrix.nrow;
    cholmod_dense right = {
        .nrow = n, .ncol = 1, .nzmax = n, .d = n, .x = x, .xtype = CHOLMOD_REAL, .dtype = CHOLMOD_DOUBLE};
    memcpy(x, b, n * sizeof *x);
    cholmod_dense *y = SuiteSparseQR_C_qmult(SPQR_QTX, f->qr, &right, &f->common); /* computes y = Q^T b */
    cholmod_dense *z = y ? SuiteSparseQR_C_solve(SPQR_RETX_EQUALS_B, f->qr, y, &f->common) : NULL;
    const bool good = z && f->common.status >= CHOLMOD_OK;
    if (good)
        memcpy(x, z->x, n * sizeof *x);
    cholmod_l_free_dense(&y, &f->common);
    cholmod_l_free_dense(&z, &f->common);
    return good ? SINEW_OK : qr_fail(f, "solution with QR factors", error);
}

const sinew_linear_method linear_method_qr = {
    .name = "qr",
    .create = qr_create,
    .factorise = qr_factorise,
    .solve = qr_solve,
    .destroy = qr_destroy,
};
