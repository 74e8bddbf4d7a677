/* SPDX-License-Identifier: MIT
 *
 * pairs.c: finds candidate pairs of cells whose bounding boxes overlap, of two BVHs or of one BVH with itself.
 *
 * Every cell of the first tree queries the second tree, in the order of the first tree's blocks, in two passes. The
 * first pass counts pairs, which gives each cell its range of the result; the second pass writes them. Threads
 * therefore need no memory of their own, and the only extra data is one number per cell.
 */
#include "base/tasks.h"
#include "bvh/overlap.h"

#define AT_ONCE 64 /* number of blocks (leaves) that a thread takes at a time */

typedef struct pairing {
    const sinew_tree *a, *b;
    sinew_real margin;
    /* [cells of a + 1] index of each cell's first pair; in the first pass the pair count of the previous cell */
    int64_t *begins;
    int32_t *pairs;   /* candidate pairs (cell of a, cell of b); NULL: pairs are only counted */
    int64_t capacity; /* number of candidate pairs that fit into `pairs` */
} pairing;

/* Whether the distance between two bounding boxes is at most the margin along every axis. */
static bool boxes_are_near(const sinew_real a[6], const sinew_real b[6], sinew_real margin)
{
    bool near = true;
    for (int k = 0; k < 3; k++)
        near = near && a[k] - b[3 + k] <= margin && b[k] - a[3 + k] <= margin;
    return near;
}

/* Adds the cells of b whose boxes are within the margin of the box of `cell` of a to the list; if a and b are the same
 * tree, only cells of higher index. */
static void find_partners(const pairing *p, int32_t cell, sinew_tree_list *list)
{
    sinew_tree_walk walk;
    sinew_real own[6], other[6];
    const sinew_tree *b = p->b;
    sinew_tree_exact_box(p->a, cell, own);
    sinew_tree_walk_begin(&walk, b, own, (double)p->margin);
    for (int32_t block; (block = sinew_tree_walk_next(&walk)) >= 0;)
        for (int32_t i = 0; i < b->shape.counts[block]; i++) {
            const int32_t partner = b->shape.ids[(size_t)block * SINEW_TREE_BLOCK + (size_t)i];
            if (p->a == b && partner <= cell)
                continue;
            sinew_tree_exact_box(b, partner, other);
            if (boxes_are_near(own, other, p->margin))
                sinew_tree_list_put(list, partner);
        }
}

/* Writes the partners of a cell consecutively into the first half of its range of pairs, then expands them to pairs,
 * from the last on. */
static void write_pairs(const pairing *p, int32_t cell)
{
    const int64_t begin = p->begins[cell], end = p->begins[cell + 1];
    if (begin >= p->capacity || begin == end)
        return;
    const int64_t free_count = (end < p->capacity ? end : p->capacity) - begin;
    int32_t *out = p->pairs + 2 * begin;
    sinew_tree_list list = {out, free_count, 0};
    find_partners(p, cell, &list);
    sinew_tree_list_sort(&list);
    for (int64_t i = free_count; i-- > 0;) {
        out[2 * i + 1] = out[i];
        out[2 * i] = cell;
    }
}

static void run_pairs(const void *context, int32_t member, int32_t first, int32_t last)
{
    (void)member;
    const pairing *p = context;
    const sinew_tree_shape *shape = &p->a->shape;
    for (int32_t block = first; block < last; block++)
        for (int32_t i = 0; i < shape->counts[block]; i++) {
            const int32_t cell = shape->ids[(size_t)block * SINEW_TREE_BLOCK + (size_t)i];
            sinew_tree_list list = {0};
            if (p->pairs) {
                write_pairs(p, cell);
            } else {
                find_partners(p, cell, &list);
                p->begins[cell + 1] = list.count;
            }
        }
}

int64_t sinew_tree_pairs(const sinew_tree *a, const sinew_tree *b, sinew_real margin, int32_t *pairs, int64_t capacity)
{
    if (!SINEW_ASSERT(a && b && (pairs || capacity <= 0)))
        return 0;
    const size_t count = (size_t)a->cell_count;
    pairing p = {a, b, margin, sinew_allocate(&a->allocator, count + 1, sizeof *p.begins), NULL, 0};
    if (!p.begins)
        return -1;
    p.begins[0] = 0;
    sinew_tasks_for(a->thread_count, a->shape.block_count, AT_ONCE, run_pairs, &p);
    for (size_t i = 0; i < count; i++)
        p.begins[i + 1] += p.begins[i];
    const int64_t found = p.begins[count];
    if (capacity > 0 && found > 0) {
        p.pairs = pairs;
        p.capacity = capacity;
        sinew_tasks_for(a->thread_count, a->shape.block_count, AT_ONCE, run_pairs, &p);
    }
    sinew_release(&a->allocator, p.begins);
    return found;
}
