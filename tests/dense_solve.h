/* SPDX-License-Identifier: MIT
 *
 * dense_solve.h: x = A^-1 b by Gaussian elimination with full pivoting, the reference for sparse and approximate
 * solvers. Full pivoting makes the pivots decrease and shows the rank.
 */
#ifndef SINEW_DENSE_SOLVE_H
#define SINEW_DENSE_SOLVE_H

#include <math.h>
#include <stdlib.h>

/* Exchanges `count` pairs of numbers that are `step` apart. */
static inline void dense_exchange(double *a, double *b, int count, int step)
{
    for (int i = 0; i < count; i++) {
        const double kept = a[i * step];
        a[i * step] = b[i * step];
        b[i * step] = kept;
    }
}

/* Moves the largest entry of the rows and columns from k on to (k, k), and permutes b and order accordingly. */
static inline double dense_pivot(double *A, int stride, double *b, int *order, int n, int k)
{
    int r = k, c = k;
    for (int i = k; i < n; i++)
        for (int j = k; j < n; j++)
            if (fabs(A[i * stride + j]) > fabs(A[r * stride + c])) {
                r = i;
                c = j;
            }
    dense_exchange(A + r * stride, A + k * stride, n, 1);
    dense_exchange(A + c, A + k, n, stride);
    dense_exchange(b + r, b + k, 1, 1);
    const int kept = order[c];
    order[c] = order[k];
    order[k] = kept;
    return fabs(A[k * stride + k]);
}

/* b [n] becomes x, A [n][stride] is destroyed. Pivots of at most `min` times the first are left out, and x is zero at
 * their unknowns. Returns the number of pivots used. */
static inline int dense_solve(double *A, int stride, double *b, int n, double min)
{
    int *order = malloc((size_t)n * sizeof *order), rank = 0;
    double *x = calloc((size_t)n, sizeof *x), first = 0;
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (; rank < n; rank++) {
        const int k = rank;
        const double pivot = dense_pivot(A, stride, b, order, n, k);
        first = k == 0 ? pivot : first;
        if (!(pivot > min * first))
            break;
        for (int i = k + 1; i < n; i++) {
            const double f = A[i * stride + k] / A[k * stride + k];
            for (int j = k; j < n && f != 0; j++)
                A[i * stride + j] -= f * A[k * stride + j];
            b[i] -= f * b[k];
        }
    }
    for (int k = rank; k-- > 0;) {
        for (int j = k + 1; j < rank; j++)
            b[k] -= A[k * stride + j] * x[order[j]];
        x[order[k]] = b[k] / A[k * stride + k];
    }
    for (int i = 0; i < n; i++)
        b[i] = x[i];
    free(order);
    free(x);
    return rank;
}

#endif
