/* SPDX-License-Identifier: MIT
 *
 * pd_strain_limit.c: PD fig 6: a curtain of weak cloth whose principal stretches are limited to 10, 20 and 30 % up and
 * down. A larger limit lets it stretch more and absorbs its folds; the limits hold, also under five times its weight.
 *
 * Set-up: 1 x 1 m, 0.2 kg/m2, triangle strain of 5 N/m without limits plus one of 12000 N/m with them, the mean
 * curvature vector with 1e-4 N m. Five rings of 0.05 m hold the upper edge and move together to 0.8 of their distance
 * within 1 s. Gravity 9.81 m/s2, h = 1/30 s, measured after 6 s (quick: 2.5 s).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sheet.h"

enum {
    LIMITS = 3,
    LOADS = 2,
    RINGS = 5,
    RUNS = LIMITS * LOADS
};
#define WEAK      5.0     /* stiffness of the triangle strain without limits, in N/m */
#define LIMITING  12000.0 /* stiffness of the triangle strain beyond the limits, in N/m */
#define RIGIDITY  1e-4    /* bending rigidity of the curtain, in N m */
#define DRAWN     0.2     /* displacement of the curtain rings relative to the curtain's width */
#define WIDTH     0.05    /* width of a curtain ring, in m */
#define PITCH     ((1 - WIDTH) / (RINGS - 1))
#define TOLERANCE 0.01 /* stretch beyond the limit that still counts as satisfying it */

static const double limits[LIMITS] = {0.1, 0.2, 0.3}, loads[LOADS] = {1, 5};

static bool ring(const sinew_real *x)
{
    const double along = (double)x[0] - PITCH * floor((double)x[0] / PITCH + 1e-6);
    return x[1] > -1e-6 && along < 1.001 * WIDTH;
}

/* Moves each curtain ring towards the middle as a whole, without a change of its width. */
static void draw_together(const sheet *s, double fraction, const sinew_real *rest, sinew_real *to)
{
    const double middle = PITCH * floor((double)rest[0] / PITCH + 1e-6) + 0.5 * WIDTH;
    to[0] = (sinew_real)((double)rest[0] - (middle - 0.5) * s->amount * fraction);
    to[1] = rest[1];
    to[2] = rest[2];
}

/* Sets the curtain's initial perturbation, a wave of 2 mm, which lets folds form. */
static void strain_limit_wave(sheet *s)
{
    const int32_t count = sheet_vertex_count(s);
    const sinew_real *x = sinew_mesh_positions(s->mesh);
    s->start = malloc(3 * (size_t)count * sizeof *s->start);
    for (int32_t i = 0; s->start && i < 3 * count; i++) {
        const double u = (double)x[i / 3 * 3], v = -(double)x[i / 3 * 3 + 1];
        s->start[i] = x[i] + (sinew_real)(i % 3 == 2 ? 2e-3 * sin(8 * 3.14159265 * u) * fmin(10 * v, 1) : 0);
    }
}

static sheet strain_limit_make_run(double limit, double load, bool quick, sinew_error *error)
{
    sheet s = {.density = 0.2,
               .gravity = 9.81 * load,
               .h = 1.0 / 30,
               .steps = quick ? 75 : 180,
               .moving = 30,
               .amount = DRAWN};
    const int32_t cells = quick ? 20 : 40;
    s.mesh = sheet_rectangle(cells, cells, 1, 1, false, error);
    s.energies[0] = sheet_energy(SINEW_ENERGY_TRIANGLE_STRAIN, "stiffness", WEAK, (char *)NULL);
    s.energies[1] = sheet_energy(SINEW_ENERGY_TRIANGLE_STRAIN, "stiffness", LIMITING, "minimum", 1 - limit, "maximum",
                                 1 + limit, (char *)NULL);
    s.energies[2] = sheet_energy(SINEW_ENERGY_MEAN_CURVATURE, "rigidity", RIGIDITY, (char *)NULL);
    s.energy_count = 3;
    s.mover = draw_together;
    s.solver = experiment_solver(SINEW_SOLVER_PD);
    s.solver.iterations = quick ? 20 : 60;
    s.solver.tolerance = 0;
    if (s.mesh && sheet_pin(&s, ring))
        strain_limit_wave(&s);
    return s;
}

/* Measures of the curtain at the end of a run. */
typedef struct hung {
    double max, min; /* largest and smallest principal stretch of the curtain */
    double length;   /* mean distance in m of the curtain's lower edge below the rings */
    double depth;    /* depth of the curtain's folds, in m */
} hung;

