/* SPDX-License-Identifier: MIT
 *
 * indefinite_solver.c: see indefinite_solver.h. Both triangles of the matrix from its lower triangle of blocks, and the
 * table of registered methods.
 */
#include "linear/factor/indefinite_solver.h"

#include <stdatomic.h>
#include <string.h>

/* ---- Both triangles of the matrix ------------------------------------------------------------ */

/* Expands each block column to three scalar columns; the matrix is symmetric, so its columns are its rows. */
static void indefinite_expand_pattern(sinew_indefinite_solver *g)
{
    int64_t at = 0;
    for (int32_t j = 0; j < g->rows.count; j++)
        for (size_t s = 0; s < 3; s++) {
            g->column[3 * (size_t)j + s] = at;
            for (size_t k = g->rows.first[j]; k < g->rows.first[j + 1]; k++)
                for (int r = 0; r < 3; r++)
                    g->row[at++] = 3 * (int64_t)g->rows.blocks[k].other + r;
        }
    g->column[g->n] = at;
}

/* Copies each 3x3 block of the lower triangle to the scalar columns of both triangles. */
static void indefinite_expand_values(sinew_indefinite_solver *g)
{
    for (int32_t j = 0; j < g->rows.count; j++) {
        const size_t first = g->rows.first[j], blocks = g->rows.first[j + 1] - first;
        for (size_t k = 0; k < blocks; k++) {
            double A[9];
            sinew_symmetric_block_get(&g->rows.blocks[first + k], j, g->lower, A);
            for (size_t s = 0; s < 3; s++)
                for (size_t r = 0; r < 3; r++)
                    g->value[9 * first + 3 * blocks * s + 3 * k + r] = A[3 * s + r];
        }
    }
}

static bool indefinite_allocate_matrix(sinew_indefinite_solver *g, size_t lower)
{
    const size_t n = (size_t)g->n, entries = 9 * g->rows.first[g->rows.count];
    g->lower = sinew_allocate_zero(&g->allocator, lower, sizeof *g->lower);
    g->column = sinew_allocate(&g->allocator, n + 1, sizeof *g->column);
    g->row = sinew_allocate(&g->allocator, entries, sizeof *g->row);
    g->value = sinew_allocate_zero(&g->allocator, entries, sizeof *g->value);
    return g->lower && g->column && g->row && g->value;
}

/* Fills the pattern with trial values, a diagonally dominant matrix without zeros: it is far from singular, and a
 * method omits no entry. */
static void indefinite_fill_trial(sinew_indefinite_solver *g)
{
    for (int32_t j = 0; j < g->rows.count; j++)
        for (size_t k = g->rows.first[j]; k < g->rows.first[j + 1]; k++)
            for (size_t e = 0; e < 9; e++) {
                const sinew_symmetric_block *block = &g->rows.blocks[k];
                const size_t at = block->offset + (size_t)block->stride * (e / 3) + e % 3;
                g->lower[at] =
                    block->other == j && e % 4 == 0 ? 10.0 * (double)(g->rows.first[j + 1] - g->rows.first[j]) : -1;
            }
}

/* ---- Registered methods: sparse LU and QR ---------------------------------------------------- */

static const char *const method_names[] = {"lu", "qr"};

enum {
    METHOD_COUNT = sizeof method_names / sizeof method_names[0]
};

static _Atomic(const sinew_linear_method *) methods[METHOD_COUNT];

static int method_index(const char *name)
{
    int index = 0;
    while (index < METHOD_COUNT && strcmp(method_names[index], name) != 0)
        index++;
    return index;
}

sinew_status sinew_linear_method_register(const sinew_linear_method *method, sinew_error *error)
{
    sinew_error_clear(error);
    const char *name = method && method->name ? method->name : "a linear solver";
    const int index = method_index(name);
    if (index == METHOD_COUNT)
        return sinew_fail(error, SINEW_ERROR_USAGE, "%s cannot be registered: its name must be lu or qr", name);
    if (!method->create || !method->factorise || !method->solve || !method->destroy)
        return sinew_fail(error, SINEW_ERROR_USAGE,
                          "%s cannot be registered: create, factorise, solve and destroy are required", name);
    atomic_store(&methods[index], method);
    return SINEW_OK;
}

static const sinew_linear_method *method_find(const char *name, sinew_error *error)
{
    const sinew_linear_method *method = atomic_load(&methods[method_index(name)]);
    if (!method)
        sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                   "linear = %s needs the experiments' program (sinew-reproduce) with UMFPACK and SPQR; use direct or "
                   "bicgstab",
                   name);
    return method;
}

/* ---- Creation of an LU or QR solver ---------------------------------------------------------- */

/* Creates the factors of the registered method for the pattern. Also factorises a trial matrix, so that a lack of
 * memory usually shows at creation, not in a step. */
static sinew_status indefinite_analyse(sinew_indefinite_solver *g, sinew_error *error)
{
    if (g->n == 0)
        return SINEW_OK;
    sinew_error local = {0}, *own = error ? error : &local;
    g->factors = g->method->create(g->n, g->column, g->row, own);
    if (!g->factors)
        return own->status != SINEW_OK ? own->status
                                       : sinew_fail(error, SINEW_ERROR_NUMERIC, "%s: no factors", g->method->name);
    indefinite_fill_trial(g);
    return sinew_indefinite_solver_factorise(g, own);
}

sinew_indefinite_solver *sinew_indefinite_solver_create(const sinew_allocator *allocator, const char *method,
                                                        int32_t count, const int32_t *column, const int32_t *row,
                                                        sinew_error *error)
{
    const sinew_linear_method *found = method_find(method, error);
    sinew_indefinite_solver *g = found ? sinew_allocate_zero(allocator, 1, sizeof *g) : NULL;
    if (!g) {
        if (found)
            sinew_fail_memory(error, "the factors");
        return NULL;
    }
    g->allocator = *allocator;
    g->method = found;
    g->n = 3 * (int64_t)count;
    sinew_status status = sinew_symmetric_rows_create(allocator, &g->rows, count, column, row, error);
    if (status == SINEW_OK && !indefinite_allocate_matrix(g, 9 * (size_t)column[count]))
        status = sinew_fail_memory(error, "the sparse matrix");
    if (status == SINEW_OK) {
        indefinite_expand_pattern(g);
        status = indefinite_analyse(g, error);
    }
    if (status == SINEW_OK)
        return g;
    sinew_indefinite_solver_destroy(g);
    return NULL;
}

void sinew_indefinite_solver_destroy(sinew_indefinite_solver *g)
{
    if (!g)
        return;
    const sinew_allocator allocator = g->allocator;
    if (g->factors)
        g->method->destroy(g->factors);
    if (g->rows.first)
        sinew_symmetric_rows_destroy(&allocator, &g->rows);
    void *arrays[] = {g->lower, g->column, g->row, g->value, g};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&allocator, arrays[i]);
}

double *sinew_indefinite_solver_values(sinew_indefinite_solver *g)
{
    return g->lower;
}

sinew_status sinew_indefinite_solver_factorise(sinew_indefinite_solver *g, sinew_error *error)
{
    sinew_error local = {0};
    if (g->n == 0)
        return SINEW_OK;
    indefinite_expand_values(g);
    return g->method->factorise(g->factors, g->value, error ? error : &local);
}

sinew_status sinew_indefinite_solver_solve(sinew_indefinite_solver *g, const double *b, double *x, sinew_error *error)
{
    sinew_error local = {0};
    return g->n > 0 ? g->method->solve(g->factors, b, x, error ? error : &local) : SINEW_OK;
}
