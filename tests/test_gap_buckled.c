/* SPDX-License-Identifier: MIT
 *
 * test_gap_buckled.c: the optimality gap of soft cloth far above its equilibrium. The way down passes indefinite
 * Hessians and small regions where they are definite. Each gap is compared with the decrease that Newton's method finds
 * from the same positions. In single precision that method does not settle, and the test is skipped.
 */
#include "random_cases.h"
#include "small_world.h"

enum {
    ACROSS = 8,
    ALONG = 4
};

/* A hanging cloth of irregular triangles that a twist starts. */
static sinew_world *draw_cloth(random_cases r, sinew_solver_kind kind, int32_t iterations)
{
    sinew_error error = {0};
    sinew_cloth_def cloth = sinew_default_cloth_def();
    cloth.vertices[0] = ACROSS;
    cloth.vertices[1] = ALONG;
    cloth.size[0] = 1;
    cloth.size[1] = (sinew_real)0.43;
    sinew_mesh *flat = sinew_mesh_cloth(&cloth, &error);
    must(&error);
    const int32_t n = sinew_mesh_vertex_count(flat);
    sinew_real *x = make_array(3 * (size_t)n, sizeof *x);
    for (int32_t i = 0; i < 3 * n; i++) {
        const double u = (double)sinew_mesh_positions(flat)[i / 3 * 3];
        x[i] = sinew_mesh_positions(flat)[i] +
               (sinew_real)(i % 3 < 2 && u > 0.01 && u < 0.99 ? random_between(&r, -0.04, 0.04) : 0);
    }
    sinew_mesh *mesh = sinew_mesh_moved(flat, x, &error);
    must(&error);
    sinew_world_def def = sinew_default_world_def();
    def.quasistatic = true;
    def.time_step = 1;
    for (int c = 0; c < 3; c++)
        def.gravity[c] = (sinew_real)random_between(&r, -0.6, 0.6);
    def.solver = sinew_default_solver_def(kind);
    def.solver.iterations = iterations;
    sinew_world *world = make_world(&def);
    const sinew_body body = add_mesh(world, mesh, random_between(&r, 0.1, 0.3), NULL, NULL);
    sinew_energy_def skin = sinew_default_energy_def(SINEW_ENERGY_BARAFF_WITKIN);
    skin.body = body;
    skin.parameters[sinew_energy_parameter(skin.kind, "stretch_warp")] = (sinew_real)random_magnitude(&r, 1e3, 1e4);
    skin.parameters[sinew_energy_parameter(skin.kind, "stretch_weft")] = (sinew_real)random_magnitude(&r, 1e3, 1e4);
    skin.parameters[sinew_energy_parameter(skin.kind, "shear")] = (sinew_real)random_magnitude(&r, 30, 300);
    add_energy(world, &skin);
    sinew_energy_def bending = sinew_default_energy_def(SINEW_ENERGY_ISOMETRIC);
    bending.body = body;
    bending.parameters[sinew_energy_parameter(bending.kind, "rigidity")] = (sinew_real)random_magnitude(&r, 1e-7, 1e-5);
    add_energy(world, &bending);
    int32_t held[ALONG];
    add_pins(world, body, held, vertices_at(mesh, 0, 0, 0, held), NULL);
    for (int32_t i = 0; i < n; i++)
        x[3 * i + 2] += (sinew_real)(0.05 * (double)x[3 * i] * (double)x[3 * i + 1]);
    sinew_world_set_positions(world, 0, n, x);
    free(x);
    sinew_mesh_destroy(flat);
    sinew_mesh_destroy(mesh);
    return world;
}

/* The ratio of gap and decrease, 0 if one of them is unknown. */
static double draw_ratio(random_cases *r)
{
    const int32_t iterations = 100 + 100 * random_index(r, 5);
    sinew_world *world = draw_cloth(*r, SINEW_SOLVER_XPBD_QS, iterations);
    sinew_world *referee = draw_cloth(*r, SINEW_SOLVER_NEWTON, 2000);
    sinew_step_result stopped, solved;
    random_bits(r);
    sinew_world_step(world, &stopped);
    sinew_real *q = positions_of(world);
    sinew_world_set_positions(referee, 0, sinew_world_particle_count(world), q);
    const uint32_t bits = sinew_world_step(referee, &solved);
    const double fall = stopped.objective - solved.objective;
    const bool known = stopped.gap_kind == SINEW_GAP_ESTIMATE && !(bits & SINEW_STEP_NOT_CONVERGED) &&
                       solved.relative_residual <= 1e-6 && fall > 0;
    const double ratio = known ? stopped.gap / fall : 0;
    free(q);
    sinew_world_destroy(world);
    sinew_world_destroy(referee);
    return ratio;
}

static void gaps_of_buckled_cloth_are_true(void **unused)
{
    (void)unused;
    if (sizeof(sinew_real) == 4)
        skip(); /* Newton's method settles 1 in 10 of these cloths in single precision */
    random_cases r = random_cases_begin("buckled cloths", 200, 1000);
    int32_t known = 0, wrong = 0;
    for (int32_t i = 0; i < r.count; i++) {
        const double ratio = draw_ratio(&r);
        known += ratio > 0;
        if (ratio > 0 && (ratio < 0.5 || ratio > 2)) {
            printf("case %d: the gap is %.3g times the decrease\n", (int)i, ratio);
            wrong++;
        }
    }
    printf("%d of %d known, %d of them off by more than 2\n", (int)known, (int)r.count, (int)wrong);
    assert_true(known >= 0.8 * r.count);
    /* A descent that ends after one confirmed prediction is wrong in 13 %. */
    assert_true(wrong <= 0.08 * known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gaps_of_buckled_cloth_are_true)};
    return cmocka_run_group_tests(tests, install_hook, remove_hook);
}
