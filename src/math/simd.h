/* SPDX-License-Identifier: MIT
 *
 * simd.h: a SIMD vector (`wide`) is SINEW_SIMD_WIDTH reals that go through the same arithmetic, one per element.
 *
 * Kernel files are compiled once per instruction set with
 *     -DSINEW_SIMD_WIDTH=W -DSINEW_SIMD_SUFFIX=avx2|generic|scalar
 * and export their symbols through SINEW_SIMD_SYMBOL, so that all variants live in one library and one variant is
 * chosen at run time (variant.h). Width 1 is plain scalar code: the reference that tests compare the others with.
 *
 * Arithmetic operators work on SIMD vectors as on numbers. Comparisons use wide_lt(), wide_le() and wide_eq(), which
 * give a wide_mask (all bits set or none, per element). No branch depends on one element alone: use wide_select().
 */
#ifndef SINEW_SRC_MATH_SIMD_H
#define SINEW_SRC_MATH_SIMD_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "sinew/types.h"

#if !defined(SINEW_SIMD_WIDTH) || !defined(SINEW_SIMD_SUFFIX)
#error "simd.h is for kernel files: build with SINEW_SIMD_WIDTH and SINEW_SIMD_SUFFIX"
#endif

#define SINEW_SIMD_JOIN2(a, b)  a##_##b
#define SINEW_SIMD_JOIN(a, b)   SINEW_SIMD_JOIN2(a, b)
#define SINEW_SIMD_SYMBOL(name) SINEW_SIMD_JOIN(name, SINEW_SIMD_SUFFIX)

#define SIMD_WIDTH SINEW_SIMD_WIDTH

#define SIMD_TEXT2(a) #a
#define SIMD_TEXT(a)  SIMD_TEXT2(a)
#define SIMD_NAME     SIMD_TEXT(SINEW_SIMD_SUFFIX) /* name of the compiled variant, e.g. "avx2" */

#ifdef SINEW_SINGLE
typedef int32_t wide_int;
#define WIDE_EPSILON 1.1920929e-7f  /* machine epsilon: distance from 1 to the next number */
#define WIDE_TINY    1.1754944e-38f /* smallest positive normal number of the precision */
/* square root of WIDE_TINY: the square of a shorter length is not a normal number */
#define WIDE_ROOT_TINY 1.0842022e-19f
#define WIDE_HUGE      3.4028235e+38f
#else
typedef int64_t wide_int;
#define WIDE_EPSILON   2.220446049250313e-16
#define WIDE_TINY      2.2250738585072014e-308
#define WIDE_ROOT_TINY 1.4916681462400413e-154
#define WIDE_HUGE      1.7976931348623157e+308
#endif

#if SIMD_WIDTH == 1
typedef sinew_real wide;
typedef wide_int wide_mask;
#else
typedef sinew_real wide __attribute__((vector_size(SIMD_WIDTH * sizeof(sinew_real))));
typedef wide_int wide_mask __attribute__((vector_size(SIMD_WIDTH * sizeof(sinew_real))));
#endif

/* Intrinsics are used only where the compiler does not find the instruction by itself. */
#if defined(__AVX2__) && SIMD_WIDTH > 1
#include <immintrin.h>
#if defined(SINEW_SINGLE) && SIMD_WIDTH == 8
#define WIDE_AVX2_SINGLE 1
#elif !defined(SINEW_SINGLE) && SIMD_WIDTH == 4
#define WIDE_AVX2_DOUBLE 1
#endif
#endif

static inline wide wide_set(sinew_real a)
{
#if SIMD_WIDTH == 1
    return a;
#else
    /* one broadcast instruction; a loop over the elements would become stores and a dependent load */
    return a - (wide){0};
#endif
}

static inline wide wide_load(const sinew_real *p) /* p must be aligned to the size of a SIMD vector */
{
    wide r;
    memcpy(&r, __builtin_assume_aligned(p, sizeof(wide)), sizeof r);
    return r;
}

static inline void wide_store(sinew_real *p, wide a)
{
    memcpy(__builtin_assume_aligned(p, sizeof(wide)), &a, sizeof a);
}

static inline sinew_real wide_get(wide a, int i)
{
#if SIMD_WIDTH == 1
    (void)i;
    return a;
#else
    return a[i];
#endif
}

static inline wide wide_put(wide a, int i, sinew_real value)
{
#if SIMD_WIDTH == 1
    (void)a;
    (void)i;
    return value;
#else
    a[i] = value;
    return a;
#endif
}

/* Converts four floats to doubles, in one instruction if the processor has one; compilers emit several. */
typedef float wide_float4 __attribute__((vector_size(4 * sizeof(float))));
typedef double wide_double __attribute__((vector_size(4 * sizeof(double))));

static inline wide_double wide_to_double(wide_float4 a)
{
#if defined(__AVX2__) && SIMD_WIDTH > 1
    return (wide_double)_mm256_cvtps_pd((__m128)a);
#else
    return __builtin_convertvector(a, wide_double);
#endif
}

