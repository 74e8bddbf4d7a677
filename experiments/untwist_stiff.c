/* SPDX-License-Identifier: MIT
 *
 * untwist_stiff.c: thesis figs 5.8 to 5.11: the beam is let go, h = 1e-1 s, k = 1e9: objective and momenta, in single
 * and in double precision side by side.
 *
 * The thesis finds that PD ends at 2.3 times the others' objective with its centre of mass moved, and looks for the
 * cause in the missing line search or curvature. In exact arithmetic PD keeps the centre of mass: its matrix without
 * the mass has the translations as null space, so each global solve keeps sum m (q - q_tilde) = 0. What is left is
 * round-off: with h^2 k this large against the masses the solve for the positions loses almost all digits of the
 * translation. Solving for the increment loses nothing. Both forms are run in both precisions.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments.h"

enum {
    QN,
    ADMM,
    PD,
    PD_INCREMENT,
    XPBD,
    RUNS,
    STIFFER = 3 /* k = 1e10, 1e11, 1e12: position form */
};
static const char *const names[RUNS] = {"QN", "ADMM", "PD (position)", "PD (increment)", "XPBD"};
static const char *const keys[RUNS] = {"qn", "admm", "pd", "pd_increment", "xpbd"};

static void make_runs(beam_run *runs, int32_t iterations)
{
    static const sinew_solver_kind kinds[RUNS] = {SINEW_SOLVER_QN, SINEW_SOLVER_ADMM, SINEW_SOLVER_PD, SINEW_SOLVER_PD,
                                                  SINEW_SOLVER_XPBD};
    for (int i = 0; i < RUNS; i++)
        runs[i] = (beam_run){.stiffness = 1e9, .h = 1e-1, .solver = kinds[i], .iterations = iterations};
    /* Section 5.5.6: about half the root of k. */
    runs[ADMM].parameters[0] = "weight";
    runs[ADMM].values[0] = 0.5;
    runs[PD].parameters[0] = "form";
    runs[PD].values[0] = 1;
}

/* ---- This precision --------------------------------------------------------------------------- */

static void add_numbers(const setting *s, outcome *o, const beam_run *runs)
{
    const double mass = s->beam->density * 5;
    for (int i = 0; i < RUNS; i++) {
        const sinew_iteration *last = &runs[i].rows[runs[i].row_count - 1];
        /* Momenta against that of the whole mass at the root mean square speed. */
        const double scale = sqrt(2 * mass * runs[QN].rows[runs[QN].row_count - 1].inertia);
        outcome_number(o, last->objective, "%s_objective", keys[i]);
        outcome_number(o, last->elastic, "%s_elastic", keys[i]);
        outcome_number(o, last->inertia, "%s_inertia", keys[i]);
        outcome_number(o, row_linear(last) * runs[i].h / mass, "%s_drift", keys[i]);
        outcome_number(o, row_linear(last) / scale, "%s_linear", keys[i]);
        outcome_number(o, row_angular(last) / scale, "%s_angular", keys[i]);
        double most = 0; /* on the way */
        for (int32_t k = 0; k < runs[i].row_count; k++)
            most = fmax(most, row_angular(&runs[i].rows[k]) / scale);
        outcome_number(o, most, "%s_angular_most", keys[i]);
    }
}

/* The same with larger k: how far the position form drifts within 100 iterations. */
static void add_stiffer(const setting *s, outcome *o, const beam_run *runs)
{
    for (int i = 0; i < STIFFER; i++) {
        const sinew_iteration *last = &runs[RUNS + i].rows[runs[RUNS + i].row_count - 1];
        outcome_number(o, row_linear(last) * runs[RUNS + i].h / (s->beam->density * 5), "pd1e%d_drift", 10 + i);
    }
}

