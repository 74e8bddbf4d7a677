/* SPDX-License-Identifier: MIT
 *
 * test_jacobian.c: constraint values C, Jacobians and compliances of every energy that provides them, every SIMD
 * variant of this processor and every form, on random elements.
 *
 * References: the energy's own gradient, which must be sum C_i grad C_i / alpha_i; finite differences of C; and the
 * fused update, which must agree with thesis (4.27), (4.28) and XPBD (26):
 *
 *     dlambda = (-C - alpha~ lambda - gamma grad C . (x - x_old)) / ((1 + gamma) sum w |grad C|^2 + alpha~)
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dense_solve.h"
#include "random_cases.h"

#include "energy/registry.h"
#include "energy_batch.h"

#ifdef SINEW_SINGLE
#define CLOSE       2e-3 /* relative error of a few operations on strongly deformed states */
#define DIFFERENCES 0    /* floats have too few digits for finite differences */
#else
#define CLOSE       1e-8
#define DIFFERENCES 1
#endif

enum {
    ELEMENTS = 5,
    CONSTRAINTS = 6 /* maximum per element */
};

/* Constraint values of all elements of a batch. */
typedef struct numbers {
    sinew_real *C, *jacobian, *compliance;
} numbers;

/* A case: the energy and the options of the evaluation. */
typedef struct drawn {
    const sinew_energy_ops *ops;
    int width, form;
    bool hard;
    double compliance, stiffness, damping;
} drawn;

static const char *const form_names[] = {"root", "split", "incompressible", "energy", "combined"};

static numbers numbers_of(batch *b, const drawn *how)
{
    const size_t padded_count = (size_t)(b->group_count * b->width), m = (size_t)b->ops->constraint_count;
    const numbers n = {batch_array(padded_count * m, sizeof(sinew_real)),
                       batch_array(padded_count * m * (size_t)b->size, sizeof(sinew_real)),
                       batch_array(padded_count * m * m, sizeof(sinew_real))};
    const sinew_jacobian_kernel kernel = {.groups = {.count = b->group_count, .vertex = b->vertex, .data = b->data},
                                          .x = b->x,
                                          .form = how->form,
                                          .hard = how->hard,
                                          .C = n.C,
                                          .jacobian = n.jacobian,
                                          .compliance = n.compliance};
    b->ops->jacobian(&kernel);
    return n;
}

static void numbers_free(numbers *n)
{
    free(n->C);
    free(n->jacobian);
    free(n->compliance);
}

/* Entry `row` of the numbers of element e. */
static double number_at(const batch *b, const sinew_real *array, int e, int row, int rows)
{
    return (double)array[(e / b->width * rows + row) * b->width + e % b->width];
}

static double jacobian_at(const batch *b, const numbers *n, int e, int i, int row)
{
    return number_at(b, n->jacobian, e, i * b->size + row, b->ops->constraint_count * b->size);
}

/* Whether constraint i is active: a satisfied inequality is not. C = psi is zero there. */
static bool acts(const batch *b, const drawn *how, const numbers *n, int e, int i)
{
    return !(b->ops->inequalities >> i & 1) || how->form == SINEW_FORM_ENERGY ||
           number_at(b, n->C, e, i, b->ops->constraint_count) < 0;
}

static void failed(const batch *b, const drawn *how, int e, const char *what, double got, double wanted)
{
    fail_msg("%s, form %s, %s, width %d, element %d: %s is %.9g and not %.9g", b->ops->info.name, form_names[how->form],
             how->hard ? "hard" : "soft", b->width, e, what, got, wanted);
}

/* ---- Samples ------------------------------------------------------------------------------------- */

/* Distinct stretches, so that no C is near zero where its gradient jumps; sometimes inverted. */
static state draw_state(random_cases *r)
{
    state s = {.name = "drawn", .angle = random_between(r, 0, 3), .noise = 0.05};
    for (int i = 0; i < 3; i++)
        s.sigma[i] = random_between(r, 0.5, 0.8) + 0.35 * i;
    if (random_index(r, 5) == 0)
        s.sigma[0] = -s.sigma[0];
    return s;
}

