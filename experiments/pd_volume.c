/* SPDX-License-Identifier: MIT
 *
 * pd_volume.c: PD fig 7: different weights of strain and volume preservation make different materials of one solid; and
 * XPBD (Macklin et al. 2016) fig 1, from the slides, on the same bar: XPBD's result does not depend on time steps and
 * iterations.
 *
 * Set-up: a bar of 1 x 0.25 x 0.25 m of tets, 1000 kg/m3, by pd, h = 1/30 s. Stretched: both ends are pinned and drawn
 * apart by half its length within 1 s, without gravity, damped, measured after 4 s (quick: 2 s); strain 1e5 Pa, volume
 * 0 to 100 times as much. Bent: one end is pinned, gravity bends the bar; two weights of strain, with and without
 * volume.
 */
#include <math.h>
#include <stdio.h>

#include "sheet.h"

enum {
    STRETCHED = 4,
    BENT = 4,
    RUNS = STRETCHED + BENT
};
#define LENGTH   1.0
#define SIDE     0.25
#define DRAWN    0.5 /* total displacement of both ends of the stretched bar, in m */
#define STRAIN   1e5 /* stiffness of the strain of the stretched bars, in Pa */
#define BENDING  1e6 /* stiffness of the softer strain of the bent bars, in Pa */
#define PRESSURE 2e7 /* stiffness of the volume energy of the bent bars, in Pa */
#define SOFT     2e5 /* stiffness of the strain of the bars that XPBD and PBD bend, in Pa */

static const double ratios[STRETCHED] = {0, 1, 10, 100};

static bool ends_held(const sinew_real *x)
{
    return fabs((double)x[0]) > LENGTH / 2 - 1e-4;
}

static bool left_held(const sinew_real *x)
{
    return x[0] < -LENGTH / 2 + 1e-4;
}

static void draw_apart(const sheet *s, double fraction, const sinew_real *rest, sinew_real *to)
{
    to[0] = rest[0] + (sinew_real)((rest[0] < 0 ? -0.5 : 0.5) * s->amount * fraction);
    to[1] = rest[1];
    to[2] = rest[2];
}

static sheet pd_volume_make_bar(bool quick, double strain, double volume, bool bent, sinew_error *error)
{
    const int32_t cells = quick ? 2 : 6;
    sheet s = {.density = 1000, .h = 1.0 / 30, .steps = quick ? 60 : 120, .moving = 30, .amount = DRAWN};
    s.damping = bent ? 2 : 5;
    s.gravity = bent ? 9.81 : 0;
    s.mesh = sheet_bar(4 * cells, cells, LENGTH, SIDE, false, error);
    s.energies[s.energy_count++] = sheet_energy(SINEW_ENERGY_STRAIN, "stiffness", strain, (char *)NULL);
    if (volume > 0)
        s.energies[s.energy_count++] = sheet_energy(SINEW_ENERGY_VOLUME, "stiffness", volume, (char *)NULL);
    s.mover = bent ? NULL : draw_apart;
    s.solver = experiment_solver(SINEW_SOLVER_PD);
    s.solver.iterations = quick ? 20 : 60;
    s.solver.tolerance = 0;
    if (s.mesh)
        sheet_pin(&s, bent ? left_held : ends_held);
    return s;
}

/* Volume of the bar relative to its rest volume. */
static double volume_ratio(const sheet *s)
{
    const int32_t *tets = sinew_mesh_tets(s->mesh);
    const sinew_real *points[2] = {sinew_mesh_positions(s->mesh), s->q};
    double sum[2] = {0, 0};
    for (int k = 0; k < 2; k++)
        for (int32_t t = 0; t < sinew_mesh_tet_count(s->mesh); t++)
            sum[k] += tet_volume(points[k], tets + 4 * (size_t)t);
    return sum[1] / sum[0];
}

/* Height of the middle of the bar relative to its rest height. */
static double waist(const sheet *s)
{
    const sinew_real *x = sinew_mesh_positions(s->mesh);
    double low = INFINITY, high = -INFINITY;
    for (int32_t i = 0; i < sheet_vertex_count(s); i++)
        if (fabs((double)x[3 * i]) < 1e-4) {
            low = fmin(low, (double)s->q[3 * i + 1]);
            high = fmax(high, (double)s->q[3 * i + 1]);
        }
    return (high - low) / SIDE;
}

/* Mean downward displacement in m of the bar's free end face. */
static double pd_volume_sag(const sheet *s)
{
    const sinew_real *x = sinew_mesh_positions(s->mesh);
    double sum = 0;
    int32_t count = 0;
    for (int32_t i = 0; i < sheet_vertex_count(s); i++)
        if (x[3 * i] > LENGTH / 2 - 1e-4) {
            sum += (double)x[3 * i + 1] - (double)s->q[3 * i + 1];
            count++;
        }
    return sum / count;
}

