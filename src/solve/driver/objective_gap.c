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
#include "solve/driver/newton_decrement.h"
#include "solve/line_search.h"

/* A predicted decrease of g is confirmed if the ratio of observed and predicted decrease is within this factor of 1. */
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
/* Limits of the number of Newton steps of an estimate. Small worlds are cheap, and ropes of stiff springs, which need
 * many steps, are small. */
#define STEPS_MIN     60
#define STEPS_MAX     400
#define STEPS_WORK    40000 /* largest product of particle count and Newton steps, between the limits of steps */
#define BOLD_STEPS    6
#define BOLD_FAILURES 3
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

static double value_of(const sinew_solve *s)
{
    return s->terms.inertia + s->terms.elastic;
}

static double slope_along_d(const sinew_gap *gap)
{
    const sinew_objective *o = gap->copy.objective;
    return sinew_dot(gap->copy.gradient, gap->newton.d, o->particle_count, o->thread_count);
}

/* Decrease of g from `before` over a step alpha d. If it is below round-off of g, it is computed from the slopes at
 * both ends, which is exact for a quadratic g. */
static double fall(const sinew_gap *gap, double before, double slope, double alpha)
{
    const double by_value = before - value_of(&gap->copy);
    const double by_slope = -0.5 * alpha * (slope + slope_along_d(gap));
    return fabs(by_value) > 10 * gap->copy.value_noise ? by_value : by_slope;
}

static void save(sinew_gap *gap)
{
    const size_t bytes = 4 * (size_t)gap->copy.objective->particle_count * sizeof(sinew_real);
    memcpy(gap->vectors.kept_q, gap->copy.q, bytes);
    memcpy(gap->vectors.kept_gradient, gap->copy.gradient, bytes);
}

static void gap_restore(sinew_gap *gap, sinew_terms terms)
{
    const size_t bytes = 4 * (size_t)gap->copy.objective->particle_count * sizeof(sinew_real);
    memcpy(gap->copy.q, gap->vectors.kept_q, bytes);
    memcpy(gap->copy.gradient, gap->vectors.kept_gradient, bytes);
    gap->copy.terms = terms;
}

static bool full_step(sinew_gap *gap)
{
    sinew_newton *n = &gap->newton;
    gap->work += gap->model.gradient;
    sinew_full_step(&gap->copy, n->d, n->trial, n->trial_gradient);
    return isfinite(value_of(&gap->copy)) && isfinite(gap->copy.residual);
}

/* Takes up to BOLD_STEPS full Newton steps, which may increase g temporarily. Returns true once g is lower by
 * `enough`. */
static bool bold_steps(sinew_gap *gap, double before, double enough)
{
    for (int i = 0; i < BOLD_STEPS && !sinew_stop_came(); i++)
        if (!sinew_gap_direction(gap) || !full_step(gap))
            return false;
        else if (before - value_of(&gap->copy) >= enough)
            return true;
    return false;
}

/* Number of intervals of Simpson's rule along a step; even. */
#define SIMPSON 8

/* Decrease of g over alpha d from kept_q by slopes within the step. The slopes at both ends do not suffice where
 * contacts become active or slide between them. */
