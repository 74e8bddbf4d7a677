/* SPDX-License-Identifier: MIT
 *
 * factored_system.h: a symmetric positive definite matrix, factorised once and solved many times with three right-hand
 * sides: the global step of projective methods.
 *
 *     S X = B,    S [n][n] sparse,  X, B [n][3]
 *
 * S is factorised in double (supernodal.h). The factor is then copied, in the library's precision, into the layout that
 * solves read as one stream (math/supernode_solve.h). Supernodes are grouped into a small tree of subtrees: subtrees of
 * one level run in parallel, each on a separate vector, and add their contributions to their parents in a fixed order.
 * The tree does not depend on the number of threads, so results do not either.
 */
#ifndef SINEW_SRC_LINEAR_FACTOR_FACTORED_SYSTEM_H
#define SINEW_SRC_LINEAR_FACTOR_FACTORED_SYSTEM_H

#include "base/base.h"
#include "math/dense.h"
#include "math/supernode_solve.h"

typedef struct sinew_factored_system sinew_factored_system;

typedef struct sinew_factored_system_kernels {
    const sinew_supernode_kernels *supernodes; /* kernels of the triangular solves with L */
    const sinew_dense_kernels *dense;          /* kernels of the dense factorisations of supernodes */
    bool single; /* true: the matrix S and its factor L are rounded to 32 bits (dense_float.h) */
} sinew_factored_system_kernels;

/* Factorises S, given as its lower triangle by columns, rows ascending, diagonal first: column [n + 1], row and value
 * [column[n]]. points [n][4], m, or NULL: rest positions of the rows (linear/ordering/ordering.h). SINEW_ERROR_NUMERIC:
 * S is not positive definite. `kernels` of the SIMD variant in use. */
sinew_factored_system *sinew_factored_system_create(const sinew_allocator *allocator,
                                                    const sinew_factored_system_kernels *kernels, int32_t thread_count,
                                                    int32_t n, const size_t *column, const int32_t *row,
                                                    const double *value, const sinew_real *points, sinew_error *error);
/* Creates a system that also keeps the pattern of the matrix S, and its factor L in double, for
 * sinew_factored_system_refactor. */
sinew_factored_system *sinew_factored_system_create_kept(const sinew_allocator *allocator,
                                                         const sinew_factored_system_kernels *kernels,
                                                         int32_t thread_count, int32_t n, const size_t *column,
                                                         const int32_t *row, const double *value,
                                                         const sinew_real *points, sinew_error *error);
void sinew_factored_system_destroy(sinew_factored_system *system);

/* Frees the factor L in double of a kept system; the next refactor allocates it again. */
void sinew_factored_system_drop_double_factor(sinew_factored_system *system);
/* Factorises new values [column[n]] in the same pattern. The bits equal those of a system created from these values.
 * SINEW_ERROR_NUMERIC: S is not positive definite; after a failure solves use the old factor. Allocates only in the
 * first call after sinew_factored_system_drop_double_factor(). */
sinew_status sinew_factored_system_refactor(sinew_factored_system *system, const double *value, sinew_error *error);

/* x = S^-1 b with the factored matrix S, both [..][4] with a zero fourth number; row i of the matrix is at index[i]
 * of the vectors (NULL: at i). b may be x. Does not allocate. */
void sinew_factored_system_solve(sinew_factored_system *system, const int32_t *index, const sinew_real *b,
                                 sinew_real *x);

/* number of stored entries of the factor L, with the zeros that fill SIMD vectors */
int64_t sinew_factored_system_size(const sinew_factored_system *system);
/* Approximate memory of matrix and factor, in bytes, without work space of the factorisation. */
int64_t sinew_factored_system_memory(const sinew_factored_system *system);

#endif
