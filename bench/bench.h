/* SPDX-License-Identifier: MIT
 *
 * bench.h: medians of repeated timings. Ratios within one run are what counts: the machine is shared and noisy.
 */
#ifndef SINEW_BENCH_H
#define SINEW_BENCH_H

#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/base.h"
#include "base/tasks.h"

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

/* The median in processor time: for one thread. */
static inline double bench_median_cpu(bench_body *body, void *context, int runs)
{
    return bench_median_of(body, context, runs, bench_processor_seconds);
}

/* ---- Two cores ------------------------------------------------------------------------------- */

/* Where neighbours share the cores, one may be half as fast as the other and change places with it a second later. So
 * threads are kept on cores of their own, and one thread is timed on each of the two: its seconds are those at the mean
 * of both speeds, of which two threads can make twice as much. */

/* Keeps the calling thread on the first or the second of this process's cores, if it has two. */
static inline void bench_pin(int core)
{
    static cpu_set_t all;
    cpu_set_t one;
    if (CPU_COUNT(&all) == 0 && sched_getaffinity(0, sizeof all, &all) != 0)
        return;
    CPU_ZERO(&one);
    for (int cpu = 0, found = 0; cpu < CPU_SETSIZE && CPU_COUNT(&all) > 1; cpu++)
        if (CPU_ISSET(cpu, &all) && found++ == core)
            CPU_SET(cpu, &one);
    if (CPU_COUNT(&one) > 0)
        sched_setaffinity(0, sizeof one, &one);
}

/* Median seconds of one call by one thread. */
static inline double bench_one_thread(bench_body *body, void *context, int runs)
{
    double core[2];
    for (int i = 0; i < 2; i++) {
        bench_pin(i);
        core[i] = bench_median_cpu(body, context, runs);
    }
    return 2 / (1 / core[0] + 1 / core[1]);
}

/* Waits until both members of a pair are there; false: the other did not come within a hundredth of a second. */
static inline bool bench_meet(_Atomic int *there)
{
    const double began = sinew_seconds();
    atomic_fetch_add(there, 1);
    while (atomic_load(there) < 2)
        if (sinew_seconds() - began > 0.01)
            return false;
    return true;
}

static inline void bench_pin_member(const void *context, int32_t member)
{
    bench_meet(*(_Atomic int *const *)context);
    bench_pin(member);
}

/* The same by two threads of the library's, each kept on a core of its own. */
static inline double bench_two_threads(bench_body *body, void *context, int runs)
{
    _Atomic int there = 0, *pair = &there;
    bench_pin(0); /* which also asks once what cores there are */
    sinew_tasks_together(2, bench_pin_member, &pair);
    return bench_median(body, context, runs);
}

/* Some 10 us of multiplications and additions in registers, as many at once as keep a core's units busy: then two
 * threads that share one core are no faster than one. */
static inline double bench_arithmetic(int seed)
{
    enum {
        MANY = 24
    };
    double a[MANY], sum = 0;
    for (int i = 0; i < MANY; i++)
        a[i] = 1 + 1e-3 * (seed + i);
    for (int k = 0; k < 4000; k++)
        for (int i = 0; i < MANY; i++)
            a[i] = a[i] * 0.999999 + 1e-6;
    for (int i = 0; i < MANY; i++)
        sum += a[i];
    return sum;
}

static inline void bench_arithmetic_range(const void *context, int32_t member, int32_t first, int32_t last)
{
    double *const *sums = context;
    (void)member;
    for (int32_t piece = first; piece < last; piece++)
        (*sums)[piece] = bench_arithmetic(piece);
}

/* context: the number of threads, which take pieces one by one. */
static inline void bench_arithmetic_pieces(void *context)
{
    enum {
        PIECES = 200
    };
    double sums[PIECES], *out = sums;
    sinew_tasks_for(*(const int *)context, PIECES, 1, bench_arithmetic_range, &out);
    for (int piece = 0; piece < PIECES; piece++)
        if (!(sums[piece] > 0)) /* it is: so that it has to be known */
            exit(1);
}

/* The machine's speed just now: how much faster two threads are than one at arithmetic, two where both have a core;
 * and how much slower one thread is than it was at best in this run, more than one where neighbours use the cores. */
typedef struct bench_machine {
    double gain, slower;
} bench_machine;

static inline bench_machine bench_machine_now(void)
{
    static double least = HUGE_VAL;
    int one = 1, two = 2;
    const double alone = bench_one_thread(bench_arithmetic_pieces, &one, 3);
    least = fmin(least, alone);
    return (bench_machine){alone / bench_two_threads(bench_arithmetic_pieces, &two, 3), alone / least};
}

/* Whether both cores are there and nobody else seems to use them. */
static inline bool bench_is_ours(bench_machine machine)
{
    return machine.gain >= 1.8 && machine.slower <= 1.1;
}

typedef struct bench_trip {
    _Alignas(64) _Atomic int turn;
    _Alignas(64) _Atomic int there;
    double seconds;
} bench_trip;

static inline void bench_trip_member(const void *context, int32_t member)
{
    enum {
        TRIPS = 2000
    };
    bench_trip *trip = *(bench_trip *const *)context;
    if (!bench_meet(&trip->there))
        return;
    const double began = sinew_seconds();
    for (int i = 0; i < TRIPS; i++) {
        while (atomic_load(&trip->turn) != member)
            ;
        atomic_store(&trip->turn, 1 - member);
    }
    if (member == 0)
        trip->seconds = (sinew_seconds() - began) / TRIPS;
}

/* Seconds for a cache line to the other core and back, after bench_two_threads: some 70 ns between neighbours, five
 * times that across a chip. 0: the other core did not come. */
static inline double bench_round_trip(void)
{
    bench_trip trip = {.seconds = 0}, *own = &trip;
    sinew_tasks_together(2, bench_trip_member, &own);
    return trip.seconds;
}

#endif
