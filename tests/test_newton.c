/* SPDX-License-Identifier: MIT
 *
 * test_newton.c: Newton reaches the minimum for every tet material, soft to very stiff, with long and short time steps
 * and quasistatic; from a good, a bad and an inverted start; with quadratic convergence at the end; with Cholesky and
 * with conjugate gradients.
 *
 * The bar has twelve by four by four cells, density 1000 kg/m3 and both end faces pinned, the right one rotated by half
 * a turn about its axis. `relative` below is the residual over the residual at the start of the step.
 *
 * The bar twisted in every material, stiffness and step is 1.2 x 0.4 x 0.4 m; in double precision the bound is 1e-10 in
 * all cases. Elsewhere the bar is 3 x 1 x 1 m, and the bound is the larger of 1e-10 (single 1e-4) and the round-off of
 * positions. A position rounded by half a unit in the last place changes the force on a particle by that times its
 * stiffness, which for short steps is mostly m/h^2. With the size of the bar masses grow cubically, coordinates
 * linearly and elastic forces quadratically, so this floor grows quadratically. test_round_off.c measures it on 3 m,
 * where it is above 1e-10.
 */
#include "make_world.h"

#include "world/world.h"

#ifdef SINEW_SINGLE
#define TOLERANCE  1e-4
#define SAME_PLACE 1e-3 /* m, distance of two solutions of one minimum */
#define LAST_PLACE 1.2e-7
#else
#define TOLERANCE  1e-10
#define SAME_PLACE 1e-8
#define LAST_PLACE 2.3e-16
#endif

enum {
    MATERIAL_COUNT = 7,
    H_COUNT = 5,
    E_COUNT = 8, /* 1e5 .. 1e12 */
#ifdef SINEW_SANITIZED
    E_STRIDE = 7 /* both ends only */
#else
    E_STRIDE = 1
#endif
};
enum {
    LINEAR,
    HESSIAN
}; /* indices of Newton's parameters */
enum {
    DIRECT,
    CG
}; /* values of `linear` */
enum {
    HESSIAN_AUTO,
    HESSIAN_PROJECTED,
    HESSIAN_EXACT
}; /* values of `hessian` */

static const double steps[H_COUNT] = {1e-1, 1e-2, 1e-3, 1e-4, 0}; /* s; 0: quasistatic */

static const char *name_of(int kind)
{
    return sinew_get_energy_info((sinew_energy_kind)kind)->name;
}

/* ---- The bar --------------------------------------------------------------------------------- */

typedef struct bar {
    sinew_mesh *mesh;
    int32_t n;
    int32_t *ends, end_count;
    sinew_real *twisted; /* [3 n] rest positions rotated in proportion to x */
    sinew_real *targets; /* [3 end_count] of the pins */
} bar;

static bar make_bar(int refine, double length, double turn)
{
    bar b = {.mesh = make_beam(12 * refine, 4 * refine, 4 * refine, length, length / 3, length / 3)};
    b.n = sinew_mesh_vertex_count(b.mesh);
    b.ends = make_array((size_t)b.n, sizeof *b.ends);
    b.twisted = make_array(3 * (size_t)b.n, sizeof *b.twisted);
    b.targets = make_array(3 * (size_t)b.n, sizeof *b.targets);
    b.end_count = vertices_at(b.mesh, 0, -length / 2, length / 2, b.ends);
    const sinew_real *X = sinew_mesh_positions(b.mesh);
    for (int32_t i = 0; i < b.n; i++) {
        const double x = (double)X[3 * i], y = (double)X[3 * i + 1], z = (double)X[3 * i + 2];
        const double angle = turn * (x / length + 0.5);
        b.twisted[3 * i] = (sinew_real)x;
        b.twisted[3 * i + 1] = (sinew_real)(cos(angle) * y - sin(angle) * z);
        b.twisted[3 * i + 2] = (sinew_real)(sin(angle) * y + cos(angle) * z);
    }
    for (int32_t i = 0; i < b.end_count; i++)
        memcpy(b.targets + 3 * i, b.twisted + 3 * b.ends[i], 3 * sizeof *b.targets);
    return b;
}

