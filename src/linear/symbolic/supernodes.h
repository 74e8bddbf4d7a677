/* SPDX-License-Identifier: MIT
 *
 * supernodes.h: the supernodes of a sparse Cholesky factor: ranges of columns of L with the same rows below.
 *
 * Fundamental supernodes (Liu, Ng and Peyton 1993): column j continues the supernode of j - 1 if j - 1 is its only
 * child and column j of L has one entry less. Relaxed supernodes (Ashcraft and Grimes 1989): a supernode is merged
 * with its parent if the two together store few zeros. Larger supernodes are faster; zeros cost time and memory.
 */
#ifndef SINEW_SRC_LINEAR_SYMBOLIC_SUPERNODES_H
#define SINEW_SRC_LINEAR_SYMBOLIC_SUPERNODES_H

#include "linear/symbolic/elimination.h"

/* Rule for merging a supernode with its parent: always up to columns[0] columns, or if this adds no zeros; up to
 * columns[1] if less than the fraction zeros[0] of the stored entries are zeros; up to columns[2] below zeros[1]; at
 * any size below zeros[2]. */
typedef struct sinew_amalgamation {
    int32_t columns[3];
    double zeros[3];
} sinew_amalgamation;

typedef struct sinew_supernodes {
    int32_t n, count;
    int32_t *column;   /* [count + 1] first column of each supernode */
    size_t *row_first; /* [count + 1] index of each supernode's first row in rows */
    /* [row_first[count]] rows of each supernode, ascending; the first are the supernode's own columns */
    int32_t *rows;
} sinew_supernodes;

/* Finds the supernodes of L. Each vertex of the graph stands for `block` consecutive columns; each entry of the graph
 * is a dense block x block matrix. False: out of memory; call destroy in any case. */
bool sinew_supernodes_create(sinew_supernodes *supernodes, const sinew_allocator *allocator,
                             const sinew_amalgamation *rule, const sinew_elimination *elimination, int32_t block);
void sinew_supernodes_destroy(sinew_supernodes *supernodes, const sinew_allocator *allocator);

#endif
