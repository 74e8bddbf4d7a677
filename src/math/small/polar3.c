/* SPDX-License-Identifier: MIT
 *
 * polar3.c: the rotation R that maximises tr(R^T F) for 3x3 matrices: the polar factor of F, or the nearest rotation if
 * det F < 0. The corotated energies call it in their innermost loop.
 *
 * The largest value lambda = tr(R^T F) = sigma0 + sigma1 + sigma2 is the largest root of the characteristic polynomial
 * of Davenport's 4x4 matrix (Horn, J. Opt. Soc. Am. A 4 (1987) 629; Higham and Noferini, Numer. Algorithms 73 (2016)
 * 349)
 *
 *     p(l) = (l^2 - |F|^2)^2 - 8 det(F) l - 4 |cof F|^2
 *
 * and R = d lambda / dF, which by differentiating p(lambda(F), F) = 0 is
 *
 *     R = ((lambda^2 + |F|^2) F + 2 lambda cof F - 2 F F^T F) / (lambda^3 - |F|^2 lambda - 2 det F)
 *
 *   1. lambda by Householder's iteration of fourth order from sqrt(3) |F|. With u_i = 1 / (l - root_i) and h_k their
 *      complete homogeneous polynomials, a step has length h_2 / h_3. It never overshoots, as all roots are real. It
 *      reduces the error e by the factor h_3(the other three u) / h_3(all four): for a rotation e^4 / 6.4 remains.
 *   2. Two rows of R by the formula. The error of lambda changes their length and angle and tilts their plane. They
 *      are made orthonormal, and the third is their cross product. The tilt stays, so lambda must be at round-off.
 *      (Orthonormalising all three rows would remove the tilt, too, but takes a fifth longer.)
 *   3. If the denominator, 2 (sigma0 + sigma1) (sigma0 + sigma2) (sigma1 + sigma2), is small, the formula magnifies
 *      round-off: Newton steps on the rotations, w = (tr(S) I - S)^-1 axial(R^T F), R <- R exp(w).
 *   4. If the Newton steps do not reach round-off, because sigma1 + sigma2 is nearly 0: R = U V^T from the singular
 *      value decomposition.
 *
 * The error of R is a few epsilon times its condition, 2 |F| / (sigma1 + sigma2). p is written with cof F because its
 * terms, and with them the round-off of lambda, are then smallest: expanded with |F^T F|, they are twice as large.
 * Steps 3 and 4 run if any element of a tile needs them, but the result of an element does not depend on the others.
 *
 * The square root and the divisions of steps 1 and 2 depend on each other, and dependent instructions fill the
 * processor's queue: a loop that computes R group by group waits most of its time. Therefore each stage that ends in a
 * root or a division runs over a tile of groups before the next stage starts.
 */
#include "math/small/decompose.h"
#include "math/small/jacobi.h"

enum {
    ROOT_STEPS = 8,
    POLISH_STEPS = 4
};

/* ROOT_CHANGE: relative change of lambda below which lambda is at round-off. The remaining error is the fourth power
 * of the change, times 4 for a rotation, times up to 171 where the denominator is at its floor.
 *
 * FORMULA_FLOOR: denominator over lambda^3 (16/27 for a rotation) down to which step 2 is accurate.
 *
 * POLISH_FLOOR: lower bound of the eigenvalues of tr(S) I - S over its trace, about epsilon^(1/4). Above it the
 * determinant, in which two eigenvalues may be small, is far above round-off.
 *
 * SAFE_SQUARE: products of ten entries neither overflow nor underflow for |F|^2 between 1 / SAFE_SQUARE and
 * SAFE_SQUARE. */
#ifdef SINEW_SINGLE
#define ROOT_CHANGE   3e-3f
#define FORMULA_FLOOR 0.4f
#define POLISH_FLOOR  2e-2f
#define SAFE_SQUARE   1e6f
#else
#define ROOT_CHANGE   5e-5
#define FORMULA_FLOOR 0.2
#define POLISH_FLOOR  1e-4
#define SAFE_SQUARE   1e54
#endif

/* Largest error of the rotation R, besides round-off, after which the Newton steps of polish_rotation() end. */
#define POLISH_LEFT ((sinew_real)0.125 * WIDE_EPSILON)

/* F^T F as {c00, c11, c22, c01, c02, c12} */
static inline void gram(const wide F[9], wide C[6])
{
    static const int pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    for (int k = 0; k < 6; k++) {
        int i = pair[k][0], j = pair[k][1];
        C[k] = F[i] * F[j] + F[3 + i] * F[3 + j] + F[6 + i] * F[6 + j];
    }
}

