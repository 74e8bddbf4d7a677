/* SPDX-License-Identifier: MIT
 *
 * phases.h: work in phases, one after the other, each of independent items, shared among threads without barriers.
 *
 * Colours of a Gauss-Seidel sweep and levels of a triangular solve are such phases: many, and short. At a barrier all
 * threads meet, so one that the system has taken off its core holds up every phase. Here a phase ends when its items
 * are done, whoever did them: a thread without an item in hand holds up nobody.
 *
 * Each thread begins with its own share of a phase, the same part of the list every time, so that what it wrote in the
 * phase before is still in its cache, and then helps others with theirs. Items of one phase must not depend on each
 * other; then results do not depend on the number of threads.
 */
#ifndef SINEW_SRC_BASE_PHASES_H
#define SINEW_SRC_BASE_PHASES_H

#include <stdint.h>

typedef struct sinew_phases {
    int32_t phase_count;
    int32_t (*item_count)(const void *context, int32_t phase); /* the same at every call */
    void (*run)(const void *context, int32_t phase, int32_t item);
    const void *context;
} sinew_phases;

void sinew_phases_run(const sinew_phases *work, int32_t thread_count);

#endif
