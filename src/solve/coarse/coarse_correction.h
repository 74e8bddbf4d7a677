/* SPDX-License-Identifier: MIT
 *
 * coarse_correction.h: coarse-grid correction over aggregates of particles (objective/coarse/aggregates.h). Vertex
 * sweeps and conjugate gradients reduce low-frequency errors slowly; a small coarse system solves for them:
 *
 *     d = P A^-1 P^T r,     A = P^T H P (objective/coarse/galerkin.h),  A = L L^T (coarse_factor.h)
 *
 * Aggregates depend on rest positions, fixed elements and pins alone. The matrix is evaluated at the positions of the
 * last sinew_coarse_fill(). After the positions have changed, the correction need not decrease the objective.
 */
#ifndef SINEW_SRC_SOLVE_COARSE_COARSE_CORRECTION_H
#define SINEW_SRC_SOLVE_COARSE_COARSE_CORRECTION_H

#include "solve/coarse/second_level.h"

typedef struct sinew_coarse {
    sinew_objective *objective;
    sinew_coarse_space space;
    sinew_galerkin galerkin;
    sinew_second_level second_level; /* second level of aggregation; zeroed if one level is enough */
    sinew_coarse_system system;      /* factor of the Galerkin matrix, or of the matrix of the second level */
    double *x;   /* [space.count][12] coefficients of the coarse correction in the basis functions */
    int64_t max; /* largest accepted number of entries of the factor; 0: that of the fine matrix, at least 10^6 */
    bool ready;  /* true: `system` holds a valid factor of the current matrix */
} sinew_coarse;

/* Builds aggregates of about `size` particles. If the factor of their matrix A has more than `max` entries (0: than the
 * fine matrix and 10^6), systems with A are solved by conjugate gradients with a second level. Allocates; must be
 * destroyed after failure, too. */
sinew_status sinew_coarse_create(sinew_coarse *coarse, sinew_objective *objective, int32_t size, int64_t max,
                                 sinew_error *error);
/* frees all levels of the coarse correction; accepts a zeroed struct */
void sinew_coarse_destroy(sinew_coarse *coarse);
/* Rebuilds the pattern of the matrix after a change of transient elements; the aggregates are kept. Allocates. */
sinew_status sinew_coarse_refresh(sinew_coarse *coarse, sinew_error *error);

/* Assembles and factorises the coarse matrix A = P^T H P at positions q: P are the aggregates' basis functions, H is
 * the Hessian. Returns false, so that no correction is possible, if the matrix is not positive definite even with a
 * small diagonal shift, or if there are no aggregates. */
bool sinew_coarse_fill(sinew_coarse *coarse, const sinew_real *q);
/* Coarse correction z = s P A^-1 P^T r, or with `add` z += s P A^-1 P^T r, with the basis functions P and the coarse
 * matrix A; r and z [particle_count][4]. The correction is zero at pins. */
void sinew_coarse_solve(sinew_coarse *coarse, double s, const sinew_real *r, bool add, sinew_real *z);

#endif
