/* SPDX-License-Identifier: MIT
 *
 * kkt_common.c: constraints, active sets, residuals and steps of all KKT solvers. See kkt_common.h.
 */
#include "solve/kkt/kkt_common.h"

#include <math.h>
#include <string.h>

#include "base/stop.h"
#include "objective/violation.h"

/* ---- Preparation of constraints, objectives and system --------------------------------------- */

static bool is_kkt_batch(const void *context, const sinew_batch *batch)
{
    const int which = *(const int *)context;
    return batch->ops->jacobian && (batch->hard || batch->ops->global_constraint || which == SINEW_CONSTRAIN_ALL);
}

static bool is_rest_batch(const void *context, const sinew_batch *batch)
{
    return !is_kkt_batch(context, batch);
}

static bool is_any_batch(const void *context, const sinew_batch *batch)
{
    (void)context;
    (void)batch;
    return true;
}

static bool is_hard_edge_batch(const void *context, const sinew_batch *batch)
{
    (void)context;
    return batch->hard && batch->ops->info.vertex_count == 2;
}

static bool is_soft_batch(const void *context, const sinew_batch *batch)
{
    (void)context;
    return !batch->hard;
}

/* True if the batches that are not constraints are exactly the soft ones. A soft global constraint is a constraint. */
static bool rest_is_soft(const sinew_objective *o, int which)
{
    bool same = true;
    for (int32_t t = 0; t < o->task_count; t++)
        same = same && is_rest_batch(&which, o->tasks[t].batch) == is_soft_batch(NULL, o->tasks[t].batch);
    return same;
}

/* Builds an objective of the batches for which `chosen` returns true; the batches are borrowed. */
static sinew_status build_sub_objective(const sinew_objective *o, sinew_batch_predicate *chosen, const void *context,
                                        sinew_objective *sub, sinew_error *error)
{
    sinew_batch **batches = sinew_allocate(&o->allocator, (size_t)o->task_count + 1, sizeof *batches);
    int32_t count = 0;
    if (!batches)
        return sinew_fail_memory(error, "the energies that are no constraints");
    for (int32_t t = 0; t < o->task_count; t++)
        if (sinew_task_begins(o, t) && chosen(context, o->tasks[t].batch))
            batches[count++] = (sinew_batch *)o->tasks[t].batch;
    sub->allocator = o->allocator;
    sub->thread_count = o->thread_count;
    sub->particle_count = o->particle_count;
    const sinew_status status = sinew_objective_build(sub, batches, count, error);
    sinew_release(&o->allocator, batches);
    return status;
}

static bool kkt_allocate_vectors(sinew_kkt *r, const sinew_objective *o, size_t own_size)
{
    const sinew_allocator *a = &o->allocator;
    const size_t constraints = (size_t)r->constraints->constraint_count, particles = (size_t)o->particle_count;
    double **const of_constraints[] = {&r->lambda, &r->change, &r->right, &r->comply, &r->norm, &r->start};
    bool good = true;
    for (size_t i = 0; i < sizeof of_constraints / sizeof of_constraints[0]; i++)
        good &= (*of_constraints[i] = sinew_allocate_zero(a, constraints, sizeof(double))) != NULL;
    r->active = sinew_allocate_zero(a, constraints, 1);
    r->redundant = sinew_allocate_zero(a, constraints, 1);
    r->force = sinew_allocate_zero(a, 3 * particles, sizeof *r->force);
    r->particle_rhs = sinew_allocate_zero(a, 3 * particles, sizeof *r->particle_rhs);
    r->move = sinew_allocate_zero(a, 3 * particles, sizeof *r->move);
    r->gradient = sinew_allocate_zero(a, 4 * particles, sizeof *r->gradient);
    r->own = sinew_allocate_zero(a, own_size, 1);
    return good && r->active && r->redundant && r->force && r->particle_rhs && r->move && r->gradient && r->own;
}

static double kkt_box_diagonal(const sinew_objective *o)
{
    double sum = 0;
    for (size_t c = 0; c < 3; c++) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (int32_t i = 0; i < o->particle_count; i++) {
            low = fmin(low, (double)o->step.rest[4 * (size_t)i + c]);
            high = fmax(high, (double)o->step.rest[4 * (size_t)i + c]);
        }
        sum += high > low ? (high - low) * (high - low) : 0;
    }
    return sum > 0 ? sqrt(sum) : 1;
}