static void add_figures(const setting *s, outcome *o, const beam_run *runs)
{
    figure *f = outcome_figure(o, "momentum", "Linear momentum, " SINEW_PRECISION " precision (fig 5.11, top)",
                               "iteration", "kg m/s");
    figure *a = outcome_figure(o, "angular", "Angular momentum, " SINEW_PRECISION " precision (fig 5.11, bottom)",
                               "iteration", "kg m\xc2\xb2/s");
    figure *g =
        outcome_figure(o, "objective", "Objective, " SINEW_PRECISION " precision (fig 5.8)", "iteration", "g, J");
    f->log_x = f->log_y = a->log_x = a->log_y = g->log_x = g->log_y = true;
    for (int i = 0; i < RUNS; i++) {
        run_curve(f, &runs[i], names[i], i == PD_INCREMENT, row_linear, 0);
        run_curve(a, &runs[i], names[i], i == PD_INCREMENT, row_angular, 0);
        run_curve(g, &runs[i], names[i], i == PD_INCREMENT, row_objective, 0);
    }
    figure *shapes =
        outcome_figure(o, "shapes", "After 1000 iterations, " SINEW_PRECISION " precision (fig 5.10)", "", "");
    for (int i = 0; i < RUNS; i++)
        figure_shape(shapes, names[i], runs[i].solver, runs[i].q, s->beam->vertex_count);
}

/* ---- Both precisions --------------------------------------------------------------------------- */

/* A number of an outcome that may be missing. */
static double found(const outcome *o, const char *solver, const char *what)
{
    char name[64];
    double value = NAN;
    snprintf(name, sizeof name, "%s_%s", solver, what);
    if (o)
        outcome_find(o, name, &value);
    return value;
}

static double pd_ratio(const outcome *o, const char *form)
{
    return found(o, form, "objective") / found(o, "qn", "objective");
}

static void claim_objective(outcome *o, const outcome *single, const outcome *twice)
{
    claim *c = outcome_claim(o, "PD's final objective against QN's", "about 2.3 times");
    claim_measured(c, "single: position form %.6f, increment form %.6f times; double: %.6f and %.6f times",
                   pd_ratio(single, "pd"), pd_ratio(single, "pd_increment"), pd_ratio(twice, "pd"),
                   pd_ratio(twice, "pd_increment"));
    const bool in_single = pd_ratio(single, "pd") > 1.2, in_double = pd_ratio(twice, "pd") > 1.01;
    claim_holds(c,
                in_double   ? HOLDS_YES
                : in_single ? HOLDS_PARTLY
                            : HOLDS_NO,
                "%s",
                in_double ? ""
                : in_single
                    ? "round-off: only the position form, and only in 32 bits. Not a property of PD"
                    : "PD reaches the minimum. The published excess is the kinetic energy of a drift (next line); "
                      "here the drift is too small to show in the objective at this stiffness");
}

static void claim_drift(outcome *o, const outcome *single, const outcome *twice)
{
    claim *c = outcome_claim(o, "PD's centre of mass drifts; line search or L-BFGS is suspected to cure it",
                             "PD far, ADMM a little, QN and XPBD not");
    claim_measured(
        c,
        "single: PD %.1e m (increment form %.1e), ADMM %.0e, QN %.0e, XPBD %.0e; double: PD %.0e (%.0e). PD, "
        "single, k = 1e10, 1e11, 1e12: %.1e, %.1e, %.1e m",
        found(single, "pd", "drift"), found(single, "pd_increment", "drift"), found(single, "admm", "drift"),
        found(single, "qn", "drift"), found(single, "xpbd", "drift"), found(twice, "pd", "drift"),
        found(twice, "pd_increment", "drift"), found(single, "pd1e10", "drift"), found(single, "pd1e11", "drift"),
        found(single, "pd1e12", "drift"));
    const double far = found(single, "pd", "drift"), near = found(single, "pd_increment", "drift");
    const bool in_single = far > 1e-4 && far > 20 * near, in_double = found(twice, "pd", "drift") > 1e-6;
    claim_holds(
        c,
        in_single && !in_double ? HOLDS_PARTLY
        : in_double             ? HOLDS_YES
                                : HOLDS_NO,
        "%s",
        in_single && !in_double
            ? "the drift is there, the suspected cause is not: it is round-off in the global solve in 32 bits, and "
              "grows with h^2 k. Gone in 64 bits, and gone in 32 bits when the same matrix is solved for the "
              "increment (form = increment, the default), without line search or curvature"
            : "see the numbers");
}

