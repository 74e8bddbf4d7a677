/* SPDX-License-Identifier: MIT
 *
 * batch.c: groups the elements of one energy by their batch layout. See batch.h.
 */
#include "energy/batch.h"

#include <string.h>

static bool batch_reserve_buffers(const sinew_allocator *allocator, sinew_batch *batch)
{
    const size_t padded_count = (size_t)batch->group_count * (size_t)batch->width;
    const size_t n = (size_t)batch->ops->info.vertex_count, count = (size_t)batch->element_count;
    return sinew_reserve(allocator, &batch->vertex, &batch->vertex_capacity, padded_count * n, sizeof(int32_t)) &&
           sinew_reserve(allocator, &batch->data, &batch->data_capacity, padded_count * (size_t)batch->ops->data_count,
                         sizeof(sinew_real)) &&
           sinew_reserve(allocator, &batch->element, &batch->element_capacity, padded_count, sizeof(int32_t)) &&
           sinew_reserve(allocator, &batch->padded_index, &batch->index_capacity, count, sizeof(int32_t)) &&
           sinew_reserve(allocator, &batch->particle, &batch->particle_bytes, count * n, sizeof(int32_t));
}

/* Copies one element's particle indices and data into its SIMD lane. A filler, which pads a SIMD group, gets the data
 * of a real element with weight 0. */
static void fill_lane(sinew_batch *batch, int32_t padded_index, int32_t element, bool filler, const int32_t *particles,
                      const sinew_real *data, const int32_t *local)
{
    const size_t W = (size_t)batch->width, n = (size_t)batch->ops->info.vertex_count;
    const size_t D = (size_t)batch->ops->data_count, group = (size_t)padded_index / W, lane = (size_t)padded_index % W;
    for (size_t a = 0; a < n; a++)
        batch->vertex[(group * n + a) * W + lane] = SINEW_POINT * local[particles[(size_t)element * n + a]];
    for (size_t d = 0; d < D; d++)
        batch->data[(group * D + d) * W + lane] = data[(size_t)element * D + d];
    batch->element[padded_index] = filler ? -1 : element;
    if (filler)
        batch->data[group * D * W + lane] = 0;
    else
        batch->padded_index[element] = padded_index;
}

/* Numbers the particles of a chunk in ascending order of their world index, one slot each, so that a loop over
 * particles reads slots in order. */
static void batch_number_particles(sinew_batch *batch, int32_t chunk_index, const int32_t *order, int32_t count,
                                   const int32_t *particles, const sinew_batch_work *work)
{
    const int32_t n = batch->ops->info.vertex_count;
    int32_t *own = batch->particle + batch->slot_count, found = 0;
    for (int32_t i = 0; i < count; i++)
        for (int32_t a = 0; a < n; a++) {
            int32_t particle = particles[(size_t)order[i] * (size_t)n + (size_t)a];
            if (work->stamp[particle] == chunk_index)
                continue;
            work->stamp[particle] = chunk_index;
            work->pairs[found++] = (sinew_pair){.major = (uint64_t)particle};
        }
    sinew_sort_pairs(work->pairs, (size_t)found, work->pairs + found);
    for (int32_t i = 0; i < found; i++) {
        own[i] = (int32_t)work->pairs[i].major;
        work->local[own[i]] = i;
    }
    batch->chunks[chunk_index].first_slot = batch->slot_count;
    batch->chunks[chunk_index].slot_count = found;
    batch->slot_count += found;
}

/* Assigns the fans of a chunk to SIMD lanes with a stride: fans of one group are far apart and rarely share a particle,
 * so that consecutive scatters do not stall. */
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

static void fill_chunk(sinew_batch *batch, int32_t chunk_index, const sinew_batch_layout *layout,
                       const int32_t *particles, const sinew_real *data, const sinew_batch_work *work)
{
    const sinew_chunk *chunk = &batch->chunks[chunk_index];
    const int32_t *order = layout->order + chunk_index * SINEW_CHUNK_ELEMENTS;
    batch_number_particles(batch, chunk_index, order, sinew_batch_layout_chunk_size(layout, chunk_index), particles,
                           work);
    int32_t group = chunk->first_group;
    for (int32_t size = SINEW_FAN; size >= 1; size--) {
        const int32_t fans = layout->fans[chunk_index][size - 1];
        fill_fans(batch, group, size, fans, order, particles, data, work->local);
        group += chunk->fan_groups[size - 1];
        order += size * fans;
    }
}

