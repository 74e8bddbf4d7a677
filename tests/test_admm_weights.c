/* SPDX-License-Identifier: MIT
 *
 * test_admm_weights.c: the weight that ADMM chooses by itself against a scan of weights chosen by hand.
 *
 * The untwisting beam of the thesis (5.5): twisted ends let go, one step, all pairs of four time steps and eight
 * stiffnesses. Iterations until the objective stays within 1e-4 of the way from its start to Newton's minimum; the
 * automatic weight may need at most half as many again as the best of the scan. Neo-Hookean: it converges.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sinew/sinew.h"

enum {
    MOST = 300,     /* iterations of a scan */
    MOST_NEO = 1500 /* of a neo-Hookean step */
};

#ifdef SINEW_SINGLE
static const double near = 1e-3; /* of the way; round-off of 32-bit positions hides less than this */
static const double stiffest = 1e7;
#else
static const double near = 1e-4;
static const double stiffest = 1e12;
#endif

typedef struct beam {
    sinew_mesh *mesh;
    int32_t count;
    sinew_real *start; /* [3 count] the equilibrium between ends turned against each other */
} beam;

typedef struct problem {
    sinew_energy_kind kind;
    double h, modulus;
    bool held; /* quasistatic, the ends pinned */
} problem;

static sinew_world *world_of(const beam *b, const problem *p, const sinew_real *positions,
                             const sinew_solver_def *solver)
{
    sinew_error error = {.status = SINEW_OK};
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)p->h;
    def.quasistatic = p->held;
    memset(def.gravity, 0, sizeof def.gravity);
    def.solver = *solver;
    def.thread_count = 1;
    sinew_world *world = sinew_world_create(&def, &error);
    assert_non_null(world);
    sinew_body_def body = sinew_default_body_def();
    body.mesh = b->mesh;
    body.positions = positions;
    sinew_energy_def energy = sinew_default_energy_def(p->kind);
    energy.body = sinew_world_add_body(world, &body, &error);
    energy.parameters[0] = (sinew_real)p->modulus;
    if (p->kind != SINEW_ENERGY_STRAIN)
        energy.parameters[1] = (sinew_real)0.45;
    sinew_world_add_energy(world, &energy, &error);
    int32_t *held = malloc((size_t)b->count * sizeof *held);
    for (int side = -1; p->held && side <= 1; side += 2) {
        const sinew_region end = {
            .kind = SINEW_REGION_HALF_SPACE, .a = {(sinew_real)(1.5 * side), 0, 0}, .b = {(sinew_real)side, 0, 0}};
        sinew_pin_def pin = sinew_default_pin_def();
        pin.body = energy.body;
        pin.vertices = held;
        pin.vertex_count = sinew_region_select(&end, sinew_mesh_positions(b->mesh), b->count, held, b->count);
        sinew_world_add_pins(world, &pin, &error);
    }
    free(held);
    assert_int_equal(error.status, SINEW_OK);
    return world;
}

static sinew_solver_def newton(double tolerance)
{
    sinew_solver_def def = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    def.tolerance = (sinew_real)tolerance;
    def.iterations = 300;
    return def;
}

/* A beam of 3 x 1 x 1 m, its ends turned by a quarter turn each, against each other. */
static beam make_beam(sinew_energy_kind kind)
{
    sinew_error error;
    sinew_beam_def def = sinew_default_beam_def();
    def.cells[0] = 12;
    def.cells[1] = def.cells[2] = 2;
    beam b = {.mesh = sinew_mesh_beam(&def, &error)};
    assert_non_null(b.mesh);
    b.count = sinew_mesh_vertex_count(b.mesh);
    const sinew_real *X = sinew_mesh_positions(b.mesh);
    sinew_real *turned = malloc(3 * (size_t)b.count * sizeof *turned);
    b.start = malloc(3 * (size_t)b.count * sizeof *b.start);
    for (int32_t i = 0; i < b.count; i++) {
        const double angle = 3.14159265358979 * (double)X[3 * i] / 3, y = (double)X[3 * i + 1],
                     z = (double)X[3 * i + 2];
        turned[3 * i] = X[3 * i];
        turned[3 * i + 1] = (sinew_real)(cos(angle) * y - sin(angle) * z);
        turned[3 * i + 2] = (sinew_real)(sin(angle) * y + cos(angle) * z);
    }
    const sinew_solver_def solver = newton(1e-8);
    sinew_world *world = world_of(&b, &(problem){.kind = kind, .h = 1, .modulus = 1e5, .held = true}, turned, &solver);
    sinew_world_step(world, NULL);
    sinew_world_get_positions(world, 0, b.count, b.start);
    sinew_world_destroy(world);
    free(turned);
    return b;
}

