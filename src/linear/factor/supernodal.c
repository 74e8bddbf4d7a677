/* SPDX-License-Identifier: MIT
 *
 * supernodal.c: left-looking supernodal factorisation and solves. See supernodal.h.
 */
#include "linear/factor/supernodal.h"

#include <string.h>

#include "base/stop.h"

/* ---- Creation of the supernodal factor ------------------------------------------------------- */

static int32_t supernodal_height(const sinew_supernodal *f, int32_t supernode)
{
    return (int32_t)(f->supernodes.row_first[supernode + 1] - f->supernodes.row_first[supernode]);
}

static int32_t supernodal_width(const sinew_supernodal *f, int32_t supernode)
{
    return f->supernodes.column[supernode + 1] - f->supernodes.column[supernode];
}

static const int32_t *supernodal_rows(const sinew_supernodal *f, int32_t supernode)
{
    return f->supernodes.rows + f->supernodes.row_first[supernode];
}

static void supernodal_lay_out(sinew_supernodal *f)
{
    f->start[0] = 0;
    for (int32_t k = 0; k < f->supernodes.count; k++) {
        f->start[k + 1] =
            f->start[k] + (size_t)supernodal_height(f, k) * (size_t)supernodal_width(f, k) + SINEW_DENSE_PAD;
        for (int32_t j = f->supernodes.column[k]; j < f->supernodes.column[k + 1]; j++)
            f->supernode_of[j] = k;
    }
}

/* Allocates work space for the largest product: the remaining rows of a supernode times the rows that are columns of
 * one ancestor. It also fits the dense blocks of the current supernode. */
static bool supernodal_allocate_work(sinew_supernodal *f)
{
    size_t max = 0, width = SINEW_DENSE_BLOCK, height = 0;
    for (int32_t k = 0; k < f->supernodes.count; k++) {
        const int32_t *rows = supernodal_rows(f, k), count = supernodal_height(f, k);
        const size_t own = sinew_dense_round((size_t)count) * SINEW_DENSE_BLOCK;
        max = own > max ? own : max;
        height = (size_t)count > height ? (size_t)count : height;
        for (int32_t i = supernodal_width(f, k), end; i < count; i = end) {
            for (end = i + 1; end < count && f->supernode_of[rows[end]] == f->supernode_of[rows[i]]; end++)
                continue;
            const size_t columns = sinew_dense_round((size_t)(end - i));
            const size_t size = sinew_dense_round((size_t)(count - i)) * columns;
            max = size > max ? size : max;
            width = columns > width ? columns : width;
        }
    }
    f->relative = sinew_allocate(&f->allocator, height, sizeof *f->relative);
    f->product = sinew_allocate(&f->allocator, max, sizeof *f->product);
    f->work = sinew_allocate(&f->allocator, sinew_dense_work(width), sizeof *f->work);
    return f->relative && f->product && f->work;
}

bool sinew_supernodal_create(sinew_supernodal *f, const sinew_allocator *allocator, const sinew_dense_kernels *kernels,
                             const sinew_amalgamation *rule, const sinew_elimination *elimination, int32_t block)
{
    *f = (sinew_supernodal){.allocator = *allocator, .kernels = kernels};
    if (!sinew_supernodes_create(&f->supernodes, allocator, rule, elimination, block))
        return false;
    const size_t supernodes = (size_t)f->supernodes.count, n = (size_t)f->supernodes.n;
    f->start = sinew_allocate(allocator, supernodes + 1, sizeof *f->start);
    f->supernode_of = sinew_allocate(allocator, n, sizeof *f->supernode_of);
    f->row_index = sinew_allocate(allocator, n, sizeof *f->row_index);
    f->pending = sinew_allocate(allocator, supernodes, sizeof *f->pending);
    f->next = sinew_allocate(allocator, supernodes, sizeof *f->next);
    f->applied_rows = sinew_allocate(allocator, supernodes, sizeof *f->applied_rows);
    if (!f->start || !f->supernode_of || !f->row_index || !f->pending || !f->next || !f->applied_rows)
        return false;
    supernodal_lay_out(f);
    return sinew_supernodal_need_values(f) && supernodal_allocate_work(f);
}

