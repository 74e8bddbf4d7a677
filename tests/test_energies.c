/* SPDX-License-Identifier: MIT
 *
 * test_energies.c: every energy of the table, in every SIMD variant of this processor, against independent references:
 * finite differences, linear elasticity, LAPACK's eigenvalues, formulas of homogeneous stretch, the width-1 kernels.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>
#include <dirent.h>
#include <float.h>

#include "energy/registry.h"
#include "energy_batch.h"

#ifdef SINEW_SINGLE
#define STEP            0.01 /* m, of finite differences; elements are about 1 m large */
#define TOLERANCE_FD    3e-4 /* relative */
#define TOLERANCE_EXACT 4e-6 /* relative difference of two formulas for the same number */
#define TOLERANCE_WIDTH 4e-6
#else
#define STEP            5e-4
#define TOLERANCE_FD    1e-10
#define TOLERANCE_EXACT 1e-12
#define TOLERANCE_WIDTH 1e-13
#endif

/* LAPACK, from OpenBLAS: eigenvalues and eigenvectors of a symmetric matrix. */
extern void dsyev_(const char *job, const char *triangle, const int *n, double *a, const int *lda, double *w,
                   double *work, const int *lwork, int *info);

static double worst_of(double *worst, double error)
{
    if (!(error <= *worst))
        *worst = error;
    return error;
}

/* ---- Every energy, every variant, every state ------------------------------------------------------ */

typedef void energy_check(const sinew_simd_variant *simd, const sinew_energy_ops *ops, const state *s, double *worst);

static void for_all(const char *what, double tolerance, energy_check *check)
{
    double worst = 0;
    int failures = 0;
    int32_t count;
    const sinew_simd_variant *const *variants = sinew_simd_variants(&count);
    for (int32_t v = 0; v < count; v++)
        for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++)
            for (int i = 0; i < STATE_COUNT; i++) {
                const sinew_energy_ops *ops = variants[v]->energies[kind];
                if (undefined_at(&ops->info, &states[i]))
                    continue;
                double error = 0;
                random_state = (uint64_t)(kind * STATE_COUNT + i) + 1; /* seeds the same samples for each variant */
                check(variants[v], ops, &states[i], &error);
                worst_of(&worst, error);
                if (error <= tolerance)
                    continue;
                failures++;
                print_error("%s: %s, %s, %s: error %g > %g\n", what, variants[v]->name, ops->info.name, states[i].name,
                            error, tolerance);
            }
    printf("    %-28s worst error %.1e (bound %.0e)\n", what, worst, tolerance);
    assert_int_equal(failures, 0);
}

/* The largest magnitude, at least the smallest positive number: errors are divided by it, and inactive one-sided
 * energies are zero. */
static double largest(const double *a, int count)
{
    double result = DBL_MIN;
    for (int i = 0; i < count; i++)
        result = fmax(result, fabs(a[i]));
    return result;
}

enum {
    OFFSETS = 6
};
static const double offsets[OFFSETS] = {-3 * STEP, -2 * STEP, -STEP, STEP, 2 * STEP, 3 * STEP};

/* Sixth-order central difference from f(x-3h), f(x-2h), f(x-h), f(x+h), f(x+2h), f(x+3h): barriers are steep. */
static double difference(const double f[OFFSETS], double h)
{
    return (f[5] - f[0] - 9 * (f[4] - f[1]) + 45 * (f[3] - f[2])) / (60 * h);
}

static void check_gradient(const sinew_simd_variant *simd, const sinew_energy_ops *ops, const state *s, double *worst)
{
    const sample one = sample_make(&ops->info, s);
    batch b = batch_make(simd, ops, &one, 1);
    double g[SIZE_MAX3], H[SIZE_MAX3 * SIZE_MAX3];
    const double value = batch_value(&b);
    const double same = batch_gradient(&b);
    worst_of(worst, fabs(same - value) / (fabs(value) + 1e-3));
    for (int i = 0; i < b.size; i++)
        g[i] = (double)*batch_at(&b, b.g, 0, i);
    batch_linearise(&b, false);
    batch_hessian(&b, 0, H);
    const double scale = fmax(largest(g, b.size), 0.1 * largest(H, b.size * b.size));
    for (int i = 0; i < b.size; i++) {
        sinew_real *x = batch_at(&b, b.x, 0, i);
        const sinew_real before = *x;
        double f[OFFSETS], moved[OFFSETS];
        for (int k = 0; k < OFFSETS; k++) {
            *x = before + (sinew_real)offsets[k];
            moved[k] = (double)*x;
            f[k] = batch_value(&b);
        }
        *x = before;
        worst_of(worst, fabs(difference(f, (moved[5] - moved[0]) / 6) - g[i]) / scale);
    }
    batch_free(&b);
}

