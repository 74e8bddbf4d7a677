/* SPDX-License-Identifier: MIT
 *
 * pd_bending_limit.c: PD 5.4: "it could be interesting to apply the strain limiting and example-based concepts to the
 * bending energy". A strip of weak cloth hangs over an edge; each hinge is free up to an angle and stiff beyond it. As
 * far as its weight bends it to the limit, the strip lies on a circle of radius cell / angle, and no hinge exceeds it.
 *
 * Set-up: 0.5 x 0.1 m, 0.2 kg/m2, triangle strain of 2000 N/m, isometric bending of 1e-5 N m without limits plus one of
 * 5 N m with slack of 0.05, 0.1 and 0.2 rad a hinge, and a strip without the latter. The first two rows of vertices are
 * pinned; the strip starts level. Gravity 9.81 m/s2, damping 4/s, h = 1/60 s, measured after 4 s (quick: 2 s).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sheet.h"

enum {
    LIMITS = 3,
    STRIPS = LIMITS + 1, /* number of strips; the last one has no angle limit */
    RUNS = STRIPS + 1    /* number of runs: all strips, and the middle limit also by qn */
};
#define LENGTH    0.5  /* length of the strip, in m */
#define WEAK      1e-5 /* rigidity of the bending energy without limits, in N m */
#define LIMITING  5.0  /* rigidity of the bending energy beyond the angle limit, in N m */
#define TOLERANCE 0.01 /* excess over the angle limit that still counts as satisfying it, in rad */

static const double limits[LIMITS] = {0.05, 0.1, 0.2};

static double bending_limit_cell_of(const sheet *s)
{
    return s->amount;
}

static void lay_level(const sinew_real *rest, sinew_real *to)
{
    to[0] = -rest[1];
    to[1] = 0;
    to[2] = rest[0];
}

static void stay_level(const sheet *s, double fraction, const sinew_real *rest, sinew_real *to)
{
    (void)s;
    (void)fraction;
    lay_level(rest, to);
}

/* Pins the first row of cells of the strip. */
static bool pin_rows(sheet *s)
{
    const sinew_real *x = sinew_mesh_positions(s->mesh);
    const int32_t count = sinew_mesh_vertex_count(s->mesh);
    s->pinned = malloc((size_t)count * sizeof *s->pinned);
    s->start = malloc(3 * (size_t)count * sizeof *s->start);
    for (int32_t i = 0; s->pinned && s->start && i < count; i++) {
        lay_level(x + 3 * (size_t)i, s->start + 3 * (size_t)i);
        if ((double)x[3 * i + 1] > -1.001 * bending_limit_cell_of(s))
            s->pinned[s->pinned_count++] = i;
    }
    return s->pinned && s->start;
}

/* Creates a strip with the angle limit `limit` (rad); negative: no limit. */
static sheet make_strip(double limit, sinew_solver_kind solver, bool quick, sinew_error *error)
{
    const int32_t cells = quick ? 20 : 40, across = cells / 5;
    sheet s = {.density = 0.2,
               .gravity = 9.81,
               .h = 1.0 / 60,
               .steps = quick ? 120 : 240,
               .moving = 1,
               .amount = LENGTH / cells,
               .damping = 4};
    s.mesh = sheet_rectangle(across, cells, LENGTH * across / cells, LENGTH, false, error);
    s.energies[0] = sheet_energy(SINEW_ENERGY_TRIANGLE_STRAIN, "stiffness", 2000.0, (char *)NULL);
    s.energies[1] = sheet_energy(SINEW_ENERGY_ISOMETRIC, "rigidity", WEAK, (char *)NULL);
    s.energies[2] = sheet_energy(SINEW_ENERGY_ISOMETRIC, "rigidity", LIMITING, "slack_above", limit, (char *)NULL);
    s.energy_count = limit < 0 ? 2 : 3;
    s.mover = stay_level;
    s.solver = experiment_solver(solver);
    s.solver.iterations = quick ? 30 : 60;
    s.solver.tolerance = 0;
    if (s.mesh && !pin_rows(&s))
        snprintf(s.error, sizeof s.error, "out of memory");
    return s;
}

