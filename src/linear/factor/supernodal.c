/* SPDX-License-Identifier: MIT
 *
 * supernodal.c: see supernodal.h.
 */
#include "linear/factor/supernodal.h"

#include <string.h>

/* ---- Create ---------------------------------------------------------------------------------- */

static int32_t height_of(const sinew_supernodal *f, int32_t panel)
{
    return (int32_t)(f->panels.row_first[panel + 1] - f->panels.row_first[panel]);
}

static int32_t width_of(const sinew_supernodal *f, int32_t panel)
{
    return f->panels.column[panel + 1] - f->panels.column[panel];
}

static const int32_t *rows_of(const sinew_supernodal *f, int32_t panel)
{
    return f->panels.rows + f->panels.row_first[panel];
}

static void lay_out_values(sinew_supernodal *f)
{
    f->start[0] = 0;
    for (int32_t k = 0; k < f->panels.count; k++) {
        f->start[k + 1] = f->start[k] + (size_t)height_of(f, k) * (size_t)width_of(f, k) + SINEW_DENSE_PAD;
        for (int32_t j = f->panels.column[k]; j < f->panels.column[k + 1]; j++)
            f->panel_of[j] = k;
    }
}

/* Work space for the largest product: all rows of a panel that are left when some of them, as many as lie in one panel
 * above, are its columns; and that of a panel's own blocks. */
static bool allocate_work(sinew_supernodal *f)
{
    size_t most = 0, width = SINEW_DENSE_BLOCK, height = 0;
    for (int32_t k = 0; k < f->panels.count; k++) {
        const int32_t *rows = rows_of(f, k), count = height_of(f, k);
        const size_t own = sinew_dense_round((size_t)count) * SINEW_DENSE_BLOCK;
        most = own > most ? own : most;
        height = (size_t)count > height ? (size_t)count : height;
        for (int32_t i = width_of(f, k), end; i < count; i = end) {
            for (end = i + 1; end < count && f->panel_of[rows[end]] == f->panel_of[rows[i]]; end++)
                continue;
            const size_t columns = sinew_dense_round((size_t)(end - i));
            const size_t size = sinew_dense_round((size_t)(count - i)) * columns;
            most = size > most ? size : most;
            width = columns > width ? columns : width;
        }
    }
    f->relative = sinew_allocate(&f->allocator, height, sizeof *f->relative);
    f->product = sinew_allocate(&f->allocator, most, sizeof *f->product);
    f->work = sinew_allocate(&f->allocator, sinew_dense_work(width), sizeof *f->work);
    return f->relative && f->product && f->work;
}

bool sinew_supernodal_create(sinew_supernodal *f, const sinew_allocator *allocator, const sinew_dense_kernels *kernels,
                             const sinew_panel_rule *rule, const cholmod_sparse *upper, const SuiteSparse_long *columns)
{
    *f = (sinew_supernodal){.allocator = *allocator, .kernels = kernels};
    if (!sinew_panels_create(&f->panels, allocator, rule, upper, columns))
        return false;
    const size_t panels = (size_t)f->panels.count, n = upper->nrow;
    f->start = sinew_allocate(allocator, panels + 1, sizeof *f->start);
    f->panel_of = sinew_allocate(allocator, n, sizeof *f->panel_of);
    f->place = sinew_allocate(allocator, n, sizeof *f->place);
    f->waiting = sinew_allocate(allocator, panels, sizeof *f->waiting);
    f->next = sinew_allocate(allocator, panels, sizeof *f->next);
    f->done_rows = sinew_allocate(allocator, panels, sizeof *f->done_rows);
    if (!f->start || !f->panel_of || !f->place || !f->waiting || !f->next || !f->done_rows)
        return false;
    lay_out_values(f);
    return sinew_supernodal_need_values(f) && allocate_work(f);
}

bool sinew_supernodal_need_values(sinew_supernodal *f)
{
    if (f->values)
        return true;
    f->values = sinew_allocate(&f->allocator, f->start[f->panels.count], sizeof *f->values);
    for (int32_t k = 0; f->values && k < f->panels.count; k++)
        memset(f->values + f->start[k + 1] - SINEW_DENSE_PAD, 0, SINEW_DENSE_PAD * sizeof *f->values);
    return f->values;
}

void sinew_supernodal_drop_values(sinew_supernodal *f)
{
    sinew_release(&f->allocator, f->values);
    f->values = NULL;
}

void sinew_supernodal_destroy(sinew_supernodal *f)
{
    void *arrays[] = {f->start,     f->values,   f->panel_of, f->place, f->waiting, f->next,
                      f->done_rows, f->relative, f->product,  f->work,  f->sign,    f->pivot};
    sinew_panels_destroy(&f->panels, &f->allocator);
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&f->allocator, arrays[i]);
}

bool sinew_supernodal_need_signs(sinew_supernodal *f)
{
    if (!f->sign)
        f->sign = sinew_allocate_zero(&f->allocator, (size_t)f->panels.n, sizeof *f->sign);
    if (!f->pivot)
        f->pivot = sinew_allocate_zero(&f->allocator, (size_t)f->panels.n, sizeof *f->pivot);
    return f->sign && f->pivot;
}

int64_t sinew_supernodal_size(const sinew_supernodal *f)
{
    return (int64_t)(f->start[f->panels.count] - (size_t)f->panels.count * SINEW_DENSE_PAD);
}

/* ---- Factorise ------------------------------------------------------------------------------- */

