/* SPDX-License-Identifier: MIT
 *
 * elimination_order.h: the elimination order of the unknowns of a saddle-point system (saddle_system.h).
 *
 * Hard constraints have a zero diagonal, so each follows the last of its particles. A compliant constraint may precede
 * its particles: its elimination adds J^T alpha^-1 J to them, the Hessian of its energy to first order, with the fill
 * of Newton's matrix. If compliant constraints follow their particles, a block of tets fills in eight times as much.
 * Digits are lost as alpha goes to zero, so the factors use at least 1e-9 of J diag(A)^-1 J^T instead of alpha.
 * Iterative refinement with the original matrix removes the difference; dependent constraints do not slow it down.
 *
 * Two orders are compared. By particles: a fill-reducing order of the graph in which a constraint joins its particles.
 * Constraints last, if A is diagonal: all particles, then a fill-reducing order of J A^-1 J^T. A hard cloth has less
 * fill with constraints last, a hub of many rods with the order by particles. The cheaper order is used
 * (linear/factor/ldl.h).
 */
#ifndef SINEW_SRC_SOLVE_KKT_ELIMINATION_ORDER_H
#define SINEW_SRC_SOLVE_KKT_ELIMINATION_ORDER_H

#include "solve/kkt/saddle_system.h"

/* Sorts keys (two indices, the first << 32 | the second) and removes duplicates; returns the number of distinct
 * keys. */
size_t sinew_saddle_sort_keys(int64_t *keys, size_t count);
/* Block row of a particle in the assembled Hessian; -1: pinned. */
static inline int32_t sinew_saddle_free_of(const sinew_saddle *s, int32_t particle)
{
    return particle < 0 ? -1 : s->assembly->free_index[particle];
}

/* Marks in saddle->early the constraints that precede their particles in the elimination order: those that are
 * compliant at the last evaluation, except global constraints, and those of overdetermined sets (overdetermined.h).
 * False: out of memory. */
bool sinew_saddle_choose_early(sinew_saddle *saddle);
/* Both number the unknowns (particle_unknown, multiplier_unknown): in the order by particles, and with constraints
 * last. */
sinew_status sinew_saddle_order_particles(sinew_saddle *saddle, sinew_error *error);
sinew_status sinew_saddle_order_constraints(sinew_saddle *saddle, sinew_error *error);
/* True if the order with constraints last is worth trying: A is diagonal, and few pairs of constraints share a
 * particle. */
bool sinew_saddle_constraints_can_be_last(const sinew_saddle *saddle);

#endif
