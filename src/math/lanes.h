/* SPDX-License-Identifier: MIT
 *
 * lanes.h: a lane is SINEW_LANE_WIDTH reals that go through the same arithmetic, one per element.
 *
 * Kernel files (src/energy and src/math) are compiled once per instruction set with
 *     -DSINEW_LANE_WIDTH=W -DSINEW_LANE_SUFFIX=avx2|sse2|generic|scalar
 * and export their symbols through SINEW_LANE_SYMBOL, so that all variants live in one library and one is chosen
 * at run time. Width 1 is plain scalar code: the reference that tests compare the others with.
 *
 * Arithmetic operators work on lanes as on numbers. Comparisons go through lane_lt() and friends, which give a
 * lane_mask (all bits set or none, per element). No branch depends on one element alone: use lane_select.
 */
#ifndef SINEW_SRC_MATH_LANES_H
#define SINEW_SRC_MATH_LANES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "sinew/types.h"

#if !defined(SINEW_LANE_WIDTH) || !defined(SINEW_LANE_SUFFIX)
#error "lanes.h is for kernel files: build with SINEW_LANE_WIDTH and SINEW_LANE_SUFFIX"
#endif

#define SINEW_LANE_JOIN2(a, b)  a##_##b
#define SINEW_LANE_JOIN(a, b)   SINEW_LANE_JOIN2(a, b)
#define SINEW_LANE_SYMBOL(name) SINEW_LANE_JOIN(name, SINEW_LANE_SUFFIX)

#define LANES SINEW_LANE_WIDTH

#define LANE_TEXT2(a) #a
#define LANE_TEXT(a)  LANE_TEXT2(a)
#define LANE_NAME     LANE_TEXT(SINEW_LANE_SUFFIX) /* of the variant that is compiled, e.g. "avx2" */

/* Whether this processor has the instructions of the variant that is compiled. Runs on any processor of the
 * architecture: no lane is touched before it says yes. */
static inline bool lane_usable(void)
{
#if defined(__x86_64__) && defined(__AVX2__) && LANES > 1
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return true;
#endif
}

#ifdef SINEW_SINGLE
typedef int32_t lane_int;
#define LANE_EPSILON   1.1920929e-7f  /* distance from 1 to the next number */
#define LANE_TINY      1.1754944e-38f /* smallest normal number */
#define LANE_ROOT_TINY 1.0842022e-19f /* its root: what is shorter has no normal square */
#define LANE_HUGE      3.4028235e+38f
#else
typedef int64_t lane_int;
#define LANE_EPSILON   2.220446049250313e-16
#define LANE_TINY      2.2250738585072014e-308
#define LANE_ROOT_TINY 1.4916681462400413e-154
#define LANE_HUGE      1.7976931348623157e+308
#endif

#if LANES == 1
typedef sinew_real lane;
typedef lane_int lane_mask;
#else
typedef sinew_real lane __attribute__((vector_size(LANES * sizeof(sinew_real))));
typedef lane_int lane_mask __attribute__((vector_size(LANES * sizeof(sinew_real))));
#endif

/* Intrinsics only where the compiler does not find the instruction by itself. */
#if defined(__AVX2__) && LANES > 1
#include <immintrin.h>
#if defined(SINEW_SINGLE) && LANES == 8
#define LANE_AVX2_SINGLE 1
#elif !defined(SINEW_SINGLE) && LANES == 4
#define LANE_AVX2_DOUBLE 1
#endif
#endif

static inline lane lane_set(sinew_real a)
{
#if LANES == 1
    return a;
#else
    return a - (lane){0}; /* one broadcast; a loop over the elements becomes stores and a load that waits for them */
#endif
}

static inline lane lane_load(const sinew_real *p) /* p aligned to the lane */
{
    lane r;
    memcpy(&r, __builtin_assume_aligned(p, sizeof(lane)), sizeof r);
    return r;
}

static inline void lane_store(sinew_real *p, lane a)
{
    memcpy(__builtin_assume_aligned(p, sizeof(lane)), &a, sizeof a);
}

static inline sinew_real lane_get(lane a, int i)
{
#if LANES == 1
    (void)i;
    return a;
#else
    return a[i];
#endif
}

static inline lane lane_put(lane a, int i, sinew_real value)
{
#if LANES == 1
    (void)a;
    (void)i;
    return value;
#else
    a[i] = value;
    return a;
#endif
}

/* Four floats as doubles: one instruction where there is one, of which compilers make several. */
typedef float lane_four __attribute__((vector_size(4 * sizeof(float))));
typedef double lane_wide __attribute__((vector_size(4 * sizeof(double))));

static inline lane_wide lane_widen(lane_four a)
{
#if defined(__AVX2__) && LANES > 1
    return (lane_wide)_mm256_cvtps_pd((__m128)a);
#else
    return __builtin_convertvector(a, lane_wide);
#endif
}

