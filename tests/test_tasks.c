/* SPDX-License-Identifier: MIT
 *
 * test_tasks.c: every item is processed once, for any number of threads and callers. The library copes with fewer
 * threads than requested. Its threads block signals and end with the last user, and a forked child starts its own. The
 * thread sanitizer runs this program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/tasks.h"
#include "random_cases.h"
#include "thread_count.h"

enum {
    ITEMS_MAX = 3000,
    CALLERS = 4,
    THREADS_MAX = 9,
#ifdef SINEW_SANITIZED /* sanitizers start threads, lose them at a fork, and reserve any amount of memory */
    SANITIZED = 1
#else
    SANITIZED = 0
#endif
};

typedef struct record {
    int32_t count, block;
    _Atomic int32_t runs[ITEMS_MAX];
    _Atomic int32_t bad; /* blocks with wrong bounds */
    int32_t busy[THREADS_MAX];
} record;

static void run_items(const void *context, int32_t member, int32_t first, int32_t last)
{
    record *r = (record *)(uintptr_t)context;
    /* Not atomic: two threads with the same number are a race that the sanitizer detects. */
    if (member < THREADS_MAX)
        r->busy[member]++;
    if (first % r->block != 0 || last - first > r->block || last > r->count || member >= THREADS_MAX)
        atomic_fetch_add(&r->bad, 1);
    for (int32_t i = first; i < last; i++)
        atomic_fetch_add(&r->runs[i], 1);
}

static bool all_once(int32_t threads, int32_t count, int32_t block)
{
    record *r = calloc(1, sizeof *r);
    r->count = count;
    r->block = block;
    sinew_tasks_for(threads, count, block, run_items, r);
    bool good = atomic_load(&r->bad) == 0;
    for (int32_t i = 0; i < ITEMS_MAX; i++)
        good = good && atomic_load(&r->runs[i]) == (i < count);
    free(r);
    return good;
}

static void items_are_done_once(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("loops", 300, 20000);
    for (int i = 0; i < r.count; i++) {
        const int32_t threads = 1 + random_index(&r, THREADS_MAX), count = random_index(&r, ITEMS_MAX + 1);
        const int32_t block = 1 + random_index(&r, random_index(&r, 2) ? 5 : 700);
        if (!all_once(threads, count, block))
            fail_msg("%d threads, %d items in blocks of %d", threads, count, block);
    }
}

/* ---- Several callers --------------------------------------------------------------------------- */

typedef struct caller {
    pthread_t thread;
    uint64_t seed;
    bool good;
} caller;

static void *call_often(void *argument)
{
    caller *own = argument;
    random_cases r = {.state = own->seed};
    own->good = true;
    sinew_tasks_open();
    for (int i = 0; i < 100; i++)
        own->good = all_once(1 + random_index(&r, 5), random_index(&r, 500), 1 + random_index(&r, 9)) && own->good;
    sinew_tasks_close();
    return NULL;
}

static void callers_do_not_disturb_each_other(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("callers", 3, 100);
    for (int i = 0; i < r.count; i++) {
        caller callers[CALLERS];
        for (int k = 0; k < CALLERS; k++) {
            callers[k] = (caller){.seed = random_bits(&r)};
            assert_int_equal(pthread_create(&callers[k].thread, NULL, call_often, &callers[k]), 0);
        }
        for (int k = 0; k < CALLERS; k++) {
            pthread_join(callers[k].thread, NULL);
            assert_true(callers[k].good);
        }
    }
}

/* ---- Threads ----------------------------------------------------------------------------------- */

static void note_signals(const void *context, int32_t member)
{
    _Atomic int *seen = (_Atomic int *)(uintptr_t)context;
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    if (member > 0 && (!sigismember(&blocked, SIGTERM) || !sigismember(&blocked, SIGINT)))
        atomic_fetch_or(seen, 2);
    if (member == 0) /* waits until another thread has taken part */
        for (int i = 0; i < 1000 && !(atomic_load(seen) & 1); i++)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    else
        atomic_fetch_or(seen, 1);
}

static void threads_come_late_take_no_signals_and_go(void **state)
{
    (void)state;
    const int before = thread_count();
    sinew_tasks_open();
    assert_int_equal(thread_count(), before);
    sigset_t own, after;
    pthread_sigmask(SIG_SETMASK, NULL, &own);
    _Atomic int seen = 0;
    sinew_tasks_together(3, note_signals, &seen);
    assert_int_equal(atomic_load(&seen), 1);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    assert_int_equal(sigismember(&own, SIGTERM), sigismember(&after, SIGTERM));
    assert_true(thread_count() > before);
    sinew_tasks_close();
    if (!SANITIZED)
        assert_int_equal(thread_count_settled(before), before);
}

/* Exit status of a child that runs the loop under a limit of address space at which threads cannot start; 0: no limit.
 */
static int loop_in_child(size_t capacity)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct rlimit limit = {capacity, capacity};
        record *r = calloc(1, sizeof *r); /* allocates before the limit applies */
        r->count = ITEMS_MAX;
        r->block = 3;
        if (capacity && setrlimit(RLIMIT_AS, &limit) != 0)
            _exit(9);
        sinew_tasks_for(5, ITEMS_MAX, 3, run_items, r);
        bool good = atomic_load(&r->bad) == 0;
        for (int32_t i = 0; i < ITEMS_MAX; i++)
            good = good && atomic_load(&r->runs[i]) == 1;
        _exit(good ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void children_make_their_own(void **state)
{
    (void)state;
    sinew_tasks_open();
    for (int i = 0; i < 20; i++) {
        assert_true(all_once(4, 1000, 1)); /* workers are awake, asleep or waking up */
        if (!SANITIZED)
            assert_int_equal(loop_in_child(0), 0);
    }
    sinew_tasks_close();
}

static void refused_threads_are_done_without(void **state)
{
    (void)state;
    if (!SANITIZED)
        assert_int_equal(loop_in_child((size_t)1 << 20), 0);
}

static void settings_are_read(void **state)
{
    (void)state;
    assert_true(sinew_tasks_default_count() >= 1);
    setenv("OMP_NUM_THREADS", "7", 1);
    assert_int_equal(sinew_tasks_default_count(), 7);
    setenv("OMP_NUM_THREADS", "100000", 1);
    assert_int_equal(sinew_tasks_default_count(), 1024);
    setenv("OMP_NUM_THREADS", "-3", 1);
    assert_true(sinew_tasks_default_count() >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_come_late_take_no_signals_and_go), cmocka_unit_test(items_are_done_once),
        cmocka_unit_test(callers_do_not_disturb_each_other),        cmocka_unit_test(children_make_their_own),
        cmocka_unit_test(refused_threads_are_done_without),         cmocka_unit_test(settings_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