static void test_gradient(void **context)
{
    (void)context;
    for_all("gradient", TOLERANCE_FD, check_gradient);
}

static void check_hessian(const sinew_simd_variant *simd, const sinew_energy_ops *ops, const state *s, double *worst)
{
    const sample one = sample_make(&ops->info, s);
    batch b = batch_make(simd, ops, &one, 1);
    double H[SIZE_MAX3 * SIZE_MAX3];
    batch_linearise(&b, false);
    batch_hessian(&b, 0, H);
    const double scale = largest(H, b.size * b.size);
    for (int column = 0; column < b.size; column++) {
        sinew_real *x = batch_at(&b, b.x, 0, column);
        const sinew_real before = *x;
        double g[SIZE_MAX3][OFFSETS];
        for (int k = 0; k < OFFSETS; k++) {
            *x = before + (sinew_real)offsets[k];
            batch_gradient(&b);
            for (int row = 0; row < b.size; row++)
                g[row][k] = (double)*batch_at(&b, b.g, 0, row);
        }
        *x = before;
        for (int row = 0; row < b.size; row++)
            worst_of(worst, fabs(difference(g[row], STEP) - H[row * b.size + column]) / scale);
    }
    batch_free(&b);
}

static void test_hessian(void **context)
{
    (void)context;
    for_all("hessian", 10 * TOLERANCE_FD, check_hessian);
}

/* `product` and `hessian`, exact and projected, are the same symmetric matrix. */
static void check_product(const sinew_simd_variant *simd, const sinew_energy_ops *ops, const state *s, double *worst)
{
    const sample one = sample_make(&ops->info, s);
    batch b = batch_make(simd, ops, &one, 1);
    for (int project = 0; project < 2; project++) {
        double H[SIZE_MAX3 * SIZE_MAX3], K[SIZE_MAX3 * SIZE_MAX3];
        batch_linearise(&b, project);
        batch_hessian(&b, 0, H);
        batch_product(&b, 0, K);
        const double scale = largest(H, b.size * b.size);
        for (int i = 0; i < b.size * b.size; i++)
            worst_of(worst, fabs(H[i] - K[i]) / scale);
        for (int i = 0; i < b.size; i++) /* exactly symmetric within diagonal blocks */
            for (int j = i / 3 * 3; j < i; j++)
                worst_of(worst, H[i * b.size + j] == H[j * b.size + i] ? 0 : 1);
    }
    batch_free(&b);
}

static void test_product(void **context)
{
    (void)context;
    for_all("product = hessian", TOLERANCE_EXACT, check_product);
}

/* psi >= 0 everywhere; value and force are zero at rest, except for loads. */
static void check_rest(const sinew_simd_variant *simd, const sinew_energy_ops *ops, const state *s, double *worst)
{
    if (ops->load)
        return;
    sample one = sample_make(&ops->info, s);
    if (ops->info.stencil == SINEW_STENCIL_PAIR && s == &states[0]) /* at rest the two points coincide */
        for (int a = 0; a < 4; a++) {
            one.weights[4 + a] = -one.weights[a];
            memcpy(one.x + 12 + 3 * a, one.x + 3 * a, 3 * sizeof *one.x);
        }
    batch b = batch_make(simd, ops, &one, 1);
    const double value = batch_gradient(&b);
    worst_of(worst, fmax(-value, 0));
    if (s == &states[0]) {
        worst_of(worst, fabs(value));
        for (int i = 0; i < b.size; i++)
            worst_of(worst, fabs((double)*batch_at(&b, b.g, 0, i)));
    }
    batch_free(&b);
}

