/* SPDX-License-Identifier: MIT
 *
 * test_materials.c: material behaviour of the energies: linear elasticity at rest, homogeneous stretch against the
 * formulas of the papers, and the limits of collapse, inversion and degenerate input.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>

#include "energy_batch.h"

#ifdef SINEW_SINGLE
#define TOLERANCE 1e-5
#else
#define TOLERANCE 1e-12
#endif

typedef void variant_check(const sinew_simd_variant *simd);

static void for_variants(variant_check *check)
{
    int32_t count;
    const sinew_simd_variant *const *variants = sinew_simd_variants(&count);
    for (int32_t v = 0; v < count; v++) {
        random_state = 1;
        check(variants[v]);
    }
}

static int parameter(const sinew_energy_ops *ops, const char *name)
{
    for (int i = 0; i < ops->info.parameter_count; i++)
        if (strcmp(ops->info.parameters[i].name, name) == 0)
            return i;
    return -1;
}

static void assert_near(double a, double b, double scale, const char *what, const char *name)
{
    if (!(fabs(a - b) <= TOLERANCE * scale))
        fail_msg("%s of %s: %.17g, not %.17g (%.1e relative)", what, name, a, b, fabs(a - b) / scale);
}

typedef struct moduli {
    double mu, lambda;
} moduli;

static moduli lame(double young, double poisson)
{
    return (moduli){young / (2 * (1 + poisson)), young * poisson / ((1 + poisson) * (1 - 2 * poisson))};
}

/* ---- Linear elasticity at rest --------------------------------------------------------------------- */

/* H[12][12] of linear elasticity on a rest tetrahedron, from the gradients of its shape functions:
 * H_ab = V (mu (b_a.b_b 1 + b_b b_a^T) + lambda b_a b_b^T). */
static void linear_hessian(const double *rest, moduli m, double H[144])
{
    double b[4][3] = {{0}}, volume = 0;
    for (int a = 0; a < 4; a++) { /* b_a is normal to the face opposite of a, of length 1 / height */
        const double *p = rest + 3 * ((a + 1) % 4), *q = rest + 3 * ((a + 2) % 4), *r = rest + 3 * ((a + 3) % 4);
        double n[3], height = 0;
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            n[i] = (q[j] - p[j]) * (r[k] - p[k]) - (q[k] - p[k]) * (r[j] - p[j]);
        }
        for (int i = 0; i < 3; i++)
            height += n[i] * (rest[3 * a + i] - p[i]);
        for (int i = 0; i < 3; i++)
            b[a][i] = n[i] / height;
        volume = fabs(height) / 6;
    }
    for (int row = 0; row < 12; row++)
        for (int column = 0; column < 12; column++) {
            const double *x = b[row / 3], *y = b[column / 3];
            const int i = row % 3, k = column % 3;
            const double dot = x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
            H[12 * row + column] = volume * (m.mu * ((i == k ? dot : 0) + x[k] * y[i]) + m.lambda * x[i] * y[k]);
        }
}

static void check_rest_hessian(const sinew_simd_variant *simd, const sinew_energy_ops *ops, const sample *s, moduli m)
{
    double expected[144], H[144];
    sinew_real rounded[12];
    double rest[12];
    for (int i = 0; i < 12; i++) {
        rounded[i] = (sinew_real)s->rest[i];
        rest[i] = (double)rounded[i];
    }
    linear_hessian(rest, m, expected);
    batch b = batch_make(simd, ops, s, 1);
    for (int project = 0; project < 2; project++) {
        batch_linearise(&b, project);
        batch_hessian(&b, 0, H);
        for (int i = 0; i < 144; i++)
            assert_near(H[i], expected[i], m.mu + m.lambda, "Hessian at rest", ops->info.name);
    }
    batch_free(&b);
}

/* Whether a tet energy has the moduli of linear elasticity, or one stiffness; excludes energies such as fibres. */
static bool has_plain_moduli(const sinew_energy_ops *ops)
{
    int others = 0;
    for (int32_t i = 0; i < ops->info.parameter_count; i++)
        others += !ops->info.parameters[i].choices;
    others -= (parameter(ops, "young") >= 0) + (parameter(ops, "poisson") >= 0) + (parameter(ops, "stiffness") >= 0);
    return is_tet(&ops->info) && others == 0;
}

