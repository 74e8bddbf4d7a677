/* SPDX-License-Identifier: MIT
 *
 * variant.h: the SIMD variants that kernel files are compiled for, and the one that this process uses.
 *
 * A table of kernels has one entry per variant, best first:
 *
 *     SINEW_VARIANT_TABLE(sinew_tree_kernel, sinew_tree_kernel);
 *
 * declares the objects sinew_tree_kernel_<variant> and defines the static array sinew_tree_kernel_table of pointers to
 * them. The variant is chosen once per process: the best that the processor supports, or the supported one that the
 * environment variable SINEW_SIMD names. Code that makes the choice is compiled once, kernel files (simd.h) once per
 * variant.
 */
#ifndef SINEW_SRC_MATH_VARIANT_H
#define SINEW_SRC_MATH_VARIANT_H

#include <stdint.h>

enum {
    SINEW_VARIANT_COUNT = 2
};

#if defined(__x86_64__)
#define SINEW_VARIANT_WIDE(name) name##_avx2
#else
#define SINEW_VARIANT_WIDE(name) name##_generic
#endif

#define SINEW_VARIANT_TABLE(type, name)                                                                                \
    extern const type SINEW_VARIANT_WIDE(name), name##_scalar;                                                         \
    static const type *const name##_table[SINEW_VARIANT_COUNT] = {&SINEW_VARIANT_WIDE(name), &name##_scalar}

/* Index of the best SIMD variant that the processor supports, in every kernel table; the processor supports all later
 * ones, too. */
int32_t sinew_variant_best(void);

/* Index of the SIMD variant that this process uses, in every kernel table. */
int32_t sinew_variant_chosen(void);

/* Replaces the process's SIMD variant for all objects that are created afterwards, so that tests can compare
 * variants. */
void sinew_variant_use(int32_t variant);

#endif
