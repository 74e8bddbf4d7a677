/* SPDX-License-Identifier: MIT
 *
 * test_impact_state.c: impacts in progress, which last several steps: in saved states and on several threads, when
 * bodies are removed, moved or replaced, in bodies of several pieces, and in bodies that tear.
 */
#include "impact_worlds.h"
#include "random_cases.h"
#include "saved_state.h"

static const sinew_solver_kind solvers[] = {SINEW_SOLVER_NEWTON, SINEW_SOLVER_QN,   SINEW_SOLVER_PD,
                                            SINEW_SOLVER_ADMM,   SINEW_SOLVER_PBNG, SINEW_SOLVER_XPBD};
enum {
    SOLVERS = sizeof solvers / sizeof solvers[0],
    STEPS = 40
};

/* Soft bodies, whose impacts last 10 to 30 steps, on a plate that moves, and on each other. */
static sinew_world *make_soft_pile(const impact_case *k, uint32_t seed)
{
    sinew_world *world = make_impact(k);
    add_plate(world, (const double[]){next_random(&seed), 1, next_random(&seed)});
    for (int b = 0; b < 3; b++)
        add_impactor(world, k, (const double[]){0.02 * next_random(&seed), IMPACT_SIZE * (0.7 + 1.3 * b), 0},
                     0.3 * next_random(&seed), (const double[]){0.2 * next_random(&seed), -1 - b, 0});
    return world;
}

static impact_case draw_soft(random_cases *r)
{
    impact_case k = impact_default();
    k.solver = solvers[random_index(r, SOLVERS)];
    k.shape = 1 + random_index(r, 2);
    k.young = random_magnitude(r, 5e4, 1e6);
    k.e = random_between(r, 0.3, 1);
    k.mu = random_index(r, 2) ? random_between(r, 0, 1) : 0;
    k.thickness = random_magnitude(r, 1e-3, 5e-3);
    k.h = random_magnitude(r, 1e-3, 5e-3);
    k.gravity = random_index(r, 2) ? 9.81 : 0;
    return k;
}

static bool has_impacts(const saved *s)
{
    for (size_t i = 0; i + 4 <= s->size; i++)
        if (memcmp(s->bytes + i, "IMPT", 4) == 0)
            return true;
    return false;
}

static bool is_mid_impact(const sinew_world *world)
{
    const saved s = save(world);
    const bool any = has_impacts(&s);
    free(s.bytes);
    return any;
}

/* ---- States and threads ---------------------------------------------------------------------------- */

/* A state saved in the middle of impacts continues with the same bits, in a new world and in the old one. */
static void states_go_on(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("states within impacts", 4, 60);
    int within = 0;
    for (int i = 0; i < r.count; i++) {
        const impact_case k = draw_soft(&r);
        const uint32_t seed = 1 + (uint32_t)random_index(&r, 1000000);
        sinew_world *whole = make_soft_pile(&k, seed), *fresh = make_soft_pile(&k, seed);
        const int last = 5 + random_index(&r, STEPS);
        for (int s = 0; s < 3 || (s < last && !(s > 5 && is_mid_impact(whole))); s++)
            impact_step(whole);
        const saved at = save(whole);
        within += has_impacts(&at);
        sinew_error error = {0};
        sinew_world_state_load(fresh, at.bytes, at.size, &error);
        must(&error);
        const saved again = save(fresh);
        assert_int_equal(again.size, at.size);
        assert_memory_equal(again.bytes, at.bytes, at.size);
        for (int s = 0; s < STEPS; s++) {
            impact_step(whole);
            impact_step(fresh);
            if (sinew_world_state_hash(whole) != sinew_world_state_hash(fresh))
                fail_msg("case %d, step %d after loading is another", i, s);
        }
        sinew_world_state_load(whole, at.bytes, at.size, &error);
        must(&error);
        for (int s = 0; s < STEPS; s++)
            impact_step(whole);
        assert_true(sinew_world_state_hash(whole) == sinew_world_state_hash(fresh));
        free(at.bytes);
        free(again.bytes);
        sinew_world_destroy(whole);
        sinew_world_destroy(fresh);
    }
    assert_true(within > 0);
}

