/* SPDX-License-Identifier: MIT
 *
 * settled_error.c: estimates the position error of a step with contact.
 *
 * q* is the minimum with multipliers and friction limits that have converged on the contacts of the step. The descent
 * alternates Newton steps with multiplier updates (method of multipliers, Hestenes 1969), which contract the distance
 * linearly: the remaining distance is that of a geometric series.
 */
#include <math.h>
#include <string.h>

#include "base/stop.h"
#include "solve/driver/gap_descent.h"
#include "solve/driver/newton_decrement.h"

/* Largest numbers of Newton steps and of multiplier updates of one position error estimate. */
#define SETTLE_STEPS   80
#define SETTLE_UPDATES 30
/* Largest work of multiplier updates in an estimate, in units of Newton iterations. */
#define SETTLE_WORK 25
/* A multiplier update follows a Newton step that is at most this fraction of the distance since the last update. */
#define SETTLE_INNER 0.2
/* A chord direction longer than this fraction of the step before is replaced by one of the Hessian at the iterate. */
#define SETTLE_CHORD 0.5
/* Position errors above this multiple of the spacing of positions, or of their measured round-off, are estimates, not
 * bounds. */
#define SETTLE_VISIBLE       1e3
#define SETTLE_VISIBLE_NOISE 30
/* Number of multiplier updates after which the round-off of positions is measured. */
#define SETTLE_SAMPLED 3
/* Largest remaining distance to q*, as a fraction of the position error. */
#define SETTLE_LEFT 0.2

/* Largest distance of a free particle between positions a and b, in m; b NULL: largest length of a. */
static double longest_displacement(const sinew_gap *gap, const sinew_real *a, const sinew_real *b)
{
    const sinew_objective *o = gap->copy.objective;
    double max = 0;
    for (size_t i = 0; i < (size_t)o->particle_count; i++) {
        double square = 0;
        for (size_t c = 4 * i; !o->step.pinned[i] && c < 4 * i + 3; c++) {
            const double d = (double)a[c] - (b ? (double)b[c] : 0);
            square += d * d;
        }
        max = fmax(max, square);
    }
    return sqrt(max);
}

/* Newton's direction at copy.q: with the Hessian of the last factor, or (`at_iterate`) with the Hessian at copy.q.
 * Returns its largest length (m); negative: no direction was found. */
static double settling_direction(sinew_gap *gap, bool at_iterate)
{
    const bool found = (!at_iterate && sinew_gap_chord(gap)) || sinew_gap_refine(gap) || sinew_gap_direction(gap);
    return found ? longest_displacement(gap, gap->newton.d, NULL) : -1;
}

/* Distances that successive multiplier updates move the positions. */
typedef struct settling {
    double change, before; /* distance between the last two updates, and between the two before, in m */
    double noise;          /* distance that is round-off of positions, in m */
    double visible;        /* errors above this distance are estimates, in m */
    int32_t updates;
} settling;

/* Distance that all further multiplier updates are expected to move the positions, in m: the rest of a geometric
 * series; infinite if the distances do not decrease. */
static double settling_left(const settling *s)
{
    const double ratio = s->change / s->before;
    return s->updates < 2 || ratio >= 1 ? HUGE_VAL : s->change * ratio / (1 - ratio);
}

/* Records the distance since the last update and updates the multipliers from the copy. */
static void settling_update(sinew_gap *gap, settling *s)
{
    const sinew_contact_hooks *contact = gap->solver->contact;
    s->before = s->change;
    s->change = longest_displacement(gap, gap->copy.q, gap->vectors.settled);
    s->updates++;
    memcpy(gap->vectors.settled, gap->copy.q, 4 * (size_t)gap->copy.objective->particle_count * sizeof *gap->copy.q);
    contact->settle_update(contact->context, gap->copy.q);
    sinew_gap_evaluate(gap);
}

/* True if the copy is near enough to q*: all further updates, and a Newton step with the Hessian at the copy, are
 * small. */
static bool settling_is_done(sinew_gap *gap, const settling *s)
{
    const double error = longest_displacement(gap, gap->copy.q, gap->solver->q),
                 small = fmax(SETTLE_LEFT * error, s->noise);
    if (!(s->updates >= 2 && (s->change <= s->noise || settling_left(s) <= small)))
        return false;
    const double length = settling_direction(gap, true);
    return length >= 0 && length <= small;
}

/* Takes one step along newton.d with the current multipliers. Active contacts may alternate under full Newton steps:
 * steps that do not decrease g are searched. Returns false if no step decreases g. *hidden: the decrease that the step
 * predicts is round-off. */