static void test_rest(void **context)
{
    (void)context;
    for_all("zero at rest, psi >= 0", TOLERANCE_EXACT, check_rest);
}

/* A rigid motion keeps the value and rotates the gradient if the energy declares this invariance. */
static void check_rigid(const sinew_simd_variant *simd, const sinew_energy_ops *ops, const state *s, double *worst)
{
    if (ops->rigid_cost & SINEW_COSTS_TRANSLATION || ops->load)
        return;
    const bool turns = !(ops->rigid_cost & SINEW_COSTS_ROTATION);
    sample pair[2] = {sample_make(&ops->info, s)};
    pair[1] = pair[0];
    double Q[9];
    random_rotation(turns ? 2 : 0, turns ? 2 : 0, Q);
    for (int a = 0; a < SINEW_STENCIL_MAX; a++)
        for (int i = 0; i < 3; i++)
            pair[1].x[3 * a + i] = Q[3 * i] * pair[0].x[3 * a] + Q[3 * i + 1] * pair[0].x[3 * a + 1] +
                                   Q[3 * i + 2] * pair[0].x[3 * a + 2] + 0.5 * i - 0.7;
    double value[2], g[2][SIZE_MAX3];
    for (int k = 0; k < 2; k++) {
        batch b = batch_make(simd, ops, &pair[k], 1);
        value[k] = batch_gradient(&b);
        for (int i = 0; i < b.size; i++)
            g[k][i] = (double)*batch_at(&b, b.g, 0, i);
        batch_free(&b);
    }
    worst_of(worst, fabs(value[0] - value[1]) / (1 + value[0]));
    for (int i = 0; i < 3 * ops->info.vertex_count; i++) {
        const double *g0 = &g[0][i / 3 * 3], *row = &Q[3 * (i % 3)];
        const double turned = row[0] * g0[0] + row[1] * g0[1] + row[2] * g0[2];
        worst_of(worst, fabs(turned - g[1][i]) / (1 + largest(g[0], 3 * ops->info.vertex_count)));
    }
}

static void test_rigid(void **context)
{
    (void)context;
    for_all("rigid motion", TOLERANCE_EXACT, check_rigid);
}

/* ---- Units ----------------------------------------------------------------------------------------- */

/* Powers of two do not round, nor do their roots. */
#define MASS_SCALE   0x1p-8
#define LENGTH_SCALE 0x1p-4

/* Exponents of mass and length in the units of parameters. */
static const struct {
    const char *unit;
    int mass, length;
} unit_dimensions[] = {{"", 0, 0},    {"rad", 0, 0},  {"m", 0, 1},   {"1/m", 0, -1}, {"N", 1, 1},    {"N/m", 1, 0},
                       {"N m", 1, 2}, {"N m2", 1, 3}, {"Pa", 1, -1}, {"m/s", 0, 1},  {"rad/s", 0, 0}};

static double unit_scale(const char *unit)
{
    for (size_t i = 0; i < sizeof unit_dimensions / sizeof unit_dimensions[0]; i++)
        if (strcmp(unit_dimensions[i].unit, unit) == 0)
            return pow(MASS_SCALE, unit_dimensions[i].mass) * pow(LENGTH_SCALE, unit_dimensions[i].length);
    fail_msg("parameters have the unit '%s', which this test does not know", unit);
    return 0;
}

static sample sample_in_other_units(const sinew_energy_info *info, const sample *s)
{
    sample result = *s;
    for (int i = 0; i < SIZE_MAX3; i++) {
        result.rest[i] *= LENGTH_SCALE;
        result.x[i] *= LENGTH_SCALE;
    }
    for (int i = 0; i < 3; i++)
        result.target[i] *= LENGTH_SCALE;
    for (int i = 0; i < info->parameter_count; i++)
        result.parameters[i] *= unit_scale(info->parameters[i].unit);
    return result;
}

/* In other units of mass and length, value, gradient and Hessian are the same numbers times the scale of energy, force
 * and stiffness. */
