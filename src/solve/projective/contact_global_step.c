/* SPDX-License-Identifier: MIT
 *
 * contact_global_step.c: see contact_global_step.h.
 */
#include "solve/projective/contact_global_step.h"

#include <math.h>
#include <string.h>

#include "base/reduce.h"

#define NEWTONS 2 /* Newton iterations: the third and fourth double the solves and gain nothing, measured on cloths */
#define TOLERANCE                                                                                                      \
    0.1 /* relative residual of Newton's method: the next local step changes b again; chosen, not measured */
#define DECREASE  1e-4
#define SHRINK    0.1
#define ALPHA_MIN 1e-6

bool sinew_contact_global_step_reserve(sinew_contact_global_step *s, const sinew_global *g, const sinew_objective *o)
{
    sinew_real **const arrays[] = {&s->x, &s->r, &s->t, &s->p, &s->Sp};
    bool good = true;
    for (size_t i = 0; g->has_contacts && i < sizeof arrays / sizeof arrays[0]; i++) {
        if (!*arrays[i])
            *arrays[i] = sinew_allocate_zero(&o->allocator, 4 * (size_t)o->particle_count, sizeof **arrays[i]);
        good = good && *arrays[i];
    }
    return good;
}

void sinew_contact_global_step_release(sinew_contact_global_step *s, const sinew_objective *o)
{
    sinew_real *const arrays[] = {s->x, s->r, s->t, s->p, s->Sp};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&o->allocator, arrays[i]);
    *s = (sinew_contact_global_step){0};
}

/* Moves x to x + alpha p with sufficient decrease of the function that contact_global_step.h defines. Returns alpha. */
static double contact_line_search(sinew_contact_global_step *s, sinew_global *g, const sinew_objective *o,
                                  double before)
{
    const int32_t n = o->particle_count, threads = o->thread_count;
    const double slope = -sinew_dot(s->t, s->p, n, threads), first = -sinew_dot(s->r, s->p, n, threads);
    const double second = sinew_dot(s->p, s->Sp, n, threads);
    double alpha = 1, gone = 0;
    while (slope < 0) {
        sinew_add_scaled(s->x, (sinew_real)(alpha - gone), s->p, n, threads);
        gone = alpha;
        const double change = alpha * first + alpha * alpha / 2 * second +
                              sinew_contact_blocks_value(&g->contact_blocks, o, s->x) - before;
        if (change <= DECREASE * alpha * slope || alpha < ALPHA_MIN)
            break;
        const double best = -slope * alpha * alpha / (2 * (change - alpha * slope));
        alpha = fmin(fmax(best, SHRINK * alpha), 0.5 * alpha);
    }
    return gone;
}

void sinew_contact_global_step_solve(sinew_contact_global_step *s, sinew_global *g, const sinew_objective *o,
                                     const sinew_real *q, sinew_real *b, sinew_real *d)
{
    const int32_t n = o->particle_count, threads = o->thread_count;
    const size_t size = 4 * (size_t)n;
    double target = 0;
    memcpy(s->x, q, size * sizeof *q);
    memcpy(s->r, b, size * sizeof *b);
    for (int k = 0; k < NEWTONS; k++) {
        memcpy(s->t, s->r, size * sizeof *s->t);
        /* t = minus the gradient of the minimised function: b - S d - psi_c'(q + d). */
        const double value = sinew_contact_blocks_subtract_gradient(&g->contact_blocks, o, s->x, s->t);
        const double residual = sinew_norm(s->t, n, threads);
        target = k == 0 ? TOLERANCE * residual : target;
        if (!(residual > target))
            break;
        sinew_global_linearise(g, o, s->x);
        sinew_global_solve(g, o, s->t, s->p);
        sinew_global_multiply(g, o, s->p, s->Sp);
        const double alpha = contact_line_search(s, g, o, value);
        sinew_add_scaled(s->r, (sinew_real)-alpha, s->Sp, n, threads);
    }
    for (size_t i = 0; i < size; i++) {
        b[i] -= s->r[i];
        d[i] = s->x[i] - q[i];
    }
}