/* L_k = A_k + shift I; place finds the panel's rows. */
static void load_panel(sinew_supernodal *f, int32_t k, const cholmod_sparse *lower, double shift)
{
    const SuiteSparse_long *p = lower->p, *i = lower->i;
    const double *x = lower->x;
    const int32_t *rows = rows_of(f, k), height = height_of(f, k);
    double *L = f->values + f->start[k];
    memset(L, 0, (size_t)height * (size_t)width_of(f, k) * sizeof *L);
    for (int32_t r = 0; r < height; r++)
        f->place[rows[r]] = r;
    for (int32_t j = f->panels.column[k]; j < f->panels.column[k + 1]; j++, L += height) {
        for (SuiteSparse_long e = p[j]; e < p[j + 1]; e++)
            L[f->place[i[e]]] += x[e];
        L[f->place[j]] += shift;
        for (int32_t r = 0; f->single && r < height; r++)
            L[r] = (double)(float)L[r];
    }
}

/* Panel d waits for the panel of its first row that has not been applied yet. */
static void wait_for_next(sinew_supernodal *f, int32_t d)
{
    if (f->done_rows[d] == height_of(f, d))
        return;
    const int32_t up = f->panel_of[rows_of(f, d)[f->done_rows[d]]];
    f->next[d] = f->waiting[up];
    f->waiting[up] = d;
}

/* L_k -= L_d L_d^T, as far as rows of d lie in the columns of k. */
static void apply_panel(sinew_supernodal *f, int32_t k, int32_t d)
{
    const int32_t from = f->done_rows[d], height = height_of(f, d), count = height - from, *rows = rows_of(f, d) + from;
    int32_t columns = 0;
    while (columns < count && rows[columns] < f->panels.column[k + 1])
        columns++;
    f->kernels->product(count, columns, width_of(f, d), f->values + f->start[d] + from, (size_t)height,
                        f->sign ? f->sign + f->panels.column[d] : NULL, f->product, f->work);
    for (int32_t r = 0; r < count; r++)
        f->relative[r] = f->place[rows[r]];
    const size_t stride = sinew_dense_round((size_t)count);
    for (int32_t j = 0; j < columns; j++) {
        double *L = f->values + f->start[k] + (size_t)f->relative[j] * (size_t)height_of(f, k);
        const double *C = f->product + (size_t)j * stride;
        for (int32_t r = j; r < count; r++)
            L[f->relative[r]] -= C[r];
        for (int32_t r = j; f->single && r < count; r++)
            L[f->relative[r]] = (double)(float)L[f->relative[r]];
    }
    f->done_rows[d] += columns;
}

static int32_t factorise_panel(sinew_supernodal *f, int32_t k, const double *floor)
{
    const int32_t first = f->panels.column[k];
    double *panel = f->values + f->start[k];
    if (!f->sign || !floor)
        return f->kernels->factorise(height_of(f, k), width_of(f, k), panel, NULL, f->product, f->work);
    const sinew_dense_signs signs = {f->sign + first, floor + first, f->pivot + first};
    return f->kernels->factorise(height_of(f, k), width_of(f, k), panel, &signs, f->product, f->work);
}

static int32_t factorise(sinew_supernodal *f, const cholmod_sparse *lower, double shift, const double *floor)
{
    for (int32_t k = 0; k < f->panels.count; k++) {
        f->waiting[k] = -1;
        f->done_rows[k] = width_of(f, k);
    }
    for (int32_t k = 0; k < f->panels.count; k++) {
        load_panel(f, k, lower, shift);
        for (int32_t d = f->waiting[k], next; d >= 0; d = next) {
            next = f->next[d];
            apply_panel(f, k, d);
            wait_for_next(f, d);
        }
        const int32_t bad = factorise_panel(f, k, floor);
        if (bad >= 0)
            return f->panels.column[k] + bad;
        wait_for_next(f, k);
    }
    return -1;
}

int32_t sinew_supernodal_factorise(sinew_supernodal *f, const cholmod_sparse *lower, double shift)
{
    return factorise(f, lower, shift, NULL);
}

int32_t sinew_supernodal_factorise_signed(sinew_supernodal *f, const cholmod_sparse *lower, const double *floor)
{
    return factorise(f, lower, 0, floor);
}

/* ---- Solve ----------------------------------------------------------------------------------- */

/* The rows of a panel next to each other, in f->product, which is free between factorisations. */
static double *gather_rows(const sinew_supernodal *f, int32_t k, const double *x)
{
    const int32_t *rows = rows_of(f, k);
    for (int32_t r = 0; r < height_of(f, k); r++)
        f->product[r] = x[rows[r]];
    return f->product;
}

void sinew_supernodal_solve(const sinew_supernodal *f, double *x)
{
    for (int32_t k = 0; k < f->panels.count; k++) {
        double *w = gather_rows(f, k, x);
        f->kernels->forward(height_of(f, k), width_of(f, k), f->values + f->start[k], w);
        for (int32_t r = 0; r < height_of(f, k); r++)
            x[rows_of(f, k)[r]] = w[r];
    }
    for (int32_t j = 0; f->sign && j < f->panels.n; j++)
        x[j] *= f->sign[j];
    for (int32_t k = f->panels.count - 1; k >= 0; k--) {
        double *w = gather_rows(f, k, x);
        f->kernels->backward(height_of(f, k), width_of(f, k), f->values + f->start[k], w);
        memcpy(x + f->panels.column[k], w, (size_t)width_of(f, k) * sizeof *x);
    }
}