static void check_units(const sinew_simd_variant *simd, const sinew_energy_ops *ops, const state *s, double *worst)
{
    static double H[2][2][SIZE_MAX3 * SIZE_MAX3], g[2][SIZE_MAX3];
    double value[2];
    sample pair[2] = {sample_make(&ops->info, s)};
    pair[1] = sample_in_other_units(&ops->info, &pair[0]);
    const int size = 3 * ops->info.vertex_count;
    for (int k = 0; k < 2; k++) {
        batch b = batch_make(simd, ops, &pair[k], 1);
        value[k] = batch_gradient(&b);
        for (int i = 0; i < size; i++)
            g[k][i] = (double)*batch_at(&b, b.g, 0, i);
        for (int project = 0; project < 2; project++) {
            batch_linearise(&b, project);
            batch_hessian(&b, 0, H[k][project]);
        }
        batch_free(&b);
    }
    const double force = MASS_SCALE * LENGTH_SCALE, unit = largest(g[0], size);
    worst_of(worst, fabs(value[1] / (force * LENGTH_SCALE) - value[0]) / (fabs(value[0]) + DBL_MIN));
    for (int i = 0; i < size; i++)
        worst_of(worst, fabs(g[1][i] / force - g[0][i]) / unit);
    for (int project = 0; project < 2; project++)
        for (int i = 0; i < size * size; i++)
            worst_of(worst,
                     fabs(H[1][project][i] / MASS_SCALE - H[0][project][i]) / largest(H[0][project], size * size));
}

static void test_units(void **context)
{
    (void)context;
    for_all("other units", TOLERANCE_EXACT, check_units);
}

/* ---- Projection ----------------------------------------------------------------------------------- */

/* Eigenvalues (ascending) of a symmetric matrix, which is overwritten by eigenvectors in rows. */
static void eigen(int n, double *A, double *w)
{
    double work[1024];
    const int lwork = 1024;
    int info;
    dsyev_("V", "U", &n, A, &n, w, work, &lwork, &info);
    assert_int_equal(info, 0);
}

/* Matrices to project. Tets and triangles have the unit corner as rest shape, so that H without the first vertex is
 * dP/dF times weight; other stencils use all of H. */
static int projection_matrices(const sinew_simd_variant *simd, const sinew_energy_ops *ops, const state *s,
                               double *exact, double *projected)
{
    sample one = sample_make(&ops->info, s);
    const bool corner_shape = has_gradient(&ops->info);
    if (corner_shape) {
        static const double corner[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
        const double t[3] = {0, 0, 0};
        double F[9];
        memcpy(one.rest, corner, sizeof corner);
        state_deformation(s, F);
        sample_move(&one, F, t);
    }
    batch b = batch_make(simd, ops, &one, 1);
    const int skip = corner_shape ? 3 : 0, n = b.size - skip;
    for (int project = 0; project < 2; project++) {
        double H[SIZE_MAX3 * SIZE_MAX3];
        batch_linearise(&b, project);
        batch_hessian(&b, 0, H);
        for (int i = 0; i < n * n; i++)
            (project ? projected : exact)[i] = H[(i / n + skip) * b.size + i % n + skip];
    }
    batch_free(&b);
    return n;
}

/* The projection is the nearest semi-definite matrix: the exact Hessian with eigenvalues clamped by LAPACK. Energies
 * that project term by term satisfy only check_no_smaller(). */
static void check_nearest(const sinew_simd_variant *simd, const sinew_energy_ops *ops, const state *s, double *worst)
{
    double exact[SIZE_MAX3 * SIZE_MAX3], projected[SIZE_MAX3 * SIZE_MAX3], Q[SIZE_MAX3 * SIZE_MAX3], w[SIZE_MAX3];
    if (ops->projects_terms)
        return;
    const int n = projection_matrices(simd, ops, s, exact, projected);
    const double scale = largest(exact, n * n);
    memcpy(Q, exact, sizeof Q);
    eigen(n, Q, w);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double clamped = 0;
            for (int k = 0; k < n; k++)
                clamped += fmax(w[k], 0) * Q[k * n + i] * Q[k * n + j];
            worst_of(worst, fabs(clamped - projected[i * n + j]) / scale);
            if (w[0] > TOLERANCE_EXACT * scale) /* a definite matrix keeps its bits */
                worst_of(worst, exact[i * n + j] == projected[i * n + j] ? 0 : 1);
        }
}

