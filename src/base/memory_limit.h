/* SPDX-License-Identifier: MIT
 *
 * memory_limit.h: an allocator that refuses to hold more than a limit.
 *
 * Each block has a header with its size, so that a release can be subtracted. The limit counts the bytes that callers
 * ask for and these headers, not the rounding of the allocator below. A refusal is remembered for the calling thread;
 * the next error text of SINEW_ERROR_MEMORY (sinew_fail) names the limit.
 */
#ifndef SINEW_SRC_BASE_MEMORY_LIMIT_H
#define SINEW_SRC_BASE_MEMORY_LIMIT_H

#include "base/base.h"

typedef struct sinew_memory_limit sinew_memory_limit;

/* Wraps *allocator in one that refuses to exceed `limit` bytes. Returns NULL if memory is short; *allocator is then
 * unchanged. The bytes of sinew_memory_limit itself count. */
sinew_memory_limit *sinew_memory_limit_open(sinew_allocator *allocator, uint64_t limit);
/* Releases the limited allocator's record, after all its blocks are released; accepts NULL. */
void sinew_memory_limit_close(sinew_memory_limit *limit);

/* True if `count` items of `size` bytes can be allocated now, for libraries that allocate without the hooks. */
bool sinew_memory_admits(const sinew_allocator *allocator, size_t count, size_t size);

/* Discards the refused allocation remembered for this thread, after a caller has recovered from it. */
void sinew_memory_limit_forget(void);
/* Appends the memory limit of this thread's last refused allocation to an error text, and discards the record of it. */
void sinew_memory_limit_explain(char *text, size_t size);

#endif
