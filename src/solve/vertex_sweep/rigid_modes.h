/* SPDX-License-Identifier: MIT
 *
 * rigid_modes.h: moves each free connected component towards the minimum of g over its rigid motions.
 *
 * A component of two or more particles is free if no particle is pinned and no energy fixes its position. A rigid
 * motion then changes its inertia term alone, and the best motion has a closed form (Mueller et al. 2005, shape
 * matching):
 *
 *     min over c, R of  sum m/(2 h^2) |R (q - centre of q) + c - q_tilde|^2:
 *     c = centre of mass of q_tilde
 *     R = rotation in the polar decomposition of A = sum m (q_tilde - its centre) (q - its centre)^T
 *
 * The code takes one Newton step for R per call. At the minimum the linear momentum of the component changes by h times
 * its forces, and the angular momentum as at the minimum of g. Vertex sweeps reduce errors of rigid motions slowly,
 * because inertia is negligible at a node of a stiff body. Components with contacts minimise inertia and contact energy
 * together (rigid_modes_contacts.h).
 */
#ifndef SINEW_SRC_SOLVE_VERTEX_SWEEP_RIGID_MODES_H
#define SINEW_SRC_SOLVE_VERTEX_SWEEP_RIGID_MODES_H

#include "objective/objective.h"
#include "solve/vertex_sweep/rigid_modes_contacts.h"

typedef struct sinew_rigid {
    const sinew_objective *objective;
    int32_t component_count;  /* number of free components with several particles and without contacts */
    int32_t contacting_count; /* number of components that are free except for contacts; stored after the free ones */
    int32_t
        *first; /* [component_count + contacting_count + 1] index in `particle` of each component's first particle */
    int32_t
        *particle;  /* [particle_count] particles by component, ascending; particles of no free component come last */
    uint8_t *turns; /* [component_count + contacting_count] 1: rotations change no energy of the component */
    /* [particle_count] each: component of each particle by fixed energies; work space: component by all energies, index
     * in `particle` */
    int32_t *fixed_component, *component, *slot;
    uint64_t forms;    /* sum of form_version over the fixed tasks when fixed_component was found */
    bool all_weighted; /* true: all fixed elements had nonzero weights when `forms` was computed */
    /* [particle_count] SINEW_COSTS_ bits: rigid motions that the fixed energies, and that all energies, at a
     * particle resist */
    uint8_t *fixed_costs, *costs;
    sinew_rigid_contacts contacts;
} sinew_rigid;

/* Finds the free components. Allocates; the objective must be built and its pins set. rest: [particle_count][4]. A
 * quasistatic world has no free components, because these have no equilibrium. */
sinew_status sinew_rigid_create(sinew_rigid *rigid, const sinew_objective *objective, const sinew_real *rest,
                                sinew_error *error);
/* Finds free components again after a change of transient elements or, with `fixed`, of data or switches of fixed
 * elements. */
sinew_status sinew_rigid_refresh(sinew_rigid *rigid, const sinew_real *rest, bool fixed, sinew_error *error);
void sinew_rigid_destroy(sinew_rigid *rigid); /* frees the lists of components; accepts a zeroed struct */
/* Moves free components and components in contact rigidly, so that g does not increase, up to round-off; q
 * [particle_count][4]. */
void sinew_rigid_move(const sinew_rigid *rigid, sinew_real *q);
/* v [particle_count][4] = (q - q_n) / h with q_n = q_start. Velocities of free components without contacts are also
 * corrected for the momentum lost by rounding of positions: single precision resolves a position to 1e-7 of its
 * distance from the origin, a large error over h. */
void sinew_rigid_velocities(const sinew_rigid *rigid, const sinew_real *q_start, const sinew_real *q, sinew_real *v);

#endif
