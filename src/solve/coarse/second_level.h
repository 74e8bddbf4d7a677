/* SPDX-License-Identifier: MIT
 *
 * second_level.h: one more level above the aggregates, for worlds whose aggregates are so many that the factor of their
 * matrix A would be larger than the fine matrix: neighbouring aggregates form groups, which move by affine functions
 * too.
 *
 *     A x = b by conjugate gradients, with  D^-1 + R (R^T A R)^-1 R^T  as preconditioner, D the 12x12 diagonal blocks
 *
 * The functions of a group are in the span of those of its aggregates: R has a 4x4 block for each aggregate. R^T A R is
 * factorised (coarse_factor.h); groups are as large as makes that factor small enough.
 */
#ifndef SINEW_SRC_SOLVE_COARSE_SECOND_LEVEL_H
#define SINEW_SRC_SOLVE_COARSE_SECOND_LEVEL_H

#include "linear/krylov/pcg.h"
#include "solve/coarse/coarse_factor.h"

/* A block of row a of the lower matrix, left or right of the diagonal. */
typedef struct sinew_coarse_link {
    int32_t other, pair;
    bool transposed;
} sinew_coarse_link;

typedef struct sinew_coarse_upper {
    sinew_coarse_matrix lower;
    const sinew_coarse_space *lower_space;
    int32_t thread_count;
    size_t *first_link;                             /* [lower.count + 1] */
    sinew_coarse_link *links;                       /* of each row */
    int32_t *group;                                 /* [lower.count] */
    sinew_coarse_space space;                       /* the groups over particles */
    double *transfer;                               /* [lower.count][SINEW_MODES][SINEW_MODES] R */
    double *inverse;                                /* [lower.count][12][12] of the diagonal blocks */
    sinew_coarse_matrix matrix;                     /* R^T A R */
    int32_t *column, *row, *first_member, *members; /* its pattern; 2 * pair of A + transposed, of each block */
    double *values;
    sinew_pcg pcg;
    sinew_real *b, *x;                 /* [lower.count][12] */
    double *upper_x;                   /* [groups][12] */
    const sinew_coarse_system *system; /* while solving */
    bool stuck;                        /* groups cannot be made larger: nothing hangs together any more */
} sinew_coarse_upper;

/* Groups of about `width` aggregates. Allocates; on failure too it is to be destroyed. */
sinew_status sinew_coarse_upper_create(sinew_coarse_upper *upper, const sinew_objective *objective,
                                       const sinew_coarse_matrix *lower, const sinew_coarse_space *lower_space,
                                       int32_t width, sinew_error *error);
void sinew_coarse_upper_destroy(sinew_coarse_upper *upper, const sinew_objective *objective); /* zeroed is fine */
/* Takes over the values of the lower matrix. */
void sinew_coarse_upper_fill(sinew_coarse_upper *upper);
/* x = A^-1 x, [lower.count][12], with the factor of the upper matrix. */
void sinew_coarse_upper_solve(sinew_coarse_upper *upper, const sinew_coarse_system *system, double *x);

#endif