static void choose_error_objective(sinew_solve *s, sinew_kkt *r)
{
    s->has_hard = sinew_objective_is_hard(s->objective);
    s->error_objective = !s->has_hard ? s->objective : r->soft_is_rest ? &r->rest : &r->soft;
}

sinew_status sinew_kkt_prepare(sinew_solve *s, int which, uint32_t kind, size_t own_size, sinew_error *error)
{
    const sinew_objective *o = s->objective;
    sinew_kkt *r = s->memory = sinew_allocate_zero(&o->allocator, 1, sizeof *r);
    if (!r)
        return sinew_fail_memory(error, "the system of constraints");
    r->which = which;
    r->soft_is_rest = rest_is_soft(o, which);
    sinew_status status = build_sub_objective(o, is_rest_batch, &which, &r->rest, error);
    if (status == SINEW_OK && !r->soft_is_rest)
        status = build_sub_objective(o, is_soft_batch, NULL, &r->soft, error);
    if (status != SINEW_OK)
        return status;
    r->rest.step = r->soft.step = o->step;
    r->size = kkt_box_diagonal(o);
    sinew_batch_predicate *curved = kind & (SINEW_SADDLE_CURVED | SINEW_CONSTRAIN_CURVED) ? is_any_batch
                                    : kind & SINEW_SADDLE_TENSION_STIFFNESS               ? is_hard_edge_batch
                                                                                          : NULL;
    r->constraints = sinew_constraints_create(o, is_kkt_batch, &which, curved, error);
    /* Constraints are evaluated at rest: the elimination order depends on which of them are compliant. */
    if (r->constraints)
        sinew_constraints_evaluate(r->constraints, s->q);
    r->saddle = r->plain = r->constraints ? sinew_saddle_create(&r->rest, r->constraints, kind, error) : NULL;
    if (!r->saddle)
        return error && error->status != SINEW_OK ? error->status : SINEW_ERROR_MEMORY;
    if (!kkt_allocate_vectors(r, o, own_size))
        return sinew_fail_memory(error, "the system of constraints");
    for (int32_t t = 0; t < r->constraints->set_count; t++)
        r->driven |= r->constraints->sets[t].hard && r->constraints->sets[t].driven;
    choose_error_objective(s, r);
    return SINEW_OK;
}

void sinew_kkt_release(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    const sinew_allocator *a = &s->objective->allocator;
    if (!r)
        return;
    if (r->saddle != r->plain)
        sinew_saddle_destroy(r->saddle);
    sinew_saddle_destroy(r->plain);
    sinew_constraints_destroy(r->constraints);
    /* An objective that was not built has no allocator. */
    if (r->rest.tasks)
        sinew_objective_clear(&r->rest);
    if (r->soft.tasks)
        sinew_objective_clear(&r->soft);
    void *arrays[] = {r->lambda, r->change,       r->right, r->comply, r->norm,     r->start,     r->active,
                      r->force,  r->particle_rhs, r->move,  r->own,    r->gradient, r->redundant, r};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(a, arrays[i]);
    s->memory = NULL;
}

/* ---- Contacts that change within a step ------------------------------------------------------ */

/* Replaces the transient batches of a sub-objective by those of the world for which `chosen` returns true; `list` has
 * space for all of them. */
static sinew_status replace_transient(const sinew_contact_hooks *c, sinew_batch_predicate *chosen, const void *context,
                                      sinew_batch **list, sinew_objective *sub, sinew_error *error)
{
    int32_t count = 0;
    if (!sub->tasks)
        return SINEW_OK;
    for (int32_t i = 0; i < c->batch_count; i++)
        if (chosen(context, c->batches[i]))
            list[count++] = c->batches[i];
    return sinew_objective_set_transient(sub, list, count, error);
}

sinew_status sinew_kkt_refresh(sinew_solve *s, uint32_t changed, sinew_error *error)
{
    sinew_kkt *r = s->memory;
    const sinew_contact_hooks *c = s->contact;
    if (!(changed & SINEW_CHANGED_IN_STEP))
        return SINEW_OK;
    sinew_batch **list = sinew_allocate(&s->objective->allocator, (size_t)c->batch_count + 1, sizeof *list);
    if (!list)
        return sinew_fail_memory(error, "contacts");
    sinew_status status = replace_transient(c, is_rest_batch, &r->which, list, &r->rest, error);
    if (status == SINEW_OK)
        status = replace_transient(c, is_soft_batch, NULL, list, &r->soft, error);
    sinew_release(&s->objective->allocator, list);
    return status == SINEW_OK ? sinew_saddle_take_contacts(r->plain, &r->saddle, error) : status;
}