static void test_nearest(void **context)
{
    (void)context;
    for_all("projection is the nearest", 10 * TOLERANCE_EXACT, check_nearest);
}

/* The projected matrix less the exact one has no negative eigenvalue, for every kind of projection. */
static void check_no_smaller(const sinew_simd_variant *simd, const sinew_energy_ops *ops, const state *s, double *worst)
{
    double exact[SIZE_MAX3 * SIZE_MAX3], added[SIZE_MAX3 * SIZE_MAX3], w[SIZE_MAX3];
    const int n = projection_matrices(simd, ops, s, exact, added);
    const double scale = largest(exact, n * n);
    for (int i = 0; i < n * n; i++)
        added[i] -= exact[i];
    eigen(n, added, w);
    worst_of(worst, fmax(-w[0], 0) / scale);
}

static void test_no_smaller(void **context)
{
    (void)context;
    for_all("projection only adds", 10 * TOLERANCE_EXACT, check_no_smaller);
}

/* On any rest shape the projected Hessian of an element has no negative eigenvalue. */
static void check_semidefinite(const sinew_simd_variant *simd, const sinew_energy_ops *ops, const state *s,
                               double *worst)
{
    const sample one = sample_make(&ops->info, s);
    batch b = batch_make(simd, ops, &one, 1);
    double H[SIZE_MAX3 * SIZE_MAX3], w[SIZE_MAX3];
    batch_linearise(&b, true);
    batch_hessian(&b, 0, H);
    eigen(b.size, H, w);
    worst_of(worst, fmax(-w[0], 0) / fmax(w[b.size - 1], DBL_MIN));
    batch_free(&b);
}

static void test_semidefinite(void **context)
{
    (void)context;
    for_all("projection semi-definite", TOLERANCE_EXACT, check_semidefinite);
}

/* ---- SIMD widths ------------------------------------------------------------------------------- */

enum {
    MANY = 11
}; /* leaves a partly filled group at every width above 1 */

typedef struct outcome {
    double value;
    double g[MANY * SIZE_MAX3], H[2][MANY * SIZE_MAX3 * SIZE_MAX3];
} outcome;

static void compute(const sinew_simd_variant *simd, const sinew_energy_ops *ops, const sample *samples, outcome *o)
{
    batch b = batch_make(simd, ops, samples, MANY);
    memset(o, 0, sizeof *o);
    o->value = batch_gradient(&b);
    for (int i = 0; i < MANY * b.size; i++)
        o->g[i] = (double)*batch_at(&b, b.g, i / b.size, i % b.size);
    for (int project = 0; project < 2; project++) {
        batch_linearise(&b, project);
        for (int e = 0; e < MANY; e++)
            batch_hessian(&b, e, o->H[project] + e * b.size * b.size);
    }
    batch_free(&b);
}

/* Every SIMD width gives the results of width 1. */
static void check_width(const sinew_simd_variant *simd, const sinew_energy_ops *ops, const state *s, double *worst)
{
    static outcome wide, narrow;
    int32_t count;
    const sinew_simd_variant *scalar = sinew_simd_variants(&count)[count - 1];
    assert_int_equal(scalar->width, 1);
    sample samples[MANY];
    for (int e = 0; e < MANY; e++)
        samples[e] = sample_make(&ops->info, s);
    const sinew_energy_ops *reference = NULL;
    for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++)
        if (strcmp(scalar->energies[kind]->info.name, ops->info.name) == 0)
            reference = scalar->energies[kind];
    compute(simd, ops, samples, &wide);
    compute(scalar, reference, samples, &narrow);
    worst_of(worst, fabs(wide.value - narrow.value) / (1 + narrow.value));
    const double gradient = 1 + largest(narrow.g, MANY * SIZE_MAX3);
    for (int i = 0; i < MANY * SIZE_MAX3; i++)
        worst_of(worst, fabs(wide.g[i] - narrow.g[i]) / gradient);
    for (int project = 0; project < 2; project++) {
        const double hessian = largest(narrow.H[project], MANY * SIZE_MAX3 * SIZE_MAX3);
        for (int i = 0; i < MANY * SIZE_MAX3 * SIZE_MAX3; i++)
            worst_of(worst, fabs(wide.H[project][i] - narrow.H[project][i]) / hessian);
    }
}