static batch draw_batch(random_cases *r, const sinew_simd_variant *simd, const sinew_energy_ops *ops, bool *defined)
{
    sample samples[ELEMENTS];
    random_state = random_bits(r);
    *defined = true;
    for (int e = 0; e < ELEMENTS; e++) {
        const state s = draw_state(r);
        samples[e] = sample_make(&ops->info, &s);
        *defined &= !undefined_at(&ops->info, &s);
    }
    batch b = batch_make(simd, ops, samples, ELEMENTS);
    for (int i = 0; i < b.group_count * b.width * b.vertex_count; i++)
        b.x[4 * i + 3] = (sinew_real)random_between(r, 0.1, 2); /* inverse masses, for the update */
    return b;
}

/* ---- Small systems ------------------------------------------------------------------------------ */

static void compliance_of(const batch *b, const numbers *n, int e, double alpha[CONSTRAINTS][CONSTRAINTS])
{
    const int m = b->ops->constraint_count;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            alpha[i][j] = number_at(b, n->compliance, e, i * m + j, m * m);
}

/* Whether the constraints of an element share a compliance matrix; if so, they are solved together. */
static bool is_joined(batch *b, const drawn *how)
{
    drawn soft = *how;
    soft.hard = false;
    numbers n = numbers_of(b, &soft);
    const int m = b->ops->constraint_count;
    bool joined = false;
    for (int i = 0; i < m * m; i++)
        joined |= i / m != i % m && number_at(b, n.compliance, 0, i, m * m) != 0;
    numbers_free(&n);
    return joined;
}

/* ---- The energy's own gradient ------------------------------------------------------------------- */

/* grad psi = sum C_i grad C_i / alpha_i; springs and similar energies have C = 0 at rest and psi = C^2 / (2 alpha). */
static void check_gradient(batch *b, const drawn *how)
{
    numbers n = numbers_of(b, how);
    const int m = b->ops->constraint_count;
    batch_gradient(b);
    for (int e = 0; e < b->count; e++) {
        double scale = 0;
        for (int row = 0; row < b->size; row++)
            scale = fmax(scale, fabs((double)*batch_at(b, b->g, e, row)));
        double alpha[CONSTRAINTS][CONSTRAINTS], pull[CONSTRAINTS];
        compliance_of(b, &n, e, alpha);
        for (int i = 0; i < m; i++)
            pull[i] = number_at(b, n.C, e, i, m);
        dense_solve(&alpha[0][0], CONSTRAINTS, pull, m, 0);
        for (int row = 0; row < b->size; row++) {
            double sum = 0;
            for (int i = 0; i < m; i++)
                if (acts(b, how, &n, e, i))
                    sum += pull[i] * jacobian_at(b, &n, e, i, row);
            const double wanted = (double)*batch_at(b, b->g, e, row);
            if (!(fabs(sum - wanted) <= CLOSE * (scale + 1)))
                failed(b, how, e, "alpha^-1 C grad C", sum, wanted);
        }
    }
    numbers_free(&n);
}

/* ---- Finite differences -------------------------------------------------------------------------- */

/* Whether the slopes along one coordinate equal differences of C; fails the test if they do not and `last` is set. */
static bool slopes_agree(batch *b, const drawn *how, const numbers *n, int row, double step, bool last)
{
    const int m = b->ops->constraint_count;
    bool agree = true;
    numbers side[2]; /* at +step and -step */
    for (int k = 0; k < 2; k++) {
        for (int e = 0; e < b->count; e++)
            *batch_at(b, b->x, e, row) += (sinew_real)(k ? -2 * step : step);
        side[k] = numbers_of(b, how);
    }
    for (int e = 0; e < b->count; e++)
        *batch_at(b, b->x, e, row) += (sinew_real)step;
    for (int e = 0; e < b->count; e++)
        for (int i = 0; i < m; i++) {
            const double slope = jacobian_at(b, n, e, i, row), C = number_at(b, n->C, e, i, m);
            const double ahead = (number_at(b, side[0].C, e, i, m) - C) / step;
            const double behind = (C - number_at(b, side[1].C, e, i, m)) / step, difference = (ahead + behind) / 2;
            /* The curvature of a length grows as the length shrinks. */
            const double bend = C == 0 ? 0 : 10 * step * step / (C * C), near = 1e-4 * (1 + fabs(slope));
            if (fabs(difference - slope) <= 1e-6 * (1 + fabs(slope)) + bend)
                continue;
            /* On one side another part of the set may be the nearest. */
            if (last && (fabs(ahead - slope) <= near || fabs(behind - slope) <= near))
                continue;
            agree = false;
            if (last)
                failed(b, how, e, "a difference of C", difference, slope);
        }
    numbers_free(&side[0]);
    numbers_free(&side[1]);
    return agree;
}

