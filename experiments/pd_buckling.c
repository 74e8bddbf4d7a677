/* SPDX-License-Identifier: MIT
 *
 * pd_buckling.c: PD fig 9: a thin cylinder is pressed from above; larger bending stiffness gives fewer buckling waves.
 * A Fourier transform of the radial displacement, around and along, measures the pattern.
 *
 * Set-up: a can of radius 0.5 m and height 1 m, open at both ends, 1 kg/m2, triangle strain of 1e4 N/m and the mean
 * curvature vector with a rigidity that grows fourfold from one run to the next. Both rims are held; the upper moves
 * down by 5 % of the height within 1.7 s. The pattern is measured when the walls deviate from their mean by 1 % of the
 * radius, or at the end. No gravity. Vertices start up to 1e-3 of the radius off, at random.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sheet.h"

enum {
    CANS = 4,
    AROUND = 30, /* largest number of waves around the can that is examined */
    ALONG = 24   /* largest number of half waves along the can that is examined */
};
#define RADIUS   0.5
#define HEIGHT   1.0
#define MEMBRANE 1e4 /* stiffness of the can's triangle strain, in N/m */
#define PI       3.14159265358979323846
#define PRESSED  0.05
#define OFF      1e-3
#define BUCKLED  0.01

static bool rim(const sinew_real *x)
{
    return fabs((double)x[1]) > 0.4999 * HEIGHT;
}

static void press(const sheet *s, double fraction, const sinew_real *rest, sinew_real *to)
{
    to[0] = rest[0];
    to[1] = rest[1] - (sinew_real)(rest[1] > 0 ? s->amount * fraction * HEIGHT : 0);
    to[2] = rest[2];
}

/* Creates the mesh of the can, which stands along y, the vertical direction of pictures. */
static sinew_mesh *make_can(int32_t around, int32_t layers, sinew_error *error)
{
    sinew_round_def def = sinew_default_round_def();
    def.radius = (sinew_real)RADIUS;
    def.height = (sinew_real)HEIGHT;
    def.segments = around;
    def.layers = layers;
    sinew_mesh *can = sinew_mesh_can(&def, error), *standing = NULL;
    const int32_t count = can ? sinew_mesh_vertex_count(can) : 0;
    sinew_real *x = malloc((3 * (size_t)count + 1) * sizeof *x);
    for (int32_t i = 0; x && i < count; i++) {
        const sinew_real *from = sinew_mesh_positions(can) + 3 * (size_t)i;
        x[3 * i] = from[1];
        x[3 * i + 1] = from[2];
        x[3 * i + 2] = from[0];
    }
    if (can && x)
        standing = sinew_mesh_moved(can, x, error);
    free(x);
    sinew_mesh_destroy(can);
    return standing;
}

/* Moves all vertices of the can but those of the rims by a small random radial displacement. */
static void dent(sheet *s)
{
    const int32_t count = sheet_vertex_count(s);
    const sinew_real *x = sinew_mesh_positions(s->mesh);
    uint64_t state = 1;
    s->start = malloc(3 * (size_t)count * sizeof *s->start);
    for (int32_t i = 0; s->start && i < count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const double noise = rim(x + 3 * i) ? 0 : OFF * ((double)(state >> 11) / 4503599627370496.0 - 1);
        for (int c = 0; c < 3; c++)
            s->start[3 * i + c] = x[3 * i + c] * (sinew_real)(c == 1 ? 1 : 1 + noise);
    }
}

/* Radial displacement of a vertex of the can, in m. */
static double radial(const sheet *s, int32_t i)
{
    return hypot((double)s->q[3 * i], (double)s->q[3 * i + 2]) - RADIUS;
}

/* True if the root mean square deviation of the can's walls from their mean exceeds the fraction BUCKLED of the
 * radius. */
static bool buckled(const sheet *s)
{
    const int32_t count = sheet_vertex_count(s);
    double mean = 0, square = 0;
    for (int32_t i = 0; i < count; i++) {
        mean += radial(s, i) / count;
        square += radial(s, i) * radial(s, i) / count;
    }
    return square - mean * mean > BUCKLED * BUCKLED * RADIUS * RADIUS;
}

static sheet buckling_make_run(double rigidity, bool quick, sinew_error *error)
{
    sheet s = {.density = 1, .h = 1.0 / 60, .steps = quick ? 60 : 100, .moving = quick ? 60 : 100, .amount = PRESSED};
    s.mesh = make_can(quick ? 60 : 108, quick ? 34 : 60, error);
    s.energies[0] = sheet_energy(SINEW_ENERGY_TRIANGLE_STRAIN, "stiffness", MEMBRANE, (char *)NULL);
    s.energies[1] = sheet_energy(SINEW_ENERGY_MEAN_CURVATURE, "rigidity", rigidity, (char *)NULL);
    s.energy_count = 2;
    s.mover = press;
    s.enough = buckled;
    s.solver = experiment_solver(SINEW_SOLVER_PD);
    s.solver.iterations = 20;
    s.solver.tolerance = 0;
    if (s.mesh && sheet_pin(&s, rim))
        dent(&s);
    return s;
}

/* ---- The buckling pattern --------------------------------------------------------------------- */

