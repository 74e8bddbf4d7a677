/* SPDX-License-Identifier: MIT
 *
 * decompose.h: signed SVD, polar decomposition and symmetric eigensystems of small matrices, one per element of a SIMD
 * vector.
 *
 * Matrices are row-major arrays of SIMD vectors: F[3*i + j] is row i, column j. Inputs are finite, of any scale and
 * rank; results must not overlap them.
 */
#ifndef SINEW_SRC_MATH_SMALL_DECOMPOSE_H
#define SINEW_SRC_MATH_SMALL_DECOMPOSE_H

#include "math/simd.h"

#define sinew_svd3        SINEW_SIMD_SYMBOL(sinew_svd3)
#define sinew_polar3      SINEW_SIMD_SYMBOL(sinew_polar3)
#define sinew_polar3_tile SINEW_SIMD_SYMBOL(sinew_polar3_tile)
#define sinew_svd32       SINEW_SIMD_SYMBOL(sinew_svd32)
#define sinew_polar32     SINEW_SIMD_SYMBOL(sinew_polar32)
#define sinew_eigen3      SINEW_SIMD_SYMBOL(sinew_eigen3)
#define sinew_eigen_clamp SINEW_SIMD_SYMBOL(sinew_eigen_clamp)

/* F = U diag(sigma) V^T with rotations U, V (det +1) and |sigma0| >= |sigma1| >= |sigma2|, sigma0, sigma1 >= 0,
 * sign(sigma2) = sign(det F). */
void sinew_svd3(const wide F[9], wide U[9], wide sigma[3], wide V[9]);

/* The rotation R nearest to F, which maximises tr(R^T F): R = U V^T of sinew_svd3(). If the nearest rotation is not
 * unique (sigma1 + sigma2 = 0), R is one of them. */
void sinew_polar3(const wide F[9], wide R[9]);
/* The nearest rotations of up to SINEW_POLAR_TILE groups of SIMD_WIDTH matrices; a full tile takes less time per group
 * than a single group. */
enum {
    SINEW_POLAR_TILE = 8
};
void sinew_polar3_tile(int count, const wide (*F)[9], wide (*R)[9]);

/* F is 3x2 (row-major, F[2*i + j]): F = [u0 u1] diag(sigma) V^T with rotations U = [u0 u1 u2] (3x3) and V (2x2,
 * V[2*i + j]), sigma0 >= sigma1 >= 0. */
void sinew_svd32(const wide F[6], wide U[9], wide sigma[2], wide V[4]);

/* F is 3x2 (row-major, F[2*i + j]): R with orthonormal columns nearest to F; F = R S, S symmetric positive
 * semi-definite. If the nearest R is not unique, R is one of them. */
void sinew_polar32(const wide F[6], wide R[6]);

/* A symmetric, given by a = {a00, a11, a22, a01, a02, a12}: A = Q diag(w) Q^T, w descending, Q a rotation. */
void sinew_eigen3(const wide a[6], wide w[3], wide Q[9]);

/* Replaces a symmetric n x n matrix by the nearest positive semi-definite matrix. A is its lower triangle row by row,
 * a00 a10 a11 a20 ..., n up to SINEW_CLAMP_MAX. */
enum {
    SINEW_CLAMP_MAX = 24
};
void sinew_eigen_clamp(wide *A, int n);

#endif