#if SIMD_WIDTH == 1
static inline wide_mask wide_lt(wide a, wide b)
{
    return -(wide_mask)(a < b);
}
static inline wide_mask wide_le(wide a, wide b)
{
    return -(wide_mask)(a <= b);
}
static inline wide_mask wide_eq(wide a, wide b)
{
    return -(wide_mask)(a == b);
}
static inline wide wide_select(wide_mask m, wide a, wide b)
{
    return m ? a : b;
}
static inline int wide_any(wide_mask m)
{
    return m != 0;
}
static inline wide wide_sqrt(wide a)
{
    return (wide)(sizeof(wide) == 4 ? sqrtf((float)a) : sqrt((double)a));
}
static inline wide wide_abs(wide a)
{
    return (wide)fabs((double)a);
}
#else
static inline wide_mask wide_lt(wide a, wide b)
{
    return (wide_mask)(a < b);
}
static inline wide_mask wide_le(wide a, wide b)
{
    return (wide_mask)(a <= b);
}
static inline wide_mask wide_eq(wide a, wide b)
{
    return (wide_mask)(a == b);
}

/* Elementwise selection: a where the mask is set, b elsewhere. */
static inline wide wide_select(wide_mask m, wide a, wide b)
{
#if defined(WIDE_AVX2_DOUBLE)
    return (wide)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)m);
#elif defined(WIDE_AVX2_SINGLE)
    return (wide)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)m);
#else
    return (wide)(((wide_mask)a & m) | ((wide_mask)b & ~m));
#endif
}

static inline int wide_any(wide_mask m)
{
#if defined(WIDE_AVX2_DOUBLE) || defined(WIDE_AVX2_SINGLE)
    return !_mm256_testz_si256((__m256i)m, (__m256i)m);
#else
    wide_int any = 0;
    for (int i = 0; i < SIMD_WIDTH; i++)
        any |= m[i];
    return any != 0;
#endif
}

static inline wide wide_sqrt(wide a)
{
#if defined(WIDE_AVX2_DOUBLE)
    return (wide)_mm256_sqrt_pd((__m256d)a);
#elif defined(WIDE_AVX2_SINGLE)
    return (wide)_mm256_sqrt_ps((__m256)a);
#else
    for (int i = 0; i < SIMD_WIDTH; i++)
        a[i] = (sinew_real)(sizeof(sinew_real) == 4 ? sqrtf((float)a[i]) : sqrt((double)a[i]));
    return a;
#endif
}

static inline wide wide_abs(wide a)
{
    const wide sign = wide_set((sinew_real)-0.0);
    return (wide)((wide_mask)a & ~(wide_mask)sign);
}
#endif

/* wide_min: a < b ? a : b; wide_max: b < a ? a : b. Like the processor's instructions, they return b if either is
 * NaN. */
static inline wide wide_min(wide a, wide b)
{
#if defined(WIDE_AVX2_DOUBLE)
    return (wide)_mm256_min_pd((__m256d)a, (__m256d)b);
#elif defined(WIDE_AVX2_SINGLE)
    return (wide)_mm256_min_ps((__m256)a, (__m256)b);
#else
    return wide_select(wide_lt(a, b), a, b);
#endif
}

static inline wide wide_max(wide a, wide b)
{
#if defined(WIDE_AVX2_DOUBLE)
    return (wide)_mm256_max_pd((__m256d)a, (__m256d)b);
#elif defined(WIDE_AVX2_SINGLE)
    return (wide)_mm256_max_ps((__m256)a, (__m256)b);
#else
    return wide_select(wide_lt(b, a), a, b);
#endif
}

/* Sum of the elements of a SIMD vector, in a fixed order. */
static inline sinew_real wide_sum(wide a)
{
    sinew_real sum = wide_get(a, 0);
    for (int i = 1; i < SIMD_WIDTH; i++)
        sum += wide_get(a, i);
    return sum;
}

/* Natural logarithm of each element of a SIMD vector, one by one: there is no vector instruction. */
static inline wide wide_log(wide a)
{
    for (int i = 0; i < SIMD_WIDTH; i++)
        a = wide_put(a, i, (sinew_real)log((double)wide_get(a, i)));
    return a;
}

/* Cube root of each element of a SIMD vector, one by one. */
static inline wide wide_cbrt(wide a)
{
    for (int i = 0; i < SIMD_WIDTH; i++)
        a = wide_put(a, i, (sinew_real)cbrt((double)wide_get(a, i)));
    return a;
}

/* The angle of (x, y) in [-pi, pi], rad, for each element of two SIMD vectors, one by one. */
static inline wide wide_atan2(wide y, wide x)
{
    for (int i = 0; i < SIMD_WIDTH; i++) {
        const sinew_real yi = wide_get(y, i), xi = wide_get(x, i);
        y = wide_put(
            y, i, (sinew_real)(sizeof(sinew_real) == 4 ? atan2f((float)yi, (float)xi) : atan2((double)yi, (double)xi)));
    }
    return y;
}

#endif
