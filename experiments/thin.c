/* SPDX-License-Identifier: MIT
 *
 * thin.c: plates and shells against analytic and published solutions: the elastica, the roof of Scordelis and Lo, the
 * drape test of fabrics. docs/evidence/thin.md gives the sources of the reference values.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments.h"
#include "roof.h"

#define PI 3.14159265358979323846

enum {
    LADDER = 3 /* number of mesh resolutions of a convergence study */
};
static const int32_t full_cells[LADDER] = {16, 32, 64}, quick_cells[LADDER] = {8, 16, 24};

static bool thin_fail(outcome *o, const char *error)
{
    snprintf(o->failure, sizeof o->failure, "%.250s", error);
    return false;
}

static double percent(double measured, double published)
{
    return 100 * (measured / published - 1);
}

/* ---- Cantilever strip under its own weight ----------------------------------------------------- */

enum {
    GAMMAS = 7
};
static const double gammas[GAMMAS] = {1, 3, 5, 10, 20, 50, 100};
/* Drop over reach of the elastica, for each Gamma. */
static const double elastica[GAMMAS] = {0.124562, 0.364621, 0.585721, 1.066802, 1.863930, 3.705561, 5.888105};

/* Computes drop over reach of a strip with one model on one mesh in ratio [GAMMAS]; returns false if the strip
 * fails. */
static bool thin_hang(const setting *s, outcome *o, plate_mesh_kind mesh, plate_model model, int32_t cells,
                      double *ratio)
{
    strip own = {.mesh = mesh, .model = model, .cells = cells, .count = GAMMAS, .poisson = NAN, .seed = 1};
    for (int i = 0; i < GAMMAS; i++)
        own.shapes[i].load = gammas[i];
    if (s->progress)
        s->progress(s->context, 0, 1, plate_model_names[model]);
    const bool good = strip_run(&own);
    for (int i = 0; i < GAMMAS; i++)
        ratio[i] = own.shapes[i].drop / own.shapes[i].reach;
    strip_release(&own);
    return good || thin_fail(o, own.error);
}

typedef struct hanging {
    double shell[LADDER][PLATE_MESHES][GAMMAS];
    /* Drop over reach of each model on the finest mesh of each kind. */
    double other[PLATE_MODELS][PLATE_MESHES][GAMMAS];
} hanging;

static bool hang_all(const setting *s, outcome *o, const int32_t *cells, hanging *h)
{
    bool good = true;
    for (int m = 0; good && m < PLATE_MESHES; m++) {
        for (int l = 0; good && l < LADDER; l++)
            good = thin_hang(s, o, (plate_mesh_kind)m, PLATE_SHELL, cells[l], h->shell[l][m]);
        for (int k = PLATE_HINGE; good && k < PLATE_MODELS; k++)
            good = thin_hang(s, o, (plate_mesh_kind)m, (plate_model)k, cells[LADDER - 1], h->other[k][m]);
    }
    return good;
}

static void claim_gamma(outcome *o, const hanging *h, int i, double bound)
{
    char what[120], published[120];
    double error[PLATE_MODELS][PLATE_MESHES], worst = 0;
    for (int m = 0; m < PLATE_MESHES; m++) {
        error[PLATE_SHELL][m] = percent(h->shell[LADDER - 1][m][i], elastica[i]);
        worst = fmax(worst, fabs(error[PLATE_SHELL][m]));
        for (int k = PLATE_HINGE; k < PLATE_MODELS; k++)
            error[k][m] = percent(h->other[k][m][i], elastica[i]);
    }
    snprintf(what, sizeof what, "Gamma = %g: drop over reach within %g %% on all meshes", gammas[i], bound);
    snprintf(published, sizeof published, "%.6f (elastica)", elastica[i]);
    claim *c = outcome_claim(o, what, published);
    claim_measured(c,
                   "aligned, turned, unstructured: shell_bending %+.2f, %+.2f, %+.2f %%; hinge %+.1f, %+.1f, %+.1f %%; "
                   "isometric %+.1f, %+.1f, %+.1f %%",
                   error[0][0], error[0][1], error[0][2], error[1][0], error[1][1], error[1][2], error[2][0],
                   error[2][1], error[2][2]);
    claim_holds(c, worst <= bound ? HOLDS_YES : HOLDS_NO, "%s", worst <= bound ? "" : "the mesh is too coarse");
    outcome_number(o, worst, "gamma%g_worst_percent", gammas[i]);
}

