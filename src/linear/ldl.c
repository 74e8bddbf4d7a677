/* SPDX-License-Identifier: MIT
 *
 * ldl.c: see ldl.h. Up-looking: row k of L solves L(0..k-1) D l = A(0..k-1, k), its pattern is what the elimination
 * tree reaches from the entries of that column (Davis, Algorithm 849, 2005; Liu 1990 for the tree).
 */
#include "linear/ldl.h"

#include <math.h>
#include <string.h>

struct sinew_ldl {
    sinew_allocator allocator;
    int32_t count;
    const size_t *column; /* of the matrix, borrowed */
    const int32_t *row;
    const double *values;
    int32_t *parent;  /* [count] elimination tree, -1 at roots */
    size_t *first;    /* [count + 1] columns of L */
    size_t *used;     /* [count] entries of each column so far */
    int32_t *lower;   /* [first[count]] their rows */
    double *L;        /* [first[count]] */
    double *inverse;  /* [count] 1 / D, 0 where left out */
    double *work;     /* [count] zero between uses */
    double *residual; /* [count] */
    int32_t *flag;    /* [count] last row that passed here */
    int32_t *path;    /* [count] */
    int32_t *order;   /* [count] pattern of a row of L */
};

/* ---- Analysis -------------------------------------------------------------------------------- */

/* The tree, and how many entries each column of L has. */
static void count_columns(sinew_ldl *l, size_t *counts)
{
    memset(counts, 0, (size_t)l->count * sizeof *counts);
    for (int32_t k = 0; k < l->count; k++) {
        l->parent[k] = -1;
        l->flag[k] = k;
        for (size_t at = l->column[k]; at < l->column[k + 1]; at++)
            for (int32_t i = l->row[at]; i < k && l->flag[i] != k; i = l->parent[i]) {
                if (l->parent[i] < 0)
                    l->parent[i] = k;
                counts[i]++;
                l->flag[i] = k;
            }
    }
}

static bool allocate_tree(sinew_ldl *l)
{
    const size_t n = (size_t)l->count;
    const sinew_allocator *a = &l->allocator;
    l->parent = sinew_allocate(a, n, sizeof *l->parent);
    l->first = sinew_allocate(a, n + 1, sizeof *l->first);
    l->used = sinew_allocate(a, n, sizeof *l->used);
    l->inverse = sinew_allocate_zero(a, n, sizeof *l->inverse);
    l->work = sinew_allocate_zero(a, n, sizeof *l->work);
    l->residual = sinew_allocate(a, n, sizeof *l->residual);
    l->flag = sinew_allocate(a, n, sizeof *l->flag);
    l->path = sinew_allocate(a, n, sizeof *l->path);
    l->order = sinew_allocate(a, n, sizeof *l->order);
    return l->parent && l->first && l->used && l->inverse && l->work && l->residual && l->flag && l->path && l->order;
}

static bool allocate_factor(sinew_ldl *l)
{
    l->first[0] = 0;
    for (int32_t k = 0; k < l->count; k++)
        l->first[k + 1] = l->first[k] + l->used[k];
    l->lower = sinew_allocate(&l->allocator, l->first[l->count], sizeof *l->lower);
    l->L = sinew_allocate(&l->allocator, l->first[l->count], sizeof *l->L);
    return l->lower && l->L;
}

sinew_ldl *sinew_ldl_create(const sinew_allocator *allocator, int32_t count, const size_t *column, const int32_t *row,
                            sinew_error *error)
{
    sinew_ldl *l = sinew_allocate_zero(allocator, 1, sizeof *l);
    if (l) {
        l->allocator = *allocator;
        l->count = count;
        l->column = column;
        l->row = row;
    }
    bool good = l && allocate_tree(l);
    if (good) {
        count_columns(l, l->used);
        good = allocate_factor(l);
    }
    if (good)
        return l;
    sinew_ldl_destroy(l);
    sinew_fail_memory(error, "the factors of the constraints' system");
    return NULL;
}