/* ---- Evaluation of constraints ---------------------------------------------------------------------- */

double sinew_kkt_tolerance(const sinew_solve *s)
{
    return s->def.tolerance > 0 ? (double)s->def.tolerance : SINEW_DEFAULT_TOLERANCE;
}

void sinew_kkt_evaluate(sinew_kkt *r, const sinew_real *q)
{
    sinew_constraints_evaluate(r->constraints, q);
    sinew_constraints_norms(r->constraints, r->norm);
    sinew_constraints_apply_compliance(r->constraints, r->lambda, r->comply);
}

void sinew_kkt_values_at(sinew_solve *s, const sinew_real *q, double steps, double *values)
{
    const sinew_kkt *r = s->memory;
    const double h = s->objective->step.h;
    const bool moves = r->driven && s->targets.move;
    if (moves)
        s->targets.move(s->targets.context, s->targets.time + steps * h);
    sinew_constraints_evaluate(r->constraints, q);
    memcpy(values, r->constraints->C, (size_t)r->constraints->constraint_count * sizeof *values);
    if (moves)
        s->targets.move(s->targets.context, s->targets.time + h);
}

/* Natural scale of a constraint's value C: |J| times the diagonal of the rest shape's box; 1 without a gradient. */
static double constraint_scale(const sinew_kkt *r, int32_t constraint)
{
    return r->norm[constraint] > 0 ? r->norm[constraint] * r->size : 1;
}

static bool constraint_acts(const sinew_kkt *r, int32_t constraint, double force)
{
    if (!sinew_constraint_is_inequality(r->constraints, constraint))
        return true;
    const double gap = (r->constraints->C[constraint] + r->comply[constraint]) / constraint_scale(r, constraint);
    const double push = r->lambda[constraint] * r->norm[constraint] / (force > 0 ? force : 1);
    return push - gap > 0;
}

void sinew_kkt_choose_active(sinew_kkt *r, double force, double *particle_rhs)
{
    bool released = false;
    for (int32_t constraint = 0; constraint < r->constraints->constraint_count; constraint++) {
        r->active[constraint] = constraint_acts(r, constraint, force);
        r->change[constraint] = r->active[constraint] ? 0 : r->lambda[constraint];
        released |= r->change[constraint] != 0;
        if (!r->active[constraint])
            r->lambda[constraint] = 0;
    }
    if (!released)
        return;
    sinew_constraints_apply_compliance(r->constraints, r->lambda, r->comply);
    if (!particle_rhs)
        return;
    const sinew_assembly *as = r->saddle->assembly;
    memset(r->force, 0, 3 * (size_t)r->rest.particle_count * sizeof *r->force);
    sinew_constraints_add_force(r->constraints, r->change, -1, r->force);
    for (int32_t k = 0; k < as->free_count; k++)
        for (int32_t c = 0; c < 3; c++)
            particle_rhs[3 * k + c] += r->force[3 * as->particle[k] + c];
}

void sinew_kkt_gather(sinew_solve *s, const sinew_real *q, bool lambda)
{
    sinew_kkt *r = s->memory;
    const sinew_assembly *as = r->saddle->assembly;
    sinew_objective_gradient(&r->rest, q, r->gradient, NULL);
    memset(r->force, 0, 3 * (size_t)r->rest.particle_count * sizeof *r->force);
    if (lambda)
        sinew_constraints_add_force(r->constraints, r->lambda, 1, r->force);
    for (int32_t k = 0; k < as->free_count; k++)
        for (int32_t c = 0; c < 3; c++) {
            const int32_t i = as->particle[k];
            r->particle_rhs[3 * k + c] = r->force[3 * i + c] - (double)r->gradient[4 * (size_t)i + (size_t)c];
        }
}

void sinew_kkt_gather_constraints(sinew_kkt *r)
{
    for (int32_t constraint = 0; constraint < r->constraints->constraint_count; constraint++)
        r->right[constraint] = r->active[constraint] ? -(r->constraints->C[constraint] + r->comply[constraint]) : 0;
}

void sinew_kkt_move(const sinew_solve *s, double scale, sinew_real *q)
{
    const sinew_kkt *r = s->memory;
    const sinew_assembly *as = r->saddle->assembly;
    for (int32_t k = 0; k < as->free_count; k++)
        for (int32_t c = 0; c < 3; c++) {
            sinew_real *x = &q[4 * (size_t)as->particle[k] + (size_t)c];
            *x = (sinew_real)((double)*x + scale * r->move[3 * k + c]);
        }
}

