/* SPDX-License-Identifier: MIT
 *
 * test_systems.c: constraints solved as systems, against dense algebra of the test's own (spring_system.h).
 */
#include "spring_system.h"

#include "small_world.h"

#ifdef SINEW_SINGLE
#define KKT  2e-4
#define NEAR 2e-5
#else
#define KKT  1e-10
#define NEAR 1e-9
#endif

static sinew_solver_def solver_of(sinew_solver_kind kind)
{
    sinew_solver_def def = sinew_default_solver_def(kind);
    def.tolerance = (sinew_real)(sizeof(sinew_real) == 4 ? 1e-4 : 1e-11);
    return def;
}

/* ---- The referee --------------------------------------------------------------------------------- */

/* Rows that are redundant only where they hold are known to less. */
static void check_conditions(const spring_system *s, const sinew_world *world, sinew_energy hard, bool redundant)
{
    double q[3 * SYSTEM_VERTICES], lambda[SYSTEM_SPRINGS], gradient[3 * SYSTEM_VERTICES], C[SYSTEM_SPRINGS], sum = 0;
    sinew_real *at = positions_of(world);
    for (int i = 0; i < 3 * s->vertex_count; i++)
        q[i] = (double)at[i];
    system_multipliers(world, hard, lambda);
    const double scale = system_conditions(s, q, lambda, gradient, C);
    for (int i = 0; i < 3 * s->vertex_count; i++)
        sum += gradient[i] * gradient[i];
    if (!(sqrt(sum) <= KKT * scale))
        fail_msg("|grad g - J^T lambda| is %.3g of %.3g N", sqrt(sum), scale);
    for (int k = 0; k < s->hard_count; k++)
        if (!(fabs(C[k]) <= (redundant ? 20 : 1) * KKT))
            fail_msg("spring %d is %.3g m too long", k, C[k]);
    free(at);
}

/* Hard springs that leave freedoms: fewer than the particles have. Soft ones are energies or, in every second case,
 * compliant rows, which have the same minimum. */
static void primal_dual_solves_the_conditions(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("conditions", 20, 400);
    int compared = 0, unsolved = 0;
    for (int k = 0; k < r.count; k++) {
        spring_system s = draw_system(&r, 3 + random_index(&r, 22), random_index(&r, 20));
        sinew_solver_def def = solver_of(SINEW_SOLVER_PRIMAL_DUAL);
        sinew_energy hard;
        sinew_step_result result;
        sinew_error error = {0};
        sinew_solver_def_set_word(&def, "rows", k % 2 ? "all" : "hard", &error);
        must(&error);
        sinew_world *world = make_system(&s, &def, 1, &hard);
        const uint32_t bits = sinew_world_step(world, &result);
        /* In single precision a few steps, one in some 200, do not get there and say so. */
        if (sizeof(sinew_real) == 4 && bits & SINEW_STEP_NOT_CONVERGED) {
            unsolved++;
            sinew_world_destroy(world);
            continue;
        }
        if (bits != 0)
            fail_msg("case %d: bits %x after %d iterations: violation %g, stationarity %g: %s", k, bits,
                     result.iterations, result.violation, result.stationarity, result.constraints);
        assert_true(result.gap_kind == SINEW_GAP_UNKNOWN);
        check_conditions(&s, world, hard, result.constraints[0] != '\0');
        /* The test's own Newton's method, which looks at no merit, mostly finds the same one of several minima. */
        double q[3 * SYSTEM_VERTICES], lambda[SYSTEM_SPRINGS] = {0}, length = 1;
        memcpy(q, s.q, sizeof q);
        for (int i = 0; i < 60 && length > 1e-13; i++)
            length = system_newton(&s, q, lambda);
        sinew_real *at = positions_of(world);
        const double far = system_distance(q, at, s.vertex_count);
        compared += length <= 1e-12 && far <= NEAR;
        free(at);
        sinew_world_destroy(world);
    }
    print_message("%d of %d equal to the dense solution within %g m\n", compared, r.count, NEAR);
    assert_true(4 * compared >= 3 * (r.count - unsolved) && unsolved <= 1 + r.count / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(primal_dual_solves_the_conditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
