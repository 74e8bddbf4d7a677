/* SPDX-License-Identifier: MIT
 *
 * example_shapes.h: the stretches of example shapes, E = S - 1 with the symmetric stretch S, stored as 00 11 22 01 02
 * 12. The energy of each element blends the stretches (tet/examples.c), and so does the fit of one blend to a body
 * (world/elements/example_shapes.c).
 */
#ifndef SINEW_SRC_ENERGY_EXAMPLE_SHAPES_H
#define SINEW_SRC_ENERGY_EXAMPLE_SHAPES_H

#include <string.h>

#include "energy/energy.h"

#ifdef SINEW_SINGLE
/* squared norm of strain below which an example shape counts as a combination of earlier ones */
#define EXAMPLE_SAME 1e-6
#else
#define EXAMPLE_SAME 1e-12
#endif

/* a : b, the inner product of two symmetric 3x3 matrices stored as 00 11 22 01 02 12. */
static inline double example_dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + 2 * (a[3] * b[3] + a[4] * b[4] + a[5] * b[5]);
}

/* Sets example shapes to zero that are nearly zero or linear combinations of earlier ones: their blending weights would
 * not be unique. */
static inline void example_drop_dependent(double E[SINEW_EXAMPLE_MAX][6])
{
    double left[SINEW_EXAMPLE_MAX][6];
    memcpy(left, E, sizeof left);
    for (int i = 0; i < SINEW_EXAMPLE_MAX; i++) {
        for (int j = 0; j < i; j++) {
            const double size = example_dot(left[j], left[j]), along = example_dot(left[i], left[j]);
            for (int k = 0; size > 0 && k < 6; k++)
                left[i][k] -= along / size * left[j][k];
        }
        if (example_dot(left[i], left[i]) > EXAMPLE_SAME)
            continue;
        memset(left[i], 0, sizeof left[i]);
        memset(E[i], 0, sizeof E[i]);
    }
}

#endif
