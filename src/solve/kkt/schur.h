/* SPDX-License-Identifier: MIT
 *
 * schur.h: the system of saddle_system.h with a diagonal A = M/h^2, solved for the multipliers first:
 *
 *     (J A^-1 J^T + alpha) y = b - J A^-1 a,    dq = A^-1 (a + J^T y)
 *
 * S = J A^-1 J^T + alpha is positive definite where rows do not depend on each other (notes, KKT; Baraff 1996), so the
 * sparse Cholesky factorisation of Hessians serves: rows by threes are its blocks, with rows of their own in the last.
 */
#ifndef SINEW_SRC_SOLVE_KKT_SCHUR_H
#define SINEW_SRC_SOLVE_KKT_SCHUR_H

#include "solve/kkt/saddle_system.h"

typedef struct sinew_row_schur sinew_row_schur;

/* Borrows rows, objective and numbering of the saddle. NULL on failure. */
sinew_row_schur *sinew_row_schur_create(const sinew_saddle *saddle, sinew_error *error);
void sinew_row_schur_destroy(sinew_row_schur *schur); /* NULL is fine */
/* As sinew_saddle_solve, J and alpha as the rows have them; rows that are not active are left out. False: S is not
 * positive definite, some rows depend on each other. */
bool sinew_row_schur_solve(sinew_row_schur *schur, const uint8_t *active, const double *a, const double *b, double *dq,
                           double *y);

#endif
