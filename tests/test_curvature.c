/* SPDX-License-Identifier: MIT
 *
 * test_curvature.c: second derivatives of constraints for every energy that provides them, every SIMD variant of this
 * processor and every form, on random elements at rest, rotated, stretched, squashed and inverted.
 *
 * Reference: central differences of the Jacobian, sum_i lambda_i (J_i(x + h) - J_i(x - h)) / 2h. Blocks are also
 * symmetric, linear in lambda, and zero for elements of weight zero.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "random_cases.h"

#include "energy/registry.h"
#include "energy_batch.h"

#ifdef SINEW_SINGLE
#define STEP  4e-3
#define CLOSE 2e-2 /* of the largest entry: a difference of floats keeps half of their digits */
#else
#define STEP  1e-5
#define CLOSE 1e-6
#endif

enum {
    ELEMENTS = 5,
    CONSTRAINTS = 8 /* maximum per element */
};

/* Inputs and outputs of one evaluation: the constraint form, hard or compliant, and its arrays. */
typedef struct drawn {
    int form;
    bool hard;
    sinew_real *C, *jacobian, *compliance, *lambda;
} drawn;

static drawn drawn_make(random_cases *r, const batch *b, int form)
{
    const size_t padded_count = (size_t)(b->group_count * b->width), m = (size_t)b->ops->constraint_count;
    drawn d = {.form = form, .hard = random_index(r, 3) == 0, .C = batch_array(padded_count * m, sizeof(sinew_real))};
    d.jacobian = batch_array(padded_count * m * (size_t)b->size, sizeof(sinew_real));
    d.compliance = batch_array(padded_count * m * m, sizeof(sinew_real));
    d.lambda = batch_array(padded_count * m, sizeof(sinew_real));
    for (size_t i = 0; i < padded_count * m; i++)
        d.lambda[i] = (sinew_real)random_between(r, -2, 2);
    return d;
}

static void drawn_free(drawn *d)
{
    free(d->C);
    free(d->jacobian);
    free(d->compliance);
    free(d->lambda);
}

static sinew_jacobian_kernel kernel_of(const batch *b, const drawn *d)
{
    return (sinew_jacobian_kernel){.groups = {.count = b->group_count, .vertex = b->vertex, .data = b->data},
                                   .x = b->x,
                                   .form = d->form,
                                   .hard = d->hard,
                                   .C = d->C,
                                   .jacobian = d->jacobian,
                                   .compliance = d->compliance,
                                   .lambda = d->lambda,
                                   .blocks = b->blocks};
}

/* sum_i lambda_i dC_i/dx_row of element e. */
static double pull_at(const batch *b, const drawn *d, int e, int row)
{
    const int m = b->ops->constraint_count, group = e / b->width, wide = e % b->width;
    double sum = 0;
    for (int i = 0; i < m; i++)
        sum += (double)d->lambda[(group * m + i) * b->width + wide] *
               (double)d->jacobian[((group * m + i) * b->size + row) * b->width + wide];
    return sum;
}

/* Column `column` of the finite differences for all elements: D[element][row][column]. */
static void differ(const batch *b, const drawn *d, int column, double *D)
{
    const sinew_jacobian_kernel kernel = kernel_of(b, d);
    double width[ELEMENTS];
    for (int side = 0; side < 2; side++) {
        for (int e = 0; e < b->count; e++) {
            sinew_real *x = batch_at(b, b->x, e, column);
            const sinew_real moved = *x + (sinew_real)(side ? -2 * STEP : STEP);
            width[e] = side ? width[e] - (double)moved : (double)moved;
            *x = moved;
        }
        b->ops->jacobian(&kernel);
        for (int e = 0; e < b->count; e++)
            for (int row = 0; row < b->size; row++)
                D[(e * b->size + row) * b->size + column] += (side ? -1 : 1) * pull_at(b, d, e, row);
    }
    for (int e = 0; e < b->count; e++) {
        *batch_at(b, b->x, e, column) += (sinew_real)STEP;
        for (int row = 0; row < b->size; row++)
            D[(e * b->size + row) * b->size + column] /= width[e];
    }
}

