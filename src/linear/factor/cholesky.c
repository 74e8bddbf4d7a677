/* SPDX-License-Identifier: MIT
 *
 * cholesky.c: supernodal Cholesky of a block matrix (cholesky.h).
 */
#include "linear/factor/cholesky.h"

#include <string.h>

#include "linear/ordering/ordering.h"
#include "linear/factor/supernodal.h"

/* CHOLMOD's default rules for merging supernodes (Chen, Davis, Hager and Rajamanickam, Algorithm 887, 2008). */
static const sinew_amalgamation amalgamation = {{4, 16, 48}, {0.8, 0.1, 0.05}};

struct sinew_cholesky {
    sinew_allocator allocator;
    /* 3x3 blocks as scalar columns of the lower triangle; the upper half of diagonal blocks is stored, but not read */
    sinew_lower_triangle matrix;
    sinew_supernodal factor;
};

/* ---- Fill-reducing order of the block rows --------------------------------------------------- */

/* Builds the graph whose vertices are 3x3 blocks; it has about a ninth of the entries of the scalar graph. Returns
 * false if out of memory. */
static bool cholesky_block_graph(sinew_graph *graph, const sinew_allocator *allocator, int32_t count,
                                 const int32_t *column, const int32_t *row)
{
    *graph = (sinew_graph){0};
    size_t *offsets = sinew_allocate(allocator, (size_t)count + 1, sizeof *offsets);
    for (int32_t j = 0; offsets && j <= count; j++)
        offsets[j] = (size_t)column[j];
    const bool good = offsets && sinew_graph_create(graph, allocator, count, offsets, row);
    sinew_release(allocator, offsets);
    return good;
}

sinew_status sinew_fill_reducing_order(const sinew_allocator *allocator, int32_t count, const int32_t *column,
                                       const int32_t *row, const sinew_real *points, int32_t *order, sinew_error *error)
{
    sinew_graph graph;
    sinew_elimination elimination = {0};
    const bool good = cholesky_block_graph(&graph, allocator, count, column, row) &&
                      sinew_find_elimination(&elimination, allocator, &graph, points);
    if (good)
        memcpy(order, elimination.order, (size_t)count * sizeof *order);
    sinew_elimination_destroy(&elimination);
    sinew_graph_destroy(&graph, allocator);
    return good ? SINEW_OK : sinew_fail_memory(error, "ordering of the sparse matrix");
}

/* ---- Creation of the factor: symbolic analysis ----------------------------------------------- */

/* Expands the sparsity pattern of the lower triangle from 3x3 block columns to scalar columns. */
static void cholesky_expand_pattern(sinew_lower_triangle *matrix, int32_t count, const int32_t *column,
                                    const int32_t *row)
{
    size_t at = 0;
    for (int32_t j = 0; j < count; j++)
        for (int32_t s = 0; s < 3; s++) {
            matrix->column[3 * (size_t)j + (size_t)s] = at;
            for (int32_t k = column[j]; k < column[j + 1]; k++)
                for (int32_t r = 0; r < 3; r++)
                    matrix->row[at++] = 3 * row[k] + r;
        }
    matrix->column[matrix->n] = at;
}

static bool cholesky_allocate_matrix(sinew_cholesky *c, int32_t count, size_t entries)
{
    sinew_lower_triangle *matrix = &c->matrix;
    matrix->n = 3 * count;
    matrix->column = sinew_allocate(&c->allocator, 3 * (size_t)count + 1, sizeof *matrix->column);
    matrix->row = sinew_allocate(&c->allocator, entries, sizeof *matrix->row);
    matrix->value = sinew_allocate_zero(&c->allocator, entries, sizeof *matrix->value);
    return matrix->column && matrix->row && matrix->value;
}

static bool cholesky_analyse(sinew_cholesky *c, const sinew_dense_kernels *kernels, int32_t count,
                             const int32_t *column, const int32_t *row)
{
    sinew_graph graph;
    sinew_elimination elimination = {0};
    const bool good = cholesky_block_graph(&graph, &c->allocator, count, column, row) &&
                      sinew_elimination_create(&elimination, &c->allocator, &graph, NULL) &&
                      sinew_supernodal_create(&c->factor, &c->allocator, kernels, &amalgamation, &elimination, 3);
    sinew_elimination_destroy(&elimination);
    sinew_graph_destroy(&graph, &c->allocator);
    return good;
}

sinew_cholesky *sinew_cholesky_create(const sinew_allocator *allocator, const sinew_dense_kernels *kernels,
                                      int32_t count, const int32_t *column, const int32_t *row, sinew_error *error)
{
    sinew_cholesky *c = sinew_allocate_zero(allocator, 1, sizeof *c);
    if (!c) {
        sinew_fail_memory(error, "the Cholesky factor");
        return NULL;
    }
    c->allocator = c->factor.allocator = *allocator;
    sinew_status status = SINEW_OK;
    if (!cholesky_allocate_matrix(c, count, 9 * (size_t)column[count]))
        status = sinew_fail_memory(error, "the sparse matrix");
    else if (!cholesky_analyse(c, kernels, count, column, row))
        status = sinew_fail_memory(error, "the Cholesky factor");
    if (status == SINEW_OK) {
        cholesky_expand_pattern(&c->matrix, count, column, row);
        return c;
    }
    sinew_cholesky_destroy(c);
    return NULL;
}

void sinew_cholesky_destroy(sinew_cholesky *c)
{
    if (!c)
        return;
    sinew_supernodal_destroy(&c->factor);
    sinew_release(&c->allocator, c->matrix.column);
    sinew_release(&c->allocator, c->matrix.row);
    sinew_release(&c->allocator, c->matrix.value);
    sinew_allocator allocator = c->allocator;
    sinew_release(&allocator, c);
}

double *sinew_cholesky_values(sinew_cholesky *c)
{
    return c->matrix.value;
}

/* ---- Numeric Cholesky factorisation and solve ------------------------------------------------ */

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
        memcpy(x, b, (size_t)c->matrix.n * sizeof *x);
    sinew_supernodal_solve(&c->factor, x);
}

int64_t sinew_cholesky_factor_size(const sinew_cholesky *c)
{
    return sinew_supernodal_size(&c->factor);
}

double sinew_cholesky_factor_cost(const sinew_cholesky *c)
{
    const sinew_supernodes *nodes = &c->factor.supernodes;
    double sum = 0;
    for (int32_t k = 0; k < nodes->count; k++) {
        const double rows = (double)(nodes->row_first[k + 1] - nodes->row_first[k]);
        for (int32_t j = 0; j < nodes->column[k + 1] - nodes->column[k]; j++)
            sum += (rows - j) * (rows - j);
    }
    return sum;
}