static void rest_hessians(const sinew_simd_variant *simd)
{
    for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++) {
        const sinew_energy_ops *ops = simd->energies[kind];
        if (!has_plain_moduli(ops))
            continue;
        for (int trial = 0; trial < 8; trial++) {
            sample s = sample_make(&ops->info, &states[0]);
            if (parameter(ops, "poisson") >= 0) {
                s.parameters[parameter(ops, "poisson")] = 0.06 * trial; /* 0 to 0.42 */
                check_rest_hessian(simd, ops, &s,
                                   lame((double)(sinew_real)s.parameters[parameter(ops, "young")],
                                        (double)(sinew_real)(0.06 * trial)));
            } else {
                const double k = (double)(sinew_real)s.parameters[parameter(ops, "stiffness")];
                check_rest_hessian(simd, ops, &s, (moduli){k / 2, 0});
            }
        }
    }
}

static void test_rest_hessian(void **context)
{
    (void)context;
    for_variants(rest_hessians);
}

/* The thesis's (3.15) has the effective Lame parameter lambda - mu at rest. */
static void unmatched(const sinew_simd_variant *simd)
{
    const sinew_energy_ops *ops = simd->energies[SINEW_ENERGY_NEO_HOOKEAN];
    sample s = sample_make(&ops->info, &states[0]);
    s.parameters[parameter(ops, "matched")] = 0;
    moduli m = lame((double)(sinew_real)s.parameters[0], (double)(sinew_real)s.parameters[1]);
    m.lambda -= m.mu;
    check_rest_hessian(simd, ops, &s, m);
    s.parameters[parameter(ops, "poisson")] = 0.125;
    sinew_real data[SINEW_DATA_MAX];
    assert_non_null(batch_prepare(ops, &s, data));
}

static void test_unmatched(void **context)
{
    (void)context;
    for_variants(unmatched);
}

/* ---- Homogeneous stretch ----------------------------------------------------------------------------- */

/* psi as published, up to a constant, and its derivative with respect to s[0]. */
typedef struct material {
    sinew_energy_kind kind;
    double (*psi)(const double s[3], moduli m);
    double (*stress)(const double s[3], moduli m);
} material;

static double square(double a)
{
    return a * a;
}

static double volume(const double s[3])
{
    return s[0] * s[1] * s[2];
}

static double norm(const double s[3])
{
    return s[0] * s[0] + s[1] * s[1] + s[2] * s[2];
}

static double strain_psi(const double s[3], moduli m)
{
    return m.mu * (square(s[0] - 1) + square(s[1] - 1) + square(s[2] - 1)); /* k/2 = mu */
}

static double strain_stress(const double s[3], moduli m)
{
    return 2 * m.mu * (s[0] - 1);
}

static double corotated_psi(const double s[3], moduli m)
{
    return strain_psi(s, m) + m.lambda / 2 * square(volume(s) - 1);
}

static double corotated_stress(const double s[3], moduli m)
{
    return strain_stress(s, m) + m.lambda * (volume(s) - 1) * s[1] * s[2];
}

static double neo_hookean_psi(const double s[3], moduli m)
{
    const double l = m.lambda + m.mu;
    return m.mu / 2 * norm(s) + l / 2 * square(volume(s) - 1 - m.mu / l);
}

static double neo_hookean_stress(const double s[3], moduli m)
{
    const double l = m.lambda + m.mu;
    return m.mu * s[0] + l * (volume(s) - 1 - m.mu / l) * s[1] * s[2];
}

static double log_psi(const double s[3], moduli m)
{
    return m.mu / 2 * (norm(s) - 3) - m.mu * log(volume(s)) + m.lambda / 2 * square(log(volume(s)));
}

static double log_stress(const double s[3], moduli m)
{
    return m.mu * s[0] - m.mu / s[0] + m.lambda * log(volume(s)) / s[0];
}

static double stable_psi(const double s[3], moduli m)
{
    const double mu = 4 * m.mu / 3, l = m.lambda + 5 * m.mu / 6;
    return mu / 2 * (norm(s) - 3) + l / 2 * square(volume(s) - 1 - 3 * mu / (4 * l)) - mu / 2 * log(1 + norm(s));
}

