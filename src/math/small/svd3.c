/* SPDX-License-Identifier: MIT
 *
 * svd3.c: the signed singular value decomposition F = U diag(sigma) V^T of 3x3 matrices.
 *
 * One-sided Jacobi (Hestenes 1958; Golub and Van Loan, Matrix Computations, 4th ed., 8.6.3): turn pairs of columns of F
 * until all are orthogonal, F V = U diag(sigma). F^T F is never formed as a matrix to decompose: its eigenvectors would
 * lose every singular value below sqrt(epsilon).
 *
 *   1. Scale F by a power of two; sweep over the three pairs of columns.
 *   2. Make V orthogonal to round-off and recompute B = F V, so that no error of the sweeps stays in B.
 *   3. Sort the columns of B by length; U from B by Gram-Schmidt and a cross product, so that U is a rotation for any
 *      rank, and sigma2 = u2 . b2 has the sign of det F.
 *
 * The component of B that step 3 drops is as small as the accuracy of the sweeps, |F| epsilon / 2. Singular values are
 * accurate to a few epsilon |F|, not relative to themselves. The result of an element does not depend on the others in
 * its SIMD vector: a converged element is not rotated further.
 */
#include "math/small/decompose.h"
#include "math/small/jacobi.h"

/* Mask of SIMD elements with a pair of columns whose inner product is above round-off: |a_p . a_q| > tolerance |F|
 * max(|a_p|, |a_q|). */
static inline wide_mask svd3_unfinished(wide A[3][3])
{
    wide alpha = jacobi_dot(A[0], A[0]), beta = jacobi_dot(A[1], A[1]), gamma = jacobi_dot(A[2], A[2]);
    wide ab = jacobi_dot(A[0], A[1]), ac = jacobi_dot(A[0], A[2]), bc = jacobi_dot(A[1], A[2]);
    wide small = (alpha + beta + gamma) * (JACOBI_TOLERANCE * JACOBI_TOLERANCE);
    return wide_lt(small * wide_max(alpha, beta), ab * ab) | wide_lt(small * wide_max(alpha, gamma), ac * ac) |
           wide_lt(small * wide_max(beta, gamma), bc * bc);
}

static inline void turn_columns(wide_mask active, wide A[3][3], wide V[3][3], int p, int q)
{
    wide t = jacobi_tangent(jacobi_dot(A[p], A[p]), jacobi_dot(A[q], A[q]), jacobi_dot(A[p], A[q]));
    t = wide_select(active, t, wide_set(0));
    wide c = jacobi_cosine(t), s = t * c;
    jacobi_turn(A[p], A[q], c, s);
    jacobi_turn(V[p], V[q], c, s);
}

static inline void sort_columns(wide B[3][3], wide V[3][3], int p, int q)
{
    wide_mask shorter = wide_lt(jacobi_dot(B[p], B[p]), jacobi_dot(B[q], B[q]));
    jacobi_swap(shorter, B[p], B[q]);
    jacobi_swap(shorter, V[p], V[q]);
}

void sinew_svd3(const wide F[9], wide U[9], wide sigma[3], wide V[9])
{
    const wide scale = jacobi_scale(F, 9), zero = wide_set(0), one = wide_set(1);
    wide A[3][3], B[3][3], u[3][3];
    wide v[3][3] = {{one, zero, zero}, {zero, one, zero}, {zero, zero, one}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            A[j][i] = F[3 * i + j] * scale;

    for (int sweep = 0; sweep < JACOBI_SWEEPS; sweep++) {
        wide_mask active = svd3_unfinished(A);
        if (!wide_any(active))
            break;
        turn_columns(active, A, v, 0, 1);
        turn_columns(active, A, v, 0, 2);
        turn_columns(active, A, v, 1, 2);
    }

    /* B = F V, recomputed with the right singular vectors V made orthogonal */
    jacobi_orthonormalise(v);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            B[j][i] =
                (F[3 * i] * scale) * v[j][0] + (F[3 * i + 1] * scale) * v[j][1] + (F[3 * i + 2] * scale) * v[j][2];
    sort_columns(B, v, 0, 1);
    sort_columns(B, v, 0, 2);
    sort_columns(B, v, 1, 2);

    jacobi_basis(B[0], B[1], u[0], u[1]);
    jacobi_cross(u[0], u[1], u[2]);
    jacobi_orthonormalise(u);

    /* Singular values of nearly equal size may be in the wrong order by round-off; the maxima make them descend
     * exactly. */
    wide s2 = jacobi_dot(u[2], B[2]);
    wide s1 = wide_max(jacobi_dot(u[1], B[1]), wide_abs(s2));
    wide s0 = wide_max(jacobi_dot(u[0], B[0]), s1);
    wide back = one / scale;
    sigma[0] = s0 * back;
    sigma[1] = s1 * back;
    sigma[2] = s2 * back;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            U[3 * i + j] = u[j][i];
            V[3 * i + j] = v[j][i];
        }
}
