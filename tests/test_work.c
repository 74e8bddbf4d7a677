/* SPDX-License-Identifier: MIT
 *
 * test_work.c: the work of solvers and estimates (solve/work.h): the cost of a factor against an elimination of its
 * dense pattern, the unit, and the same work in every run.
 */
#include "linear/factor/cholesky.h"
#include "make_world.h"
#include "random_cases.h"
#include "solve/driver/newton_decrement.h"
#include "world/world.h"

#define BLOCKS_MAX 12

/* Random lower triangle of blocks, the diagonal first in every column. The elimination tree is a path, which is a
 * postorder. Returns the number of entries. */
static int32_t draw_pattern(random_cases *r, int32_t n, int32_t *column, int32_t *row, bool *filled)
{
    int32_t count = 0;
    memset(filled, 0, 3 * BLOCKS_MAX * 3 * BLOCKS_MAX * sizeof *filled);
    for (int32_t j = 0; j < n; j++) {
        column[j] = count;
        for (int32_t i = j; i < n; i++) {
            if (i > j + 1 && random_index(r, 4) != 0)
                continue;
            row[count++] = i;
            for (int32_t a = 0; a < 9; a++)
                filled[(3 * i + a / 3) * 3 * BLOCKS_MAX + 3 * j + a % 3] = true;
        }
    }
    column[n] = count;
    return count;
}

/* Sum of squares of the column counts of L, by elimination of the dense pattern. */
static double eliminate(int32_t size, bool *filled)
{
    double sum = 0;
    for (int32_t j = 0; j < size; j++) {
        double count = 0;
        for (int32_t i = j; i < size; i++)
            count += filled[i * 3 * BLOCKS_MAX + j];
        for (int32_t i = j + 1; i < size; i++)
            for (int32_t k = j + 1; k <= i; k++)
                filled[i * 3 * BLOCKS_MAX + k] |= filled[i * 3 * BLOCKS_MAX + j] && filled[k * 3 * BLOCKS_MAX + j];
        sum += count * count;
    }
    return sum;
}

/* Supernodes store some zeros: the cost is that of the pattern or a little more. */
static void the_cost_of_a_factor_is_that_of_its_pattern(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("cost of a factor", 50, 2000);
    for (int32_t i = 0; i < r.count; i++) {
        const int32_t n = 1 + random_index(&r, BLOCKS_MAX);
        int32_t column[BLOCKS_MAX + 1], row[BLOCKS_MAX * BLOCKS_MAX];
        bool filled[3 * BLOCKS_MAX * 3 * BLOCKS_MAX];
        draw_pattern(&r, n, column, row, filled);
        sinew_error error = {0};
        const sinew_allocator allocator = sinew_allocator_or_system(NULL);
        sinew_cholesky *factor = sinew_cholesky_create(&allocator, sinew_simd()->dense, n, column, row, &error);
        must(&error);
        const double cost = sinew_cholesky_factor_cost(factor), full = 3.0 * n * (3.0 * n + 1) * (6.0 * n + 1) / 6;
        assert_true(cost >= eliminate(3 * n, filled) && cost <= full);
        sinew_cholesky_destroy(factor);
    }
}

static sinew_world *make_bar(sinew_solver_kind kind, int32_t iterations)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.solver = sinew_default_solver_def(kind);
    def.solver.iterations = iterations;
    def.solver.tolerance = 0;
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_beam(6, 2, 2, 0.6, 0.2, 0.2);
    const sinew_body body = add_mesh(world, mesh, 1000, NULL, NULL);
    add_material(world, body, SINEW_ENERGY_COROTATED, 1e5, 0.3);
    const int32_t pins[3] = {0, 1, 2};
    add_pins(world, body, pins, 3, NULL);
    sinew_mesh_destroy(mesh);
    return world;
}

static void a_newton_iteration_is_the_unit(void **state)
{
    (void)state;
    sinew_world *world = make_bar(SINEW_SOLVER_NEWTON, 3);
    sinew_step_result result;
    sinew_world_step(world, &result);
    assert_true(fabs(sinew_solve_work(&world->solve) - result.iterations) < 1e-12);
    sinew_world_destroy(world);
}

/* Work grows with iterations, is the same in another run, and an estimate near the minimum takes at most three Newton
 * iterations. */
static void work_is_counted(void **state)
{
    (void)state;
    for (int32_t kind = 0; kind < SINEW_SOLVER_COUNT; kind++) {
        const sinew_solver_info *info = sinew_get_solver_info((sinew_solver_kind)kind);
        if (info->explicit_step || info->static_only || info->default_iterations < 2 ||
            !sinew_solver_accepts((sinew_solver_kind)kind, SINEW_ENERGY_COROTATED, NULL, 0))
            continue;
        double work[3], estimate[3];
        for (int k = 0; k < 3; k++) {
            sinew_world *world = make_bar((sinew_solver_kind)kind, k < 2 ? 4 : 8);
            sinew_step_result result;
            sinew_world_step(world, &result);
            work[k] = sinew_solve_work(&world->solve) / result.iterations;
            estimate[k] = world->solve.gap ? world->solve.gap->work / world->solve.gap->model.newton : 0;
            sinew_world_destroy(world);
        }
        assert_true(work[0] > 0 && work[0] == work[1] && fabs(work[2] - work[0]) < 1e-12);
        assert_true(estimate[0] == estimate[1] && estimate[2] >= 0 && estimate[2] <= 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_cost_of_a_factor_is_that_of_its_pattern),
                                       cmocka_unit_test(a_newton_iteration_is_the_unit),
                                       cmocka_unit_test(work_is_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
