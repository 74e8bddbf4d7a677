/* SPDX-License-Identifier: MIT
 *
 * extension_clamp.c: the positive semi-definite matrix nearest to a symmetric one, in double, with up to 48 rows.
 * math/small/psd_projection.c does the same for W matrices at once, in the library's precision, with up to
 * SINEW_CLAMP_MAX rows. Cyclic Jacobi: A = Q^T diag(w) Q becomes A + sum over w_k < 0 of |w_k| q_k q_k^T.
 */
#include <math.h>
#include <string.h>

#include "energy/extension.h"

enum {
    SIDE_MAX = 3 * SINEW_EXTENSION_VERTEX_MAX,
    SWEEP_MAX = 30
};

/* One Jacobi rotation that zeroes A[p][q] of the symmetric matrix A; it is also applied to the rows of Q, which
 * collect the eigenvectors: Golub and Van Loan, Matrix Computations, 8.5. */
static void clamp_rotate(double *A, double *Q, int n, int p, int q)
{
    const double pq = A[p * n + q];
    if (pq == 0)
        return;
    const double tau = (A[q * n + q] - A[p * n + p]) / (2 * pq);
    const double t = (tau >= 0 ? 1 : -1) / (fabs(tau) + sqrt(1 + tau * tau)), c = 1 / sqrt(1 + t * t), s = t * c;
    for (int k = 0; k < n; k++) {
        const double kp = A[k * n + p], kq = A[k * n + q];
        A[k * n + p] = c * kp - s * kq;
        A[k * n + q] = s * kp + c * kq;
    }
    for (int k = 0; k < n; k++) {
        const double pk = A[p * n + k], qk = A[q * n + k], up = Q[p * n + k], uq = Q[q * n + k];
        A[p * n + k] = c * pk - s * qk;
        A[q * n + k] = s * pk + c * qk;
        Q[p * n + k] = c * up - s * uq;
        Q[q * n + k] = s * up + c * uq;
    }
}

/* Whether off-diagonal entries of the matrix A exceed round-off of the largest diagonal entry, so that another
 * Jacobi sweep is needed. */
static bool clamp_unfinished(const double *A, int n)
{
    double off = 0, diagonal = 0;
    for (int i = 0; i < n * n; i++) {
        if (i / n == i % n)
            diagonal = fmax(diagonal, fabs(A[i]));
        else
            off = fmax(off, fabs(A[i]));
    }
    return off > 1e-15 * diagonal;
}

void sinew_extension_clamp(double *A, int n)
{
    double D[SIDE_MAX * SIDE_MAX], Q[SIDE_MAX * SIDE_MAX];
    memcpy(D, A, (size_t)(n * n) * sizeof *D);
    for (int i = 0; i < n * n; i++)
        Q[i] = i / n == i % n ? 1 : 0;
    for (int sweep = 0; sweep < SWEEP_MAX && clamp_unfinished(D, n); sweep++)
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++)
                clamp_rotate(D, Q, n, p, q);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n * n && D[k * n + k] < 0; i++)
            A[i] -= D[k * n + k] * Q[k * n + i / n] * Q[k * n + i % n];
}
