/* SPDX-License-Identifier: MIT
 *
 * objective_gap.c: see objective_gap.h. Newton's method on a copy of q, with a comparison of predicted and observed
 * decreases.
 *
 * A full step is taken if it gains more than a tenth of the predicted decrease. Otherwise a stiff constraint may be the
 * cause: a straight line leaves it, and a line search makes tiny steps (the Maratos effect). So a few further full
 * steps, which return to the constraint, are tried, and kept once g is lower by a tenth of the prediction (the watchdog
 * technique: Chamberlain, Powell, Lemarechal, Pedersen 1982). Otherwise the line search decides.
 */
#include "solve/driver/objective_gap.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/reduce.h"
#include "base/stop.h"
#include "solve/driver/gap_descent.h"
#include "solve/driver/newton_decrement.h"
#include "solve/line_search.h"

/* A predicted decrease of g is confirmed if the ratio of observed and predicted decrease is between the reciprocal of
 * this factor and the factor. */
#define AGREEMENT 1.5
/* The descent ends when the predicted remaining decrease is at most this fraction of the observed decrease. */
#define LEFT_MAX 0.25
/* A direction from a factor at an earlier iterate (chord) is kept if it leaves at most this fraction of the predicted
 * decrease one step earlier. */
#define CHORD_CONTRACTION 0.3
/* After the exact Hessian was not definite near the end of a descent, it is tried again at this fraction of the
 * predicted decrease. */
#define RETRY 0.25
/* Near round-off of g: a remaining decrease up to this fraction of the observed one is accepted. If a step leaves more
 * than this fraction of the predicted decrease, the prediction is round-off. */
#define LEFT_HIDDEN 0.25
/* A predicted decrease that no longer shrinks counts as round-off up to this multiple of its own round-off. */
#define STALE 30
/* Residual forces above this multiple of their round-off are significant. */
#define VISIBLE 1
/* Range of the largest number of Newton steps of an estimate, which falls with the number of particles. Small worlds
 * may take more: their steps are cheap, and ropes of stiff springs, which need many, are small. */
#define STEPS_MIN  60
#define STEPS_MAX  400
#define STEPS_WORK 40000 /* largest product of particle count and Newton steps, within this range */
#define BOLD_STEPS 6
/* Upper limit of conjugate gradient iterations of an estimate, summed over all Newton steps. */
#define LINEAR_MAX 3000

/* ---- Creation of the work space of gap estimates --------------------------------------------- */

static sinew_status create_vectors(sinew_gap *gap, sinew_error *error)
{
    const sinew_objective *o = gap->copy.objective;
    sinew_gap_vectors *v = &gap->vectors;
    sinew_real **vectors[] = {&v->q,      &v->gradient,      &v->d,     &v->right,  &v->trial, &v->trial_gradient,
                              &v->kept_q, &v->kept_gradient, &v->error, &v->settled};
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        *vectors[i] = sinew_allocate_zero(&o->allocator, 4 * (size_t)o->particle_count, sizeof **vectors[i]);
        if (!*vectors[i])
            return sinew_fail_memory(error, "the estimate of the gap");
    }
    gap->copy.q = v->q;
    gap->copy.gradient = v->gradient;
    gap->newton = (sinew_newton){.d = v->d, .trial = v->trial, .trial_gradient = v->trial_gradient};
    return SINEW_OK;
}

sinew_status sinew_gap_create(sinew_solve *s, sinew_error *error)
{
    sinew_objective *o = s->objective;
    sinew_gap *gap = s->gap = sinew_allocate_zero(&o->allocator, 1, sizeof *gap);
    if (!gap)
        return sinew_fail_memory(error, "the estimate of the gap");
    gap->solver = s;
    gap->copy = (sinew_solve){.objective = o, .stiffness = s->stiffness};
    const sinew_status status = create_vectors(gap, error);
    return status == SINEW_OK ? sinew_gap_direction_create(gap, error) : status;
}