static inline void cofactors(const wide F[9], wide cof[9])
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

/* State of one SIMD group of matrices F between the stages of the polar decomposition. */
typedef struct polar_state {
    const wide *F;
    wide scaled[9];     /* F multiplied by a power of two, for extreme entries */
    wide C[6], cof[6];  /* C = F^T F; first two rows of the cofactor matrix of F */
    wide I1, I2, two_J; /* invariants |F|^2, |cof F|^2, 2 det F */
    wide l, inverse;    /* lambda = tr(R^T F) of the nearest rotation R, 1 / denominator of the formula for R */
    wide_mask active;   /* mask of SIMD elements that need further steps */
} polar_state;

/* Householder's change of lambda = l, with q = p / 4 and its derivatives q1, q2 and q3 = 6 l:
 *     q (6 q1^2 - 3 q q2) / (6 q1^3 - 6 q q1 q2 + q^2 q3) */
static inline wide root_change(wide q, wide q1, wide q2, wide l)
{
    wide curve = q * q2, rest = q1 * q1 - curve;
    return q * (rest + (sinew_real)0.5 * curve) / wide_max(q1 * rest + q * q * l, wide_set(WIDE_TINY));
}

/* The first step of the iteration for lambda, from lambda^2 = 3 |F|^2. */
static inline void root_first_step(polar_state *s)
{
    wide I1 = s->I1, l = s->l, q = I1 * I1 - (s->two_J * l + s->I2);
    s->l = l - root_change(q, (I1 + I1) * l - s->two_J, (sinew_real)8 * I1, l);
}

static inline wide root_next_change(const polar_state *s)
{
    wide l = s->l, e = l * l - s->I1, q = (sinew_real)0.25 * e * e - (s->two_J * l + s->I2);
    return root_change(q, l * e - s->two_J, (sinew_real)3 * e + (s->I1 + s->I1), l);
}

/* The second step of the iteration for lambda: the last one, except for extreme deformations. */
static inline void root_second_step(polar_state *s)
{
    wide change = root_next_change(s);
    s->l -= change;
    s->active = wide_lt(ROOT_CHANGE * s->l, wide_abs(change));
}

static void root_further_steps(polar_state *s)
{
    for (int step = 2; step < ROOT_STEPS && wide_any(s->active); step++) {
        wide change = root_next_change(s);
        s->l = wide_select(s->active, s->l - change, s->l);
        s->active &= wide_lt(ROOT_CHANGE * s->l, wide_abs(change));
    }
}

/* Computes two rows of the numerator of the rotation R and the inverse denominator; marks the SIMD elements for
 * which the formula is inaccurate. */
static inline void polar3_apply_formula(polar_state *s, wide rows[6])
{
    const wide *C = s->C;
    wide l = s->l, l3 = l * l * l, e = l * l - s->I1, on_F = e + (s->I1 + s->I1), two_l = l + l;
    wide A00 = on_F - (C[0] + C[0]), A11 = on_F - (C[1] + C[1]), A22 = on_F - (C[2] + C[2]);
    wide A01 = C[3] + C[3], A02 = C[4] + C[4], A12 = C[5] + C[5];
    for (int i = 0; i < 6; i += 3) {
        const wide *f = s->F + i, *k = s->cof + i;
        rows[i] = f[0] * A00 - f[1] * A01 - f[2] * A02 + two_l * k[0];
        rows[i + 1] = f[1] * A11 - f[0] * A01 - f[2] * A12 + two_l * k[1];
        rows[i + 2] = f[2] * A22 - f[0] * A02 - f[1] * A12 + two_l * k[2];
    }
    wide d = l * e - s->two_J;
    s->inverse = wide_set(1) / wide_max(d, l3 * (POLISH_FLOOR * POLISH_FLOOR) + WIDE_TINY);
    s->active |= ~wide_lt(l3 * FORMULA_FLOOR, d);
}

/* Turns the first two rows of the matrix R, times `scale`, into a rotation: one Newton-Schulz step as in
 * jacobi_orthonormalise(), and the cross product as third row. */
static inline void rotation_from_rows(wide scale, wide R[9])
{
    const sinew_real half = (sinew_real)0.5;
    wide a[3], b[3];
    for (int i = 0; i < 3; i++) {
        a[i] = R[i] * scale;
        b[i] = R[3 + i] * scale;
    }
    wide aa = half - half * jacobi_dot(a, a), bb = half - half * jacobi_dot(b, b), ab = half * jacobi_dot(a, b);
    for (int i = 0; i < 3; i++) {
        R[i] = a[i] + (aa * a[i] - ab * b[i]);
        R[3 + i] = b[i] + (bb * b[i] - ab * a[i]);
    }
    R[6] = R[1] * R[5] - R[2] * R[4];
    R[7] = R[2] * R[3] - R[0] * R[5];
    R[8] = R[0] * R[4] - R[1] * R[3];
}

