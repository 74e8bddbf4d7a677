/* SPDX-License-Identifier: MIT
 *
 * failing_malloc.h: makes the n-th allocation of a program fail, and counts the blocks that are alive.
 *
 * Covers what our own code asks of the system (the linker's --wrap; tests/extra.cmake sees this include and sets
 * it), what jansson asks, and what SuiteSparse asks (their own hooks). Does not cover the C
 * library's inner calls (FILE buffers, qsort).
 *
 * Include it in one file of a test only; call failing_malloc_install() first.
 */
#ifndef SINEW_FAILING_MALLOC_H
#define SINEW_FAILING_MALLOC_H

#include <SuiteSparse_config.h>
#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static struct failing_malloc {
    atomic_llong asked; /* allocations since the last arm or disarm */
    atomic_llong alive; /* blocks allocated and not freed, in all */
    atomic_llong fails; /* how many were refused since then */
    long long first;    /* the first to refuse, counted from 1; 0: none */
    bool only_first;    /* false: all that follow are refused too */
} failing_malloc;

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

/* Routes jansson and SuiteSparse through the same counter. */
static void failing_malloc_install(void)
{
    json_set_alloc_funcs(__wrap_malloc, __wrap_free);
    SuiteSparse_config.malloc_func = __wrap_malloc;
    SuiteSparse_config.calloc_func = __wrap_calloc;
    SuiteSparse_config.realloc_func = __wrap_realloc;
    SuiteSparse_config.free_func = __wrap_free;
}

/* From now on the first-th allocation is refused (0: none), and all after it unless only_first. */
static void failing_malloc_arm(long long first, bool only_first)
{
    failing_malloc.first = first;
    failing_malloc.only_first = only_first;
    atomic_store(&failing_malloc.asked, 0);
    atomic_store(&failing_malloc.fails, 0);
}

#endif
