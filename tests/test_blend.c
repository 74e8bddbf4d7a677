/* SPDX-License-Identifier: MIT
 *
 * test_blend.c: one blend of example shapes for a whole body (sinew/blend.h). A body in a blend of its examples gets
 * that blend's weights. No other weights have lower energy, as the world measures it. The energy minimised over weights
 * has the gradient of the energy at fixed optimal weights. Alternating solves and fits converge to one minimum of
 * positions and weights.
 */
#include <string.h>

#include "make_world.h"
#include "random_cases.h"
#include "sinew/blend.h"

#ifdef SINEW_SINGLE
#define SAME 1e-4
#define STEP 1e-2
#define NEAR 3e-2
#else
#define SAME 1e-10
#define STEP 1e-4
#define NEAR 1e-5
#endif

enum {
    EXAMPLES = 2,
    VERTICES = 4 * 3 * 3
};

/* A bar of 3 x 2 x 2 cells along x with two examples: random stretches and shears of its vertices. */
typedef struct blended {
    sinew_world *world;
    sinew_energy energy;
    sinew_body body;
    double E[EXAMPLES][9]; /* symmetric; constant or growing along x */
    double rest[3 * VERTICES];
} blended;

static void draw_examples(random_cases *r, blended *b)
{
    for (int k = 0; k < EXAMPLES; k++)
        for (int i = 0; i < 9; i++)
            b->E[k][i] = i / 3 <= i % 3 ? random_between(r, -0.3, 0.3) : b->E[k][3 * (i % 3) + i / 3];
}

/* (1 + sum_i w_i E_i) X of a point; `bend` adds a rotation that grows along x, so that F differs from tet to tet. */
static void place_point(const blended *b, const double *w, double bend, const double *X, sinew_real *x)
{
    double p[3];
    for (int i = 0; i < 3; i++) {
        p[i] = X[i];
        for (int k = 0; k < 3 * EXAMPLES; k++)
            p[i] += w[k / 3] * b->E[k / 3][3 * i + k % 3] * X[k % 3];
    }
    const double angle = bend * p[0];
    x[0] = (sinew_real)p[0];
    x[1] = (sinew_real)(cos(angle) * p[1] - sin(angle) * p[2]);
    x[2] = (sinew_real)(sin(angle) * p[1] + cos(angle) * p[2]);
}

static void place(const blended *b, const double *w, double bend, sinew_real *x)
{
    for (int i = 0; i < VERTICES; i++)
        place_point(b, w, bend, b->rest + 3 * i, x + 3 * i);
}

static blended blended_make(random_cases *r, sinew_solver_kind solver, bool still, double bend)
{
    blended b = {0};
    sinew_world_def def = sinew_default_world_def();
    def.quasistatic = still;
    def.gravity[1] = 0;
    def.solver = sinew_default_solver_def(solver);
    def.solver.iterations = 300;
    b.world = make_world(&def);
    sinew_mesh *mesh = make_beam(3, 2, 2, 1.5, 1, 1);
    for (int i = 0; i < 3 * VERTICES; i++)
        b.rest[i] = (double)sinew_mesh_positions(mesh)[i];
    draw_examples(r, &b);
    sinew_real shapes[EXAMPLES][3 * VERTICES];
    b.body = add_mesh(b.world, mesh, 1000, NULL, NULL);
    sinew_energy_def energy = sinew_default_energy_def(SINEW_ENERGY_EXAMPLES);
    energy.body = b.body;
    energy.parameters[0] = 100;
    energy.parameters[sinew_energy_parameter(energy.kind, "weights")] = 1;
    energy.example_count = EXAMPLES;
    energy.example_vertex_count = VERTICES;
    for (int k = 0; k < EXAMPLES; k++) {
        const double w[EXAMPLES] = {k == 0, k == 1};
        place(&b, w, bend, shapes[k]);
        energy.examples[k] = shapes[k];
    }
    b.energy = add_energy(b.world, &energy);
    sinew_mesh_destroy(mesh);
    return b;
}

/* The energy at x with fixed weights w. */
static double energy_at(const blended *b, const sinew_real *x, const double *w)
{
    static const char *const names[] = {"weight_1", "weight_2"};
    sinew_error error = {0};
    sinew_measures measures;
    sinew_world_set_positions(b->world, 0, VERTICES, x);
    for (int k = 0; k < EXAMPLES; k++)
        sinew_energy_set_parameter(b->world, b->energy, names[k], (sinew_real)w[k], &error);
    must(&error);
    assert_int_equal(sinew_world_measure(b->world, &measures), SINEW_OK);
    return measures.elastic;
}

