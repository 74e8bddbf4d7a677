/* SPDX-License-Identifier: MIT
 *
 * low_rank_terms.c: weights of elements, and rank-one terms of S that its factor lacks. See low_rank_terms.h.
 */
#include "solve/projective/low_rank_terms.h"

#include "solve/projective/global_matrix.h"

_Static_assert(SINEW_RANK_ONE_MAX >= SINEW_STENCIL_MAX, "a term holds all vertices of an element");

static void assign_task_weights(const sinew_task *task, const sinew_weight_assignment *weight_assignment,
                                sinew_real *weights)
{
    sinew_reduced_kernel kernel = {.groups = sinew_batch_groups(task->batch, task->chunk)};
    kernel.weights = weights;
    kernel.stretch_low = weight_assignment->low;
    kernel.stretch_high = weight_assignment->high;
    task->batch->ops->stiffness(&kernel);
    for (size_t i = 0; i < sinew_task_padded_count(task); i++)
        weights[i] *= weight_assignment->factor;
}

void sinew_element_weights(const sinew_objective *o, int32_t first, int32_t last,
                           const sinew_weight_assignment *weight_assignment, sinew_real *weights)
{
    for (int32_t t = first; t < last; t++) {
        assign_task_weights(&o->tasks[t], weight_assignment, weights);
        weights += sinew_task_padded_count(&o->tasks[t]);
    }
}

/* ---- Listing of rank-one terms --------------------------------------------------------------- */

static const int32_t *task_elements(const sinew_task *task)
{
    return task->batch->element + (size_t)task->chunk->first_group * (size_t)task->batch->width;
}

static bool element_is_off(const sinew_task *task, size_t lane)
{
    const int32_t element = task_elements(task)[lane];
    return element >= 0 && sinew_batch_is_off(task->batch, element);
}

static size_t count_switched_off(const sinew_task *task)
{
    size_t count = 0;
    for (size_t lane = 0; task->batch->off_count > 0 && lane < sinew_task_padded_count(task); lane++)
        count += element_is_off(task, lane);
    return count;
}

/* Reserves memory for all rank-one terms, and the work space of the largest task. */
static bool low_rank_terms_reserve_buffers(sinew_low_rank_terms *r, const sinew_objective *o, int32_t task_count,
                                           bool off)
{
    size_t terms = 0, padded_count = 0, reduced = 0;
    for (int32_t t = 0; t < o->task_count; t++) {
        const sinew_task *task = &o->tasks[t];
        const size_t own = sinew_task_padded_count(task), height = (size_t)task->batch->ops->reduced_count;
        const size_t size = own * height * (size_t)task->batch->ops->info.vertex_count;
        const size_t used = t >= task_count ? own : off ? count_switched_off(task) : 0;
        terms += used * height;
        padded_count = used > 0 && own > padded_count ? own : padded_count;
        reduced = used > 0 && size > reduced ? size : reduced;
    }
    return sinew_reserve_spare(&o->allocator, &r->terms, &r->term_capacity, terms, sizeof *r->terms) &&
           sinew_reserve_spare(&o->allocator, &r->weights, &r->weight_capacity, padded_count, sizeof *r->weights) &&
           sinew_reserve_spare(&o->allocator, &r->reduced, &r->reduced_capacity, reduced, sizeof *r->reduced);
}

/* Writes the entries of row h of the reduction matrix D of the element in one lane, from index `at` of the term:
 * entries at free particles, or at pins. Needs r->reduced of the task. Returns the index after the last entry. */
static int32_t add_term_entries(const sinew_low_rank_terms *r, const sinew_objective *o, const sinew_task *task,
                                size_t lane, size_t h, bool pins, sinew_rank_one_term *term, int32_t at)
{
    const size_t W = (size_t)task->batch->width, n = (size_t)task->batch->ops->info.vertex_count;
    const size_t height = (size_t)task->batch->ops->reduced_count, group = lane / W;
    const int32_t *vertex = task->batch->vertex + ((size_t)task->chunk->first_group + group) * n * W + lane % W;
    for (size_t a = 0; a < n; a++) {
        const int32_t particle = task->batch->particle[task->chunk->first_slot + vertex[a * W] / SINEW_POINT];
        const double value = (double)r->reduced[((group * height + h) * n + a) * W + lane % W];
        if (value == 0 || (o->step.pinned[particle] != 0) != pins)
            continue;
        term->index[at] = particle;
        term->value[at++] = value;
    }
    return at;
}

