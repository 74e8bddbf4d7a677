/* SPDX-License-Identifier: MIT
 *
 * untwist_stiff.c: Ledwon's thesis figs 5.8 to 5.11: the beam untwists, h = 1e-1 s, k = 1e9: objective and momenta, in
 * single and in double precision.
 *
 * In the thesis PD ends at 2.3 times the objective of the others with a displaced centre of mass; the thesis suspects
 * the missing line search or curvature. In exact arithmetic PD keeps the centre of mass: its matrix without the mass
 * has the translations as null space, so each global solve keeps sum m (q - q_tilde) = 0. The cause is round-off: with
 * h^2 k this large against the masses the solve for the positions loses almost all digits of the translation. A solve
 * for the increment loses none. Both forms run in both precisions.
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
    PD_FLOAT,
    XPBD,
    RUNS,
    EARLY = 20, /* iteration at which the thesis reports PD's inertial term as too large */
    STIFFER = 3 /* number of runs of the position form with k = 1e10, 1e11, 1e12 */
};
static const char *const names[RUNS] = {"QN", "ADMM", "PD (position)", "PD (increment)", "PD (all in 32 bits)", "XPBD"};
static const char *const keys[RUNS] = {"qn", "admm", "pd", "pd_increment", "pd_float", "xpbd"};

static void untwist_stiff_make_runs(beam_run *runs, int32_t iterations)
{
    static const sinew_solver_kind kinds[RUNS] = {SINEW_SOLVER_QN, SINEW_SOLVER_ADMM, SINEW_SOLVER_PD,
                                                  SINEW_SOLVER_PD, SINEW_SOLVER_PD,   SINEW_SOLVER_XPBD};
    for (int i = 0; i < RUNS; i++)
        runs[i] = (beam_run){.stiffness = 1e9, .h = 1e-1, .solver = kinds[i], .iterations = iterations};
    /* Section 5.5.6 of the thesis: an ADMM weight of about half the square root of k. */
    runs[ADMM].parameters[0] = "weight";
    runs[ADMM].values[0] = 0.5;
    runs[PD].parameters[0] = "form";
    runs[PD].values[0] = 1;
    runs[PD_FLOAT].parameters[0] = "form";
    runs[PD_FLOAT].values[0] = 1;
    runs[PD_FLOAT].parameters[1] = "factor";
    runs[PD_FLOAT].values[1] = 1;
}

/* ---- Results in this precision ----------------------------------------------------------------- */

/* First iteration after which XPBD's objective stays below PD's; -1 if there is none. */
static int32_t below_pd(const beam_run *runs)
{
    int32_t i = runs[XPBD].record_count;
    while (i > 0 && beam_objective(&runs[XPBD], i - 1) < beam_objective(&runs[PD], i - 1))
        i--;
    return i < runs[XPBD].record_count ? i : -1;
}

/* Records the progress of each solver for figs 5.8 and 5.9. */
static void add_progress(outcome *o, const beam_run *runs)
{
    const double lowest = runs_lowest(runs, RUNS);
    const int32_t last = runs[XPBD].record_count - 1, before = last > 100 ? last - 100 : 0;
    outcome_number(o, below_pd(runs), "xpbd_below_pd");
    outcome_number(o, runs[XPBD].records[last].elastic / runs[XPBD].records[before].elastic, "xpbd_elastic_fall");
    for (int i = 0; i < RUNS; i++) {
        outcome_number(o, run_error(&runs[i], 1000, lowest), "%s_error", keys[i]);
        outcome_number(o, run_last(&runs[i])->elastic / runs[i].records[0].elastic, "%s_elastic_left", keys[i]);
        outcome_number(o, runs[i].records[EARLY].inertia / run_last(&runs[QN])->inertia, "%s_inertia_early", keys[i]);
    }
}