/* Counts the SIMD groups of the batch and sets the first group of each chunk. */
static void count_groups(sinew_batch *batch, const sinew_batch_layout *layout)
{
    for (int32_t c = 0; c < batch->chunk_count; c++) {
        sinew_chunk *chunk = &batch->chunks[c];
        *chunk = (sinew_chunk){.first_group = batch->group_count};
        for (int32_t size = 1; size <= SINEW_FAN; size++) {
            chunk->fan_groups[size - 1] = size * ((layout->fans[c][size - 1] + batch->width - 1) / batch->width);
            chunk->group_count += chunk->fan_groups[size - 1];
        }
        batch->group_count += chunk->group_count;
    }
}

sinew_batch *sinew_batch_create(const sinew_allocator *allocator, const sinew_energy_ops *ops, int32_t width)
{
    sinew_batch *batch = sinew_allocate_zero(allocator, 1, sizeof *batch);
    if (batch) {
        batch->ops = ops;
        batch->width = width;
        batch->coupled = ops->global_constraint;
    }
    return batch;
}

bool sinew_batch_fill(sinew_batch *batch, const sinew_allocator *allocator, const sinew_batch_layout *layout,
                      const int32_t *particles, const sinew_real *data, int32_t particle_count, sinew_batch_work *work)
{
    const size_t limit = (size_t)particle_count, chunks = (size_t)layout->chunk_count;
    const size_t corners =
        (size_t)(layout->element_count < SINEW_CHUNK_ELEMENTS ? layout->element_count : SINEW_CHUNK_ELEMENTS) *
        (size_t)batch->ops->info.vertex_count;
    const size_t slots = corners < limit ? corners : limit; /* upper bound of the particles of one chunk */
    batch->element_count = layout->element_count;
    batch->chunk_count = layout->chunk_count;
    batch->group_count = batch->slot_count = batch->off_count = 0;
    batch->switchable = false;
    batch->version++;
    batch->form_version++;
    if (!sinew_reserve_spare(allocator, &work->local, &work->local_capacity, limit, sizeof *work->local) ||
        !sinew_reserve_spare(allocator, &work->stamp, &work->stamp_capacity, limit, sizeof *work->stamp) ||
        !sinew_reserve_spare(allocator, &work->pairs, &work->pair_capacity, 2 * slots, sizeof *work->pairs) ||
        !sinew_reserve(allocator, &batch->chunks, &batch->chunk_capacity, chunks, sizeof *batch->chunks))
        return false;
    count_groups(batch, layout);
    if (!batch_reserve_buffers(allocator, batch))
        return false;
    memset(work->stamp, 0xff, limit * sizeof *work->stamp);
    for (int32_t chunk = 0; chunk < batch->chunk_count; chunk++)
        fill_chunk(batch, chunk, layout, particles, data, work);
    return true;
}

void sinew_batch_work_release(sinew_batch_work *work, const sinew_allocator *allocator)
{
    sinew_release(allocator, work->local);
    sinew_release(allocator, work->stamp);
    sinew_release(allocator, work->pairs);
    *work = (sinew_batch_work){0};
}

void sinew_batch_destroy(const sinew_allocator *allocator, sinew_batch *batch)
{
    if (!batch)
        return;
    void *arrays[] = {batch->vertex,       batch->data,     batch->element,
                      batch->padded_index, batch->particle, batch->chunks,
                      batch->on_weight,    batch->off,      batch};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(allocator, arrays[i]);
}

void sinew_batch_list_particles(const sinew_batch *batch, int32_t *particles)
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

/* Finds the chunk that contains a SIMD group, by bisection: the groups of a chunk are consecutive. */
static const sinew_chunk *chunk_of_group(const sinew_batch *batch, int32_t group)
{
    int32_t low = 0, high = batch->chunk_count - 1;
    while (low < high) {
        int32_t middle = low + (high - low + 1) / 2;
        if (batch->chunks[middle].first_group <= group)
            low = middle;
        else
            high = middle - 1;
    }
    return &batch->chunks[low];
}

void sinew_batch_particles(const sinew_batch *batch, int32_t element, int32_t *particles)
{
    const size_t W = (size_t)batch->width, n = (size_t)batch->ops->info.vertex_count;
    const size_t padded_index = (size_t)batch->padded_index[element], group = padded_index / W;
    const sinew_chunk *chunk = chunk_of_group(batch, (int32_t)group);
    for (size_t a = 0; a < n; a++)
        particles[a] =
            batch->particle[chunk->first_slot + batch->vertex[(group * n + a) * W + padded_index % W] / SINEW_POINT];
}

void sinew_batch_element(const sinew_batch *batch, int32_t element, sinew_real *data)
{
    const size_t W = (size_t)batch->width, D = (size_t)batch->ops->data_count,
                 padded_index = (size_t)batch->padded_index[element];
    for (size_t d = 0; d < D; d++)
        data[d] = batch->data[(padded_index / W * D + d) * W + padded_index % W];
}

