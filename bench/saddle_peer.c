/* SPDX-License-Identifier: MIT
 *
 * saddle_peer.c: see saddle_peer.h.
 */
#include "saddle_peer.h"

#ifdef SINEW_PEER_MUMPS
#include <dmumps_c.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Indices of settings as in MUMPS's users' guide, which counts from one. */
#define ICNTL(i) icntl[(i)-1]
#define INFOG(i) infog[(i)-1]
#define CNTL(i)  cntl[(i)-1]

enum {
    BEGIN = -1,
    END = -2,
    ANALYSE = 1,
    FACTORISE = 2,
    SOLVE = 3,
    TOO_LITTLE = -9,
    WORKSPACE_MAX = 10000, /* per cent */
    WORLD = -987654        /* MUMPS's value for MPI_COMM_WORLD */
};

extern void openblas_set_num_threads(int count) __attribute__((weak));

static bench_factors call(DMUMPS_STRUC_C *m, int job)
{
    m->job = job;
    dmumps_c(m);
    /* MUMPS reports a size beyond the range of an int in millions, as a negative number. */
    const double size = m->INFOG(29);
    return (bench_factors){.status = m->INFOG(1),
                           .size = size < 0 ? -1e6 * size : size,
                           .null_pivots = m->INFOG(28),
                           .delayed = m->INFOG(13),
                           .capacity = m->ICNTL(14)};
}

static void choose(DMUMPS_STRUC_C *m, double null)
{
    for (int k = 1; k <= 4; k++)
        m->ICNTL(k) = 0; /* prints nothing */
    m->ICNTL(7) = 7;
    m->ICNTL(10) = 2;
    m->ICNTL(24) = 1;
    m->CNTL(3) = null;
}

void *bench_mumps(const bench_matrix *matrix, double null)
{
    const size_t entries = matrix->column[matrix->count];
    DMUMPS_STRUC_C *m = calloc(1, sizeof *m);
    if (openblas_set_num_threads)
        openblas_set_num_threads(1);
    if (!m)
        return NULL;
    *m = (DMUMPS_STRUC_C){.par = 1, .sym = 2, .comm_fortran = WORLD};
    const bool began = call(m, BEGIN).status >= 0;
    choose(m, null);
    m->n = matrix->count;
    m->nnz = (MUMPS_INT8)entries;
    m->irn = malloc(entries * sizeof *m->irn);
    m->jcn = malloc(entries * sizeof *m->jcn);
    m->a = (double *)matrix->values; /* MUMPS only reads the values */
    m->rhs = malloc((size_t)m->n * sizeof *m->rhs);
    if (!began || !m->irn || !m->jcn || !m->rhs) {
        bench_mumps_destroy(m);
        return NULL;
    }
    for (int32_t j = 0; j < m->n; j++)
        for (size_t k = matrix->column[j]; k < matrix->column[j + 1]; k++) {
            m->irn[k] = matrix->row[k] + 1;
            m->jcn[k] = j + 1;
        }
    return m;
}

bench_factors bench_mumps_analyse(void *own)
{
    return call(own, ANALYSE);
}

bench_factors bench_mumps_factorise(void *own)
{
    DMUMPS_STRUC_C *m = own;
    bench_factors result = call(m, FACTORISE);
    while (result.status == TOO_LITTLE && m->ICNTL(14) < WORKSPACE_MAX) {
        m->ICNTL(14) *= 2;
        result = call(m, FACTORISE);
    }
    return result;
}

bench_factors bench_mumps_solve(void *own, const double *b, double *x)
{
    DMUMPS_STRUC_C *m = own;
    const size_t size = (size_t)m->n * sizeof *m->rhs;
    memcpy(m->rhs, b, size);
    const bench_factors result = call(m, SOLVE);
    memcpy(x, m->rhs, size);
    return result;
}

void bench_mumps_destroy(void *own)
{
    DMUMPS_STRUC_C *m = own;
    if (!m)
        return;
    free(m->irn);
    free(m->jcn);
    free(m->rhs);
    m->irn = m->jcn = NULL;
    m->rhs = m->a = NULL;
    call(m, END);
    free(m);
}
#else
void *bench_mumps(const bench_matrix *matrix, double null)
{
    (void)matrix;
    (void)null;
    return NULL;
}

bench_factors bench_mumps_analyse(void *own)
{
    (void)own;
    return (bench_factors){.status = -1};
}

bench_factors bench_mumps_factorise(void *own)
{
    return bench_mumps_analyse(own);
}

bench_factors bench_mumps_solve(void *own, const double *b, double *x)
{
    (void)b;
    (void)x;
    return bench_mumps_analyse(own);
}

void bench_mumps_destroy(void *own)
{
    (void)own;
}
#endif