typedef struct pattern {
    double around[AROUND + 1]; /* power of n waves around the can, summed over m, in m2 */
    double along[ALONG + 1];   /* power of m half waves along the can, summed over n, in m2 */
    /* Dominant wave numbers, of the largest power of the slope: n^2 around[n] and m^2 along[m]. */
    int32_t n, m;
    double mean_n; /* mean number n of waves around the can, weighted by power */
} pattern;

/* Squared modulus of the Fourier coefficient sum u e^(i n phi) sin(m pi z / H), u the radial displacement. */
static double power_of(const sheet *s, int32_t n, int32_t m)
{
    const sinew_real *x = sinew_mesh_positions(s->mesh);
    const int32_t count = sheet_vertex_count(s);
    double real = 0, imaginary = 0;
    for (int32_t i = 0; i < count; i++) {
        const double phi = atan2((double)x[3 * i], (double)x[3 * i + 2]), z = (double)x[3 * i + 1] / HEIGHT + 0.5;
        const double wave = radial(s, i) * sin(PI * m * z);
        real += wave * cos(n * phi) * 2 / count;
        imaginary += wave * sin(n * phi) * 2 / count;
    }
    return real * real + imaginary * imaginary;
}

/* Finds the buckling pattern. The dominant wave numbers are those of the slope, which determines how dents look. A
 * wave of half the length and the same height has twice the slope. */
static pattern find_pattern(const sheet *s)
{
    pattern p = {.n = 1, .m = 1};
    double sum = 0;
    for (int32_t n = 1; n <= AROUND; n++)
        for (int32_t m = 1; m <= ALONG; m++) {
            const double power = power_of(s, n, m);
            p.around[n] += power;
            p.along[m] += power;
            p.mean_n += n * power;
            sum += power;
        }
    for (int32_t n = 1; n <= AROUND; n++)
        p.n = n * n * p.around[n] > p.n * p.n * p.around[p.n] ? n : p.n;
    for (int32_t m = 1; m <= ALONG; m++)
        p.m = m * m * p.along[m] > p.m * p.m * p.along[p.m] ? m : p.m;
    p.mean_n /= sum;
    return p;
}

static void claim_waves(outcome *o, const pattern *p, const double *rigidity)
{
    bool falls = p[CANS - 1].n < p[0].n, mean = true;
    for (int i = 1; i < CANS; i++) {
        falls &= p[i].n <= p[i - 1].n;
        mean &= p[i].mean_n < p[i - 1].mean_n;
    }
    claim *c = outcome_claim(o, "the larger the bending weight, the fewer waves around",
                             "patterns of different frequencies, weights rise left to right");
    claim_measured(
        c,
        "dominant %d, %d, %d, %d waves around (mean %.1f, %.1f, %.1f, %.1f), %d, %d, %d, %d half waves along "
        "at %.2g, %.2g, %.2g, %.2g N m",
        p[0].n, p[1].n, p[2].n, p[3].n, p[0].mean_n, p[1].mean_n, p[2].mean_n, p[3].mean_n, p[0].m, p[1].m, p[2].m,
        p[3].m, rigidity[0], rigidity[1], rigidity[2], rigidity[3]);
    claim_holds(c,
                falls && mean   ? HOLDS_YES
                : falls || mean ? HOLDS_PARTLY
                                : HOLDS_NO,
                "%s", falls && mean ? "" : "not from each to the next");
}

void experiment_pd_buckling(const setting *s, outcome *o)
{
    sheet cans[CANS];
    pattern found[CANS];
    double rigidity[CANS];
    sinew_error error = {0};
    for (int i = 0; i < CANS; i++) {
        rigidity[i] = (s->quick ? 0.016 : 0.004) * pow(4, i);
        cans[i] = buckling_make_run(rigidity[i], s->quick, &error);
    }
    if (sheets_take(s, cans, CANS, "pd/buckling", o)) {
        figure *f = outcome_figure(o, "waves", "Power of the radial displacement (fig 9)", "waves around", "m2");
        figure *g = outcome_figure(o, "cans", "The can when it buckles, bending weight rising (fig 9)", "", "");
        f->log_y = true;
        f->distinct = true;
        g->span = 1.6;
        for (int i = 0; i < CANS; i++) {
            char name[48];
            found[i] = find_pattern(&cans[i]);
            snprintf(name, sizeof name, "%.2g N m", rigidity[i]);
            sheet_shape(g, &cans[i], name);
            outcome_number(o, found[i].n, "around_%d", i);
            outcome_number(o, found[i].mean_n, "mean_around_%d", i);
            outcome_number(o, found[i].m, "along_%d", i);
            outcome_number(o, PRESSED * cans[i].taken / cans[i].moving, "strain_%d", i);
            outcome_number(o, rigidity[i], "rigidity_%d", i);
            outcome_number(o, cans[i].residual, "residual_%d", i);
            const bool drawn = figure_series(f, name, SINEW_SOLVER_PD, i, AROUND);
            for (int32_t n = 0; drawn && n < AROUND; n++) {
                f->series[f->series_count - 1].x[n] = n + 1;
                f->series[f->series_count - 1].y[n] = found[i].around[n + 1];
            }
        }
        snprintf(o->setup, sizeof o->setup,
                 "Cans of %d triangles, %.0e N/m, pressed by up to 5 %% of the height, %d iterations.",
                 sinew_mesh_triangle_count(cans[0].mesh), MEMBRANE, cans[0].solver.iterations);
        claim_waves(o, found, rigidity);
    }
    sheets_release(cans, CANS);
}
