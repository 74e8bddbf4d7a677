/* SPDX-License-Identifier: MIT
 *
 * coarse_factor.h: the factor of a matrix of 12x12 blocks as galerkin.h lays it out, ordered by nested dissection of
 * its blocks (linear/factor/cholesky.h).
 */
#ifndef SINEW_SRC_SOLVE_COARSE_COARSE_FACTOR_H
#define SINEW_SRC_SOLVE_COARSE_COARSE_FACTOR_H

#include "linear/factor/cholesky.h"
#include "objective/coarse/galerkin.h"

enum {
    SINEW_COARSE_NUMBERS = 3 * SINEW_MODES /* unknowns of a block row */
};

/* The lower triangle by block columns, the diagonal first, rows ascending; borrowed. */
typedef struct sinew_coarse_matrix {
    int32_t count;
    const int32_t *column, *row;
    const double *values; /* [pairs][9][SINEW_MODES][SINEW_MODES] */
} sinew_coarse_matrix;

/* Where a block of the matrix is in the factor's. */
typedef struct sinew_coarse_place {
    int32_t row, pair; /* row: position of the block row */
    bool transposed;
} sinew_coarse_place;

typedef struct sinew_coarse_system {
    sinew_coarse_matrix matrix;
    int32_t *position;          /* [count] of each block row in the order of elimination */
    int32_t *first_place;       /* [count + 1] */
    sinew_coarse_place *places; /* of each column, the diagonal first, then rows ascending */
    int32_t *column;            /* [SINEW_MODES * count + 1] the factor's pattern */
    sinew_cholesky *factor;
    double *right; /* [12 * count] by position */
} sinew_coarse_system;

/* points [count][4], m: where the block rows lie. Allocates; on failure too it is to be destroyed. */
sinew_status sinew_coarse_system_create(sinew_coarse_system *system, const sinew_objective *objective,
                                        const sinew_coarse_matrix *matrix, const sinew_real *points,
                                        sinew_error *error);
void sinew_coarse_system_destroy(sinew_coarse_system *system, const sinew_allocator *allocator); /* zeroed is fine */
/* Takes over the values of the matrix. False where it is not positive definite, nor a little shift makes it so. */
bool sinew_coarse_system_factorise(sinew_coarse_system *system, int32_t thread_count);
void sinew_coarse_system_solve(const sinew_coarse_system *system, double *x); /* x = A^-1 x, [count][12] */

#endif
