/* SPDX-License-Identifier: MIT
 *
 * objective_gap.c: see objective_gap.h. Newton's method on a copy of q, with a comparison of predicted and observed
 * decreases.
 *
 * Full steps are taken if the prediction is confirmed. Otherwise a stiff constraint may be the cause: a straight line
 * leaves it, and a line search makes tiny steps (the Maratos effect). So a few further full steps, which return to the
 * constraint, are tried, and kept if g is lower at the end (the watchdog technique: Chamberlain, Powell, Lemarechal,
 * Pedersen 1982). Otherwise the line search decides.
 */
#include "solve/driver/objective_gap.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/reduce.h"
#include "base/stop.h"
#include "solve/driver/newton_decrement.h"
#include "solve/line_search.h"

/* A prediction is confirmed if the ratio of observed and predicted decrease is within this factor of 1. */
#define AGREEMENT 1.5
/* The descent ends when the predicted remaining decrease is at most this fraction of the observed decrease. */
#define LEFT_MAX 0.25
/* Near round-off: a remaining decrease up to this fraction of the observed one is accepted. If a step leaves more than
 * this fraction of the predicted decrease, the prediction is round-off. */
#define LEFT_HIDDEN 0.25
/* A prediction that does not decrease counts as round-off up to this multiple of its round-off. */
#define STALE 30
/* Forces above this multiple of their round-off are significant. */
#define VISIBLE 1
/* Largest number of steps. Small worlds are cheap, and ropes of stiff springs, which need many steps, are small. */
#define STEPS_MIN     60
#define STEPS_MAX     400
#define STEPS_WORK    40000 /* largest product of particles and Newton steps */
#define BOLD_STEPS    6
#define BOLD_FAILURES 3
/* Largest number of conjugate gradient iterations over all steps. */
#define LINEAR_MAX 3000

/* ---- Create ---------------------------------------------------------------------------------- */

static sinew_status create_vectors(sinew_gap *gap, sinew_error *error)
{
    const sinew_objective *o = gap->copy.objective;
    sinew_gap_vectors *v = &gap->vectors;
    sinew_real **vectors[] = {&v->q,      &v->gradient,      &v->d,    &v->right, &v->trial, &v->trial_gradient,
                              &v->kept_q, &v->kept_gradient, &v->error};
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
    void *arrays[] = {v->q,      v->gradient,      v->d,     v->right, v->trial, v->trial_gradient,
                      v->kept_q, v->kept_gradient, v->error, gap};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(allocator, arrays[i]);
    s->gap = NULL;
}

bool sinew_gap_lasts(const sinew_solve *s)
{
    return s->gap->newton.memory == NULL;
}

/* ---- One step on the copy -------------------------------------------------------------------- */

static double value_of(const sinew_solve *s)
{
    return s->terms.inertia + s->terms.elastic;
}

static double slope_along_d(const sinew_gap *gap)
{
    const sinew_objective *o = gap->copy.objective;
    return sinew_dot(gap->copy.gradient, gap->newton.d, o->particle_count, o->thread_count);
}

/* Decrease of g from `before` over alpha d. Below round-off of g it is computed from the slopes at both ends, which is
 * exact for a quadratic g. */
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
    sinew_full_step(&gap->copy, n->d, n->trial, n->trial_gradient);
    return isfinite(value_of(&gap->copy)) && isfinite(gap->copy.residual);
}

/* Takes up to BOLD_STEPS full steps, which may increase g temporarily. Returns true once g is lower by `enough`. */
static bool bold_steps(sinew_gap *gap, double before, double enough)
{
    for (int i = 0; i < BOLD_STEPS && !sinew_stop_came(); i++)
        if (!sinew_gap_direction(gap) || !full_step(gap))
            return false;
        else if (before - value_of(&gap->copy) >= enough)
            return true;
    return false;
}

static double searched_step(sinew_gap *gap, double before)
{
    const double slope = slope_along_d(gap);
    const double alpha = sinew_line_search(&gap->copy, gap->newton.d, gap->newton.trial, gap->newton.trial_gradient);
    return alpha > 0 ? fall(gap, before, slope, alpha) : -1;
}

