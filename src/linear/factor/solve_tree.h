/* SPDX-License-Identifier: MIT
 *
 * solve_tree.h: a supernodal factor (supernodal.h) laid out for solves: its numbers in the order in which the kernels
 * of math/supernode_solve.h read them, its supernodes grouped into a small tree of subtrees.
 *
 * A subtree here is a light subtree of the elimination tree, or a chain of supernodes above such subtrees. Subtrees of
 * one level have no column in common, so they run in parallel, each on a separate vector:
 *
 *     own columns | rows of ancestors in which its supernodes have entries | one row for fillers
 *
 * The tree depends on the factor alone, not on the number of threads.
 */
#ifndef SINEW_SRC_LINEAR_FACTOR_SOLVE_TREE_H
#define SINEW_SRC_LINEAR_FACTOR_SOLVE_TREE_H

#include "linear/factor/supernodal.h"
#include "math/supernode_solve.h"

typedef struct sinew_solve_subtree {
    int32_t first, last; /* columns first .. last - 1 of the factor L belong to the subtree */
    int32_t supernode_first, supernode_count;
    int32_t parent, level; /* index of the parent subtree, -1 at roots; level 0: no children */
    int32_t ancestor_count;
    int32_t *ancestors; /* [ancestor_count] rows of ancestor subtrees in which this subtree has entries, ascending */
    int32_t *ancestor_index; /* [ancestor_count] index of each ancestor row in the parent's vector x */
    sinew_real *x;           /* [last - first + ancestor_count + 1][4] the subtree's work vector in a solve */
} sinew_solve_subtree;

typedef struct sinew_solve_tree {
    sinew_allocator allocator;
    int32_t supernode_count, subtree_count, level_count;
    /* [supernode_count] supernodes of the factor L; those of a subtree are contiguous */
    sinew_supernode *supernodes;
    sinew_solve_subtree *subtrees; /* [subtree_count] subtrees sorted by level, then by first column */
    int32_t *level_first;          /* [level_count + 1] index of each level's first subtree */
    size_t row_total, value_total;
    int32_t *rows;      /* [row_total] rows below each supernode's diagonal block, as indices in the subtree's vector */
    sinew_real *values; /* [value_total] entries of the factor L by supernodes, padded with zeros */
} sinew_solve_tree;

/* Builds the solve tree of a factor. Returns false if memory is short; call destroy in any case. */
bool sinew_solve_tree_create(sinew_solve_tree *tree, const sinew_allocator *allocator, const sinew_supernodal *factor);
void sinew_solve_tree_destroy(sinew_solve_tree *tree); /* frees the solve tree's arrays; accepts a zeroed struct */

/* Copies new values of the same factor L. Does not allocate. */
void sinew_solve_tree_refill(sinew_solve_tree *tree, const sinew_supernodal *factor);

int64_t sinew_solve_tree_memory(const sinew_solve_tree *tree); /* memory of the solve tree, in bytes */

#endif
