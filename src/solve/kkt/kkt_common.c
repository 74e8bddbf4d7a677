/* SPDX-License-Identifier: MIT
 *
 * kkt_common.c: see kkt_common.h.
 */
#include "solve/kkt/kkt_common.h"

#include <math.h>
#include <string.h>

#include "objective/violation.h"

/* ---- Set up ---------------------------------------------------------------------------------- */

static bool is_row(const void *context, const sinew_batch *batch)
{
    const int which = *(const int *)context;
    return batch->ops->jacobian && (batch->hard || batch->ops->whole_row || which == SINEW_ROWS_ALL);
}

static bool is_rest(const void *context, const sinew_batch *batch)
{
    return !is_row(context, batch);
}

static bool has_any(const void *context, const sinew_batch *batch)
{
    (void)context;
    (void)batch;
    return true;
}

static bool is_hard_edge(const void *context, const sinew_batch *batch)
{
    (void)context;
    return batch->hard && batch->ops->info.vertex_count == 2;
}

static bool is_soft(const void *context, const sinew_batch *batch)
{
    (void)context;
    return !batch->hard;
}

/* The batches that `chosen` names as an objective of their own. It borrows them, as the world's does, and changes none.
 */
static sinew_status build_part(const sinew_objective *o, sinew_rows_chosen *chosen, const void *context,
                               sinew_objective *part, sinew_error *error)
{
    sinew_batch **batches = sinew_allocate(&o->allocator, (size_t)o->task_count + 1, sizeof *batches);
    int32_t count = 0;
    if (!batches)
        return sinew_fail_memory(error, "the energies that are no rows");
    for (int32_t t = 0; t < o->task_count; t++)
        if (sinew_task_begins(o, t) && chosen(context, o->tasks[t].batch))
            batches[count++] = (sinew_batch *)o->tasks[t].batch;
    part->allocator = o->allocator;
    part->thread_count = o->thread_count;
    part->particle_count = o->particle_count;
    const sinew_status status = sinew_objective_build(part, batches, count, error);
    sinew_release(&o->allocator, batches);
    return status;
}

static void copy_step(const sinew_objective *from, sinew_objective *to)
{
    to->h = from->h;
    to->quasistatic = from->quasistatic;
    to->rest = from->rest;
    to->mass = from->mass;
    to->q_tilde = from->q_tilde;
    to->v = from->v;
    to->v_kept = from->v_kept;
    to->force = from->force;
    to->pinned = from->pinned;
    to->filter = from->filter;
    to->held = from->held;
    to->held_count = from->held_count;
}

static bool allocate_vectors(sinew_row_solve *r, const sinew_objective *o, size_t own_size)
{
    const sinew_allocator *a = &o->allocator;
    const size_t rows = (size_t)r->rows->row_count, particles = (size_t)o->particle_count;
    double **const of_rows[] = {&r->lambda, &r->change, &r->right, &r->comply, &r->norm};
    bool good = true;
    for (size_t i = 0; i < sizeof of_rows / sizeof of_rows[0]; i++)
        good &= (*of_rows[i] = sinew_allocate_zero(a, rows, sizeof(double))) != NULL;
    r->active = sinew_allocate_zero(a, rows, 1);
    r->redundant = sinew_allocate_zero(a, rows, 1);
    r->force = sinew_allocate_zero(a, 3 * particles, sizeof *r->force);
    r->pull = sinew_allocate_zero(a, 3 * particles, sizeof *r->pull);
    r->move = sinew_allocate_zero(a, 3 * particles, sizeof *r->move);
    r->gradient = sinew_allocate_zero(a, 4 * particles, sizeof *r->gradient);
    r->own = sinew_allocate_zero(a, own_size, 1);
    return good && r->active && r->redundant && r->force && r->pull && r->move && r->gradient && r->own;
}

static double box_diagonal(const sinew_objective *o)
{
    double sum = 0;
    for (size_t c = 0; c < 3; c++) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (int32_t i = 0; i < o->particle_count; i++) {
            low = fmin(low, (double)o->rest[4 * (size_t)i + c]);
            high = fmax(high, (double)o->rest[4 * (size_t)i + c]);
        }
        sum += high > low ? (high - low) * (high - low) : 0;
    }
    return sum > 0 ? sqrt(sum) : 1;
}

static void judge_by(sinew_solve *s, sinew_row_solve *r)
{
    s->conditioned = sinew_objective_is_hard(s->objective);
    s->judged = !s->conditioned ? s->objective : r->soft_is_rest ? &r->rest : &r->soft;
}

