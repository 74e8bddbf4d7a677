/* SPDX-License-Identifier: MIT
 *
 * base.c: memory hooks, errors, time and assertions. See base.h.
 */
#include "base/base.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory_limit.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

/* Large blocks use huge pages: kernels stream through memory, and with pages of 4 KiB a core reads at about half its
 * bandwidth. If the system refuses, results do not change. */
#define LARGE_PAGE ((size_t)2 << 20)

static void *system_allocate(void *context, size_t size, size_t alignment)
{
    (void)context;
    if (size >= LARGE_PAGE)
        alignment = LARGE_PAGE;
    /* aligned_alloc requires the size to be a multiple of the alignment. */
    size_t rounded = (size + alignment - 1) / alignment * alignment;
    void *memory = rounded < size ? NULL : aligned_alloc(alignment, rounded);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (memory && alignment == LARGE_PAGE)
        (void)madvise(memory, rounded, MADV_HUGEPAGE);
#endif
    return memory;
}

static void system_release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

sinew_allocator sinew_allocator_or_system(const sinew_allocator *allocator)
{
    if (allocator && allocator->allocate && allocator->release)
        return *allocator;
    return (sinew_allocator){.allocate = system_allocate, .release = system_release};
}

void *sinew_allocate(const sinew_allocator *allocator, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / 2 / size)
        return NULL;
    size_t bytes = count * size;
    return allocator->allocate(allocator->context, bytes ? bytes : 1, SINEW_ALIGNMENT);
}

void *sinew_allocate_zero(const sinew_allocator *allocator, size_t count, size_t size)
{
    void *memory = sinew_allocate(allocator, count, size);
    if (memory)
        memset(memory, 0, count * size);
    return memory;
}

void *sinew_reallocate(const sinew_allocator *allocator, void *old, size_t used, size_t count, size_t size)
{
    void *memory = sinew_allocate(allocator, count, size);
    if (!memory)
        return NULL;
    if (used)
        memcpy(memory, old, used * size);
    sinew_release(allocator, old);
    return memory;
}

bool sinew_reserve(const sinew_allocator *allocator, void *slot, size_t *capacity, size_t count, size_t size)
{
    void **array = slot;
    if (*array && count <= *capacity / size)
        return true;
    /* Adds spare capacity, because an array that has grown once usually grows again. */
    const size_t wanted = *array && count < SIZE_MAX / 2 ? count + count / 2 : count;
    void *larger = sinew_allocate(allocator, wanted, size);
    if (!larger)
        return false;
    sinew_release(allocator, *array);
    *array = larger;
    *capacity = wanted * size;
    return true;
}

bool sinew_reserve_spare(const sinew_allocator *allocator, void *slot, size_t *capacity, size_t count, size_t size)
{
    if (*(void **)slot && count <= *capacity / size)
        return true;
    return sinew_reserve(allocator, slot, capacity, count < SIZE_MAX / 2 ? count + count / 2 : count, size);
}

void sinew_release(const sinew_allocator *allocator, void *memory)
{
    if (memory)
        allocator->release(allocator->context, memory);
}

/* Replaces control characters by '?': error texts quote names from files, and no line break or escape sequence may
 * reach a terminal. */
static void keep_to_one_line(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
}

sinew_status sinew_fail(sinew_error *error, sinew_status status, const char *format, ...)
{
    if (error) {
        error->status = status;
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
        if (status == SINEW_ERROR_MEMORY)
            sinew_memory_limit_explain(error->text, sizeof error->text);
        keep_to_one_line(error->text);
    }
    return status;
}

sinew_status sinew_fail_memory(sinew_error *error, const char *what)
{
    return sinew_fail(error, SINEW_ERROR_MEMORY, "out of memory for %s", what);
}

void sinew_error_clear(sinew_error *error)
{
    if (error) {
        error->status = SINEW_OK;
        error->text[0] = '\0';
    }
}

const char *sinew_version(void)
{
    return SINEW_VERSION;
}

const char *sinew_status_name(sinew_status status)
{
    static const char *const names[] = {"ok",     "usage",   "data",        "file",       "format",
                                        "memory", "numeric", "unsupported", "interrupted"};
    size_t index = (size_t)status;
    return index < sizeof names / sizeof names[0] ? names[index] : "unknown";
}

double sinew_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static _Atomic(sinew_assert_handler *) assert_handler;
static _Atomic(void *) assert_context;

void sinew_set_assert_handler(sinew_assert_handler *handler, void *context)
{
    atomic_store(&assert_context, context);
    atomic_store(&assert_handler, handler);
}

bool sinew_assert_failed(const char *condition, const char *file, int line)
{
    sinew_assert_handler *handler = atomic_load(&assert_handler);
    if (handler)
        handler(condition, file, line, atomic_load(&assert_context));
    return false;
}
