/* SPDX-License-Identifier: MIT
 *
 * vtk_cells.c: converts VTK cell types to edges, triangles and tets.
 */
#include "io/mesh/vtk_cells.h"

#include <stdio.h>

typedef bool add_corners(sinew_builder *builder, const int32_t *corners, int64_t count);

static bool vtk_cells_add_line(sinew_builder *builder, const int32_t *corners, int64_t count)
{
    return sinew_builder_add_line(builder, corners, count, false);
}

/* Adds a VTK pixel as a polygon: a pixel lists its corners row by row, a polygon in the order of its boundary. */
static bool add_pixel(sinew_builder *builder, const int32_t *corners, int64_t count)
{
    return sinew_builder_add_polygon(builder, (int32_t[]){corners[0], corners[1], corners[3], corners[2]}, count);
}

static bool vtk_cells_add_tet(sinew_builder *builder, const int32_t *corners, int64_t count)
{
    (void)count;
    return sinew_builder_add_cell(builder, SINEW_BUILDER_TET, corners);
}

typedef struct vtk_type {
    int corners;      /* number of corners of a cell of this type, 0: any; unused for ignored types */
    add_corners *add; /* function that adds a cell of this type to the builder; NULL: the type is ignored */
    const char *plural;
} vtk_type;

static const vtk_type types[] = {
    [1] = {.plural = "points"},
    [2] = {.plural = "clouds of points"},
    [3] = {2, vtk_cells_add_line, "lines"},
    [4] = {0, vtk_cells_add_line, "polylines"},
    [5] = {3, sinew_builder_add_polygon, "triangles"},
    [6] = {0, sinew_builder_add_strip, "triangle strips"},
    [7] = {0, sinew_builder_add_polygon, "polygons"},
    [8] = {4, add_pixel, "pixels"},
    [9] = {4, sinew_builder_add_polygon, "quadrilaterals"},
    [10] = {4, vtk_cells_add_tet, "tetrahedra"},
    [11] = {.plural = "voxels"},
    [12] = {.plural = "hexahedra"},
    [13] = {.plural = "prisms"},
    [14] = {.plural = "pyramids"},
    [15] = {.plural = "pentagonal prisms"},
    [16] = {.plural = "hexagonal prisms"},
    [21] = {.plural = "second-order lines"},
    [22] = {.plural = "second-order triangles"},
    [23] = {.plural = "second-order quadrilaterals"},
    [24] = {.plural = "second-order tetrahedra"},
    [25] = {.plural = "second-order hexahedra"},
    [26] = {.plural = "second-order prisms"},
    [27] = {.plural = "second-order pyramids"},
    [28] = {.plural = "second-order quadrilaterals"},
    [29] = {.plural = "second-order hexahedra"},
    [42] = {.plural = "polyhedra"},
};

bool sinew_vtk_cells_allocate(sinew_vtk_cells *cells, int64_t count, int64_t corner_count, const sinew_builder *builder)
{
    *cells = (sinew_vtk_cells){.count = count, .corner_count = corner_count};
    cells->starts = sinew_allocate(&builder->allocator, (size_t)count + 1, sizeof *cells->starts);
    cells->corners = sinew_allocate(&builder->allocator, (size_t)corner_count, sizeof *cells->corners);
    if (cells->starts && cells->corners)
        return true;
    sinew_vtk_cells_release(cells, builder);
    sinew_fail_memory(builder->error, "the cells");
    return false;
}

void sinew_vtk_cells_release(sinew_vtk_cells *cells, const sinew_builder *builder)
{
    sinew_release(&builder->allocator, cells->starts);
    sinew_release(&builder->allocator, cells->corners);
    *cells = (sinew_vtk_cells){0};
}

int64_t sinew_vtk_cells_broken(const sinew_vtk_cells *cells)
{
    for (int64_t i = 0; i < cells->count; i++)
        if (cells->starts[i] < 0 || cells->starts[i + 1] < cells->starts[i] ||
            cells->starts[i + 1] > cells->corner_count)
            return i;
    return -1;
}

static bool vtk_cells_is_known(int64_t type)
{
    return type >= 0 && type < (int64_t)(sizeof types / sizeof types[0]) && types[type].plural;
}

bool sinew_vtk_size_fits(int64_t type, int64_t count)
{
    return !vtk_cells_is_known(type) || !types[type].add || !types[type].corners || types[type].corners == count;
}

sinew_vtk_add_result sinew_vtk_add_cell(sinew_builder *builder, int64_t type, const int32_t *corners, int64_t count)
{
    if (!vtk_cells_is_known(type)) {
        char name[48];
        snprintf(name, sizeof name, "cells of VTK type %lld", (long long)type);
        sinew_builder_ignore(builder, name, 1);
        return SINEW_VTK_ADDED;
    }
    if (!types[type].add) {
        sinew_builder_ignore(builder, types[type].plural, 1);
        return SINEW_VTK_ADDED;
    }
    if (!sinew_vtk_size_fits(type, count))
        return SINEW_VTK_WRONG_SIZE;
    return types[type].add(builder, corners, count) ? SINEW_VTK_ADDED : SINEW_VTK_FAILED;
}
