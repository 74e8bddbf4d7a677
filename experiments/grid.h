/* SPDX-License-Identifier: MIT
 *
 * grid.h: the grid of parameters that Ledwon's thesis screens, section 5.1: four time steps by eight stiffnesses.
 */
#ifndef SINEW_EXPERIMENTS_GRID_H
#define SINEW_EXPERIMENTS_GRID_H

#include <stddef.h>
#include <stdint.h>

enum {
    GRID_STEPS = 4,
    GRID_STIFFNESSES = 8,
    GRID_CELLS = GRID_STEPS * GRID_STIFFNESSES
};

/* Time step and stiffness of a cell of the grid, which is numbered step * GRID_STIFFNESSES + stiffness. */
double grid_h(int32_t cell);         /* time step of a cell of the grid, 1e-1 .. 1e-4 s */
double grid_stiffness(int32_t cell); /* stiffness of a cell of the grid, 1e5 .. 1e12 */
/* True if the cell of the grid is run; `quick` omits every second stiffness. */
int grid_wanted(int32_t cell, int quick);

/* Writes the stiffnesses of one time step whose `marks` [GRID_CELLS] are positive: ">= 1e8" (all from 1e8 on), "<=
 * 1e7" (all up to 1e7), a list, "all" or "-". Negative marks are cells that were not run. */
void grid_describe(const int8_t *marks, int32_t step, char *text, size_t size);

#endif
