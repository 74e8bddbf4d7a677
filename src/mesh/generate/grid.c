/* SPDX-License-Identifier: MIT
 *
 * grid.c: cuts the hexahedral cells of grid.h into tetrahedra. Corner c of a cell has the offsets (c & 1, c >> 1 & 1, c
 * >> 2), so a step along axis a flips bit a.
 */
#include "mesh/generate/grid.h"

static int64_t saturated_product(int64_t a, int64_t b)
{
    return b != 0 && a > INT64_MAX / b ? INT64_MAX : a * b;
}

static int32_t vertices_along(const sinew_grid *grid, int axis)
{
    return grid->cells[axis] + (grid->wraps[axis] ? 0 : 1);
}

int64_t sinew_grid_vertex_count(const sinew_grid *grid)
{
    int64_t count = 1;
    for (int a = 0; a < 3; a++)
        count = saturated_product(count, (int64_t)grid->cells[a] + (grid->wraps[a] ? 0 : 1));
    return count;
}

int64_t sinew_grid_cell_count(const sinew_grid *grid)
{
    return saturated_product(saturated_product(grid->cells[0], grid->cells[1]), grid->cells[2]);
}

void sinew_grid_fill_positions(const sinew_grid *grid, sinew_grid_placer *place, const void *context,
                               sinew_real *positions)
{
    int32_t index[3];
    for (index[2] = 0; index[2] < vertices_along(grid, 2); index[2]++)
        for (index[1] = 0; index[1] < vertices_along(grid, 1); index[1]++)
            for (index[0] = 0; index[0] < vertices_along(grid, 0); index[0]++) {
                double position[3];
                place(context, index, position);
                for (int k = 0; k < 3; k++)
                    *positions++ = (sinew_real)position[k];
            }
}

static void cell_corners(const sinew_grid *grid, const int32_t cell[3], int32_t corners[8])
{
    for (int c = 0; c < 8; c++) {
        int32_t at[3];
        for (int a = 0; a < 3; a++) {
            at[a] = cell[a] + (c >> a & 1);
            if (at[a] == vertices_along(grid, a))
                at[a] = 0;
        }
        corners[c] = at[0] + vertices_along(grid, 0) * (at[1] + vertices_along(grid, 1) * at[2]);
    }
}

typedef int32_t *cell_cutter(const sinew_grid *grid, const int32_t cell[3], const int32_t corners[8], int32_t *tets);

static void grid_cut(const sinew_grid *grid, cell_cutter *cut_cell, int32_t *tets)
{
    int32_t cell[3], corners[8];
    for (cell[2] = 0; cell[2] < grid->cells[2]; cell[2]++)
        for (cell[1] = 0; cell[1] < grid->cells[1]; cell[1]++)
            for (cell[0] = 0; cell[0] < grid->cells[0]; cell[0]++) {
                cell_corners(grid, cell, corners);
                tets = cut_cell(grid, cell, corners, tets);
            }
}

static int32_t *cut_cell_five(const sinew_grid *grid, const int32_t cell[3], const int32_t corners[8], int32_t *tets)
{
    /* Corners of the five tets for even and odd cells: in an odd cell, corner 1 is one of the corners with even i + j +
     * k. */
    static const int five[2][5][4] = {{{0, 5, 3, 6}, {1, 3, 0, 5}, {2, 0, 3, 6}, {4, 6, 5, 0}, {7, 5, 6, 3}},
                                      {{1, 2, 4, 7}, {0, 1, 2, 4}, {3, 2, 1, 7}, {5, 4, 7, 1}, {6, 7, 4, 2}}};
    (void)grid;
    int odd = (cell[0] + cell[1] + cell[2]) & 1;
    for (int t = 0; t < 5; t++)
        for (int i = 0; i < 4; i++)
            *tets++ = corners[five[odd][t][i]];
    return tets;
}

static int32_t *cut_cell_six(const sinew_grid *grid, const int32_t cell[3], const int32_t corners[8], int32_t *tets)
{
    /* The six tets are paths from corner 0 to corner 7, one axis at a time; in odd permutations two corners are
     * exchanged for the orientation. */
    static const int six[6][4] = {{0, 1, 3, 7}, {0, 2, 6, 7}, {0, 4, 5, 7}, {0, 3, 2, 7}, {0, 6, 4, 7}, {0, 5, 1, 7}};
    int mirror = 0, turns = 0;
    for (int a = 0; a < 3; a++)
        if (grid->mirror[a] && cell[a] < grid->cells[a] / 2) {
            mirror |= 1 << a;
            turns ^= 1;
        }
    for (int t = 0; t < 6; t++, tets += 4) {
        for (int i = 0; i < 4; i++)
            tets[i] = corners[six[t][i] ^ mirror];
        /* A mirrored tet is inverted; exchanging two corners restores its orientation. */
        if (turns) {
            int32_t swap = tets[1];
            tets[1] = tets[2];
            tets[2] = swap;
        }
    }
    return tets;
}

void sinew_grid_cut_five(const sinew_grid *grid, int32_t *tets)
{
    grid_cut(grid, cut_cell_five, tets);
}

void sinew_grid_cut_six(const sinew_grid *grid, int32_t *tets)
{
    grid_cut(grid, cut_cell_six, tets);
}
