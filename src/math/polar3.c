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
 *   2. R by the formula. In exact arithmetic it is R* p(S) with the true R* and a polynomial of its stretch S, whatever
 *      the error of lambda, so that making it orthogonal (Newton-Schulz) gives R*.
 *   3. Where the denominator, 2 (sigma0 + sigma1) (sigma0 + sigma2) (sigma1 + sigma2), is small the formula magnifies
 *      round-off: Newton steps on the rotations, w = (tr(S) I - S)^-1 axial(R^T F), R <- R exp(w).
 *   4. Where even these stop short of round-off, because sigma1 + sigma2 is nearly 0: R = U V^T from the singular value
 *      decomposition.
 *
 * The error of R is a few epsilon times its condition, 2 |F| / (sigma1 + sigma2). Steps 3 and 4 run when one element of
 * the lane needs them, but an element's result does not depend on the others.
 *
 * Square root and divisions of steps 1 and 2 follow from each other: a group alone waits for them most of its time. So
 * each step runs over a tile of groups before the next step starts, and the groups' waits overlap.
 */
#include "math/decompose.h"
#include "math/jacobi.h"

enum {
    ROOT_STEPS = 8,
    POLISH_STEPS = 4
};

/* ROOT_CHANGE: relative change of lambda whose cube is small enough for step 2.
 *
 * FORMULA_FLOOR: denominator over lambda^3 (16/27 for a rotation) down to which step 2 is accurate.
 *
 * POLISH_FLOOR: eigenvalues of tr(S) I - S over the trace from which its determinant, in which two of them may be
 * small, is far above round-off; about epsilon^(1/4).
 *
 * SAFE_SQUARE: |F|^2 up to which, and from whose inverse, products of six entries neither overflow nor underflow. */
#ifdef SINEW_SINGLE
#define ROOT_CHANGE   2e-2f
#define FORMULA_FLOOR 0.3f
#define POLISH_FLOOR  2e-2f
#define SAFE_SQUARE   1e10f
#else
#define ROOT_CHANGE   1e-3
#define FORMULA_FLOOR 0.2
#define POLISH_FLOOR  1e-4
#define SAFE_SQUARE   1e80
#endif

/* What the last step leaves in R, beside its own round-off */
#define POLISH_LEFT ((sinew_real)0.125 * LANE_EPSILON)

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

/* One step l <- l - 2 p p' / (2 p'^2 - p p'') to the largest root of p; returns the change. c0 = p(0). */
static inline lane root_step(lane I1, lane J, lane c0, lane *l)
{
    lane l2 = *l * *l;
    lane p = l2 * (l2 - (I1 + I1)) + (c0 - (sinew_real)8 * J * *l);
    lane p1 = *l * (l2 - I1) - (J + J), p2 = (sinew_real)3 * l2 - I1; /* p'/4, p''/4 */
    lane size = lane_max((sinew_real)8 * p1 * p1 - p * p2, lane_set(LANE_TINY));
    lane change = (p + p) * p1 / size;
    *l -= change;
    return lane_abs(change);
}

/* Largest root of p, I1 = |F|^2, J = det F, to a relative error whose cube is round-off. */
static inline lane largest_root(lane I1, lane J, const lane C[6])
{
    lane off = C[3] * C[3] + C[4] * C[4] + C[5] * C[5];
    lane square = C[0] * C[0] + C[1] * C[1] + C[2] * C[2] + (off + off);
    lane c0 = (square + square) - I1 * I1, l = lane_sqrt((sinew_real)3 * I1);
    /* Deformations that are not extreme take two steps, the first with l^2 = 3 I1. */
    lane p = ((sinew_real)3 * I1 * I1 + c0) - (sinew_real)8 * J * l, p1 = (I1 + I1) * l - (J + J);
    l -= (p + p) * p1 / lane_max((sinew_real)8 * p1 * p1 - (sinew_real)8 * I1 * p, lane_set(LANE_TINY));
    lane_mask active = lane_lt(ROOT_CHANGE * l, root_step(I1, J, c0, &l));
    for (int step = 2; step < ROOT_STEPS && lane_any(active); step++) {
        lane next = l, change = root_step(I1, J, c0, &next);
        l = lane_select(active, next, l);
        active &= lane_lt(ROOT_CHANGE * l, change);
    }
    return l;
}

