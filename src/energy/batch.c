/* SPDX-License-Identifier: MIT
 *
 * batch.c: groups the elements of one energy as planned. See batch.h.
 */
#include "energy/batch.h"

#include <stdlib.h>
#include <string.h>

static bool allocate_arrays(const sinew_allocator *allocator, sinew_batch *batch)
{
    size_t lanes = (size_t)batch->group_count * (size_t)batch->width;
    size_t n = (size_t)batch->ops->info.vertex_count;
    batch->vertex = sinew_allocate(allocator, lanes * n, sizeof(int32_t));
    batch->data = sinew_allocate(allocator, lanes * (size_t)batch->ops->data_count, sizeof(sinew_real));
    batch->element = sinew_allocate(allocator, lanes, sizeof(int32_t));
    batch->place = sinew_allocate(allocator, (size_t)batch->element_count, sizeof(int32_t));
    batch->particle = sinew_allocate(allocator, (size_t)batch->element_count * n, sizeof(int32_t));
    return batch->vertex && batch->data && batch->element && batch->place && batch->particle;
}

/* Copies one element into its lane; a filler keeps everything but the weight. */
static void fill_lane(sinew_batch *batch, int32_t place, int32_t element, bool filler, const int32_t *particles,
                      const sinew_real *data, const int32_t *local)
{
    const size_t W = (size_t)batch->width, n = (size_t)batch->ops->info.vertex_count;
    const size_t D = (size_t)batch->ops->data_count, group = (size_t)place / W, lane = (size_t)place % W;
    for (size_t a = 0; a < n; a++)
        batch->vertex[(group * n + a) * W + lane] = SINEW_POINT * local[particles[(size_t)element * n + a]];
    for (size_t d = 0; d < D; d++)
        batch->data[(group * D + d) * W + lane] = data[(size_t)element * D + d];
    batch->element[place] = filler ? -1 : element;
    if (filler)
        batch->data[group * D * W + lane] = 0;
    else
        batch->place[element] = place;
}