static void threads_agree(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("threads within impacts", 2, 30);
    for (int i = 0; i < r.count; i++) {
        impact_case k = draw_soft(&r);
        const uint32_t seed = 1 + (uint32_t)random_index(&r, 1000000);
        sinew_world *worlds[3];
        for (int t = 0; t < 3; t++) {
            k.threads = t + 1;
            worlds[t] = make_soft_pile(&k, seed);
        }
        for (int s = 0; s < STEPS; s++) {
            for (int t = 0; t < 3; t++)
                impact_step(worlds[t]);
            for (int t = 1; t < 3; t++)
                if (sinew_world_state_hash(worlds[t]) != sinew_world_state_hash(worlds[0]))
                    fail_msg("case %d, step %d depends on the number of threads", i, s);
        }
        for (int t = 0; t < 3; t++)
            sinew_world_destroy(worlds[t]);
    }
}

/* A forged impact is refused, or refers to objects that do not exist and is dropped. */
static void forged_impacts(void **state)
{
    (void)state;
    const double bad = NAN, minus = -1;
    const int32_t far = 1 << 29, below = -5;
    impact_case k = impact_default();
    k.young = 1e5;
    k.h = 1e-3;
    sinew_world *world = make_soft_pile(&k, 7);
    for (int s = 0; s < 100 && !is_mid_impact(world); s++)
        impact_step(world);
    const saved good = save(world);
    assert_true(has_impacts(&good));
    for (size_t at = 0; at < 24 + 13 * 8; at += at < 24 ? 4 : 8) {
        saved s = {make_array(good.size, 1), good.size};
        sinew_error error = {0};
        for (int what = 0; what < 2; what++) {
            memcpy(s.bytes, good.bytes, s.size);
            if (at < 24)
                assert_true(forge(&s, "IMPT", at, what ? &below : &far, sizeof far));
            else
                assert_true(forge(&s, "IMPT", at, what ? &minus : &bad, sizeof bad));
            const sinew_status status = sinew_world_state_load(world, s.bytes, s.size, &error);
            if (at >= 24 && what == 0) {
                assert_int_equal(status, SINEW_ERROR_FORMAT);
                assert_non_null(strstr(error.text, "invalid number"));
            } else if (status == SINEW_OK) {
                impact_step(world);
            }
        }
        free(s.bytes);
    }
    free(good.bytes);
    sinew_world_destroy(world);
}

/* ---- Bodies that come, go and move ----------------------------------------------------------------- */

/* Two boxes in the middle of an impact. */
static sinew_world *make_meeting(sinew_body bodies[2])
{
    impact_case k = impact_default();
    k.young = 1e5;
    k.h = 1e-3;
    sinew_world *world = make_impact(&k);
    for (int b = 0; b < 2; b++)
        bodies[b] = add_impactor(world, &k, (const double[]){0, (IMPACT_SIZE + 2e-3) * b, 0}, 0,
                                 (const double[]){0, b ? -2 : 0, 0});
    for (int s = 0; s < 100 && !is_mid_impact(world); s++)
        impact_step(world);
    assert_true(is_mid_impact(world));
    return world;
}

static double restitution_in(sinew_world *world, int steps)
{
    double work = 0;
    for (int s = 0; s < steps; s++) {
        sinew_contact_report report;
        impact_step(world);
        assert_int_equal(sinew_world_contact_report(world, &report, NULL), SINEW_OK);
        work += report.restitution_work;
    }
    return work;
}

