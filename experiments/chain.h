/* SPDX-License-Identifier: MIT
 *
 * chain.h: a chain of particles joined by springs or by hard constraints, pinned at the first particle. The experiments
 * on integrators and constraints share it.
 */
#ifndef SINEW_EXPERIMENTS_CHAIN_H
#define SINEW_EXPERIMENTS_CHAIN_H

#include "experiments.h"

typedef struct chain_def {
    int32_t vertices;    /* >= 2, evenly spaced from the origin to `to` */
    double to[3];        /* m, at rest */
    const double *start; /* m [3]: initial position of the last of two particles; NULL: `to` */
    double mass;         /* kg of each particle; in chains of more than two particles both ends have half of it */
    double stiffness;    /* N/m */
    bool hard;           /* hard constraints instead of springs, for solvers that support them */
    bool quasistatic;
    double gravity; /* m/s2, downwards along y */
    double h;       /* s */
    sinew_solver_def solver;
} chain_def;

/* One particle of 1 kg, 1 m along x from its pin, without gravity, by symplectic Euler. */
chain_def chain_default(void);
/* Returns NULL, with the error set, on failure. */
sinew_world *chain_make(const chain_def *def, sinew_error *error);
/* Position and velocity of the last particle. */
void chain_end(const sinew_world *world, double q[3], double v[3]);
/* The largest |l - L| / L of all links. */
double chain_stretch(const sinew_world *world);
/* Names of the status bits of unsolved steps, or "solved". */
const char *chain_status(uint32_t bits);
/* Copies the error to the outcome's failure. Returns false. */
bool chain_fail(outcome *o, const sinew_error *error);

#endif
