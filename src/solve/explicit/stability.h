/* SPDX-License-Identifier: MIT
 *
 * stability.h: the highest frequency of small motions about a state, which decides whether explicit integrators are
 * stable (sinew_world_stability): omega^2 is the largest eigenvalue of M^-1 K. K is the unprojected Hessian of the
 * energies over the free particles.
 *
 * Lanczos' method runs on M^(-1/2) K M^(-1/2), from a fixed noise vector, until the largest eigenvalue of the
 * tridiagonal matrix converges, from below (Golub and Van Loan, Matrix Computations, 4th ed., 10.1). The method
 * converges to extreme eigenvalues first, and lost orthogonality only duplicates eigenvalues, so the Lanczos vectors
 * are not stored.
 * Negative eigenvalues of K, at unstable states, do not affect the result.
 */
#ifndef SINEW_SRC_SOLVE_EXPLICIT_STABILITY_H
#define SINEW_SRC_SOLVE_EXPLICIT_STABILITY_H

#include "objective/objective.h"

typedef struct sinew_fastest {
    double square;    /* largest eigenvalue omega^2 of M^-1 K, in 1/s^2; 0 if no eigenvalue is positive */
    int32_t products; /* number of products with the stiffness matrix K */
} sinew_fastest;

/* Estimates the highest frequency at q [particle_count][4]. Allocates work space and frees it again. */
sinew_status sinew_fastest_find(const sinew_objective *objective, const sinew_real *q, sinew_fastest *fastest,
                                sinew_error *error);

#endif
