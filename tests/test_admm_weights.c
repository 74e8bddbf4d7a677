/* SPDX-License-Identifier: MIT
 *
 * test_admm_weights.c: ADMM's automatic weight against a scan of fixed weights.
 *
 * Scene: the untwisting beam of the thesis (5.5, docs/evidence/thesis.md), one step from twisted ends, for all pairs of
 * four time steps and eight stiffnesses. Measured: iterations until g - g* stays below 1 % (the thesis's plot) and
 * below 1e-4 of its initial value, g* being Newton's minimum. Bound: 1.5 times the iterations of the best weight of the
 * scan, for both thresholds. The scan runs once per h^2 k: pairs with equal h^2 k have objectives equal up to a factor.
 * For neo-Hookean the automatic weight has to converge.
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
    ITERATIONS_MAX = 150, /* iterations of a scan, maximum */
    MAX_NEO = 1500,       /* iterations of a neo-Hookean step, maximum */
#ifdef SINEW_SANITIZED
    CELLS = 2 /* cells across the beam; sanitizers slow down the finer mesh */
#else
    CELLS = 6
#endif
};

/* Thresholds for (g - g*) / (g0 - g*); round-off of 32-bit positions hides smaller ones. */
#ifdef SINEW_SINGLE
static const double near[2] = {1e-2, 1e-3};
static const double stiffest = 1e7;
#else
static const double near[2] = {1e-2, 1e-4};
static const double stiffest = 1e12;
#endif

typedef struct beam {
    sinew_mesh *mesh;
    double length;
    int32_t count;
    sinew_real *start; /* [3 count] the equilibrium between ends rotated against each other */
} beam;