static double stable_stress(const double s[3], moduli m)
{
    const double mu = 4 * m.mu / 3, l = m.lambda + 5 * m.mu / 6;
    return mu * s[0] + l * (volume(s) - 1 - 3 * mu / (4 * l)) * s[1] * s[2] - mu * s[0] / (1 + norm(s));
}

static double kirchhoff_psi(const double s[3], moduli m)
{
    const double e[3] = {(s[0] * s[0] - 1) / 2, (s[1] * s[1] - 1) / 2, (s[2] * s[2] - 1) / 2};
    return m.mu * norm(e) + m.lambda / 2 * square(e[0] + e[1] + e[2]);
}

static double kirchhoff_stress(const double s[3], moduli m)
{
    return s[0] * (m.mu * (s[0] * s[0] - 1) + m.lambda / 2 * (norm(s) - 3));
}

static double linear_psi(const double s[3], moduli m)
{
    const double e[3] = {s[0] - 1, s[1] - 1, s[2] - 1};
    return m.mu * norm(e) + m.lambda / 2 * square(e[0] + e[1] + e[2]);
}

static double linear_stress(const double s[3], moduli m)
{
    return 2 * m.mu * (s[0] - 1) + m.lambda * (s[0] + s[1] + s[2] - 3);
}

/* As in CalculiX and Abaqus: C10 (J^-2/3 |F|^2 - 3) + 1/D1 (J - 1)^2, C10 = mu/2, D1 = 2/kappa. */
static double isochoric_psi(const double s[3], moduli m)
{
    const double C10 = m.mu / 2, D1 = 2 / (m.lambda + 2 * m.mu / 3), J = volume(s);
    return C10 * (pow(J, -2.0 / 3) * norm(s) - 3) + square(J - 1) / D1;
}

static double isochoric_stress(const double s[3], moduli m)
{
    const double C10 = m.mu / 2, D1 = 2 / (m.lambda + 2 * m.mu / 3), J = volume(s);
    return 2 * C10 * pow(J, -2.0 / 3) * (s[0] - norm(s) / (3 * s[0])) + 2 / D1 * (J - 1) * s[1] * s[2];
}

static const material materials[] = {
    {SINEW_ENERGY_STRAIN, strain_psi, strain_stress},
    {SINEW_ENERGY_COROTATED, corotated_psi, corotated_stress},
    {SINEW_ENERGY_NEO_HOOKEAN, neo_hookean_psi, neo_hookean_stress},
    {SINEW_ENERGY_NEO_HOOKEAN_LOG, log_psi, log_stress},
    {SINEW_ENERGY_STABLE_NEO_HOOKEAN, stable_psi, stable_stress},
    {SINEW_ENERGY_ST_VENANT_KIRCHHOFF, kirchhoff_psi, kirchhoff_stress},
    {SINEW_ENERGY_LINEAR, linear_psi, linear_stress},
    {SINEW_ENERGY_NEO_HOOKEAN_ISOCHORIC, isochoric_psi, isochoric_stress},
};
enum {
    MATERIAL_COUNT = sizeof materials / sizeof materials[0]
};

/* The stress-free stretch t of the free directions (one, or two equal ones), by bisection. */
static double free_stretch(const material *model, double s, bool uniaxial, moduli m)
{
    double low = 0.3, high = 1.7;
    for (int i = 0; i < 100; i++) {
        const double t = (low + high) / 2, along[3] = {t, s, uniaxial ? t : s};
        *(model->stress(along, m) > 0 ? &high : &low) = t;
    }
    return (low + high) / 2;
}

