/* SPDX-License-Identifier: MIT
 *
 * ldl.c: sparse LDL^T factorisation and refined solves. See ldl.h.
 */
#include "linear/factor/ldl.h"

#include <math.h>
#include <string.h>

#include "linear/factor/supernodal.h"

/* Rules for merging supernodes, as in cholesky.c. */
static const sinew_amalgamation amalgamation = {{4, 16, 48}, {0.8, 0.1, 0.05}};

struct sinew_ldl {
    sinew_allocator allocator;
    int32_t count;
    const size_t *column; /* pattern and values of the matrix (upper triangle), borrowed from the caller */
    const int32_t *row;
    const double *values;
    int32_t *index;                /* [count] position of each unknown in the postorder */
    sinew_reordered_matrix matrix; /* the matrix with rows and columns permuted to the postorder */
    double *floors;                /* [count] pivot floors of the unknowns, in the postorder */
    double *work;                  /* [count] right-hand side and solution of a solve, in the postorder */
    double *residual;              /* [count] residual b - A x of a solve, in the caller's order */
    sinew_supernodal factor;
};

/* ---- Cost of the factorisation, from the pattern --------------------------------------------- */

static sinew_status ldl_fail_analysis(sinew_error *error)
{
    return sinew_fail_memory(error, "the analysis of the constraints' system");
}

sinew_status sinew_ldl_cost(const sinew_allocator *allocator, int32_t count, const size_t *column, const int32_t *row,
                            double *cost, sinew_error *error)
{
    sinew_graph graph;
    sinew_elimination elimination = {0};
    *cost = 0;
    if (count == 0)
        return SINEW_OK;
    const bool good = sinew_graph_create(&graph, allocator, count, column, row) &&
                      sinew_elimination_create(&elimination, allocator, &graph, NULL);
    *cost = good ? sinew_elimination_cost(&elimination) : 0;
    sinew_elimination_destroy(&elimination);
    sinew_graph_destroy(&graph, allocator);
    return good ? SINEW_OK : ldl_fail_analysis(error);
}

/* ---- Creation of the LDL^T factor ------------------------------------------------------------ */

static bool ldl_allocate_arrays(sinew_ldl *l)
{
    const sinew_allocator *a = &l->allocator;
    const size_t n = (size_t)l->count;
    l->index = sinew_allocate(a, n, sizeof *l->index);
    l->floors = sinew_allocate_zero(a, n, sizeof *l->floors);
    l->work = sinew_allocate_zero(a, n, sizeof *l->work);
    l->residual = sinew_allocate_zero(a, n, sizeof *l->residual);
    return l->index && l->floors && l->work && l->residual;
}

/* The factor uses a postorder of the elimination tree: the fill is the same, and each subtree is a contiguous range of
 * columns. */
static sinew_status ldl_make_factor(sinew_ldl *l, const sinew_dense_kernels *kernels, sinew_error *error)
{
    sinew_graph graph;
    sinew_elimination e = {0};
    sinew_status status = SINEW_OK;
    if (!sinew_graph_create(&graph, &l->allocator, l->count, l->column, l->row) ||
        !sinew_elimination_create(&e, &l->allocator, &graph, NULL) || !sinew_elimination_postorder(&e))
        status = ldl_fail_analysis(error);
    else if (!sinew_reordered_matrix_create(&l->matrix, &l->allocator, l->count, l->column, l->row, e.index) ||
             !sinew_supernodal_create(&l->factor, &l->allocator, kernels, &amalgamation, &e, 1) ||
             !sinew_supernodal_need_signs(&l->factor))
        status = sinew_fail_memory(error, "the factors of the constraints' system");
    else
        memcpy(l->index, e.index, (size_t)l->count * sizeof *l->index);
    sinew_elimination_destroy(&e);
    sinew_graph_destroy(&graph, &l->allocator);
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
        l && ldl_allocate_arrays(l) ? SINEW_OK : sinew_fail_memory(error, "the factors of the constraints' system");
    if (status == SINEW_OK && count > 0)
        status = ldl_make_factor(l, kernels, error);
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
    sinew_reordered_matrix_destroy(&l->matrix, &allocator);
    void *arrays[] = {l->index, l->floors, l->work, l->residual, l};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&allocator, arrays[i]);
}

size_t sinew_ldl_size(const sinew_ldl *l)
{
    return l->count > 0 ? (size_t)sinew_supernodal_size(&l->factor) : 0;
}

/* ---- Numeric LDL^T factorisation and solve --------------------------------------------------- */

bool sinew_ldl_factorise(sinew_ldl *l, const double *values, const double *floors, sinew_pivots *inertia)
{
    l->values = values;
    *inertia = (sinew_pivots){0};
    if (l->count == 0)
        return true;
    sinew_reordered_matrix_set(&l->matrix, values);
    for (int32_t k = 0; k < l->count; k++) {
        const double floor = floors ? floors[k] : 0;
        double *diagonal = &l->matrix.lower.value[l->matrix.slot[l->column[k + 1] - 1]];
        l->floors[l->index[k]] = floor > 0 ? floor : 0;
        if (floor < 0 && *diagonal > floor)
            *diagonal = floor;
    }
    if (sinew_supernodal_factorise_signed(&l->factor, &l->matrix.lower, l->floors) >= 0)
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
    return l->factor.sign[l->index[k]] == 0;
}

double sinew_ldl_pivot(const sinew_ldl *l, int32_t k)
{
    return l->factor.pivot[l->index[k]];
}

/* x += A^-1 residual, with the LDL^T factor of A: one step of iterative refinement. */
static void ldl_add_solution(const sinew_ldl *l, double *x)
{
    for (int32_t k = 0; k < l->count; k++)
        l->work[l->index[k]] = l->residual[k];
    sinew_supernodal_solve(&l->factor, l->work);
    for (int32_t k = 0; k < l->count; k++)
        x[k] += l->work[l->index[k]];
}

/* residual = b - A x, 0 for dropped unknowns; returns its largest absolute entry. */
static double ldl_find_residual(const sinew_ldl *l, const double *b, const double *x)
{
    double max = 0;
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
        /* NaN counts as the largest residual. */
        max = fabs(l->residual[k]) <= max ? max : fabs(l->residual[k]);
    }
    return max;
}

double sinew_ldl_solve(sinew_ldl *l, const double *b, double *x, int rounds)
{
    memset(x, 0, (size_t)l->count * sizeof *x);
    const double size = ldl_find_residual(l, b, x);
    double left = size;
    for (int round = 0; left > 0 && round <= rounds; round++) {
        ldl_add_solution(l, x);
        const double now = ldl_find_residual(l, b, x);
        const bool stalled = !(now < 0.25 * left);
        left = now;
        if (stalled)
            break;
    }
    return size > 0 ? left / size : 0;
}
