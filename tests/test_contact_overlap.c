/* SPDX-License-Identifier: MIT
 *
 * test_contact_overlap.c: starts that overlap are accepted: what is inside a closed collider is led out of it, bodies
 * that are within each other are counted, and whatever the start, no step is not finite.
 */
#include "contact_worlds.h"
#include "random_cases.h"

/* Particles of a body that are within a box of half sizes around the origin. */
static int32_t inside_box(const sinew_world *world, const double half[3])
{
    sinew_real *q = positions_of(world);
    int32_t count = 0;
    for (int32_t i = 0; i < sinew_world_particle_count(world); i++) {
        bool within = true;
        for (int k = 0; k < 3; k++)
            within = within && fabs((double)q[3 * i + k]) < half[k];
        count += within;
    }
    free(q);
    return count;
}

static sinew_collider add_solid(sinew_world *world, sinew_shape_kind kind)
{
    sinew_collider_def def = sinew_default_collider_def(kind);
    def.size[0] = def.size[2] = 1;
    def.size[1] = (sinew_real)0.4;
    def.radius = (sinew_real)0.5;
    def.segments = 16;
    return add_collider(world, &def);
}

/* A box that sits a third of its height deep in a solid comes out on top and rests there. */
static void lead_out(sinew_shape_kind kind, sinew_solver_kind solver)
{
    sinew_world *world = make_touching_world(solver, 1);
    set_touch(world, 4e-3, 0.3);
    add_solid(world, kind);
    add_box(world, solver, 2, 0.2, (const double[]){0, 0.24, 0}, 1e5);
    const double half[3] = {0.4, 0.198, 0.4};
    assert_true(inside_box(world, half) >= 9);
    sinew_contact_report report;
    double deepest = 0;
    for (int i = 0; i < 90; i++) {
        const uint32_t bits = sinew_world_step(world, NULL);
        assert_false(bits & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED));
        assert_int_equal(sinew_world_contact_report(world, &report, NULL), SINEW_OK);
        deepest = i == 0 ? report.violation : deepest;
    }
    const char *name = sinew_get_solver_info(solver)->name;
    if (inside_box(world, half) > 0)
        fail_msg("%s: %d particles are still inside", name, (int)inside_box(world, half));
    if (deepest < 0.03)
        fail_msg("%s: the first step reports a violation of %g m only", name, deepest);
    sinew_real *q = positions_of(world);
    for (int32_t i = 0; i < sinew_world_particle_count(world); i++)
        if (!((double)q[3 * i + 1] < 1))
            fail_msg("%s: a particle was shot to %g m", name, (double)q[3 * i + 1]);
    free(q);
    sinew_world_destroy(world);
}

static void led_out(void **state)
{
    (void)state;
    static const sinew_shape_kind kinds[] = {SINEW_SHAPE_BOX, SINEW_SHAPE_CYLINDER};
    random_cases r = random_cases_begin("solids to be led out of", 3, 2 * TOUCH_SOLVERS);
    const int first = random_index(&r, 2 * TOUCH_SOLVERS);
    for (int i = first; i < first + r.count; i++)
        lead_out(kinds[i % 2], touch_solvers[i / 2 % TOUCH_SOLVERS]);
}

/* Some bodies and colliders thrown together. */
static sinew_world *make_mess(random_cases *r, sinew_solver_kind solver)
{
    sinew_world *world = make_touching_world(solver, 1);
    set_touch(world, random_magnitude(r, 1e-4, 2e-2), random_between(r, 0, 1));
    if (random_index(r, 2))
        add_floor(world);
    for (int b = 0; b < 3; b++)
        add_box(world, solver, 1 + random_index(r, 2), random_between(r, 0.1, 0.4),
                (const double[]){random_between(r, -0.2, 0.2), random_between(r, 0, 0.4), random_between(r, -0.2, 0.2)},
                random_magnitude(r, 1e4, 1e6));
    const int colliders = random_index(r, 3);
    for (int k = 0; k < colliders; k++) {
        const sinew_shape_kind kinds[] = {SINEW_SHAPE_BOX, SINEW_SHAPE_SPHERE, SINEW_SHAPE_CAPSULE,
                                          SINEW_SHAPE_CYLINDER};
        sinew_collider_def def = sinew_default_collider_def(kinds[random_index(r, 4)]);
        for (int c = 0; c < 3; c++) {
            def.size[c] = (sinew_real)random_between(r, 0.1, 0.4);
            def.position[c] = (sinew_real)random_between(r, -0.2, 0.4);
            def.rotation[c] = (sinew_real)random_between(r, -2, 2);
        }
        def.radius = (sinew_real)random_between(r, 0.05, 0.2);
        def.segments = 8;
        def.hollow = def.kind == SINEW_SHAPE_BOX && random_index(r, 3) == 0;
        add_collider(world, &def);
    }
    return world;
}

static void anything_goes(void **state)
{
    (void)state;
#ifdef SINEW_SANITIZED
    random_cases r = random_cases_begin("overlapping starts", 4, 100);
#else
    random_cases r = random_cases_begin("overlapping starts", TOUCH_SOLVERS, 1000);
#endif
    int32_t crossed = 0, fewer = 0, more = 0;
    const int first = random_index(&r, TOUCH_SOLVERS);
    for (int32_t i = 0; i < r.count; i++) {
        const uint64_t seed = r.state;
        const sinew_solver_kind solver = touch_solvers[(first + i) % TOUCH_SOLVERS];
        sinew_world *world = make_mess(&r, solver);
        sinew_contact_report report = {0};
        int32_t before = 0, listed = 0;
        assert_int_equal(sinew_world_crossings(world, 0, NULL, &listed, NULL), SINEW_OK);
        for (int k = 0; k < 10; k++) {
            const uint32_t bits = sinew_world_step(world, NULL);
            if (bits & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED))
                fail_msg("case %d (state %llu), %s: step %d: %s", (int)i, (unsigned long long)seed,
                         sinew_get_solver_info(solver)->name, k, sinew_step_bit_name(bits & 2 ? 2 : 32));
            assert_int_equal(sinew_world_contact_report(world, &report, NULL), SINEW_OK);
            assert_true(report.crossings >= 0);
            if (k == 0)
                assert_int_equal(report.crossings_before, listed);
            before = k == 0 ? report.crossings_before : before;
        }
        assert_int_equal(sinew_world_crossings(world, 0, NULL, &listed, NULL), SINEW_OK);
        assert_int_equal(report.crossings, listed);
        crossed += before > 0;
        fewer += report.crossings < before;
        more += report.crossings > before;
        sinew_world_destroy(world);
    }
    print_message("%d of %d starts crossed; after 10 steps %d had fewer crossings, %d more\n", (int)crossed,
                  (int)r.count, (int)fewer, (int)more);
    assert_true(r.count < 8 || crossed > r.count / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(led_out),
        cmocka_unit_test(anything_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
