/* SPDX-License-Identifier: MIT
 *
 * test_membranes.c: energies on triangles: random stretches of random triangles against the formulas of their pages
 * written out, strips and sheets with closed-form solutions, projections against brute-force search over their sets,
 * refusals, and a stretched sheet on which every solver agrees with newton.
 */
#include "random_cases.h"
#include "small_world.h"

#include "energy_batch.h"

#ifdef SINEW_SINGLE
#define EXACT 3e-5 /* relative error of a few operations */
#define NEAR  2e-3 /* m, of a sheet of 1 m */
#else
#define EXACT 1e-12
#define NEAR  1e-6
#endif

/* ---- Triangles ------------------------------------------------------------------------------------ */

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double *a, const double *b, double *out)
{
    for (int i = 0; i < 3; i++)
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* A rest triangle, its area, and two orthonormal directions of its plane. */
typedef struct sheet {
    double rest[9], t[2][3], area;
} sheet;

static bool frame_sheet(sheet *s, const double *along)
{
    double edge[2][3], normal[3], rest[3];
    for (int i = 0; i < 6; i++)
        edge[i / 3][i % 3] = s->rest[3 + i] - s->rest[i % 3];
    cross(edge[0], edge[1], normal);
    const double twice = sqrt(dot(normal, normal)), longest = fmax(dot(edge[0], edge[0]), dot(edge[1], edge[1]));
    s->area = twice / 2;
    for (int i = 0; i < 3; i++)
        normal[i] /= twice;
    for (int i = 0; i < 3; i++)
        rest[i] = along[i] - dot(along, normal) * normal[i];
    const double length = sqrt(dot(rest, rest));
    for (int i = 0; i < 3; i++)
        s->t[0][i] = rest[i] / length;
    cross(normal, s->t[0], s->t[1]);
    return twice > 0.1 * longest && length > 0.05 * sqrt(dot(along, along));
}

/* A well-shaped triangle of random size and position; the first direction is the projection of `along` to its plane. */
static sheet draw_sheet(random_cases *r, const double *along)
{
    sheet s;
    do {
        const double size = random_magnitude(r, 0.1, 10);
        for (int i = 0; i < 9; i++)
            s.rest[i] = size * random_between(r, -1, 1);
        for (int i = 0; i < 9; i++) /* rounded to the library's precision */
            s.rest[i] = (double)(sinew_real)s.rest[i];
    } while (!frame_sheet(&s, along));
    return s;
}

static bool ends_in(const char *text, const char *end)
{
    const size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

/* Random parameters in their ranges, limits in order; the warp's direction is the random vector `along`. */
static void draw_parameters(random_cases *r, const sinew_energy_info *info, double *p, double *along)
{
    for (int i = 0; i < 3; i++)
        along[i] = random_between(r, -1, 1);
    for (int i = 0; i < info->parameter_count; i++) {
        const sinew_parameter *about = &info->parameters[i];
        p[i] = random_magnitude(r, 10, 1000);
        if (about->choices)
            p[i] = random_index(r, 2);
        else if (ends_in(about->name, "minimum"))
            p[i] = random_index(r, 4) ? random_between(r, 0.5, 1.2) : 1;
        else if (ends_in(about->name, "maximum"))
            p[i] = p[i - 1] + (random_index(r, 3) ? random_between(r, 0, 0.5) : 0);
        else if (strcmp(about->name, "poisson") == 0)
            p[i] = random_between(r, 0, 0.45);
        else if (strcmp(about->name, "thickness") == 0)
            p[i] = random_magnitude(r, 1e-3, 10);
        else if (strncmp(about->name, "warp_", 5) == 0 && strlen(about->name) == 6)
            p[i] = along[about->name[5] - 'x'];
        p[i] = (double)(sinew_real)p[i];
    }
    if (strcmp(info->name, "orthotropic") == 0) /* its Poisson's ratio has a bound */
        p[3] *= fmin(1, sqrt(p[0] / p[1]));
}

/* x = F X, where F maps the two directions to u. */
static sample place(const sheet *s, const double *parameters, const double u[2][3])
{
    sample one = {0};
    memcpy(one.rest, s->rest, sizeof s->rest);
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++)
            one.x[3 * a + i] = dot(s->t[0], s->rest + 3 * a) * u[0][i] + dot(s->t[1], s->rest + 3 * a) * u[1][i];
    memcpy(one.parameters, parameters, sizeof one.parameters);
    return one;
}

/* Recovers the matrix P, by its images of the two directions, from its nodal forces: a first moment of the forces,
 * since sum_a b_a X_a^T = 1 in the plane for the rest gradients b. */
static void moments(const sheet *s, const batch *b, const sinew_real *g, int e, double out[2][3])
{
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 3; i++) {
            out[j][i] = 0;
            for (int a = 0; a < 3; a++)
                out[j][i] += (double)g[4 * (3 * e + a) + i] * dot(s->t[j], s->rest + 3 * a) / s->area;
        }
    (void)b;
}

/* ---- Energy densities ----------------------------------------------------------------------------- */

/* psi per rest area at principal stretches s (along warp and weft for orthotropic energies), and its slopes. */
typedef double law(const double *s, const double *p, double *slope);

static double lambda_of(double E, double nu, double plane)
{
    return plane > 0 ? E * nu / ((1 + nu) * (1 - 2 * nu)) : E * nu / (1 - nu * nu);
}

