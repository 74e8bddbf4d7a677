/* SPDX-License-Identifier: MIT
 *
 * ldl.c: see ldl.h. Counts of entries and the postorder by CHOLMOD, panels and numbers by supernodal.h.
 */
#include "linear/factor/ldl.h"

#include <math.h>
#include <string.h>

#include "linear/factor/supernodal.h"

/* Panels that are joined though zeros are stored, as in cholesky.c: CHOLMOD's own numbers. */
static const sinew_panel_rule panel_rule = {{4, 16, 48}, {0.8, 0.1, 0.05}};

struct sinew_ldl {
    sinew_allocator allocator;
    int32_t count;
    const size_t *column; /* of the matrix, borrowed */
    const int32_t *row;
    const double *values;
    int32_t *place;       /* [count] of each unknown in the postorder, in which L is */
    cholmod_sparse lower; /* the matrix in that order, a view of the three arrays below */
    SuiteSparse_long *pointers, *rows;
    double *numbers;
    size_t *slot;     /* [column[count]] where each entry of the caller's goes among the numbers */
    double *floors;   /* [count] in the postorder */
    double *work;     /* [count] in the postorder */
    double *residual; /* [count] */
    sinew_supernodal factor;
};

/* ---- Analysis -------------------------------------------------------------------------------- */

static sinew_status fail_analysis(const cholmod_common *common, sinew_error *error)
{
    if (common->status == CHOLMOD_OUT_OF_MEMORY)
        return sinew_fail_memory(error, "the analysis of the constraints' system");
    return sinew_fail(error, SINEW_ERROR_NUMERIC, "the analysis of the constraints' system: CHOLMOD status %d",
                      common->status);
}

/* Counts of the columns of L and a postorder of the elimination tree: same fill, children next to their parents. NULL
 * with common->status set on failure. */
static cholmod_factor *analyse(int32_t count, const size_t *column, const int32_t *row, cholmod_common *common)
{
    const size_t n = (size_t)count;
    cholmod_l_start(common);
    common->print = 0;
    common->nmethods = 1;
    common->method[0].ordering = CHOLMOD_NATURAL;
    common->postorder = 1;
    common->supernodal = CHOLMOD_SIMPLICIAL;
    cholmod_sparse *upper = cholmod_l_allocate_sparse(n, n, column[n], 1, 1, 1, CHOLMOD_PATTERN, common);
    cholmod_factor *factor = NULL;
    if (upper) {
        SuiteSparse_long *p = upper->p, *i = upper->i;
        for (size_t j = 0; j <= n; j++)
            p[j] = (SuiteSparse_long)column[j];
        for (size_t k = 0; k < column[n]; k++)
            i[k] = row[k];
        factor = cholmod_l_analyze(upper, common);
    }
    cholmod_l_free_sparse(&upper, common);
    return factor;
}

sinew_status sinew_ldl_cost(int32_t count, const size_t *column, const int32_t *row, double *cost, sinew_error *error)
{
    cholmod_common common;
    *cost = 0;
    if (count == 0)
        return SINEW_OK;
    cholmod_factor *factor = analyse(count, column, row, &common);
    const sinew_status status = factor ? SINEW_OK : fail_analysis(&common, error);
    for (int32_t k = 0; factor && k < count; k++) {
        const double entries = (double)((const SuiteSparse_long *)factor->ColCount)[k];
        *cost += entries * entries;
    }
    cholmod_l_free_factor(&factor, &common);
    cholmod_l_finish(&common);
    return status;
}

/* ---- Create ---------------------------------------------------------------------------------- */

static bool allocate_arrays(sinew_ldl *l)
{
    const sinew_allocator *a = &l->allocator;
    const size_t n = (size_t)l->count, entries = l->column[n];
    l->place = sinew_allocate(a, n, sizeof *l->place);
    l->pointers = sinew_allocate_zero(a, n + 1, sizeof *l->pointers);
    l->rows = sinew_allocate(a, entries, sizeof *l->rows);
    l->numbers = sinew_allocate_zero(a, entries, sizeof *l->numbers);
    l->slot = sinew_allocate(a, entries, sizeof *l->slot);
    l->floors = sinew_allocate_zero(a, n, sizeof *l->floors);
    l->work = sinew_allocate_zero(a, n, sizeof *l->work);
    l->residual = sinew_allocate_zero(a, n, sizeof *l->residual);
    return l->place && l->pointers && l->rows && l->numbers && l->slot && l->floors && l->work && l->residual;
}

/* The lower triangle by columns, in the postorder. */
static void reorder_pattern(sinew_ldl *l, const SuiteSparse_long *order)
{
    const int32_t n = l->count;
    for (int32_t k = 0; k < n; k++)
        l->place[order[k]] = k;
    for (int32_t pass = 0; pass < 2; pass++) {
        for (int32_t j = 0; j < n; j++)
            for (size_t at = l->column[j]; at < l->column[j + 1]; at++) {
                const int32_t a = l->place[j], b = l->place[l->row[at]], low = a < b ? a : b;
                if (pass == 0) {
                    l->pointers[low + 1]++;
                } else {
                    l->slot[at] = (size_t)l->pointers[low]++;
                    l->rows[l->slot[at]] = a < b ? b : a;
                }
            }
        for (int32_t j = 0; pass == 0 && j < n; j++)
            l->pointers[j + 1] += l->pointers[j];
    }
    /* The second pass has left each column's end in the place of its beginning. */
    memmove(l->pointers + 1, l->pointers, (size_t)n * sizeof *l->pointers);
    l->pointers[0] = 0;
    l->lower = (cholmod_sparse){.nrow = (size_t)n,
                                .ncol = (size_t)n,
                                .nzmax = l->column[n],
                                .p = l->pointers,
                                .i = l->rows,
                                .x = l->numbers,
                                .stype = -1,
                                .itype = CHOLMOD_LONG,
                                .xtype = CHOLMOD_REAL,
                                .dtype = CHOLMOD_DOUBLE,
                                .packed = 1};
}