static void test_width(void **context)
{
    (void)context;
    for_all("widths agree", TOLERANCE_WIDTH, check_width);
}

/* Elements of weight zero contribute exactly zero, also where the energy is infinite. */
static void test_padding(void **context)
{
    (void)context;
    int32_t count;
    const sinew_simd_variant *const *variants = sinew_simd_variants(&count);
    for (int32_t v = 0; v < count; v++)
        for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++)
            for (int i = 0; i < STATE_COUNT; i++) {
                const sinew_energy_ops *ops = variants[v]->energies[kind];
                const sample one = sample_make(&ops->info, &states[i]);
                batch b = batch_make(variants[v], ops, &one, 1);
                b.data[0] = 0;
                assert_true(batch_value(&b) == 0 && batch_gradient(&b) == 0);
                for (int k = 0; k < 4 * b.width * b.vertex_count; k++)
                    assert_true(b.g[k] == 0);
                batch_linearise(&b, i % 2);
                for (int k = 0; k < 9 * b.vertex_count * (b.vertex_count + 1) / 2 * b.width; k++)
                    assert_true(b.blocks[k] == 0);
                batch_free(&b);
            }
}

/* ---- The table --------------------------------------------------------------------------------------- */

static char *read_text(const char *path)
{
    static char text[1 << 16];
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

/* Folders of src/energy with one file per energy. */
static const char *const energy_folders[] = {"tet", "triangle", "edge", "bending", "rod", "joint"};
enum {
    ENERGY_FOLDERS = sizeof energy_folders / sizeof energy_folders[0]
};

static bool has_source(const char *name)
{
    int found = 0;
    for (int i = 0; i < ENERGY_FOLDERS; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/src/energy/%s/%s.c", SINEW_SOURCE_DIR, energy_folders[i], name);
        found += read_text(path) != NULL;
    }
    return found == 1;
}

/* Checks that each energy has one file, one line in the table and one page. */
static void check_files(const char *name)
{
    char path[1024], line[256];
    if (!has_source(name))
        fail_msg("energy %s has no file src/energy/<stencil>/%s.c", name, name);
    snprintf(path, sizeof path, "%s/src/energy/kernels/table.c", SINEW_SOURCE_DIR);
    snprintf(line, sizeof line, ", %s)", name);
    const char *first = strstr(read_text(path), line);
    if (!first || strstr(first + 1, line))
        fail_msg("energy %s does not have exactly one line in %s", name, path);
    snprintf(path, sizeof path, "%s/docs/reference/energies/%s.md", SINEW_SOURCE_DIR, name);
    if (!read_text(path) || !strstr(read_text(path), name))
        fail_msg("energy %s has no page %s that names it", name, path);
    snprintf(path, sizeof path, "%s/docs/reference/energies/index.md", SINEW_SOURCE_DIR);
    snprintf(line, sizeof line, "(%s.md)", name);
    if (!read_text(path) || !strstr(read_text(path), line))
        fail_msg("energy %s is not listed in %s", name, path);
}

static void check_info(const sinew_energy_info *info)
{
    assert_true(strlen(info->summary) > 0 && info->parameter_count <= SINEW_PARAMETER_MAX);
    for (int i = 0; i < info->parameter_count; i++) {
        const sinew_parameter *p = &info->parameters[i];
        assert_true(p->open_minimum ? p->preset > p->minimum : p->preset >= p->minimum);
        assert_true(p->open_maximum ? p->preset < p->maximum : p->preset <= p->maximum);
        assert_non_null(p->name);
        assert_non_null(p->unit);
        assert_non_null(p->meaning);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(p->name, info->parameters[j].name);
    }
}

/* Capability bits equal the operations that the energy provides, checked operation by operation and independently of
 * the function that solvers use. */
static void check_contract(const sinew_energy_ops *ops)
{
    const uint32_t bits = ops->info.capabilities;
    if (sinew_energy_flaw(ops))
        fail_msg("%s: %s", ops->info.name, sinew_energy_flaw(ops));
    assert_true(((bits & SINEW_CAN_CONSTRAINT) != 0) ==
                ((ops->constrain || ops->global_constraint) && ops->constraint_count > 0));
    assert_true(((bits & SINEW_CAN_PROJECT) != 0) == (ops->local_project != NULL));
    assert_true(((bits & SINEW_CAN_PROX) != 0) == (ops->local_prox != NULL));
    assert_true(((bits & SINEW_CAN_VERTEX) != 0) == (ops->incidence && ops->vertex && ops->vertex_change));
    assert_true(((bits & SINEW_CAN_REDUCE) != 0) == (ops->reduce && ops->stiffness));
    assert_true(((bits & SINEW_CAN_JACOBIAN) != 0) == (ops->jacobian != NULL));
}

static void test_table(void **context)
{
    (void)context;
    int32_t count;
    const sinew_simd_variant *const *variants = sinew_simd_variants(&count);
    for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++) {
        const char *name = variants[0]->energies[kind]->info.name;
        for (int other = 0; other < kind; other++)
            assert_string_not_equal(name, variants[0]->energies[other]->info.name);
        check_files(name);
        for (int32_t v = 0; v < count; v++) {
            const sinew_energy_ops *ops = variants[v]->energies[kind];
            assert_string_equal(ops->info.name, name);
            check_info(&ops->info);
            check_contract(ops);
            assert_true((ops->determinants != NULL) == is_tet(&ops->info));
        }
    }
}