/* One Newton step for both R^T R = I and R^T F = F^T R:
 *     R <- R (I - D/2 + [w] + [w]^2/2),   D = R^T R - I,   G w = axial((I - D/2) R^T F),   G = tr(S) I - S
 * Returns the mask of elements whose remaining error is below POLISH_LEFT. */
static inline wide_mask polish_step(const wide F[9], wide R[9])
{
    const sinew_real half = (sinew_real)0.5;
    wide M[9], D[6]; /* M = R^T F, S = (M + M^T) / 2 */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            M[3 * i + j] = R[i] * F[j] + R[3 + i] * F[3 + j] + R[6 + i] * F[6 + j];
    gram(R, D);
    for (int i = 0; i < 3; i++) {
        D[i] = half * (D[i] - (sinew_real)1); /* from here on, D is (R^T R - I) / 2 */
        D[3 + i] *= half;
    }

    /* G = tr(S) I - S, and its adjugate */
    wide g00 = M[4] + M[8], g11 = M[0] + M[8], g22 = M[0] + M[4];
    wide g01 = -half * (M[1] + M[3]), g02 = -half * (M[2] + M[6]), g12 = -half * (M[5] + M[7]);
    wide h00 = g11 * g22 - g12 * g12, h11 = g00 * g22 - g02 * g02, h22 = g00 * g11 - g01 * g01;
    wide h01 = g02 * g12 - g01 * g22, h02 = g01 * g12 - g02 * g11, h12 = g01 * g02 - g00 * g12;
    wide det = g00 * h00 + g01 * h01 + g02 * h02;
    wide trace = half * (g00 + g11 + g22), minors = h00 + h11 + h22;
    wide size = trace * minors; /* size / det is an upper bound of the condition number of G */

    /* Solves G w = axial(...) for SIMD elements with positive definite G. D S - S D is written with G, whose commutator
     * differs only in sign. */
    wide_mask positive = wide_lt(wide_set(0), trace) & wide_lt(trace * trace * POLISH_FLOOR, minors);
    wide_mask regular = positive & wide_lt(size * POLISH_FLOOR, det);
    wide s = wide_select(regular, wide_set(1) / wide_max(det, wide_set(WIDE_TINY)), wide_set(0));
    wide a0 = (M[7] - M[5]) + (D[4] * g01 - D[3] * g02 + D[5] * (g11 - g22) + (D[2] - D[1]) * g12);
    wide a1 = (M[2] - M[6]) + (D[3] * g12 - D[5] * g01 + D[4] * (g22 - g00) + (D[0] - D[2]) * g02);
    wide a2 = (M[3] - M[1]) + (D[5] * g02 - D[4] * g12 + D[3] * (g00 - g11) + (D[1] - D[0]) * g01);
    wide x = s * (h00 * a0 + h01 * a1 + h02 * a2);
    wide y = s * (h01 * a0 + h11 * a1 + h12 * a2);
    wide z = s * (h02 * a0 + h12 * a1 + h22 * a2);

    wide hx = half * x, hy = half * y, hz = half * z, xx = hx * x, yy = hy * y, zz = hz * z;
    wide xy = hx * y - D[3], xz = hx * z - D[4], yz = hy * z - D[5];
    const wide X[9] = {-(yy + zz) - D[0], xy - z, xz + y, xy + z, -(xx + zz) - D[1], yz - x, xz - y, yz + x,
                       -(xx + yy) - D[2]};
    for (int i = 0; i < 9; i += 3) {
        wide r0 = R[i], r1 = R[i + 1], r2 = R[i + 2];
        for (int j = 0; j < 3; j++)
            R[i + j] += r0 * X[j] + r1 * X[3 + j] + r2 * X[6 + j];
    }
    /* The remaining error of R is (|w|^2 + |D|^2) times the condition number of G, the matrix of the system for w. */
    wide left = (xx + yy + zz) + (D[0] * D[0] + D[1] * D[1] + D[2] * D[2]) + (D[3] * D[3] + D[4] * D[4] + D[5] * D[5]);
    return regular & wide_lt(left * size, det * POLISH_LEFT);
}

