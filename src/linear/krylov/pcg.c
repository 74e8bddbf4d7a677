/* SPDX-License-Identifier: MIT
 *
 * pcg.c: conjugate gradients with three stopping rules, and Lanczos' method. See pcg.h.
 */
#include "linear/krylov/pcg.h"

#include <math.h>
#include <string.h>

#include "base/reduce.h"
#include "base/stop.h"
#include "linear/krylov/cg.h"

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

/* Stopping rule of CG: the relative residual is at most `tolerance`, or, if there is a history, decrease and |x|
 * stall. */
typedef struct stopping {
    double tolerance, fraction;
    int32_t iterations;
    /* [iterations] decrease b . x - x . A x / 2 and |x| after each iteration; NULL: not recorded */
    double *history, *lengths;
} stopping;

static bool pcg_has_stalled(const stopping *stop, const sinew_pcg_result *result)
{
    const int32_t k = result->iterations, window = k / 3 > SINEW_PCG_WINDOW ? k / 3 : SINEW_PCG_WINDOW;
    if (!stop->history || k <= window)
        return false;
    const double length = stop->lengths[k - 1];
    return result->decrease - stop->history[k - 1 - window] <= stop->fraction * result->decrease &&
           fabs(length - stop->lengths[k - 1 - window]) <= stop->fraction * length;
}

/* The vectors and linear maps of one CG run. */
typedef struct pcg_run {
    sinew_pcg *pcg;
    sinew_linear_map A, P; /* A: the matrix, or the matrix minus P^-1 if w is set; P: the preconditioner */
    /* [count][4] P^-1 p, which products with A + P^-1 need (preconditioner P); NULL: not computed */
    sinew_real *w;
    sinew_real *x; /* [count][4] solution; NULL: Lanczos, which needs only the coefficients */
} pcg_run;

static double pcg_multiply(void *context)
{
    const pcg_run *run = context;
    const sinew_pcg *pcg = run->pcg;
    run->A.apply(run->A.context, pcg->p, pcg->Ap);
    if (run->w)
        sinew_add_scaled(pcg->Ap, 1, run->w, pcg->count, pcg->thread_count);
    return sinew_dot(pcg->p, pcg->Ap, pcg->count, pcg->thread_count);
}

static double pcg_advance(void *context, double alpha)
{
    const pcg_run *run = context;
    const sinew_pcg *pcg = run->pcg;
    if (run->x)
        sinew_add_scaled(run->x, (sinew_real)alpha, pcg->p, pcg->count, pcg->thread_count);
    sinew_add_scaled(pcg->r, (sinew_real)-alpha, pcg->Ap, pcg->count, pcg->thread_count);
    run->P.apply(run->P.context, pcg->r, pcg->z);
    return sinew_dot(pcg->r, pcg->z, pcg->count, pcg->thread_count);
}

static void pcg_update_direction(void *context, double beta)
{
    const pcg_run *run = context;
    const sinew_pcg *pcg = run->pcg;
    sinew_combine(pcg->p, pcg->z, (sinew_real)beta, pcg->p, pcg->count, pcg->thread_count);
    if (run->w) /* w = P^-1 p = r + beta w, P the preconditioner */
        sinew_combine(run->w, pcg->r, (sinew_real)beta, run->w, pcg->count, pcg->thread_count);
}

/* Starts CG at x = 0: residual r = b, z = P r with the preconditioner P, direction p = z. */
static sinew_cg pcg_begin(const pcg_run *run, const sinew_real *b)
{
    const sinew_pcg *pcg = run->pcg;
    const size_t bytes = 4 * (size_t)pcg->count * sizeof *b;
    memcpy(pcg->r, b, bytes);
    run->P.apply(run->P.context, pcg->r, pcg->z);
    memcpy(pcg->p, pcg->z, bytes);
    return (sinew_cg){.rz = sinew_dot(pcg->r, pcg->z, pcg->count, pcg->thread_count)};
}