static double stvk(const double *s, const double *p, double *slope)
{
    const double mu = p[2] * p[0] / (2 * (1 + p[1])), lambda = p[2] * lambda_of(p[0], p[1], p[3]);
    const double e[2] = {(s[0] * s[0] - 1) / 2, (s[1] * s[1] - 1) / 2}, trace = e[0] + e[1];
    for (int i = 0; i < 2; i++)
        slope[i] = s[i] * (2 * mu * e[i] + lambda * trace);
    return mu * (e[0] * e[0] + e[1] * e[1]) + lambda / 2 * trace * trace;
}

static double corotated(const double *s, const double *p, double *slope)
{
    const double mu = p[2] * p[0] / (2 * (1 + p[1])), lambda = p[2] * lambda_of(p[0], p[1], p[3]);
    const double a = s[0] - 1, b = s[1] - 1, growth = s[0] * s[1] - 1;
    for (int i = 0; i < 2; i++)
        slope[i] = 2 * mu * (s[i] - 1) + lambda * growth * s[1 - i];
    return mu * (a * a + b * b) + lambda / 2 * growth * growth;
}

static double neo_hookean(const double *s, const double *p, double *slope)
{
    const double mu = p[1] * p[0] / 3, J = s[0] * s[1];
    for (int i = 0; i < 2; i++)
        slope[i] = mu * (s[i] - 1 / (J * J * s[i]));
    return mu / 2 * (s[0] * s[0] + s[1] * s[1] + 1 / (J * J) - 3);
}

static double clamped(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static double strain(const double *s, const double *p, double *slope)
{
    double psi = 0;
    for (int i = 0; i < 2; i++) {
        const double apart = s[i] - clamped(s[i], p[1], p[2]);
        slope[i] = p[0] * apart;
        psi += p[0] / 2 * apart * apart;
    }
    return psi;
}

static double woven(const double *s, const double *p, double *slope)
{
    double psi = 0;
    for (int i = 0; i < 2; i++) {
        const double apart = s[i] - clamped(s[i], p[1 + 2 * i], p[2 + 2 * i]);
        slope[i] = p[0] * apart;
        psi += p[0] / 2 * apart * apart;
    }
    return psi;
}

static double weave(const double *s, const double *p, double *slope)
{
    for (int i = 0; i < 2; i++)
        slope[i] = p[i] * (s[i] - 1);
    return p[0] / 2 * (s[0] - 1) * (s[0] - 1) + p[1] / 2 * (s[1] - 1) * (s[1] - 1);
}

static double orthotropic(const double *s, const double *p, double *slope)
{
    const double left = 1 - p[3] * p[3] * p[1] / p[0];
    const double Q[2] = {p[4] * p[0] / left, p[4] * p[1] / left}, cross_term = p[3] * Q[1];
    const double e[2] = {(s[0] * s[0] - 1) / 2, (s[1] * s[1] - 1) / 2};
    for (int i = 0; i < 2; i++)
        slope[i] = s[i] * (Q[i] * e[i] + cross_term * e[1 - i]);
    return (Q[0] * e[0] * e[0] + Q[1] * e[1] * e[1]) / 2 + cross_term * e[0] * e[1];
}

typedef struct membrane {
    sinew_energy_kind kind;
    law *formula;
} membrane;

/* `area` is a distance in two dimensions: the search over its set below tests it. */
static const membrane membranes[] = {
    {SINEW_ENERGY_MEMBRANE_STVK, stvk},
    {SINEW_ENERGY_MEMBRANE_COROTATED, corotated},
    {SINEW_ENERGY_MEMBRANE_NEO_HOOKEAN, neo_hookean},
    {SINEW_ENERGY_TRIANGLE_STRAIN, strain},
    {SINEW_ENERGY_WOVEN_STRAIN, woven},
    {SINEW_ENERGY_BARAFF_WITKIN, weave},
    {SINEW_ENERGY_ORTHOTROPIC, orthotropic},
};
enum {
    MEMBRANE_COUNT = sizeof membranes / sizeof membranes[0]
};

/* Evaluates the kernels at stretches s of a sheet that R rotates in space: psi and slopes per area; *skew is the norm
 * of the other components of P. */
static double measured(const sinew_simd_variant *simd, sinew_energy_kind kind, const sheet *s, const double *p,
                       const double *stretch, const double R[9], double *slope, double *skew)
{
    double u[2][3], P[2][3];
    for (int i = 0; i < 6; i++)
        u[i / 3][i % 3] = stretch[i / 3] * R[3 * (i % 3) + i / 3];
    const sample one = place(s, p, (const double(*)[3])u);
    batch b = batch_make(simd, simd->energies[kind], &one, 1);
    const double psi = batch_gradient(&b) / s->area;
    moments(s, &b, b.g, 0, P);
    *skew = 0;
    for (int j = 0; j < 2; j++)
        for (int k = 0; k < 3; k++) {
            const double column[3] = {R[k], R[3 + k], R[6 + k]}, part = dot(P[j], column);
            if (j == k)
                slope[j] = part;
            else
                *skew = fmax(*skew, fabs(part));
        }
    batch_free(&b);
    return psi;
}

/* Approximate change of a slope per unit of stretch. */
static double stiffness_of(const membrane *m, const double *s, const double *p)
{
    const double far[2] = {s[0] + 1, s[1] + 1};
    double here[2], there[2];
    m->formula(s, p, here);
    m->formula(far, p, there);
    return fabs(here[0]) + fabs(here[1]) + fabs(there[0]) + fabs(there[1]);
}

static void stretches_follow_the_formulas(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("stretches", 200, 20000);
    int32_t count;
    const sinew_simd_variant *const *variants = sinew_simd_variants(&count);
    double worst = 0;
    for (int32_t i = 0; i < r.count; i++)
        for (int m = 0; m < MEMBRANE_COUNT; m++) {
            const sinew_simd_variant *simd = variants[random_index(&r, count)];
            double p[SINEW_PARAMETER_MAX] = {0}, along[3], R[9], slope[2], expected[2], skew;
            draw_parameters(&r, &simd->energies[membranes[m].kind]->info, p, along);
            const sheet s = draw_sheet(&r, along);
            const double stretch[2] = {random_between(&r, 0.6, 1.8), random_between(&r, 0.6, 1.8)};
            random_state = random_bits(&r);
            random_rotation(0, 3, R);
            const double psi = measured(simd, membranes[m].kind, &s, p, stretch, R, slope, &skew);
            const double formula = membranes[m].formula(stretch, p, expected);
            const double scale = stiffness_of(&membranes[m], stretch, p);
            const double error =
                fmax(fmax(fabs(psi - formula), skew), fmax(fabs(slope[0] - expected[0]), fabs(slope[1] - expected[1])));
            worst = fmax(worst, error / scale);
            if (!(error <= 20 * EXACT * scale))
                fail_msg("%s at stretches %g, %g: psi %.12g and not %.12g, slopes %g, %g and not %g, %g, %g beside",
                         simd->energies[membranes[m].kind]->info.name, stretch[0], stretch[1], psi, formula, slope[0],
                         slope[1], expected[0], expected[1], skew);
        }
    print_message("stretches: worst error %.1e of the stiffness\n", worst);
}

/* Rotated, flipped and translated elements have no energy and no force. */
static void rigid_motions_cost_nothing(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("rigid motions", 100, 10000);
    const sinew_simd_variant *simd = sinew_simd();
    for (int32_t i = 0; i < r.count; i++)
        for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++) {
            const sinew_energy_ops *ops = simd->energies[kind];
            double p[SINEW_PARAMETER_MAX] = {0}, along[3], R[9], slope[2], skew, stiffest = 0;
            if (!ops->is_surface)
                continue;
            draw_parameters(&r, &ops->info, p, along);
            for (int k = 0; k < ops->info.parameter_count; k++) { /* limits must admit the rest shape */
                const char *name = ops->info.parameters[k].name;
                p[k] = ends_in(name, "minimum") ? fmin(p[k], 1) : ends_in(name, "maximum") ? fmax(p[k], 1) : p[k];
                stiffest = fmax(stiffest, p[k]);
            }
            const sheet s = draw_sheet(&r, along);
            const double rest[2] = {1, 1};
            random_state = random_bits(&r);
            random_rotation(0, 3, R);
            const double psi = measured(simd, (sinew_energy_kind)kind, &s, p, rest, R, slope, &skew);
            const double bound = 100 * EXACT * stiffest * fmax(1, stiffest);
            if (!(fabs(psi) <= bound && fmax(fmax(fabs(slope[0]), fabs(slope[1])), skew) <= bound))
                fail_msg("%s at rest: psi %g, slopes %g, %g, %g beside", ops->info.name, psi, slope[0], slope[1], skew);
        }
}