/* Sets R = U V^T from the singular value decomposition of F, for the SIMD elements of the mask. */
static void rotation_from_svd(const wide F[9], wide_mask mask, wide R[9])
{
    wide U[9], sigma[3], V[9], rows[3][3];
    sinew_svd3(F, U, sigma, V);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            rows[i][j] = U[3 * i] * V[3 * j] + U[3 * i + 1] * V[3 * j + 1] + U[3 * i + 2] * V[3 * j + 2];
    jacobi_orthonormalise(rows);
    for (int i = 0; i < 9; i++)
        R[i] = wide_select(mask, rows[i / 3][i % 3], R[i]);
}

/* Newton steps on R for the SIMD elements of the mask. Returns the mask of elements that have not reached round-off, or
 * have det R < 0. */
static wide_mask polish_rotation(const wide F[9], wide_mask active, wide R[9])
{
    wide_mask moved = active;
    for (int step = 0; step < POLISH_STEPS && wide_any(active); step++) {
        wide next[9];
        for (int i = 0; i < 9; i++)
            next[i] = R[i];
        wide_mask done = polish_step(F, next);
        for (int i = 0; i < 9; i++)
            R[i] = wide_select(active, next[i], R[i]);
        active &= ~done;
    }
    wide cof[9];
    cofactors(R, cof);
    wide det = R[0] * cof[0] + R[1] * cof[1] + R[2] * cof[2];
    return active | (moved & wide_lt(det, wide_set(0)));
}

/* Mask of SIMD elements with |F|^2 = I1 so large or small that products of ten entries could overflow or underflow. */
static inline wide_mask square_is_extreme(wide I1)
{
    return wide_lt(wide_set(SAFE_SQUARE), I1) | wide_lt(I1, wide_set(1 / SAFE_SQUARE));
}

static inline void polar3_begin(const wide F[9], polar_state *s)
{
    s->F = F;
    gram(F, s->C);
    s->I1 = s->C[0] + s->C[1] + s->C[2];
    wide cof[9];
    cofactors(F, cof);
    wide J = jacobi_dot(F, cof);
    s->two_J = J + J;
    s->I2 = jacobi_dot(cof, cof) + jacobi_dot(cof + 3, cof + 3) + jacobi_dot(cof + 6, cof + 6);
    for (int i = 0; i < 6; i++)
        s->cof[i] = cof[i];
    s->l = wide_sqrt((sinew_real)3 * s->I1);
}

/* Begins again with the entries of F scaled by a power of two in extreme elements; subnormal numbers need two
 * passes. */
static void polar3_rescale(polar_state *s)
{
    for (int pass = 0; pass < 2; pass++) {
        wide scale = wide_select(square_is_extreme(s->I1), jacobi_scale(s->F, 9), wide_set(1));
        for (int i = 0; i < 9; i++)
            s->scaled[i] = s->F[i] * scale;
        polar3_begin(s->scaled, s);
    }
}

/* Runs steps 3 and 4 of the file head (Newton steps, then SVD) for the SIMD elements that need them. */
static void polar3_finish(const polar_state *s, wide R[9])
{
    wide_mask active = s->active;
    if (wide_any(active))
        active = polish_rotation(s->F, active, R);
    if (wide_any(active))
        rotation_from_svd(s->F, active, R);
}

void sinew_polar3_tile(int count, const wide (*F)[9], wide (*R)[9])
{
    polar_state state[SINEW_POLAR_TILE];
    wide_mask scaled = wide_lt(wide_set(0), wide_set(0)), active = scaled;
    for (int k = 0; k < count; k++) {
        polar3_begin(F[k], &state[k]);
        scaled |= square_is_extreme(state[k].I1);
    }
    for (int k = 0; wide_any(scaled) && k < count; k++)
        polar3_rescale(&state[k]);
    for (int k = 0; k < count; k++)
        root_first_step(&state[k]);
    for (int k = 0; k < count; k++) {
        root_second_step(&state[k]);
        active |= state[k].active;
    }
    for (int k = 0; wide_any(active) && k < count; k++)
        root_further_steps(&state[k]);
    for (int k = 0; k < count; k++) {
        polar3_apply_formula(&state[k], R[k]);
        active |= state[k].active;
    }
    for (int k = 0; k < count; k++)
        rotation_from_rows(state[k].inverse, R[k]);
    for (int k = 0; wide_any(active) && k < count; k++)
        polar3_finish(&state[k], R[k]);
}

void sinew_polar3(const wide F[9], wide R[9])
{
    sinew_polar3_tile(1, (const wide(*)[9])F, (wide(*)[9])R);
}