typedef struct problem {
    sinew_energy_kind kind;
    double h, modulus;
    bool held; /* quasistatic with pinned ends */
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
    body.density = (sinew_real)353.3; /* value of docs/evidence/thesis.md */
    sinew_energy_def energy = sinew_default_energy_def(p->kind);
    energy.body = sinew_world_add_body(world, &body, &error);
    energy.parameters[0] = (sinew_real)p->modulus;
    if (p->kind != SINEW_ENERGY_STRAIN)
        energy.parameters[1] = (sinew_real)0.45;
    sinew_world_add_energy(world, &energy, &error);
    int32_t *held = malloc((size_t)b->count * sizeof *held);
    for (int side = -1; p->held && side <= 1; side += 2) {
        const sinew_region end = {.kind = SINEW_REGION_HALF_SPACE,
                                  .a = {(sinew_real)(b->length / 2 * side), 0, 0},
                                  .b = {(sinew_real)side, 0, 0}};
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

/* A beam of length x 1 x 1 m whose ends are rotated by angle / 2 in opposite directions. */
static beam make_beam(sinew_energy_kind kind, double length, int32_t cells, double angle)
{
    sinew_error error;
    sinew_beam_def def = sinew_default_beam_def();
    def.size[0] = (sinew_real)length;
    def.cells[0] = (int32_t)length * cells;
    def.cells[1] = def.cells[2] = cells;
    beam b = {.mesh = sinew_mesh_beam(&def, &error), .length = length};
    assert_non_null(b.mesh);
    b.count = sinew_mesh_vertex_count(b.mesh);
    const sinew_real *X = sinew_mesh_positions(b.mesh);
    sinew_real *turned = malloc(3 * (size_t)b.count * sizeof *turned);
    b.start = malloc(3 * (size_t)b.count * sizeof *b.start);
    for (int32_t i = 0; i < b.count; i++) {
        const double turn = angle * (double)X[3 * i] / length, y = (double)X[3 * i + 1], z = (double)X[3 * i + 2];
        turned[3 * i] = X[3 * i];
        turned[3 * i + 1] = (sinew_real)(cos(turn) * y - sin(turn) * z);
        turned[3 * i + 2] = (sinew_real)(sin(turn) * y + cos(turn) * z);
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
static void ends_of(const beam *b, const problem *p, double *first, double *min)
{
    const sinew_solver_def solver = newton(1e-10);
    sinew_step_result result;
    sinew_world *world = world_of(b, p, b->start, &solver);
    assert_int_equal(sinew_world_objective(world, b->start, first, NULL), SINEW_OK);
    sinew_world_step(world, &result);
    *min = result.objective;
    sinew_world_destroy(world);
}

/* The iteration after which g stays within near[k] of the minimum, for both thresholds; max + 1 if it does not. weight
 * = 0: automatic. */
static void iterations_of(const beam *b, const problem *p, double weight, int max, double first, double min,
                          int needed[2])
{
    sinew_solver_def def = sinew_default_solver_def(SINEW_SOLVER_ADMM);
    def.tolerance = 0;
    def.iterations = max;
    def.record = SINEW_RECORD_ITERATIONS;
    def.parameters[sinew_solver_parameter(SINEW_SOLVER_ADMM, "weight")] = (sinew_real)weight;
    sinew_world *world = world_of(b, p, b->start, &def);
    sinew_world_step(world, NULL);
    int32_t count;
    const sinew_iteration *records = sinew_world_iterations(world, &count);
    for (int k = 0; k < 2; k++) {
        needed[k] = max + 1;
        for (int32_t i = count - 1; i >= 0 && records[i].objective - min <= near[k] * (first - min); i--)
            needed[k] = records[i].iteration;
    }
    sinew_world_destroy(world);
}

/* Result for one h^2 k: the objective at start and minimum over k, and the fewest iterations for each threshold. */
typedef struct scan {
    double first, min;
    int best[2];
} scan;

static scan scan_of(const beam *b, const problem *p)
{
    static const double weights[] = {0.45, 1, 0.6, 0.8, 0.4, 0.7, 0.35, 0.5, 0.3, 1.4};
    double first, min;
    scan s = {.best = {ITERATIONS_MAX, ITERATIONS_MAX}};
    ends_of(b, p, &first, &min);
    for (size_t i = 0; i < sizeof weights / sizeof weights[0]; i++) {
        int needed[2];
        iterations_of(b, p, weights[i], s.best[1], first, min, needed);
        for (int k = 0; k < 2; k++)
            s.best[k] = needed[k] < s.best[k] ? needed[k] : s.best[k];
    }
    s.first = first / p->modulus;
    s.min = min / p->modulus;
    return s;
}

static void test_automatic_is_near_the_best(void **state)
{
    (void)state;
    beam b = make_beam(SINEW_ENERGY_STRAIN, 5, CELLS, 1.5 * 3.14159265358979);
    scan scans[32] = {{0}}; /* indexed by the power of ten of h^2 k */
    double worst = 0;
    for (int step = 1; step <= 4; step++)
        for (int power = 5; pow(10, power) < 1.1 * stiffest; power++) {
            const problem p = {.kind = SINEW_ENERGY_STRAIN, .h = pow(10, -step), .modulus = pow(10, power)};
            scan *s = &scans[power - 2 * step + 8];
            int needed[2];
            if (s->best[0] == 0)
                *s = scan_of(&b, &p);
            iterations_of(&b, &p, 0, 2 * s->best[1] + 2, s->first * p.modulus, s->min * p.modulus, needed);
            print_message("h %-6g k %-6g best by hand %3d and %3d, automatic %3d and %3d\n", p.h, p.modulus, s->best[0],
                          s->best[1], needed[0], needed[1]);
            for (int k = 0; k < 2; k++) {
                assert_true(needed[k] <= 1.5 * s->best[k]);
                worst = fmax(worst, (double)needed[k] / s->best[k]);
            }
        }
    print_message("at most %.2f times the iterations of the best weight\n", worst);
    drop_beam(&b);
}

static void test_neo_hookean_converges(void **state)
{
    (void)state;
    beam b = make_beam(SINEW_ENERGY_NEO_HOOKEAN, 3, 2, 3.14159265358979);
    for (double h = 1e-1; h > 0.9e-3; h /= 10)
        for (double E = 1e5; E < 1.1 * fmin(stiffest, 1e9); E *= 10) {
            const problem p = {.kind = SINEW_ENERGY_NEO_HOOKEAN, .h = h, .modulus = E};
            double first, min;
            int needed[2];
            ends_of(&b, &p, &first, &min);
            iterations_of(&b, &p, 0, MAX_NEO, first, min, needed);
            print_message("neo_hookean h %-6g E %-6g automatic %4d and %4d\n", h, E, needed[0], needed[1]);
            assert_true(needed[1] <= MAX_NEO);
        }
    drop_beam(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_automatic_is_near_the_best),
                                       cmocka_unit_test(test_neo_hookean_converges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
