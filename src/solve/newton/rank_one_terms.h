/* SPDX-License-Identifier: MIT
 *
 * rank_one_terms.h: Newton's systems with constraints of whole surfaces (objective/global_constraints.h): the assembled matrix A
 * has all of the Hessian but for one dense term of rank one a row,
 *
 *     H = A + G W G^T,   G the gradients of the rows' C, W = diag(1 / alpha)
 *     H^-1 b = x - Y (W^-1 + G^T Y)^-1 G^T x,   x = A^-1 b,  Y = A^-1 G            (Woodbury)
 *
 * Rows are few: one solve each when A has been factorised, and a small dense system.
 */
#ifndef SINEW_SRC_SOLVE_NEWTON_RANK_ONE_TERMS_H
#define SINEW_SRC_SOLVE_NEWTON_RANK_ONE_TERMS_H

#include "objective/assembly.h"
#include "solve/solver.h"

typedef struct sinew_newton_rows {
    int32_t count;            /* 0: none, and nothing below */
    size_t size;              /* numbers of a vector over the free particles */
    sinew_real *whole;        /* [particle_count][4] work space */
    double *slopes, *answers; /* [count][size] G and Y */
    double *small, *weights;  /* [count][count] W^-1 + G^T Y as its Cholesky factor; [count] 1 / alpha */
    double *sums;             /* [count] */
} sinew_newton_rows;

/* x = A^-1 b with the matrix as it was last factorised; false: could not. */
typedef bool sinew_back_solve(void *context, const double *b, double *x);

/* Allocates for the rows that the objective has; on failure too it is to be destroyed. Zeroed is fine. */
sinew_status sinew_newton_rows_create(sinew_newton_rows *rows, const sinew_objective *objective,
                                      const sinew_assembly *assembly, sinew_error *error);
void sinew_newton_rows_destroy(sinew_newton_rows *rows, const sinew_objective *objective);
/* Takes over the rows at q, after A was factorised there. False: could not. */
bool sinew_newton_rows_take(sinew_newton_rows *rows, const sinew_objective *objective, const sinew_assembly *assembly,
                            const sinew_real *q, sinew_back_solve *solve, void *context);
/* x = H^-1 b from x = A^-1 b. */
void sinew_newton_rows_correct(const sinew_newton_rows *rows, double *x);

#endif
