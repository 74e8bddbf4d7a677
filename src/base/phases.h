/* SPDX-License-Identifier: MIT
 *
 * phases.h: consecutive phases of independent items, shared among threads without barriers.
 *
 * Colours of a Gauss-Seidel sweep and levels of a triangular solve are such phases: many and short. At a barrier, a
 * thread that the system has descheduled delays every phase. Here a phase ends when its items are done, by any thread,
 * so a descheduled thread without an item causes no delay.
 *
 * Each thread begins with its own share of a phase, the same range of the list every time, and then takes items of
 * other shares. Its data of the previous phase may then still be in its cache. Items of one phase must be independent;
 * results then do not depend on the number of threads.
 */
#ifndef SINEW_SRC_BASE_PHASES_H
#define SINEW_SRC_BASE_PHASES_H

#include <stdint.h>

typedef struct sinew_phases {
    int32_t phase_count;
    int32_t (*item_count)(const void *context, int32_t phase); /* number of items of a phase; the same at every call */
    void (*run)(const void *context, int32_t phase, int32_t item);
    const void *context;
} sinew_phases;

void sinew_phases_run(const sinew_phases *work, int32_t thread_count);

#endif
