/* SPDX-License-Identifier: MIT
 *
 * stop.h: interruption of long work.
 *
 * A step selects the flag of its world for the calling thread. Loops that may run longer than 50 ms poll the flag with
 * sinew_stop_came(). A function that sees the flag returns early with its ordinary failure or, if it cannot fail, with
 * incomplete results. The flag stays set until the step has ended, so every caller sees it too. The step then discards
 * all results; the solver is prepared again before the next step.
 *
 * sinew_stop_came() sees the flag only on the thread of the step, not on workers of the thread pool. Parallel work
 * whose members need not agree passes the flag to them in its context; work with barriers polls before and after.
 * Code that keeps results after a step must not poll.
 */
#ifndef SINEW_SRC_BASE_STOP_H
#define SINEW_SRC_BASE_STOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Selects the interruption flag that the calling thread polls; NULL: none. Returns the previously selected flag. */
const atomic_bool *sinew_stop_use(const atomic_bool *flag);
/* The interruption flag that the calling thread polls; NULL: none. */
const atomic_bool *sinew_stop_flag(void);
/* True if the interruption flag is not NULL and is set. */
bool sinew_stop_is_set(const atomic_bool *flag);
/* True if the interruption flag of the calling thread is set. */
bool sinew_stop_came(void);

/* Polls sinew_stop_came() in every 1024th iteration of a loop over short items; `round` counts iterations from 0. */
static inline bool sinew_stop_came_in(int64_t round)
{
    return (round & 1023) == 1023 && sinew_stop_came();
}

#endif