static double fall_within(sinew_gap *gap, double slope, double alpha)
{
    const sinew_objective *o = gap->copy.objective;
    const sinew_gap_vectors *v = &gap->vectors;
    double sum = slope + slope_along_d(gap);
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
static double searched_step(sinew_gap *gap, double before)
{
    const double slope = slope_along_d(gap);
    gap->work += 2 * gap->model.gradient;
    const double alpha = sinew_line_search(&gap->copy, gap->newton.d, gap->newton.trial, gap->newton.trial_gradient);
    if (!(alpha > 0))
        return -1;
    const double seen = fall(gap, before, slope, alpha);
    return seen > 0 ? seen : fmax(fall_within(gap, slope, alpha), 0);
}

/* Observed and predicted decreases of the objective in the descent so far. */
typedef struct account {
    double seen;      /* observed decrease of g on the copy, in J */
    double left;      /* predicted remaining decrease of g at the iterate of the copy, in J */
    double before;    /* value of `left` one step earlier, in J */
    double uncertain; /* round-off of the predicted decrease `left`, in J */
    bool confirmed;   /* the last step's decrease agreed with the prediction within AGREEMENT */
    bool chord;       /* the factor of the last direction may serve for the next one */
    double denied;    /* `left` when the exact Hessian was last tried in vain near the end, in J; HUGE_VAL: never */
    int in_row;       /* number of consecutive steps whose predicted decrease was confirmed */
    bool indefinite;  /* the exact Hessian was indefinite at some iterate */
    int failures;     /* number of failed sequences of unchecked full steps */
    int escapes;      /* number of saddles that the descent has left */
} account;

/* Takes one step along newton.d. Returns the decrease of g, negative if there is none. a->confirmed: the full step
 * gained the predicted decrease. Near round-off (`hidden`) only a full step is tried. If the step along a chord
 * direction fails, a new factor gives another direction. */
static double gap_take_step(sinew_gap *gap, bool hidden, account *a)
{
    sinew_solve *copy = &gap->copy;
    gap->current = false;
    const double before = value_of(copy), slope = slope_along_d(gap);
    const sinew_terms terms = copy->terms;
    save(gap);
    const bool good = full_step(gap);
    const double seen = good ? fall(gap, before, slope, 1) : -HUGE_VAL;
    a->confirmed = a->chord = seen >= a->left / AGREEMENT && seen <= a->left * AGREEMENT;
    if (hidden || seen > 0.1 * a->left)
        return seen;
    if (gap->chord) {
        gap_restore(gap, terms);
        if (!sinew_gap_direction(gap))
            return -1;
        a->left = -0.5 * slope_along_d(gap);
        return gap_take_step(gap, hidden, a);
    }
    if (good && a->failures < BOLD_FAILURES) {
        /* Trial steps overwrite newton.d, which the line search needs, so it is computed again. */
        if (bold_steps(gap, before, 0.1 * a->left))
            return before - value_of(copy);
        a->failures++;
        gap_restore(gap, terms);
        if (!sinew_gap_direction(gap))
            return -1;
    } else {
        gap_restore(gap, terms);
    }
    return searched_step(gap, before);
}

/* ---- Descent of Newton's method on the copy of q --------------------------------------------- */

/* The round-off of the slope along d, in J. A particle's force is accurate to its stiffness times the spacing of
 * floating-point numbers. */
static double slope_noise(const sinew_gap *gap)
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
static void predict(const sinew_gap *gap, account *a)
{
    a->before = a->left;
    a->left = -0.5 * slope_along_d(gap);
    a->uncertain = slope_noise(gap);
    a->indefinite = a->indefinite || !gap->exact;
}

/* Predicted decrease of g by all remaining steps, in J. Steps with a projected Hessian gain a fixed fraction of the
 * remainder: a geometric series. */
static double left_in_all(const account *a)
{
    const double ratio = a->left / a->before;
    return ratio < 1 ? a->left / (1 - fmax(ratio, 0)) : HUGE_VAL;
}

/* True if the descent may end. A projected Hessian is stiffer than g and predicts too little: only a prediction by the
 * exact Hessian ends the descent. A descent through indefinite Hessians may cross a small region where H is definite
 * and far above the minimum: it needs two confirmed predictions in a row. */
static bool is_done(const sinew_gap *gap, const account *a)
{
    const int needed = a->indefinite ? 2 : 1;
    return gap->exact && !gap->chord && a->confirmed && a->in_row >= needed && left_in_all(a) <= LEFT_MAX * a->seen;
}

/* True if the predicted remaining decrease may be round-off: it is at most its round-off, or at most STALE times that
 * and above LEFT_HIDDEN times the previous prediction. */
static bool is_hidden(const account *a)
{
    return a->left <= a->uncertain || (a->left <= STALE * a->uncertain && a->left > LEFT_HIDDEN * a->before);
}

/* True if a chord direction (from an earlier factor) is good enough for a step. It cannot end a descent: where soft
 * modes have rotated since the factorisation, their stiffness is overestimated and the predicted decrease too small. */
static bool chord_serves(const account *a)
{
    return a->left > a->uncertain && a->left <= CHORD_CONTRACTION * a->before && a->left > LEFT_MAX * a->seen;
}

/* Computes newton.d and predicts its decrease: from the last factor if it is good enough, else from the Hessian at the
 * iterate, refined from the last exact factor or factorised. Returns false if there is no direction. */
static bool next_direction(sinew_gap *gap, account *a)
{
    const double before = a->left;
    gap->current = true;
    if (a->chord && sinew_gap_chord(gap)) {
        predict(gap, a);
        if (chord_serves(a))
            return true;
        a->left = before;
    }
    if (sinew_gap_refine(gap)) {
        predict(gap, a);
        return true;
    }
    const bool waited = gap->wait > 0;
    if (!sinew_gap_direction(gap))
        return gap->current = false;
    predict(gap, a);
    /* A prediction by the projected Hessian that would end the descent is repeated with the exact Hessian. */
    if (gap->exact || !waited || a->left > fmin(LEFT_MAX * a->seen, RETRY * a->denied))
        return true;
    a->denied = a->left;
    if (sinew_gap_make_exact(gap)) {
        a->left = before;
        predict(gap, a);
    }
    return true;
}

static sinew_gap_estimate unknown(const char *reason)
{
    return (sinew_gap_estimate){.kind = SINEW_GAP_UNKNOWN, .value = HUGE_VAL, .reason = reason};
}

static sinew_gap_estimate known(sinew_gap_kind kind, double value)
{
    return (sinew_gap_estimate){.kind = kind, .value = value, .reason = ""};
}

static void evaluate_copy(sinew_gap *gap)
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
 * unchanged, if no slope exceeds its round-off. */
static bool leave_saddle(sinew_gap *gap, account *a)
{
    const double noise = slope_noise(gap);
    const sinew_terms terms = gap->copy.terms;
    double alpha = 1, seen = 0, slope = slope_along_d(gap), lowest = slope;
    if (!(noise > 0) || a->escapes >= ESCAPES_MAX)
        return false;
    save(gap);
    for (int i = 0; i < ESCAPE_DOUBLINGS && slope <= 0.5 * lowest && !sinew_stop_came(); i++, alpha *= 2) {
        const double from = i > 0 ? alpha / 2 : 0, before = slope;
        for (size_t k = 0; k < 4 * (size_t)gap->copy.objective->particle_count; k++)
            gap->copy.q[k] = (sinew_real)((double)gap->vectors.kept_q[k] + alpha * (double)gap->newton.d[k]);
        evaluate_copy(gap);
        slope = slope_along_d(gap);
        seen -= 0.5 * (before + slope) * (alpha - from);
        lowest = fmin(lowest, slope);
    }
    if (!(lowest < -10 * noise) || !(seen > 0) || !isfinite(gap->copy.residual)) {
        gap_restore(gap, terms);
        return false;
    }
    *a = (account){
        .seen = a->seen + seen, .left = HUGE_VAL, .denied = HUGE_VAL, .indefinite = true, .escapes = a->escapes + 1};
    gap->wait = gap->patience = 0;
    return true;
}

/* The estimate if the remainder is below round-off. Without a definite Hessian the point is a saddle, where g may
 * decrease further. If even the forces at the start of the step are below round-off, definiteness is not decidable. */
static sinew_gap_estimate in_round_off(sinew_gap *gap, const account *a)
{
    const bool visible = gap->solver->start_residual > VISIBLE * gap->copy.noise;
    if (!gap->exact && !visible)
        return unknown("round-off hides the forces of this step");
    gap->current = gap->current && gap->exact;
    if (!gap->exact && !sinew_gap_definite(gap))
        return unknown(saddle_reason);
    const double left = fmax(a->left, 0);
    return left <= LEFT_HIDDEN * a->seen ? known(SINEW_GAP_ESTIMATE, a->seen + left)
                                         : known(SINEW_GAP_BELOW, a->seen + 2 * fmax(a->uncertain, left));
}

static int32_t max_steps(const sinew_gap *gap)
{
    const int32_t steps = STEPS_WORK / (gap->copy.objective->particle_count + 1);
    return steps < STEPS_MIN ? STEPS_MIN : steps > STEPS_MAX ? STEPS_MAX : steps;
}

/* ---- Estimate of the position error ------------------------------------------------------------ */

/* Upper limit of additional Newton steps until the descent has converged in distance, too. */
#define POSITION_STEPS 8
/* Largest correction by the last Newton direction, as a fraction of the position error. */
#define CORRECTION_MAX 0.5
/* Positions near round-off: smallest bound of the error, as a multiple of the displacement that the descent finds,
 * and the multiple of the displacement by round-off in the forces that the bound adds. With 3 in place of 10, 5 of
 * 27 bounds were up to 6 times too small (test_error_draws). */
#define POSITION_BOUND 3
#define NOISE_BOUND    10
/* Number of samples of the displacement by round-off. */
#define NOISE_SAMPLES 4
/* Conjugate gradients may stall before soft modes have settled: two consecutive errors must differ by at most this
 * fraction. */
#define CG_AGREEMENT 0.3
/* Largest bound, as a fraction of the world's size: H does not describe larger displacements. The second fraction holds
 * in large worlds, which have no factor to measure round-off: in single precision 5 of 15 larger bounds were wrong
 * (test_gap). */
#define POSITION_BOUND_MAX   0.05
#define UNFACTORED_BOUND_MAX 1e-4

static double length3(const sinew_real *x)
{
    return sqrt((double)x[0] * (double)x[0] + (double)x[1] * (double)x[1] + (double)x[2] * (double)x[2]);
}

/* Writes the position error vectors.error = copy.q + d - q. Returns its largest length; *correction receives the
 * largest |d|. */
static double write_position_error(sinew_gap *gap, double *correction)
{
    const sinew_objective *o = gap->copy.objective;
    double error = 0;
    *correction = 0;
    for (size_t i = 0; i < (size_t)o->particle_count; i++) {
        double square = 0, last = 0;
        for (size_t c = 4 * i; c < 4 * i + 3; c++) {
            const double d = o->step.pinned[i] ? 0 : (double)gap->newton.d[c];
            const double e = (double)gap->copy.q[c] + d - (double)gap->solver->q[c];
            gap->vectors.error[c] = (sinew_real)e;
            square += e * e;
            last += d * d;
        }
        error = fmax(error, sqrt(square));
        *correction = fmax(*correction, sqrt(last));
    }
    return error;
}

static void set_position_unknown(sinew_gap_estimate *estimate, const char *reason)
{
    estimate->position_kind = SINEW_GAP_UNKNOWN;
    estimate->position_reason = reason;
    estimate->position_max = estimate->position_rms = HUGE_VAL;
}

/* Root mean square of the estimated position error over the free particles. */
static double position_rms(const sinew_gap *gap)
{
    const sinew_objective *o = gap->copy.objective;
    double sum = 0;
    int32_t count = 0;
    for (size_t i = 0; i < (size_t)o->particle_count; i++)
        if (!o->step.pinned[i]) {
            for (size_t c = 4 * i; c < 4 * i + 3; c++)
                sum += (double)gap->vectors.error[c] * (double)gap->vectors.error[c];
            count++;
        }
    return count > 0 ? sqrt(sum / count) : 0;
}

/* A number of -12 .. -5 or 5 .. 12 for coordinate i of sample k, the same in every run. */
static double sample_shift(size_t i, int k)
{
    uint64_t z = (i + 1) * 0x9E3779B97F4A7C15u + (uint64_t)k * 0xD1B54A32D192ED03u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (z >> 63 ? -1 : 1) * (5 + (double)(z >> 60 & 7));
}

/* Measures the displacement that round-off in the forces causes. For a shift s of some spacings of positions the exact
 * gradient changes by H s; the rest of the computed change is round-off:
 *
 *     H^-1 (grad g(q + s) - grad g(q)) - s
 *
 * with the last factor of H. Unlike random forces, the difference has the structure of round-off in elements, whose
 * forces balance and hardly move soft modes. Raises noise[4 i] to the distance of particle i. Returns false without a
 * factor. */
static bool sample_noise(sinew_gap *gap, int k, sinew_real *noise)
{
    sinew_objective *o = gap->copy.objective;
    const sinew_gap_vectors *v = &gap->vectors;
    const double spacing = sinew_objective_round_off(o, gap->copy.q);
    const size_t count = (size_t)o->particle_count;
    sinew_terms terms;
    for (size_t i = 0; i < 4 * count; i++)
        v->trial[i] = i % 4 < 3 && !o->step.pinned[i / 4] ? (sinew_real)((double)v->q[i] + sample_shift(i, k) * spacing)
                                                          : v->q[i];
    sinew_objective_gradient(o, v->trial, v->trial_gradient, &terms);
    for (size_t i = 0; i < 4 * count; i++)
        v->right[i] = v->trial_gradient[i] - v->gradient[i];
    gap->work += gap->model.gradient;
    gap->copy.gradient = v->right;
    const bool solved = sinew_gap_chord(gap);
    gap->copy.gradient = v->gradient;
    for (size_t i = 0; solved && i < count; i++) {
        double square = 0;
        for (size_t c = 4 * i; c < 4 * i + 3; c++)
            square += pow((double)v->d[c] + ((double)v->trial[c] - (double)v->q[c]), 2);
        noise[4 * i] = (sinew_real)fmax((double)noise[4 * i], o->step.pinned[i] ? 0 : sqrt(square));
    }
    return solved;
}

/* Turns vectors.error into a bound: with the computed gradient, which differs from grad g by its round-off r,
 * |q* - q| <= |H^-1 computed| + |H^-1 r|. Returns the largest bound of a particle. */
static double widen_by_noise(sinew_gap *gap)
{
    const sinew_objective *o = gap->copy.objective;
    sinew_real *noise = gap->vectors.kept_q, *error = gap->vectors.error;
    const double spacing = sinew_objective_round_off(o, gap->copy.q);
    double max = 0;
    memset(noise, 0, 4 * (size_t)o->particle_count * sizeof *noise);
    gap->current = false;
    for (int k = 0; k < NOISE_SAMPLES && !gap->pcg.r; k++)
        if (!sample_noise(gap, k, noise))
            return HUGE_VAL;
    for (size_t i = 0; i < (size_t)o->particle_count; i++) {
        const double own = length3(error + 4 * i), moved = NOISE_BOUND * fmax((double)noise[4 * i], spacing);
        const double bound = o->step.pinned[i] ? 0 : fmax(POSITION_BOUND * own, own + moved);
        for (size_t c = 4 * i; c < 4 * i + 3; c++)
            error[c] = (sinew_real)(own > 0 ? (double)error[c] * (bound / own) : c % 4 == 0 ? bound : 0);
        max = fmax(max, bound);
    }
    return max;
}

/* Reports vectors.error, which the descent found near round-off, as a bound. Above the largest bound that H supports
 * the error is unknown, with the reason. A projected Hessian supports none, since it is too stiff in soft modes: 5
 * of 500 draws of single precision had bounds by it that were 1.2 to 65 times too small (test_error_draws). */
static void set_position_bound(sinew_gap *gap, sinew_gap_estimate *estimate, const char *reason)
{
    const double spacing = sinew_objective_round_off(gap->copy.objective, gap->copy.q);
    const double size = spacing / (sizeof(sinew_real) == 4 ? (double)FLT_EPSILON : DBL_EPSILON);
    const double limit = gap->pcg.r ? UNFACTORED_BOUND_MAX : gap->exact ? POSITION_BOUND_MAX : 0;
    const double bound = widen_by_noise(gap);
    if (!(bound <= limit * size)) {
        set_position_unknown(estimate, reason);
        return;
    }
    estimate->position_kind = SINEW_GAP_BELOW;
    estimate->position_reason = "";
    estimate->position_max = bound;
    estimate->position_rms = position_rms(gap);
}

/* Near round-off the descent only bounds the error. */
static void set_position_known(sinew_gap *gap, double error, sinew_gap_estimate *estimate)
{
    if (estimate->kind == SINEW_GAP_BELOW) {
        set_position_bound(gap, estimate, "round-off in the forces hides the positions");
        return;
    }
    estimate->position_kind = estimate->kind;
    estimate->position_reason = "";
    estimate->position_max = error;
    estimate->position_rms = position_rms(gap);
}

/* Continues the descent until the last correction is small in distance, too, and estimates the position error. */
static void find_position_error(sinew_gap *gap, account *a, sinew_gap_estimate *estimate)
{
    if (estimate->kind == SINEW_GAP_UNKNOWN || estimate->position_kind == SINEW_GAP_BELOW) {
        if (estimate->kind == SINEW_GAP_UNKNOWN)
            set_position_unknown(estimate, estimate->reason);
        return;
    }
    const double spacing = sinew_objective_round_off(gap->copy.objective, gap->copy.q);
    double last = -1;
    for (int i = 0; i < POSITION_STEPS; i++) {
        double correction;
        if (!gap->current && !next_direction(gap, a))
            break;
        const double error = write_position_error(gap, &correction);
        const bool agrees = !gap->pcg.r || (last >= 0 && fabs(error - last) <= CG_AGREEMENT * error + spacing);
        if (!gap->chord && agrees && correction <= fmax(CORRECTION_MAX * error, 4 * spacing)) {
            set_position_known(gap, error, estimate);
            return;
        }
        last = error;
        a->left = -0.5 * slope_along_d(gap);
        if (!(gap_take_step(gap, false, a) > 0))
            break;
    }
    const char *reason = "the descent has settled in energy, not in distance";
    if (is_hidden(a) && gap->exact)
        set_position_bound(gap, estimate, reason);
    else
        set_position_unknown(estimate, reason);
}

/* ---- Estimate of the position error with contact ------------------------------------------------- */

/* q* is the minimum with multipliers and friction limits that have converged on the contacts of the step. The descent
 * alternates Newton steps with multiplier updates (method of multipliers, Hestenes 1969), which contract the distance
 * linearly: the remaining distance is that of a geometric series. */

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
static double longest(const sinew_gap *gap, const sinew_real *a, const sinew_real *b)
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

/* Direction at copy.q: from the last factor, or (`anew`) from the Hessian there. Returns its largest length, negative
 * without a direction. */
static double settling_direction(sinew_gap *gap, bool anew)
{
    const bool found = (!anew && sinew_gap_chord(gap)) || sinew_gap_refine(gap) || sinew_gap_direction(gap);
    return found ? longest(gap, gap->newton.d, NULL) : -1;
}

/* Distances that successive multiplier updates move the positions. */
typedef struct settling {
    double change, before; /* distance between the last two updates, and between the two before, in m */
    double noise;          /* distance that is round-off of positions, in m */
    double visible;        /* errors above this distance are estimates, in m */
    int32_t updates;
} settling;

/* Remaining distance to q* after all further multiplier updates, in m. */
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
    s->change = longest(gap, gap->copy.q, gap->vectors.settled);
    s->updates++;
    memcpy(gap->vectors.settled, gap->copy.q, 4 * (size_t)gap->copy.objective->particle_count * sizeof *gap->copy.q);
    contact->settle_update(contact->context, gap->copy.q);
    evaluate_copy(gap);
}