static void untwist_stiff_add_numbers(const setting *s, outcome *o, const beam_run *runs)
{
    const double mass = s->beam->density * 5;
    for (int i = 0; i < RUNS; i++) {
        const sinew_iteration *last = &runs[i].records[runs[i].record_count - 1];
        /* Momenta are relative to the momentum of the whole mass at the root mean square speed. */
        const double scale = sqrt(2 * mass * runs[QN].records[runs[QN].record_count - 1].inertia);
        outcome_number(o, last->objective, "%s_objective", keys[i]);
        outcome_number(o, last->elastic, "%s_elastic", keys[i]);
        outcome_number(o, last->inertia, "%s_inertia", keys[i]);
        outcome_number(o, record_linear(last) * runs[i].h / mass, "%s_drift", keys[i]);
        const int32_t soon = runs[i].record_count > EARLY ? EARLY : runs[i].record_count - 1;
        outcome_number(o, record_linear(&runs[i].records[soon]) * runs[i].h / mass, "%s_drift_soon", keys[i]);
        outcome_number(o, record_linear(last) / scale, "%s_linear", keys[i]);
        outcome_number(o, record_angular(last) / scale, "%s_angular", keys[i]);
        double max = 0; /* largest momentum over all iterations of a run */
        for (int32_t k = 0; k < runs[i].record_count; k++)
            max = fmax(max, record_angular(&runs[i].records[k]) / scale);
        outcome_number(o, max, "%s_angular_most", keys[i]);
    }
    add_progress(o, runs);
}

/* Records the drift of PD's position form within 100 iterations at larger k. */
static void add_stiffer(const setting *s, outcome *o, const beam_run *runs)
{
    for (int i = 0; i < STIFFER; i++) {
        const sinew_iteration *last = &runs[RUNS + i].records[runs[RUNS + i].record_count - 1];
        outcome_number(o, record_linear(last) * runs[RUNS + i].h / (s->beam->density * 5), "pd1e%d_drift", 10 + i);
    }
}

static void untwist_stiff_add_figures(const setting *s, outcome *o, const beam_run *runs)
{
    figure *f = outcome_figure(o, "momentum", "Linear momentum, " SINEW_PRECISION " precision (fig 5.11, top)",
                               "iteration", "kg m/s");
    figure *a = outcome_figure(o, "angular", "Angular momentum, " SINEW_PRECISION " precision (fig 5.11, bottom)",
                               "iteration", "kg m\xc2\xb2/s");
    figure *g =
        outcome_figure(o, "objective", "Objective, " SINEW_PRECISION " precision (fig 5.8)", "iteration", "g, J");
    f->log_x = f->log_y = a->log_x = a->log_y = g->log_x = g->log_y = true;
    for (int i = 0; i < RUNS; i++) {
        run_curve(f, &runs[i], names[i], i == PD_INCREMENT ? 1 : 2 * (i == PD_FLOAT), record_linear, 0);
        run_curve(a, &runs[i], names[i], i == PD_INCREMENT ? 1 : 2 * (i == PD_FLOAT), record_angular, 0);
        run_curve(g, &runs[i], names[i], i == PD_INCREMENT ? 1 : 2 * (i == PD_FLOAT), record_objective, 0);
    }
    figure *e = outcome_figure(o, "terms-elastic", "Constraint term, " SINEW_PRECISION " precision (fig 5.9, top)",
                               "iteration", "J");
    figure *t = outcome_figure(o, "terms-inertia", "Inertial term, " SINEW_PRECISION " precision (fig 5.9, bottom)",
                               "iteration", "J");
    e->log_x = e->log_y = t->log_x = true;
    for (int i = 0; i < RUNS; i++) {
        run_curve(e, &runs[i], names[i], i == PD_INCREMENT ? 1 : 2 * (i == PD_FLOAT), record_elastic, 0);
        run_curve(t, &runs[i], names[i], i == PD_INCREMENT ? 1 : 2 * (i == PD_FLOAT), record_inertia, 0);
    }
    figure *shapes =
        outcome_figure(o, "shapes", "After 1000 iterations, " SINEW_PRECISION " precision (fig 5.10)", "", "");
    for (int i = 0; i < RUNS; i++)
        figure_shape(shapes, names[i], runs[i].solver, runs[i].q, s->beam->vertex_count);
}

/* ---- Results of both precisions --------------------------------------------------------------- */

/* Outcomes of both precisions; NULL if a precision was not run, with the reason in `missing`. */
typedef struct precisions {
    const outcome *single, *twice;
    const char *missing;
} precisions;

enum {
    TEXT_MAX = 200 /* size of the text with the result of one precision, in characters */
};
typedef void text_writer(const outcome *o, char text[TEXT_MAX]);

