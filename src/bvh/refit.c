/* SPDX-License-Identifier: MIT
 *
 * refit.c: computes the coordinate frame of a BVH, and its bounding boxes from the cells up.
 *
 * Each block writes its box into its entry of the parent, in any order. Nodes follow from the last to the first,
 * because children have higher indices than their parents.
 */
#include <float.h>
#include <math.h>

#include "base/tasks.h"
#include "bvh/tree.h"

#define BLOCKS_AT_ONCE 512
#define MIN_EXPONENT   (-1000) /* smallest exponent of the tree's scale: the scale and its inverse are normal numbers */

/* ---- Coordinate frame of the tree ---------------------------------------------------------------- */

/* Bounds of the corners of all cells, divided by two, because high - low may overflow. */
static void half_bounds(const sinew_tree *tree, double low[3], double high[3])
{
    for (int k = 0; k < 3; k++) {
        low[k] = INFINITY;
        high[k] = -INFINITY;
    }
    const size_t corners = (size_t)tree->width * (size_t)tree->cell_count;
    for (size_t i = 0; i < corners; i++) {
        const sinew_real *x = tree->positions + 3 * (size_t)tree->cells[i];
        for (int k = 0; k < 3; k++) {
            const double half = (double)x[k] / 2;
            low[k] = half < low[k] ? half : low[k];
            high[k] = half > high[k] ? half : high[k];
        }
    }
}

static double largest_extent(const sinew_tree *tree)
{
    double largest = 0;
    for (int32_t i = 0; i < tree->cell_count; i++)
        for (int k = 0; k < 3; k++) {
            double low = INFINITY, high = -INFINITY;
            for (int32_t corner = 0; corner < tree->width; corner++) {
                const double x = (double)sinew_tree_corner(tree, i, corner)[k] * tree->scale;
                low = x < low ? x : low;
                high = x > high ? x : high;
            }
            largest = high - low > largest ? high - low : largest;
        }
    return largest;
}

void sinew_tree_frame(sinew_tree *tree)
{
    double low[3], high[3], half = 0, size = 0;
    half_bounds(tree, low, high);
    for (int k = 0; k < 3; k++) {
        half = fmax(half, high[k] - low[k]);
        size = fmax(size, fmax(fabs(low[k]), fabs(high[k])));
    }
    int exponent = 0;
    frexp(fmax(half, size * 0x1p-60), &exponent);
    tree->exponent = -exponent < MIN_EXPONENT ? MIN_EXPONENT : -exponent > -MIN_EXPONENT ? -MIN_EXPONENT : -exponent;
    tree->scale = ldexp(1, tree->exponent);
    for (int k = 0; k < 3; k++) {
        tree->origin[k] = (low[k] + high[k]) * tree->scale;
        tree->half[k] = (high[k] - low[k]) * tree->scale * (1 + 4 * DBL_EPSILON);
    }
    tree->largest = largest_extent(tree);
}

void sinew_tree_cell_box(const sinew_tree *tree, int32_t cell, float box[6])
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t corner = 0; corner < tree->width; corner++) {
        const sinew_real *x = sinew_tree_corner(tree, cell, corner);
        for (int k = 0; k < 3; k++) {
            const double scaled = (double)x[k] * tree->scale;
            low[k] = scaled < low[k] ? scaled : low[k];
            high[k] = scaled > high[k] ? scaled : high[k];
        }
    }
    for (int k = 0; k < 3; k++) {
        box[k] = sinew_float_below((low[k] - tree->origin[k]) - DBL_EPSILON * fabs(low[k] - tree->origin[k]));
        box[3 + k] = sinew_float_above((high[k] - tree->origin[k]) + DBL_EPSILON * fabs(high[k] - tree->origin[k]));
    }
}

/* ---- Bounding boxes of nodes, leaves first ------------------------------------------------------- */

static void empty_box(float box[6])
{
    for (int k = 0; k < 3; k++) {
        box[k] = INFINITY;
        box[3 + k] = -INFINITY;
    }
}

