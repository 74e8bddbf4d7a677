/* SPDX-License-Identifier: MIT
 *
 * nearest.c: finds the cell of a BVH nearest to a point. Children are visited in order of their distance, and boxes
 * farther than the best cell are skipped. Boxes at the same distance are visited, because they may contain a cell of
 * lower index.
 *
 * The query point is an interval that contains the point and the round-off of the leaf test. No box is then farther
 * than the computed distance of a cell in it. SLACK covers the relative round-off.
 */
#include <float.h>

#include "bvh/box8.h"
#include "bvh/leaf_nearest.h"

#define SLACK (1 + 64 * FLT_EPSILON)

/* Lower bounds of the squared distances from the query point to the eight child boxes of a node. */
static inline box8 box_distances(const sinew_tree_node *node, const sinew_nearest_query *q)
{
    box8 sum = box8_set(0);
    for (int k = 0; k < 3; k++) {
        const box8 before = box8_load(node->bounds[2 * k]) - box8_set(q->high[k]);
        const box8 behind = box8_set(q->low[k]) - box8_load(node->bounds[2 * k + 1]);
        const box8 gap = box8_max(box8_max(before, behind), box8_set(0));
        sum += gap * gap;
    }
    return sum;
}

/* The squared distance from the query point up to which a box may contain the best cell; finite, so that empty boxes
 * are excluded. */
static inline float nearest_bound_of(const sinew_nearest_query *q)
{
    const double bound = (double)q->d2 * SLACK;
    return bound < (double)FLT_MAX ? (float)bound : FLT_MAX;
}

static inline void nearest_visit_block(const sinew_tree *tree, uint32_t block, int width, sinew_nearest_query *q)
{
    const wide p[3] = {wide_set(q->p[0]), wide_set(q->p[1]), wide_set(q->p[2])};
    const int32_t *ids = tree->shape.ids + (size_t)block * SINEW_TREE_BLOCK;
    for (int at = 0; at < SINEW_TREE_BLOCK; at += SIMD_WIDTH) {
        wide x[9];
        box8_corners(tree, block, width, at, x);
        const leaf_spot spot = leaf_nearest(width, p, x);
        for (uint32_t bits = box8_bits(wide_le(spot.d2, wide_set(q->d2))); bits; bits &= bits - 1) {
            const int i = __builtin_ctz(bits);
            const sinew_real d2 = wide_get(spot.d2, i);
            if (d2 < q->d2 || (d2 == q->d2 && ids[at + i] < q->cell)) {
                q->d2 = d2;
                q->cell = ids[at + i];
            }
        }
    }
}

static inline void nearest_find(const sinew_tree *tree, int width, sinew_nearest_query *q)
{
    box8_entry stack[SINEW_TREE_STACK];
    int top = 1;
    stack[0] = (box8_entry){0, 0};
    float bound = nearest_bound_of(q);
    while (top > 0) {
        const box8_entry entry = stack[--top];
        if (entry.key > bound)
            continue;
        if (entry.child & SINEW_TREE_LEAF) {
            nearest_visit_block(tree, entry.child & ~SINEW_TREE_LEAF, width, q);
            bound = nearest_bound_of(q);
        } else {
            const sinew_tree_node *node = tree->shape.nodes + entry.child;
            const box8 d2 = box_distances(node, q);
            top = box8_push(stack, top, node, box8_le(d2, box8_set(bound)), d2);
        }
    }
}

void SINEW_SIMD_SYMBOL(sinew_tree_find_nearest)(const sinew_tree *tree, sinew_nearest_query *query);
void SINEW_SIMD_SYMBOL(sinew_tree_find_nearest)(const sinew_tree *tree, sinew_nearest_query *query)
{
    if (tree->width == 3)
        nearest_find(tree, 3, query);
    else if (tree->width == 2)
        nearest_find(tree, 2, query);
    else
        nearest_find(tree, 1, query);
}