static sinew_pcg_result pcg_solve(pcg_run run, const sinew_real *b, const stopping *stop)
{
    const sinew_pcg *pcg = run.pcg;
    const size_t bytes = 4 * (size_t)pcg->count * sizeof *b;
    const sinew_cg_vectors vectors = {pcg_multiply, pcg_advance, pcg_update_direction, &run};
    sinew_pcg_result result = {.residual = 0};
    const double target = sinew_norm(b, pcg->count, pcg->thread_count);
    memset(run.x, 0, bytes);
    if (!(target > 0))
        return result;
    sinew_cg cg = pcg_begin(&run, b);
    result.residual = 1;
    while (result.iterations < stop->iterations && result.residual > stop->tolerance && !result.stalled &&
           !sinew_stop_came()) {
        const double rz = cg.rz;
        if (!sinew_cg_iterate(&cg, &vectors)) {
            /* Negative curvature at the first iteration: the preconditioned residual is the only known direction. */
            if (result.iterations == 0)
                memcpy(run.x, pcg->p, bytes);
            result.indefinite = true;
            break;
        }
        result.decrease += 0.5 * cg.alpha * rz;
        if (stop->history) {
            stop->history[result.iterations] = result.decrease;
            stop->lengths[result.iterations] = sinew_norm(run.x, pcg->count, pcg->thread_count);
        }
        result.iterations++;
        result.residual = sinew_norm(pcg->r, pcg->count, pcg->thread_count) / target;
        result.stalled = pcg_has_stalled(stop, &result);
    }
    return result;
}

sinew_pcg_result sinew_pcg_solve(sinew_pcg *pcg, sinew_linear_map A, sinew_linear_map P, const sinew_real *b,
                                 sinew_real *x, double tolerance, int32_t iterations)
{
    return pcg_solve((pcg_run){.pcg = pcg, .A = A, .P = P, .x = x}, b,
                     &(stopping){.tolerance = tolerance, .iterations = iterations});
}

sinew_pcg_result sinew_pcg_solve_with_term(sinew_pcg *pcg, sinew_linear_map C, sinew_linear_map P, sinew_real *b,
                                           sinew_real *x, double tolerance, int32_t iterations)
{
    return pcg_solve((pcg_run){.pcg = pcg, .A = C, .P = P, .w = b, .x = x}, b,
                     &(stopping){.tolerance = tolerance, .iterations = iterations});
}

sinew_pcg_result sinew_pcg_solve_until_stalled(sinew_pcg *pcg, sinew_linear_map A, sinew_linear_map P,
                                               const sinew_real *b, sinew_real *x, double fraction, int32_t iterations)
{
    double history[SINEW_PCG_STALL_MAX], lengths[SINEW_PCG_STALL_MAX];
    const int32_t max = iterations < SINEW_PCG_STALL_MAX ? iterations : SINEW_PCG_STALL_MAX;
    /* Residual at round-off, which ends the iteration; the residual may oscillate long after the decrease stalls. */
    const double floor = sizeof(sinew_real) == 4 ? 1e-6 : 1e-14;
    sinew_pcg_result result = pcg_solve(
        (pcg_run){.pcg = pcg, .A = A, .P = P, .x = x}, b,
        &(stopping){
            .tolerance = floor, .fraction = fraction, .iterations = max, .history = history, .lengths = lengths});
    result.stalled = result.stalled || result.residual <= floor;
    return result;
}

int32_t sinew_pcg_lanczos(sinew_pcg *pcg, sinew_linear_map A, sinew_linear_map P, const sinew_real *b, double fraction,
                          int32_t steps, double *diagonal, double *off_diagonal)
{
    pcg_run run = {.pcg = pcg, .A = A, .P = P};
    const sinew_cg_vectors vectors = {pcg_multiply, pcg_advance, pcg_update_direction, &run};
    sinew_cg cg = pcg_begin(&run, b), before = {.alpha = 1};
    const double enough = fraction * cg.rz;
    int32_t count = 0;
    for (; count < steps && cg.rz > enough && !sinew_stop_came() && sinew_cg_iterate(&cg, &vectors); count++) {
        diagonal[count] = 1 / cg.alpha + before.beta / before.alpha;
        off_diagonal[count] = sqrt(fmax(cg.beta, 0)) / cg.alpha;
        before = cg;
    }
    return count;
}
