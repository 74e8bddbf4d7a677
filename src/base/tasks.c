/* SPDX-License-Identifier: MIT
 *
 * tasks.c: the thread pool. See tasks.h. The only file that starts threads.
 *
 * A worker's state determines whether the worker or a caller may change it. A caller posts a call. If the worker has
 * begun the call, the caller waits for its end; otherwise the worker is asleep or descheduled, and the caller withdraws
 * the call.
 *
 *     IDLE -> POSTED (caller) -> RUNNING (worker) -> IDLE (worker)      POSTED -> IDLE (caller, call withdrawn)
 *     IDLE -> ASLEEP (worker), woken by the next POSTED or QUIT         RUNNING -> AWAITED (caller sleeps until IDLE)
 *
 * Two threads are slower than one when other programs use the cores: a thread that is descheduled while it holds a
 * block delays the other by a time slice. A worker that kept a caller asleep therefore checks whether it was
 * descheduled. If so, callers work alone for a time, which doubles if this recurs after little joint work. Clocks
 * decide which thread works; they never change results.
 */
#include "base/tasks.h"

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define WORKERS_MAX 4096
#define SHARES_MAX  64
#define IDLE_SPINS  3000 /* polls of its state by an idle worker before it sleeps: about 50 microseconds */
#define END_SPINS   3000 /* polls of a running worker's state before the caller that waits for it sleeps */
/* first turns of sinew_tasks_wait(), with a CPU pause instruction; then it yields the core: about 50 microseconds */
#define PAUSES 2000
#define OFFERS 1000 /* turns of sinew_tasks_wait() with sched_yield() before the caller should sleep */

#define CROWD_MIN 2000000 /* ns: first period in which callers work alone after a worker was descheduled */
/* ns: longest period in which callers work alone; the period doubles if workers are descheduled again soon */
#define CROWD_MAX 256000000
/* ns of joint work: if a worker is descheduled earlier, the next period of working alone doubles */
#define CROWD_SOON 32000000

enum {
    IDLE,
    ASLEEP,
    POSTED,
    RUNNING,
    AWAITED,
    QUIT
};

typedef struct worker {
    _Alignas(64) _Atomic int state;
    sinew_tasks_work *work;
    const void *context;
    int32_t member;
    struct worker *next;
    pthread_mutex_t mutex; /* mutex of the condition `changed`; taken only to sleep and to wake a sleeping thread */
    pthread_cond_t changed;
    pthread_t thread;
} worker;

/* The thread pool of the process, and the period in which calling threads work alone because cores are crowded. */
static struct {
    pthread_mutex_t lock;
    pthread_once_t once;
    worker *idle;
    int32_t count, users;
    _Atomic int64_t alone_until; /* time in ns until which callers work alone; 0: no worker was descheduled yet */
    _Atomic int64_t alone_for;   /* length of the last period of working alone, in ns */
    _Atomic int64_t together;    /* time of calls shared with workers since the last period of working alone, in ns */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

/* The task system to which the calling thread submits work; zeroed: the library's thread pool. */
static _Thread_local sinew_task_system task_system;

static void pause_core(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

bool sinew_tasks_wait(int32_t *turns)
{
    const int32_t turn = (*turns)++;
    if (turn < PAUSES)
        pause_core();
    else
        sched_yield();
    return turn < PAUSES + OFFERS;
}

void sinew_tasks_use(const sinew_task_system *system)
{
    task_system = *system;
}

/* ---- Crowded cores: callers work alone for a time -------------------------------------------- */

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* True if the operating system preempted the calling thread since the thread's last query. */
static bool was_preempted(void)
{
#ifdef RUSAGE_THREAD
    static _Thread_local long known;
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) != 0 || usage.ru_nivcsw == known)
        return false;
    known = usage.ru_nivcsw;
    return true;
#else
    return false;
#endif
}

void sinew_tasks_was_awaited(void)
{
    if (!was_preempted())
        return;
    int64_t length = CROWD_MIN;
    if (atomic_load(&pool.alone_until) != 0 && atomic_exchange(&pool.together, 0) < CROWD_SOON)
        length = 2 * atomic_load(&pool.alone_for);
    length = length > CROWD_MAX ? CROWD_MAX : length;
    atomic_store(&pool.alone_for, length);
    atomic_store(&pool.alone_until, now_ns() + length);
}

/* True at times `now` (ns) when callers should work alone because a worker was descheduled recently. */
static bool is_crowded(int64_t now)
{
    return now < atomic_load_explicit(&pool.alone_until, memory_order_relaxed);
}

/* Monotonic time in ns; 0 as long as no worker has been descheduled, which saves reading the clock. */
static int64_t crowd_clock_ns(void)
{
    return atomic_load_explicit(&pool.alone_until, memory_order_relaxed) != 0 ? now_ns() : 0;
}

/* ---- Worker threads -------------------------------------------------------------------------- */