/* The kernels' value and P on F = diag(s): an element of rest shape "unit corner", whose nodal forces are w P. */
static void check_stretch(const sinew_simd_variant *simd, const material *model, const double s[3], double poisson)
{
    const sinew_energy_ops *ops = simd->energies[model->kind];
    static const double corner[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, rest[3] = {1, 1, 1}, t[3] = {0, 0, 0};
    sample one = sample_make(&ops->info, &states[0]);
    memcpy(one.rest, corner, sizeof corner);
    const double young = 3, F[9] = {s[0], 0, 0, 0, s[1], 0, 0, 0, s[2]};
    const moduli m = lame(young, (double)(sinew_real)poisson);
    one.parameters[0] = model->kind == SINEW_ENERGY_STRAIN ? 2 * m.mu : young;
    one.parameters[1] = poisson;
    sample_move(&one, F, t);
    batch b = batch_make(simd, ops, &one, 1);
    const double value = batch_gradient(&b), scale = (m.mu + m.lambda) / 6;
    assert_near(value, (model->psi(s, m) - model->psi(rest, m)) / 6, scale, "energy", ops->info.name);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double turned[3] = {s[i], s[(i + 1) % 3], s[(i + 2) % 3]};
            const double P = i == j ? model->stress(turned, m) : 0;
            assert_near((double)*batch_at(&b, b.g, 0, 3 * (j + 1) + i), P / 6, scale, "stress", ops->info.name);
        }
    batch_free(&b);
}

static void stretches(const sinew_simd_variant *simd)
{
    for (int i = 0; i < MATERIAL_COUNT; i++)
        for (int k = 0; k < 6; k++) {
            const double s = 0.8 + 0.1 * k, poisson = k % 2 ? 0.3 : 0.45;
            const moduli m = lame(3, (double)(sinew_real)poisson);
            const double t = free_stretch(&materials[i], s, true, m), u = free_stretch(&materials[i], s, false, m);
            const double uniaxial[3] = {s, t, t}, biaxial[3] = {s, s, u}, confined[3] = {s, 1, 1};
            check_stretch(simd, &materials[i], uniaxial, poisson);
            check_stretch(simd, &materials[i], biaxial, poisson);
            check_stretch(simd, &materials[i], confined, poisson);
        }
}

static void test_stretch(void **context)
{
    (void)context;
    for_variants(stretches);
}

/* The formulas above against closed forms of a free bar: a check of the reference itself. */
static void test_free_bar(void **context)
{
    (void)context;
    const double young = 3, poisson = 0.3, s = 1.2;
    const moduli m = lame(young, poisson);
    const double l = m.lambda + m.mu;
    double t = free_stretch(&materials[6], s, true, m);
    assert_true(fabs(t - (1 - poisson * (s - 1))) < 1e-14);
    assert_true(fabs(linear_stress((double[3]){s, t, t}, m) - young * (s - 1)) < 1e-13);
    t = free_stretch(&materials[5], s, true, m);
    assert_true(fabs(t * t - (1 - poisson * (s * s - 1))) < 1e-14);
    assert_true(fabs(kirchhoff_stress((double[3]){s, t, t}, m) - young / 2 * s * (s * s - 1)) < 1e-13);
    t = free_stretch(&materials[2], s, true, m);
    assert_true(fabs(s * t * t - (1 + m.mu / l * (1 - 1 / s))) < 1e-14);
}

/* ---- Springs, targets, weak constraints ----------------------------------------------------------------- */

static double length(const double *a, const double *b)
{
    return sqrt(square(a[0] - b[0]) + square(a[1] - b[1]) + square(a[2] - b[2]));
}

/* Their values as published. */
static double small_value(sinew_energy_kind kind, const sample *s)
{
    if (kind == SINEW_ENERGY_SPRING)
        return s->parameters[0] / 2 * square(length(s->x, s->x + 3) - s->parameters[1] * length(s->rest, s->rest + 3));
    if (kind == SINEW_ENERGY_POSITION)
        return s->parameters[0] / 2 * square(length(s->x, s->target));
    double C[3] = {0, 0, 0}, along = 0;
    for (int i = 0; i < 24; i++)
        C[i % 3] += s->weights[i / 3] * s->x[i];
    for (int i = 0; i < 3; i++)
        along += C[i] * s->normal[i];
    return s->parameters[0] / 2 * along * along + s->parameters[1] / 2 * (norm(C) - along * along);
}

static void small_values(const sinew_simd_variant *simd)
{
    static const sinew_energy_kind kinds[] = {SINEW_ENERGY_SPRING, SINEW_ENERGY_POSITION, SINEW_ENERGY_WEAK};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < STATE_COUNT; i++) {
            const sinew_energy_ops *ops = simd->energies[kinds[k]];
            sample s = sample_make(&ops->info, &states[i]);
            s.parameters[1] *= 0.75;
            batch b = batch_make(simd, ops, &s, 1);
            const double expected = small_value(kinds[k], &s);
            assert_near(batch_value(&b), expected, 1 + expected, "energy", ops->info.name);
            batch_free(&b);
        }
}

