/* SPDX-License-Identifier: MIT
 *
 * matrix3.h: products, cofactors and norms of W 3x3 matrices at once. Row-major: A[3*i + j] is row i, column j.
 */
#ifndef SINEW_SRC_ENERGY_MATRIX3_H
#define SINEW_SRC_ENERGY_MATRIX3_H

#include "energy/kernel_loop.h"

/* C = A B for row-major 3x3 matrices */
KERNEL_INLINE void multiply3(const wide A[9], const wide B[9], wide C[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

/* C = A^T B for row-major 3x3 matrices */
KERNEL_INLINE void multiply3_tn(const wide A[9], const wide B[9], wide C[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C[3 * i + j] = A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j];
}

/* C = A B^T for row-major 3x3 matrices */
KERNEL_INLINE void multiply3_nt(const wide A[9], const wide B[9], wide C[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C[3 * i + j] = A[3 * i] * B[3 * j] + A[3 * i + 1] * B[3 * j + 1] + A[3 * i + 2] * B[3 * j + 2];
}

/* C = A L for a row-major 3x3 matrix A and a lower triangle L, stored as {l00, l10, l11, l20, l21, l22} */
KERNEL_INLINE void multiply3_lower(const wide A[9], const wide L[6], wide C[9])
{
    for (int i = 0; i < 3; i++) {
        const wide *a = A + 3 * i;
        C[3 * i] = a[0] * L[0] + a[1] * L[1] + a[2] * L[3];
        C[3 * i + 1] = a[1] * L[2] + a[2] * L[4];
        C[3 * i + 2] = a[2] * L[5];
    }
}

/* C = A L^T for a row-major 3x3 matrix A and a lower triangle L of six numbers */
KERNEL_INLINE void multiply3_lower_t(const wide A[9], const wide L[6], wide C[9])
{
    for (int i = 0; i < 3; i++) {
        const wide *a = A + 3 * i;
        C[3 * i] = a[0] * L[0];
        C[3 * i + 1] = a[0] * L[1] + a[1] * L[2];
        C[3 * i + 2] = a[0] * L[3] + a[1] * L[4] + a[2] * L[5];
    }
}

/* C = L B for a lower triangle L of six numbers and a row-major 3x3 matrix B */
KERNEL_INLINE void lower_multiply3(const wide L[6], const wide B[9], wide C[9])
{
    for (int j = 0; j < 3; j++) {
        C[j] = L[0] * B[j];
        C[3 + j] = L[1] * B[j] + L[2] * B[3 + j];
        C[6 + j] = L[3] * B[j] + L[4] * B[3 + j] + L[5] * B[6 + j];
    }
}

/* C = cof F = d det F / dF of one 3x3 matrix F per SIMD lane; returns det F. */
KERNEL_INLINE wide cofactor3(const wide F[9], wide C[9])
{
    C[0] = F[4] * F[8] - F[5] * F[7];
    C[1] = F[5] * F[6] - F[3] * F[8];
    C[2] = F[3] * F[7] - F[4] * F[6];
    C[3] = F[2] * F[7] - F[1] * F[8];
    C[4] = F[0] * F[8] - F[2] * F[6];
    C[5] = F[1] * F[6] - F[0] * F[7];
    C[6] = F[1] * F[5] - F[2] * F[4];
    C[7] = F[2] * F[3] - F[0] * F[5];
    C[8] = F[0] * F[4] - F[1] * F[3];
    return F[0] * C[0] + F[1] * C[1] + F[2] * C[2];
}

/* Squared Frobenius norm |F|^2 of one 3x3 matrix F per SIMD lane. */
KERNEL_INLINE wide norm3(const wide F[9])
{
    wide rows[3];
    for (int i = 0; i < 3; i++)
        rows[i] = F[3 * i] * F[3 * i] + F[3 * i + 1] * F[3 * i + 1] + F[3 * i + 2] * F[3 * i + 2];
    return rows[0] + rows[1] + rows[2];
}

#endif
