/* SPDX-License-Identifier: MIT
 *
 * pd_resolution.c: PD fig 5: the same curtain and the same bar at three resolutions, in regular and in unstructured
 * meshes, bend alike; by PBD they do not.
 *
 * Set-up: a curtain of 1 x 1 m, 0.2 kg/m2, triangle strain of 500 N/m and the mean-curvature vector with 1e-3 N m,
 * pinned along its upper edge on a rail of two waves; it starts with the rail's folds from top to bottom. A bar of 1 x
 * 0.2 x 0.2 m, 1000 kg/m3, strain of 2e6 Pa, pinned at one end. Gravity, h = 1/30 s, measured after 3 s.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sheet.h"

enum {
    LEVELS = 3,
    KINDS = 2, /* kinds of meshes: regular, unstructured */
    CURTAINS = LEVELS * KINDS,
    BARS = LEVELS * KINDS,
    ITERATIONS = 40
};
#define WITHIN 0.05 /* largest relative spread of a measure that counts as alike */
#define PI     3.14159265358979323846
#define SWING  0.9 /* largest angle of the curtain rail's direction, in rad */
#define WAVES  2

static bool curtain_held(const sinew_real *x)
{
    return x[1] > -1e-6;
}

/* Computes the point of the curtain rail at arc length u: its direction oscillates by SWING to both sides, WAVES times
 * per unit length. */
static void rail(double u, double point[2])
{
    const int count = 200;
    point[0] = point[1] = 0;
    for (int i = 0; i < count; i++) {
        const double direction = SWING * cos(2 * PI * WAVES * u * (i + 0.5) / count);
        point[0] += u / count * cos(direction);
        point[1] += u / count * sin(direction);
    }
}

/* Sets the initial shape of the curtain: folded like the rail, from top to bottom. */
static void fold(sheet *s)
{
    const int32_t count = sheet_vertex_count(s);
    const sinew_real *x = sinew_mesh_positions(s->mesh);
    s->start = malloc(3 * (size_t)count * sizeof *s->start);
    for (int32_t i = 0; s->start && i < count; i++) {
        double at[2];
        rail((double)x[3 * i], at);
        s->start[3 * i] = (sinew_real)at[0];
        s->start[3 * i + 1] = x[3 * i + 1];
        s->start[3 * i + 2] = (sinew_real)at[1];
    }
}

static sheet make_curtain(int32_t cells, bool unstructured, sinew_solver_kind kind, int32_t iterations,
                          sinew_error *error)
{
    sheet s = {.density = 0.2, .gravity = 9.81, .h = 1.0 / 30, .steps = 90};
    s.mesh = sheet_rectangle(cells, cells, 1, 1, unstructured, error);
    s.energies[0] = sheet_energy(SINEW_ENERGY_TRIANGLE_STRAIN, "stiffness", 500.0, (char *)NULL);
    s.energies[1] = sheet_energy(SINEW_ENERGY_MEAN_CURVATURE, "rigidity", 1e-3, (char *)NULL);
    s.energy_count = 2;
    s.solver = experiment_solver(kind);
    s.solver.iterations = iterations;
    s.solver.tolerance = 0;
    if (s.mesh && sheet_pin(&s, curtain_held))
        fold(&s);
    return s;
}

static bool bar_held(const sinew_real *x)
{
    return x[0] < -0.4999;
}

static sheet resolution_make_bar(int32_t cells, bool unstructured, sinew_error *error)
{
    sheet s = {.density = 1000, .gravity = 9.81, .h = 1.0 / 30, .steps = 90};
    s.mesh = sheet_bar(5 * cells, cells, 1, 0.2, unstructured, error);
    s.energies[0] = sheet_energy(SINEW_ENERGY_STRAIN, "stiffness", 2e6, (char *)NULL);
    s.energy_count = 1;
    s.solver = experiment_solver(SINEW_SOLVER_PD);
    s.solver.iterations = ITERATIONS;
    s.solver.tolerance = 0;
    if (s.mesh)
        sheet_pin(&s, bar_held);
    return s;
}

/* Mean downward displacement in m of the bar's free end face. */
static double bar_sag(const sheet *s)
{
    const sinew_real *x = sinew_mesh_positions(s->mesh);
    double sum = 0;
    int32_t count = 0;
    for (int32_t i = 0; i < sheet_vertex_count(s); i++)
        if (x[3 * i] > 0.4999) {
            sum += (double)x[3 * i + 1] - (double)s->q[3 * i + 1];
            count++;
        }
    return sum / count;
}

/* Relative spread of the values of a measure: (maximum - minimum) / mean. */
static double resolution_spread(const double *values, int32_t count)
{
    double low = INFINITY, high = -INFINITY, sum = 0;
    for (int32_t i = 0; i < count; i++) {
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
        sum += values[i];
    }
    return (high - low) / (sum / count);
}