/* Counts the energies of one folder: every file there is an energy, a shared template of a stencil, or one of the two
 * stencils of contact. */
static int energies_in(const char *folder_name)
{
    int found = 0;
    char path[1024];
    snprintf(path, sizeof path, "%s/src/energy/%s", SINEW_SOURCE_DIR, folder_name);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char name[256];
        if (sscanf(entry->d_name, "%255[a-z0-9_].c", name) != 1 || !strstr(entry->d_name, ".c"))
            continue;
        if (strcmp(name, folder_name) == 0 && sinew_energy_by_name(name) == SINEW_ENERGY_COUNT)
            continue;
        if (strcmp(name, "contact") == 0 || strcmp(name, "contact_wide") == 0)
            continue;
        if (sinew_energy_by_name(name) == SINEW_ENERGY_COUNT)
            fail_msg("src/energy/%s/%s holds no energy of the table", folder_name, entry->d_name);
        found++;
    }
    closedir(folder);
    return found;
}

/* No energy file is left out of the table. */
static void test_no_stray_files(void **context)
{
    (void)context;
    int found = 0;
    for (int i = 0; i < ENERGY_FOLDERS; i++)
        found += energies_in(energy_folders[i]);
    assert_int_equal(found, SINEW_ENERGY_COUNT);
}

/* The same checks with parameters that are not the defaults. In double precision alone: difference quotients, since the
 * step of single precision reaches across limits, where derivatives jump; and the projection, which is divided by the
 * projected Hessian, in single precision mere round-off where a membrane is squashed. */
static void test_parameters(void **context)
{
    (void)context;
    sample_draws_all = true;
    if (sizeof(sinew_real) == sizeof(double)) {
        for_all("drawn: gradient", TOLERANCE_FD, check_gradient);
        for_all("drawn: hessian", 10 * TOLERANCE_FD, check_hessian);
        for_all("drawn: widths agree", TOLERANCE_WIDTH, check_width);
    }
    for_all("drawn: product = hessian", TOLERANCE_EXACT, check_product);
    sample_draws_all = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),   cmocka_unit_test(test_no_stray_files), cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_hessian), cmocka_unit_test(test_product),        cmocka_unit_test(test_rest),
        cmocka_unit_test(test_rigid),   cmocka_unit_test(test_nearest),        cmocka_unit_test(test_semidefinite),
        cmocka_unit_test(test_width),   cmocka_unit_test(test_padding),        cmocka_unit_test(test_no_smaller),
        cmocka_unit_test(test_units),   cmocka_unit_test(test_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
