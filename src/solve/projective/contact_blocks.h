/* SPDX-License-Identifier: MIT
 *
 * contact_blocks.h: contacts beside a constant matrix (global_system.h), as blocks of second derivatives:
 *
 *     C = sum_c  (w w^T) (x) K_c,   K_c = psi''(z) of contact c where the iterate is        (contact.c)
 *
 * K_c is k n n^T across a contact that slides and k 1 in one that sticks, so S + C is no scalar matrix: systems with it
 * are left to conjugate gradients with the unchanged factor of S for preconditioner. (In S isotropically, as other
 * transient elements are, contacts would also hold what may slide: measured 610 iterations in place of tens.)
 */
#ifndef SINEW_SRC_SOLVE_PROJECTIVE_CONTACT_BLOCKS_H
#define SINEW_SRC_SOLVE_PROJECTIVE_CONTACT_BLOCKS_H

#include "energy/contact_data.h"
#include "objective/objective.h"

typedef struct sinew_beside_row {
    int32_t particle[SINEW_CONTACT_VERTICES]; /* -1: pinned, or not used */
    double w[SINEW_CONTACT_VERTICES];
    double K[6]; /* 00 11 22 01 02 12 */
} sinew_beside_row;

typedef struct sinew_beside {
    int32_t count;
    sinew_beside_row *rows; /* [count] those with a K */
    sinew_real *tangent;    /* of one chunk, with its points twice: places, forces */
    size_t row_room, tangent_room;
} sinew_beside;

/* Whether the objective has contacts. */
bool sinew_beside_any(const sinew_objective *objective);
/* Room for all contacts that there are; false without memory. */
bool sinew_beside_reserve(sinew_beside *beside, const sinew_objective *objective);
/* Takes K where q is. */
void sinew_beside_linearise(sinew_beside *beside, const sinew_objective *objective, const sinew_real *q);
/* J: of the contacts at q [particle_count][4] */
double sinew_beside_value(const sinew_beside *beside, const sinew_objective *objective, const sinew_real *q);
/* gradient [particle_count][4] -= that of the contacts at q, at the free particles. Returns their value. */
double sinew_beside_take_away(const sinew_beside *beside, const sinew_objective *objective, const sinew_real *q,
                              sinew_real *gradient);
/* Ax += C x at the free particles; both [particle_count][4] */
void sinew_beside_add(const sinew_beside *beside, const sinew_real *x, sinew_real *Ax);
void sinew_beside_release(sinew_beside *beside, const sinew_objective *objective);

#endif
