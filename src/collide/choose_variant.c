/* SPDX-License-Identifier: MIT
 *
 * kernel_choice.c: the lane variant that searches use: the best that the processor has, or the one that the environment
 * variable SINEW_LANES names. Findings are the same.
 */
#include <stdlib.h>
#include <string.h>

#include "collide/broad_phase_search.h"

extern const sinew_search_kernel sinew_search_kernel_scalar;
#if defined(__x86_64__) && defined(SINEW_WITHOUT_SSE2)
extern const sinew_search_kernel sinew_search_kernel_avx2;
static const sinew_search_kernel *const kernels[] = {&sinew_search_kernel_avx2, &sinew_search_kernel_scalar};
#elif defined(__x86_64__)
extern const sinew_search_kernel sinew_search_kernel_sse2;
extern const sinew_search_kernel sinew_search_kernel_avx2;
static const sinew_search_kernel *const kernels[] = {&sinew_search_kernel_avx2, &sinew_search_kernel_sse2,
                                                     &sinew_search_kernel_scalar};
#else
extern const sinew_search_kernel sinew_search_kernel_generic;
static const sinew_search_kernel *const kernels[] = {&sinew_search_kernel_generic, &sinew_search_kernel_scalar};
#endif
enum {
    KERNEL_COUNT = sizeof kernels / sizeof kernels[0]
};

const sinew_search_kernel *const *sinew_search_kernels(int32_t *count)
{
    *count = KERNEL_COUNT;
    return kernels;
}

/* Asked once a detector, so not kept. */
const sinew_search_kernel *sinew_search_kernel_chosen(void)
{
    const char *wanted = getenv("SINEW_LANES");
    const sinew_search_kernel *best = NULL;
    for (int i = KERNEL_COUNT - 1; i >= 0; i--) {
        if (!kernels[i]->usable())
            continue;
        best = kernels[i];
        if (wanted && strcmp(best->name, wanted) == 0)
            return best;
    }
    return best;
}
