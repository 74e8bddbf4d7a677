/* SPDX-License-Identifier: MIT
 *
 * time_budget.c: decides which stages of a step its time budget leaves out. See time_budget.h.
 */
#include "solve/time_budget.h"

#include <math.h>

#include "base/base.h"

/* Part of the time of the detection pass by which iterations may exceed the budget. Without it the bean of bench_frame
 * with 2 ms a step collapses in one iteration a step, and its detection pass takes 200 ms. */
#define ITERATION_SHARE 0.2

/* Factor on the expected time of a measurement that is left out, so that one slow measurement is not the last. */
#define FORGET 0.95

static double budget_now(const sinew_time_budget *b)
{
    return b->clock ? b->clock(b->context) : sinew_seconds();
}

void sinew_time_budget_begin(sinew_time_budget *b, double limit)
{
    b->limit = limit;
    b->began = limit > 0 ? budget_now(b) : 0;
    b->least = b->detection = b->ended = 0;
    b->iterations_until = HUGE_VAL;
    b->left_out = 0;
}

double sinew_time_budget_elapsed(const sinew_time_budget *b)
{
    return b->limit > 0 ? budget_now(b) - b->began : 0;
}

sinew_stage_start sinew_time_budget_begin_stage(const sinew_time_budget *b)
{
    return (sinew_stage_start){sinew_time_budget_elapsed(b), b->ended};
}

void sinew_time_budget_end_stage(sinew_time_budget *b, sinew_stage stage, sinew_stage_start start)
{
    if (!(b->limit > 0))
        return;
    const double seconds = sinew_time_budget_elapsed(b) - start.since - (b->ended - start.ended);
    b->ended += seconds;
    b->expected[stage] = fmax(seconds, (b->expected[stage] + seconds) / 2);
    if (stage == SINEW_STAGE_DETECTION && b->detection == 0)
        b->detection = seconds;
    if (stage == SINEW_STAGE_END)
        b->least += seconds + b->expected[SINEW_STAGE_ITERATION];
}

bool sinew_time_budget_fits(const sinew_time_budget *b, sinew_stage stage)
{
    if (!(b->limit > 0))
        return true;
    double until = sinew_time_budget_elapsed(b) + b->expected[stage] + b->expected[SINEW_STAGE_END];
    /* Contacts of a further detection pass act in the iterations after it. */
    if (stage == SINEW_STAGE_DETECTION)
        until += b->expected[SINEW_STAGE_ITERATION];
    return until <= (stage == SINEW_STAGE_ITERATION ? b->iterations_until : b->limit);
}

bool sinew_time_budget_allows(sinew_time_budget *b, sinew_stage stage)
{
    const bool allowed = sinew_time_budget_fits(b, stage);
    b->left_out |= allowed ? 0 : 1u << stage;
    if (!allowed && (stage == SINEW_STAGE_GAP || stage == SINEW_STAGE_CLEARANCE))
        b->expected[stage] *= FORGET;
    return allowed;
}

void sinew_time_budget_begin_iterations(sinew_time_budget *b)
{
    if (!(b->limit > 0))
        return;
    b->least = sinew_time_budget_elapsed(b);
    b->iterations_until = fmax(b->limit, b->least + b->expected[SINEW_STAGE_END]) + ITERATION_SHARE * b->detection;
}

const char *sinew_time_budget_left_out(const sinew_time_budget *b)
{
    static const char *const texts[] = {"",
                                        "detection passes",
                                        "iterations",
                                        "detection passes and iterations",
                                        "measurements",
                                        "detection passes and measurements",
                                        "iterations and measurements",
                                        "detection passes, iterations and measurements"};
    const unsigned measurements = 1u << SINEW_STAGE_GAP | 1u << SINEW_STAGE_CLEARANCE;
    return texts[(b->left_out & 3) | (b->left_out & measurements ? 4u : 0u)];
}