/* Writes number d of an element's data. Sets *changed if the value differs and d is not 0, the weight. */
static void set_data_number(sinew_batch *batch, int32_t element, size_t d, sinew_real value, bool *changed)
{
    const size_t W = (size_t)batch->width, D = (size_t)batch->ops->data_count,
                 padded_index = (size_t)batch->padded_index[element];
    sinew_real *number = &batch->data[(padded_index / W * D + d) * W + padded_index % W];
    *changed |= d > 0 && memcmp(number, &value, sizeof value) != 0;
    *number = value;
}

void sinew_batch_set_element(sinew_batch *batch, int32_t element, const sinew_real *data)
{
    const size_t D = (size_t)batch->ops->data_count;
    const bool off = sinew_batch_is_off(batch, element);
    bool changed = false;
    for (size_t d = 0; d < D; d++)
        set_data_number(batch, element, d, d == 0 && off ? 0 : data[d], &changed);
    if (batch->switchable)
        batch->on_weight[element] = data[0];
    batch->version++;
    batch->form_version += changed;
}

static sinew_real *weight_pointer(const sinew_batch *batch, int32_t element)
{
    const size_t W = (size_t)batch->width, D = (size_t)batch->ops->data_count,
                 padded_index = (size_t)batch->padded_index[element];
    return &batch->data[padded_index / W * D * W + padded_index % W];
}

sinew_real sinew_batch_weight(const sinew_batch *batch, int32_t element)
{
    return *weight_pointer(batch, element);
}

bool sinew_batch_allow_switching(sinew_batch *batch, const sinew_allocator *allocator)
{
    if (batch->switchable)
        return true;
    if (!sinew_reserve(allocator, &batch->on_weight, &batch->on_capacity, (size_t)batch->element_count,
                       sizeof *batch->on_weight) ||
        !sinew_reserve(allocator, &batch->off, &batch->off_capacity, (size_t)batch->element_count, 1))
        return false;
    memset(batch->off, 0, (size_t)batch->element_count);
    for (int32_t e = 0; e < batch->element_count; e++)
        batch->on_weight[e] = *weight_pointer(batch, e);
    batch->switchable = true;
    return true;
}

void sinew_batch_switch(sinew_batch *batch, int32_t element, bool on)
{
    batch->off_count += (on ? 0 : 1) - batch->off[element];
    batch->off[element] = !on;
    *weight_pointer(batch, element) = on ? batch->on_weight[element] : 0;
    batch->version++;
}

bool sinew_batch_is_off(const sinew_batch *batch, int32_t element)
{
    return batch->switchable && batch->off[element];
}

void sinew_batch_show_switched_off(sinew_batch *batch, bool show)
{
    for (int32_t e = 0; batch->off_count > 0 && e < batch->element_count; e++)
        if (batch->off[e])
            *weight_pointer(batch, e) = show ? batch->on_weight[e] : 0;
    batch->version += batch->off_count > 0;
}

void sinew_batch_set_targets(sinew_batch *batch, const sinew_real *targets)
{
    const size_t slot = (size_t)batch->ops->target_slot;
    bool changed = false;
    for (int32_t e = 0; e < batch->element_count; e++)
        for (size_t c = 0; c < 3; c++)
            set_data_number(batch, e, slot + c, targets[3 * (size_t)e + c], &changed);
    batch->version += changed;
    batch->form_version += changed;
}

void sinew_batch_set_shared(sinew_batch *batch, const sinew_real *shared)
{
    bool changed = false, weight_changed = false;
    for (int32_t e = 0; e < batch->element_count; e++) {
        const bool off = sinew_batch_is_off(batch, e);
        weight_changed |= !off && sinew_batch_weight(batch, e) != shared[0];
        for (int32_t i = 0; i < batch->ops->shared_count; i++)
            set_data_number(batch, e, (size_t)i, i == 0 && off ? 0 : shared[i], &changed);
        if (batch->switchable)
            batch->on_weight[e] = shared[0];
    }
    batch->version += changed || weight_changed;
    batch->form_version += changed;
}

sinew_groups sinew_batch_groups(const sinew_batch *batch, const sinew_chunk *chunk)
{
    const size_t padded_count = (size_t)chunk->first_group * (size_t)batch->width;
    return (sinew_groups){.count = chunk->group_count,
                          .threes = chunk->fan_groups[2],
                          .twos = chunk->fan_groups[1],
                          .vertex = batch->vertex + padded_count * (size_t)batch->ops->info.vertex_count,
                          .data = batch->data + padded_count * (size_t)batch->ops->data_count};
}
