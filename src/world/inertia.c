/* SPDX-License-Identifier: MIT
 *
 * inertia.c: solves with the tensor of inertia of particles, and finds the line of collinear particles (inertia.h).
 */
#include "world/inertia.h"

#include <math.h>
#include <stddef.h>

#include "math/vec3.h"

bool sinew_inertia_is_line(const double S[9], double line[3])
{
    const double trace = S[0] + S[4] + S[8];
    int widest = 0;
    for (int c = 1; c < 3; c++)
        widest = S[4 * c] > S[4 * widest] ? c : widest;
    const double *row = S + 3 * (size_t)widest, length = vec3_norm(row);
    for (int c = 0; c < 3; c++)
        line[c] = length > 0 ? row[c] / length : 0;
    /* For collinear particles the second moment is S = trace(S) line line^T; the remainder is the smallest moment of
     * inertia. */
    double left = trace;
    for (int i = 0; i < 9; i++)
        left -= line[i / 3] * S[i] * line[i % 3];
    return !(left > 1e-9 * trace);
}

void sinew_inertia_solve(const double S[9], const double M[3], double out[3])
{
    const double trace = S[0] + S[4] + S[8];
    double J[9], line[3], det = 0;
    int exponent;
    const bool thin = sinew_inertia_is_line(S, line);
    const double along = vec3_dot(M, line);
    /* Scales J by a power of two, which changes no digit and keeps the determinant of large bodies from overflow. */
    (void)frexp(trace, &exponent);
    for (int i = 0; i < 9; i++)
        J[i] = ldexp((i % 4 == 0 ? trace : 0) - S[i], -exponent);
    for (int i = 0; i < 3; i++) {
        out[i] = 0;
        for (int j = 0; j < 3 && !thin; j++) {
            const int a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
            const double cofactor = J[3 * a + c] * J[3 * b + d] - J[3 * a + d] * J[3 * b + c];
            out[i] += cofactor * M[j];
            det += i == 0 ? J[3 * j] * cofactor : 0;
        }
    }
    for (int i = 0; i < 3; i++)
        out[i] = thin ? (trace > 0 ? (M[i] - along * line[i]) / trace : 0) : ldexp(out[i] / det, -exponent);
}