/* Whether the copy is near enough to q*: a Newton step of the Hessian there and all further updates are small. */
static bool has_settled(sinew_gap *gap, const settling *s)
{
    const double error = longest(gap, gap->copy.q, gap->solver->q), small = fmax(SETTLE_LEFT * error, s->noise);
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
    account a = {.left = -0.5 * slope_along_d(gap), .denied = HUGE_VAL, .failures = BOLD_FAILURES};
    *hidden = a.left <= slope_noise(gap);
    const double seen = gap_take_step(gap, *hidden, &a);
    return *hidden ? isfinite(seen) : seen >= 0;
}

/* Measures the round-off of positions at the copy, below which multiplier updates are not followed. */
static void measure_settled_noise(sinew_gap *gap, settling *s)
{
    sinew_real *noise = gap->vectors.kept_q;
    double max = 0;
    memset(noise, 0, 4 * (size_t)gap->copy.objective->particle_count * sizeof *noise);
    for (int k = 0; k < NOISE_SAMPLES; k++)
        if (gap->pcg.r || !sample_noise(gap, k, noise))
            return;
    for (size_t i = 0; i < (size_t)gap->copy.objective->particle_count; i++)
        max = fmax(max, (double)noise[4 * i]);
    s->noise = fmax(s->noise, 2 * max);
    s->visible = SETTLE_VISIBLE_NOISE * s->noise;
}

