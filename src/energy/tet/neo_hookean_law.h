/* SPDX-License-Identifier: MIT
 *
 * neo_hookean_law.h: psi and stress of Neo-Hookean rubber without a logarithm, per unit of mu:
 *
 *     psi = 1/2 (|F|^2 - 3) - (J - 1) + r/2 (J - 1)^2        P = F + (r (J - 1) - 1) cof F,  r = l / mu
 *
 * The law is the energy neo_hookean and the matrix of reinforced. It also replaces energies that are undefined for
 * J <= 0, where constraints need a gradient.
 */
#ifndef SINEW_SRC_ENERGY_TET_NEO_HOOKEAN_LAW_H
#define SINEW_SRC_ENERGY_TET_NEO_HOOKEAN_LAW_H

#include "energy/matrix3.h"

KERNEL_INLINE wide neo_hookean_stress(const wide F[9], wide ratio, wide P[9])
{
    const wide half = wide_set((sinew_real)0.5);
    wide C[9];
    const wide growth = cofactor3(F, C) - 1;
    const wide pressure = ratio * growth - 1;
    for (int i = 0; i < 9; i++)
        P[i] = F[i] + pressure * C[i];
    return half * (norm3(F) - 3) + growth * (half * ratio * growth - 1);
}

/* psi without cancellation, because the root of psi, a constraint, would magnify the round-off of neo_hookean_stress().
 * With E = (F^T F - 1)/2 and its invariants tr E, II and III, |F|^2 - 3 = 2 tr E and
 * J^2 - 1 = 2 tr E + 4 II(E) + 8 III(E), so that
 *
 *     (|F|^2 - 3)/2 - (J - 1) = (tr E (J - 1) - 4 II(E) - 8 III(E)) / (J + 1)
 *
 * in which every term is of second or higher order in strain. `plain` is psi from neo_hookean_stress(); it is accurate
 * enough, and returned, if the volume has changed by half or more. */
KERNEL_INLINE wide neo_hookean_near_rest(const wide F[9], wide ratio, wide plain)
{
    const wide half = wide_set((sinew_real)0.5);
    wide cofactor[9], E[6]; /* E: Green strain, stored as 00 11 22 01 02 12 */
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    const wide growth = cofactor3(F, cofactor) - 1;
    for (int i = 0; i < 6; i++) {
        const wide *a = F + row[i], *b = F + column[i];
        E[i] = half * (a[0] * b[0] + a[3] * b[3] + a[6] * b[6] - (sinew_real)(i < 3));
    }
    const wide mixed = E[1] * E[2] - E[5] * E[5], second = E[0] * (E[1] + E[2]) - E[3] * E[3] - E[4] * E[4] + mixed;
    const wide third = E[0] * mixed - E[3] * (E[3] * E[2] - E[5] * E[4]) + E[4] * (E[3] * E[5] - E[1] * E[4]);
    const wide_mask near = wide_lt(wide_abs(growth), half);
    const wide shear = ((E[0] + E[1] + E[2]) * growth - 4 * second - 8 * third) / wide_select(near, growth + 2, half);
    return wide_select(near, shear + half * ratio * (growth * growth), plain);
}

#endif