/* Judges the convergence order of the largest error over all Gamma, from the coarsest to the finest mesh. */
static void thin_claim_order(outcome *o, const hanging *h, const int32_t *cells)
{
    double order[PLATE_MESHES], min = HUGE_VAL;
    for (int m = 0; m < PLATE_MESHES; m++) {
        double ends[2] = {0};
        for (int i = 0; i < GAMMAS; i++)
            for (int e = 0; e < 2; e++)
                ends[e] = fmax(ends[e], fabs(percent(h->shell[e * (LADDER - 1)][m][i], elastica[i])));
        order[m] = log(ends[0] / ends[1]) / log((double)cells[LADDER - 1] / cells[0]);
        min = fmin(min, order[m]);
        outcome_number(o, order[m], "order_%d", m);
    }
    claim *c = outcome_claim(o, "largest error over all Gamma falls with the edges", "converges");
    claim_measured(c, "%d to %d cells: order %.2f aligned, %.2f turned, %.2f unstructured", cells[0], cells[LADDER - 1],
                   order[0], order[1], order[2]);
    claim_holds(c, min > 1 ? HOLDS_YES : min > 0.5 ? HOLDS_PARTLY : HOLDS_NO, "%s", "");
}

static void cantilever_figure(outcome *o, const hanging *h, const int32_t *cells)
{
    figure *f = outcome_figure(o, "convergence", "Largest error of H/W over Gamma = 1 to 100 (shell_bending)",
                               "cells along the strip", "%");
    f->log_x = f->log_y = f->distinct = true;
    for (int m = 0; m < PLATE_MESHES; m++) {
        if (!figure_series(f, plate_mesh_names[m], SINEW_SOLVER_NEWTON, m, LADDER))
            return;
        for (int l = 0; l < LADDER; l++) {
            double worst = 0;
            for (int i = 0; i < GAMMAS; i++)
                worst = fmax(worst, fabs(percent(h->shell[l][m][i], elastica[i])));
            f->series[m].x[l] = cells[l];
            f->series[m].y[l] = worst;
        }
    }
}

void experiment_cantilever(const setting *s, outcome *o)
{
    const int32_t *cells = s->quick ? quick_cells : full_cells;
    hanging h;
    snprintf(o->setup, sizeof o->setup,
             "a strip clamped on the left, sides planes of symmetry, thickness 1/200 of its length, nu = 0.3, %d cells",
             cells[LADDER - 1]);
    if (!hang_all(s, o, cells, &h))
        return;
    for (int i = 0; i < GAMMAS; i++)
        claim_gamma(o, &h, i, s->quick ? 3 : 1);
    thin_claim_order(o, &h, cells);
    cantilever_figure(o, &h, cells);
}

/* ---- Strip with a load at its tip, or a couple at its end -------------------------------------- */

static bool claim_tip(outcome *o, plate_mesh_kind mesh, int32_t cells, double bound)
{
    static const double loads[2] = {4, 10}, drop[2] = {0.66996, 0.81061}, back[2] = {0.32894, 0.55500};
    strip own = {.mesh = mesh, .kind = STRIP_TIP, .cells = cells, .count = 2, .poisson = NAN, .seed = 1};
    for (int i = 0; i < 2; i++)
        own.shapes[i].load = loads[i];
    const bool good = strip_run(&own);
    for (int i = 0; good && i < 2; i++) {
        char what[120], published[120];
        const double w = percent(own.shapes[i].drop, drop[i]), u = percent(1 - own.shapes[i].reach, back[i]);
        snprintf(what, sizeof what, "tip load P L^2/EI = %g, %s mesh", loads[i], plate_mesh_names[mesh]);
        snprintf(published, sizeof published, "w/L %.5f, u/L %.5f (elastica)", drop[i], back[i]);
        claim *c = outcome_claim(o, what, published);
        claim_measured(c, "w/L %.5f (%+.2f %%), u/L %.5f (%+.2f %%)", own.shapes[i].drop, w, 1 - own.shapes[i].reach,
                       u);
        claim_holds(c, fmax(fabs(w), fabs(u)) <= bound ? HOLDS_YES : HOLDS_NO, "%s", "");
        outcome_number(o, w, "tip%g_%d_percent", loads[i], (int)mesh);
    }
    strip_release(&own);
    return good || thin_fail(o, own.error);
}

static bool claim_circle(outcome *o, figure *f, plate_mesh_kind mesh, int32_t cells, double bound)
{
    char what[120];
    strip own = {.mesh = mesh, .kind = STRIP_TURN, .cells = cells, .count = 2, .poisson = NAN, .seed = 1};
    own.shapes[0].load = PI;
    own.shapes[1].load = 2 * PI;
    const bool good = strip_run(&own);
    if (good) {
        const double gap = 100 * own.shapes[1].gap, couple = percent(own.shapes[1].couple, 2 * PI);
        snprintf(what, sizeof what, "end turned once round, %s mesh: gap of the circle; couple M L/EI",
                 plate_mesh_names[mesh]);
        claim *c = outcome_claim(o, what, "closed; 2 pi = 6.28319");
        claim_measured(c, "gap %.3f %% of the length; M L/EI = %.5f (%+.2f %%)", gap, own.shapes[1].couple, couple);
        claim_holds(c,
                    gap < bound && fabs(couple) < 2 * bound ? HOLDS_YES
                    : gap < bound                           ? HOLDS_PARTLY
                                                            : HOLDS_NO,
                    "%s", fabs(couple) < 2 * bound ? "" : "flat triangles that hardly stretch are too stiff here");
        outcome_number(o, gap, "gap_%d_percent", (int)mesh);
        outcome_number(o, couple, "couple_%d_percent", (int)mesh);
        figure_shape(f, plate_mesh_names[mesh], SINEW_SOLVER_NEWTON, own.q, own.point_count);
        figure_surface(f, own.triangles, own.triangle_count);
    }
    strip_release(&own);
    return good || thin_fail(o, own.error);
}

