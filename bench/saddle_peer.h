/* SPDX-License-Identifier: MIT
 *
 * saddle_peer.h: MUMPS (sequential, package libmumps-seq-dev) on a symmetric indefinite matrix: SYM = 2, its own choice
 * of ordering (ICNTL 7), detection of null pivots (ICNTL 24), two steps of refinement (ICNTL 10). Without the package
 * bench_mumps() returns NULL.
 */
#ifndef SINEW_SADDLE_PEER_H
#define SINEW_SADDLE_PEER_H

#include <stddef.h>
#include <stdint.h>

/* Upper triangle by columns; the arrays are borrowed. */
typedef struct bench_matrix {
    int32_t count;
    const size_t *column; /* [count + 1] */
    const int32_t *row;
    const double *values;
} bench_matrix;

typedef struct bench_factors {
    int status;          /* INFOG(1) of the last call; negative: failure */
    double size;         /* entries of the factors */
    int32_t null_pivots; /* number of detected null pivots */
    int32_t delayed;     /* number of delayed pivots */
    int32_t capacity;    /* per cent of memory beyond the estimate (ICNTL 14) */
} bench_factors;

/* null: pivots up to this times |A| count as zero; 0: MUMPS's default. NULL: not installed, or initialisation
 * failed. */
void *bench_mumps(const bench_matrix *matrix, double null);
bench_factors bench_mumps_analyse(void *own);
/* Repeats with twice the memory after status -9 (too little memory). */
bench_factors bench_mumps_factorise(void *own);
bench_factors bench_mumps_solve(void *own, const double *b, double *x);
void bench_mumps_destroy(void *own); /* NULL is fine */

#endif
