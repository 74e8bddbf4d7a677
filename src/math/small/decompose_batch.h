/* SPDX-License-Identifier: MIT
 *
 * decompose_batch.h: the decompositions of every SIMD variant over plain arrays, for files that are not compiled once
 * per variant, and for tests. Kernels include decompose.h instead.
 *
 * Arrays are [group][entries][width], aligned to SINEW_ALIGNMENT, entries as in decompose.h.
 */
#ifndef SINEW_SRC_MATH_SMALL_DECOMPOSE_BATCH_H
#define SINEW_SRC_MATH_SMALL_DECOMPOSE_BATCH_H

#include "sinew/types.h"

#include "math/variant.h"

typedef struct sinew_decompose_batch {
    const char *name;
    int32_t width;
    void (*svd3)(size_t group_count, const sinew_real *F, sinew_real *U, sinew_real *sigma, sinew_real *V);
    void (*polar3)(size_t group_count, const sinew_real *F, sinew_real *R);
    void (*svd32)(size_t group_count, const sinew_real *F, sinew_real *U, sinew_real *sigma, sinew_real *V);
    void (*polar32)(size_t group_count, const sinew_real *F, sinew_real *R);
    void (*eigen3)(size_t group_count, const sinew_real *a, sinew_real *w, sinew_real *Q);
} sinew_decompose_batch;

SINEW_VARIANT_TABLE(sinew_decompose_batch, sinew_decompose_batch);

/* The SIMD variants of this build that the processor supports, best first; *count receives their number. */
static inline const sinew_decompose_batch *const *sinew_decompose_variants(int32_t *count)
{
    const int32_t best = sinew_variant_best();
    *count = SINEW_VARIANT_COUNT - best;
    return sinew_decompose_batch_table + best;
}

#endif
