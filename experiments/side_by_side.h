/* SPDX-License-Identifier: MIT
 *
 * side_by_side.h: independent runs of an experiment in parallel.
 */
#ifndef SINEW_SIDE_BY_SIDE_H
#define SINEW_SIDE_BY_SIDE_H

#include "experiments.h"

typedef struct side_by_side {
    bool (*take)(void *context, int32_t i);           /* takes run i, on any thread; returns false on failure */
    const char *(*failure)(void *context, int32_t i); /* returns the reason of the failure of run i */
    void *context;
} side_by_side;

/* Takes runs 0 .. count-1 and reports their progress with `label`. `several`: on OMP_NUM_THREADS threads, else as many
 * as there are cores, or fewer if the system provides fewer. Returns false, with the first failure in o, if a run
 * fails. */
bool side_by_side_run(const side_by_side *work, int32_t count, bool several, const setting *s, const char *label,
                      outcome *o);

#endif
