/* SPDX-License-Identifier: MIT
 *
 * points.h: gathers and scatters SIMD_WIDTH points at once. A point is x y z and a fourth number, so that one load
 * reads it.
 *
 * A point is given by its offset in the array, four times its index, which saves a multiplication per address.
 *
 * Points are loaded as stored and transposed, four by four, into SIMD vectors of x, of y and of z; stores transpose
 * back. Sums and differences of points are computed before or after the transposition, where this leaves fewer points
 * to transpose.
 */
#ifndef SINEW_SRC_MATH_POINTS_H
#define SINEW_SRC_MATH_POINTS_H

#include "math/simd.h"

#if defined(WIDE_AVX2_DOUBLE) || defined(WIDE_AVX2_SINGLE)
#define WIDE_POINTS 1

/* Loads the SIMD_WIDTH points of a group into four SIMD vectors. Double: r[i] is point i. Single: r[i] is point i and,
 * in its upper half, point i + 4. */
static inline void points_load(const sinew_real *x, const int32_t *offset, wide r[4])
{
    for (int i = 0; i < 4; i++) {
        const sinew_real *p = x + (size_t)offset[i];
#ifdef WIDE_AVX2_DOUBLE
        r[i] = (wide)_mm256_load_pd(p);
#else
        r[i] = (wide)_mm256_blend_ps(_mm256_castps128_ps256(_mm_load_ps(p)),
                                     _mm256_broadcast_ps((const __m128 *)(x + (size_t)offset[i + 4])), 0xf0);
#endif
    }
}

/* Stores points: x[offset[i]] = r[i]. The first point is written last, so its value wins where padding repeats it. */
static inline void points_store(sinew_real *x, const int32_t *offset, const wide r[4])
{
    for (int i = 3; i >= 0; i--) {
#ifdef WIDE_AVX2_DOUBLE
        _mm256_store_pd(x + (size_t)offset[i], (__m256d)r[i]);
#else
        _mm_store_ps(x + (size_t)offset[i + 4], _mm256_extractf128_ps((__m256)r[i], 1));
        _mm_store_ps(x + (size_t)offset[i], _mm256_castps256_ps128((__m256)r[i]));
#endif
    }
}

/* Adds points: x[offset[i]] += r[i], one point after another, so that a vertex may occur more than once. */
static inline void points_add(sinew_real *x, const int32_t *offset, const wide r[4])
{
#ifdef WIDE_AVX2_DOUBLE
    for (int i = 0; i < 4; i++) {
        double *p = x + (size_t)offset[i];
        _mm256_store_pd(p, _mm256_add_pd((__m256d)r[i], _mm256_load_pd(p)));
    }
#else
    for (int i = 0; i < 8; i++) {
        float *p = x + (size_t)offset[i];
        __m128 half = i < 4 ? _mm256_castps256_ps128((__m256)r[i & 3]) : _mm256_extractf128_ps((__m256)r[i & 3], 1);
        _mm_store_ps(p, _mm_add_ps(half, _mm_load_ps(p)));
    }
#endif
}

/* Transposes points as points_load() stores them into SIMD vectors of their x, y, z and fourth numbers. */
static inline void points_turn(const wide r[4], wide out[4])
{
#ifdef WIDE_AVX2_DOUBLE
    __m256d ab_lo = _mm256_unpacklo_pd((__m256d)r[0], (__m256d)r[1]);
    __m256d ab_hi = _mm256_unpackhi_pd((__m256d)r[0], (__m256d)r[1]);
    __m256d cd_lo = _mm256_unpacklo_pd((__m256d)r[2], (__m256d)r[3]);
    __m256d cd_hi = _mm256_unpackhi_pd((__m256d)r[2], (__m256d)r[3]);
    out[0] = (wide)_mm256_permute2f128_pd(ab_lo, cd_lo, 0x20);
    out[1] = (wide)_mm256_permute2f128_pd(ab_hi, cd_hi, 0x20);
    out[2] = (wide)_mm256_permute2f128_pd(ab_lo, cd_lo, 0x31);
    out[3] = (wide)_mm256_permute2f128_pd(ab_hi, cd_hi, 0x31);
#else
    __m256 ab_lo = _mm256_unpacklo_ps((__m256)r[0], (__m256)r[1]);
    __m256 ab_hi = _mm256_unpackhi_ps((__m256)r[0], (__m256)r[1]);
    __m256 cd_lo = _mm256_unpacklo_ps((__m256)r[2], (__m256)r[3]);
    __m256 cd_hi = _mm256_unpackhi_ps((__m256)r[2], (__m256)r[3]);
    out[0] = (wide)_mm256_shuffle_ps(ab_lo, cd_lo, 0x44);
    out[1] = (wide)_mm256_shuffle_ps(ab_lo, cd_lo, 0xee);
    out[2] = (wide)_mm256_shuffle_ps(ab_hi, cd_hi, 0x44);
    out[3] = (wide)_mm256_shuffle_ps(ab_hi, cd_hi, 0xee);
#endif
}

