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
#ifndef SINEW_LANES_H
#define SINEW_LANES_H

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

#ifdef SINEW_SINGLE
typedef int32_t lane_int;
#define LANE_EPSILON 1.1920929e-7f  /* distance from 1 to the next number */
#define LANE_TINY    1.1754944e-38f /* smallest normal number */
#define LANE_HUGE    3.4028235e+38f
#else
typedef int64_t lane_int;
#define LANE_EPSILON 2.220446049250313e-16
#define LANE_TINY    2.2250738585072014e-308
#define LANE_HUGE    1.7976931348623157e+308
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
    lane r;
    for (int i = 0; i < LANES; i++)
        r[i] = a;
    return r;
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

/* ---- Points in memory: x y z and one unused number, so that a point is one load --------------- */

/* A point is named by where it begins, four times its number: processors add that to an address for nothing. */

/* out = x[offset[0..W-1]] as three lanes. x is [..][4], aligned. */
static inline void lane_gather_point(const sinew_real *x, const int32_t *offset, lane out[3])
{
#if defined(LANE_AVX2_DOUBLE)
    __m256d a = _mm256_load_pd(x + (size_t)offset[0]), b = _mm256_load_pd(x + (size_t)offset[1]);
    __m256d c = _mm256_load_pd(x + (size_t)offset[2]), d = _mm256_load_pd(x + (size_t)offset[3]);
    __m256d ab_lo = _mm256_unpacklo_pd(a, b), ab_hi = _mm256_unpackhi_pd(a, b);
    __m256d cd_lo = _mm256_unpacklo_pd(c, d), cd_hi = _mm256_unpackhi_pd(c, d);
    out[0] = (lane)_mm256_permute2f128_pd(ab_lo, cd_lo, 0x20);
    out[1] = (lane)_mm256_permute2f128_pd(ab_hi, cd_hi, 0x20);
    out[2] = (lane)_mm256_permute2f128_pd(ab_lo, cd_lo, 0x31);
#elif defined(LANE_AVX2_SINGLE)
    __m256 r[4];
    for (int i = 0; i < 4; i++)
        r[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(x + (size_t)offset[i])),
                                    _mm_load_ps(x + (size_t)offset[i + 4]), 1);
    __m256 ab_lo = _mm256_unpacklo_ps(r[0], r[1]), ab_hi = _mm256_unpackhi_ps(r[0], r[1]);
    __m256 cd_lo = _mm256_unpacklo_ps(r[2], r[3]), cd_hi = _mm256_unpackhi_ps(r[2], r[3]);
    out[0] = (lane)_mm256_shuffle_ps(ab_lo, cd_lo, 0x44);
    out[1] = (lane)_mm256_shuffle_ps(ab_lo, cd_lo, 0xee);
    out[2] = (lane)_mm256_shuffle_ps(ab_hi, cd_hi, 0x44);
#else
    for (int c = 0; c < 3; c++) {
        out[c] = lane_set(x[(size_t)offset[0] + (size_t)c]);
        for (int i = 1; i < LANES; i++)
            out[c] = lane_put(out[c], i, x[(size_t)offset[i] + (size_t)c]);
    }
#endif
}