static double found(const outcome *o, const char *solver, const char *what)
{
    char name[64];
    double value = NAN;
    snprintf(name, sizeof name, "%s_%s", solver, what);
    outcome_find(o, name, &value);
    return value;
}

static void measured_in_both(claim *c, const precisions *p, text_writer *in_single, text_writer *in_double)
{
    char single[TEXT_MAX] = "not measured", twice[TEXT_MAX] = "not measured";
    if (p->single)
        in_single(p->single, single);
    if (p->twice)
        in_double(p->twice, twice);
    claim_measured(c, "single: %s; double: %s", single, twice);
}

static double pd_ratio(const outcome *o, const char *form)
{
    return found(o, form, "objective") / found(o, "qn", "objective");
}

static void write_objective(const outcome *o, char text[TEXT_MAX])
{
    snprintf(text, TEXT_MAX, "position form %.6f, increment form %.6f times", pd_ratio(o, "pd"),
             pd_ratio(o, "pd_increment"));
}

static void untwist_stiff_claim_objective(outcome *o, const precisions *p)
{
    claim *c = outcome_claim(o, "PD's final objective against QN's", "about 2.3 times");
    measured_in_both(c, p, write_objective, write_objective);
    if (!p->single || !p->twice) {
        claim_holds(c, NOT_MEASURED, "%s", p->missing);
        return;
    }
    const bool in_single = pd_ratio(p->single, "pd") > 1.2, in_double = pd_ratio(p->twice, "pd") > 1.01;
    claim_holds(c,
                in_double   ? HOLDS_YES
                : in_single ? HOLDS_PARTLY
                            : HOLDS_NO,
                "%s",
                in_double ? ""
                : in_single
                    ? "round-off: here only the position form shows it, and only in 32 bits"
                    : "PD reaches the minimum. The published excess is the kinetic energy of a drift (next line); "
                      "here the drift is too small to show in the objective at this stiffness");
}

static void write_drifts(const outcome *o, char text[TEXT_MAX])
{
    snprintf(text, TEXT_MAX,
             "PD %.1e m (increment form %.1e), ADMM %.0e, QN %.0e, XPBD %.0e, PD at k = 1e10, 1e11, 1e12: %.1e, %.1e, "
             "%.1e m",
             found(o, "pd", "drift"), found(o, "pd_increment", "drift"), found(o, "admm", "drift"),
             found(o, "qn", "drift"), found(o, "xpbd", "drift"), found(o, "pd1e10", "drift"),
             found(o, "pd1e11", "drift"), found(o, "pd1e12", "drift"));
}

static void write_pd_drifts(const outcome *o, char text[TEXT_MAX])
{
    snprintf(text, TEXT_MAX, "PD %.0e m (increment form %.0e)", found(o, "pd", "drift"),
             found(o, "pd_increment", "drift"));
}

static void untwist_stiff_claim_drift(outcome *o, const precisions *p)
{
    claim *c = outcome_claim(o, "PD's centre of mass drifts; line search or L-BFGS is suspected to cure it",
                             "PD far, ADMM a little, QN and XPBD not");
    measured_in_both(c, p, write_drifts, write_pd_drifts);
    if (!p->single || !p->twice) {
        claim_holds(c, NOT_MEASURED, "%s", p->missing);
        return;
    }
    const double far = found(p->single, "pd", "drift"), near = found(p->single, "pd_increment", "drift");
    const bool in_single = far > 1e-4 && far > 20 * near, in_double = found(p->twice, "pd", "drift") > 1e-6;
    claim_holds(
        c,
        in_single && !in_double ? HOLDS_PARTLY
        : in_double             ? HOLDS_YES
                                : HOLDS_NO,
        "%s",
        in_single && !in_double
            ? "a drift is there, the suspected cause is not: here it is round-off in the global solve in 32 bits, and "
              "grows with k. Gone in 64 bits, and gone in 32 bits when the same matrix is solved for the "
              "increment (form = increment, the default), without line search or curvature"
            : "see the numbers");
}

/* Writes the result of PD with the factor in 32 bits, too; the other runs have the factor in 64 bits. */
static void write_float(const outcome *o, char text[TEXT_MAX])
{
    snprintf(text, TEXT_MAX, "%.3g mm after 20 iterations, %.3g mm after 1000; objective %.4f times QN's",
             1e3 * found(o, "pd_float", "drift_soon"), 1e3 * found(o, "pd_float", "drift"), pd_ratio(o, "pd_float"));
}

