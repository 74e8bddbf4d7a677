/* SPDX-License-Identifier: MIT
 *
 * reduce.c: blockwise sums in a fixed order. See reduce.h.
 */
#include "base/reduce.h"

#include <math.h>
#include <string.h>

#define WIDTH_MAX 16

void sinew_sum(sinew_sum_term *term, const void *context, int32_t count, int32_t width, double *sums,
               int32_t thread_count)
{
    double partial[SINEW_SUM_BLOCKS][WIDTH_MAX];
    int32_t size = (count + SINEW_SUM_BLOCKS - 1) / SINEW_SUM_BLOCKS;
    if (size < SINEW_PARALLEL_PARTICLES / 8)
        size = SINEW_PARALLEL_PARTICLES / 8;
    int32_t block_count = (count + size - 1) / size;
#pragma omp parallel for schedule(static) num_threads(thread_count) if (count >= SINEW_PARALLEL_PARTICLES)
    for (int32_t block = 0; block < block_count; block++) {
        int32_t first = block * size;
        int32_t last = count - first > size ? first + size : count;
        memset(partial[block], 0, sizeof partial[block]);
        term(context, first, last, partial[block]);
    }
    for (int32_t i = 0; i < width; i++)
        sums[i] = 0;
    for (int32_t block = 0; block < block_count; block++)
        for (int32_t i = 0; i < width; i++)
            sums[i] += partial[block][i];
}

typedef struct pair {
    const sinew_real *a, *b;
} pair;

static void dot_term(const void *context, int32_t first, int32_t last, double *sums)
{
    const pair *vectors = context;
    double s[4] = {0, 0, 0, 0};
    for (size_t i = 4 * (size_t)first; i < 4 * (size_t)last; i += 4)
        for (size_t c = 0; c < 4; c++)
            s[c] += (double)vectors->a[i + c] * (double)vectors->b[i + c];
    sums[0] += (s[0] + s[1]) + (s[2] + s[3]);
}

double sinew_dot(const sinew_real *a, const sinew_real *b, int32_t count, int32_t thread_count)
{
    double sum;
    sinew_sum(dot_term, &(pair){a, b}, count, 1, &sum, thread_count);
    return sum;
}

double sinew_norm(const sinew_real *a, int32_t count, int32_t thread_count)
{
    return sqrt(sinew_dot(a, a, count, thread_count));
}

void sinew_add_scaled(sinew_real *y, sinew_real s, const sinew_real *x, int32_t count, int32_t thread_count)
{
    sinew_combine(y, y, s, x, count, thread_count);
}

void sinew_combine(sinew_real *z, const sinew_real *x, sinew_real s, const sinew_real *y, int32_t count,
                   int32_t thread_count)
{
#pragma omp parallel for schedule(static) num_threads(thread_count) if (count >= SINEW_PARALLEL_PARTICLES)
    for (size_t i = 0; i < 4 * (size_t)count; i++)
        z[i] = x[i] + s * y[i];
}