static void claim_momenta(outcome *o, const outcome *single, const outcome *twice)
{
    claim *c = outcome_claim(o, "only QN keeps both momenta; XPBD keeps the linear one only",
                             "QN both, XPBD linear, PD and ADMM none");
    const double admm = found(twice, "admm", "angular_most"), pd = found(twice, "pd", "angular_most");
    const double qn = found(twice, "qn", "angular_most"), xpbd = found(twice, "xpbd", "angular_most");
    claim_measured(c,
                   "double, linear: all below %.0e; angular, most on the way, as a share: QN %.0e, PD %.0e, ADMM %.0e, "
                   "XPBD %.0e; single, at the end: QN %.0e, PD %.0e, ADMM %.0e, XPBD %.0e",
                   fmax(fmax(found(twice, "qn", "linear"), found(twice, "xpbd", "linear")),
                        fmax(found(twice, "pd", "linear"), found(twice, "admm", "linear"))),
                   qn, pd, admm, xpbd, found(single, "qn", "angular"), found(single, "pd", "angular"),
                   found(single, "admm", "angular"), found(single, "xpbd", "angular"));
    const bool linear = found(twice, "pd", "linear") < 1e-6 && found(twice, "admm", "linear") < 1e-6 &&
                        found(twice, "qn", "linear") < 1e-6 && found(twice, "xpbd", "linear") < 1e-6;
    claim_holds(c, linear ? HOLDS_PARTLY : HOLDS_YES, "%s",
                linear
                    ? "in double precision all four keep the linear momentum, and from this symmetric start QN, PD and "
                      "ADMM the angular one too; only XPBD loses it. What PD loses in the thesis is round-off"
                    : "");
}

void experiment_untwist_stiff(const setting *s, outcome *o)
{
    beam_run runs[RUNS + STIFFER];
    make_runs(runs, 1000);
    for (int i = 0; i < STIFFER; i++) {
        runs[RUNS + i] = runs[PD];
        runs[RUNS + i].stiffness = 1e10 * pow(10, i);
        runs[RUNS + i].iterations = 100;
    }
    outcome *other = calloc(1, sizeof *other);
    if (runs_take(s, runs, RUNS + STIFFER, "untwist-stiff", o) && other) {
        add_numbers(s, o, runs);
        add_stiffer(s, o, runs);
        add_figures(s, o, runs);
        const bool both = !s->alone && s->other_precision &&
                          s->other_precision(s->context, "thesis/untwist-stiff", "momentum", other);
        const bool here_single = sizeof(sinew_real) == 4;
        const outcome *theirs = both ? other : NULL;
        claim_objective(o, here_single ? o : theirs, here_single ? theirs : o);
        claim_drift(o, here_single ? o : theirs, here_single ? theirs : o);
        claim_momenta(o, here_single ? o : theirs, here_single ? theirs : o);
        for (int i = 0; i < o->claim_count && !both; i++)
            claim_holds(&o->claims[i], HOLDS_PARTLY, "measured in " SINEW_PRECISION " precision only%s",
                        s->alone ? "" : ": the program of the other precision is not beside this one");
        if (both && other->figure_count == 1) {
            figure *f =
                outcome_figure(o, "momentum-other",
                               here_single ? "Linear momentum, double precision" : "Linear momentum, single precision",
                               "iteration", "kg m/s");
            f->log_x = f->log_y = true;
            f->series_count = other->figures[0].series_count;
            for (int32_t i = 0; i < f->series_count; i++)
                f->series[i] = other->figures[0].series[i];
            other->figures[0].series_count = 0;
        }
    }
    if (other)
        outcome_release(other);
    free(other);
    runs_release(runs, RUNS + STIFFER);
}