static void free_bar(bar *b)
{
    sinew_mesh_destroy(b->mesh);
    free(b->ends);
    free(b->twisted);
    free(b->targets);
}

typedef struct task {
    int kind;
    double h, E, nu; /* h = 0: quasistatic */
    int linear, hessian, iterations;
    double tolerance;
    const sinew_real *start; /* initial positions; NULL: at rest */
} task;

static sinew_world *world_of(const bar *b, const task *t)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1; /* many small worlds do not profit from threads */
    def.quasistatic = t->h == 0;
    if (t->h > 0)
        def.time_step = (sinew_real)t->h;
    def.solver.tolerance = (sinew_real)t->tolerance;
    def.solver.record = SINEW_RECORD_ITERATIONS;
    def.solver.parameters[LINEAR] = (sinew_real)t->linear;
    def.solver.parameters[HESSIAN] = (sinew_real)t->hessian;
    if (t->iterations)
        def.solver.iterations = t->iterations;
    sinew_world *world = make_world(&def);
    sinew_body body = add_mesh(world, b->mesh, 1000, t->start, NULL);
    add_material(world, body, (sinew_energy_kind)t->kind, t->E, t->nu);
    add_pins(world, body, b->ends, b->end_count, b->targets);
    return world;
}

/* The force, N, that half a unit in the last place of every coordinate causes. */
static double round_off_of(sinew_world *world)
{
    sinew_error error = {0};
    const int32_t n = world->particle_count;
    double sum = 0, *diagonal = make_array(9 * (size_t)n, sizeof *diagonal);
    assert_int_equal(sinew_world_prepare(world, &error), SINEW_OK);
    sinew_objective_diagonal(&world->objective, world->q, true, diagonal);
    for (int32_t i = 0; i < n; i++)
        for (size_t c = 0; !world->pinned[i] && c < 3; c++) {
            const double force = diagonal[9 * (size_t)i + 4 * c] * LAST_PLACE / 2 * (double)world->q[4 * (size_t)i + c];
            sum += force * force;
        }
    free(diagonal);
    return sqrt(sum);
}

/* Whether the step reached the tolerance or the round-off of positions. */
static bool is_solved(sinew_world *world, const sinew_step_result *result)
{
    if (result->bits & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED))
        return false;
    return result->relative_residual <= TOLERANCE || result->residual <= 2 * round_off_of(world);
}

/* ---- Every material, stiffness and step ------------------------------------------------------ */

static void twist_row(const bar *b, int kind, double h, bool strict, const sinew_real *start)
{
    double worst = 0;
    int max = 0, above = 0, count = 0;
    for (int e = 0; e < E_COUNT; e += E_STRIDE, count++) {
        const task t = {.kind = kind, .h = h, .E = pow(10, 5 + e), .nu = 0.3, .tolerance = TOLERANCE, .start = start};
        sinew_world *world = world_of(b, &t);
        sinew_step_result result;
        sinew_world_step(world, &result);
        if (!is_solved(world, &result) || (strict && result.relative_residual > TOLERANCE))
            fail_msg("%s, h %g, E %g: bits %x, relative %g", name_of(kind), h, t.E, result.bits,
                     result.relative_residual);
        worst = fmax(worst, result.relative_residual);
        above += result.relative_residual > TOLERANCE;
        max = result.iterations > max ? result.iterations : max;
        sinew_world_destroy(world);
    }
    printf(
        "%-20s h %-6g E 1e5 .. 1e12: largest relative residual %.1e, %d of %d stopped by round-off above %g, at most "
        "%d iterations\n",
        name_of(kind), h, worst, above, count, TOLERANCE, max);
}

