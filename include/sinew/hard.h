/* SPDX-License-Identifier: MIT
 *
 * hard.h: violation of the constraints of hard energies (sinew_energy_def.hard).
 */
#ifndef SINEW_HARD_H
#define SINEW_HARD_H

#include "sinew/sinew.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the largest violation |C| over the constraints of all hard energies at the current positions: m for
 * lengths, dimensionless for deformation gradients. 0: no hard energies. NaN: the world cannot be prepared, or a
 * hard energy does not provide its constraint values. May allocate, like sinew_world_prepare(). */
SINEW_API double sinew_world_violation(sinew_world *world);

#ifdef __cplusplus
}
#endif

#endif
