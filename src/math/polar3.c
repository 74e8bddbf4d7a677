/* SPDX-License-Identifier: MIT
 *
 * polar3.c: the rotation R that maximises tr(R^T F) for 3x3 matrices: the polar factor of F, or the nearest rotation
 * where det F < 0. It is in the innermost loop of the corotated energies.
 *
 * The largest value lambda = tr(R^T F) = sigma0 + sigma1 + sigma2 is the largest root of the characteristic polynomial
 * of Davenport's 4x4 matrix (Horn, J. Opt. Soc. Am. A 4 (1987) 629; Higham and Noferini, Numer. Algorithms 73 (2016)
 * 349)
 *
 *     p(l) = l^4 - 2 |F|^2 l^2 - 8 det(F) l + 2 |F^T F|^2 - |F|^4
 *
 * and R = d lambda / dF, which by differentiating p(lambda(F), F) = 0 is
 *
 *     R = ((lambda^2 + |F|^2) F + 2 lambda cof F - 2 F F^T F) / (lambda^3 - |F|^2 lambda - 2 det F)
 *
 *   1. lambda by Halley's iteration from above (sqrt(3) |F|): monotone, as all roots are real.
 *   2. the formula as a quaternion, so that R is a rotation whatever its error;
 *   3. Newton's step on the rotations: w = (tr(S) I - S)^-1 axial(R^T F), S = sym(R^T F), R <- R exp(w). It squares the
 *      error, and is exact up to round-off in F.
 *
 * The denominator is 2 (sigma0 + sigma1) (sigma0 + sigma2) (sigma1 + sigma2). Elements where step 3 does not reach
 * round-off, because sigma1 + sigma2 is nearly 0, take R = U V^T from the singular value decomposition. The error of R
 * is a few epsilon times its condition, 2 |F| / (sigma1 + sigma2). An element's result does not depend on the others in
 * its lane.
 */
#include "math/decompose.h"
#include "math/jacobi.h"

enum {
    ROOT_STEPS = 8,
    POLISH_STEPS = 4
};

/* Eigenvalues of G over the trace from which its determinant, in which two of them may be small, is far above
 * round-off: about epsilon^(1/4) */
#ifdef SINEW_SINGLE
#define POLISH_FLOOR 2e-2f
#else
#define POLISH_FLOOR 1e-4
#endif

/* F^T F as {c00, c11, c22, c01, c02, c12} */
static inline void gram(const lane F[9], lane C[6])
{
    static const int pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    for (int k = 0; k < 6; k++) {
        int i = pair[k][0], j = pair[k][1];
        C[k] = F[i] * F[j] + F[3 + i] * F[3 + j] + F[6 + i] * F[6 + j];
    }
}

static inline void cofactors(const lane F[9], lane cof[9])
{
    cof[0] = F[4] * F[8] - F[5] * F[7];
    cof[1] = F[5] * F[6] - F[3] * F[8];
    cof[2] = F[3] * F[7] - F[4] * F[6];
    cof[3] = F[2] * F[7] - F[1] * F[8];
    cof[4] = F[0] * F[8] - F[2] * F[6];
    cof[5] = F[1] * F[6] - F[0] * F[7];
    cof[6] = F[1] * F[5] - F[2] * F[4];
    cof[7] = F[2] * F[3] - F[0] * F[5];
    cof[8] = F[0] * F[4] - F[1] * F[3];
}

/* Largest root of p, I1 = |F|^2, J = det F, to a relative error whose cube is round-off. */
static inline lane largest_root(lane I1, lane J, const lane C[6])
{
    const sinew_real cubed = LANE_EPSILON < 1e-10 ? (sinew_real)1e-4 : (sinew_real)1e-2;
    lane off = C[3] * C[3] + C[4] * C[4] + C[5] * C[5];
    lane square = C[0] * C[0] + C[1] * C[1] + C[2] * C[2] + (off + off);
    lane c0 = (square + square) - I1 * I1, two_I1 = I1 + I1, two_J = J + J, eight_J = (sinew_real)8 * J;
    lane l = lane_sqrt((sinew_real)3 * I1);
    lane_mask active = lane_lt(lane_set(0), I1);
    for (int step = 0; step < ROOT_STEPS && lane_any(active); step++) {
        /* p, p'/4, p''/4; l <- l - 2 p p' / (2 p'^2 - p p'') */
        lane l2 = l * l;
        lane p = ((l2 - two_I1) * l - eight_J) * l + c0;
        lane p1 = (l2 - I1) * l - two_J, p2 = (sinew_real)3 * l2 - I1;
        lane size = lane_max((sinew_real)8 * (p1 * p1) - p * p2, lane_set(LANE_TINY));
        lane change = (p + p) * p1 / size;
        l = lane_select(active, l - change, l);
        active &= lane_lt(cubed * l, lane_abs(change));
    }
    return l;
}