static void claim_float(outcome *o, const precisions *p)
{
    claim *c = outcome_claim(o, "PD's centre of mass jumps at first and then stays (figs 5.10, 5.11)",
                             "a jump within the first iterations, constant from there on");
    measured_in_both(c, p, write_float, write_float);
    if (!p->single) {
        claim_holds(c, NOT_MEASURED, "%s", p->missing);
        return;
    }
    const double soon = found(p->single, "pd_float", "drift_soon"), last = found(p->single, "pd_float", "drift");
    const bool far = last > 5e-3, stays = fabs(last - soon) < 0.1 * last;
    claim_holds(
        c,
        far && stays ? HOLDS_YES
        : far        ? HOLDS_PARTLY
                     : HOLDS_NO,
        "%s",
        far ? "with matrix, factor and solves all in 32 bits (factor = single, form = position); a factor in 64 "
              "bits hides most of it. The shape is the published one, the objective's factor of 2.3 is not"
            : "");
}

static void write_last_angular(const outcome *o, char text[TEXT_MAX])
{
    snprintf(text, TEXT_MAX, "angular, at the end, as a share: QN %.0e, PD %.0e, ADMM %.0e, XPBD %.0e",
             found(o, "qn", "angular"), found(o, "pd", "angular"), found(o, "admm", "angular"),
             found(o, "xpbd", "angular"));
}

static double max_linear(const outcome *o)
{
    return fmax(fmax(found(o, "qn", "linear"), found(o, "xpbd", "linear")),
                fmax(found(o, "pd", "linear"), found(o, "admm", "linear")));
}

static void write_momenta(const outcome *o, char text[TEXT_MAX])
{
    snprintf(text, TEXT_MAX,
             "linear: all below %.0e; angular, most on the way, as a share: QN %.0e, PD %.0e, ADMM %.0e, XPBD %.0e",
             max_linear(o), found(o, "qn", "angular_most"), found(o, "pd", "angular_most"),
             found(o, "admm", "angular_most"), found(o, "xpbd", "angular_most"));
}

/* Judges the momenta in double precision: the difference to single precision is round-off. */
static void untwist_stiff_claim_momenta(outcome *o, const precisions *p)
{
    claim *c = outcome_claim(o, "only QN keeps both momenta; XPBD keeps the linear one only",
                             "QN both, XPBD linear, PD and ADMM none");
    measured_in_both(c, p, write_last_angular, write_momenta);
    if (!p->twice) {
        claim_holds(c, NOT_MEASURED, "%s", p->missing);
        return;
    }
    const bool linear = max_linear(p->twice) < 1e-6;
    claim_holds(
        c, linear ? HOLDS_PARTLY : HOLDS_YES, "%s",
        linear ? "in double precision all four keep the linear momentum, and from this symmetric start QN, PD and "
                 "ADMM the angular one too; only XPBD loses it. What PD loses here in 32 bits is round-off: likely the "
                 "cause in the thesis, whose precision is not known"
               : "");
}

/* ---- Figs 5.8 and 5.9: objective and inertia --------------------------------------------------- */

static void write_below(const outcome *o, char text[TEXT_MAX])
{
    const double from = found(o, "xpbd", "below_pd");
    char count[COUNT_SIZE];
    snprintf(text, TEXT_MAX, "%s%s; error after 1000: PD %.1e, XPBD %.1e %%", from < 0 ? "" : "from iteration ",
             from < 0 ? "never" : count_text((int32_t)from, count), found(o, "pd", "error"), found(o, "xpbd", "error"));
}

static void claim_below(outcome *o, const precisions *p)
{
    claim *c =
        outcome_claim(o, "XPBD is below PD from iteration 680 on; PD's error after 1000 (fig 5.8)", "from 680; 0.02 %");
    measured_in_both(c, p, write_below, write_below);
    if (!p->single || !p->twice) {
        claim_holds(c, NOT_MEASURED, "%s", p->missing);
        return;
    }
    const bool single = found(p->single, "xpbd", "below_pd") >= 0, twice = found(p->twice, "xpbd", "below_pd") >= 0;
    claim_holds(c,
                twice    ? HOLDS_YES
                : single ? HOLDS_PARTLY
                         : HOLDS_NO,
                "%s", twice ? "" : "PD arrives at the minimum here, above which XPBD stays");
}

