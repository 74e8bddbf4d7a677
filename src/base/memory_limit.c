/* SPDX-License-Identifier: MIT
 *
 * memory_limit.c: the allocator that counts bytes and refuses to exceed a limit. See memory_limit.h.
 */
#include "base/memory_limit.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct sinew_memory_limit {
    sinew_allocator below;
    uint64_t limit;
    _Atomic uint64_t used;
};

/* Header that lies directly before each block that callers of the limited allocator receive. */
typedef struct block_header {
    void *start;   /* start of the allocation that contains header and block */
    uint64_t size; /* bytes of header and block, which count towards the limit */
} block_header;

static _Thread_local struct {
    /* bytes: limit, used and requested memory at this thread's last refused allocation; limit 0: none */
    uint64_t limit, used, wanted;
} refused;

/* Adds `size` bytes to the used memory and returns true, or records a refusal and returns false if the limit would be
 * exceeded. */
static bool limit_take(sinew_memory_limit *l, uint64_t size)
{
    uint64_t used = atomic_load_explicit(&l->used, memory_order_relaxed);
    do {
        if (size > l->limit || used > l->limit - size) {
            refused.limit = l->limit;
            refused.used = used;
            refused.wanted = size;
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&l->used, &used, used + size, memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

static void *limit_allocate(void *context, size_t size, size_t alignment)
{
    sinew_memory_limit *l = context;
    /* Offset of the caller's block from the start of its allocation, in bytes: a multiple of the alignment that fits
     * the header. */
    const size_t offset = (sizeof(block_header) + alignment - 1) / alignment * alignment;
    if (size > SIZE_MAX - offset || !limit_take(l, size + offset))
        return NULL;
    char *start = l->below.allocate(l->below.context, size + offset, alignment);
    if (!start) {
        atomic_fetch_sub_explicit(&l->used, size + offset, memory_order_relaxed);
        return NULL;
    }
    const block_header header = {start, size + offset};
    memcpy(start + offset - sizeof header, &header, sizeof header);
    return start + offset;
}

static void limit_release(void *context, void *memory)
{
    sinew_memory_limit *l = context;
    block_header header;
    memcpy(&header, (char *)memory - sizeof header, sizeof header);
    atomic_fetch_sub_explicit(&l->used, header.size, memory_order_relaxed);
    l->below.release(l->below.context, header.start);
}

sinew_memory_limit *sinew_memory_limit_open(sinew_allocator *allocator, uint64_t limit)
{
    sinew_memory_limit *l = sinew_allocate(allocator, 1, sizeof *l);
    if (!l)
        return NULL;
    l->below = *allocator;
    l->limit = limit;
    atomic_init(&l->used, 0);
    if (!limit_take(l, sizeof *l)) {
        sinew_release(allocator, l);
        return NULL;
    }
    *allocator = (sinew_allocator){limit_allocate, limit_release, l};
    return l;
}

void sinew_memory_limit_close(sinew_memory_limit *limit)
{
    if (!limit)
        return;
    const sinew_allocator below = limit->below;
    sinew_release(&below, limit);
}

bool sinew_memory_admits(const sinew_allocator *allocator, size_t count, size_t size)
{
    void *probe = sinew_allocate(allocator, count, size);
    sinew_release(allocator, probe);
    return probe != NULL;
}

void sinew_memory_limit_forget(void)
{
    refused.limit = 0;
}

void sinew_memory_limit_explain(char *text, size_t size)
{
    const size_t length = strlen(text);
    if (refused.limit > 0)
        snprintf(text + length, size - length,
                 ": %" PRIu64 " bytes more than the %" PRIu64 " in use exceed the memory_limit of %" PRIu64
                 " bytes; raise it",
                 refused.wanted, refused.used, refused.limit);
    refused.limit = 0;
}
