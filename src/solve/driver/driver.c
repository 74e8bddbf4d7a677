/* SPDX-License-Identifier: MIT
 *
 * driver.c: the loop that runs every solver, stops it and records its progress.
 *
 * A step stops at the largest number of iterations, at the tolerance on the relative residual |grad g(q)| / |grad
 * g(q_0)|, q_0 the starting guess, or at the time budget. It also stops when the residual is within its round-off and
 * no longer halves, or when an iteration sets `converged` or returns status bits.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/reduce.h"
#include "base/stop.h"
#include "objective/global_constraints.h"
#include "objective/violation.h"
#include "solve/driver/objective_gap.h"
#include "solve/driver/verdict.h"
#include "solve/solver.h"

/* ---- Preparation and refresh of a solver ----------------------------------------------------- */

/* Sets s->stiffness_of, the stiffness of each particle in N/m. Returns its norm over the free particles plus the
 * stiffness of global constraints: an estimate of the change of forces per distance. */
static double sum_stiffness(sinew_solve *s)
{
    const sinew_objective *o = s->error_objective;
    const double scale = o->step.quasistatic ? 0 : 1 / (o->step.h * o->step.h);
    double sum = 0;
    memcpy(s->stiffness_of, s->elastic_of, (size_t)o->particle_count * sizeof *s->stiffness_of);
    sinew_objective_traces(o, o->step.rest, true, s->stiffness_of);
    for (int32_t i = 0; i < o->particle_count; i++) {
        s->stiffness_of[i] = o->step.pinned[i] ? 0 : s->stiffness_of[i] + 3 * (double)o->step.mass[i] * scale;
        sum += s->stiffness_of[i] * s->stiffness_of[i];
    }
    return sqrt(sum) + sinew_global_constraints_stiffness(o, o->step.rest, s->velocity);
}

/* Computes stiffnesses lazily: only steps that measure residuals or need their round-off use them. */
void sinew_solve_stiffness(sinew_solve *s)
{
    if (!s->elastic_known) {
        memset(s->elastic_of, 0, (size_t)s->objective->particle_count * sizeof *s->elastic_of);
        sinew_objective_traces(s->error_objective, s->error_objective->step.rest, false, s->elastic_of);
    }
    if (!s->stiffness_known)
        s->stiffness = sum_stiffness(s);
    s->elastic_known = s->stiffness_known = true;
}

static bool reserve_records(sinew_solve *s)
{
    const int32_t wanted = s->def.record == SINEW_RECORD_ITERATIONS ? s->def.iterations + 1
                           : s->def.record == SINEW_RECORD_STEP     ? 1
                                                                    : 0;
    if (s->records && wanted <= s->record_capacity)
        return true;
    sinew_iteration *records = sinew_allocate(&s->objective->allocator, (size_t)wanted, sizeof *records);
    if (!records)
        return false;
    sinew_release(&s->objective->allocator, s->records);
    s->records = records;
    s->record_count = 0;
    s->record_capacity = wanted;
    return true;
}

/* True if the optimality gap is to be measured: the def requests it, the solver minimises g (explicit steps do not),
 * and there are no hard constraints. */
static bool wants_gap(const sinew_solve *s)
{
    return s->def.measure >= SINEW_MEASURE_GAP && !s->ops->info.explicit_step && !s->has_hard;
}

/* Adds the solver's name and a remedy to the error text of a factorisation. */
static void add_solver_name_to_error(const sinew_solve *s, sinew_error *error)
{
    char reason[sizeof error->text];
    memcpy(reason, error->text, sizeof reason);
    sinew_fail(error, SINEW_ERROR_NUMERIC,
               "%s cannot be prepared: %s; give every particle of the bodies an energy that resists its motion, or use "
               "newton",
               s->ops->info.name, reason);
}

