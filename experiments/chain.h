/* SPDX-License-Identifier: MIT
 *
 * chain.h: particles on a line of springs, or of constraints, held at the first: what the experiments on integrators
 * and constraints swing.
 */
#ifndef SINEW_EXPERIMENTS_CHAIN_H
#define SINEW_EXPERIMENTS_CHAIN_H

#include "experiments.h"

typedef struct chain_def {
    int32_t vertices;    /* >= 2, evenly along the way from the origin to `to` */
    double to[3];        /* m, at rest */
    const double *start; /* m [3]: where the last particle begins, of two; NULL: at rest */
    double mass;         /* kg of each particle, half of it at both ends of a longer chain */
    double stiffness;    /* N/m */
    bool hard;           /* constraints in place of springs, for solvers that take them */
    bool quasistatic;
    double gravity; /* m/s2, downwards along y */
    double h;       /* s */
    sinew_solver_def solver;
} chain_def;

/* One particle of 1 kg, 1 m from where it is held along x, without gravity, by symplectic Euler. */
chain_def chain_default(void);
/* Returns NULL, with the error set, on failure. */
sinew_world *chain_make(const chain_def *def, sinew_error *error);
/* Where the last particle is, and how fast. */
void chain_end(const sinew_world *world, double q[3], double v[3]);
/* The largest |l - L| / L of all pieces. */
double chain_stretch(const sinew_world *world);
/* Names of the status bits of unsolved steps, or "solved". */
const char *chain_status(uint32_t bits);
/* Says in the outcome why it cannot go on; false. */
bool chain_fail(outcome *o, const sinew_error *error);

#endif
