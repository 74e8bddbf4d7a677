/* SPDX-License-Identifier: MIT
 *
 * box.c: boxes and beams of five tetrahedra per cell. The volume is exact up to round-off.
 *
 * Exact counts, with c cells along the axes (a box has one cell less than vertices):
 *     vertices (c0 + 1)(c1 + 1)(c2 + 1), tets 5 c0 c1 c2.
 * Quality in a cubic cell: 1 for the middle tetrahedron, 0.770 for the four corners.
 */
#include "mesh/generate/grid.h"

#include <math.h>

typedef struct box_shape {
    int32_t cells[3];
    double origin[3];
    double size[3];
} box_shape;

static void place_box(const void *context, const int32_t index[3], double position[3])
{
    const box_shape *shape = context;
    /* The fraction of the size is exactly 1 at the last vertex, so that opposite faces lie exactly at the given
     * coordinates. */
    for (int k = 0; k < 3; k++)
        position[k] = shape->origin[k] + shape->size[k] * ((double)index[k] / shape->cells[k]);
}

static bool check_box_shape(const char *what, const box_shape *shape, sinew_error *error)
{
    for (int k = 0; k < 3; k++) {
        if (!isfinite(shape->size[k]) || !(shape->size[k] > 0))
            sinew_fail(error, SINEW_ERROR_DATA, "%s: size along %c is %g m; it must be finite and greater than 0", what,
                       "xyz"[k], shape -> size[k]);
        else if (!isfinite(shape->origin[k]))
            sinew_fail(error, SINEW_ERROR_DATA, "%s: origin along %c is %g; it must be finite", what, "xyz"[k],
                       shape -> origin[k]);
        else
            continue;
        return false;
    }
    return true;
}

static sinew_mesh *box_make(const char *what, const sinew_allocator *allocator, const box_shape *shape,
                            sinew_error *error)
{
    if (!check_box_shape(what, shape, error))
        return NULL;
    sinew_grid grid = {.cells = {shape->cells[0], shape->cells[1], shape->cells[2]}};
    int64_t cell_count = sinew_grid_cell_count(&grid);
    int64_t tet_count = cell_count > INT64_MAX / 5 ? INT64_MAX : 5 * cell_count;
    sinew_mesh *mesh = sinew_mesh_allocate(allocator, sinew_grid_vertex_count(&grid), tet_count, 0, 0, error);
    if (!mesh)
        return NULL;
    sinew_grid_fill_positions(&grid, place_box, shape, mesh->positions);
    sinew_grid_cut_five(&grid, mesh->tets);
    if (sinew_mesh_validate(mesh, error) != SINEW_OK) {
        sinew_mesh_destroy(mesh);
        return NULL;
    }
    return mesh;
}

sinew_box_def sinew_default_box_def(void)
{
    return (sinew_box_def){.cookie = SINEW_COOKIE_BOX, .vertices = {8, 8, 8}, .size = {1, 1, 1}};
}

sinew_mesh *sinew_mesh_box(const sinew_box_def *def, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(def && def->cookie == SINEW_COOKIE_BOX)) {
        sinew_fail(error, SINEW_ERROR_USAGE, "box: start from sinew_default_box_def()");
        return NULL;
    }
    box_shape shape;
    for (int k = 0; k < 3; k++) {
        if (def->vertices[k] < 2) {
            sinew_fail(error, SINEW_ERROR_DATA, "box: %d vertices along %c; at least 2 are needed", def->vertices[k],
                       "xyz"[k]);
            return NULL;
        }
        shape.cells[k] = def->vertices[k] - 1;
        shape.origin[k] = (double)def->origin[k];
        shape.size[k] = (double)def->size[k];
    }
    return box_make("box", &def->allocator, &shape, error);
}

sinew_beam_def sinew_default_beam_def(void)
{
    return (sinew_beam_def){.cookie = SINEW_COOKIE_BEAM, .cells = {12, 4, 4}, .size = {3, 1, 1}};
}

sinew_mesh *sinew_mesh_beam(const sinew_beam_def *def, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(def && def->cookie == SINEW_COOKIE_BEAM)) {
        sinew_fail(error, SINEW_ERROR_USAGE, "beam: start from sinew_default_beam_def()");
        return NULL;
    }
    box_shape shape;
    for (int k = 0; k < 3; k++) {
        if (def->cells[k] < 1) {
            sinew_fail(error, SINEW_ERROR_DATA, "beam: %d cells along %c; at least 1 is needed", def->cells[k],
                       "xyz"[k]);
            return NULL;
        }
        shape.cells[k] = def->cells[k];
        shape.size[k] = (double)def->size[k];
        shape.origin[k] = -shape.size[k] / 2;
    }
    return box_make("beam", &def->allocator, &shape, error);
}
