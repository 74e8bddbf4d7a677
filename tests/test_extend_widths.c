/* SPDX-License-Identifier: MIT
 *
 * test_extend_widths.c: operations of a registered energy over tets give the same numbers in groups of the width of the
 * process and one by one; determinants are those of the deformation.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>

#include "energy/registry.h"
#include "energy_batch.h"

/* test_extend.c, which may be in the same program, has the example under its own name. */
#define fibre_energy fibre_energy_of_widths
#include "../examples/extend/extend_energy.c"

#ifdef SINEW_SINGLE
#define CLOSE 1e-5
#else
#define CLOSE 1e-12
#endif

enum {
    MANY = 11
}; /* leaves a partly filled group at every width above 1 */

typedef struct outcome {
    double value, smallest, largest, g[MANY * 12], H[MANY * 144];
    int32_t inverted;
} outcome;

static void compute(const sinew_simd_variant *simd, const sinew_energy_ops *ops, const sample *samples, outcome *o)
{
    batch b = batch_make(simd, ops, samples, MANY);
    o->value = batch_gradient(&b);
    assert_true(fabs(batch_value(&b) - o->value) <= CLOSE * fabs(o->value));
    for (int i = 0; i < MANY * 12; i++)
        o->g[i] = (double)*batch_at(&b, b.g, i / 12, i % 12);
    batch_linearise(&b, false);
    for (int e = 0; e < MANY; e++)
        batch_hessian(&b, e, o->H + 144 * e);
    const sinew_kernel kernel = batch_kernel(&b, false);
    o->smallest = INFINITY;
    o->largest = -INFINITY;
    o->inverted = 0;
    ops->determinants(&kernel, &o->smallest, &o->largest, &o->inverted);
    batch_free(&b);
}

static double volume_of(const double *x)
{
    double e[3][3];
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < 3; k++)
            e[a][k] = x[3 * (a + 1) + k] - x[k];
    return (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) + e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
            e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
           6;
}

static void assert_close(const double *a, const double *b, int count)
{
    double scale = 0;
    for (int i = 0; i < count; i++)
        scale = fmax(scale, fabs(a[i]));
    for (int i = 0; i < count; i++)
        assert_true(fabs(a[i] - b[i]) <= CLOSE * scale);
}

static void widths_agree(void **context)
{
    (void)context;
    static outcome wide, narrow;
    int32_t count;
    sinew_error error = {0};
    const sinew_simd_variant *scalar = sinew_simd_variants(&count)[count - 1];
    const sinew_energy_extension extension = fibre_energy();
    const sinew_energy_kind kind = sinew_register_energy(&extension, &error);
    assert_int_equal(error.status, SINEW_OK);
    const sinew_energy_ops *ops = sinew_energy_get_ops(kind);
    double low = INFINITY, high = -INFINITY;
    int32_t inverted = 0;
    sample samples[MANY];
    random_state = 7;
    for (int e = 0; e < MANY; e++) {
        samples[e] = sample_make(&ops->info, &states[e % STATE_COUNT]);
        const double det = volume_of(samples[e].x) / volume_of(samples[e].rest);
        low = fmin(low, det);
        high = fmax(high, det);
        inverted += det <= 0;
    }
    compute(sinew_simd(), ops, samples, &wide);
    compute(scalar, sinew_energy_scalar(ops), samples, &narrow);
    assert_close(&wide.value, &narrow.value, 1);
    assert_close(wide.g, narrow.g, MANY * 12);
    assert_close(wide.H, narrow.H, MANY * 144);
    const outcome *both[2] = {&wide, &narrow};
    for (int k = 0; k < 2; k++) {
        assert_true(fabs(both[k]->smallest - low) < CLOSE * 10 && fabs(both[k]->largest - high) < CLOSE * 10);
        assert_int_equal(both[k]->inverted, inverted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(widths_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