sinew_status sinew_row_solve_prepare(sinew_solve *s, int which, uint32_t kind, size_t own_size, sinew_error *error)
{
    const sinew_objective *o = s->objective;
    sinew_row_solve *r = s->memory = sinew_allocate_zero(&o->allocator, 1, sizeof *r);
    if (!r)
        return sinew_fail_memory(error, "the system of constraints");
    r->soft_is_rest = which == SINEW_ROWS_HARD;
    sinew_status status = build_part(o, is_rest, &which, &r->rest, error);
    if (status == SINEW_OK && !r->soft_is_rest)
        status = build_part(o, is_soft, NULL, &r->soft, error);
    if (status != SINEW_OK)
        return status;
    copy_step(o, &r->rest);
    copy_step(o, &r->soft);
    r->size = box_diagonal(o);
    sinew_rows_chosen *curved = kind & (SINEW_SADDLE_CURVED | SINEW_ROWS_CURVED) ? has_any
                                : kind & SINEW_SADDLE_TAUT                       ? is_hard_edge
                                                                                 : NULL;
    r->rows = sinew_constraints_create(o, is_row, &which, curved, error);
    if (r->rows)
        sinew_constraints_evaluate(r->rows, s->q); /* the rest shape: the system asks which rows are compliant */
    r->saddle = r->rows ? sinew_saddle_create(&r->rest, r->rows, kind, error) : NULL;
    if (!r->saddle)
        return error && error->status != SINEW_OK ? error->status : SINEW_ERROR_MEMORY;
    if (!allocate_vectors(r, o, own_size))
        return sinew_fail_memory(error, "the system of constraints");
    judge_by(s, r);
    return SINEW_OK;
}

