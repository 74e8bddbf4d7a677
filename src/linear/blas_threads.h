/* SPDX-License-Identifier: MIT
 *
 * blas_threads.h: keeps BLAS on one thread while CHOLMOD works, so that bits do not depend on the number of threads.
 */
#ifndef SINEW_BLAS_THREADS_H
#define SINEW_BLAS_THREADS_H

int sinew_blas_single_thread(void); /* returns the number of threads before, for sinew_blas_restore */
void sinew_blas_restore(int before);

#endif