/* Moves the copy towards q* until it has settled; `restart`: from q instead of the minimum with other multipliers. */
static bool settle(sinew_gap *gap, bool restart, settling *s)
{
    const size_t bytes = 4 * (size_t)gap->copy.objective->particle_count * sizeof *gap->copy.q;
    const double spacing = sinew_objective_round_off(gap->copy.objective, gap->copy.q);
    const double work_max = gap->work + SETTLE_WORK * gap->model.newton;
    double before = HUGE_VAL;
    *s = (settling){.change = HUGE_VAL, .before = HUGE_VAL, .noise = 4 * spacing, .visible = SETTLE_VISIBLE * spacing};
    memcpy(gap->vectors.settled, gap->solver->q, bytes);
    if (restart) {
        memcpy(gap->copy.q, gap->solver->q, bytes);
        evaluate_copy(gap);
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
        if (!hidden && length > fmax(SETTLE_INNER * longest(gap, gap->copy.q, gap->vectors.settled), spacing))
            continue;
        settling_update(gap, s);
        before = HUGE_VAL;
        if (has_settled(gap, s))
            return true;
        if (s->updates == SETTLE_SAMPLED)
            measure_settled_noise(gap, s);
    }
    return false;
}

/* Near round-off the gap with the step's multipliers is only bounded, but the distance that their updates cause is an
 * estimate if it is well above the round-off of positions. */