/* A quaternion q = (w, x, y, z), of any length, of the rotation N / d: the column with the largest diagonal of
 * 4 d q q^T / |q|^2. */
static inline void quaternion(const lane N[9], lane d, lane q[4])
{
    lane x = N[7] - N[5], y = N[2] - N[6], z = N[3] - N[1];
    lane xy = N[1] + N[3], xz = N[2] + N[6], yz = N[5] + N[7];
    lane sum = d + N[0], difference = d - N[0];
    lane ww = sum + (N[4] + N[8]), xx = sum - (N[4] + N[8]);
    lane yy = difference + (N[4] - N[8]), zz = difference - (N[4] - N[8]);
    lane_mask m = lane_lt(ww, xx), n = lane_lt(yy, zz);
    lane a[4] = {lane_select(m, x, ww), lane_select(m, xx, x), lane_select(m, xy, y), lane_select(m, xz, z)};
    lane b[4] = {lane_select(n, z, y), lane_select(n, xz, xy), lane_select(n, yz, yy), lane_select(n, zz, yz)};
    lane_mask second = lane_lt(lane_max(ww, xx), lane_max(yy, zz));
    for (int i = 0; i < 4; i++)
        q[i] = lane_select(second, b[i], a[i]);
}

/* R of a quaternion of any length. Written as a quotient, so that a rounded length only scales R, which the next step
 * takes away without turning it. */
static inline void rotation(const lane q[4], lane R[9])
{
    lane w = q[0], x = q[1], y = q[2], z = q[3];
    lane ww = w * w, xx = x * x, yy = y * y, zz = z * z;
    lane s = lane_set(1) / lane_max((ww + xx) + (yy + zz), lane_set(LANE_TINY)), t = s + s;
    R[0] = s * ((ww + xx) - (yy + zz));
    R[4] = s * ((ww - xx) + (yy - zz));
    R[8] = s * ((ww - xx) - (yy - zz));
    R[1] = t * (x * y - w * z);
    R[3] = t * (x * y + w * z);
    R[2] = t * (x * z + w * y);
    R[6] = t * (x * z - w * y);
    R[5] = t * (y * z - w * x);
    R[7] = t * (y * z + w * x);
}

/* One Newton step R <- R (I + [w] + [w]^2 / 2 - (R^T R - I) / 2), which also takes away what R lacks in orthogonality.
 * The mask is set where this was the last step that R needs. */
