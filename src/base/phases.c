/* SPDX-License-Identifier: MIT
 *
 * phases.c: threads take items of the open phase; the thread that finishes the last item opens the next phase. See
 * phases.h.
 */
#include "base/phases.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/tasks.h"

#define SHARES_MAX 64

/* Progress in one thread's share of the open phase. Lower 32 bits: next item; upper 32 bits: index of the open phase,
 * so a thread with an outdated phase takes no item. Each share has its own cache line. */
typedef struct share {
    _Alignas(64) _Atomic uint64_t next;
} share;

typedef struct team {
    const sinew_phases *work;
    int32_t share_count;
    _Alignas(64) _Atomic int32_t phase; /* index of the phase whose items threads take now */
    _Alignas(64) _Atomic int32_t done;  /* number of finished items of the open phase */
    _Atomic int32_t sleepers;           /* number of threads that wait for the next phase */
    pthread_mutex_t mutex;
    pthread_cond_t opened;
    share shares[SHARES_MAX];
} team;

static int32_t phases_share_begin(const team *t, int32_t items, int32_t s)
{
    return (int32_t)((int64_t)items * s / t->share_count);
}

/* Opens the first non-empty phase at or after `phase`, or phase_count if there is none, and wakes sleeping threads.
 * Only one thread at a time may call this function. Returns true if a thread was asleep. */
static bool phases_open(team *t, int32_t phase)
{
    int32_t items = 0;
    while (phase < t->work->phase_count && (items = t->work->item_count(t->work->context, phase)) == 0)
        phase++;
    for (int32_t s = 0; s < t->share_count; s++)
        atomic_store_explicit(&t->shares[s].next, (uint64_t)phase << 32 | (uint32_t)phases_share_begin(t, items, s),
                              memory_order_relaxed);
    atomic_store_explicit(&t->done, 0, memory_order_relaxed);
    atomic_store(&t->phase, phase);
    if (atomic_load(&t->sleepers) == 0)
        return false;
    pthread_mutex_lock(&t->mutex);
    pthread_cond_broadcast(&t->opened);
    pthread_mutex_unlock(&t->mutex);
    return true;
}

/* Sleeps until `phase` is over. No wake-up is lost: either the thread that opens the next phase sees the sleeper's
 * count, or the sleeper sees the new phase. */
static void phases_sleep_through(team *t, int32_t phase)
{
    pthread_mutex_lock(&t->mutex);
    atomic_fetch_add(&t->sleepers, 1);
    while (atomic_load(&t->phase) == phase)
        pthread_cond_wait(&t->opened, &t->mutex);
    atomic_fetch_sub(&t->sleepers, 1);
    pthread_mutex_unlock(&t->mutex);
}

/* Takes an item of the phase, first from the thread's own share of items. Returns -1 if all items are taken or the
 * phase is over. */
static int32_t phases_take_item(team *t, int32_t phase, int32_t items, int32_t own)
{
    for (int32_t k = 0; k < t->share_count; k++) {
        const int32_t s = (own + k) % t->share_count, end = phases_share_begin(t, items, s + 1);
        uint64_t next = atomic_load_explicit(&t->shares[s].next, memory_order_relaxed);
        while (next >> 32 == (uint64_t)phase && (int32_t)(uint32_t)next < end)
            if (atomic_compare_exchange_weak_explicit(&t->shares[s].next, &next, next + 1, memory_order_relaxed,
                                                      memory_order_relaxed))
                return (int32_t)(uint32_t)next;
    }
    return -1;
}

/* Loop of one thread: takes items of the open phase until the last phase is over. A thread adds its finished items to
 * the shared count `done` once per phase, because all threads write to this count. */
static void phases_run_member(const void *context, int32_t member)
{
    team *t = *(team *const *)context;
    const sinew_phases *work = t->work;
    const int32_t own = member % t->share_count;
    int32_t turns = 0, finished = 0, phase;
    while ((phase = atomic_load_explicit(&t->phase, memory_order_acquire)) < work->phase_count) {
        const int32_t items = work->item_count(work->context, phase);
        const int32_t item = phases_take_item(t, phase, items, own);
        if (item >= 0) {
            work->run(work->context, phase, item);
            finished++;
        } else if (finished > 0) {
            const bool last = atomic_fetch_add_explicit(&t->done, finished, memory_order_acq_rel) + finished == items;
            if (last && phases_open(t, phase + 1) && member > 0)
                sinew_tasks_was_awaited();
            finished = turns = 0;
        } else if (!sinew_tasks_wait(&turns)) {
            phases_sleep_through(t, phase);
            turns = 0;
        }
    }
}

static void phases_run_alone(const sinew_phases *work)
{
    for (int32_t phase = 0; phase < work->phase_count; phase++) {
        const int32_t items = work->item_count(work->context, phase);
        for (int32_t item = 0; item < items; item++)
            work->run(work->context, phase, item);
    }
}

void sinew_phases_run(const sinew_phases *work, int32_t thread_count)
{
    if (thread_count < 2) {
        phases_run_alone(work);
        return;
    }
    team t = {.work = work, .share_count = thread_count < SHARES_MAX ? thread_count : SHARES_MAX};
    pthread_mutex_init(&t.mutex, NULL);
    pthread_cond_init(&t.opened, NULL);
    phases_open(&t, 0);
    sinew_tasks_together(thread_count, phases_run_member, &(team *){&t});
    pthread_cond_destroy(&t.opened);
    pthread_mutex_destroy(&t.mutex);
}
