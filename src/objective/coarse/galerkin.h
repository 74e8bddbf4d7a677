/* SPDX-License-Identifier: MIT
 *
 * galerkin.h: the Hessian of the objective in a coarse space, A = P^T (M/h^2 + sum of projected H_j) P, assembled
 * element by element without a fine matrix.
 *
 * Free particles form aggregates; each aggregate moves by SINEW_MODES functions of its particles in each of the three
 * directions, so that a column of P is one function and one direction. A is a matrix of 12x12 blocks, one for every
 * aggregate and one for every pair of aggregates that share an element. Functions that an aggregate does not use are
 * zero, and have a one on the diagonal of A.
 *
 * Chunks add element blocks to local blocks of particle pairs and add the latter to local blocks of aggregate pairs.
 * Each block of A sums its local blocks in a fixed order, so that the bits do not depend on threads (assembly.h).
 */
#ifndef SINEW_SRC_OBJECTIVE_COARSE_GALERKIN_H
#define SINEW_SRC_OBJECTIVE_COARSE_GALERKIN_H

#include "objective/objective.h"

enum {
    SINEW_MODES = 4, /* number of basis functions of an aggregate (affine functions) */
    SINEW_PAIR_NUMBERS = 9 * SINEW_MODES * SINEW_MODES /* number of entries of a 12x12 block of the coarse matrix A */
};

/* The prolongation P: the aggregate of each particle, and the values of the aggregate's basis functions at the
 * particle. */
typedef struct sinew_coarse_space {
    int32_t count;       /* number of aggregates of particles */
    int32_t *aggregate;  /* [particle_count] aggregate of each particle; -1: the particle is pinned */
    sinew_real *basis;   /* [particle_count][SINEW_MODES] values of the aggregate's basis functions at each particle */
    uint8_t *mode_count; /* [count] number of nonzero basis functions of each aggregate; they come first */
    int32_t *first_particle; /* [count + 1] index in `particle` of each aggregate's first particle */
    /* [first_particle[count]] particle indices of all aggregates, aggregate by aggregate, ascending in each */
    int32_t *particle;
} sinew_coarse_space;

typedef struct sinew_galerkin {
    const sinew_coarse_space *space; /* borrowed: the coarse space, i.e. the aggregates and their basis functions */
    /* [space->count + 1] index of the first block of each block column of A: the diagonal block, then rows ascending */
    int32_t *column;
    int32_t *row; /* [column[space->count]] block row, i.e. aggregate index, of each 12x12 block of A */
    /* [column[space->count]][9][SINEW_MODES][SINEW_MODES] blocks of A: entry (r, c) of the 3x3 blocks, function of the
     * row, function of the column */
    double *values;

    /* Local blocks of single tasks: fine blocks (3x3, of particle pairs) and local pairs (12x12, of aggregate
     * pairs). */
    int32_t task_count;
    size_t *task_map; /* [task_count] offset in `map` of each task's entries */
    /* [group][block][W]: 2 * fine block + transposed for each element block, or -1 if one of its vertices is pinned */
    int32_t *map;
    int32_t *first_fine; /* [task_count + 1] index of the first fine block (3x3, of a particle pair) of each task */
    /* [fine blocks] the two particles of each fine block, and 2 * (index of its local pair) + transposed */
    int32_t (*fine)[3];
    /* [task_count + 1] index of the first local pair (12x12 block of an aggregate pair) of each task */
    int32_t *first_pair;
    /* [local pairs][SINEW_PAIR_NUMBERS] 12x12 block of each local pair, i.e. aggregate pair of one task */
    double *pair_values;
    int32_t *first_local; /* [column[space->count] + 1] index in `locals` of the first local pair of each block of A */
    /* [first_local[blocks of A]] indices of the local pairs that sum up to each block of A, ascending */
    int32_t *locals;
    sinew_real *scratch; /* [thread_count][scratch_size] fine blocks of the task that each thread works on */
    size_t scratch_size;
} sinew_galerkin;

/* Creates the pattern of the coarse matrix A for the current tasks of the objective. Allocates; must be destroyed after
 * failure, too. */
sinew_status sinew_galerkin_create(sinew_galerkin *galerkin, const sinew_objective *objective,
                                   const sinew_coarse_space *space, sinew_error *error);
/* Frees pattern and values of the coarse matrix; accepts a zeroed struct. */
void sinew_galerkin_destroy(sinew_galerkin *galerkin, const sinew_objective *objective);
/* Assembles the coarse matrix A at positions q into galerkin->values. Does not allocate. */
void sinew_galerkin_fill(sinew_galerkin *galerkin, const sinew_objective *objective, const sinew_real *q);

#endif
