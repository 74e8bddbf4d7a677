/* SPDX-License-Identifier: MIT
 *
 * rank_one_terms.c: Woodbury correction of Newton's systems for global constraints. See rank_one_terms.h.
 */
#include "solve/newton/rank_one_terms.h"

#include <math.h>

#include "base/stop.h"
#include "objective/global_constraints.h"

sinew_status sinew_rank_one_terms_create(sinew_rank_one_terms *r, const sinew_objective *o, const sinew_assembly *as,
                                         sinew_error *error)
{
    const size_t count = (size_t)sinew_global_constraints_count(o), size = 3 * (size_t)as->free_count;
    if (count == 0)
        return SINEW_OK;
    r->size = size;
    r->gradient = sinew_allocate_zero(&o->allocator, 4 * (size_t)o->particle_count, sizeof *r->gradient);
    r->slopes = sinew_allocate_zero(&o->allocator, count * size, sizeof *r->slopes);
    r->answers = sinew_allocate_zero(&o->allocator, count * size, sizeof *r->answers);
    r->small = sinew_allocate_zero(&o->allocator, count * count, sizeof *r->small);
    r->weights = sinew_allocate_zero(&o->allocator, count, sizeof *r->weights);
    r->sums = sinew_allocate_zero(&o->allocator, count, sizeof *r->sums);
    if (!r->gradient || !r->slopes || !r->answers || !r->small || !r->weights || !r->sums)
        return sinew_fail_memory(error, "the gradients of global constraints");
    r->count = (int32_t)count;
    return SINEW_OK;
}

void sinew_rank_one_terms_destroy(sinew_rank_one_terms *r, const sinew_objective *o)
{
    void *arrays[] = {r->gradient, r->slopes, r->answers, r->small, r->weights, r->sums};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&o->allocator, arrays[i]);
    *r = (sinew_rank_one_terms){0};
}

static double rank_one_dot(const double *a, const double *b, size_t size)
{
    double sum = 0;
    for (size_t i = 0; i < size; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Replaces the small dense matrix W^-1 + G^T Y (rank_one_terms.h) by its Cholesky factor, in the lower triangle.
 * Returns false if the matrix is not positive definite. */
static bool rank_one_factorise_small(const sinew_rank_one_terms *r)
{
    const size_t n = (size_t)r->count;
    for (size_t j = 0; j < n; j++) {
        double *row = r->small + j * n;
        for (size_t k = 0; k <= j; k++) {
            const double left = row[k] - rank_one_dot(row, r->small + k * n, k);
            if (k == j && !(left > 0))
                return false;
            row[k] = k == j ? sqrt(left) : left / r->small[k * n + k];
        }
    }
    return true;
}

bool sinew_rank_one_terms_update(sinew_rank_one_terms *r, const sinew_objective *o, const sinew_assembly *as,
                                 const sinew_real *q, sinew_back_solve *solve, void *context)
{
    const size_t n = (size_t)r->count;
    for (size_t k = 0; k < n; k++) {
        double *slope = r->slopes + k * r->size;
        r->weights[k] = sinew_global_constraint_gradient(o, (int32_t)k, q, r->gradient);
        for (size_t i = 0; i < r->size; i++)
            slope[i] = (double)r->gradient[4 * (size_t)as->particle[i / 3] + i % 3];
        if (sinew_stop_came() || !solve(context, slope, r->answers + k * r->size))
            return false;
        for (size_t j = 0; j <= k; j++)
            r->small[k * n + j] = rank_one_dot(slope, r->answers + j * r->size, r->size);
        /* An inactive global constraint has zero weight and zero gradient: any positive diagonal entry is valid. */
        r->small[k * n + k] += r->weights[k] > 0 ? 1 / r->weights[k] : 1;
    }
    return rank_one_factorise_small(r);
}

void sinew_rank_one_terms_correct(const sinew_rank_one_terms *r, double *x)
{
    const size_t n = (size_t)r->count;
    for (size_t k = 0; k < n; k++) {
        r->sums[k] = rank_one_dot(r->slopes + k * r->size, x, r->size);
        r->sums[k] = (r->sums[k] - rank_one_dot(r->small + k * n, r->sums, k)) / r->small[k * n + k];
    }
    for (size_t k = n; k-- > 0;) {
        for (size_t j = k + 1; j < n; j++)
            r->sums[k] -= r->small[j * n + k] * r->sums[j];
        r->sums[k] /= r->small[k * n + k];
    }
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < r->size; i++)
            x[i] -= r->sums[k] * r->answers[k * r->size + i];
}
