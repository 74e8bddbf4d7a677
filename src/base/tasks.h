/* SPDX-License-Identifier: MIT
 *
 * tasks.h: all threads of the library under one roof.
 *
 * Threads are made when work for several of them first comes, one set for the process, as cores are: worlds on several
 * threads of a program each call on those that are idle. They sleep between calls after a short look for the next one.
 * When the last world is gone they end. Where the system refuses a thread the work is done by fewer: a member that
 * never comes is not waited for, so work must be correct for any number of members that take part. Results do not
 * depend on who did what as long as items do not touch each other's data.
 *
 * A program with a task system of its own (sinew_task_system) lends its threads in place of these: worlds say so by
 * sinew_tasks_use before they work.
 *
 * The threads take no signals, have small stacks (SINEW_TASKS_STACK) and never allocate. A forked child starts with
 * none and makes its own.
 */
#ifndef SINEW_SRC_BASE_TASKS_H
#define SINEW_SRC_BASE_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "sinew/types.h"

#define SINEW_TASKS_STACK ((size_t)512 << 10) /* bytes */

/* A world opens the roof when it is made and closes it when it goes; the last one sends the threads home. */
void sinew_tasks_open(void);
void sinew_tasks_close(void);
/* The system, which is copied, does what the calling thread asks for from now on; zeroed: the library's threads do. */
void sinew_tasks_use(const sinew_task_system *system);
/* OMP_NUM_THREADS where it is set, else the cores that this process may run on. */
int32_t sinew_tasks_default_count(void);

/* Calls work(context, member) on up to thread_count threads at once, members 0 (the caller, always) .. thread_count-1,
 * and returns when all that began are done. A member that has not begun when the caller is done is called off. */
typedef void sinew_tasks_work(const void *context, int32_t member);
void sinew_tasks_together(int32_t thread_count, sinew_tasks_work *work, const void *context);

/* Runs items 0 .. count-1 in blocks of `block`, last excluded. Each member begins with its own share of the blocks, the
 * same part every time, and then helps others with theirs. */
typedef void sinew_tasks_range(const void *context, int32_t member, int32_t first, int32_t last);
void sinew_tasks_for(int32_t thread_count, int32_t count, int32_t block, sinew_tasks_range *run, const void *context);

/* One turn of a wait: pauses at first, later offers the core to others. False: it has lasted too long, sleep. */
bool sinew_tasks_wait(int32_t *turns);
/* A member that others have slept for says so: when it had lost its core, coming calls do without others for a while.
 */
void sinew_tasks_was_awaited(void);

#endif
