/* SPDX-License-Identifier: MIT
 *
 * low_rank_rows.c: see low_rank_rows.h.
 */
#include "solve/projective/low_rank_rows.h"

#include "solve/projective/global_matrix.h"

_Static_assert(SINEW_LOW_ROW_MOST >= SINEW_STENCIL_MAX, "a row holds all vertices of an element");

static void weigh_task(const sinew_task *task, const sinew_weighing *weighing, sinew_real *weights)
{
    sinew_reduced_kernel kernel = {.groups = sinew_batch_groups(task->batch, task->chunk)};
    kernel.weights = weights;
    kernel.stretch_low = weighing->low;
    kernel.stretch_high = weighing->high;
    task->batch->ops->stiffness(&kernel);
    for (size_t i = 0; i < sinew_task_lanes(task); i++)
        weights[i] *= weighing->factor;
}

void sinew_weigh(const sinew_objective *o, int32_t first, int32_t last, const sinew_weighing *weighing,
                 sinew_real *weights)
{
    for (int32_t t = first; t < last; t++) {
        weigh_task(&o->tasks[t], weighing, weights);
        weights += sinew_task_lanes(&o->tasks[t]);
    }
}

/* ---- Listing --------------------------------------------------------------------------------- */

static const int32_t *task_elements(const sinew_task *task)
{
    return task->batch->element + (size_t)task->chunk->first_group * (size_t)task->batch->width;
}

static bool is_off(const sinew_task *task, size_t lane)
{
    const int32_t element = task_elements(task)[lane];
    return element >= 0 && sinew_batch_is_off(task->batch, element);
}

static size_t count_off(const sinew_task *task)
{
    size_t count = 0;
    for (size_t lane = 0; task->batch->off_count > 0 && lane < sinew_task_lanes(task); lane++)
        count += is_off(task, lane);
    return count;
}

/* Room for so many elements' rows, and the largest task's work space. */
static bool make_room(sinew_global_rows *r, const sinew_objective *o, int32_t task_count, bool off)
{
    size_t rows = 0, lanes = 0, reduced = 0;
    for (int32_t t = 0; t < o->task_count; t++) {
        const sinew_task *task = &o->tasks[t];
        const size_t own = sinew_task_lanes(task), height = (size_t)task->batch->ops->row_count;
        const size_t size = own * height * (size_t)task->batch->ops->info.vertex_count;
        const size_t used = t >= task_count ? own : off ? count_off(task) : 0;
        rows += used * height;
        lanes = used > 0 && own > lanes ? own : lanes;
        reduced = used > 0 && size > reduced ? size : reduced;
    }
    return sinew_make_spare_room(&o->allocator, &r->rows, &r->row_room, rows, sizeof *r->rows) &&
           sinew_make_spare_room(&o->allocator, &r->weights, &r->weight_room, lanes, sizeof *r->weights) &&
           sinew_make_spare_room(&o->allocator, &r->reduced, &r->reduced_room, reduced, sizeof *r->reduced);
}

/* Entries of the row h of the element in one lane of a task whose `reduced` is filled: those at free particles, or at
 * pins. */
static int32_t add_entries(const sinew_global_rows *r, const sinew_objective *o, const sinew_task *task, size_t lane,
                           size_t h, bool pins, sinew_low_row *row, int32_t at)
{
    const size_t W = (size_t)task->batch->width, n = (size_t)task->batch->ops->info.vertex_count;
    const size_t height = (size_t)task->batch->ops->row_count, group = lane / W;
    const int32_t *vertex = task->batch->vertex + ((size_t)task->chunk->first_group + group) * n * W + lane % W;
    for (size_t a = 0; a < n; a++) {
        const int32_t particle = task->batch->particle[task->chunk->first_slot + vertex[a * W] / SINEW_POINT];
        const double value = (double)r->reduced[((group * height + h) * n + a) * W + lane % W];
        if (value == 0 || (o->pinned[particle] != 0) != pins)
            continue;
        row->place[at] = particle;
        row->value[at++] = value;
    }
    return at;
}

