/* SPDX-License-Identifier: MIT
 *
 * contact_global_step.h: the global step of a splitting method with contacts. Contacts are not split: their energy
 * remains a function of q.
 *
 *     d = argmin  1/2 d . S d - b . d + psi_c(q + d)
 *
 * S is the constant matrix (global_system.h), b the right-hand side of local step and inertia, psi_c the energy of
 * contacts, convex for fixed multipliers. Newton's method with the contact blocks (contact_blocks.h) computes d. Its
 * line search evaluates only the function above, which needs no solve and no element other than contacts.
 */
#ifndef SINEW_SRC_SOLVE_PROJECTIVE_CONTACT_GLOBAL_STEP_H
#define SINEW_SRC_SOLVE_PROJECTIVE_CONTACT_GLOBAL_STEP_H

#include "solve/projective/global_system.h"

typedef struct sinew_contact_global_step {
    /* [particle_count][4] vectors of Newton's method: trial positions, b - S d, minus gradient, direction p, S p (S:
     * global matrix); all NULL before the first contact */
    sinew_real *x, *r, *t, *p, *Sp;
} sinew_contact_global_step;

/* Allocates vectors on the first contact and keeps them. Returns false if out of memory. */
bool sinew_contact_global_step_reserve(sinew_contact_global_step *step, const sinew_global *global,
                                       const sinew_objective *objective);
/* Computes the increment d of the global step with contacts, and sets b to S d (S: global matrix) unless b and d are
 * the same array; all [particle_count][4]. */
void sinew_contact_global_step_solve(sinew_contact_global_step *step, sinew_global *global,
                                     const sinew_objective *objective, const sinew_real *q, sinew_real *b,
                                     sinew_real *d);
void sinew_contact_global_step_release(sinew_contact_global_step *step, const sinew_objective *objective);

#endif
