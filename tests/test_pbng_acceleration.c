/* SPDX-License-Identifier: MIT
 *
 * test_pbng_acceleration.c: each acceleration of pbng converges faster than the plain sweep. Averaged over many steps,
 * chebyshev, the default, is closer to the minimum than sor after 5 and 10 iterations, as close after 40, and does no
 * harm where plain sweeps converge quickly. Exact blocks need fewer iterations. The safeguard is tested. Run with -V
 * (ctest) for the figures of docs/reference/solvers/pbng.md.
 */
#include "pbng_worlds.h"

/* ---- Iterations to a residual ------------------------------------------------------------------- */

static int32_t iterations_to(sinew_solver_def def, int index, double tolerance)
{
    def.tolerance = (sinew_real)tolerance;
    sinew_world *world = build(&scenes[index], &def, 2, 1);
    const sinew_step_result result = step_of(world);
    if (result.bits & SINEW_STEP_NOT_CONVERGED)
        fail_msg("%s: relative residual %g", scenes[index].name, result.relative_residual);
    sinew_world_destroy(world);
    return result.iterations;
}

/* Each acceleration converges, in fewer iterations than the plain sweep where that is slow. */
static void accelerations_accelerate(void **unused)
{
    (void)unused;
    static const int indices[] = {BEAM_STIFF, BALL_STIFF, RUBBER_STIFF};
    static const char *const names[] = {"none", "sor", "sor_node", "chebyshev"};
    const double tolerance = IS_SINGLE ? 1e-3 : 1e-4;
    for (size_t i = 0; i < sizeof indices / sizeof indices[0]; i++) {
        int32_t plain = 0;
        for (int kind = 0; kind < 4; kind++)
            for (int symmetric = 0; symmetric < (i == 0 ? 2 : 1); symmetric++) {
                sinew_solver_def def = pbng(20000, kind, 0);
                set(&def, "symmetric", symmetric);
                const int32_t count = iterations_to(def, indices[i], tolerance);
                print_message("%-26s %-9s %s: %5d iterations to %g\n", scenes[indices[i]].name, names[kind],
                              symmetric ? "symmetric" : "forward  ", count, tolerance);
                if (symmetric)
                    continue;
                if (kind == NONE)
                    plain = count;
                else
                    assert_true(count < plain);
            }
    }
}

/* Exact blocks are smaller, so steps are larger and fewer. */
static void exact_blocks_need_fewer_iterations(void **unused)
{
    (void)unused;
    static const int indices[] = {BEAM_STIFF, CLOTH_STIFF, RUBBER_STIFF};
    for (size_t i = 0; i < sizeof indices / sizeof indices[0]; i++) {
        int32_t count[2];
        for (int exact = 0; exact < 2; exact++)
            count[exact] = iterations_to(pbng(20000, CHEBYSHEV, exact), indices[i], IS_SINGLE ? 1e-3 : 1e-4);
        print_message("%-26s %5d iterations with cheap blocks, %5d with exact ones\n", scenes[indices[i]].name,
                      count[0], count[1]);
        assert_true(count[1] < count[0]);
    }
}

/* Aggressive Chebyshev settings overshoot; the safeguard never accepts a higher objective. */
static void safeguard_holds(void **unused)
{
    (void)unused;
    for (int kind = SOR; kind <= CHEBYSHEV; kind += 2) {
        sinew_solver_def def = pbng(200, kind, 0);
        set(&def, "rho", 0.9999);
        set(&def, "gamma", 1.99);
        set(&def, "omega", 1.99);
        def.record = SINEW_RECORD_ITERATIONS;
        sinew_world *world = inverted_world(SINEW_ENERGY_NEO_HOOKEAN, 1e6, 1e-2, &def);
        assert_true(largest_rise(world) <= 1);
        sinew_world_destroy(world);
    }
}

/* ---- Small budgets -------------------------------------------------------------------------------- */

enum {
    BUDGETS = 3,
    LARGEST = 40,
#ifdef SINEW_SANITIZED
    CASE_STRIDE = 5 /* each time step once, each stiffness and start twice */
#else
    CASE_STRIDE = 1
#endif
};
static const int budgets[BUDGETS] = {5, 10, LARGEST};

/* A case: a twisted beam, a block with inverted tets, or a cloth. */
typedef struct step_case {
    sinew_energy_kind kind;
    double E, h; /* E of springs: N/m times 1e3; h = 0: quasistatic */
    bool inverted;
} step_case;

/* The relative residual after each number of iterations. */
static void residuals_of(const step_case *c, int acceleration, double at[BUDGETS])
{
    const bool cloth = c->kind == SINEW_ENERGY_SPRING;
    int32_t count;
    sinew_solver_def def = pbng(LARGEST, acceleration, 0);
    def.record = SINEW_RECORD_ITERATIONS;
    scene s = scenes[cloth ? CLOTH_STIFF : BEAM_STIFF];
    s.kind = c->kind;
    s.stiffness = cloth ? c->E / 1e3 : c->E;
    s.poisson = 0.3;
    s.h = c->h;
    sinew_world *world = c->inverted ? inverted_world(c->kind, c->E, c->h, &def) : build(&s, &def, 2, 1);
    step_of(world);
    const sinew_iteration *records = sinew_world_iterations(world, &count);
    assert_int_equal(count, LARGEST + 1);
    for (int b = 0; b < BUDGETS; b++)
        at[b] = records[budgets[b]].residual / records[0].residual;
    sinew_world_destroy(world);
}

