/* SPDX-License-Identifier: MIT
 *
 * fuzz_memory.h: an allocator with a limit, so that a large mesh gives a fuzzer "out of memory" instead of a long wait.
 */
#ifndef SINEW_FUZZ_MEMORY_H
#define SINEW_FUZZ_MEMORY_H

#include <stdlib.h>

#include "sinew/types.h"

enum {
    FUZZ_LARGEST_BLOCK = 1 << 16,
    FUZZ_LARGEST_SUM = 1 << 23
};

static inline void *fuzz_allocate(void *context, size_t size, size_t alignment)
{
    size_t *left = context;
    if (size > FUZZ_LARGEST_BLOCK || size > *left)
        return NULL;
    *left -= size;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static inline void fuzz_release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

/* An allocator with a limit; `left` starts at FUZZ_LARGEST_SUM and counts down. */
static inline sinew_allocator fuzz_memory(size_t *left)
{
    *left = FUZZ_LARGEST_SUM;
    return (sinew_allocator){fuzz_allocate, fuzz_release, left};
}

#endif