static bool settling_step(sinew_gap *gap, bool *hidden)
{
    sinew_gap_account a = {
        .left = -0.5 * sinew_gap_slope(gap), .denied = HUGE_VAL, .failures = SINEW_GAP_BOLD_FAILURES};
    *hidden = a.left <= sinew_gap_slope_noise(gap);
    const double seen = sinew_gap_take_step(gap, *hidden, &a);
    return *hidden ? isfinite(seen) : seen >= 0;
}

/* Measures the round-off of positions at the copy, below which multiplier updates are not followed. */
static void settling_measure_noise(sinew_gap *gap, settling *s)
{
    sinew_real *noise = gap->vectors.kept_q;
    double max = 0;
    memset(noise, 0, 4 * (size_t)gap->copy.objective->particle_count * sizeof *noise);
    for (int k = 0; k < SINEW_GAP_NOISE_SAMPLES; k++)
        if (gap->pcg.r || !sinew_gap_sample_noise(gap, k, noise))
            return;
    for (size_t i = 0; i < (size_t)gap->copy.objective->particle_count; i++)
        max = fmax(max, (double)noise[4 * i]);
    s->noise = fmax(s->noise, 2 * max);
    s->visible = SETTLE_VISIBLE_NOISE * s->noise;
}

/* Moves the copy towards q* until it has settled; false: it did not settle. `restart`: from q, because the copy is at
 * the minimum with other multipliers. */
static bool settling_run(sinew_gap *gap, bool restart, settling *s)
{
    const size_t bytes = 4 * (size_t)gap->copy.objective->particle_count * sizeof *gap->copy.q;
    const double spacing = sinew_objective_round_off(gap->copy.objective, gap->copy.q);
    const double work_max = gap->work + SETTLE_WORK * gap->model.newton;
    double before = HUGE_VAL;
    *s = (settling){.change = HUGE_VAL, .before = HUGE_VAL, .noise = 4 * spacing, .visible = SETTLE_VISIBLE * spacing};
    memcpy(gap->vectors.settled, gap->solver->q, bytes);
    if (restart) {
        memcpy(gap->copy.q, gap->solver->q, bytes);
        sinew_gap_evaluate(gap);
    }
    for (int i = 0; i < SETTLE_STEPS && s->updates < SETTLE_UPDATES && gap->work < work_max && !sinew_stop_came();
         i++) {
        double length = settling_direction(gap, false);
        bool hidden;
        if (gap->chord && length > SETTLE_CHORD * before)
            length = settling_direction(gap, true);
        if (length < 0 || !settling_step(gap, &hidden))
            return false;
        before = length;
        if (!hidden &&
            length > fmax(SETTLE_INNER * longest_displacement(gap, gap->copy.q, gap->vectors.settled), spacing))
            continue;
        settling_update(gap, s);
        before = HUGE_VAL;
        if (settling_is_done(gap, s))
            return true;
        if (s->updates == SETTLE_SAMPLED)
            settling_measure_noise(gap, s);
    }
    return false;
}

/* Writes the position error to `estimate`. Near round-off the gap with the step's multipliers is only bounded, but the
 * distance that multiplier updates cause is an estimate if it is well above the round-off of positions. */
static void settling_report(sinew_gap *gap, const settling *s, sinew_gap_estimate *estimate)
{
    const sinew_gap_kind kind = estimate->kind;
    double correction;
    const double error = sinew_gap_write_error(gap, &correction);
    const bool sampled = s->updates > SETTLE_SAMPLED;
    if (error > s->visible)
        estimate->kind = SINEW_GAP_ESTIMATE;
    else if (sampled)
        estimate->kind = SINEW_GAP_BELOW;
    sinew_gap_set_known(gap, error, estimate);
    estimate->kind = kind;
}

void sinew_gap_find_settled_error(sinew_gap *gap, sinew_gap_account *a, sinew_gap_estimate *estimate)
{
    const sinew_contact_hooks *contact = gap->solver->contact;
    bool multipliers, adopted;
    settling s;
    const char *reason = contact->settle_begin(contact->context, &multipliers, &adopted);
    if (!reason && !multipliers) {
        sinew_gap_find_error(gap, a, estimate);
        return;
    }
    if (reason || estimate->kind == SINEW_GAP_UNKNOWN)
        sinew_gap_set_unknown(estimate, reason ? reason : estimate->reason);
    else if (!settling_run(gap, adopted, &s))
        sinew_gap_set_unknown(estimate, "contact: multipliers and friction limits did not settle");
    else
        settling_report(gap, &s, estimate);
    if (multipliers)
        contact->settle_end(contact->context);
}
