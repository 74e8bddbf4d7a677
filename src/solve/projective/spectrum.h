/* SPDX-License-Identifier: MIT
 *
 * spectrum.h: how far the constant matrix S of a projective method is from the Hessian H of the objective: the extreme
 * eigenvalues of S^-1 H at a given shape, where S = M/h^2 + sum k D^T D (global_system.h).
 *
 * The smallest, m, is that of the mode in which the body turns most and strains least: bending and twisting of what is
 * long and thin. A PD iteration leaves 1 - m of it. The largest is 1 where psi = k/2 |z - proj z|^2.
 *
 * Lanczos' method, written as conjugate gradients on H x = b with S for preconditioner: their coefficients are a
 * tridiagonal matrix whose extreme eigenvalues tend to those looked for from inside (Golub and Van Loan, Matrix
 * Computations, 4th ed., 10.2, 11.3). b is noise that is the same each time.
 */
#ifndef SINEW_SRC_SOLVE_PROJECTIVE_SPECTRUM_H
#define SINEW_SRC_SOLVE_PROJECTIVE_SPECTRUM_H

#include "solve/projective/global_system.h"

typedef struct sinew_spectrum {
    double low, high;
} sinew_spectrum;

/* At q, with indefinite elements' Hessians projected. Allocates, and gives all back. */
sinew_status sinew_spectrum_find(sinew_objective *objective, sinew_global *global, const sinew_real *q,
                                 sinew_spectrum *spectrum, sinew_error *error);
/* r [particle_count][4] = noise between -1 and 1 at the free particles, the same each time: what Lanczos begins with.
 */
void sinew_spectrum_noise(const sinew_objective *objective, sinew_real *r);

#endif
