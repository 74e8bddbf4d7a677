/* SPDX-License-Identifier: MIT
 *
 * reference_material.h: an independent implementation of the seven tet materials for tests: plain scalar code from the
 * published formulas that shares nothing with the library's kernels. Matrices are row-major; F[3*i + j] is row i,
 * column j. The number type is double, or REFERENCE_REAL if a test defines it.
 */
#ifndef SINEW_REFERENCE_MATERIAL_H
#define SINEW_REFERENCE_MATERIAL_H

#include <math.h>

#include "sinew/sinew.h"

#ifndef REFERENCE_REAL
#define REFERENCE_REAL double
#endif
typedef REFERENCE_REAL reference_real;

#define REFERENCE_MATERIAL_COUNT 7 /* SINEW_ENERGY_STRAIN .. SINEW_ENERGY_LINEAR */

static inline reference_real reference_log(reference_real x)
{
    return (reference_real)logl((long double)x);
}

static inline reference_real reference_det(const reference_real A[9])
{
    return A[0] * (A[4] * A[8] - A[5] * A[7]) - A[1] * (A[3] * A[8] - A[5] * A[6]) + A[2] * (A[3] * A[7] - A[4] * A[6]);
}

/* C = det(A) A^-T */
static inline void reference_cofactor(const reference_real A[9], reference_real C[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
            C[3 * i + j] = A[3 * a + c] * A[3 * b + d] - A[3 * a + d] * A[3 * b + c];
        }
}

/* The rotation nearest to F, det F > 0: R <- (R + R^-T)/2 (Higham 1986). */
static inline void reference_rotation(const reference_real F[9], reference_real R[9])
{
    for (int i = 0; i < 9; i++)
        R[i] = F[i];
    for (int k = 0; k < 60; k++) {
        reference_real C[9];
        const reference_real det = reference_det(R);
        reference_cofactor(R, C);
        for (int i = 0; i < 9; i++)
            R[i] = 0.5 * (R[i] + C[i] / det);
    }
}

static inline reference_real reference_norm2(const reference_real A[9])
{
    reference_real sum = 0;
    for (int i = 0; i < 9; i++)
        sum += A[i] * A[i];
    return sum;
}

/* psi(F) in J/m3, and P = dpsi/dF in Pa. `strain` takes E for its stiffness. det F > 0. */
static inline reference_real reference_material(sinew_energy_kind kind, reference_real E, reference_real nu,
                                                const reference_real F[9], reference_real P[9])
{
    const reference_real mu = E / (2 * (1 + nu)), lambda = E * nu / ((1 + nu) * (1 - 2 * nu));
    const reference_real J = reference_det(F), I = reference_norm2(F);
    reference_real R[9], C[9], D[9], psi = 0, trace = 0;
    reference_rotation(F, R);
    reference_cofactor(F, C);
    for (int i = 0; i < 9; i++)
        D[i] = F[i] - R[i];
    switch (kind) {
    case SINEW_ENERGY_STRAIN:
        for (int i = 0; i < 9; i++)
            P[i] = E * D[i];
        return E / 2 * reference_norm2(D);
    case SINEW_ENERGY_COROTATED:
        for (int i = 0; i < 9; i++)
            P[i] = 2 * mu * D[i] + lambda * (J - 1) * C[i];
        return mu * reference_norm2(D) + lambda / 2 * (J - 1) * (J - 1);
    case SINEW_ENERGY_NEO_HOOKEAN: {
        const reference_real l = lambda + mu;
        for (int i = 0; i < 9; i++)
            P[i] = mu * F[i] + (l * (J - 1) - mu) * C[i];
        return mu / 2 * (I - 3) - mu * (J - 1) + l / 2 * (J - 1) * (J - 1);
    }
    case SINEW_ENERGY_NEO_HOOKEAN_LOG:
        for (int i = 0; i < 9; i++)
            P[i] = mu * F[i] + (lambda * reference_log(J) - mu) / J * C[i];
        return mu / 2 * (I - 3) - mu * reference_log(J) + lambda / 2 * reference_log(J) * reference_log(J);
    case SINEW_ENERGY_STABLE_NEO_HOOKEAN: {
        const reference_real m = 4 * mu / 3, l = lambda + 5 * mu / 6, a = 1 + 0.75 * m / l;
        for (int i = 0; i < 9; i++)
            P[i] = m * I / (1 + I) * F[i] + l * (J - a) * C[i];
        return m / 2 * (I - 3) + l / 2 * (J - a) * (J - a) - m / 2 * reference_log((1 + I) / 4) -
               l / 2 * (1 - a) * (1 - a);
    }
    case SINEW_ENERGY_ST_VENANT_KIRCHHOFF: {
        reference_real G[9], S[9]; /* Green's strain, second Piola-Kirchhoff stress */
        for (int i = 0; i < 9; i++) {
            G[i] = i % 4 == 0 ? -0.5 : 0;
            for (int k = 0; k < 3; k++)
                G[i] += 0.5 * F[3 * k + i / 3] * F[3 * k + i % 3];
        }
        trace = G[0] + G[4] + G[8];
        psi = mu * reference_norm2(G) + lambda / 2 * trace * trace;
        for (int i = 0; i < 9; i++)
            S[i] = 2 * mu * G[i] + (i % 4 == 0 ? lambda * trace : 0);
        for (int i = 0; i < 9; i++)
            P[i] = F[i / 3 * 3] * S[i % 3] + F[i / 3 * 3 + 1] * S[3 + i % 3] + F[i / 3 * 3 + 2] * S[6 + i % 3];
        return psi;
    }
    default: { /* SINEW_ENERGY_LINEAR */
        reference_real e[9];
        for (int i = 0; i < 9; i++)
            e[i] = 0.5 * (F[i] + F[i % 3 * 3 + i / 3]) - (i % 4 == 0);
        trace = e[0] + e[4] + e[8];
        for (int i = 0; i < 9; i++)
            P[i] = 2 * mu * e[i] + (i % 4 == 0 ? lambda * trace : 0);
        return mu * reference_norm2(e) + lambda / 2 * trace * trace;
    }
    }
}

#endif