static void test_twist(void **state)
{
    (void)state;
    bar b = make_bar(1, 1.2, MAKE_PI);
    for (int kind = 0; kind < MATERIAL_COUNT; kind++)
        for (int h = 0; h < H_COUNT; h++)
            twist_row(&b, kind, steps[h], sizeof(sinew_real) == sizeof(double), b.twisted);
    free_bar(&b);
}

/* A bar sags from rest: strains are 1e-8 for the stiffest material, and energy differences are round-off. */
static void test_sag(void **state)
{
    (void)state;
    bar b = make_bar(1, 3, 0);
    for (int kind = 0; kind < MATERIAL_COUNT; kind++)
        for (int h = 0; h < H_COUNT; h++)
            twist_row(&b, kind, steps[h], false, NULL);
    free_bar(&b);
}

static void test_finer_mesh(void **state)
{
    (void)state;
    static const task tasks[] = {
        {.kind = SINEW_ENERGY_NEO_HOOKEAN, .h = 1e-2, .E = 1e6, .nu = 0.45},
        {.kind = SINEW_ENERGY_NEO_HOOKEAN, .h = 0, .E = 1e9, .nu = 0.45},
        {.kind = SINEW_ENERGY_COROTATED, .h = 1e-1, .E = 1e5, .nu = 0.45},
        {.kind = SINEW_ENERGY_STABLE_NEO_HOOKEAN, .h = 0, .E = 1e5, .nu = 0.49},
        {.kind = SINEW_ENERGY_ST_VENANT_KIRCHHOFF, .h = 1e-3, .E = 1e12, .nu = 0.3},
    };
    bar b = make_bar(2, 3, MAKE_PI);
    for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++) {
        task t = tasks[i];
        t.tolerance = TOLERANCE;
        t.start = b.twisted;
        sinew_world *world = world_of(&b, &t);
        sinew_step_result result;
        sinew_world_step(world, &result);
        printf("24 x 8 x 8 cells, %s, h %g, E %g, nu %g: relative residual %.1e after %d iterations\n", name_of(t.kind),
               t.h, t.E, t.nu, result.relative_residual, result.iterations);
        assert_true(is_solved(world, &result));
        sinew_world_destroy(world);
    }
    free_bar(&b);
}

/* ---- Convergence order ----------------------------------------------------------------------- */

/* log(r2/r1) / log(r1/r0) of the last three residuals that are well above round-off; 0 if there are none. */
static double observed_order(const sinew_iteration *records, int32_t count, double round_off)
{
    for (int32_t i = count - 1; i >= 2; i--)
        if (records[i].residual > 10 * round_off && records[i - 1].residual < 0.1 * records[i - 2].residual)
            return log(records[i].residual / records[i - 1].residual) /
                   log(records[i - 1].residual / records[i - 2].residual);
    return 0;
}

/* Whether the exact Hessian is definite at the minimum, by one iteration with it. */
static bool definite_at_minimum(sinew_world *world)
{
    sinew_error error = {0};
    sinew_solver_def def = world->def.solver;
    sinew_solver_def kept = def;
    def.parameters[HESSIAN] = HESSIAN_EXACT;
    def.iterations = 1;
    def.tolerance = 0;
    assert_int_equal(sinew_world_set_solver(world, &def, &error), SINEW_OK);
    const uint32_t bits = sinew_world_step(world, NULL);
    assert_int_equal(sinew_world_set_solver(world, &kept, &error), SINEW_OK);
    return !(bits & SINEW_STEP_INDEFINITE);
}

