/* SPDX-License-Identifier: MIT
 *
 * test_touching.c: bodies that touch when the world starts: boxes face to face, boxes that overlap by round-off,
 * coincident cloths, a cloth on a box, a cloth near a box that touches the floor, lips of a tear. Nothing crosses, by a
 * search of the test's own over all edges and triangles, and nothing is thrown apart.
 */
#include "crossing_count.h"
#include "random_cases.h"

static double largest_speed(const sinew_world *world, const sinew_real *before, double h)
{
    sinew_real *x = positions_of(world);
    double largest = 0;
    for (int32_t i = 0; i < 3 * sinew_world_particle_count(world); i++)
        largest = fmax(largest, fabs((double)x[i] - (double)before[i]) / h);
    free(x);
    return largest;
}

/* ---- Starts ---------------------------------------------------------------------------------- */

static const sinew_solver_kind solvers[] = {SINEW_SOLVER_NEWTON, SINEW_SOLVER_QN,   SINEW_SOLVER_ADMM,
                                            SINEW_SOLVER_PBNG,   SINEW_SOLVER_XPBD, SINEW_SOLVER_PD};

enum {
    SOLVERS = sizeof solvers / sizeof solvers[0],
    STEPS = 25
};

#define SIZE        0.1  /* m: side of the boxes */
#define CROSSED_MAX 1    /* largest number of random tears whose lips cross; measured: 0 of 1200 */
#define TORN_SPEED  20.0 /* m/s: largest speed of torn beams; measured: 7.5 */

/* Moves by at most one unit in the last place of SIZE, either way. */
static double round_off(random_cases *r)
{
    return (random_index(r, 3) - 1) * SIZE * (sizeof(sinew_real) == 4 ? 1.2e-7 : 2.2e-16);
}

/* A stack of boxes on the floor, each face to face with the next, shifted sideways at random or aligned. */
static void add_stack(sinew_world *world, sinew_solver_kind solver, random_cases *r)
{
    const int count = 2 + random_index(r, 2), cells = 1 + random_index(r, 2);
    const bool aligned = random_index(r, 2);
    double height = random_index(r, 2) ? 0 : 1e-3;
    add_floor(world);
    for (int k = 0; k < count; k++) {
        const double across = aligned ? 0 : random_between(r, -0.3, 0.3) * SIZE;
        add_box(world, solver, cells, SIZE, (const double[]){across, height + SIZE / 2, 0}, 1e5);
        height += SIZE + round_off(r);
    }
}

/* Two boxes side by side on the floor. */
static void add_neighbours(sinew_world *world, sinew_solver_kind solver, random_cases *r)
{
    const int cells = 1 + random_index(r, 2);
    add_floor(world);
    add_box(world, solver, cells, SIZE, (const double[]){0, 1e-3 + SIZE / 2, 0}, 1e5);
    add_box(world, solver, cells, SIZE,
            (const double[]){SIZE + round_off(r), 1e-3 + SIZE / 2, random_between(r, 0, 0.5) * SIZE}, 1e5);
}

static sinew_body add_flat_cloth(sinew_world *world, int n, double height)
{
    sinew_error error = {0};
    sinew_cloth_def def = sinew_default_cloth_def();
    def.vertices[0] = def.vertices[1] = n;
    def.size[0] = def.size[1] = (sinew_real)0.2;
    sinew_mesh *flat = sinew_mesh_cloth(&def, &error);
    must(&error);
    const int32_t count = sinew_mesh_vertex_count(flat);
    sinew_real *x = make_array(3 * (size_t)count, sizeof *x);
    for (size_t i = 0; i < (size_t)count; i++) {
        x[3 * i] = sinew_mesh_positions(flat)[3 * i];
        x[3 * i + 1] = (sinew_real)height;
        x[3 * i + 2] = -sinew_mesh_positions(flat)[3 * i + 1];
    }
    const sinew_body body = add_mesh(world, flat, 0.3, x, NULL);
    add_springs(world, body, 200);
    sinew_mesh_destroy(flat);
    free(x);
    return body;
}

/* Two coincident cloths above the floor, of equal or of different meshes. */
static void add_cloths(sinew_world *world, random_cases *r)
{
    const int n = 4 + random_index(r, 4);
    add_floor(world);
    add_flat_cloth(world, n, 5e-3);
    add_flat_cloth(world, random_index(r, 2) ? n : n + 1, 5e-3);
}

