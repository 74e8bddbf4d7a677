/* SPDX-License-Identifier: MIT
 *
 * bench.h: medians of repeated timings. Ratios within one run are what counts: the machine is shared and noisy.
 */
#ifndef SINEW_BENCH_H
#define SINEW_BENCH_H

#include <stdlib.h>

#include "base/base.h"

typedef void bench_body(void *context);

static int bench_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median seconds of one call out of `runs` (<= 64), after one to warm up. */
static double bench_median(bench_body *body, void *context, int runs)
{
    double seconds[64];
    body(context);
    for (int i = 0; i < runs; i++) {
        double began = sinew_seconds();
        body(context);
        seconds[i] = sinew_seconds() - began;
    }
    qsort(seconds, (size_t)runs, sizeof seconds[0], bench_compare);
    return seconds[runs / 2];
}

#endif