static int compare_particles(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The slots of a chunk follow its particles in ascending order: who goes through the particles one after the other
 * finds their slots one after the other, too. */
static void number_particles(sinew_batch *batch, int32_t chunk_index, const int32_t *order, int32_t count,
                             const int32_t *particles, int32_t *local, int32_t *stamp)
{
    const int32_t n = batch->ops->info.vertex_count;
    int32_t *own = batch->particle + batch->slot_count, found = 0;
    for (int32_t i = 0; i < count; i++)
        for (int32_t a = 0; a < n; a++) {
            int32_t particle = particles[(size_t)order[i] * (size_t)n + (size_t)a];
            if (stamp[particle] == chunk_index)
                continue;
            stamp[particle] = chunk_index;
            own[found++] = particle;
        }
    qsort(own, (size_t)found, sizeof own[0], compare_particles);
    for (int32_t i = 0; i < found; i++)
        local[own[i]] = i;
    batch->chunks[chunk_index].first_slot = batch->slot_count;
    batch->chunks[chunk_index].slot_count = found;
    batch->slot_count += found;
}

/* The fans of a chunk go to lanes with a stride, so that those of one group are far apart and rarely share a particle:
 * neighbouring scatters then do not wait for each other. */
static void fill_fans(sinew_batch *batch, int32_t first_group, int32_t size, int32_t fan_count, const int32_t *order,
                      const int32_t *particles, const sinew_real *data, const int32_t *local)
{
    const int32_t W = batch->width, groups = (fan_count + W - 1) / W;
    for (int32_t group = 0; group < groups; group++)
        for (int32_t lane = 0; lane < W; lane++) {
            const int32_t fan = lane * groups + group;
            const bool filler = fan >= fan_count;
            for (int32_t i = 0; i < size; i++)
                fill_lane(batch, (first_group + size * group + i) * W + lane, order[size * (filler ? group : fan) + i],
                          filler, particles, data, local);
        }
}

static void fill_chunk(sinew_batch *batch, int32_t chunk_index, const sinew_plan *plan, const int32_t *particles,
                       const sinew_real *data, int32_t *local, int32_t *stamp)
{
    const sinew_chunk *chunk = &batch->chunks[chunk_index];
    const int32_t *order = plan->order + chunk_index * SINEW_CHUNK_ELEMENTS;
    number_particles(batch, chunk_index, order, sinew_plan_chunk(plan, chunk_index), particles, local, stamp);
    int32_t group = chunk->first_group;
    for (int32_t size = SINEW_FAN; size >= 1; size--) {
        const int32_t fans = plan->fans[chunk_index][size - 1];
        fill_fans(batch, group, size, fans, order, particles, data, local);
        group += chunk->fan_groups[size - 1];
        order += size * fans;
    }
}

/* How many groups, and where each chunk's begin. */
static void count_groups(sinew_batch *batch, const sinew_plan *plan)
{
    for (int32_t c = 0; c < batch->chunk_count; c++) {
        sinew_chunk *chunk = &batch->chunks[c];
        *chunk = (sinew_chunk){.first_group = batch->group_count};
        for (int32_t size = 1; size <= SINEW_FAN; size++) {
            chunk->fan_groups[size - 1] = size * ((plan->fans[c][size - 1] + batch->width - 1) / batch->width);
            chunk->group_count += chunk->fan_groups[size - 1];
        }
        batch->group_count += chunk->group_count;
    }
}

sinew_batch *sinew_batch_create(const sinew_allocator *allocator, const sinew_energy_ops *ops, int32_t width,
                                const sinew_plan *plan, const int32_t *particles, const sinew_real *data,
                                int32_t particle_count)
{
    sinew_batch *batch = sinew_allocate_zero(allocator, 1, sizeof *batch);
    int32_t *local = sinew_allocate(allocator, (size_t)particle_count, sizeof *local);
    int32_t *stamp = sinew_allocate(allocator, (size_t)particle_count, sizeof *stamp);
    bool good = batch && local && stamp;
    if (good) {
        batch->ops = ops;
        batch->width = width;
        batch->element_count = plan->element_count;
        batch->chunk_count = plan->chunk_count;
        batch->chunks = sinew_allocate(allocator, (size_t)batch->chunk_count, sizeof *batch->chunks);
        good = batch->chunks != NULL;
    }
    if (good) {
        count_groups(batch, plan);
        good = allocate_arrays(allocator, batch);
    }
    if (good) {
        memset(stamp, 0xff, (size_t)particle_count * sizeof *stamp);
        for (int32_t chunk = 0; chunk < batch->chunk_count; chunk++)
            fill_chunk(batch, chunk, plan, particles, data, local, stamp);
    }
    sinew_release(allocator, local);
    sinew_release(allocator, stamp);
    if (good)
        return batch;
    sinew_batch_destroy(allocator, batch);
    return NULL;
}

void sinew_batch_destroy(const sinew_allocator *allocator, sinew_batch *batch)
{
    if (!batch)
        return;
    sinew_release(allocator, batch->vertex);
    sinew_release(allocator, batch->data);
    sinew_release(allocator, batch->element);
    sinew_release(allocator, batch->place);
    sinew_release(allocator, batch->particle);
    sinew_release(allocator, batch->chunks);
    sinew_release(allocator, batch);
}

void sinew_batch_list(const sinew_batch *batch, int32_t *particles)
{
    const size_t W = (size_t)batch->width, n = (size_t)batch->ops->info.vertex_count;
    for (int32_t c = 0; c < batch->chunk_count; c++) {
        const sinew_chunk *chunk = &batch->chunks[c];
        for (int32_t g = chunk->first_group; g < chunk->first_group + chunk->group_count; g++)
            for (size_t lane = 0; lane < W; lane++) {
                int32_t element = batch->element[(size_t)g * W + lane];
                for (size_t a = 0; element >= 0 && a < n; a++)
                    particles[(size_t)element * n + a] =
                        batch
                            ->particle[chunk->first_slot + batch->vertex[((size_t)g * n + a) * W + lane] / SINEW_POINT];
            }
    }
}

void sinew_batch_element(const sinew_batch *batch, int32_t element, sinew_real *data)
{
    const size_t W = (size_t)batch->width, D = (size_t)batch->ops->data_count, place = (size_t)batch->place[element];
    for (size_t d = 0; d < D; d++)
        data[d] = batch->data[(place / W * D + d) * W + place % W];
}

void sinew_batch_set_targets(sinew_batch *batch, const sinew_real *targets)
{
    const size_t W = (size_t)batch->width, D = (size_t)batch->ops->data_count, slot = (size_t)batch->ops->target_slot;
    for (int32_t e = 0; e < batch->element_count; e++) {
        size_t group = (size_t)batch->place[e] / W, lane = (size_t)batch->place[e] % W;
        for (size_t c = 0; c < 3; c++)
            batch->data[(group * D + slot + c) * W + lane] = targets[3 * (size_t)e + c];
    }
}

sinew_groups sinew_batch_groups(const sinew_batch *batch, const sinew_chunk *chunk)
{
    const size_t lanes = (size_t)chunk->first_group * (size_t)batch->width;
    return (sinew_groups){.count = chunk->group_count,
                          .threes = chunk->fan_groups[2],
                          .twos = chunk->fan_groups[1],
                          .vertex = batch->vertex + lanes * (size_t)batch->ops->info.vertex_count,
                          .data = batch->data + lanes * (size_t)batch->ops->data_count};
}
