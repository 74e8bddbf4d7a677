/* SPDX-License-Identifier: MIT
 *
 * stability.h: the fastest of the small motions about a state, which decides whether explicit integrators are stable
 * (sinew_world_stability): omega^2 is the largest eigenvalue of M^-1 K, K the second derivatives of the energies over
 * the free particles, not projected.
 *
 * Lanczos' method on M^(-1/2) K M^(-1/2), from noise that is the same each time, until the largest eigenvalue of the
 * tridiagonal matrix, which tends to the one looked for from below, settles (Golub and Van Loan, Matrix Computations,
 * 4th ed., 10.1). That is the end of the spectrum which the method finds first, and lost orthogonality only repeats it:
 * no vectors are kept. K may have negative eigenvalues, of states that give way by themselves; they play no part.
 */
#ifndef SINEW_SRC_SOLVE_EXPLICIT_STABILITY_H
#define SINEW_SRC_SOLVE_EXPLICIT_STABILITY_H

#include "objective/objective.h"

typedef struct sinew_fastest {
    double square;    /* 1/s2: the largest eigenvalue; 0 where none is positive */
    int32_t products; /* with K */
} sinew_fastest;

/* At q [particle_count][4]. Allocates, and gives all back. */
sinew_status sinew_fastest_find(const sinew_objective *objective, const sinew_real *q, sinew_fastest *fastest,
                                sinew_error *error);

#endif