static void claim_alike(outcome *o, const char *what, const double sag[KINDS * LEVELS], const int32_t cells[LEVELS])
{
    const double apart = resolution_spread(sag, KINDS * LEVELS);
    claim *c = outcome_claim(o, what, "very similar qualitative behaviours");
    claim_measured(c,
                   "%s %.4f, %.4f, %.4f m regular and %.4f, %.4f, %.4f m unstructured at %d, %d, %d cells: "
                   "apart by %.1f %%",
                   what[0] == 'a' ? "depth of the folds" : "sag", sag[0], sag[1], sag[2], sag[3], sag[4], sag[5],
                   cells[0], cells[1], cells[2], 100 * apart);
    claim_holds(c, apart <= WITHIN ? HOLDS_YES : HOLDS_NO, "%s", apart <= WITHIN ? "" : "more than 5 % apart");
    for (int i = 0; i < KINDS * LEVELS; i++)
        outcome_number(o, sag[i], "%s_%s_%d", what[0] == 'a' ? "curtain" : "bar",
                       i < LEVELS ? "regular" : "unstructured", cells[i % LEVELS]);
    outcome_number(o, apart, "%s_spread", what[0] == 'a' ? "curtain" : "bar");
}

static void claim_pbd(outcome *o, const double sag[LEVELS], const int32_t cells[LEVELS], int32_t iterations)
{
    const double apart = resolution_spread(sag, LEVELS);
    claim *c = outcome_claim(o, "by PBD, whose weights are masses, the curtain depends on its mesh",
                             "better independence on mesh tessellation than PBD");
    claim_measured(c, "depth %.4f, %.4f, %.4f m at %d, %d, %d cells, %d iterations: apart by %.0f %%", sag[0], sag[1],
                   sag[2], cells[0], cells[1], cells[2], iterations, 100 * apart);
    claim_holds(c, apart > 2 * WITHIN ? HOLDS_YES : HOLDS_PARTLY, "%s", "");
    outcome_number(o, apart, "pbd_spread");
}

static void resolution_draw(outcome *o, const sheet *runs, const char *name, const char *title, double span)
{
    figure *f = outcome_figure(o, name, title, "", "");
    f->span = span;
    for (int i = 0; i < CURTAINS; i++) {
        char label[48];
        snprintf(label, sizeof label, "%s, %d vertices", i < LEVELS ? "regular" : "unstructured",
                 sheet_vertex_count(&runs[i]));
        sheet_shape(f, &runs[i], label);
    }
}

void experiment_pd_resolution(const setting *s, outcome *o)
{
    const int32_t cells[LEVELS] = {s->quick ? 14 : 16, s->quick ? 16 : 24, s->quick ? 20 : 36};
    const int32_t bar_cells[LEVELS] = {s->quick ? 6 : 7, s->quick ? 7 : 9, s->quick ? 8 : 11}, pbd_iterations = 20;
    sheet runs[CURTAINS + BARS + LEVELS];
    sinew_error error = {0};
    double sag[CURTAINS + BARS + LEVELS];
    for (int i = 0; i < CURTAINS; i++) {
        runs[i] = make_curtain(cells[i % LEVELS], i >= LEVELS, SINEW_SOLVER_PD, ITERATIONS, &error);
        runs[CURTAINS + i] = resolution_make_bar(bar_cells[i % LEVELS], i >= LEVELS, &error);
    }
    for (int i = 0; i < LEVELS; i++)
        runs[CURTAINS + BARS + i] = make_curtain(cells[i], false, SINEW_SOLVER_PBD, pbd_iterations, &error);
    if (sheets_take(s, runs, CURTAINS + BARS + LEVELS, "pd/resolution", o)) {
        for (int i = 0; i < CURTAINS + BARS + LEVELS; i++)
            sag[i] = i >= CURTAINS && i < CURTAINS + BARS ? bar_sag(&runs[i]) : sheet_depth(&runs[i]);
        snprintf(o->setup, sizeof o->setup,
                 "A curtain of %d to %d triangles and a bar of %d to %d tets, %d iterations.",
                 sinew_mesh_triangle_count(runs[0].mesh), sinew_mesh_triangle_count(runs[LEVELS - 1].mesh),
                 sinew_mesh_tet_count(runs[CURTAINS].mesh), sinew_mesh_tet_count(runs[CURTAINS + LEVELS - 1].mesh),
                 ITERATIONS);
        claim_alike(o, "a curtain bends alike at three resolutions, regular and unstructured", sag, cells);
        claim_alike(o, "so does a bar", sag + CURTAINS, bar_cells);
        claim_pbd(o, sag + CURTAINS + BARS, cells, pbd_iterations);
        resolution_draw(o, runs, "curtain", "The curtain at three resolutions, regular and unstructured (fig 5)", 1.5);
        if (!s->quick)
            resolution_draw(o, runs + CURTAINS, "bar", "The bar at three resolutions, regular and unstructured (fig 5)",
                            1.5);
    }
    sheets_release(runs, CURTAINS + BARS + LEVELS);
}