sinew_status sinew_solve_prepare(sinew_solve *s, sinew_error *error)
{
    sinew_objective *o = s->objective;
    size_t size = 4 * (size_t)o->particle_count;
    sinew_solve_release(s);
    s->ops = sinew_solver_get_ops(s->def.kind);
    s->error_objective = o;
    s->constraint_message[0] = '\0';
    s->q = sinew_allocate_zero(&o->allocator, size, sizeof *s->q);
    s->gradient = sinew_allocate_zero(&o->allocator, size, sizeof *s->gradient);
    s->velocity = sinew_allocate_zero(&o->allocator, size, sizeof *s->velocity);
    s->elastic_of = sinew_allocate_zero(&o->allocator, (size_t)o->particle_count, sizeof *s->elastic_of);
    s->stiffness_of = sinew_allocate_zero(&o->allocator, (size_t)o->particle_count, sizeof *s->stiffness_of);
    sinew_status status = s->q && s->gradient && s->velocity && s->elastic_of && s->stiffness_of && reserve_records(s)
                              ? SINEW_OK
                              : sinew_fail_memory(error, "the solver");
    if (status == SINEW_OK) {
        memcpy(s->q, o->step.rest, size * sizeof *s->q);
        s->elastic_known = s->stiffness_known = false;
    }
    if (status == SINEW_OK && wants_gap(s) && !s->contact)
        status = sinew_gap_create(s, error);
    if (status == SINEW_OK)
        status = s->ops->prepare(s, error);
    if (s->has_hard)
        sinew_gap_destroy(s);
    if (status == SINEW_ERROR_NUMERIC && error)
        add_solver_name_to_error(s, error);
    if (status != SINEW_OK)
        sinew_solve_release(s);
    return status;
}

static sinew_status refresh_gap(sinew_solve *s, uint32_t changed, sinew_error *error)
{
    const bool wanted = wants_gap(s);
    const bool stale = changed & SINEW_CHANGED_PINS ||
                       (changed & SINEW_CHANGED_TRANSIENT && s->gap && !sinew_gap_takes_contacts(s, changed));
    if (!wanted || stale)
        sinew_gap_destroy(s);
    /* With contacts, measure_gap() creates s->gap at the end of the step, because contacts may still change before. */
    return wanted && !s->gap && !s->contact ? sinew_gap_create(s, error) : SINEW_OK;
}

sinew_status sinew_solve_refresh(sinew_solve *s, const sinew_solver_def *def, uint32_t changed, sinew_error *error)
{
    if (!s->ops || changed & ~(uint32_t)SINEW_CHANGED_DEF & ~s->ops->refreshes) {
        sinew_solve_release(s);
        s->def = *def;
        return sinew_solve_prepare(s, error);
    }
    s->def = *def;
    const uint32_t own = changed & ~(uint32_t)SINEW_CHANGED_DEF;
    memcpy(s->q, s->objective->step.rest, 4 * (size_t)s->objective->particle_count * sizeof *s->q);
    sinew_status status = reserve_records(s) ? SINEW_OK : sinew_fail_memory(error, "the solver");
    s->stiffness_known &= own == 0;
    s->elastic_known &= !(own & (SINEW_CHANGED_DATA | SINEW_CHANGED_SWITCHED));
    if (status == SINEW_OK)
        status = refresh_gap(s, changed, error);
    if (status == SINEW_OK && changed & s->ops->refreshes && s->ops->refresh)
        status = s->ops->refresh(s, changed & s->ops->refreshes, error);
    if (status != SINEW_OK)
        sinew_solve_release(s);
    return status;
}

