/* SPDX-License-Identifier: MIT
 *
 * psd_projection.c: symmetric matrices of up to SINEW_CLAMP_MOST rows made positive semi-definite, W at once.
 *
 *     A = Q diag(w) Q^T  becomes  A + sum over w_k < 0 of |w_k| q_k q_k^T
 *
 * which is the semi-definite matrix nearest to A in the Frobenius norm. Cyclic Jacobi (Golub and Van Loan, Matrix
 * Computations, 4th ed., 8.5), free of branches per element. What is found is added to A and not put in its place, so
 * that an element without negative eigenvalues keeps its bits, up to eigenvalues that are round-off of zero.
 */
#include "math/small/decompose.h"
#include "math/small/jacobi.h"

/* A matrix on its way to diagonal form, and the rotations so far: row k of q becomes eigenvector k. */
typedef struct turning {
    int n;
    lane a[SINEW_CLAMP_MOST][SINEW_CLAMP_MOST], q[SINEW_CLAMP_MOST][SINEW_CLAMP_MOST];
} turning;

/* Where the squares off the diagonal are more than round-off of the others. */
static lane_mask unfinished(const turning *t)
{
    lane off = lane_set(0), diagonal = lane_set(0);
    for (int i = 0; i < t->n; i++) {
        diagonal += t->a[i][i] * t->a[i][i];
        for (int j = 0; j < i; j++)
            off += t->a[i][j] * t->a[i][j];
    }
    return lane_lt((diagonal + 2 * off) * (JACOBI_TOLERANCE * JACOBI_TOLERANCE), off);
}

/* One rotation that makes a_pq zero. */
static void turn(turning *t, int p, int q)
{
    const lane pp = t->a[p][p], qq = t->a[q][q], pq = t->a[p][q];
    const lane tangent = jacobi_tangent(pp, qq, pq), c = jacobi_cosine(tangent), s = tangent * c;
    for (int k = 0; k < t->n; k++) {
        const lane ap = t->a[p][k], aq = t->a[q][k], vp = t->q[p][k], vq = t->q[q][k];
        t->a[p][k] = t->a[k][p] = c * ap - s * aq;
        t->a[q][k] = t->a[k][q] = s * ap + c * aq;
        t->q[p][k] = c * vp - s * vq;
        t->q[q][k] = s * vp + c * vq;
    }
    t->a[p][p] = pp - tangent * pq;
    t->a[q][q] = qq + tangent * pq;
    t->a[p][q] = t->a[q][p] = lane_set(0);
}

static void open_turning(const lane *A, int n, lane scale, turning *t)
{
    t->n = n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            t->a[i][j] = A[j <= i ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i] * scale;
            t->q[i][j] = lane_set(i == j ? 1 : 0);
        }
}

void sinew_eigen_clamp(lane *A, int n)
{
    const lane zero = lane_set(0), scale = jacobi_scale(A, n * (n + 1) / 2), back = 1 / scale;
    turning t;
    open_turning(A, n, scale, &t);
    for (int sweep = 0; sweep < JACOBI_SWEEPS && lane_any(unfinished(&t)); sweep++)
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++)
                turn(&t, p, q);
    for (int k = 0; k < n; k++) {
        const lane added = back * lane_max(-t.a[k][k], zero);
        if (!lane_any(lane_lt(zero, added)))
            continue;
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++)
                A[i * (i + 1) / 2 + j] += added * t.q[k][i] * t.q[k][j];
    }
}
