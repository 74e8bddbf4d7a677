/* SPDX-License-Identifier: MIT
 *
 * lu.c: sparse LU with pivoting for lu_qr.h: UMFPACK 5 (Davis 2004, unsymmetric-pattern multifrontal method) with its
 * symmetric strategy: the matrix comes in a fill-reducing order, and pivots are taken off the diagonal only where those
 * on it are too small. Solutions are refined against the matrix.
 */
#include "linear/factor/lu_qr.h"

#ifdef SINEW_WITHOUT_GPL

const sinew_general_method sinew_lu = {0};

#else

#include <umfpack.h>

typedef struct factors {
    SuiteSparse_long *work_i; /* [n] */
    double *work;             /* [5 n] */
    double control[UMFPACK_CONTROL];
    void *symbolic, *numeric;
} factors;

static sinew_status fail_umfpack(SuiteSparse_long status, const char *what, sinew_error *error)
{
    if (status == UMFPACK_ERROR_out_of_memory)
        return sinew_fail_memory(error, what);
    if (status == UMFPACK_WARNING_singular_matrix)
        return sinew_fail(error, SINEW_ERROR_NUMERIC, "%s: the matrix is singular", what);
    return sinew_fail(error, SINEW_ERROR_NUMERIC, "%s: UMFPACK status %d", what, (int)status);
}

static sinew_status analyse(sinew_general *g, sinew_error *error)
{
    const size_t n = (size_t)g->n;
    factors *f = g->memory = sinew_allocate_zero(&g->allocator, 1, sizeof *f);
    if (!f)
        return sinew_fail_memory(error, "the LU factors");
    f->work_i = sinew_allocate(&g->allocator, n, sizeof *f->work_i);
    f->work = sinew_allocate(&g->allocator, 5 * n, sizeof *f->work);
    if (!f->work_i || !f->work)
        return sinew_fail_memory(error, "the LU factors");
    umfpack_dl_defaults(f->control);
    f->control[UMFPACK_PRL] = 0;
    f->control[UMFPACK_STRATEGY] = UMFPACK_STRATEGY_SYMMETRIC;
    /* Given as it stands: UMFPACK 5.7.9 loses memory where an ordering of its own fails for want of more. */
    for (SuiteSparse_long i = 0; i < g->n; i++)
        f->work_i[i] = i;
    const SuiteSparse_long status =
        umfpack_dl_qsymbolic(g->n, g->n, g->pointer, g->row, NULL, f->work_i, &f->symbolic, f->control, NULL);
    return status == UMFPACK_OK ? SINEW_OK : fail_umfpack(status, "analysis of the sparse matrix", error);
}

static void release(sinew_general *g)
{
    factors *f = g->memory;
    if (f->numeric)
        umfpack_dl_free_numeric(&f->numeric);
    if (f->symbolic)
        umfpack_dl_free_symbolic(&f->symbolic);
    sinew_release(&g->allocator, f->work_i);
    sinew_release(&g->allocator, f->work);
    sinew_release(&g->allocator, f);
    g->memory = NULL;
}

static sinew_status factorise(sinew_general *g, sinew_error *error)
{
    factors *f = g->memory;
    if (f->numeric)
        umfpack_dl_free_numeric(&f->numeric);
    const SuiteSparse_long status =
        umfpack_dl_numeric(g->pointer, g->row, g->value, f->symbolic, &f->numeric, f->control, NULL);
    return status == UMFPACK_OK ? SINEW_OK : fail_umfpack(status, "LU factorisation", error);
}

static sinew_status solve(sinew_general *g, const double *b, double *x, sinew_error *error)
{
    factors *f = g->memory;
    const SuiteSparse_long status = umfpack_dl_wsolve(UMFPACK_A, g->pointer, g->row, g->value, x, b, f->numeric,
                                                      f->control, NULL, f->work_i, f->work);
    return status == UMFPACK_OK ? SINEW_OK : fail_umfpack(status, "solution with LU factors", error);
}

const sinew_general_method sinew_lu = {
    .analyse = analyse,
    .factorise = factorise,
    .solve = solve,
    .release = release,
};

#endif