bool sinew_supernodal_need_values(sinew_supernodal *f)
{
    if (f->values)
        return true;
    f->values = sinew_allocate(&f->allocator, f->start[f->supernodes.count], sizeof *f->values);
    return f->values;
}

void sinew_supernodal_drop_values(sinew_supernodal *f)
{
    sinew_release(&f->allocator, f->values);
    f->values = NULL;
}

void sinew_supernodal_destroy(sinew_supernodal *f)
{
    void *arrays[] = {f->start,        f->values,   f->supernode_of, f->row_index, f->pending, f->next,
                      f->applied_rows, f->relative, f->product,      f->work,      f->sign,    f->pivot};
    sinew_supernodes_destroy(&f->supernodes, &f->allocator);
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&f->allocator, arrays[i]);
}

bool sinew_supernodal_need_signs(sinew_supernodal *f)
{
    if (!f->sign)
        f->sign = sinew_allocate_zero(&f->allocator, (size_t)f->supernodes.n, sizeof *f->sign);
    if (!f->pivot)
        f->pivot = sinew_allocate_zero(&f->allocator, (size_t)f->supernodes.n, sizeof *f->pivot);
    return f->sign && f->pivot;
}

int64_t sinew_supernodal_size(const sinew_supernodal *f)
{
    return (int64_t)(f->start[f->supernodes.count] - (size_t)f->supernodes.count * SINEW_DENSE_PAD);
}

/* ---- Left-looking factorisation -------------------------------------------------------------- */

/* L_k = columns of A + shift I that belong to supernode k; sets row_index for the rows of the supernode. */
static void supernodal_load_matrix(sinew_supernodal *f, int32_t k, const sinew_lower_triangle *lower, double shift)
{
    const int32_t *rows = supernodal_rows(f, k), height = supernodal_height(f, k);
    double *L = f->values + f->start[k];
    for (int32_t r = 0; r < height; r++)
        f->row_index[rows[r]] = r;
    /* Polls in each column: the first factorisation also waits for the pages of L. */
    for (int32_t j = f->supernodes.column[k]; j < f->supernodes.column[k + 1] && !sinew_stop_came(); j++, L += height) {
        memset(L, 0, (size_t)height * sizeof *L);
        for (size_t e = lower->column[j]; e < lower->column[j + 1]; e++)
            L[f->row_index[lower->row[e]]] += lower->value[e];
        L[f->row_index[j]] += shift;
        for (int32_t r = 0; f->single && r < height; r++)
            L[r] = (double)(float)L[r];
    }
    /* Products read beyond the last column. Pads are set here and not at allocation, where they would touch all
     * pages of the factor L without a poll. */
    memset(f->values + f->start[k + 1] - SINEW_DENSE_PAD, 0, SINEW_DENSE_PAD * sizeof *f->values);
}

/* Appends supernode d to the pending list of the supernode whose columns include the first row of d that is not applied
 * yet. */
static void supernodal_enqueue_update(sinew_supernodal *f, int32_t d)
{
    if (f->applied_rows[d] == supernodal_height(f, d))
        return;
    const int32_t up = f->supernode_of[supernodal_rows(f, d)[f->applied_rows[d]]];
    f->next[d] = f->pending[up];
    f->pending[up] = d;
}

/* L_k -= L_d L_d^T: supernode k subtracts the product of its descendant d, for the rows of d that are columns of k. */
static void supernodal_apply_update(sinew_supernodal *f, int32_t k, int32_t d)
{
    const int32_t from = f->applied_rows[d], height = supernodal_height(f, d), count = height - from,
                  *rows = supernodal_rows(f, d) + from;
    int32_t columns = 0;
    while (columns < count && rows[columns] < f->supernodes.column[k + 1])
        columns++;
    f->kernels->product(count, columns, supernodal_width(f, d), f->values + f->start[d] + from, (size_t)height,
                        f->sign ? f->sign + f->supernodes.column[d] : NULL, f->product, f->work, sinew_stop_came);
    for (int32_t r = 0; r < count; r++)
        f->relative[r] = f->row_index[rows[r]];
    const size_t stride = sinew_dense_round((size_t)count);
    for (int32_t j = 0; j < columns; j++) {
        double *L = f->values + f->start[k] + (size_t)f->relative[j] * (size_t)supernodal_height(f, k);
        const double *C = f->product + (size_t)j * stride;
        for (int32_t r = j; r < count; r++)
            L[f->relative[r]] -= C[r];
        for (int32_t r = j; f->single && r < count; r++)
            L[f->relative[r]] = (double)(float)L[f->relative[r]];
    }
    f->applied_rows[d] += columns;
}

