/* SPDX-License-Identifier: MIT
 *
 * blas_threads.c: see blas_threads.h. OpenBLAS when that is the BLAS linked; weak, so that any other will do.
 */
#include "linear/blas_threads.h"

extern void openblas_set_num_threads(int count) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));

int sinew_blas_single_thread(void)
{
    int before = openblas_get_num_threads ? openblas_get_num_threads() : 1;
    if (before != 1 && openblas_set_num_threads)
        openblas_set_num_threads(1);
    return before;
}

void sinew_blas_restore(int before)
{
    if (before != 1 && openblas_set_num_threads)
        openblas_set_num_threads(before);
}