/* Compares slopes with differences; a flat element has a high curvature and needs the shorter step. */
static void check_differences(batch *b, const drawn *how)
{
    numbers n = numbers_of(b, how);
    for (int row = 0; row < b->size; row++)
        if (!slopes_agree(b, how, &n, row, 1e-5, false))
            slopes_agree(b, how, &n, row, 1e-6, true);
    numbers_free(&n);
}

/* ---- The fused update ---------------------------------------------------------------------------- */

/* Updates one constraint of every element by the formula. */
static void move_by_hand(batch *b, const drawn *how, int i, const sinew_real *x_old, double lambda[][CONSTRAINTS])
{
    const int m = b->ops->constraint_count;
    numbers n = numbers_of(b, how);
    for (int e = 0; e < b->count; e++) {
        const double alpha = number_at(b, n.compliance, e, i * m + i, m * m);
        const double tilde = alpha * how->compliance, gamma = alpha * how->damping;
        double mass = 0, motion = 0;
        for (int row = 0; row < b->size; row++) {
            const double J = jacobian_at(b, &n, e, i, row);
            const sinew_real *x = batch_at(b, b->x, e, row);
            mass += (double)x[3 - row % 3] * J * J;
            motion += J * ((double)*x - (double)x_old[x - b->x]);
        }
        if (mass == 0 || !acts(b, how, &n, e, i)) /* a constraint that the form does not use, or that is inactive */
            continue;
        const double top = -number_at(b, n.C, e, i, m) - tilde * lambda[e][i] - gamma * motion;
        const double bottom = (1 + gamma) * mass + tilde, change = how->stiffness * top / bottom;
        lambda[e][i] += change;
        for (int row = 0; row < b->size; row++) {
            sinew_real *x = batch_at(b, b->x, e, row);
            *x = (sinew_real)((double)*x + (double)x[3 - row % 3] * jacobian_at(b, &n, e, i, row) * change);
        }
    }
    numbers_free(&n);
}

/* Updates all constraints of one element together, XPBD (26) with matrices: with gamma = b alpha
 *     ((1 + gamma) J W J^T + c alpha) dlambda = -C - c alpha lambda - gamma J (x - x_old) */
static void move_joined_element(batch *b, const drawn *how, const numbers *n, int e, const sinew_real *x_old,
                                double lambda[CONSTRAINTS])
{
    const int m = b->ops->constraint_count;
    double alpha[CONSTRAINTS][CONSTRAINTS], A[CONSTRAINTS][CONSTRAINTS] = {{0}}, M[CONSTRAINTS][CONSTRAINTS],
                                            motion[CONSTRAINTS] = {0}, t[CONSTRAINTS];
    compliance_of(b, n, e, alpha);
    for (int row = 0; row < b->size; row++) {
        const sinew_real *x = batch_at(b, b->x, e, row);
        for (int i = 0; i < m; i++) {
            motion[i] += jacobian_at(b, n, e, i, row) * ((double)*x - (double)x_old[x - b->x]);
            for (int j = 0; j < m; j++)
                A[i][j] += (double)x[3 - row % 3] * jacobian_at(b, n, e, i, row) * jacobian_at(b, n, e, j, row);
        }
    }
    for (int i = 0; i < m; i++) {
        t[i] = -number_at(b, n->C, e, i, m);
        for (int j = 0; j < m; j++) {
            t[i] -= alpha[i][j] * (how->compliance * lambda[j] + how->damping * motion[j]);
            M[i][j] = A[i][j] + how->compliance * alpha[i][j];
            for (int k = 0; k < m; k++)
                M[i][j] += how->damping * alpha[i][k] * A[k][j];
        }
    }
    dense_solve(&M[0][0], CONSTRAINTS, t, m, 0);
    for (int i = 0; i < m; i++) {
        lambda[i] += how->stiffness * t[i];
        for (int row = 0; row < b->size; row++) {
            sinew_real *x = batch_at(b, b->x, e, row);
            *x = (sinew_real)((double)*x +
                              (double)x[3 - row % 3] * jacobian_at(b, n, e, i, row) * how->stiffness * t[i]);
        }
    }
}