/* Appends the rank-one terms of the element in one lane; elements with only pinned vertices have none. */
static void add_element_terms(sinew_low_rank_terms *r, const sinew_objective *o, const sinew_task *task, size_t lane,
                              double weight)
{
    for (size_t h = 0; h < (size_t)task->batch->ops->reduced_count; h++) {
        sinew_rank_one_term *term = &r->terms[r->count];
        term->weight = weight;
        term->count = add_term_entries(r, o, task, lane, h, false, term, 0);
        term->known = add_term_entries(r, o, task, lane, h, true, term, term->count) - term->count;
        r->count += term->count > 0;
    }
}

static void reduce_task(const sinew_low_rank_terms *r, const sinew_task *task)
{
    sinew_reduced_kernel kernel = {.groups = sinew_batch_groups(task->batch, task->chunk)};
    kernel.D = r->reduced;
    task->batch->ops->reduce(&kernel);
}

static void list_switched_off(sinew_low_rank_terms *r, const sinew_objective *o, const sinew_task *task,
                              const sinew_real *weights)
{
    if (count_switched_off(task) == 0)
        return;
    reduce_task(r, task);
    for (size_t lane = 0; lane < sinew_task_padded_count(task); lane++)
        if (element_is_off(task, lane) && weights[lane] != 0)
            add_element_terms(r, o, task, lane, -(double)weights[lane]);
}

static void list_transient(sinew_low_rank_terms *r, const sinew_objective *o, const sinew_task *task,
                           const sinew_weight_assignment *weight_assignment)
{
    assign_task_weights(task, weight_assignment, r->weights);
    reduce_task(r, task);
    for (size_t lane = 0; lane < sinew_task_padded_count(task); lane++)
        if (task_elements(task)[lane] >= 0 && r->weights[lane] != 0)
            add_element_terms(r, o, task, lane, (double)r->weights[lane]);
}

bool sinew_low_rank_terms_list(sinew_low_rank_terms *r, const sinew_objective *o, int32_t task_count, bool off,
                               bool contacts, const sinew_real *weights,
                               const sinew_weight_assignment *weight_assignment)
{
    r->count = r->taken = 0;
    if (!low_rank_terms_reserve_buffers(r, o, task_count, off))
        return false;
    for (int32_t t = 0; off && t < task_count; t++) {
        list_switched_off(r, o, &o->tasks[t], weights);
        weights += sinew_task_padded_count(&o->tasks[t]);
    }
    r->taken = r->count;
    for (int32_t t = task_count; t < o->task_count; t++)
        if (contacts || !o->tasks[t].batch->ops->contact)
            list_transient(r, o, &o->tasks[t], weight_assignment);
    return true;
}

void sinew_low_rank_terms_release(sinew_low_rank_terms *r, const sinew_objective *o)
{
    sinew_release(&o->allocator, r->terms);
    sinew_release(&o->allocator, r->weights);
    sinew_release(&o->allocator, r->reduced);
    *r = (sinew_low_rank_terms){0};
}

/* ---- Products with rank-one terms ------------------------------------------------------------ */

/* Inner product with the row d of a rank-one term: sum = d^T x over entries first .. last - 1 of d, x
 * [particle_count][4]. */
static inline void reduce_term(const sinew_rank_one_term *term, int32_t first, int32_t last, const sinew_real *x,
                               double sum[4])
{
    for (size_t c = 0; c < 4; c++)
        sum[c] = 0;
    for (int32_t e = first; e < last; e++)
        for (size_t c = 0; c < 4; c++)
            sum[c] += term->value[e] * (double)x[4 * (size_t)term->index[e] + c];
}

/* Adds a rank-one term: out += factor d sum at the free particles. Overwrites sum. */
static inline void spread_term(const sinew_rank_one_term *term, double factor, double sum[4], sinew_real *out)
{
    for (size_t c = 0; c < 4; c++)
        sum[c] *= factor;
    for (int32_t e = 0; e < term->count; e++)
        for (size_t c = 0; c < 4; c++)
            out[4 * (size_t)term->index[e] + c] += (sinew_real)(term->value[e] * sum[c]);
}

void sinew_low_rank_terms_add(const sinew_low_rank_terms *r, int32_t first, double scale, const sinew_real *x,
                              sinew_real *Ax)
{
    for (int32_t i = first; i < r->count; i++) {
        double sum[4];
        reduce_term(&r->terms[i], 0, r->terms[i].count, x, sum);
        spread_term(&r->terms[i], scale * r->terms[i].weight, sum, Ax);
    }
}

void sinew_low_rank_terms_move_pins(const sinew_low_rank_terms *r, double scale, const sinew_real *q, sinew_real *b)
{
    for (int32_t i = 0; i < r->count; i++) {
        const sinew_rank_one_term *term = &r->terms[i];
        double sum[4];
        if (term->known == 0)
            continue;
        reduce_term(term, term->count, term->count + term->known, q, sum);
        spread_term(term, -scale * term->weight, sum, b);
    }
}
