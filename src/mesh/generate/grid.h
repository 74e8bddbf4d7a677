/* SPDX-License-Identifier: MIT
 *
 * grid.h: blocks of hexahedral cells in index space, cut into tetrahedra. Generators place the vertices.
 *
 * Vertex (i, j, k) has number i + n0 (j + n1 k), cell (i, j, k) likewise; a cell's tetrahedra follow one another.
 */
#ifndef SINEW_SRC_MESH_GENERATE_GRID_H
#define SINEW_SRC_MESH_GENERATE_GRID_H

#include "mesh/mesh.h"

typedef struct sinew_grid {
    int32_t cells[3];
    bool wraps[3];  /* the last vertex of the axis is the first again */
    bool mirror[3]; /* six tets a cell: cells of the lower half are cut as mirror images of those of the upper half;
                       wants an even number of cells */
} sinew_grid;

/* Saturate at INT64_MAX, so that sinew_mesh_allocate refuses what is too much. */
int64_t sinew_grid_vertex_count(const sinew_grid *grid);
int64_t sinew_grid_cell_count(const sinew_grid *grid);

/* Calls place(context, index, position) for every vertex; index in 0 .. n, in order. */
typedef void sinew_grid_placer(const void *context, const int32_t index[3], double position[3]);
void sinew_grid_fill_positions(const sinew_grid *grid, sinew_grid_placer *slot, const void *context,
                               sinew_real *positions);

/* Five tetrahedra a cell: the four vertices of even i + j + k make a regular tetrahedron, the others cut off the
 * corners. Faces of neighbours match because parity is the vertices' own. Only for grids that do not wrap. */
void sinew_grid_cut_five(const sinew_grid *grid, int32_t *tets);

/* Six tetrahedra a cell around the diagonal from corner (0,0,0) to (1,1,1) (H. Freudenthal 1942, H. W. Kuhn 1960).
 * The cut repeats from cell to cell, so it closes around a wrapped axis of any count. In mirrored axes the diagonal
 * runs from the middle plane outwards: every tetrahedron then has a vertex on the inner side of its cell, and none
 * has all four on an outer surface that bends round the edges of the block. */
void sinew_grid_cut_six(const sinew_grid *grid, int32_t *tets);

#endif