static void move_joined(batch *b, const drawn *how, const sinew_real *x_old, double lambda[][CONSTRAINTS])
{
    numbers n = numbers_of(b, how);
    for (int e = 0; e < b->count; e++)
        move_joined_element(b, how, &n, e, x_old, lambda[e]);
    numbers_free(&n);
}

/* The fused kernel gives the same positions and multipliers. */
static void move_fused(batch *b, const drawn *how, const sinew_real *x_old, double lambda[][CONSTRAINTS],
                       sinew_real *xw)
{
    const int m = b->ops->constraint_count, padded_count = b->group_count * b->width;
    sinew_real *multipliers = batch_array((size_t)(padded_count * m), sizeof *multipliers);
    for (int e = 0; e < b->count; e++)
        for (int i = 0; i < m; i++)
            multipliers[(e / b->width * m + i) * b->width + e % b->width] = (sinew_real)lambda[e][i];
    const sinew_constrain_kernel kernel = {.groups = {.count = b->group_count, .vertex = b->vertex, .data = b->data},
                                           .xw = xw,
                                           .lambda = multipliers,
                                           .compliance = (sinew_real)how->compliance,
                                           .stiffness = (sinew_real)how->stiffness,
                                           .x_old = how->damping > 0 ? x_old : NULL,
                                           .damping = (sinew_real)how->damping,
                                           .form = how->form};
    b->ops->constrain(&kernel);
    for (int e = 0; e < b->count; e++)
        for (int i = 0; i < m; i++)
            lambda[e][i] = number_at(b, multipliers, e, i, m);
    free(multipliers);
}

static void check_update(random_cases *r, batch *b, const drawn *how)
{
    const int m = b->ops->constraint_count, size = 4 * b->group_count * b->width * b->vertex_count;
    double by_hand[ELEMENTS][CONSTRAINTS] = {{0}}, fused[ELEMENTS][CONSTRAINTS];
    sinew_real *x_old = batch_array((size_t)size, sizeof *x_old), *xw = batch_array((size_t)size, sizeof *xw);
    for (int e = 0; e < b->count; e++)
        for (int i = 0; i < m; i++)
            by_hand[e][i] = how->hard ? 0 : random_between(r, -1e-3, 1e-3);
    for (int i = 0; i < size; i++)
        x_old[i] = b->x[i] + (sinew_real)random_between(r, -0.1, 0.1);
    memcpy(xw, b->x, (size_t)size * sizeof *xw);
    memcpy(fused, by_hand, sizeof fused);
    move_fused(b, how, x_old, fused, xw);
    if (is_joined(b, how))
        move_joined(b, how, x_old, by_hand);
    for (int i = 0; !is_joined(b, how) && i < m; i++)
        move_by_hand(b, how, i, x_old, by_hand);
    for (int e = 0; e < b->count; e++) {
        for (int row = 0; row < b->size; row++) {
            const sinew_real *x = batch_at(b, b->x, e, row);
            if (!(fabs((double)*x - (double)xw[x - b->x]) <= CLOSE))
                failed(b, how, e, "a moved coordinate", (double)xw[x - b->x], (double)*x);
        }
        for (int i = 0; i < m; i++)
            if (!(fabs(by_hand[e][i] - fused[e][i]) <= CLOSE * (1 + fabs(by_hand[e][i]))))
                failed(b, how, e, "a multiplier", fused[e][i], by_hand[e][i]);
    }
    free(x_old);
    free(xw);
}

/* ---- Cases --------------------------------------------------------------------------------------- */

/* Whether psi = 1/2 C^T alpha^-1 C (+ const) holds. Incompressible rubber has another psi, and an element has only its
 * contribution to a global constraint. */
