/* SPDX-License-Identifier: MIT
 *
 * reduce.c: blockwise sums in a fixed order. See reduce.h.
 */
#include "base/reduce.h"

#include <math.h>
#include <string.h>

#define WIDTH_MAX       16
#define BLOCK_PARTICLES 1024

void sinew_over_particles(int32_t thread_count, int32_t count, sinew_tasks_range *run, const void *context)
{
    if (count < SINEW_PARALLEL_PARTICLES)
        run(context, 0, 0, count);
    else
        sinew_tasks_for(thread_count, count, BLOCK_PARTICLES, run, context);
}

/* ---- Sums over particles in a fixed order ---------------------------------------------------- */

typedef struct sum_pass {
    sinew_sum_term *term;
    const void *context;
    int32_t count, size; /* count: items of the whole sum; size: items per block */
    double (*partial)[WIDTH_MAX];
} sum_pass;

static void sum_blocks(const void *context, int32_t member, int32_t first_block, int32_t last_block)
{
    const sum_pass *p = context;
    (void)member;
    for (int32_t block = first_block; block < last_block; block++) {
        const int32_t first = block * p->size;
        const int32_t last = p->count - first > p->size ? first + p->size : p->count;
        memset(p->partial[block], 0, sizeof p->partial[block]);
        p->term(p->context, first, last, p->partial[block]);
    }
}

void sinew_sum(sinew_sum_term *term, const void *context, int32_t count, int32_t width, double *sums,
               int32_t thread_count)
{
    double partial[SINEW_SUM_BLOCKS][WIDTH_MAX];
    int32_t size = (count + SINEW_SUM_BLOCKS - 1) / SINEW_SUM_BLOCKS;
    if (size < SINEW_PARALLEL_PARTICLES / 8)
        size = SINEW_PARALLEL_PARTICLES / 8;
    int32_t block_count = (count + size - 1) / size;
    const sum_pass pass = {term, context, count, size, partial};
    sinew_tasks_for(count < SINEW_PARALLEL_PARTICLES ? 1 : thread_count, block_count, 1, sum_blocks, &pass);
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

/* ---- Vector updates z = x + s y -------------------------------------------------------------- */

typedef struct combination {
    sinew_real *z;
    const sinew_real *x, *y;
    sinew_real s;
} combination;

static void combine_range(const void *context, int32_t member, int32_t first, int32_t last)
{
    const combination c = *(const combination *)context;
    (void)member;
    for (size_t i = 4 * (size_t)first; i < 4 * (size_t)last; i++)
        c.z[i] = c.x[i] + c.s * c.y[i];
}

void sinew_combine(sinew_real *z, const sinew_real *x, sinew_real s, const sinew_real *y, int32_t count,
                   int32_t thread_count)
{
    sinew_over_particles(thread_count, count, combine_range, &(combination){z, x, y, s});
}
