/* SPDX-License-Identifier: MIT
 *
 * build_sah.c: builds the binary BVH over cells, from the root down.
 *
 * Each range of items is split where the surface-area heuristic is lowest among the boundaries of BINS bins along each
 * axis: area times number of blocks, summed over both sides (I. Wald, "On fast construction of SAH-based bounding
 * volume hierarchies", 2007). Ranges that bins cannot separate, and ranges that are too deep, are halved, which bounds
 * the depth (tree.h). Small ranges are distributed over threads; the result of a range depends on the range alone.
 */
#include <math.h>

#include "base/tasks.h"
#include "bvh/build.h"

#define BINS  16
#define SMALL 8192 /* ranges of at most this many items (cells) are split to the end by one thread */

typedef float box6[6]; /* bounding box as low x y z, -high x y z, so that the union of two boxes takes minima only */

typedef struct range {
    int32_t first, last, depth;
} range;

typedef struct bin {
    box6 box;
    int32_t count;
} bin;

typedef struct cut {
    int axis, bin; /* axis of the split, -1: no split found; index of the first bin of the second side */
    float cost;
} cut;

static void sah_join(box6 box, const box6 other)
{
    for (int k = 0; k < 6; k++)
        box[k] = other[k] < box[k] ? other[k] : box[k];
}

static void sah_clear(box6 box)
{
    for (int k = 0; k < 6; k++)
        box[k] = INFINITY;
}

static void sah_box_of(const sinew_tree_item *item, box6 box)
{
    for (int k = 0; k < 3; k++) {
        box[k] = item->low[k];
        box[3 + k] = -item->high[k];
    }
}

static float box_half_area(const box6 box)
{
    const float x = -box[3] - box[0], y = -box[4] - box[1], z = -box[5] - box[2];
    return x * y + y * z + z * x;
}

static int32_t sah_blocks_of(int32_t count)
{
    return (count + SINEW_TREE_BLOCK - 1) / SINEW_TREE_BLOCK;
}

/* Twice the centre of an item's bounding box along an axis. */
static inline float doubled_centre(const sinew_tree_item *item, int axis)
{
    return item->low[axis] + item->high[axis];
}

/* Mapping from the doubled box centres of doubled_centre() to bins: bin = (middle - low) * factor. */
typedef struct binning {
    float low[3], factor[3];
} binning;

static binning binning_of(const sinew_tree_item *items, int32_t first, int32_t last)
{
    binning b;
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t i = first; i < last; i++)
        for (int k = 0; k < 3; k++) {
            const float m = doubled_centre(items + i, k);
            low[k] = m < low[k] ? m : low[k];
            high[k] = m > high[k] ? m : high[k];
        }
    for (int k = 0; k < 3; k++) {
        const float factor = BINS * 0.9999f / (high[k] - low[k]);
        b.low[k] = low[k];
        b.factor[k] = high[k] > low[k] && isfinite(factor) ? factor : 0;
    }
    return b;
}

static inline int bin_of(const binning *b, const sinew_tree_item *item, int axis)
{
    return (int)((doubled_centre(item, axis) - b->low[axis]) * b->factor[axis]);
}

static void fill_bins(const sinew_tree_item *items, range r, const binning *b, bin bins[3][BINS])
{
    for (int axis = 0; axis < 3; axis++)
        for (int i = 0; i < BINS; i++) {
            sah_clear(bins[axis][i].box);
            bins[axis][i].count = 0;
        }
    for (int32_t i = r.first; i < r.last; i++) {
        box6 box;
        sah_box_of(items + i, box);
        for (int axis = 0; axis < 3; axis++) {
            bin *into = &bins[axis][bin_of(b, items + i, axis)];
            sah_join(into->box, box);
            into->count++;
        }
    }
}

/* Replaces the best split if this axis has a split of lower SAH cost. */
static void sweep_axis(const bin bins[BINS], int axis, cut *best)
{
    float behind[BINS];
    int32_t count = 0;
    box6 box;
    sah_clear(box);
    for (int i = BINS - 1; i > 0; i--) {
        sah_join(box, bins[i].box);
        count += bins[i].count;
        behind[i] = count > 0 ? box_half_area(box) * (float)sah_blocks_of(count) : INFINITY;
    }
    sah_clear(box);
    count = 0;
    for (int i = 1; i < BINS; i++) {
        sah_join(box, bins[i - 1].box);
        count += bins[i - 1].count;
        const float cost = count > 0 ? box_half_area(box) * (float)sah_blocks_of(count) + behind[i] : INFINITY;
        if (cost < best->cost)
            *best = (cut){axis, i, cost};
    }
}