sinew_status sinew_solve_take_contacts(sinew_solve *s)
{
    sinew_contact_hooks *c = s->contact;
    const bool any = c->batch_count > 0 && c->batches[c->batch_count - 1]->ops->contact;
    if (!any && !sinew_objective_has_contacts(s->objective))
        return SINEW_OK;
    const double began = sinew_seconds();
    sinew_status status = sinew_objective_set_transient(s->objective, c->batches, c->batch_count, c->error);
    s->stiffness_known = false;
    if (status == SINEW_OK)
        status = refresh_gap(s, SINEW_CHANGED_TRANSIENT | SINEW_CHANGED_IN_STEP, c->error);
    if (status == SINEW_OK && s->ops->refresh)
        status = s->ops->refresh(s, SINEW_CHANGED_TRANSIENT | SINEW_CHANGED_IN_STEP, c->error);
    c->seconds += sinew_seconds() - began;
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
    sinew_release(allocator, s->stiffness_of);
    sinew_release(allocator, s->elastic_of);
    sinew_release(allocator, s->records);
    s->stiffness_of = s->elastic_of = NULL;
    s->ops = NULL;
    s->memory = NULL;
    s->error_objective = NULL;
    s->has_hard = s->exact_matrix = false;
    s->q = s->gradient = s->velocity = NULL;
    s->records = NULL;
    s->record_count = s->record_capacity = 0;
}

/* ---- Start, records and stopping rule -------------------------------------------------------- */

void sinew_solve_evaluate(sinew_solve *s)
{
    if (s->gradient_known)
        return;
    sinew_objective *o = s->objective;
    if (s->ops->flush)
        s->ops->flush(s);
    sinew_objective_gradient(s->error_objective, s->q, s->gradient, &s->terms);
    if (s->has_hard)
        s->ops->kkt->subtract_forces(s);
    s->residual = sinew_norm(s->gradient, o->particle_count, o->thread_count);
    s->gradient_known = true;
    if (s->start_known)
        return;
    s->start_known = true;
    s->start_residual = s->residual;
    s->start_terms = s->terms;
    s->scale = fmax(s->residual, s->noise);
}

/* True if g is finite at s->q; evaluated only if some energy may be infinite: a barrier, or a coupled energy with a
 * potential. Such an energy may be infinite at q_tilde and finite at q_n, and a descent needs a finite start. */
static bool objective_is_finite(sinew_solve *s)
{
    const sinew_objective *o = s->objective;
    bool barrier = false;
    for (int32_t t = 0; t < o->task_count; t++)
        barrier |= o->tasks[t].batch->ops->barrier || (o->tasks[t].batch->coupled && o->tasks[t].batch->ops->potential);
    if (!barrier)
        return true;
    sinew_solve_evaluate(s);
    return isfinite(s->terms.elastic);
}

static void move_to_guess(sinew_solve *s, bool inertia)
{
    const sinew_objective *o = s->objective;
    const sinew_real *first = s->first_guess ? s->first_guess : o->step.q_tilde;
    for (int32_t i = 0; i < o->particle_count; i++)
        memcpy(s->q + 4 * (size_t)i, (inertia || o->step.pinned[i] ? first : s->q_start) + 4 * (size_t)i,
               4 * sizeof *s->q);
    sinew_project_constrained(o, s->q);
    s->gradient_known = false;
}

void sinew_solve_start(sinew_solve *s, int start)
{
    /* Contacts are detected near first_guess, the expected end of the step, so the iterations start there. */
    const bool inertia = start == 0 || s->first_guess;
    if (s->objective->step.quasistatic)
        return;
    if (inertia)
        move_to_guess(s, true);
    if (objective_is_finite(s))
        return;
    move_to_guess(s, !inertia);
    if (!objective_is_finite(s))
        move_to_guess(s, inertia);
}

static void record_iteration(sinew_solve *s, int32_t iteration, double began)
{
    sinew_objective *o = s->objective;
    if (s->record_count >= s->record_capacity)
        return;
    sinew_iteration *r = &s->records[s->record_count++];
    sinew_solve_evaluate(s);
    *r = (sinew_iteration){.iteration = iteration,
                           .seconds = sinew_seconds() - began,
                           .objective = s->terms.inertia + s->terms.elastic,
                           .inertia = s->terms.inertia,
                           .elastic = s->terms.elastic,
                           .residual = s->residual};
    r->own_objective = s->ops->own_objective ? s->ops->own_objective(s) : r->objective;
    if (o->step.quasistatic)
        return;
    for (size_t i = 0; !s->v_end && i < 4 * (size_t)o->particle_count; i++)
        s->velocity[i] = (sinew_real)(((double)s->q[i] - (double)s->q_start[i]) / o->step.h);
    sinew_objective_momenta(o, s->q, s->v_end ? s->v_end : s->velocity, r->linear_momentum, r->angular_momentum);
}

