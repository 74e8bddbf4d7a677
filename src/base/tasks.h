/* SPDX-License-Identifier: MIT
 *
 * tasks.h: the thread pool of the library.
 *
 * Threads are created when parallel work first arrives, one pool per process: worlds on several threads of a program
 * share its idle workers. Workers sleep between calls after a short poll. The last user ends them. If the system
 * refuses a thread, fewer members do the work: the caller does not wait for a member that never starts, so work must be
 * correct for any number of members. Results do not depend on the assignment as long as items do not write to each
 * other's data.
 *
 * A program with its own task system (sinew_task_system) provides threads instead: worlds select it by sinew_tasks_use
 * before they work.
 *
 * The threads block signals and have small stacks (SINEW_TASKS_STACK); the library gives them work that does not
 * allocate. A forked child starts without threads and creates its own.
 */
#ifndef SINEW_SRC_BASE_TASKS_H
#define SINEW_SRC_BASE_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "sinew/types.h"

#define SINEW_TASKS_STACK ((size_t)512 << 10) /* stack size of a worker thread, in bytes */

/* Reference count of the pool: each world and each BVH opens the pool on creation and closes it on destruction; other
 * parallel calls open it while they run. The last close ends the threads. */
void sinew_tasks_open(void);
void sinew_tasks_close(void);
/* Copies the task system and selects it for the calling thread; zeroed: the library's thread pool. */
void sinew_tasks_use(const sinew_task_system *system);
/* Returns OMP_NUM_THREADS if it is positive, else the number of cores that this process may run on; at most 1024. */
int32_t sinew_tasks_default_count(void);

/* Calls work(context, member) on up to thread_count threads at once, members 0 (the caller, always) ..
 * thread_count-1, and returns when all members that began are done. A member that has not begun when the caller is
 * done is cancelled. */
typedef void sinew_tasks_work(const void *context, int32_t member);
void sinew_tasks_together(int32_t thread_count, sinew_tasks_work *work, const void *context);

/* Calls run() for items 0 .. count-1 in blocks of `block` items, first .. last-1. Each member begins with its own share
 * of the blocks, the same range every time, and then takes blocks of other shares. */
typedef void sinew_tasks_range(const void *context, int32_t member, int32_t first, int32_t last);
void sinew_tasks_for(int32_t thread_count, int32_t count, int32_t block, sinew_tasks_range *run, const void *context);

/* One turn of a polling loop: a CPU pause at first, later a yield of the core. Returns false if the loop has polled for
 * so long that the caller should sleep. */
bool sinew_tasks_wait(int32_t *turns);
/* A worker calls this function after another thread slept while waiting for it. If the worker was descheduled, the next
 * parallel calls use one thread for a while. */
void sinew_tasks_was_awaited(void);

#endif