static void claim_stretched(outcome *o, const sheet *runs)
{
    double volume[STRETCHED], thin[STRETCHED];
    bool falls = true, thins = true;
    for (int i = 0; i < STRETCHED; i++) {
        volume[i] = volume_ratio(&runs[i]);
        thin[i] = waist(&runs[i]);
        falls = falls && (i == 0 || fabs(volume[i] - 1) < fabs(volume[i - 1] - 1));
        thins = thins && (i == 0 || thin[i] < thin[i - 1]);
        outcome_number(o, volume[i], "volume_%.0f", ratios[i]);
        outcome_number(o, thin[i], "waist_%.0f", ratios[i]);
    }
    claim *c = outcome_claim(o, "drawn to 1.5 times its length, volume weighed 0, 1, 10, 100 times the strain",
                             "varying weights make different materials");
    claim_measured(c, "volume %.3f, %.3f, %.3f, %.3f of that at rest", volume[0], volume[1], volume[2], volume[3]);
    claim_holds(c, falls && fabs(volume[STRETCHED - 1] - 1) < 0.02 ? HOLDS_YES : HOLDS_PARTLY, "%s",
                falls ? "" : "the change does not fall with each weight");
    c = outcome_claim(o, "the waist thins as that of a material which keeps its volume", "as the figure shows");
    claim_measured(c, "%.3f, %.3f, %.3f, %.3f of its height; volume kept evenly: %.3f", thin[0], thin[1], thin[2],
                   thin[3], 1 / sqrt(1 + DRAWN / LENGTH));
    claim_holds(c, thins ? HOLDS_YES : HOLDS_NO, "%s", thins ? "" : "not at each weight");
}

/* Judges the bent bars: soft, soft with volume, stiff, stiff with volume. */
static void claim_bent(outcome *o, const sheet *runs)
{
    double down[BENT], volume[BENT];
    static const char *const names[BENT] = {"soft", "soft_volume", "stiff", "stiff_volume"};
    for (int i = 0; i < BENT; i++) {
        down[i] = pd_volume_sag(&runs[i]);
        volume[i] = volume_ratio(&runs[i]);
        outcome_number(o, down[i], "sag_%s", names[i]);
        outcome_number(o, volume[i], "bent_volume_%s", names[i]);
    }
    claim *c = outcome_claim(o, "bent by its weight, strain 1 and 4 times, without and with volume",
                             "combinations of both weights");
    claim_measured(c, "sag %.3f, %.3f m soft, %.3f, %.3f m stiff; volume %.5f, %.5f, %.5f, %.5f", down[0], down[1],
                   down[2], down[3], volume[0], volume[1], volume[2], volume[3]);
    const bool strain = down[2] < down[0] && down[3] < down[1],
               kept = fabs(volume[1] - 1) < fabs(volume[0] - 1) && fabs(volume[3] - 1) < fabs(volume[2] - 1);
    claim_holds(c, strain && kept ? HOLDS_YES : HOLDS_PARTLY, "%s",
                strain && kept ? "" : "not each weight does what its name says");
}

static void draw_stretched(outcome *o, const char *name, const char *title, const sheet *runs)
{
    figure *f = outcome_figure(o, name, title, "", "");
    f->span = 1.8;
    for (int i = 0; i < STRETCHED; i++) {
        char label[48];
        snprintf(label, sizeof label, "volume %.0f x strain", ratios[i]);
        sheet_shape(f, &runs[i], label);
    }
}

static void pd_volume_draw(outcome *o, const sheet *runs)
{
    draw_stretched(o, "stretched", "Volume weighed 0, 1, 10, 100 times the strain (fig 7)", runs);
    static const char *const names[BENT] = {"strain", "strain and volume", "4 x strain", "4 x strain and volume"};
    figure *f = outcome_figure(o, "bent", "Bent by its weight (fig 7)", "", "");
    f->span = 1.8;
    for (int i = 0; i < BENT; i++)
        sheet_shape(f, &runs[STRETCHED + i], names[i]);
}

/* ---- XPBD fig 1, in the slides -------------------------------------------------------------------- */

enum {
    VARIED = 4, /* number of XPBD runs: 20, 60, 180 iterations; 60 iterations with half the time step */
    BY_PBD = STRETCHED,
    BY_NEWTON = STRETCHED + VARIED,
    BODIES = BY_NEWTON + 1 + VARIED
};

/* Creates a bar for another solver; `half`: half the time step and twice the steps. */
static sheet make_body(bool quick, double ratio, bool bent, sinew_solver_kind kind, int32_t iterations, bool half,
                       sinew_error *error)
{
    const double strain = bent ? SOFT : STRAIN;
    sheet s = pd_volume_make_bar(quick, strain, ratio * strain, bent, error);
    s.solver = experiment_solver(kind);
    if (iterations > 0) {
        s.solver.iterations = iterations;
        s.solver.tolerance = 0;
    }
    if (kind == SINEW_SOLVER_PBD)
        s.solver.parameters[sinew_solver_parameter(kind, "stiffness")] = (sinew_real)0.1;
    if (half) {
        s.h /= 2;
        s.steps *= 2;
        s.moving *= 2;
    }
    return s;
}

