/* SPDX-License-Identifier: MIT
 *
 * side_by_side.c: runs independent runs of an experiment on several threads (side_by_side.h).
 */
#include "side_by_side.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    HELPERS_MAX = 255
};

typedef struct queue {
    const side_by_side *work;
    const setting *s;
    const char *label;
    outcome *o;
    pthread_mutex_t lock; /* protects the outcome and the fields of this struct below it */
    int32_t count, next, done;
    bool good;
} queue;

static int32_t next_run(queue *q)
{
    pthread_mutex_lock(&q->lock);
    const int32_t i = q->next < q->count ? q->next++ : -1;
    pthread_mutex_unlock(&q->lock);
    return i;
}

static void report(queue *q, int32_t i, bool taken)
{
    pthread_mutex_lock(&q->lock);
    if (!taken && q->good)
        snprintf(q->o->failure, sizeof q->o->failure, "%.255s", q->work->failure(q->work->context, i));
    q->good = q->good && taken;
    q->done++;
    if (q->s->progress)
        q->s->progress(q->s->context, q->done, q->count, q->label);
    pthread_mutex_unlock(&q->lock);
}

static void *work_off(void *argument)
{
    queue *q = argument;
    for (int32_t i; (i = next_run(q)) >= 0;)
        report(q, i, q->work->take(q->work->context, i));
    return NULL;
}

static long helper_count(int32_t count)
{
    const char *wanted = getenv("OMP_NUM_THREADS");
    const long asked = wanted ? strtol(wanted, NULL, 10) : 0, cores = sysconf(_SC_NPROCESSORS_ONLN);
    long helpers = (asked > 0 ? asked : cores) - 1;
    helpers = helpers < count - 1 ? helpers : count - 1;
    return helpers < HELPERS_MAX ? helpers : HELPERS_MAX;
}

bool side_by_side_run(const side_by_side *work, int32_t count, bool several, const setting *s, const char *label,
                      outcome *o)
{
    queue q = {
        .work = work, .s = s, .label = label, .o = o, .lock = PTHREAD_MUTEX_INITIALIZER, .count = count, .good = true};
    pthread_t helpers[HELPERS_MAX];
    long started = 0;
    const long wanted = several ? helper_count(count) : 0;
    while (started < wanted && pthread_create(&helpers[started], NULL, work_off, &q) == 0)
        started++;
    work_off(&q);
    while (started > 0)
        pthread_join(helpers[--started], NULL);
    pthread_mutex_destroy(&q.lock);
    return q.good;
}
