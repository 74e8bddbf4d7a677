/* SPDX-License-Identifier: MIT
 *
 * test_refresh_factors.c: pd, qn and admm in changing worlds: a refreshed solver against a newly built one, bit for
 * bit; low-rank elements beside the factor against the same elements in it; converged steps against Newton's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "world_case.h"

#ifdef SINEW_SANITIZED
#define FEWER 4
#else
#define FEWER 1
#endif

/* ---- Refreshed against newly built --------------------------------------------------------------- */

/* A world that changes after its first step, and one built in the changed form, have the same bits from then on. ADMM
 * gets a fixed weight, since the automatic weight depends on the history. */
static void compare_bits(random_cases *r, sinew_solver_kind kind, change what)
{
    world_case before = draw_case(r, kind);
    const world_case after = change_case(r, what, &before);
    sinew_solver_def solver = solver_of(kind, 3, random_index(r, 3) == 0);
    if (kind == SINEW_SOLVER_ADMM)
        solver.parameters[sinew_solver_parameter(kind, "weight")] = (sinew_real)1.5;
    built a = build_case(&before, &solver, NULL, false), b = build_case(&after, &solver, NULL, false);
    sinew_world_step(a.world, NULL);
    apply_change(&a, &before, &after);
    copy_state(&a, &b, &after);
    if (what == CHANGE_ITERATIONS) {
        solver.iterations = 5;
        sinew_world_set_solver(a.world, &solver, NULL);
        sinew_world_set_solver(b.world, &solver, NULL);
    }
    for (int i = 0; i < 2; i++) {
        const uint32_t bits = sinew_world_step(a.world, NULL), other = sinew_world_step(b.world, NULL);
        if (bits != other || largest_difference(&a, &b) != 0) {
            print_scene(&after.scene);
            fail_msg("change %d of %s: bits %u %u, off by %g", what, sinew_get_solver_info(kind)->name, bits, other,
                     largest_difference(&a, &b));
        }
    }
    free_built(&a);
    free_built(&b);
}

static void test_bits(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("refreshed against fresh", 4 / FEWER, 100);
    for (int32_t i = 0; i < r.count; i++)
        for (size_t k = 0; k < 3; k++)
            for (int what = 0; what < CHANGE_COUNT; what++)
                compare_bits(&r, kinds[k], (change)what);
}

/* ---- Beside the factor against in it --------------------------------------------------------- */

/* A few iterations, far from convergence, with low-rank terms beside the factor and with all elements in the factor:
 * iterates agree to round-off. */
static void compare_algebra(random_cases *r, sinew_solver_kind kind, change what)
{
    world_case before = draw_case(r, kind);
    world_case after = change_case(r, what, &before);
    const int32_t few = few_rows(&after);
    if (after.pair_count + 3 * after.off_count > few)
        after.pair_count = few > 3 * after.off_count ? few - 3 * after.off_count : 0;
    sinew_solver_def solver = solver_of(kind, 3, random_index(r, 3) == 0);
    if (kind == SINEW_SOLVER_ADMM)
        solver.parameters[sinew_solver_parameter(kind, "weight")] = 1;
    built a = build_case(&before, &solver, NULL, false);
    sinew_world_step(a.world, NULL);
    apply_change(&a, &before, &after);
    built b = build_case(&after, &solver, NULL, true);
    copy_state(&a, &b, &after);
    sinew_world_step(a.world, NULL);
    sinew_world_step(b.world, NULL);
    const double off = largest_difference(&a, &b) / after.scene.size, max = sizeof(sinew_real) == 4 ? 2e-3 : 1e-8;
    if (!(off <= max)) {
        print_scene(&after.scene);
        fail_msg("change %d of %s, %d pairs of %g N/m, %d off: %g of the size", what, sinew_get_solver_info(kind)->name,
                 after.pair_count, after.pair_stiffness, after.off_count, off);
    }
    free_built(&a);
    free_built(&b);
}

static void test_algebra(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("beside the factor against in it", 4 / FEWER, 100);
    for (int32_t i = 0; i < r.count; i++)
        for (size_t k = 0; k < 3; k++)
            for (int what = CHANGE_DATA; what < CHANGE_COUNT; what++)
                compare_algebra(&r, kinds[k], (change)what);
}

/* ---- Converged, against Newton --------------------------------------------------------------- */

