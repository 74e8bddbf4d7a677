/* SPDX-License-Identifier: MIT
 *
 * blas_threads.h: keeps CHOLMOD on one thread while it works.
 *
 * Its BLAS would sum in another order for every number of threads, so that bits would depend on it. Its own OpenMP
 * loops start teams of four for every supernode, whatever the machine has: on two cores that doubles the time, and on a
 * busy machine makes it five times as long.
 *
 * Its orderings go one at a time: METIS draws from the C library's rand(), one sequence for the whole process, which it
 * starts anew with each ordering. Two at once would mix their draws, and give other orders and other bits.
 */
#ifndef SINEW_BLAS_THREADS_H
#define SINEW_BLAS_THREADS_H

#include <cholmod.h>

typedef struct sinew_thread_setting {
    int levels;
} sinew_thread_setting;

sinew_thread_setting sinew_blas_single_thread(void); /* returns what was set before, for sinew_blas_restore */
void sinew_blas_restore(sinew_thread_setting before);
#endif
