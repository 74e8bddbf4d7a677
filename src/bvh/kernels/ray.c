/* SPDX-License-Identifier: MIT
 *
 * ray.c: finds the first triangle along a ray, and whether a ray hits any triangle.
 *
 * A ray meets the slabs of the boxes at (bound - origin) / direction. The query has two origins and two inverse
 * directions for each axis, rounded and padded so that a box begins earlier and ends later than any hit in it.
 */
#include "bvh/box8.h"
#include "bvh/leaf_ray.h"

/* Bit i is set if the ray meets child box i; *begin receives the ray parameters at which the ray enters the boxes. */
static inline uint32_t box_entry_times(const sinew_tree_node *node, const sinew_ray_query *q, float end, box8 *begin)
{
    box8 in = box8_set(q->begin), out = box8_set(end);
    for (int k = 0; k < 3; k++) {
        const box8 near = box8_load(node->bounds[q->near_row[k]]), far = box8_load(node->bounds[q->near_row[k] ^ 1]);
        in = box8_max((near - box8_set(q->near_origin[k])) * box8_set(q->near_inverse[k]), in);
        out = box8_min((far - box8_set(q->far_origin[k])) * box8_set(q->far_inverse[k]), out);
    }
    *begin = in;
    return box8_le(in, out);
}

/* Upper bound of the ray parameter of the best hit, in the scale of the boxes. */
static inline float best_hit_bound(const sinew_ray_query *q)
{
    const double end = ((double)q->to - q->shift) * (1 + 2e-7);
    return (float)end;
}

static inline leaf_hit block_hits(const sinew_tree *tree, uint32_t block, int at, const sinew_ray_query *q)
{
    wide x[9];
    box8_corners(tree, block, 3, at, x);
    return leaf_ray(q, x);
}

static inline void ray_visit_block(const sinew_tree *tree, uint32_t block, sinew_ray_query *q)
{
    const int32_t *ids = tree->shape.ids + (size_t)block * SINEW_TREE_BLOCK;
    for (int at = 0; at < SINEW_TREE_BLOCK; at += SIMD_WIDTH) {
        const leaf_hit h = block_hits(tree, block, at, q);
        for (uint32_t bits = box8_bits(h.hit); bits; bits &= bits - 1) {
            const int i = __builtin_ctz(bits);
            const sinew_real t = wide_get(h.t, i);
            if (t < q->to || (t == q->to && ids[at + i] < q->cell)) {
                q->to = t;
                q->cell = ids[at + i];
                q->u = wide_get(h.u, i);
                q->v = wide_get(h.v, i);
            }
        }
    }
}

void SINEW_SIMD_SYMBOL(sinew_tree_find_hit)(const sinew_tree *tree, sinew_ray_query *query);
void SINEW_SIMD_SYMBOL(sinew_tree_find_hit)(const sinew_tree *tree, sinew_ray_query *query)
{
    sinew_ray_query q = *query;
    box8_entry stack[SINEW_TREE_STACK];
    int top = 1;
    stack[0] = (box8_entry){q.begin, 0};
    float end = q.end;
    while (top > 0) {
        const box8_entry entry = stack[--top];
        if (entry.key > end)
            continue;
        if (entry.child & SINEW_TREE_LEAF) {
            ray_visit_block(tree, entry.child & ~SINEW_TREE_LEAF, &q);
            end = q.cell == INT32_MAX ? q.end : best_hit_bound(&q);
        } else {
            const sinew_tree_node *node = tree->shape.nodes + entry.child;
            box8 begin;
            const uint32_t bits = box_entry_times(node, &q, end, &begin);
            top = box8_push(stack, top, node, bits, begin);
        }
    }
    *query = q;
}

bool SINEW_SIMD_SYMBOL(sinew_tree_find_any)(const sinew_tree *tree, sinew_ray_query *query);
bool SINEW_SIMD_SYMBOL(sinew_tree_find_any)(const sinew_tree *tree, sinew_ray_query *query)
{
    const sinew_ray_query q = *query;
    uint32_t stack[SINEW_TREE_STACK];
    int top = 1;
    stack[0] = 0;
    while (top > 0) {
        const uint32_t child = stack[--top];
        if (child & SINEW_TREE_LEAF) {
            for (int at = 0; at < SINEW_TREE_BLOCK; at += SIMD_WIDTH)
                if (wide_any(block_hits(tree, child & ~SINEW_TREE_LEAF, at, &q).hit))
                    return true;
            continue;
        }
        const sinew_tree_node *node = tree->shape.nodes + child;
        box8 begin;
        for (uint32_t bits = box_entry_times(node, &q, q.end, &begin); bits; bits &= bits - 1)
            stack[top++] = node->child[__builtin_ctz(bits)];
    }
    return false;
}