/* Returns whether both converged. */
static bool compare_converged(random_cases *r, sinew_solver_kind kind, change what)
{
    world_case before = draw_case(r, kind);
    while (!drawn_is_solid(&before.scene)) /* compressed springs have several minima */
        before = draw_case(r, kind);
    before.pair_stiffness *= 0.02; /* strong pairs cause several minima, too */
    world_case after = change_case(r, what, &before);
    sinew_solver_def solver = solver_of(kind, 4000, false), newton = solver_of(SINEW_SOLVER_NEWTON, 200, false);
    const bool single = sizeof(sinew_real) == 4;
    solver.tolerance = newton.tolerance = (sinew_real)(single ? 9e-5 : 1e-11);
    solver.measure = newton.measure = SINEW_MEASURE_RESIDUAL;
    built a = build_case(&before, &solver, NULL, false);
    sinew_world_step(a.world, NULL);
    apply_change(&a, &before, &after);
    built b = build_case(&after, &newton, NULL, true);
    copy_state(&a, &b, &after);
    bool good = sinew_world_step(a.world, NULL) == 0;
    good = sinew_world_step(b.world, NULL) == 0 && good;
    const double off = largest_difference(&a, &b) / after.scene.size;
    if (good && !(off <= (single ? 2e-2 : 1e-8))) {
        print_scene(&after.scene);
        fail_msg("change %d of %s, %d pairs of %g N/m, %d off: %g of the size from Newton's", what,
                 sinew_get_solver_info(kind)->name, after.pair_count, after.pair_stiffness, after.off_count, off);
    }
    free_built(&a);
    free_built(&b);
    return good;
}

static void test_converged(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("converged against Newton", 1, 30);
    int good = 0, all = 0;
    for (int32_t i = 0; i < r.count; i++)
        for (size_t k = 0; k < 3; k++)
            for (int what = CHANGE_DATA; what <= CHANGE_ALL; what++) {
                good += compare_converged(&r, kinds[k], (change)what);
                all++;
            }
    print_message("%d of %d converged\n", good, all);
    assert_true(sizeof(sinew_real) == 4 ? good > 0 : 2 * good >= all);
}

/* ---- Disabled elements ----------------------------------------------------------------------------- */

/* The last particle of a rope hangs on its last spring: without the spring it falls freely. */
static void test_light_particle(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++)
        for (int stiff = 0; stiff < 2; stiff++) {
            sinew_world_def def = sinew_default_world_def();
            sinew_error error = {0};
            def.thread_count = 1;
            def.time_step = (sinew_real)0.01;
            def.solver = solver_of(kinds[k], 30, false);
            sinew_world *world = make_world(&def);
            sinew_mesh *mesh = make_rope(4, (double[]){0, 0, 0}, (double[]){0.3, 0, 0});
            const sinew_body body = add_mesh(world, mesh, 1e-3, NULL, NULL);
            const sinew_energy springs = add_springs(world, body, stiff ? 1e11 : 1e2);
            const int32_t first = 0, last = 2;
            add_pins(world, body, &first, 1, NULL);
            sinew_world_step(world, NULL);
            sinew_real before[12], v[12], after[12];
            sinew_world_get_positions(world, 0, 4, before);
            sinew_world_get_velocities(world, 0, 4, v);
            sinew_energy_switch(world, springs, &last, 1, false, &error);
            must(&error);
            sinew_world_step(world, NULL);
            sinew_world_get_positions(world, 0, 4, after);
            for (int c = 0; c < 3; c++) {
                const double g = c == 1 ? -9.81 : 0;
                const double there = (double)before[9 + c] + 0.01 * (double)v[9 + c] + 1e-4 * g;
                assert_true(fabs((double)after[9 + c] - there) <= (sizeof(sinew_real) == 4 ? 1e-6 : 1e-12));
            }
            sinew_world_destroy(world);
            sinew_mesh_destroy(mesh);
        }
}