/* A cloth on the top face of a box. */
static void add_cloth_on_box(sinew_world *world, sinew_solver_kind solver, random_cases *r)
{
    add_floor(world);
    add_box(world, solver, 1 + random_index(r, 2), SIZE, (const double[]){0.1, 1e-3 + SIZE / 2, -0.1}, 1e5);
    add_flat_cloth(world, 4 + random_index(r, 4), 1e-3 + SIZE + round_off(r));
}

/* A box that touches the floor and is lifted off it, and a cloth so near to its top that the lift would cross it. */
static void add_cloth_near_box(sinew_world *world, sinew_solver_kind solver, random_cases *r)
{
    add_floor(world);
    add_box(world, solver, 1 + random_index(r, 2), SIZE, (const double[]){0.1, SIZE / 2, -0.1}, 1e5);
    add_flat_cloth(world, 4 + random_index(r, 4), SIZE + random_between(r, 6e-3, 18e-3) * 1e-3);
}

static void touching_starts(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("touching starts", 10, 500);
    for (int i = 0; i < r.count; i++) {
        const int start = random_index(&r, 5);
        const sinew_solver_kind solver = solvers[random_index(&r, SOLVERS)];
        sinew_world_def def = sinew_default_world_def();
        def.thread_count = 1;
        def.time_step = (sinew_real)0.01;
        def.solver = sinew_default_solver_def(solver);
        def.solver.iterations = 20;
        sinew_world *world = make_world(&def);
        set_touch(world, 1e-3, 0.4);
        if (start == 0)
            add_stack(world, solver, &r);
        else if (start == 1)
            add_neighbours(world, solver, &r);
        else if (start == 2)
            add_cloths(world, &r);
        else if (start == 3)
            add_cloth_on_box(world, solver, &r);
        else
            add_cloth_near_box(world, solver, &r);
        for (int step = 0; step < STEPS; step++) {
            sinew_real *before = positions_of(world);
            const uint32_t bits = sinew_world_step(world, NULL);
            const int32_t crossings = count_crossings(world);
            const double speed = largest_speed(world, before, 0.01), fall = 9.81 * 0.01 * (step + 1);
            free(before);
            if (bits & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED | SINEW_STEP_INTERSECTING) || crossings > 0)
                fail_msg("case %d, start %d, %s: step %d: %d crossings, bits %x: %s", i, start,
                         sinew_get_solver_info(solver)->name, step, (int)crossings, bits, sinew_world_error(world));
            /* Corners of a cloth whip faster than free fall. */
            if (speed > 1.5 * fall + 0.05)
                fail_msg("case %d, start %d, %s: step %d: thrown at %g m/s", i, start,
                         sinew_get_solver_info(solver)->name, step, speed);
        }
        sinew_world_destroy(world);
    }
}

/* ---- Tears ----------------------------------------------------------------------------------- */

/* A beam that motors pull apart until it tears, and a contact elsewhere. */
typedef struct torn_world {
    sinew_world *world;
    sinew_body body;
} torn_world;

/* A beam with both ends pinned, above a box or a floor that it may fall on; one end moves away. A box rests on the
 * floor far away, so that the world has a contact from the start. */
static torn_world make_torn_world(sinew_solver_kind solver, random_cases *r)
{
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.time_step = (sinew_real)0.01;
    def.solver = sinew_default_solver_def(solver);
    def.solver.iterations = 40;
    torn_world t = {.world = make_world(&def)};
    set_touch(t.world, random_magnitude(r, 1e-3, 5e-3), 0.4);
    add_floor(t.world);
    add_box(t.world, solver, 1, 0.2, (const double[]){5, 0.1025, 5}, 3e4);
    if (random_index(r, 2)) /* under the middle of the beam */
        add_box(t.world, solver, 1, 0.2, (const double[]){0, 0.41, 0}, 3e4);
    sinew_mesh *beam =
        make_beam(5 + random_index(r, 3), 1 + random_index(r, 2), 1 + random_index(r, 2), 0.8, 0.15, 0.15);
    const int32_t count = sinew_mesh_vertex_count(beam);
    sinew_real *x = make_array(3 * (size_t)count, sizeof *x);
    for (int32_t k = 0; k < 3 * count; k++)
        x[k] = sinew_mesh_positions(beam)[k] + (sinew_real)(k % 3 == 1 ? 0.6 : 0);
    t.body = add_mesh(t.world, beam, 500, x, NULL);
    add_material(t.world, t.body, SINEW_ENERGY_NEO_HOOKEAN, 3e4, 0.4);
    const sinew_real away[3] = {(sinew_real)random_between(r, 0.4, 1), (sinew_real)random_between(r, -0.3, 0.3),
                                (sinew_real)random_between(r, -0.3, 0.3)};
    const sinew_key keys[2] = {{0, {0}, {0}}, {(sinew_real)0.3, {away[0], away[1], away[2]}, {0}}};
    const sinew_motion motion = {2, keys, {0}};
    for (int side = 0; side < 2; side++) {
        int32_t held[32];
        const int32_t n = vertices_at(beam, 0, side ? 0.4 : -0.4, side ? 0.4 : -0.4, held);
        sinew_pin_def pin = sinew_default_pin_def();
        pin.body = t.body;
        pin.vertices = held;
        pin.vertex_count = n;
        pin.motion = side ? &motion : NULL;
        sinew_world_add_pins(t.world, &pin, &error);
        must(&error);
    }
    sinew_tear_def tear = sinew_default_tear_def();
    tear.body = t.body;
    tear.limit = (sinew_real)random_between(r, 0.2, 0.5);
    assert_int_equal(sinew_body_set_tear(t.world, &tear, &error), SINEW_OK);
    sinew_mesh_destroy(beam);
    free(x);
    return t;
}