double sinew_kkt_violation(const sinew_kkt *r, bool all)
{
    double max = 0;
    for (int32_t constraint = 0; constraint < r->constraints->constraint_count; constraint++) {
        const double open =
            fabs(r->constraints->C[constraint] + r->comply[constraint]) / constraint_scale(r, constraint);
        if (r->active[constraint] && (all || !r->redundant[constraint]))
            max = open <= max ? max : open;
    }
    return max;
}

void sinew_kkt_mark_redundant(sinew_kkt *r)
{
    r->redundant_count = 0;
    for (int32_t constraint = 0; constraint < r->constraints->constraint_count; constraint++) {
        r->redundant[constraint] = sinew_saddle_dropped(r->saddle, constraint);
        r->redundant_count += r->redundant[constraint];
    }
}

/* ---- Solvers with one linear system per step ------------------------------------------------- */

void sinew_kkt_begin(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    memset(r->lambda, 0, (size_t)r->constraints->constraint_count * sizeof *r->lambda);
    memset(r->redundant, 0, (size_t)r->constraints->constraint_count);
    r->redundant_count = 0;
}

void sinew_kkt_predict_active(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    const sinew_objective *o = s->objective;
    for (size_t i = 0; i < 4 * (size_t)o->particle_count; i++)
        r->gradient[i] = o->step.quasistatic ? 0 : o->step.q_tilde[i] - s->q[i];
    sinew_constraints_product(r->constraints, r->gradient, r->change);
    for (int32_t constraint = 0; constraint < r->constraints->constraint_count; constraint++)
        r->active[constraint] = !sinew_constraint_is_inequality(r->constraints, constraint) ||
                                r->constraints->C[constraint] + r->change[constraint] < 0;
}

void sinew_kkt_accept(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    sinew_kkt_move(s, 1, s->q);
    for (int32_t constraint = 0; constraint < r->constraints->constraint_count; constraint++)
        r->lambda[constraint] += r->change[constraint];
    s->linear_iterations++;
    s->gradient_known = false;
    s->converged = true;
}

uint32_t sinew_kkt_step(sinew_solve *s, const sinew_saddle_fill *fill)
{
    sinew_kkt *r = s->memory;
    sinew_saddle_assemble(r->saddle, fill);
    double shift = 0;
    while (shift < SINEW_SHIFT_MAX && !sinew_saddle_factorise(r->saddle, shift)) {
        if (sinew_stop_came())
            return SINEW_STEP_STALLED;
        s->warnings |= SINEW_STEP_INDEFINITE;
        shift = shift > 0 ? 8 * shift : SINEW_SHIFT_MIN;
    }
    if (shift >= SINEW_SHIFT_MAX)
        return SINEW_STEP_STALLED;
    sinew_kkt_mark_redundant(r);
    sinew_saddle_solve(r->saddle, r->particle_rhs, r->right, r->move, r->change);
    sinew_kkt_accept(s);
    return 0;
}

/* ---- KKT residuals and multipliers for the driver --------------------------------------------- */

/* Multipliers that are not part of the saved state start at zero before the first residual is evaluated: otherwise a
 * loaded state would continue with another scale of residuals. */
static void kkt_take_step(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    r->rest.step = r->soft.step = s->objective->step;
    if (!s->ops->state_size || s->ops->state_size(s) == 0)
        memset(r->lambda, 0, (size_t)r->constraints->constraint_count * sizeof *r->lambda);
}

/* r->force = J^T lambda of the hard constraints alone (Jacobian J), in N: compliant constraints are energies of the
 * objective `soft`. */
static void kkt_find_hard_force(sinew_kkt *r)
{
    for (int32_t t = 0; t < r->constraints->set_count; t++) {
        const sinew_constraint_set *set = &r->constraints->sets[t];
        for (int32_t k = 0; k < set->constraint_count; k++)
            r->right[set->first_constraint + k] = set->hard ? r->lambda[set->first_constraint + k] : 0;
    }
    memset(r->force, 0, 3 * (size_t)r->rest.particle_count * sizeof *r->force);
    sinew_constraints_add_force(r->constraints, r->right, 1, r->force);
}

