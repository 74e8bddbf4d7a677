/* SPDX-License-Identifier: MIT
 *
 * side_by_side.h: independent runs of an experiment, several at a time.
 */
#ifndef SINEW_SIDE_BY_SIDE_H
#define SINEW_SIDE_BY_SIDE_H

#include "experiments.h"

typedef struct side_by_side {
    bool (*take)(void *context, int32_t i);           /* one run, on any thread; false: it failed */
    const char *(*failure)(void *context, int32_t i); /* why it did */
    void *context;
} side_by_side;

/* Runs 0 .. count-1, and shows their progress with `note`; several: on as many threads as there are cores, or
 * OMP_NUM_THREADS, and on fewer where the system gives no more. False, with the first failure in o, where one failed.
 */
bool side_by_side_run(const side_by_side *work, int32_t count, bool several, const setting *s, const char *label,
                      outcome *o);

#endif
