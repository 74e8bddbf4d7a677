/* SPDX-License-Identifier: MIT
 *
 * second_level.h: a second level of aggregation, used if the factor of the aggregates' matrix A would exceed its limit
 * (by default the size of the fine matrix). Neighbouring aggregates form groups, which also move by affine functions.
 *
 *     A x = b by conjugate gradients, with  D^-1 + R (R^T A R)^-1 R^T  as preconditioner, D the 12x12 diagonal blocks
 *
 * The functions of a group are in the span of its aggregates' functions: R has a 4x4 block for each aggregate. R^T A R
 * is factorised (coarse_factor.h); larger groups make its factor smaller.
 */
#ifndef SINEW_SRC_SOLVE_COARSE_SECOND_LEVEL_H
#define SINEW_SRC_SOLVE_COARSE_SECOND_LEVEL_H

#include "linear/krylov/pcg.h"
#include "solve/coarse/coarse_factor.h"

/* A block of a row of the first-level matrix, in either triangle: its column `other`, the index `pair` of its stored
 * block, and whether it is the transpose of the stored block. */
typedef struct sinew_coarse_link {
    int32_t other, pair;
    bool transposed;
} sinew_coarse_link;

typedef struct sinew_second_level {
    sinew_coarse_matrix lower;
    const sinew_coarse_space *lower_space;
    int32_t thread_count;
    size_t *first_link;       /* [lower.count + 1] index in `links` of each block row's first block */
    sinew_coarse_link *links; /* [first_link[lower.count]] blocks of the first-level matrix, row by row */
    int32_t *group;           /* [lower.count] group that each aggregate belongs to */
    sinew_coarse_space space; /* affine basis functions of the groups, as values at particles */
    double *transfer;         /* [lower.count][4][4] block of the prolongation R, from its group to each aggregate */
    double *inverse;          /* [lower.count][12][12] inverses of the diagonal blocks of the first-level matrix A */
    /* second-level matrix R^T A R over the groups: A is the first-level matrix, R the prolongation from groups */
    sinew_coarse_matrix matrix;
    /* pattern of the second-level matrix: index of each block column's first block; block row of each block; index in
     * `members` of the first summand of each block; summands: 2 * (index of a first-level block) + transposed */
    int32_t *column, *row, *first_member, *members;
    double *values;
    sinew_pcg pcg;
    sinew_real *b, *x;                 /* [lower.count][12] right-hand side and solution of a first-level solve */
    double *second_x;                  /* [groups][12] restricted residual, then correction, of the second level */
    const sinew_coarse_system *system; /* factor of the second-level matrix, set during a solve; borrowed */
    /* true: groups have on average less than a quarter of `width` aggregates, as no connected neighbours are left */
    bool stuck;
} sinew_second_level;

/* Builds groups of about `width` aggregates. Allocates; must be destroyed after failure, too. */
sinew_status sinew_second_level_create(sinew_second_level *level, const sinew_objective *objective,
                                       const sinew_coarse_matrix *lower, const sinew_coarse_space *lower_space,
                                       int32_t width, sinew_error *error);
/* Frees the arrays of the second level; accepts a zeroed struct. */
void sinew_second_level_destroy(sinew_second_level *level, const sinew_objective *objective);
/* Computes the second-level matrix R^T A R and the inverses of the diagonal blocks from the current values of the
 * first-level matrix A; R is the prolongation from groups. */
void sinew_second_level_fill(sinew_second_level *level);
/* x = A^-1 x by conjugate gradients, with the first-level matrix A, x [lower.count][12]; `system` holds the factor of
 * the second-level matrix. */
void sinew_second_level_solve(sinew_second_level *level, const sinew_coarse_system *system, double *x);

#endif
