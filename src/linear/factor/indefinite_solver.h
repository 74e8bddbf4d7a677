/* SPDX-License-Identifier: MIT
 *
 * indefinite_solver.h: direct solvers (sparse LU with pivoting, sparse QR), which a program registers (sinew/linear.h),
 * for symmetric matrices of 3x3 blocks of any definiteness.
 *
 * Pattern, values and order as in linear/factor/cholesky.h; the methods get both triangles. A pattern is analysed once
 * and factorised for every set of values. Methods allocate their factors in every factorisation. Creation makes a first
 * factorisation, so a lack of memory usually shows at creation.
 */
#ifndef SINEW_SRC_LINEAR_FACTOR_INDEFINITE_SOLVER_H
#define SINEW_SRC_LINEAR_FACTOR_INDEFINITE_SOLVER_H

#include "linear/factor/symmetric_rows.h"
#include "sinew/linear.h"

typedef struct sinew_indefinite_solver {
    sinew_allocator allocator;
    const sinew_linear_method *method;
    void *factors; /* opaque factors of the registered method */
    int64_t n;     /* number of scalar unknowns: 3 per block */
    sinew_symmetric_rows rows;
    double *lower;   /* [9 * blocks] input: values of the lower triangle's 3x3 blocks */
    int64_t *column; /* [n + 1] index of each scalar column's first entry in row and value; both triangles are stored */
    int64_t *row;    /* [column[n]] row of each entry, ascending in each column */
    double *value;   /* [column[n]] value of each entry of the matrix */
} sinew_indefinite_solver;

/* Creates a solver for the pattern; method: "lu" or "qr". NULL on failure; SINEW_ERROR_UNSUPPORTED if no such method is
 * registered. */
sinew_indefinite_solver *sinew_indefinite_solver_create(const sinew_allocator *allocator, const char *method,
                                                        int32_t count, const int32_t *column, const int32_t *row,
                                                        sinew_error *error);
void sinew_indefinite_solver_destroy(sinew_indefinite_solver *g); /* frees the solver; NULL has no effect */

/* [9 * column[count]] entries of the 3x3 blocks of A's lower triangle, input of factorise */
double *sinew_indefinite_solver_values(sinew_indefinite_solver *g);
/* Factorises the current values. SINEW_ERROR_NUMERIC: the matrix is singular. */
sinew_status sinew_indefinite_solver_factorise(sinew_indefinite_solver *g, sinew_error *error);
/* x = A^-1 b; b and x [3 * count] must not overlap. */
sinew_status sinew_indefinite_solver_solve(sinew_indefinite_solver *g, const double *b, double *x, sinew_error *error);

#endif
