/* SPDX-License-Identifier: MIT
 *
 * cholesky.c: CHOLMOD behind cholesky.h. Source: Chen, Davis, Hager, Rajamanickam, Algorithm 887 (2008).
 */
#include "linear/cholesky.h"

#include <cholmod.h>
#include <string.h>

#include "linear/blas_threads.h"
#include "linear/ordering.h"

struct sinew_cholesky {
    sinew_allocator allocator;
    cholmod_common common;
    cholmod_sparse matrix; /* a view: arrays below */
    SuiteSparse_long *pointers, *rows;
    double *values;
    cholmod_factor *factor;
    cholmod_dense *solution, *work_y, *work_e; /* kept by cholmod_l_solve2 from call to call */
};

static sinew_status fail_cholmod(const cholmod_common *common, sinew_error *error, const char *what)
{
    if (common->status == CHOLMOD_OUT_OF_MEMORY)
        return sinew_fail_memory(error, what);
    return sinew_fail(error, SINEW_ERROR_NUMERIC, "%s: CHOLMOD status %d", what, common->status);
}

static void start(cholmod_common *common)
{
    cholmod_l_start(common);
    common->print = 0;
    common->error_handler = NULL;
    common->quick_return_if_not_posdef = 1;
}

/* ---- Order ----------------------------------------------------------------------------------- */

sinew_status sinew_fill_reducing_order(const sinew_allocator *allocator, int32_t count, const int32_t *column,
                                       const int32_t *row, const sinew_real *points, int32_t *order, sinew_error *error)
{
    cholmod_common common;
    start(&common);
    /* The graph of the blocks, a ninth of the scalar one: its order serves all three scalars of a block. */
    common.supernodal = CHOLMOD_SIMPLICIAL;
    cholmod_sparse *graph = cholmod_l_allocate_sparse((size_t)count, (size_t)count, (size_t)column[count], 1, 1, -1,
                                                      CHOLMOD_PATTERN, &common);
    cholmod_factor *factor = NULL;
    if (graph) {
        SuiteSparse_long *p = graph->p, *i = graph->i;
        for (int32_t j = 0; j <= count; j++)
            p[j] = column[j];
        for (int32_t k = 0; k < column[count]; k++)
            i[k] = row[k];
        factor = sinew_analyse(allocator, graph, points, &common);
    }
    sinew_status status = SINEW_OK;
    if (factor)
        for (int32_t k = 0; k < count; k++)
            order[k] = (int32_t)((SuiteSparse_long *)factor->Perm)[k];
    else
        status = fail_cholmod(&common, error, "ordering of the sparse matrix");
    cholmod_l_free_factor(&factor, &common);
    cholmod_l_free_sparse(&graph, &common);
    cholmod_l_finish(&common);
    return status;
}

/* ---- Create ---------------------------------------------------------------------------------- */

/* Scalar columns from block columns. */
static void expand_pattern(sinew_cholesky *c, int32_t count, const int32_t *column, const int32_t *row)
{
    SuiteSparse_long at = 0;
    for (int32_t j = 0; j < count; j++)
        for (int s = 0; s < 3; s++) {
            c->pointers[3 * (size_t)j + (size_t)s] = at;
            for (int32_t k = column[j]; k < column[j + 1]; k++)
                for (int r = 0; r < 3; r++)
                    c->rows[at++] = 3 * (SuiteSparse_long)row[k] + r;
        }
    c->pointers[3 * (size_t)count] = at;
}

static void view_matrix(sinew_cholesky *c, int32_t count, size_t entries)
{
    c->matrix = (cholmod_sparse){.nrow = 3 * (size_t)count,
                                 .ncol = 3 * (size_t)count,
                                 .nzmax = entries,
                                 .p = c->pointers,
                                 .i = c->rows,
                                 .x = c->values,
                                 .stype = -1, /* the lower triangle counts */
                                 .itype = CHOLMOD_LONG,
                                 .xtype = CHOLMOD_REAL,
                                 .dtype = CHOLMOD_DOUBLE,
                                 .sorted = 1,
                                 .packed = 1};
}

static void choose_methods(cholmod_common *common)
{
    /* The matrix comes ordered and postordered. */
    common->nmethods = 1;
    common->method[0].ordering = CHOLMOD_NATURAL;
    common->postorder = 0;
#ifdef SINEW_WITHOUT_GPL
    common->supernodal = CHOLMOD_SIMPLICIAL;
    common->final_ll = 1;
#else
    common->supernodal = CHOLMOD_SUPERNODAL;
#endif
}

/* What cholmod_l_solve2 would allocate in the first solve. Made here because CHOLMOD 3.0.14 goes on without work_y when
 * that allocation fails and the next one succeeds. */
