/* SPDX-License-Identifier: MIT
 *
 * reduce.h: sums over particles whose bits do not depend on the number of threads.
 *
 * Vectors over particles are [count][4] reals. They are read as one flat array, so callers keep the fourth number of
 * each particle zero. A sum is cut into at most SINEW_SUM_BLOCKS blocks whose bounds depend on the count alone; one
 * thread sums a block in double, and the block sums are added in order. Inner products use four accumulators, one per
 * component.
 */
#ifndef SINEW_SRC_BASE_REDUCE_H
#define SINEW_SRC_BASE_REDUCE_H

#include "base/tasks.h"
#include "sinew/types.h"

#define SINEW_SUM_BLOCKS 256

/* Number of particles, and number of element tasks, below which a loop stays on one thread: waking other threads would
 * cost more than it saves. */
#define SINEW_PARALLEL_PARTICLES 8192
#ifdef SINEW_SINGLE
#define SINEW_PARALLEL_TASKS 4 /* half of the double-precision value: a task has three times as many elements */
#else
#define SINEW_PARALLEL_TASKS 8
#endif

/* inner product a . b of vectors [count][4] */
double sinew_dot(const sinew_real *a, const sinew_real *b, int32_t count, int32_t thread_count);
double sinew_norm(const sinew_real *a, int32_t count, int32_t thread_count); /* Euclidean norm of a [count][4] */
/* y += s x for vectors [count][4] */
void sinew_add_scaled(sinew_real *y, sinew_real s, const sinew_real *x, int32_t count, int32_t thread_count);
/* z = x + s y for vectors [count][4]; z may be x */
void sinew_combine(sinew_real *z, const sinew_real *x, sinew_real s, const sinew_real *y, int32_t count,
                   int32_t thread_count);
/* Calls `run` on blocks of particles 0 .. count-1, in parallel; below SINEW_PARALLEL_PARTICLES the calling thread runs
 * one block with all particles. */
void sinew_over_particles(int32_t thread_count, int32_t count, sinew_tasks_range *run, const void *context);
/* Computes `width` <= 16 sums over items 0 .. count-1 at once: `term` adds the contributions of items first .. last-1
 * to sums [width]. */
typedef void sinew_sum_term(const void *context, int32_t first, int32_t last, double *sums);
void sinew_sum(sinew_sum_term *term, const void *context, int32_t count, int32_t width, double *sums,
               int32_t thread_count);

#endif
