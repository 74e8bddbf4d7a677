/* SPDX-License-Identifier: MIT
 *
 * spectrum.h: the distance of the constant matrix S of a projective method from the Hessian H of the objective: the
 * extreme eigenvalues of S^-1 H at a given shape, where S = M/h^2 + sum k D^T D (global_system.h).
 *
 * The smallest, m, belongs to the mode with most rotation and least strain: bending and twisting of slender bodies. A
 * PD iteration reduces it by the factor 1 - m. The largest is 1 where psi = k/2 |z - proj z|^2.
 *
 * Lanczos' method by conjugate gradients on H x = b with S for preconditioner (sinew_pcg_lanczos). b is fixed noise.
 */
#ifndef SINEW_SRC_SOLVE_PROJECTIVE_SPECTRUM_H
#define SINEW_SRC_SOLVE_PROJECTIVE_SPECTRUM_H

#include "solve/projective/global_system.h"

typedef struct sinew_spectrum {
    double low, high;
} sinew_spectrum;

/* Computes the spectrum at q with projected element Hessians. Frees all allocated memory. */
sinew_status sinew_spectrum_find(sinew_objective *objective, sinew_global *global, const sinew_real *q,
                                 sinew_spectrum *spectrum, sinew_error *error);
/* r [particle_count][4] = noise between -1 and 1 at the free particles, the same in every call: the start vector of
 * Lanczos' method.
 */
void sinew_spectrum_noise(const sinew_objective *objective, sinew_real *r);

#endif