static bool is_energy(const drawn *how)
{
    return !how->hard && !how->ops->global_constraint && how->form != SINEW_FORM_ENERGY &&
           how->form != SINEW_FORM_INCOMPRESSIBLE;
}

static void run_case(random_cases *r, const sinew_simd_variant *simd, const sinew_energy_ops *ops, int form)
{
    drawn how = {.ops = ops, .width = simd->width, .form = form, .stiffness = 1};
    const bool pair_of_constraints = form == SINEW_FORM_SPLIT || form == SINEW_FORM_INCOMPRESSIBLE;
    bool defined;
    how.hard = form == SINEW_FORM_ENERGY || (!pair_of_constraints && random_index(r, 3) == 0);
    if (how.hard)
        how.stiffness = random_between(r, 0.2, 1);
    else
        how.compliance = random_magnitude(r, 0.1, 100);
    if (!how.hard && random_index(r, 2) == 0)
        how.damping = random_magnitude(r, 0.01, 1);
    batch b = draw_batch(r, simd, ops, &defined);
    if (defined && is_energy(&how))
        check_gradient(&b, &how);
    if (DIFFERENCES)
        check_differences(&b, &how);
    if (ops->constrain)
        check_update(r, &b, &how);
    batch_free(&b);
}

static void numbers_are_what_the_update_does(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("constraints as numbers", 20, 1000);
    int32_t count;
    const sinew_simd_variant *const *variants = sinew_simd_variants(&count);
    for (int32_t i = 0; i < r.count; i++)
        for (int32_t v = 0; v < count; v++)
            for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++)
                for (int form = SINEW_FORM_ROOT; form <= SINEW_FORM_COMBINED; form++)
                    if (variants[v]->energies[kind]->info.capabilities & SINEW_CAN_JACOBIAN)
                        run_case(&r, variants[v], variants[v]->energies[kind], form);
}

/* Padding elements of a group have no constraint and divide nothing by zero. */
static void fillers_have_no_constraint(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("fillers", 1, 1);
    const sinew_simd_variant *simd = sinew_simd();
    for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++) {
        const drawn how = {.ops = simd->energies[kind], .form = SINEW_FORM_COMBINED};
        bool defined;
        if (!(how.ops->info.capabilities & SINEW_CAN_JACOBIAN))
            continue;
        batch b = draw_batch(&r, simd, how.ops, &defined);
        const int m = how.ops->constraint_count;
        numbers n = numbers_of(&b, &how);
        for (int e = b.count; e < b.group_count * b.width; e++)
            for (int i = 0; i < m; i++) {
                assert_true(number_at(&b, n.C, e, i, m) == 0);
                for (int j = 0; j < m; j++)
                    assert_true(number_at(&b, n.compliance, e, i * m + j, m * m) == (i == j));
                for (int row = 0; row < b.size; row++)
                    assert_true(jacobian_at(&b, &n, e, i, row) == 0);
            }
        numbers_free(&n);
        batch_free(&b);
    }
}

/* Energies declare correctly whether C is a square root; any other C changes its sign, as constraint systems need. */
static void roots_are_known(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("roots", 1, 1);
    const sinew_simd_variant *simd = sinew_simd();
    for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++) {
        const drawn how = {.ops = simd->energies[kind], .form = SINEW_FORM_ROOT, .hard = true};
        const int m = how.ops->constraint_count;
        int negative = 0;
        for (int draw = 0; draw < 40 && how.ops->info.capabilities & SINEW_CAN_JACOBIAN; draw++) {
            bool defined;
            batch b = draw_batch(&r, simd, how.ops, &defined);
            numbers n = numbers_of(&b, &how);
            for (int i = 0; i < b.count * m; i++)
                negative += number_at(&b, n.C, i / m, i % m, m) < 0;
            numbers_free(&n);
            batch_free(&b);
        }
        if (how.ops->info.capabilities & SINEW_CAN_JACOBIAN && how.ops->rooted != (negative == 0))
            fail_msg("%s: C was negative %d times, and it %s rooted", how.ops->info.name, negative,
                     how.ops->rooted ? "is" : "is not");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_what_the_update_does),
        cmocka_unit_test(fillers_have_no_constraint),
        cmocka_unit_test(roots_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