/* Changes a worker's state and wakes the thread that sleeps in the old state. Returns true if a thread was asleep. */
static bool change_state(worker *w, int state)
{
    const int before = atomic_exchange_explicit(&w->state, state, memory_order_acq_rel);
    if (before == ASLEEP || before == AWAITED) {
        pthread_mutex_lock(&w->mutex);
        pthread_cond_broadcast(&w->changed);
        pthread_mutex_unlock(&w->mutex);
        return true;
    }
    return false;
}

/* Changes the worker's state from `from` to `sleeping` and sleeps until another thread changes it; returns at once if
 * the state is no longer `from`. */
static void sleep_from(worker *w, int from, int sleeping)
{
    pthread_mutex_lock(&w->mutex);
    if (atomic_compare_exchange_strong(&w->state, &from, sleeping))
        while (atomic_load(&w->state) == sleeping)
            pthread_cond_wait(&w->changed, &w->mutex);
    pthread_mutex_unlock(&w->mutex);
}

/* A worker's wait for its next call. Returns false if the worker must quit. */
static bool wait_for_call(worker *w)
{
    for (int32_t spins = 0;; spins++) {
        int state = atomic_load_explicit(&w->state, memory_order_acquire);
        if (state == QUIT)
            return false;
        if (state == POSTED && atomic_compare_exchange_strong(&w->state, &state, RUNNING))
            return true;
        if (spins < IDLE_SPINS) {
            pause_core();
        } else {
            sleep_from(w, IDLE, ASLEEP);
            spins = 0;
        }
    }
}

static void *worker_main(void *argument)
{
    worker *w = argument;
    while (wait_for_call(w)) {
        w->work(w->context, w->member);
        if (change_state(w, IDLE))
            sinew_tasks_was_awaited();
    }
    return NULL;
}

/* Starts the worker's thread with all signals blocked, because signals belong to the program. Returns false if the
 * system refuses a thread. */
static bool start_thread(worker *w)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    sigfillset(&all);
    bool good = pthread_attr_setstacksize(&attributes, SINEW_TASKS_STACK) == 0 &&
                pthread_sigmask(SIG_SETMASK, &all, &before) == 0;
    if (good) {
        good = pthread_create(&w->thread, &attributes, worker_main, w) == 0;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_attr_destroy(&attributes);
    return good;
}

static void worker_free(worker *w)
{
    pthread_mutex_destroy(&w->mutex);
    pthread_cond_destroy(&w->changed);
    free(w);
}

static worker *worker_create(void)
{
    worker *w = aligned_alloc(_Alignof(worker), sizeof *w);
    if (!w)
        return NULL;
    *w = (worker){.state = IDLE};
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->changed, NULL);
    if (start_thread(w))
        return w;
    worker_free(w);
    return NULL;
}

static void worker_destroy(worker *w)
{
    change_state(w, QUIT);
    pthread_join(w->thread, NULL);
    worker_free(w);
}

/* ---- Creation and release of the pool -------------------------------------------------------- */

static void lock_pool(void)
{
    pthread_mutex_lock(&pool.lock);
}

static void unlock_pool(void)
{
    pthread_mutex_unlock(&pool.lock);
}

/* Called in a forked child, which has only the thread that called fork: drops the parent's workers from the pool. */
static void forget_workers(void)
{
    pthread_mutex_init(&pool.lock, NULL);
    pool.idle = NULL;
    pool.count = 0;
}

static void register_fork_handlers(void)
{
    pthread_atfork(lock_pool, unlock_pool, forget_workers);
}

void sinew_tasks_open(void)
{
    lock_pool();
    pool.users++;
    unlock_pool();
}

void sinew_tasks_close(void)
{
    worker *w = NULL;
    lock_pool();
    if (--pool.users == 0) {
        w = pool.idle;
        pool.idle = NULL;
        for (const worker *each = w; each; each = each->next)
            pool.count--;
    }
    unlock_pool();
    while (w) {
        worker *next = w->next;
        worker_destroy(w);
        w = next;
    }
}

/* Takes up to `count` idle workers from the pool and creates missing ones. Returns their list, which is shorter (NULL:
 * empty) if the system refuses threads. */
static worker *take_workers(int32_t count)
{
    worker *first = NULL, **end = &first;
    pthread_once(&pool.once, register_fork_handlers);
    lock_pool();
    for (; count > 0 && pool.idle; count--) {
        *end = pool.idle;
        pool.idle = pool.idle->next;
        end = &(*end)->next;
    }
    for (; count > 0 && pool.count < WORKERS_MAX; count--) {
        *end = worker_create();
        if (!*end)
            break;
        pool.count++;
        end = &(*end)->next;
    }
    *end = NULL;
    unlock_pool();
    return first;
}

/* Returns workers to the pool in the same order, so the next call gives each worker the same share, which may still
 * be in its cache. */
static void return_workers(worker *first)
{
    worker *last = first;
    while (last->next)
        last = last->next;
    lock_pool();
    last->next = pool.idle;
    pool.idle = first;
    unlock_pool();
}

/* ---- Lending a call to worker threads -------------------------------------------------------- */