/* Newton returns to the minimum from a small perturbation with second order. */
static void test_quadratic_convergence(void **state)
{
    (void)state;
    if (sizeof(sinew_real) == sizeof(float))
        skip(); /* seven digits do not show an order */
    bar b = make_bar(1, 3, MAKE_PI);
    for (int kind = 0; kind < MATERIAL_COUNT; kind++) {
        const task t = {.kind = kind, .E = 1e6, .nu = 0.3, .tolerance = 1e-14, .start = b.twisted};
        sinew_world *world = world_of(&b, &t);
        sinew_step_result result;
        sinew_world_step(world, &result);
        const bool definite = definite_at_minimum(world);
        sinew_real *q = positions_of(world);
        uint32_t seed = 3;
        for (int32_t i = 0; i < 3 * b.n; i++)
            q[i] += (sinew_real)(0.004 * next_random(&seed));
        assert_int_equal(sinew_world_set_positions(world, 0, b.n, q), SINEW_OK);
        sinew_world_step(world, &result);
        int32_t count;
        const sinew_iteration *records = sinew_world_iterations(world, &count);
        const double order = observed_order(records, count, round_off_of(world));
        printf("%-20s exact Hessian at the minimum %s; residuals", name_of(kind), definite ? "definite" : "indefinite");
        for (int32_t i = 0; i < count; i++)
            printf(" %.1e", records[i].residual);
        printf("; order %.2f\n", order);
        assert_true(is_solved(world, &result));
        assert_true(definite);
        if (kind == SINEW_ENERGY_LINEAR)
            assert_true(records[1].residual < 1e-12 * records[0].residual); /* quadratic: one iteration */
        else
            assert_true(order >= 1.8);
        free(q);
        sinew_world_destroy(world);
    }
    free_bar(&b);
}

/* ---- Two linear solvers, one minimum --------------------------------------------------------- */

static double largest_difference(const sinew_real *a, const sinew_real *b, int32_t count)
{
    double largest = 0;
    for (int32_t i = 0; i < count; i++)
        largest = fmax(largest, fabs((double)a[i] - (double)b[i]));
    return largest;
}

static void test_conjugate_gradients_agree(void **state)
{
    (void)state;
    bar b = make_bar(1, 3, MAKE_PI);
    for (int kind = 0; kind < MATERIAL_COUNT; kind++)
        for (int h = 0; h < H_COUNT; h += 2) {
            sinew_real *q[2];
            sinew_step_result result[2];
            for (int linear = DIRECT; linear <= CG; linear++) {
                const task t = {.kind = kind,
                                .h = steps[h],
                                .E = 1e6,
                                .nu = 0.45,
                                .linear = linear,
                                .tolerance = TOLERANCE,
                                .start = b.twisted};
                sinew_world *world = world_of(&b, &t);
                sinew_world_step(world, &result[linear]);
                assert_true(is_solved(world, &result[linear]));
                q[linear] = positions_of(world);
                sinew_world_destroy(world);
            }
            const double apart = largest_difference(q[DIRECT], q[CG], 3 * b.n);
            printf("%-20s h %-6g: Cholesky %d iterations, CG %d with %d inner; largest distance %.1e m\n",
                   name_of(kind), steps[h], result[DIRECT].iterations, result[CG].iterations,
                   result[CG].linear_iterations, apart);
            assert_true(apart < SAME_PLACE);
            free(q[DIRECT]);
            free(q[CG]);
        }
    free_bar(&b);
}

/* ---- Bad starts ------------------------------------------------------------------------------ */

