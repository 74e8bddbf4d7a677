/* SPDX-License-Identifier: MIT
 *
 * compare.h: results of `sinew compare`; compare.c computes them, summary.c and report*.c write them.
 *
 * Method 0 is the reference: Newton, solved as tightly as the precision allows. Every method starts each step at the
 * state of the reference.
 */
#ifndef SINEW_COMPARE_H
#define SINEW_COMPARE_H

#include <stdio.h>

#include "sinew/extend.h"
#include "sinew/scene.h"

enum {
    SINEW_METHOD_MAX = 24, /* maximum number of compared methods, including the reference */
    SINEW_LABEL_MAX = 96,
    SINEW_LEVEL_COUNT = 3,  /* number of levels of relative error for which times are reported */
    SINEW_SAMPLE_COUNT = 7, /* number of sampled iterations for which errors are tabulated */
    SINEW_REFERENCE = 0
};

/* A solver with its options, as --solvers names it. */
typedef struct sinew_method {
    /* Label of the method, e.g. "admm:weight=0.5"; unique; letters, digits and _ . + - : = only. */
    char label[SINEW_LABEL_MAX];
    sinew_solver_def def;
    bool own_iterations, own_tolerance; /* true: the method's label sets iterations, or tolerance */
} sinew_method;

/* Result of one method in one step. */
typedef struct sinew_answer {
    /* [record_count] measurements per iteration; their times exclude recording, except for the reference. */
    sinew_iteration *records;
    int32_t record_count;
    /* [record_count] relative errors after Ledwon's thesis (5.5); NaN if the step starts at the minimum */
    double *relative_error;
    sinew_step_result result;
    sinew_measures measures; /* measures of the world's state after the step */
    double set_up;           /* wall-clock time of ordering, factorisation and colouring, in s */
    double linear_drift;     /* distance of the linear momentum from the reference's, in kg m/s */
    double angular_drift;    /* distance of the angular momentum from the reference's, in kg m2/s */
    double distance;         /* largest distance of a particle from its position in the reference's result, in m */
    sinew_real *positions;   /* [3 * particle_count] positions after the method's step, in m */
} sinew_answer;

/* A solver that is not compared, and the reason. */
typedef struct sinew_refusal {
    const char *name;
    char why[512];
} sinew_refusal;

typedef struct sinew_comparison {
    sinew_scene *scene;
    sinew_world *world;
    char *command_line;                    /* command line of `sinew compare`, quoted for a shell */
    int32_t picture_width, picture_height; /* size of the picture of each shape in the report, in pixels */
    int32_t iterations;                    /* iteration limit of methods whose label does not set one */
    sinew_method methods[SINEW_METHOD_MAX];
    int32_t method_count;
    sinew_refusal refusals[SINEW_SOLVER_COUNT + SINEW_REGISTERED_SOLVER_MAX];
    int32_t refusal_count;
    int32_t step_count;
    sinew_answer *answers; /* [step_count][method_count] result of each method in each step */
    /* [step_count] objective g at the start of each step, and the lowest g of all methods, in J. */
    double *start, *lowest;
    double linear_scale; /* sum of m |v| of the reference in the last step, in kg m/s; 0: quasistatic or no motion */
    /* Sum of m |x - centre| |v| of the reference in the last step, in kg m2/s; 0: quasistatic or no motion. */
    double angular_scale;
    double motion; /* displacement of the reference's fastest particle in the last step, in m */
    double size;   /* diagonal of the bounding box of the reference's result at the end, in m */
} sinew_comparison;

/* ---- Errors of the results (judge.c) ---------------------------------------------------------- */

/* Relative errors whose first iteration and time are reported, and iterations whose relative error is reported. */
extern const double sinew_levels[SINEW_LEVEL_COUNT];
extern const int32_t sinew_samples[SINEW_SAMPLE_COUNT];

sinew_answer *sinew_answer_of(const sinew_comparison *c, int32_t step, int32_t method);
/* Returns the final relative error of a method in a step; NaN if there is none. */
double sinew_final_error(const sinew_answer *answer);
/* Returns the first iteration record from which on the relative error stays at or below `level`, or -1. */
int32_t sinew_record_reaching(const sinew_answer *answer, double level);
/* Returns the relative error after `iteration`, or the last one if the solver stopped before; NaN if there is none. */
double sinew_error_at(const sinew_answer *answer, int32_t iteration);

/* Fills relative errors, drifts and distances of a step that all methods have taken. */
void sinew_judge_step(sinew_comparison *c, int32_t step);
/* Computes the scales of momenta, motions and distances of the last step; `q` [3 * particle_count] m are the positions
 * at its start. Returns false if memory is short. */
bool sinew_judge_scales(sinew_comparison *c, const sinew_real *q);

/* ---- Output of the comparison (summary.c, report.c) -------------------------------------------- */

/* Writes summary.json of the comparison: all results of the page, for programs. */
void sinew_write_summary(const sinew_comparison *c, FILE *stream);
/* Writes report.html of the comparison: one self-contained file. Returns false if memory is short. */
bool sinew_write_report(const sinew_comparison *c, FILE *stream);

/* ---- Texts that name a solver with options (method.c) ------------------------------------------ */

/* Parses a method, "name" or "name:option=value:option=value" [length characters]; ';' also separates options.
 * Returns false, with a message that names valid choices, for a wrong text. */
bool sinew_method_read(const char *command, const char *word, size_t length, sinew_method *method);

#endif
