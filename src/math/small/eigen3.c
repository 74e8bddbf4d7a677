/* SPDX-License-Identifier: MIT
 *
 * eigen3.c: the eigensystem A = Q diag(w) Q^T of symmetric 3x3 matrices.
 *
 * Cyclic Jacobi (Golub and Van Loan, Matrix Computations, 4th ed., 8.5) is accurate and needs no branches per element.
 * Q is then made orthogonal to round-off; w are the Rayleigh quotients q^T A q, whose error is the square of the error
 * of Q. Eigenvalues are accurate to a few epsilon |A|.
 */
#include "math/small/decompose.h"
#include "math/small/jacobi.h"

/* Mask of SIMD elements whose matrix a = {a00, a11, a22, a01, a02, a12} has off-diagonal entries above round-off. */
static inline wide_mask eigen3_unfinished(const wide a[6])
{
    wide off = a[3] * a[3] + a[4] * a[4] + a[5] * a[5];
    wide square = a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + (off + off);
    return wide_lt(square * (JACOBI_TOLERANCE * JACOBI_TOLERANCE), off);
}

/* One Jacobi rotation that zeroes entry a_pq; r is the third row. pq, pr and qr are the indices of these entries in
 * a. */
static inline void eigen3_turn(wide_mask active, wide a[6], wide Q[3][3], int p, int q, int pq, int pr, int qr)
{
    wide t = wide_select(active, jacobi_tangent(a[p], a[q], a[pq]), wide_set(0));
    wide c = jacobi_cosine(t), s = t * c;
    wide a_pr = a[pr], shift = t * a[pq];
    a[p] -= shift;
    a[q] += shift;
    a[pq] = wide_select(active, wide_set(0), a[pq]);
    a[pr] = c * a_pr - s * a[qr];
    a[qr] = s * a_pr + c * a[qr];
    jacobi_turn(Q[p], Q[q], c, s);
}

/* Rayleigh quotient q^T A q of the symmetric matrix a = {a00, a11, a22, a01, a02, a12} and the unit vector q. */
static inline wide rayleigh_quotient(const wide a[6], const wide q[3])
{
    wide Aq[3] = {a[0] * q[0] + a[3] * q[1] + a[4] * q[2], a[3] * q[0] + a[1] * q[1] + a[5] * q[2],
                  a[4] * q[0] + a[5] * q[1] + a[2] * q[2]};
    return jacobi_dot(q, Aq);
}

static inline void eigen3_sort(wide w[3], wide Q[3][3], int p, int q)
{
    wide_mask smaller = wide_lt(w[p], w[q]);
    wide w_p = w[p];
    w[p] = wide_select(smaller, w[q], w_p);
    w[q] = wide_select(smaller, w_p, w[q]);
    jacobi_swap(smaller, Q[p], Q[q]);
}

void sinew_eigen3(const wide a[6], wide w[3], wide Q[9])
{
    const wide scale = jacobi_scale(a, 6), zero = wide_set(0), one = wide_set(1);
    wide A[6], b[6], q[3][3] = {{one, zero, zero}, {zero, one, zero}, {zero, zero, one}};
    for (int i = 0; i < 6; i++)
        A[i] = b[i] = a[i] * scale;

    for (int sweep = 0; sweep < JACOBI_SWEEPS; sweep++) {
        wide_mask active = eigen3_unfinished(b);
        if (!wide_any(active))
            break;
        eigen3_turn(active, b, q, 0, 1, 3, 4, 5);
        eigen3_turn(active, b, q, 0, 2, 4, 3, 5);
        eigen3_turn(active, b, q, 1, 2, 5, 3, 4);
    }

    jacobi_orthonormalise(q);
    for (int i = 0; i < 3; i++)
        w[i] = rayleigh_quotient(A, q[i]);
    eigen3_sort(w, q, 0, 1);
    eigen3_sort(w, q, 0, 2);
    eigen3_sort(w, q, 1, 2);
    for (int i = 0; i < 3; i++) {
        w[i] *= one / scale;
        for (int j = 0; j < 3; j++)
            Q[3 * i + j] = q[j][i];
    }
}
