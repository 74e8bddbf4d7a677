/* SPDX-License-Identifier: MIT
 *
 * test_phases.c: every item of every phase runs once, and no item runs before all items of the previous phase are done,
 * for any number of threads, also when a thread sleeps. The thread sanitizer runs this program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/phases.h"

enum {
    PHASES = 200,
    ITEMS_MAX = 37
};

typedef struct record {
    int32_t counts[PHASES];
    int32_t *plain; /* [PHASES] sums that items of the next phase read without a lock */
    _Atomic int32_t runs[PHASES][ITEMS_MAX];
    _Atomic int32_t done[PHASES];
    _Atomic int32_t early; /* items that started too early */
    int32_t sleepy;        /* the slow item of phase 3, -1: none */
} record;

static int32_t count_items(const void *context, int32_t phase)
{
    return ((const record *)context)->counts[phase];
}

static void run_item(const void *context, int32_t phase, int32_t item)
{
    record *r = (record *)context;
    for (int32_t k = 0; k < phase; k++)
        if (atomic_load(&r->done[k]) != r->counts[k])
            atomic_fetch_add(&r->early, 1);
    if (item == 0)
        r->plain[phase] = 1 + (phase > 0 ? r->plain[phase - 1] : 0);
    if (phase == 3 && item == r->sleepy)
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    atomic_fetch_add(&r->runs[phase][item], 1);
    atomic_fetch_add(&r->done[phase], 1);
}

static void check(int32_t threads, int32_t sleepy)
{
    static record r;
    int32_t plain[PHASES] = {0};
    memset(&r, 0, sizeof r);
    r.plain = plain;
    r.sleepy = sleepy;
    for (int32_t k = 0; k < PHASES; k++)
        r.counts[k] = k % 5 == 4 ? 0 : 1 + k * 7 % ITEMS_MAX; /* some phases are empty */
    for (int32_t k = 0; k < PHASES; k++)
        if (r.counts[k] == 0)
            plain[k] = 0;
    const sinew_phases work = {PHASES, count_items, run_item, &r};
    sinew_phases_run(&work, threads);
    assert_int_equal(atomic_load(&r.early), 0);
    for (int32_t k = 0; k < PHASES; k++) {
        assert_int_equal(plain[k], r.counts[k] == 0 ? 0 : k % 5 + 1);
        for (int32_t i = 0; i < ITEMS_MAX; i++)
            assert_int_equal(atomic_load(&r.runs[k][i]), i < r.counts[k]);
    }
}

static void all_items_once_in_order(void **state)
{
    (void)state;
    for (int32_t repeat = 0; repeat < 20; repeat++)
        for (int32_t threads = 1; threads <= 5; threads++)
            check(threads, -1);
    check(100, -1); /* more threads than there are items */
}

static void a_sleeper_holds_back_its_phase_alone(void **state)
{
    (void)state;
    for (int32_t item = 0; item < 5; item++)
        check(2, item);
}

static void nothing_to_do(void **state)
{
    (void)state;
    record r = {.sleepy = -1};
    const sinew_phases none = {0, count_items, run_item, &r}, empty = {5, count_items, run_item, &r};
    sinew_phases_run(&none, 2);
    sinew_phases_run(&empty, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_items_once_in_order),
        cmocka_unit_test(a_sleeper_holds_back_its_phase_alone),
        cmocka_unit_test(nothing_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