static void test_small(void **context)
{
    (void)context;
    for_variants(small_values);
}

/* ---- Edges -------------------------------------------------------------------------------------------- */

/* The log energy reports infinity for J <= 0 and has finite forces there. */
static void infinite(const sinew_simd_variant *simd)
{
    const sinew_energy_ops *ops = simd->energies[SINEW_ENERGY_NEO_HOOKEAN_LOG];
    sample pair[2] = {sample_make(&ops->info, &states[4]), sample_make(&ops->info, &states[8])};
    batch b = batch_make(simd, ops, pair, 2);
    assert_true(isinf(batch_value(&b)) && batch_value(&b) > 0);
    assert_true(isinf(batch_gradient(&b)));
    double force = 0;
    for (int i = 0; i < 24; i++) {
        assert_true(isfinite((double)*batch_at(&b, b.g, i / 12, i % 12)));
        force += i < 12 ? fabs((double)*batch_at(&b, b.g, 0, i)) : 0;
    }
    assert_true(force > 0);
    for (int project = 0; project < 2; project++) {
        double H[144];
        batch_linearise(&b, project);
        batch_hessian(&b, 1, H);
        for (int i = 0; i < 144; i++)
            assert_true(H[i] == 0);
    }
    batch_free(&b);
}

static void test_infinite(void **context)
{
    (void)context;
    for_variants(infinite);
}

/* Every other energy is finite at degenerate states: collapsed to a plane, a line, a point; sigma1 + sigma2 = 0. */
static void collapse(const sinew_simd_variant *simd)
{
    static const state worst[] = {{"plane", 1, {1, 1, 0}, 0},
                                  {"line", 1, {1, 0, 0}, 0},
                                  {"point", 1, {0, 0, 0}, 0},
                                  {"jump", 1, {1, 0.5, -0.5}, 0}};
    for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++)
        for (int i = 0; i < 4 && !simd->energies[kind]->barrier; i++) {
            const sinew_energy_ops *ops = simd->energies[kind];
            const sample one = sample_make(&ops->info, &worst[i]);
            batch b = batch_make(simd, ops, &one, 1);
            if (!isfinite(batch_gradient(&b)))
                fail_msg("%s, %s: the energy is not finite", ops->info.name, worst[i].name);
            for (int k = 0; k < b.size; k++)
                assert_true(isfinite((double)*batch_at(&b, b.g, 0, k)));
            for (int project = 0; project < 2; project++) {
                double H[SIZE_MAX3 * SIZE_MAX3];
                batch_linearise(&b, project);
                batch_hessian(&b, 0, H);
                for (int k = 0; k < b.size * b.size; k++)
                    assert_true(isfinite(H[k]));
            }
            batch_free(&b);
        }
}

static void test_collapse(void **context)
{
    (void)context;
    for_variants(collapse);
}

static void refusals(const sinew_simd_variant *simd)
{
    sinew_real data[SINEW_DATA_MAX];
    for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++) {
        const sinew_energy_ops *ops = simd->energies[kind];
        sample s = sample_make(&ops->info, &states[0]);
        assert_null(batch_prepare(ops, &s, data));
        if (!is_tet(&ops->info))
            continue;
        const double before = (double)data[0];
        for (int i = 0; i < 3; i++) { /* with reversed numbering it is the same tetrahedron */
            const double swap = s.rest[i];
            s.rest[i] = s.rest[3 + i];
            s.rest[3 + i] = swap;
        }
        assert_null(batch_prepare(ops, &s, data));
        assert_near((double)data[0], before, before, "weight", ops->info.name);
        for (int i = 0; i < 3; i++) /* flat: the fourth vertex lies in the plane of the others */
            s.rest[9 + i] = s.rest[i] + 0.25 * (s.rest[3 + i] - s.rest[i]) + 0.5 * (s.rest[6 + i] - s.rest[i]);
        assert_non_null(batch_prepare(ops, &s, data));
        s.rest[9] = (double)NAN;
        assert_non_null(batch_prepare(ops, &s, data));
    }
}

