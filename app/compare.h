/* SPDX-License-Identifier: MIT
 *
 * compare.h: what `sinew compare` found out, between the part that computes it (compare.c) and those that tell it
 * (summary.c, report*.c).
 *
 * Contender 0 is the reference: Newton, solved as tightly as the precision allows. Every contender takes each step from
 * the state that the reference reached.
 */
#ifndef SINEW_COMPARE_H
#define SINEW_COMPARE_H

#include <stdio.h>

#include "sinew/scene.h"

enum {
    SINEW_CONTENDER_MAX = 24, /* with the reference */
    SINEW_LABEL_MAX = 96,
    SINEW_LEVEL_COUNT = 3,  /* of relative errors that are timed */
    SINEW_SAMPLE_COUNT = 7, /* of iterations that are tabled */
    SINEW_REFERENCE = 0
};

/* A solver with its options, as --solvers names it. */
typedef struct sinew_contender {
    char label[SINEW_LABEL_MAX]; /* e.g. "admm:weight=0.5"; unique; letters, digits and _ . + - : = only */
    sinew_solver_def def;
    bool own_iterations, own_tolerance; /* its word says them */
} sinew_contender;

/* One contender's answer in one step. */
typedef struct sinew_answer {
    sinew_iteration *rows; /* [row_count]; seconds without the time that recording takes */
    int32_t row_count;
    double *relative_error; /* [row_count] thesis (5.5); NaN where there is nothing to gain in the step */
    sinew_step_result result;
    sinew_measures measures; /* after the step */
    double set_up;           /* s: ordering, factorisation, colouring */
    double linear_drift;     /* kg m/s: distance of the momentum from the reference's */
    double angular_drift;    /* kg m2/s */
    double distance;         /* m: farthest particle from where the reference has it */
    sinew_real *positions;   /* [3 * particle_count] m after the step */
} sinew_answer;

/* A solver that was left out, and why. */
typedef struct sinew_refusal {
    const char *name;
    char why[512];
} sinew_refusal;

typedef struct sinew_comparison {
    sinew_scene *scene;
    sinew_world *world;
    char *command_line;                    /* as a shell takes it */
    int32_t picture_width, picture_height; /* pixels of each shape in the report */
    int32_t iterations;                    /* at most, of those whose word does not say it */
    sinew_contender contenders[SINEW_CONTENDER_MAX];
    int32_t contender_count;
    sinew_refusal refusals[SINEW_SOLVER_COUNT];
    int32_t refusal_count;
    int32_t step_count;
    sinew_answer *answers;  /* [step_count][contender_count] */
    double *start, *lowest; /* J [step_count] g where a step begins, and the lowest that any contender reached */
    double linear_scale;    /* kg m/s: sum of m |v| of the reference in the last step; 0 when quasistatic */
    double angular_scale;   /* kg m2/s: sum of m |x - centre| |v| */
    double motion;          /* m: how far the reference's fastest particle moved in the last step */
    double size;            /* m: diagonal of the reference's bounds at the end */
} sinew_comparison;

/* ---- Judgement (judge.c) --------------------------------------------------------------------- */

/* Relative errors whose iteration and time are reported, and iterations whose error is. */
extern const double sinew_levels[SINEW_LEVEL_COUNT];
extern const int32_t sinew_samples[SINEW_SAMPLE_COUNT];

sinew_answer *sinew_answer_of(const sinew_comparison *c, int32_t step, int32_t contender);
/* The relative error that the contender ended with; NaN where there is none. */
double sinew_final_error(const sinew_answer *answer);
/* The first row from which on the relative error stays at or below `level`, or -1. */
int32_t sinew_row_reaching(const sinew_answer *answer, double level);
/* The relative error after `iteration`, of the last row when it stopped before; NaN where there is none. */
double sinew_error_at(const sinew_answer *answer, int32_t iteration);

/* Fills relative errors, drifts and distances of a step that everyone has answered. */
void sinew_judge_step(sinew_comparison *c, int32_t step);
/* Finds the scales that momenta, motions and distances of the last step are measured by; `q` [3 * particle_count] m is
 * where it began. False when out of memory. */
bool sinew_judge_scales(sinew_comparison *c, const sinew_real *q);

/* ---- Telling (summary.c, report.c) ----------------------------------------------------------- */

/* summary.json: everything that the page says, for programs. */
void sinew_write_summary(const sinew_comparison *c, FILE *stream);
/* report.html: one file that needs no other. False when out of memory. */
bool sinew_write_report(const sinew_comparison *c, FILE *stream);

/* ---- Solver words (contender.c) -------------------------------------------------------------- */

/* Reads "name" or "name:option=value:option=value" [length characters]; ';' separates options as well. False when it is
 * wrong, which has been said with what would be right. */
bool sinew_contender_read(const char *command, const char *word, size_t length, sinew_contender *contender);

#endif