void sinew_gap_destroy(sinew_solve *s)
{
    const sinew_allocator *allocator = &s->objective->allocator;
    sinew_gap *gap = s->gap;
    if (!gap)
        return;
    sinew_gap_direction_destroy(gap);
    const sinew_gap_vectors *v = &gap->vectors;
    void *arrays[] = {v->q,      v->gradient,      v->d,     v->right,   v->trial, v->trial_gradient,
                      v->kept_q, v->kept_gradient, v->error, v->settled, gap};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(allocator, arrays[i]);
    s->gap = NULL;
}

bool sinew_gap_takes_contacts(sinew_solve *s, uint32_t changed)
{
    if (s->gap->newton.memory == NULL)
        return true;
    s->gap->stale = true;
    return changed & SINEW_CHANGED_IN_STEP;
}

/* ---- One Newton step on the copy of q -------------------------------------------------------- */

static double copy_value(const sinew_solve *s)
{
    return s->terms.inertia + s->terms.elastic;
}

double sinew_gap_slope(const sinew_gap *gap)
{
    const sinew_objective *o = gap->copy.objective;
    return sinew_dot(gap->copy.gradient, gap->newton.d, o->particle_count, o->thread_count);
}

/* Decrease of g from `before` over a step alpha d. If it is less than ten times the round-off of g, it is computed from
 * the slopes at both ends, which is exact for a quadratic g. */
static double copy_decrease(const sinew_gap *gap, double before, double slope, double alpha)
{
    const double by_value = before - copy_value(&gap->copy);
    const double by_slope = -0.5 * alpha * (slope + sinew_gap_slope(gap));
    return fabs(by_value) > 10 * gap->copy.value_noise ? by_value : by_slope;
}

static void copy_save(sinew_gap *gap)
{
    const size_t bytes = 4 * (size_t)gap->copy.objective->particle_count * sizeof(sinew_real);
    memcpy(gap->vectors.kept_q, gap->copy.q, bytes);
    memcpy(gap->vectors.kept_gradient, gap->copy.gradient, bytes);
}

static void copy_restore(sinew_gap *gap, sinew_terms terms)
{
    const size_t bytes = 4 * (size_t)gap->copy.objective->particle_count * sizeof(sinew_real);
    memcpy(gap->copy.q, gap->vectors.kept_q, bytes);
    memcpy(gap->copy.gradient, gap->vectors.kept_gradient, bytes);
    gap->copy.terms = terms;
}

static bool copy_full_step(sinew_gap *gap)
{
    sinew_newton *n = &gap->newton;
    gap->work += gap->model.gradient;
    sinew_full_step(&gap->copy, n->d, n->trial, n->trial_gradient);
    return isfinite(copy_value(&gap->copy)) && isfinite(gap->copy.residual);
}

/* Takes up to BOLD_STEPS full Newton steps, which may increase g temporarily. Returns true once g is lower by
 * `enough`. */
static bool descent_bold_steps(sinew_gap *gap, double before, double enough)
{
    for (int i = 0; i < BOLD_STEPS && !sinew_stop_came(); i++)
        if (!sinew_gap_direction(gap) || !copy_full_step(gap))
            return false;
        else if (before - copy_value(&gap->copy) >= enough)
            return true;
    return false;
}

/* Number of intervals of Simpson's rule along a step; even. */
#define SIMPSON 8

/* Decrease of g over alpha d from kept_q, by Simpson's rule on slopes along the step. The slopes at both ends do not
 * suffice if contacts become active or slide within the step. */
