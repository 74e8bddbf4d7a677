/* SPDX-License-Identifier: MIT
 *
 * bicgstab.c: the BiCGSTAB iteration (bicgstab.h), in the notation of van der Vorst 1992, with K the 3x3 diagonal
 * blocks of A:
 *
 *     rho = r^ . r,  p = r + beta (p - omega v),  v = A K^-1 p,  alpha = rho / (r^ . v),  s = r - alpha v,
 *     t = A K^-1 s,  omega = (t . s) / (t . t),   x += alpha K^-1 p + omega K^-1 s,       r = s - omega t
 */
#include "linear/krylov/bicgstab.h"

#include <math.h>
#include <string.h>

#include "base/reduce.h"
#include "base/stop.h"

/* Inner products below this fraction of the product of their vectors' norms count as zero (breakdown). */
#define BREAKDOWN 1e-14

sinew_status sinew_bicgstab_create(const sinew_allocator *allocator, sinew_bicgstab *s, int32_t count,
                                   int32_t thread_count, sinew_error *error)
{
    *s = (sinew_bicgstab){.count = count, .thread_count = thread_count};
    sinew_real **arrays[] = {&s->r, &s->shadow, &s->p, &s->v, &s->t, &s->z};
    bool good = true;
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        *arrays[i] = sinew_allocate_zero(allocator, 4 * (size_t)count, sizeof **arrays[i]);
        good = good && *arrays[i];
    }
    if (good && sinew_block_inverse_create(allocator, &s->precondition, count, thread_count, NULL) == SINEW_OK)
        return SINEW_OK;
    sinew_bicgstab_destroy(allocator, s);
    return sinew_fail_memory(error, "biconjugate gradients");
}

void sinew_bicgstab_destroy(const sinew_allocator *allocator, sinew_bicgstab *s)
{
    sinew_real *arrays[] = {s->r, s->shadow, s->p, s->v, s->t, s->z};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(allocator, arrays[i]);
    sinew_block_inverse_destroy(allocator, &s->precondition);
    *s = (sinew_bicgstab){0};
}

/* The scalars of the BiCGSTAB recurrence. */
typedef struct recurrence {
    double rho, alpha, omega;
    bool fresh; /* true at a restart: the vectors p and v are not set yet */
} recurrence;

static void bicgstab_restart(sinew_bicgstab *s, recurrence *k)
{
    memcpy(s->shadow, s->r, 4 * (size_t)s->count * sizeof *s->r);
    *k = (recurrence){1, 1, 1, true};
}

/* p = r + beta (p - omega v), the next search direction; false if r is orthogonal to the shadow residual r^ */
static bool next_direction(sinew_bicgstab *s, recurrence *k, double size)
{
    const int32_t n = s->count, threads = s->thread_count;
    const double rho = sinew_dot(s->shadow, s->r, n, threads);
    if (!(fabs(rho) > BREAKDOWN * size * sinew_norm(s->shadow, n, threads)))
        return false;
    if (k->fresh) {
        memcpy(s->p, s->r, 4 * (size_t)n * sizeof *s->p);
    } else {
        const double beta = rho / k->rho * (k->alpha / k->omega);
        sinew_add_scaled(s->p, (sinew_real)-k->omega, s->v, n, threads);
        sinew_combine(s->p, s->r, (sinew_real)beta, s->p, n, threads);
    }
    k->rho = rho;
    k->fresh = false;
    return true;
}

/* One BiCGSTAB iteration from residual r of norm `size`. Returns false if the recurrence breaks down before x
 * changes. */
static bool bicgstab_iterate(sinew_bicgstab *s, recurrence *k, sinew_multiply *multiply, void *context, double size,
                             sinew_real *x)
{
    const int32_t n = s->count, threads = s->thread_count;
    if (!next_direction(s, k, size))
        return false;
    sinew_block_inverse_apply(&s->precondition, s->p, s->z);
    multiply(context, s->z, s->v);
    const double pivot = sinew_dot(s->shadow, s->v, n, threads);
    if (!(fabs(pivot) > BREAKDOWN * sinew_norm(s->shadow, n, threads) * sinew_norm(s->v, n, threads)))
        return false;
    k->alpha = k->rho / pivot;
    sinew_add_scaled(x, (sinew_real)k->alpha, s->z, n, threads);
    sinew_add_scaled(s->r, (sinew_real)-k->alpha, s->v, n, threads);
    sinew_block_inverse_apply(&s->precondition, s->r, s->z);
    multiply(context, s->z, s->t);
    const double tt = sinew_dot(s->t, s->t, n, threads);
    k->omega = tt > 0 ? sinew_dot(s->t, s->r, n, threads) / tt : 0;
    sinew_add_scaled(x, (sinew_real)k->omega, s->z, n, threads);
    sinew_add_scaled(s->r, (sinew_real)-k->omega, s->t, n, threads);
    return true;
}

sinew_bicgstab_result sinew_bicgstab_solve(sinew_bicgstab *s, sinew_multiply *multiply, void *context,
                                           const sinew_real *b, sinew_real *x, double tolerance, int32_t iterations)
{
    const int32_t n = s->count, threads = s->thread_count;
    const double target = sinew_norm(b, n, threads);
    sinew_bicgstab_result result = {0, 0};
    recurrence k;
    memset(x, 0, 4 * (size_t)n * sizeof *x);
    memcpy(s->r, b, 4 * (size_t)n * sizeof *b);
    if (!(target > 0))
        return result;
    bicgstab_restart(s, &k);
    bool first = true; /* true: no successful iteration since the last restart */
    result.residual = 1;
    while (result.iterations < iterations && result.residual > tolerance && isfinite(result.residual) &&
           !sinew_stop_came()) {
        const bool moved = k.omega != 0 && bicgstab_iterate(s, &k, multiply, context, result.residual * target, x);
        if (moved) {
            result.iterations++;
            result.residual = sinew_norm(s->r, n, threads) / target;
        } else if (first) {
            break;
        } else {
            bicgstab_restart(s, &k);
        }
        first = !moved;
    }
    return result;
}
