/* SPDX-License-Identifier: MIT
 *
 * morton.c: sorts cells along a Morton curve through the centres of their boxes, so that neighbours in space are
 * neighbours in memory. Each axis has 2^21 intervals; cells with the same code keep their order.
 */
#include <math.h>
#include <string.h>

#include "base/tasks.h"
#include "bvh/build.h"

#define BITS    21
#define DIGIT   11 /* number of bits of a Morton code that one pass of the radix sort handles */
#define BINS    (1 << DIGIT)
#define AT_ONCE 4096

typedef struct coded {
    uint64_t code;
    int32_t cell;
} coded;

typedef struct ordering {
    const sinew_tree *tree;
    sinew_tree_item *items;
    const sinew_tree_item *unordered;
    coded *codes;
} ordering;

/* Spreads the bits of a 21-bit number, with two zeros between any two bits, for a Morton code. */
static uint64_t morton_spread(uint64_t x)
{
    x = (x | x << 32) & 0x001f00000000ffffu;
    x = (x | x << 16) & 0x001f0000ff0000ffu;
    x = (x | x << 8) & 0x100f00f00f00f00fu;
    x = (x | x << 4) & 0x10c30c30c30c30c3u;
    return (x | x << 2) & 0x1249249249249249u;
}

/* Index of the interval that contains a box centre along an axis, clamped: boxes lie within `half` of the tree's origin
 * only up to rounding. */
static uint64_t morton_step_of(float low, float high, double half)
{
    const double middle = ((double)low + (double)high) / 2;
    const double t = half > 0 ? (middle / half + 1) / 2 * (1 << BITS) : 0;
    return t > 0 ? (uint64_t)fmin(t, (1 << BITS) - 1) : 0;
}

static void code_cells(const void *context, int32_t member, int32_t first, int32_t last)
{
    (void)member;
    const ordering *o = context;
    for (int32_t i = first; i < last; i++) {
        float box[6];
        sinew_tree_cell_box(o->tree, i, box);
        sinew_tree_item *item = o->items + i;
        *item = (sinew_tree_item){{box[0], box[1], box[2]}, i, {box[3], box[4], box[5]}, 0};
        uint64_t code = 0;
        for (int k = 0; k < 3; k++)
            code |= morton_spread(morton_step_of(box[k], box[3 + k], o->tree->half[k])) << (2 - k);
        o->codes[i] = (coded){code, i};
    }
}

/* One pass of a stable radix sort of Morton codes by one digit. Returns false if all digits are equal, so that the
 * order is unchanged. */
static bool sort_pass(const coded *from, coded *to, int32_t count, int shift)
{
    int32_t begin[BINS] = {0};
    for (int32_t i = 0; i < count; i++)
        begin[from[i].code >> shift & (BINS - 1)]++;
    if (begin[from[0].code >> shift & (BINS - 1)] == count)
        return false;
    int32_t sum = 0;
    for (int32_t b = 0; b < BINS; b++) {
        const int32_t size = begin[b];
        begin[b] = sum;
        sum += size;
    }
    for (int32_t i = 0; i < count; i++)
        to[begin[from[i].code >> shift & (BINS - 1)]++] = from[i];
    return true;
}

/* Radix sort of Morton codes by all digits. Returns the array (codes or spare) that holds the result. */
static const coded *sort_codes(coded *codes, coded *spare, int32_t count)
{
    for (int shift = 0; shift < 3 * BITS; shift += DIGIT)
        if (sort_pass(codes, spare, count, shift)) {
            coded *swap = codes;
            codes = spare;
            spare = swap;
        }
    return codes;
}

static void reorder_items(const void *context, int32_t member, int32_t first, int32_t last)
{
    (void)member;
    const ordering *o = context;
    for (int32_t i = first; i < last; i++)
        o->items[i] = o->unordered[o->codes[i].cell];
}

bool sinew_tree_order(const sinew_tree *tree, sinew_tree_item *items, sinew_tree_item *spare)
{
    const int32_t count = tree->cell_count;
    coded *codes = sinew_allocate(&tree->allocator, 2 * (size_t)count, sizeof *codes);
    if (!codes)
        return false;
    ordering o = {tree, spare, NULL, codes};
    sinew_tasks_for(tree->thread_count, count, AT_ONCE, code_cells, &o);
    const coded *sorted = sort_codes(codes, codes + count, count);
    o = (ordering){tree, items, spare, codes + (sorted - codes)};
    sinew_tasks_for(tree->thread_count, count, AT_ONCE, reorder_items, &o);
    sinew_release(&tree->allocator, codes);
    return true;
}
