/* SPDX-License-Identifier: MIT
 *
 * pieces.h: which particles hang together through the energies, of whatever kind.
 */
#ifndef SINEW_PIECES_H
#define SINEW_PIECES_H

#include "objective/objective.h"

/* piece[i] [particle_count] = the lowest particle of i's piece, by the first task_count tasks. An element joins its
 * vertices; those that its second derivatives at q leave out (weight zero, stiffness zero) it does not. The objective
 * must be built. */
void sinew_objective_pieces(const sinew_objective *objective, int32_t task_count, const sinew_real *q, int32_t *piece);

#endif
