/* SPDX-License-Identifier: MIT
 *
 * line_search.c: backtracking on the objective. See line_search.h.
 */
#include "solve/line_search.h"

#include <math.h>
#include <string.h>

#include "base/reduce.h"

#define DELTA        1e-4
#define SHRINK_LEAST 0.1 /* bounds of one backtracking step */
#define SHRINK_MOST  0.5
#define ALPHA_LEAST  1e-12

static bool good_enough(const sinew_solve *s, double before, double after, double alpha, double slope,
                        double slope_after)
{
    if (after <= before + DELTA * alpha * slope)
        return true;
    /* Sums of many terms agree to about this much of their size. */
    const double sum_error = sizeof(sinew_real) == 4 ? 1e-5 : 1e-11;
    const double noise = s->value_noise + sum_error * (fabs(s->terms.inertia) + fabs(s->terms.elastic));
    return after <= before + noise && slope_after <= (2 * DELTA - 1) * slope;
}

/* Where the parabola through g(0), g'(0) and g(alpha) is lowest, kept within bounds. */
static double shrink(double before, double after, double alpha, double slope)
{
    double curvature = after - before - alpha * slope;
    double best = isfinite(after) && curvature > 0 ? -slope * alpha * alpha / (2 * curvature) : 0;
    return fmin(fmax(best, SHRINK_LEAST * alpha), SHRINK_MOST * alpha);
}

double sinew_line_search(sinew_solve *s, const sinew_real *d, sinew_real *trial, sinew_real *trial_gradient)
{
    sinew_objective *o = s->objective;
    const int32_t n = o->particle_count, threads = o->thread_count;
    const double before = s->terms.inertia + s->terms.elastic;
    const double slope = sinew_dot(s->gradient, d, n, threads);
    if (!(slope < 0))
        return 0;
    for (double alpha = 1; alpha > ALPHA_LEAST;) {
        sinew_terms terms;
        sinew_combine(trial, s->q, (sinew_real)alpha, d, n, threads);
        double after = sinew_objective_gradient(o, trial, trial_gradient, &terms);
        double slope_after = isfinite(after) ? sinew_dot(trial_gradient, d, n, threads) : HUGE_VAL;
        if (isfinite(after) && good_enough(s, before, after, alpha, slope, slope_after)) {
            memcpy(s->q, trial, 4 * (size_t)n * sizeof *trial);
            memcpy(s->gradient, trial_gradient, 4 * (size_t)n * sizeof *trial);
            s->terms = terms;
            s->residual = sinew_norm(s->gradient, n, threads);
            return alpha;
        }
        alpha = shrink(before, after, alpha, slope);
    }
    return 0;
}