/* Stopping rule: true if the residual is at the tolerance, or within round-off and above half of `before`, the residual
 * one iteration earlier. */
static bool residual_has_converged(const sinew_solve *s, double before)
{
    return s->residual <= (double)s->def.tolerance * s->scale ||
           (s->residual <= s->noise && s->residual > 0.5 * before);
}

/* Sets the round-off of forces (N) and of g (J). Positions are accurate to `step`, the spacing of floating-point
 * numbers, and forces to stiffness times step. An energy is a sum of terms as large as stiffness times length squared:
 * a stiff body near rest has a small energy with a large error. */
static void set_round_off(sinew_solve *s)
{
    sinew_solve_stiffness(s);
    const double epsilon = sizeof(sinew_real) == 4 ? FLT_EPSILON : DBL_EPSILON;
    const double step = sinew_objective_round_off(s->objective, s->q), length = step / epsilon;
    s->noise = s->stiffness * step;
    s->value_noise = sqrt((double)s->objective->particle_count) * s->noise * length;
}

/* True if residuals may stop a step: only if the solver or the measurement needs them. Records also evaluate g, but
 * recording must not change the number of iterations. */
static bool looks_at_residuals(const sinew_solve *s)
{
    return s->def.measure != SINEW_MEASURE_NOTHING || s->ops->needs_gradient;
}

static void driver_start(sinew_solve *s)
{
    s->gradient_known = s->start_known = false;
    s->converged = s->in_subproblem = s->must_iterate = false;
    s->constraint_message[0] = '\0';
    if (s->ops->kkt)
        s->ops->kkt->take_step(s);
    s->warnings = 0;
    s->linear_iterations = 0;
    s->record_count = 0;
    s->v_end = NULL;
    if (looks_at_residuals(s) || s->ops->needs_noise)
        set_round_off(s);
    if (looks_at_residuals(s))
        sinew_solve_evaluate(s);
}

/* ---- Measurement of the gap and the result of a step -------------------------------------------- */

/* True if the velocities at the end of the step are finite in sinew_real. Positions of a world that explodes may stay
 * finite for one step longer. */
static bool velocities_are_finite(const sinew_solve *s)
{
    const sinew_objective *o = s->objective;
    const double h = o->step.h;
    bool finite = true;
    for (int32_t i = 0; i < o->particle_count && !o->step.quasistatic; i++)
        for (size_t c = 0, at = 4 * (size_t)i; c < 3; c++, at++) {
            const double v = s->v_end ? (double)s->v_end[at] : ((double)s->q[at] - (double)s->q_start[at]) / h;
            finite = finite && isfinite((sinew_real)v);
        }
    return finite;
}

static bool step_is_finite(const sinew_solve *s)
{
    if (!velocities_are_finite(s))
        return false;
    if (s->gradient_known)
        return isfinite(s->residual) && isfinite(s->terms.inertia + s->terms.elastic);
    return isfinite(sinew_norm(s->q, s->objective->particle_count, s->objective->thread_count));
}

/* The gap estimate of a step that has none: not requested (SINEW_GAP_NONE), or unknown for a reason. */
static sinew_gap_estimate gap_not_measured(sinew_gap_kind kind, const char *reason)
{
    const double value = kind == SINEW_GAP_NONE ? NAN : HUGE_VAL;
    return (sinew_gap_estimate){.kind = kind,
                                .value = value,
                                .reason = reason,
                                .position_kind = kind,
                                .position_max = value,
                                .position_rms = value,
                                .relative = value,
                                .position_reason = reason};
}

