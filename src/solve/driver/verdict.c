/* SPDX-License-Identifier: MIT
 *
 * verdict.c: decides whether a step is solved, from residual, position error and history. See verdict.h.
 */
#include "solve/driver/verdict.h"

#include <math.h>

#include "objective/violation.h"

/* A step without a position error estimate is solved if its inferred error is at most this fraction of the accuracy:
 * the ratio of error and residual varies from step to step. */
#define INFERRED_FRACTION 0.25
/* Multiple of the last measured step's residual beyond which the inferred error grows by the root of the excess: in a
 * rope of springs of 1e12 N/m by pd the ratio of error and residual grew ninefold while the residual grew by 70. */
#define INFERRED_REACH 4
/* A bound of the gap up to this fraction of the energy of the step is negligible. */
static const double solved_fraction = sizeof(sinew_real) == 4 ? 1e-4 : 1e-9;
/* With SINEW_MEASURE_AUTO gap estimates may cost this fraction of the solver's work. */
#define AUTO_FRACTION 0.1
/* Processor time of estimates over that of the same work by a solver: up to 1.25 by bench/bench_measure. */
#define ESTIMATE_CHARGE 1.25

static double tolerance_of(const sinew_solve *s)
{
    return s->def.tolerance > 0 ? (double)s->def.tolerance : SINEW_DEFAULT_TOLERANCE;
}

static bool meets_tolerance(const sinew_solve *s)
{
    return s->residual <= tolerance_of(s) * s->start_residual;
}

/* True if the user has set a tolerance, and the relative residual is below it. */
static bool meets_set_tolerance(const sinew_solve *s)
{
    const bool set = s->def.tolerance > 0 && s->def.tolerance != (sinew_real)SINEW_DEFAULT_TOLERANCE;
    return set && meets_tolerance(s);
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

/* Energy scale of a step, in J: the decrease of g from the start of the step to the minimum, which is `gap` below g at
 * the end, plus the initial inertia term (quasistatic: |elastic energy|). */
static double step_energy(const sinew_solve *s, double gap)
{
    const double first = s->start_terms.inertia + s->start_terms.elastic, last = s->terms.inertia + s->terms.elastic;
    /* Inverted tets may start with an infinite energy; the energy at the end replaces it. */
    const double fall = fmax((isfinite(first) ? first - last : fabs(last)) + gap, 0);
    const double size = isfinite(s->start_terms.elastic) ? s->start_terms.elastic : s->terms.elastic;
    return fall + (s->objective->step.quasistatic ? fabs(size) : s->start_terms.inertia);
}

/* True if a bound of the position error is reliable. Round-off in the forces of stiff elements can hide soft modes, so
 * either the residual must have reached the tolerance, or the bound of the gap must be small beside the energy of the
 * step. */
static bool bound_is_sound(const sinew_solve *s, const sinew_gap_estimate *estimate)
{
    return meets_tolerance(s) || estimate->value <= solved_fraction * step_energy(s, estimate->value);
}

/* True if the residual and the history of measurements show that a step without an estimate is solved. */
static bool is_solved_by_history(const sinew_solve *s)
{
    const sinew_measure_history *h = &s->history;
    const double residual = fmax(s->residual, s->noise), reach = INFERRED_REACH * h->residual;
    const double growth = residual > reach ? sqrt(residual / reach) : 1;
    return h->error_per_force > 0 &&
           growth * residual * h->error_per_force <= INFERRED_FRACTION * (double)s->def.accuracy;
}

uint32_t sinew_solve_judge(const sinew_solve *s, const sinew_gap_estimate *estimate)
{
    const double accuracy = (double)s->def.accuracy;
    if (s->ops->info.explicit_step)
        return SINEW_STEP_EXPLICIT;
    if (!s->gradient_known || !sinew_solve_start_is_measured(s))
        return SINEW_STEP_UNMEASURED;
    if (sinew_objective_is_hard(s->objective))
        return SINEW_STEP_NOT_CONVERGED;
    if (meets_set_tolerance(s) || s->residual == 0)
        return 0;
    if (estimate->position_kind == SINEW_GAP_BELOW && !bound_is_sound(s, estimate))
        return SINEW_STEP_ROUND_OFF;
    if (position_is_known(estimate))
        return estimate->relative <= accuracy ? 0 : SINEW_STEP_NOT_CONVERGED;
    if (estimate->kind == SINEW_GAP_NONE && s->def.measure >= SINEW_MEASURE_GAP)
        return is_solved_by_history(s) ? 0 : SINEW_STEP_UNMEASURED;
    if (meets_tolerance(s))
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
    /* A bound of the position error belongs to the round-off of forces, not to a smaller residual. It does not cover
     * soft modes that round-off hides. */
    const bool bound = estimate->position_kind == SINEW_GAP_BELOW;
    const double residual = bound ? fmax(s->residual, s->noise) : s->residual;
    if (residual > 0 && position_is_known(estimate) && (!bound || bound_is_sound(s, estimate))) {
        h->error_per_force = estimate->relative / residual;
        h->residual = residual;
    }
    if (s->def.measure != SINEW_MEASURE_AUTO)
        return;
    h->credit += AUTO_FRACTION * sinew_solve_work(s);
    if (estimate->kind == SINEW_GAP_NONE)
        return;
    h->cost = ESTIMATE_CHARGE * estimate->work;
    h->credit -= h->cost;
}