/* R by the formula, orthogonal to the accuracy of l; returns the denominator. */
static inline lane first_rotation(const lane F[9], const lane C[6], lane I1, lane J, lane l, lane R[3][3])
{
    lane cof[9], l2 = l * l, on_F = l2 + I1, two_l = l + l;
    lane d = l * (l2 - I1) - (J + J);
    lane s = lane_set(1) / lane_max(d, l * l2 * (POLISH_FLOOR * POLISH_FLOOR) + LANE_TINY);
    cofactors(F, cof);
    for (int i = 0; i < 3; i++) {
        const lane *f = F + 3 * i, *k = cof + 3 * i;
        lane f0 = f[0] * C[0] + f[1] * C[3] + f[2] * C[4];
        lane f1 = f[0] * C[3] + f[1] * C[1] + f[2] * C[5];
        lane f2 = f[0] * C[4] + f[1] * C[5] + f[2] * C[2];
        R[i][0] = s * (on_F * f[0] + (two_l * k[0] - (f0 + f0)));
        R[i][1] = s * (on_F * f[1] + (two_l * k[1] - (f1 + f1)));
        R[i][2] = s * (on_F * f[2] + (two_l * k[2] - (f2 + f2)));
    }
    return d;
}

/* One Newton step for both R^T R = I and R^T F = F^T R:
 *     R <- R (I - D/2 + [w] + [w]^2/2),   D = R^T R - I,   G w = axial((I - D/2) R^T F),   G = tr(S) I - S
 * The mask is set where this was the last step that R needs. */