static void compare(const batch *b, const drawn *d, const char *name, const double *D)
{
    double H[SIZE_MAX3 * SIZE_MAX3];
    for (int e = 0; e < b->count; e++) {
        const double *wanted = D + e * b->size * b->size;
        double max = 1;
        for (int i = 0; i < b->size * b->size; i++)
            max = fmax(max, fabs(wanted[i]));
        batch_hessian(b, e, H);
        for (int i = 0; i < b->size * b->size; i++) {
            const double mirrored = H[i % b->size * b->size + i / b->size];
            if (!(fabs(H[i] - wanted[i]) <= CLOSE * max) || !(fabs(H[i] - mirrored) <= 1e-5 * max))
                fail_msg("%s, %s, form %d, width %d, element %d, entry %d %d: %.9g, differences %.9g, mirrored %.9g",
                         b->ops->info.name, name, d->form, b->width, e, i / b->size, i % b->size, H[i], wanted[i],
                         mirrored);
        }
    }
}

static void check_fillers(const batch *b)
{
    double H[SIZE_MAX3 * SIZE_MAX3];
    for (int e = b->count; e < b->group_count * b->width; e++) {
        batch_hessian(b, e, H);
        for (int i = 0; i < b->size * b->size; i++)
            if (!(H[i] == 0))
                fail_msg("%s: an element of weight zero has the second derivative %g", b->ops->info.name, H[i]);
    }
}

/* False where C is zero and its gradient jumps (|z| = 0, square root of psi at rest): there is nothing to compare. */
static bool smooth_at(const sinew_energy_ops *ops, const state *s, int form)
{
    const bool stretched = fabs(s->sigma[0] - 1) + fabs(s->sigma[1] - 1) + fabs(s->sigma[2] - 1) > 0.2 || s->noise > 0;
    const bool rooted = ops->info.stencil == SINEW_STENCIL_TET && form != SINEW_FORM_SPLIT;
    const bool distance = ops->info.stencil == SINEW_STENCIL_VERTEX || ops->info.stencil == SINEW_STENCIL_PAIR;
    /* Half the square of a one-sided constraint has a kink in its slope where it becomes active. */
    if (ops->inequalities && form == SINEW_FORM_ENERGY)
        return false;
    return stretched || !(rooted || distance);
}

static void run_case(random_cases *r, const sinew_simd_variant *simd, const sinew_energy_ops *ops, int form)
{
    const state *s = &states[random_index(r, STATE_COUNT)];
    sample samples[ELEMENTS];
    if (!smooth_at(ops, s, form))
        return;
    random_state = random_bits(r);
    for (int e = 0; e < ELEMENTS; e++) {
        samples[e] = sample_make(&ops->info, s);
        for (int i = 0; i < 3; i++)
            samples[e].target[i] += 0.5; /* away from the point where a distance has no direction */
    }
    batch b = batch_make(simd, ops, samples, ELEMENTS);
    drawn d = drawn_make(r, &b, form);
    double *D = batch_array((size_t)(ELEMENTS * b.size * b.size), sizeof *D);
    const sinew_jacobian_kernel kernel = kernel_of(&b, &d);
    assert_true(ops->constraint_count <= CONSTRAINTS);
    for (int column = 0; column < b.size; column++)
        differ(&b, &d, column, D);
    ops->curvature(&kernel);
    compare(&b, &d, s->name, D);
    check_fillers(&b);
    free(D);
    drawn_free(&d);
    batch_free(&b);
}

static void curvature_is_the_change_of_the_jacobian(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("second derivatives of constraints", 12, 1000);
    int32_t count;
    const sinew_simd_variant *const *variants = sinew_simd_variants(&count);
    for (int32_t i = 0; i < r.count; i++)
        for (int32_t v = 0; v < count; v++)
            for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++)
                for (int form = SINEW_FORM_ROOT; form < SINEW_FORM_COUNT; form++)
                    if (variants[v]->energies[kind]->curvature)
                        run_case(&r, variants[v], variants[v]->energies[kind], form);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curvature_is_the_change_of_the_jacobian),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