/* True if this step measures the optimality gap and the position error. */
static bool gap_is_due(const sinew_solve *s)
{
    if (s->def.measure == SINEW_MEASURE_AUTO)
        return s->history.credit >= s->history.cost;
    return s->def.measure == SINEW_MEASURE_GAP && s->step % s->def.gap_every == 0;
}

static sinew_gap_estimate measure_gap(sinew_solve *s, uint32_t bits)
{
    if (!gap_is_due(s))
        return gap_not_measured(SINEW_GAP_NONE, "");
    if (wants_gap(s) && !sinew_time_budget_allows(&s->budget, SINEW_STAGE_GAP))
        return s->def.measure == SINEW_MEASURE_AUTO ? gap_not_measured(SINEW_GAP_NONE, "")
                                                    : gap_not_measured(SINEW_GAP_UNKNOWN, "the time budget is spent");
    if (s->contact && !s->gap && wants_gap(s) && sinew_gap_create(s, NULL) != SINEW_OK) {
        sinew_gap_destroy(s);
        return gap_not_measured(SINEW_GAP_UNKNOWN, "there is too little memory for it");
    }
    if (!s->gap && wants_gap(s))
        return gap_not_measured(SINEW_GAP_NONE, "");
    if (bits & SINEW_STEP_NOT_FINITE)
        return gap_not_measured(SINEW_GAP_UNKNOWN, "the step is not finite");
    if (sinew_objective_is_hard(s->objective))
        return gap_not_measured(SINEW_GAP_UNKNOWN, "an energy is hard, and the objective infinite off its constraints");
    if (!wants_gap(s))
        return gap_not_measured(SINEW_GAP_UNKNOWN, "an explicit step seeks no minimum");
    return sinew_gap_find(s);
}

/* Writes the measurements at the end of the step to `result`; after a non-finite step those at its start, whose state
 * is kept. */
static void write_result(const sinew_solve *s, const sinew_gap_estimate *gap, sinew_step_result *result)
{
    const bool kept = (result->bits & SINEW_STEP_NOT_FINITE) != 0, known = kept ? s->start_known : s->gradient_known;
    const sinew_terms terms = kept ? s->start_terms : s->terms;
    const double residual = kept ? s->start_residual : s->residual;
    result->objective = known ? terms.inertia + terms.elastic : NAN;
    result->inertia = known ? terms.inertia : NAN;
    result->elastic = known ? terms.elastic : NAN;
    result->residual = known ? residual : NAN;
    result->relative_residual = !known || !sinew_solve_start_is_measured(s) ? NAN
                                : s->scale > 0                              ? residual / s->scale
                                                                            : 0;
    result->gap_kind = gap->kind;
    result->gap = gap->value;
    result->gap_reason = gap->reason;
    result->position_error_kind = gap->position_kind;
    result->position_error = gap->position_max;
    result->position_error_rms = gap->position_rms;
    result->position_error_reason = gap->position_reason;
    result->position_error_relative = gap->relative;
    result->gap_steps = gap->steps;
    result->gap_linear_iterations = gap->linear_iterations;
    result->linear_iterations = s->linear_iterations;
    result->constraints = s->constraint_message;
}

/* ---- Contact updates between iterations ------------------------------------------------------ */

static void contacts_changed(sinew_solve *s, uint32_t what)
{
    if (what == 0)
        return;
    s->gradient_known = false;
    if (s->ops->contacts_changed)
        s->ops->contacts_changed(s, what);
}

/* Truncates displacements in s->q by the step filter, after an iteration or after the first guess. */
static void filter_step(sinew_solve *s)
{
    if (!s->contact)
        return;
    if (s->ops->flush)
        s->ops->flush(s);
    if (s->contact->filter(s->contact->context, s))
        contacts_changed(s, SINEW_UPDATE_POSITIONS);
}

/* In a dynamic step of a solver that evaluates gradients: moves s->q back to q_n if g is larger at the filtered
 * s->first_guess than at q_n, because the filter may have truncated only some vertices of a body. The displacement back
 * is filtered, too. */