static void join_box(float box[6], const float other[6])
{
    for (int k = 0; k < 3; k++) {
        box[k] = other[k] < box[k] ? other[k] : box[k];
        box[3 + k] = other[3 + k] > box[3 + k] ? other[3 + k] : box[3 + k];
    }
}

static void write_box(sinew_tree_node *nodes, uint32_t slot, const float box[6])
{
    sinew_tree_node *node = nodes + slot / SINEW_TREE_WIDE;
    for (int k = 0; k < 3; k++) {
        node->bounds[2 * k][slot % SINEW_TREE_WIDE] = box[k];
        node->bounds[2 * k + 1][slot % SINEW_TREE_WIDE] = box[3 + k];
    }
}

static void read_box(const sinew_tree_node *nodes, uint32_t slot, float box[6])
{
    const sinew_tree_node *node = nodes + slot / SINEW_TREE_WIDE;
    for (int k = 0; k < 3; k++) {
        box[k] = node->bounds[2 * k][slot % SINEW_TREE_WIDE];
        box[3 + k] = node->bounds[2 * k + 1][slot % SINEW_TREE_WIDE];
    }
}

typedef struct fitting {
    const sinew_tree *tree;
    sinew_tree_shape *shape;
} fitting;

/* Copies the corners of a block's cells and computes their bounding box. */
static void fit_block(const sinew_tree *tree, sinew_tree_shape *shape, int32_t block)
{
    const size_t rows = 3 * (size_t)tree->width;
    const int32_t *ids = shape->ids + (size_t)block * SINEW_TREE_BLOCK;
    sinew_real *corners = shape->corners + (size_t)block * rows * SINEW_TREE_BLOCK;
    float box[6], cell_box[6];
    empty_box(box);
    for (int i = 0; i < SINEW_TREE_BLOCK; i++) {
        for (size_t row = 0; row < rows; row++) {
            const double x = (double)sinew_tree_corner(tree, ids[i], (int32_t)(row / 3))[row % 3];
            corners[row * SINEW_TREE_BLOCK + (size_t)i] = (sinew_real)(x * tree->scale);
        }
        if (i < shape->counts[block]) {
            sinew_tree_cell_box(tree, ids[i], cell_box);
            join_box(box, cell_box);
        }
    }
    write_box(shape->nodes, shape->block_slots[block], box);
}

static void fit_blocks(const void *context, int32_t member, int32_t first, int32_t last)
{
    (void)member;
    const fitting *f = context;
    for (int32_t block = first; block < last; block++)
        fit_block(f->tree, f->shape, block);
}

void sinew_tree_fit(const sinew_tree *tree, sinew_tree_shape *shape)
{
    const fitting f = {tree, shape};
    sinew_tasks_for(tree->thread_count, shape->block_count, BLOCKS_AT_ONCE, fit_blocks, &f);
    for (int32_t i = shape->node_count - 1; i > 0; i--) {
        float box[6], child[6];
        empty_box(box);
        for (int32_t c = 0; c < shape->nodes[i].child_count; c++) {
            read_box(shape->nodes, (uint32_t)(SINEW_TREE_WIDE * i + c), child);
            join_box(box, child);
        }
        write_box(shape->nodes, shape->node_slots[i], box);
    }
    if (shape->moments)
        sinew_tree_moments_fit(tree, shape);
}

/* ---- Quality of the tree ------------------------------------------------------------------------- */

static double box_area(const float box[6])
{
    const double x = (double)box[3] - (double)box[0], y = (double)box[4] - (double)box[1];
    const double z = (double)box[5] - (double)box[2];
    return x * y + y * z + z * x;
}

double sinew_tree_area(const sinew_tree_shape *shape)
{
    double sum = 0;
    float root[6];
    empty_box(root);
    for (int32_t i = 0; i < shape->node_count; i++)
        for (int32_t c = 0; c < shape->nodes[i].child_count; c++) {
            float box[6];
            read_box(shape->nodes, (uint32_t)(SINEW_TREE_WIDE * i + c), box);
            sum += box_area(box);
            if (i == 0)
                join_box(root, box);
        }
    return box_area(root) > 0 ? sum / box_area(root) : 0;
}
