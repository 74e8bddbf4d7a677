/* SPDX-License-Identifier: MIT
 *
 * test_rigid_contact.c: rigid bodies touch with their own surfaces. Random scenes of boxes and balls against each
 * other, a soft body and a moving collider: nothing crosses (by brute force), bodies stay rigid, threads and resumed
 * states give the same bits. The list of contacts bears the weight, and its particles and weights give its points.
 */
#include "rigid_contact_scenes.h"

#include "saved_state.h"

enum {
    RIGID_MAX = 5,
    STEPS = 30
};

static const sinew_solver_kind solvers[] = {SINEW_SOLVER_XPBD, SINEW_SOLVER_PBD, SINEW_SOLVER_NEWTON,
                                            SINEW_SOLVER_PBNG};

/* A random scene; the same draw gives the same scene. */
typedef struct rigid_scene {
    sinew_world *world;
    sinew_body rigid[RIGID_MAX], soft;
    sinew_mesh *frames[RIGID_MAX], *soft_mesh;
    sinew_collider floor, pusher;
    int count;
    bool affine; /* the solver takes affine bodies */
} rigid_scene;

static void scene_add_rigid(rigid_scene *s, random_cases *r, int k)
{
    const double size = random_between(r, 0.08, 0.16);
    sinew_mesh *mesh = random_index(r, 2) ? make_ball(3, size / 2)
                                          : make_beam(1 + random_index(r, 2), 1, 1 + random_index(r, 2), size,
                                                      size * random_between(r, 0.3, 1), size);
    rigid_start start;
    sinew_error error = {0};
    for (int i = 0; i < 3; i++) {
        start.middle[i] = (i == 1 ? 0.15 + 0.34 * k : 0) + random_between(r, -0.03, 0.03);
        start.w[i] = random_between(r, -2, 2);
        start.v[i] = random_between(r, -3, 3);
        start.spin[i] = random_between(r, -20, 20);
    }
    s->frames[k] = sinew_mesh_frame(mesh, &error);
    must(&error);
    s->rigid[k] = add_rigid_shape(s->world, mesh, random_magnitude(r, 100, 5000), &start);
}

static rigid_scene make_rigid_scene(random_cases *r, int threads)
{
    sinew_world_def def = sinew_default_world_def();
    rigid_scene s = {.count = 2 + random_index(r, RIGID_MAX - 1)};
    const sinew_solver_kind solver = solvers[random_index(r, (int)(sizeof solvers / sizeof solvers[0]))];
    s.affine = solver == SINEW_SOLVER_NEWTON || solver == SINEW_SOLVER_PBNG;
    def.thread_count = threads;
    def.solver = sinew_default_solver_def(solver);
    def.solver.iterations = 1 + random_index(r, 20);
    def.time_step = (sinew_real)random_magnitude(r, 2e-3, 2e-2);
    s.world = make_world(&def);
    set_touch(s.world, RIGID_THICKNESS, random_between(r, 0, 1));
    s.floor = add_floor(s.world);
    for (int k = 0; k < s.count; k++)
        scene_add_rigid(&s, r, k);
    s.soft_mesh = make_beam(2, 1, 2, 0.2, 0.1, 0.2);
    const double middle[3] = {random_between(r, -0.1, 0.1), 0.2 + 0.34 * s.count, 0};
    s.soft = add_box(s.world, solver, 2, 0.15, middle, random_magnitude(r, 1e4, 1e6));
    sinew_mesh_destroy(s.soft_mesh);
    s.soft_mesh = make_beam(2, 2, 2, 0.15, 0.15, 0.15);
    sinew_collider_def pusher = sinew_default_collider_def(SINEW_SHAPE_BOX);
    const double turn = random_between(r, -8, 8);
    const sinew_key keys[2] = {{0}, {1, {(sinew_real)random_between(r, 1, 4), 0, 0}, {0, (sinew_real)turn, 0}}};
    const sinew_motion motion = {.key_count = 2, .keys = keys};
    for (int i = 0; i < 3; i++)
        pusher.size[i] = (sinew_real)(i == 1 ? 0.4 : 0.1);
    pusher.position[0] = (sinew_real)-0.4;
    pusher.position[1] = (sinew_real)0.25;
    pusher.motion = &motion;
    s.pusher = add_collider(s.world, &pusher);
    return s;
}

static void free_rigid_scene(rigid_scene *s)
{
    sinew_world_destroy(s->world);
    sinew_mesh_destroy(s->soft_mesh);
    for (int k = 0; k < s->count; k++)
        sinew_mesh_destroy(s->frames[k]);
}

/* ---- No crossing -------------------------------------------------------------------------------- */

static void check_crossings(const rigid_scene *s, int step, uint64_t seed)
{
    shown_surface all[RIGID_MAX + 2];
    int count = 0;
    for (int k = 0; k < s->count; k++)
        all[count++] = shown_body(s->world, s->rigid[k], NULL);
    all[count++] = shown_body(s->world, s->soft, s->soft_mesh);
    all[count++] = shown_collider(s->world, s->pusher);
    for (int a = 0; a < count; a++) {
        for (int b = 0; b < a; b++)
            if (count_crossings(&all[a], &all[b]) > 0)
                fail_msg("SINEW_SEED=%llu, step %d: objects %d and %d of %d cross", (unsigned long long)seed, step, b,
                         a, s->count);
        for (int32_t c = 0; a + 1 < count && c < 3 * all[a].triangle_count; c++) {
            const double height = (double)all[a].x[3 * all[a].triangles[c] + 1];
            if (!(height > 0))
                fail_msg("SINEW_SEED=%llu, step %d: object %d of %d is in the floor, %g m", (unsigned long long)seed,
                         step, a, s->count, height);
        }
    }
    for (int k = 0; k < count; k++)
        shown_free(&all[k]);
}