/* Most springs of a cloth are disabled and enabled again: the numeric factor is recomputed. */
static void test_many_off(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("many switched off", 1, 20);
    for (int32_t i = 0; i < r.count; i++)
        for (size_t k = 0; k < 3; k++) {
            world_case before = draw_case(&r, kinds[k]);
            before.scene.mesh = DRAWN_CLOTH;
            before.scene.energy = SINEW_ENERGY_SPRING;
            before.scene.cells = 4;
            before.scene.stiffness = drawn_number(random_magnitude(&r, 1e2, 1e4));
            before.pair_count = random_index(&r, 2) * 20;
            world_case after = before;
            after.off_count = 1500;
            sinew_solver_def solver = solver_of(kinds[k], 3, false);
            if (kinds[k] == SINEW_SOLVER_ADMM)
                solver.parameters[sinew_solver_parameter(kinds[k], "weight")] = 1;
            built a = build_case(&before, &solver, NULL, false), b = build_case(&after, &solver, NULL, true);
            sinew_world_step(a.world, NULL);
            apply_change(&a, &before, &after);
            copy_state(&a, &b, &after);
            sinew_world_step(a.world, NULL);
            sinew_world_step(b.world, NULL);
            const double off = largest_difference(&a, &b) / after.scene.size;
            if (!(off <= (sizeof(sinew_real) == 4 ? 1e-2 : 1e-8))) {
                print_scene(&after.scene);
                fail_msg("%s: %g of the size", sinew_get_solver_info(kinds[k])->name, off);
            }
            free_built(&b);
            b = build_case(&before, &solver, NULL, false);
            apply_change(&a, &after, &before);
            copy_state(&a, &b, &before);
            sinew_world_step(a.world, NULL);
            sinew_world_step(b.world, NULL);
            assert_true(largest_difference(&a, &b) == 0);
            free_built(&a);
            free_built(&b);
        }
}

/* ---- Quasistatic ----------------------------------------------------------------------------------- */

enum {
    HELD_BY = 6
};

/* A pinned box, and one above it that only pairs hold. */
static sinew_world *make_hanging(const sinew_solver_def *solver, const sinew_mesh *mesh, double stiffness,
                                 sinew_energy *pairs)
{
    sinew_world_def def = sinew_default_world_def();
    def.quasistatic = true;
    def.thread_count = 1;
    def.solver = *solver;
    sinew_world *world = make_world(&def);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    for (int i = 0; i < 2; i++) {
        const sinew_body body = add_mesh(world, mesh, 1000, NULL, NULL);
        add_material(world, body, SINEW_ENERGY_STRAIN, 1e6, 0);
        if (i == 0)
            add_pins(world, body, (const int32_t[]){0, 1, 2, 3, 4, 5}, 6, NULL);
    }
    int32_t elements[8 * HELD_BY];
    sinew_real weights[8 * HELD_BY];
    for (int i = 0; i < 8 * HELD_BY; i++) {
        elements[i] = (i / 8 * 3 + i % 4) % n + (i % 8 < 4 ? 0 : n);
        weights[i] = (sinew_real)0.25;
    }
    sinew_energy_def weak = sinew_default_energy_def(SINEW_ENERGY_WEAK);
    weak.body.index = -1;
    weak.elements = elements;
    weak.weights = weights;
    weak.element_count = HELD_BY;
    weak.parameters[0] = weak.parameters[1] = (sinew_real)stiffness;
    *pairs = add_energy(world, &weak);
    return world;
}

static void test_held_by_pairs(void **state)
{
    (void)state;
    sinew_mesh *mesh = make_beam(2, 2, 2, 1, 1, 1);
    const size_t size = 3 * 2 * (size_t)sinew_mesh_vertex_count(mesh);
    for (size_t k = 0; k < 3; k++) {
        sinew_solver_def solver = solver_of(kinds[k], 3000, false), newton = solver_of(SINEW_SOLVER_NEWTON, 100, false);
        solver.tolerance = newton.tolerance = (sinew_real)(sizeof(sinew_real) == 4 ? 1e-4 : 1e-10);
        sinew_energy pairs, other;
        sinew_world *a = make_hanging(&solver, mesh, 1e5, &pairs), *b = make_hanging(&newton, mesh, 3e5, &other);
        assert_int_equal(sinew_world_step(a, NULL) & SINEW_STEP_UNPREPARED, 0);
        sinew_energy_set_parameter(a, pairs, "normal_stiffness", (sinew_real)3e5, NULL);
        sinew_energy_set_parameter(a, pairs, "tangent_stiffness", (sinew_real)3e5, NULL);
        assert_int_equal(sinew_world_step(a, NULL) & SINEW_STEP_UNPREPARED, 0);
        assert_int_equal(sinew_world_step(b, NULL) & SINEW_STEP_UNPREPARED, 0);
        sinew_real *x = positions_of(a), *y = positions_of(b);
        for (size_t i = 0; i < size; i++)
            assert_true(fabs((double)x[i] - (double)y[i]) <= (sizeof(sinew_real) == 4 ? 1e-2 : 1e-7));
        free(x);
        free(y);
        sinew_world_destroy(a);
        sinew_world_destroy(b);
    }
    sinew_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),           cmocka_unit_test(test_algebra),  cmocka_unit_test(test_converged),
        cmocka_unit_test(test_light_particle), cmocka_unit_test(test_many_off), cmocka_unit_test(test_held_by_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
