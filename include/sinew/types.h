/* SPDX-License-Identifier: MIT
 *
 * sinew/types.h: types that all other headers use: the real number, errors, memory, tasks.
 *
 * Units are SI everywhere: metres, kilograms, seconds, newtons, pascals, joules.
 * Arrays of points are caller-owned and interleaved: x0 y0 z0 x1 y1 z1 ...
 * The library never prints, exits, aborts or resets a simulation.
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

/* The version of these headers (see VERSIONING.md); CMake reads it from here. */
#define SINEW_VERSION_MAJOR         0
#define SINEW_VERSION_MINOR         2
#define SINEW_VERSION_PATCH         0
#define SINEW_VERSION_TEXT(a, b, c) #a "." #b "." #c
#define SINEW_VERSION_OF(a, b, c)   SINEW_VERSION_TEXT(a, b, c)
#define SINEW_VERSION               SINEW_VERSION_OF(SINEW_VERSION_MAJOR, SINEW_VERSION_MINOR, SINEW_VERSION_PATCH)

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

/* The version of the linked library, e.g. "0.2.0". It differs from SINEW_VERSION if the program was compiled with
 * headers of another version. Never NULL. */
SINEW_API const char *sinew_version(void);

/* ---- Errors -------------------------------------------------------------------------------- */

/* Reason of a failure. A call that fails changes nothing, unless its comment says otherwise. */
typedef enum sinew_status {
    SINEW_OK = 0,
    SINEW_ERROR_USAGE,       /* mistake of the caller: a null pointer, a def without its cookie */
    SINEW_ERROR_DATA,        /* bad data of the caller: out-of-range index, zero-volume element, negative mass, ... */
    SINEW_ERROR_FILE,        /* a file cannot be opened, read or written */
    SINEW_ERROR_FORMAT,      /* a file is malformed; the error text names file and line */
    SINEW_ERROR_MEMORY,      /* an allocation of memory failed */
    SINEW_ERROR_NUMERIC,     /* a factorisation failed, or a value became non-finite */
    SINEW_ERROR_UNSUPPORTED, /* combination that is not supported; the error text gives the reason and the remedy */
    SINEW_ERROR_INTERRUPTED  /* sinew_world_interrupt() ended the call with this status */
} sinew_status;

/* Error of a call as one line of text: the error, its location, the remedy. Callers may pass NULL to ignore it. */
typedef struct sinew_error {
    sinew_status status;
    char text[1024];
} sinew_error;

/* Returns the short name of a status, e.g. "data". Never NULL. */
SINEW_API const char *sinew_status_name(sinew_status status);

/* Returns the name in `names` [count] that is most similar to `word`, or the current name if `word` was renamed;
 * NULL: no name is similar. For "did you mean" messages. */
SINEW_API const char *sinew_nearest_name(const char *word, const char *const *names, int32_t count);

/* Called on a caller's mistake (null pointer, bad id). The call then returns NULL, an error status or
 * does nothing. The default handler does nothing. This hook and the registrations of
 * sinew/extend.h and sinew/linear.h are the process-wide settings. */
typedef void sinew_assert_handler(const char *condition, const char *file, int line, void *context);
SINEW_API void sinew_set_assert_handler(sinew_assert_handler *handler, void *context);

/* ---- Memory allocation ------------------------------------------------------------------------- */

/* Memory hooks of one world or mesh. `allocate` returns NULL on failure; `alignment` is a power of two, at least 16.
 * Zero-filled hooks select the system's allocator. The hooks must outlive the object. Third-party libraries (AMD and
 * CAMD of SuiteSparse, jansson) and the C library (qsort) may allocate without the hooks. */
typedef struct sinew_allocator {
    void *(*allocate)(void *context, size_t size, size_t alignment);
    void (*release)(void *context, void *memory);
    void *context;
} sinew_allocator;

/* ---- Threads and tasks ------------------------------------------------------------------------ */

/* A task system of the embedding program, used instead of the library's threads. If it is zero-filled, the library
 * starts its own threads when there is work for several, and ends them with the last world or tree. With `start` and
 * `finish` set, the library starts no threads for this world. Results have the same bits in both cases.
 *
 * `start` requests task(data, 1) .. task(data, count - 1), count >= 2, each at most once: immediately or later,
 * concurrently or one after another, in any order, on any thread, also within `start` and `finish`. Meanwhile the
 * caller runs member 0, and finally all members that have not run, so missing calls are harmless. `start` returns a
 * handle (NULL is valid) that is passed to `finish`. `finish` returns when no call is running and none will follow;
 * meanwhile it may run other tasks of the program, including steps of other worlds.
 *
 * A started task runs to its end without waiting for other tasks of the same `start`. It calls none of these
 * functions, uses up to 512 KiB of stack, does not allocate, and runs with the caller's floating-point environment
 * (rounding, flushing of denormal numbers), which is restored afterwards. `start` and `finish` are called by the
 * thread that steps, prepares or measures the world, always in pairs. The functions and their context must outlive
 * the world. */
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