static void set_settled(sinew_gap *gap, const settling *s, sinew_gap_estimate *estimate)
{
    const sinew_gap_kind kind = estimate->kind;
    double correction;
    const double error = write_position_error(gap, &correction);
    const bool sampled = s->updates > SETTLE_SAMPLED;
    if (error > s->visible)
        estimate->kind = SINEW_GAP_ESTIMATE;
    else if (sampled)
        estimate->kind = SINEW_GAP_BELOW;
    set_position_known(gap, error, estimate);
    estimate->kind = kind;
}

/* Estimates the position error of a step with contact. The contact data of the step are restored before the return. */
static void find_settled_error(sinew_gap *gap, account *a, sinew_gap_estimate *estimate)
{
    const sinew_contact_hooks *contact = gap->solver->contact;
    bool multipliers, adopted;
    settling s;
    const char *reason = contact->settle_begin(contact->context, &multipliers, &adopted);
    if (!reason && !multipliers) {
        find_position_error(gap, a, estimate);
        return;
    }
    if (reason || estimate->kind == SINEW_GAP_UNKNOWN)
        set_position_unknown(estimate, reason ? reason : estimate->reason);
    else if (!settle(gap, adopted, &s))
        set_position_unknown(estimate, "contact: multipliers and friction limits did not settle");
    else
        set_settled(gap, &s, estimate);
    if (multipliers)
        contact->settle_end(contact->context);
}