static void fit_at(const blended *b, const sinew_real *x, double *w)
{
    sinew_error error = {0};
    double all[SINEW_EXAMPLE_MAX];
    sinew_world_set_positions(b->world, 0, VERTICES, x);
    assert_int_equal(sinew_energy_fit_blend(b->world, b->energy, all, &error), SINEW_OK);
    assert_true(all[EXAMPLES] == 0);
    memcpy(w, all, EXAMPLES * sizeof *w);
}

static void disturb(random_cases *r, double size, sinew_real *x)
{
    for (int i = 0; i < 3 * VERTICES; i++)
        x[i] += (sinew_real)random_between(r, -size, size);
}

/* ---- The fit -------------------------------------------------------------------------------------- */

static void a_blend_is_found_again(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("blends", 10, 500);
    for (int32_t i = 0; i < r.count; i++) {
        blended b = blended_make(&r, SINEW_SOLVER_NEWTON, false, 0);
        const double wanted[EXAMPLES] = {i == 0 ? 0.5 : random_between(&r, -0.6, 0.9),
                                         i == 0 ? 0 : random_between(&r, -0.6, 0.9)};
        sinew_real x[3 * VERTICES];
        double w[EXAMPLES];
        place(&b, wanted, 0, x);
        fit_at(&b, x, w);
        if (i == 0)
            printf("a bar halfway to its first example: w = %.15g, %.1e\n", w[0], w[1]);
        for (int k = 0; k < EXAMPLES; k++)
            assert_true(fabs(w[k] - wanted[k]) < 100 * SAME);
        sinew_world_destroy(b.world);
    }
}

/* Weights next to the best ones have a higher energy, with zero slope at the best ones. */
static void no_weights_are_better(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("weights", 10, 500);
    for (int32_t i = 0; i < r.count; i++) {
        blended b = blended_make(&r, SINEW_SOLVER_NEWTON, false, 0.4);
        sinew_real x[3 * VERTICES];
        double w[EXAMPLES];
        place(&b, (double[]){random_between(&r, 0, 1), random_between(&r, 0, 1)}, 0.3, x);
        disturb(&r, 0.05, x);
        fit_at(&b, x, w);
        const double min = energy_at(&b, x, w);
        for (int k = 0; k < 10; k++) {
            const double size = random_magnitude(&r, 1e-2, 1), angle = random_between(&r, 0, 6.2832);
            const double other[EXAMPLES] = {w[0] + size * cos(angle), w[1] + size * sin(angle)};
            const double back[EXAMPLES] = {2 * w[0] - other[0], 2 * w[1] - other[1]};
            const double up = energy_at(&b, x, other), down = energy_at(&b, x, back);
            assert_true(size > 0.3 || (up > min * (1 - SAME) && down > min * (1 - SAME)));
            /* a parabola about w, up to cubic terms of the small displacement */
            assert_true(size > 0.05 || fabs(up - down) < 0.3 * (up + down - 2 * min) + NEAR * min);
        }
        sinew_world_destroy(b.world);
    }
}

/* m(x) = min_w psi(x, w): dm/dx equals dpsi/dx at fixed best w. */
static void gradients_are_those_with_weights_given(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("envelopes", 10, 500);
    for (int32_t i = 0; i < r.count; i++) {
        blended b = blended_make(&r, SINEW_SOLVER_NEWTON, false, 0.4);
        sinew_real x[3 * VERTICES], d[3 * VERTICES] = {0}, at[3 * VERTICES];
        double w[EXAMPLES], fitted[2], given[2];
        place(&b, (double[]){random_between(&r, 0, 1), random_between(&r, 0, 1)}, 0.3, x);
        disturb(&r, 0.05, x);
        disturb(&r, 1, d);
        fit_at(&b, x, w);
        for (int side = 0; side < 2; side++) {
            double moved[EXAMPLES];
            for (int k = 0; k < 3 * VERTICES; k++)
                at[k] = x[k] + (sinew_real)(side ? STEP : -STEP) * d[k];
            fit_at(&b, at, moved);
            fitted[side] = energy_at(&b, at, moved);
            given[side] = energy_at(&b, at, w);
        }
        const double slope = (fitted[1] - fitted[0]) / (2 * STEP), wanted = (given[1] - given[0]) / (2 * STEP);
        assert_true(fabs(slope - wanted) <= NEAR * (fabs(wanted) + fitted[0] + fitted[1]));
        sinew_world_destroy(b.world);
    }
}

/* ---- Alternating solves and fits -------------------------------------------------------------------- */

/* Pins the bar's ends at 0.7 of the displacement to its first example, one end with an offset, so that no blend fits.
 */
