/* SPDX-License-Identifier: MIT
 *
 * gather_scatter.h: copies from particles to the slots of chunks and sums back, with SIMD (simd.h). The layout is that
 * of energy/batch.h: a chunk copies the points of its particles into consecutive memory. Each particle has a list of
 * slots, whose sum in list order is its result.
 *
 * A pass also adds the particle's own term (inertia or load), so it reads memory once. Points are [..][4] reals,
 * aligned to 16 bytes.
 */
#ifndef SINEW_SRC_MATH_GATHER_SCATTER_H
#define SINEW_SRC_MATH_GATHER_SCATTER_H

#include "sinew/types.h"

/* One pass over particles. The result of pinned particles is zero; they add nothing to the returned sum. */
typedef struct sinew_slot_pass {
    const int32_t (*slots)
        [2]; /* [particle_count] the first two slots of each particle; a missing one is the index of a zero slot */
    const int32_t *first_more; /* [particle_count + 1] index of each particle's first entry in more */
    const int32_t (*more)[2];  /* [first_more[particle_count]] a particle and one of its slots beyond two, ascending */
    const sinew_real *values;  /* [slot][4] contribution of a chunk to a particle */
    const uint8_t *pinned;     /* [particle_count] 1: the particle is pinned */
    const sinew_real *mass;    /* [particle_count] masses, in kg */
    const sinew_real *q;
    const sinew_real *other; /* inertia: NULL, or the positions subtracted from q; load: forces */
    double scale;            /* factor of the inertia term */
    sinew_real *out;         /* result; NULL: only the sum is returned */
} sinew_slot_pass;

typedef struct sinew_slot_kernels {
    /* local[i] = x[particle[i]]; g[i] = 0 unless g is NULL */
    void (*copy)(const sinew_real *x, const int32_t *particle, int32_t count, sinew_real *local, sinew_real *g);
    /* For particles first .. last-1: out = the sum of the slots. */
    void (*sum)(const sinew_slot_pass *pass, int32_t first, int32_t last);
    /* out = the sum of the slots + scale m (q - other); returns the sum of m |q - other|^2. */
    double (*inertia)(const sinew_slot_pass *pass, int32_t first, int32_t last);
    /* out = the sum of the slots - other; returns the sum of q . other. */
    double (*load)(const sinew_slot_pass *pass, int32_t first, int32_t last);
} sinew_slot_kernels;

#endif