/* ---- Closed forms --------------------------------------------------------------------------------- */

static void check_pull(const char *what, sinew_energy_kind kind, const double *given, const double *stretch,
                       double tension, double across, random_cases *r)
{
    const sinew_simd_variant *simd = sinew_simd();
    double p[SINEW_PARAMETER_MAX] = {0}, R[9], slope[2], skew;
    const double along[3] = {random_between(r, 0.1, 1), random_between(r, -1, 1), random_between(r, -1, 1)};
    memcpy(p, given, 8 * sizeof *p);
    if (kind == SINEW_ENERGY_ORTHOTROPIC)
        memcpy(p + 5, along, sizeof along);
    const sheet s = draw_sheet(r, along);
    random_state = random_bits(r);
    random_rotation(0, 3, R);
    measured(simd, kind, &s, p, stretch, R, slope, &skew);
    const double bound = 100 * EXACT * (p[0] + p[1]) * fmax(1, fmax(p[1], p[2]));
    if (!(fabs(slope[0] - tension) <= bound && fabs(slope[1] - across) <= bound))
        fail_msg("%s: tension %.12g and not %.12g, across %.12g and not %.12g", what, slope[0], tension, slope[1],
                 across);
}

/* Strips with free sides, and sheets stretched in both directions. */
static void pulls_have_their_closed_forms(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("strips", 100, 10000);
    for (int32_t i = 0; i < r.count; i++) {
        const double E = (double)(sinew_real)random_between(&r, 1, 10),
                     nu = (double)(sinew_real)random_between(&r, 0, 0.45),
                     h = (double)(sinew_real)random_between(&r, 0.1, 2), s = random_between(&r, 0.8, 1.4);
        const double green = (s * s - 1) / 2;
        const double sheet_of[8] = {E, nu, h, 0}, rubber[8] = {E, h};
        /* Plane stress: E and nu are those of a strip. */
        const double strip[2] = {s, sqrt(1 - nu * (s * s - 1))};
        check_pull("St. Venant-Kirchhoff strip", SINEW_ENERGY_MEMBRANE_STVK, sheet_of, strip, E * h * s * green, 0, &r);
        const double pair[2] = {s, s}, both = E * h / (1 - nu) * s * green;
        check_pull("St. Venant-Kirchhoff sheet", SINEW_ENERGY_MEMBRANE_STVK, sheet_of, pair, both, both, &r);
        const double bar[2] = {s, 1 / sqrt(s)}, pull = E * h / 3 * (s - 1 / (s * s));
        check_pull("Neo-Hookean strip", SINEW_ENERGY_MEMBRANE_NEO_HOOKEAN, rubber, bar, pull, 0, &r);
        const double balloon = E * h / 3 * (s - pow(s, -5));
        check_pull("Neo-Hookean sheet", SINEW_ENERGY_MEMBRANE_NEO_HOOKEAN, rubber, pair, balloon, balloon, &r);
        const double weft = (double)(sinew_real)random_between(&r, 1, 5), fabric[8] = {E, weft, 1, nu, h};
        if (nu * nu * weft < E)
            check_pull("orthotropic strip", SINEW_ENERGY_ORTHOTROPIC, fabric, strip, E * h * s * green, 0, &r);
    }
}