static int32_t partition_items(sinew_tree_item *items, range r, const binning *b, cut c)
{
    int32_t left = r.first, right = r.last;
    for (;;) {
        while (left < right && bin_of(b, items + left, c.axis) < c.bin)
            left++;
        while (left < right && bin_of(b, items + right - 1, c.axis) >= c.bin)
            right--;
        if (left >= right)
            return left;
        const sinew_tree_item swap = items[left];
        items[left++] = items[--right];
        items[right] = swap;
    }
}

/* Partitions the items of a range into two sides and returns the index of the first item of the second side. */
static int32_t split_range(sinew_tree_item *items, range r)
{
    const int32_t half = r.first + (r.last - r.first) / 2;
    if (r.depth >= SINEW_TREE_HALVE)
        return half;
    bin bins[3][BINS];
    const binning b = binning_of(items, r.first, r.last);
    fill_bins(items, r, &b, bins);
    cut best = {-1, 0, INFINITY};
    for (int axis = 0; axis < 3; axis++)
        if (b.factor[axis] > 0)
            sweep_axis(bins[axis], axis, &best);
    return best.axis < 0 ? half : partition_items(items, r, &b, best);
}

static float range_area(const sinew_tree_item *items, range r)
{
    box6 box, other;
    sah_clear(box);
    for (int32_t i = r.first; i < r.last; i++) {
        sah_box_of(items + i, other);
        sah_join(box, other);
    }
    return box_half_area(box);
}

/* ---- Construction of the binary tree ------------------------------------------------------------- */

/* Splits a range of items and all its subranges. Returns the split index `middle`, 0 for a leaf. The recursion is as
 * deep as the tree (tree.h). */
static int32_t split_whole_range(const sinew_tree_builder *builder, range r)
{
    if (r.last - r.first <= SINEW_TREE_BLOCK)
        return 0;
    const int32_t middle = split_range(builder->items, r);
    const range sides[2] = {{r.first, middle, r.depth + 1}, {middle, r.last, r.depth + 1}};
    for (int side = 0; side < 2; side++) {
        builder->splits[middle].area[side] = range_area(builder->items, sides[side]);
        builder->splits[middle].middle[side] = split_whole_range(builder, sides[side]);
    }
    return middle;
}

/* A small range of items that waits for a thread, and the pointer that receives its split index. */
typedef struct errand {
    range r;
    int32_t *result;
} errand;

typedef struct errands {
    const sinew_tree_builder *builder;
    errand *list;
    int32_t count;
} errands;

/* Splits a range until its parts are small, and lists these parts for the threads. */
static void split_large_range(errands *e, range r, int32_t *result)
{
    if (r.last - r.first <= SMALL) {
        e->list[e->count++] = (errand){r, result};
        return;
    }
    const int32_t middle = split_range(e->builder->items, r);
    sinew_tree_split *split = e->builder->splits + middle;
    const range sides[2] = {{r.first, middle, r.depth + 1}, {middle, r.last, r.depth + 1}};
    *result = middle;
    for (int side = 0; side < 2; side++) {
        split->area[side] = range_area(e->builder->items, sides[side]);
        split_large_range(e, sides[side], &split->middle[side]);
    }
}

static void split_listed_ranges(const void *context, int32_t member, int32_t first, int32_t last)
{
    (void)member;
    const errands *e = context;
    for (int32_t i = first; i < last; i++)
        *e->list[i].result = split_whole_range(e->builder, e->list[i].r);
}

/* Large ranges of items are split on the calling thread, then threads finish the small ones. Ranges of one depth do not
 * overlap, so at most count / SMALL of them are large, and each leaves at most two small ranges. */
bool sinew_tree_split_items(const sinew_tree *tree, sinew_tree_builder *builder)
{
    errands e = {.builder = builder};
    const size_t at_a_depth = (size_t)builder->count / SMALL + 1;
    e.list = sinew_allocate(&tree->allocator, 2 * at_a_depth * SINEW_TREE_DEPTH + 1, sizeof *e.list);
    if (!e.list)
        return false;
    split_large_range(&e, (range){0, builder->count, 0}, &builder->root);
    sinew_tasks_for(tree->thread_count, e.count, 1, split_listed_ranges, &e);
    sinew_release(&tree->allocator, e.list);
    return true;
}
