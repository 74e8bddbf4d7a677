/* SPDX-License-Identifier: MIT
 *
 * choose_variant.c: which lane variant of the kernels this process uses, chosen once.
 * The best that the processor has, or the one that the environment variable SINEW_LANES names.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "energy/energy.h"

extern const sinew_lane_variant sinew_lane_variant_scalar;
#if defined(__x86_64__) && defined(SINEW_WITHOUT_SSE2)
extern const sinew_lane_variant sinew_lane_variant_avx2;
static const sinew_lane_variant *const variants[] = {&sinew_lane_variant_avx2, &sinew_lane_variant_scalar};
#elif defined(__x86_64__)
extern const sinew_lane_variant sinew_lane_variant_sse2;
extern const sinew_lane_variant sinew_lane_variant_avx2;
static const sinew_lane_variant *const variants[] = {&sinew_lane_variant_avx2, &sinew_lane_variant_sse2,
                                                     &sinew_lane_variant_scalar};
#else
extern const sinew_lane_variant sinew_lane_variant_generic;
static const sinew_lane_variant *const variants[] = {&sinew_lane_variant_generic, &sinew_lane_variant_scalar};
#endif
enum {
    VARIANT_COUNT = sizeof variants / sizeof variants[0]
};

const sinew_lane_variant *const *sinew_lane_variants(int32_t *count)
{
    *count = VARIANT_COUNT;
    return variants;
}

static const sinew_lane_variant *choose(void)
{
    const char *wanted = getenv("SINEW_LANES");
    for (int i = 0; wanted && i < VARIANT_COUNT; i++)
        if (strcmp(variants[i]->name, wanted) == 0 && variants[i]->usable())
            return variants[i];
    for (int i = 0; i < VARIANT_COUNT; i++)
        if (variants[i]->usable())
            return variants[i];
    return variants[VARIANT_COUNT - 1];
}

const sinew_lane_variant *sinew_lanes(void)
{
    /* Every thread that gets here first finds the same answer, so a race is harmless. */
    static _Atomic(const sinew_lane_variant *) chosen;
    const sinew_lane_variant *lanes = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (!lanes) {
        lanes = choose();
        atomic_store_explicit(&chosen, lanes, memory_order_relaxed);
    }
    return lanes;
}

const char *sinew_lanes_name(void)
{
    return sinew_lanes()->name;
}

int32_t sinew_lanes_width(void)
{
    return sinew_lanes()->width;
}
