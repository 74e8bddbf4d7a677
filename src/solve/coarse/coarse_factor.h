/* SPDX-License-Identifier: MIT
 *
 * coarse_factor.h: the factor of a matrix of 12x12 blocks in the layout of objective/coarse/galerkin.h, ordered by
 * nested dissection of its blocks (linear/factor/cholesky.h).
 */
#ifndef SINEW_SRC_SOLVE_COARSE_COARSE_FACTOR_H
#define SINEW_SRC_SOLVE_COARSE_COARSE_FACTOR_H

#include "linear/factor/cholesky.h"
#include "objective/coarse/galerkin.h"

enum {
    SINEW_COARSE_NUMBERS = 3 * SINEW_MODES /* number of unknowns of a block row of the coarse matrix */
};

/* The lower triangle of a coarse matrix by 12x12 block columns, the diagonal block first, rows ascending; borrowed. */
typedef struct sinew_coarse_matrix {
    int32_t count;
    const int32_t *column, *row;
    /* [column[count]][9][SINEW_MODES][SINEW_MODES] entries of the 12x12 blocks, as in sinew_galerkin */
    const double *values;
} sinew_coarse_matrix;

/* A 12x12 block of the coarse matrix, and its block row in the factor. */
typedef struct sinew_coarse_entry {
    /* row: position of the block row in the elimination order; pair: index of the block in the coarse matrix */
    int32_t row, pair;
    bool transposed;
} sinew_coarse_entry;

typedef struct sinew_coarse_system {
    sinew_coarse_matrix matrix;
    int32_t *position;   /* [count] position of each block row in the order of elimination */
    int32_t *first_slot; /* [count + 1] index of each block column's first block in `slots` */
    /* 12x12 blocks of each block column of the factor: the diagonal block first, then rows ascending */
    sinew_coarse_entry *slots;
    int32_t *column; /* [SINEW_MODES * count + 1] index of the first 3x3 block of each of the factor's block columns */
    sinew_cholesky *factor;
    double *right; /* [12 * count] right-hand side, permuted to the order of elimination */
} sinew_coarse_system;

/* Creates the pattern of the coarse factor. points [count][4], m: positions of the block rows. Allocates; must be
 * destroyed after failure, too. */
sinew_status sinew_coarse_system_create(sinew_coarse_system *system, const sinew_objective *objective,
                                        const sinew_coarse_matrix *matrix, const sinew_real *points,
                                        sinew_error *error);
/* Frees the arrays of the coarse factor; accepts a zeroed struct. */
void sinew_coarse_system_destroy(sinew_coarse_system *system, const sinew_allocator *allocator);
/* Factorises the current values of the coarse matrix. Returns false if the matrix is not positive definite even with a
 * small diagonal shift. */
bool sinew_coarse_system_factorise(sinew_coarse_system *system, int32_t thread_count);
/* x = A^-1 x with the last factor of the coarse matrix A; x [count][12] */
void sinew_coarse_system_solve(const sinew_coarse_system *system, double *x);

#endif
