/* SPDX-License-Identifier: MIT
 *
 * tridiagonal_eigen.h: single eigenvalues of a symmetric tridiagonal matrix, which is what Lanczos' method leaves of a large
 * one: by bisection on how many are below a number (Sturm; Golub and Van Loan, Matrix Computations, 4th ed., 8.4).
 */
#ifndef SINEW_SRC_LINEAR_KRYLOV_TRIDIAGONAL_EIGEN_H
#define SINEW_SRC_LINEAR_KRYLOV_TRIDIAGONAL_EIGEN_H

#include <stdint.h>

typedef struct sinew_tridiagonal {
    int32_t count;
    const double *diagonal, *beside; /* [count]; beside[i] joins i and i + 1, the last is not looked at */
} sinew_tridiagonal;

/* The eigenvalue that has `rank` others below it, none being below `low`. */
double sinew_tridiagonal_eigenvalue(const sinew_tridiagonal *t, int32_t rank, double low);

#endif