static void choose_start(sinew_solve *s)
{
    sinew_objective *o = s->error_objective;
    if (!s->first_guess || !s->ops->needs_gradient || o->step.quasistatic)
        return;
    if (sinew_objective_value(o, s->q, NULL) <= sinew_objective_value(o, s->q_start, NULL))
        return;
    for (int32_t i = 0; i < o->particle_count; i++)
        if (!o->step.pinned[i])
            memcpy(s->q + 4 * (size_t)i, s->q_start + 4 * (size_t)i, 4 * sizeof *s->q);
    contacts_changed(s, SINEW_UPDATE_POSITIONS);
    filter_step(s);
}

/* Runs a contact update and passes changed contacts to the objective and the solver. Returns true if the update changed
 * positions or contacts, or requires an iteration, so that the step must not end. */
static bool update_contacts(sinew_solve *s, int32_t iteration, bool solved, uint32_t *bits)
{
    if (!s->contact)
        return false;
    const sinew_stage_start stage = sinew_time_budget_begin_stage(&s->budget);
    const uint32_t what = s->contact->update(s->contact->context, s, iteration, solved);
    if (what & SINEW_UPDATE_FAILED || (what & SINEW_UPDATE_ELEMENTS && sinew_solve_take_contacts(s) != SINEW_OK)) {
        *bits |= SINEW_STEP_UNPREPARED;
        return false;
    }
    if (what & SINEW_UPDATE_ELEMENTS)
        sinew_time_budget_end_stage(&s->budget, SINEW_STAGE_DETECTION, stage);
    contacts_changed(s, what);
    s->must_iterate = what & SINEW_UPDATE_ITERATE;
    return what != 0;
}

/* Filters the displacements of the first guess and passes the contacts near it to the solver. */
static void driver_first_contacts(sinew_solve *s, uint32_t *bits)
{
    filter_step(s);
    choose_start(s);
    update_contacts(s, 0, false, bits);
}

/* Updates contacts after the solver has converged or stalled. If contacts changed, clears the stall in `bits` and
 * returns true: the step continues. */
static bool continue_after_update(sinew_solve *s, int32_t iteration, uint32_t *bits)
{
    if (*bits & ~(uint32_t)SINEW_STEP_STALLED || !update_contacts(s, iteration, true, bits))
        return false;
    *bits = 0;
    return true;
}

/* ---- Run of a step --------------------------------------------------------------------------- */

/* Filters the iterate and updates contacts. Returns true if contacts changed. Solvers that are filtered late filter
 * iterates only to learn whether a detection pass is due, so they do not if the time budget has no pass left. */
static bool end_iteration(sinew_solve *s, int32_t iteration, uint32_t *bits)
{
    if (s->contact && s->ops->filtered_late && !sinew_time_budget_fits(&s->budget, SINEW_STAGE_DETECTION))
        return false;
    filter_step(s);
    return *bits == 0 && !s->converged ? update_contacts(s, iteration, false, bits)
                                       : continue_after_update(s, iteration, bits);
}

/* True if the time budget ends the iterations. Substeps clear s->def.time_budget: a step then needs all of them. */
static bool budget_is_spent(sinew_solve *s, uint32_t bits)
{
    return s->def.time_budget > 0 && bits == 0 && !s->converged &&
           !sinew_time_budget_allows(&s->budget, SINEW_STAGE_ITERATION);
}