/* The pressure of a balloon, p R / (2 mu h) = s^-1 - s^-7 by the tension above, has its maximum at 7^(1/6): 0.619731.
 */
static void rubber_has_the_balloons_peak(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("balloon", 1, 1);
    const double p[SINEW_PARAMETER_MAX] = {3, 1}, along[3] = {1, 0.2, 0.3};
    const double R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const sheet s = draw_sheet(&r, along);
    double best = 0, at = 0;
    for (double stretch = 1; stretch < 2; stretch += 1e-4) {
        const double pair[2] = {stretch, stretch};
        double slope[2], skew;
        measured(sinew_simd(), SINEW_ENERGY_MEMBRANE_NEO_HOOKEAN, &s, p, pair, R, slope, &skew);
        /* Tension per current width is slope / s and the radius s R: p = 2 slope / (s^2 R). */
        const double pressure = slope[0] / (stretch * stretch);
        if (pressure > best) {
            best = pressure;
            at = stretch;
        }
    }
    print_message("balloon: peak %.6f at stretch %.4f\n", best, at);
    assert_true(fabs(best - 0.619731) <= 2e-6 + EXACT && fabs(at - pow(7, 1.0 / 6)) <= 2e-3);
}

/* Rubber's energy becomes infinite when a triangle collapses in its plane; a triangle that leaves its plane passes. */
static void rubber_ends_without_area(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("ends", 100, 10000);
    const sinew_simd_variant *simd = sinew_simd();
    const sinew_energy_ops *ops = simd->energies[SINEW_ENERGY_MEMBRANE_NEO_HOOKEAN];
    for (int32_t i = 0; i < r.count; i++) {
        const double p[SINEW_PARAMETER_MAX] = {3, 1}, along[3] = {1, 0.2, 0.3};
        double R[9], u[2][3];
        const sheet s = draw_sheet(&r, along);
        random_state = random_bits(&r);
        random_rotation(0, 3, R);
        for (int k = 0; k < 6; k++)
            u[k / 3][k % 3] = R[3 * (k % 3) + k / 3];
        const sample one = place(&s, p, (const double(*)[3])u);
        batch b = batch_make(simd, ops, &one, 1);
        /* Vertex 2 moves through the edge between the others at t = when, and beyond; then out of the plane. */
        const double when = random_between(&r, 0.1, 5), share = random_between(&r, -0.5, 1.5);
        const double *x0 = one.x, *x1 = one.x + 3, *x2 = one.x + 6;
        for (int beside = 0; beside < 2; beside++) {
            for (int k = 0; k < 3; k++)
                b.p[8 + k] =
                    (sinew_real)((x0[k] + share * (x1[k] - x0[k]) - x2[k]) / when + beside * 0.3 * R[3 * k + 2]);
            const sinew_kernel kernel = batch_kernel(&b, false);
            const double limit = ops->step_limit(&kernel, 10);
            if (!(beside ? limit == 10 : fabs(limit - when) <= 1000 * EXACT * when))
                fail_msg("%s: the energy ends at %.12g and not %.12g", beside ? "beside" : "within the plane", limit,
                         beside ? 10 : when);
            assert_true(ops->step_limit(&kernel, when / 2) == when / 2);
        }
        batch_free(&b);
    }
}

/* ---- Projections ---------------------------------------------------------------------------------- */

/* Singular values of the matrix with these columns, from the eigenvalues of its square in long double. */
static void singular(const double c[2][3], double s[2])
{
    long double m[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        m[0] += (long double)c[0][i] * c[0][i];
        m[1] += (long double)c[1][i] * c[1][i];
        m[2] += (long double)c[0][i] * c[1][i];
    }
    double normal[3];
    cross(c[0], c[1], normal);
    const long double middle = (m[0] + m[1]) / 2, radius = hypotl((m[0] - m[1]) / 2, m[2]);
    s[0] = (double)sqrtl(middle + radius);
    s[1] = s[0] > 0 ? sqrt(dot(normal, normal)) / s[0] : 0;
}

typedef struct search {
    const double *s;
    double c;
} search;

