/* SPDX-License-Identifier: MIT
 *
 * polar32.c: F = R S of 3x2 matrices, R with orthonormal columns: the rotation of a triangle.
 *
 * One rotation makes two columns orthogonal (Jacobi), F V = U diag(sigma), and R = U V^T. Gram-Schmidt gives U, also if
 * F has rank 1 or 0. A change dF of F changes R by up to |dF| / sigma1. The error of R corresponds to a change dF of a
 * few epsilon |F|.
 */
#include "math/small/decompose.h"
#include "math/small/jacobi.h"

void sinew_polar32(const wide F[6], wide R[6])
{
    const wide scale = jacobi_scale(F, 6);
    wide b0[3], b1[3], u0[3], u1[3];
    for (int i = 0; i < 3; i++) {
        b0[i] = F[2 * i] * scale;
        b1[i] = F[2 * i + 1] * scale;
    }
    wide t = jacobi_tangent(jacobi_dot(b0, b0), jacobi_dot(b1, b1), jacobi_dot(b0, b1));
    wide c = jacobi_cosine(t), s = t * c;
    jacobi_turn(b0, b1, c, s);

    /* Puts the longer column first: (b0, b1) = (b1, -b0) is a further quarter turn of V. */
    wide_mask shorter = wide_lt(jacobi_dot(b0, b0), jacobi_dot(b1, b1));
    jacobi_swap(shorter, b0, b1);
    wide v0 = wide_select(shorter, s, c), v1 = wide_select(shorter, c, -s); /* rotation V = [v0 -v1; v1 v0] */
    jacobi_basis(b0, b1, u0, u1);

    /* R = U V^T, then one Newton-Schulz step R (I - (R^T R - I)/2), which reduces the error of orthogonality to
     * round-off. */
    wide r0[3], r1[3];
    for (int i = 0; i < 3; i++) {
        r0[i] = u0[i] * v0 - u1[i] * v1;
        r1[i] = u0[i] * v1 + u1[i] * v0;
    }
    const sinew_real half = (sinew_real)0.5;
    wide a = half * (jacobi_dot(r0, r0) - (sinew_real)1), b = half * (jacobi_dot(r1, r1) - (sinew_real)1);
    wide d = half * jacobi_dot(r0, r1);
    for (int i = 0; i < 3; i++) {
        R[2 * i] = r0[i] - (r0[i] * a + r1[i] * d);
        R[2 * i + 1] = r1[i] - (r0[i] * d + r1[i] * b);
    }
}
