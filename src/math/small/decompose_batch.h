/* SPDX-License-Identifier: MIT
 *
 * decompose_batch.h: the decompositions of every lane variant, over plain arrays: the door for tests and benchmarks.
 * Kernels include decompose.h instead.
 *
 * Arrays are [group][entries][width], aligned to SINEW_ALIGNMENT, entries as in decompose.h. Call only what is usable()
 * on this processor.
 */
#ifndef SINEW_SRC_MATH_SMALL_DECOMPOSE_BATCH_H
#define SINEW_SRC_MATH_SMALL_DECOMPOSE_BATCH_H

#include "sinew/types.h"

typedef struct sinew_decompose_batch {
    const char *name;
    int32_t width;
    bool (*usable)(void);
    void (*svd3)(size_t group_count, const sinew_real *F, sinew_real *U, sinew_real *sigma, sinew_real *V);
    void (*polar3)(size_t group_count, const sinew_real *F, sinew_real *R);
    void (*svd32)(size_t group_count, const sinew_real *F, sinew_real *U, sinew_real *sigma, sinew_real *V);
    void (*polar32)(size_t group_count, const sinew_real *F, sinew_real *R);
    void (*eigen3)(size_t group_count, const sinew_real *a, sinew_real *w, sinew_real *Q);
} sinew_decompose_batch;

extern const sinew_decompose_batch sinew_decompose_batch_scalar;
#if defined(__x86_64__)
extern const sinew_decompose_batch sinew_decompose_batch_sse2; /* not there in builds WITHOUT_SSE2 */
extern const sinew_decompose_batch sinew_decompose_batch_avx2;
#else
extern const sinew_decompose_batch sinew_decompose_batch_generic;
#endif

enum {
    SINEW_DECOMPOSE_VARIANTS = 3
};

/* Fills in the variants of this build that the processor has, best first, and returns their number. */
static inline int32_t sinew_decompose_variants(const sinew_decompose_batch *out[SINEW_DECOMPOSE_VARIANTS])
{
    const sinew_decompose_batch *const all[] = {
#if defined(__x86_64__)
        &sinew_decompose_batch_avx2,
#if !defined(SINEW_WITHOUT_SSE2)
        &sinew_decompose_batch_sse2,
#endif
#else
        &sinew_decompose_batch_generic,
#endif
        &sinew_decompose_batch_scalar
    };
    int32_t count = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i]->usable())
            out[count++] = all[i];
    return count;
}

#endif
