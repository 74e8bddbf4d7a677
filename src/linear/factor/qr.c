/* SPDX-License-Identifier: MIT
 *
 * qr.c: sparse QR for lu_qr.h: SuiteSparseQR (Davis 2011, multifrontal rank-revealing sparse QR): A E = Q R, x = E
 * R^-1 Q^T b. R fills in like the Cholesky factor of A^T A, more than LU does; E orders the columns by COLAMD, which is
 * made for that: faster here than AMD and than the order for Cholesky. Solutions take memory for themselves too.
 */
#include "linear/factor/lu_qr.h"

#ifdef SINEW_WITHOUT_GPL

const sinew_general_method sinew_qr = {0};

#else

#include <SuiteSparseQR_C.h>
#include <string.h>

typedef struct factors {
    cholmod_common common;
    cholmod_sparse matrix; /* of the caller's arrays */
    SuiteSparseQR_C_factorization *qr;
} factors;

static sinew_status fail_spqr(const factors *f, const char *what, sinew_error *error)
{
    if (f->common.status == CHOLMOD_OUT_OF_MEMORY || f->common.status == CHOLMOD_TOO_LARGE)
        return sinew_fail_memory(error, what);
    return sinew_fail(error, SINEW_ERROR_NUMERIC, "%s: SPQR status %d", what, f->common.status);
}

static sinew_status analyse(sinew_general *g, sinew_error *error)
{
    factors *f = g->memory = sinew_allocate_zero(&g->allocator, 1, sizeof *f);
    if (!f)
        return sinew_fail_memory(error, "the QR factors");
    cholmod_l_start(&f->common);
    f->common.print = 0;
    f->matrix = (cholmod_sparse){.nrow = (size_t)g->n,
                                 .ncol = (size_t)g->n,
                                 .nzmax = (size_t)g->pointer[g->n],
                                 .p = g->pointer,
                                 .i = g->row,
                                 .x = g->value,
                                 .itype = CHOLMOD_LONG,
                                 .xtype = CHOLMOD_REAL,
                                 .dtype = CHOLMOD_DOUBLE,
                                 .sorted = 1,
                                 .packed = 1};
    f->qr = SuiteSparseQR_C_symbolic(SPQR_ORDERING_COLAMD, 1, &f->matrix, &f->common);
    return f->qr && f->common.status >= CHOLMOD_OK ? SINEW_OK : fail_spqr(f, "analysis of the sparse matrix", error);
}

static void release(sinew_general *g)
{
    factors *f = g->memory;
    if (f->qr)
        SuiteSparseQR_C_free(&f->qr, &f->common);
    cholmod_l_finish(&f->common);
    sinew_release(&g->allocator, f);
    g->memory = NULL;
}

static sinew_status factorise(sinew_general *g, sinew_error *error)
{
    factors *f = g->memory;
    const bool good = SuiteSparseQR_C_numeric(0, &f->matrix, f->qr, &f->common) != 0;
    if (!good || f->common.status < CHOLMOD_OK)
        return fail_spqr(f, "QR factorisation", error);
    if (f->common.SPQR_istat[4] < g->n) /* the rank */
        return sinew_fail(error, SINEW_ERROR_NUMERIC, "QR factorisation: the matrix is singular");
    return SINEW_OK;
}

static sinew_status solve(sinew_general *g, const double *b, double *x, sinew_error *error)
{
    factors *f = g->memory;
    cholmod_dense right = {.nrow = (size_t)g->n,
                           .ncol = 1,
                           .nzmax = (size_t)g->n,
                           .d = (size_t)g->n,
                           .x = x,
                           .xtype = CHOLMOD_REAL,
                           .dtype = CHOLMOD_DOUBLE};
    memcpy(x, b, (size_t)g->n * sizeof *x);
    cholmod_dense *y = SuiteSparseQR_C_qmult(SPQR_QTX, f->qr, &right, &f->common); /* y = Q^T b */
    cholmod_dense *z = y ? SuiteSparseQR_C_solve(SPQR_RETX_EQUALS_B, f->qr, y, &f->common) : NULL;
    const bool good = z && f->common.status >= CHOLMOD_OK;
    if (good)
        memcpy(x, z->x, (size_t)g->n * sizeof *x);
    cholmod_l_free_dense(&y, &f->common);
    cholmod_l_free_dense(&z, &f->common);
    return good ? SINEW_OK : fail_spqr(f, "solution with QR factors", error);
}

const sinew_general_method sinew_qr = {
    .analyse = analyse,
    .factorise = factorise,
    .solve = solve,
    .release = release,
};

#endif
