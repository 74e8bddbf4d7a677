/* SPDX-License-Identifier: MIT
 *
 * contact_blocks.c: Hessian blocks of contacts, computed once per iteration and used in many products. See
 * contact_blocks.h.
 */
#include "solve/projective/contact_blocks.h"

#include <string.h>

#include "objective/chunk_derivatives.h"

static bool task_is_contact(const sinew_task *task)
{
    return task->batch->ops->contact;
}

bool sinew_contact_blocks_reserve(sinew_contact_blocks *b, const sinew_objective *o)
{
    size_t elements = 0, tangents = 0;
    for (int32_t t = o->fixed_task_count; t < o->task_count; t++) {
        const sinew_task *task = &o->tasks[t];
        const size_t padded_count = (size_t)task->chunk->group_count * (size_t)task->batch->width;
        const size_t numbers =
            sinew_chunk_tangent_count(task->batch, task->chunk) + 2 * SINEW_POINT * (size_t)task->chunk->slot_count;
        if (!task_is_contact(task))
            continue;
        elements += padded_count;
        tangents = numbers > tangents ? numbers : tangents;
    }
    return sinew_reserve_spare(&o->allocator, &b->blocks, &b->block_capacity, elements, sizeof *b->blocks) &&
           sinew_reserve_spare(&o->allocator, &b->tangent, &b->tangent_capacity, tangents, sizeof *b->tangent);
}

/* Appends the Hessian block of the contact in one lane of a linearised task; a contact with K = 0 or without free
 * particles is left out. */
static void append_contact_block(sinew_contact_blocks *b, const sinew_objective *o, const sinew_task *task, size_t lane)
{
    const size_t W = (size_t)task->batch->width, n = (size_t)task->batch->ops->info.vertex_count;
    const size_t group = lane / W, tangents = (size_t)task->batch->ops->tangent_count;
    const sinew_real *tangent = b->tangent + group * tangents * W + lane % W;
    const int32_t *vertex = task->batch->vertex + ((size_t)task->chunk->first_group + group) * n * W + lane % W;
    sinew_contact_block *block = &b->blocks[b->count];
    bool moves = false, holds = false;
    block->count = (int32_t)n;
    for (size_t a = 0; a < n; a++) {
        const int32_t particle = task->batch->particle[task->chunk->first_slot + vertex[a * W] / SINEW_POINT];
        block->w[a] = (double)tangent[(SINEW_CONTACT_TANGENT_WEIGHTS + a) * W];
        block->particle[a] = block->w[a] == 0 || o->step.pinned[particle] ? -1 : particle;
        moves = moves || block->particle[a] >= 0;
    }
    for (size_t i = 0; i < 6; i++) {
        block->K[i] = (double)tangent[i * W];
        holds = holds || block->K[i] != 0;
    }
    b->count += moves && holds;
}

/* Gathers the positions of a task's particles at q into the work space behind its tangents. */
static sinew_real *blocks_gather(const sinew_contact_blocks *b, const sinew_task *task, const sinew_real *q)
{
    sinew_real *x = b->tangent + sinew_chunk_tangent_count(task->batch, task->chunk);
    sinew_chunk_gather(task->batch, task->chunk, q, x);
    return x;
}

static void blocks_linearise_task(sinew_contact_blocks *b, const sinew_objective *o, const sinew_task *task,
                                  const sinew_real *q)
{
    const size_t W = (size_t)task->batch->width, padded_count = (size_t)task->chunk->group_count * W;
    sinew_chunk_linearise(task->batch, task->chunk, blocks_gather(b, task, q), b->tangent);
    const int32_t *element = task->batch->element + (size_t)task->chunk->first_group * W;
    for (size_t lane = 0; lane < padded_count; lane++)
        if (element[lane] >= 0)
            append_contact_block(b, o, task, lane);
}

void sinew_contact_blocks_linearise(sinew_contact_blocks *b, const sinew_objective *o, const sinew_real *q)
{
    b->count = 0;
    for (int32_t t = o->fixed_task_count; t < o->task_count; t++)
        if (task_is_contact(&o->tasks[t]))
            blocks_linearise_task(b, o, &o->tasks[t], q);
}

static double contact_task_subtract_gradient(const sinew_contact_blocks *b, const sinew_objective *o,
                                             const sinew_task *task, const sinew_real *q, sinew_real *gradient)
{
    const size_t count = (size_t)task->chunk->slot_count;
    sinew_real *x = blocks_gather(b, task, q), *g = x + SINEW_POINT * count;
    memset(g, 0, SINEW_POINT * count * sizeof *g);
    const double value = sinew_chunk_gradient(task->batch, task->chunk, x, g);
    for (size_t i = 0; i < count; i++) {
        const int32_t particle = task->batch->particle[(size_t)task->chunk->first_slot + i];
        for (size_t c = 0; !o->step.pinned[particle] && c < 3; c++)
            gradient[SINEW_POINT * (size_t)particle + c] -= g[SINEW_POINT * i + c];
    }
    return value;
}

double sinew_contact_blocks_subtract_gradient(const sinew_contact_blocks *b, const sinew_objective *o,
                                              const sinew_real *q, sinew_real *gradient)
{
    double sum = 0;
    for (int32_t t = o->fixed_task_count; t < o->task_count; t++)
        if (task_is_contact(&o->tasks[t]))
            sum += contact_task_subtract_gradient(b, o, &o->tasks[t], q, gradient);
    return sum;
}

double sinew_contact_blocks_value(const sinew_contact_blocks *b, const sinew_objective *o, const sinew_real *q)
{
    double sum = 0;
    for (int32_t t = o->fixed_task_count; t < o->task_count; t++) {
        const sinew_task *task = &o->tasks[t];
        if (task_is_contact(task))
            sum += sinew_chunk_value(task->batch, task->chunk, blocks_gather(b, task, q));
    }
    return sum;
}

void sinew_contact_blocks_add_product(const sinew_contact_blocks *b, const sinew_real *x, sinew_real *Ax)
{
    for (int32_t k = 0; k < b->count; k++) {
        const sinew_contact_block *block = &b->blocks[k];
        const double *K = block->K;
        double z[3] = {0, 0, 0};
        for (int a = 0; a < block->count; a++)
            for (int c = 0; block->particle[a] >= 0 && c < 3; c++)
                z[c] += block->w[a] * (double)x[SINEW_POINT * (size_t)block->particle[a] + (size_t)c];
        const double f[3] = {K[0] * z[0] + K[3] * z[1] + K[4] * z[2], K[3] * z[0] + K[1] * z[1] + K[5] * z[2],
                             K[4] * z[0] + K[5] * z[1] + K[2] * z[2]};
        for (int a = 0; a < block->count; a++)
            for (int c = 0; block->particle[a] >= 0 && c < 3; c++)
                Ax[SINEW_POINT * (size_t)block->particle[a] + (size_t)c] += (sinew_real)(block->w[a] * f[c]);
    }
}

void sinew_contact_blocks_release(sinew_contact_blocks *b, const sinew_objective *o)
{
    sinew_release(&o->allocator, b->blocks);
    sinew_release(&o->allocator, b->tangent);
    *b = (sinew_contact_blocks){0};
}
