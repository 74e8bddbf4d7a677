/* SPDX-License-Identifier: MIT
 *
 * judge.c: errors of the results of a comparison: relative errors (Ledwon's thesis (5.5)), and momenta and shapes
 * against the reference's.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "compare.h"
#include "metrics.h"

const double sinew_levels[SINEW_LEVEL_COUNT] = {1e-2, 1e-4, 1e-6};
const int32_t sinew_samples[SINEW_SAMPLE_COUNT] = {1, 3, 10, 30, 100, 300, 1000};

/* ---- Results of the methods ------------------------------------------------------------------- */

sinew_answer *sinew_answer_of(const sinew_comparison *c, int32_t step, int32_t method)
{
    return &c->answers[(size_t)step * (size_t)c->method_count + (size_t)method];
}

double sinew_final_error(const sinew_answer *a)
{
    return a->record_count > 0 ? a->relative_error[a->record_count - 1] : NAN;
}

int32_t sinew_record_reaching(const sinew_answer *a, double level)
{
    int32_t row = a->record_count;
    while (row > 0 && a->relative_error[row - 1] <= level)
        row--;
    return row < a->record_count ? row : -1;
}

double sinew_error_at(const sinew_answer *a, int32_t iteration)
{
    if (a->record_count == 0)
        return NAN;
    return a->relative_error[iteration < a->record_count ? iteration : a->record_count - 1];
}

/* ---- Errors against the reference ------------------------------------------------------------- */

/* True if a step starts at the minimum: its residual is round-off before the first iteration. Relative residuals are
 * divided by the initial residual or by round-off, the larger; if round-off is larger, the step starts at the
 * minimum. */
static bool began_at_minimum(const sinew_answer *a)
{
    const sinew_step_result *r = &a->result;
    return r->relative_residual > 0 && a->records[0].residual < 0.99 * r->residual / r->relative_residual;
}

/* Computes the lowest objective of a step and the relative errors of all methods. */
static void judge_objectives(sinew_comparison *c, int32_t step)
{
    double lowest = HUGE_VAL;
    for (int32_t i = 0; i < c->method_count; i++) {
        const sinew_answer *a = sinew_answer_of(c, step, i);
        for (int32_t row = 0; row < a->record_count; row++)
            lowest = a->records[row].objective < lowest ? a->records[row].objective : lowest;
    }
    const sinew_answer *reference = sinew_answer_of(c, step, SINEW_REFERENCE);
    double start = reference->records[0].objective, gain = start - lowest;
    c->start[step] = start;
    c->lowest[step] = lowest;
    const double epsilon = sizeof(sinew_real) == 4 ? FLT_EPSILON : DBL_EPSILON;
    bool known = gain > 16 * epsilon * fabs(start) && !began_at_minimum(reference);
    for (int32_t i = 0; i < c->method_count; i++) {
        const sinew_answer *a = sinew_answer_of(c, step, i);
        for (int32_t row = 0; row < a->record_count; row++)
            a->relative_error[row] = known ? (a->records[row].objective - lowest) / gain : NAN;
    }
}

static void judge_shape(sinew_comparison *c, int32_t step, sinew_answer *a)
{
    const sinew_answer *reference = sinew_answer_of(c, step, SINEW_REFERENCE);
    const sinew_iteration *row = &a->records[a->record_count - 1],
                          *true_row = &reference->records[reference->record_count - 1];
    a->linear_drift = sinew_distance(row->linear_momentum, true_row->linear_momentum);
    a->angular_drift = sinew_distance(row->angular_momentum, true_row->angular_momentum);
    for (size_t i = 0; i < (size_t)sinew_world_particle_count(c->world); i++) {
        const sinew_real *q = a->positions + 3 * i, *p = reference->positions + 3 * i;
        double d[3] = {(double)(q[0] - p[0]), (double)(q[1] - p[1]), (double)(q[2] - p[2])};
        a->distance = fmax(a->distance, sinew_length(d));
    }
}

void sinew_judge_step(sinew_comparison *c, int32_t step)
{
    judge_objectives(c, step);
    for (int32_t i = 0; i < c->method_count; i++)
        judge_shape(c, step, sinew_answer_of(c, step, i));
}

bool sinew_judge_scales(sinew_comparison *c, const sinew_real *q)
{
    const sinew_answer *reference = sinew_answer_of(c, c->step_count - 1, SINEW_REFERENCE);
    const int32_t count = sinew_world_particle_count(c->world);
    const double h = (double)sinew_scene_time_step(c->scene);
    sinew_real *masses = malloc((size_t)count * sizeof *masses);
    if (!masses)
        return false;
    sinew_world_get_masses(c->world, 0, count, masses);
    double farthest = 0, low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (size_t i = 0; i < (size_t)count; i++) {
        const sinew_real *p = reference->positions + 3 * i;
        double x[3] = {(double)p[0], (double)p[1], (double)p[2]}, before[3];
        for (size_t k = 0; k < 3; k++) {
            before[k] = (double)q[3 * i + k];
            low[k] = fmin(low[k], x[k]);
            high[k] = fmax(high[k], x[k]);
            farthest = fmax(farthest, fabs(x[k]));
        }
        double moved = sinew_distance(x, before), momentum = (double)masses[i] * moved / h;
        c->motion = fmax(c->motion, moved);
        c->linear_scale += momentum;
        c->angular_scale += momentum * sinew_distance(x, reference->measures.centre_of_mass);
    }
    c->size = sinew_distance(low, high);
    /* A quasistatic step has no momenta. If no particle moves by more than round-off, momenta have no scale for a
     * comparison. */
    const double round_off = 1e3 * (sizeof(sinew_real) == 4 ? FLT_EPSILON : DBL_EPSILON) * farthest;
    const sinew_iteration *row = &reference->records[reference->record_count - 1];
    const bool still =
        row->inertia == 0 && sinew_length(row->linear_momentum) == 0 && sinew_length(row->angular_momentum) == 0;
    if (still || c->motion <= round_off)
        c->linear_scale = c->angular_scale = 0;
    free(masses);
    return true;
}