void sinew_ldl_destroy(sinew_ldl *l)
{
    if (!l)
        return;
    const sinew_allocator allocator = l->allocator;
    void *arrays[] = {l->parent, l->first,    l->used, l->lower, l->L,     l->inverse,
                      l->work,   l->residual, l->flag, l->path,  l->order, l};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&allocator, arrays[i]);
}

size_t sinew_ldl_size(const sinew_ldl *l)
{
    return l->first[l->count];
}

/* ---- Numbers --------------------------------------------------------------------------------- */

/* work = column k of the matrix above its diagonal, which is returned; order[top ..] = the pattern of row k of L, each
 * entry before those that depend on it. */
static double scatter_column(sinew_ldl *l, int32_t k, int32_t *top)
{
    double diagonal = 0;
    *top = l->count;
    l->flag[k] = k;
    for (size_t at = l->column[k]; at < l->column[k + 1]; at++) {
        int32_t i = l->row[at], length = 0;
        if (i == k) {
            diagonal += l->values[at];
            continue;
        }
        l->work[i] += l->values[at];
        for (; l->flag[i] != k; i = l->parent[i]) {
            l->path[length++] = i;
            l->flag[i] = k;
        }
        while (length > 0)
            l->order[--*top] = l->path[--length];
    }
    return diagonal;
}

/* D_k = A_kk - sum_i y_i^2 / D_i with y = L^-1 A(:, k); appends y_i / D_i to column i of L. */
static double eliminate_row(sinew_ldl *l, int32_t k)
{
    int32_t top;
    double d = scatter_column(l, k, &top);
    for (; top < l->count; top++) {
        const int32_t i = l->order[top];
        const size_t first = l->first[i], last = first + l->used[i];
        const double y = l->work[i], l_ki = y * l->inverse[i];
        l->work[i] = 0;
        for (size_t at = first; at < last; at++)
            l->work[l->lower[at]] -= l->L[at] * y;
        d -= l_ki * y;
        l->lower[last] = k;
        l->L[last] = l_ki;
        l->used[i]++;
    }
    return d;
}

bool sinew_ldl_factorise(sinew_ldl *l, const double *values, const double *floors, sinew_pivots *inertia)
{
    l->values = values;
    *inertia = (sinew_pivots){0};
    for (int32_t k = 0; k < l->count; k++) {
        l->used[k] = 0;
        l->flag[k] = -1;
    }
    for (int32_t k = 0; k < l->count; k++) {
        const double d = eliminate_row(l, k), floor = floors ? floors[k] : 0;
        if (!isfinite(d) || (d == 0 && floor == 0)) {
            memset(l->work, 0, (size_t)l->count * sizeof *l->work);
            return false;
        }
        const bool none = fabs(d) <= floor;
        l->inverse[k] = none ? 0 : 1 / d;
        inertia->dropped += none;
        inertia->positive += !none && d > 0;
        inertia->negative += !none && d < 0;
    }
    return true;
}

bool sinew_ldl_dropped(const sinew_ldl *l, int32_t k)
{
    return l->inverse[k] == 0;
}

/* x += A^-1 b by the factors; b becomes work. Entries of L in columns that were left out are zero by 1 / D = 0. */
static void add_solution(const sinew_ldl *l, double *b, double *x)
{
    for (int32_t k = 0; k < l->count; k++)
        for (size_t at = l->first[k]; at < l->first[k + 1]; at++)
            b[l->lower[at]] -= l->L[at] * b[k];
    for (int32_t k = 0; k < l->count; k++)
        b[k] *= l->inverse[k];
    for (int32_t k = l->count; k-- > 0;) {
        for (size_t at = l->first[k]; l->inverse[k] != 0 && at < l->first[k + 1]; at++)
            b[k] -= l->L[at] * b[l->lower[at]];
        x[k] += b[k];
    }
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
        if (l->inverse[k] == 0)
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
        memcpy(l->work, l->residual, (size_t)l->count * sizeof *l->work);
        add_solution(l, l->work, x);
        const double now = find_residual(l, b, x);
        const bool settled = !(now < 0.25 * left);
        left = now;
        if (settled)
            break;
    }
    memset(l->work, 0, (size_t)l->count * sizeof *l->work);
    return size > 0 ? left / size : 0;
}
