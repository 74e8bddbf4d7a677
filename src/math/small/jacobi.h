/* SPDX-License-Identifier: MIT
 *
 * jacobi.h: functions that the decompositions share: scaling, Jacobi's rotation, bases.
 *
 * Vectors are wide[3]. Three vectors, wide[3][3], are stored one after another: A[j] is column j of a matrix. All
 * functions are branch-free per element and never divide by zero.
 */
#ifndef SINEW_SRC_MATH_SMALL_JACOBI_H
#define SINEW_SRC_MATH_SMALL_JACOBI_H

#include "math/simd.h"

/* Half an epsilon: off-diagonal entries below this fraction of the matrix norm are round-off. */
#define JACOBI_TOLERANCE ((sinew_real)0.5 * WIDE_EPSILON)
/* Upper limit of Jacobi sweeps. Convergence is quadratic: generic 3x3 matrices take three or four. */
#define JACOBI_SWEEPS 12

static inline wide jacobi_dot(const wide a[3], const wide b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void jacobi_cross(const wide a[3], const wide b[3], wide out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* The power of two that scales the largest entry of a matrix into [1, 8), so that squares neither overflow nor
 * underflow. If all entries are zero or subnormal, the largest power of two, which is still exact. */
static inline wide jacobi_scale(const wide *entries, int count)
{
    wide largest = wide_abs(entries[0]);
    for (int i = 1; i < count; i++)
        largest = wide_max(largest, wide_abs(entries[i]));
        /* A number 2^e stores e + bias in its exponent bits; 2^-e stores 2 bias - (e + bias). */
#ifdef SINEW_SINGLE
    const wide_int exponent = 0x7f800000, twice_bias = 0x7f000000;
#else
    const wide_int exponent = 0x7ff0000000000000, twice_bias = 0x7fe0000000000000;
#endif
    wide_mask bits;
    largest = wide_min(largest, wide_set(WIDE_HUGE / 4));
    memcpy(&bits, &largest, sizeof bits);
    bits = twice_bias - (bits & exponent);
    memcpy(&largest, &bits, sizeof bits);
    return largest;
}

/* Tangent of the smaller of the two angles by which a Jacobi rotation diagonalises [alpha gamma; gamma beta]:
 *     p' = c p - s q,  q' = s p + c q          (Golub and Van Loan, Matrix Computations, 4th ed., 8.5.2) */
static inline wide jacobi_tangent(wide alpha, wide beta, wide gamma)
{
    wide d = beta - alpha, twice = gamma + gamma;
    wide root = wide_sqrt(d * d + twice * twice);
    wide size = wide_max(wide_abs(d) + root, wide_set(WIDE_TINY));
    wide t = wide_select(wide_lt(d, wide_set(0)), -twice, twice) / size;
    /* Clamped: if the squares of d and gamma underflow, the tangent t may exceed 1. */
    return wide_max(wide_min(t, wide_set(1)), wide_set(-1));
}

static inline wide jacobi_cosine(wide t)
{
    return wide_set(1) / wide_sqrt((sinew_real)1 + t * t);
}

static inline void jacobi_turn(wide p[3], wide q[3], wide c, wide s)
{
    for (int i = 0; i < 3; i++) {
        wide p_i = p[i];
        p[i] = c * p_i - s * q[i];
        q[i] = s * p_i + c * q[i];
    }
}

/* One Newton-Schulz step V (I - D), D = (V^T V - I)/2, which reduces the error D of orthogonality to D^2 or
 * round-off. */
static inline void jacobi_orthonormalise(wide V[3][3])
{
    const sinew_real half = (sinew_real)0.5;
    wide a = half * (jacobi_dot(V[0], V[0]) - (sinew_real)1), d = half * jacobi_dot(V[0], V[1]);
    wide b = half * (jacobi_dot(V[1], V[1]) - (sinew_real)1), e = half * jacobi_dot(V[0], V[2]);
    wide c = half * (jacobi_dot(V[2], V[2]) - (sinew_real)1), f = half * jacobi_dot(V[1], V[2]);
    for (int i = 0; i < 3; i++) {
        wide x = V[0][i], y = V[1][i], z = V[2][i];
        V[0][i] = x - (x * a + y * d + z * e);
        V[1][i] = y - (x * d + y * b + z * f);
        V[2][i] = z - (x * e + y * f + z * c);
    }
}

/* Sets (p, q) = (q, -p) where the mask is set: a quarter turn, which keeps the orientation. */
static inline void jacobi_swap(wide_mask mask, wide p[3], wide q[3])
{
    for (int i = 0; i < 3; i++) {
        wide p_i = p[i];
        p[i] = wide_select(mask, q[i], p_i);
        q[i] = wide_select(mask, -p_i, q[i]);
    }
}

/* Unit vector a / |a|, or `instead` for elements whose |a|^2 is not above `floor`. */
static inline void jacobi_unit(const wide a[3], wide floor, const wide instead[3], wide out[3])
{
    wide square = jacobi_dot(a, a);
    wide_mask usable = wide_lt(floor, square);
    wide length = wide_sqrt(wide_select(usable, square, wide_set(1)));
    for (int i = 0; i < 3; i++)
        out[i] = wide_select(usable, a[i] / length, instead[i]);
}

/* A unit vector perpendicular to the unit vector u: u x e_k, normalised, with e_k the coordinate axis of the smallest
 * |u_k|. */
static inline void jacobi_perpendicular(const wide u[3], wide out[3])
{
    const wide zero = wide_set(0);
    wide x = wide_abs(u[0]), y = wide_abs(u[1]), z = wide_abs(u[2]);
    wide_mask along_x = wide_le(x, wide_min(y, z));
    wide_mask along_y = wide_le(y, z);
    wide a[3] = {wide_select(along_x, zero, wide_select(along_y, -u[2], u[1])),
                 wide_select(along_x, u[2], wide_select(along_y, zero, -u[0])),
                 wide_select(along_x, -u[1], wide_select(along_y, u[0], zero))};
    wide length = wide_sqrt(jacobi_dot(a, a));
    for (int i = 0; i < 3; i++)
        out[i] = a[i] / length;
}

/* The first two vectors of an orthonormal basis: u0 along b0, u1 along the component of b1 perpendicular to u0. A
 * vector that vanishes, or is only round-off of the longer b0, is replaced by any perpendicular vector. */
static inline void jacobi_basis(const wide b0[3], const wide b1[3], wide u0[3], wide u1[3])
{
    const wide axis[3] = {wide_set(1), wide_set(0), wide_set(0)};
    jacobi_unit(b0, wide_set(0), axis, u0);

    /* Two passes of Gram-Schmidt suffice for any b1 (Parlett, The Symmetric Eigenvalue Problem, 6.9). */
    wide rest[3] = {b1[0], b1[1], b1[2]};
    for (int pass = 0; pass < 2; pass++) {
        wide along = jacobi_dot(u0, rest);
        for (int i = 0; i < 3; i++)
            rest[i] -= along * u0[i];
    }
    wide instead[3];
    jacobi_perpendicular(u0, instead);
    jacobi_unit(rest, jacobi_dot(b0, b0) * (WIDE_EPSILON * WIDE_EPSILON), instead, u1);
}

#endif
