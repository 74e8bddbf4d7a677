/* SPDX-License-Identifier: MIT
 *
 * global_matrix.h: the constant matrix of projective methods, assembled:
 *
 *     S = M/h^2 + scale sum_j w_j D_j^T D_j
 *
 * The pattern of S is that of the Hessian (objective/assembly.h) with scalars instead of blocks: lower triangle by
 * columns, diagonal first, over the free particles. The pattern is kept: new weights, h or scale need numeric work
 * only.
 */
#ifndef SINEW_SRC_SOLVE_PROJECTIVE_GLOBAL_MATRIX_H
#define SINEW_SRC_SOLVE_PROJECTIVE_GLOBAL_MATRIX_H

#include "objective/assembly.h"

typedef struct sinew_global_matrix {
    /* number of the objective's tasks, from the first, whose elements are in the global matrix S */
    int32_t task_count;
    sinew_assembly *pattern;
    size_t *column; /* [free_count + 1] index of each column's first entry, in the integer type of the factorisation */
    /* [entries] elastic part of each entry of the global matrix, sum w D^T D, with all elements switched on */
    double *elastic;
    double *value; /* [entries] entries of the global matrix S */
    /* [local_count] elastic part, sum w D^T D, of each local block of the pattern (objective/assembly.h) */
    double *locals;
    sinew_real *D; /* [largest task] work space: reduction matrices D of the elements of one task */
} sinew_global_matrix;

/* The entries of the global matrix S between free particles and pins, without `scale`: value[k] adds to
 * S[row[k]][pin[k]]. */
typedef struct sinew_coupling {
    int32_t count;
    int32_t *row, *pin; /* [count] free particle (row) and pinned particle (column) of each entry */
    double *value;
    size_t row_capacity, pin_capacity, value_capacity;
} sinew_coupling;

/* Builds the pattern of the global matrix S and allocates its values; must be released after failure, too. */
sinew_status sinew_global_matrix_create(sinew_global_matrix *matrix, const sinew_objective *objective,
                                        int32_t task_count, sinew_error *error);
void sinew_global_matrix_release(sinew_global_matrix *matrix, const sinew_objective *objective);

/* Sets the elastic part of the global matrix: elastic = sum w D^T D, with weights [elements of the matrix's tasks,
 * padding included]. */
void sinew_global_matrix_assign_weights(sinew_global_matrix *matrix, const sinew_objective *objective,
                                        const sinew_real *weights);
/* Computes the entries `value` of the global matrix S. `weights` NULL: S uses `elastic`. Otherwise S uses these
 * weights and leaves out elements that are switched off. */
void sinew_global_matrix_sum(sinew_global_matrix *matrix, const sinew_objective *objective, double scale,
                             const sinew_real *weights);
/* Ax = S x with the global matrix S, both [particle_count][4]. x must be zero at pins; Ax is zero there. */
void sinew_global_matrix_multiply(const sinew_global_matrix *matrix, const sinew_objective *objective,
                                  const sinew_real *x, sinew_real *Ax);

/* Computes the coupling of free particles with pins for these weights; allocates only to grow. Returns false if out of
 * memory. */
bool sinew_coupling_find(sinew_coupling *coupling, sinew_global_matrix *matrix, const sinew_objective *objective,
                         const sinew_real *weights);
/* Moves the terms of pinned particles to the right-hand side: b -= scale S q_pins; q and b [particle_count][4]. */
void sinew_coupling_move(const sinew_coupling *coupling, double scale, const sinew_real *q, sinew_real *b);
void sinew_coupling_release(sinew_coupling *coupling, const sinew_objective *objective);

/* Number of elements, padding included, of one task, and of the objective's tasks first .. last - 1. */
size_t sinew_task_padded_count(const sinew_task *task);
size_t sinew_tasks_padded_count(const sinew_objective *objective, int32_t first, int32_t last);

#endif
