/* SPDX-License-Identifier: MIT
 *
 * coarse_correction.h: a correction over aggregates of particles (objective/coarse/aggregates.h): what sweeps over nodes and conjugate
 * gradients are slow at, waves as long as the body, a small system solves at once:
 *
 *     d = P A^-1 P^T r,     A = P^T H P (objective/coarse/galerkin.h),  A = L L^T (coarse_factor.h)
 *
 * The aggregates depend on rest places, fixed elements and pins alone. The matrix is that of the objective where it was
 * last filled: a correction with an old one is a worse direction, and never a wrong one, as whoever takes it looks at
 * the objective.
 */
#ifndef SINEW_SRC_SOLVE_COARSE_COARSE_CORRECTION_H
#define SINEW_SRC_SOLVE_COARSE_COARSE_CORRECTION_H

#include "solve/coarse/second_level.h"

typedef struct sinew_coarse {
    sinew_objective *objective;
    sinew_coarse_space space;
    sinew_galerkin galerkin;
    sinew_coarse_upper upper;   /* zeroed where one level does */
    sinew_coarse_system system; /* the factor: of the galerkin matrix, or of the upper level's */
    double *x;                  /* [space.count][12] */
    int64_t most;               /* numbers of the factor; 0: as many as the fine matrix would have */
    bool ready;                 /* there is a factor */
} sinew_coarse;

/* Aggregates of about `size` particles. Where the factor of their matrix would have more than `most` numbers (0: than
 * the fine matrix), they are solved for by conjugate gradients over a further level. Allocates; on failure too it is to
 * be destroyed. */
sinew_status sinew_coarse_create(sinew_coarse *coarse, sinew_objective *objective, int32_t size, int64_t most,
                                 sinew_error *error);
void sinew_coarse_destroy(sinew_coarse *coarse); /* zeroed is fine */
/* After transient elements have changed: aggregates stay, the matrix is laid out anew. Allocates. */
sinew_status sinew_coarse_refresh(sinew_coarse *coarse, sinew_error *error);

/* The matrix at q, and its factor. False where it is not positive definite: then there is no correction. */
bool sinew_coarse_fill(sinew_coarse *coarse, const sinew_real *q);
/* z = s P A^-1 P^T r, or, with `add`, z += that; [particle_count][4], zero at pins. */
void sinew_coarse_solve(sinew_coarse *coarse, double s, const sinew_real *r, bool add, sinew_real *z);

#endif