static double copy_decrease_within(sinew_gap *gap, double slope, double alpha)
{
    const sinew_objective *o = gap->copy.objective;
    const sinew_gap_vectors *v = &gap->vectors;
    double sum = slope + sinew_gap_slope(gap);
    for (int k = 1; k < SIMPSON; k++) {
        sinew_terms terms;
        sinew_combine(v->trial, v->kept_q, (sinew_real)(alpha * k / SIMPSON), v->d, o->particle_count, o->thread_count);
        sinew_objective_gradient(gap->copy.objective, v->trial, v->trial_gradient, &terms);
        sum += (k % 2 ? 4 : 2) * sinew_dot(v->trial_gradient, v->d, o->particle_count, o->thread_count);
    }
    gap->work += (SIMPSON - 1) * gap->model.gradient;
    return -alpha * sum / (3 * SIMPSON);
}

/* Takes a step along newton.d by a line search from kept_q. Returns the decrease of g; 0 if the search accepts a step
 * whose decrease is not visible, negative if it accepts none. */
static double descent_searched_step(sinew_gap *gap, double before)
{
    const double slope = sinew_gap_slope(gap);
    gap->work += 2 * gap->model.gradient;
    const double alpha = sinew_line_search(&gap->copy, gap->newton.d, gap->newton.trial, gap->newton.trial_gradient);
    if (!(alpha > 0))
        return -1;
    const double seen = copy_decrease(gap, before, slope, alpha);
    return seen > 0 ? seen : fmax(copy_decrease_within(gap, slope, alpha), 0);
}

double sinew_gap_take_step(sinew_gap *gap, bool hidden, sinew_gap_account *a)
{
    sinew_solve *copy = &gap->copy;
    gap->current = false;
    const double before = copy_value(copy), slope = sinew_gap_slope(gap);
    const sinew_terms terms = copy->terms;
    copy_save(gap);
    const bool good = copy_full_step(gap);
    const double seen = good ? copy_decrease(gap, before, slope, 1) : -HUGE_VAL;
    a->confirmed = a->chord = seen >= a->left / AGREEMENT && seen <= a->left * AGREEMENT;
    if (hidden || seen > 0.1 * a->left)
        return seen;
    if (gap->chord) {
        copy_restore(gap, terms);
        if (!sinew_gap_direction(gap))
            return -1;
        a->left = -0.5 * sinew_gap_slope(gap);
        return sinew_gap_take_step(gap, hidden, a);
    }
    if (good && a->failures < SINEW_GAP_BOLD_FAILURES) {
        /* Trial steps overwrite newton.d, which the line search needs, so it is computed again. */
        if (descent_bold_steps(gap, before, 0.1 * a->left))
            return before - copy_value(copy);
        a->failures++;
        copy_restore(gap, terms);
        if (!sinew_gap_direction(gap))
            return -1;
    } else {
        copy_restore(gap, terms);
    }
    return descent_searched_step(gap, before);
}

/* ---- Descent of Newton's method on the copy of q --------------------------------------------- */

double sinew_gap_slope_noise(const sinew_gap *gap)
{
    const sinew_objective *o = gap->copy.objective;
    const double step = sinew_objective_round_off(o, gap->copy.q);
    double sum = 0;
    for (int32_t i = 0; i < o->particle_count; i++) {
        double square = 0;
        for (size_t c = 0; c < 3; c++)
            square += pow((double)gap->newton.d[4 * (size_t)i + c], 2);
        sum += square * pow(gap->solver->stiffness_of[i] * step, 2);
    }
    return sqrt(sum);
}

/* Predicts the remaining decrease of g, in J, from newton.d at the iterate of the copy. */
static void descent_predict(const sinew_gap *gap, sinew_gap_account *a)
{
    a->before = a->left;
    a->left = -0.5 * sinew_gap_slope(gap);
    a->uncertain = sinew_gap_slope_noise(gap);
    a->indefinite = a->indefinite || !gap->exact;
}

/* Predicted decrease of g by all remaining steps, in J. Steps with a projected Hessian gain a fixed fraction of the
 * remainder: a geometric series. */
static double descent_left_in_all(const sinew_gap_account *a)
{
    const double ratio = a->left / a->before;
    return ratio < 1 ? a->left / (1 - fmax(ratio, 0)) : HUGE_VAL;
}

