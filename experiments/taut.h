/* SPDX-License-Identifier: MIT
 *
 * taut.h: small sideways motion of a straight hanging chain under tension, M y'' = -K y with tridiagonal M and K, and
 * the effect of a step of stable constrained dynamics on its modes, x = h omega:
 *
 *     without geometric stiffness: symplectic Euler, bounded for x < 2;
 *                                  beyond it grows by x^2/2 - 1 + ((x^2/2 - 1)^2 - 1)^1/2
 *     with it:                     implicit Euler, falls by (1 + x^2)^-1/2 for every x
 */
#ifndef SINEW_EXPERIMENTS_TAUT_H
#define SINEW_EXPERIMENTS_TAUT_H

#include "experiments.h"

/* Symmetric tridiagonal matrices K and M: [count] on the diagonals, [count - 1] beside them (K_1[i] couples i and i +
 * 1). */
typedef struct taut_system {
    int32_t count;
    const double *K, *K_1, *M, *M_1;
} taut_system;

/* Angular frequency omega in 1/s of mode k, counted from 0, slowest first. */
double taut_mode(const taut_system *s, int32_t k);
/* Predicted factor of a mode's amplitude per step, x = h omega. */
double taut_factor(double x, bool geometric);
/* Measured factor of the chain's amplitude per step, from the slope of ln E. The fit covers the second half of the
 * steps in which E stays above `min` and, after the second step, below `max`. By then one mode dominates. energy
 * [steps + 1]. */
double taut_fit(const double *energy, int32_t steps, double min, double max);

#endif
