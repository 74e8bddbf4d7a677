/* SPDX-License-Identifier: MIT
 *
 * driver.c: the one loop that runs every solver, stops it, and writes down how far it got.
 *
 * Stops on iterations, on the relative residual |grad g(q)| / |grad g(q_start)| (or when the residual is down in its
 * own round-off and falls no further), on the time budget, or when the solver itself says so.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/reduce.h"
#include "solve/gap.h"
#include "solve/solver.h"

/* ---- Set up ---------------------------------------------------------------------------------- */

static sinew_status measure_stiffness(sinew_solve *s, sinew_error *error)
{
    sinew_objective *o = s->objective;
    double *diagonal = sinew_allocate(&o->allocator, 9 * (size_t)o->particle_count, sizeof *diagonal);
    if (!diagonal)
        return sinew_fail_memory(error, "the diagonal of the Hessian");
    sinew_objective_diagonal(o, s->q, true, diagonal);
    s->stiffness = sinew_objective_stiffness(o, diagonal);
    sinew_release(&o->allocator, diagonal);
    return SINEW_OK;
}

sinew_status sinew_solve_prepare(sinew_solve *s, sinew_error *error)
{
    sinew_objective *o = s->objective;
    size_t size = 4 * (size_t)o->particle_count;
    sinew_solve_release(s);
    s->ops = sinew_solver_get_ops(s->def.kind);
    s->q = sinew_allocate_zero(&o->allocator, size, sizeof *s->q);
    s->gradient = sinew_allocate_zero(&o->allocator, size, sizeof *s->gradient);
    s->velocity = sinew_allocate_zero(&o->allocator, size, sizeof *s->velocity);
    s->row_capacity = s->def.record == SINEW_RECORD_ITERATIONS ? s->def.iterations + 1 : 0;
    s->rows = sinew_allocate(&o->allocator, (size_t)s->row_capacity, sizeof *s->rows);
    sinew_status status =
        s->q && s->gradient && s->velocity && s->rows ? SINEW_OK : sinew_fail_memory(error, "the solver");
    if (status == SINEW_OK) {
        memcpy(s->q, s->q_start, size * sizeof *s->q);
        status = measure_stiffness(s, error);
    }
    if (status == SINEW_OK)
        status = sinew_gap_create(s, error);
    if (status == SINEW_OK)
        status = s->ops->prepare(s, error);
    if (status != SINEW_OK)
        sinew_solve_release(s);
    return status;
}

void sinew_solve_release(sinew_solve *s)
{
    if (s->ops)
        s->ops->release(s);
    sinew_gap_destroy(s);
    const sinew_allocator *allocator = &s->objective->allocator;
    sinew_release(allocator, s->q);
    sinew_release(allocator, s->gradient);
    sinew_release(allocator, s->velocity);
    sinew_release(allocator, s->rows);
    s->ops = NULL;
    s->memory = NULL;
    s->q = s->gradient = s->velocity = NULL;
    s->rows = NULL;
    s->row_count = s->row_capacity = 0;
}

/* ---- Run ------------------------------------------------------------------------------------- */

void sinew_solve_evaluate(sinew_solve *s)
{
    if (s->gradient_known)
        return;
    sinew_objective *o = s->objective;
    if (s->ops->settle)
        s->ops->settle(s);
    sinew_objective_gradient(o, s->q, s->gradient, &s->terms);
    s->residual = sinew_norm(s->gradient, o->particle_count, o->thread_count);
    s->gradient_known = true;
}

/* An energy with a barrier may be infinite at q_tilde though it is not at q_n, and no solver finds back from there. */
static bool is_finite(sinew_solve *s)
{
    const sinew_objective *o = s->objective;
    bool barrier = false;
    for (int32_t t = 0; t < o->task_count; t++)
        barrier |= o->tasks[t].batch->ops->barrier;
    if (!barrier)
        return true;
    sinew_solve_evaluate(s);
    return isfinite(s->terms.elastic);
}

static void start_from(sinew_solve *s, bool inertia)
{
    const sinew_objective *o = s->objective;
    for (int32_t i = 0; i < o->particle_count; i++)
        memcpy(s->q + 4 * (size_t)i, (inertia || o->pinned[i] ? o->q_tilde : s->q_start) + 4 * (size_t)i,
               4 * sizeof *s->q);
    s->gradient_known = false;
}

void sinew_solve_start(sinew_solve *s, int start)
{
    const bool inertia = start == 0;
    if (s->objective->quasistatic)
        return;
    if (inertia)
        start_from(s, true);
    if (is_finite(s))
        return;
    start_from(s, !inertia);
    if (!is_finite(s))
        start_from(s, inertia);
}