/* Squared distance of s to the point of the curve x y = c at x = sqrt(c) exp(t). */
static double curve_distance(const search *at, double t)
{
    const double x = sqrt(at->c) * exp(t) - at->s[0], y = sqrt(at->c) * exp(-t) - at->s[1];
    return x * x + y * y;
}

/* The minimum by brute force: many samples, then a ternary search around each local minimum of the samples. */
static double min_distance(const search *at)
{
    enum {
        SAMPLES = 400
    };
    const double reach = log((at->s[0] + at->s[1]) / sqrt(at->c) + 2) + 1, step = 2 * reach / SAMPLES;
    double best = HUGE_VAL;
    for (int i = 1; i < SAMPLES; i++) {
        double low = -reach + (i - 1) * step, high = low + 2 * step;
        const double here = curve_distance(at, low + step);
        if (here > curve_distance(at, low) || here > curve_distance(at, high))
            continue;
        for (int k = 0; k < 80; k++) {
            const double a = low + (high - low) / 3, b = high - (high - low) / 3;
            *(curve_distance(at, a) < curve_distance(at, b) ? &high : &low) =
                curve_distance(at, a) < curve_distance(at, b) ? b : a;
        }
        best = fmin(best, curve_distance(at, (low + high) / 2));
    }
    return best;
}

/* Distance of x from the interval, by sampling it. */
static double interval_distance(double x, double low, double high)
{
    double best = HUGE_VAL;
    for (int i = 0; i <= 1000; i++)
        best = fmin(best, fabs(x - (low + (high - low) * i / 1000)));
    return best;
}

/* The distance of F from the set, by search. No matrix is nearer to F than its singular values are to those of F
 * (Mirsky), so a search over singular values covers the sets that they define. */
static double searched_distance(sinew_energy_kind kind, const double F[2][3], const double *p)
{
    double s[2];
    singular(F, s);
    if (kind == SINEW_ENERGY_TRIANGLE_STRAIN)
        return hypot(interval_distance(s[0], p[1], p[2]), interval_distance(s[1], p[1], p[2]));
    if (kind == SINEW_ENERGY_WOVEN_STRAIN)
        return hypot(interval_distance(sqrt(dot(F[0], F[0])), p[1], p[2]),
                     interval_distance(sqrt(dot(F[1], F[1])), p[3], p[4]));
    const search low = {s, p[1]}, high = {s, p[2]};
    const double area = s[0] * s[1];
    return area < p[1] ? sqrt(min_distance(&low)) : area > p[2] ? sqrt(min_distance(&high)) : 0;
}

/* Distance of T from the set. */
static double outside(sinew_energy_kind kind, const double T[2][3], const double *p)
{
    double s[2];
    singular(T, s);
    if (kind == SINEW_ENERGY_TRIANGLE_STRAIN)
        return fmax(fmax(s[0] - p[2], p[1] - s[1]), 0);
    if (kind == SINEW_ENERGY_AREA)
        return fmax(fmax(s[0] * s[1] - p[2], p[1] - s[0] * s[1]), 0);
    const double u = sqrt(dot(T[0], T[0])), v = sqrt(dot(T[1], T[1]));
    return fmax(fmax(fmax(u - p[2], p[1] - u), fmax(v - p[4], p[3] - v)), 0);
}

/* Random and special states: zero area, zero length, isotropic, far from rest. */
static void draw_columns(random_cases *r, double F[2][3])
{
    double U[9];
    const double angle = random_between(r, 0, 6.3), size = random_index(r, 5) ? 1 : random_magnitude(r, 0.01, 100);
    double s[2] = {size * random_between(r, 0, 2), size * random_between(r, 0, 2)};
    const int special = random_index(r, 8);
    if (special == 0)
        s[1] = 0; /* collapsed to a line */
    else if (special == 1)
        s[1] = s[0] *= 0.4; /* isotropic */
    else if (special == 2)
        s[1] = -s[1]; /* mirrored, that is, flipped over */
    else if (special == 3)
        s[0] = s[1] = random_index(r, 2) ? 1 : 1e-9;
    random_state = random_bits(r);
    random_rotation(0, 3, U);
    const double V[2][2] = {{cos(angle), -sin(angle)}, {sin(angle), cos(angle)}};
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 3; i++)
            F[j][i] = U[3 * i] * s[0] * V[j][0] + U[3 * i + 1] * s[1] * V[j][1];
}

static void check_projection(random_cases *r, const sinew_simd_variant *simd, sinew_energy_kind kind, double *worst)
{
    const sinew_energy_ops *ops = simd->energies[kind];
    double p[SINEW_PARAMETER_MAX] = {0}, along[3], F[2][3], T[2][3], apart = 0, size = 1;
    draw_parameters(r, &ops->info, p, along);
    const sheet s = draw_sheet(r, along);
    draw_columns(r, F);
    const sample one = place(&s, p, (const double(*)[3])F);
    batch b = batch_make(simd, ops, &one, 1);
    sinew_reduced_kernel kernel = {.groups = {.count = b.group_count, .vertex = b.vertex, .data = b.data}, .x = b.x};
    kernel.g = b.g;
    ops->local_project(&kernel);
    moments(&s, &b, b.g, 0, T);
    for (int i = 0; i < 6; i++) {
        T[i / 3][i % 3] /= p[0];
        const double d = F[i / 3][i % 3] - T[i / 3][i % 3];
        apart += d * d;
        size = fmax(size, fabs(F[i / 3][i % 3]));
    }
    const double psi = batch_value(&b) / s.area, min = searched_distance(kind, (const double(*)[3])F, p);
    const double bound = 50 * EXACT * size, off = outside(kind, (const double(*)[3])T, p) / fmax(1, size);
    const double error = fmax(fabs(sqrt(2 * psi / p[0]) - sqrt(apart)), sqrt(apart) - min);
    *worst = fmax(*worst, fmax(error / size, off));
    /* A root of a small psi has the square root of its round-off. */
    if (!(sqrt(apart) - min <= bound && fabs(psi / p[0] - apart / 2) <= bound * size && off <= bound))
        fail_msg("%s (%s): distance %.12g, psi says %.12g, search finds %.12g, outside by %g; limits %g %g %g %g",
                 ops->info.name, simd->name, sqrt(apart), sqrt(2 * psi / p[0]), min, off, p[1], p[2], p[3], p[4]);
    batch_free(&b);
}