/* True if the descent may end. A projected Hessian is stiffer than g and predicts too little: only a prediction by the
 * exact Hessian ends the descent. A descent through indefinite Hessians may cross a small region where H is definite
 * and far above the minimum: it needs two confirmed predictions in a row. */
static bool descent_is_done(const sinew_gap *gap, const sinew_gap_account *a)
{
    const int needed = a->indefinite ? 2 : 1;
    return gap->exact && !gap->chord && a->confirmed && a->in_row >= needed &&
           descent_left_in_all(a) <= LEFT_MAX * a->seen;
}

/* True if the predicted remaining decrease may be round-off: it is at most its round-off, or at most STALE times that
 * and above LEFT_HIDDEN times the previous prediction. */
bool sinew_gap_is_hidden(const sinew_gap_account *a)
{
    return a->left <= a->uncertain || (a->left <= STALE * a->uncertain && a->left > LEFT_HIDDEN * a->before);
}

/* True if a chord direction (from an earlier factor) is good enough for a step. It cannot end a descent: where soft
 * modes have rotated since the factorisation, their stiffness is overestimated and the predicted decrease too small. */
static bool descent_chord_serves(const sinew_gap_account *a)
{
    return a->left > a->uncertain && a->left <= CHORD_CONTRACTION * a->before && a->left > LEFT_MAX * a->seen;
}

bool sinew_gap_next_direction(sinew_gap *gap, sinew_gap_account *a)
{
    const double before = a->left;
    gap->current = true;
    if (a->chord && sinew_gap_chord(gap)) {
        descent_predict(gap, a);
        if (descent_chord_serves(a))
            return true;
        a->left = before;
    }
    if (sinew_gap_refine(gap)) {
        descent_predict(gap, a);
        return true;
    }
    const bool waited = gap->wait > 0;
    if (!sinew_gap_direction(gap))
        return gap->current = false;
    descent_predict(gap, a);
    /* A prediction by the projected Hessian that would end the descent is repeated with the exact Hessian. */
    if (gap->exact || !waited || a->left > fmin(LEFT_MAX * a->seen, RETRY * a->denied))
        return true;
    a->denied = a->left;
    if (sinew_gap_make_exact(gap)) {
        a->left = before;
        descent_predict(gap, a);
    }
    return true;
}

static sinew_gap_estimate estimate_unknown(const char *reason)
{
    return (sinew_gap_estimate){.kind = SINEW_GAP_UNKNOWN, .value = HUGE_VAL, .reason = reason};
}

static sinew_gap_estimate estimate_known(sinew_gap_kind kind, double value)
{
    return (sinew_gap_estimate){.kind = kind, .value = value, .reason = ""};
}

void sinew_gap_evaluate(sinew_gap *gap)
{
    sinew_solve *copy = &gap->copy;
    sinew_objective *o = copy->objective;
    gap->work += gap->model.gradient;
    sinew_objective_gradient(o, copy->q, copy->gradient, &copy->terms);
    copy->residual = sinew_norm(copy->gradient, o->particle_count, o->thread_count);
}

/* Largest number of saddles that one descent leaves, and of doublings of a step away from one. */
#define ESCAPES_MAX      3
#define ESCAPE_DOUBLINGS 30

static const char saddle_reason[] = "the way down ends at a saddle: the Hessian is indefinite there";

/* Leaves a saddle along newton.d = -(H + shift)^-1 grad g, in which the mode of most negative curvature dominates. The
 * slope along d falls until the step has left the saddle; round-off hides g itself there. Returns false, with the copy
 * unchanged, if no slope exceeds its round-off or ESCAPES_MAX saddles have been left. */
