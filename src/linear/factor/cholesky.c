/* SPDX-License-Identifier: MIT
 *
 * cholesky.c: see cholesky.h. Analysis by CHOLMOD: Chen, Davis, Hager, Rajamanickam, Algorithm 887 (2008).
 */
#include "linear/factor/cholesky.h"

#include <string.h>

#include "linear/ordering/ordering.h"
#include "linear/factor/supernodal.h"

/* Panels that are joined though zeros are stored: CHOLMOD's own numbers. */
static const sinew_panel_rule panel_rule = {{4, 16, 48}, {0.8, 0.1, 0.05}};

struct sinew_cholesky {
    sinew_allocator allocator;
    cholmod_sparse matrix; /* a view: arrays below */
    SuiteSparse_long *pointers, *rows;
    double *values;
    sinew_supernodal factor;
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

/* Entries of each column of L. The matrix comes ordered and postordered. */
static cholmod_factor *count_columns(sinew_cholesky *c, cholmod_common *common)
{
    common->nmethods = 1;
    common->method[0].ordering = CHOLMOD_NATURAL;
    common->postorder = 0;
    common->supernodal = CHOLMOD_SIMPLICIAL;
    return cholmod_l_analyze(&c->matrix, common);
}

static sinew_status analyse(sinew_cholesky *c, const sinew_dense_kernels *kernels, sinew_error *error)
{
    cholmod_common common;
    start(&common);
    cholmod_factor *counts = count_columns(c, &common);
    cholmod_sparse *upper = counts ? cholmod_l_transpose(&c->matrix, 0, &common) : NULL;
    sinew_status status = SINEW_OK;
    if (!upper)
        status = fail_cholmod(&common, error, "analysis of the sparse matrix");
    else if (!sinew_supernodal_create(&c->factor, &c->allocator, kernels, &panel_rule, upper, counts->ColCount))
        status = sinew_fail_memory(error, "the Cholesky factor");
    cholmod_l_free_factor(&counts, &common);
    cholmod_l_free_sparse(&upper, &common);
    cholmod_l_finish(&common);
    return status;
}

sinew_cholesky *sinew_cholesky_create(const sinew_allocator *allocator, const sinew_dense_kernels *kernels,
                                      int32_t count, const int32_t *column, const int32_t *row, sinew_error *error)
{
    sinew_cholesky *c = sinew_allocate_zero(allocator, 1, sizeof *c);
    if (!c) {
        sinew_fail_memory(error, "the Cholesky factor");
        return NULL;
    }
    size_t entries = 9 * (size_t)column[count];
    c->allocator = c->factor.allocator = *allocator;
    c->pointers = sinew_allocate(allocator, 3 * (size_t)count + 1, sizeof *c->pointers);
    c->rows = sinew_allocate(allocator, entries, sizeof *c->rows);
    c->values = sinew_allocate_zero(allocator, entries, sizeof *c->values);
    sinew_status status = SINEW_OK;
    if (c->pointers && c->rows && c->values) {
        expand_pattern(c, count, column, row);
        view_matrix(c, count, entries);
        status = analyse(c, kernels, error);
    } else {
        status = sinew_fail_memory(error, "the sparse matrix");
    }
    if (status == SINEW_OK)
        return c;
    sinew_cholesky_destroy(c);
    return NULL;
}

void sinew_cholesky_destroy(sinew_cholesky *c)
{
    if (!c)
        return;
    sinew_supernodal_destroy(&c->factor);
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
    const int32_t bad = sinew_supernodal_factorise(&c->factor, &c->matrix, shift);
    if (bad >= 0)
        return sinew_fail(error, SINEW_ERROR_NUMERIC, "the matrix is not positive definite (row %d)", bad);
    return SINEW_OK;
}

void sinew_cholesky_solve(sinew_cholesky *c, const double *b, double *x)
{
    if (x != b)
        memcpy(x, b, c->matrix.nrow * sizeof *x);
    sinew_supernodal_solve(&c->factor, x);
}

int64_t sinew_cholesky_factor_size(const sinew_cholesky *c)
{
    return sinew_supernodal_size(&c->factor);
}
