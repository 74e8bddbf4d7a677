/* SPDX-License-Identifier: MIT
 *
 * explicit_step.h: what the explicit integrators (explicit_euler.c, symplectic_euler.c) share: the new
 * velocity from the forces that the step begins with,
 *
 *     v+ = w + h M^-1 (f_ext - grad psi(q_n)),    w = exp(-damping h) v_n
 *
 * q_n with what is prescribed (pins, targets, loads) where it is at the end of the step, as in every solver. They
 * differ in the velocity that moves the positions: w or v+. One evaluation a step, no system, no iterations.
 *
 * v+ is summed from v_n and forces, not found as (q - q_n) / h: linear momentum is kept to the round-off of v, however
 * small h is.
 */
#ifndef SINEW_SRC_SOLVE_EXPLICIT_EXPLICIT_STEP_H
#define SINEW_SRC_SOLVE_EXPLICIT_EXPLICIT_STEP_H

#include "solve/solver.h"

/* Changes that need nothing, as a step reads all that it needs when it begins. TRANSIENT is not one of them: contacts
 * come and go within a step, and an explicit one would not see them. */
#define SINEW_EXPLICIT_REFRESHES                                                                                       \
    (SINEW_CHANGED_DATA | SINEW_CHANGED_SWITCHED | SINEW_CHANGED_TIME_STEP | SINEW_CHANGED_PINS)

sinew_status sinew_explicit_prepare(sinew_solve *s, sinew_error *error);
void sinew_explicit_release(sinew_solve *s);
void sinew_explicit_begin(sinew_solve *s);
/* The slots in which they do not differ. */
#define SINEW_EXPLICIT_OPS                                                                                             \
    .prepare = sinew_explicit_prepare, .release = sinew_explicit_release, .refreshes = SINEW_EXPLICIT_REFRESHES,       \
    .one_iteration = true, .begin = sinew_explicit_begin

/* Whether a motion of frequency omega does not grow in a step of h. */
typedef bool sinew_stable_at(double h, double omega, double damping);
/* The largest h (s) between two of which the first is stable and the second is not, by halving. */
double sinew_explicit_last_stable(sinew_stable_at *stable, double low, double high, double omega, double damping);

/* Makes the step: q+ = q_n + h v+ (`new_velocity`) or q_n + h w; pins are at their places. */
uint32_t sinew_explicit_iterate(sinew_solve *s, bool new_velocity);

#endif
