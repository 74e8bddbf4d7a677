/* SPDX-License-Identifier: MIT
 *
 * overlap.h: iteration over the blocks (leaves) of a BVH whose boxes overlap a given box.
 */
#ifndef SINEW_SRC_BVH_OVERLAP_H
#define SINEW_SRC_BVH_OVERLAP_H

#include "bvh/tree.h"

typedef struct sinew_tree_walk {
    const sinew_tree *tree;
    float box[6]; /* query box, low x y z, high x y z: scaled, relative to the tree's origin, rounded outward */
    int top;
    uint32_t stack[SINEW_TREE_STACK];
} sinew_tree_walk;

/* Begins the traversal at the root. The box (low x y z, high x y z) is grown on all sides by `margin`; both are in
 * metres. */
void sinew_tree_walk_begin(sinew_tree_walk *walk, const sinew_tree *tree, const sinew_real box[6], double margin);
/* Returns the next block (leaf of the BVH) whose box overlaps the walk's box; -1: no more blocks. */
int32_t sinew_tree_walk_next(sinew_tree_walk *walk);

/* Writes the exact bounding box of a cell, low x y z, high x y z, in metres. */
void sinew_tree_exact_box(const sinew_tree *tree, int32_t cell, sinew_real box[6]);

/* A list that keeps the `capacity` lowest of the added cell indices; `count` counts all added indices. */
typedef struct sinew_tree_list {
    int32_t *cells; /* [capacity] the lowest of the added cell indices */
    int64_t capacity, count;
} sinew_tree_list;

void sinew_tree_list_put(sinew_tree_list *list, int32_t cell);
void sinew_tree_list_sort(sinew_tree_list *list); /* sorts the cell indices ascending; no more indices may be added */

#endif