/* Angle between the normals of two triangles, in rad. */
static double bending_limit_angle_between(const sheet *s, const int32_t *a, const int32_t *b)
{
    double n[2][3], dot = 0, square[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        const int32_t *t = k ? b : a;
        double u[3], v[3];
        for (int i = 0; i < 3; i++) {
            u[i] = (double)s->q[3 * t[1] + i] - (double)s->q[3 * t[0] + i];
            v[i] = (double)s->q[3 * t[2] + i] - (double)s->q[3 * t[0] + i];
        }
        for (int i = 0; i < 3; i++) {
            n[k][i] = u[(i + 1) % 3] * v[(i + 2) % 3] - u[(i + 2) % 3] * v[(i + 1) % 3];
            square[k] += n[k][i] * n[k][i];
        }
    }
    for (int i = 0; i < 3; i++)
        dot += n[0][i] * n[1][i];
    return acos(fmax(-1, fmin(1, dot / sqrt(square[0] * square[1]))));
}

/* Largest angle in rad over all pairs of triangles of the strip that share an edge. */
static double largest_angle(const sheet *s)
{
    const int32_t *t = sinew_mesh_triangles(s->mesh), count = sinew_mesh_triangle_count(s->mesh);
    double max = 0;
    for (int32_t a = 0; a < count; a++)
        for (int32_t b = a + 1; b < count; b++) {
            int shared = 0;
            for (int k = 0; k < 9; k++)
                shared += t[3 * a + k / 3] == t[3 * b + k % 3];
            if (shared == 2)
                max = fmax(max, bending_limit_angle_between(s, t + 3 * (size_t)a, t + 3 * (size_t)b));
        }
    return max;
}

static void bending_limit_claim_limits(outcome *o, const double *angle, const sheet *runs)
{
    double beyond = 0;
    for (int i = 0; i < LIMITS; i++)
        beyond = fmax(beyond, angle[i] - limits[i]);
    claim *c = outcome_claim(o, "strain limiting applied to bending: no hinge bends beyond its limit",
                             "\"could be interesting\" (5.4)");
    claim_measured(c,
                   "limits %.2f, %.2f, %.2f rad: at most %.4f, %.4f, %.4f rad, without %.3f rad; pd, %d iterations a "
                   "step",
                   limits[0], limits[1], limits[2], angle[0], angle[1], angle[2], angle[LIMITS],
                   runs[0].solver.iterations);
    const bool held = beyond <= TOLERANCE && angle[LIMITS] > limits[LIMITS - 1];
    claim_holds(c, held ? HOLDS_YES : HOLDS_NO, "%s",
                held ? "" : "by more than 0.01 rad, or the free strip bends less");
    outcome_number(o, beyond, "beyond");
    outcome_number(o, angle[LIMITS], "angle_free");
    c = outcome_claim(o, "pd and qn hold the same limit alike", "no figure");
    claim_measured(c, "limit %.2f rad: at most %.4f rad by pd, %.4f rad by qn", limits[1], angle[1], angle[STRIPS]);
    claim_holds(c, fabs(angle[1] - angle[STRIPS]) < TOLERANCE ? HOLDS_YES : HOLDS_NO, "%s", "");
    outcome_number(o, angle[STRIPS], "angle_qn");
}

void experiment_pd_bending_limit(const setting *s, outcome *o)
{
    sheet runs[RUNS];
    double angle[RUNS];
    sinew_error error = {0};
    for (int i = 0; i < RUNS; i++)
        runs[i] = make_strip(i < LIMITS    ? limits[i]
                             : i == LIMITS ? -1
                                           : limits[1],
                             i < STRIPS ? SINEW_SOLVER_PD : SINEW_SOLVER_QN, s->quick, &error);
    if (sheets_take(s, runs, RUNS, "pd/bending-limit", o)) {
        figure *f = outcome_figure(o, "strips", "A strip over an edge: hinges free up to an angle, and beyond", "", "");
        f->span = 0.7;
        for (int i = 0; i < RUNS; i++) {
            char name[48];
            snprintf(name, sizeof name, i == LIMITS ? "no limit" : "%.2f rad", limits[i % LIMITS]);
            angle[i] = largest_angle(&runs[i]);
            if (i < STRIPS)
                sheet_shape(f, &runs[i], name);
        }
        snprintf(o->setup, sizeof o->setup, "Strips of %d triangles, hinges of %.0e N m, and of %.0f N m beyond.",
                 sinew_mesh_triangle_count(runs[0].mesh), WEAK, LIMITING);
        bending_limit_claim_limits(o, angle, runs);
    }
    sheets_release(runs, RUNS);
}