/* An impact ends without an impulse when one of its bodies is removed, replaced, or given another position. */
static void bodies_that_go(void **state)
{
    (void)state;
    for (int what = 0; what < 4; what++) {
        sinew_body bodies[2];
        sinew_error error = {0};
        sinew_world *world = make_meeting(bodies);
        const impact_case k = impact_default();
        const int32_t first = sinew_body_first_particle(world, bodies[1]);
        if (what == 0) {
            assert_true(restitution_in(world, 60) > 0);
        } else if (what < 3) {
            sinew_world_remove_body(world, bodies[1], &error);
            must(&error);
            if (what == 2)
                add_impactor(world, &k, (const double[]){0, 1, 0}, 0, (const double[]){0, 0, 0});
            assert_true(restitution_in(world, 60) == 0);
        } else {
            const int32_t n = sinew_mesh_vertex_count(sinew_body_mesh(world, bodies[1]));
            sinew_real *x = make_array(3 * (size_t)n, sizeof *x);
            assert_int_equal(sinew_world_get_positions(world, first, n, x), SINEW_OK);
            for (int32_t i = 0; i < n; i++)
                x[3 * i + 1] += 1;
            assert_int_equal(sinew_world_set_positions(world, first, n, x), SINEW_OK);
            assert_false(is_mid_impact(world));
            assert_true(restitution_in(world, 30) == 0);
            free(x);
        }
        sinew_world_destroy(world);
    }
}

/* ---- Pieces ------------------------------------------------------------------------------------------ */

/* One body of two boxes side by side, one higher than the other: each rebounds by itself. */
static void pieces_rebound_by_themselves(void **state)
{
    (void)state;
    impact_case k = impact_default();
    sinew_mesh *box = make_impact_mesh(2);
    const int32_t n = sinew_mesh_vertex_count(box), tets = sinew_mesh_tet_count(box);
    sinew_real *x = make_array(6 * (size_t)n, sizeof *x), *v = make_array(6 * (size_t)n, sizeof *v);
    int32_t *cells = make_array(8 * (size_t)tets, sizeof *cells);
    for (int32_t i = 0; i < 6 * n; i++) {
        const int high = i >= 3 * n;
        x[i] = sinew_mesh_positions(box)[i % (3 * n)] + (sinew_real)(i % 3 == 1   ? 0.0525 + 0.3 * high
                                                                     : i % 3 == 0 ? 0.3 * high
                                                                                  : 0);
        v[i] = (sinew_real)(i % 3 == 1 ? -3 : 0);
    }
    for (int32_t i = 0; i < 8 * tets; i++)
        cells[i] = sinew_mesh_tets(box)[i % (4 * tets)] + (i >= 4 * tets ? n : 0);
    sinew_error error = {0};
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = 2 * n;
    def.positions = x;
    def.tet_count = 2 * tets;
    def.tets = cells;
    sinew_mesh *both = sinew_mesh_create(&def, &error);
    must(&error);
    sinew_world *world = make_impact(&k);
    add_floor(world);
    const sinew_body body = add_mesh(world, both, IMPACT_DENSITY, NULL, v);
    add_material(world, body, SINEW_ENERGY_COROTATED, 1e7, 0.3);
    for (int s = 0; s < 8; s++)
        impact_step(world);
    double speed[2] = {0, 0};
    assert_int_equal(sinew_world_get_velocities(world, sinew_body_first_particle(world, body), 2 * n, v), SINEW_OK);
    for (int32_t i = 0; i < 2 * n; i++)
        speed[i >= n] += (double)v[3 * i + 1] / n;
    print_message("one body of two boxes: %.4f m/s after the impact, %.4f m/s without one\n", speed[0], speed[1]);
    assert_true(fabs(speed[0] - 3) < 0.15 && fabs(speed[1] + 3) < 1e-4);
    sinew_world_destroy(world);
    sinew_mesh_destroy(both);
    sinew_mesh_destroy(box);
    free(cells);
    free(x);
    free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_go_on),
        cmocka_unit_test(threads_agree),
        cmocka_unit_test(forged_impacts),
        cmocka_unit_test(bodies_that_go),
        cmocka_unit_test(pieces_rebound_by_themselves),
    };
    return cmocka_run_group_tests_name("impact state", tests, NULL, NULL);
}
