/* SPDX-License-Identifier: MIT
 *
 * base.h: memory through a caller's hooks, errors as one line of text, time, and the assertion hook. The lowest layer
 * of the library: it includes the public types only.
 */
#ifndef SINEW_SRC_BASE_BASE_H
#define SINEW_SRC_BASE_BASE_H

#include <stdarg.h>

#include "sinew/types.h"

#define SINEW_ALIGNMENT 64 /* bytes: alignment of every block; a cache line, which also fits any SIMD vector */

/* Allocation functions return NULL if the hook fails or the size overflows. Size 0 gives a valid block. */
/* Returns a new block of count * size bytes, uninitialised. */
void *sinew_allocate(const sinew_allocator *allocator, size_t count, size_t size);
/* Returns a new block of count * size bytes, zeroed. */
void *sinew_allocate_zero(const sinew_allocator *allocator, size_t count, size_t size);
/* Returns a new block of `count` elements of `size` bytes that begins with the first `used` elements of the old block,
 * and frees the old block. NULL on failure: the old block stays valid. */
void *sinew_reallocate(const sinew_allocator *allocator, void *old, size_t used, size_t count, size_t size);
/* Reserves `count` items of `size` bytes in the array at `slot` (a pointer to the pointer), whose capacity is
 * *capacity bytes; growing discards the contents. Later growth adds spare capacity, so arrays that are refilled
 * often soon need no more memory. Returns false if allocation fails; the old array is then kept. */
bool sinew_reserve(const sinew_allocator *allocator, void *slot, size_t *capacity, size_t count, size_t size);
/* sinew_reserve() with spare capacity also in the first allocation, for arrays whose size varies. */
bool sinew_reserve_spare(const sinew_allocator *allocator, void *slot, size_t *capacity, size_t count, size_t size);
void sinew_release(const sinew_allocator *allocator, void *memory); /* frees the memory; NULL has no effect */
/* Returns a copy of the given allocator, or the system's allocator if it is NULL or incomplete. */
sinew_allocator sinew_allocator_or_system(const sinew_allocator *allocator);

/* Sets the status and the formatted text of `error` (which may be NULL) and returns the status. A longer text is
 * truncated. */
sinew_status sinew_fail(sinew_error *error, sinew_status status, const char *format, ...) SINEW_PRINTF(3, 4);
sinew_status sinew_fail_memory(sinew_error *error, const char *what);
void sinew_error_clear(sinew_error *error);

/* Bytes that this process may still allocate: the system's available memory, or less under a control-group or
 * address-space limit. Infinite if the system does not report it. */
double sinew_memory_available(void);

/* Time of the monotonic wall clock, in s. */
double sinew_seconds(void);

/* SINEW_ASSERT calls the assertion hook if the condition fails. Its value is the condition, so callers can return. */
/* Calls the assertion hook for a failed condition; always returns false. */
bool sinew_assert_failed(const char *condition, const char *file, int line);
#define SINEW_ASSERT(condition) ((condition) || sinew_assert_failed(#condition, __FILE__, __LINE__))

/* Cookies mark a def struct as filled by its default function, so create calls can reject uninitialised memory. One
 * value per def type. */
#define SINEW_COOKIE_MESH         0x534d4553u
#define SINEW_COOKIE_BOX          0x424f5853u
#define SINEW_COOKIE_BEAM         0x42454153u
#define SINEW_COOKIE_ROUND        0x524f5553u
#define SINEW_COOKIE_CLOTH        0x434c4f53u
#define SINEW_COOKIE_ROPE         0x524f5053u
#define SINEW_COOKIE_COIL         0x434f4953u
#define SINEW_COOKIE_WORLD        0x574f5253u
#define SINEW_COOKIE_SOLVER       0x534f4c53u
#define SINEW_COOKIE_BODY         0x424f4453u
#define SINEW_COOKIE_ENERGY       0x454e4553u
#define SINEW_COOKIE_PIN          0x50494e53u
#define SINEW_COOKIE_CLAMP        0x434c4d53u
#define SINEW_COOKIE_POINTS       0x504f4953u
#define SINEW_COOKIE_TEAR         0x54454153u
#define SINEW_COOKIE_ATTACH       0x41545453u
#define SINEW_COOKIE_SCENE        0x53434e53u
#define SINEW_COOKIE_CACHE        0x43414353u
#define SINEW_COOKIE_REPLAY       0x52504c53u
#define SINEW_COOKIE_SKIN         0x534b4953u
#define SINEW_COOKIE_EMBEDDING    0x52494453u
#define SINEW_COOKIE_FILL         0x46494c53u
#define SINEW_COOKIE_TREE         0x54524553u
#define SINEW_COOKIE_LOAD         0x4c4f4153u
#define SINEW_COOKIE_CONTACT      0x434f4e53u
#define SINEW_COOKIE_COLLIDER     0x434f4c53u
#define SINEW_COOKIE_BODY_CONTACT 0x42434f53u

#endif