void sinew_row_solve_release(sinew_solve *s)
{
    sinew_row_solve *r = s->memory;
    const sinew_allocator *a = &s->objective->allocator;
    if (!r)
        return;
    sinew_saddle_destroy(r->saddle);
    sinew_constraints_destroy(r->rows);
    /* Parts that were never built have no hooks of their own. */
    if (r->rest.tasks)
        sinew_objective_clear(&r->rest);
    if (r->soft.tasks)
        sinew_objective_clear(&r->soft);
    void *arrays[] = {r->lambda, r->change, r->right, r->comply,   r->norm,      r->active, r->force,
                      r->pull,   r->move,   r->own,   r->gradient, r->redundant, r};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(a, arrays[i]);
    s->memory = NULL;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

double sinew_row_tolerance(const sinew_solve *s)
{
    return s->def.tolerance > 0 ? (double)s->def.tolerance : SINEW_DEFAULT_TOLERANCE;
}

void sinew_row_evaluate(sinew_row_solve *r, const sinew_real *q)
{
    sinew_constraints_evaluate(r->rows, q);
    sinew_constraints_norms(r->rows, r->norm);
    sinew_constraints_comply(r->rows, r->lambda, r->comply);
}

/* Natural scale of a row's C. */
static double scale_of(const sinew_row_solve *r, int32_t row)
{
    return r->norm[row] > 0 ? r->norm[row] * r->size : 1;
}

static bool row_acts(const sinew_row_solve *r, int32_t row, double force)
{
    if (!sinew_row_is_inequality(r->rows, row))
        return true;
    const double gap = (r->rows->C[row] + r->comply[row]) / scale_of(r, row);
    const double push = r->lambda[row] * r->norm[row] / (force > 0 ? force : 1);
    return push - gap > 0;
}

void sinew_row_choose_active(sinew_row_solve *r, double force, double *pull)
{
    bool released = false;
    for (int32_t row = 0; row < r->rows->row_count; row++) {
        r->active[row] = row_acts(r, row, force);
        r->change[row] = r->active[row] ? 0 : r->lambda[row];
        released |= r->change[row] != 0;
        if (!r->active[row])
            r->lambda[row] = 0;
    }
    if (!released)
        return;
    sinew_constraints_comply(r->rows, r->lambda, r->comply);
    if (!pull)
        return;
    const sinew_assembly *as = r->saddle->assembly;
    memset(r->force, 0, 3 * (size_t)r->rest.particle_count * sizeof *r->force);
    sinew_constraints_add_force(r->rows, r->change, -1, r->force);
    for (int32_t k = 0; k < as->free_count; k++)
        for (int32_t c = 0; c < 3; c++)
            pull[3 * k + c] += r->force[3 * as->particle[k] + c];
}

void sinew_row_gather(sinew_solve *s, const sinew_real *q, bool lambda)
{
    sinew_row_solve *r = s->memory;
    const sinew_assembly *as = r->saddle->assembly;
    sinew_objective_gradient(&r->rest, q, r->gradient, NULL);
    memset(r->force, 0, 3 * (size_t)r->rest.particle_count * sizeof *r->force);
    if (lambda)
        sinew_constraints_add_force(r->rows, r->lambda, 1, r->force);
    for (int32_t k = 0; k < as->free_count; k++)
        for (int32_t c = 0; c < 3; c++) {
            const int32_t i = as->particle[k];
            r->pull[3 * k + c] = r->force[3 * i + c] - (double)r->gradient[4 * (size_t)i + (size_t)c];
        }
}

void sinew_row_gather_rows(sinew_row_solve *r)
{
    for (int32_t row = 0; row < r->rows->row_count; row++)
        r->right[row] = r->active[row] ? -(r->rows->C[row] + r->comply[row]) : 0;
}

void sinew_row_move(const sinew_solve *s, double scale, sinew_real *q)
{
    const sinew_row_solve *r = s->memory;
    const sinew_assembly *as = r->saddle->assembly;
    for (int32_t k = 0; k < as->free_count; k++)
        for (int32_t c = 0; c < 3; c++) {
            sinew_real *x = &q[4 * (size_t)as->particle[k] + (size_t)c];
            *x = (sinew_real)((double)*x + scale * r->move[3 * k + c]);
        }
}

double sinew_row_open(const sinew_row_solve *r, bool all)
{
    double most = 0;
    for (int32_t row = 0; row < r->rows->row_count; row++) {
        const double open = fabs(r->rows->C[row] + r->comply[row]) / scale_of(r, row);
        if (r->active[row] && (all || !r->redundant[row]))
            most = open <= most ? most : open;
    }
    return most;
}

void sinew_row_note_redundant(sinew_row_solve *r)
{
    r->redundant_count = 0;
    for (int32_t row = 0; row < r->rows->row_count; row++) {
        r->redundant[row] = sinew_saddle_dropped(r->saddle, row);
        r->redundant_count += r->redundant[row];
    }
}

/* ---- One system a step ----------------------------------------------------------------------- */

void sinew_row_begin(sinew_solve *s)
{
    sinew_row_solve *r = s->memory;
    memset(r->lambda, 0, (size_t)r->rows->row_count * sizeof *r->lambda);
    memset(r->redundant, 0, (size_t)r->rows->row_count);
    r->redundant_count = 0;
}

void sinew_row_predict_active(sinew_solve *s)
{
    sinew_row_solve *r = s->memory;
    const sinew_objective *o = s->objective;
    for (size_t i = 0; i < 4 * (size_t)o->particle_count; i++)
        r->gradient[i] = o->quasistatic ? 0 : o->q_tilde[i] - s->q[i];
    sinew_constraints_product(r->rows, r->gradient, r->change);
    for (int32_t row = 0; row < r->rows->row_count; row++)
        r->active[row] = !sinew_row_is_inequality(r->rows, row) || r->rows->C[row] + r->change[row] < 0;
}

void sinew_row_accept(sinew_solve *s)
{
    sinew_row_solve *r = s->memory;
    sinew_row_move(s, 1, s->q);
    for (int32_t row = 0; row < r->rows->row_count; row++)
        r->lambda[row] += r->change[row];
    s->linear_iterations++;
    s->gradient_known = false;
    s->done = true;
}

uint32_t sinew_row_step(sinew_solve *s, const sinew_saddle_fill *fill)
{
    sinew_row_solve *r = s->memory;
    sinew_saddle_assemble(r->saddle, fill);
    double shift = 0;
    while (shift < SINEW_SHIFT_MAX && !sinew_saddle_factorise(r->saddle, shift)) {
        s->notes |= SINEW_STEP_INDEFINITE;
        shift = shift > 0 ? 8 * shift : SINEW_SHIFT_MIN;
    }
    if (shift >= SINEW_SHIFT_MAX)
        return SINEW_STEP_STALLED;
    sinew_row_note_redundant(r);
    sinew_saddle_solve(r->saddle, r->pull, r->right, r->move, r->change);
    sinew_row_accept(s);
    return 0;
}

/* ---- What the driver asks -------------------------------------------------------------------- */

static void take_step(sinew_solve *s)
{
    sinew_row_solve *r = s->memory;
    copy_step(s->objective, &r->rest);
    copy_step(s->objective, &r->soft);
}

/* force = J^T lambda of the hard rows alone: compliant ones are energies of `soft`. */
static void find_hard_force(sinew_row_solve *r)
{
    for (int32_t t = 0; t < r->rows->set_count; t++) {
        const sinew_row_set *set = &r->rows->sets[t];
        for (int32_t k = 0; k < set->row_count; k++)
            r->right[set->first_row + k] = set->hard ? r->lambda[set->first_row + k] : 0;
    }
    memset(r->force, 0, 3 * (size_t)r->rest.particle_count * sizeof *r->force);
    sinew_constraints_add_force(r->rows, r->right, 1, r->force);
}

static void subtract_forces(sinew_solve *s)
{
    sinew_row_solve *r = s->memory;
    const sinew_objective *o = s->objective;
    sinew_row_evaluate(r, s->q);
    find_hard_force(r);
    for (int32_t i = 0; i < o->particle_count; i++)
        for (int32_t c = 0; c < 3; c++) {
            sinew_real *g = &s->gradient[4 * (size_t)i + (size_t)c];
            *g = (sinew_real)((double)*g - r->force[3 * i + c]);
        }
}

typedef struct judging {
    sinew_conditions *out;
    double tolerance, force;
} judging;

static void judge_row(const sinew_row_solve *r, int32_t row, const judging *j)
{
    sinew_conditions *out = j->out;
    const double C = r->rows->C[row], lambda = r->lambda[row];
    const bool one_sided = sinew_row_is_inequality(r->rows, row);
    const double open = one_sided ? fmax(-C, 0) : fabs(C);
    out->violation = open <= out->violation ? out->violation : open;
    out->met &=
        open <= (r->redundant[row] ? fmax(j->tolerance, SINEW_REDUNDANT_OPEN) : j->tolerance) * scale_of(r, row);
    if (!one_sided)
        return;
    const double push = lambda * r->norm[row] / fmax(j->force, 1e-300);
    out->complementarity = fmax(out->complementarity, fabs(lambda * C));
    out->met &= push >= -j->tolerance && fmin(fmax(push, 0), fmax(C, 0) / scale_of(r, row)) <= j->tolerance;
}

double sinew_row_force(const sinew_row_solve *r)
{
    double sum = 0;
    for (int32_t row = 0; row < r->rows->row_count; row++)
        sum += pow(r->lambda[row] * r->norm[row], 2);
    return sqrt(sum);
}

/* Rows were evaluated at s->q with the gradient. */
static void find_conditions(sinew_solve *s, sinew_conditions *out)
{
    sinew_row_solve *r = s->memory;
    *out = (sinew_conditions){.stationarity = s->residual, .force = sinew_row_force(r), .met = true};
    const judging j = {out, sinew_row_tolerance(s), fmax(out->force, s->start_residual)};
    for (int32_t t = 0; t < r->rows->set_count; t++)
        for (int32_t k = 0; r->rows->sets[t].hard && k < r->rows->sets[t].row_count; k++)
            judge_row(r, r->rows->sets[t].first_row + k, &j);
    /* Only where all other rows hold does an open one exclude them: before that it may still close. */
    const bool others_hold = sinew_row_open(r, false) <= fmax(j.tolerance, SINEW_REDUNDANT_OPEN);
    const double open = others_hold ? fmax(j.tolerance, SINEW_CONTRADICTION) : HUGE_VAL;
    out->contradictory = sinew_row_describe(s, open) && !out->met;
}

const sinew_condition_ops sinew_row_conditions = {take_step, subtract_forces, find_conditions};

/* With the sign of the energy's own C, as sweeps have it. */
static double told_lambda(const sinew_row_solve *r, int32_t row)
{
    return r->rows->one_sided[row] < 0 ? -r->lambda[row] : r->lambda[row];
}

bool sinew_row_multipliers(const sinew_solve *s, const sinew_batch *batch, sinew_real *values)
{
    const sinew_row_solve *r = s->memory;
    const size_t count = (size_t)batch->element_count * (size_t)batch->ops->constraint_count;
    memset(values, 0, count * sizeof *values);
    for (int32_t t = 0; t < r->rows->set_count; t++) {
        const sinew_row_set *set = &r->rows->sets[t];
        if (set->batch != batch)
            continue;
        for (int32_t e = 0; e < set->element_count; e++)
            for (int32_t i = 0; i < set->constraint_count; i++)
                *values++ = (sinew_real)told_lambda(r, sinew_row_of(set, e, i));
        return true;
    }
    return false;
}