/* g[offset[i]] += f[i], element after element, so that one vertex may occur more than once. */
static inline void lane_scatter_point(sinew_real *g, const int32_t *offset, const lane f[3])
{
#if defined(LANE_AVX2_DOUBLE)
    __m256d zero = _mm256_setzero_pd();
    __m256d xy_lo = _mm256_unpacklo_pd((__m256d)f[0], (__m256d)f[1]);
    __m256d xy_hi = _mm256_unpackhi_pd((__m256d)f[0], (__m256d)f[1]);
    __m256d z_lo = _mm256_unpacklo_pd((__m256d)f[2], zero), z_hi = _mm256_unpackhi_pd((__m256d)f[2], zero);
    __m256d r[4] = {_mm256_permute2f128_pd(xy_lo, z_lo, 0x20), _mm256_permute2f128_pd(xy_hi, z_hi, 0x20),
                    _mm256_permute2f128_pd(xy_lo, z_lo, 0x31), _mm256_permute2f128_pd(xy_hi, z_hi, 0x31)};
    for (int i = 0; i < 4; i++) {
        double *p = g + (size_t)offset[i];
        _mm256_store_pd(p, _mm256_add_pd(_mm256_load_pd(p), r[i]));
    }
#elif defined(LANE_AVX2_SINGLE)
    __m256 zero = _mm256_setzero_ps();
    __m256 xy_lo = _mm256_unpacklo_ps((__m256)f[0], (__m256)f[1]);
    __m256 xy_hi = _mm256_unpackhi_ps((__m256)f[0], (__m256)f[1]);
    __m256 z_lo = _mm256_unpacklo_ps((__m256)f[2], zero), z_hi = _mm256_unpackhi_ps((__m256)f[2], zero);
    __m256 r[4] = {_mm256_shuffle_ps(xy_lo, z_lo, 0x44), _mm256_shuffle_ps(xy_lo, z_lo, 0xee),
                   _mm256_shuffle_ps(xy_hi, z_hi, 0x44), _mm256_shuffle_ps(xy_hi, z_hi, 0xee)};
    for (int i = 0; i < 8; i++) {
        float *p = g + (size_t)offset[i];
        __m128 part = i < 4 ? _mm256_castps256_ps128(r[i & 3]) : _mm256_extractf128_ps(r[i & 3], 1);
        _mm_store_ps(p, _mm_add_ps(_mm_load_ps(p), part));
    }
#else
    for (int i = 0; i < LANES; i++)
        for (int c = 0; c < 3; c++)
            g[(size_t)offset[i] + (size_t)c] += lane_get(f[c], i);
#endif
}

/* What a tet's forces are: g[vertex a] += f[a - 1] for a = 1, 2, 3, and minus their sum to vertex 0. `offset` is
 * [4][LANES], f[a] three lanes. The sum is taken of points as they are written, which saves turning it round. */
static inline void lane_scatter_balanced(sinew_real *g, const int32_t *offset, const lane f[3][3])
{
#if defined(LANE_AVX2_DOUBLE)
    const __m256d zero = _mm256_setzero_pd();
    __m256d r[3][4];
    for (int a = 0; a < 3; a++) {
        __m256d xy_lo = _mm256_unpacklo_pd((__m256d)f[a][0], (__m256d)f[a][1]);
        __m256d xy_hi = _mm256_unpackhi_pd((__m256d)f[a][0], (__m256d)f[a][1]);
        __m256d z_lo = _mm256_unpacklo_pd((__m256d)f[a][2], zero), z_hi = _mm256_unpackhi_pd((__m256d)f[a][2], zero);
        r[a][0] = _mm256_permute2f128_pd(xy_lo, z_lo, 0x20);
        r[a][1] = _mm256_permute2f128_pd(xy_hi, z_hi, 0x20);
        r[a][2] = _mm256_permute2f128_pd(xy_lo, z_lo, 0x31);
        r[a][3] = _mm256_permute2f128_pd(xy_hi, z_hi, 0x31);
    }
    for (int i = 0; i < 4; i++) {
        double *p = g + (size_t)offset[i];
        _mm256_store_pd(p, _mm256_sub_pd(_mm256_load_pd(p), _mm256_add_pd(_mm256_add_pd(r[0][i], r[1][i]), r[2][i])));
        for (int a = 0; a < 3; a++) {
            p = g + (size_t)offset[4 * (a + 1) + i];
            _mm256_store_pd(p, _mm256_add_pd(_mm256_load_pd(p), r[a][i]));
        }
    }
#else
    lane f0[3];
    for (int i = 0; i < 3; i++)
        f0[i] = -(f[0][i] + f[1][i] + f[2][i]);
    lane_scatter_point(g, offset, f0);
    for (int a = 0; a < 3; a++)
        lane_scatter_point(g, offset + (a + 1) * LANES, f[a]);
#endif
}