static sinew_status make_factor(sinew_ldl *l, const sinew_dense_kernels *kernels, sinew_error *error)
{
    cholmod_common common;
    cholmod_factor *counts = analyse(l->count, l->column, l->row, &common);
    if (counts)
        reorder_pattern(l, counts->Perm);
    cholmod_sparse *upper = counts ? cholmod_l_transpose(&l->lower, 0, &common) : NULL;
    sinew_status status = SINEW_OK;
    if (!upper)
        status = fail_analysis(&common, error);
    else if (!sinew_supernodal_create(&l->factor, &l->allocator, kernels, &panel_rule, upper, counts->ColCount) ||
             !sinew_supernodal_need_signs(&l->factor))
        status = sinew_fail_memory(error, "the factors of the constraints' system");
    cholmod_l_free_sparse(&upper, &common);
    cholmod_l_free_factor(&counts, &common);
    cholmod_l_finish(&common);
    return status;
}

sinew_ldl *sinew_ldl_create(const sinew_allocator *allocator, const sinew_dense_kernels *kernels, int32_t count,
                            const size_t *column, const int32_t *row, sinew_error *error)
{
    sinew_ldl *l = sinew_allocate_zero(allocator, 1, sizeof *l);
    if (l) {
        l->allocator = l->factor.allocator = *allocator;
        l->count = count;
        l->column = column;
        l->row = row;
    }
    sinew_status status =
        l && allocate_arrays(l) ? SINEW_OK : sinew_fail_memory(error, "the factors of the constraints' system");
    if (status == SINEW_OK && count > 0)
        status = make_factor(l, kernels, error);
    if (status == SINEW_OK)
        return l;
    sinew_ldl_destroy(l);
    return NULL;
}

void sinew_ldl_destroy(sinew_ldl *l)
{
    if (!l)
        return;
    const sinew_allocator allocator = l->allocator;
    sinew_supernodal_destroy(&l->factor);
    void *arrays[] = {l->place, l->pointers, l->rows, l->numbers, l->slot, l->floors, l->work, l->residual, l};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&allocator, arrays[i]);
}

size_t sinew_ldl_size(const sinew_ldl *l)
{
    return l->count > 0 ? (size_t)sinew_supernodal_size(&l->factor) : 0;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

bool sinew_ldl_factorise(sinew_ldl *l, const double *values, const double *floors, sinew_pivots *inertia)
{
    l->values = values;
    *inertia = (sinew_pivots){0};
    if (l->count == 0)
        return true;
    for (size_t at = 0; at < l->column[l->count]; at++)
        l->numbers[l->slot[at]] = values[at];
    for (int32_t k = 0; k < l->count; k++) {
        const double floor = floors ? floors[k] : 0;
        double *diagonal = &l->numbers[l->slot[l->column[k + 1] - 1]];
        l->floors[l->place[k]] = floor > 0 ? floor : 0;
        if (floor < 0 && *diagonal > floor)
            *diagonal = floor;
    }
    if (sinew_supernodal_factorise_signed(&l->factor, &l->lower, l->floors) >= 0)
        return false;
    for (int32_t k = 0; k < l->count; k++) {
        const double sign = l->factor.sign[k];
        inertia->dropped += sign == 0;
        inertia->positive += sign > 0;
        inertia->negative += sign < 0;
    }
    return true;
}

bool sinew_ldl_dropped(const sinew_ldl *l, int32_t k)
{
    return l->factor.sign[l->place[k]] == 0;
}

double sinew_ldl_pivot(const sinew_ldl *l, int32_t k)
{
    return l->factor.pivot[l->place[k]];
}

/* x += A^-1 residual by the factors. */
static void add_solution(const sinew_ldl *l, double *x)
{
    for (int32_t k = 0; k < l->count; k++)
        l->work[l->place[k]] = l->residual[k];
    sinew_supernodal_solve(&l->factor, l->work);
    for (int32_t k = 0; k < l->count; k++)
        x[k] += l->work[l->place[k]];
}

/* residual = b - A x where unknowns were not left out, else 0; returns its largest entry. */
static double find_residual(const sinew_ldl *l, const double *b, const double *x)
{
    double most = 0;
    memcpy(l->residual, b, (size_t)l->count * sizeof *b);
    for (int32_t k = 0; k < l->count; k++)
        for (size_t at = l->column[k]; at < l->column[k + 1]; at++) {
            const int32_t i = l->row[at];
            l->residual[i] -= l->values[at] * x[k];
            if (i != k)
                l->residual[k] -= l->values[at] * x[i];
        }
    for (int32_t k = 0; k < l->count; k++) {
        if (sinew_ldl_dropped(l, k))
            l->residual[k] = 0;
        /* A number that is none counts as the largest. */
        most = fabs(l->residual[k]) <= most ? most : fabs(l->residual[k]);
    }
    return most;
}

double sinew_ldl_solve(sinew_ldl *l, const double *b, double *x, int rounds)
{
    memset(x, 0, (size_t)l->count * sizeof *x);
    const double size = find_residual(l, b, x);
    double left = size;
    for (int round = 0; left > 0 && round <= rounds; round++) {
        add_solution(l, x);
        const double now = find_residual(l, b, x);
        const bool settled = !(now < 0.25 * left);
        left = now;
        if (settled)
            break;
    }
    return size > 0 ? left / size : 0;
}
