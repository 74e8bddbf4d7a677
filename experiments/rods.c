/* SPDX-License-Identifier: MIT
 *
 * rods.c: rods against analytic solutions: the elastica under its own weight and under a tip load, lateral
 * buckling, Michell's ring, a spring coil and the catenary.
 *
 * The published numbers are dimensionless: the elastica's come from integrating its equation, the others from textbooks
 * (Timoshenko and Gere, Theory of elastic stability, 1961, for lateral buckling; Goriely, Twisted elastic rings and the
 * rediscoveries of Michell's instability, 2006; Wahl, Mechanical springs, 1963).
 */
#include <stdio.h>

#include "experiments.h"
#include "rod_cases.h"

enum {
    WEIGHTS = 7,
    SEGMENTS = 80,
    RING = 80, /* number of segments of the ring */
    STAGES = WEIGHTS + 6
};

/* Elastica of the cantilever under its own weight: Gamma, drop over reach, angle of the tip in degrees. */
static const double weights[WEIGHTS][3] = {{1, 0.124562, 9.4604},   {3, 0.364621, 26.5590},  {5, 0.585721, 39.9354},
                                           {10, 1.066802, 60.3120}, {20, 1.863930, 76.7478}, {50, 3.705561, 87.4593},
                                           {100, 5.888105, 89.6167}};

/* Advances the progress report of the experiment; returns false if the case failed. */
static bool rods_stage_done(const setting *s, outcome *o, int32_t done, bool good, const sinew_error *error)
{
    if (s->progress)
        s->progress(s->context, done, STAGES, "rods");
    if (!good)
        snprintf(o->failure, sizeof o->failure, "%.250s",
                 error->text[0] ? error->text : "Newton's method does not converge");
    return good;
}

static double per_cent(double measured, double published)
{
    return 100 * (measured / published - 1);
}

static bool run_weights(const setting *s, outcome *o)
{
    for (int i = 0; i < WEIGHTS; i++) {
        sinew_error error = {0};
        char what[120], published[120];
        double angle = NAN;
        const double ratio = rod_drop_over_reach(SEGMENTS, weights[i][0], &angle, &error);
        if (!rods_stage_done(s, o, i + 1, !isnan(ratio), &error))
            return false;
        const double off = per_cent(ratio, weights[i][1]);
        snprintf(what, sizeof what, "cantilever, own weight, Gamma = %g: drop over reach, tip", weights[i][0]);
        snprintf(published, sizeof published, "%.6f, %.4f degrees", weights[i][1], weights[i][2]);
        claim *c = outcome_claim(o, what, published);
        claim_measured(c, "%.6f (%+.2f %%), %.4f degrees", ratio, off, angle);
        claim_holds(c, fabs(off) < 1 ? HOLDS_YES : HOLDS_NO, "%s", "");
        outcome_number(o, off, "weight_%g_per_cent", weights[i][0]);
    }
    return true;
}

static bool run_tips(const setting *s, outcome *o)
{
    static const double tips[2][3] = {{4, 0.66996, 0.32894}, {10, 0.81061, 0.55500}};
    for (int i = 0; i < 2; i++) {
        sinew_error error = {0};
        char what[120], published[120];
        double w = NAN, u = NAN;
        if (!rods_stage_done(s, o, WEIGHTS + 1 + i, rod_tip_load(SEGMENTS, tips[i][0], &w, &u, &error), &error))
            return false;
        snprintf(what, sizeof what, "cantilever, tip load P L^2 / EI = %g: w/L and u/L", tips[i][0]);
        snprintf(published, sizeof published, "%.5f, %.5f", tips[i][1], tips[i][2]);
        const double off = fmax(fabs(per_cent(w, tips[i][1])), fabs(per_cent(u, tips[i][2])));
        claim *c = outcome_claim(o, what, published);
        claim_measured(c, "%.5f, %.5f (within %.2f %%)", w, u, off);
        claim_holds(c, off < 1 ? HOLDS_YES : HOLDS_NO, "%s", "");
        outcome_number(o, off, "tip_%g_per_cent", tips[i][0]);
    }
    return true;
}

