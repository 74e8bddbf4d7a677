/* SPDX-License-Identifier: MIT
 *
 * rank_one_terms.h: Newton's systems with global constraints (objective/global_constraints.h): the assembled matrix A
 * has all of the Hessian except one dense rank-one term per constraint,
 *
 *     H = A + G W G^T,   G the gradients of the terms' C, W = diag(f''), f'' = 1 / alpha for psi = C^2 / (2 alpha)
 *     H^-1 b = x - Y (W^-1 + G^T Y)^-1 G^T x,   x = A^-1 b,  Y = A^-1 G            (Woodbury)
 *
 * Global constraints are few: each costs one solve after A has been factorised, plus a small dense system.
 */
#ifndef SINEW_SRC_SOLVE_NEWTON_RANK_ONE_TERMS_H
#define SINEW_SRC_SOLVE_NEWTON_RANK_ONE_TERMS_H

#include "objective/assembly.h"
#include "solve/solver.h"

typedef struct sinew_rank_one_terms {
    int32_t count;        /* number of rank-one terms; 0: nothing below is allocated */
    size_t size;          /* 3 free_count: length of a vector over the free particles */
    sinew_real *gradient; /* [particle_count][4] work space: gradient of one global constraint */
    /* [count][size] gradients G of the global constraints C, and Y = A^-1 G with the matrix A without rank-one terms */
    double *slopes, *answers;
    /* [count][count] Cholesky factor of W^-1 + G^T Y, the system of the Woodbury formula; [count] diagonal of W */
    double *small, *weights;
    double *sums; /* [count] work space: G^T x (gradients times a vector), then the solution of the small system */
} sinew_rank_one_terms;

/* Callback: x = A^-1 b with the last factorisation of A; returns false on failure. */
typedef bool sinew_back_solve(void *context, const double *b, double *x);

/* Allocates for the global constraints of the objective; must be destroyed after failure, too. A zeroed struct is valid
 * and has no terms. */
sinew_status sinew_rank_one_terms_create(sinew_rank_one_terms *terms, const sinew_objective *objective,
                                         const sinew_assembly *assembly, sinew_error *error);
void sinew_rank_one_terms_destroy(sinew_rank_one_terms *terms, const sinew_objective *objective);
/* Updates the rank-one terms at q, after A was factorised there. Returns false on failure. */
bool sinew_rank_one_terms_update(sinew_rank_one_terms *terms, const sinew_objective *objective,
                                 const sinew_assembly *assembly, const sinew_real *q, sinew_back_solve *solve,
                                 void *context);
/* Corrects a solution for the rank-one terms: x, on entry A^-1 b, becomes H^-1 b. */
void sinew_rank_one_terms_correct(const sinew_rank_one_terms *terms, double *x);

#endif
