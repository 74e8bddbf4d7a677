/* SPDX-License-Identifier: MIT
 *
 * side_by_side.h: independent runs of an experiment, several at a time.
 */
#ifndef SINEW_SIDE_BY_SIDE_H
#define SINEW_SIDE_BY_SIDE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct side_by_side {
    bool (*take)(void *context, int32_t i); /* one run, on any thread; false: it failed */
    /* After each, one at a time: whether it was taken, and how many are done. */
    void (*report)(void *context, int32_t i, bool taken, int32_t done);
    void *context;
} side_by_side;

/* Runs 0 .. count-1, on as many threads as there are cores, or OMP_NUM_THREADS; on fewer where the system gives no
 * more. */
void side_by_side_run(const side_by_side *work, int32_t count, bool several);

#endif
