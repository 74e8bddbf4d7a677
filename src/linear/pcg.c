/* SPDX-License-Identifier: MIT
 *
 * pcg.c: see pcg.h. Hestenes and Stiefel 1952, in the notation of Nocedal and Wright, algorithm 5.3.
 */
#include "linear/pcg.h"

#include <math.h>
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
    pcg->inverse = sinew_allocate_zero(allocator, 9 * (size_t)count, sizeof *pcg->inverse);
    if (pcg->r && pcg->z && pcg->p && pcg->Ap && pcg->inverse)
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
    sinew_release(allocator, pcg->inverse);
    *pcg = (sinew_pcg){0};
}

/* inverse = A^-1 by cofactors; false when A is not safely positive definite */
static bool invert_block(const double A[9], double inverse[9])
{
    double c0 = A[4] * A[8] - A[5] * A[7], c1 = A[5] * A[6] - A[3] * A[8], c2 = A[3] * A[7] - A[4] * A[6];
    double det = A[0] * c0 + A[1] * c1 + A[2] * c2, size = A[0] + A[4] + A[8];
    double minor = A[0] * A[4] - A[1] * A[3];
    if (!(A[0] > 0 && minor > 0 && det > 1e-12 * size * size * size))
        return false;
    const double cofactors[9] = {c0, A[2] * A[7] - A[1] * A[8], A[1] * A[5] - A[2] * A[4],
                                 c1, A[0] * A[8] - A[2] * A[6], A[2] * A[3] - A[0] * A[5],
                                 c2, A[1] * A[6] - A[0] * A[7], minor};
    for (int i = 0; i < 9; i++)
        inverse[i] = cofactors[i] / det;
    return true;
}

void sinew_pcg_set_diagonal(sinew_pcg *pcg, const double *blocks)
{
#pragma omp parallel for schedule(static) num_threads(pcg->thread_count) if (pcg->count >= SINEW_PARALLEL_PARTICLES)
    for (int32_t i = 0; i < pcg->count; i++) {
        const double *A = blocks + 9 * (size_t)i;
        double inverse[9] = {0};
        if (!invert_block(A, inverse)) {
            double size = fmax(fabs(A[0]), fmax(fabs(A[4]), fabs(A[8])));
            inverse[0] = inverse[4] = inverse[8] = size > 0 ? 1 / size : 1;
        }
        for (size_t k = 0; k < 9; k++)
            pcg->inverse[9 * (size_t)i + k] = (sinew_real)inverse[k];
    }
}

/* z = P r */
static void precondition(const sinew_pcg *pcg)
{
#pragma omp parallel for schedule(static) num_threads(pcg->thread_count) if (pcg->count >= SINEW_PARALLEL_PARTICLES)
    for (int32_t i = 0; i < pcg->count; i++) {
        const sinew_real *P = pcg->inverse + 9 * (size_t)i, *r = pcg->r + 4 * (size_t)i;
        sinew_real *z = pcg->z + 4 * (size_t)i;
        for (size_t c = 0; c < 3; c++)
            z[c] = P[3 * c] * r[0] + P[3 * c + 1] * r[1] + P[3 * c + 2] * r[2];
    }
}

sinew_pcg_result sinew_pcg_solve(sinew_pcg *pcg, sinew_multiply *multiply, void *context, const sinew_real *b,
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
    precondition(pcg);
    memcpy(pcg->p, pcg->z, bytes);
    double rz = sinew_dot(pcg->r, pcg->z, n, threads);
    result.residual = 1;
    while (result.iterations < iterations && result.residual > tolerance) {
        multiply(context, pcg->p, pcg->Ap);
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
        precondition(pcg);
        double next = sinew_dot(pcg->r, pcg->z, n, threads);
        sinew_combine(pcg->p, pcg->z, (sinew_real)(next / rz), pcg->p, n, threads); /* p = z + beta p */
        rz = next;
        result.iterations++;
        result.residual = sinew_norm(pcg->r, n, threads) / target;
    }
    return result;
}
