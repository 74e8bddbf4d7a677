/* SPDX-License-Identifier: MIT
 *
 * corner_volume.h: s r_0 . (r_1 x r_2) of a triangle's corners r, with its derivatives. With s = 1/6 it is the volume
 * between the triangle and the origin. It is linear in each corner, so the Hessian has no diagonal blocks and is
 * indefinite.
 */
#ifndef SINEW_SRC_ENERGY_TRIANGLE_CORNER_VOLUME_H
#define SINEW_SRC_ENERGY_TRIANGLE_CORNER_VOLUME_H

#include "energy/dense_element.h"

/* out = s (a x b), a scaled cross product */
KERNEL_INLINE void corner_cross(wide s, const wide a[3], const wide b[3], wide out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = s * (a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3]);
}

/* Returns the scaled volume s r_0 . (r_1 x r_2) of a triangle and, unless g is NULL, writes its gradient g[9]. */
KERNEL_INLINE wide corner_volume(wide s, const wide r[9], wide *g)
{
    wide up[3];
    corner_cross(s, r + 3, r + 6, up);
    for (int a = 0; g && a < 3; a++)
        corner_cross(s, r + 3 * ((a + 1) % 3), r + 3 * ((a + 2) % 3), g + 3 * a);
    return up[0] * r[0] + up[1] * r[1] + up[2] * r[2];
}

/* The lower triangle of the Hessian of s r_0 . (r_1 x r_2) (dense_element.h): the entry of r_a[i] and r_b[j] is s
 * eps_ijk r_c[k] for (a, b, c) in cyclic order. */
KERNEL_INLINE void corner_volume_second(wide s, const wide r[9], wide *H)
{
    for (int i = 0; i < DENSE_COUNT(3); i++)
        H[i] = wide_set(0);
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            const int row = 3 * a + i, up = 3 * b + j, down = 3 * b + k;
            H[row > up ? dense_at(row, up) : dense_at(up, row)] = s * r[3 * c + k];
            H[row > down ? dense_at(row, down) : dense_at(down, row)] = -s * r[3 * c + j];
        }
    }
}

#endif
