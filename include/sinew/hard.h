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

/* The largest |C| of all hard energies where the particles are now: m for lengths, 1 for deformation gradients. 0
 * without such energies; NaN where it cannot be known: a world that cannot be prepared, an energy that does not tell
 * its constraints as numbers. May allocate, as sinew_world_prepare(). */
SINEW_API double sinew_world_violation(sinew_world *world);

#ifdef __cplusplus
}
#endif

#endif
