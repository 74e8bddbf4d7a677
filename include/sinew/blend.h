/* SPDX-License-Identifier: MIT
 *
 * blend.h: one blend of example shapes for a whole body (the energy `examples`; Bouaziz et al. 2014, (17), (18), (27)
 * with w global), which follows the body's deformation.
 *
 *     w = argmin_w  sum_e k_e V_e min_R |F_e - R (1 + sum_i w_i E_i)|^2
 *
 * Between steps: fit w to the body where it is, and give it to the energy. A step with w given lowers the objective
 * over the positions, the fit lowers it over w, so that by turns they come to a minimum of both. At the best w the
 * gradient of the fitted energy is that with w given. A step itself keeps the w that it began with.
 */
#ifndef SINEW_BLEND_H
#define SINEW_BLEND_H

#include "sinew/sinew.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The best w for the particles where they are now, found by turns with the rotations, from the best of a few starts;
 * weights [SINEW_EXAMPLE_MAX], 0 for shapes that are not there or are blends of others. Changes nothing. Refuses
 * energies of other kinds and without examples. */
SINEW_API sinew_status sinew_energy_fit_blend(const sinew_world *world, sinew_energy energy, double *weights,
                                              sinew_error *error);
/* The same, and the energy takes it as weight_1, weight_2, weight_3; refuses energies whose `weights` are not given.
 * Costs what sinew_energy_set_parameter() costs. weights may be NULL. */
SINEW_API sinew_status sinew_energy_follow_blend(sinew_world *world, sinew_energy energy, double *weights,
                                                 sinew_error *error);

#ifdef __cplusplus
}
#endif

#endif
