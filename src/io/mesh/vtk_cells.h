/* SPDX-License-Identifier: MIT
 *
 * vtk_cells.h: VTK cell types, shared by the readers of legacy and XML files.
 *
 * Source: "VTK file formats" (the VTK user's guide) and the enumeration VTKCellType. Lines, polylines, triangles,
 * strips, polygons, quadrilaterals and pixels become edges and triangles, tetrahedra are kept, and all other types
 * are counted under their names.
 */
#ifndef SINEW_SRC_IO_MESH_VTK_CELLS_H
#define SINEW_SRC_IO_MESH_VTK_CELLS_H

#include "io/mesh/builder.h"

enum {
    SINEW_VTK_VERTEX = 1,
    SINEW_VTK_POLY_LINE = 4,
    SINEW_VTK_STRIP = 6,
    SINEW_VTK_POLYGON = 7,
    SINEW_VTK_LINE = 3,
    SINEW_VTK_TRIANGLE = 5,
    SINEW_VTK_TETRA = 10
};

/* Cells of a VTK file before their types are known. The reader checks corner indices before it stores them. */
typedef struct sinew_vtk_cells {
    int64_t count;
    int64_t corner_count;
    /* [count + 1] start of each cell in `corners`: cell i has corners[starts[i]] to corners[starts[i + 1] - 1] */
    int64_t *starts;
    int32_t *corners; /* [corner_count] vertex index at each corner of the cells */
} sinew_vtk_cells;

bool sinew_vtk_cells_allocate(sinew_vtk_cells *cells, int64_t count, int64_t corner_count,
                              const sinew_builder *builder);
void sinew_vtk_cells_release(sinew_vtk_cells *cells, const sinew_builder *builder);
/* Index of the first cell whose range starts[i] .. starts[i + 1] is reversed or exceeds the corners; -1: none. */
int64_t sinew_vtk_cells_broken(const sinew_vtk_cells *cells);

typedef enum sinew_vtk_add_result {
    SINEW_VTK_ADDED,
    SINEW_VTK_WRONG_SIZE,
    SINEW_VTK_FAILED
} sinew_vtk_add_result;
/* True if a cell of this VTK type can have `count` corners. Ignored types may have any number. */
bool sinew_vtk_size_fits(int64_t type, int64_t count);
/* Adds a VTK cell to the builder, or counts it as omitted if its type is not read; both return SINEW_VTK_ADDED.
 * SINEW_VTK_WRONG_SIZE: a cell of this type cannot have `count` corners; the error is not set. SINEW_VTK_FAILED: the
 * error is set. */
sinew_vtk_add_result sinew_vtk_add_cell(sinew_builder *builder, int64_t type, const int32_t *corners, int64_t count);

#endif