/* ---- Estimate of the gap ------------------------------------------------------------------------- */

static sinew_gap_estimate gap_go_down(sinew_gap *gap, account *a, int32_t *steps)
{
    for (*steps = 0; *steps < max_steps(gap) && !sinew_stop_came(); ++*steps) {
        if (!next_direction(gap, a))
            return unknown("the system of the Hessian did not settle");
        if (is_done(gap, a))
            return known(SINEW_GAP_ESTIMATE, a->seen + a->left);
        const bool hidden = is_hidden(a);
        double seen = 0;
        bool ends = hidden && (a->left <= 0 || a->left > LEFT_HIDDEN * a->before);
        if (!ends) {
            seen = gap_take_step(gap, hidden, a);
            /* A decrease larger than predicted is not round-off: the quadratic model is wrong. */
            ends = hidden && !a->confirmed && seen <= AGREEMENT * a->left;
        }
        if (ends) {
            const sinew_gap_estimate estimate = in_round_off(gap, a);
            if (estimate.reason == saddle_reason && leave_saddle(gap, a))
                continue;
            return estimate;
        }
        if (!(seen > 0))
            return unknown("no step along Newton's direction lowers the objective above round-off");
        a->seen += seen;
        a->in_row = a->confirmed ? a->in_row + 1 : 0;
    }
    return unknown("the minimum is too far away for the steps that are spent on finding it");
}

