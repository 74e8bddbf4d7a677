/* SPDX-License-Identifier: MIT
 *
 * bench.h: medians of repeated timings. Ratios within one run are what counts: the machine is shared and noisy.
 */
#ifndef SINEW_BENCH_H
#define SINEW_BENCH_H

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/base.h"

typedef void bench_body(void *context);

static inline int bench_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Processor time of this thread, s: what a busy machine does not stretch. */
static inline double bench_processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds of each of `runs` calls, after one to warm up. */
static inline void bench_times(bench_body *body, void *context, int runs, double (*seconds_now)(void), double *seconds)
{
    body(context);
    for (int i = 0; i < runs; i++) {
        double began = seconds_now();
        body(context);
        seconds[i] = seconds_now() - began;
    }
}

static inline double bench_middle(double *seconds, int count) /* sorts them */
{
    qsort(seconds, (size_t)count, sizeof seconds[0], bench_compare);
    return seconds[count / 2];
}

static inline double bench_median_of(bench_body *body, void *context, int runs, double (*seconds_now)(void))
{
    double seconds[64];
    bench_times(body, context, runs, seconds_now, seconds);
    return bench_middle(seconds, runs);
}

/* Median seconds of one call out of `runs` (<= 64), after one to warm up. */
static inline double bench_median(bench_body *body, void *context, int runs)
{
    return bench_median_of(body, context, runs, sinew_seconds);
}

/* The least seconds of one call, over as many as fit into `budget` s and three at least: what a loop over threads takes
 * while nothing else wants the cores. */
static inline double bench_least(bench_body *body, void *context, double budget)
{
    const double start = sinew_seconds();
    double least = HUGE_VAL;
    body(context);
    for (int i = 0; i < 3 || sinew_seconds() - start < budget; i++) {
        const double began = sinew_seconds();
        body(context);
        least = fmin(least, sinew_seconds() - began);
    }
    return least;
}

/* Some 10 us of multiply-adds in registers. */
static inline double bench_arithmetic(int seed)
{
    double a[8], sum = 0;
    for (int i = 0; i < 8; i++)
        a[i] = 1 + 1e-3 * (seed + i);
    for (int k = 0; k < 4000; k++)
        for (int i = 0; i < 8; i++)
            a[i] = a[i] * 0.999999 + 1e-6;
    for (int i = 0; i < 8; i++)
        sum += a[i];
    return sum;
}

/* How much faster two threads are than one at arithmetic, taking pieces one by one: two where both have a core. */
static inline double bench_two_threads(void)
{
    double seconds[2], ratios[9];
    for (int run = 0; run < 9; run++) {
        for (int threads = 1; threads <= 2; threads++) {
            double sum = 0;
            const double began = sinew_seconds();
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) reduction(+ : sum)
            for (int piece = 0; piece < 200; piece++)
                sum += bench_arithmetic(piece);
            seconds[threads - 1] = sum > 0 ? sinew_seconds() - began : 0; /* it is: so that it has to be known */
        }
        ratios[run] = seconds[0] / seconds[1];
    }
    return bench_middle(ratios, 9);
}

/* The median in processor time: for one thread. */
static inline double bench_median_cpu(bench_body *body, void *context, int runs)
{
    return bench_median_of(body, context, runs, bench_processor_seconds);
}

#endif