static int32_t supernodal_factorise_one(sinew_supernodal *f, int32_t k, const double *floor)
{
    const int32_t first = f->supernodes.column[k];
    double *supernode = f->values + f->start[k];
    if (!f->sign || !floor)
        return f->kernels->factorise(supernodal_height(f, k), supernodal_width(f, k), supernode, NULL, f->product,
                                     f->work, sinew_stop_came);
    const sinew_dense_signs signs = {f->sign + first, floor + first, f->pivot + first};
    return f->kernels->factorise(supernodal_height(f, k), supernodal_width(f, k), supernode, &signs, f->product,
                                 f->work, sinew_stop_came);
}

static int32_t supernodal_factorise(sinew_supernodal *f, const sinew_lower_triangle *lower, double shift,
                                    const double *floor)
{
    for (int32_t k = 0; k < f->supernodes.count; k++) {
        f->pending[k] = -1;
        f->applied_rows[k] = supernodal_width(f, k);
    }
    for (int32_t k = 0; k < f->supernodes.count; k++) {
        supernodal_load_matrix(f, k, lower, shift);
        for (int32_t d = f->pending[k], next; d >= 0 && !sinew_stop_came(); d = next) {
            next = f->next[d];
            supernodal_apply_update(f, k, d);
            supernodal_enqueue_update(f, d);
        }
        const int32_t bad = sinew_stop_came() ? 0 : supernodal_factorise_one(f, k, floor);
        if (bad >= 0)
            return f->supernodes.column[k] + bad;
        supernodal_enqueue_update(f, k);
    }
    return -1;
}

int32_t sinew_supernodal_factorise(sinew_supernodal *f, const sinew_lower_triangle *lower, double shift)
{
    return supernodal_factorise(f, lower, shift, NULL);
}

int32_t sinew_supernodal_factorise_signed(sinew_supernodal *f, const sinew_lower_triangle *lower, const double *floor)
{
    return supernodal_factorise(f, lower, 0, floor);
}

/* ---- Solve by forward and backward substitution ---------------------------------------------- */

/* Gathers the entries of x at the rows of supernode k into f->product, which is unused between factorisations. */
static double *supernodal_gather_rows(const sinew_supernodal *f, int32_t k, const double *x)
{
    const int32_t *rows = supernodal_rows(f, k);
    for (int32_t r = 0; r < supernodal_height(f, k); r++)
        f->product[r] = x[rows[r]];
    return f->product;
}

void sinew_supernodal_solve(const sinew_supernodal *f, double *x)
{
    for (int32_t k = 0; k < f->supernodes.count && !sinew_stop_came(); k++) {
        double *w = supernodal_gather_rows(f, k, x);
        f->kernels->forward(supernodal_height(f, k), supernodal_width(f, k), f->values + f->start[k], w);
        for (int32_t r = 0; r < supernodal_height(f, k); r++)
            x[supernodal_rows(f, k)[r]] = w[r];
    }
    for (int32_t j = 0; f->sign && j < f->supernodes.n; j++)
        x[j] *= f->sign[j];
    for (int32_t k = f->supernodes.count - 1; k >= 0 && !sinew_stop_came(); k--) {
        double *w = supernodal_gather_rows(f, k, x);
        f->kernels->backward(supernodal_height(f, k), supernodal_width(f, k), f->values + f->start[k], w);
        memcpy(x + f->supernodes.column[k], w, (size_t)supernodal_width(f, k) * sizeof *x);
    }
}