void experiment_strip(const setting *s, outcome *o)
{
    const int32_t cells = s->quick ? 16 : 48;
    snprintf(o->setup, sizeof o->setup,
             "the strip of thin/cantilever, %d cells; its end turned by an angle that the couple follows from", cells);
    figure *f = outcome_figure(o, "circle", "The strip after a full turn of its end", "", "");
    f->shapes = true;
    f->span = 0.6;
    bool good = true;
    for (int m = 0; good && m < PLATE_MESHES; m++)
        good = claim_tip(o, (plate_mesh_kind)m, cells, s->quick ? 2 : 1) &&
               claim_circle(o, f, (plate_mesh_kind)m, cells, s->quick ? 3 : 1);
}

/* ---- The roof of Scordelis and Lo ------------------------------------------------------------- */

void experiment_roof(const setting *s, outcome *o)
{
    static const int32_t cells[4] = {8, 16, 32, 64};
    const int count = s->quick ? 3 : 4;
    snprintf(o->setup, sizeof o->setup, "%s",
             "a quarter of the roof, 1/1000 of its load, membrane_stvk and shell_bending");
    for (int m = 0; m < PLATE_MESHES; m++) {
        char what[120];
        double sag[4];
        for (int i = 0; i < count; i++) {
            roof r = {.mesh = (plate_mesh_kind)m, .cells = cells[i], .seed = 1};
            if (!roof_run(&r)) {
                thin_fail(o, r.error);
                return;
            }
            sag[i] = r.sag;
            outcome_number(o, r.sag, "sag_%d_%d", m, (int)cells[i]);
        }
        snprintf(what, sizeof what, "Scordelis-Lo roof, %s mesh: 5 %% at 32 a side, converging", plate_mesh_names[m]);
        claim *c = outcome_claim(o, what, "0.3024");
        const double error = percent(sag[2], 0.3024), before = percent(sag[1], 0.3024);
        if (s->quick)
            claim_measured(c, "8, 16, 32 a side: %.4f, %.4f, %.4f (%+.2f %%)", sag[0], sag[1], sag[2], error);
        else
            claim_measured(c, "8, 16, 32, 64 a side: %.4f, %.4f, %.4f (%+.2f %%), %.4f (%+.2f %%)", sag[0], sag[1],
                           sag[2], error, sag[3], percent(sag[3], 0.3024));
        claim_holds(c, fabs(error) < 5 && fabs(error) < fabs(before) ? HOLDS_YES : HOLDS_NO, "%s", "");
    }
}

/* ---- Cusick's drape test ---------------------------------------------------------------------- */

void experiment_drape(const setting *s, outcome *o)
{
    snprintf(o->setup, sizeof o->setup,
             "a disc of 30 cm on one of 18 cm, edges of %g mm; fabrics of the library by name (sinew info materials)",
             s->quick ? 20.0 : 12.0);
    figure *f = outcome_figure(o, "drape", "Fabrics after the test", "", "");
    f->shapes = true;
    f->span = 0.35;
    for (int i = 0; i < FABRICS; i++) {
        char what[120], published[120];
        drape d = {.fabric = &fabrics[i], .edge = s->quick ? 0.02 : 0.012, .seed = 1};
        if (s->progress)
            s->progress(s->context, i, FABRICS, fabrics[i].name);
        if (drape_run(&d)) {
            snprintf(what, sizeof what, "drape coefficient of %s", fabrics[i].name);
            snprintf(published, sizeof published, "%.0f to %.0f %%", 100 * fabrics[i].low, 100 * fabrics[i].high);
            claim *c = outcome_claim(o, what, published);
            claim_measured(c, "%.1f %%, %d folds", 100 * d.coefficient, d.folds);
            claim_holds(c, d.coefficient >= fabrics[i].low && d.coefficient <= fabrics[i].high ? HOLDS_YES : HOLDS_NO,
                        "%s", "");
            outcome_number(o, d.coefficient, "%s", fabrics[i].name);
            outcome_number(o, d.folds, "%s_folds", fabrics[i].name);
            figure_shape(f, fabrics[i].name, SINEW_SOLVER_NEWTON, d.q, d.point_count);
            figure_surface(f, d.triangles, d.triangle_count);
        } else {
            thin_fail(o, d.error);
        }
        drape_release(&d);
    }
}
