/* SPDX-License-Identifier: MIT
 *
 * experiments.h: published experiments by name: the published statement, the measured value and the verdict.
 *
 * An experiment fills an outcome: claims (published, measured, holds), numbers for programs, and figures as data. The
 * caller prints, writes and draws them (app/reproduce.c). Experiments use include/sinew only.
 */
#ifndef SINEW_EXPERIMENTS_H
#define SINEW_EXPERIMENTS_H

#include "beam.h"

enum {
    CLAIM_MAX = 24,
    NUMBER_MAX = 256,
    FIGURE_MAX = 8,
    SERIES_MAX = 12,
    COUNT_SIZE = 16 /* size of the buffer for a formatted count, in characters */
};

/* Results of a claim, in increasing order of precedence: the largest value among the claims is the result of the
 * experiment. */
typedef enum claim_result {
    NOT_MEASURED = 0, /* result of a claim: the data or program that the claim needs is missing */
    NOT_JUDGED,       /* result of a claim about a duration, which depends on the machine and its load */
    HOLDS_YES,
    HOLDS_PARTLY,
    HOLDS_NO
} claim_result;

/* One statement of the published source, and its measured counterpart. */
typedef struct claim {
    /* Statement, published value, measured value; cause: why the claim does not hold, or only in part. */
    char what[120], published[120], measured[240], cause[480];
    claim_result holds;
} claim;

/* A named number that summary.json of an experiment contains. */
typedef struct number {
    char name[48];
    double value;
} number;

/* A curve, or (in a figure of shapes) a body. The solver `kind` selects the colour; `variant` distinguishes curves of
 * one kind. */
typedef struct series {
    char name[56];
    sinew_solver_kind kind;
    int32_t variant;
    int32_t count;    /* number of points of the curve or vertices of the shape */
    double *x, *y;    /* [count] coordinates of the points of a curve */
    sinew_real *body; /* [3 * count] vertex positions of a shape, in m */
    int32_t triangle_count;
    int32_t *triangles; /* [3 * triangle_count] vertices of a shape's triangles; NULL: the beam's surface */
} series;

typedef struct figure {
    char name[32], title[160], x_label[64], y_label[64];
    bool log_x, log_y, shapes;
    bool distinct; /* true: one colour per curve instead of one per solver */
    double span;   /* width of the view of a shape in m; 0: the beam's */
    int32_t series_count;
    series series[SERIES_MAX];
} figure;

typedef struct outcome {
    int32_t claim_count, number_count, figure_count;
    claim claims[CLAIM_MAX];
    number numbers[NUMBER_MAX];
    figure figures[FIGURE_MAX];
    char setup[200];   /* description of the simulated set-up; "": the twisted beam */
    char failure[256]; /* reason why the experiment could not run; "": it ran */
} outcome;

/* Options of the caller for an experiment. */
typedef struct setting {
    bool quick;
    bool alone; /* true: runs in this precision only, without starting the program of the other precision */
    /* Beam built once and shared by all experiments that need it; NULL: no selected experiment needs it. */
    beam *beam;
    /* Reports the progress of an experiment; may be called by any thread. */
    void (*progress)(void *context, int32_t done, int32_t total, const char *label);
    /* Runs an experiment by the program of the other precision and reads its numbers and one figure. Returns false,
     * with the reason in the result's failure, if that program is missing or fails. */
    bool (*other_precision)(void *context, const char *name, const char *figure_name, outcome *result);
    void *context;
} setting;

typedef struct experiment {
    const char *name, *source, *title;
    void (*run)(const setting *s, outcome *o);
    bool needs_beam;
} experiment;

enum {
    EXPERIMENT_MAX = 128 /* capacity of lists of experiments */
};

/* Returns an experiment by index, NULL past the last. */
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

/* ---- Outcomes of experiments (outcome.c) -------------------------------------------------------- */

