/* SPDX-License-Identifier: MIT
 *
 * pcg.h: preconditioned conjugate gradients for A x = b, A symmetric, given as a product.
 *
 * Vectors are [count][4] reals (base/reduce.h); sums are taken in double in a fixed order. The preconditioner is the
 * caller's: the inverse 3x3 diagonal blocks (block_jacobi.h) or less. Where A shows negative curvature along a
 * direction, the iteration stops with what it has so far (Steihaug 1983): the result is still a descent direction when
 * b is minus a gradient.
 */
#ifndef SINEW_SRC_LINEAR_KRYLOV_PCG_H
#define SINEW_SRC_LINEAR_KRYLOV_PCG_H

#include "base/base.h"

typedef struct sinew_pcg {
    int32_t count, thread_count;
    sinew_real *r, *z, *p, *Ap; /* [count][4] work space */
} sinew_pcg;

typedef struct sinew_pcg_result {
    int32_t iterations;
    double residual; /* |b - A x| / |b| */
    double decrease; /* b . x - x . A x / 2: what x has gained, from below towards b . A^-1 b / 2 */
    bool indefinite; /* stopped on negative curvature */
    bool settled;    /* stopped because the decrease grew no more */
} sinew_pcg_result;

typedef void sinew_multiply(void *context, const sinew_real *x, sinew_real *Ax);

/* A matrix by what it does to a vector. */
typedef struct sinew_linear_map {
    sinew_multiply *apply;
    void *context;
} sinew_linear_map;

sinew_status sinew_pcg_create(const sinew_allocator *allocator, sinew_pcg *pcg, int32_t count, int32_t thread_count,
                              sinew_error *error);
void sinew_pcg_destroy(const sinew_allocator *allocator, sinew_pcg *pcg);
/* From x = 0 until the residual is below `tolerance` relative to b or `iterations` are done; P is about A^-1. */
sinew_pcg_result sinew_pcg_solve(sinew_pcg *pcg, sinew_linear_map A, sinew_linear_map P, const sinew_real *b,
                                 sinew_real *x, double tolerance, int32_t iterations);
/* The same for (P^-1 + C) x = b, without products with P^-1: directions are sums of P r, so that P^-1 times them is
 * known. b is used up. */
sinew_pcg_result sinew_pcg_solve_beside(sinew_pcg *pcg, sinew_linear_map C, sinew_linear_map P, sinew_real *b,
                                        sinew_real *x, double tolerance, int32_t iterations);
/* sinew_pcg_solve until the decrease has settled: the last third of the iterations, and at least SINEW_PCG_WINDOW of
 * them, added less than `part` of it. At most SINEW_PCG_SETTLE_MOST iterations. */
#define SINEW_PCG_WINDOW      8
#define SINEW_PCG_SETTLE_MOST 1024
sinew_pcg_result sinew_pcg_settle(sinew_pcg *pcg, sinew_linear_map A, sinew_linear_map P, const sinew_real *b,
                                  sinew_real *x, double part, int32_t iterations);

#endif
