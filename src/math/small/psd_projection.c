/* SPDX-License-Identifier: MIT
 *
 * psd_projection.c: projects symmetric matrices of up to SINEW_CLAMP_MAX rows to positive semi-definite ones, one per
 * element of a SIMD vector.
 *
 *     A = Q diag(w) Q^T  becomes  A + sum over w_k < 0 of |w_k| q_k q_k^T
 *
 * which is the semi-definite matrix nearest to A in the Frobenius norm. Cyclic Jacobi (Golub and Van Loan, Matrix
 * Computations, 4th ed., 8.5), free of branches per element. The correction is added to A instead of rebuilding A from
 * Q and w, so a matrix without negative eigenvalues keeps its bits, up to eigenvalues that are round-off of zero.
 */
#include "math/small/decompose.h"
#include "math/small/jacobi.h"

/* Symmetric matrix a during the Jacobi sweeps, and the accumulated rotations q: row k of q converges to eigenvector
 * k. */
typedef struct turning {
    int n;
    wide a[SINEW_CLAMP_MAX][SINEW_CLAMP_MAX], q[SINEW_CLAMP_MAX][SINEW_CLAMP_MAX];
} turning;

/* Mask of SIMD elements whose sum of squared off-diagonal entries exceeds round-off of the whole matrix. */
static wide_mask psd_unfinished(const turning *t)
{
    wide off = wide_set(0), diagonal = wide_set(0);
    for (int i = 0; i < t->n; i++) {
        diagonal += t->a[i][i] * t->a[i][i];
        for (int j = 0; j < i; j++)
            off += t->a[i][j] * t->a[i][j];
    }
    return wide_lt((diagonal + 2 * off) * (JACOBI_TOLERANCE * JACOBI_TOLERANCE), off);
}

/* One Jacobi rotation that zeroes entries a_pq and a_qp. */
static void psd_turn(turning *t, int p, int q)
{
    const wide pp = t->a[p][p], qq = t->a[q][q], pq = t->a[p][q];
    const wide tangent = jacobi_tangent(pp, qq, pq), c = jacobi_cosine(tangent), s = tangent * c;
    for (int k = 0; k < t->n; k++) {
        const wide ap = t->a[p][k], aq = t->a[q][k], vp = t->q[p][k], vq = t->q[q][k];
        t->a[p][k] = t->a[k][p] = c * ap - s * aq;
        t->a[q][k] = t->a[k][q] = s * ap + c * aq;
        t->q[p][k] = c * vp - s * vq;
        t->q[q][k] = s * vp + c * vq;
    }
    t->a[p][p] = pp - tangent * pq;
    t->a[q][q] = qq + tangent * pq;
    t->a[p][q] = t->a[q][p] = wide_set(0);
}

static void open_turning(const wide *A, int n, wide scale, turning *t)
{
    t->n = n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            t->a[i][j] = A[j <= i ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i] * scale;
            t->q[i][j] = wide_set(i == j ? 1 : 0);
        }
}

void sinew_eigen_clamp(wide *A, int n)
{
    const wide zero = wide_set(0), scale = jacobi_scale(A, n * (n + 1) / 2), back = 1 / scale;
    turning t;
    open_turning(A, n, scale, &t);
    for (int sweep = 0; sweep < JACOBI_SWEEPS && wide_any(psd_unfinished(&t)); sweep++)
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++)
                psd_turn(&t, p, q);
    for (int k = 0; k < n; k++) {
        const wide added = back * wide_max(-t.a[k][k], zero);
        if (!wide_any(wide_lt(zero, added)))
            continue;
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++)
                A[i * (i + 1) / 2 + j] += added * t.q[k][i] * t.q[k][j];
    }
}