static void hold_ends(const blended *b)
{
    sinew_real x[3 * VERTICES], targets[3 * VERTICES];
    int32_t held[VERTICES], count = 0;
    place(b, (double[]){0.7, 0}, 0, x);
    for (int i = 0; i < VERTICES; i++)
        if (fabs(b->rest[3 * i]) > 0.74) {
            memcpy(targets + 3 * (size_t)count, x + 3 * (size_t)i, 3 * sizeof *x);
            targets[3 * count + 1] += (sinew_real)(b->rest[3 * i] > 0 ? 0.3 : 0);
            held[count++] = i;
        }
    add_pins(b->world, b->body, held, count, targets);
}

static double step_energy(const blended *b)
{
    sinew_measures measures = {0};
    sinew_world_step(b->world, NULL);
    assert_int_equal(sinew_world_measure(b->world, &measures), SINEW_OK);
    return measures.elastic;
}

/* Alternates steps and fits until the weights converge; the energy never increases. Returns the energy. */
static double take_turns(uint64_t seed, sinew_solver_kind solver, double *w, int *turns)
{
    random_cases r = {.state = seed};
    blended b = blended_make(&r, solver, true, 0);
    sinew_error error = {0};
    double last = HUGE_VAL, before = HUGE_VAL, change = HUGE_VAL;
    hold_ends(&b);
    for (*turns = 0; *turns < 400 && change > SAME; ++*turns) {
        const double energy = step_energy(&b);
        assert_true(*turns == 0 || energy <= last * (1 + 100 * SAME));
        last = energy;
        assert_int_equal(sinew_energy_follow_blend(b.world, b.energy, w, &error), SINEW_OK);
        change = fabs(w[0] - before);
        before = w[0];
    }
    sinew_world_destroy(b.world);
    return last;
}

/* The minimal energy, by Newton, with weight `which` changed by `by`. */
static double energy_beside(uint64_t seed, const double *w, int which, double by)
{
    static const char *const names[] = {"weight_1", "weight_2"};
    random_cases r = {.state = seed};
    blended b = blended_make(&r, SINEW_SOLVER_NEWTON, true, 0);
    hold_ends(&b);
    for (int k = 0; k < EXAMPLES; k++)
        sinew_energy_set_parameter(b.world, b.energy, names[k], (sinew_real)(w[k] + (k == which ? by : 0)), NULL);
    const double energy = step_energy(&b);
    sinew_world_destroy(b.world);
    return energy;
}

static void solvers_come_to_one_blend(void **unused)
{
    (void)unused;
    const sinew_solver_kind solvers[] = {SINEW_SOLVER_NEWTON, SINEW_SOLVER_QN, SINEW_SOLVER_PD, SINEW_SOLVER_ADMM,
                                         SINEW_SOLVER_PBNG};
    random_cases r = random_cases_begin("turns", 1, 20);
    for (int32_t i = 0; i < r.count; i++) {
        const uint64_t seed = random_bits(&r);
        double w[5][SINEW_EXAMPLE_MAX], energy[5];
        for (int k = 0; k < 5; k++) {
            int turns;
            energy[k] = take_turns(seed, solvers[k], w[k], &turns);
            printf("    %-6s: w = %.7f %.7f, %.7g J after %d turns\n", sinew_get_solver_info(solvers[k])->name, w[k][0],
                   w[k][1], energy[k], turns);
            assert_true(fabs(energy[k] / energy[0] - 1) < NEAR);
            assert_true(fabs(w[k][0] - w[0][0]) < 100 * NEAR && fabs(w[k][1] - w[0][1]) < 100 * NEAR);
        }
        for (int k = 0; k < 2 * EXAMPLES; k++)
            assert_true(energy_beside(seed, w[0], k / 2, k % 2 ? 0.1 : -0.1) > energy[0]);
    }
}

static void refusals_say_why(void **unused)
{
    (void)unused;
    random_cases r = {.state = 1};
    sinew_error error = {0};
    double w[SINEW_EXAMPLE_MAX];
    blended b = blended_make(&r, SINEW_SOLVER_NEWTON, false, 0);
    sinew_energy strain = add_material(b.world, b.body, SINEW_ENERGY_STRAIN, 100, 0);
    assert_int_not_equal(sinew_energy_fit_blend(b.world, strain, w, &error), SINEW_OK);
    assert_non_null(strstr(error.text, "without example shapes"));
    sinew_energy_set_parameter(b.world, b.energy, "weights", 0, NULL);
    assert_int_not_equal(sinew_energy_follow_blend(b.world, b.energy, NULL, &error), SINEW_OK);
    assert_non_null(strstr(error.text, "given"));
    sinew_world_destroy(b.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_blend_is_found_again),
                                       cmocka_unit_test(no_weights_are_better),
                                       cmocka_unit_test(gradients_are_those_with_weights_given),
                                       cmocka_unit_test(solvers_come_to_one_blend), cmocka_unit_test(refusals_say_why)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