/* Observed and predicted decreases of the descent so far. */
typedef struct account {
    double seen;      /* J: observed decrease of g on the copy */
    double left;      /* J: predicted remaining decrease at the iterate of the copy */
    double before;    /* J: predicted remaining decrease (`left`) one step earlier */
    double uncertain; /* J: round-off of the predicted decrease `left` */
    bool confirmed;   /* the last step gained the predicted decrease within AGREEMENT */
    int in_row;       /* number of confirmed steps in a row */
    bool indefinite;  /* the exact Hessian was indefinite at an iterate */
    int failures;     /* number of failed sequences of unchecked full steps */
} account;

/* Takes one step along newton.d. Returns the decrease of g, negative if there is none. a->confirmed: the full step
 * gained the predicted decrease. Near round-off (`hidden`) only a full step is tried. */
static double gap_take_step(sinew_gap *gap, bool hidden, account *a)
{
    sinew_solve *copy = &gap->copy;
    gap->current = false;
    const double before = value_of(copy), slope = slope_along_d(gap);
    const sinew_terms terms = copy->terms;
    save(gap);
    const bool good = full_step(gap);
    const double seen = good ? fall(gap, before, slope, 1) : -HUGE_VAL;
    a->confirmed = seen >= a->left / AGREEMENT && seen <= a->left * AGREEMENT;
    if (hidden || seen > 0.1 * a->left)
        return seen;
    if (good && a->failures < BOLD_FAILURES) {
        /* Trial steps overwrite newton.d, which the line search needs: it is computed again. */
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

/* ---- Descent --------------------------------------------------------------------------------- */

/* J: the round-off of the slope along d. A particle's force is accurate to its stiffness times the spacing of
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

/* Predicts the remaining decrease from newton.d at the iterate of the copy. */
static void predict(const sinew_gap *gap, account *a)
{
    a->before = a->left;
    a->left = -0.5 * slope_along_d(gap);
    a->uncertain = slope_noise(gap);
    a->indefinite = a->indefinite || !gap->exact;
}

/* J: decrease of all remaining steps. Steps with a projected Hessian gain a fixed fraction of the remainder: a
 * geometric series. */
static double left_in_all(const account *a)
{
    const double ratio = a->left / a->before;
    return ratio < 1 ? a->left / (1 - fmax(ratio, 0)) : HUGE_VAL;
}

/* A projected Hessian is stiffer than g and predicts too little: only a prediction by the exact Hessian ends the
 * descent. A descent through indefinite Hessians may cross a small region where H is definite and far above the minimum:
 * it needs two confirmed predictions in a row. */
static bool done(const sinew_gap *gap, const account *a)
{
    const int needed = a->indefinite ? 2 : 1;
    return gap->exact && a->confirmed && a->in_row >= needed && left_in_all(a) <= LEFT_MAX * a->seen;
}

static sinew_gap_estimate unknown(const char *reason)
{
    return (sinew_gap_estimate){.kind = SINEW_GAP_UNKNOWN, .value = HUGE_VAL, .reason = reason};
}

static sinew_gap_estimate known(sinew_gap_kind kind, double value)
{
    return (sinew_gap_estimate){.kind = kind, .value = value, .reason = ""};
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
        return unknown("the way down ends at a saddle: the Hessian is indefinite there");
    const double left = fmax(a->left, 0);
    return left <= LEFT_HIDDEN * a->seen ? known(SINEW_GAP_ESTIMATE, a->seen + left)
                                         : known(SINEW_GAP_BELOW, a->seen + 2 * fmax(a->uncertain, left));
}

/* Whether the predicted remaining decrease may be round-off: it is at most its round-off, or at most STALE times that
 * and above LEFT_HIDDEN times the previous prediction. */
static bool is_hidden(const account *a)
{
    return a->left <= a->uncertain || (a->left <= STALE * a->uncertain && a->left > LEFT_HIDDEN * a->before);
}

static int32_t max_steps(const sinew_gap *gap)
{
    const int32_t steps = STEPS_WORK / (gap->copy.objective->particle_count + 1);
    return steps < STEPS_MIN ? STEPS_MIN : steps > STEPS_MAX ? STEPS_MAX : steps;
}

/* ---- Position error ---------------------------------------------------------------------------- */

/* Number of steps by which the descent may be continued until it has settled in distance. */
#define POSITION_STEPS 8
/* Largest correction by the last direction, as a fraction of the position error. */
#define CORRECTION_MAX 0.5
/* Positions near round-off: true errors are below this multiple of the displacement that round-off in forces causes. */
#define POSITION_BOUND 3
/* Largest bound, as a fraction of the world's size. In single precision 5 of 15 larger bounds were wrong (test_gap). */
#define POSITION_BOUND_MAX 1e-4

/* Writes vectors.error = copy.q + d - q. Returns its largest length; *correction receives the largest |d|. */
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

/* Root mean square of vectors.error over the free particles. */
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

/* Near round-off the descent only bounds the error. Soft modes of stiff bodies, whose forces round-off hides, may exceed
 * a bound that is not small: the error is unknown then. */
static void set_position_known(const sinew_gap *gap, double error, sinew_gap_estimate *estimate)
{
    const bool below = estimate->kind == SINEW_GAP_BELOW;
    const double spacing = sinew_objective_round_off(gap->copy.objective, gap->copy.q);
    const double size = spacing / (sizeof(sinew_real) == 4 ? (double)FLT_EPSILON : DBL_EPSILON);
    if (below && POSITION_BOUND * error > POSITION_BOUND_MAX * size) {
        set_position_unknown(estimate, "round-off in the forces hides the positions");
        return;
    }
    estimate->position_kind = estimate->kind;
    estimate->position_reason = "";
    estimate->position_max = below ? fmax(POSITION_BOUND * error, spacing) : error;
    estimate->position_rms = below ? fmax(POSITION_BOUND * position_rms(gap), spacing) : position_rms(gap);
}

/* Continues the descent until the last correction is small in distance, too. */
static void find_position_error(sinew_gap *gap, sinew_gap_estimate *estimate)
{
    if (estimate->kind == SINEW_GAP_UNKNOWN) {
        set_position_unknown(estimate, estimate->reason);
        return;
    }
    if (gap->pcg.r) {
        set_position_unknown(estimate, "conjugate gradients settle the energy of a large world before its positions");
        return;
    }
    const double spacing = sinew_objective_round_off(gap->copy.objective, gap->copy.q);
    for (int i = 0; i < POSITION_STEPS; i++) {
        double correction;
        if (!gap->current && !sinew_gap_direction(gap))
            break;
        const double error = write_position_error(gap, &correction);
        if (correction <= fmax(CORRECTION_MAX * error, 4 * spacing)) {
            set_position_known(gap, error, estimate);
            return;
        }
        account a = {.left = -0.5 * slope_along_d(gap)};
        if (!(gap_take_step(gap, false, &a) > 0))
            break;
    }
    set_position_unknown(estimate, "the descent has settled in energy, not in distance");
}

static sinew_gap_estimate gap_go_down(sinew_gap *gap, int32_t *steps)
{
    account a = {.left = HUGE_VAL};
    for (*steps = 0; *steps < max_steps(gap) && !sinew_stop_came(); ++*steps) {
        if (!sinew_gap_direction(gap))
            return unknown("the system of the Hessian did not settle");
        gap->current = true;
        predict(gap, &a);
        if (done(gap, &a))
            return known(SINEW_GAP_ESTIMATE, a.seen + a.left);
        const bool hidden = is_hidden(&a);
        if (hidden && (a.left <= 0 || a.left > LEFT_HIDDEN * a.before))
            return in_round_off(gap, &a);
        const double seen = gap_take_step(gap, hidden, &a);
        /* A decrease larger than predicted is not round-off: the quadratic model is wrong. */
        if (hidden && !a.confirmed && seen <= AGREEMENT * a.left)
            return in_round_off(gap, &a);
        if (!(seen > 0))
            return unknown("no step along Newton's direction lowers the objective above round-off");
        a.seen += seen;
        a.in_row = a.confirmed ? a.in_row + 1 : 0;
    }
    return unknown("the minimum is too far away for the steps that are spent on finding it");
}

const sinew_real *sinew_solve_position_error(const sinew_solve *s)
{
    return s->gap->vectors.error;
}

sinew_gap_estimate sinew_gap_find(sinew_solve *s)
{
    sinew_gap *gap = s->gap;
    sinew_solve *copy = &gap->copy;
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
    int32_t steps;
    sinew_gap_estimate estimate = gap_go_down(gap, &steps);
    if (s->contact)
        set_position_unknown(&estimate, "contact: positions also depend on multipliers, which the estimate keeps");
    else
        find_position_error(gap, &estimate);
    estimate.steps = steps;
    estimate.linear_iterations = gap->linear_iterations;
    return estimate;
}
