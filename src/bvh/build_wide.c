/* SPDX-License-Identifier: MIT
 *
 * build_wide.c: converts the binary BVH to the wide BVH. A wide node starts with two children; the child with the
 * largest box that is not a leaf is replaced by its own two children until the node has eight children or only leaves.
 */
#include "bvh/build.h"

typedef struct branch {
    int32_t first, last, middle; /* range of items first .. last-1 of a binary node, and its split index; 0: leaf */
    float area;
} branch;

typedef struct collapsing {
    const sinew_tree_builder *builder;
    sinew_tree_shape *shape; /* the wide tree; its arrays may be NULL: nodes and blocks are then only counted */
} collapsing;

static branch child_of(const sinew_tree_builder *builder, branch b, int side)
{
    const sinew_tree_split *split = builder->splits + b.middle;
    return (branch){side ? b.middle : b.first, side ? b.last : b.middle, split->middle[side], split->area[side]};
}

/* Collects up to eight children of a wide node, opening the largest boxes first; returns their number. */
static int32_t wide_tree_gather(const sinew_tree_builder *builder, branch root, branch children[SINEW_TREE_WIDE])
{
    int32_t count = 1;
    children[0] = root;
    while (count < SINEW_TREE_WIDE) {
        int32_t largest = -1;
        for (int32_t i = 0; i < count; i++)
            if (children[i].middle && (largest < 0 || children[i].area > children[largest].area))
                largest = i;
        if (largest < 0)
            break;
        const branch opened = children[largest];
        children[largest] = child_of(builder, opened, 0);
        children[count++] = child_of(builder, opened, 1);
    }
    return count;
}

/* Appends a block (leaf) with the cells of a leaf; unused entries repeat the first cell. Without arrays only counts the
 * block. `slot`: 8 * parent node + index of the child. */
static void write_block(const collapsing *c, branch b, uint32_t slot)
{
    const int32_t block = c->shape->block_count++;
    if (!c->shape->nodes)
        return;
    c->shape->counts[block] = b.last - b.first;
    c->shape->block_slots[block] = slot;
    int32_t *ids = c->shape->ids + (size_t)block * SINEW_TREE_BLOCK;
    for (int32_t i = 0; i < SINEW_TREE_BLOCK; i++)
        ids[i] = c->builder->items[b.first + i < b.last ? b.first + i : b.first].cell;
}

/* Appends a wide node and its descendants; without arrays only counts them. The recursion is as deep as the tree
 * (tree.h). `slot`: 8 * parent node + index of the child; 0 for the root. */
static void write_node(const collapsing *c, branch b, uint32_t slot)
{
    branch children[SINEW_TREE_WIDE];
    const int32_t count = wide_tree_gather(c->builder, b, children), at = c->shape->node_count++;
    sinew_tree_node *node = c->shape->nodes ? c->shape->nodes + at : NULL;
    if (node) {
        c->shape->node_slots[at] = slot;
        node->child_count = count;
        for (int i = 0; i < SINEW_TREE_WIDE; i++) {
            node->child[i] = 0;
            for (int k = 0; k < 6; k++)
                node->bounds[k][i] = k % 2 ? -__builtin_inff() : __builtin_inff();
        }
    }
    for (int32_t i = 0; i < count; i++) {
        const bool leaf = children[i].middle == 0;
        const uint32_t child_slot = (uint32_t)(SINEW_TREE_WIDE * at + i);
        if (node)
            node->child[i] = leaf ? SINEW_TREE_LEAF | (uint32_t)c->shape->block_count : (uint32_t)c->shape->node_count;
        if (leaf)
            write_block(c, children[i], child_slot);
        else
            write_node(c, children[i], child_slot);
    }
}

static bool wide_tree_make_arrays(const sinew_tree *tree, sinew_tree_shape *s)
{
    const sinew_allocator *a = &tree->allocator;
    const size_t nodes = (size_t)s->node_count, blocks = (size_t)s->block_count;
    s->nodes = sinew_allocate(a, nodes, sizeof *s->nodes);
    s->node_slots = sinew_allocate(a, nodes, sizeof *s->node_slots);
    s->block_slots = sinew_allocate(a, blocks, sizeof *s->block_slots);
    s->counts = sinew_allocate(a, blocks, sizeof *s->counts);
    s->ids = sinew_allocate(a, blocks * SINEW_TREE_BLOCK, sizeof *s->ids);
    s->corners = sinew_allocate(a, blocks * SINEW_TREE_BLOCK, 3 * (size_t)tree->width * sizeof *s->corners);
    if (tree->winding)
        s->moments = sinew_allocate(a, nodes, sizeof *s->moments);
    return s->nodes && s->node_slots && s->block_slots && s->counts && s->ids && s->corners &&
           (s->moments || !tree->winding);
}

bool sinew_tree_collapse(const sinew_tree *tree, const sinew_tree_builder *builder, sinew_tree_shape *shape)
{
    const branch root = {0, builder->count, builder->root, 0};
    const collapsing c = {builder, shape};
    write_node(&c, root, 0);
    if (!wide_tree_make_arrays(tree, shape))
        return false;
    shape->node_count = shape->block_count = 0;
    write_node(&c, root, 0);
    return true;
}

bool sinew_tree_build(const sinew_tree *tree, sinew_tree_shape *shape)
{
    const sinew_allocator *a = &tree->allocator;
    sinew_tree_builder builder = {.count = tree->cell_count};
    const size_t count = (size_t)builder.count;
    builder.items = sinew_allocate(a, count, sizeof *builder.items);
    sinew_tree_item *spare = sinew_allocate(a, count, sizeof *spare);
    bool good = builder.items && spare && sinew_tree_order(tree, builder.items, spare);
    sinew_release(a, spare);
    builder.splits = good ? sinew_allocate(a, count, sizeof *builder.splits) : NULL;
    good = builder.splits && sinew_tree_split_items(tree, &builder) && sinew_tree_collapse(tree, &builder, shape);
    sinew_release(a, builder.items);
    sinew_release(a, builder.splits);
    return good;
}
