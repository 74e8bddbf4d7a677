/* SPDX-License-Identifier: MIT
 *
 * aggregates.h: the free particles in aggregates that hang together, each with the functions that are affine in its
 * rest places: the coarse space of galerkin.h.
 *
 * Every piece of the world is cut in two across its longest side, again and again, until the parts have about `size`
 * particles; parts that the elements do not hold together fall apart, and small fragments join a neighbour. The
 * functions of an aggregate are 1 and as many of x, y, z as its particles tell apart (a flat piece of cloth has two, a
 * rope one), made orthonormal. Four particles of a solid with these functions would be the fine space itself.
 *
 * Fixed elements decide, not transient ones, and neither weights nor the state nor threads.
 */
#ifndef SINEW_SRC_OBJECTIVE_COARSE_AGGREGATES_H
#define SINEW_SRC_OBJECTIVE_COARSE_AGGREGATES_H

#include "objective/coarse/galerkin.h"

/* Allocates; on failure too it is to be destroyed. */
sinew_status sinew_aggregates_create(sinew_coarse_space *space, const sinew_objective *objective, int32_t size,
                                     sinew_error *error);
/* Aggregates of aggregates: those of `lower` whose group [lower->count] is the same form one. */
sinew_status sinew_aggregates_join(sinew_coarse_space *space, const sinew_objective *objective,
                                   const sinew_coarse_space *lower, const int32_t *group, int32_t group_count,
                                   sinew_error *error);
void sinew_aggregates_destroy(sinew_coarse_space *space, const sinew_objective *objective); /* zeroed is fine */

#endif
