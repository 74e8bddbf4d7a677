/* SPDX-License-Identifier: MIT
 *
 * sinew/types.h: the words every other header uses: the real number, errors, memory.
 *
 * Units are SI everywhere: metres, kilograms, seconds, newtons, pascals, joules.
 * Arrays of points are caller-owned and interleaved: x0 y0 z0 x1 y1 z1 ...
 * Nothing in the library prints, exits, aborts or resets a simulation on its own.
 */
#ifndef SINEW_TYPES_H
#define SINEW_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library is built twice from the same source: libsinew (double) and libsinew_single (float).
 * Define SINEW_SINGLE when you compile against libsinew_single (its pkg-config file does). */
#ifdef SINEW_SINGLE
typedef float sinew_real;
#define SINEW_PRECISION "single"
#else
typedef double sinew_real;
#define SINEW_PRECISION "double"
#endif

#define SINEW_VERSION "0.1.0"

#if defined(_WIN32)
#define SINEW_API
#else
#define SINEW_API __attribute__((visibility("default")))
#endif

#if defined(__GNUC__)
#define SINEW_PRINTF(a, b) __attribute__((format(printf, a, b)))
#else
#define SINEW_PRINTF(a, b)
#endif

/* ---- Errors -------------------------------------------------------------------------------- */

/* Why a call refused. A call that refuses has changed nothing. */
typedef enum sinew_status {
    SINEW_OK = 0,
    SINEW_ERROR_USAGE,      /* the caller's mistake: a null pointer, a def without its cookie        */
    SINEW_ERROR_DATA,       /* bad data: out-of-range index, zero-volume element, negative mass, ... */
    SINEW_ERROR_FILE,       /* cannot open, read or write a file                                     */
    SINEW_ERROR_FORMAT,     /* a file is not what it claims to be; the text names file and line      */
    SINEW_ERROR_MEMORY,     /* an allocation failed                                                  */
    SINEW_ERROR_NUMERIC,    /* a factorisation failed, a value became non-finite                     */
    SINEW_ERROR_UNSUPPORTED /* a combination that cannot work; the text says why and what to use    */
} sinew_status;

/* One line for a person: what is wrong, where, what to do. Pass NULL where you do not care. */
typedef struct sinew_error {
    sinew_status status;
    char text[1024];
} sinew_error;

/* Short name of a status, e.g. "data". Never NULL. */
SINEW_API const char *sinew_status_name(sinew_status status);

/* For "did you mean": the one of `names` [count] most like `word`, NULL when none is near. */
SINEW_API const char *sinew_nearest_name(const char *word, const char *const *names, int32_t count);

/* Called on a caller's mistake (null pointer, bad id). The call then returns NULL, an error status or
 * does nothing. The default handler does nothing. This hook is the only process-wide setting. */
typedef void sinew_assert_handler(const char *condition, const char *file, int line, void *context);
SINEW_API void sinew_set_assert_handler(sinew_assert_handler *handler, void *context);

/* ---- Memory -------------------------------------------------------------------------------- */

/* Memory hooks of one world or mesh. `allocate` returns NULL on failure; `alignment` is a power of two,
 * at least 16. Left zero-filled, the system's allocator is used. The hooks must outlive the object.
 * Does not cover what third-party libraries (CHOLMOD, jansson) allocate for themselves. */
typedef struct sinew_allocator {
    void *(*allocate)(void *context, size_t size, size_t alignment);
    void (*release)(void *context, void *memory);
    void *context;
} sinew_allocator;

/* ---- Threads ------------------------------------------------------------------------------- */

/* The embedding program's own task system, in place of the library's threads. Left zero-filled, the library starts
 * threads of its own when there is work for several, and ends them with the last world; with both functions set it
 * starts none for this world. Results are the same bits either way.
 *
 * `start` asks for task(data, 1) .. task(data, count - 1), count >= 2, each at most once: at once or later, at the same
 * time or one after the other, in any order, on any thread, within `start` and `finish` too. The caller does the work
 * of member 0 in between, and in the end all that nobody else took: a call that never comes is done without. The
 * handle that `start` returns, NULL is fine, goes to `finish`, which returns when no call is under way and none will
 * come. Meanwhile it may run other tasks of the program, steps of other worlds included.
 *
 * A task that has begun must be let run to its end without waiting for others of the same `start`. It calls none of
 * these functions, takes up to 512 KiB of stack, allocates nothing, and runs with the caller's floating-point
 * environment (rounding, flushing of denormal numbers), which is put back afterwards. `start` and `finish` are called
 * by the thread that steps, prepares or measures the world, always in pairs; the functions and their context must
 * outlive the world. */
typedef void sinew_task_call(void *data, int32_t member);
typedef struct sinew_task_system {
    void *(*start)(void *context, sinew_task_call *task, void *data, int32_t count);
    void (*finish)(void *context, void *handle);
    void *context;
} sinew_task_system;

#ifdef __cplusplus
}
#endif
#endif
