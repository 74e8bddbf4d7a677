/* SPDX-License-Identifier: MIT
 *
 * ldl.h: sparse A = L D L^T of a symmetric matrix that need not be definite, D diagonal, in a given order, by panels
 * (supernodal.h, which stores L |D|^1/2 and the signs of D).
 *
 * Made for saddle points [A J^T; J -alpha] whose rows are eliminated after the particles that they join
 * (solve/kkt/saddle_system.h): with A positive definite such a matrix is factorisable without exchanging pivots in every such
 * order (Vanderbei 1995), pivots of particles are positive and those of rows negative. By Sylvester's law the signs of
 * D are the inertia of the matrix, whatever A is; solutions are refined against the matrix, which shows where a small
 * pivot cost digits.
 *
 * A pivot at or below its floor counts as zero: its unknown is left out (x = 0), as if the matrix had neither that row
 * nor that column. That is how a row that says what others say already is found.
 *
 * Pattern: the upper triangle by columns, rows ascending, diagonal last. Analysis once a pattern (create); factorise
 * and solve allocate nothing and work on one thread. The order that the caller gave is kept but for postordering, which
 * lets every unknown come after all that were before it and have to do with it.
 *
 * Beside MUMPS, which exchanges pivots: docs/constraints.md, bench/bench_saddle.c.
 */
#ifndef SINEW_SRC_LINEAR_FACTOR_LDL_H
#define SINEW_SRC_LINEAR_FACTOR_LDL_H

#include "base/base.h"
#include "math/dense.h"

typedef struct sinew_ldl sinew_ldl;

typedef struct sinew_pivots {
    int32_t positive, negative, dropped; /* pivots */
} sinew_pivots;

/* column [count + 1], row [column[count]]; both borrowed; `kernels` of the lanes in use. NULL on failure. */
sinew_ldl *sinew_ldl_create(const sinew_allocator *allocator, const sinew_dense_kernels *kernels, int32_t count,
                            const size_t *column, const int32_t *row, sinew_error *error);
void sinew_ldl_destroy(sinew_ldl *ldl); /* NULL is fine */

/* values [column[count]] borrowed until the next call; floors [count] or NULL: |pivot| <= floor is none. A negative one
 * is the most that the factors' diagonal entry may be: an unknown that comes early needs something there; refinement
 * takes the difference out again. False: a pivot is no number, or zero without a floor. */
bool sinew_ldl_factorise(sinew_ldl *ldl, const double *values, const double *floors, sinew_pivots *inertia);
/* Whether unknown k was left out. */
bool sinew_ldl_dropped(const sinew_ldl *ldl, int32_t k);
/* The pivot of unknown k in the last factorisation, also where it counted as none. */
double sinew_ldl_pivot(const sinew_ldl *ldl, int32_t k);
/* x = A^-1 b, not the same array, refined at most `rounds` times; returns max |b - A x| over max |b|, of the unknowns
 * that were not left out. */
double sinew_ldl_solve(sinew_ldl *ldl, const double *b, double *x, int rounds);
size_t sinew_ldl_size(const sinew_ldl *ldl); /* numbers in L, with the zeros that its panels store */
/* The cost of factorising that pattern: the sum of the squares of L's column counts. */
sinew_status sinew_ldl_cost(int32_t count, const size_t *column, const int32_t *row, double *cost, sinew_error *error);

#endif
