/* SPDX-License-Identifier: MIT
 *
 * global_step.h: the constant matrix of projective methods and its prefactored solves:
 *
 *     S = M/h^2 + sum_j w_j D_j^T D_j          thesis (4.50), (4.60), (4.71)
 *
 * D_j maps positions to the reduced coordinates of element j (energy.h), acting on x, y and z alike, so that S is one
 * scalar matrix over the free particles for all three. Pinned particles are no unknowns; what couples them to the free
 * ones is kept apart for solvers that solve for positions instead of increments.
 */
#ifndef SINEW_GLOBAL_STEP_H
#define SINEW_GLOBAL_STEP_H

#include "linear/prefactor.h"
#include "objective/objective.h"

typedef struct sinew_global {
    int32_t free_count;
    int32_t *particle; /* [free_count] */
    sinew_prefactor *factor;

    /* The blocks of S between free particles and pins: entry k is S[row[k]][pin[k]], rows ascending. */
    int32_t coupling_count;
    int32_t *coupling_row, *coupling_pin; /* particles */
    double *coupling_value;

    /* For sinew_global_rescale; NULL without. */
    double *elastic;   /* [entries] sum w D^T D of each entry */
    double *value;     /* [entries] S */
    int32_t *diagonal; /* [free_count + 1] the entry that is on the diagonal of each column; last: entries */
} sinew_global;

/* S itself, and what its assembly needs: the pattern is the Hessian's with scalars for blocks, lower triangle by
 * columns, diagonal first, over the pattern's free particles. */
typedef struct sinew_global_matrix {
    struct sinew_assembly *pattern;
    double *value;    /* [entries] */
    int64_t *column;  /* [free_count + 1] the pattern's, as solvers want them */
    double *locals;   /* [local_count] */
    sinew_real *rows; /* of the largest task */
} sinew_global_matrix;

/* Allocates; on failure too it is to be released. */
sinew_status sinew_global_assemble(sinew_global_matrix *matrix, const sinew_objective *objective,
                                   const sinew_real *weights, sinew_error *error);
void sinew_global_matrix_release(sinew_global_matrix *matrix, const sinew_objective *objective);

/* weights: one per element lane, in the order of tasks and groups (sinew_global_weight_count), w_j > 0. Allocates. */
sinew_status sinew_global_create(sinew_global *global, const sinew_objective *objective, const sinew_real *weights,
                                 sinew_error *error);
/* The same with all weights to be scaled later. */
sinew_status sinew_global_create_scalable(sinew_global *global, const sinew_objective *objective,
                                          const sinew_real *weights, sinew_error *error);
void sinew_global_destroy(sinew_global *global, const sinew_objective *objective);

/* S = M/h^2 + scale sum w D^T D with the weights of create: numeric work only, nothing is allocated. What pins do to
 * free particles is left as it was. False where S is not positive definite: the old one stays. */
bool sinew_global_rescale(sinew_global *global, const sinew_objective *objective, double scale);

/* x = S^-1 b at the free particles, zero at pins; both [particle_count][4], b may be x. */
void sinew_global_solve(const sinew_global *global, const sinew_objective *objective, const sinew_real *b,
                        sinew_real *x);
/* b -= S q_pins */
void sinew_global_move_pins(const sinew_global *global, const sinew_real *q, sinew_real *b);

/* Element lanes of all tasks, fillers included; where a task's begin. */
size_t sinew_global_weight_count(const sinew_objective *objective);
/* weights = each energy's own stiffness (energy.h), fitted over the stretches low .. high where it is not a distance.
 */
void sinew_global_stiffness(const sinew_objective *objective, double low, double high, sinew_real *weights);

#endif
