/* SPDX-License-Identifier: MIT
 *
 * pcg.h: preconditioned conjugate gradients for A x = b, A symmetric, given as a product.
 *
 * Vectors are [count][4] reals (base/reduce.h); sums are taken in double in a fixed order. The caller gives the
 * preconditioner, such as the inverse 3x3 diagonal blocks (block_jacobi.h). If the curvature along a direction is not
 * positive, the iteration stops with its current x, the first iteration with x = P b (Steihaug 1983): x is still a
 * descent direction if b is minus a gradient.
 */
#ifndef SINEW_SRC_LINEAR_KRYLOV_PCG_H
#define SINEW_SRC_LINEAR_KRYLOV_PCG_H

#include "base/base.h"

typedef struct sinew_pcg {
    int32_t count, thread_count;
    sinew_real *r, *z, *p, *Ap; /* [count][4] work space: residual, preconditioned residual, direction p and A p */
} sinew_pcg;

typedef struct sinew_pcg_result {
    int32_t iterations;
    double residual; /* relative residual |b - A x| / |b|, from the recurrence of CG */
    double decrease; /* b . x - x . A x / 2: decrease of the quadratic by x, a lower bound of b . A^-1 b / 2 */
    bool indefinite; /* true: stopped because the curvature along a direction was not positive */
    bool stalled;    /* true: stopped because `decrease` and |x| hardly grew any more */
} sinew_pcg_result;

typedef void sinew_multiply(void *context, const sinew_real *x, sinew_real *Ax);

/* A linear map (matrix or preconditioner), given as its product with a vector. */
typedef struct sinew_linear_map {
    sinew_multiply *apply;
    void *context;
} sinew_linear_map;

sinew_status sinew_pcg_create(const sinew_allocator *allocator, sinew_pcg *pcg, int32_t count, int32_t thread_count,
                              sinew_error *error);
void sinew_pcg_destroy(const sinew_allocator *allocator, sinew_pcg *pcg);
/* Solves A x = b from x = 0 until |b - A x| is below `tolerance` times |b| or `iterations` are done; the
 * preconditioner P approximates A^-1. */
sinew_pcg_result sinew_pcg_solve(sinew_pcg *pcg, sinew_linear_map A, sinew_linear_map P, const sinew_real *b,
                                 sinew_real *x, double tolerance, int32_t iterations);
/* Solves (P^-1 + C) x = b without products with P^-1, P the preconditioner: search directions are sums of vectors P
 * r, whose products with P^-1 are known. b is overwritten. */
sinew_pcg_result sinew_pcg_solve_with_term(sinew_pcg *pcg, sinew_linear_map C, sinew_linear_map P, sinew_real *b,
                                           sinew_real *x, double tolerance, int32_t iterations);
/* Solves A x = b by CG until the decrease of the quadratic and |x| stall: the last third of the iterations, and at
 * least SINEW_PCG_WINDOW of them, changed each of both by at most `fraction` of it. Without a preconditioner |x| grows
 * with every iteration (Steihaug 1983); soft modes add to it late. At most SINEW_PCG_STALL_MAX iterations. */
#define SINEW_PCG_WINDOW    8
#define SINEW_PCG_STALL_MAX 1024
sinew_pcg_result sinew_pcg_solve_until_stalled(sinew_pcg *pcg, sinew_linear_map A, sinew_linear_map P,
                                               const sinew_real *b, sinew_real *x, double fraction, int32_t iterations);
/* Lanczos' method, run as conjugate gradients on A x = b. The coefficients form a tridiagonal matrix, whose extreme
 * eigenvalues converge to those of P A from inside (Golub and Van Loan, Matrix Computations, 4th ed., 10.2, 11.3).
 * Writes the diagonal and off-diagonal of this matrix, at most `steps` entries each, and returns their number.
 * Iterations end when r . P r is below `fraction` of its first value or the curvature is not positive. */
int32_t sinew_pcg_lanczos(sinew_pcg *pcg, sinew_linear_map A, sinew_linear_map P, const sinew_real *b, double fraction,
                          int32_t steps, double *diagonal, double *off_diagonal);

#endif
