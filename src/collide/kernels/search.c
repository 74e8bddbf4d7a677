/* SPDX-License-Identifier: MIT
 *
 * search.c: descends a BVH of width 8 with the box of one node and tests the node's features against the features of
 * leaves.
 *
 * The box of the searching node descends the levels of the target. At a node of level 0, pairs of features are tested
 * by their boxes, then by distance bounds in floats (distance_bounds.h), then in double (narrow_phase.h). Boxes and
 * bounds only exclude pairs that the test in double excludes: boxes that are apart along an axis prove (2) and (3) of
 * candidates.h along it. So every SIMD variant finds the same pairs.
 *
 * Functions with the argument `moving` are compiled twice, so that searches without predicted displacements have no
 * overhead.
 */
#include "collide/distance_bounds.h"
#include "collide/narrow_phase.h"
#include "math/simd.h"
#include "bvh/box8.h"

/* The eight boxes of a BVH node, and their predicted displacements or NULL. */
typedef struct search_group {
    const sinew_box_node *node;
    const sinew_box_displacements *predicted;
} search_group;

/* The box in one of the eight slots of a BVH node. */
typedef struct search_box {
    float low[3], high[3];
    search_group group;
    int slot;
} search_box;

typedef struct search_node {
    const sinew_search *search;
    const sinew_box_node *node;
    const sinew_box_shape *shape;
    const sinew_box_displacements *predicted;
    uint32_t row;   /* index of the node's first slot among all slots of its chunk */
    search_box box; /* box that encloses the boxes of all slots of the node */
    int32_t lowest; /* lowest feature of the node; -1: the other feature may have any number */
    int32_t object; /* object that all features of the node belong to; -1: several objects */
    sinew_search_found *found;
} search_node;

#define MADE_TWICE static inline __attribute__((always_inline))

MADE_TWICE search_group group_at(const sinew_boxes *boxes, int32_t level, int32_t index, bool moving)
{
    return (search_group){boxes->nodes[level] + index, moving ? boxes->predicted[level] + index : NULL};
}

/* The searching node as a group of eight boxes; without predicted displacements unless `moving`. */
MADE_TWICE search_group own_group(const search_node *s, bool moving)
{
    return (search_group){s->node, moving ? s->predicted : NULL};
}

MADE_TWICE search_box box_at(search_group group, int slot)
{
    search_box box = {.group = group, .slot = slot};
    for (int k = 0; k < 3; k++) {
        box.low[k] = group.node->low[k][slot];
        box.high[k] = group.node->high[k][slot];
    }
    return box;
}

/* Per slot: the boxes of the group share lambda with the given box. */
static inline box8_mask group_is_joint(search_group group, const search_box *box)
{
    /* BVH nodes with features of several islands have the island -1, which must not match any island. */
    const int32_t island = box->group.predicted->island[box->slot], own = island >= 0 ? island : INT32_MAX;
    box8_mask islands;
    memcpy(&islands, group.predicted->island, sizeof islands);
    return (box8_mask)(islands == (own - (box8_mask){0}));
}

/* Upper bounds, per slot, of the approach along axis k by predicted displacements: between a box below and the boxes of
 * a group above it (down), or a box above them (up). An empty slot has infinite displacements, but no box overlaps its
 * box. */
static inline void group_approach(search_group group, const search_box *box, box8_mask joint, int k, box8 *down,
                                  box8 *up)
{
    const sinew_box_displacements *predicted = box->group.predicted;
    const int slot = box->slot;
    const box8 none = box8_set(0), slack = box8_set(1 + (float)SINEW_BOX_SLACK), pad = box8_set((float)SINEW_BOX_PAD);
    const box8 low = box8_load(group.predicted->low[k]), high = box8_load(group.predicted->high[k]);
    const box8 own_low = box8_set(predicted->low[k][slot]), own_high = box8_set(predicted->high[k][slot]);
    const box8 closing =
        bounds_select(joint, box8_max(own_high - low, none), box8_max(own_high, none) + box8_max(none - low, none));
    const box8 rising =
        bounds_select(joint, box8_max(high - own_low, none), box8_max(high, none) + box8_max(none - own_low, none));
    *down = closing * slack + pad;
    *up = rising * slack + pad;
}

