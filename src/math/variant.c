/* SPDX-License-Identifier: MIT
 *
 * variant.c: chooses the SIMD variant of the process (variant.h). Compiled without variant flags, because it runs
 * before the processor's features are known.
 */
#include "math/variant.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Index of the SIMD variant in use; SINEW_VARIANT_COUNT: not chosen yet. */
static _Atomic int32_t chosen = SINEW_VARIANT_COUNT;

#if defined(__x86_64__)
static const char *const names[SINEW_VARIANT_COUNT] = {"avx2", "scalar"};

int32_t sinew_variant_best(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 0 : 1;
}
#else
static const char *const names[SINEW_VARIANT_COUNT] = {"generic", "scalar"};

int32_t sinew_variant_best(void)
{
    return 0;
}
#endif

static int32_t variant_choose(void)
{
    const char *name = getenv("SINEW_SIMD");
    const int32_t best = sinew_variant_best();
    for (int32_t v = best; name && v < SINEW_VARIANT_COUNT; v++)
        if (strcmp(names[v], name) == 0)
            return v;
    return best;
}

int32_t sinew_variant_chosen(void)
{
    int32_t variant = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (variant == SINEW_VARIANT_COUNT) {
        /* Threads that choose the variant at the same time compute the same index, so the race is harmless. */
        variant = variant_choose();
        atomic_store_explicit(&chosen, variant, memory_order_relaxed);
    }
    return variant;
}

void sinew_variant_use(int32_t variant)
{
    atomic_store_explicit(&chosen, variant, memory_order_relaxed);
}
