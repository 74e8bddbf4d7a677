/* SPDX-License-Identifier: MIT
 *
 * chain.h: a chain of particles joined by springs or by hard constraints, pinned at the first particle. The experiments
 * on integrators and constraints share it.
 */
#ifndef SINEW_EXPERIMENTS_CHAIN_H
#define SINEW_EXPERIMENTS_CHAIN_H

#include "experiments.h"

typedef struct chain_def {
    int32_t vertices;    /* number of particles, >= 2, evenly spaced from the origin to `to` */
    double to[3];        /* position of the chain's last particle at rest, in m */
    const double *start; /* [3] initial position in m of the last of two particles; NULL: `to` */
    /* Mass in kg of each particle; in chains of more than two particles both ends have half of it. */
    double mass;
    double stiffness; /* stiffness of the springs of the chain, in N/m */
    bool hard;        /* true: hard constraints instead of springs, for solvers that support them */
    bool quasistatic;
    double gravity; /* acceleration of gravity in m/s2, downwards along y */
    double h;       /* time step of the chain's world, in s */
    sinew_solver_def solver;
} chain_def;

/* Default chain: one particle of 1 kg, 1 m along x from its pin, without gravity, by symplectic Euler. */
chain_def chain_default(void);
/* Creates the world of a chain. Returns NULL, with the error set, on failure. */
sinew_world *chain_make(const chain_def *def, sinew_error *error);
/* Computes position (m) and velocity (m/s) of the chain's last particle. */
void chain_end(const sinew_world *world, double q[3], double v[3]);
/* Returns the largest relative stretch |l - L| / L of all links of the chain. */
double chain_stretch(const sinew_world *world);
/* Returns the names of the status bits of unsolved steps, or "solved". */
const char *chain_status(uint32_t bits);
/* Copies the error of a chain to the outcome's failure. Returns false. */
bool chain_fail(outcome *o, const sinew_error *error);

#endif
