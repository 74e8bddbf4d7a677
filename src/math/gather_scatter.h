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

/* Arguments of one pass over particles. The result of pinned particles is zero; they add nothing to the returned
 * sum. */
typedef struct sinew_slot_pass {
    const int32_t (*slots)
        [2]; /* [particle_count] the first two slots of each particle; a missing slot is the index of a slot of zeros */
    const int32_t *first_more; /* [particle_count + 1] index of each particle's first entry in more */
    /* [first_more[particle_count]] pairs (particle, slot) for slots beyond the first two, particles ascending */
    const int32_t (*more)[2];
    const sinew_real *values; /* [slot][4] contribution of a chunk of elements to a particle, e.g. a gradient */
    const uint8_t *pinned;    /* [particle_count] 1: the particle is pinned */
    const sinew_real *mass;   /* [particle_count] masses, in kg */
    const sinew_real *q;
    const sinew_real *other; /* [particle_count][4] inertia: positions subtracted from q, m, or NULL; load: forces, N */
    double scale;            /* factor of the inertia term, e.g. 1/h^2 */
    sinew_real *out;         /* [particle_count][4] result; NULL: only the sum is returned */
} sinew_slot_pass;

typedef struct sinew_slot_kernels {
    /* Copies the points of a chunk's particles: local[i] = x[particle[i]]; g[i] = 0 unless g is NULL. */
    void (*copy)(const sinew_real *x, const int32_t *particle, int32_t count, sinew_real *local, sinew_real *g);
    /* out = the sum of the particle's slots, for particles first .. last-1. */
    void (*sum)(const sinew_slot_pass *pass, int32_t first, int32_t last);
    /* out = the sum of the particle's slots + scale m (q - other); returns the sum of m |q - other|^2 over particles
     * first .. last-1. */
    double (*inertia)(const sinew_slot_pass *pass, int32_t first, int32_t last);
    /* out = the sum of the particle's slots - other; returns the sum of q . other over particles first .. last-1. */
    double (*load)(const sinew_slot_pass *pass, int32_t first, int32_t last);
} sinew_slot_kernels;

#endif
