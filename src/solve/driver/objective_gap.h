/* SPDX-License-Identifier: MIT
 *
 * objective_gap.h: the optimality gap of a step: g(q) - g(q*), q* the local minimum reached by descent from q.
 *
 * Newton's method minimises g on a copy of q until the predicted remainder is at most a quarter of the decrease. At each
 * iterate q_k
 *
 *     predicted   R = grad g . H^-1 grad g / 2        remaining decrease if g is quadratic
 *     seen        f = g(q_k) - g(q_k + d), d = -H^-1 grad g
 *
 * and the estimate is the sum of observed decreases plus the predicted remainder. The estimate is valid only if the
 * observed decrease confirms the last prediction within a constant factor and the remainder is at most that fraction;
 * otherwise the gap is unknown, with the reason. Up to round-off, the observed decrease is a lower bound of the gap.
 * Near a minimum one step is enough.
 *
 * H is the exact Hessian if it is definite, else the projected one. Small worlds factorise H; later directions use
 * conjugate gradients on H at the iterate, preconditioned by this factor or by that of the solver `newton`, and another
 * factor if the iterations do not converge. Large worlds use conjugate gradients until the decrease and the length of
 * the direction have converged, preconditioned by the solver's own matrix if there is one (newton_decrement.c).
 *
 * Near round-off, slopes replace values of g, and the descent leaves a saddle along its mode of negative curvature.
 *
 * The position error is q* - q, with q* the iterate of the copy plus the last direction. Energy settles before distance
 * does: if a quarter of the energy of a mode is left, half of its distance is left. So the descent continues until the
 * last direction is at most half of the error. If the forces at the end are round-off, the error is a bound: the
 * distance that the descent finds plus a multiple of the displacement that round-off in the forces causes, which small
 * worlds measure.
 *
 * With contact, q* is the end of the step with multipliers and friction limits that have converged on the contacts of
 * the last detection pass: the descent continues with multiplier updates, and restores the data of contacts. The gap is
 * that of the objective with the multipliers of the step. The position error of a step that the step filter truncated
 * is unknown.
 *
 * Limits: another local minimum may be lower than q*. Explicit solvers, and KKT solvers with hard constraints, have no
 * gap: g alone does not measure their error. For all others it is the gap of the objective: hard constraints of PBD
 * count with the stiffness of their energies.
 */
#ifndef SINEW_SRC_SOLVE_DRIVER_OBJECTIVE_GAP_H
#define SINEW_SRC_SOLVE_DRIVER_OBJECTIVE_GAP_H

#include "solve/solver.h"

typedef struct sinew_gap_estimate {
    sinew_gap_kind kind;
    /* estimate of the gap, or an upper bound (SINEW_GAP_BELOW), in J; infinite if unknown, NaN if not measured */
    double value;
    const char *reason;        /* static text: why the gap is unknown; "" if it is known */
    int32_t steps;             /* number of Newton steps that the estimate took */
    int32_t linear_iterations; /* number of conjugate gradient iterations that the estimate took */
    double work; /* work of the estimate, in Newton iterations of this world (sinew_solve_work); 0: not measured */
    sinew_gap_kind position_kind;
    double position_max, position_rms; /* largest and root mean square position error of the free particles, in m */
    const char *position_reason;       /* static text: why the position error is unknown; "" if it is known */
    double relative; /* largest position error of a body over its size; infinite if unknown, NaN if not measured */
} sinew_gap_estimate;

/* Sets up s->gap, the work space of gap estimates; allocates. Must be destroyed after failure, too. */
sinew_status sinew_gap_create(sinew_solve *s, sinew_error *error);
void sinew_gap_destroy(sinew_solve *s); /* frees s->gap, which may be NULL */
/* True if s->gap stays valid after `changed`, which has SINEW_CHANGED_TRANSIENT: in large worlds, which have no factor,
 * and if contacts alone changed within a step. In the second case s->gap is marked, and the next estimate lays out the
 * contacts in its matrix. */
bool sinew_gap_takes_contacts(sinew_solve *s, uint32_t changed);
/* Estimates the gap from s->gradient and s->terms at s->q, which stay unchanged. Allocates only if contacts changed. */
sinew_gap_estimate sinew_gap_find(sinew_solve *s);

#endif
