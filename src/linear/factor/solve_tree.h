/* SPDX-License-Identifier: MIT
 *
 * solve_tree.h: a factor by panels (supernodal.h), laid out for solves: its numbers in the order that the kernels of
 * math/panel_solve.h read them, its panels grouped into a small tree of parts.
 *
 * A part is a subtree of the elimination tree that is light enough, or a chain of panels above such subtrees. Parts of
 * one level touch no common column, so they run side by side, each on a vector of its own:
 *
 *     own columns | rows of ancestors that its panels touch ("owed" to the parent) | one row for fillers
 *
 * The tree depends on the factor alone, not on the number of threads.
 */
#ifndef SINEW_SRC_LINEAR_FACTOR_SOLVE_TREE_H
#define SINEW_SRC_LINEAR_FACTOR_SOLVE_TREE_H

#include "linear/factor/supernodal.h"
#include "math/panel_solve.h"

typedef struct sinew_part {
    int32_t first, last; /* own columns, in elimination order */
    int32_t panel_first, panel_count;
    int32_t parent, level; /* level 0: no children */
    int32_t owed_count;
    int32_t *owed;       /* [owed_count] rows of ancestors, ascending */
    int32_t *owed_place; /* [owed_count] where they are in the parent's vector */
    sinew_real *x;       /* [last - first + owed_count + 1][4] */
} sinew_part;

typedef struct sinew_part_tree {
    sinew_allocator allocator;
    int32_t panel_count, part_count, level_count;
    sinew_panel *panels;  /* [panel_count] those of a part follow each other */
    sinew_part *parts;    /* [part_count] sorted by level, then by first column */
    int32_t *level_first; /* [level_count + 1] into parts */
    size_t row_total, value_total;
    int32_t *rows;      /* [row_total] of all panels, local to their parts' vectors */
    sinew_real *values; /* [value_total] of all panels, fillers included */
} sinew_part_tree;

/* False without memory; destroy in any case. */
bool sinew_part_tree_create(sinew_part_tree *tree, const sinew_allocator *allocator, const sinew_supernodal *factor);
void sinew_part_tree_destroy(sinew_part_tree *tree); /* zeroed is fine */

/* Takes over new numbers of the same factor. Does not allocate. */
void sinew_part_tree_refill(sinew_part_tree *tree, const sinew_supernodal *factor);

int64_t sinew_part_tree_memory(const sinew_part_tree *tree); /* bytes held */

#endif
