/* SPDX-License-Identifier: MIT
 *
 * aggregates.h: connected aggregates of free particles, each with the affine functions of its rest positions: the
 * coarse space of galerkin.h.
 *
 * Every connected component is bisected recursively across its longest side until subsets have about `size` particles.
 * Disconnected subsets are split, and small fragments join a neighbour. The functions of an aggregate are 1 and the
 * linearly independent ones among x, y, z (two for a flat cloth, one for a rope), orthonormalised. The functions of an
 * aggregate of four particles that do not lie in a plane span all motions of these particles.
 *
 * Aggregates depend on rest positions, pins and fixed elements only, not on transient elements, weights, the state or
 * threads.
 */
#ifndef SINEW_SRC_OBJECTIVE_COARSE_AGGREGATES_H
#define SINEW_SRC_OBJECTIVE_COARSE_AGGREGATES_H

#include "objective/coarse/galerkin.h"

/* Builds aggregates of about `size` particles. Allocates; the space must be destroyed after failure, too. */
sinew_status sinew_aggregates_create(sinew_coarse_space *space, const sinew_objective *objective, int32_t size,
                                     sinew_error *error);
/* Builds aggregates of aggregates: the aggregates of `lower` with the same group [lower->count] form one aggregate. */
sinew_status sinew_aggregates_join(sinew_coarse_space *space, const sinew_objective *objective,
                                   const sinew_coarse_space *lower, const int32_t *group, int32_t group_count,
                                   sinew_error *error);
/* Frees the arrays of the coarse space; accepts a zeroed struct. */
void sinew_aggregates_destroy(sinew_coarse_space *space, const sinew_objective *objective);

#endif
