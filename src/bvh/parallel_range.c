/* SPDX-License-Identifier: MIT
 *
 * parallel_range.c: the public parallel loop, with 64-bit counts, on the library's thread pool.
 */
#include "base/base.h"
#include "base/tasks.h"
#include "sinew/tree.h"

#define MAX_BLOCKS (1 << 30)

typedef struct range_loop {
    sinew_range_call *call;
    void *context;
    int64_t count, block;
} range_loop;

static void run_blocks(const void *context, int32_t member, int32_t first, int32_t last)
{
    const range_loop *l = context;
    for (int32_t b = first; b < last; b++) {
        const int64_t begin = (int64_t)b * l->block;
        l->call(l->context, member, begin, l->count - begin < l->block ? l->count : begin + l->block);
    }
}

/* Runs a loop in parallel. Each call opens and closes the pool; the threads survive between calls only while a world or
 * a tree exists. */
void sinew_run_range(int32_t thread_count, int64_t count, int64_t block, sinew_range_call *call, void *context)
{
    if (!SINEW_ASSERT(call && count >= 0 && block > 0) || count == 0)
        return;
    block = count / block >= MAX_BLOCKS ? count / MAX_BLOCKS + 1 : block;
    const range_loop l = {call, context, count, block};
    const int32_t blocks = (int32_t)(count / block + (count % block > 0));
    thread_count = thread_count > 0 ? thread_count : sinew_tasks_default_count();
    sinew_tasks_open();
    sinew_tasks_for(thread_count, blocks, 1, run_blocks, &l);
    sinew_tasks_close();
}
