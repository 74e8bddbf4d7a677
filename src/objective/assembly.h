/* SPDX-License-Identifier: MIT
 *
 * assembly.h: the Hessian of the objective over the free particles as one sparse symmetric matrix of 3x3 blocks.
 *
 * Pattern: lower triangle by block columns; column j stores its diagonal block first, then rows ascending. Values are
 * three scalar columns per block column, which a scalar sparse solver can read directly. Entry (3 row + r, 3 j + c) of
 * the k-th block of column j, which has b blocks, is at 9 column[j] + 3 b c + 3 k + r.
 *
 * Chunks add element blocks to their own local blocks; then every matrix block adds its local blocks in a fixed order,
 * as for vectors (objective.h). The result has the same bits for any number of threads.
 */
#ifndef SINEW_SRC_OBJECTIVE_ASSEMBLY_H
#define SINEW_SRC_OBJECTIVE_ASSEMBLY_H

#include "objective/objective.h"

typedef struct sinew_assembly {
    /* number of the objective's tasks, from the first, that the matrix includes: all tasks, or the fixed ones */
    int32_t task_count;
    int32_t free_count;
    int32_t *free_index; /* [particle_count] block row of each particle in the matrix; -1: pinned */
    int32_t *particle;   /* [free_count] particle of each block row of the matrix */
    int32_t *column;     /* [free_count + 1] index of the first 3x3 block of each block column */
    int32_t *row;        /* [column[free_count]] block row of each 3x3 block */

    int32_t local_count; /* number of local blocks (3x3 sums over one task), summed over all tasks */
    int32_t *task_local; /* [task_count + 1] index of the first local block of each task */
    size_t *task_map;    /* [task_count] offset in `map` of each task's entries */
    /* [group][block][W]: 2 * local block + transposed for each element block, or -1 if one of its vertices is pinned */
    int32_t *map;
    int32_t *first_local; /* [block_count + 1] index in `locals` of each matrix block's first local block */
    /* [local_count] indices of the local blocks that sum up to each matrix block, ascending */
    int32_t *locals;
    sinew_real *local_values; /* [local_count][9] entries of each 3x3 local block */
} sinew_assembly;

/* Creates the matrix of the objective's first task_count tasks. order [free_count]: block row k belongs to free
 * particle order[k], counted over the free particles in ascending order; NULL: rows in ascending order. Allocates;
 * returns NULL on failure. */
sinew_assembly *sinew_assembly_create(const sinew_objective *objective, int32_t task_count, const int32_t *order,
                                      sinew_error *error);
/* Frees local_values, which only sinew_assembly_fill() needs. */
void sinew_assembly_drop_values(const sinew_objective *objective, sinew_assembly *assembly);
void sinew_assembly_destroy(const sinew_objective *objective, sinew_assembly *assembly);
/* Returns the rest positions of the particles of all block rows, [free_count][4], in m; the caller frees them. NULL if
 * memory runs out. */
sinew_real *sinew_assembly_rest_positions(const sinew_assembly *assembly, const sinew_objective *objective);
/* values [9 * block_count] = M/h^2 (masses; dynamic steps) + sum of exact or projected element Hessians at q,
 * filtered by S, the projection to free directions */
void sinew_assembly_fill(sinew_assembly *assembly, sinew_objective *objective, const sinew_real *q, bool project,
                         double *values);

#endif
