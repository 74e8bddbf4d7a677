/* SPDX-License-Identifier: MIT
 *
 * blend.h: one blend of example shapes for a whole body (the energy `examples`; Bouaziz et al. 2014, (17), (18), (27)
 * with w global), which follows the body's deformation.
 *
 *     w = argmin_w  sum_e k_e V_e min_R |F_e - R (1 + sum_i w_i E_i)|^2
 *
 * The sum is over the elements e with stiffness k_e, volume V_e and deformation gradient F_e; R is a rotation, and E_i
 * comes from example i.
 *
 * Between steps, fit w to the current positions and set it on the energy. A step with given w lowers the objective over
 * the positions, a fit lowers the energy over w; quasistatic steps and fits in turn approach a minimum over both. At
 * the best w the gradient of the fitted energy equals the gradient with w given. A step does not change w.
 */
#ifndef SINEW_BLEND_H
#define SINEW_BLEND_H

#include "sinew/sinew.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Computes w for the current positions by alternating between w and the rotations, from the best of several starts.
 * weights [SINEW_EXAMPLE_MAX] is 0 for examples that are missing or linearly dependent. Does not change the world.
 * Fails for energies of other kinds and without examples. */
SINEW_API sinew_status sinew_energy_fit_blend(const sinew_world *world, sinew_energy energy, double *weights,
                                              sinew_error *error);
/* Fits the blend and sets w as weight_1, weight_2, weight_3 of the energy. Fails for energies whose `weights` are not
 * given. Costs as much as sinew_energy_set_parameter(). weights may be NULL. */
SINEW_API sinew_status sinew_energy_follow_blend(sinew_world *world, sinew_energy energy, double *weights,
                                                 sinew_error *error);

#ifdef __cplusplus
}
#endif

#endif