/* Bit mask of the boxes in the group that overlap the given box. */
MADE_TWICE uint32_t group_overlaps(search_group group, const search_box *box)
{
    const sinew_box_node *node = group.node;
    /* An empty slot of a BVH node has the id -1. Its box, from infinity to minus infinity, would overlap the box of a
     * vertex at infinity. */
    box8_mask meet;
    memcpy(&meet, node->id, sizeof meet);
    meet = (box8_mask)(meet >= (box8_mask){0});
    if (!group.predicted) {
        for (int k = 0; k < 3; k++)
            meet &= (box8_mask)(box8_load(node->low[k]) <= box8_set(box->high[k])) &
                    (box8_mask)(box8_set(box->low[k]) <= box8_load(node->high[k]));
        return bounds_bits(meet);
    }
    const box8_mask joint = group_is_joint(group, box);
    for (int k = 0; k < 3; k++) {
        box8 down, up;
        group_approach(group, box, joint, k, &down, &up);
        meet &= (box8_mask)(box8_load(node->low[k]) - down <= box8_set(box->high[k])) &
                (box8_mask)(box8_set(box->low[k]) - up <= box8_load(node->high[k]));
    }
    return bounds_bits(meet);
}

static inline void search_put_found(search_node *s, int slot, int32_t key)
{
    sinew_search_found *found = s->found;
    if (found->count < found->capacity)
        found->entries[found->count] = (uint64_t)(s->row + (uint32_t)slot) << 32 | (uint32_t)key;
    found->count++;
}

/* Upper bound, per slot of a leaf, of the approach along any direction between a feature of the searching node and the
 * leaf's features; 0 without displacements. Along u, features approach by at most sum_k |u_k| a_k, where a_k is their
 * approach along axis k. */
MADE_TWICE box8 search_approach(const search_node *s, int slot, search_group leaf, bool moving)
{
    box8 square = box8_set(0);
    if (!moving)
        return square;
    const search_box own = box_at(own_group(s, moving), slot);
    const box8_mask joint = group_is_joint(leaf, &own);
    for (int k = 0; k < 3; k++) {
        box8 down, up;
        group_approach(leaf, &own, joint, k, &down, &up);
        const box8 max = box8_max(down, up);
        square += max * max;
    }
    return bounds_root(square) * box8_set(1 + (float)SINEW_BOX_SLACK);
}

MADE_TWICE void search_try_faces(search_node *s, int slot, uint32_t bits, search_group group,
                                 const sinew_box_shape *shape, bool moving)
{
    const sinew_search *search = s->search;
    const sinew_box_node *leaf = group.node;
    for (bits &= ~bounds_faces(s->shape, slot, shape, search_approach(s, slot, group, moving)); bits;
         bits &= bits - 1) {
        const int at = __builtin_ctz(bits);
        const int32_t primitive = leaf->id[at];
        if (sinew_may_collide(search->mesh, s->node->object[slot], leaf->object[at]) &&
            !sinew_features_follow(search->mesh, &s->node->id[slot], 1, search->mesh->primitives[primitive], 3) &&
            narrow_face(search, s->node->id[slot], primitive))
            search_put_found(s, slot, search->rank[primitive]);
    }
}

MADE_TWICE void search_try_edges(search_node *s, int slot, uint32_t bits, search_group group,
                                 const sinew_box_shape *shape, bool moving)
{
    const sinew_box_node *leaf = group.node;
    for (bits &= ~bounds_edges(s->shape, slot, shape, search_approach(s, slot, group, moving)); bits;
         bits &= bits - 1) {
        const int at = __builtin_ctz(bits);
        const sinew_collision_mesh *f = s->search->mesh;
        if (sinew_may_collide(f, s->node->object[slot], leaf->object[at]) &&
            !sinew_features_follow(f, f->edges[s->node->id[slot]], 2, f->edges[leaf->id[at]], 2) &&
            narrow_edges(s->search, s->node->id[slot], leaf->id[at]))
            search_put_found(s, slot, leaf->id[at]);
    }
}

static inline void search_try_intersections(search_node *s, int slot, uint32_t bits, const sinew_box_node *leaf)
{
    for (; bits; bits &= bits - 1) {
        const int at = __builtin_ctz(bits);
        const sinew_collision_mesh *f = s->search->mesh;
        if (sinew_may_collide(f, s->node->object[slot], leaf->object[at]) &&
            !sinew_features_follow(f, f->primitives[s->node->id[slot]], 3, f->primitives[leaf->id[at]], 3) &&
            sinew_primitives_intersect(s->search->mesh, s->search->input.x, s->node->id[slot], leaf->id[at]))
            search_put_found(s, slot, leaf->id[at]);
    }
}

/* Bits of the slots of a leaf whose boxes overlap the box of the feature in slot `slot`, and whose features have an
 * admissible index and share no vertex with this feature. */
