/* SPDX-License-Identifier: MIT
 *
 * broad_phase_search.c: runs the chunks of searches on several threads and manages their hit buffers.
 */
#include "collide/broad_phase_search.h"

#include "base/stop.h"
#include "base/tasks.h"
#include "math/variant.h"

SINEW_VARIANT_TABLE(sinew_search_kernel, sinew_search_kernel);

#define CHUNK_NODES    16
#define FIRST_CAPACITY (4 * CHUNK_NODES * SINEW_BOXES_WIDE) /* initial capacity of a search chunk's buffer, in hits */

const sinew_search_kernel *sinew_search_kernel_chosen(void)
{
    return sinew_search_kernel_table[sinew_variant_chosen()];
}

bool sinew_search_run_create(sinew_search_run *run, const sinew_allocator *allocator)
{
    run->chunk_count = 0;
    for (int32_t s = 0; s < run->search_count; s++)
        run->chunk_count += (run->searches[s].own->node_count[0] + CHUNK_NODES - 1) / CHUNK_NODES;
    run->chunks = sinew_allocate_zero(allocator, (size_t)run->chunk_count, sizeof *run->chunks);
    if (!run->chunks)
        return false;
    sinew_search_chunk *chunk = run->chunks;
    for (int32_t s = 0; s < run->search_count; s++) {
        const int32_t count = run->searches[s].own->node_count[0];
        for (int32_t first = 0; first < count; first += CHUNK_NODES) {
            const int32_t last = count - first < CHUNK_NODES ? count : first + CHUNK_NODES;
            *chunk++ =
                (sinew_search_chunk){.search = s, .first = first, .last = last, .found.capacity = FIRST_CAPACITY};
        }
    }
    return true;
}

void sinew_search_run_destroy(sinew_search_run *run, const sinew_allocator *allocator)
{
    void *const blocks[] = {run->chunks, run->entries, run->more};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        sinew_release(allocator, blocks[i]);
    *run = (sinew_search_run){0};
}

/* ---- Sorting of broad-phase hits ---------------------------------------------------------------- */

static void entries_sift_down(uint64_t *heap, int64_t at, int64_t count)
{
    const uint64_t moving = heap[at];
    for (int64_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && heap[child] < heap[child + 1];
        if (heap[child] <= moving)
            break;
        heap[at] = heap[child];
    }
    heap[at] = moving;
}

/* Sorts hits in place: short lists by insertion sort, others by heap sort. */
static void entries_sort(uint64_t *entries, int64_t count)
{
    enum {
        FEW = 48
    };
    if (count <= FEW) {
        for (int64_t i = 1; i < count; i++) {
            const uint64_t moving = entries[i];
            int64_t j = i;
            for (; j > 0 && moving < entries[j - 1]; j--)
                entries[j] = entries[j - 1];
            entries[j] = moving;
        }
        return;
    }
    for (int64_t i = count / 2; i-- > 0;)
        entries_sift_down(entries, i, count);
    for (int64_t end = count - 1; end > 0; end--) {
        const uint64_t last = entries[end];
        entries[end] = entries[0];
        entries[0] = last;
        entries_sift_down(entries, 0, end);
    }
}

/* ---- Chunks of a broad-phase search ------------------------------------------------------------ */

typedef struct run_context {
    sinew_search_run *run;
    const sinew_search_kernel *kernel;
    const atomic_bool *stop; /* stop flag of the calling thread (base/stop.h), which all threads of the search read */
} run_context;

static void run_search_chunks(const void *context, int32_t member, int32_t first, int32_t last)
{
    (void)member;
    const run_context *c = context;
    for (int32_t i = first; i < last; i++) {
        sinew_search_chunk *chunk = c->run->chunks + i;
        sinew_search_found *found = &chunk->found;
        if (!chunk->again || sinew_stop_is_set(c->stop))
            continue;
        found->count = 0;
        for (int32_t node = chunk->first; node < chunk->last; node++) {
            const int64_t begin = found->count;
            const uint32_t row = (uint32_t)(node - chunk->first) * SINEW_BOXES_WIDE;
            c->kernel->node(c->run->searches + chunk->search, node, row, found);
            if (found->count <= found->capacity)
                entries_sort(found->entries + begin, found->count - begin);
        }
        chunk->again = found->count > found->capacity;
    }
}

/* Divides one allocation of hit buffers among the search chunks that must run (`again`), by their capacities; false:
 * out of memory. */
static bool run_share_capacity(sinew_search_run *run, const sinew_allocator *allocator, uint64_t **entries,
                               size_t *capacity_bytes)
{
    size_t sum = 0;
    for (int32_t i = 0; i < run->chunk_count; i++)
        sum += run->chunks[i].again ? (size_t)run->chunks[i].found.capacity : 0;
    if (!sinew_reserve_spare(allocator, entries, capacity_bytes, sum, sizeof **entries))
        return false;
    uint64_t *at = *entries;
    for (int32_t i = 0; i < run->chunk_count; i++)
        if (run->chunks[i].again) {
            run->chunks[i].found.entries = at;
            at += run->chunks[i].found.capacity;
        }
    return true;
}

bool sinew_search_run_all(sinew_search_run *run, const sinew_search_kernel *kernel, const sinew_allocator *allocator,
                          int32_t thread_count)
{
    const run_context context = {run, kernel, sinew_stop_flag()};
    bool again = false;
    for (int32_t i = 0; i < run->chunk_count; i++)
        run->chunks[i].again = true;
    if (!run_share_capacity(run, allocator, &run->entries, &run->entries_capacity))
        return false;
    sinew_tasks_for(thread_count, run->chunk_count, 1, run_search_chunks, &context);
    if (sinew_stop_came())
        return false;
    for (int32_t i = 0; i < run->chunk_count; i++)
        if (run->chunks[i].again) {
            again = true;
            run->chunks[i].found.capacity = run->chunks[i].found.count + run->chunks[i].found.count / 4;
        }
    if (!again)
        return true;
    if (!run_share_capacity(run, allocator, &run->more, &run->more_capacity))
        return false;
    sinew_tasks_for(thread_count, run->chunk_count, 1, run_search_chunks, &context);
    return !sinew_stop_came();
}
