/* SPDX-License-Identifier: MIT
 *
 * stability.h: the highest frequency of small motions about a state, which decides whether explicit integrators are
 * stable (sinew_world_stability): omega^2 is the largest eigenvalue of M^-1 K, K the second derivatives of the energies
 * over the free particles, not projected.
 *
 * Lanczos' method on M^(-1/2) K M^(-1/2), from fixed noise, until the largest eigenvalue of the tridiagonal matrix
 * converges, from below (Golub and Van Loan, Matrix Computations, 4th ed., 10.1). The method finds this end of the
 * spectrum first, and lost orthogonality only duplicates it: no vectors are stored. K may have negative eigenvalues at
 * unstable states; they do not matter.
 */
#ifndef SINEW_SRC_SOLVE_EXPLICIT_STABILITY_H
#define SINEW_SRC_SOLVE_EXPLICIT_STABILITY_H

#include "objective/objective.h"

typedef struct sinew_fastest {
    double square;    /* 1/s2: largest eigenvalue omega^2; 0 if no eigenvalue is positive */
    int32_t products; /* number of products with K */
} sinew_fastest;

/* Estimates the highest frequency at q [particle_count][4]. Allocates work space and frees it again. */
sinew_status sinew_fastest_find(const sinew_objective *objective, const sinew_real *q, sinew_fastest *fastest,
                                sinew_error *error);

#endif
