/* SPDX-License-Identifier: MIT
 *
 * time_budget.h: the time budget of a step (`time_budget` of the solver).
 *
 * A step cannot stop within a stage. Before a stage that the step can do without, it adds the stage's expected time and
 * that of the stages that must follow to the time since the step began, and leaves the stage out if the sum exceeds the
 * budget. The expected time is the maximum of the last time and the mean of the last time and the former expectation:
 * it grows at once and falls slowly.
 *
 * Every step has one detection pass, one iteration and its end. Iterations may exceed the time of these by a fifth of
 * the time of the detection pass: bodies whose detection alone exceeds the budget would otherwise have one iteration a
 * step, collapse, and cost more in every further step. So a step ends within 1.2 times the larger of its budget and the
 * smallest budget.
 *
 * Without a budget no function here reads the clock.
 */
#ifndef SINEW_SRC_SOLVE_TIME_BUDGET_H
#define SINEW_SRC_SOLVE_TIME_BUDGET_H

#include <stdbool.h>

typedef enum sinew_stage {
    SINEW_STAGE_DETECTION = 0, /* stage of a step: a detection pass, and its contacts as elements of the solver */
    SINEW_STAGE_ITERATION,     /* stage of a step: one iteration, its filter and its multiplier update */
    SINEW_STAGE_GAP,           /* stage of a step: optimality gap and position error */
    SINEW_STAGE_CLEARANCE,     /* stage of a step: clearances and intersections at its end */
    SINEW_STAGE_END,           /* stage of a step: all that follows the last iteration, without measurements */
    SINEW_STAGE_COUNT
} sinew_stage;

/* A stage in progress: time since the step began, and the time of stages that had ended before it, in s. */
typedef struct sinew_stage_start {
    double since, ended;
} sinew_stage_start;

typedef struct sinew_time_budget {
    double (*clock)(void *context); /* time in s; NULL: the monotonic wall clock */
    void *context;
    double limit;                       /* time budget of the current step in s; 0: none */
    double began;                       /* time at which the step began, in s */
    double ended;                       /* time of all stages that have ended in the step, in s */
    sinew_stage_start end;              /* start of the stage SINEW_STAGE_END */
    double expected[SINEW_STAGE_COUNT]; /* expected time of each stage in s; 0: unknown */
    double least;                       /* smallest budget: time of the stages that every step has, in s */
    double detection;                   /* time of the first detection pass of the step in s; 0: none */
    double iterations_until;            /* time since the step began by which iterations end, in s */
    unsigned left_out;                  /* bit 1 << stage: some of this stage were left out */
} sinew_time_budget;

/* Begins a step with this budget; `limit` 0: no budget. */
void sinew_time_budget_begin(sinew_time_budget *b, double limit);
/* Time since the step began, in s; 0 without a budget. */
double sinew_time_budget_elapsed(const sinew_time_budget *b);
sinew_stage_start sinew_time_budget_begin_stage(const sinew_time_budget *b);
/* Stores the time of a stage, without the stages that began and ended within it. */
void sinew_time_budget_end_stage(sinew_time_budget *b, sinew_stage stage, sinew_stage_start start);
/* True if a stage and the stages that must follow it fit into the budget. */
bool sinew_time_budget_fits(const sinew_time_budget *b, sinew_stage stage);
/* sinew_time_budget_fits(), for a stage that is due: notes that it is left out if it does not fit. */
bool sinew_time_budget_allows(sinew_time_budget *b, sinew_stage stage);
/* The iterations begin: all until now belongs to the smallest budget. */
void sinew_time_budget_begin_iterations(sinew_time_budget *b);
/* What the budget left out, as static text; "" if nothing. */
const char *sinew_time_budget_left_out(const sinew_time_budget *b);

#endif
