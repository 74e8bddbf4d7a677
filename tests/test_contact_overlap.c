/* SPDX-License-Identifier: MIT
 *
 * test_contact_overlap.c: overlapping initial states are accepted. Bodies inside a closed collider are pushed out,
 * intersecting bodies are counted, and every step is finite. The reported penetration is compared with all pairs, and
 * the status with that of a lighter world.
 */
#include "collide/contact_list.h"
#include "contact_worlds.h"
#include "random_cases.h"

/* Number of a body's particles in a box of half sizes `half` around the origin. */
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

/* A box that penetrates a solid by a third of its height is pushed out on top and rests there. */
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

/* Random overlapping bodies and colliders. */
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
    random_cases r = random_cases_begin("overlapping starts", TOUCH_SOLVERS, 300);
#endif
    int32_t crossed = 0, fewer = 0, more = 0;
    const int first = random_index(&r, TOUCH_SOLVERS);
    for (int32_t i = 0; i < r.count; i++) {
        const uint64_t seed = r.state;
        const sinew_solver_kind solver = touch_solvers[(first + i) % TOUCH_SOLVERS];
        sinew_world *world = make_mess(&r, solver);
        sinew_contact_report report = {0};
        int32_t before = 0, listed = 0;
        assert_int_equal(sinew_world_intersections(world, 0, NULL, &listed, NULL), SINEW_OK);
        for (int k = 0; k < 10; k++) {
            const uint32_t bits = sinew_world_step(world, NULL);
            if (bits & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED))
                fail_msg("case %d (state %llu), %s: step %d: %s", (int)i, (unsigned long long)seed,
                         sinew_get_solver_info(solver)->name, k, sinew_step_bit_name(bits & 2 ? 2 : 32));
            assert_int_equal(sinew_world_contact_report(world, &report, NULL), SINEW_OK);
            assert_true(report.intersections >= 0);
            if (k == 0)
                assert_int_equal(report.intersections_before, listed);
            before = k == 0 ? report.intersections_before : before;
        }
        assert_int_equal(sinew_world_intersections(world, 0, NULL, &listed, NULL), SINEW_OK);
        assert_int_equal(report.intersections, listed);
        crossed += before > 0;
        fewer += report.intersections < before;
        more += report.intersections > before;
        sinew_world_destroy(world);
    }
    print_message("%d of %d starts crossed; after 10 steps %d had fewer crossings, %d more\n", (int)crossed,
                  (int)r.count, (int)fewer, (int)more);
    assert_true(r.count < 8 || crossed > r.count / 4);
}

/* ---- Penetration depth ------------------------------------------------------------------------- */

/* The reported penetration is the largest thickness less distance over pairs of two objects, and at least 0. Pairs with
 * planes and with vertices inside a collider do not count. */
static void the_deepest_pair_is_reported(void **unused)
{
    (void)unused;
    enum {
        PAIRS = 5
    };
    random_cases r = random_cases_begin("penetrations", 200, 10000);
    for (int32_t k = 0; k < r.count; k++) {
        sinew_collision_object objects[2] = {{.half_thickness = random_between(&r, 0.001, 0.01)},
                                             {.half_thickness = random_between(&r, 0.001, 0.01)}};
        int32_t object[4] = {0, 1, 1, 1};
        const sinew_collision_mesh mesh = {.object_count = 2, .vertex_count = 4, .objects = objects, .object = object};
        const double thickness = objects[0].half_thickness + objects[1].half_thickness;
        sinew_candidate list[PAIRS];
        const sinew_candidates pairs = {.list = list, .count = random_index(&r, PAIRS + 1)};
        double deepest = 0;
        for (int i = 0; i < PAIRS; i++) {
            list[i] = (sinew_candidate){.v = {0, 1, 2, 3},
                                        .distance = (sinew_real)random_between(&r, 0, 3 * thickness),
                                        .kind = random_index(&r, 4) ? SINEW_CANDIDATE_VERTEX_FACE
                                                                    : SINEW_CANDIDATE_VERTEX_PLANE,
                                        .inside = random_index(&r, 4) == 0};
            if (i < pairs.count && list[i].kind == SINEW_CANDIDATE_VERTEX_FACE && !list[i].inside)
                deepest = fmax(deepest, thickness - (double)list[i].distance);
        }
        const sinew_penetration found = sinew_candidates_penetration(&mesh, &pairs, NULL, NULL, NULL);
        assert_true(fabs(found.violation - deepest) <= 1e-12);
        assert_true(fabs(found.fraction - deepest / thickness) <= 1e-9);
    }
}

/* ---- Scaling of mass --------------------------------------------------------------------------- */

/* Status bits of the steps of a box that slides on a floor; `factor` scales mass and stiffness. */
static uint32_t slide_box(double factor, int iterations, uint32_t *bits, int count)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.solver = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    def.solver.iterations = iterations;
    def.solver.tolerance = 0;
    sinew_world *world = make_world(&def);
    set_touch(world, 4e-3, 0.5);
    add_floor(world);
    sinew_mesh *mesh = make_beam(2, 2, 2, 0.1, 0.1, 0.1);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    sinew_real *x = make_array(3 * (size_t)n, sizeof *x), *v = make_array(3 * (size_t)n, sizeof *v);
    for (int32_t i = 0; i < 3 * n; i++) {
        x[i] = sinew_mesh_positions(mesh)[i] + (sinew_real)(i % 3 == 1 ? 0.06 : 0);
        v[i] = (sinew_real)(i % 3 == 1 ? -1 : i % 3 == 0 ? 1 : 0);
    }
    const sinew_body body = add_mesh(world, mesh, 1000 * factor, x, v);
    add_material(world, body, SINEW_ENERGY_STABLE_NEO_HOOKEAN, 1e4 * factor, 0.3);
    uint32_t all = 0;
    for (int i = 0; i < count; i++)
        all |= bits[i] = sinew_world_step(world, NULL);
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
    free(x);
    free(v);
    return all;
}

/* The unit of force is arbitrary: a box with a millionth of the mass and stiffness has the same motion and status. The
 * factor is a power of two, so that round-off is the same, too. */
static void status_does_not_depend_on_the_mass(void **unused)
{
    (void)unused;
    enum {
        STEPS = 20
    };
    uint32_t seen = 0;
    for (int iterations = 1; iterations <= 4; iterations++) {
        uint32_t heavy[STEPS], light[STEPS];
        seen |= slide_box(1, iterations, heavy, STEPS);
        slide_box(ldexp(1, -20), iterations, light, STEPS);
        for (int i = 0; i < STEPS; i++)
            if (heavy[i] != light[i])
                fail_msg("%d iterations, step %d: bits %x and, where it is light, %x", iterations, i, heavy[i],
                         light[i]);
    }
    assert_true(seen & SINEW_STEP_CONTACT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(led_out),
        cmocka_unit_test(anything_goes),
        cmocka_unit_test(the_deepest_pair_is_reported),
        cmocka_unit_test(status_does_not_depend_on_the_mass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
