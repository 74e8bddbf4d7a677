/* SPDX-License-Identifier: MIT
 *
 * build.h: data that the stages of building a BVH share.
 */
#ifndef SINEW_SRC_BVH_BUILD_H
#define SINEW_SRC_BVH_BUILD_H

#include "bvh/tree.h"

/* A cell from which the tree is built, with its bounding box relative to the tree's origin. */
typedef struct sinew_tree_item {
    float low[3];
    int32_t cell;
    float high[3];
    float unused;
} sinew_tree_item;

/* A node of the binary tree. The node that splits items [first, last) at `middle` has index `middle`, which is unique,
 * so threads need no common counter. Children of at most SINEW_TREE_BLOCK items are leaves. */
typedef struct sinew_tree_split {
    int32_t middle[2]; /* split index of each child node, its `middle`; 0: the child is a leaf */
    float area[2];     /* half the surface areas of the children's bounding boxes */
} sinew_tree_split;

typedef struct sinew_tree_builder {
    sinew_tree_item *items;   /* [count] items, one per cell, reordered by the splits */
    sinew_tree_split *splits; /* [count] nodes of the binary tree, each at its split index `middle` */
    int32_t count;
    int32_t root; /* split index of the root node, its `middle`; 0: all items are one leaf */
} sinew_tree_builder;

/* Fills items with the tree's cells in Morton order. `spare` [count] is overwritten. Returns false if memory runs
 * out. */
bool sinew_tree_order(const sinew_tree *tree, sinew_tree_item *items, sinew_tree_item *spare);
/* Splits the items of the builder into the binary tree and reorders them. Returns false if memory runs out. */
bool sinew_tree_split_items(const sinew_tree *tree, sinew_tree_builder *builder);
/* Builds the wide tree (8 children per node) from the binary tree. Returns false if memory runs out. */
bool sinew_tree_collapse(const sinew_tree *tree, const sinew_tree_builder *builder, sinew_tree_shape *shape);

#endif
