/* SPDX-License-Identifier: MIT
 *
 * experiments.h: published experiments by name: the published statement, the measured value and the verdict.
 *
 * An experiment fills an outcome: claims (published, measured, holds), numbers for programs, and figures as data. Who
 * prints, writes and draws them is the caller's affair (app/reproduce.c). Experiments use include/sinew only.
 */
#ifndef SINEW_EXPERIMENTS_H
#define SINEW_EXPERIMENTS_H

#include "beam.h"

enum {
    CLAIM_MAX = 24,
    NUMBER_MAX = 256,
    FIGURE_MAX = 8,
    SERIES_MAX = 12,
    COUNT_SIZE = 16 /* characters of a count in words */
};

/* From what says nothing about the others to what decides them all. */
typedef enum claim_result {
    NOT_MEASURED = 0, /* what it takes was not there */
    NOT_JUDGED,       /* a time: it depends on the machine and on what else that does */
    HOLDS_YES,
    HOLDS_PARTLY,
    HOLDS_NO
} claim_result;

/* One statement of the source. */
typedef struct claim {
    char what[120], published[120], measured[240], cause[480]; /* cause: why not, or not altogether */
    claim_result holds;
} claim;

/* A named number of summary.json. */
typedef struct number {
    char name[48];
    double value;
} number;

/* A curve, or (in a figure of shapes) a body. `kind` chooses the colour, variant tells curves of one kind apart. */
typedef struct series {
    char name[56];
    sinew_solver_kind kind;
    int32_t variant;
    int32_t count;    /* points */
    double *x, *y;    /* [count] of a curve */
    sinew_real *body; /* [3 * count] of a shape */
    int32_t triangle_count;
    int32_t *triangles; /* [3 * triangle_count] of a shape; NULL: the beam's surface */
} series;

typedef struct figure {
    char name[32], title[160], x_label[64], y_label[64];
    bool log_x, log_y, shapes;
    bool distinct; /* a colour for each curve, not for each solver */
    double span;   /* m across the picture of a shape; 0: as the beam needs */
    int32_t series_count;
    series series[SERIES_MAX];
} figure;

typedef struct outcome {
    int32_t claim_count, number_count, figure_count;
    claim claims[CLAIM_MAX];
    number numbers[NUMBER_MAX];
    figure figures[FIGURE_MAX];
    char setup[200];   /* what was simulated; "": the beam */
    char failure[256]; /* why it could not be run; "" when it could */
} outcome;

/* The caller's wishes for an experiment. */
typedef struct setting {
    bool quick;
    bool alone; /* stay in this precision: do not start the program of the other one */
    beam *beam; /* built once and shared by all experiments that need it; NULL: no selected experiment does */
    void (*progress)(void *context, int32_t done, int32_t total, const char *label); /* may be called by any thread */
    /* Runs an experiment by the program of the other precision and reads its numbers and one figure. False when that
     * program is missing or fails (said in the result's failure). */
    bool (*other_precision)(void *context, const char *name, const char *figure_name, outcome *result);
    void *context;
} setting;

typedef struct experiment {
    const char *name, *source, *title;
    void (*run)(const setting *s, outcome *o);
    bool needs_beam;
} experiment;

enum {
    EXPERIMENT_MAX = 128 /* that lists have room for */
};

/* NULL past the last. */
const experiment *experiment_at(int32_t index);

void experiment_pbd_stiffness(const setting *s, outcome *o);
void experiment_admm_weights(const setting *s, outcome *o);
void experiment_untwist(const setting *s, outcome *o);
void experiment_untwist_stiff(const setting *s, outcome *o);
void experiment_twist(const setting *s, outcome *o);
void experiment_twist_admm(const setting *s, outcome *o);
void experiment_neo_hookean(const setting *s, outcome *o);
void experiment_qn_choices(const setting *s, outcome *o);
void experiment_jacobi(const setting *s, outcome *o);
void experiment_beyond(const setting *s, outcome *o);

void experiment_xpbd_residual(const setting *s, outcome *o);
void experiment_stretch(const setting *s, outcome *o);
void experiment_resolution(const setting *s, outcome *o);
void experiment_materials(const setting *s, outcome *o);
void experiment_linear_gs(const setting *s, outcome *o);
void experiment_hessian(const setting *s, outcome *o);
void experiment_acceleration(const setting *s, outcome *o);
void experiment_colours(const setting *s, outcome *o);
void experiment_muscles(const setting *s, outcome *o);
void experiment_hanging(const setting *s, outcome *o);
void experiment_gravity_bar(const setting *s, outcome *o);
void experiment_balloons(const setting *s, outcome *o);

void experiment_cantilever(const setting *s, outcome *o);
void experiment_strip(const setting *s, outcome *o);
void experiment_roof(const setting *s, outcome *o);
void experiment_drape(const setting *s, outcome *o);

void experiment_pd_resolution(const setting *s, outcome *o);
void experiment_pd_strain_limit(const setting *s, outcome *o);
void experiment_pd_bending_limit(const setting *s, outcome *o);
void experiment_pd_buckling(const setting *s, outcome *o);

void experiment_infeasible(const setting *s, outcome *o);
void experiment_cloth_iterations(const setting *s, outcome *o);
void experiment_coordinates(const setting *s, outcome *o);
void experiment_newton(const setting *s, outcome *o);

