/* SPDX-License-Identifier: MIT
 *
 * bench.h: medians of repeated timings. Only ratios within one run are meaningful, because the machine is shared and
 * noisy.
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

/* Processor time of this thread, s, which other processes do not increase. */
static inline double bench_processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds of each of `runs` calls, after one warm-up call. */
static inline void bench_times(bench_body *body, void *context, int runs, double (*seconds_now)(void), double *seconds)
{
    body(context);
    for (int i = 0; i < runs; i++) {
        double began = seconds_now();
        body(context);
        seconds[i] = seconds_now() - began;
    }
}

static inline double bench_middle(double *seconds, int count) /* sorts the seconds */
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

/* Median seconds of one call out of `runs` (<= 64), after one warm-up call. */
static inline double bench_median(bench_body *body, void *context, int runs)
{
    return bench_median_of(body, context, runs, sinew_seconds);
}

/* The smallest time of one call, s, over all calls that fit into `budget` s, but at least three. It approximates the
 * time of a parallel loop on idle cores. */
static inline double bench_min(bench_body *body, void *context, double budget)
{
    const double start = sinew_seconds();
    double min = HUGE_VAL;
    body(context);
    for (int i = 0; i < 3 || sinew_seconds() - start < budget; i++) {
        const double began = sinew_seconds();
        body(context);
        min = fmin(min, sinew_seconds() - began);
    }
    return min;
}

/* Median in processor time of the calling thread: for work on one thread. */
static inline double bench_median_cpu(bench_body *body, void *context, int runs)
{
    return bench_median_of(body, context, runs, bench_processor_seconds);
}

/* ---- Two cores ------------------------------------------------------------------------------- */

/* On shared cores the speeds of two cores may differ by a factor of two and change within a second. Threads are
 * therefore pinned to separate cores, and one thread is timed on each of the two. Its time is that at the mean speed,
 * so two threads can be at most twice as fast. */

/* Pins the calling thread to the first or the second core of this process, if there are two. */
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

/* Median seconds of one call by one thread, at the mean speed of both cores. */
static inline double bench_one_thread(bench_body *body, void *context, int runs)
{
    double core[2];
    for (int i = 0; i < 2; i++) {
        bench_pin(i);
        core[i] = bench_median_cpu(body, context, runs);
    }
    return 2 / (1 / core[0] + 1 / core[1]);
}

/* Waits until both threads of a pair arrive; returns false if the other does not arrive within a hundredth of a second.
 *  */
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

/* Median seconds of one call by two threads of the library, each pinned to a core. */
static inline double bench_two_threads(bench_body *body, void *context, int runs)
{
    _Atomic int there = 0, *pair = &there;
    bench_pin(0); /* the first call also reads the set of available cores */
    sinew_tasks_together(2, bench_pin_member, &pair);
    return bench_median(body, context, runs);
}

/* About 10 us of multiplications and additions in registers, with enough parallelism to fill a core's units. Two
 * threads on one core are then no faster than one. */
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
    for (int32_t chunk = first; chunk < last; chunk++)
        (*sums)[chunk] = bench_arithmetic(chunk);
}

/* Distributes the arithmetic to threads in chunks; context: the number of threads. */
static inline void bench_arithmetic_chunks(void *context)
{
    enum {
        CHUNKS = 200
    };
    double sums[CHUNKS], *out = sums;
    sinew_tasks_for(*(const int *)context, CHUNKS, 1, bench_arithmetic_range, &out);
    for (int chunk = 0; chunk < CHUNKS; chunk++)
        if (!(sums[chunk] > 0)) /* always positive; the test keeps the compiler from removing the sums */
            exit(1);
}

/* Current speed of the machine. gain: speed-up of two threads at arithmetic, two if both have a core. slower: slowdown
 * of one thread relative to its best in this run, above one if other processes use the cores. */
typedef struct bench_machine {
    double gain, slower;
} bench_machine;

static inline bench_machine bench_machine_now(void)
{
    static double min = HUGE_VAL;
    int one = 1, two = 2;
    const double alone = bench_one_thread(bench_arithmetic_chunks, &one, 3);
    min = fmin(min, alone);
    return (bench_machine){alone / bench_two_threads(bench_arithmetic_chunks, &two, 3), alone / min};
}

/* True if both cores are available and idle. */
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

/* Round-trip time of a cache line to the other core, s, after bench_two_threads: about 70 ns between neighbours, five
 * times that across a chip. 0: the other thread did not arrive. */
static inline double bench_round_trip(void)
{
    bench_trip trip = {.seconds = 0}, *own = &trip;
    sinew_tasks_together(2, bench_trip_member, &own);
    return trip.seconds;
}

#endif
