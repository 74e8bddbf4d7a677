/* SPDX-License-Identifier: MIT
 *
 * gap.h: how far above the minimum a step ended: an estimate of g(q) - min g for every solver.
 *
 *     gap = (grad g . z)^2 / (2 z . H z),   z = A^-1 grad g,   H the Hessian of g at q
 *
 * is what the best step along -z would gain if g were quadratic. With A = H it is half of Newton's decrement squared. A
 * is the matrix that the solver has at hand (precondition in solver.h): Newton's last Hessian, the constant matrix S of
 * the projective methods. S is stiffer than H where bodies turn; but of a slow solver one slow mode is left, z is then
 * a multiple of it, and the curvature along z makes the estimate right again. H z is a difference of two gradients.
 *
 * Sweeping solvers have no matrix. For them z is a small number of conjugate gradient iterations on S (global_step.h),
 * kept as a sparse matrix with the inverse of its diagonal for preconditioner.
 *
 * A low estimate on the whole: the gain along one line, in a quadratic model. Far from the minimum, where g is not
 * quadratic, it may be high, and after a step that blew up far too low: what g has risen since the step began is part
 * of the gap, and the estimate is never less. It is the gap of the objective whatever the solver works on: hard
 * constraints of PBD count with the stiffness of their energies.
 */
#ifndef SINEW_GAP_H
#define SINEW_GAP_H

#include "solve/solver.h"

/* Sets s->gap up; allocates. On failure too it is to be destroyed. */
sinew_status sinew_gap_create(sinew_solve *s, sinew_error *error);
void sinew_gap_destroy(sinew_solve *s); /* NULL is fine */
/* J, from s->gradient and s->terms at s->q; +inf where there is none. Leaves z in s->velocity; does not allocate. */
double sinew_gap_estimate(sinew_solve *s);

#endif
