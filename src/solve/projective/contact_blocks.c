/* SPDX-License-Identifier: MIT
 *
 * contact_blocks.c: the blocks of contacts, found once an iteration and multiplied with often. See contact_blocks.h.
 */
#include "solve/projective/contact_blocks.h"

#include <string.h>

static bool is_contact(const sinew_task *task)
{
    return task->batch->ops->contact;
}

bool sinew_beside_any(const sinew_objective *o)
{
    for (int32_t t = o->fixed_task_count; t < o->task_count; t++)
        if (is_contact(&o->tasks[t]))
            return true;
    return false;
}

bool sinew_beside_reserve(sinew_beside *b, const sinew_objective *o)
{
    size_t elements = 0, tangents = 0;
    for (int32_t t = o->fixed_task_count; t < o->task_count; t++) {
        const sinew_task *task = &o->tasks[t];
        const size_t lanes = (size_t)task->chunk->group_count * (size_t)task->batch->width;
        const size_t numbers =
            lanes * (size_t)task->batch->ops->tangent_count + 2 * SINEW_POINT * (size_t)task->chunk->slot_count;
        if (!is_contact(task))
            continue;
        elements += lanes;
        tangents = numbers > tangents ? numbers : tangents;
    }
    return sinew_make_spare_room(&o->allocator, &b->rows, &b->row_room, elements, sizeof *b->rows) &&
           sinew_make_spare_room(&o->allocator, &b->tangent, &b->tangent_room, tangents, sizeof *b->tangent);
}

/* The row of one lane of a task whose tangents are found; left out where it has no block or nothing free. */
static void take_row(sinew_beside *b, const sinew_objective *o, const sinew_task *task, size_t lane)
{
    const size_t W = (size_t)task->batch->width, n = SINEW_CONTACT_VERTICES;
    const size_t group = lane / W, tangents = (size_t)task->batch->ops->tangent_count;
    const sinew_real *tangent = b->tangent + group * tangents * W + lane % W;
    const int32_t *vertex = task->batch->vertex + ((size_t)task->chunk->first_group + group) * n * W + lane % W;
    sinew_beside_row *row = &b->rows[b->count];
    bool moves = false, holds = false;
    for (size_t a = 0; a < n; a++) {
        const int32_t particle = task->batch->particle[task->chunk->first_slot + vertex[a * W] / SINEW_POINT];
        row->w[a] = (double)tangent[a * W];
        row->particle[a] = row->w[a] == 0 || o->pinned[particle] ? -1 : particle;
        moves = moves || row->particle[a] >= 0;
    }
    for (size_t i = 0; i < 6; i++) {
        row->K[i] = (double)tangent[(n + i) * W];
        holds = holds || row->K[i] != 0;
    }
    b->count += moves && holds;
}

/* The places of a task's points at q, in the work space behind its tangents. */
static sinew_real *gather(const sinew_beside *b, const sinew_task *task, const sinew_real *q)
{
    const size_t lanes = (size_t)task->chunk->group_count * (size_t)task->batch->width;
    sinew_real *x = b->tangent + lanes * (size_t)task->batch->ops->tangent_count;
    for (int32_t i = 0; i < task->chunk->slot_count; i++)
        memcpy(x + SINEW_POINT * (size_t)i,
               q + SINEW_POINT * (size_t)task->batch->particle[task->chunk->first_slot + i], SINEW_POINT * sizeof *x);
    return x;
}

static void linearise_task(sinew_beside *b, const sinew_objective *o, const sinew_task *task, const sinew_real *q)
{
    const size_t W = (size_t)task->batch->width, lanes = (size_t)task->chunk->group_count * W;
    const sinew_real *x = gather(b, task, q);
    const sinew_kernel kernel = {
        .groups = sinew_batch_groups(task->batch, task->chunk), .x = x, .tangent = b->tangent, .project = true};
    task->batch->ops->linearise(&kernel);
    const int32_t *element = task->batch->element + (size_t)task->chunk->first_group * W;
    for (size_t lane = 0; lane < lanes; lane++)
        if (element[lane] >= 0)
            take_row(b, o, task, lane);
}

void sinew_beside_linearise(sinew_beside *b, const sinew_objective *o, const sinew_real *q)
{
    b->count = 0;
    for (int32_t t = o->fixed_task_count; t < o->task_count; t++)
        if (is_contact(&o->tasks[t]))
            linearise_task(b, o, &o->tasks[t], q);
}

static double take_away_task(const sinew_beside *b, const sinew_objective *o, const sinew_task *task,
                             const sinew_real *q, sinew_real *gradient)
{
    const size_t count = (size_t)task->chunk->slot_count;
    sinew_real *x = gather(b, task, q), *g = x + SINEW_POINT * count;
    memset(g, 0, SINEW_POINT * count * sizeof *g);
    const sinew_kernel kernel = {.groups = sinew_batch_groups(task->batch, task->chunk), .x = x, .g = g};
    const double value = task->batch->ops->gradient(&kernel);
    for (size_t i = 0; i < count; i++) {
        const int32_t particle = task->batch->particle[(size_t)task->chunk->first_slot + i];
        for (size_t c = 0; !o->pinned[particle] && c < 3; c++)
            gradient[SINEW_POINT * (size_t)particle + c] -= g[SINEW_POINT * i + c];
    }
    return value;
}

double sinew_beside_take_away(const sinew_beside *b, const sinew_objective *o, const sinew_real *q,
                              sinew_real *gradient)
{
    double sum = 0;
    for (int32_t t = o->fixed_task_count; t < o->task_count; t++)
        if (is_contact(&o->tasks[t]))
            sum += take_away_task(b, o, &o->tasks[t], q, gradient);
    return sum;
}

double sinew_beside_value(const sinew_beside *b, const sinew_objective *o, const sinew_real *q)
{
    double sum = 0;
    for (int32_t t = o->fixed_task_count; t < o->task_count; t++) {
        const sinew_task *task = &o->tasks[t];
        if (is_contact(task))
            sum += task->batch->ops->value(
                &(sinew_kernel){.groups = sinew_batch_groups(task->batch, task->chunk), .x = gather(b, task, q)});
    }
    return sum;
}

void sinew_beside_add(const sinew_beside *b, const sinew_real *x, sinew_real *Ax)
{
    for (int32_t k = 0; k < b->count; k++) {
        const sinew_beside_row *row = &b->rows[k];
        const double *K = row->K;
        double z[3] = {0, 0, 0};
        for (int a = 0; a < SINEW_CONTACT_VERTICES; a++)
            for (int c = 0; row->particle[a] >= 0 && c < 3; c++)
                z[c] += row->w[a] * (double)x[SINEW_POINT * (size_t)row->particle[a] + (size_t)c];
        const double f[3] = {K[0] * z[0] + K[3] * z[1] + K[4] * z[2], K[3] * z[0] + K[1] * z[1] + K[5] * z[2],
                             K[4] * z[0] + K[5] * z[1] + K[2] * z[2]};
        for (int a = 0; a < SINEW_CONTACT_VERTICES; a++)
            for (int c = 0; row->particle[a] >= 0 && c < 3; c++)
                Ax[SINEW_POINT * (size_t)row->particle[a] + (size_t)c] += (sinew_real)(row->w[a] * f[c]);
    }
}

void sinew_beside_release(sinew_beside *b, const sinew_objective *o)
{
    sinew_release(&o->allocator, b->rows);
    sinew_release(&o->allocator, b->tangent);
    *b = (sinew_beside){0};
}