/* Takes 40 steps; returns false if surfaces cross. A step with a crossing must say so. */
static bool tears_without_crossing(const torn_world *t, int number, const char *solver)
{
    for (int step = 0; step < 40; step++) {
        sinew_real *before = positions_of(t->world);
        const int32_t particles = sinew_world_particle_count(t->world);
        const uint32_t bits = sinew_world_step(t->world, NULL);
        const int32_t crossings = count_crossings(t->world);
        const double speed = particles == sinew_world_particle_count(t->world)
                                 ? largest_speed(t->world, before, 0.01)
                                 : 0; /* copies of vertices have no position before */
        free(before);
        if (speed > TORN_SPEED)
            fail_msg("case %d, %s: step %d: thrown apart at %g m/s", number, solver, step, speed);
        if (bits & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED) ||
            (crossings > 0 && !(bits & SINEW_STEP_INTERSECTING)))
            fail_msg("case %d, %s: step %d: %d crossings, bits %x", number, solver, step, (int)crossings, bits);
        if (crossings > 0) {
            print_message("case %d, %s: step %d: %d crossings\n", number, solver, step, (int)crossings);
            return false;
        }
    }
    return true;
}

/* Random beams are pulled apart until they tear, while other bodies touch. Lips of the tear coincide at first: they
 * neither cross nor hold the halves together, and nothing is thrown apart. */
static void torn_beams(void **state)
{
    (void)state;
    static const sinew_solver_kind kinds[] = {SINEW_SOLVER_NEWTON, SINEW_SOLVER_PBNG, SINEW_SOLVER_QN};
    random_cases r = random_cases_begin("tears", 3, 100);
    int torn = 0, crossed = 0;
    for (int i = 0; i < r.count; i++) {
        const sinew_solver_kind solver = kinds[i % 3];
        torn_world t = make_torn_world(solver, &r);
        crossed += !tears_without_crossing(&t, i, sinew_get_solver_info(solver)->name);
        sinew_tear_report report;
        sinew_error error;
        assert_int_equal(sinew_body_torn(t.world, t.body, &report, &error), SINEW_OK);
        torn += report.vertices > 0;
        sinew_world_destroy(t.world);
    }
    print_message("%d of %d tears crossed\n", crossed, r.count);
    assert_true(torn > r.count / 2);
    assert_true(crossed <= CROSSED_MAX);
}

/* ---- Empty space ----------------------------------------------------------------------------- */

/* A swinging cloth that collides with nothing is never truncated. */
static void nothing_to_touch(void **state)
{
    (void)state;
    sinew_error error = {0};
    sinew_world *world = make_touching_world(SINEW_SOLVER_XPBD, 1);
    sinew_contact_def contact = sinew_default_contact_def();
    contact.self = false;
    assert_int_equal(sinew_world_set_contact(world, &contact, &error), SINEW_OK);
    const sinew_body cloth = add_flat_cloth(world, 10, 0);
    const int32_t corner[] = {0};
    add_pins(world, cloth, corner, 1, NULL);
    for (int step = 0; step < 60; step++)
        assert_false(sinew_world_step(world, NULL) & SINEW_STEP_TRUNCATED);
    sinew_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(touching_starts),
        cmocka_unit_test(torn_beams),
        cmocka_unit_test(nothing_to_touch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
