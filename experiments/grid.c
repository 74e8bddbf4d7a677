/* SPDX-License-Identifier: MIT
 *
 * grid.c: the grid of time steps and stiffnesses that the thesis screens. See grid.h.
 */
#include "grid.h"

#include <math.h>
#include <stdio.h>

double grid_h(int32_t cell)
{
    return pow(10, -1 - cell / GRID_STIFFNESSES);
}

double grid_stiffness(int32_t cell)
{
    return pow(10, 5 + cell % GRID_STIFFNESSES);
}

int grid_wanted(int32_t cell, int quick)
{
    return !quick || cell % 2 == 1;
}

/* Finds the first and last marked cell of a time step in the grid (-1: none), and the numbers of marked cells and of
 * cells that were run. */
static void survey(const int8_t *marks, int32_t step, int32_t *first, int32_t *last, int *marked, int *run)
{
    *first = *last = -1;
    *marked = *run = 0;
    for (int32_t i = 0; i < GRID_STIFFNESSES; i++) {
        const int8_t mark = marks[step * GRID_STIFFNESSES + i];
        *run += mark >= 0;
        if (mark <= 0)
            continue;
        (*marked)++;
        *first = *first < 0 ? i : *first;
        *last = i;
    }
}

static int unbroken(const int8_t *marks, int32_t step, int32_t from, int32_t to)
{
    for (int32_t i = from; i <= to; i++)
        if (marks[step * GRID_STIFFNESSES + i] == 0)
            return 0;
    return 1;
}

void grid_describe(const int8_t *marks, int32_t step, char *text, size_t size)
{
    int32_t first, last;
    int marked, run;
    survey(marks, step, &first, &last, &marked, &run);
    if (marked == 0) {
        snprintf(text, size, "-");
    } else if (marked == run) {
        snprintf(text, size, "all");
    } else if (unbroken(marks, step, first, GRID_STIFFNESSES - 1)) {
        snprintf(text, size, ">= 1e%d", 5 + (int)first);
    } else if (unbroken(marks, step, 0, last)) {
        snprintf(text, size, "<= 1e%d", 5 + (int)last);
    } else {
        size_t used = 0;
        for (int32_t i = 0; i < GRID_STIFFNESSES && used < size; i++)
            if (marks[step * GRID_STIFFNESSES + i] > 0)
                used += (size_t)snprintf(text + used, size - used, "%s1e%d", used ? " " : "", 5 + (int)i);
    }
}
