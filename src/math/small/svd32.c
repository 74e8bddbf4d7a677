/* SPDX-License-Identifier: MIT
 *
 * svd32.c: F = U diag(sigma) V^T of 3x2 matrices: the deformation of a triangle.
 *
 * One rotation makes two columns orthogonal (Jacobi), F V = U diag(sigma). Gram-Schmidt gives U, also if F has rank 1
 * or 0. The third column of U is the normal of the deformed triangle.
 */
#include "math/small/decompose.h"
#include "math/small/jacobi.h"

void sinew_svd32(const wide F[6], wide U[9], wide sigma[2], wide V[4])
{
    const wide scale = jacobi_scale(F, 6), zero = wide_set(0);
    wide b0[3], b1[3], u[3][3];
    for (int i = 0; i < 3; i++) {
        b0[i] = F[2 * i] * scale;
        b1[i] = F[2 * i + 1] * scale;
    }
    const wide t = jacobi_tangent(jacobi_dot(b0, b0), jacobi_dot(b1, b1), jacobi_dot(b0, b1));
    const wide c = jacobi_cosine(t), s = t * c;
    jacobi_turn(b0, b1, c, s);
    /* Puts the longer column first: (b0, b1) = (b1, -b0) is a further quarter turn of V. */
    const wide_mask shorter = wide_lt(jacobi_dot(b0, b0), jacobi_dot(b1, b1));
    jacobi_swap(shorter, b0, b1);
    V[0] = V[3] = wide_select(shorter, s, c);
    V[2] = wide_select(shorter, c, -s);
    V[1] = -V[2];

    jacobi_basis(b0, b1, u[0], u[1]);
    jacobi_cross(u[0], u[1], u[2]);
    jacobi_orthonormalise(u);
    /* Singular values of nearly equal size may be in the wrong order by round-off; the maxima make them descend
     * exactly. */
    const wide back = wide_set(1) / scale, s1 = wide_max(jacobi_dot(u[1], b1), zero);
    sigma[1] = s1 * back;
    sigma[0] = wide_max(jacobi_dot(u[0], b0), s1) * back;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            U[3 * i + j] = u[j][i];
}
