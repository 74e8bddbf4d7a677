/* SPDX-License-Identifier: MIT
 *
 * replaceable_calls.c: default targets of the calls that tests replace, for the library of SINEW_SHARED_INTERNALS.
 *
 * The linker's --wrap renames calls within one link. In a static build that link is the test's own; here it is the
 * library's, whose calls of malloc become calls of __wrap_malloc. These weak functions forward to the real ones; a test
 * program that defines the same name takes precedence when it is loaded (failing_malloc.c, test_interrupt.c).
 */
#include <stdbool.h>
#include <stddef.h>

#define REPLACEABLE __attribute__((weak))

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **memory, size_t alignment, size_t size);
void __real_free(void *memory);
bool __real_sinew_stop_came(void);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t size);
void __wrap_free(void *memory);
bool __wrap_sinew_stop_came(void);

REPLACEABLE void *__wrap_malloc(size_t size)
{
    return __real_malloc(size);
}

REPLACEABLE void *__wrap_calloc(size_t count, size_t size)
{
    return __real_calloc(count, size);
}

REPLACEABLE void *__wrap_realloc(void *old, size_t size)
{
    return __real_realloc(old, size);
}

REPLACEABLE void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return __real_aligned_alloc(alignment, size);
}

REPLACEABLE int __wrap_posix_memalign(void **memory, size_t alignment, size_t size)
{
    return __real_posix_memalign(memory, alignment, size);
}

REPLACEABLE void __wrap_free(void *memory)
{
    __real_free(memory);
}

REPLACEABLE bool __wrap_sinew_stop_came(void)
{
    return __real_sinew_stop_came();
}