/* Sums of logarithms over a group of cases. */
typedef struct group {
    const char *name;
    double sum[CHEBYSHEV + 1][BUDGETS];
    int count, worse[BUDGETS]; /* worse: cases in which chebyshev's residual exceeds sor's by more than a tenth */
} group;

static void add_case(group *g, const step_case *c)
{
    double at[CHEBYSHEV + 1][BUDGETS];
    const double floor = IS_SINGLE ? 1e-5 : 1e-10; /* round-off floor */
    for (int kind = NONE; kind <= CHEBYSHEV; kind++) {
        residuals_of(c, kind, at[kind]);
        for (int b = 0; b < BUDGETS; b++)
            g->sum[kind][b] += log(fmax(at[kind][b], floor));
    }
    for (int b = 0; b < BUDGETS; b++)
        g->worse[b] += at[CHEBYSHEV][b] > 1.1 * at[SOR][b] && at[CHEBYSHEV][b] > floor;
    g->count++;
}

static double mean_of(const group *g, int kind, int budget)
{
    return exp(g->sum[kind][budget] / g->count);
}

static void print_group(const group *g)
{
    static const char *const names[] = {"none", "sor", "sor_node", "chebyshev"};
    for (int kind = NONE; kind <= CHEBYSHEV; kind++)
        print_message("%-28s %2d cases, %-9s: relative residual %.2e %.2e %.2e after %d, %d, %d\n", g->name, g->count,
                      names[kind], mean_of(g, kind, 0), mean_of(g, kind, 1), mean_of(g, kind, 2), budgets[0],
                      budgets[1], budgets[2]);
    print_message("%-28s chebyshev a tenth or more behind sor in %d, %d, %d cases\n", g->name, g->worse[0], g->worse[1],
                  g->worse[2]);
}

/* Geometric means over materials, steps, stiffnesses and starts. st_venant_kirchhoff is a separate group: step halving
 * leaves no regular error for an extrapolation. */
static void chebyshev_serves_as_default(void **unused)
{
    (void)unused;
    static const sinew_energy_kind kinds[] = {SINEW_ENERGY_COROTATED,           SINEW_ENERGY_NEO_HOOKEAN,
                                              SINEW_ENERGY_STABLE_NEO_HOOKEAN,  SINEW_ENERGY_STRAIN,
                                              SINEW_ENERGY_ST_VENANT_KIRCHHOFF, SINEW_ENERGY_SPRING};
    static const double steps[] = {0, 1e-1, 1e-2, 1e-3}, moduli[] = {1e4, 1e7};
    group groups[3] = {{.name = "quasistatic"}, {.name = "dynamic"}, {.name = "st_venant_kirchhoff"}};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (int i = 0; i < 16; i += CASE_STRIDE) {
            const step_case c = {kinds[k], moduli[i / 4 % 2], steps[i % 4], i >= 8};
            if (c.kind == SINEW_ENERGY_SPRING && c.inverted)
                continue;
            add_case(&groups[c.kind == SINEW_ENERGY_ST_VENANT_KIRCHHOFF ? 2 : c.h > 0], &c);
        }
    for (int g = 0; g < 3; g++)
        print_group(&groups[g]);
    for (int g = 0; g < 2 && CASE_STRIDE == 1; g++) /* means over a sample do not represent the whole */
        for (int b = 0; b < BUDGETS; b++) {
            /* After many iterations the two are equal. */
            const double own = mean_of(&groups[g], CHEBYSHEV, b), allowed = budgets[b] == LARGEST ? 1.2 : 1;
            assert_true(own < allowed * mean_of(&groups[g], SOR, b) && own < mean_of(&groups[g], NONE, b));
        }
}

/* A soft body in motion, on which plain sweeps converge quickly: chebyshev does not slow them down. */
static void quick_sweeps_are_left_alone(void **unused)
{
    (void)unused;
    for (int inverted = 0; inverted < 2; inverted++) {
        const step_case c = {SINEW_ENERGY_NEO_HOOKEAN, 1e4, 1e-2, inverted};
        double plain[BUDGETS], accelerated[BUDGETS];
        residuals_of(&c, NONE, plain);
        residuals_of(&c, CHEBYSHEV, accelerated);
        print_message("%s: %.1e after %d plain sweeps, %.1e with chebyshev\n", inverted ? "inverted" : "twisted",
                      plain[0], budgets[0], accelerated[0]);
        assert_true(accelerated[0] <= 1.01 * plain[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accelerations_accelerate),
        cmocka_unit_test(exact_blocks_need_fewer_iterations),
        cmocka_unit_test(safeguard_holds),
        cmocka_unit_test(chebyshev_serves_as_default),
        cmocka_unit_test(quick_sweeps_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
