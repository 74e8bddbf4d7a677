/* SPDX-License-Identifier: MIT
 *
 * connected_components.h: components of particles that elements of any energy connect.
 */
#ifndef SINEW_SRC_OBJECTIVE_CONNECTED_COMPONENTS_H
#define SINEW_SRC_OBJECTIVE_CONNECTED_COMPONENTS_H

#include "objective/objective.h"

/* Returns the root of i in the union-find forest `parent`, and shortens the path to it (path halving). */
int32_t sinew_find_root(int32_t *parent, int32_t i);

/* component[i] [particle_count] = the lowest particle of i's component. An element joins its vertices, except vertices
 * without second derivatives at q (weight or stiffness zero). Contacts join nothing, because they may open. The
 * objective must be built. */
void sinew_objective_components(const sinew_objective *objective, const sinew_real *q, int32_t *component);
/* sinew_objective_components() in two steps: the first sets the components of the fixed elements; the second joins them
 * by the transient elements, at a cost in proportion to transient elements and particles. */
void sinew_objective_fixed_components(const sinew_objective *objective, const sinew_real *q, int32_t *component);
void sinew_objective_join_transient(const sinew_objective *objective, const sinew_real *q, int32_t *component);

#endif
