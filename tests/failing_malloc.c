/* SPDX-License-Identifier: MIT
 *
 * failing_malloc.c: implements failing_malloc.h.
 */
#include "failing_malloc.h"

#include <SuiteSparse_config.h>
#include <jansson.h>
#include <stddef.h>

struct failing_malloc failing_malloc;

static bool failing_malloc_refuses(void)
{
    long long number = atomic_fetch_add(&failing_malloc.asked, 1) + 1;
    bool refuse = failing_malloc.first > 0 &&
                  (failing_malloc.only_first ? number == failing_malloc.first : number >= failing_malloc.first);
    if (refuse)
        atomic_fetch_add(&failing_malloc.fails, 1);
    return refuse;
}

static void *failing_malloc_count(void *memory)
{
    if (memory)
        atomic_fetch_add(&failing_malloc.alive, 1);
    return memory;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **memory, size_t alignment, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t size);
void __wrap_free(void *memory);

void *__wrap_malloc(size_t size)
{
    return failing_malloc_refuses() ? NULL : failing_malloc_count(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return failing_malloc_refuses() ? NULL : failing_malloc_count(__real_calloc(count, size));
}

void *__wrap_realloc(void *old, size_t size)
{
    if (failing_malloc_refuses())
        return NULL;
    void *memory = __real_realloc(old, size);
    return old ? memory : failing_malloc_count(memory);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return failing_malloc_refuses() ? NULL : failing_malloc_count(__real_aligned_alloc(alignment, size));
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (failing_malloc_refuses())
        return 12; /* ENOMEM */
    int result = __real_posix_memalign(memory, alignment, size);
    if (result == 0)
        failing_malloc_count(*memory);
    return result;
}

void __wrap_free(void *memory)
{
    if (memory)
        atomic_fetch_sub(&failing_malloc.alive, 1);
    __real_free(memory);
}

void failing_malloc_install(void)
{
    json_set_alloc_funcs(__wrap_malloc, __wrap_free);
    SuiteSparse_config.malloc_func = __wrap_malloc;
    SuiteSparse_config.calloc_func = __wrap_calloc;
    SuiteSparse_config.realloc_func = __wrap_realloc;
    SuiteSparse_config.free_func = __wrap_free;
}

void failing_malloc_arm(long long first, bool only_first)
{
    failing_malloc.first = first;
    failing_malloc.only_first = only_first;
    atomic_store(&failing_malloc.asked, 0);
    atomic_store(&failing_malloc.fails, 0);
}
