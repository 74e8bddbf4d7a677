/* SPDX-License-Identifier: MIT
 *
 * position_error.c: estimates how far the end of a step is from the minimum of its objective, q* - q, by a descent that
 * continues until it has converged in distance (objective_gap.h).
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "solve/driver/gap_descent.h"
#include "solve/driver/newton_decrement.h"

/* Upper limit of additional Newton steps until the descent has converged in distance, too. */
#define POSITION_STEPS 8
/* Largest correction by the last Newton direction, as a fraction of the position error. */
#define CORRECTION_MAX 0.5
/* Positions near round-off: smallest bound of the error, as a multiple of the displacement that the descent finds,
 * and the multiple of the displacement by round-off in the forces that the bound adds. With 3 in place of 10, 5 of
 * 27 bounds were up to 6 times too small (test_error_draws). */
#define POSITION_BOUND 3
#define NOISE_BOUND    10
/* Conjugate gradients may stall before soft modes have settled: two consecutive errors must differ by at most this
 * fraction. */
#define CG_AGREEMENT 0.3
/* Largest bound, as a fraction of the world's size: H does not describe larger displacements. The second fraction holds
 * in large worlds, which have no factor to measure round-off: in single precision 5 of 15 larger bounds were wrong
 * (test_gap). */
#define POSITION_BOUND_MAX   0.05
#define UNFACTORED_BOUND_MAX 1e-4

static double vector_length(const sinew_real *x)
{
    return sqrt((double)x[0] * (double)x[0] + (double)x[1] * (double)x[1] + (double)x[2] * (double)x[2]);
}

double sinew_gap_write_error(sinew_gap *gap, double *correction)
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

void sinew_gap_set_unknown(sinew_gap_estimate *estimate, const char *reason)
{
    estimate->position_kind = SINEW_GAP_UNKNOWN;
    estimate->position_reason = reason;
    estimate->position_max = estimate->position_rms = HUGE_VAL;
}

/* Root mean square of the estimated position error over the free particles. */
static double error_rms(const sinew_gap *gap)
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

bool sinew_gap_sample_noise(sinew_gap *gap, int k, sinew_real *noise)
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
 * |q* - q| <= |H^-1 computed| + |H^-1 r|. |H^-1 r| is the largest of a few samples, and at least the spacing of
 * positions; large worlds, which have no factor, use the spacing alone. Returns the largest bound of a particle. */
static double error_widen_by_noise(sinew_gap *gap)
{
    const sinew_objective *o = gap->copy.objective;
    sinew_real *noise = gap->vectors.kept_q, *error = gap->vectors.error;
    const double spacing = sinew_objective_round_off(o, gap->copy.q);
    double max = 0;
    memset(noise, 0, 4 * (size_t)o->particle_count * sizeof *noise);
    gap->current = false;
    for (int k = 0; k < SINEW_GAP_NOISE_SAMPLES && !gap->pcg.r; k++)
        if (!sinew_gap_sample_noise(gap, k, noise))
            return HUGE_VAL;
    for (size_t i = 0; i < (size_t)o->particle_count; i++) {
        const double own = vector_length(error + 4 * i), moved = NOISE_BOUND * fmax((double)noise[4 * i], spacing);
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
static void error_report_bound(sinew_gap *gap, sinew_gap_estimate *estimate, const char *reason)
{
    const double spacing = sinew_objective_round_off(gap->copy.objective, gap->copy.q);
    const double size = spacing / (sizeof(sinew_real) == 4 ? (double)FLT_EPSILON : DBL_EPSILON);
    const double limit = gap->pcg.r ? UNFACTORED_BOUND_MAX : gap->exact ? POSITION_BOUND_MAX : 0;
    const double bound = error_widen_by_noise(gap);
    if (!(bound <= limit * size)) {
        sinew_gap_set_unknown(estimate, reason);
        return;
    }
    estimate->position_kind = SINEW_GAP_BELOW;
    estimate->position_reason = "";
    estimate->position_max = bound;
    estimate->position_rms = error_rms(gap);
}

void sinew_gap_set_known(sinew_gap *gap, double error, sinew_gap_estimate *estimate)
{
    if (estimate->kind == SINEW_GAP_BELOW) {
        error_report_bound(gap, estimate, "round-off in the forces hides the positions");
        return;
    }
    estimate->position_kind = estimate->kind;
    estimate->position_reason = "";
    estimate->position_max = error;
    estimate->position_rms = error_rms(gap);
}

void sinew_gap_find_error(sinew_gap *gap, sinew_gap_account *a, sinew_gap_estimate *estimate)
{
    if (estimate->kind == SINEW_GAP_UNKNOWN || estimate->position_kind == SINEW_GAP_BELOW) {
        if (estimate->kind == SINEW_GAP_UNKNOWN)
            sinew_gap_set_unknown(estimate, estimate->reason);
        return;
    }
    const double spacing = sinew_objective_round_off(gap->copy.objective, gap->copy.q);
    double last = -1;
    for (int i = 0; i < POSITION_STEPS; i++) {
        double correction;
        if (!gap->current && !sinew_gap_next_direction(gap, a))
            break;
        const double error = sinew_gap_write_error(gap, &correction);
        const bool agrees = !gap->pcg.r || (last >= 0 && fabs(error - last) <= CG_AGREEMENT * error + spacing);
        if (!gap->chord && agrees && correction <= fmax(CORRECTION_MAX * error, 4 * spacing)) {
            sinew_gap_set_known(gap, error, estimate);
            return;
        }
        last = error;
        a->left = -0.5 * sinew_gap_slope(gap);
        if (!(sinew_gap_take_step(gap, false, a) > 0))
            break;
    }
    const char *reason = "the descent has settled in energy, not in distance";
    if (sinew_gap_is_hidden(a) && gap->exact)
        error_report_bound(gap, estimate, reason);
    else
        sinew_gap_set_unknown(estimate, reason);
}
