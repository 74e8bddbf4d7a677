/* SPDX-License-Identifier: MIT
 *
 * decompose_batch.c: runs the decompositions of one SIMD variant over arrays, group by group.
 */
#include "math/small/decompose.h"
#include "math/small/decompose_batch.h"

#define sinew_decompose_batch_here SINEW_SIMD_SYMBOL(sinew_decompose_batch)

static void batch_load(const sinew_real *from, wide *to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = wide_load(from + i * SIMD_WIDTH);
}

static void batch_store(const wide *from, sinew_real *to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        wide_store(to + i * SIMD_WIDTH, from[i]);
}

static void svd3(size_t group_count, const sinew_real *F, sinew_real *U, sinew_real *sigma, sinew_real *V)
{
    for (size_t group = 0; group < group_count; group++) {
        wide f[9], u[9], s[3], v[9];
        batch_load(F + group * 9 * SIMD_WIDTH, f, 9);
        sinew_svd3(f, u, s, v);
        batch_store(u, U + group * 9 * SIMD_WIDTH, 9);
        batch_store(s, sigma + group * 3 * SIMD_WIDTH, 3);
        batch_store(v, V + group * 9 * SIMD_WIDTH, 9);
    }
}

static void polar3(size_t group_count, const sinew_real *F, sinew_real *R)
{
    wide f[SINEW_POLAR_TILE][9], r[SINEW_POLAR_TILE][9];
    for (size_t group = 0, count; group < group_count; group += count) {
        count = group_count - group < SINEW_POLAR_TILE ? group_count - group : SINEW_POLAR_TILE;
        batch_load(F + group * 9 * SIMD_WIDTH, f[0], 9 * count);
        sinew_polar3_tile((int)count, (const wide(*)[9])f, r);
        batch_store(r[0], R + group * 9 * SIMD_WIDTH, 9 * count);
    }
}

static void svd32(size_t group_count, const sinew_real *F, sinew_real *U, sinew_real *sigma, sinew_real *V)
{
    for (size_t group = 0; group < group_count; group++) {
        wide f[6], u[9], s[2], v[4];
        batch_load(F + group * 6 * SIMD_WIDTH, f, 6);
        sinew_svd32(f, u, s, v);
        batch_store(u, U + group * 9 * SIMD_WIDTH, 9);
        batch_store(s, sigma + group * 2 * SIMD_WIDTH, 2);
        batch_store(v, V + group * 4 * SIMD_WIDTH, 4);
    }
}

static void polar32(size_t group_count, const sinew_real *F, sinew_real *R)
{
    for (size_t group = 0; group < group_count; group++) {
        wide f[6], r[6];
        batch_load(F + group * 6 * SIMD_WIDTH, f, 6);
        sinew_polar32(f, r);
        batch_store(r, R + group * 6 * SIMD_WIDTH, 6);
    }
}

static void eigen3(size_t group_count, const sinew_real *a, sinew_real *w, sinew_real *Q)
{
    for (size_t group = 0; group < group_count; group++) {
        wide b[6], values[3], q[9];
        batch_load(a + group * 6 * SIMD_WIDTH, b, 6);
        sinew_eigen3(b, values, q);
        batch_store(values, w + group * 3 * SIMD_WIDTH, 3);
        batch_store(q, Q + group * 9 * SIMD_WIDTH, 9);
    }
}

const sinew_decompose_batch sinew_decompose_batch_here = {
    .name = SIMD_NAME,
    .width = SIMD_WIDTH,
    .svd3 = svd3,
    .polar3 = polar3,
    .svd32 = svd32,
    .polar32 = polar32,
    .eigen3 = eigen3,
};
