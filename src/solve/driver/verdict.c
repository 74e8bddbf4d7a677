/* SPDX-License-Identifier: MIT
 *
 * verdict.c: see verdict.h.
 */
#include "solve/driver/verdict.h"

#include <math.h>

#include "objective/violation.h"

/* A step without an estimate is solved if the inferred error is at most this fraction of the accuracy: the ratio of
 * error and residual varies from step to step. */
#define INFERRED_FRACTION 0.25
/* With SINEW_MEASURE_AUTO estimates may cost this fraction of the solver's work. */
#define AUTO_FRACTION 0.1

static double tolerance_of(const sinew_solve *s)
{
    return s->def.tolerance > 0 ? (double)s->def.tolerance : SINEW_DEFAULT_TOLERANCE;
}

/* Whether the user has set a tolerance, and the residual is below it. */
static bool meets_set_tolerance(const sinew_solve *s)
{
    const bool set = s->def.tolerance > 0 && s->def.tolerance != (sinew_real)SINEW_DEFAULT_TOLERANCE;
    return set && s->residual <= (double)s->def.tolerance * s->start_residual;
}

bool sinew_solve_start_is_measured(const sinew_solve *s)
{
    return s->start_known && s->def.measure != SINEW_MEASURE_NOTHING;
}

static bool position_is_known(const sinew_gap_estimate *estimate)
{
    return estimate->position_kind == SINEW_GAP_ESTIMATE || estimate->position_kind == SINEW_GAP_BELOW;
}

void sinew_solve_relate_error(const sinew_solve *s, sinew_gap_estimate *estimate)
{
    if (position_is_known(estimate) && s->error_hook.relative)
        estimate->relative =
            s->error_hook.relative(s->error_hook.context, sinew_solve_position_error(s), estimate->position_max);
    else
        estimate->relative = estimate->position_max;
}

/* N: the residual, at least its round-off. */
static double residual_with_noise(const sinew_solve *s)
{
    return fmax(s->residual, s->noise);
}

uint32_t sinew_solve_judge(const sinew_solve *s, const sinew_gap_estimate *estimate)
{
    const double accuracy = (double)s->def.accuracy;
    const double inferred = residual_with_noise(s) * s->history.error_per_force;
    if (s->ops->info.explicit_step)
        return SINEW_STEP_EXPLICIT;
    if (!s->gradient_known || !sinew_solve_start_is_measured(s))
        return SINEW_STEP_UNMEASURED;
    if (sinew_objective_is_hard(s->objective))
        return SINEW_STEP_NOT_CONVERGED;
    if (meets_set_tolerance(s) || s->residual == 0)
        return 0;
    if (position_is_known(estimate))
        return estimate->relative <= accuracy ? 0 : SINEW_STEP_NOT_CONVERGED;
    if (estimate->kind == SINEW_GAP_NONE && s->def.measure >= SINEW_MEASURE_GAP)
        return s->history.error_per_force > 0 && inferred <= INFERRED_FRACTION * accuracy ? 0 : SINEW_STEP_UNMEASURED;
    if (s->residual <= tolerance_of(s) * s->start_residual)
        return SINEW_STEP_UNMEASURED;
    return s->residual > s->noise ? SINEW_STEP_NOT_CONVERGED : SINEW_STEP_ROUND_OFF;
}

uint32_t sinew_solve_judge_kkt(const sinew_solve *s, const sinew_kkt_residuals *c)
{
    if (!s->gradient_known || !sinew_solve_start_is_measured(s))
        return SINEW_STEP_UNMEASURED;
    const bool balanced = s->residual <= fmax(tolerance_of(s) * fmax(s->start_residual, c->force), s->noise);
    const uint32_t forces = s->ops->info.explicit_step ? SINEW_STEP_EXPLICIT : balanced ? 0 : SINEW_STEP_NOT_CONVERGED;
    return (c->met ? 0 : (uint32_t)SINEW_STEP_CONSTRAINTS) | forces |
           (c->contradictory ? (uint32_t)SINEW_STEP_CONTRADICTORY : 0);
}

void sinew_solve_remember(sinew_solve *s, const sinew_gap_estimate *estimate)
{
    sinew_measure_history *h = &s->history;
    if (position_is_known(estimate) && residual_with_noise(s) > 0)
        h->error_per_force = estimate->relative / residual_with_noise(s);
    if (s->def.measure != SINEW_MEASURE_AUTO)
        return;
    h->credit += AUTO_FRACTION * sinew_solve_work(s);
    if (estimate->kind == SINEW_GAP_NONE)
        return;
    h->cost = estimate->work;
    h->credit -= estimate->work;
}
