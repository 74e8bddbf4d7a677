/* SPDX-License-Identifier: MIT
 *
 * contact_global_step.h: the global step of a splitting method where bodies touch. Contacts are not split; they stay what they
 * are, functions of q:
 *
 *     d = argmin  1/2 d . S d - b . d + psi_c(q + d)
 *
 * S is the constant matrix (global_system.h), b what the local step and inertia ask for, psi_c the contacts, convex while
 * their numbers stand. Newton's method with the contacts' blocks (contact_blocks.h), and a line search on this function, which
 * costs no solve and no element.
 */
#ifndef SINEW_SRC_SOLVE_PROJECTIVE_CONTACT_GLOBAL_STEP_H
#define SINEW_SRC_SOLVE_PROJECTIVE_CONTACT_GLOBAL_STEP_H

#include "solve/projective/global_system.h"

typedef struct sinew_touch_step {
    sinew_real *x, *r, *t, *p, *Sp; /* [particle_count][4]; all or none */
} sinew_touch_step;

/* Room where something touches; it stays. False without memory. */
bool sinew_touch_step_reserve(sinew_touch_step *step, const sinew_global *global, const sinew_objective *objective);
/* Finds d and leaves S d in b, unless b is d; all [particle_count][4]. */
void sinew_touch_step_solve(sinew_touch_step *step, sinew_global *global, const sinew_objective *objective,
                            const sinew_real *q, sinew_real *b, sinew_real *d);
void sinew_touch_step_release(sinew_touch_step *step, const sinew_objective *objective);

#endif