static void test_refusals(void **context)
{
    (void)context;
    for_variants(refusals);
}

/* ---- Layout -------------------------------------------------------------------------------------------- */

static void determinants(const sinew_simd_variant *simd)
{
    static const state three[] = {{"", 1, {2, 1.5, 1}, 0}, {"", 1, {1, 1, -0.5}, 0}, {"", 1, {1, 1, 1}, 0}};
    for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++) {
        const sinew_energy_ops *ops = simd->energies[kind];
        if (!is_tet(&ops->info))
            continue;
        sample samples[3];
        for (int i = 0; i < 3; i++)
            samples[i] = sample_make(&ops->info, &three[i]);
        batch b = batch_make(simd, ops, samples, 3);
        const sinew_kernel kernel = batch_kernel(&b, false);
        double smallest, largest;
        int32_t inverted;
        ops->determinants(&kernel, &smallest, &largest, &inverted);
        assert_near(smallest, -0.5, 1, "smallest determinant", ops->info.name);
        assert_near(largest, 3, 1, "largest determinant", ops->info.name);
        assert_int_equal(inverted, 1);
        batch_free(&b);
    }
}

static void test_determinants(void **context)
{
    (void)context;
    for_variants(determinants);
}

/* Elements of one group that share vertices are summed: all eight use the same four vertices. */
static void shared(const sinew_simd_variant *simd)
{
    for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++) {
        const sinew_energy_ops *ops = simd->energies[kind];
        sample samples[8];
        for (int e = 0; e < 8; e++)
            samples[e] = sample_make(&ops->info, &states[4]);
        batch b = batch_make(simd, ops, samples, 8);
        for (int e = 1; e < 8; e++) /* places every element on the first */
            for (int i = 0; i < b.size; i++)
                *batch_at(&b, b.x, e, i) = *batch_at(&b, b.x, 0, i);
        const double value = batch_gradient(&b);
        double sum[SIZE_MAX3] = {0};
        for (int e = 0; e < 8; e++)
            for (int i = 0; i < b.size; i++)
                sum[i] += (double)*batch_at(&b, b.g, e, i);
        for (int i = 0; i < b.group_count * b.vertex_count * b.width; i++)
            b.vertex[i] %= SINEW_POINT * b.vertex_count;
        assert_near(batch_gradient(&b), value, fabs(value), "shared value", ops->info.name);
        for (int i = 0; i < b.size; i++)
            assert_near((double)*batch_at(&b, b.g, 0, i), sum[i], 10 + fabs(value), "shared gradient", ops->info.name);
        batch_free(&b);
    }
}

static void test_shared(void **context)
{
    (void)context;
    for_variants(shared);
}

/* Values are summed in double in both precisions: the total equals the sum of single values to double's round-off. */
static void sums(const sinew_simd_variant *simd)
{
    enum {
        COUNT = 4096
    };
    sample *samples = malloc(COUNT * sizeof *samples);
    assert_non_null(samples);
    for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++) {
        const sinew_energy_ops *ops = simd->energies[kind];
        double expected = 0, size = 0;
        for (int e = 0; e < COUNT; e++)
            samples[e] = sample_make(&ops->info, &states[4]);
        batch all = batch_make(simd, ops, samples, COUNT);
        for (int e = 0; e < COUNT; e++) {
            batch one = batch_make(simd, ops, &samples[e], 1);
            const double value = batch_value(&one);
            expected += value;
            size += fabs(value);
            batch_free(&one);
        }
        const double sum = batch_value(&all);
        if (!(fabs(sum - expected) <= 1e-12 * size))
            fail_msg("%s, %s: the sum is %.17g, that of each %.17g", simd->name, ops->info.name, sum, expected);
        batch_free(&all);
    }
    free(samples);
}

static void test_sums(void **context)
{
    (void)context;
    for_variants(sums);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rest_hessian), cmocka_unit_test(test_unmatched),    cmocka_unit_test(test_stretch),
        cmocka_unit_test(test_free_bar),     cmocka_unit_test(test_infinite),     cmocka_unit_test(test_collapse),
        cmocka_unit_test(test_refusals),     cmocka_unit_test(test_determinants), cmocka_unit_test(test_shared),
        cmocka_unit_test(test_sums),         cmocka_unit_test(test_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