static void projections_are_nearest(void **unused)
{
    (void)unused;
    static const sinew_energy_kind sets[] = {SINEW_ENERGY_TRIANGLE_STRAIN, SINEW_ENERGY_WOVEN_STRAIN,
                                             SINEW_ENERGY_AREA};
    random_cases r = random_cases_begin("projections", 400, 10000);
    int32_t count;
    const sinew_simd_variant *const *variants = sinew_simd_variants(&count);
    for (int k = 0; k < 3; k++) {
        double worst = 0;
        for (int32_t i = 0; i < r.count; i++) {
            const sinew_simd_variant *simd = variants[i % count];
            check_projection(&r, simd, sets[k], &worst);
        }
        print_message("%s: %d elements, worst error %.1e\n", sinew_simd()->energies[sets[k]]->info.name, r.count,
                      worst);
    }
}

/* Distinct limits: derivatives against differences, away from the jumps of the derivatives. */
static void limits_have_their_derivatives(void **unused)
{
    (void)unused;
    static const sinew_energy_kind sets[] = {SINEW_ENERGY_TRIANGLE_STRAIN, SINEW_ENERGY_WOVEN_STRAIN,
                                             SINEW_ENERGY_AREA};
    random_cases r =
        random_cases_begin("limits", sizeof(sinew_real) == 8 ? 200 : 0, sizeof(sinew_real) == 8 ? 5000 : 0);
    const sinew_simd_variant *simd = sinew_simd();
    const double step = 1e-5;
    for (int32_t n = 0; n < 3 * r.count; n++) {
        const sinew_energy_ops *ops = simd->energies[sets[n % 3]];
        double p[SINEW_PARAMETER_MAX] = {0}, along[3], F[2][3], H[81], worst = 0, scale = 0;
        draw_parameters(&r, &ops->info, p, along);
        sheet s = draw_sheet(&r, along);
        for (int i = 0; i < 9; i++)
            s.rest[i] /= sqrt(s.area); /* area 1 m2 */
        frame_sheet(&s, along);
        do
            for (int i = 0; i < 6; i++)
                F[i / 3][i % 3] = random_between(&r, -1.5, 1.5);
        while (searched_distance(sets[n % 3], (const double(*)[3])F, p) < 0.02);
        const sample one = place(&s, p, (const double(*)[3])F);
        batch b = batch_make(simd, ops, &one, 1);
        batch_linearise(&b, false);
        batch_hessian(&b, 0, H);
        for (int i = 0; i < 81; i++)
            scale = fmax(scale, fabs(H[i]));
        for (int column = 0; column < 9; column++) {
            double g[2][9];
            for (int side = 0; side < 2; side++) {
                *batch_at(&b, b.x, 0, column) += (sinew_real)(side ? -2 * step : step);
                batch_gradient(&b);
                for (int row = 0; row < 9; row++)
                    g[side][row] = (double)*batch_at(&b, b.g, 0, row);
            }
            *batch_at(&b, b.x, 0, column) += (sinew_real)step;
            for (int row = 0; row < 9; row++)
                worst = fmax(worst, fabs((g[0][row] - g[1][row]) / (2 * step) - H[9 * row + column]));
        }
        double sigma[2];
        singular((const double(*)[3])F, sigma);
        const double lengths[4] = {sigma[0], sigma[1], sqrt(dot(F[0], F[0])), sqrt(dot(F[1], F[1]))};
        bool smooth = sigma[1] > 0.1 && sigma[0] - sigma[1] > 0.1;
        for (int i = 0; i < 4; i++) /* no limit within the range of the differences */
            for (int k = 1; k < 5; k++)
                smooth &= fabs(lengths[i] - p[k]) > 0.01;
        if (smooth && !(worst <= 1e-4 * scale))
            fail_msg("%s: Hessian off by %g of %g; sigma %g %g, limits %g %g", ops->info.name, worst, scale, sigma[0],
                     sigma[1], p[1], p[2]);
        batch_free(&b);
    }
}

/* ---- Refusals ------------------------------------------------------------------------------------- */

static sinew_mesh *make_cloth(int vertices)
{
    sinew_error error = {0};
    sinew_cloth_def def = sinew_default_cloth_def();
    def.vertices[0] = def.vertices[1] = vertices;
    sinew_mesh *mesh = sinew_mesh_cloth(&def, &error);
    must(&error);
    return mesh;
}

