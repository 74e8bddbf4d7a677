/* SPDX-License-Identifier: MIT
 *
 * tridiagonal_eigen.c: bisection for one eigenvalue of a tridiagonal matrix. See tridiagonal_eigen.h.
 */
#include "linear/krylov/tridiagonal_eigen.h"

#include <float.h>
#include <math.h>

/* Sturm count: number of eigenvalues of the tridiagonal matrix below x. */
static int32_t count_below(const sinew_tridiagonal *t, double x)
{
    int32_t below = 0;
    double pivot = 1;
    for (int32_t i = 0; i < t->count; i++) {
        const double square = i > 0 ? t->off_diagonal[i - 1] * t->off_diagonal[i - 1] : 0;
        pivot = t->diagonal[i] - x - square / (fabs(pivot) > DBL_MIN ? pivot : DBL_MIN);
        below += pivot < 0;
    }
    return below;
}

double sinew_tridiagonal_eigenvalue(const sinew_tridiagonal *t, int32_t rank, double low)
{
    /* Upper bound of the eigenvalues (Gershgorin), for off-diagonal entries >= 0: the largest row sum. */
    double high = low;
    for (int32_t i = 0; i < t->count; i++)
        high = fmax(high, t->diagonal[i] + (i + 1 < t->count ? t->off_diagonal[i] : 0) +
                              (i > 0 ? t->off_diagonal[i - 1] : 0));
    for (int step = 0; step < 60; step++) {
        const double middle = (low + high) / 2;
        if (count_below(t, middle) > rank)
            high = middle;
        else
            low = middle;
    }
    return (low + high) / 2;
}
