/* SPDX-License-Identifier: MIT
 *
 * explicit_step.h: common code of the explicit integrators (explicit_euler.c, symplectic_euler.c): the new velocity
 * from the forces at the start,
 *
 *     v+ = w + h M^-1 (f_ext - grad psi(q_n)),    w = exp(-damping h) v_n
 *
 * with pins, targets and loads at their values of the end of the step, as in every solver. The integrators differ in
 * the velocity that moves the positions: w or v+. A step has one evaluation of forces, no linear system and no
 * iterations.
 *
 * v+ is the sum of v_n and forces, not (q - q_n) / h: linear momentum is conserved to the round-off of v for any h.
 */
#ifndef SINEW_SRC_SOLVE_EXPLICIT_EXPLICIT_STEP_H
#define SINEW_SRC_SOLVE_EXPLICIT_EXPLICIT_STEP_H

#include "solve/solver.h"

/* Changes of the world after which explicit solvers need no refresh, because a step reads all data at its start.
 * SINEW_CHANGED_TRANSIENT is excluded: contacts change within a step, which an explicit step would miss. */
#define SINEW_EXPLICIT_REFRESHES                                                                                       \
    (SINEW_CHANGED_DATA | SINEW_CHANGED_SWITCHED | SINEW_CHANGED_TIME_STEP | SINEW_CHANGED_PINS)

sinew_status sinew_explicit_prepare(sinew_solve *s, sinew_error *error);
void sinew_explicit_release(sinew_solve *s);
void sinew_explicit_begin(sinew_solve *s);
/* Solver operations that both explicit integrators share. */
#define SINEW_EXPLICIT_OPS                                                                                             \
    .prepare = sinew_explicit_prepare, .release = sinew_explicit_release, .refreshes = SINEW_EXPLICIT_REFRESHES,       \
    .coupled = true, .one_iteration = true, .begin = sinew_explicit_begin

/* True if a mode of frequency omega (rad/s) does not grow in a time step h (s). */
typedef bool sinew_stable_at(double h, double omega, double damping);
/* The largest stable time step h (s) between `low`, which is stable, and `high`, which is not, by bisection. */
double sinew_explicit_last_stable(sinew_stable_at *stable, double low, double high, double omega, double damping);

/* Takes the explicit step: q+ = q_n + h v+ (`new_velocity`) or q_n + h w; pins are at their targets. Returns
 * SINEW_STEP_NOT_FINITE if a velocity is not finite, else 0. */
uint32_t sinew_explicit_iterate(sinew_solve *s, bool new_velocity);

#endif
