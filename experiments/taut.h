/* SPDX-License-Identifier: MIT
 *
 * taut.h: sideways motion of what hangs straight under tension, M y'' = -K y with tridiagonal M and K, and what a step
 * of stable constrained dynamics does to its modes, x = h omega:
 *
 *     without geometric stiffness: symplectic Euler, bounded for x < 2, beyond it grows by x^2/2 - 1 + ((x^2/2 - 1)^2 -
 * 1)^1/2 with it: implicit Euler, falls by (1 + x^2)^-1/2, for every x
 */
#ifndef SINEW_EXPERIMENTS_TAUT_H
#define SINEW_EXPERIMENTS_TAUT_H

#include "experiments.h"

/* Tridiagonal, symmetric: [count] on the diagonals, [count - 1] beside them (K_1 of i and i + 1). */
typedef struct taut_system {
    int32_t count;
    const double *K, *K_1, *M, *M_1;
} taut_system;

/* 1/s: omega of mode k, from 0, slowest first. */
double taut_mode(const taut_system *s, int32_t k);
/* Factor of the amplitude a step. */
double taut_factor(double x, bool geometric);
/* The same as measured: slope of ln E over the latter half of the steps in which E stays above `least` and, after the
 * second, below `most`, when one mode has outgrown or outlived the others. energy [steps + 1]. */
double taut_fit(const double *energy, int32_t steps, double min, double max);

#endif