#if LANES == 1
static inline lane_mask lane_lt(lane a, lane b)
{
    return -(lane_mask)(a < b);
}
static inline lane_mask lane_le(lane a, lane b)
{
    return -(lane_mask)(a <= b);
}
static inline lane_mask lane_eq(lane a, lane b)
{
    return -(lane_mask)(a == b);
}
static inline lane lane_select(lane_mask m, lane a, lane b)
{
    return m ? a : b;
}
static inline int lane_any(lane_mask m)
{
    return m != 0;
}
static inline lane lane_sqrt(lane a)
{
    return (lane)(sizeof(lane) == 4 ? sqrtf((float)a) : sqrt((double)a));
}
static inline lane lane_abs(lane a)
{
    return (lane)fabs((double)a);
}
#else
static inline lane_mask lane_lt(lane a, lane b)
{
    return (lane_mask)(a < b);
}
static inline lane_mask lane_le(lane a, lane b)
{
    return (lane_mask)(a <= b);
}
static inline lane_mask lane_eq(lane a, lane b)
{
    return (lane_mask)(a == b);
}

/* a where the mask is set, b elsewhere */
static inline lane lane_select(lane_mask m, lane a, lane b)
{
#if defined(LANE_AVX2_DOUBLE)
    return (lane)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)m);
#elif defined(LANE_AVX2_SINGLE)
    return (lane)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)m);
#else
    return (lane)(((lane_mask)a & m) | ((lane_mask)b & ~m));
#endif
}

static inline int lane_any(lane_mask m)
{
#if defined(LANE_AVX2_DOUBLE) || defined(LANE_AVX2_SINGLE)
    return !_mm256_testz_si256((__m256i)m, (__m256i)m);
#else
    lane_int any = 0;
    for (int i = 0; i < LANES; i++)
        any |= m[i];
    return any != 0;
#endif
}

static inline lane lane_sqrt(lane a)
{
#if defined(LANE_AVX2_DOUBLE)
    return (lane)_mm256_sqrt_pd((__m256d)a);
#elif defined(LANE_AVX2_SINGLE)
    return (lane)_mm256_sqrt_ps((__m256)a);
#else
    for (int i = 0; i < LANES; i++)
        a[i] = (sinew_real)(sizeof(sinew_real) == 4 ? sqrtf((float)a[i]) : sqrt((double)a[i]));
    return a;
#endif
}

static inline lane lane_abs(lane a)
{
    const lane sign = lane_set((sinew_real)-0.0);
    return (lane)((lane_mask)a & ~(lane_mask)sign);
}
#endif

/* a < b ? a : b and b < a ? a : b, the instructions' own definition: b where one is not a number */
static inline lane lane_min(lane a, lane b)
{
#if defined(LANE_AVX2_DOUBLE)
    return (lane)_mm256_min_pd((__m256d)a, (__m256d)b);
#elif defined(LANE_AVX2_SINGLE)
    return (lane)_mm256_min_ps((__m256)a, (__m256)b);
#else
    return lane_select(lane_lt(a, b), a, b);
#endif
}

static inline lane lane_max(lane a, lane b)
{
#if defined(LANE_AVX2_DOUBLE)
    return (lane)_mm256_max_pd((__m256d)a, (__m256d)b);
#elif defined(LANE_AVX2_SINGLE)
    return (lane)_mm256_max_ps((__m256)a, (__m256)b);
#else
    return lane_select(lane_lt(b, a), a, b);
#endif
}

/* Sum of the elements, in a fixed order. */
static inline sinew_real lane_sum(lane a)
{
    sinew_real sum = lane_get(a, 0);
    for (int i = 1; i < LANES; i++)
        sum += lane_get(a, i);
    return sum;
}

/* The natural logarithm has no vector instruction; elements one by one. */
static inline lane lane_log(lane a)
{
    for (int i = 0; i < LANES; i++)
        a = lane_put(a, i, (sinew_real)log((double)lane_get(a, i)));
    return a;
}

/* Cube roots likewise. */
static inline lane lane_cbrt(lane a)
{
    for (int i = 0; i < LANES; i++)
        a = lane_put(a, i, (sinew_real)cbrt((double)lane_get(a, i)));
    return a;
}

/* The angle of (x, y) in [-pi, pi], likewise. */
static inline lane lane_atan2(lane y, lane x)
{
    for (int i = 0; i < LANES; i++) {
        const sinew_real yi = lane_get(y, i), xi = lane_get(x, i);
        y = lane_put(
            y, i, (sinew_real)(sizeof(sinew_real) == 4 ? atan2f((float)yi, (float)xi) : atan2((double)yi, (double)xi)));
    }
    return y;
}

#endif
