/* SPDX-License-Identifier: MIT
 *
 * rigid_modes.h: moves each free piece of a world, as a whole, to the minimum of g over its rigid motions.
 *
 * A piece is free when no particle of it is pinned and no energy holds it in place: then a rigid motion changes its
 * inertia alone, and the best one is known in closed form (Mueller et al. 2005, shape matching):
 *
 *     min over c, R of  sum m/(2 h^2) |R (q - centre of q) + c - q_tilde|^2:
 *     c = centre of mass of q_tilde,   R = the rotation of A = sum m (q_tilde - its centre) (q - its centre)^T
 *
 * At the minimum the linear momentum of the piece changes by h times the forces on it and the angular momentum as at
 * the minimum of g. Methods that go from node to node leave just these long waves behind: to a node of a stiff body
 * inertia hardly matters. Pieces that touch something minimise inertia and contact together (rigid_modes_contacts.h).
 */
#ifndef SINEW_SRC_SOLVE_VERTEX_SWEEP_RIGID_MODES_H
#define SINEW_SRC_SOLVE_VERTEX_SWEEP_RIGID_MODES_H

#include "objective/objective.h"
#include "solve/vertex_sweep/rigid_modes_contacts.h"

typedef struct sinew_rigid {
    const sinew_objective *objective;
    int32_t piece_count;    /* free ones of more than one particle that touch nothing */
    int32_t touching_count; /* those that are free but for contacts: they come after */
    int32_t *first;         /* [piece_count + touching_count + 1] into particle */
    int32_t *particle;      /* [particle_count] of one piece after the other, ascending, then those that are not free */
    uint8_t *turns;         /* [piece_count + touching_count] 1: no energy of the piece is changed by a rotation */
    /* [particle_count] each: as far as the fixed energies go, and work space for those of all energies. */
    int32_t *fixed_piece, *piece, *place;
    uint64_t forms;               /* sum of form_version over the fixed tasks that fixed_piece is of */
    bool all_pull;                /* every fixed element had a weight then */
    uint8_t *fixed_costs, *costs; /* SINEW_COSTS_...: rigid motions that the energies at a particle do not leave free */
    sinew_rigid_touches touches;
} sinew_rigid;

/* Allocates; the objective must be built and its pins set. rest: [particle_count][4]. A quasistatic world has no free
 * pieces: where nothing holds a piece it has no equilibrium. */
sinew_status sinew_rigid_create(sinew_rigid *rigid, const sinew_objective *objective, const sinew_real *rest,
                                sinew_error *error);
/* Finds the pieces again after transient elements have changed, or, with `fixed`, numbers or switches of fixed ones. */
sinew_status sinew_rigid_refresh(sinew_rigid *rigid, const sinew_real *rest, bool fixed, sinew_error *error);
void sinew_rigid_destroy(sinew_rigid *rigid); /* zeroed is fine */
/* Moves the free pieces of q [particle_count][4]. */
void sinew_rigid_move(const sinew_rigid *rigid, sinew_real *q);
/* v [particle_count][4] = (q - q_n) / h, q_n being q_start, and for free pieces what rounding positions has taken from
 * their momentum on top: single precision knows a position to 1e-7 of its distance from the origin, which over h is
 * much. */
void sinew_rigid_velocities(const sinew_rigid *rigid, const sinew_real *q_start, const sinew_real *q, sinew_real *v);

#endif
