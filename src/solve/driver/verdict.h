/* SPDX-License-Identifier: MIT
 *
 * verdict.h: whether a step is solved, and what steps without an estimate infer from earlier ones.
 *
 * A step is solved if its relative position error e (the largest error of a body over the body's size) is at most
 * `accuracy`. A step without an estimate is solved if
 *
 *     r (e_m / r_m) <= accuracy / 4
 *
 * with its residual r, at least its round-off, and the last step m that measured both; for r > 4 r_m the left side is
 * multiplied by (r / 4 r_m)^(1/2). A tolerance that the user has set, i.e. that is not the default, also decides: a
 * relative residual of at most the tolerance is enough.
 */
#ifndef SINEW_SRC_SOLVE_DRIVER_VERDICT_H
#define SINEW_SRC_SOLVE_DRIVER_VERDICT_H

#include "solve/driver/objective_gap.h"

/* True if the residual at the start of the step is known. Without measurement, the first evaluation (by a solver or a
 * record) is at a later iterate. */
bool sinew_solve_start_is_measured(const sinew_solve *s);
/* Sets estimate->relative, the largest position error relative to body size, by s->error_hook. */
void sinew_solve_relate_error(const sinew_solve *s, sinew_gap_estimate *estimate);
/* Status bits of a step from its residual and position error; 0: the step is solved. */
uint32_t sinew_solve_judge(const sinew_solve *s, const sinew_gap_estimate *estimate);
/* Status bits of a step with hard constraints: whether constraints are met and forces balance. */
uint32_t sinew_solve_judge_kkt(const sinew_solve *s, const sinew_kkt_residuals *c);
/* Updates s->history, the measurements of earlier steps, after a step. */
void sinew_solve_remember(sinew_solve *s, const sinew_gap_estimate *estimate);

#endif