static bool descent_leave_saddle(sinew_gap *gap, sinew_gap_account *a)
{
    const double noise = sinew_gap_slope_noise(gap);
    const sinew_terms terms = gap->copy.terms;
    double alpha = 1, seen = 0, slope = sinew_gap_slope(gap), lowest = slope;
    if (!(noise > 0) || a->escapes >= ESCAPES_MAX)
        return false;
    copy_save(gap);
    for (int i = 0; i < ESCAPE_DOUBLINGS && slope <= 0.5 * lowest && !sinew_stop_came(); i++, alpha *= 2) {
        const double from = i > 0 ? alpha / 2 : 0, before = slope;
        for (size_t k = 0; k < 4 * (size_t)gap->copy.objective->particle_count; k++)
            gap->copy.q[k] = (sinew_real)((double)gap->vectors.kept_q[k] + alpha * (double)gap->newton.d[k]);
        sinew_gap_evaluate(gap);
        slope = sinew_gap_slope(gap);
        seen -= 0.5 * (before + slope) * (alpha - from);
        lowest = fmin(lowest, slope);
    }
    if (!(lowest < -10 * noise) || !(seen > 0) || !isfinite(gap->copy.residual)) {
        copy_restore(gap, terms);
        return false;
    }
    *a = (sinew_gap_account){
        .seen = a->seen + seen, .left = HUGE_VAL, .denied = HUGE_VAL, .indefinite = true, .escapes = a->escapes + 1};
    gap->wait = gap->patience = 0;
    return true;
}

/* The estimate if the remainder is below round-off. Without a definite Hessian the point is a saddle, where g may
 * decrease further. If even the forces at the start of the step are below round-off, definiteness is not decidable. */
static sinew_gap_estimate estimate_in_round_off(sinew_gap *gap, const sinew_gap_account *a)
{
    const bool visible = gap->solver->start_residual > VISIBLE * gap->copy.noise;
    if (!gap->exact && !visible)
        return estimate_unknown("round-off hides the forces of this step");
    gap->current = gap->current && gap->exact;
    if (!gap->exact && !sinew_gap_definite(gap))
        return estimate_unknown(saddle_reason);
    const double left = fmax(a->left, 0);
    return left <= LEFT_HIDDEN * a->seen ? estimate_known(SINEW_GAP_ESTIMATE, a->seen + left)
                                         : estimate_known(SINEW_GAP_BELOW, a->seen + 2 * fmax(a->uncertain, left));
}

static int32_t descent_max_steps(const sinew_gap *gap)
{
    const int32_t steps = STEPS_WORK / (gap->copy.objective->particle_count + 1);
    return steps < STEPS_MIN ? STEPS_MIN : steps > STEPS_MAX ? STEPS_MAX : steps;
}

/* ---- Estimate of the gap ------------------------------------------------------------------------- */

static sinew_gap_estimate descent_run(sinew_gap *gap, sinew_gap_account *a, int32_t *steps)
{
    for (*steps = 0; *steps < descent_max_steps(gap) && !sinew_stop_came(); ++*steps) {
        if (!sinew_gap_next_direction(gap, a))
            return estimate_unknown("the system of the Hessian did not settle");
        if (descent_is_done(gap, a))
            return estimate_known(SINEW_GAP_ESTIMATE, a->seen + a->left);
        const bool hidden = sinew_gap_is_hidden(a);
        double seen = 0;
        bool ends = hidden && (a->left <= 0 || a->left > LEFT_HIDDEN * a->before);
        if (!ends) {
            seen = sinew_gap_take_step(gap, hidden, a);
            /* A decrease larger than predicted is not round-off: the quadratic model is wrong. */
            ends = hidden && !a->confirmed && seen <= AGREEMENT * a->left;
        }
        if (ends) {
            const sinew_gap_estimate estimate = estimate_in_round_off(gap, a);
            if (estimate.reason == saddle_reason && descent_leave_saddle(gap, a))
                continue;
            return estimate;
        }
        if (!(seen > 0))
            return estimate_unknown("no step along Newton's direction lowers the objective above round-off");
        a->seen += seen;
        a->in_row = a->confirmed ? a->in_row + 1 : 0;
    }
    return estimate_unknown("the minimum is too far away for the steps that are spent on finding it");
}

