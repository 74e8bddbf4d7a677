/* SPDX-License-Identifier: MIT
 *
 * blas_threads.c: see blas_threads.h. OpenBLAS when that is the BLAS linked; weak, so that any other will do. The
 * number of nested levels is a setting of the calling thread, so worlds on several threads do not disturb each other's;
 * the number of BLAS threads is one of the process: the first of those who need one thread sets it, the last restores
 * it.
 */
#include "linear/blas_threads.h"

#include <omp.h>
#include <pthread.h>

extern void openblas_set_num_threads(int count) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));

/* Stand for state that the third-party libraries keep per process. */
static pthread_mutex_t blas_lock = PTHREAD_MUTEX_INITIALIZER;
static int blas_users, blas_before;

sinew_thread_setting sinew_blas_single_thread(void)
{
    const sinew_thread_setting before = {omp_get_max_active_levels()};
    omp_set_max_active_levels(0);
    pthread_mutex_lock(&blas_lock);
    if (blas_users++ == 0 && openblas_get_num_threads && openblas_set_num_threads) {
        blas_before = openblas_get_num_threads();
        openblas_set_num_threads(1);
    }
    pthread_mutex_unlock(&blas_lock);
    return before;
}

void sinew_blas_restore(sinew_thread_setting before)
{
    pthread_mutex_lock(&blas_lock);
    if (--blas_users == 0 && openblas_set_num_threads)
        openblas_set_num_threads(blas_before);
    pthread_mutex_unlock(&blas_lock);
    omp_set_max_active_levels(before.levels);
}
