/* SPDX-License-Identifier: MIT
 *
 * jacobi.h: what the decompositions share: scaling, Jacobi's rotation, bases.
 *
 * Vectors are lane[3]. A set of three vectors, lane[3][3], is stored vector after vector: A[j] is column j of a matrix.
 * Everything is branch-free per element, and takes zeros without dividing by them.
 */
#ifndef SINEW_SRC_MATH_SMALL_JACOBI_H
#define SINEW_SRC_MATH_SMALL_JACOBI_H

#include "math/lanes.h"

/* Rounding error of the last operation on the largest entry: below it an off-diagonal entry is noise. */
#define JACOBI_TOLERANCE ((sinew_real)0.5 * LANE_EPSILON)
/* Sweeps that no matrix needs. Convergence is quadratic: generic matrices take three or four. */
#define JACOBI_SWEEPS 12

static inline lane jacobi_dot(const lane a[3], const lane b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void jacobi_cross(const lane a[3], const lane b[3], lane out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* The power of two that brings the largest of the entries into [1, 8), so that squares neither overflow nor underflow.
 * Entries that are all zero or subnormal get the largest power of two, which is still exact. */
static inline lane jacobi_scale(const lane *entries, int count)
{
    lane largest = lane_abs(entries[0]);
    for (int i = 1; i < count; i++)
        largest = lane_max(largest, lane_abs(entries[i]));
        /* 2^e has e + bias in its exponent bits; 2^-e has 2 bias minus that. */
#ifdef SINEW_SINGLE
    const lane_int exponent = 0x7f800000, twice_bias = 0x7f000000;
#else
    const lane_int exponent = 0x7ff0000000000000, twice_bias = 0x7fe0000000000000;
#endif
    lane_mask bits;
    largest = lane_min(largest, lane_set(LANE_HUGE / 4));
    memcpy(&bits, &largest, sizeof bits);
    bits = twice_bias - (bits & exponent);
    memcpy(&largest, &bits, sizeof bits);
    return largest;
}

/* Tangent of the angle by which Jacobi turns [alpha gamma; gamma beta] to diagonal form, the smaller of the two, by
 *     p' = c p - s q,  q' = s p + c q          (Golub and Van Loan, Matrix Computations, 4th ed., 8.5.2) */
static inline lane jacobi_tangent(lane alpha, lane beta, lane gamma)
{
    lane d = beta - alpha, twice = gamma + gamma;
    lane root = lane_sqrt(d * d + twice * twice);
    lane size = lane_max(lane_abs(d) + root, lane_set(LANE_TINY));
    lane t = lane_select(lane_lt(d, lane_set(0)), -twice, twice) / size;
    /* d and gamma whose squares underflow may give more than 1 */
    return lane_max(lane_min(t, lane_set(1)), lane_set(-1));
}

static inline lane jacobi_cosine(lane t)
{
    return lane_set(1) / lane_sqrt((sinew_real)1 + t * t);
}

static inline void jacobi_turn(lane p[3], lane q[3], lane c, lane s)
{
    for (int i = 0; i < 3; i++) {
        lane p_i = p[i];
        p[i] = c * p_i - s * q[i];
        q[i] = s * p_i + c * q[i];
    }
}

/* One Newton-Schulz step V (I - D), D = (V^T V - I)/2, after which V, if it was orthogonal to D, is to D^2 or
 * round-off. */
static inline void jacobi_orthonormalise(lane V[3][3])
{
    const sinew_real half = (sinew_real)0.5;
    lane a = half * (jacobi_dot(V[0], V[0]) - (sinew_real)1), d = half * jacobi_dot(V[0], V[1]);
    lane b = half * (jacobi_dot(V[1], V[1]) - (sinew_real)1), e = half * jacobi_dot(V[0], V[2]);
    lane c = half * (jacobi_dot(V[2], V[2]) - (sinew_real)1), f = half * jacobi_dot(V[1], V[2]);
    for (int i = 0; i < 3; i++) {
        lane x = V[0][i], y = V[1][i], z = V[2][i];
        V[0][i] = x - (x * a + y * d + z * e);
        V[1][i] = y - (x * d + y * b + z * f);
        V[2][i] = z - (x * e + y * f + z * c);
    }
}

/* Where the mask is set (p, q) = (q, -p): a quarter turn, so that orientation stays. */
static inline void jacobi_swap(lane_mask mask, lane p[3], lane q[3])
{
    for (int i = 0; i < 3; i++) {
        lane p_i = p[i];
        p[i] = lane_select(mask, q[i], p_i);
        q[i] = lane_select(mask, -p_i, q[i]);
    }
}

/* a / |a|, or `instead` where |a|^2 is not above floor. */
static inline void jacobi_unit(const lane a[3], lane floor, const lane instead[3], lane out[3])
{
    lane square = jacobi_dot(a, a);
    lane_mask usable = lane_lt(floor, square);
    lane length = lane_sqrt(lane_select(usable, square, lane_set(1)));
    for (int i = 0; i < 3; i++)
        out[i] = lane_select(usable, a[i] / length, instead[i]);
}

/* Some unit vector perpendicular to the unit vector u: u x e_k, with e_k the axis farthest from u. */
static inline void jacobi_perpendicular(const lane u[3], lane out[3])
{
    const lane zero = lane_set(0);
    lane x = lane_abs(u[0]), y = lane_abs(u[1]), z = lane_abs(u[2]);
    lane_mask along_x = lane_le(x, lane_min(y, z));
    lane_mask along_y = lane_le(y, z);
    lane a[3] = {lane_select(along_x, zero, lane_select(along_y, -u[2], u[1])),
                 lane_select(along_x, u[2], lane_select(along_y, zero, -u[0])),
                 lane_select(along_x, -u[1], lane_select(along_y, u[0], zero))};
    lane length = lane_sqrt(jacobi_dot(a, a));
    for (int i = 0; i < 3; i++)
        out[i] = a[i] / length;
}

/* The first two vectors of a basis: u0 along b0, u1 along what b1 has perpendicular to it. Vectors that vanish, or are
 * nothing but round-off of the longer b0, are replaced. */
static inline void jacobi_basis(const lane b0[3], const lane b1[3], lane u0[3], lane u1[3])
{
    const lane axis[3] = {lane_set(1), lane_set(0), lane_set(0)};
    jacobi_unit(b0, lane_set(0), axis, u0);

    /* Gram-Schmidt, twice: enough for any b1 (Parlett, The Symmetric Eigenvalue Problem, 6.9) */
    lane rest[3] = {b1[0], b1[1], b1[2]};
    for (int pass = 0; pass < 2; pass++) {
        lane along = jacobi_dot(u0, rest);
        for (int i = 0; i < 3; i++)
            rest[i] -= along * u0[i];
    }
    lane instead[3];
    jacobi_perpendicular(u0, instead);
    jacobi_unit(rest, jacobi_dot(b0, b0) * (LANE_EPSILON * LANE_EPSILON), instead, u1);
}

#endif