static void write_terms(const outcome *o, char text[TEXT_MAX])
{
    snprintf(text, TEXT_MAX,
             "left of the start's: QN %.0e, ADMM %.0e, PD %.0e, XPBD %.0e, which falls to %.2f in the last 100",
             found(o, "qn", "elastic_left"), found(o, "admm", "elastic_left"), found(o, "pd", "elastic_left"),
             found(o, "xpbd", "elastic_left"), found(o, "xpbd", "elastic_fall"));
}

static void write_inertia(const outcome *o, char text[TEXT_MAX])
{
    const double qn = found(o, "qn", "inertia");
    snprintf(text, TEXT_MAX, "of QN's: PD %.4f, ADMM %.4f, XPBD %.4f; PD after 20 iterations %.3f",
             found(o, "pd", "inertia") / qn, found(o, "admm", "inertia") / qn, found(o, "xpbd", "inertia") / qn,
             found(o, "pd", "inertia_early"));
}

static void untwist_stiff_claim_terms(outcome *o, const precisions *p)
{
    const outcome *t = p->twice;
    claim *c = outcome_claim(o, "QN, ADMM, PD bring the constraint term near zero; XPBD still falls (fig 5.9)",
                             "near zero; falls");
    measured_in_both(c, p, write_terms, write_terms);
    if (!t) {
        claim_holds(c, NOT_MEASURED, "%s", p->missing);
        return;
    }
    const double max =
        fmax(found(t, "qn", "elastic_left"), fmax(found(t, "admm", "elastic_left"), found(t, "pd", "elastic_left")));
    const bool above = found(t, "xpbd", "elastic_left") > 2 * max, falls = found(t, "xpbd", "elastic_fall") < 0.99;
    claim_holds(c, max > 0.01 ? HOLDS_NO : above && falls ? HOLDS_YES : HOLDS_PARTLY, "%s", "");
    c = outcome_claim(o, "PD's inertial term ends at more than twice the others', above them after 20 its (fig 5.9)",
                      "more than 2 times");
    measured_in_both(c, p, write_inertia, write_inertia);
    if (!p->single) {
        claim_holds(c, NOT_MEASURED, "%s", p->missing);
        return;
    }
    const double in_double = found(t, "pd", "inertia") / found(t, "qn", "inertia"),
                 in_single = found(p->single, "pd", "inertia") / found(p->single, "qn", "inertia");
    claim_holds(c,
                in_double > 1.5   ? HOLDS_YES
                : in_single > 1.5 ? HOLDS_PARTLY
                                  : HOLDS_NO,
                "%s", in_double > 1.5 ? "" : "the published excess is that of the drift: see there");
}

void experiment_untwist_stiff(const setting *s, outcome *o)
{
    beam_run runs[RUNS + STIFFER];
    untwist_stiff_make_runs(runs, 1000);
    for (int i = 0; i < STIFFER; i++) {
        runs[RUNS + i] = runs[PD];
        runs[RUNS + i].stiffness = 1e10 * pow(10, i);
        runs[RUNS + i].iterations = 100;
    }
    outcome *other = calloc(1, sizeof *other);
    if (runs_take(s, runs, RUNS + STIFFER, "untwist-stiff", o) && other) {
        untwist_stiff_add_numbers(s, o, runs);
        add_stiffer(s, o, runs);
        untwist_stiff_add_figures(s, o, runs);
        const bool both = !s->alone && s->other_precision &&
                          s->other_precision(s->context, "thesis/untwist-stiff", "momentum", other);
        const bool here_single = sizeof(sinew_real) == 4;
        const outcome *theirs = both ? other : NULL;
        const precisions p = {.single = here_single ? o : theirs,
                              .twice = here_single ? theirs : o,
                              .missing =
                                  s->alone ? "only " SINEW_PRECISION " precision was run (--alone)" : other->failure};
        untwist_stiff_claim_objective(o, &p);
        untwist_stiff_claim_drift(o, &p);
        claim_float(o, &p);
        untwist_stiff_claim_momenta(o, &p);
        claim_below(o, &p);
        untwist_stiff_claim_terms(o, &p);
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