/* Bounds gap and position error of a large dynamic world whose forces are round-off, without a linear solve: with
 * H >= M/h^2 the gap is at most h^2/2 grad g . M^-1 grad g, and |M^(1/2) d| at most h^2 |M^(-1/2) grad g|. The Hessian
 * of energies is at least zero near rest; elsewhere it is assumed. Returns false if the bound does not apply. */
static bool bound_by_inertia(sinew_gap *gap, sinew_gap_estimate *estimate)
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
    *estimate = known(SINEW_GAP_BELOW, 0.5 * square * sum);
    estimate->position_kind = SINEW_GAP_BELOW;
    estimate->position_reason = "";
    estimate->position_max = estimate->position_rms = fmax(square * sqrt(sum / lightest), spacing);
    return true;
}

const sinew_real *sinew_solve_position_error(const sinew_solve *s)
{
    return s->gap->vectors.error;
}

/* Copies the state at the end of the step to the copy and lays out changed contacts. Returns false if out of memory. */
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
        estimate = unknown("there is too little memory for it");
        set_position_unknown(&estimate, estimate.reason);
        return estimate;
    }
    account a = {.left = HUGE_VAL, .denied = HUGE_VAL, .chord = gap->borrowed};
    if (!bound_by_inertia(gap, &estimate))
        estimate = gap_go_down(gap, &a, &steps);
    if (s->contact)
        find_settled_error(gap, &a, &estimate);
    else
        find_position_error(gap, &a, &estimate);
    estimate.steps = steps;
    estimate.work = gap->work / gap->model.newton;
    estimate.linear_iterations = gap->linear_iterations;
    return estimate;
}