static void record(sinew_solve *s, int32_t iteration, double began)
{
    sinew_objective *o = s->objective;
    if (s->row_count >= s->row_capacity)
        return;
    sinew_iteration *row = &s->rows[s->row_count++];
    sinew_solve_evaluate(s);
    *row = (sinew_iteration){.iteration = iteration,
                             .seconds = sinew_seconds() - began,
                             .objective = s->terms.inertia + s->terms.elastic,
                             .inertia = s->terms.inertia,
                             .elastic = s->terms.elastic,
                             .residual = s->residual};
    if (o->quasistatic)
        return;
    for (size_t i = 0; !s->v_end && i < 4 * (size_t)o->particle_count; i++)
        s->velocity[i] = (sinew_real)(((double)s->q[i] - (double)s->q_start[i]) / o->h);
    sinew_objective_momenta(o, s->q, s->v_end ? s->v_end : s->velocity, row->linear_momentum, row->angular_momentum);
}

static bool converged(const sinew_solve *s)
{
    return s->residual <= (double)s->def.tolerance * s->scale || s->residual <= s->noise;
}

/* Nothing more to gain: at the tolerance, or in round-off and no longer falling. `before` is one iteration older. */
static bool finished(const sinew_solve *s, double before)
{
    return s->residual <= (double)s->def.tolerance * s->scale ||
           (s->residual <= s->noise && s->residual > 0.5 * before);
}

/* Positions are known to `step`, the distance to the next number, so forces to stiffness times step. An energy is
 * summed from terms as large as stiffness times length squared, whatever is left of them: a stiff body near its rest
 * shape has a small energy with a large error. */
static void set_noise(sinew_solve *s)
{
    const double epsilon = sizeof(sinew_real) == 4 ? FLT_EPSILON : DBL_EPSILON;
    const double step = sinew_objective_round_off(s->objective, s->q), length = step / epsilon;
    s->noise = s->stiffness * step;
    s->value_noise = sqrt((double)s->objective->particle_count) * s->noise * length;
}

static void start(sinew_solve *s)
{
    s->gradient_known = false;
    s->notes = 0;
    s->linear_iterations = 0;
    s->row_count = 0;
    s->v_end = NULL;
    sinew_solve_evaluate(s);
    set_noise(s);
    s->scale = fmax(s->residual, s->noise);
    s->start_value = s->terms.inertia + s->terms.elastic;
}

uint32_t sinew_solve_run(sinew_solve *s, sinew_step_result *result)
{
    const double began = sinew_seconds();
    const bool watch = s->def.tolerance > 0;
    double before = HUGE_VAL;
    uint32_t bits = 0;
    int32_t iteration = 0;
    start(s);
    s->ops->begin(s);
    record(s, 0, began);
    while (bits == 0 && iteration < s->def.iterations) {
        if (watch)
            sinew_solve_evaluate(s);
        if (watch && finished(s, before))
            break;
        before = s->residual;
        bits |= s->ops->iterate(s);
        iteration++;
        record(s, iteration, began);
        if (s->def.time_budget > 0 && sinew_seconds() - began >= s->def.time_budget)
            break;
    }
    sinew_solve_evaluate(s);
    if (!isfinite(s->residual) || !isfinite(s->terms.inertia + s->terms.elastic))
        bits |= SINEW_STEP_NOT_FINITE;
    else if (converged(s))
        bits &= ~(uint32_t)SINEW_STEP_STALLED;
    else if (watch)
        bits |= SINEW_STEP_NOT_CONVERGED;
    bits |= s->notes;
    const double seconds = sinew_seconds() - began;
    const double gap = bits & SINEW_STEP_NOT_FINITE ? HUGE_VAL : sinew_gap_estimate(s);
    *result = (sinew_step_result){.bits = bits,
                                  .iterations = iteration,
                                  .seconds = seconds,
                                  .objective = s->terms.inertia + s->terms.elastic,
                                  .inertia = s->terms.inertia,
                                  .elastic = s->terms.elastic,
                                  .residual = s->residual,
                                  .relative_residual = s->scale > 0 ? s->residual / s->scale : 0,
                                  .gap_kind = isfinite(gap) ? SINEW_GAP_ESTIMATE : SINEW_GAP_UNKNOWN,
                                  .gap = gap,
                                  .gap_reason = "",
                                  .linear_iterations = s->linear_iterations};
    return bits;
}
