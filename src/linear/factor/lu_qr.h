/* SPDX-License-Identifier: MIT
 *
 * lu_qr.h: factorisations of symmetric matrices of 3x3 blocks, of any definiteness: sparse LU with pivoting (lu.c)
 * and sparse QR (qr.c).
 *
 * Pattern, values and order as in linear/factor/cholesky.h; the methods get both triangles. One analysis a pattern, one
 * factorisation for every set of values. Both come from SuiteSparse, allocate their factors for themselves, anew for
 * every factorisation; creation makes a first one, to see that there is memory for it. Both are GPL: a build without
 * GPL code refuses sinew_general_create (docs/licences.md).
 */
#ifndef SINEW_SRC_LINEAR_FACTOR_LU_QR_H
#define SINEW_SRC_LINEAR_FACTOR_LU_QR_H

#include <SuiteSparse_config.h>

#include "linear/factor/symmetric_rows.h"

typedef struct sinew_general sinew_general;

/* Calls come with n > 0. */
typedef struct sinew_general_method {
    /* Sets g->memory up for the pattern; called with it NULL. */
    sinew_status (*analyse)(sinew_general *g, sinew_error *error);
    sinew_status (*factorise)(sinew_general *g, sinew_error *error);
    sinew_status (*solve)(sinew_general *g, const double *b, double *x, sinew_error *error);
    void (*release)(sinew_general *g); /* frees g->memory, which may be NULL or half made */
} sinew_general_method;

extern const sinew_general_method sinew_lu, sinew_qr;

struct sinew_general {
    sinew_allocator allocator;
    const sinew_general_method *method;
    void *memory;       /* the method's own */
    SuiteSparse_long n; /* 3 * count */
    sinew_rows rows;
    double *lower;             /* [9 * blocks] the caller's values */
    SuiteSparse_long *pointer; /* [n + 1] scalar columns of the whole matrix */
    SuiteSparse_long *row;     /* [pointer[n]] ascending in each column */
    double *value;             /* [pointer[n]] */
};

/* NULL on failure. */
sinew_general *sinew_general_create(const sinew_allocator *allocator, const sinew_general_method *method, int32_t count,
                                    const int32_t *column, const int32_t *row, sinew_error *error);
void sinew_general_destroy(sinew_general *g); /* NULL is fine */

double *sinew_general_values(sinew_general *g); /* [9 * column[count]], to be filled before factorise */
/* SINEW_ERROR_NUMERIC when the matrix is singular. */
sinew_status sinew_general_factorise(sinew_general *g, sinew_error *error);
/* x = A^-1 b, [3 * count] each, not the same array. */
sinew_status sinew_general_solve(sinew_general *g, const double *b, double *x, sinew_error *error);

#endif