void experiment_pd_choices(const setting *s, outcome *o);
void experiment_pd_mixed(const setting *s, outcome *o);
void experiment_pd_flag(const setting *s, outcome *o);

void experiment_rods(const setting *s, outcome *o);
void experiment_multiresolution(const setting *s, outcome *o);
void experiment_relative_stiffness(const setting *s, outcome *o);
void experiment_inflatable(const setting *s, outcome *o);
void experiment_patch(const setting *s, outcome *o);
void experiment_pd_volume(const setting *s, outcome *o);
void experiment_pd_press(const setting *s, outcome *o);
void experiment_pd_examples(const setting *s, outcome *o);

void experiment_slope(const setting *s, outcome *o);
void experiment_rebound(const setting *s, outcome *o);
void experiment_tower(const setting *s, outcome *o);
void experiment_belt(const setting *s, outcome *o);
void experiment_stick_slip(const setting *s, outcome *o);
void experiment_hertz(const setting *s, outcome *o);

void experiment_stiff_spring(const setting *s, outcome *o);
void experiment_drift(const setting *s, outcome *o);
void experiment_geometric(const setting *s, outcome *o);
void experiment_trampoline(const setting *s, outcome *o);
void experiment_articulated(const setting *s, outcome *o);
void experiment_sap(const setting *s, outcome *o);
void experiment_table(const setting *s, outcome *o);
void experiment_hard(const setting *s, outcome *o);

void experiment_two_blocks(const setting *s, outcome *o);
void experiment_dropping(const setting *s, outcome *o);
void experiment_dropping_cloth(const setting *s, outcome *o);
void experiment_bundles(const setting *s, outcome *o);
void experiment_dress(const setting *s, outcome *o);
void experiment_mannequin(const setting *s, outcome *o);

/* ---- Outcomes (outcome.c) -------------------------------------------------------------------- */

/* A new claim; fill it with the two below. Never NULL (past CLAIM_MAX the last is reused). */
claim *outcome_claim(outcome *o, const char *what, const char *published);
void claim_measured(claim *c, const char *format, ...) SINEW_PRINTF(2, 3);
void claim_holds(claim *c, claim_result holds, const char *cause, ...) SINEW_PRINTF(3, 4);
/* For a claim about a time: reported without a verdict. `remark`: a caveat for the reader, or "". */
void claim_timed(claim *c, const char *remark);
/* A count of iterations, or "not yet" when it is negative. */
const char *count_text(int32_t count, char text[COUNT_SIZE]);
void outcome_number(outcome *o, double value, const char *name, ...) SINEW_PRINTF(3, 4);
bool outcome_find(const outcome *o, const char *name, double *value);
figure *outcome_figure(outcome *o, const char *name, const char *title, const char *x_label, const char *y_label);
/* A curve of `count` points, not yet filled; false when out of memory. */
bool figure_series(figure *f, const char *name, sinew_solver_kind kind, int32_t variant, int32_t count);
/* A shape, copied. */
void figure_shape(figure *f, const char *name, sinew_solver_kind kind, const sinew_real *q, int32_t count);
/* The surface of the shape added last, copied. */
void figure_surface(figure *f, const int32_t *triangles, int32_t count);
claim_result outcome_result(const outcome *o); /* yes: all that are judged hold; no: at least one does not */
const char *result_name(claim_result v);
void outcome_release(outcome *o);

/* ---- Runs (runs.c) --------------------------------------------------------------------------- */

double length3(const double v[3]);

/* The value of an iteration that a curve shows. */
typedef double record_value(const sinew_iteration *record);
double record_objective(const sinew_iteration *record);
double record_inertia(const sinew_iteration *record);
double record_elastic(const sinew_iteration *record);
double record_residual(const sinew_iteration *record);
double record_linear(const sinew_iteration *record);  /* |linear momentum| */
double record_angular(const sinew_iteration *record); /* |angular momentum| */

/* All runs, side by side; each alone on one thread, so that how many run at once changes nothing but the time. False
 * (and said in the outcome) when one fails. */
bool runs_take(const setting *s, beam_run *runs, int32_t count, const char *label, outcome *o);
void runs_release(beam_run *runs, int32_t count);
/* The lowest objective of all iterations of all runs. */
double runs_lowest(const beam_run *runs, int32_t count);
/* Thesis (5.5) after an iteration, in per cent. */
double run_error(const beam_run *run, int32_t iteration, double lowest);
/* The first iteration from which on the error stays at or below `per_cent`; -1: never. */
int32_t run_settled(const beam_run *run, double per_cent, double lowest);
/* Adds the run as a curve over iterations; `most` points at most from the start, 0: all. */
void run_curve(figure *f, const beam_run *run, const char *name, int32_t variant, record_value *value, int32_t max);
/* The same over seconds: `each` for an iteration, which runs without recording measured. */
void run_curve_timed(figure *f, const beam_run *run, const char *name, int32_t variant, double each, int32_t max);
const sinew_iteration *run_last(const beam_run *run);
/* m3, signed: of the tet of these four vertices. */
double tet_volume(const sinew_real *q, const int32_t *tet);
/* Degrees, root mean square: between neighbouring triangles of the beam's surface that lie in one plane at rest. */
double beam_ruggedness(const beam *b, const sinew_real *q);

#endif
