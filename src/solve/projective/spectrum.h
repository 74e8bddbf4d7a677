/* SPDX-License-Identifier: MIT
 *
 * spectrum.h: the extreme eigenvalues of S^-1 H at a given shape, a measure of how far the constant matrix S = M/h^2 +
 * sum k D^T D of a projective method (global_system.h) is from the Hessian H of the objective.
 *
 * The smallest eigenvalue, m, belongs to the mode with most rotation and least strain: bending and twisting of slender
 * bodies. A PD iteration multiplies the error in this mode by 1 - m. The largest eigenvalue is 1 if psi = k/2 |z - proj
 * z|^2.
 *
 * Lanczos' method runs as conjugate gradients on H x = b with S as preconditioner and fixed noise b
 * (sinew_pcg_lanczos()).
 */
#ifndef SINEW_SRC_SOLVE_PROJECTIVE_SPECTRUM_H
#define SINEW_SRC_SOLVE_PROJECTIVE_SPECTRUM_H

#include "solve/projective/global_system.h"

typedef struct sinew_spectrum {
    double low, high;
} sinew_spectrum;

/* Estimates the extreme eigenvalues of S^-1 H at q, with the global matrix S and the Hessian H of projected
 * elements. Work space is freed before return. */
sinew_status sinew_spectrum_find(sinew_objective *objective, sinew_global *global, const sinew_real *q,
                                 sinew_spectrum *spectrum, sinew_error *error);
/* Start vector of Lanczos' method: r [particle_count][4] = pseudo-random numbers between -1 and 1 at the free
 * particles, the same in every call. */
void sinew_spectrum_noise(const sinew_objective *objective, sinew_real *r);

#endif
