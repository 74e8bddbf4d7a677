/* SPDX-License-Identifier: MIT
 *
 * blas_threads.c: see blas_threads.h. OpenBLAS when that is the BLAS linked; weak, so that any other will do. The
 * number of nested levels is a setting of the calling thread, so worlds on several threads do not disturb each other's;
 * the number of BLAS threads is one of the process.
 */
#include "linear/blas_threads.h"

#include <omp.h>

extern void openblas_set_num_threads(int count) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));

sinew_thread_setting sinew_blas_single_thread(void)
{
    sinew_thread_setting before = {openblas_get_num_threads ? openblas_get_num_threads() : 1,
                                   omp_get_max_active_levels()};
    if (before.blas != 1 && openblas_set_num_threads)
        openblas_set_num_threads(1);
    omp_set_max_active_levels(0);
    return before;
}

void sinew_blas_restore(sinew_thread_setting before)
{
    if (before.blas != 1 && openblas_set_num_threads)
        openblas_set_num_threads(before.blas);
    omp_set_max_active_levels(before.levels);
}
