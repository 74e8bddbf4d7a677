/* SPDX-License-Identifier: MIT
 *
 * hard.h: how well the constraints of hard energies (sinew_energy_def.hard) hold.
 */
#ifndef SINEW_HARD_H
#define SINEW_HARD_H

#include "sinew/sinew.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The largest |C| over all hard energies at the current positions: m for lengths, 1 for deformation gradients. 0
 * without hard energies. NaN if the world cannot be prepared or a hard energy does not provide its constraints as
 * numbers. May allocate, like sinew_world_prepare(). */
SINEW_API double sinew_world_violation(sinew_world *world);

#ifdef __cplusplus
}
#endif

#endif
