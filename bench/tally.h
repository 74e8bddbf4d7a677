/* SPDX-License-Identifier: MIT
 *
 * tally.h: an allocator that counts calls and held bytes, to measure a solver's memory. The allocator calls the
 * library's default one, so that timings match those of users.
 */
#ifndef SINEW_BENCH_TALLY_H
#define SINEW_BENCH_TALLY_H

#include <string.h>

#include "base/base.h"

typedef struct tally {
    size_t held;
    int64_t calls; /* number of allocations */
} tally;

static inline void *tally_allocate(void *context, size_t size, size_t alignment)
{
    tally *t = context;
    const sinew_allocator system = sinew_allocator_or_system(NULL);
    char *block = system.allocate(system.context, size + alignment, alignment);
    if (!block)
        return NULL;
    memcpy(block, &size, sizeof size);
    t->held += size;
    t->calls++;
    return block + alignment;
}

static inline void tally_release(void *context, void *memory)
{
    tally *t = context;
    const sinew_allocator system = sinew_allocator_or_system(NULL);
    size_t size;
    char *block = (char *)memory - SINEW_ALIGNMENT;
    memcpy(&size, block, sizeof size);
    t->held -= size;
    system.release(system.context, block);
}

#endif
