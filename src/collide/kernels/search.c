/* SPDX-License-Identifier: MIT
 *
 * search.c: features whose boxes meet those of a node's features, eight boxes at once.
 *
 * The node's own box goes down the target's levels; where it meets a node of level 0, features are held against each
 * other: their boxes, then a glance in floats (distance_bounds.h), then distances in double. Boxes and glances only decide what
 * is sure, so every variant finds the same.
 *
 * Functions that take `moving` are made twice, with ways and without: who has none is not to pay for them.
 */
#include "collide/distance_bounds.h"
#include "collide/reach_test.h"
#include "math/lanes.h"
#include "bvh/box8.h"

/* A node's boxes, and its ways or NULL. */
typedef struct search_group {
    const sinew_box_node *node;
    const sinew_box_ways *ways;
} search_group;

/* One of them. */
typedef struct search_box {
    float low[3], high[3];
    search_group group;
    int slot;
} search_box;

typedef struct search_node {
    const sinew_search *search;
    const sinew_box_node *node;
    const sinew_box_shape *shape;
    const sinew_box_ways *ways;
    uint32_t row;
    search_box box;
    int32_t lowest; /* of its features; -1: partners need not be higher */
    int32_t object; /* of all its features; -1: of several */
    sinew_search_found *found;
} search_node;

#define MADE_TWICE static inline __attribute__((always_inline))

MADE_TWICE search_group group_at(const sinew_boxes *boxes, int32_t level, int32_t index, bool moving)
{
    return (search_group){boxes->nodes[level] + index, moving ? boxes->ways[level] + index : NULL};
}