static bool run_buckling(const setting *s, outcome *o)
{
    static const char *const names[2] = {"own weight q L^3 / sqrt(EI GJ)", "tip load P L^2 / sqrt(EI GJ)"};
    static const double critical[2] = {12.85376, 4.01260};
    for (int i = 0; i < 2; i++) {
        sinew_error error = {0};
        char what[120], published[120];
        const double load = rod_buckling_load(SEGMENTS / 2, 0.5, i == 0, 0.5 * critical[i], 2 * critical[i], &error);
        if (!rods_stage_done(s, o, WEIGHTS + 3 + i, !isnan(load), &error))
            return false;
        snprintf(what, sizeof what, "strip held edgewise gives way sideways: %s", names[i]);
        snprintf(published, sizeof published, "%.5f", critical[i]);
        claim *c = outcome_claim(o, what, published);
        claim_measured(c, "%.3f (%+.2f %%), by bisection", load, per_cent(load, critical[i]));
        claim_holds(c, fabs(per_cent(load, critical[i])) < 3 ? HOLDS_YES : HOLDS_NO, "%s", "");
        outcome_number(o, per_cent(load, critical[i]), "buckling_%s_per_cent", i == 0 ? "weight" : "tip");
    }
    return true;
}

/* Runs the ring with two twists, 3 per cent below and above Michell's limit. */
static bool run_ring(const setting *s, outcome *o)
{
    const double twisting = 0.7, limit = sqrt(3) / twisting;
    sinew_error error = {0};
    const double below = rod_ring_loss(RING, twisting, 0.97 * limit, &error);
    const double above = rod_ring_loss(RING, twisting, 1.03 * limit, &error);
    if (!rods_stage_done(s, o, WEIGHTS + 5, !isnan(below) && !isnan(above), &error))
        return false;
    claim *c =
        outcome_claim(o, "twisted ring (Michell), nudged: stable below, unstable above", "limit 2 pi sqrt(3) EI / GJ");
    claim_measured(c, "part of the energy that is lost: %.1e at 0.97 of the limit, %.1e at 1.03", below, above);
    claim_holds(c, fabs(below) < 1e-6 && above > 1e-3 ? HOLDS_YES : HOLDS_NO, "%s", "");
    outcome_number(o, below, "ring_loss_below");
    outcome_number(o, above, "ring_loss_above");
    return true;
}

static bool run_coil(const setting *s, outcome *o)
{
    sinew_error error = {0};
    const double ratio = rod_coil_stiffness(10, 48, 0.1, 0.01, &error);
    if (!rods_stage_done(s, o, WEIGHTS + 6, !isnan(ratio), &error))
        return false;
    claim *c = outcome_claim(o, "spring coil of 10 turns, clamped ends: stiffness over G d^4 / (8 D^3 n)",
                             "1 (small pitch, many turns)");
    claim_measured(c, "%.4f, pitch 0.1 of the radius", ratio);
    claim_holds(c, fabs(ratio - 1) < 0.02 ? HOLDS_YES : HOLDS_NO, "%s", "");
    outcome_number(o, ratio, "coil_stiffness");
    return true;
}

static bool run_catenary(const setting *s, outcome *o)
{
    sinew_error error = {0};
    double sag = NAN, force = NAN;
    if (!rods_stage_done(s, o, STAGES, rod_catenary(SEGMENTS, &sag, &force, &error), &error))
        return false;
    const double off = fmax(fabs(per_cent(sag, 0.502633)), fabs(per_cent(force, 0.308236)));
    claim *c = outcome_claim(o, "catenary, length/span 1.5: sag/span, horizontal force/(weight per length * span)",
                             "0.502633, 0.308236");
    claim_measured(c, "%.6f, %.6f (within %.2f %%)", sag, force, off);
    claim_holds(c, off < 1 ? HOLDS_YES : HOLDS_NO, "%s", "");
    outcome_number(o, off, "catenary_per_cent");
    return true;
}

/* Draws the errors of the cantilever rod against the load Gamma. */
static void draw_weights(outcome *o)
{
    figure *f = outcome_figure(o, "cantilever", "Drop over reach of a rod under its own weight: error", "Gamma", "%");
    f->log_x = true;
    if (!figure_series(f, "rod", SINEW_SOLVER_NEWTON, 0, WEIGHTS))
        return;
    for (int i = 0; i < WEIGHTS; i++) {
        char name[48];
        snprintf(name, sizeof name, "weight_%g_per_cent", weights[i][0]);
        f->series[0].x[i] = weights[i][0];
        outcome_find(o, name, &f->series[0].y[i]);
    }
}

void experiment_rods(const setting *s, outcome *o)
{
    snprintf(o->setup, sizeof o->setup,
             "Rods of %d segments (ring: %d, coil: 480), edge_strain, rod and director, quasistatic by newton.",
             SEGMENTS, RING);
    if (run_weights(s, o) && run_tips(s, o) && run_buckling(s, o) && run_ring(s, o) && run_coil(s, o) &&
        run_catenary(s, o))
        draw_weights(o);
}
