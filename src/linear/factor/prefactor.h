/* SPDX-License-Identifier: MIT
 *
 * prefactor.h: a symmetric positive definite matrix, factorised once and solved very often with three right-hand sides:
 * the global step of projective methods.
 *
 *     S X = B,    S [n][n] sparse,  X, B [n][3]
 *
 * It is ordered by nested dissection and factorised in double (supernodal.h); the factor is then copied, in the
 * library's precision, into panels (math/panel_solve.h) that the solves read as one stream. The panels are grouped into a
 * small tree of independent parts: parts of one level run side by side, each on a vector of its own, and hand what they
 * owe to their parents in a fixed order. The parts do not depend on the number of threads, so neither do the bits.
 */
#ifndef SINEW_SRC_LINEAR_FACTOR_PREFACTOR_H
#define SINEW_SRC_LINEAR_FACTOR_PREFACTOR_H

#include "base/base.h"
#include "math/dense.h"
#include "math/panel_solve.h"

typedef struct sinew_prefactor sinew_prefactor;

typedef struct sinew_prefactor_kernels {
    const sinew_panel_kernels *panels; /* solves */
    const sinew_dense_kernels *dense;  /* factorisation */
    bool single;                       /* S and L are made in 32 bits instead (dense_float.h), to see what that does */
} sinew_prefactor_kernels;

/* Lower triangle by columns, rows ascending, diagonal first: column [n + 1], row and value [column[n]].
 * points [n][4], m, or NULL: where the rows lie at rest (linear/ordering/ordering.h). SINEW_ERROR_NUMERIC when the matrix is not
 * positive definite. `kernels` of the lanes in use. */
sinew_prefactor *sinew_prefactor_create(const sinew_allocator *allocator, const sinew_prefactor_kernels *kernels,
                                        int32_t thread_count, int32_t n, const int64_t *column, const int32_t *row,
                                        const double *value, const sinew_real *points, sinew_error *error);
/* The same, and keeps what sinew_prefactor_refactor needs: the pattern of S, and L in double. */
sinew_prefactor *sinew_prefactor_create_kept(const sinew_allocator *allocator, const sinew_prefactor_kernels *kernels,
                                             int32_t thread_count, int32_t n, const int64_t *column, const int32_t *row,
                                             const double *value, const sinew_real *points, sinew_error *error);
void sinew_prefactor_destroy(sinew_prefactor *prefactor);

/* Gives L in double back, of one that is kept: the next refactor makes room for it again. */
void sinew_prefactor_slim(sinew_prefactor *prefactor);
/* New values [column[n]] in the old pattern; the bits are those of a prefactor made of them. SINEW_ERROR_NUMERIC when S
 * is not positive definite; after a failure solves go on with the old one. Allocates only the first time after slim. */
sinew_status sinew_prefactor_refactor(sinew_prefactor *prefactor, const double *value, sinew_error *error);

/* x = S^-1 b, both [..][4] with a zero fourth number, row i of the matrix at place[i] of the vectors (NULL: i itself).
 * b may be x. Does not allocate. */
void sinew_prefactor_solve(sinew_prefactor *prefactor, const int32_t *place, const sinew_real *b, sinew_real *x);

int64_t sinew_prefactor_size(const sinew_prefactor *prefactor);   /* numbers in L, fillers included */
int64_t sinew_prefactor_memory(const sinew_prefactor *prefactor); /* bytes held */

#endif