/* The rows of the element in one lane; none where all of it is pinned. */
static void add_rows(sinew_global_rows *r, const sinew_objective *o, const sinew_task *task, size_t lane, double weight)
{
    for (size_t h = 0; h < (size_t)task->batch->ops->row_count; h++) {
        sinew_low_row *row = &r->rows[r->count];
        row->weight = weight;
        row->count = add_entries(r, o, task, lane, h, false, row, 0);
        row->known = add_entries(r, o, task, lane, h, true, row, row->count) - row->count;
        r->count += row->count > 0;
    }
}

static void reduce_task(const sinew_global_rows *r, const sinew_task *task)
{
    sinew_reduced_kernel kernel = {.groups = sinew_batch_groups(task->batch, task->chunk)};
    kernel.rows = r->reduced;
    task->batch->ops->reduce(&kernel);
}

static void list_off(sinew_global_rows *r, const sinew_objective *o, const sinew_task *task, const sinew_real *weights)
{
    if (count_off(task) == 0)
        return;
    reduce_task(r, task);
    for (size_t lane = 0; lane < sinew_task_lanes(task); lane++)
        if (is_off(task, lane) && weights[lane] != 0)
            add_rows(r, o, task, lane, -(double)weights[lane]);
}

static void list_transient(sinew_global_rows *r, const sinew_objective *o, const sinew_task *task,
                           const sinew_weighing *weighing)
{
    weigh_task(task, weighing, r->weights);
    reduce_task(r, task);
    for (size_t lane = 0; lane < sinew_task_lanes(task); lane++)
        if (task_elements(task)[lane] >= 0 && r->weights[lane] != 0)
            add_rows(r, o, task, lane, (double)r->weights[lane]);
}

bool sinew_global_rows_list(sinew_global_rows *r, const sinew_objective *o, int32_t task_count, bool off, bool contacts,
                            const sinew_real *weights, const sinew_weighing *weighing)
{
    r->count = r->taken = 0;
    if (!make_room(r, o, task_count, off))
        return false;
    for (int32_t t = 0; off && t < task_count; t++) {
        list_off(r, o, &o->tasks[t], weights);
        weights += sinew_task_lanes(&o->tasks[t]);
    }
    r->taken = r->count;
    for (int32_t t = task_count; t < o->task_count; t++)
        if (contacts || !o->tasks[t].batch->ops->contact)
            list_transient(r, o, &o->tasks[t], weighing);
    return true;
}

void sinew_global_rows_release(sinew_global_rows *r, const sinew_objective *o)
{
    sinew_release(&o->allocator, r->rows);
    sinew_release(&o->allocator, r->weights);
    sinew_release(&o->allocator, r->reduced);
    *r = (sinew_global_rows){0};
}

/* ---- Products -------------------------------------------------------------------------------- */

/* sum = d^T x over entries first .. last - 1 */
static inline void reduce_row(const sinew_low_row *row, int32_t first, int32_t last, const sinew_real *x, double sum[4])
{
    for (size_t c = 0; c < 4; c++)
        sum[c] = 0;
    for (int32_t e = first; e < last; e++)
        for (size_t c = 0; c < 4; c++)
            sum[c] += row->value[e] * (double)x[4 * (size_t)row->place[e] + c];
}

/* out += factor d sum at the free particles */
static inline void spread_row(const sinew_low_row *row, double factor, double sum[4], sinew_real *out)
{
    for (size_t c = 0; c < 4; c++)
        sum[c] *= factor;
    for (int32_t e = 0; e < row->count; e++)
        for (size_t c = 0; c < 4; c++)
            out[4 * (size_t)row->place[e] + c] += (sinew_real)(row->value[e] * sum[c]);
}

void sinew_global_rows_add(const sinew_global_rows *r, int32_t first, double scale, const sinew_real *x, sinew_real *Ax)
{
    for (int32_t i = first; i < r->count; i++) {
        double sum[4];
        reduce_row(&r->rows[i], 0, r->rows[i].count, x, sum);
        spread_row(&r->rows[i], scale * r->rows[i].weight, sum, Ax);
    }
}

void sinew_global_rows_move_pins(const sinew_global_rows *r, double scale, const sinew_real *q, sinew_real *b)
{
    for (int32_t i = 0; i < r->count; i++) {
        const sinew_low_row *row = &r->rows[i];
        double sum[4];
        if (row->known == 0)
            continue;
        reduce_row(row, row->count, row->count + row->known, q, sum);
        spread_row(row, -scale * row->weight, sum, b);
    }
}
