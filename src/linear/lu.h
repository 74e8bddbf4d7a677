/* SPDX-License-Identifier: MIT
 *
 * lu.h: sparse LU with pivoting of symmetric matrices of 3x3 blocks, of any definiteness, by UMFPACK.
 *
 * Pattern, values and order as in linear/cholesky.h; UMFPACK gets both triangles. One analysis a pattern, one
 * factorisation for every set of values; solutions are refined against the matrix. UMFPACK allocates the factor for
 * itself, anew for every factorisation, and works on one thread. It is GPL: a build without GPL code refuses
 * sinew_lu_create (docs/licences.md).
 */
#ifndef SINEW_LU_H
#define SINEW_LU_H

#include "base/base.h"

typedef struct sinew_lu sinew_lu;

/* NULL on failure. */
sinew_lu *sinew_lu_create(const sinew_allocator *allocator, int32_t count, const int32_t *column, const int32_t *row,
                          sinew_error *error);
void sinew_lu_destroy(sinew_lu *lu); /* NULL is fine */

double *sinew_lu_values(sinew_lu *lu); /* [9 * column[count]], to be filled before factorise */
/* SINEW_ERROR_NUMERIC when the matrix is singular. */
sinew_status sinew_lu_factorise(sinew_lu *lu, sinew_error *error);
/* x = A^-1 b, [3 * count] each, not the same array. */
sinew_status sinew_lu_solve(sinew_lu *lu, const double *b, double *x, sinew_error *error);

#endif