static void nothing_crosses(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("rigid bodies in contact", 6, 400);
    double worst[2] = {0, 0};
    for (int32_t n = 0; n < r.count; n++) {
        const uint64_t seed = r.state;
        rigid_scene s = make_rigid_scene(&r, 1);
        for (int step = 0; step < STEPS; step++) {
            const uint32_t bits = sinew_world_step(s.world, NULL);
            if (bits & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED | SINEW_STEP_INTERSECTING))
                fail_msg("SINEW_SEED=%llu, step %d: bits %x", (unsigned long long)seed, step, (unsigned)bits);
            check_crossings(&s, step, seed);
            for (int k = 0; k < s.count; k++)
                worst[s.affine] = fmax(worst[s.affine], rigid_strain(s.world, s.rigid[k], s.frames[k]));
        }
        free_rigid_scene(&s);
    }
    printf("largest error of a distance within a rigid body: %.2g, affine %.2g\n", worst[0], worst[1]);
}

/* ---- Bits --------------------------------------------------------------------------------------- */

static void threads_and_states_give_the_same_bits(void **unused)
{
    (void)unused;
    random_cases draw = random_cases_begin("bits of rigid contact", 3, 60);
    for (int32_t n = 0; n < draw.count; n++) {
        const random_cases from = draw;
        uint64_t hashes[3];
        saved half = {0};
        for (int k = 0; k < 3; k++) {
            draw = from;
            rigid_scene s = make_rigid_scene(&draw, k == 1 ? 3 : 1);
            if (k == 2) {
                sinew_error error = {0};
                assert_int_equal(sinew_world_state_load(s.world, half.bytes, half.size, &error), SINEW_OK);
            }
            for (int step = k == 2 ? STEPS / 2 : 0; step < STEPS; step++) {
                if (k == 0 && step == STEPS / 2)
                    half = save(s.world);
                sinew_world_step(s.world, NULL);
            }
            hashes[k] = sinew_world_state_hash(s.world);
            free_rigid_scene(&s);
        }
        free(half.bytes);
        assert_true(hashes[0] == hashes[1]);
        assert_true(hashes[0] == hashes[2]);
    }
}

/* ---- Report ------------------------------------------------------------------------------------- */

/* A box on a box on the floor, at rest: the lower pair of surfaces bears both weights, the upper one. */
static void contacts_bear_the_weight(void **unused)
{
    (void)unused;
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.solver = sinew_default_solver_def(SINEW_SOLVER_XPBD);
    def.solver.iterations = 100;
    sinew_world *world = make_world(&def);
    set_touch(world, RIGID_THICKNESS, 0.5);
    add_floor(world);
    const double size = 0.2, mass = 500 * size * size * size;
    sinew_body boxes[2];
    for (int k = 0; k < 2; k++) {
        const rigid_start start = {.middle = {0.01 * k, (k + 0.5) * size + (k + 1) * RIGID_THICKNESS, 0}};
        boxes[k] = add_rigid_shape(world, make_beam(1, 1, 1, size, size, size), 500, &start);
    }
    for (int step = 0; step < 200; step++)
        sinew_world_step(world, NULL);
    sinew_contact list[64];
    int32_t count;
    sinew_error error = {0};
    assert_int_equal(sinew_world_contacts(world, 64, list, &count, &error), SINEW_OK);
    double load[2] = {0, 0};
    for (int32_t c = 0; c < count; c++) {
        const bool upper = list[c].b.body.index >= 0;
        double sums[2] = {0, 0};
        load[upper] += list[c].force * fabs((double)list[c].normal[1]);
        for (int k = 0; k < SINEW_CONTACT_PARTICLES_MAX; k++) {
            const int32_t p = list[c].particles[k], a = sinew_body_first_particle(world, list[c].a.body);
            if (p < 0)
                continue;
            sums[p < a || p >= a + 4] += (double)list[c].weights[k];
        }
        assert_true(fabs(sums[0] - 1) < 1e-5 && fabs(sums[1] + upper) < 1e-5);
        double point[3] = {0, 0, 0};
        for (int k = 0; k < SINEW_CONTACT_PARTICLES_MAX; k++) {
            sinew_real x[3];
            const int32_t p = list[c].particles[k], a = sinew_body_first_particle(world, list[c].a.body);
            if (p < a || p >= a + 4)
                continue;
            sinew_world_get_positions(world, p, 1, x);
            for (int i = 0; i < 3; i++)
                point[i] += (double)list[c].weights[k] * (double)x[i];
        }
        for (int i = 0; i < 3; i++)
            assert_true(fabs(point[i] - (double)list[c].point[i]) < 1e-5);
    }
    print_message("loads %g and %g N for %g N each\n", load[0], load[1], mass * 9.81);
    assert_true(fabs(load[0] - 2 * mass * 9.81) < 0.02 * mass * 9.81);
    assert_true(fabs(load[1] - mass * 9.81) < 0.02 * mass * 9.81);
    /* The gap between the boxes is the thickness. */
    sinew_real low[12], high[12];
    double gap = 0;
    sinew_world_get_positions(world, sinew_body_first_particle(world, boxes[0]), 4, low);
    sinew_world_get_positions(world, sinew_body_first_particle(world, boxes[1]), 4, high);
    for (int a = 0; a < 4; a++)
        gap += ((double)high[3 * a + 1] - (double)low[3 * a + 1]) / 4;
    assert_true(fabs(gap - size - RIGID_THICKNESS) < 0.02 * RIGID_THICKNESS);
    sinew_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_crosses),
                                       cmocka_unit_test(threads_and_states_give_the_same_bits),
                                       cmocka_unit_test(contacts_bear_the_weight)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
