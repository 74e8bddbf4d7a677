/* SPDX-License-Identifier: MIT
 *
 * low_rank_rows.h: elements beside a constant matrix (global_system.h), as rows of their D with a weight: transient ones,
 * which are in no matrix, and fixed ones that are switched off, which are in it and must not be: their weights are
 * negative.
 */
#ifndef SINEW_SRC_SOLVE_PROJECTIVE_LOW_RANK_ROWS_H
#define SINEW_SRC_SOLVE_PROJECTIVE_LOW_RANK_ROWS_H

#include "linear/factor/low_rank.h"
#include "objective/objective.h"

/* How elements are weighed: their own stiffness (energy.h), fitted over the stretches low .. high where it is not a
 * distance, times a factor. */
typedef struct sinew_weighing {
    double low, high;
    sinew_real factor;
} sinew_weighing;

typedef struct sinew_global_rows {
    int32_t taken, count;          /* rows switched off, and all; those come first */
    sinew_low_row *rows;           /* [count] place: particles, pins known */
    sinew_real *weights, *reduced; /* work space of one task */
    size_t row_room, weight_room, reduced_room;
} sinew_global_rows;

/* weights [lanes of tasks first .. last - 1] */
void sinew_weigh(const sinew_objective *objective, int32_t first, int32_t last, const sinew_weighing *weighing,
                 sinew_real *weights);

/* Lists fixed elements that are off (`off`; weights [lanes of the first task_count tasks] while they are on) and the
 * elements of the tasks after those, contacts only where `contacts` says so. Allocates only what has outgrown all
 * before; false without memory. */
bool sinew_global_rows_list(sinew_global_rows *rows, const sinew_objective *objective, int32_t task_count, bool off,
                            bool contacts, const sinew_real *weights, const sinew_weighing *weighing);
void sinew_global_rows_release(sinew_global_rows *rows, const sinew_objective *objective);

/* Ax += scale sum w d d^T x over rows first .. count - 1, at the free particles; both [particle_count][4] */
void sinew_global_rows_add(const sinew_global_rows *rows, int32_t first, double scale, const sinew_real *x,
                           sinew_real *Ax);
/* b -= scale sum w d d^T q_pins at the free particles */
void sinew_global_rows_move_pins(const sinew_global_rows *rows, double scale, const sinew_real *q, sinew_real *b);

#endif