static void kkt_subtract_forces(sinew_solve *s)
{
    sinew_kkt *r = s->memory;
    const sinew_objective *o = s->objective;
    sinew_kkt_evaluate(r, s->q);
    kkt_find_hard_force(r);
    for (int32_t i = 0; i < o->particle_count; i++)
        for (int32_t c = 0; c < 3; c++) {
            sinew_real *g = &s->gradient[4 * (size_t)i + (size_t)c];
            *g = (sinew_real)((double)*g - r->force[3 * i + c]);
        }
}

typedef struct kkt_judging {
    sinew_kkt_residuals *out;
    double tolerance, force;
} kkt_judging;

static void judge_constraint(const sinew_kkt *r, int32_t constraint, const kkt_judging *j)
{
    sinew_kkt_residuals *out = j->out;
    const double C = r->constraints->C[constraint], lambda = r->lambda[constraint];
    const bool one_sided = sinew_constraint_is_inequality(r->constraints, constraint);
    const double open = one_sided ? fmax(-C, 0) : fabs(C);
    out->violation = open <= out->violation ? out->violation : open;
    out->met &= open <= (r->redundant[constraint] ? fmax(j->tolerance, SINEW_REDUNDANT_OPEN) : j->tolerance) *
                            constraint_scale(r, constraint);
    if (!one_sided)
        return;
    const double push = lambda * r->norm[constraint] / fmax(j->force, 1e-300);
    out->complementarity = fmax(out->complementarity, fabs(lambda * C));
    out->met &=
        push >= -j->tolerance && fmin(fmax(push, 0), fmax(C, 0) / constraint_scale(r, constraint)) <= j->tolerance;
}

double sinew_kkt_force(const sinew_kkt *r)
{
    double sum = 0;
    for (int32_t constraint = 0; constraint < r->constraints->constraint_count; constraint++)
        sum += pow(r->lambda[constraint] * r->norm[constraint], 2);
    return sqrt(sum);
}

/* Writes the KKT residuals to `out`, and s->constraint_message. Constraints must have been evaluated at s->q, as
 * sinew_solve_evaluate() does. */
static void find_kkt_residuals(sinew_solve *s, sinew_kkt_residuals *out)
{
    sinew_kkt *r = s->memory;
    *out = (sinew_kkt_residuals){.stationarity = s->residual, .force = sinew_kkt_force(r), .met = true};
    const kkt_judging j = {out, sinew_kkt_tolerance(s), fmax(out->force, s->start_residual)};
    for (int32_t t = 0; t < r->constraints->set_count; t++)
        for (int32_t k = 0; r->constraints->sets[t].hard && k < r->constraints->sets[t].constraint_count; k++)
            judge_constraint(r, r->constraints->sets[t].first_constraint + k, &j);
    /* A violated redundant constraint contradicts the others only once all others hold; before, it may still converge.
     * If the step filter has truncated a vertex, constraints may be violated that the next step can meet. */
    const bool others_hold = !(s->contact && s->contact->truncated) &&
                             sinew_kkt_violation(r, false) <= fmax(j.tolerance, SINEW_REDUNDANT_OPEN);
    const double open = others_hold ? fmax(j.tolerance, SINEW_CONTRADICTION) : HUGE_VAL;
    out->contradictory = sinew_kkt_describe(s, open) && !out->met;
}

const sinew_kkt_residual_table sinew_kkt_residual_ops = {kkt_take_step, kkt_subtract_forces, find_kkt_residuals};

/* Multiplier of a constraint with the sign of the energy's own C, as sweeps report it. */
static double reported_lambda(const sinew_kkt *r, int32_t constraint)
{
    return r->constraints->one_sided[constraint] < 0 ? -r->lambda[constraint] : r->lambda[constraint];
}

bool sinew_kkt_multipliers(const sinew_solve *s, const sinew_batch *batch, sinew_real *values)
{
    const sinew_kkt *r = s->memory;
    const size_t count = (size_t)batch->element_count * (size_t)batch->ops->constraint_count;
    memset(values, 0, count * sizeof *values);
    for (int32_t t = 0; t < r->constraints->set_count; t++) {
        const sinew_constraint_set *set = &r->constraints->sets[t];
        if (set->batch != batch)
            continue;
        for (int32_t e = 0; e < set->element_count; e++)
            for (int32_t i = 0; i < set->per_element; i++)
                *values++ = (sinew_real)reported_lambda(r, sinew_constraint_index(set, e, i));
        return true;
    }
    return false;
}