static void drop_beam(beam *b)
{
    sinew_mesh_destroy(b->mesh);
    free(b->start);
}

/* The objective at the start and at the minimum. */
static void ends_of(const beam *b, const problem *p, double *first, double *least)
{
    const sinew_solver_def solver = newton(1e-10);
    sinew_step_result result;
    sinew_world *world = world_of(b, p, b->start, &solver);
    assert_int_equal(sinew_world_objective(world, b->start, first, NULL), SINEW_OK);
    sinew_world_step(world, &result);
    *least = result.objective;
    sinew_world_destroy(world);
}

/* Iterations after which the objective stays near the minimum; -1: not within `most`. weight 0: automatic. */
static int iterations_of(const beam *b, const problem *p, double weight, int most, double first, double least)
{
    sinew_solver_def def = sinew_default_solver_def(SINEW_SOLVER_ADMM);
    def.tolerance = 0;
    def.iterations = most;
    def.record = SINEW_RECORD_ITERATIONS;
    def.parameters[sinew_solver_parameter(SINEW_SOLVER_ADMM, "weight")] = (sinew_real)weight;
    sinew_world *world = world_of(b, p, b->start, &def);
    sinew_world_step(world, NULL);
    int32_t rows, needed = -1;
    const sinew_iteration *rows_of = sinew_world_iterations(world, &rows);
    for (int32_t i = rows - 1; i >= 0 && rows_of[i].objective - least <= near * (first - least); i--)
        needed = rows_of[i].iteration;
    sinew_world_destroy(world);
    return needed;
}

static void test_automatic_is_near_the_best(void **state)
{
    (void)state;
    const double scan[] = {1, 0.6, 0.4, 0.3, 0.2, 0.8, 1.4, 0.5, 2};
    beam b = make_beam(SINEW_ENERGY_STRAIN);
    double worst = 0;
    for (double h = 1e-1; h > 0.9e-4; h /= 10)
        for (double k = 1e5; k < 1.1 * stiffest; k *= 10) {
            const problem p = {.kind = SINEW_ENERGY_STRAIN, .h = h, .modulus = k};
            double first, least;
            ends_of(&b, &p, &first, &least);
            int best = MOST;
            for (size_t i = 0; i < sizeof scan / sizeof scan[0]; i++) {
                const int needed = iterations_of(&b, &p, scan[i], best, first, least);
                best = needed >= 0 && needed < best ? needed : best;
            }
            const int automatic = iterations_of(&b, &p, 0, 2 * best + 2, first, least);
            print_message("h %-6g k %-6g best by hand %3d, automatic %3d\n", h, k, best, automatic);
            assert_true(automatic >= 0);
            assert_true(automatic <= 1.5 * best);
            worst = fmax(worst, (double)automatic / best);
        }
    print_message("at most %.2f times the iterations of the best weight\n", worst);
    drop_beam(&b);
}

static void test_neo_hookean_converges(void **state)
{
    (void)state;
    beam b = make_beam(SINEW_ENERGY_NEO_HOOKEAN);
    for (double h = 1e-1; h > 0.9e-3; h /= 10)
        for (double E = 1e5; E < 1.1 * fmin(stiffest, 1e9); E *= 10) {
            const problem p = {.kind = SINEW_ENERGY_NEO_HOOKEAN, .h = h, .modulus = E};
            double first, least;
            ends_of(&b, &p, &first, &least);
            const int needed = iterations_of(&b, &p, 0, MOST_NEO, first, least);
            print_message("neo_hookean h %-6g E %-6g automatic %4d\n", h, E, needed);
            assert_true(needed >= 0);
        }
    drop_beam(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_automatic_is_near_the_best),
                                       cmocka_unit_test(test_neo_hookean_converges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
