/* SPDX-License-Identifier: MIT
 *
 * global_matrix.h: the constant matrix of projective methods, assembled:
 *
 *     S = M/h^2 + scale sum_j w_j D_j^T D_j
 *
 * Its pattern is the Hessian's (objective/assembly.h) with scalars for blocks: lower triangle by columns, diagonal
 * first, over the free particles. The pattern is kept, so that other weights, another h or another scale are numeric
 * work only.
 */
#ifndef SINEW_SRC_SOLVE_PROJECTIVE_GLOBAL_MATRIX_H
#define SINEW_SRC_SOLVE_PROJECTIVE_GLOBAL_MATRIX_H

#include "objective/assembly.h"

typedef struct sinew_global_matrix {
    int32_t task_count; /* the objective's first tasks, whose elements it holds */
    sinew_assembly *pattern;
    int64_t *column;  /* [free_count + 1] the pattern's, as solvers want them */
    double *elastic;  /* [entries] sum w D^T D of each entry, all elements switched on */
    double *value;    /* [entries] S */
    double *locals;   /* [local_count] */
    sinew_real *rows; /* of the largest task */
} sinew_global_matrix;

/* The blocks of S between free particles and pins: entry k is S[row[k]][pin[k]]. */
typedef struct sinew_coupling {
    int32_t count;
    int32_t *row, *pin; /* particles */
    double *value;
    size_t row_room, pin_room, value_room;
} sinew_coupling;

/* The pattern, and room for the rest. Allocates; on failure too it is to be released. */
sinew_status sinew_global_matrix_create(sinew_global_matrix *matrix, const sinew_objective *objective,
                                        int32_t task_count, sinew_error *error);
void sinew_global_matrix_release(sinew_global_matrix *matrix, const sinew_objective *objective);

/* Takes over weights [lanes of its tasks]: into elastic. */
void sinew_global_matrix_weigh(sinew_global_matrix *matrix, const sinew_objective *objective,
                               const sinew_real *weights);
/* value = S. `weights` NULL: of elastic. Else: of these weights, without elements that are switched off. */
void sinew_global_matrix_sum(sinew_global_matrix *matrix, const sinew_objective *objective, double scale,
                             const sinew_real *weights);
/* Ax = S x, both [particle_count][4]; x is zero at pins, Ax is. */
void sinew_global_matrix_multiply(const sinew_global_matrix *matrix, const sinew_objective *objective,
                                  const sinew_real *x, sinew_real *Ax);

/* Finds the coupling of these weights; allocates where it has grown. False without memory. */
bool sinew_coupling_find(sinew_coupling *coupling, sinew_global_matrix *matrix, const sinew_objective *objective,
                         const sinew_real *weights);
/* b -= scale S q_pins */
void sinew_coupling_move(const sinew_coupling *coupling, double scale, const sinew_real *q, sinew_real *b);
void sinew_coupling_release(sinew_coupling *coupling, const sinew_objective *objective);

/* Element lanes of a task, fillers included, and of tasks first .. last - 1. */
size_t sinew_task_lanes(const sinew_task *task);
size_t sinew_lanes_between(const sinew_objective *objective, int32_t first, int32_t last);

#endif
