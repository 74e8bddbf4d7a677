/* SPDX-License-Identifier: MIT
 *
 * ldl.h: sparse A = L D L^T of a symmetric, possibly indefinite matrix, D diagonal, in a given order, by supernodes
 * (supernodal.h, which stores L |D|^1/2 and the signs of D).
 *
 * The factorisation serves saddle-point matrices [A J^T; J -alpha] whose constraints are eliminated after the particles
 * that they join (solve/kkt/saddle_system.h). With A positive definite such a matrix is factorisable in every such
 * order without pivoting (Vanderbei 1995); pivots of particles are positive and pivots of constraints are negative.
 * By Sylvester's law the signs of D are the inertia of the matrix for any A. Solutions are refined against the
 * matrix, whose residual reveals a loss of digits by small pivots.
 *
 * A pivot at or below its floor counts as zero: its unknown is dropped (x = 0), as if the matrix had neither that row
 * nor that column. Redundant constraints are found this way.
 *
 * Pattern: the upper triangle by columns, rows ascending, diagonal last. Create analyses the pattern once; factorise
 * and solve allocate nothing and run on one thread. The caller's order is kept up to a postorder, in which every
 * unknown still follows all of its descendants.
 *
 * bench/bench_saddle.c compares with MUMPS, which pivots (docs/evidence/constraints.md).
 */
#ifndef SINEW_SRC_LINEAR_FACTOR_LDL_H
#define SINEW_SRC_LINEAR_FACTOR_LDL_H

#include "base/base.h"
#include "math/dense.h"

typedef struct sinew_ldl sinew_ldl;

typedef struct sinew_pivots {
    int32_t positive, negative, dropped; /* numbers of pivots; a dropped pivot counts as zero */
} sinew_pivots;

/* Analyses the pattern of the matrix: column [count + 1], row [column[count]], both borrowed. `kernels` are the dense
 * kernels of the SIMD variant in use. NULL on failure. */
sinew_ldl *sinew_ldl_create(const sinew_allocator *allocator, const sinew_dense_kernels *kernels, int32_t count,
                            const size_t *column, const int32_t *row, sinew_error *error);
void sinew_ldl_destroy(sinew_ldl *ldl); /* frees the factor; NULL has no effect */

/* Factorises A; values [column[count]] are borrowed until the next call. floors [count] or NULL: an unknown with
 * |pivot| <= floor is dropped. A negative floor, for unknowns that are eliminated early, is an upper bound of the
 * factored matrix's diagonal entry; refinement removes the difference. Returns false if a pivot is not finite, or zero
 * without a floor. */
bool sinew_ldl_factorise(sinew_ldl *ldl, const double *values, const double *floors, sinew_pivots *inertia);
/* True if the pivot of unknown k was dropped in the last factorisation. */
bool sinew_ldl_dropped(const sinew_ldl *ldl, int32_t k);
/* The pivot of unknown k in the last factorisation, also if unknown k was dropped. */
double sinew_ldl_pivot(const sinew_ldl *ldl, int32_t k);
/* x = A^-1 b; b and x must not overlap. Refines x at most `rounds` times against A. Returns max |b - A x| / max |b|
 * over the unknowns that were not dropped. */
double sinew_ldl_solve(sinew_ldl *ldl, const double *b, double *x, int rounds);
/* number of entries of the factor L, including the zeros that supernodes store */
size_t sinew_ldl_size(const sinew_ldl *ldl);
/* Cost of the factorisation of the pattern: the sum of the squares of L's column counts. */
sinew_status sinew_ldl_cost(const sinew_allocator *allocator, int32_t count, const size_t *column, const int32_t *row,
                            double *cost, sinew_error *error);

#endif