/* Adds a claim to an outcome, to be filled by claim_measured() and claim_holds(). Never NULL: past CLAIM_MAX the
 * last claim is reused. */
claim *outcome_claim(outcome *o, const char *what, const char *published);
void claim_measured(claim *c, const char *format, ...) SINEW_PRINTF(2, 3);
void claim_holds(claim *c, claim_result holds, const char *cause, ...) SINEW_PRINTF(3, 4);
/* Marks a claim about a duration as reported, not judged. `remark`: a caveat for the reader, or "". */
void claim_timed(claim *c, const char *remark);
/* Formats a count of iterations, or "not yet" if it is negative. */
const char *count_text(int32_t count, char text[COUNT_SIZE]);
void outcome_number(outcome *o, double value, const char *name, ...) SINEW_PRINTF(3, 4);
bool outcome_find(const outcome *o, const char *name, double *value);
figure *outcome_figure(outcome *o, const char *name, const char *title, const char *x_label, const char *y_label);
/* Adds a curve of `count` points with unset values to a figure. Returns false if out of memory or past SERIES_MAX. */
bool figure_series(figure *f, const char *name, sinew_solver_kind kind, int32_t variant, int32_t count);
/* Adds a shape to a figure; copies its positions. */
void figure_shape(figure *f, const char *name, sinew_solver_kind kind, const sinew_real *q, int32_t count);
/* Sets the triangles of the figure's shape that was added last; copies them. */
void figure_surface(figure *f, const int32_t *triangles, int32_t count);
/* Result of an experiment: no if a judged claim fails, yes if all judged claims hold. */
claim_result outcome_result(const outcome *o);
const char *result_name(claim_result v);
void outcome_release(outcome *o);

/* ---- Runs of the beam (runs.c) ----------------------------------------------------------------- */

double length3(const double v[3]);

/* Function that selects the value of an iteration record for a curve. */
typedef double record_value(const sinew_iteration *record);
double record_objective(const sinew_iteration *record);
double record_inertia(const sinew_iteration *record);
double record_elastic(const sinew_iteration *record);
double record_residual(const sinew_iteration *record);
/* Norm of the linear momentum of an iteration record, in kg m/s. */
double record_linear(const sinew_iteration *record);
/* Norm of the angular momentum of an iteration record, in kg m2/s. */
double record_angular(const sinew_iteration *record);

/* Takes all runs of the beam in parallel, each on one thread, so that the number of threads changes the time only.
 * Returns false, with the outcome's failure set, if a run fails. */
bool runs_take(const setting *s, beam_run *runs, int32_t count, const char *label, outcome *o);
void runs_release(beam_run *runs, int32_t count);
/* Returns the lowest objective of all iterations of all runs. */
double runs_lowest(const beam_run *runs, int32_t count);
/* Relative error of a run in per cent after an iteration, Ledwon's thesis (5.5). */
double run_error(const beam_run *run, int32_t iteration, double lowest);
/* Returns the first iteration after which the error of a run stays at or below `per_cent`; -1 if there is none. */
int32_t run_settled(const beam_run *run, double per_cent, double lowest);
/* Adds a run as a curve over iterations to a figure: its first `max` points, or all if `max` is 0. */
void run_curve(figure *f, const beam_run *run, const char *name, int32_t variant, record_value *value, int32_t max);
/* Adds a run as a curve over seconds to a figure; `each` is the time of an iteration, measured by a run without
 * records. */
void run_curve_timed(figure *f, const beam_run *run, const char *name, int32_t variant, double each, int32_t max);
const sinew_iteration *run_last(const beam_run *run);
/* Signed volume of a tet in m3. */
double tet_volume(const sinew_real *q, const int32_t *tet);
/* Ruggedness of the beam in degrees: root mean square of the angles between neighbouring triangles of the beam's
 * surface that are coplanar at rest. */
double beam_ruggedness(const beam *b, const sinew_real *q);

#endif
