/* SPDX-License-Identifier: MIT
 *
 * objective_gap.h: how far above the minimum a step ended: g(q) - g(q*), q* the minimum that lies downhill from q.
 *
 * Newton's method goes down from q on a copy until nearly everything has been gained (objective_gap.c). At each of its points
 *
 *     predicted   R = grad g . H^-1 grad g / 2        what is left, if g is as quadratic as it looks from here
 *     seen        f = g(q_k) - g(q_k + d), d = -H^-1 grad g
 *
 * and the estimate is all that was seen, plus what is predicted to be left. It is given only where the last prediction
 * was confirmed by what was then seen, within AGREEMENT, and what is left is a small part; else the gap is unknown,
 * with the reason. What was seen to fall is always a lower bound. Near a minimum one step does, which costs an
 * iteration of Newton's method; far from it several.
 *
 * H is the exact Hessian where that is definite, else the one projected element by element. Small worlds factorise it;
 * in large ones conjugate gradients run until their decrease has settled, with the solver's own matrix as
 * preconditioner where it has one (newton_decrement.c).
 *
 * Limits: another valley may be lower than the one q* lies in. It is the gap of the objective whatever the solver works
 * on: hard constraints of PBD count with the stiffness of their energies.
 */
#ifndef SINEW_SRC_SOLVE_DRIVER_OBJECTIVE_GAP_H
#define SINEW_SRC_SOLVE_DRIVER_OBJECTIVE_GAP_H

#include "solve/solver.h"

typedef struct sinew_gap_estimate {
    sinew_gap_kind kind;
    double value;              /* J */
    const char *reason;        /* static text, why it is unknown; "" otherwise */
    int32_t steps;             /* of Newton's method that it took */
    int32_t linear_iterations; /* of conjugate gradients */
} sinew_gap_estimate;

/* Sets s->gap up; allocates. On failure too it is to be destroyed. */
sinew_status sinew_gap_create(sinew_solve *s, sinew_error *error);
void sinew_gap_destroy(sinew_solve *s); /* NULL is fine */
/* Whether s->gap stays right when transient elements change: in large worlds, which factorise nothing. */
bool sinew_gap_lasts(const sinew_solve *s);
/* From s->gradient and s->terms at s->q, which stay as they are. Does not allocate. */
sinew_gap_estimate sinew_gap_find(sinew_solve *s);

#endif
