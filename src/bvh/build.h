/* SPDX-License-Identifier: MIT
 *
 * build.h: between the makers of a tree's structure.
 */
#ifndef SINEW_SRC_BVH_BUILD_H
#define SINEW_SRC_BVH_BUILD_H

#include "bvh/tree.h"

/* A cell to be put into the tree: its box relative to the origin. */
typedef struct sinew_tree_item {
    float low[3];
    int32_t cell;
    float high[3];
    float unused;
} sinew_tree_item;

/* A node of the binary tree. The one that splits items [first, last) at `middle` is number `middle` of the array, which
 * no other can be; so threads need not ask each other for room. Children of at most SINEW_TREE_BLOCK items are leaves.
 */
typedef struct sinew_tree_split {
    int32_t middle[2]; /* of the children; 0: leaf */
    float area[2];     /* of the children's boxes */
} sinew_tree_split;

typedef struct sinew_tree_draft {
    sinew_tree_item *items;   /* [count] */
    sinew_tree_split *splits; /* [count] */
    int32_t count;
    int32_t root; /* its middle; 0: all items are one leaf */
} sinew_tree_draft;

/* Fills items with the cells in Morton order. `spare` [count] is overwritten. False: no memory. */
bool sinew_tree_order(const sinew_tree *tree, sinew_tree_item *items, sinew_tree_item *spare);
/* Splits the items of the draft, which it puts in another order. */
bool sinew_tree_split_items(const sinew_tree *tree, sinew_tree_draft *draft);
/* The wide tree of a split draft. */
bool sinew_tree_collapse(const sinew_tree *tree, const sinew_tree_draft *draft, sinew_tree_shape *shape);

#endif
