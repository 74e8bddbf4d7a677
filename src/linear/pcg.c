/* SPDX-License-Identifier: MIT
 *
 * pcg.c: see pcg.h. Hestenes and Stiefel 1952, in the notation of Nocedal and Wright, algorithm 5.3.
 */
#include "linear/pcg.h"

#include <string.h>

#include "base/reduce.h"

sinew_status sinew_pcg_create(const sinew_allocator *allocator, sinew_pcg *pcg, int32_t count, int32_t thread_count,
                              sinew_error *error)
{
    size_t size = 4 * (size_t)count;
    *pcg = (sinew_pcg){.count = count, .thread_count = thread_count};
    pcg->r = sinew_allocate_zero(allocator, size, sizeof *pcg->r);
    pcg->z = sinew_allocate_zero(allocator, size, sizeof *pcg->z);
    pcg->p = sinew_allocate_zero(allocator, size, sizeof *pcg->p);
    pcg->Ap = sinew_allocate_zero(allocator, size, sizeof *pcg->Ap);
    if (pcg->r && pcg->z && pcg->p && pcg->Ap)
        return SINEW_OK;
    sinew_pcg_destroy(allocator, pcg);
    return sinew_fail_memory(error, "conjugate gradients");
}

void sinew_pcg_destroy(const sinew_allocator *allocator, sinew_pcg *pcg)
{
    sinew_release(allocator, pcg->r);
    sinew_release(allocator, pcg->z);
    sinew_release(allocator, pcg->p);
    sinew_release(allocator, pcg->Ap);
    *pcg = (sinew_pcg){0};
}

sinew_pcg_result sinew_pcg_solve(sinew_pcg *pcg, sinew_linear_map A, sinew_linear_map P, const sinew_real *b,
                                 sinew_real *x, double tolerance, int32_t iterations)
{
    const int32_t n = pcg->count, threads = pcg->thread_count;
    const size_t bytes = 4 * (size_t)n * sizeof *x;
    sinew_pcg_result result = {0, 0, false};
    const double target = sinew_norm(b, n, threads);
    memset(x, 0, bytes);
    memcpy(pcg->r, b, bytes);
    if (!(target > 0))
        return result;
    P.apply(P.context, pcg->r, pcg->z); /* z = P r */
    memcpy(pcg->p, pcg->z, bytes);
    double rz = sinew_dot(pcg->r, pcg->z, n, threads);
    result.residual = 1;
    while (result.iterations < iterations && result.residual > tolerance) {
        A.apply(A.context, pcg->p, pcg->Ap);
        double curvature = sinew_dot(pcg->p, pcg->Ap, n, threads);
        if (!(curvature > 0)) {
            /* Nothing gathered yet: the preconditioned gradient is the best direction there is. */
            if (result.iterations == 0)
                memcpy(x, pcg->p, bytes);
            result.indefinite = true;
            break;
        }
        double alpha = rz / curvature;
        sinew_add_scaled(x, (sinew_real)alpha, pcg->p, n, threads);        /* x += alpha p */
        sinew_add_scaled(pcg->r, (sinew_real)-alpha, pcg->Ap, n, threads); /* r -= alpha A p */
        P.apply(P.context, pcg->r, pcg->z);
        double next = sinew_dot(pcg->r, pcg->z, n, threads);
        sinew_combine(pcg->p, pcg->z, (sinew_real)(next / rz), pcg->p, n, threads); /* p = z + beta p */
        rz = next;
        result.iterations++;
        result.residual = sinew_norm(pcg->r, n, threads) / target;
    }
    return result;
}