/* Withdraws the call if the worker has not begun it; otherwise waits until the worker has finished. */
static void end_call(worker *w)
{
    int state = POSTED;
    if (atomic_compare_exchange_strong(&w->state, &state, IDLE))
        return;
    for (int32_t spins = 0; atomic_load_explicit(&w->state, memory_order_acquire) == RUNNING; spins++) {
        if (spins < END_SPINS)
            pause_core();
        else
            sleep_from(w, RUNNING, AWAITED);
    }
}

/* Work for the program's task system, whose threads run it with the caller's floating-point environment. */
typedef struct lent_work {
    sinew_tasks_work *work;
    const void *context;
    fenv_t environment;
} lent_work;

static void run_lent_work(void *data, int32_t member)
{
    const lent_work *lent = data;
    fenv_t before;
    fegetenv(&before);
    fesetenv(&lent->environment);
    lent->work(lent->context, member);
    fesetenv(&before);
}

/* Submits work to the program's task system. Its callbacks may step another world on this thread, which changes
 * `task_system`; the copy restores it. */
static void submit_to_task_system(int32_t count, sinew_tasks_work *work, const void *context)
{
    const sinew_task_system own = task_system;
    lent_work lent = {.work = work, .context = context};
    fegetenv(&lent.environment);
    void *handle = own.start(own.context, run_lent_work, &lent, count);
    work(context, 0);
    own.finish(own.context, handle);
    task_system = own;
}

static void call_workers(int32_t count, sinew_tasks_work *work, const void *context)
{
    worker *team = take_workers(count - 1);
    int32_t member = 1;
    for (worker *w = team; w; w = w->next) {
        w->work = work;
        w->context = context;
        w->member = member++;
        change_state(w, POSTED);
    }
    work(context, 0);
    for (worker *w = team; w; w = w->next)
        end_call(w);
    if (team)
        return_workers(team);
}

static void call_workers_unless_crowded(int32_t count, sinew_tasks_work *work, const void *context)
{
    const int64_t began = crowd_clock_ns();
    if (is_crowded(began)) {
        work(context, 0);
        return;
    }
    call_workers(count, work, context);
    if (began != 0)
        atomic_fetch_add_explicit(&pool.together, now_ns() - began, memory_order_relaxed);
}

void sinew_tasks_together(int32_t thread_count, sinew_tasks_work *work, const void *context)
{
    if (thread_count < 2)
        work(context, 0);
    else if (task_system.start)
        submit_to_task_system(thread_count, work, context);
    else
        call_workers_unless_crowded(thread_count, work, context);
}

/* ---- Parallel loops over blocks -------------------------------------------------------------- */

typedef struct share {
    _Alignas(64) _Atomic int32_t next; /* index of the next block of this thread's share */
} share;

typedef struct loop {
    sinew_tasks_range *run;
    const void *context;
    int32_t count, block, block_count, share_count;
    share *shares; /* [share_count] progress of each thread's share of the blocks */
} loop;

static int32_t tasks_share_begin(const loop *l, int32_t s)
{
    return (int32_t)((int64_t)l->block_count * s / l->share_count);
}

static void tasks_run_block(const loop *l, int32_t member, int32_t block)
{
    const int32_t first = block * l->block;
    l->run(l->context, member, first, l->count - first > l->block ? first + l->block : l->count);
}

static void run_shares(const void *context, int32_t member)
{
    const loop *l = context;
    for (int32_t k = 0; k < l->share_count; k++) {
        const int32_t s = (member + k) % l->share_count, end = tasks_share_begin(l, s + 1);
        _Atomic int32_t *next = &l->shares[s].next;
        while (atomic_load_explicit(next, memory_order_relaxed) < end) {
            const int32_t block = atomic_fetch_add_explicit(next, 1, memory_order_relaxed);
            if (block < end)
                tasks_run_block(l, member, block);
        }
    }
}

void sinew_tasks_for(int32_t thread_count, int32_t count, int32_t block, sinew_tasks_range *run, const void *context)
{
    const int32_t block_count = count / block + (count % block > 0);
    loop l = {run, context, count, block, block_count, thread_count < SHARES_MAX ? thread_count : SHARES_MAX, NULL};
    if (thread_count < 2 || block_count < 2) {
        for (int32_t b = 0; b < block_count; b++)
            tasks_run_block(&l, 0, b);
        return;
    }
    share shares[SHARES_MAX];
    l.shares = shares;
    for (int32_t s = 0; s < l.share_count; s++)
        atomic_init(&shares[s].next, tasks_share_begin(&l, s));
    sinew_tasks_together(thread_count < block_count ? thread_count : block_count, run_shares, &l);
}

/* ---- Default number of threads --------------------------------------------------------------- */

int32_t sinew_tasks_default_count(void)
{
    const char *wanted = getenv("OMP_NUM_THREADS");
    const long asked = wanted ? strtol(wanted, NULL, 10) : 0;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        cores = CPU_COUNT(&set);
#endif
    const long count = asked > 0 ? asked : cores;
    return count < 1 ? 1 : count > 1024 ? 1024 : (int32_t)count;
}
