/* SPDX-License-Identifier: MIT
 *
 * decompose_batch.c: runs the decompositions of this lane variant over arrays, group after group.
 */
#include "math/small/decompose.h"
#include "math/small/decompose_batch.h"

#define sinew_decompose_batch_here SINEW_LANE_SYMBOL(sinew_decompose_batch)
#define SINEW_LANE_TEXT2(suffix)   #suffix
#define SINEW_LANE_TEXT(suffix)    SINEW_LANE_TEXT2(suffix)

static void load(const sinew_real *from, lane *to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = lane_load(from + i * LANES);
}

static void store(const lane *from, sinew_real *to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        lane_store(to + i * LANES, from[i]);
}

static void svd3(size_t group_count, const sinew_real *F, sinew_real *U, sinew_real *sigma, sinew_real *V)
{
    for (size_t group = 0; group < group_count; group++) {
        lane f[9], u[9], s[3], v[9];
        load(F + group * 9 * LANES, f, 9);
        sinew_svd3(f, u, s, v);
        store(u, U + group * 9 * LANES, 9);
        store(s, sigma + group * 3 * LANES, 3);
        store(v, V + group * 9 * LANES, 9);
    }
}

static void polar3(size_t group_count, const sinew_real *F, sinew_real *R)
{
    lane f[SINEW_POLAR_TILE][9], r[SINEW_POLAR_TILE][9];
    for (size_t group = 0, count; group < group_count; group += count) {
        count = group_count - group < SINEW_POLAR_TILE ? group_count - group : SINEW_POLAR_TILE;
        load(F + group * 9 * LANES, f[0], 9 * count);
        sinew_polar3_tile((int)count, (const lane(*)[9])f, r);
        store(r[0], R + group * 9 * LANES, 9 * count);
    }
}

static void svd32(size_t group_count, const sinew_real *F, sinew_real *U, sinew_real *sigma, sinew_real *V)
{
    for (size_t group = 0; group < group_count; group++) {
        lane f[6], u[9], s[2], v[4];
        load(F + group * 6 * LANES, f, 6);
        sinew_svd32(f, u, s, v);
        store(u, U + group * 9 * LANES, 9);
        store(s, sigma + group * 2 * LANES, 2);
        store(v, V + group * 4 * LANES, 4);
    }
}

static void polar32(size_t group_count, const sinew_real *F, sinew_real *R)
{
    for (size_t group = 0; group < group_count; group++) {
        lane f[6], r[6];
        load(F + group * 6 * LANES, f, 6);
        sinew_polar32(f, r);
        store(r, R + group * 6 * LANES, 6);
    }
}

static void eigen3(size_t group_count, const sinew_real *a, sinew_real *w, sinew_real *Q)
{
    for (size_t group = 0; group < group_count; group++) {
        lane b[6], values[3], q[9];
        load(a + group * 6 * LANES, b, 6);
        sinew_eigen3(b, values, q);
        store(values, w + group * 3 * LANES, 3);
        store(q, Q + group * 9 * LANES, 9);
    }
}

/* Runs before it is known that the processor has this variant: plain code, also when compiled for it. */
static bool usable(void)
{
#if defined(__AVX2__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return true;
#endif
}

const sinew_decompose_batch sinew_decompose_batch_here = {
    .name = SINEW_LANE_TEXT(SINEW_LANE_SUFFIX),
    .width = LANES,
    .usable = usable,
    .svd3 = svd3,
    .polar3 = polar3,
    .svd32 = svd32,
    .polar32 = polar32,
    .eigen3 = eigen3,
};
