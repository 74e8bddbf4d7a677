/* SPDX-License-Identifier: MIT
 *
 * bicgstab.h: stabilised biconjugate gradients (van der Vorst 1992) for A x = b, A given as a product and of any
 * definiteness.
 *
 * Vectors are [count][4] reals (base/reduce.h); sums are taken in double in a fixed order. The inverse 3x3 diagonal
 * blocks precondition from the right, so the monitored residual is that of A x = b itself. An iteration costs two
 * products. If a pivot of the recurrence vanishes, the iteration restarts from the residual; if the first iteration
 * after a restart fails, the method stops with the current x.
 */
#ifndef SINEW_SRC_LINEAR_KRYLOV_BICGSTAB_H
#define SINEW_SRC_LINEAR_KRYLOV_BICGSTAB_H

#include "linear/krylov/block_jacobi.h"
#include "linear/krylov/pcg.h"

typedef struct sinew_bicgstab {
    int32_t count, thread_count;
    sinew_real *r, *shadow, *p, *v, *t, *z; /* [count][4] work space: the vectors of the BiCGSTAB recurrence */
    sinew_block_inverse precondition;
} sinew_bicgstab;

typedef struct sinew_bicgstab_result {
    int32_t iterations;
    double residual; /* relative residual |b - A x| / |b| */
} sinew_bicgstab_result;

sinew_status sinew_bicgstab_create(const sinew_allocator *allocator, sinew_bicgstab *solver, int32_t count,
                                   int32_t thread_count, sinew_error *error);
void sinew_bicgstab_destroy(const sinew_allocator *allocator, sinew_bicgstab *solver);
/* Solves A x = b from x = 0 until |b - A x| is below `tolerance` times |b| or `iterations` are done. The preconditioner
 * must have been set. */
sinew_bicgstab_result sinew_bicgstab_solve(sinew_bicgstab *solver, sinew_multiply *multiply, void *context,
                                           const sinew_real *b, sinew_real *x, double tolerance, int32_t iterations);

#endif