/* The same with all four numbers of a point. */
static inline void lane_gather_four(const sinew_real *x, const int32_t *offset, lane out[4])
{
#if defined(LANE_AVX2_DOUBLE)
    __m256d a = _mm256_load_pd(x + (size_t)offset[0]), b = _mm256_load_pd(x + (size_t)offset[1]);
    __m256d c = _mm256_load_pd(x + (size_t)offset[2]), d = _mm256_load_pd(x + (size_t)offset[3]);
    __m256d ab_lo = _mm256_unpacklo_pd(a, b), ab_hi = _mm256_unpackhi_pd(a, b);
    __m256d cd_lo = _mm256_unpacklo_pd(c, d), cd_hi = _mm256_unpackhi_pd(c, d);
    out[0] = (lane)_mm256_permute2f128_pd(ab_lo, cd_lo, 0x20);
    out[1] = (lane)_mm256_permute2f128_pd(ab_hi, cd_hi, 0x20);
    out[2] = (lane)_mm256_permute2f128_pd(ab_lo, cd_lo, 0x31);
    out[3] = (lane)_mm256_permute2f128_pd(ab_hi, cd_hi, 0x31);
#elif defined(LANE_AVX2_SINGLE)
    __m256 r[4];
    for (int i = 0; i < 4; i++)
        r[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(x + (size_t)offset[i])),
                                    _mm_load_ps(x + (size_t)offset[i + 4]), 1);
    __m256 ab_lo = _mm256_unpacklo_ps(r[0], r[1]), ab_hi = _mm256_unpackhi_ps(r[0], r[1]);
    __m256 cd_lo = _mm256_unpacklo_ps(r[2], r[3]), cd_hi = _mm256_unpackhi_ps(r[2], r[3]);
    out[0] = (lane)_mm256_shuffle_ps(ab_lo, cd_lo, 0x44);
    out[1] = (lane)_mm256_shuffle_ps(ab_lo, cd_lo, 0xee);
    out[2] = (lane)_mm256_shuffle_ps(ab_hi, cd_hi, 0x44);
    out[3] = (lane)_mm256_shuffle_ps(ab_hi, cd_hi, 0xee);
#else
    for (int c = 0; c < 4; c++) {
        out[c] = lane_set(0);
        for (int i = 0; i < LANES; i++)
            out[c] = lane_put(out[c], i, x[(size_t)offset[i] + (size_t)c]);
    }
#endif
}

/* x[offset[i]] = f[i], all four numbers; the vertices are different from each other. */
static inline void lane_store_four(sinew_real *x, const int32_t *offset, const lane f[4])
{
#if defined(LANE_AVX2_DOUBLE)
    __m256d xy_lo = _mm256_unpacklo_pd((__m256d)f[0], (__m256d)f[1]);
    __m256d xy_hi = _mm256_unpackhi_pd((__m256d)f[0], (__m256d)f[1]);
    __m256d zw_lo = _mm256_unpacklo_pd((__m256d)f[2], (__m256d)f[3]);
    __m256d zw_hi = _mm256_unpackhi_pd((__m256d)f[2], (__m256d)f[3]);
    _mm256_store_pd(x + (size_t)offset[0], _mm256_permute2f128_pd(xy_lo, zw_lo, 0x20));
    _mm256_store_pd(x + (size_t)offset[1], _mm256_permute2f128_pd(xy_hi, zw_hi, 0x20));
    _mm256_store_pd(x + (size_t)offset[2], _mm256_permute2f128_pd(xy_lo, zw_lo, 0x31));
    _mm256_store_pd(x + (size_t)offset[3], _mm256_permute2f128_pd(xy_hi, zw_hi, 0x31));
#elif defined(LANE_AVX2_SINGLE)
    __m256 xy_lo = _mm256_unpacklo_ps((__m256)f[0], (__m256)f[1]);
    __m256 xy_hi = _mm256_unpackhi_ps((__m256)f[0], (__m256)f[1]);
    __m256 zw_lo = _mm256_unpacklo_ps((__m256)f[2], (__m256)f[3]);
    __m256 zw_hi = _mm256_unpackhi_ps((__m256)f[2], (__m256)f[3]);
    __m256 r[4] = {_mm256_shuffle_ps(xy_lo, zw_lo, 0x44), _mm256_shuffle_ps(xy_lo, zw_lo, 0xee),
                   _mm256_shuffle_ps(xy_hi, zw_hi, 0x44), _mm256_shuffle_ps(xy_hi, zw_hi, 0xee)};
    for (int i = 0; i < 4; i++) {
        _mm_store_ps(x + (size_t)offset[i], _mm256_castps256_ps128(r[i]));
        _mm_store_ps(x + (size_t)offset[i + 4], _mm256_extractf128_ps(r[i], 1));
    }
#else
    for (int i = 0; i < LANES; i++)
        for (int c = 0; c < 4; c++)
            x[(size_t)offset[i] + (size_t)c] = lane_get(f[c], i);
#endif
}

#endif
