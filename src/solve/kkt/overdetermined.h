/* SPDX-License-Identifier: MIT
 *
 * overdetermined.h: sets of more hard constraints than coordinates, as of solids whose tets are all rigid (six
 * constraints a tet, about thirty a particle, which has three coordinates).
 *
 * Most constraints of such a set depend on the others. Eliminated after their particles, the constraints fill the
 * factor: a front of nested dissection has ten times as many constraints as coordinates. So constraints are eliminated
 * first, with the diagonal entry -e of the factored matrix (LIFTED of saddle_system.c), which leaves the pattern of A +
 * J^T J / e, that of the Hessian. Refinement against the matrix without e is the method of multipliers: it converges to
 * dq of the saddle-point system, if the constraints can be met to first order, and else to the nearest dq. Multipliers
 * of dependent constraints are not unique; y is the one of least norm, the solution of
 *
 *     [ A   J^T ] [ w  ]   [ f ]
 *     [ J    0  ] [ -y ] = [ 0 ]          f = a - A dq, less the forces of all other constraints;  w = 0
 *
 * No constraint of such a set is dropped or named as redundant, and contradictions are not named.
 */
#ifndef SINEW_SRC_SOLVE_KKT_OVERDETERMINED_H
#define SINEW_SRC_SOLVE_KKT_OVERDETERMINED_H

#include "solve/kkt/saddle_system.h"

/* True for a set of hard constraints that outnumber the coordinates of its free particles: with several constraints per
 * element, coordinates less the rigid motions; with one per element, only sets of more than CONSTRAINTS_MIN
 * constraints. seen [free_count] is work space. */
bool sinew_overdetermined_set(const sinew_saddle *saddle, const sinew_constraint_set *set, uint8_t *seen);
/* Replaces the multipliers of overdetermined sets in saddle->solution by those of least norm. saddle->right: the
 * right-hand side of the solution, overwritten. Returns the residual of the balance of forces relative to the largest
 * entry of the right-hand side. */
double sinew_overdetermined_multipliers(sinew_saddle *saddle, int refinements);

#endif