/* Bounds gap and position error of a large dynamic world whose forces are round-off, without a linear solve: with
 * H >= M/h^2 the gap is at most h^2/2 grad g . M^-1 grad g, and |M^(1/2) d| at most h^2 |M^(-1/2) grad g|. The Hessian
 * of energies is at least zero near rest; elsewhere it is assumed. Returns false if the bound does not apply. */
static bool estimate_by_inertia(sinew_gap *gap, sinew_gap_estimate *estimate)
{
    const sinew_solve *s = gap->solver;
    const sinew_objective *o = s->objective;
    const double square = o->step.h * o->step.h, spacing = sinew_objective_round_off(o, s->q);
    double sum = 0, lightest = HUGE_VAL;
    if (!gap->pcg.r || o->step.quasistatic || s->residual > s->noise)
        return false;
    for (size_t i = 0; i < (size_t)o->particle_count; i++) {
        for (size_t c = 4 * i; c < 4 * i + 3; c++) {
            const double d = o->step.pinned[i] ? 0 : -square * (double)s->gradient[c] / (double)o->step.mass[i];
            gap->vectors.error[c] = (sinew_real)d;
            sum -= d / square * (double)s->gradient[c];
        }
        lightest = o->step.pinned[i] ? lightest : fmin(lightest, (double)o->step.mass[i]);
    }
    *estimate = estimate_known(SINEW_GAP_BELOW, 0.5 * square * sum);
    estimate->position_kind = SINEW_GAP_BELOW;
    estimate->position_reason = "";
    estimate->position_max = estimate->position_rms = fmax(square * sqrt(sum / lightest), spacing);
    return true;
}

const sinew_real *sinew_solve_position_error(const sinew_solve *s)
{
    return s->gap->vectors.error;
}

/* Copies the state at the end of the step to gap->copy and lays out changed contacts. False: out of memory. */
static bool gap_begin(sinew_gap *gap)
{
    sinew_solve *copy = &gap->copy, *s = gap->solver;
    const size_t bytes = 4 * (size_t)s->objective->particle_count * sizeof *s->q;
    memcpy(copy->q, s->q, bytes);
    memcpy(copy->gradient, s->gradient, bytes);
    copy->terms = s->terms;
    copy->residual = s->residual;
    copy->scale = s->scale;
    copy->noise = s->noise;
    copy->value_noise = s->value_noise;
    copy->stiffness = s->stiffness;
    gap->linear_iterations = 0;
    gap->linear_max = LINEAR_MAX;
    gap->factored = gap->current = false;
    gap->borrowed = s->exact_matrix && s->ops->precondition;
    gap->wait = gap->patience = 0;
    if (gap->stale && gap->newton.linear->update_contacts(copy, &gap->newton, NULL) != SINEW_OK)
        return false;
    gap->stale = false;
    s->history.factor_size = gap->newton.size;
    gap->model = sinew_work_model_of(s->objective, &s->history.factor_size);
    gap->work = 0;
    return true;
}

sinew_gap_estimate sinew_gap_find(sinew_solve *s)
{
    sinew_gap *gap = s->gap;
    int32_t steps = 0;
    sinew_gap_estimate estimate;
    if (!gap_begin(gap)) {
        estimate = estimate_unknown("there is too little memory for it");
        sinew_gap_set_unknown(&estimate, estimate.reason);
        return estimate;
    }
    sinew_gap_account a = {.left = HUGE_VAL, .denied = HUGE_VAL, .chord = gap->borrowed};
    if (!estimate_by_inertia(gap, &estimate))
        estimate = descent_run(gap, &a, &steps);
    if (s->contact)
        sinew_gap_find_settled_error(gap, &a, &estimate);
    else
        sinew_gap_find_error(gap, &a, &estimate);
    estimate.steps = steps;
    estimate.work = gap->work / gap->model.newton;
    estimate.linear_iterations = gap->linear_iterations;
    return estimate;
}