static void expect_refusal(const sinew_energy_def *def, const char *first, const char *second)
{
    sinew_error error = {0};
    sinew_mesh *mesh = make_cloth(3);
    sinew_world_def world_def = sinew_default_world_def();
    sinew_world *world = make_world(&world_def);
    sinew_energy_def own = *def;
    own.body = add_mesh(world, mesh, 0.2, NULL, NULL);
    sinew_world_add_energy(world, &own, &error);
    refused(&error, SINEW_ERROR_DATA, first);
    refused(&error, SINEW_ERROR_DATA, second);
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
}

static sinew_energy_def with(sinew_energy_kind kind, const char *name, double value)
{
    sinew_energy_def def = sinew_default_energy_def(kind);
    def.parameters[sinew_energy_parameter(kind, name)] = (sinew_real)value;
    return def;
}

static void bad_input_is_refused_by_name(void **unused)
{
    (void)unused;
    sinew_energy_def def = with(SINEW_ENERGY_TRIANGLE_STRAIN, "minimum", 1.25);
    expect_refusal(&def, "minimum = 1.25", "maximum = 1");
    def = with(SINEW_ENERGY_AREA, "minimum", 1.5);
    expect_refusal(&def, "minimum = 1.5", "maximum = 1");
    def = with(SINEW_ENERGY_WOVEN_STRAIN, "weft_maximum", 0.5);
    expect_refusal(&def, "weft_minimum = 1", "weft_maximum = 0.5");
    static const sinew_energy_kind directional[] = {SINEW_ENERGY_WOVEN_STRAIN, SINEW_ENERGY_BARAFF_WITKIN,
                                                    SINEW_ENERGY_ORTHOTROPIC};
    for (int i = 0; i < 3; i++) {
        def = with(directional[i], "warp_x", 0);
        expect_refusal(&def, "element 0", "warp direction (0, 0, 0)");
        def.parameters[sinew_energy_parameter(directional[i], "warp_z")] = 2;
        expect_refusal(&def, "element 0", "warp direction (0, 0, 2)");
    }
    def = with(SINEW_ENERGY_ORTHOTROPIC, "weft_young", 1e8);
    expect_refusal(&def, "poisson = 0.2", "warp_young / weft_young");
    /* The second of three triangles is degenerate. */
    static const int32_t elements[9] = {0, 1, 3, 0, 1, 2, 1, 2, 4};
    for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++) {
        const sinew_energy_info *info = sinew_get_energy_info((sinew_energy_kind)kind);
        if (!sinew_energy_get_ops((sinew_energy_kind)kind)->is_surface)
            continue;
        def = sinew_default_energy_def((sinew_energy_kind)kind);
        def.elements = elements;
        def.element_count = 3;
        expect_refusal(&def, info->name, "element 1: its rest shape has no area");
    }
}

/* ---- Fields --------------------------------------------------------------------------------------- */

/* A uniformly stretched cloth, rotated in space, has these stretches and no 3D stress. */
static void stretches_are_a_field(void **unused)
{
    (void)unused;
    enum {
        COUNT = 5
    };
    random_cases r = random_cases_begin("fields", 5, 500);
    for (int32_t i = 0; i < r.count; i++) {
        sinew_error error = {0};
        sinew_mesh *mesh = make_cloth(COUNT);
        sinew_real q[3 * COUNT * COUNT], values[6 * 3 * COUNT * COUNT];
        int32_t count;
        double R[9];
        const double low = random_between(&r, 0, 1), high = random_between(&r, 1, 2), angle = random_between(&r, 0, 3);
        const double c = cos(angle), s = sin(angle);
        random_state = random_bits(&r);
        random_rotation(0, 3, R);
        for (int k = 0; k < COUNT * COUNT; k++) {
            const double x = (double)sinew_mesh_positions(mesh)[3 * k],
                         y = (double)sinew_mesh_positions(mesh)[3 * k + 1];
            const double u = high * (c * x + s * y), v = low * (c * y - s * x);
            for (int j = 0; j < 3; j++)
                q[3 * k + j] = (sinew_real)(R[3 * j] * u + R[3 * j + 1] * v);
        }
        const sinew_world_def def = sinew_default_world_def();
        sinew_world *world = make_world(&def);
        sinew_energy_def energy_def = sinew_default_energy_def(SINEW_ENERGY_MEMBRANE_STVK);
        energy_def.body = add_mesh(world, mesh, 0.2, q, NULL);
        const sinew_energy energy = add_energy(world, &energy_def);
        sinew_energy_field(world, energy, SINEW_FIELD_STRETCHES, 6 * 3 * COUNT * COUNT, values, &count, &error);
        must(&error);
        assert_int_equal(count, 3 * 2 * (COUNT - 1) * (COUNT - 1));
        for (int k = 0; k < count; k++)
            assert_true(fabs((double)values[k] - (k % 3 == 0 ? high : k % 3 == 1 ? low : 0)) <= 20 * EXACT);
        sinew_energy_field(world, energy, SINEW_FIELD_VON_MISES, count, values, &count, &error);
        refused(&error, SINEW_ERROR_UNSUPPORTED, "membrane_stvk has only the fields stretches and energy");
        sinew_world_destroy(world);
        sinew_mesh_destroy(mesh);
    }
}

/* ---- Solvers -------------------------------------------------------------------------------------- */

enum {
    SIDE = 4
};