/* The node that is searched for. */
MADE_TWICE search_group own_group(const search_node *s, bool moving)
{
    return (search_group){s->node, moving ? s->ways : NULL};
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

/* Reach that ways add between a box and those of a group, from above: how they differ where both are of one object,
 * else the sum of their lengths. A place without a feature has an infinite box of ways, but a box that nothing meets.
 */
static inline box8 more_reach(search_group group, const search_box *box)
{
    const sinew_box_ways *ways = box->group.ways;
    const int slot = box->slot;
    box8 square = box8_set(0);
    for (int k = 0; k < 3; k++) {
        const box8 differ = box8_max(box8_set(ways->high[k][slot]) - box8_load(group.ways->low[k]),
                                     box8_load(group.ways->high[k]) - box8_set(ways->low[k][slot]));
        square += differ * differ;
    }
    /* Nodes of several objects have -1, which is nobody's. */
    const int32_t object = box->group.node->object[slot], own = object >= 0 ? object : INT32_MAX;
    box8_mask objects;
    memcpy(&objects, group.node->object, sizeof objects);
    const box8_mask same = (box8_mask)(objects == (own - (box8_mask){0}));
    const box8 apart = box8_load(group.ways->longest) + box8_set(ways->longest[slot]);
    const box8 more = glance_pick(same, glance_root(square), apart);
    return more + more * box8_set((float)SINEW_BOX_SLACK) + box8_set((float)SINEW_BOX_PAD);
}

/* One bit for each box of the group that meets the box. */
MADE_TWICE uint32_t boxes_that_meet(search_group group, const search_box *box)
{
    const sinew_box_node *node = group.node;
    box8_mask meet = {-1, -1, -1, -1, -1, -1, -1, -1};
    if (!group.ways) {
        for (int k = 0; k < 3; k++)
            meet &= (box8_mask)(box8_load(node->low[k]) <= box8_set(box->high[k])) &
                    (box8_mask)(box8_set(box->low[k]) <= box8_load(node->high[k]));
        return glance_bits(meet);
    }
    const box8 more = more_reach(group, box);
    for (int k = 0; k < 3; k++)
        meet &= (box8_mask)(box8_load(node->low[k]) - more <= box8_set(box->high[k])) &
                (box8_mask)(box8_set(box->low[k]) - more <= box8_load(node->high[k]));
    return glance_bits(meet);
}

static inline void put_found(search_node *s, int slot, int32_t key)
{
    sinew_search_found *found = s->found;
    if (found->count < found->capacity)
        found->entries[found->count] = (uint64_t)(s->row + (uint32_t)slot) << 32 | (uint32_t)key;
    found->count++;
}

/* Reach that ways add between a feature of the node and those of a leaf, from above; none where nothing moves. */
MADE_TWICE box8 more_of(const search_node *s, int slot, search_group leaf, bool moving)
{
    if (!moving)
        return box8_set(0);
    const search_box own = box_at(own_group(s, moving), slot);
    return more_reach(leaf, &own);
}

MADE_TWICE void try_faces(search_node *s, int slot, uint32_t bits, search_group group, const sinew_box_shape *shape,
                          bool moving)
{
    const sinew_search *search = s->search;
    const sinew_box_node *leaf = group.node;
    const glance g = glance_faces(s->shape, slot, shape, more_of(s, slot, group, moving));
    for (bits &= ~g.far; bits; bits &= bits - 1) {
        const int at = __builtin_ctz(bits);
        const int32_t cell = leaf->id[at];
        const bool face = search->features->flags[cell] & SINEW_IS_FACE;
        if (sinew_may_touch(search->features, s->node->object[slot], leaf->object[at]) &&
            ((face && g.near >> at & 1) || near_face(search, s->node->id[slot], cell)))
            put_found(s, slot, search->rank[cell]);
    }
}

MADE_TWICE void try_edges(search_node *s, int slot, uint32_t bits, search_group group, const sinew_box_shape *shape,
                          bool moving)
{
    const sinew_box_node *leaf = group.node;
    const glance g = glance_edges(s->shape, slot, shape, more_of(s, slot, group, moving));
    for (bits &= ~g.far; bits; bits &= bits - 1) {
        const int at = __builtin_ctz(bits);
        if (sinew_may_touch(s->search->features, s->node->object[slot], leaf->object[at]) &&
            (g.near >> at & 1 || near_edges(s->search, s->node->id[slot], leaf->id[at])))
            put_found(s, slot, leaf->id[at]);
    }
}

static inline void try_crossings(search_node *s, int slot, uint32_t bits, const sinew_box_node *leaf)
{
    for (; bits; bits &= bits - 1) {
        const int at = __builtin_ctz(bits);
        if (sinew_may_touch(s->search->features, s->node->object[slot], leaf->object[at]) &&
            sinew_cells_cross(s->search->features, s->search->x, s->node->id[slot], leaf->id[at]))
            put_found(s, slot, leaf->id[at]);
    }
}

/* Places of a leaf whose boxes meet that of the node's feature in place `slot`, that may be its partners by their
 * number and share no vertex with it. */
MADE_TWICE uint32_t partners_of(const search_node *s, int slot, search_group leaf, const sinew_box_shape *shape,
                                bool moving)
{
    const sinew_search_kind kind = s->search->kind;
    const search_box own = box_at(own_group(s, moving), slot);
    uint32_t bits = boxes_that_meet(leaf, &own);
    if (kind != SINEW_SEARCH_FACES)
        bits &= glance_higher(leaf.node->id, s->node->id[slot]);
    if (!bits)
        return 0;
    if (kind == SINEW_SEARCH_FACES)
        return bits & ~glance_sharing(s->shape, slot, 1, shape, 3);
    const int width = kind == SINEW_SEARCH_EDGES ? 2 : 3;
    return bits & ~glance_sharing(s->shape, slot, width, shape, width);
}

/* Features of the node against those of a node of level 0 of a target, whose box and highest feature are given. Where
 * partners have to be higher, features above that one have none there. */
MADE_TWICE void visit_leaf(search_node *s, search_group leaf, const sinew_box_shape *shape, const search_box *box,
                           int32_t highest, bool moving)
{
    uint32_t ours = boxes_that_meet(own_group(s, moving), box);
    if (s->search->kind != SINEW_SEARCH_FACES)
        ours &= ~glance_higher(s->node->id, highest);
    for (; ours; ours &= ours - 1) {
        const int slot = __builtin_ctz(ours);
        const uint32_t bits = partners_of(s, slot, leaf, shape, moving);
        if (!bits)
            continue;
        if (s->search->kind == SINEW_SEARCH_EDGES)
            try_edges(s, slot, bits, leaf, shape, moving);
        else if (s->search->kind == SINEW_SEARCH_FACES)
            try_faces(s, slot, bits, leaf, shape, moving);
        else
            try_crossings(s, slot, bits, leaf.node);
    }
}

static inline bool worth_a_visit(const search_node *s, const sinew_box_node *node, int slot)
{
    const sinew_features *f = s->search->features;
    return node->id[slot] > s->lowest &&
           (s->object < 0 || node->object[slot] < 0 || sinew_may_touch(f, s->object, node->object[slot]));
}

MADE_TWICE void visit_target(search_node *s, const sinew_boxes *target, bool moving)
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
        for (uint32_t bits = boxes_that_meet(group, &s->box); bits; bits &= bits - 1) {
            const int slot = __builtin_ctz(bits);
            const int32_t child = SINEW_BOXES_WIDE * index + slot;
            if (!worth_a_visit(s, node, slot))
                continue;
            if (level == 1) {
                const search_box box = box_at(group, slot);
                visit_leaf(s, group_at(target, 0, child, moving), target->shapes + child, &box, node->id[slot], moving);
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
                     .ways = search->own->ways[0] + node,
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
        visit_target(&s, search->targets[t], moving);
}

static void search_of_node(const sinew_search *search, int32_t node, uint32_t row, sinew_search_found *found)
{
    if (search->ways)
        search_for_node(search, node, row, found, true);
    else
        search_for_node(search, node, row, found, false);
}

void SINEW_LANE_SYMBOL(sinew_closest_of_four)(sinew_touch_pair *const pairs[4], const sinew_real *x,
                                              const double cores[4]);

extern const sinew_search_kernel SINEW_LANE_SYMBOL(sinew_search_kernel);
const sinew_search_kernel SINEW_LANE_SYMBOL(sinew_search_kernel) = {
    .name = LANE_NAME,
    .usable = lane_usable,
    .node = search_of_node,
    .closest = SINEW_LANE_SYMBOL(sinew_closest_of_four),
};
