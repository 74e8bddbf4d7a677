/* SPDX-License-Identifier: MIT
 *
 * schur.h: the system of saddle_system.h with a diagonal A = M/h^2, solved for the multipliers first:
 *
 *     (J A^-1 J^T + alpha) y = b - J A^-1 a,    dq = A^-1 (a + J^T y)
 *
 * S = J A^-1 J^T + alpha is positive definite if constraints are independent (notes, KKT; Baraff 1996). The sparse
 * Cholesky factorisation of Hessians solves with S: its 3x3 blocks are groups of three constraints, the last one
 * padded.
 */
#ifndef SINEW_SRC_SOLVE_KKT_SCHUR_H
#define SINEW_SRC_SOLVE_KKT_SCHUR_H

#include "solve/kkt/saddle_system.h"

typedef struct sinew_schur sinew_schur;

/* Creates the Schur complement of a saddle-point system; borrows its constraints, objective and numbering. Returns NULL
 * on failure. */
sinew_schur *sinew_schur_create(const sinew_saddle *saddle, sinew_error *error);
void sinew_schur_destroy(sinew_schur *schur); /* frees the Schur complement, which may be NULL */
/* Solves the saddle-point system like sinew_saddle_solve, with the current J and alpha; inactive constraints are left
 * out. Returns false if S is not positive definite: some constraints are dependent. */
bool sinew_schur_solve(sinew_schur *schur, const uint8_t *active, const double *a, const double *b, double *dq,
                       double *y);

#endif
