/* SPDX-License-Identifier: MIT
 *
 * line_search.c: backtracking and the strong Wolfe line search. See line_search.h.
 */
#include "solve/line_search.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/reduce.h"
#include "base/stop.h"

#define DELTA            1e-4
#define SHRINK_MIN       0.1 /* smallest factor by which backtracking shrinks alpha; SHRINK_MAX: largest */
#define SHRINK_MAX       0.5
#define ALPHA_MIN        1e-12
#define ALPHA_MAX        10.0
#define CURVATURE        0.9
#define TRIALS_MAX       40
#define BARRIER_FRACTION 0.99 /* longest step, as a fraction of the step to the end of an energy's domain (barrier) */

/* ---- Backtracking on any function ------------------------------------------------------------ */

/* Backtracking step: minimum of the parabola through g(0), g'(0) and g(alpha), clamped to [SHRINK_MIN, SHRINK_MAX]
 * alpha. */
static double shrink_step(double change, double alpha, double slope)
{
    const double curvature = change - alpha * slope;
    const double best = isfinite(change) && curvature > 0 ? -slope * alpha * alpha / (2 * curvature) : 0;
    return fmin(fmax(best, SHRINK_MIN * alpha), SHRINK_MAX * alpha);
}

bool sinew_backtrack(const sinew_backtracking *b, sinew_backtrack_trial *trial, void *context)
{
    double alpha = b->first;
    for (int k = 0; k < b->trials && alpha >= b->min && !sinew_stop_came(); k++) {
        double change = 0;
        if (trial(context, alpha, &change))
            return true;
        alpha = b->factor > 0 ? b->factor * alpha : shrink_step(change, alpha, b->slope);
    }
    return false;
}

/* ---- Searches on the objective --------------------------------------------------------------- */

static bool trial_is_acceptable(const sinew_solve *s, double before, double after, double alpha, double slope,
                                double slope_after)
{
    if (after <= before + DELTA * alpha * slope)
        return true;
    /* Relative round-off of an objective value, a sum of many terms. */
    const double sum_error = sizeof(sinew_real) == 4 ? 1e-5 : 1e-11;
    const double noise = s->value_noise + sum_error * (fabs(s->terms.inertia) + fabs(s->terms.elastic));
    return after <= before + noise && slope_after <= (2 * DELTA - 1) * slope;
}

/* One trial point q + alpha d of a line search: value g (J), slope grad g . d (J), and the terms of g. */
typedef struct point {
    double alpha, value, slope;
    sinew_terms terms;
} point;

static point try_point(sinew_solve *s, const sinew_real *d, double alpha, sinew_real *trial, sinew_real *trial_gradient)
{
    sinew_objective *o = s->objective;
    const int32_t n = o->particle_count, threads = o->thread_count;
    point p = {.alpha = alpha};
    sinew_combine(trial, s->q, (sinew_real)alpha, d, n, threads);
    if (s->contact)
        s->contact->limit(s->contact->context, trial);
    p.value = sinew_objective_gradient(o, trial, trial_gradient, &p.terms);
    p.slope = isfinite(p.value) ? sinew_dot(trial_gradient, d, n, threads) : HUGE_VAL;
    return p;
}

/* The longest step length alpha up to `max` within the domain of every energy, with a margin: near a barrier the value
 * grows without bound and the quadratic model of the search fails. */
static double longest_step(sinew_solve *s, const sinew_real *d, double max)
{
    const double limit = sinew_objective_step_limit(s->objective, s->q, d, max);
    return limit < max ? BARRIER_FRACTION * limit : max;
}

/* Accepts the last trial point: copies its positions, gradient, terms and residual to s. Returns its alpha. */
static double accept_point(sinew_solve *s, const point *p, const sinew_real *trial, const sinew_real *trial_gradient)
{
    const int32_t n = s->objective->particle_count;
    memcpy(s->q, trial, 4 * (size_t)n * sizeof *trial);
    memcpy(s->gradient, trial_gradient, 4 * (size_t)n * sizeof *trial);
    s->terms = p->terms;
    s->residual = sinew_norm(s->gradient, n, s->objective->thread_count);
    return p->alpha;
}