/* Runs solver iterations until the step stops. Returns the number of iterations. */
static int32_t driver_iterate(sinew_solve *s, double began, uint32_t *bits)
{
    /* With hard energies the residual is that of a softened objective, so it must not stop the step. */
    const bool watch = s->def.tolerance > 0 && looks_at_residuals(s) && !s->ops->one_iteration &&
                       !sinew_objective_is_hard(s->objective);
    const int32_t max = s->ops->one_iteration && s->def.iterations > 1 ? 1 : s->def.iterations;
    double before = HUGE_VAL;
    int32_t iteration = 0;
    while (*bits == 0 && !s->converged && iteration < max && !sinew_stop_came()) {
        if (watch)
            sinew_solve_evaluate(s);
        if (watch && !s->must_iterate && residual_has_converged(s, before)) {
            if (!continue_after_update(s, iteration, bits))
                break;
            before = HUGE_VAL;
            continue;
        }
        before = s->residual;
        s->must_iterate = false;
        const sinew_stage_start stage = sinew_time_budget_begin_stage(&s->budget);
        *bits |= s->ops->iterate(s);
        iteration++;
        if (sinew_stop_came())
            break;
        if (end_iteration(s, iteration, bits)) {
            s->converged = false;
            before = HUGE_VAL;
        }
        if (s->def.record == SINEW_RECORD_ITERATIONS && !(*bits & SINEW_STEP_UNPREPARED))
            record_iteration(s, iteration, began);
        sinew_time_budget_end_stage(&s->budget, SINEW_STAGE_ITERATION, stage);
        if (iteration < max && budget_is_spent(s, *bits))
            break;
    }
    return iteration;
}

uint32_t sinew_solve_run(sinew_solve *s, sinew_step_result *result)
{
    const double began = sinew_seconds();
    uint32_t bits = 0;
    driver_start(s);
    s->ops->begin(s);
    if (!sinew_stop_came())
        driver_first_contacts(s, &bits);
    if (s->def.record == SINEW_RECORD_ITERATIONS && bits == 0)
        record_iteration(s, 0, began);
    sinew_time_budget_begin_iterations(&s->budget);
    *result = (sinew_step_result){.iterations = driver_iterate(s, began, &bits)};
    s->budget.end = sinew_time_budget_begin_stage(&s->budget);
    s->iterations = result->iterations;
    /* An interrupted step has no valid result: sinew_world_step() discards it. */
    if (sinew_stop_came())
        return result->bits = SINEW_STEP_INTERRUPTED;
    if (bits & SINEW_STEP_UNPREPARED) {
        result->constraints = "";
        return result->bits = SINEW_STEP_UNPREPARED;
    }
    if (s->contact) {
        if (s->ops->flush)
            s->ops->flush(s);
        s->contact->finish(s->contact->context, s);
        s->gradient_known = false;
    }
    if (s->def.measure != SINEW_MEASURE_NOTHING)
        sinew_solve_evaluate(s);
    else if (s->ops->flush)
        s->ops->flush(s);
    if (!step_is_finite(s))
        bits |= SINEW_STEP_NOT_FINITE;
    else if (s->def.record == SINEW_RECORD_STEP)
        record_iteration(s, result->iterations, began);
    result->seconds = sinew_seconds() - began;
    const sinew_stage_start stage = sinew_time_budget_begin_stage(&s->budget);
    sinew_gap_estimate gap = measure_gap(s, bits);
    if (gap.kind != SINEW_GAP_NONE)
        sinew_time_budget_end_stage(&s->budget, SINEW_STAGE_GAP, stage);
    sinew_solve_relate_error(s, &gap);
    result->gap_seconds = sinew_seconds() - began - result->seconds;
    sinew_kkt_residuals found = {.violation = NAN, .stationarity = NAN, .complementarity = NAN};
    if (!(bits & SINEW_STEP_NOT_FINITE)) {
        if (s->has_hard && s->gradient_known)
            s->ops->kkt->measure(s, &found);
        const uint32_t verdict = s->has_hard ? sinew_solve_judge_kkt(s, &found) : sinew_solve_judge(s, &gap);
        bits = (verdict ? bits : bits & ~(uint32_t)SINEW_STEP_STALLED) | verdict;
    }
    result->bits = bits | s->warnings;
    sinew_solve_remember(s, &gap);
    write_result(s, &gap, result);
    result->violation = found.violation;
    result->stationarity = found.stationarity;
    result->complementarity = found.complementarity;
    return result->bits;
}