/* Relative spread (maximum - minimum) / mean of the sags of the bars. */
static double pd_volume_spread(const double *sags)
{
    double low = sags[0], high = sags[0], sum = 0;
    for (int i = 0; i < VARIED; i++) {
        low = fmin(low, sags[i]);
        high = fmax(high, sags[i]);
        sum += sags[i] / VARIED;
    }
    return (high - low) / sum;
}

static void claim_independent(outcome *o, const sheet *xpbd, const sheet *pbd, const sheet *newton)
{
    double x[VARIED], p[VARIED];
    for (int i = 0; i < VARIED; i++) {
        x[i] = pd_volume_sag(&xpbd[i]);
        p[i] = pd_volume_sag(&pbd[i]);
        outcome_number(o, x[i], "sag_xpbd_%d", i);
        outcome_number(o, p[i], "sag_pbd_%d", i);
    }
    const double truth = pd_volume_sag(newton);
    claim *c =
        outcome_claim(o, "stiffness does not depend on step and iterations, unlike PBD's (XPBD fig 1)", "independent");
    claim_measured(
        c,
        "sag of a bar under its weight with 20, 60, 180 iterations, and 60 of half the step: XPBD %.3f, %.3f, "
        "%.3f, %.3f; PBD (k = 0.1) %.3f, %.3f, %.3f, %.3f; newton %.3f m",
        x[0], x[1], x[2], x[3], p[0], p[1], p[2], p[3], truth);
    const bool same = pd_volume_spread(x) < 0.1;
    claim_holds(c,
                same                                              ? HOLDS_YES
                : pd_volume_spread(x) < 0.3 * pd_volume_spread(p) ? HOLDS_PARTLY
                                                                  : HOLDS_NO,
                "%s", same ? "within a tenth" : "few iterations leave XPBD short of the stiffness that it goes to");
    outcome_number(o, pd_volume_spread(x), "spread_xpbd");
    outcome_number(o, pd_volume_spread(p), "spread_pbd");
    outcome_number(o, truth, "sag_newton");
}

void experiment_relative_stiffness(const setting *s, outcome *o)
{
    static const int32_t iterations[VARIED] = {20, 60, 180, 60};
    sheet runs[BODIES];
    sinew_error error = {0};
    for (int i = 0; i < STRETCHED; i++)
        runs[i] = make_body(s->quick, ratios[i], false, SINEW_SOLVER_XPBD, 60, false, &error);
    for (int i = 0; i < VARIED; i++) {
        runs[BY_PBD + i] = make_body(s->quick, 10, true, SINEW_SOLVER_PBD, iterations[i], i == 3, &error);
        runs[BY_NEWTON + 1 + i] = make_body(s->quick, 10, true, SINEW_SOLVER_XPBD, iterations[i], i == 3, &error);
    }
    runs[BY_NEWTON] = make_body(s->quick, 10, true, SINEW_SOLVER_NEWTON, 0, false, &error);
    if (sheets_take(s, runs, BODIES, "dynamics/relative-stiffness", o)) {
        snprintf(o->setup, sizeof o->setup, "A bar of %d tets of strain and volume, drawn to 1.5 times its length.",
                 sinew_mesh_tet_count(runs[0].mesh));
        claim_stretched(o, runs);
        claim_independent(o, &runs[BY_NEWTON + 1], &runs[BY_PBD], &runs[BY_NEWTON]);
        draw_stretched(o, "bodies", "XPBD, volume weighed 0, 1, 10, 100 times the strain", runs);
    }
    sheets_release(runs, BODIES);
}

void experiment_pd_volume(const setting *s, outcome *o)
{
    sheet runs[RUNS];
    sinew_error error = {0};
    for (int i = 0; i < STRETCHED; i++)
        runs[i] = pd_volume_make_bar(s->quick, STRAIN, ratios[i] * STRAIN, false, &error);
    for (int i = 0; i < BENT; i++)
        runs[STRETCHED + i] =
            pd_volume_make_bar(s->quick, i < 2 ? BENDING : 4 * BENDING, i % 2 ? PRESSURE : 0, true, &error);
    if (sheets_take(s, runs, RUNS, "pd/volume", o)) {
        snprintf(o->setup, sizeof o->setup, "A bar of %d tets, %d iterations of PD a step.",
                 sinew_mesh_tet_count(runs[0].mesh), runs[0].solver.iterations);
        claim_stretched(o, runs);
        claim_bent(o, runs + STRETCHED);
        pd_volume_draw(o, runs);
    }
    sheets_release(runs, RUNS);
}