MADE_TWICE uint32_t search_partners(const search_node *s, int slot, search_group leaf, const sinew_box_shape *shape,
                                    bool moving)
{
    const sinew_search_kind kind = s->search->kind;
    const search_box own = box_at(own_group(s, moving), slot);
    uint32_t bits = group_overlaps(leaf, &own);
    if (kind != SINEW_SEARCH_FACES)
        bits &= bounds_higher(leaf.node->id, s->node->id[slot]);
    if (!bits)
        return 0;
    if (kind == SINEW_SEARCH_FACES)
        return bits & ~bounds_sharing(s->shape, slot, 1, shape, 3);
    const int width = kind == SINEW_SEARCH_EDGES ? 2 : 3;
    return bits & ~bounds_sharing(s->shape, slot, width, shape, width);
}

/* Tests the features of the searching node against the features of a leaf, whose box and highest feature are given.
 * Searches for partners of higher index skip features above the highest feature of the leaf. */
MADE_TWICE void search_visit_leaf(search_node *s, search_group leaf, const sinew_box_shape *shape,
                                  const search_box *box, int32_t highest, bool moving)
{
    uint32_t ours = group_overlaps(own_group(s, moving), box);
    if (s->search->kind != SINEW_SEARCH_FACES)
        ours &= ~bounds_higher(s->node->id, highest);
    for (; ours; ours &= ours - 1) {
        const int slot = __builtin_ctz(ours);
        const uint32_t bits = search_partners(s, slot, leaf, shape, moving);
        if (!bits)
            continue;
        if (s->search->kind == SINEW_SEARCH_EDGES)
            search_try_edges(s, slot, bits, leaf, shape, moving);
        else if (s->search->kind == SINEW_SEARCH_FACES)
            search_try_faces(s, slot, bits, leaf, shape, moving);
        else
            search_try_intersections(s, slot, bits, leaf.node);
    }
}

static inline bool search_may_visit(const search_node *s, const sinew_box_node *node, int slot)
{
    const sinew_collision_mesh *f = s->search->mesh;
    return node->id[slot] > s->lowest &&
           (s->object < 0 || node->object[slot] < 0 || sinew_may_collide(f, s->object, node->object[slot]));
}

MADE_TWICE void search_visit_target(search_node *s, const sinew_boxes *target, bool moving)
{
    struct {
        int32_t level, index;
    } stack[SINEW_BOXES_STACK];
    int top = 0;
    stack[top].level = target->level_count - 1;
    stack[top++].index = 0;
    while (top > 0) {
        const int32_t level = stack[--top].level, index = stack[top].index;
        const search_group group = group_at(target, level, index, moving);
        const sinew_box_node *node = group.node;
        for (uint32_t bits = group_overlaps(group, &s->box); bits; bits &= bits - 1) {
            const int slot = __builtin_ctz(bits);
            const int32_t child = SINEW_BOXES_WIDE * index + slot;
            if (!search_may_visit(s, node, slot))
                continue;
            if (level == 1) {
                const search_box box = box_at(group, slot);
                search_visit_leaf(s, group_at(target, 0, child, moving), target->shapes + child, &box, node->id[slot],
                                  moving);
            } else {
                stack[top].level = level - 1;
                stack[top++].index = child;
            }
        }
    }
}

MADE_TWICE void search_for_node(const sinew_search *search, int32_t node, uint32_t row, sinew_search_found *found,
                                bool moving)
{
    const search_group parent = group_at(search->own, 1, node / SINEW_BOXES_WIDE, moving);
    const int slot = node % SINEW_BOXES_WIDE;
    search_node s = {.search = search,
                     .node = search->own->nodes[0] + node,
                     .shape = search->own->shapes + node,
                     .predicted = search->own->predicted[0] + node,
                     .row = row,
                     .box = box_at(parent, slot),
                     .lowest = -1,
                     .object = parent.node->object[slot],
                     .found = found};
    if (search->kind != SINEW_SEARCH_FACES) {
        s.lowest = INT32_MAX;
        for (int i = 0; i < SINEW_BOXES_WIDE; i++)
            if (s.node->id[i] >= 0 && s.node->id[i] < s.lowest)
                s.lowest = s.node->id[i];
    }
    for (int32_t t = 0; t < search->target_count; t++)
        search_visit_target(&s, search->targets[t], moving);
}

static void search_of_node(const sinew_search *search, int32_t node, uint32_t row, sinew_search_found *found)
{
    if (search->input.predicted)
        search_for_node(search, node, row, found, true);
    else
        search_for_node(search, node, row, found, false);
}

void SINEW_SIMD_SYMBOL(sinew_closest_of_four)(sinew_candidate *const pairs[4], const sinew_real *x,
                                              const double radii[4]);

extern const sinew_search_kernel SINEW_SIMD_SYMBOL(sinew_search_kernel);
const sinew_search_kernel SINEW_SIMD_SYMBOL(sinew_search_kernel) = {
    .name = SIMD_NAME,
    .node = search_of_node,
    .closest = SINEW_SIMD_SYMBOL(sinew_closest_of_four),
};