static point start_point(const sinew_solve *s, const sinew_real *d)
{
    const sinew_objective *o = s->objective;
    return (point){.value = s->terms.inertia + s->terms.elastic,
                   .slope = sinew_dot(s->gradient, d, o->particle_count, o->thread_count)};
}

typedef struct objective_trial {
    sinew_solve *s;
    const sinew_real *d;
    sinew_real *trial, *trial_gradient;
    double min; /* steps alpha below this are accepted even if g does not decrease */
    point start, at;
} objective_trial;

static bool try_objective(void *context, double alpha, double *change)
{
    objective_trial *t = context;
    t->at = try_point(t->s, t->d, alpha, t->trial, t->trial_gradient);
    *change = t->at.value - t->start.value;
    return isfinite(t->at.value) &&
           (trial_is_acceptable(t->s, t->start.value, t->at.value, alpha, t->start.slope, t->at.slope) ||
            alpha < t->min);
}

double sinew_line_search_by(sinew_solve *s, const sinew_real *d, double beta, double min, sinew_real *trial,
                            sinew_real *trial_gradient)
{
    objective_trial t = {s, d, trial, trial_gradient, min, .start = start_point(s, d)};
    if (!(t.start.slope < 0))
        return 0;
    const sinew_backtracking lengths = {
        .first = longest_step(s, d, 1), .factor = beta, .slope = t.start.slope, .min = ALPHA_MIN, .trials = INT_MAX};
    return sinew_backtrack(&lengths, try_objective, &t) ? accept_point(s, &t.at, trial, trial_gradient) : 0;
}

double sinew_line_search(sinew_solve *s, const sinew_real *d, sinew_real *trial, sinew_real *trial_gradient)
{
    return sinew_line_search_by(s, d, 0, 0, trial, trial_gradient);
}

/* ---- Strong Wolfe line search ---------------------------------------------------------------- */

/* Bisects between the trial points `low`, the best so far, and `high` until the strong Wolfe curvature condition holds;
 * after TRIALS_MAX trials `low` is accepted without it. Returns the accepted step length; 0 if no point decreases g. */
static double wolfe_zoom(sinew_solve *s, const sinew_real *d, point start, point low, point high, sinew_real *trial,
                         sinew_real *trial_gradient)
{
    for (int i = 0; i < TRIALS_MAX && !sinew_stop_came(); i++) {
        const point p = try_point(s, d, 0.5 * (low.alpha + high.alpha), trial, trial_gradient);
        if (!isfinite(p.value) || !trial_is_acceptable(s, start.value, p.value, p.alpha, start.slope, p.slope) ||
            p.value > low.value) {
            high = p;
            continue;
        }
        if (fabs(p.slope) <= -CURVATURE * start.slope)
            return accept_point(s, &p, trial, trial_gradient);
        if (p.slope * (high.alpha - low.alpha) >= 0)
            high = low;
        low = p;
    }
    if (low.alpha == 0)
        return 0;
    low = try_point(s, d, low.alpha, trial, trial_gradient);
    return accept_point(s, &low, trial, trial_gradient);
}

double sinew_line_search_wolfe(sinew_solve *s, const sinew_real *d, sinew_real *trial, sinew_real *trial_gradient)
{
    const point start = start_point(s, d);
    point last = start;
    if (!(start.slope < 0))
        return 0;
    const double longest = longest_step(s, d, ALPHA_MAX);
    for (double alpha = fmin(1, longest);; alpha = fmin(2 * alpha, longest)) {
        const point p = try_point(s, d, alpha, trial, trial_gradient);
        bool enough = isfinite(p.value) && trial_is_acceptable(s, start.value, p.value, alpha, start.slope, p.slope);
        if (!enough || (last.alpha > 0 && p.value >= last.value))
            return wolfe_zoom(s, d, start, last, p, trial, trial_gradient);
        if (fabs(p.slope) <= -CURVATURE * start.slope || alpha >= longest)
            return accept_point(s, &p, trial, trial_gradient);
        if (p.slope >= 0)
            return wolfe_zoom(s, d, start, p, last, trial, trial_gradient);
        last = p;
    }
}

double sinew_full_step(sinew_solve *s, const sinew_real *d, sinew_real *trial, sinew_real *trial_gradient)
{
    const point p = try_point(s, d, 1, trial, trial_gradient);
    return accept_point(s, &p, trial, trial_gradient);
}
