/* SPDX-License-Identifier: MIT
 *
 * tet_curvature.h: second derivatives of constraints of a tet from |F|^2, J = det F and one gradient P:
 *
 *     block (a, b) = norm (l_a . l_b) 1 + volume d2J/dx_a dx_b + swell J_a J_b^T + rise (P l_a) (P l_b)^T
 *
 * where l_a is the rest gradient of vertex a (row a of L, tet.h; l_0 = -(l_1 + l_2 + l_3)) and J_a = cof(F) l_a. The
 * energy sets the factors norm, volume, swell and rise. Moving vertex a by v and vertex b by w has the mixed second
 * difference (v x w) . F (l_a x l_b) of J, as cof(v l_a^T + w l_b^T) = (v x w) (l_a x l_b)^T.
 */
#ifndef SINEW_SRC_ENERGY_TET_TET_CURVATURE_H
#define SINEW_SRC_ENERGY_TET_TET_CURVATURE_H

#include "energy/curvature.h"
#include "energy/tet/tet.h"

typedef struct tet_second {
    wide norm, volume, swell, rise;
    wide P[9];
} tet_second;

/* l[a] = rest gradient of the shape function of vertex a, for all four vertices of a tet. */
KERNEL_INLINE void tet_rest_gradients(const wide lower[6], wide l[4][3])
{
    const wide zero = wide_set(0);
    const wide rows[3][3] = {{lower[0], zero, zero}, {lower[1], lower[2], zero}, {lower[3], lower[4], lower[5]}};
    for (int j = 0; j < 3; j++) {
        l[0][j] = -(rows[0][j] + rows[1][j] + rows[2][j]);
        for (int a = 0; a < 3; a++)
            l[a + 1][j] = rows[a][j];
    }
}

/* 3x3 block d2J/dx_a dx_b of J = det F: entry (i, j) is sum_k eps_ijk (F (l_a x l_b))_k. */
KERNEL_INLINE void tet_volume_block(const wide F[9], const wide la[3], const wide lb[3], wide block[9])
{
    const wide n[3] = {la[1] * lb[2] - la[2] * lb[1], la[2] * lb[0] - la[0] * lb[2], la[0] * lb[1] - la[1] * lb[0]};
    const wide zero = wide_set(0),
               w[3] = {F[0] * n[0] + F[1] * n[1] + F[2] * n[2], F[3] * n[0] + F[4] * n[1] + F[5] * n[2],
                       F[6] * n[0] + F[7] * n[1] + F[8] * n[2]};
    const wide entries[9] = {zero, w[2], -w[1], -w[2], zero, w[0], w[1], -w[0], zero};
    memcpy(block, entries, sizeof entries);
}

/* out = M l, a row-major 3x3 matrix times a vector */
KERNEL_INLINE void tet_apply(const wide M[9], const wide l[3], wide out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = M[3 * i] * l[0] + M[3 * i + 1] * l[1] + M[3 * i + 2] * l[2];
}

KERNEL_INLINE void tet_curvature_write(const sinew_jacobian_kernel *kernel, int32_t group, const wide F[9],
                                       const wide lower[6], const tet_second *s)
{
    sinew_real *blocks = curvature_blocks(kernel, group, 4);
    wide l[4][3], cofactor[9], J[4][3], p[4][3];
    tet_rest_gradients(lower, l);
    cofactor3(F, cofactor);
    for (int a = 0; a < 4; a++) {
        tet_apply(cofactor, l[a], J[a]);
        tet_apply(s->P, l[a], p[a]);
    }
    for (int a = 0; a < 4; a++)
        for (int b = 0; b <= a; b++) {
            const wide norm = s->norm * dot3(l[a], l[b]);
            wide block[9];
            tet_volume_block(F, l[a], l[b], block);
            for (int i = 0; i < 9; i++)
                wide_store(blocks + (block_index(a, b) * 9 + i) * SIMD_WIDTH,
                           (i % 4 == 0 ? norm : wide_set(0)) + s->volume * block[i] +
                               s->swell * J[a][i / 3] * J[b][i % 3] + s->rise * p[a][i / 3] * p[b][i % 3]);
        }
}

#endif
