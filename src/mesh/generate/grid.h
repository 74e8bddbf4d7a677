/* SPDX-License-Identifier: MIT
 *
 * grid.h: blocks of hexahedral cells in index space, cut into tetrahedra. Generators place the vertices.
 *
 * Vertex (i, j, k) has index i + n0 (j + n1 k), with n0 and n1 vertices along axes 0 and 1. Cells are numbered in the
 * same way by their own counts; the tetrahedra of a cell are consecutive.
 */
#ifndef SINEW_SRC_MESH_GENERATE_GRID_H
#define SINEW_SRC_MESH_GENERATE_GRID_H

#include "mesh/mesh.h"

typedef struct sinew_grid {
    int32_t cells[3];
    bool wraps[3]; /* true: the grid axis is periodic, i.e. its last vertex is the first */
    /* true (six tets per cell): cells of the lower half along this axis are cut as mirror images of those of the upper
     * half; needs an even number of cells */
    bool mirror[3];
} sinew_grid;

/* Numbers of vertices and cells of a grid; they saturate at INT64_MAX, which sinew_mesh_allocate() refuses. */
int64_t sinew_grid_vertex_count(const sinew_grid *grid);
int64_t sinew_grid_cell_count(const sinew_grid *grid);

/* Calls `place`(context, index, position) for every vertex of the grid in order; index[a] is in 0 .. cells[a], without
 * cells[a] along a periodic axis. `place` sets the position (m). */
typedef void sinew_grid_placer(const void *context, const int32_t index[3], double position[3]);
void sinew_grid_fill_positions(const sinew_grid *grid, sinew_grid_placer *place, const void *context,
                               sinew_real *positions);

/* Cuts each grid cell into five tetrahedra: the four vertices of even i + j + k form the middle one, which is regular
 * in a cubic cell; the other four cut off the corners. Faces of neighbouring cells match because the parity belongs to
 * the vertices. Not for periodic grids. */
void sinew_grid_cut_five(const sinew_grid *grid, int32_t *tets);

/* Cuts each grid cell into six tetrahedra around the diagonal from corner (0,0,0) to (1,1,1) (H. Freudenthal 1942, H.
 * W. Kuhn 1960). The cut is the same in every cell, so it closes around a periodic axis of any count. Along mirrored
 * axes the diagonal runs outward from the middle plane. Every tetrahedron then has a vertex on the inner side of its
 * cell. None has all four vertices on an outer surface that is bent around the edges of the block. */
void sinew_grid_cut_six(const sinew_grid *grid, int32_t *tets);

#endif
