/* SPDX-License-Identifier: MIT
 *
 * failing_allocator.h: hooks that count blocks and refuse the n-th request, for tests that walk every allocation.
 *
 *     failing_allocator memory = {0};
 *     for (memory.fail_at = 1;; memory.fail_at++) {
 *         memory.calls = 0;
 *         thing *t = make(hooks_of(&memory), &error);
 *         if (t) { destroy(t); assert_int_equal(memory.live, 0); break; }
 *         assert_int_equal(error.status, SINEW_ERROR_MEMORY);
 *         assert_int_equal(memory.live, 0);
 *     }
 */
#ifndef SINEW_FAILING_ALLOCATOR_H
#define SINEW_FAILING_ALLOCATOR_H

#include <stdlib.h>

#include "sinew/types.h"

typedef struct failing_allocator {
    int64_t calls;   /* requests since the caller last set this to 0 */
    int64_t fail_at; /* number of the refused request, from 1; 0: none */
    int64_t live;    /* blocks not yet released */
} failing_allocator;

static inline void *failing_allocate(void *context, size_t size, size_t alignment)
{
    failing_allocator *memory = context;
    if (++memory->calls == memory->fail_at)
        return NULL;
    void *block = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    memory->live += block != NULL;
    return block;
}

static inline void failing_release(void *context, void *block)
{
    failing_allocator *memory = context;
    memory->live--;
    free(block);
}

static inline sinew_allocator hooks_of(failing_allocator *memory)
{
    return (sinew_allocator){.allocate = failing_allocate, .release = failing_release, .context = memory};
}

#endif
