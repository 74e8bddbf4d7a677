/* SPDX-License-Identifier: MIT
 *
 * overlap.c: finds cells whose bounding boxes overlap a box, and cells within a distance. See overlap.h.
 */
#include "bvh/overlap.h"

#include <float.h>
#include <math.h>

#undef SINEW_SIMD_WIDTH
#undef SINEW_SIMD_SUFFIX
#define SINEW_SIMD_WIDTH  1
#define SINEW_SIMD_SUFFIX overlap
#include "bvh/leaf_nearest.h"

/* ---- Lists of the lowest cell indices ------------------------------------------------------------ */

/* Restores the max-heap of cell indices below index `at`. */
static void sift_down(int32_t *cells, int64_t count, int64_t at)
{
    const int32_t moving = cells[at];
    for (int64_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && cells[child + 1] > cells[child])
            child++;
        if (cells[child] <= moving)
            break;
        cells[at] = cells[child];
    }
    cells[at] = moving;
}

static void make_heap(int32_t *cells, int64_t count)
{
    for (int64_t at = count / 2; at-- > 0;)
        sift_down(cells, count, at);
}

/* Adds a cell index. A full list becomes a max-heap, so that its largest index can be replaced. */
void sinew_tree_list_put(sinew_tree_list *list, int32_t cell)
{
    const int64_t count = list->count++;
    if (count < list->capacity) {
        list->cells[count] = cell;
    } else if (list->capacity > 0) {
        if (count == list->capacity)
            make_heap(list->cells, list->capacity);
        if (cell < list->cells[0]) {
            list->cells[0] = cell;
            sift_down(list->cells, list->capacity, 0);
        }
    }
}

void sinew_tree_list_sort(sinew_tree_list *list)
{
    int64_t count = list->count < list->capacity ? list->count : list->capacity;
    make_heap(list->cells, count);
    while (count-- > 1) {
        const int32_t last = list->cells[count];
        list->cells[count] = list->cells[0];
        list->cells[0] = last;
        sift_down(list->cells, count, 0);
    }
}

/* ---- Traversal of blocks that overlap a box ------------------------------------------------------ */

void sinew_tree_walk_begin(sinew_tree_walk *walk, const sinew_tree *tree, const sinew_real box[6], double margin)
{
    walk->tree = tree;
    walk->top = 1;
    walk->stack[0] = 0;
    for (int k = 0; k < 3; k++) {
        const double low = (double)box[k] * tree->scale - tree->origin[k];
        const double high = (double)box[3 + k] * tree->scale - tree->origin[k];
        const double grown = margin * tree->scale;
        /* The padding covers the round-off of sums and differences in this loop and in the exact tests of cells. */
        const double pad =
            4 * SINEW_TREE_EPSILON * (fabs(low) + fabs(high) + fabs(grown) + fabs(tree->origin[k]) + tree->half[k]) +
            0x1p-60;
        walk->box[k] = sinew_float_below(low - grown - pad);
        walk->box[3 + k] = sinew_float_above(high + grown + pad);
    }
}

/* Bit i is set if the box of child i of a node overlaps the box of the traversal. */
static uint32_t overlapping_children(const sinew_tree_node *node, const float box[6])
{
    uint32_t bits = 0, apart[SINEW_TREE_WIDE];
    for (int i = 0; i < SINEW_TREE_WIDE; i++) {
        apart[i] = 0;
        for (int k = 0; k < 3; k++)
            apart[i] |=
                (uint32_t) !(node->bounds[2 * k][i] <= box[3 + k]) | (uint32_t) !(node->bounds[2 * k + 1][i] >= box[k]);
    }
    for (int i = 0; i < SINEW_TREE_WIDE; i++)
        bits |= (apart[i] ^ 1) << i;
    return bits;
}

int32_t sinew_tree_walk_next(sinew_tree_walk *walk)
{
    while (walk->top > 0) {
        const uint32_t at = walk->stack[--walk->top];
        if (at & SINEW_TREE_LEAF)
            return (int32_t)(at & ~SINEW_TREE_LEAF);
        const sinew_tree_node *node = walk->tree->shape.nodes + at;
        uint32_t bits = overlapping_children(node, walk->box) & ((1u << node->child_count) - 1);
        for (; bits; bits &= bits - 1)
            walk->stack[walk->top++] = node->child[__builtin_ctz(bits)];
    }
    return -1;
}