/* The end of a body at rest is rotated by half a turn within one step: the last layer of cells is inverted. */
static void test_sudden_twist(void **state)
{
    (void)state;
    bar b = make_bar(1, 3, MAKE_PI);
    for (int kind = 0; kind < MATERIAL_COUNT; kind++)
        for (int stiff = 0; stiff < 2; stiff++) {
            const task t = {.kind = kind,
                            .h = stiff ? 0 : 1e-2,
                            .E = stiff ? 1e7 : 1e6,
                            .nu = 0.3,
                            .iterations = 600,
                            .tolerance = TOLERANCE};
            sinew_world *world = world_of(&b, &t);
            sinew_step_result result;
            sinew_measures measures;
            sinew_world_step(world, &result);
            if (kind == SINEW_ENERGY_NEO_HOOKEAN_LOG) {
                printf("%-20s infinite where inverted: refuses the start, state kept\n", name_of(kind));
                assert_true(result.bits & SINEW_STEP_NOT_FINITE);
                assert_int_equal(sinew_world_step_count(world), 0);
            } else {
                assert_int_equal(sinew_world_measure(world, &measures), SINEW_OK);
                printf(
                    "%-20s h %-6g E %g from rest: relative residual %.1e after %d iterations, %d tets inverted, exact "
                    "Hessian %s\n",
                    name_of(kind), t.h, t.E, result.relative_residual, result.iterations, measures.inverted_count,
                    t.h > 0                      ? "not asked"
                    : definite_at_minimum(world) ? "definite"
                                                 : "indefinite: a saddle");
                /* The nearest rotation jumps at inverted tets: these two materials may converge slowly along the kink.
                 */
                if (kind == SINEW_ENERGY_STRAIN || kind == SINEW_ENERGY_COROTATED)
                    assert_true(result.relative_residual < fmax(1e-6, TOLERANCE));
                else
                    assert_true(is_solved(world, &result));
            }
            sinew_world_destroy(world);
        }
    free_bar(&b);
}

/* Random displacements of inner vertices invert a tenth or more of the tets. */
static void test_inverted_start(void **state)
{
    (void)state;
    static const bool recovers[MATERIAL_COUNT] = {true, true, true, false, true, false, true};
    bar b = make_bar(1, 3, 0);
    sinew_real *shaken = make_array(3 * (size_t)b.n, sizeof *shaken);
    uint32_t seed = 17;
    for (int32_t i = 0; i < 3 * b.n; i++)
        shaken[i] = b.twisted[i] + (sinew_real)(0.15 * next_random(&seed));
    for (int kind = 0; kind < MATERIAL_COUNT; kind++) {
        const task rest = {.kind = kind, .E = 1e6, .nu = 0.3, .iterations = 600, .tolerance = TOLERANCE};
        task bad = rest;
        bad.start = shaken;
        sinew_world *good = world_of(&b, &rest), *world = world_of(&b, &bad);
        sinew_measures before, after;
        sinew_step_result result;
        assert_int_equal(sinew_world_measure(world, &before), SINEW_OK);
        assert_true(before.inverted_count * 10 >= sinew_mesh_tet_count(b.mesh));
        sinew_world_step(good, NULL);
        sinew_world_step(world, &result);
        assert_int_equal(sinew_world_measure(world, &after), SINEW_OK);
        sinew_real *q = positions_of(good), *p = positions_of(world);
        const double apart = largest_difference(q, p, 3 * b.n);
        printf("%-20s %d of %d tets inverted: %d left after %d iterations, relative residual %.1e, %.1e m from the "
               "minimum found from rest\n",
               name_of(kind), before.inverted_count, sinew_mesh_tet_count(b.mesh), after.inverted_count,
               result.iterations, result.relative_residual, apart);
        if (recovers[kind]) {
            assert_true(is_solved(world, &result));
            assert_int_equal(after.inverted_count, 0);
            assert_true(apart < SAME_PLACE);
        }
        if (kind == SINEW_ENERGY_NEO_HOOKEAN_LOG)
            assert_true(result.bits & SINEW_STEP_NOT_FINITE);
        free(q);
        free(p);
        sinew_world_destroy(good);
        sinew_world_destroy(world);
    }
    free(shaken);
    free_bar(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_twist),
        cmocka_unit_test(test_sag),
        cmocka_unit_test(test_finer_mesh),
        cmocka_unit_test(test_quadratic_convergence),
        cmocka_unit_test(test_conjugate_gradients_agree),
        cmocka_unit_test(test_sudden_twist),
        cmocka_unit_test(test_inverted_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