/* A sheet of 1 m held along its edges, stretched by a tenth in both directions, with displaced inner vertices. */
static sinew_world *make_sheet(sinew_energy_kind kind, const sinew_solver_def *solver, bool quasistatic)
{
    sinew_mesh *mesh = make_cloth(SIDE);
    const sinew_real *X = sinew_mesh_positions(mesh);
    sinew_real q[3 * SIDE * SIDE], targets[3 * SIDE * SIDE];
    int32_t held[SIDE * SIDE], count = 0;
    uint32_t seed = 11;
    for (int i = 0; i < SIDE * SIDE; i++) {
        const bool edge = i % SIDE == 0 || i % SIDE == SIDE - 1 || i / SIDE == 0 || i / SIDE == SIDE - 1;
        for (int c = 0; c < 3; c++)
            q[3 * i + c] = (sinew_real)(1.1 * (double)X[3 * i + c] + (edge ? 0 : 0.03 * next_random(&seed)));
        if (edge) {
            memcpy(targets + 3 * count, q + 3 * i, 3 * sizeof *q);
            held[count++] = i;
        }
    }
    sinew_world_def def = sinew_default_world_def();
    def.quasistatic = quasistatic;
    def.solver = *solver;
    def.thread_count = 1;
    sinew_world *world = make_world(&def);
    const sinew_body body = add_mesh(world, mesh, 0.5, q, NULL);
    sinew_energy_def energy = sinew_default_energy_def(kind);
    energy.body = body;
    add_energy(world, &energy);
    if (kind == SINEW_ENERGY_AREA) { /* alone it allows triangles to shear freely */
        energy = sinew_default_energy_def(SINEW_ENERGY_TRIANGLE_STRAIN);
        energy.body = body;
        add_energy(world, &energy);
    }
    add_pins(world, body, held, count, targets);
    sinew_mesh_destroy(mesh);
    return world;
}

static sinew_real *step_of(sinew_energy_kind energy, const sinew_solver_def *solver, bool quasistatic)
{
    sinew_step_result result;
    sinew_world *world = make_sheet(energy, solver, quasistatic);
    sinew_world_step(world, &result);
    if (result.bits & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE))
        fail_msg("%s in %s: bits %u, %s", sinew_get_energy_info(energy)->name,
                 sinew_get_solver_info(solver->kind)->name, result.bits, sinew_world_error(world));
    sinew_real *q = positions_of(world);
    sinew_world_destroy(world);
    return q;
}

static sinew_solver_def solver_of(sinew_solver_kind kind, int32_t iterations)
{
    sinew_solver_def def = sinew_default_solver_def(kind);
    def.iterations = iterations;
    return def;
}

static double compare_with_newton(sinew_energy_kind energy, sinew_solver_kind kind, bool quasistatic)
{
    const sinew_solver_info *info = sinew_get_solver_info(kind);
    const sinew_solver_def newton = solver_of(SINEW_SOLVER_NEWTON, 100);
    sinew_solver_def solver = solver_of(kind, info->static_only ? 20000 : 4000);
    if (info->static_only) /* pseudo-time ends at an equilibrium only if its sweeps converge */
        solver.parameters[sinew_solver_parameter(kind, "sweeps")] = 50;
    sinew_real *reference = step_of(energy, &newton, quasistatic), *q = step_of(energy, &solver, quasistatic);
    double apart = 0;
    for (int i = 0; i < 3 * SIDE * SIDE; i++)
        apart = fmax(apart, fabs((double)q[i] - (double)reference[i]));
    free(reference);
    free(q);
    return apart;
}

/* XPBD's multipliers belong to earlier gradients, so that it ends near the minimum. PBD does not converge to an
 * energy's minimum, and integrators of one iteration end elsewhere. */
static void solvers_pull_sheets_alike(void **unused)
{
    (void)unused;
    int compared = 0;
    for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++) {
        const sinew_energy_info *energy = sinew_get_energy_info((sinew_energy_kind)kind);
        if (!sinew_energy_get_ops((sinew_energy_kind)kind)->is_surface)
            continue;
        for (int solver = 0; solver < SINEW_SOLVER_COUNT; solver++) {
            const sinew_solver_info *info = sinew_get_solver_info((sinew_solver_kind)solver);
            if (solver == SINEW_SOLVER_PBD || solver == SINEW_SOLVER_SAP || is_integrator(info) ||
                !sinew_solver_accepts((sinew_solver_kind)solver, (sinew_energy_kind)kind, NULL, 0))
                continue;
            for (int still = 0; still < 2; still++) {
                if (still ? !info->quasistatic : info->static_only)
                    continue;
                const double apart = compare_with_newton((sinew_energy_kind)kind, (sinew_solver_kind)solver, still);
                if (!(apart <= (info->needs & SINEW_CAN_CONSTRAINT ? 0.02 : NEAR)))
                    fail_msg("%s in %s%s: %g m from newton", energy->name, info->name, still ? ", quasistatic" : "",
                             apart);
                compared++;
            }
        }
    }
    print_message("%d pairs of energies and solvers end where newton does\n", compared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stretches_follow_the_formulas), cmocka_unit_test(rigid_motions_cost_nothing),
        cmocka_unit_test(pulls_have_their_closed_forms), cmocka_unit_test(rubber_has_the_balloons_peak),
        cmocka_unit_test(rubber_ends_without_area),      cmocka_unit_test(projections_are_nearest),
        cmocka_unit_test(limits_have_their_derivatives), cmocka_unit_test(bad_input_is_refused_by_name),
        cmocka_unit_test(stretches_are_a_field),         cmocka_unit_test(solvers_pull_sheets_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