static bool allocate_work(sinew_cholesky *c)
{
    const size_t n = c->matrix.nrow, extra = c->factor->is_super && c->factor->maxesize ? c->factor->maxesize : 1;
    c->solution = cholmod_l_allocate_dense(n, 1, n, CHOLMOD_REAL, &c->common);
    c->work_y = cholmod_l_allocate_dense(n, 1, n, CHOLMOD_REAL, &c->common);
    c->work_e = cholmod_l_allocate_dense(extra, 1, extra, CHOLMOD_REAL, &c->common);
    return c->solution && c->work_y && c->work_e;
}

sinew_cholesky *sinew_cholesky_create(const sinew_allocator *allocator, int32_t count, const int32_t *column,
                                      const int32_t *row, sinew_error *error)
{
    sinew_cholesky *c = sinew_allocate_zero(allocator, 1, sizeof *c);
    if (!c) {
        sinew_fail_memory(error, "the Cholesky factor");
        return NULL;
    }
    size_t entries = 9 * (size_t)column[count];
    c->allocator = *allocator;
    start(&c->common);
    choose_methods(&c->common);
    c->pointers = sinew_allocate(allocator, 3 * (size_t)count + 1, sizeof *c->pointers);
    c->rows = sinew_allocate(allocator, entries, sizeof *c->rows);
    c->values = sinew_allocate_zero(allocator, entries, sizeof *c->values);
    if (!c->pointers || !c->rows || !c->values) {
        sinew_fail_memory(error, "the sparse matrix");
        sinew_cholesky_destroy(c);
        return NULL;
    }
    expand_pattern(c, count, column, row);
    view_matrix(c, count, entries);
    c->factor = cholmod_l_analyze(&c->matrix, &c->common);
    if (!c->factor) {
        fail_cholmod(&c->common, error, "analysis of the sparse matrix");
        sinew_cholesky_destroy(c);
        return NULL;
    }
    if (!allocate_work(c)) {
        sinew_fail_memory(error, "the work space of triangular solves");
        sinew_cholesky_destroy(c);
        return NULL;
    }
    return c;
}

void sinew_cholesky_destroy(sinew_cholesky *c)
{
    if (!c)
        return;
    cholmod_l_free_factor(&c->factor, &c->common);
    cholmod_l_free_dense(&c->solution, &c->common);
    cholmod_l_free_dense(&c->work_y, &c->common);
    cholmod_l_free_dense(&c->work_e, &c->common);
    cholmod_l_finish(&c->common);
    sinew_release(&c->allocator, c->pointers);
    sinew_release(&c->allocator, c->rows);
    sinew_release(&c->allocator, c->values);
    sinew_allocator allocator = c->allocator;
    sinew_release(&allocator, c);
}

double *sinew_cholesky_values(sinew_cholesky *c)
{
    return c->values;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

sinew_status sinew_cholesky_factorise(sinew_cholesky *c, double shift, sinew_error *error)
{
    double beta[2] = {shift, 0};
    const sinew_thread_setting threads = sinew_blas_single_thread();
    int good = cholmod_l_factorize_p(&c->matrix, beta, NULL, 0, c->factor, &c->common);
    sinew_blas_restore(threads);
    if (!good || c->common.status < CHOLMOD_OK)
        return fail_cholmod(&c->common, error, "factorisation");
    if (c->common.status == CHOLMOD_NOT_POSDEF || c->factor->minor < c->factor->n)
        return sinew_fail(error, SINEW_ERROR_NUMERIC, "the matrix is not positive definite (row %zu)",
                          c->factor->minor);
    return SINEW_OK;
}

sinew_status sinew_cholesky_solve(sinew_cholesky *c, const double *b, double *x, sinew_error *error)
{
    size_t n = c->matrix.nrow;
    cholmod_dense right = {.nrow = n,
                           .ncol = 1,
                           .nzmax = n,
                           .d = n,
                           .x = (void *)(uintptr_t)b, /* read only, though the view's type cannot say so */
                           .xtype = CHOLMOD_REAL,
                           .dtype = CHOLMOD_DOUBLE};
    const sinew_thread_setting threads = sinew_blas_single_thread();
    int good =
        cholmod_l_solve2(CHOLMOD_A, c->factor, &right, NULL, &c->solution, NULL, &c->work_y, &c->work_e, &c->common);
    sinew_blas_restore(threads);
    if (!good)
        return fail_cholmod(&c->common, error, "triangular solves");
    memcpy(x, c->solution->x, n * sizeof *x);
    return SINEW_OK;
}

int64_t sinew_cholesky_factor_size(const sinew_cholesky *c)
{
    if (c->factor->is_super)
        return (int64_t)c->factor->xsize;
    return (int64_t)c->factor->nzmax;
}
