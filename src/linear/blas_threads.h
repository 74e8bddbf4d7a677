/* SPDX-License-Identifier: MIT
 *
 * blas_threads.h: keeps CHOLMOD on one thread while it works.
 *
 * Its BLAS would sum in another order for every number of threads, so that bits would depend on it. Its own OpenMP
 * loops start teams of four for every supernode, whatever the machine has: on two cores that doubles the time, and on a
 * busy machine makes it five times as long.
 */
#ifndef SINEW_BLAS_THREADS_H
#define SINEW_BLAS_THREADS_H

typedef struct sinew_thread_setting {
    int blas, levels;
} sinew_thread_setting;

sinew_thread_setting sinew_blas_single_thread(void); /* returns what was set before, for sinew_blas_restore */
void sinew_blas_restore(sinew_thread_setting before);

#endif
