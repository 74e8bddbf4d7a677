/* SPDX-License-Identifier: MIT
 *
 * tree.c: creates, refits and destroys BVHs.
 */
#include "bvh/tree.h"

#include <math.h>
#include <string.h>

#include "base/tasks.h"
#include "math/variant.h"

SINEW_VARIANT_TABLE(sinew_tree_kernel, sinew_tree_kernel);

/* A refitted tree is rebuilt when the sum of its box areas, relative to the area of the root, has grown by this factor.
 */
#define DEGRADED 1.5

sinew_tree_def sinew_default_tree_def(void)
{
    return (sinew_tree_def){.cookie = SINEW_COOKIE_TREE, .width = 3, .winding = true};
}

const sinew_tree_kernel *const *sinew_tree_kernels(int32_t *count)
{
    const int32_t best = sinew_variant_best();
    *count = SINEW_VARIANT_COUNT - best;
    return sinew_tree_kernel_table + best;
}

const sinew_tree_kernel *sinew_tree_kernel_chosen(void)
{
    return sinew_tree_kernel_table[sinew_variant_chosen()];
}

/* ---- Checks of a tree definition ----------------------------------------------------------------- */

static sinew_status check_positions(const sinew_real *positions, int32_t vertex_count, sinew_error *error)
{
    for (int32_t i = 0; i < vertex_count; i++) {
        const sinew_real *x = positions + 3 * (size_t)i;
        if (!(isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2])))
            return sinew_fail(error, SINEW_ERROR_DATA, "tree: vertex %d is at (%g, %g, %g), must be finite", i,
                              (double)x[0], (double)x[1], (double)x[2]);
    }
    return SINEW_OK;
}

static sinew_status check_cells(const sinew_tree_def *def, sinew_error *error)
{
    if (def->width < 1 || def->width > 3)
        return sinew_fail(error, SINEW_ERROR_DATA, "tree: cells of %d vertices, must have 1, 2 or 3", def->width);
    if (!def->cells && (def->width != 1 || def->cell_count != def->vertex_count))
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "tree: %d cells of %d vertices without a list: only width 1 with as many cells as vertices "
                          "(%d) goes without",
                          def->cell_count, def->width, def->vertex_count);
    if (def->cell_count < 1)
        return sinew_fail(error, SINEW_ERROR_DATA, "tree: %d cells, must have at least 1", def->cell_count);
    for (size_t i = 0; def->cells && i < (size_t)def->width * (size_t)def->cell_count; i++)
        if (def->cells[i] < 0 || def->cells[i] >= def->vertex_count)
            return sinew_fail(error, SINEW_ERROR_DATA, "tree: cell %d names vertex %d, must be in [0, %d]",
                              (int32_t)(i / (size_t)def->width), def->cells[i], def->vertex_count - 1);
    return SINEW_OK;
}

static sinew_status tree_check_def(const sinew_tree_def *def, sinew_error *error)
{
    if (!SINEW_ASSERT(def && def->cookie == SINEW_COOKIE_TREE && (def->positions || def->vertex_count == 0)))
        return sinew_fail(error, SINEW_ERROR_USAGE,
                          "a tree needs positions and a def made by sinew_default_tree_def()");
    const sinew_status status = check_cells(def, error);
    return status == SINEW_OK ? check_positions(def->positions, def->vertex_count, error) : status;
}

/* ---- Creation and refit -------------------------------------------------------------------------- */

static bool copy_input(sinew_tree *tree, const sinew_tree_def *def)
{
    const size_t corners = (size_t)def->width * (size_t)def->cell_count;
    tree->positions = sinew_allocate(&tree->allocator, 3 * (size_t)def->vertex_count, sizeof *tree->positions);
    tree->cells = sinew_allocate(&tree->allocator, corners, sizeof *tree->cells);
    if (!tree->positions || !tree->cells)
        return false;
    memcpy(tree->positions, def->positions, 3 * (size_t)def->vertex_count * sizeof *tree->positions);
    for (size_t i = 0; i < corners; i++)
        tree->cells[i] = def->cells ? def->cells[i] : (int32_t)i;
    return true;
}

static bool tree_make_shape(const sinew_tree *tree, sinew_tree_shape *shape)
{
    if (!sinew_tree_build(tree, shape))
        return false;
    sinew_tree_fit(tree, shape);
    shape->area = sinew_tree_area(shape);
    return true;
}

sinew_tree *sinew_tree_create(const sinew_tree_def *def, sinew_error *error)
{
    sinew_error_clear(error);
    if (tree_check_def(def, error) != SINEW_OK)
        return NULL;
    const sinew_allocator allocator = sinew_allocator_or_system(&def->allocator);
    sinew_tree *tree = sinew_allocate_zero(&allocator, 1, sizeof *tree);
    if (!tree) {
        sinew_fail_memory(error, "a tree");
        return NULL;
    }
    tree->allocator = allocator;
    tree->thread_count = def->thread_count > 0 ? def->thread_count : sinew_tasks_default_count();
    tree->vertex_count = def->vertex_count;
    tree->cell_count = def->cell_count;
    tree->width = def->width;
    tree->winding = def->winding && def->width == 3;
    tree->kernel = sinew_tree_kernel_chosen();
    sinew_tasks_open();
    bool good = copy_input(tree, def);
    if (good) {
        sinew_tree_frame(tree);
        good = tree_make_shape(tree, &tree->shape);
    }
    if (good)
        return tree;
    sinew_tree_destroy(tree);
    sinew_fail_memory(error, "a tree");
    return NULL;
}

void sinew_tree_destroy(sinew_tree *tree)
{
    if (!tree)
        return;
    const sinew_allocator allocator = tree->allocator;
    sinew_tree_shape_release(&allocator, &tree->shape);
    sinew_release(&allocator, tree->cells);
    sinew_release(&allocator, tree->positions);
    sinew_release(&allocator, tree);
    sinew_tasks_close();
}

void sinew_tree_shape_release(const sinew_allocator *allocator, sinew_tree_shape *shape)
{
    sinew_release(allocator, shape->nodes);
    sinew_release(allocator, shape->node_slots);
    sinew_release(allocator, shape->block_slots);
    sinew_release(allocator, shape->counts);
    sinew_release(allocator, shape->ids);
    sinew_release(allocator, shape->corners);
    sinew_release(allocator, shape->moments);
    *shape = (sinew_tree_shape){0};
}

/* Refits a tree. If there is no memory for a rebuild, the old structure is kept: its boxes fit, so queries return the
 * same results more slowly. */
sinew_status sinew_tree_refit(sinew_tree *tree, const sinew_real *positions, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(tree && positions))
        return sinew_fail(error, SINEW_ERROR_USAGE, "refitting needs a tree and positions");
    const sinew_status status = check_positions(positions, tree->vertex_count, error);
    if (status != SINEW_OK)
        return status;
    memcpy(tree->positions, positions, 3 * (size_t)tree->vertex_count * sizeof *positions);
    sinew_tree_frame(tree);
    sinew_tree_fit(tree, &tree->shape);
    if (sinew_tree_area(&tree->shape) > DEGRADED * tree->shape.area) {
        sinew_tree_shape fresh = {0};
        if (tree_make_shape(tree, &fresh)) {
            sinew_tree_shape_release(&tree->allocator, &tree->shape);
            tree->shape = fresh;
        } else {
            sinew_tree_shape_release(&tree->allocator, &fresh);
        }
    }
    return SINEW_OK;
}
