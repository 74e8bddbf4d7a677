/* SPDX-License-Identifier: MIT
 *
 * neo_hookean_law.h: psi and stress of Neo-Hookean rubber without a logarithm, per unit of mu:
 *
 *     psi = 1/2 (|F|^2 - 3) - (J - 1) + r/2 (J - 1)^2        P = F + (r (J - 1) - 1) cof F,  r = l / mu
 *
 * It is the energy neo_hookean, the matrix around fibres, and what stands in for energies that end at J = 0 where a
 * constraint has to be led back.
 */
#ifndef SINEW_SRC_ENERGY_TET_NEO_HOOKEAN_LAW_H
#define SINEW_SRC_ENERGY_TET_NEO_HOOKEAN_LAW_H

#include "energy/matrix3.h"

KERNEL_INLINE lane neo_hookean_stress(const lane F[9], lane ratio, lane P[9])
{
    const lane half = lane_set((sinew_real)0.5);
    lane C[9];
    const lane growth = cofactor3(F, C) - 1;
    const lane pressure = ratio * growth - 1;
    for (int i = 0; i < 9; i++)
        P[i] = F[i] + pressure * C[i];
    return half * (norm3(F) - 3) + growth * (half * ratio * growth - 1);
}

/* psi without the differences of large numbers that its root would show: with E = (F^T F - 1)/2, |F|^2 - 3 = 2 tr E and
 * J^2 - 1 = 2 tr E + 4 II(E) + 8 III(E), so that
 *
 *     (|F|^2 - 3)/2 - (J - 1) = (tr E (J - 1) - 4 II(E) - 8 III(E)) / (J + 1)
 *
 * in which every term is a square of strain. Where the volume has changed by half, `plain` is exact enough.
 */
KERNEL_INLINE lane neo_hookean_near_rest(const lane F[9], lane ratio, lane plain)
{
    const lane half = lane_set((sinew_real)0.5);
    lane cofactor[9], E[6]; /* 00 11 22 01 02 12 */
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    const lane growth = cofactor3(F, cofactor) - 1;
    for (int i = 0; i < 6; i++) {
        const lane *a = F + row[i], *b = F + column[i];
        E[i] = half * (a[0] * b[0] + a[3] * b[3] + a[6] * b[6] - (sinew_real)(i < 3));
    }
    const lane mixed = E[1] * E[2] - E[5] * E[5], second = E[0] * (E[1] + E[2]) - E[3] * E[3] - E[4] * E[4] + mixed;
    const lane third = E[0] * mixed - E[3] * (E[3] * E[2] - E[5] * E[4]) + E[4] * (E[3] * E[5] - E[1] * E[4]);
    const lane_mask near = lane_lt(lane_abs(growth), half);
    const lane shear = ((E[0] + E[1] + E[2]) * growth - 4 * second - 8 * third) / lane_select(near, growth + 2, half);
    return lane_select(near, shear + half * ratio * (growth * growth), plain);
}

#endif
