/* SPDX-License-Identifier: MIT
 *
 * connected_components.h: which particles hang together through the energies, of whatever kind.
 */
#ifndef SINEW_SRC_OBJECTIVE_CONNECTED_COMPONENTS_H
#define SINEW_SRC_OBJECTIVE_CONNECTED_COMPONENTS_H

#include "objective/objective.h"

/* The root of i in a forest of parents, whose paths it shortens. */
int32_t sinew_find_root(int32_t *parent, int32_t i);

/* piece[i] [particle_count] = the lowest particle of i's piece. An element joins its vertices; those that its second
 * derivatives at q leave out (weight zero, stiffness zero) it does not, and contacts do not either: what touches parts
 * again. The objective must be built. */
void sinew_objective_pieces(const sinew_objective *objective, const sinew_real *q, int32_t *piece);
/* The same in two parts: pieces of the fixed elements alone, and from them those of all elements, at a cost in
 * proportion to the transient ones and the particles. */
void sinew_objective_fixed_pieces(const sinew_objective *objective, const sinew_real *q, int32_t *piece);
void sinew_objective_join_layer(const sinew_objective *objective, const sinew_real *q, int32_t *piece);

#endif
