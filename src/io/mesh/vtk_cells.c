/* SPDX-License-Identifier: MIT
 *
 * vtk_cells.c: what each VTK cell type becomes.
 */
#include "io/mesh/vtk_cells.h"

#include <stdio.h>

typedef bool add_corners(sinew_draft *draft, const int32_t *corners, int64_t count);

static bool add_line(sinew_draft *draft, const int32_t *corners, int64_t count)
{
    return sinew_draft_add_line(draft, corners, count, false);
}

/* A pixel counts its corners row by row, a polygon around. */
static bool add_pixel(sinew_draft *draft, const int32_t *corners, int64_t count)
{
    return sinew_draft_add_polygon(draft, (int32_t[]){corners[0], corners[1], corners[3], corners[2]}, count);
}

static bool add_tet(sinew_draft *draft, const int32_t *corners, int64_t count)
{
    (void)count;
    return sinew_draft_add_cell(draft, SINEW_DRAFT_TET, corners);
}

typedef struct vtk_type {
    int corners;      /* 0: any number */
    add_corners *add; /* NULL: ignored */
    const char *plural;
} vtk_type;

static const vtk_type types[] = {
    [1] = {1, NULL, "points"},
    [2] = {0, NULL, "clouds of points"},
    [3] = {2, add_line, "lines"},
    [4] = {0, add_line, "polylines"},
    [5] = {3, sinew_draft_add_polygon, "triangles"},
    [6] = {0, sinew_draft_add_strip, "triangle strips"},
    [7] = {0, sinew_draft_add_polygon, "polygons"},
    [8] = {4, add_pixel, "pixels"},
    [9] = {4, sinew_draft_add_polygon, "quadrilaterals"},
    [10] = {4, add_tet, "tetrahedra"},
    [11] = {8, NULL, "voxels"},
    [12] = {8, NULL, "hexahedra"},
    [13] = {6, NULL, "prisms"},
    [14] = {5, NULL, "pyramids"},
    [15] = {10, NULL, "pentagonal prisms"},
    [16] = {12, NULL, "hexagonal prisms"},
    [21] = {3, NULL, "second-order lines"},
    [22] = {6, NULL, "second-order triangles"},
    [23] = {8, NULL, "second-order quadrilaterals"},
    [24] = {10, NULL, "second-order tetrahedra"},
    [25] = {20, NULL, "second-order hexahedra"},
    [26] = {15, NULL, "second-order prisms"},
    [27] = {13, NULL, "second-order pyramids"},
    [28] = {9, NULL, "second-order quadrilaterals"},
    [29] = {27, NULL, "second-order hexahedra"},
    [42] = {0, NULL, "polyhedra"},
};

bool sinew_vtk_cells_allocate(sinew_vtk_cells *cells, int64_t count, int64_t corner_count, const sinew_draft *draft)
{
    *cells = (sinew_vtk_cells){.count = count, .corner_count = corner_count};
    cells->starts = sinew_allocate(&draft->allocator, (size_t)count + 1, sizeof *cells->starts);
    cells->corners = sinew_allocate(&draft->allocator, (size_t)corner_count, sizeof *cells->corners);
    if (cells->starts && cells->corners)
        return true;
    sinew_vtk_cells_release(cells, draft);
    sinew_fail_memory(draft->error, "the cells");
    return false;
}

void sinew_vtk_cells_release(sinew_vtk_cells *cells, const sinew_draft *draft)
{
    sinew_release(&draft->allocator, cells->starts);
    sinew_release(&draft->allocator, cells->corners);
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

static bool is_known(int64_t type)
{
    return type >= 0 && type < (int64_t)(sizeof types / sizeof types[0]) && types[type].plural;
}

bool sinew_vtk_size_fits(int64_t type, int64_t count)
{
    return !is_known(type) || !types[type].add || !types[type].corners || types[type].corners == count;
}

sinew_vtk_verdict sinew_vtk_add_cell(sinew_draft *draft, int64_t type, const int32_t *corners, int64_t count)
{
    if (!is_known(type)) {
        char name[48];
        snprintf(name, sizeof name, "cells of VTK type %lld", (long long)type);
        sinew_draft_ignore(draft, name, 1);
        return SINEW_VTK_ADDED;
    }
    if (!types[type].add) {
        sinew_draft_ignore(draft, types[type].plural, 1);
        return SINEW_VTK_ADDED;
    }
    if (!sinew_vtk_size_fits(type, count))
        return SINEW_VTK_WRONG_SIZE;
    return types[type].add(draft, corners, count) ? SINEW_VTK_ADDED : SINEW_VTK_FAILED;
}
