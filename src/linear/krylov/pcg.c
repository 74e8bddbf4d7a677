/* SPDX-License-Identifier: MIT
 *
 * pcg.c: see pcg.h. Hestenes and Stiefel 1952, in the notation of Nocedal and Wright, algorithm 5.3.
 */
#include "linear/krylov/pcg.h"

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

/* Stopping rule: the residual is small (fraction = 0), or the decrease stalls. */
typedef struct stopping {
    double tolerance, fraction;
    int32_t iterations;
    double *history; /* [iterations] decrease after each iteration; NULL if fraction is 0 */
} stopping;

static bool stalled(const stopping *stop, const sinew_pcg_result *result)
{
    const int32_t k = result->iterations, window = k / 3 > SINEW_PCG_WINDOW ? k / 3 : SINEW_PCG_WINDOW;
    if (!stop->history || k <= window)
        return false;
    return result->decrease - stop->history[k - 1 - window] <= stop->fraction * result->decrease;
}

/* The linear maps of an iteration. */
typedef struct matrices {
    sinew_linear_map A, P; /* A: the matrix, or the matrix minus P^-1 if w is set; P: the preconditioner */
    sinew_real *w;         /* [count][4] P^-1 p, or NULL */
} matrices;

static void multiply(const sinew_pcg *pcg, const matrices *m)
{
    m->A.apply(m->A.context, pcg->p, pcg->Ap);
    if (m->w)
        sinew_add_scaled(pcg->Ap, 1, m->w, pcg->count, pcg->thread_count);
}

/* One iteration: updates x, r and p. False if the curvature along p is not positive. */
static bool iterate(sinew_pcg *pcg, const matrices *m, sinew_real *x, double *rz, double *decrease)
{
    const int32_t n = pcg->count, threads = pcg->thread_count;
    multiply(pcg, m);
    const double curvature = sinew_dot(pcg->p, pcg->Ap, n, threads);
    if (!(curvature > 0))
        return false;
    const double alpha = *rz / curvature;
    sinew_add_scaled(x, (sinew_real)alpha, pcg->p, n, threads);        /* x += alpha p */
    sinew_add_scaled(pcg->r, (sinew_real)-alpha, pcg->Ap, n, threads); /* r -= alpha A p */
    m->P.apply(m->P.context, pcg->r, pcg->z);
    const double next = sinew_dot(pcg->r, pcg->z, n, threads);
    sinew_combine(pcg->p, pcg->z, (sinew_real)(next / *rz), pcg->p, n, threads); /* p = z + beta p */
    if (m->w)
        sinew_combine(m->w, pcg->r, (sinew_real)(next / *rz), m->w, n, threads); /* P^-1 p = r + beta P^-1 p */
    *decrease += 0.5 * alpha * *rz;
    *rz = next;
    return true;
}

static sinew_pcg_result run(sinew_pcg *pcg, const matrices *m, const sinew_real *b, sinew_real *x, const stopping *stop)
{
    const int32_t n = pcg->count, threads = pcg->thread_count;
    const size_t bytes = 4 * (size_t)n * sizeof *x;
    sinew_pcg_result result = {.residual = 0};
    const double target = sinew_norm(b, n, threads);
    memset(x, 0, bytes);
    memcpy(pcg->r, b, bytes);
    if (!(target > 0))
        return result;
    m->P.apply(m->P.context, pcg->r, pcg->z); /* z = P r */
    memcpy(pcg->p, pcg->z, bytes);
    double rz = sinew_dot(pcg->r, pcg->z, n, threads);
    result.residual = 1;
    while (result.iterations < stop->iterations && result.residual > stop->tolerance && !result.stalled) {
        if (!iterate(pcg, m, x, &rz, &result.decrease)) {
            /* At the first iteration the preconditioned residual is the only known direction. */
            if (result.iterations == 0)
                memcpy(x, pcg->p, bytes);
            result.indefinite = true;
            break;
        }
        if (stop->history)
            stop->history[result.iterations] = result.decrease;
        result.iterations++;
        result.residual = sinew_norm(pcg->r, n, threads) / target;
        result.stalled = stalled(stop, &result);
    }
    return result;
}

sinew_pcg_result sinew_pcg_solve(sinew_pcg *pcg, sinew_linear_map A, sinew_linear_map P, const sinew_real *b,
                                 sinew_real *x, double tolerance, int32_t iterations)
{
    return run(pcg, &(matrices){.A = A, .P = P}, b, x, &(stopping){.tolerance = tolerance, .iterations = iterations});
}

sinew_pcg_result sinew_pcg_solve_with_term(sinew_pcg *pcg, sinew_linear_map C, sinew_linear_map P, sinew_real *b,
                                           sinew_real *x, double tolerance, int32_t iterations)
{
    return run(pcg, &(matrices){.A = C, .P = P, .w = b}, b, x,
               &(stopping){.tolerance = tolerance, .iterations = iterations});
}

sinew_pcg_result sinew_pcg_solve_until_stalled(sinew_pcg *pcg, sinew_linear_map A, sinew_linear_map P,
                                               const sinew_real *b, sinew_real *x, double fraction, int32_t iterations)
{
    double history[SINEW_PCG_STALL_MAX];
    const int32_t max = iterations < SINEW_PCG_STALL_MAX ? iterations : SINEW_PCG_STALL_MAX;
    /* The residual may oscillate long after the decrease stalls; a residual at round-off ends the iteration. */
    const double floor = sizeof(sinew_real) == 4 ? 1e-6 : 1e-14;
    sinew_pcg_result result =
        run(pcg, &(matrices){.A = A, .P = P}, b, x,
            &(stopping){.tolerance = floor, .fraction = fraction, .iterations = max, .history = history});
    result.stalled = result.stalled || result.residual <= floor;
    return result;
}