static inline lane_mask polish_step(const lane F[9], lane R[9])
{
    const sinew_real half = (sinew_real)0.5;
    lane M[9], D[6]; /* M = R^T F, S its symmetric part */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            M[3 * i + j] = R[i] * F[j] + R[3 + i] * F[3 + j] + R[6 + i] * F[6 + j];
    gram(R, D);
    for (int i = 0; i < 3; i++) {
        D[i] = half * (D[i] - (sinew_real)1); /* from here on D is half of it */
        D[3 + i] *= half;
    }

    /* G and its adjugate */
    lane g00 = M[4] + M[8], g11 = M[0] + M[8], g22 = M[0] + M[4];
    lane g01 = -half * (M[1] + M[3]), g02 = -half * (M[2] + M[6]), g12 = -half * (M[5] + M[7]);
    lane h00 = g11 * g22 - g12 * g12, h11 = g00 * g22 - g02 * g02, h22 = g00 * g11 - g01 * g01;
    lane h01 = g02 * g12 - g01 * g22, h02 = g01 * g12 - g02 * g11, h12 = g01 * g02 - g00 * g12;
    lane det = g00 * h00 + g01 * h01 + g02 * h02;
    lane trace = half * (g00 + g11 + g22), minors = h00 + h11 + h22;
    lane size = trace * minors; /* size / det is at least the condition of G */

    /* w, where G is positive definite; D S - S D is written with G, which has the same commutator but for its sign */
    lane_mask positive = lane_lt(lane_set(0), trace) & lane_lt(trace * trace * POLISH_FLOOR, minors);
    lane_mask regular = positive & lane_lt(size * POLISH_FLOOR, det);
    lane s = lane_select(regular, lane_set(1) / lane_max(det, lane_set(LANE_TINY)), lane_set(0));
    lane a0 = (M[7] - M[5]) + (D[4] * g01 - D[3] * g02 + D[5] * (g11 - g22) + (D[2] - D[1]) * g12);
    lane a1 = (M[2] - M[6]) + (D[3] * g12 - D[5] * g01 + D[4] * (g22 - g00) + (D[0] - D[2]) * g02);
    lane a2 = (M[3] - M[1]) + (D[5] * g02 - D[4] * g12 + D[3] * (g00 - g11) + (D[1] - D[0]) * g01);
    lane x = s * (h00 * a0 + h01 * a1 + h02 * a2);
    lane y = s * (h01 * a0 + h11 * a1 + h12 * a2);
    lane z = s * (h02 * a0 + h12 * a1 + h22 * a2);

    lane hx = half * x, hy = half * y, hz = half * z, xx = hx * x, yy = hy * y, zz = hz * z;
    lane xy = hx * y - D[3], xz = hx * z - D[4], yz = hy * z - D[5];
    const lane X[9] = {-(yy + zz) - D[0], xy - z, xz + y, xy + z, -(xx + zz) - D[1], yz - x, xz - y, yz + x,
                       -(xx + yy) - D[2]};
    for (int i = 0; i < 9; i += 3) {
        lane r0 = R[i], r1 = R[i + 1], r2 = R[i + 2];
        for (int j = 0; j < 3; j++)
            R[i + j] += r0 * X[j] + r1 * X[3 + j] + r2 * X[6 + j];
    }
    /* The error left is (|w|^2 + |D|^2) times the condition. */
    lane left = (xx + yy + zz) + (D[0] * D[0] + D[1] * D[1] + D[2] * D[2]) + (D[3] * D[3] + D[4] * D[4] + D[5] * D[5]);
    return regular & lane_lt(left * size, det * POLISH_LEFT);
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

/* Steps for the elements of the mask; returns those that even then are not at round-off, or not at a rotation. */
static lane_mask polish(const lane F[9], lane_mask active, lane R[9])
{
    lane_mask moved = active;
    for (int step = 0; step < POLISH_STEPS && lane_any(active); step++) {
        lane next[9];
        for (int i = 0; i < 9; i++)
            next[i] = R[i];
        lane_mask done = polish_step(F, next);
        for (int i = 0; i < 9; i++)
            R[i] = lane_select(active, next[i], R[i]);
        active &= ~done;
    }
    lane cof[9];
    cofactors(R, cof);
    lane det = R[0] * cof[0] + R[1] * cof[1] + R[2] * cof[2];
    return active | (moved & lane_lt(det, lane_set(0)));
}

/* Elements whose products of six entries could overflow or underflow */
static inline lane_mask extreme(lane I1)
{
    return lane_lt(lane_set(SAFE_SQUARE), I1) | lane_lt(I1, lane_set(1 / SAFE_SQUARE));
}

/* One element group on its way through the steps. */
typedef struct polar_state {
    const lane *F;
    lane scaled[9]; /* F where it had to be scaled */
    lane C[6], I1, J, l, d, left;
} polar_state;

static inline void begin(const lane F[9], polar_state *s)
{
    s->F = F;
    gram(F, s->C);
    lane_mask rescale = extreme(s->C[0] + s->C[1] + s->C[2]);
    if (lane_any(rescale)) {
        lane scale = lane_select(rescale, jacobi_scale(F, 9), lane_set(1));
        for (int i = 0; i < 9; i++)
            s->scaled[i] = F[i] * scale;
        s->F = F = s->scaled;
        gram(F, s->C);
    }
    s->I1 = s->C[0] + s->C[1] + s->C[2];
    s->J = F[0] * (F[4] * F[8] - F[5] * F[7]) + F[1] * (F[5] * F[6] - F[3] * F[8]) + F[2] * (F[3] * F[7] - F[4] * F[6]);
}

/* Elements that the formula was not good enough for */
static void finish(const polar_state *s, lane R[9])
{
    lane_mask done = lane_lt(s->l * s->l * s->l * FORMULA_FLOOR, s->d) & lane_lt(s->left, lane_set(POLISH_LEFT));
    lane_mask active = ~done;
    if (lane_any(active))
        active = polish(s->F, active, R);
    if (lane_any(active))
        from_svd(s->F, active, R);
}

void sinew_polar3_tile(int count, const lane (*F)[9], lane (*R)[9])
{
    polar_state state[SINEW_POLAR_TILE];
    for (int k = 0; k < count; k++)
        begin(F[k], &state[k]);
    for (int k = 0; k < count; k++)
        state[k].l = largest_root(state[k].I1, state[k].J, state[k].C);
    for (int k = 0; k < count; k++) {
        polar_state *s = &state[k];
        lane rows[3][3];
        s->d = first_rotation(s->F, s->C, s->I1, s->J, s->l, rows);
        s->left = jacobi_orthonormalise(rows);
        for (int i = 0; i < 9; i++)
            R[k][i] = rows[i / 3][i % 3];
    }
    for (int k = 0; k < count; k++)
        finish(&state[k], R[k]);
}

void sinew_polar3(const lane F[9], lane R[9])
{
    sinew_polar3_tile(1, (const lane(*)[9])F, (lane(*)[9])R);
}
