/* SPDX-License-Identifier: MIT
 *
 * tridiagonal_eigen.h: single eigenvalues of a symmetric tridiagonal matrix, such as Lanczos' method derives from a
 * large matrix, by bisection on the number of eigenvalues below a value (Sturm; Golub and Van Loan, Matrix
 * Computations, 4th ed., 8.4).
 */
#ifndef SINEW_SRC_LINEAR_KRYLOV_TRIDIAGONAL_EIGEN_H
#define SINEW_SRC_LINEAR_KRYLOV_TRIDIAGONAL_EIGEN_H

#include <stdint.h>

typedef struct sinew_tridiagonal {
    int32_t count;
    /* [count] each; off_diagonal[i] >= 0 is entry (i, i + 1); its last number is unused */
    const double *diagonal, *off_diagonal;
} sinew_tridiagonal;

/* Eigenvalue number `rank`, counted from 0 in ascending order. `low` is a lower bound of all eigenvalues. */
double sinew_tridiagonal_eigenvalue(const sinew_tridiagonal *t, int32_t rank, double low);

#endif