static hung strain_limit_measure(const sheet *s)
{
    hung h = {.max = 0, .min = INFINITY, .depth = sheet_depth(s)};
    int32_t count = 0;
    for (int32_t t = 0; t < sinew_mesh_triangle_count(s->mesh); t++) {
        double stretch[2];
        sheet_stretch(s, t, stretch);
        h.max = fmax(h.max, stretch[0]);
        h.min = fmin(h.min, stretch[1]);
    }
    const sinew_real *x = sinew_mesh_positions(s->mesh);
    for (int32_t i = 0; i < sheet_vertex_count(s); i++)
        if (x[3 * i + 1] < -0.9999) {
            h.length -= (double)s->q[3 * i + 1];
            count++;
        }
    h.length /= count;
    return h;
}

static void strain_limit_claim_limits(outcome *o, const hung *h, int load, int32_t iterations)
{
    double beyond = 0;
    for (int i = 0; i < LIMITS; i++)
        beyond = fmax(beyond, fmax(h[i].max - 1 - limits[i], 1 - limits[i] - h[i].min));
    claim *c = outcome_claim(o, load ? "the limits hold under five times the weight" : "the limits hold",
                             "[-10, +10], [-20, +20], [-30, +30] %");
    claim_measured(c,
                   "stretches %.4f to %.4f, %.4f to %.4f, %.4f to %.4f: beyond by %.2f %% at most; %.0f N/m, %d "
                   "iterations a step",
                   h[0].min, h[0].max, h[1].min, h[1].max, h[2].min, h[2].max, 100 * beyond, LIMITING, iterations);
    claim_holds(c, beyond <= TOLERANCE ? HOLDS_YES : HOLDS_NO, "%s", beyond <= TOLERANCE ? "" : "by more than 1 %");
    outcome_number(o, beyond, load ? "beyond_heavy" : "beyond");
}

static void claim_folds(outcome *o, const hung *h)
{
    claim *c = outcome_claim(o, "the cloth stretches as the limit grows", "stretches");
    claim_measured(c, "hangs %.3f, %.3f, %.3f m deep; under five times the weight %.3f, %.3f, %.3f m", h[0].length,
                   h[1].length, h[2].length, h[3].length, h[4].length, h[5].length);
    const bool longer = h[0].length < h[1].length && h[1].length < h[2].length;
    claim_holds(c, longer ? HOLDS_YES : HOLDS_NO, "%s", "");
    c = outcome_claim(o, "the folds get absorbed as the limit grows", "absorbed");
    claim_measured(c, "depth of the folds %.1f, %.1f, %.1f mm; under five times the weight %.1f, %.1f, %.1f mm",
                   1e3 * h[0].depth, 1e3 * h[1].depth, 1e3 * h[2].depth, 1e3 * h[3].depth, 1e3 * h[4].depth,
                   1e3 * h[5].depth);
    const bool flatter = h[0].depth > h[1].depth && h[1].depth > h[2].depth;
    claim_holds(c, flatter ? HOLDS_YES : h[0].depth > h[2].depth ? HOLDS_PARTLY : HOLDS_NO, "%s", "");
}

void experiment_pd_strain_limit(const setting *s, outcome *o)
{
    sheet runs[RUNS];
    hung found[RUNS];
    sinew_error error = {0};
    for (int i = 0; i < RUNS; i++)
        runs[i] = strain_limit_make_run(limits[i % LIMITS], loads[i / LIMITS], s->quick, &error);
    if (sheets_take(s, runs, RUNS, "pd/strain-limit", o)) {
        figure *f =
            outcome_figure(o, "curtains", "Limits of 10, 20, 30 %; below under five times the weight (fig 6)", "", "");
        f->span = 1.6;
        for (int i = 0; i < RUNS; i++) {
            char name[48];
            snprintf(name, sizeof name, "%.0f %%, %.0f x weight", 100 * limits[i % LIMITS], loads[i / LIMITS]);
            found[i] = strain_limit_measure(&runs[i]);
            sheet_shape(f, &runs[i], name);
            outcome_number(o, found[i].max, "most_%.0f_%.0f", 100 * limits[i % LIMITS], loads[i / LIMITS]);
            outcome_number(o, found[i].min, "least_%.0f_%.0f", 100 * limits[i % LIMITS], loads[i / LIMITS]);
            outcome_number(o, found[i].length, "length_%.0f_%.0f", 100 * limits[i % LIMITS], loads[i / LIMITS]);
            outcome_number(o, found[i].depth, "depth_%.0f_%.0f", 100 * limits[i % LIMITS], loads[i / LIMITS]);
        }
        snprintf(o->setup, sizeof o->setup, "A curtain of %d triangles, %.0f N/m weak and %.0f N/m beyond the limits.",
                 sinew_mesh_triangle_count(runs[0].mesh), WEAK, LIMITING);
        strain_limit_claim_limits(o, found, 0, runs[0].solver.iterations);
        strain_limit_claim_limits(o, found + LIMITS, 1, runs[0].solver.iterations);
        claim_folds(o, found);
    }
    sheets_release(runs, RUNS);
}