/* Transposes three SIMD vectors (x, y, z) into points as points_store() takes them, with 0 as fourth number. The
 * transposition is its own inverse. */
static inline void points_turn_back(const wide f[3], wide r[4])
{
    points_turn((const wide[4]){f[0], f[1], f[2], wide_set(0)}, r);
}
#endif

/* Gathers points: out = x, y and z of the points at offset[0 .. SIMD_WIDTH-1]. x is [..][4], aligned. */
static inline void wide_gather_point(const sinew_real *x, const int32_t *offset, wide out[3])
{
#ifdef WIDE_POINTS
    wide r[4], turned[4];
    points_load(x, offset, r);
    points_turn(r, turned);
    /* A loop instead of memcpy, which would keep the copied numbers out of registers. */
    for (int c = 0; c < 3; c++)
        out[c] = turned[c];
#else
    for (int c = 0; c < 3; c++) {
        out[c] = wide_set(x[(size_t)offset[0] + (size_t)c]);
        for (int i = 1; i < SIMD_WIDTH; i++)
            out[c] = wide_put(out[c], i, x[(size_t)offset[i] + (size_t)c]);
    }
#endif
}

/* Edge vectors from a group's first vertex: out[a] = point of vertex row[a] minus point of vertex 0. `offset` is
 * [..][SIMD_WIDTH]. */
static inline void wide_gather_edges(const sinew_real *x, const int32_t *offset, const int *row, int count,
                                     wide (*out)[3])
{
#ifdef WIDE_POINTS
    wide first[4], r[4], turned[4];
    points_load(x, offset, first);
#pragma GCC unroll 8
    for (int a = 0; a < count; a++) {
        points_load(x, offset + row[a] * SIMD_WIDTH, r);
        for (int i = 0; i < 4; i++)
            r[i] -= first[i];
        points_turn(r, turned);
        for (int c = 0; c < 3; c++)
            out[a][c] = turned[c];
    }
#else
    wide first[3], other[3];
    wide_gather_point(x, offset, first);
    for (int a = 0; a < count; a++) {
        wide_gather_point(x, offset + row[a] * SIMD_WIDTH, other);
        for (int c = 0; c < 3; c++)
            out[a][c] = other[c] - first[c];
    }
#endif
}

/* Scatters with addition: g[offset[i]] += f[i], one element after another, so that a vertex may occur more than
 * once. */
static inline void wide_scatter_point(sinew_real *g, const int32_t *offset, const wide f[3])
{
#ifdef WIDE_POINTS
    wide r[4];
    points_turn_back(f, r);
    points_add(g, offset, r);
#else
    for (int i = 0; i < SIMD_WIDTH; i++)
        for (int c = 0; c < 3; c++)
            g[(size_t)offset[i] + (size_t)c] += wide_get(f[c], i);
#endif
}

/* Adds forces that sum to zero: f[a] to vertex row[a], and minus the sum of all f to vertex 0. `offset` is
 * [..][SIMD_WIDTH]. */
static inline void wide_scatter_balanced(sinew_real *g, const int32_t *offset, const int *row, int count,
                                         const wide (*f)[3])
{
    wide f0[3];
#pragma GCC unroll 8
    for (int a = 0; a < count; a++) {
        wide_scatter_point(g, offset + row[a] * SIMD_WIDTH, f[a]);
        for (int i = 0; i < 3; i++)
            f0[i] = a == 0 ? -f[a][i] : f0[i] - f[a][i];
    }
    wide_scatter_point(g, offset, f0);
}

/* Gathers all four numbers of each point, like wide_gather_point(). */
static inline void wide_gather_four(const sinew_real *x, const int32_t *offset, wide out[4])
{
#ifdef WIDE_POINTS
    wide r[4];
    points_load(x, offset, r);
    points_turn(r, out);
#else
    for (int c = 0; c < 4; c++) {
        out[c] = wide_set(0);
        for (int i = 0; i < SIMD_WIDTH; i++)
            out[c] = wide_put(out[c], i, x[(size_t)offset[i] + (size_t)c]);
    }
#endif
}

/* Stores all four numbers of each point: x[offset[i]] = f[i]. The vertices are distinct, except that padding repeats
 * the first vertex, whose own values win. */
static inline void wide_store_four(sinew_real *x, const int32_t *offset, const wide f[4])
{
#ifdef WIDE_POINTS
    wide r[4];
    points_turn(f, r);
    points_store(x, offset, r);
#else
    for (int i = SIMD_WIDTH - 1; i >= 0; i--)
        for (int c = 0; c < 4; c++)
            x[(size_t)offset[i] + (size_t)c] = wide_get(f[c], i);
#endif
}

#endif
