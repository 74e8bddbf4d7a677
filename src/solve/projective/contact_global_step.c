/* SPDX-License-Identifier: MIT
 *
 * contact_global_step.c: Newton's method for the global step with contacts. See contact_global_step.h.
 */
#include "solve/projective/contact_global_step.h"

#include <limits.h>
#include <string.h>

#include "base/reduce.h"
#include "base/stop.h"
#include "solve/line_search.h"

/* Newton iterations of a global step: a third and fourth double the solves and gain nothing, measured on cloths */
#define NEWTONS 2
/* Relative residual of the global step's Newton method: the next local step changes b again; chosen, not measured. */
#define TOLERANCE 0.1
#define DECREASE  1e-4
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

/* The minimised function along p, for the line search: the parabola of the global matrix S and the right-hand side
 * b, plus the energy of contacts. */
typedef struct contact_trial {
    sinew_contact_global_step *step;
    const sinew_contact_blocks *blocks;
    const sinew_objective *o;
    /* at alpha = 0: energy of contacts, slope of the function, first and second derivative of the parabola */
    double before, slope, first, second;
    double at; /* step length alpha of the trial positions in step->x */
} contact_trial;

static bool try_contacts(void *context, double alpha, double *change)
{
    contact_trial *t = context;
    const sinew_objective *o = t->o;
    sinew_add_scaled(t->step->x, (sinew_real)(alpha - t->at), t->step->p, o->particle_count, o->thread_count);
    t->at = alpha;
    *change = alpha * t->first + alpha * alpha / 2 * t->second + sinew_contact_blocks_value(t->blocks, o, t->step->x) -
              t->before;
    return *change <= DECREASE * alpha * t->slope || alpha < ALPHA_MIN;
}

/* Moves x to x + alpha p with sufficient decrease of the function of contact_global_step.h, or with an alpha below
 * ALPHA_MIN. Returns alpha; 0 if p is no descent direction. */
static double contact_line_search(sinew_contact_global_step *s, sinew_global *g, const sinew_objective *o,
                                  double before)
{
    const int32_t n = o->particle_count, threads = o->thread_count;
    contact_trial t = {.step = s,
                       .blocks = &g->contact_blocks,
                       .o = o,
                       .before = before,
                       .slope = -sinew_dot(s->t, s->p, n, threads),
                       .first = -sinew_dot(s->r, s->p, n, threads),
                       .second = sinew_dot(s->p, s->Sp, n, threads)};
    const sinew_backtracking lengths = {.first = 1, .slope = t.slope, .trials = INT_MAX};
    if (t.slope < 0)
        sinew_backtrack(&lengths, try_contacts, &t);
    return t.at;
}

void sinew_contact_global_step_solve(sinew_contact_global_step *s, sinew_global *g, const sinew_objective *o,
                                     const sinew_real *q, sinew_real *b, sinew_real *d)
{
    const int32_t n = o->particle_count, threads = o->thread_count;
    const size_t size = 4 * (size_t)n;
    double target = 0;
    memcpy(s->x, q, size * sizeof *q);
    memcpy(s->r, b, size * sizeof *b);
    for (int k = 0; k < NEWTONS && !sinew_stop_came(); k++) {
        memcpy(s->t, s->r, size * sizeof *s->t);
        /* t = minus the gradient of the minimised function: b - S d - psi_c'(q + d), with the global matrix S and
         * the contact energy psi_c. */
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