/* ---- Cells whose boxes overlap a box ------------------------------------------------------------- */

void sinew_tree_exact_box(const sinew_tree *tree, int32_t cell, sinew_real box[6])
{
    for (int k = 0; k < 3; k++)
        box[k] = box[3 + k] = sinew_tree_corner(tree, cell, 0)[k];
    for (int32_t corner = 1; corner < tree->width; corner++) {
        const sinew_real *x = sinew_tree_corner(tree, cell, corner);
        for (int k = 0; k < 3; k++) {
            box[k] = x[k] < box[k] ? x[k] : box[k];
            box[3 + k] = x[k] > box[3 + k] ? x[k] : box[3 + k];
        }
    }
}

static bool boxes_meet(const sinew_real a[6], const sinew_real b[6])
{
    bool meet = true;
    for (int k = 0; k < 3; k++)
        meet = meet && a[k] <= b[3 + k] && b[k] <= a[3 + k];
    return meet;
}

int64_t sinew_tree_overlaps(const sinew_tree *tree, const sinew_real box[6], int32_t *cells, int64_t capacity)
{
    if (!SINEW_ASSERT(tree && box && (cells || capacity <= 0)))
        return 0;
    sinew_tree_walk walk;
    sinew_tree_list list = {cells, capacity > 0 ? capacity : 0, 0};
    sinew_tree_walk_begin(&walk, tree, box, 0);
    for (int32_t block; (block = sinew_tree_walk_next(&walk)) >= 0;)
        for (int32_t i = 0; i < tree->shape.counts[block]; i++) {
            const int32_t cell = tree->shape.ids[(size_t)block * SINEW_TREE_BLOCK + (size_t)i];
            sinew_real own[6];
            sinew_tree_exact_box(tree, cell, own);
            if (boxes_meet(own, box))
                sinew_tree_list_put(&list, cell);
        }
    sinew_tree_list_sort(&list);
    return list.count;
}

/* ---- Cells within a distance of a point ---------------------------------------------------------- */

/* Scaled squared distance from the query point to cell number `at` of a block (leaf). */
static sinew_real cell_d2(const sinew_tree *tree, int32_t block, int32_t at, const sinew_nearest_query *q)
{
    const int rows = 3 * tree->width;
    const sinew_real *corners = tree->shape.corners + (size_t)block * (size_t)(rows * SINEW_TREE_BLOCK) + at;
    sinew_real x[9] = {0};
    for (int row = 0; row < rows; row++)
        x[row] = corners[row * SINEW_TREE_BLOCK];
    return leaf_nearest(tree->width, q->p, x).d2;
}

int64_t sinew_tree_within(const sinew_tree *tree, const sinew_real point[3], sinew_real distance, int32_t *cells,
                          int64_t capacity)
{
    if (!SINEW_ASSERT(tree && point && (cells || capacity <= 0)))
        return 0;
    sinew_nearest_query q;
    int exponent;
    if (!sinew_nearest_query_set(tree, point, (double)distance, &q, &exponent))
        return 0;
    sinew_tree_walk walk;
    sinew_tree_list list = {cells, capacity > 0 ? capacity : 0, 0};
    const sinew_real box[6] = {point[0], point[1], point[2], point[0], point[1], point[2]};
    /* The margin covers the relative round-off of the distances computed in a leaf. */
    sinew_tree_walk_begin(&walk, tree, box, (double)distance * (1 + 64 * SINEW_TREE_EPSILON));
    /* widens the query box by the absolute round-off of the distances computed in a leaf */
    for (int k = 0; k < 3; k++) {
        const double error = 16 * SINEW_TREE_EPSILON * tree->largest;
        walk.box[k] = sinew_float_below((double)walk.box[k] - error);
        walk.box[3 + k] = sinew_float_above((double)walk.box[3 + k] + error);
    }
    for (int32_t block; (block = sinew_tree_walk_next(&walk)) >= 0;)
        for (int32_t i = 0; i < tree->shape.counts[block]; i++)
            if (cell_d2(tree, block, i, &q) <= q.d2)
                sinew_tree_list_put(&list, tree->shape.ids[(size_t)block * SINEW_TREE_BLOCK + (size_t)i]);
    sinew_tree_list_sort(&list);
    return list.count;
}