static inline lane_mask polish(const lane F[9], lane R[9])
{
    const sinew_real half = (sinew_real)0.5;
    lane M[9], E[6]; /* R^T F, R^T R */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            M[3 * i + j] = R[i] * F[j] + R[3 + i] * F[3 + j] + R[6 + i] * F[6 + j];
    gram(R, E);

    /* G = tr(S) I - S and its adjugate */
    lane g00 = M[4] + M[8], g11 = M[0] + M[8], g22 = M[0] + M[4];
    lane g01 = -half * (M[1] + M[3]), g02 = -half * (M[2] + M[6]), g12 = -half * (M[5] + M[7]);
    lane h00 = g11 * g22 - g12 * g12, h11 = g00 * g22 - g02 * g02, h22 = g00 * g11 - g01 * g01;
    lane h01 = g02 * g12 - g01 * g22, h02 = g01 * g12 - g02 * g11, h12 = g01 * g02 - g00 * g12;
    lane det = g00 * h00 + g01 * h01 + g02 * h02;
    lane trace = M[0] + M[4] + M[8], minors = h00 + h11 + h22;
    lane size = trace * minors; /* size / det is at least the condition of G */

    /* w = G^-1 axial(M - M^T), where G is positive definite */
    lane_mask positive = lane_lt(lane_set(0), trace) & lane_lt(trace * trace * POLISH_FLOOR, minors);
    lane_mask regular = positive & lane_lt(size * POLISH_FLOOR, det);
    lane s = lane_select(regular, lane_set(1) / lane_max(det, lane_set(LANE_TINY)), lane_set(0));
    lane a0 = M[7] - M[5], a1 = M[2] - M[6], a2 = M[3] - M[1];
    lane x = s * (h00 * a0 + h01 * a1 + h02 * a2);
    lane y = s * (h01 * a0 + h11 * a1 + h12 * a2);
    lane z = s * (h02 * a0 + h12 * a1 + h22 * a2);

    lane ww = x * x + y * y + z * z, d = (sinew_real)1 - ww;
    lane xy = half * (x * y - E[3]), xz = half * (x * z - E[4]), yz = half * (y * z - E[5]);
    lane X[9] = {half * (d + (x * x - E[0])), xy - z, xz + y, xy + z,
                 half * (d + (y * y - E[1])), yz - x, xz - y, yz + x,
                 half * (d + (z * z - E[2]))};
    for (int i = 0; i < 9; i += 3) {
        lane r0 = R[i], r1 = R[i + 1], r2 = R[i + 2];
        for (int j = 0; j < 3; j++)
            R[i + j] += r0 * X[j] + r1 * X[3 + j] + r2 * X[6 + j];
    }
    /* The error left is |w|^2 times the condition, and of the order of what R lacked in orthogonality. */
    lane stretch = lane_abs((E[0] + E[1]) + (E[2] - (sinew_real)3));
    return regular & lane_lt(ww * size, det * ((sinew_real)0.125 * LANE_EPSILON)) &
           lane_lt(stretch, lane_set(8 * LANE_EPSILON));
}

/* R = U V^T for the elements of the mask */
static void from_svd(const lane F[9], lane_mask mask, lane R[9])
{
    lane U[9], sigma[3], V[9], rows[3][3];
    sinew_svd3(F, U, sigma, V);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            rows[i][j] = U[3 * i] * V[3 * j] + U[3 * i + 1] * V[3 * j + 1] + U[3 * i + 2] * V[3 * j + 2];
    jacobi_orthonormalise(rows);
    for (int i = 0; i < 9; i++)
        R[i] = lane_select(mask, rows[i / 3][i % 3], R[i]);
}

void sinew_polar3(const lane F_in[9], lane R[9])
{
    lane F[9], C[6], cof[9], N[9], q[4];
    lane scale = jacobi_scale(F_in, 9);
    for (int i = 0; i < 9; i++)
        F[i] = F_in[i] * scale;

    gram(F, C);
    cofactors(F, cof);
    lane I1 = C[0] + C[1] + C[2], J = F[0] * cof[0] + F[1] * cof[1] + F[2] * cof[2];
    lane l = largest_root(I1, J, C);

    /* N = ((l^2 + I1) I - 2 F F^T) F + 2 l cof F */
    lane on_F = l * l + I1, two_l = l + l;
    for (int i = 0; i < 3; i++) {
        const lane *f = F + 3 * i, *k = cof + 3 * i;
        lane f0 = f[0] * C[0] + f[1] * C[3] + f[2] * C[4];
        lane f1 = f[0] * C[3] + f[1] * C[1] + f[2] * C[5];
        lane f2 = f[0] * C[4] + f[1] * C[5] + f[2] * C[2];
        N[3 * i] = on_F * f[0] + two_l * k[0] - (f0 + f0);
        N[3 * i + 1] = on_F * f[1] + two_l * k[1] - (f1 + f1);
        N[3 * i + 2] = on_F * f[2] + two_l * k[2] - (f2 + f2);
    }
    quaternion(N, (l * l - I1) * l - (J + J), q);
    rotation(q, R);

    lane_mask active = ~polish(F, R);
    for (int step = 1; step < POLISH_STEPS && lane_any(active); step++) {
        lane next[9];
        memcpy(next, R, sizeof next);
        lane_mask done = polish(F, next);
        for (int i = 0; i < 9; i++)
            R[i] = lane_select(active, next[i], R[i]);
        active &= ~done;
    }
    if (lane_any(active))
        from_svd(F, active, R);
}
